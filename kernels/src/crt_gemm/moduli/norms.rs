//! Euclidean norms of blocks of neighbours along K, rounded up: what [`Bound::Blocks`](super::scaling::Bound::Blocks)
//! multiplies in the place of magnitudes.
//!
//! By the inequality of Cauchy and Schwarz in each block, the sum of |a| |b| over a line of A and one of B is at most the sum
//! of products of their blocks' norms.

use super::scaling::{round_up, top_of};
use crate::crt_gemm::exact::Parts;

/// Neighbours along K of a block; the last one of a line may have fewer.
pub const BLOCK: usize = 16;
/// Bits behind the point of a magnitude under its block's top: at most 2^7, so that sums of squares are at most 2^18.
pub const BITS: i32 = 7;
/// Bits behind the point of a norm under its line's top: it is at most sqrt(16) 2^top, so that at most 64 fits 8 bits.
pub const BYTE_BITS: i32 = 4;
/// Bits of a packed norm's top, as the kernels store it: with [`LOWEST`] added.
const TOP_BITS: u32 = 12;
/// What is added to a top that is not of zeros alone; see the CUDA text.
const LOWEST: i32 = 1075;

/// A block's Euclidean norm: at most `root` 2^(`top` - [`BITS`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Norm {
    /// The root of the sum of squares of magnitudes in units of 2^(top - [`BITS`]), both rounded up: 0 to 512.
    pub root: u32,
    /// The least power of two above all magnitudes; 0 for a block of zeros.
    pub top: i32,
}

/// Those of a line's blocks, in order.
pub fn norms(line: &[Parts]) -> Vec<Norm> {
    line.chunks(BLOCK).map(Norm::of).collect()
}

impl Norm {
    fn of(block: &[Parts]) -> Norm {
        let top = top_of(block);
        let squares = block.iter().map(|parts| {
            let magnitude = round_up(parts.mantissa.unsigned_abs(), parts.exponent + BITS - top);
            u64::from(magnitude) * u64::from(magnitude)
        });
        Norm {
            root: root_rounded_up(squares.sum()),
            top,
        }
    }

    /// As the kernels pack it: the root, and in the last 12 bits the top with 1075 added; 0 for a block of zeros.
    pub fn packed(self) -> u32 {
        if self.root == 0 {
            0
        } else {
            self.root << TOP_BITS | (self.top + LOWEST) as u32
        }
    }

    /// The norm in units of 2^(`line_top` - [`BYTE_BITS`]), rounded up, where no value of the line reaches 2^`line_top`: 0 to
    /// 64, and 0 for zeros alone.
    pub fn byte(self, line_top: i32) -> u32 {
        round_up(self.root.into(), self.top - BITS + BYTE_BITS - line_top)
    }
}

/// The least number whose square is at least `sum`.
fn root_rounded_up(sum: u64) -> u32 {
    let root = sum.isqrt();
    (root + u64::from(root * root < sum)) as u32
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;
    use proptest::prelude::*;

    use super::*;
    use crate::crt_gemm::exact::{Dyadic, parts};
    use crate::crt_gemm::moduli::scaling::{Bound, Rounded};

    const LARGEST_SUM: u64 = (BLOCK as u64) << (2 * BITS);

    #[test]
    fn the_root_of_every_sum_is_rounded_up() {
        for sum in 0..=LARGEST_SUM {
            let root = u64::from(root_rounded_up(sum));
            assert!(
                root * root >= sum && (root == 0 || (root - 1).pow(2) < sum),
                "{sum}"
            );
        }
        assert_eq!(root_rounded_up(LARGEST_SUM), 512);
    }

    /// As the kernels have it, from the float root or one that is up to two units in the last place off.
    #[test]
    fn the_root_from_a_float_is_that_of_the_host_for_every_sum() {
        for sum in 0..=LARGEST_SUM as u32 {
            let nearest = (sum as f32).sqrt();
            let bits = nearest.to_bits();
            for near in [bits.saturating_sub(2), bits, bits + 2] {
                let root = f32::from_bits(near) as u32;
                let root = root + u32::from(root * root < sum);
                assert_eq!(root, root_rounded_up(sum.into()), "{sum}");
            }
        }
    }

    fn rounded(line: &[f64]) -> Rounded {
        Rounded::of(line, Bound::Blocks).unwrap()
    }

    #[test]
    fn norms_and_their_bytes_are_those_of_the_definition() {
        // 16 halves have the norm 2, in units of 2^-7 under the top 0: 64 each, and 4 times that.
        let mut line = vec![0.5; 16];
        // 17 values: a block of its own, 3 units of 2^-9 below the line's top, and rounded up.
        line.push(-0.375 / 256.0);
        let of = rounded(&line);
        let norm = |root, top| Norm { root, top };
        assert_eq!(of.norms, [norm(256, 0), norm(96, -9)]);
        assert_eq!((of.top, of.values), (0, vec![32, 1]));
        assert_eq!(of.norms[1].packed(), 96 << 12 | 1066);
        // What is lost to either side of a value is rounded up: 2^-1074 beside 1 counts 1.
        let of = rounded(&[1.0, f64::from_bits(1)]);
        assert_eq!((of.norms[0], of.top), (norm(65, 1), 1));
        // Subnormals alone, the largest doubles, and zeros.
        assert_eq!(rounded(&[f64::from_bits(3)]).norms, [norm(96, -1072)]);
        let of = rounded(&[f64::MAX; 20]);
        assert_eq!(of.norms, [norm(512, 1024), norm(256, 1024)]);
        assert_eq!((of.top, of.values), (1024, vec![64, 32]));
        let of = rounded(&[0.0, -0.0]);
        assert_eq!((of.norms[0].packed(), of.values), (0, vec![0]));
        assert!(rounded(&[]).norms.is_empty());
    }

    /// A double of any size, or one of those that are near one, subnormal or zero.
    fn value() -> impl Strategy<Value = f64> {
        (any::<u64>(), 0..8u8).prop_map(|(bits, kind)| {
            let bits = match kind {
                0 | 1 => bits,
                2 => bits & 0x800f_ffff_ffff_ffff,
                3 => bits & 1 << 63,
                _ => bits & 0x807f_ffff_ffff_ffff | 0x3f80 << 48,
            };
            Some(f64::from_bits(bits))
                .filter(|v| v.is_finite())
                .unwrap_or(1.5)
        })
    }

    fn pair() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
        let line = |length: usize| prop::collection::vec(value(), length);
        (0usize..50).prop_flat_map(move |length| (line(length), line(length)))
    }

    proptest! {
        #[test]
        fn sums_of_products_of_bytes_bound_those_of_any_doubles((a, b) in pair()) {
            let magnitude = |v: f64| Dyadic::of(v).unwrap().abs();
            let zero = Dyadic::new(0, 0);
            let sum = a.iter().zip(&b).fold(zero.clone(), |sum, (&a, &b)| &sum + &(&magnitude(a) * &magnitude(b)));
            let [of_a, of_b] = [&a, &b].map(|line| rounded(line));
            let bytes: u32 = of_a.values.iter().zip(&of_b.values).map(|(a, b)| a * b).sum();
            let unit = i64::from(of_a.top + of_b.top - 2 * BYTE_BITS);
            prop_assert!(sum <= Dyadic::new(bytes, unit));
            for (line, of) in [(&a, &of_a), (&b, &of_b)] {
                prop_assert_eq!(of.norms.len(), line.len().div_ceil(BLOCK));
                for ((block, norm), &byte) in line.chunks(BLOCK).zip(&of.norms).zip(&of.values) {
                    let squares = block.iter().fold(zero.clone(), |sum, &v| &sum + &(&magnitude(v) * &magnitude(v)));
                    let square = |v: u32, exponent: i32| Dyadic::new(BigInt::from(v).pow(2), 2 * i64::from(exponent));
                    prop_assert!(squares <= square(norm.root, norm.top - BITS));
                    prop_assert!(square(norm.root, norm.top - BITS) <= square(byte, of.top - BYTE_BITS));
                    // No wider than the roundings: m by 1 of at least 64 in the largest, q by 1 of at least 64.
                    let zeros = block.iter().all(|&v| v == 0.0);
                    prop_assert!(byte <= 64 && norm.root <= 512 && (byte == 0) == zeros && (norm.root < 64) == zeros);
                    prop_assert_eq!(norm.top, top_of(&block.iter().map(|&v| parts(v).unwrap()).collect::<Vec<_>>()));
                }
            }
        }
    }
}
