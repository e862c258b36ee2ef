//! Sixteen words by AVX-512F, which has rotations and three-input logic of its own.

use std::arch::x86_64::*;

use super::lanes::{Lanes, MAX_LANES};

/// Sixteen words in a register. Only used inside functions that enable AVX-512F.
pub struct Avx512;

// SAFETY (for every block below): these methods are inlined into functions with `target_feature(enable =
// "avx512f")`, which `kernel.rs` calls only after it has asked the processor for AVX-512F.
impl Lanes for Avx512 {
    type Vector = __m512i;
    const LANES: usize = 16;

    #[inline(always)]
    fn splat(word: u32) -> __m512i {
        // SAFETY: AVX-512F was detected, see above.
        unsafe { _mm512_set1_epi32(word as i32) }
    }

    #[inline(always)]
    fn ramp(stride: u32) -> __m512i {
        // SAFETY: AVX-512F was detected, see above.
        unsafe {
            let places = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            _mm512_mullo_epi32(places, _mm512_set1_epi32(stride as i32))
        }
    }

    #[inline(always)]
    fn lanes(vector: __m512i) -> [u32; MAX_LANES] {
        let mut lanes = [0; MAX_LANES];
        // SAFETY: AVX-512F was detected, see above; the array has room for sixteen words, unaligned.
        unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), vector) };
        lanes
    }

    #[inline(always)]
    fn add(a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: AVX-512F was detected, see above.
        unsafe { _mm512_add_epi32(a, b) }
    }

    #[inline(always)]
    fn sub(a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: AVX-512F was detected, see above.
        unsafe { _mm512_sub_epi32(a, b) }
    }

    #[inline(always)]
    fn rotl<const N: u32>(a: __m512i) -> __m512i {
        // SAFETY: AVX-512F was detected, see above. The variable form becomes VPROLD with an immediate.
        unsafe { _mm512_rolv_epi32(a, _mm512_set1_epi32(N as i32)) }
    }

    #[inline(always)]
    fn logic<const LUT: u8>(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        // SAFETY: AVX-512F was detected, see above.
        unsafe {
            // The last arm is 0x39, the last of MD5's four.
            match LUT {
                0xca => _mm512_ternarylogic_epi32::<0xca>(a, b, c),
                0xe4 => _mm512_ternarylogic_epi32::<0xe4>(a, b, c),
                0x96 => _mm512_ternarylogic_epi32::<0x96>(a, b, c),
                _ => _mm512_ternarylogic_epi32::<0x39>(a, b, c),
            }
        }
    }

    #[inline(always)]
    fn equal(a: __m512i, b: __m512i) -> u32 {
        // SAFETY: AVX-512F was detected, see above.
        unsafe { u32::from(_mm512_cmpeq_epi32_mask(a, b)) }
    }
}
