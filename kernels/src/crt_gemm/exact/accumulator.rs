//! A fixed-point accumulator wide enough for every product of two doubles: U. Kulisch, "Computer Arithmetic and Validity",
//! 2008, chapter 8.

use num_bigint::{BigInt, Sign};

use super::dyadic::{Dyadic, Parts};

/// Power of two of digit 0's lowest bit: the product of the two smallest subnormals.
const LOWEST: i32 = -2148;
/// Digits of 32 bits. The largest product's lowest bit is 2^1942, 4090 places up; its 106 bits and the shift to a digit's
/// place reach five digits further.
const DIGITS: usize = 4090 / 32 + 6;
/// Additions after which the digits are brought below 2^32 again: each adds less than 2^32 to a digit, in magnitude, and
/// twice to one of them.
const BETWEEN_CARRIES: u32 = 1 << 29;

/// A sum of products of doubles, without any rounding.
#[derive(Debug, Clone)]
pub struct Accumulator {
    /// Signed and not unique: a digit may be larger than 32 bits, or negative.
    digits: [i64; DIGITS],
    additions: u32,
}

impl Default for Accumulator {
    fn default() -> Accumulator {
        Accumulator {
            digits: [0; DIGITS],
            additions: 0,
        }
    }
}

impl Accumulator {
    /// Add `a * b`.
    pub fn add_product(&mut self, a: Parts, b: Parts) {
        let magnitude = u128::from(a.mantissa.unsigned_abs()) * u128::from(b.mantissa.unsigned_abs());
        let sign = if (a.mantissa < 0) == (b.mantissa < 0) {
            1
        } else {
            -1
        };
        let place = (a.exponent + b.exponent - LOWEST) as usize;
        let (digit, shift) = (place / 32, place % 32);
        self.add(digit, u128::from(magnitude as u64) << shift, sign);
        self.add(digit + 2, (magnitude >> 64) << shift, sign);
        self.additions += 1;
        if self.additions == BETWEEN_CARRIES {
            self.carry();
        }
    }

    /// Add a number below 2^96, its lowest bit in that of `digit`.
    fn add(&mut self, digit: usize, value: u128, sign: i64) {
        for (place, digit) in self.digits[digit..digit + 3].iter_mut().enumerate() {
            *digit += sign * (value >> (32 * place)) as u32 as i64;
        }
    }

    /// Bring every digit but the last into 0..2^32.
    fn carry(&mut self) {
        let mut carry = 0;
        for digit in &mut self.digits[..DIGITS - 1] {
            let sum = *digit + carry;
            (*digit, carry) = (sum & 0xffff_ffff, sum >> 32);
        }
        self.digits[DIGITS - 1] += carry;
        self.additions = 0;
    }

    /// The sum.
    pub fn value(mut self) -> Dyadic {
        self.carry();
        // Digits of ordinary sums are few: zeros below them go into the exponent.
        let first = self.digits[..DIGITS - 1]
            .iter()
            .position(|&digit| digit != 0)
            .unwrap_or(DIGITS - 1);
        let low: Vec<u32> = self.digits[first..DIGITS - 1]
            .iter()
            .map(|&digit| digit as u32)
            .collect();
        let high = BigInt::from(self.digits[DIGITS - 1]) << (32 * low.len());
        let exponent = LOWEST + 32 * first as i32;
        Dyadic::new(high + BigInt::from_slice(Sign::Plus, &low), exponent.into())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::dyadic::parts;
    use super::*;

    fn sum(pairs: &[(f64, f64)]) -> Dyadic {
        let mut accumulator = Accumulator::default();
        for &(a, b) in pairs {
            accumulator.add_product(parts(a).unwrap(), parts(b).unwrap());
        }
        accumulator.value()
    }

    fn by_big_integers(pairs: &[(f64, f64)]) -> Dyadic {
        pairs.iter().fold(Dyadic::new(0, 0), |sum, &(a, b)| {
            &sum + &(&Dyadic::of(a).unwrap() * &Dyadic::of(b).unwrap())
        })
    }

    proptest! {
        #[test]
        fn sums_are_those_of_big_integers(bits in prop::collection::vec((any::<u64>(), any::<u64>()), 0..40)) {
            let finite = |bits| Some(f64::from_bits(bits)).filter(|v| v.is_finite());
            let pairs: Vec<_> = bits.iter().filter_map(|&(a, b)| Some((finite(a)?, finite(b)?))).collect();
            prop_assert_eq!(sum(&pairs), by_big_integers(&pairs));
        }
    }

    #[test]
    fn the_ends_of_the_range_fit() {
        let (tiny, huge) = (f64::from_bits(1), f64::MAX);
        let pairs = [
            (tiny, tiny),
            (huge, -huge),
            (huge, huge),
            (-huge, huge),
            (tiny, -huge),
        ];
        assert_eq!(sum(&pairs), by_big_integers(&pairs));
        assert_eq!(sum(&[(tiny, -tiny)]), Dyadic::new(-1, -2148));
    }

    #[test]
    fn carrying_between_additions_changes_nothing() {
        let mut accumulator = Accumulator::default();
        let (a, b) = (parts(-0.3).unwrap(), parts(1e300).unwrap());
        for _ in 0..100 {
            accumulator.add_product(a, b);
            accumulator.add_product(a, a);
            accumulator.carry();
        }
        assert_eq!(
            accumulator.value(),
            by_big_integers(&[[(-0.3, 1e300), (-0.3, -0.3)]; 100].concat())
        );
    }
}
