//! The machine over which a candidate is described, and the names of what the description takes in.

/// How often an input changes: a printer places it accordingly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// Never: a literal.
    Immediate,
    /// With the base: an operand in constant memory.
    Base,
}

/// What the description takes in beside the candidate's own words. Groups and candidates hand theirs in as words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Input {
    /// `K[t]`.
    K(usize),
    /// `K[t] - K[u]`.
    KDifference(usize, usize),
    /// Zero.
    Zero,
    /// Message word `m_k`, for a `k` that Q9 does not change.
    Word(usize),
    /// `K[t]` plus the message word of step `t`.
    Preadded(usize),
    /// `Q[n]`, n in 21..=24.
    Start(usize),
    /// `Q[n]`, n in 1..=13 without 9.
    Fixed(usize),
    /// `m8 = rotr(Q9 - Q8, 7) + C8`.
    C8,
    /// `m9 = rotr(Q10 - Q9, 12) - F(Q9, Q8, Q7) + C9`.
    C9,
    /// `m12 = C12 - Q9`.
    C12,
    /// `K[t] + C8`, so that `K[t] + m8` is one addition away from a rotation.
    KC8(usize),
    /// `K[t] + C12 + 1`, so that `K[t] + m12` is this minus `z = Q9 + 1`.
    KC12(usize),
    /// Word A, B, C or D of the chaining value.
    Chaining(usize),
}

impl Input {
    /// How often it changes.
    pub fn rank(self) -> Rank {
        match self {
            Input::K(_) | Input::KDifference(..) | Input::Zero => Rank::Immediate,
            _ => Rank::Base,
        }
    }

    /// Its name as a C identifier.
    pub fn name(self) -> String {
        match self {
            Input::K(t) => format!("k{t}"),
            Input::KDifference(t, u) => format!("k{t}_minus_k{u}"),
            Input::Zero => "zero".to_owned(),
            Input::Word(k) => format!("m{k}"),
            Input::Preadded(t) => format!("km{t}"),
            Input::Start(n) | Input::Fixed(n) => format!("q{n}"),
            Input::C8 => "c8".to_owned(),
            Input::C9 => "c9".to_owned(),
            Input::C12 => "c12".to_owned(),
            Input::KC8(t) => format!("kc8_{t}"),
            Input::KC12(t) => format!("kc12_{t}"),
            Input::Chaining(i) => format!("iv{i}"),
        }
    }
}

/// Which addition of the description this is: a variant places them on one pipe or the other by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Forming a message word or a value of a group.
    Setup,
    /// Forming `K + m` for a word that Q9 changes.
    Word,
    /// One of the three additions of a step that takes K and m one after the other.
    Separate,
    /// `Q[t-3] + (K + m)`.
    Constant,
    /// The round function plus that.
    Function,
    /// `Q[t]` plus the rotated sum.
    State,
}

/// A value that can be compared with the oracle's, in the order in which data flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// Message word 8.
    M8,
    /// Message word 9.
    M9,
    /// Message word 12.
    M12,
    /// `Q[n]`, n in 25..=61.
    Q(usize),
    /// Digest word A, B, C or D.
    Digest(usize),
}

impl Layer {
    /// How many there are.
    pub const COUNT: usize = 3 + 37 + 4;

    /// All of them.
    pub fn all() -> impl Iterator<Item = Layer> {
        [Layer::M8, Layer::M9, Layer::M12]
            .into_iter()
            .chain((25..=61).map(Layer::Q))
            .chain((0..4).map(Layer::Digest))
    }

    /// Its place in [`Layer::all`].
    pub const fn index(self) -> usize {
        match self {
            Layer::M8 => 0,
            Layer::M9 => 1,
            Layer::M12 => 2,
            Layer::Q(n) => n - 22,
            Layer::Digest(i) => 40 + i,
        }
    }

    /// Its name in messages.
    pub fn name(self) -> String {
        match self {
            Layer::M8 => "m8".to_owned(),
            Layer::M9 => "m9".to_owned(),
            Layer::M12 => "m12".to_owned(),
            Layer::Q(n) => format!("q{n}"),
            Layer::Digest(i) => format!("digest_{}", ["a", "b", "c", "d"][i]),
        }
    }
}

/// Which part of the description follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// What an orbit's group shares.
    Group,
    /// The candidates.
    Candidate,
}

/// Something that can carry out the description: compute it, print it, count it, or break it.
pub trait Machine {
    /// A 32-bit word, a vector of them, or the name of one.
    type Word: Copy;

    /// `a + b` mod 2^32.
    fn add(&mut self, role: Role, a: Self::Word, b: Self::Word) -> Self::Word;
    /// `a - b` mod 2^32.
    fn sub(&mut self, role: Role, a: Self::Word, b: Self::Word) -> Self::Word;
    /// `a` rotated left by `N`, 1..=31.
    fn rotl<const N: u32>(&mut self, a: Self::Word) -> Self::Word;
    /// The bitwise function with truth table `LUT`, where `a` is 0xf0, `b` 0xcc and `c` 0xaa.
    fn logic<const LUT: u8>(&mut self, a: Self::Word, b: Self::Word, c: Self::Word) -> Self::Word;
    /// An input.
    fn input(&mut self, input: Input) -> Self::Word;
    /// The operations that follow belong to `phase`, from its beginning.
    #[inline(always)]
    fn phase(&mut self, _phase: Phase) {}
    /// The operations that follow belong to interleaved state `state`.
    #[inline(always)]
    fn select(&mut self, _state: usize) {}
    /// Notes that `word` is the value of `layer`; only a trace keeps it.
    #[inline(always)]
    fn layer(&mut self, _layer: Layer, _word: Self::Word) {}
}
