//! MD5's constants and steps as the specification has them (RFC 1321, sections 3.3 and 3.4), with the numbering
//! of this family: step `t` of 0..64 computes
//! `Q[t+1] = Q[t] + rotl(f_t(Q[t], Q[t-1], Q[t-2]) + Q[t-3] + K[t] + m[WORD[t]], ROTATE[t])`.

/// `K[t] = floor(2^32 |sin(t + 1)|)`.
pub const K: [u32; 64] = [
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
];

/// How far step `t` rotates to the left.
pub const ROTATE: [u32; 64] = {
    const ROUNDS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    let mut rotate = [0; 64];
    let mut t = 0;
    while t < 64 {
        rotate[t] = ROUNDS[t / 16][t % 4];
        t += 1;
    }
    rotate
};

/// Which message word step `t` uses.
pub const WORD: [usize; 64] = {
    let mut word = [0; 64];
    let mut t = 0;
    while t < 64 {
        word[t] = match t / 16 {
            0 => t,
            1 => (5 * t + 1) % 16,
            2 => (3 * t + 5) % 16,
            _ => (7 * t) % 16,
        };
        t += 1;
    }
    word
};

/// Truth table of the round function of step `t`, for operands `Q[t]` = 0xf0, `Q[t-1]` = 0xcc, `Q[t-2]` = 0xaa.
pub const fn logic(t: usize) -> u8 {
    match t / 16 {
        0 => 0xca, // F = (b & c) | (~b & d)
        1 => 0xe4, // G = (b & d) | (c & ~d)
        2 => 0x96, // H = b ^ c ^ d
        _ => 0x39, // I = c ^ (b | ~d)
    }
}

/// The chaining value in front of the first block, in the order A, B, C, D.
pub const INITIAL: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];

/// `f_t(Q[t], Q[t-1], Q[t-2])`, by the specification's own formulas.
pub fn round_function(t: usize, b: u32, c: u32, d: u32) -> u32 {
    match t / 16 {
        0 => (b & c) | (!b & d),
        1 => (b & d) | (c & !d),
        2 => b ^ c ^ d,
        _ => c ^ (b | !d),
    }
}

/// The word that makes step `t` go from the window `Q[t], Q[t-1], Q[t-2], Q[t-3]` to `next` = `Q[t+1]`.
pub fn word_for(t: usize, window: [u32; 4], next: u32) -> u32 {
    let [q0, q1, q2, q3] = window;
    next.wrapping_sub(q0)
        .rotate_right(ROTATE[t])
        .wrapping_sub(round_function(t, q0, q1, q2))
        .wrapping_sub(q3)
        .wrapping_sub(K[t])
}

/// `Q[t+1]` from the window `Q[t], Q[t-1], Q[t-2], Q[t-3]` and the step's message word.
pub fn step(t: usize, window: [u32; 4], word: u32) -> u32 {
    let [q0, q1, q2, q3] = window;
    let sum = round_function(t, q0, q1, q2)
        .wrapping_add(q3)
        .wrapping_add(K[t])
        .wrapping_add(word);
    q0.wrapping_add(sum.rotate_left(ROTATE[t]))
}

/// Every `Q[1]..=Q[64]` of one block; index 0 holds `Q[1]`.
pub fn states(chaining: [u32; 4], words: &[u32; 16]) -> [u32; 64] {
    let [a, b, c, d] = chaining;
    let mut window = [b, c, d, a];
    std::array::from_fn(|t| {
        let next = step(t, window, words[WORD[t]]);
        window = [next, window[0], window[1], window[2]];
        next
    })
}

/// The chaining value after one block.
pub fn compress(chaining: [u32; 4], words: &[u32; 16]) -> [u32; 4] {
    let q = states(chaining, words);
    let [a, b, c, d] = chaining;
    [
        a.wrapping_add(q[60]),
        b.wrapping_add(q[63]),
        c.wrapping_add(q[62]),
        d.wrapping_add(q[61]),
    ]
}

/// A digest's words A, B, C, D as the 16 bytes that are printed.
pub fn digest_bytes(words: [u32; 4]) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (chunk, word) in bytes.chunks_exact_mut(4).zip(words) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// Little-endian words of one 64-byte block.
pub fn block_words(block: &[u8; 64]) -> [u32; 16] {
    std::array::from_fn(|i| {
        u32::from_le_bytes([block[4 * i], block[4 * i + 1], block[4 * i + 2], block[4 * i + 3]])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_padded_block_hashes_as_the_md5_crate_does() {
        use ::md5::{Digest, Md5};
        let message = *b"a message of fifty-two bytes, neither more nor less.";
        let mut block = [0u8; 64];
        block[..52].copy_from_slice(&message);
        block[52] = 0x80;
        block[56..].copy_from_slice(&416u64.to_le_bytes());
        let ours = digest_bytes(compress(INITIAL, &block_words(&block)));
        assert_eq!(ours[..], Md5::digest(message)[..]);
    }

    #[test]
    fn truth_tables_are_those_of_the_formulas() {
        for t in 0..64 {
            let table = round_function(t, 0xf0, 0xcc, 0xaa) as u8;
            assert_eq!(logic(t), table, "step {t}");
        }
    }

    #[test]
    fn a_word_computed_backwards_makes_its_step() {
        for t in 0..64 {
            let window = [0x0123_4567, 0x89ab_cdef, 0xdead_beef, 0xfeed_f00d];
            assert_eq!(
                step(t, window, word_for(t, window, 0x1357_9bdf)),
                0x1357_9bdf,
                "step {t}"
            );
        }
    }
}
