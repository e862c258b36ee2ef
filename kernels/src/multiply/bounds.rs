//! How far an element of a product may be from the exact one: a bound from what each line along K has lost, in doubles that
//! are rounded up at every step.

/// A [`Line::unit`] that promises nothing.
pub const NO_UNIT: i32 = -1_000_000;
/// Bits of a double's mantissa, the leading one included.
const MANTISSA_BITS: i32 = 53;
/// Power of two of the smallest subnormal.
const SMALLEST: i32 = -1074;

/// What a line along K, a row of A or a column of B, contributes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// The most that one of its values was off when it was multiplied.
    pub lost: f64,
    /// At least the sum of its magnitudes, and of those that were multiplied.
    pub sum: f64,
    /// All values that were multiplied are multiples of 2^`unit`.
    pub unit: i32,
}

/// Bounds on the error of every element of a product.
///
/// With a' and b' what was multiplied in the place of a and b, the sum of a b - a' b' is at most the most that an a is off
/// times the sum of |b|, and the most that a b is off times the sum of |a'|.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// Rows of A.
    pub rows: Vec<Line>,
    /// Columns of B.
    pub cols: Vec<Line>,
    /// What is added to every element's bound.
    pub constant: f64,
}

impl Bounds {
    /// How far element (r, c), which is `value`, may be from the exact one; infinite where nothing can be said.
    ///
    /// # Panics
    /// When the place is outside.
    pub fn at(&self, r: usize, c: usize, value: f64) -> f64 {
        if !value.is_finite() {
            return f64::INFINITY;
        }
        let (row, col) = (self.rows[r], self.cols[c]);
        let lost = sum_up(product_up(row.lost, col.sum), product_up(col.lost, row.sum));
        sum_up(
            sum_up(lost, self.constant),
            rounding(value, row.unit.saturating_add(col.unit)),
        )
    }
}

/// The most that a multiple of 2^`unit` was changed when it was rounded to `value`.
fn rounding(value: f64, unit: i32) -> f64 {
    // A multiple of 2^unit up to 2^53 of them is a double itself, and rounding keeps what is larger above it.
    if unit >= SMALLEST && power_above(value) <= MANTISSA_BITS + unit {
        return 0.0;
    }
    half_gap(value)
}

/// Half the distance from a finite double to the next larger one in magnitude, rounded up: the most that rounding to it changes.
pub fn half_gap(value: f64) -> f64 {
    let magnitude = value.abs();
    let gap = if magnitude == f64::MAX {
        magnitude - magnitude.next_down()
    } else {
        magnitude.next_up() - magnitude
    };
    // Half of the smallest subnormal is none.
    (gap / 2.0).max(f64::from_bits(1))
}

/// The least e with |value| < 2^e; the least integer for 0.
fn power_above(value: f64) -> i32 {
    let bits = value.abs().to_bits();
    match (bits >> 52) as i32 {
        0 if bits == 0 => i32::MIN,
        0 => SMALLEST + (64 - bits.leading_zeros()) as i32,
        field => field - 1022,
    }
}

/// 2^`exponent`, for -1074 to 1023.
pub fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(if exponent < -1022 {
        1 << (exponent - SMALLEST)
    } else {
        ((exponent + 1023) as u64) << 52
    })
}

/// a b for numbers that are not negative, rounded up.
pub fn product_up(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 {
        return 0.0;
    }
    (a * b).next_up()
}

/// a + b for numbers that are not negative, rounded up.
pub fn sum_up(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 {
        return a + b;
    }
    (a + b).next_up()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_power_above_is_the_least() {
        for value in [
            1.0,
            1.5,
            2f64.next_down(),
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::from_bits(1),
            f64::from_bits(6),
        ] {
            let e = power_above(value);
            assert!(e == 1024 || value < power_of_two(e), "{value:e}");
            assert!(value >= power_of_two(e - 1), "{value:e}");
        }
        assert_eq!(power_above(0.0), i32::MIN);
    }

    #[test]
    fn what_fits_a_double_is_not_rounded() {
        let large = 2f64.powi(53);
        assert_eq!(rounding(large.next_down(), 0), 0.0);
        assert_eq!(rounding(large, 0), 1.0);
        assert_eq!(rounding(0.0, -1074), 0.0);
        // What is below the smallest subnormal may have been rounded to zero.
        assert_eq!(rounding(0.0, -1075), f64::from_bits(1));
        assert_eq!(rounding(1.0, NO_UNIT), f64::EPSILON / 2.0);
        assert_eq!(half_gap(f64::MAX), 2f64.powi(970));
    }

    #[test]
    fn sums_and_products_are_not_below_the_exact_ones() {
        let tiny = f64::from_bits(1);
        assert_eq!(product_up(tiny, tiny), tiny);
        assert_eq!(product_up(0.0, f64::INFINITY), 0.0);
        assert_eq!(product_up(f64::MAX, 2.0), f64::INFINITY);
        assert!(sum_up(1.0, 2f64.powi(-60)) > 1.0);
        assert_eq!(sum_up(0.1, 0.0), 0.1);
    }
}
