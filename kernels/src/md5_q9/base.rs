//! Bases: everything about a message that stays the same while Q9 runs through its values.
//!
//! A message is 52 bytes behind `n` whole 64-byte blocks. Its first thirteen words follow from Q1..Q13, of which
//! a base fixes all but Q9, with Q10 = 0 and Q11 = 0xffffffff, so that only m8, m9 and m12 depend on Q9.

use std::sync::Arc;

use ::md5::{Digest, Md5};
use sha2::Sha256;

use super::describe::ZERO_STEPS;
use super::machine::Input;
use super::md5::{self as steps, INITIAL, K, WORD};
use crate::family::{BaseWords, PrefixError};

/// Bytes of the message's last part: words m0..m12.
pub const TAIL_BYTES: usize = 52;

/// Which of a base's words are fixed beyond Q10 and Q11.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shape {
    /// Q7 and Q8 are free: Q9 tunnel only.
    Ordinary,
    /// Q7 = 0 and Q8 = 0xffffffff: F(Q9, Q8, Q7) = Q9, which the orbit needs.
    Orbit,
    /// The same, and K + m is zero at the seven steps of [`ZERO_STEPS`]: m0..m5 and m11 are what these ask for, Q1..Q6 and Q12
    /// follow from them, and Q13 alone tells the bases of a chaining value apart. There are 2^32 of them.
    ZeroOrbit,
}

impl Shape {
    /// Its name in identities.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Ordinary => "ordinary",
            Shape::Orbit => "orbit",
            Shape::ZeroOrbit => "zero-orbit",
        }
    }

    /// Whether a kernel that needs shape `needed` is right on a base of this one.
    pub fn serves(self, needed: Shape) -> bool {
        self >= needed
    }
}

/// Whole 64-byte blocks in front of the message, and the chaining value after them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix {
    text: Arc<[u8]>,
    chaining: [u32; 4],
}

impl Prefix {
    /// No blocks at all.
    pub fn none() -> Prefix {
        Prefix {
            text: Arc::from([]),
            chaining: INITIAL,
        }
    }

    /// The blocks of `text`.
    ///
    /// # Errors
    /// When its length is not a multiple of 64, or the whole message would pass 2^61 bytes.
    pub fn new(text: Arc<[u8]>) -> Result<Prefix, PrefixError> {
        if !text.len().is_multiple_of(64) {
            return Err(PrefixError(format!(
                "{} bytes are not a whole number of 64-byte blocks: pad it to {} bytes",
                text.len(),
                text.len().next_multiple_of(64)
            )));
        }
        let chaining = text.as_chunks::<64>().0.iter().fold(INITIAL, |chaining, block| {
            steps::compress(chaining, &steps::block_words(block))
        });
        Ok(Prefix { text, chaining })
    }

    /// Message length in bits, as the padding states it.
    fn bits(&self) -> u64 {
        8 * (self.text.len() + TAIL_BYTES) as u64
    }
}

/// One base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// Identity: shape, seed and index, or a vector file's own.
    pub id: String,
    /// Its shape.
    pub shape: Shape,
    /// Q1..Q13; Q9's place holds zero.
    q: [u32; 13],
    /// Message words with Q9 = 0.
    words: [u32; 16],
    /// Q21..Q24.
    start: [u32; 4],
    prefix: Prefix,
}

/// What Q9 makes of a base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// The 16 words of the last block.
    pub words: [u32; 16],
    /// Q1..Q64; index 0 holds Q1.
    pub q: [u32; 64],
    /// Digest words A, B, C, D.
    pub digest: [u32; 4],
}

impl Base {
    /// Base number `index` of `seed`: its free words are drawn from SHA-256 of shape, seed and index.
    pub fn new(shape: Shape, seed: u64, index: u64, prefix: Prefix) -> Base {
        let (one, two) = (
            Base::draw(shape, seed, index, 0),
            Base::draw(shape, seed, index, 1),
        );
        let mut q = [0; 13];
        q[..8].copy_from_slice(&one);
        q[11..].copy_from_slice(&two[..2]);
        (q[9], q[10]) = (0, u32::MAX);
        if shape.serves(Shape::Orbit) {
            (q[6], q[7]) = (0, u32::MAX);
        }
        if shape == Shape::ZeroOrbit {
            zero_constants(&mut q, prefix.chaining);
            // Neighbours differ in Q13 alone, so that no base comes twice in 2^32.
            let place = Base::draw(shape, seed, 0, 1)[1];
            q[12] = place.wrapping_add(index as u32);
        }
        Base::from_states(format!("{}-{seed}-{index}", shape.name()), q, prefix)
    }

    /// Eight words drawn for a base.
    fn draw(shape: Shape, seed: u64, index: u64, part: u8) -> [u32; 8] {
        let digest = Sha256::new()
            .chain_update(b"assay md5-q9 base")
            .chain_update(shape.name())
            .chain_update(seed.to_le_bytes())
            .chain_update(index.to_le_bytes())
            .chain_update([part])
            .finalize();
        std::array::from_fn(|i| {
            u32::from_le_bytes([
                digest[4 * i],
                digest[4 * i + 1],
                digest[4 * i + 2],
                digest[4 * i + 3],
            ])
        })
    }

    /// The base with the given Q1..Q13 (Q9's place is ignored). Its shape follows from Q7, Q8 and the message words.
    pub fn from_states(id: String, mut q: [u32; 13], prefix: Prefix) -> Base {
        q[8] = 0;
        let shape = if (q[6], q[7]) == (0, u32::MAX) {
            Shape::Orbit
        } else {
            Shape::Ordinary
        };
        let mut base = Base {
            id,
            shape,
            q,
            words: [0; 16],
            start: [0; 4],
            prefix,
        };
        base.words = base.words_for(0);
        let zero = |t: &usize| K[*t].wrapping_add(base.words[WORD[*t]]) == 0;
        if base.shape == Shape::Orbit && ZERO_STEPS.iter().all(zero) {
            base.shape = Shape::ZeroOrbit;
        }
        let states = steps::states(base.prefix.chaining, &base.words);
        base.start = [states[20], states[21], states[22], states[23]];
        base
    }

    /// The target of the search: Q61 that makes digest word A zero.
    pub fn zero_target(&self) -> u32 {
        self.prefix.chaining[0].wrapping_neg()
    }

    /// The message words for a value of Q9, by inverting steps 0..13.
    fn words_for(&self, q9: u32) -> [u32; 16] {
        let [a, b, c, d] = self.prefix.chaining;
        let mut q = self.q;
        q[8] = q9;
        let mut words = [0; 16];
        let mut window = [b, c, d, a];
        for t in 0..13 {
            words[t] = steps::word_for(t, window, q[t]);
            window = [q[t], window[0], window[1], window[2]];
        }
        words[13] = 0x80;
        let bits = self.prefix.bits();
        (words[14], words[15]) = (bits as u32, (bits >> 32) as u32);
        words
    }

    /// The host's own answer for a candidate: words by inverting steps 0..13, states by running all 64 steps.
    pub fn candidate(&self, q9: u32) -> Candidate {
        let words = self.words_for(q9);
        Candidate {
            words,
            q: steps::states(self.prefix.chaining, &words),
            digest: steps::compress(self.prefix.chaining, &words),
        }
    }

    /// The complete message of a candidate, prefix included.
    pub fn message(&self, q9: u32) -> Vec<u8> {
        let mut message = self.prefix.text.to_vec();
        message.extend(
            self.words_for(q9)[..13]
                .iter()
                .flat_map(|word| word.to_le_bytes()),
        );
        message
    }

    /// The base's part of an [`Input`].
    pub fn input(&self, input: Input) -> u32 {
        let q = |n: usize| self.q[n - 1];
        // m8 = rotr(Q9 - Q8, 7) + c8, m9 = rotr(Q10 - Q9, 12) - F(Q9, Q8, Q7) + c9, m12 = c12 - Q9
        let c8 = || steps::word_for(8, [q(8), q(7), q(6), q(5)], q(8));
        let c9 = || q(6).wrapping_add(K[9]).wrapping_neg();
        let c12 = || self.words[12];
        match input {
            Input::K(t) => K[t],
            Input::KDifference(t, u) => K[t].wrapping_sub(K[u]),
            Input::Zero => 0,
            Input::Word(k) => self.words[k],
            Input::Preadded(t) => K[t].wrapping_add(self.words[WORD[t]]),
            Input::Start(n) => self.start[n - 21],
            Input::Fixed(n) => q(n),
            Input::C8 => c8(),
            Input::C9 => c9(),
            Input::C12 => c12(),
            Input::KC8(t) => K[t].wrapping_add(c8()),
            Input::KC12(t) => K[t].wrapping_add(c12()).wrapping_add(1),
            Input::Chaining(i) => self.prefix.chaining[i],
        }
    }

    /// Q61 of a candidate, by hashing its message with the md5 crate and undoing the last addition.
    pub fn hashed_q61(&self, q9: u32) -> u32 {
        let digest = Md5::digest(self.message(q9));
        u32::from_le_bytes([digest[0], digest[1], digest[2], digest[3]]).wrapping_sub(self.prefix.chaining[0])
    }

    /// The base as a record keeps it.
    pub fn record(&self) -> BaseWords {
        let fixed = (1..=13)
            .filter(|&n| n != 9)
            .map(|n| (format!("q{n}"), self.q[n - 1]));
        let chaining = ["a0", "b0", "c0", "d0"]
            .into_iter()
            .map(str::to_owned)
            .zip(self.prefix.chaining);
        BaseWords {
            id: self.id.clone(),
            words: fixed.chain(chaining).collect(),
            prefix: Arc::clone(&self.prefix.text),
        }
    }
}

/// Sets Q1..Q6 and Q12 to what the words that [`ZERO_STEPS`] ask for make of the chaining value. Q7, Q8, Q10 and Q11 are those of an
/// orbit; with Q10 = 0 and Q11 = 0xffffffff, step 11 takes nothing of Q9.
fn zero_constants(q: &mut [u32; 13], [a, b, c, d]: [u32; 4]) {
    let word = |k: usize| {
        let asks = ZERO_STEPS.iter().find(|t| WORD[**t] == k);
        asks.map_or(0, |&t| K[t].wrapping_neg())
    };
    let mut window = [b, c, d, a];
    for t in 0..6 {
        q[t] = steps::step(t, window, word(t));
        window = [q[t], window[0], window[1], window[2]];
    }
    q[11] = steps::step(11, [q[10], q[9], q[8], q[7]], word(11));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_orbit_has_k_plus_m_zero_at_the_seven_steps_and_tells_bases_apart_by_q13() {
        let prefix = Prefix::new(vec![7; 64].into()).unwrap();
        for prefix in [Prefix::none(), prefix] {
            let base = |index| Base::new(Shape::ZeroOrbit, 5, index, prefix.clone());
            for q9 in [0, 1, u32::MAX, 0x1234_5678] {
                let words = base(3).candidate(q9).words;
                for t in ZERO_STEPS {
                    assert_eq!(K[t].wrapping_add(words[WORD[t]]), 0, "step {t}, Q9 {q9:08x}");
                }
            }
            assert_eq!(base(0).shape, Shape::ZeroOrbit);
            assert_eq!(base(1).q[..12], base(0).q[..12]);
            assert_eq!(base(1).q[12], base(0).q[12].wrapping_add(1));
            assert_eq!(base(1 << 32).q, base(0).q);
        }
    }

    #[test]
    fn shapes_serve_what_needs_less() {
        use Shape::{Orbit, Ordinary, ZeroOrbit};
        let shapes = [Ordinary, Orbit, ZeroOrbit];
        for (i, shape) in shapes.into_iter().enumerate() {
            for (j, needed) in shapes.into_iter().enumerate() {
                assert_eq!(shape.serves(needed), i >= j);
            }
        }
    }

    #[test]
    fn only_three_words_depend_on_q9_and_the_state_through_q24_does_not() {
        for shape in [Shape::Ordinary, Shape::Orbit] {
            let base = Base::new(shape, 1, 2, Prefix::none());
            let zero = base.candidate(0);
            for q9 in [1, 0x8000_0000, u32::MAX, 0x1234_5678] {
                let other = base.candidate(q9);
                for k in (0..16).filter(|k| ![8, 9, 12].contains(k)) {
                    assert_eq!(zero.words[k], other.words[k], "m{k} at Q9 {q9:08x}");
                }
                assert_eq!(zero.q[9..24], other.q[9..24]);
                assert_eq!(other.q[8], q9);
            }
        }
    }

    #[test]
    fn the_message_hashes_to_the_candidates_digest_with_and_without_a_prefix() {
        for blocks in [0, 1, 3] {
            let text: Vec<u8> = (0..64 * blocks).map(|i| i as u8).collect();
            let base = Base::new(Shape::Orbit, 9, 0, Prefix::new(text.into()).unwrap());
            let digest = steps::digest_bytes(base.candidate(0xdead_beef).digest);
            assert_eq!(digest[..], Md5::digest(base.message(0xdead_beef))[..]);
        }
    }

    #[test]
    fn a_prefix_that_is_not_whole_blocks_is_refused() {
        for length in [1, 63, 65, 127] {
            let error = Prefix::new(vec![0; length].into()).unwrap_err();
            assert!(error.to_string().contains("64-byte blocks"), "{error}");
        }
    }
}
