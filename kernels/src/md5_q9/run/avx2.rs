//! Eight words by AVX2.

use std::arch::x86_64::*;

use super::lanes::{Lanes, MAX_LANES};

/// Eight words in a register. Only used inside functions that enable AVX2.
pub struct Avx2;

// SAFETY (for every block below): these methods are inlined into functions with `target_feature(enable = "avx2")`,
// which `kernel.rs` calls only after it has asked the processor for AVX2.
impl Lanes for Avx2 {
    type Vector = __m256i;
    const LANES: usize = 8;

    #[inline(always)]
    fn splat(word: u32) -> __m256i {
        // SAFETY: AVX2 was detected, see above.
        unsafe { _mm256_set1_epi32(word as i32) }
    }

    #[inline(always)]
    fn ramp(stride: u32) -> __m256i {
        // SAFETY: AVX2 was detected, see above.
        unsafe {
            _mm256_mullo_epi32(
                _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
                _mm256_set1_epi32(stride as i32),
            )
        }
    }

    #[inline(always)]
    fn lanes(vector: __m256i) -> [u32; MAX_LANES] {
        let mut lanes = [0; MAX_LANES];
        // SAFETY: AVX2 was detected, see above; the array has room for eight words, unaligned.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), vector) };
        lanes
    }

    #[inline(always)]
    fn add(a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: AVX2 was detected, see above.
        unsafe { _mm256_add_epi32(a, b) }
    }

    #[inline(always)]
    fn sub(a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: AVX2 was detected, see above.
        unsafe { _mm256_sub_epi32(a, b) }
    }

    #[inline(always)]
    fn rotl<const N: u32>(a: __m256i) -> __m256i {
        // SAFETY: AVX2 was detected, see above. Shift counts in a register let N stay generic; they are constants.
        unsafe {
            let left = _mm256_sll_epi32(a, _mm_cvtsi32_si128(N as i32));
            let right = _mm256_srl_epi32(a, _mm_cvtsi32_si128(32 - N as i32));
            _mm256_or_si256(left, right)
        }
    }

    #[inline(always)]
    fn logic<const LUT: u8>(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
        // SAFETY: AVX2 was detected, see above.
        unsafe {
            // The last arm is 0x39, the last of MD5's four.
            match LUT {
                0xca => _mm256_xor_si256(c, _mm256_and_si256(a, _mm256_xor_si256(b, c))),
                0xe4 => _mm256_xor_si256(b, _mm256_and_si256(c, _mm256_xor_si256(a, b))),
                0x96 => _mm256_xor_si256(_mm256_xor_si256(a, b), c),
                _ => _mm256_xor_si256(b, _mm256_or_si256(a, _mm256_xor_si256(c, _mm256_set1_epi32(-1)))),
            }
        }
    }

    #[inline(always)]
    fn equal(a: __m256i, b: __m256i) -> u32 {
        // SAFETY: AVX2 was detected, see above.
        unsafe { _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b))) as u32 }
    }
}
