//! MD5 (RFC 1321), written a second time.
//!
//! A record is re-checked from outside, so this shares nothing with the code that computed it, deliberately: not the
//! kernels crate, and the `md-5` crate only judges it in the tests. It is short rather than fast.

/// The chaining value in front of the first block, as A, B, C, D.
pub(crate) const INITIAL: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];

const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The constant of step `t`: the first 32 bits after the point of |sin(t + 1)|.
fn constant(t: usize) -> u32 {
    ((t as f64 + 1.0).sin().abs() * 4_294_967_296.0) as u32
}

/// The boolean function of step `t`.
fn boolean(t: usize, x: u32, y: u32, z: u32) -> u32 {
    match t / 16 {
        0 => (x & y) | (!x & z),
        1 => (x & z) | (y & !z),
        2 => x ^ y ^ z,
        _ => y ^ (x | !z),
    }
}

/// Which message word step `t` takes.
fn word_of(t: usize) -> usize {
    match t / 16 {
        0 => t,
        1 => (5 * t + 1) % 16,
        2 => (3 * t + 5) % 16,
        _ => 7 * t % 16,
    }
}

/// The chaining value after a block, given the one before it (A, B, C, D) and the block's words.
pub(crate) fn compress(chain: [u32; 4], words: &[u32; 16]) -> [u32; 4] {
    // `q` holds Q[t], Q[t-1], Q[t-2], Q[t-3].
    let [a, b, c, d] = chain;
    let mut q = [b, c, d, a];
    for t in 0..64 {
        let sum = boolean(t, q[0], q[1], q[2])
            .wrapping_add(q[3])
            .wrapping_add(constant(t))
            .wrapping_add(words[word_of(t)]);
        q = [
            q[0].wrapping_add(sum.rotate_left(SHIFTS[t / 16][t % 4])),
            q[0],
            q[1],
            q[2],
        ];
    }
    [
        a.wrapping_add(q[3]),
        b.wrapping_add(q[0]),
        c.wrapping_add(q[1]),
        d.wrapping_add(q[2]),
    ]
}

/// The words m0..m12 that lead from a chaining value (A, B, C, D) through the outputs Q1..Q13 of steps 0..12.
pub(crate) fn message_words(chain: [u32; 4], outputs: [u32; 13]) -> [u32; 13] {
    let [a, b, c, d] = chain;
    // Q[t+1] is `q[t + 4]`: A, D, C, B stand in front.
    let mut q = [0; 17];
    q[..4].copy_from_slice(&[a, d, c, b]);
    q[4..].copy_from_slice(&outputs);
    std::array::from_fn(|t| {
        q[t + 4]
            .wrapping_sub(q[t + 3])
            .rotate_right(SHIFTS[0][t % 4])
            .wrapping_sub(boolean(t, q[t + 3], q[t + 2], q[t + 1]))
            .wrapping_sub(q[t])
            .wrapping_sub(constant(t))
    })
}

/// The last block of a message whose end is the 52 bytes m0..m12, `blocks_in_front` whole blocks into it.
pub(crate) fn last_block(words: [u32; 13], blocks_in_front: u64) -> [u32; 16] {
    let bits = blocks_in_front.wrapping_mul(512).wrapping_add(416);
    let mut block = [0; 16];
    block[..13].copy_from_slice(&words);
    block[13..].copy_from_slice(&[0x80, bits as u32, (bits >> 32) as u32]);
    block
}

/// The words of a 64-byte block.
pub(crate) fn block_words(block: &[u8; 64]) -> [u32; 16] {
    std::array::from_fn(|i| {
        u32::from_le_bytes([block[4 * i], block[4 * i + 1], block[4 * i + 2], block[4 * i + 3]])
    })
}

/// Words as the bytes MD5 reads and prints.
pub(crate) fn le_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use md5::{Digest, Md5};
    use proptest::prelude::*;

    use super::*;
    use crate::encode_hex;

    /// The outputs of steps 0..12, by running them forwards.
    fn outputs(chain: [u32; 4], words: &[u32; 13]) -> [u32; 13] {
        let [a, b, c, d] = chain;
        let mut q = vec![a, d, c, b];
        for t in 0..13 {
            let sum = boolean(t, q[t + 3], q[t + 2], q[t + 1])
                .wrapping_add(q[t])
                .wrapping_add(constant(t))
                .wrapping_add(words[t]);
            q.push(q[t + 3].wrapping_add(sum.rotate_left(SHIFTS[0][t % 4])));
        }
        std::array::from_fn(|t| q[t + 4])
    }

    #[test]
    fn the_constants_are_those_of_the_rfc() {
        assert_eq!(
            [constant(0), constant(1), constant(63)],
            [0xd76a_a478, 0xe8c7_b756, 0xeb86_d391]
        );
    }

    proptest! {
        #[test]
        fn blocks_hash_as_the_md5_crate_has_it(prefix in prop::collection::vec(any::<[u8; 32]>(), 0..4), words: [u32; 13]) {
            // Two halves make a block, so that proptest's arrays suffice.
            let prefix: Vec<u8> = prefix.iter().flat_map(|half| [*half, *half].concat()).collect();
            let (blocks, _) = prefix.as_chunks::<64>();
            let chain = blocks.iter().fold(INITIAL, |chain, block| compress(chain, &block_words(block)));
            let digest = compress(chain, &last_block(words, blocks.len() as u64));
            let message = [prefix.clone(), le_bytes(&words)].concat();
            prop_assert_eq!(encode_hex(le_bytes(&digest)), encode_hex(Md5::digest(message)));
        }

        #[test]
        fn words_come_back_from_the_outputs_they_lead_to(chain: [u32; 4], words: [u32; 13]) {
            prop_assert_eq!(message_words(chain, outputs(chain, &words)), words);
        }
    }
}
