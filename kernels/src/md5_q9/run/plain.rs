//! Plain words: an array of four, for any processor. The compiler may do what it likes with it.

use super::lanes::{Lanes, MAX_LANES};

/// An array of four, element by element and without a closure, which would not always be inlined.
macro_rules! each {
    ($i:ident => $element:expr) => {
        [
            {
                let $i = 0usize;
                $element
            },
            {
                let $i = 1usize;
                $element
            },
            {
                let $i = 2usize;
                $element
            },
            {
                let $i = 3usize;
                $element
            },
        ]
    };
}

/// Four words in an array.
pub struct Plain;

impl Lanes for Plain {
    type Vector = [u32; 4];
    const LANES: usize = 4;

    #[inline(always)]
    fn splat(word: u32) -> [u32; 4] {
        [word; 4]
    }

    #[inline(always)]
    fn ramp(stride: u32) -> [u32; 4] {
        [0, stride, stride.wrapping_mul(2), stride.wrapping_mul(3)]
    }

    #[inline(always)]
    fn lanes(vector: [u32; 4]) -> [u32; MAX_LANES] {
        let mut lanes = [0; MAX_LANES];
        lanes[..4].copy_from_slice(&vector);
        lanes
    }

    #[inline(always)]
    fn add(a: [u32; 4], b: [u32; 4]) -> [u32; 4] {
        each!(i => a[i].wrapping_add(b[i]))
    }

    #[inline(always)]
    fn sub(a: [u32; 4], b: [u32; 4]) -> [u32; 4] {
        each!(i => a[i].wrapping_sub(b[i]))
    }

    #[inline(always)]
    fn rotl<const N: u32>(a: [u32; 4]) -> [u32; 4] {
        each!(i => a[i].rotate_left(N))
    }

    #[inline(always)]
    fn logic<const LUT: u8>(a: [u32; 4], b: [u32; 4], c: [u32; 4]) -> [u32; 4] {
        match LUT {
            0xca => each!(i => c[i] ^ (a[i] & (b[i] ^ c[i]))),
            0xe4 => each!(i => b[i] ^ (c[i] & (a[i] ^ b[i]))),
            0x96 => each!(i => a[i] ^ b[i] ^ c[i]),
            // 0x39, the last of MD5's four
            _ => each!(i => b[i] ^ (a[i] | !c[i])),
        }
    }

    #[inline(always)]
    fn equal(a: [u32; 4], b: [u32; 4]) -> u32 {
        let [e0, e1, e2, e3] = each!(i => u32::from(a[i] == b[i]));
        e0 | e1 << 1 | e2 << 2 | e3 << 3
    }
}
