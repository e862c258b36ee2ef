//! The native kernel: reads a launch, divides it among the cores, and chooses the code for the instruction set.

use rayon::prelude::*;

use super::lanes::{Table, Vectors};
use super::plain::Plain;
use super::walk::{Piece, Yield, walk};
use crate::md5_q9::machine::Input;
use crate::md5_q9::mutate::{Mutant, Mutation};
use crate::md5_q9::options::{
    Adds, CPU_STATES, Constants, FirstTest, Logic, Options, Placement, Slots, Walk, WordAdds,
};
use crate::md5_q9::order::ORBIT_STEP;
use crate::md5_q9::workload::{HIT_HEAD, HIT_WORDS, LaunchArguments, ROW, Test};
use crate::native::{Isa, NativeError, NativeKernel};
use crate::workload::Launch;

/// Candidates of one piece of work: short enough to balance the cores, long enough to forget its start.
const PIECE_CANDIDATES: u64 = 1 << 20;

/// The number of interleaved states that measured best (`cargo bench`).
pub fn best_states(isa: Isa) -> u32 {
    match isa {
        Isa::Plain => 1,
        Isa::Avx2 => 3,
        Isa::Avx512 => 6,
    }
}

/// The numbers of interleaved states that there is code for.
fn states_of(isa: Isa) -> &'static [u32] {
    match isa {
        Isa::Plain => &CPU_STATES[..1],
        Isa::Avx2 => &CPU_STATES[..4],
        Isa::Avx512 => &CPU_STATES,
    }
}

/// The native kernel of a variant.
pub struct Md5Native {
    /// Options, as far as they mean something here.
    pub options: Options,
    /// What the words of the launch's base are.
    pub inputs: Vec<Input>,
    /// Which of Q61's bits are compared, or whether all layers are kept instead.
    pub test: Test,
    /// States interleaved; `None` takes [`best_states`].
    pub states: Option<u32>,
    /// The operation that is broken, if any.
    pub mutation: Option<Mutation>,
}

/// The options that native code distinguishes: placements on pipes mean nothing here.
const fn native(walk: Walk, constants: Constants) -> Options {
    let adds = Adds {
        constant: Placement::Plain,
        function: Placement::Plain,
        word: WordAdds::Plain,
    };
    Options {
        walk,
        constants,
        // The words are zero then, and adding them costs little here.
        zero_constants: false,
        held_constants: false,
        logic: Logic::Plain,
        interleave: 1,
        merged_tests: None,
        test: FirstTest::Equal,
        slots: Slots::Divided,
        adds,
    }
}

const SEPARATE: Options = native(Walk::Tunnel, Constants::Separate);
const PREADDED: Options = native(Walk::Tunnel, Constants::Preadded);
const ORBIT: Options = native(Walk::Orbit, Constants::Preadded);

/// One body of native code.
type Body = fn(&Table, &Piece, &mut Yield<'_>);

/// A table of bodies for an instruction set, by walk, test and number of states.
macro_rules! bodies {
    ($name:ident, $lanes:ty, $(#[$feature:meta])? [$($states:literal)*]) => {
        fn $name(options: &Options, test: Test, states: u32) -> Option<Body> {
            $(#[$feature])?
            unsafe fn body<const WALK: usize, const N: usize, const TRACE: bool>(
                table: &Table,
                piece: &Piece,
                out: &mut Yield<'_>,
            ) {
                let mut m = Vectors::<$lanes, N, TRACE>::new(table);
                let options = const { [SEPARATE, PREADDED, ORBIT][WALK] };
                walk::<$lanes, _, N, TRACE>(&mut m, &options, piece, out);
            }
            fn safe<const WALK: usize, const N: usize, const TRACE: bool>(
                table: &Table,
                piece: &Piece,
                out: &mut Yield<'_>,
            ) {
                // SAFETY: `Md5Native::launch` has asked the processor for the instruction set.
                unsafe { body::<WALK, N, TRACE>(table, piece, out) }
            }
            fn of_walk<const N: usize, const TRACE: bool>(options: &Options) -> Body {
                match (options.walk, options.constants) {
                    (Walk::Tunnel, Constants::Separate) => safe::<0, N, TRACE>,
                    (Walk::Tunnel, Constants::Preadded) => safe::<1, N, TRACE>,
                    (Walk::Orbit, _) => safe::<2, N, TRACE>,
                }
            }
            match (test, states) {
                // A trace takes one state at a time.
                (Test::Trace, _) => Some(of_walk::<1, true>(options)),
                $((_, $states) => Some(of_walk::<$states, false>(options)),)*
                _ => None,
            }
        }
    };
}

bodies!(plain, Plain, [1]);
#[cfg(target_arch = "x86_64")]
bodies!(avx2, super::avx2::Avx2, #[target_feature(enable = "avx2")] [1 2 3 4]);
#[cfg(target_arch = "x86_64")]
bodies!(avx512, super::avx512::Avx512, #[target_feature(enable = "avx512f")] [1 2 3 4 6]);

impl Md5Native {
    fn body(&self, isa: Isa) -> Result<Body, NativeError> {
        if !isa.available() {
            return Err(NativeError(format!(
                "this processor has no {isa}; use --isa {}",
                Isa::best()
            )));
        }
        let states = self.states.unwrap_or_else(|| best_states(isa));
        match isa {
            Isa::Plain => plain(&self.options, self.test, states),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => avx2(&self.options, self.test, states),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => avx512(&self.options, self.test, states),
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx2 | Isa::Avx512 => None,
        }
        .ok_or_else(|| {
            let there_is: Vec<String> = states_of(isa).iter().map(u32::to_string).collect();
            NativeError(format!(
                "cpu.states = {states}: there is no code with {states} interleaved states for {isa}, only with {}",
                there_is.join(", ")
            ))
        })
    }

    fn run(&self, body: Body, table: &Table, piece: &Piece, out: &mut Yield<'_>) {
        if self.mutation.is_none() {
            return body(table, piece, out);
        }
        let options = Options {
            interleave: 1,
            ..self.options
        };
        match self.test {
            Test::Trace => mutant::<true>(&options, self.mutation, table, piece, out),
            Test::Whole | Test::Bits(_) => mutant::<false>(&options, self.mutation, table, piece, out),
        }
    }
}

/// A broken kernel, on plain words.
fn mutant<const TRACE: bool>(
    options: &Options,
    mutation: Option<Mutation>,
    table: &Table,
    piece: &Piece,
    out: &mut Yield<'_>,
) {
    let mut m = Mutant::new(Vectors::<Plain, 1, TRACE>::new(table), mutation);
    walk::<Plain, _, 1, TRACE>(&mut m, options, piece, out);
}

impl NativeKernel for Md5Native {
    fn check(&self, isa: Isa) -> Result<(), NativeError> {
        self.body(isa).map(drop)
    }

    fn launch(&self, launch: &Launch, isa: Isa, buffers: &mut [Vec<u32>]) -> Result<(), NativeError> {
        let body = self.body(isa)?;
        let arguments =
            LaunchArguments::read(launch).ok_or_else(|| NativeError("unexpected arguments".to_owned()))?;
        let table = Table::new(&self.inputs, arguments.base);
        let walk = self.options.walk;
        let slot_candidates = u64::from(walk.slot_candidates());
        let piece_slots = (PIECE_CANDIDATES / slot_candidates).max(1);
        let pieces = arguments.slots.div_ceil(piece_slots);
        let piece = |i: u64| Piece {
            slots: arguments.first + i * piece_slots
                ..arguments.first + ((i + 1) * piece_slots).min(arguments.slots),
            target: arguments.target,
            mask: self.test.mask(),
            orbit_step: ORBIT_STEP.wrapping_add(Mutation::orbit_step_error(self.mutation)),
        };
        if self.test == Test::Trace {
            let trace = &mut buffers[arguments.trace.0];
            let piece_words = ROW * (piece_slots * slot_candidates) as usize;
            trace
                .par_chunks_mut(piece_words)
                .take(pieces as usize)
                .enumerate()
                .for_each(|(i, rows)| {
                    self.run(
                        body,
                        &table,
                        &piece(i as u64),
                        &mut Yield {
                            hits: Vec::new(),
                            rows,
                        },
                    );
                });
            return Ok(());
        }
        let hits: Vec<[u32; HIT_WORDS]> = (0..pieces)
            .into_par_iter()
            .flat_map_iter(|i| {
                let mut out = Yield {
                    hits: Vec::new(),
                    rows: &mut [],
                };
                self.run(body, &table, &piece(i), &mut out);
                out.hits
            })
            .collect();
        // As the CUDA text does: count every hit, keep those for which there is room.
        let buffer = &mut buffers[arguments.hits.0];
        for hit in hits {
            let place = buffer[0];
            buffer[0] += 1;
            if place < arguments.capacity {
                buffer[HIT_HEAD + HIT_WORDS * place as usize..][..HIT_WORDS].copy_from_slice(&hit);
            }
        }
        Ok(())
    }
}
