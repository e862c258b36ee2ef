//! The bare chain: an orbit member's steps and nothing else, the most that a native kernel could reach.
//!
//! No input is loaded (all are one register), nothing is tested, no group is formed. Only `cargo bench` runs it.

use super::lanes::Lanes;
use super::plain::Plain;
use crate::md5_q9::describe::{self, Group, Words};
use crate::md5_q9::machine::{Input, Machine, Role};
use crate::md5_q9::options::{Adds, Constants, FirstTest, Logic, Options, Placement, Slots, Walk, WordAdds};
use crate::native::Isa;

/// Numbers of interleaved states for which there is a bare chain.
pub const BARE_STATES: [u32; 5] = [1, 2, 3, 4, 6];

const OPTIONS: Options = Options {
    walk: Walk::Orbit,
    constants: Constants::Preadded,
    zero_constants: false,
    held_constants: false,
    logic: Logic::Plain,
    interleave: 1,
    merged_tests: None,
    test: FirstTest::Equal,
    slots: Slots::Divided,
    adds: Adds {
        constant: Placement::Plain,
        function: Placement::Plain,
        word: WordAdds::Plain,
    },
};

/// A machine whose inputs are all the same word.
struct Bare<L: Lanes>(L::Vector);

impl<L: Lanes> Machine for Bare<L> {
    type Word = L::Vector;

    #[inline(always)]
    fn add(&mut self, _role: Role, a: L::Vector, b: L::Vector) -> L::Vector {
        L::add(a, b)
    }

    #[inline(always)]
    fn sub(&mut self, _role: Role, a: L::Vector, b: L::Vector) -> L::Vector {
        L::sub(a, b)
    }

    #[inline(always)]
    fn rotl<const N: u32>(&mut self, a: L::Vector) -> L::Vector {
        L::rotl::<N>(a)
    }

    #[inline(always)]
    fn logic<const LUT: u8>(&mut self, a: L::Vector, b: L::Vector, c: L::Vector) -> L::Vector {
        L::logic::<LUT>(a, b, c)
    }

    #[inline(always)]
    fn input(&mut self, _input: Input) -> L::Vector {
        self.0
    }
}

/// `rounds` times `N` members through steps 27..=60; returns a word that depends on all of them.
#[inline(always)]
fn chain<L: Lanes, const N: usize>(rounds: u64, seed: u32) -> u32 {
    let mut m = Bare::<L>(L::splat(std::hint::black_box(seed)));
    let word = m.0;
    let group = Group {
        q: [word; 3],
        c27: word,
        c: [word; 3],
        km9: word,
    };
    let mut z = [word; N];
    for i in 0..N {
        z[i] = L::add(L::splat(seed ^ i as u32), L::ramp(1 << 12));
    }
    for _ in 0..rounds {
        let (mut windows, mut words) = (
            [describe::Window {
                q0: word,
                q1: word,
                q2: word,
                q3: word,
            }; N],
            [Words::Orbit {
                r: word,
                z: word,
                km9: word,
            }; N],
        );
        for i in 0..N {
            (windows[i], words[i]) = describe::member(&mut m, &group, z[i]);
        }
        describe::tail(&mut m, &OPTIONS, &mut windows, &words);
        for i in 0..N {
            // The next member depends on this one, so that nothing can be left out.
            z[i] = windows[i].q0;
        }
    }
    let mut sum = 0u32;
    for i in 0..N {
        sum = L::lanes(z[i])
            .iter()
            .fold(sum, |sum, word| sum.wrapping_add(*word));
    }
    sum
}

macro_rules! bare {
    ($name:ident, $lanes:ty, $(#[$feature:meta])?) => {
        $(#[$feature])?
        unsafe fn $name(states: u32, rounds: u64, seed: u32) -> Option<u32> {
            match states {
                1 => Some(chain::<$lanes, 1>(rounds, seed)),
                2 => Some(chain::<$lanes, 2>(rounds, seed)),
                3 => Some(chain::<$lanes, 3>(rounds, seed)),
                4 => Some(chain::<$lanes, 4>(rounds, seed)),
                6 => Some(chain::<$lanes, 6>(rounds, seed)),
                _ => None,
            }
        }
    };
}

bare!(plain, Plain,);
#[cfg(target_arch = "x86_64")]
bare!(avx2, super::avx2::Avx2, #[target_feature(enable = "avx2")]);
#[cfg(target_arch = "x86_64")]
bare!(avx512, super::avx512::Avx512, #[target_feature(enable = "avx512f")]);

/// Run about `candidates` candidates of the bare chain on this thread; returns how many it were, or `None` when this
/// processor lacks `isa` or there is no chain with so many states.
pub fn bare_chain(isa: Isa, states: u32, candidates: u64) -> Option<u64> {
    if !isa.available() {
        return None;
    }
    let lanes = match isa {
        Isa::Plain => Plain::LANES,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => super::avx2::Avx2::LANES,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => super::avx512::Avx512::LANES,
        #[cfg(not(target_arch = "x86_64"))]
        Isa::Avx2 | Isa::Avx512 => return None,
    };
    let width = u64::from(states) * lanes as u64;
    let rounds = candidates.div_ceil(width.max(1));
    // SAFETY: `isa` is available, as asked above.
    let sum = unsafe {
        match isa {
            Isa::Plain => plain(states, rounds, 1),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => avx2(states, rounds, 1),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => avx512(states, rounds, 1),
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx2 | Isa::Avx512 => None,
        }
    }?;
    std::hint::black_box(sum);
    Some(rounds * width)
}
