//! The moduli.

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};

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

/// Which of a number's residues is multiplied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Residues {
    /// The one nearest to zero: -modulus/2 up to (modulus-1)/2, a byte with a sign.
    #[default]
    Balanced,
    /// The least that is not negative: a byte without a sign. Sums of products only grow, which takes an H200 less energy; they
    /// fit 32 bits up to [`FOLD_DEPTH`], where their remainders take their place.
    Least,
}

impl Residues {
    /// The byte of a number whose residue in 0..modulus is `remainder`.
    pub fn byte(self, remainder: u32, modulus: u32) -> u8 {
        match self {
            Residues::Balanced if remainder > (modulus - 1) / 2 => remainder.wrapping_sub(modulus) as u8,
            Residues::Balanced | Residues::Least => remainder as u8,
        }
    }

    /// What a byte stands for.
    pub fn value(self, byte: u8) -> i32 {
        match self {
            Residues::Balanced => i32::from(byte as i8),
            Residues::Least => i32::from(byte),
        }
    }
}

/// So many neighbours along K are summed up from least residues, before their remainder is what is added to: 255 by 255
/// modulo 256 so often, and 255, are below 2^32.
pub const FOLD_DEPTH: usize = 65_536;
const _: () = assert!(FOLD_DEPTH as u64 * 255 * 255 + 255 <= u32::MAX as u64);

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
    fn residues_fit_eight_bits_and_are_those_of_the_number() {
        for modulus in MODULI {
            let of = |residues: Residues| -> Vec<i32> {
                let value = |remainder| residues.value(residues.byte(remainder, modulus));
                (0..modulus).map(value).collect()
            };
            let least: Vec<i32> = (0..modulus as i32).collect();
            assert_eq!(of(Residues::Least), least);
            let balanced = of(Residues::Balanced);
            assert_eq!(balanced.iter().min(), Some(&-(modulus as i32 / 2)));
            assert_eq!(balanced.iter().max(), Some(&((modulus as i32 - 1) / 2)));
            let back: Vec<i32> = balanced.iter().map(|v| v.rem_euclid(modulus as i32)).collect();
            assert_eq!(back, least, "modulo {modulus}");
        }
        let balanced = |remainder| Residues::Balanced.value(Residues::Balanced.byte(remainder, 256));
        assert_eq!((balanced(128), balanced(127)), (-128, 127));
        assert_eq!(ACCUMULATOR_DEPTH, 133_144);
    }
}
