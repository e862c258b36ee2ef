//! The moduli.

use num_bigint::BigUint;

/// How many pairwise coprime moduli the table has.
const COUNT: usize = 49;

/// Pairwise coprime numbers, each the largest below the one before that shares no factor with those in front of it. Those
/// up to 256 have balanced residues of 8 bits.
pub const MODULI: [u32; COUNT] = {
    let (mut table, mut found, mut candidate) = ([0; COUNT], 0, 256);
    while found < COUNT {
        let (mut coprime, mut i) = (true, 0);
        while i < found {
            coprime &= gcd(table[i], candidate) == 1;
            i += 1;
        }
        if coprime {
            table[found] = candidate;
            found += 1;
        }
        candidate -= 1;
    }
    table
};

/// The largest K for which sums of products of balanced residues fit 32 bits with a sign: those modulo 255, up to 127.
/// Modulo 256 residues reach -128 and a sum may wrap from K = 131072 on, which changes nothing modulo 256.
pub const ACCUMULATOR_DEPTH: usize = i32::MAX as usize / (127 * 127);

const fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The product of the first `count` moduli.
///
/// # Panics
/// When there are not so many.
pub fn product_of(count: usize) -> BigUint {
    MODULI[..count].iter().product()
}

/// The residue nearest to zero of a number whose residue in 0..modulus is `remainder`: -modulus/2 up to (modulus-1)/2.
pub fn balanced(remainder: u32, modulus: u32) -> i8 {
    let residue = if remainder > (modulus - 1) / 2 {
        remainder as i32 - modulus as i32
    } else {
        remainder as i32
    };
    residue as i8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_moduli_are_coprime_and_the_published_ones() {
        for (i, &a) in MODULI.iter().enumerate() {
            assert!(MODULI[..i].iter().all(|&b| gcd(a, b) == 1 && b > a), "{a}");
        }
        let first = [
            256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199, 197, 193, 191, 181, 179,
            173,
        ];
        assert_eq!(MODULI[..20], first);
        assert_eq!(MODULI[COUNT - 1], 29);
        // 155.37 bits.
        assert_eq!(product_of(20).bits(), 156);
        assert_eq!(product_of(0).bits(), 1);
    }

    #[test]
    fn balanced_residues_fit_eight_bits_and_are_the_residue() {
        for modulus in MODULI {
            let mut reached = Vec::new();
            for remainder in 0..modulus {
                let residue = i32::from(balanced(remainder, modulus));
                assert_eq!(
                    residue.rem_euclid(modulus as i32),
                    remainder as i32,
                    "modulo {modulus}"
                );
                reached.push(residue);
            }
            assert_eq!(reached.iter().min(), Some(&-(modulus as i32 / 2)));
            assert_eq!(reached.iter().max(), Some(&((modulus as i32 - 1) / 2)));
        }
        assert_eq!((balanced(128, 256), balanced(127, 256)), (-128, 127));
        assert_eq!(ACCUMULATOR_DEPTH, 133_144);
    }
}
