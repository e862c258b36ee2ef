//! The seven primes, their product, and what they can carry.

/// Bits of the high slice behind the point: `hi = round(v 2^17)`.
pub const HIGH_BITS: u32 = 17;
/// Bits of both slices behind the point: `lo` counts in 2^-34.
pub const LOW_BITS: u32 = 34;

/// The primes, in the order of every table.
pub const PRIMES: [u32; 7] = [127, 113, 109, 107, 103, 101, 97];

/// Their product, M.
pub const MODULUS: u64 = {
    let (mut product, mut i) = (1, 0);
    while i < PRIMES.len() {
        product *= PRIMES[i] as u64;
        i += 1;
    }
    product
};

/// The largest K for which the signed fold is exact whatever the values: |hi| <= 2^17, so a sum is at most K 2^34, and the
/// fold tells it from its neighbours only while 2 K 2^34 < M.
pub const FOLD_DEPTH: usize = ((MODULUS - 1) / (1 << (2 * HIGH_BITS + 1))) as usize;

/// The largest K for which sums of products of residues 0..=126 fit 32 bits with a sign.
pub const ACCUMULATOR_DEPTH: usize = i32::MAX as usize / (126 * 126);

/// Whether the signed fold gives `sum` back: iff 2 |sum| < M. Half of it is lost to the sign, so |sum| < M is not enough.
pub fn folds_exactly(sum: i128) -> bool {
    2 * sum.unsigned_abs() < u128::from(MODULUS)
}

/// The representative of `x`, 0..M, nearest to zero.
pub fn fold(x: u64) -> i64 {
    debug_assert!(x < MODULUS);
    if x > MODULUS / 2 {
        x as i64 - MODULUS as i64
    } else {
        x as i64
    }
}

/// The number below M that is 1 modulo `PRIMES[index]` and 0 modulo the others: the factor of a remainder in [`crt`].
pub fn crt_factor(index: usize) -> u64 {
    let p = u64::from(PRIMES[index]);
    let rest = MODULUS / p;
    // Fermat: x^(p-2) is the inverse of x modulo the prime p.
    let inverse = (0..p - 2).fold(1, |power, _| power * (rest % p) % p);
    rest * inverse
}

/// The number in 0..M with these remainders modulo the primes.
pub fn crt(remainders: [u32; 7]) -> u64 {
    let sum: u128 = remainders
        .into_iter()
        .enumerate()
        .map(|(i, remainder)| u128::from(remainder) * u128::from(crt_factor(i)))
        .sum();
    (sum % u128::from(MODULUS)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_are_the_published_ones() {
        assert_eq!(MODULUS, 168_897_325_606_883);
        assert_eq!(FOLD_DEPTH, 4915);
        assert_eq!(ACCUMULATOR_DEPTH, 135_266);
    }

    #[test]
    fn a_factor_is_one_modulo_its_prime_and_zero_modulo_the_others() {
        for i in 0..7 {
            for (j, &p) in PRIMES.iter().enumerate() {
                assert_eq!(crt_factor(i) % u64::from(p), u64::from(i == j));
            }
            // What a kernel relies on: seven products of a factor and a remainder fit 64 bits.
            assert!(crt_factor(i) < MODULUS && 7 * 126 * u128::from(MODULUS) < 1 << 64);
        }
    }

    #[test]
    fn remainders_and_fold_give_back_every_number_within_half_the_product_and_none_beyond() {
        let half = (MODULUS / 2) as i128;
        let back = |sum: i128| i128::from(fold(crt(PRIMES.map(|p| sum.rem_euclid(p.into()) as u32))));
        for sum in [0, 1, -1, 12345, -27, half - 1, half, -half, 1 - half] {
            assert!(folds_exactly(sum));
            assert_eq!(back(sum), sum);
        }
        for sum in [half + 1, -half - 1, MODULUS.into()] {
            assert!(!folds_exactly(sum));
            assert_ne!(back(sum), sum);
        }
        // The bound in K, both signs: 4915 is the last that comes back.
        let largest = |depth: i128| depth << (2 * HIGH_BITS);
        assert_eq!(back(largest(4915)), 84_439_057_039_360);
        assert_eq!(back(-largest(4915)), -84_439_057_039_360);
        assert_eq!(back(largest(4916)), -84_441_088_698_339);
        assert!(!folds_exactly(largest(4916)) && !folds_exactly(-largest(4916)));
    }
}
