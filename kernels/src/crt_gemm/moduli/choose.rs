//! How many moduli a product needs.

use num_bigint::BigUint;

use super::table::{MODULI, product_of};
use crate::crt_gemm::Refusal;

/// Whether every sum of `depth` products of integers up to `a_max` and `b_max` in magnitude is the one of its residues modulo
/// `product` that is nearest to zero: 2 K amax bmax < P. The 2 is the sign's.
pub fn sums_fit(depth: usize, a_max: &BigUint, b_max: &BigUint, product: &BigUint) -> bool {
    BigUint::from(2u32) * depth * a_max * b_max < *product
}

/// The largest K for which integers up to 2^`bits` in magnitude on both sides fit `count` moduli; 0 where not even one
/// product does.
///
/// # Panics
/// When there are not so many moduli.
pub fn depth_limit(count: usize, bits: u32) -> BigUint {
    (product_of(count) - 1u32) >> (2 * bits + 1)
}

/// The fewest moduli that hold every sum of `depth` products of integers up to 2^`bits` in magnitude.
///
/// # Errors
/// When all of the table together do not.
pub fn choose(depth: usize, bits: u32) -> Result<usize, Refusal> {
    let largest = BigUint::from(1u32) << bits;
    (1..=MODULI.len())
        .find(|&count| sums_fit(depth, &largest, &largest, &product_of(count)))
        .ok_or_else(|| Refusal::Moduli {
            depth,
            bits,
            needed: BigUint::from(depth).bits() + 2 * u64::from(bits),
            count: MODULI.len(),
            available: product_of(MODULI.len()).bits() - 1,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sign_takes_a_bit() {
        // hi = 10 * 10: 100 is below 127 but not below half of it, and one modulus would give it back as -27.
        let ten = BigUint::from(10u32);
        assert!(!sums_fit(1, &ten, &ten, &BigUint::from(127u32)));
        assert!(sums_fit(1, &ten, &ten, &BigUint::from(201u32)));
        assert!(!sums_fit(1, &ten, &ten, &BigUint::from(200u32)));
    }

    #[test]
    fn the_choice_is_the_smallest_that_fits() {
        for depth in [1, 2, 3, 1000, 4096, 16_384, 133_144] {
            for bits in [1, 7, 24, 53, 62, 106] {
                let count = choose(depth, bits).unwrap();
                assert!(depth_limit(count, bits) >= depth.into(), "{depth} {bits}");
                assert!(
                    count == 1 || depth_limit(count - 1, bits) < depth.into(),
                    "{depth} {bits}"
                );
            }
        }
        assert_eq!(choose(4096, 53), Ok(16));
        assert_eq!(choose(0, 53), Ok(1));
    }

    #[test]
    fn more_than_all_moduli_hold_is_refused() {
        let refused = choose(4096, 170).unwrap_err().to_string();
        assert!(refused.contains("all 49 together have 2^341"), "{refused}");
    }
}
