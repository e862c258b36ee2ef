//! The host's answer for each layer, from integers alone: no layer is computed as a kernel computes it. A slice comes from
//! the bits of the double, a remainder and a folded sum from the pass's whole sum in 128 bits, a scaled sum from exact
//! numbers rounded after each addition.

use super::primes::{ACCUMULATOR_DEPTH, FOLD_DEPTH, HIGH_BITS, LOW_BITS, MODULUS};
use crate::crt_gemm::exact::{Dyadic, Parts, parts};
use crate::crt_gemm::{Matrix, Refusal};

/// The largest K of a product: that of the signed fold, the smaller of the two bounds.
pub const MAX_DEPTH: usize = FOLD_DEPTH;

const _: () = assert!(FOLD_DEPTH < ACCUMULATOR_DEPTH);

/// Which of the two slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slice {
    /// Counts in 2^-17.
    High,
    /// Counts in 2^-34.
    Low,
}

/// A pair of slices, one of A and one of B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    /// That of A.
    pub a: Slice,
    /// That of B.
    pub b: Slice,
}

impl Pass {
    /// The passes in the order in which their sums are added.
    pub const ALL: [Pass; 4] = [
        Pass {
            a: Slice::High,
            b: Slice::High,
        },
        Pass {
            a: Slice::High,
            b: Slice::Low,
        },
        Pass {
            a: Slice::Low,
            b: Slice::High,
        },
        Pass {
            a: Slice::Low,
            b: Slice::Low,
        },
    ];

    /// A sum of this pass counts in two to this power: -34, -51, -51 and -68.
    pub fn exponent(self) -> i32 {
        let bits = |slice| match slice {
            Slice::High => HIGH_BITS as i32,
            Slice::Low => LOW_BITS as i32,
        };
        -bits(self.a) - bits(self.b)
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match (self.a, self.b) {
            (Slice::High, Slice::High) => "hi*hi",
            (Slice::High, Slice::Low) => "hi*lo",
            (Slice::Low, Slice::High) => "lo*hi",
            (Slice::Low, Slice::Low) => "lo*lo",
        }
    }
}

/// The two slices of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slices {
    /// `round(v 2^17)`; at most 2^17 in magnitude where |v| <= 1.
    pub hi: i64,
    /// `round((v - hi 2^-17) 2^34)`; at most 2^16 in magnitude.
    pub lo: i64,
}

impl Slices {
    /// One of them.
    pub fn get(self, slice: Slice) -> i64 {
        match slice {
            Slice::High => self.hi,
            Slice::Low => self.lo,
        }
    }
}

/// The slices of `v`, halves rounded away from zero. `None` where v is not finite or not below 2^45 in magnitude: the high
/// slice would not fit. That |v| <= 1 is not asked here: see [`admit`].
pub fn slices(v: f64) -> Option<Slices> {
    let Parts { mantissa, exponent } = parts(v)?;
    if v.abs() >= 2f64.powi(45) {
        return None;
    }
    // v 2^34, with so many bits behind the point. Below 2^-90 nothing of v reaches a slice.
    let behind = u32::try_from(-(exponent + LOW_BITS as i32)).unwrap_or(0).min(90);
    let ahead = u32::try_from(exponent + LOW_BITS as i32).unwrap_or(0);
    let fixed = if exponent + (LOW_BITS as i32) < -90 {
        0
    } else {
        i128::from(mantissa) << ahead
    };
    let hi = round_shift(fixed, behind + HIGH_BITS);
    let lo = round_shift(fixed - (hi << (behind + HIGH_BITS)), behind);
    Some(Slices {
        hi: hi as i64,
        lo: lo as i64,
    })
}

/// `value / 2^bits` to the nearest integer, halves away from zero.
fn round_shift(value: i128, bits: u32) -> i128 {
    if bits == 0 {
        return value;
    }
    let magnitude = (value.unsigned_abs() + (1 << (bits - 1))) >> bits;
    value.signum() * magnitude as i128
}

/// `value` modulo `prime`, in 0..prime whatever the sign.
pub fn residue(value: i64, prime: u32) -> u8 {
    value.rem_euclid(prime.into()) as u8
}

/// The sum of products of two lines of slices: what a pass is to give.
pub fn pass_sum(a: &[i64], b: &[i64]) -> i128 {
    a.iter()
        .zip(b)
        .map(|(&a, &b)| i128::from(a) * i128::from(b))
        .sum()
}

/// The sum of products of two lines of residues, before it is taken modulo the prime; `None` where it does not fit 32 bits with
/// a sign.
pub fn accumulator(a: &[u8], b: &[u8]) -> Option<i32> {
    let sum: u64 = a
        .iter()
        .zip(b)
        .map(|(&a, &b)| u64::from(u32::from(a) * u32::from(b)))
        .sum();
    i32::try_from(sum).ok()
}

/// The passes' sums, in the order of [`Pass::ALL`], added with their powers of two: one rounding an addition.
pub fn scale(sums: [i64; 4]) -> f64 {
    Pass::ALL
        .into_iter()
        .zip(sums)
        .fold(Dyadic::new(0, 0), |total, (pass, sum)| {
            let sum = &total + &Dyadic::new(sum, pass.exponent().into());
            // The sums are below 2^48: the total stays far from infinity.
            Dyadic::of(sum.to_f64()).unwrap_or(total)
        })
        .to_f64()
}

/// Check that `a * b` is what this scheme computes exactly up to the slices.
///
/// # Errors
/// When the shapes do not fit, K is above a bound, or a value is not finite or above 1 in magnitude.
pub fn admit(a: &Matrix, b: &Matrix) -> Result<(), Refusal> {
    if a.cols != b.rows {
        return Err(Refusal::Shape {
            a_cols: a.cols,
            b_rows: b.rows,
        });
    }
    let depth = a.cols;
    if depth > ACCUMULATOR_DEPTH {
        return Err(Refusal::Accumulator {
            depth,
            bound: ACCUMULATOR_DEPTH,
        });
    }
    if depth > FOLD_DEPTH {
        return Err(Refusal::Fold {
            depth,
            bound: FOLD_DEPTH,
            product: MODULUS,
        });
    }
    for (name, matrix) in [('A', a), ('B', b)] {
        let Some(place) = matrix.values.iter().position(|v| v.is_nan() || v.abs() > 1.0) else {
            continue;
        };
        let value = matrix.values[place];
        let (row, col) = (place / matrix.cols, place % matrix.cols);
        let value_text = format!("{value:e}");
        return Err(if value.is_finite() {
            Refusal::TooLarge {
                matrix: name,
                row,
                col,
                value: value_text,
            }
        } else {
            Refusal::NotFinite {
                matrix: name,
                row,
                col,
                value: value.to_string(),
            }
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::crt_gemm::exact::{dot, product};
    use crate::crt_gemm::uniform;
    use crate::seeded::Seeded;

    /// 2^-35 bounds what the slices of one value leave out.
    const LEFT_OUT: i64 = -35;

    proptest! {
        #[test]
        fn slices_are_the_nearest_ones(bits in any::<u64>(), exponent in -80i32..45) {
            let v = f64::from_bits(bits >> 12 | 1023 << 52 | bits & 1 << 63) * 2f64.powi(exponent - 1);
            let Slices { hi, lo } = slices(v).unwrap();
            let v = Dyadic::of(v).unwrap();
            let high = Dyadic::new(hi, -17);
            prop_assert!((&v - &high).abs() <= Dyadic::new(1, -18));
            let rest = &(&v - &high) - &Dyadic::new(lo, -34);
            prop_assert!(rest.abs() <= Dyadic::new(1, LEFT_OUT));
            prop_assert!(lo.abs() <= 1 << 16);
        }
    }

    #[test]
    fn halves_go_away_from_zero_and_what_is_just_below_does_not() {
        let half = 2f64.powi(-18);
        let both = |v| slices(v).map(|slices| (slices.hi, slices.lo));
        assert_eq!(both(half), Some((1, -65_536)));
        assert_eq!(both(-half), Some((-1, 65_536)));
        assert_eq!(both(half.next_down()), Some((0, 65_536)));
        assert_eq!(both(2f64.powi(-35)), Some((0, 1)));
        assert_eq!(both(-2f64.powi(-35)), Some((0, -1)));
        assert_eq!(both(2f64.powi(-35).next_down()), Some((0, 0)));
        assert_eq!(both(f64::from_bits(1)), Some((0, 0)));
        assert_eq!(both(-0.0), Some((0, 0)));
        assert_eq!(both(127_000.0), Some((127_000 << 17, 0)));
        for outside in [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            2f64.powi(45),
            f64::MAX,
        ] {
            assert_eq!(both(outside), None, "{outside}");
        }
    }

    #[test]
    fn remainders_of_negative_numbers_are_not_negative() {
        assert_eq!(residue(-1, 127), 126);
        assert_eq!(residue(-127, 127), 0);
        assert_eq!(residue(-131_072, 97), 72);
    }

    #[test]
    fn an_accumulator_that_would_wrap_is_none() {
        let (most, one_more) = (vec![126; ACCUMULATOR_DEPTH], vec![126; ACCUMULATOR_DEPTH + 1]);
        assert_eq!(accumulator(&most, &most), Some(2_147_483_016));
        assert_eq!(accumulator(&one_more, &one_more), None);
    }

    #[test]
    fn scaling_rounds_after_each_addition() {
        assert_eq!(scale([1 << 34, 1 << 51, 1 << 51, 0]), 3.0);
        assert_eq!(scale([0, 0, 0, -1]), -2f64.powi(-68));
        assert_eq!(scale([0, 1, -1, 0]).to_bits(), 0);
        // Two halves of the last bit, one after the other, are each rounded away: the tie goes to even. Added together
        // first they would make a whole.
        assert_eq!(scale([4 << 34, 1, 1, 0]), 4.0);
        assert_eq!(scale([4 << 34, 2, 0, 0]), 4f64.next_up());
    }

    #[test]
    fn the_result_is_the_exact_product_within_what_the_slices_leave_out() {
        let seed = 11;
        let mut seeded = Seeded::new(seed);
        let (a, b) = (uniform(6, 300, &mut seeded), uniform(300, 5, &mut seeded));
        admit(&a, &b).unwrap();
        let line = |values: &[f64], slice| -> Vec<i64> {
            values.iter().map(|&v| slices(v).unwrap().get(slice)).collect()
        };
        let columns = b.transposed();
        for r in 0..a.rows {
            for c in 0..b.cols {
                let sums = Pass::ALL
                    .map(|pass| pass_sum(&line(a.row(r), pass.a), &line(columns.row(c), pass.b)) as i64);
                let exact = dot(a.row(r), columns.row(c)).unwrap();
                let error = (&Dyadic::of(scale(sums)).unwrap() - &exact).abs();
                // K values of each matrix, each multiplied by at most 1; and three roundings of a sum below 2^9.
                let bound = &Dyadic::new(2 * 300 + 1, LEFT_OUT) + &Dyadic::new(3, 8 - 53);
                assert!(error <= bound, "seed {seed}: [{r}, {c}] is off by {error:?}");
            }
        }
        assert_eq!(
            product(&a, &b).at(2, 3),
            dot(a.row(2), columns.row(3)).unwrap().to_f64()
        );
    }

    #[test]
    fn what_the_scheme_cannot_do_is_refused_with_its_bound() {
        let fits = |rows, depth, cols, v| {
            (
                Matrix::constant(rows, depth, v),
                Matrix::constant(depth, cols, -v),
            )
        };
        let outcome = |(a, b): (Matrix, Matrix)| admit(&a, &b).map_err(|refusal| refusal.to_string());
        assert_eq!(outcome(fits(1, 4915, 1, 1.0)), Ok(()));
        assert_eq!(outcome(fits(2, 0, 3, 1.0)), Ok(()));
        assert_eq!(
            outcome(fits(0, 3, 2, f64::NAN)),
            Err("B[0, 0] is NaN: residues exist of finite values only".into())
        );
        let refused = outcome(fits(1, 4916, 1, 1.0)).unwrap_err();
        assert!(
            refused.contains("K <= 4915") && refused.contains("168897325606883"),
            "{refused}"
        );
        assert!(
            outcome(fits(1, 135_267, 1, 0.0))
                .unwrap_err()
                .contains("K <= 135266")
        );
        assert!(
            outcome(fits(1, 1, 1, 127.0))
                .unwrap_err()
                .contains("A[0, 0] is 1.27e2")
        );
        assert!(
            outcome(fits(1, 1, 1, 1f64.next_up()))
                .unwrap_err()
                .contains("|value| <= 1")
        );
        let (a, mut b) = fits(2, 3, 2, 0.5);
        b.values[5] = f64::NEG_INFINITY;
        assert!(outcome((a.clone(), b)).unwrap_err().contains("B[2, 1] is -inf"));
        assert!(
            outcome((a, Matrix::constant(4, 1, 0.0)))
                .unwrap_err()
                .contains("3 columns and B has 4 rows")
        );
    }
}
