//! Numbers of the form mantissa * 2^exponent, with mantissas of any length.

use std::ops::{Add, Mul, Neg, Sub};

use num_bigint::{BigInt, Sign};

/// Bits of a double's mantissa, the leading one included.
const MANTISSA_BITS: u64 = 53;
/// Exponent of the smallest subnormal: every finite double is a multiple of 2^-1074.
const SMALLEST: i64 = -1074;

/// A finite double as an integer times a power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// With its sign; below 2^53 in magnitude.
    pub mantissa: i64,
    /// Power of two.
    pub exponent: i32,
}

/// The parts of `v`, or `None` where it is NaN or infinite.
pub fn parts(v: f64) -> Option<Parts> {
    if !v.is_finite() {
        return None;
    }
    let bits = v.to_bits();
    let field = (bits >> 52 & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let (magnitude, exponent) = if field == 0 {
        (fraction, SMALLEST as i32)
    } else {
        (fraction | 1 << 52, field - 1075)
    };
    let mantissa = if v.is_sign_negative() {
        -magnitude
    } else {
        magnitude
    };
    Some(Parts { mantissa, exponent })
}

/// An exact number: `mantissa * 2^exponent`.
#[derive(Debug, Clone)]
pub struct Dyadic {
    /// The integer.
    pub mantissa: BigInt,
    /// The power of two.
    pub exponent: i64,
}

impl Dyadic {
    /// `mantissa * 2^exponent`.
    pub fn new(mantissa: impl Into<BigInt>, exponent: i64) -> Dyadic {
        Dyadic {
            mantissa: mantissa.into(),
            exponent,
        }
    }

    /// The value of `v`, or `None` where it is NaN or infinite.
    pub fn of(v: f64) -> Option<Dyadic> {
        parts(v).map(|parts| Dyadic::new(parts.mantissa, parts.exponent.into()))
    }

    /// Its magnitude.
    pub fn abs(&self) -> Dyadic {
        Dyadic::new(self.mantissa.magnitude().clone(), self.exponent)
    }

    /// Times 2^`power`.
    pub fn shifted(&self, power: i64) -> Dyadic {
        Dyadic::new(self.mantissa.clone(), self.exponent + power)
    }

    /// The nearest double, the even one of two equally near ones, infinite where the nearest lies beyond the largest: the
    /// rounding of IEEE 754. Zero is positive.
    pub fn to_f64(&self) -> f64 {
        let magnitude = self.mantissa.magnitude();
        let bits = magnitude.bits();
        if bits == 0 {
            return 0.0;
        }
        // Power of two of the leading bit, and then of the last bit that stays.
        let leading = self.exponent + bits as i64 - 1;
        if leading > 1023 {
            return if self.mantissa.sign() == Sign::Minus {
                f64::NEG_INFINITY
            } else {
                f64::INFINITY
            };
        }
        let last = (leading - (MANTISSA_BITS as i64 - 1)).max(SMALLEST);
        let dropped = last - self.exponent;
        let kept = if dropped <= 0 {
            magnitude << dropped.unsigned_abs()
        } else {
            let mut kept = magnitude >> dropped as u64;
            let half = dropped as u64 - 1;
            // Lowest set bit below the half: more than a tie.
            let above_tie = magnitude.trailing_zeros().is_some_and(|zeros| zeros < half);
            if magnitude.bit(half) && (above_tie || kept.bit(0)) {
                kept += 1u32;
            }
            kept
        };
        // At most 2^53, so there is one digit or none. Rounding up to 2^53 carries into the exponent by itself, and from the
        // largest double to infinity.
        let kept = kept.iter_u64_digits().next().unwrap_or(0);
        let field = (last - SMALLEST) as u64;
        let value = f64::from_bits((field << 52) + kept);
        if self.mantissa.sign() == Sign::Minus {
            -value
        } else {
            value
        }
    }

    /// Both mantissas under the smaller of the two exponents.
    fn aligned(&self, other: &Dyadic) -> (BigInt, BigInt, i64) {
        let exponent = self.exponent.min(other.exponent);
        let raise = |one: &Dyadic| &one.mantissa << (one.exponent - exponent) as u64;
        (raise(self), raise(other), exponent)
    }
}

impl PartialEq for Dyadic {
    fn eq(&self, other: &Dyadic) -> bool {
        let (a, b, _) = self.aligned(other);
        a == b
    }
}

impl PartialOrd for Dyadic {
    fn partial_cmp(&self, other: &Dyadic) -> Option<std::cmp::Ordering> {
        let (a, b, _) = self.aligned(other);
        Some(a.cmp(&b))
    }
}

impl Add for &Dyadic {
    type Output = Dyadic;

    fn add(self, other: &Dyadic) -> Dyadic {
        let (a, b, exponent) = self.aligned(other);
        Dyadic::new(a + b, exponent)
    }
}

impl Sub for &Dyadic {
    type Output = Dyadic;

    fn sub(self, other: &Dyadic) -> Dyadic {
        self + &-other
    }
}

impl Neg for &Dyadic {
    type Output = Dyadic;

    fn neg(self) -> Dyadic {
        Dyadic::new(-&self.mantissa, self.exponent)
    }
}

impl Mul for &Dyadic {
    type Output = Dyadic;

    fn mul(self, other: &Dyadic) -> Dyadic {
        Dyadic::new(&self.mantissa * &other.mantissa, self.exponent + other.exponent)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn finite() -> impl Strategy<Value = f64> {
        any::<u64>()
            .prop_map(f64::from_bits)
            .prop_filter("finite", |v| v.is_finite())
    }

    proptest! {
        #[test]
        fn a_double_survives_the_way_there_and_back(v in finite()) {
            // The sign of a zero is the one thing that an integer does not have.
            prop_assert_eq!(Dyadic::of(v).unwrap().to_f64().to_bits(), (v + 0.0).to_bits());
        }

        #[test]
        fn rounded_sums_and_products_are_the_processors(a in finite(), b in finite()) {
            let (x, y) = (Dyadic::of(a).unwrap(), Dyadic::of(b).unwrap());
            prop_assert_eq!((&x + &y).to_f64(), a + b);
            prop_assert_eq!((&x - &y).to_f64(), a - b);
            prop_assert_eq!((&x * &y).to_f64(), a * b);
        }

        #[test]
        fn long_mantissas_are_rounded_once(a in any::<i64>(), b in any::<i64>(), shift in 0i64..60) {
            let exact = &Dyadic::new(a, shift) + &Dyadic::new(b, 0);
            // The processor's conversion of an integer rounds once.
            prop_assert_eq!(exact.to_f64(), ((i128::from(a) << shift) + i128::from(b)) as f64);
            // Among the subnormals, whose last bit is 2^-1074, the error is at most half of that.
            let small = exact.shifted(-1120 - shift);
            let error = (&Dyadic::of(small.to_f64()).unwrap() - &small).abs();
            prop_assert!(error <= Dyadic::new(1, -1075), "{:?} is off by {:?}", small, error);
        }
    }

    #[test]
    fn ties_go_to_the_even_neighbour_at_every_edge() {
        let d = |mantissa: i64, exponent| Dyadic::new(mantissa, exponent).to_f64();
        assert_eq!(d((1 << 54) + 2, 0), 2f64.powi(54));
        assert_eq!(d((1 << 54) + 6, 0), 2f64.powi(54) + 8.0);
        assert_eq!(d(1, -1075), 0.0);
        assert_eq!(d(3, -1076), f64::from_bits(1));
        assert_eq!(d(3, -1075), f64::from_bits(2));
        assert_eq!(d((1 << 54) - 1, 1024 - 54), f64::INFINITY);
        assert_eq!(d(-((1 << 55) - 3), 1024 - 55), f64::MIN);
        assert_eq!(d(-1, 1024), f64::NEG_INFINITY);
        // The largest subnormal's upper neighbour is the smallest normal.
        assert_eq!(d((1 << 53) - 1, -1075), f64::MIN_POSITIVE);
    }
}
