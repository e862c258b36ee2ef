//! The candidate's steps, written once over a [`Machine`].
//!
//! Every reading of a variant comes from here: the native kernels run it, the printer turns it into CUDA text,
//! the counter into an operation account, and the mutants break it.

use super::machine::{Input, Layer, Machine, Role};
use super::md5::{ROTATE, WORD, logic};
use super::options::{Constants, Options, WordAdds};

/// The last four states, `Q[t]`, `Q[t-1]`, `Q[t-2]`, `Q[t-3]`.
#[derive(Debug, Clone, Copy)]
pub struct Window<W> {
    /// `Q[t]`.
    pub q0: W,
    /// `Q[t-1]`.
    pub q1: W,
    /// `Q[t-2]`.
    pub q2: W,
    /// `Q[t-3]`.
    pub q3: W,
}

/// The words that Q9 changes, as far as steps 31..64 use them.
#[derive(Debug, Clone, Copy)]
pub enum Words<W> {
    /// In the Q9 tunnel: all three, formed per candidate.
    Tunnel {
        /// Message word 8.
        m8: W,
        /// Message word 9.
        m9: W,
        /// Message word 12.
        m12: W,
    },
    /// In the orbit, m8 and m12 stay in the forms in which they are cheapest.
    Orbit {
        /// `rotr(z, 7)`, so that m8 is `r + C8`.
        r: W,
        /// `z = Q9 + 1`, so that m12 is `C12 + 1 - z`.
        z: W,
        /// `K[44] + m9`, the same for the whole group.
        km9: W,
    },
}

/// What the members of an orbit that share a value of m9 have in common.
#[derive(Debug, Clone, Copy)]
pub struct Group<W> {
    /// `Q[25]`, `Q[26]`, `Q[27]`.
    pub q: [W; 3],
    /// Step 27 without `rotr(z, 7)`: `G(Q27, Q26, Q25) + Q24 + K[27] + C8`.
    pub c27: W,
    /// `K + m + Q[t-3]` of steps 28, 29 and 30.
    pub c: [W; 3],
    /// `K[44] + m9`.
    pub km9: W,
}

/// How `K[t] + m[WORD[t]]` comes into step `t`.
#[derive(Debug, Clone, Copy)]
enum Term<W> {
    /// As one word.
    Sum(W),
    /// As two, added one after the other.
    Separate(W, W),
    /// As two, of which the second is subtracted.
    Difference(W, W),
    /// As two: the base's part is added to `Q[t-3]`, the candidate's to that.
    Last(W, W),
    /// The same, with the candidate's part subtracted.
    LastDifference(W, W),
    /// Not at all: K + m is zero in every base of the kernel's shape.
    Nothing,
}

/// The steps whose K + m a base of shape [`super::base::Shape::ZeroOrbit`] makes zero: one for each of m5, m11, m1, m4, m0, m3, m2.
pub const ZERO_STEPS: [usize; 7] = [32, 34, 36, 37, 41, 42, 47];

/// Whether K + m of step `t` can be zero in all bases.
const fn is_zero_step(t: usize) -> bool {
    let mut i = 0;
    while i < ZERO_STEPS.len() {
        if ZERO_STEPS[i] == t {
            return true;
        }
        i += 1;
    }
    false
}

/// Adds the round function, rotates and adds `Q[t]`, for `sum = Q[t-3] + K[t] + m`.
#[inline(always)]
fn close<const T: usize, M: Machine>(
    m: &mut M,
    w: Window<M::Word>,
    f: M::Word,
    sum: M::Word,
) -> Window<M::Word> {
    let x = m.add(Role::Function, f, sum);
    turn::<T, M>(m, w, x)
}

/// The end of step `T`: `Q[t+1] = Q[t] + rotl(x, ROTATE[t])`, and the window moves on.
#[inline(always)]
fn turn<const T: usize, M: Machine>(m: &mut M, w: Window<M::Word>, x: M::Word) -> Window<M::Word> {
    let turned = match const { ROTATE[T] } {
        4 => m.rotl::<4>(x),
        5 => m.rotl::<5>(x),
        6 => m.rotl::<6>(x),
        7 => m.rotl::<7>(x),
        9 => m.rotl::<9>(x),
        10 => m.rotl::<10>(x),
        11 => m.rotl::<11>(x),
        12 => m.rotl::<12>(x),
        14 => m.rotl::<14>(x),
        15 => m.rotl::<15>(x),
        16 => m.rotl::<16>(x),
        17 => m.rotl::<17>(x),
        20 => m.rotl::<20>(x),
        21 => m.rotl::<21>(x),
        22 => m.rotl::<22>(x),
        _ => m.rotl::<23>(x),
    };
    let next = m.add(Role::State, turned, w.q0);
    if T < 61 {
        m.layer(Layer::Q(T + 1), next);
    }
    Window {
        q0: next,
        q1: w.q0,
        q2: w.q1,
        q3: w.q2,
    }
}

/// The round function of step `T`.
#[inline(always)]
fn function<const T: usize, M: Machine>(m: &mut M, w: Window<M::Word>) -> M::Word {
    match const { logic(T) } {
        0xca => m.logic::<0xca>(w.q0, w.q1, w.q2),
        0xe4 => m.logic::<0xe4>(w.q0, w.q1, w.q2),
        0x96 => m.logic::<0x96>(w.q0, w.q1, w.q2),
        _ => m.logic::<0x39>(w.q0, w.q1, w.q2),
    }
}

/// `K[T] + m` of step `T` in the form that the options ask for.
#[inline(always)]
fn term<const T: usize, M: Machine>(m: &mut M, options: &Options, words: &Words<M::Word>) -> Term<M::Word> {
    match const { WORD[T] } {
        8 => match *words {
            Words::Tunnel { m8, .. } => tunnel_term::<T, M>(m, options, m8),
            Words::Orbit { r, .. } => {
                let c = m.input(Input::KC8(T));
                match options.adds.word {
                    WordAdds::Separate => Term::Separate(c, r),
                    WordAdds::LastMadUniform => Term::Last(c, r),
                    WordAdds::Plain | WordAdds::Mad | WordAdds::MadUniform => {
                        Term::Sum(m.add(Role::Word, r, c))
                    }
                }
            }
        },
        9 => match *words {
            Words::Tunnel { m9, .. } => tunnel_term::<T, M>(m, options, m9),
            Words::Orbit { km9, .. } if T == 44 => Term::Sum(km9),
            Words::Orbit { km9, .. } => {
                let difference = m.input(Input::KDifference(T, 44));
                Term::Sum(m.add(Role::Setup, km9, difference))
            }
        },
        12 => match *words {
            Words::Tunnel { m12, .. } => tunnel_term::<T, M>(m, options, m12),
            Words::Orbit { z, .. } => {
                let c = m.input(Input::KC12(T));
                match options.adds.word {
                    WordAdds::Separate => Term::Difference(c, z),
                    WordAdds::LastMadUniform => Term::LastDifference(c, z),
                    WordAdds::Plain | WordAdds::Mad | WordAdds::MadUniform => {
                        Term::Sum(m.sub(Role::Word, c, z))
                    }
                }
            }
        },
        _ if const { is_zero_step(T) } && options.zero_constants => Term::Nothing,
        k => match options.constants {
            Constants::Separate => Term::Separate(m.input(Input::K(T)), m.input(Input::Word(k))),
            Constants::Preadded => Term::Sum(m.input(Input::Preadded(T))),
        },
    }
}

/// `K[T]` and a word that the tunnel forms per candidate.
#[inline(always)]
fn tunnel_term<const T: usize, M: Machine>(m: &mut M, options: &Options, word: M::Word) -> Term<M::Word> {
    let k = m.input(Input::K(T));
    match options.adds.word {
        WordAdds::Separate => Term::Separate(k, word),
        WordAdds::Plain | WordAdds::Mad | WordAdds::MadUniform | WordAdds::LastMadUniform => {
            Term::Sum(m.add(Role::Word, word, k))
        }
    }
}

/// What step `T` rotates: `f(Q[t], Q[t-1], Q[t-2]) + Q[t-3] + K[t] + m`.
#[inline(always)]
pub fn operand<const T: usize, M: Machine>(
    m: &mut M,
    options: &Options,
    w: Window<M::Word>,
    words: &Words<M::Word>,
) -> M::Word {
    let f = function::<T, M>(m, w);
    match term::<T, M>(m, options, words) {
        Term::Sum(km) => {
            let sum = m.add(Role::Constant, w.q3, km);
            m.add(Role::Function, f, sum)
        }
        Term::Separate(k, word) => {
            let sum = m.add(Role::Separate, f, w.q3);
            let sum = m.add(Role::Separate, sum, k);
            m.add(Role::Separate, sum, word)
        }
        Term::Difference(k, word) => {
            let sum = m.add(Role::Separate, f, w.q3);
            let sum = m.add(Role::Separate, sum, k);
            m.sub(Role::Separate, sum, word)
        }
        Term::Last(c, word) => {
            let sum = m.add(Role::Constant, w.q3, c);
            let sum = m.add(Role::Word, word, sum);
            m.add(Role::Function, f, sum)
        }
        Term::LastDifference(c, word) => {
            let sum = m.add(Role::Constant, w.q3, c);
            let sum = m.sub(Role::Word, sum, word);
            m.add(Role::Function, f, sum)
        }
        Term::Nothing => m.add(Role::Function, f, w.q3),
    }
}

/// Step `T` as a whole.
#[inline(always)]
pub fn step<const T: usize, M: Machine>(
    m: &mut M,
    options: &Options,
    w: Window<M::Word>,
    words: &Words<M::Word>,
) -> Window<M::Word> {
    let x = operand::<T, M>(m, options, w, words);
    turn::<T, M>(m, w, x)
}

/// The tunnel's candidate up to its words: m8, m9 and m12 from Q9, and the window of Q24.
#[inline(always)]
pub fn tunnel_words<M: Machine>(m: &mut M, q9: M::Word) -> (Window<M::Word>, Words<M::Word>) {
    // m8 = rotr(Q9 - Q8, 7) - F(Q8, Q7, Q6) - Q5 - K8
    let q8 = m.input(Input::Fixed(8));
    let d8 = m.sub(Role::Setup, q9, q8);
    let r8 = m.rotl::<25>(d8);
    let c8 = m.input(Input::C8);
    let m8 = m.add(Role::Setup, r8, c8);
    m.layer(Layer::M8, m8);
    // m9 = rotr(Q10 - Q9, 12) - F(Q9, Q8, Q7) - Q6 - K9, with Q10 = 0
    let q10 = m.input(Input::Zero);
    let d9 = m.sub(Role::Setup, q10, q9);
    let r9 = m.rotl::<20>(d9);
    let q7 = m.input(Input::Fixed(7));
    let f9 = m.logic::<0xca>(q9, q8, q7);
    let c9 = m.input(Input::C9);
    let s9 = m.add(Role::Setup, r9, c9);
    let m9 = m.sub(Role::Setup, s9, f9);
    m.layer(Layer::M9, m9);
    // m12 = const - Q9
    let c12 = m.input(Input::C12);
    let m12 = m.sub(Role::Setup, c12, q9);
    m.layer(Layer::M12, m12);
    (start(m), Words::Tunnel { m8, m9, m12 })
}

/// The window of Q24, which the whole base shares.
#[inline(always)]
fn start<M: Machine>(m: &mut M) -> Window<M::Word> {
    Window {
        q0: m.input(Input::Start(24)),
        q1: m.input(Input::Start(23)),
        q2: m.input(Input::Start(22)),
        q3: m.input(Input::Start(21)),
    }
}

/// What an orbit's group shares, from `v = m9 - C9` (`R0 + y0`, or that minus one).
#[inline(always)]
pub fn group<M: Machine>(m: &mut M, options: &Options, v: M::Word) -> Group<M::Word> {
    let w = start(m);
    let q24 = w.q0;
    let c9 = m.input(Input::C9);
    let m9 = m.add(Role::Setup, v, c9);
    m.layer(Layer::M9, m9);
    let k24 = m.input(Input::K(24));
    let km24 = m.add(Role::Setup, m9, k24);
    let k44 = m.input(Input::K(44));
    let km9 = m.add(Role::Setup, m9, k44);
    let f = function::<24, M>(m, w);
    let sum = m.add(Role::Constant, w.q3, km24);
    let w = close::<24, M>(m, w, f, sum);
    let words = Words::Orbit { r: km9, z: km9, km9 };
    let w = step::<25, M>(m, options, w, &words);
    let w = step::<26, M>(m, options, w, &words);
    let (q25, q26, q27) = (w.q2, w.q1, w.q0);
    // Step 27 but for rotr(z, 7)
    let f = function::<27, M>(m, w);
    let kc8 = m.input(Input::KC8(27));
    let sum = m.add(Role::Setup, q24, kc8);
    let c27 = m.add(Role::Setup, f, sum);
    // Steps 28, 29, 30 but for the round function
    let km28 = m.input(Input::Preadded(28));
    let c28 = m.add(Role::Setup, q25, km28);
    let km29 = m.input(Input::Preadded(29));
    let c29 = m.add(Role::Setup, q26, km29);
    let km30 = m.input(Input::Preadded(30));
    let c30 = m.add(Role::Setup, q27, km30);
    Group {
        q: [q25, q26, q27],
        c27,
        c: [c28, c29, c30],
        km9,
    }
}

/// An orbit's member up to Q31: the window and the words that the further steps take.
#[inline(always)]
pub fn member<M: Machine>(
    m: &mut M,
    group: &Group<M::Word>,
    z: M::Word,
) -> (Window<M::Word>, Words<M::Word>) {
    let [q25, q26, q27] = group.q;
    // Step 27: Q28 = Q27 + rotl(rotr(z, 7) + C27, 14)
    let r = m.rotl::<25>(z);
    let x = m.add(Role::Function, r, group.c27);
    let w = Window {
        q0: q27,
        q1: q26,
        q2: q25,
        q3: q25,
    };
    let w = turn::<27, M>(m, w, x);
    let f = function::<28, M>(m, w);
    let w = close::<28, M>(m, w, f, group.c[0]);
    let f = function::<29, M>(m, w);
    let w = close::<29, M>(m, w, f, group.c[1]);
    let f = function::<30, M>(m, w);
    let w = close::<30, M>(m, w, f, group.c[2]);
    (w, Words::Orbit { r, z, km9: group.km9 })
}

/// Steps 61, 62 and 63 and the digest, for a candidate whose Q61 passed the test.
#[inline(always)]
pub fn digest<M: Machine>(
    m: &mut M,
    options: &Options,
    w: Window<M::Word>,
    words: &Words<M::Word>,
) -> [M::Word; 4] {
    let q61 = w.q0;
    let w = step::<61, M>(m, options, w, words);
    let w = step::<62, M>(m, options, w, words);
    let w = step::<63, M>(m, options, w, words);
    // A, B, C, D = A0 + Q61, B0 + Q64, C0 + Q63, D0 + Q62
    let finals = [q61, w.q0, w.q1, w.q2];
    let mut digest = finals;
    for i in 0..4 {
        let chaining = m.input(Input::Chaining(i));
        digest[i] = m.add(Role::Setup, finals[i], chaining);
        m.layer(Layer::Digest(i), digest[i]);
    }
    digest
}

/// Defines a function that takes several states through the given steps together, step by step, so that their
/// operations interleave.
macro_rules! interleaved {
    ($(#[$doc:meta])* $name:ident: $($t:literal)*) => {
        $(#[$doc])*
        #[inline(always)]
        pub fn $name<M: Machine>(
            m: &mut M,
            options: &Options,
            windows: &mut [Window<M::Word>],
            words: &[Words<M::Word>],
        ) {
            $(
                for i in 0..windows.len() {
                    m.select(i);
                    windows[i] = step::<$t, M>(m, options, windows[i], &words[i]);
                }
            )*
        }
    };
}

interleaved! {
    /// Takes tunnel states from Q24 through steps 24..=30 together.
    head: 24 25 26 27 28 29 30
}

interleaved! {
    /// Takes states of either walk from Q31 through steps 31..=59 together.
    all_but_last: 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59
}

interleaved! {
    /// Takes states of either walk from Q60 through step 60 together.
    last: 60
}

/// Takes states of either walk from Q31 through steps 31..=60 together.
#[inline(always)]
pub fn tail<M: Machine>(
    m: &mut M,
    options: &Options,
    windows: &mut [Window<M::Word>],
    words: &[Words<M::Word>],
) {
    all_but_last(m, options, windows, words);
    last(m, options, windows, words);
}
