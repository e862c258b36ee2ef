//! A machine that breaks one operation: the proof that the checks can fail.

use super::machine::{Input, Layer, Machine, Phase, Role};

/// What is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mutation {
    /// One operation or input of the description, counted from the beginning of its phase: an addition becomes a
    /// subtraction, a rotation goes one bit further, a logic function becomes another, an input its neighbour.
    Operation(Phase, usize),
    /// The distance between members of an orbit.
    OrbitStep,
}

impl Mutation {
    /// By how much the distance between an orbit's members is off.
    pub fn orbit_step_error(mutation: Option<Mutation>) -> u32 {
        u32::from(mutation == Some(Mutation::OrbitStep))
    }
}

/// `machine` with one operation broken.
pub struct Mutant<M> {
    /// The machine underneath.
    pub machine: M,
    mutation: Option<Mutation>,
    phase: Phase,
    operations: usize,
}

impl<M> Mutant<M> {
    /// Wrap `machine`; without a mutation it behaves as `machine` does.
    pub fn new(machine: M, mutation: Option<Mutation>) -> Mutant<M> {
        Mutant {
            machine,
            mutation,
            phase: Phase::Candidate,
            operations: 0,
        }
    }

    /// Whether the operation that comes now is the broken one.
    fn breaks(&mut self) -> bool {
        let here = Mutation::Operation(self.phase, self.operations);
        self.operations += 1;
        self.mutation == Some(here)
    }
}

/// An input of the same rank that is not the same.
fn neighbour(input: Input) -> Input {
    let near = |t: usize| if t == 63 { 62 } else { t + 1 };
    match input {
        Input::K(t) => Input::K(near(t)),
        Input::KDifference(t, u) => Input::KDifference(near(t), u),
        Input::Zero => Input::K(0),
        Input::Word(k) => Input::Word(if k == 0 { 1 } else { 0 }),
        Input::Preadded(t) => Input::Preadded(near(t)),
        Input::Start(n) => Input::Start(if n == 24 { 23 } else { n + 1 }),
        Input::Fixed(n) => Input::Fixed(if n == 6 { 5 } else { 6 }),
        Input::C8 => Input::C9,
        Input::C9 => Input::C12,
        Input::C12 => Input::C8,
        Input::KC8(t) => Input::KC8(near(t)),
        Input::KC12(t) => Input::KC12(near(t)),
        Input::Chaining(i) => Input::Chaining((i + 1) % 4),
    }
}

impl<M: Machine> Machine for Mutant<M> {
    type Word = M::Word;

    fn add(&mut self, role: Role, a: M::Word, b: M::Word) -> M::Word {
        if self.breaks() {
            self.machine.sub(role, a, b)
        } else {
            self.machine.add(role, a, b)
        }
    }

    fn sub(&mut self, role: Role, a: M::Word, b: M::Word) -> M::Word {
        if self.breaks() {
            self.machine.add(role, a, b)
        } else {
            self.machine.sub(role, a, b)
        }
    }

    fn rotl<const N: u32>(&mut self, a: M::Word) -> M::Word {
        let turned = self.machine.rotl::<N>(a);
        if self.breaks() {
            self.machine.rotl::<1>(turned)
        } else {
            turned
        }
    }

    fn logic<const LUT: u8>(&mut self, a: M::Word, b: M::Word, c: M::Word) -> M::Word {
        if !self.breaks() {
            self.machine.logic::<LUT>(a, b, c)
        } else if LUT == 0x96 {
            self.machine.logic::<0xe4>(a, b, c)
        } else {
            self.machine.logic::<0x96>(a, b, c)
        }
    }

    fn input(&mut self, input: Input) -> M::Word {
        let broken = self.breaks();
        self.machine.input(if broken { neighbour(input) } else { input })
    }

    fn phase(&mut self, phase: Phase) {
        (self.phase, self.operations) = (phase, 0);
        self.machine.phase(phase);
    }

    fn select(&mut self, state: usize) {
        self.machine.select(state);
    }

    fn layer(&mut self, layer: Layer, word: M::Word) {
        self.machine.layer(layer, word);
    }
}
