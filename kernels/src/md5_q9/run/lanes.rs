//! Vectors of 32-bit words, and the machine that computes with them.

use std::marker::PhantomData;

use crate::md5_q9::machine::{Input, Layer, Machine, Rank, Role};
use crate::md5_q9::md5::K;
use crate::md5_q9::mutate::Mutant;

/// Most lanes that any instruction set has.
pub const MAX_LANES: usize = 16;

/// A vector type. All of it is inlined into a function that enables the instruction set.
pub trait Lanes: 'static {
    /// The vector.
    type Vector: Copy;
    /// Words in it, at most [`MAX_LANES`].
    const LANES: usize;

    /// The same word in every lane.
    fn splat(word: u32) -> Self::Vector;
    /// `0, stride, 2 * stride, ...`
    fn ramp(stride: u32) -> Self::Vector;
    /// The lanes; places past [`Lanes::LANES`] hold zero.
    fn lanes(vector: Self::Vector) -> [u32; MAX_LANES];
    /// `a + b`.
    fn add(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a - b`.
    fn sub(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a` rotated left by `N`.
    fn rotl<const N: u32>(a: Self::Vector) -> Self::Vector;
    /// The bitwise function with truth table `LUT`.
    fn logic<const LUT: u8>(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// Bit `i` says whether lane `i` of `a` and `b` is equal.
    fn equal(a: Self::Vector, b: Self::Vector) -> u32;
}

/// Words in a [`Table`].
const TABLE: usize = 256;

/// The base's inputs, each at a place that the compiler knows.
pub struct Table([u32; TABLE]);

impl Table {
    /// Place of an input with rank [`Rank::Base`].
    #[inline(always)]
    const fn place(input: Input) -> usize {
        match input {
            Input::Word(k) => k,
            Input::Preadded(t) => 16 + t,
            Input::Start(n) => 80 + n - 21,
            Input::Fixed(n) => 84 + n,
            Input::C8 => 98,
            Input::C9 => 99,
            Input::C12 => 100,
            Input::KC8(t) => 101 + t,
            Input::KC12(t) => 165 + t,
            Input::Chaining(i) => 229 + i,
            Input::K(_) | Input::KDifference(..) | Input::Zero => 255,
        }
    }

    /// The table that holds `words`, the values of `inputs`.
    pub fn new(inputs: &[Input], words: &[u32]) -> Table {
        let mut table = [0; TABLE];
        for (&input, &word) in inputs.iter().zip(words) {
            table[Table::place(input)] = word;
        }
        Table(table)
    }
}

/// The machine of the run reading. With `TRACE` it keeps the layers of up to `N` interleaved states.
pub struct Vectors<'a, L: Lanes, const N: usize, const TRACE: bool> {
    table: &'a Table,
    state: usize,
    layers: Vec<[Option<[u32; MAX_LANES]>; Layer::COUNT]>,
    lanes: PhantomData<L>,
}

impl<'a, L: Lanes, const N: usize, const TRACE: bool> Vectors<'a, L, N, TRACE> {
    /// A machine with the inputs of `table`.
    pub fn new(table: &'a Table) -> Self {
        let states = if TRACE { N } else { 0 };
        Vectors {
            table,
            state: 0,
            layers: vec![[None; Layer::COUNT]; states],
            lanes: PhantomData,
        }
    }

    /// What the layers of an interleaved state hold now.
    pub fn layers(&self, state: usize) -> &[Option<[u32; MAX_LANES]>; Layer::COUNT] {
        &self.layers[state]
    }
}

impl<L: Lanes, const N: usize, const TRACE: bool> Machine for Vectors<'_, L, N, TRACE> {
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
    fn rotl<const R: u32>(&mut self, a: L::Vector) -> L::Vector {
        L::rotl::<R>(a)
    }

    #[inline(always)]
    fn logic<const LUT: u8>(&mut self, a: L::Vector, b: L::Vector, c: L::Vector) -> L::Vector {
        L::logic::<LUT>(a, b, c)
    }

    #[inline(always)]
    fn input(&mut self, input: Input) -> L::Vector {
        match (input.rank(), input) {
            (Rank::Immediate, Input::K(t)) => L::splat(K[t]),
            (Rank::Immediate, Input::KDifference(t, u)) => L::splat(K[t].wrapping_sub(K[u])),
            (Rank::Immediate, _) => L::splat(0),
            (Rank::Base, _) => L::splat(self.table.0[Table::place(input)]),
        }
    }

    #[inline(always)]
    fn select(&mut self, state: usize) {
        if TRACE {
            self.state = state;
        }
    }

    #[inline(always)]
    fn layer(&mut self, layer: Layer, word: L::Vector) {
        if TRACE {
            self.layers[self.state][layer.index()] = Some(L::lanes(word));
        }
    }
}

/// A machine that computes with `L` and may keep layers: [`Vectors`], or a mutant of it.
pub trait Runs<'a, L: Lanes, const N: usize, const TRACE: bool>: Machine<Word = L::Vector> {
    /// The vectors underneath.
    fn vectors(&self) -> &Vectors<'a, L, N, TRACE>;
}

impl<'a, L: Lanes, const N: usize, const TRACE: bool> Runs<'a, L, N, TRACE> for Vectors<'a, L, N, TRACE> {
    #[inline(always)]
    fn vectors(&self) -> &Vectors<'a, L, N, TRACE> {
        self
    }
}

impl<'a, L: Lanes, const N: usize, const TRACE: bool> Runs<'a, L, N, TRACE>
    for Mutant<Vectors<'a, L, N, TRACE>>
{
    fn vectors(&self) -> &Vectors<'a, L, N, TRACE> {
        &self.machine
    }
}
