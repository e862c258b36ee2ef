//! The numbers that the kernels of N moduli get with a launch, as 32-bit words in the order of the CUDA text's structures.

use num_bigint::BigUint;

use super::scaling::half_product;
use super::table::{MODULI, product_of};

/// Most `options.bits`.
pub const MAX_BITS: u32 = 72;
/// How many moduli the kernels take: enough for [`MAX_BITS`] at the largest K.
pub const MOST_MODULI: usize = 21;
/// 32-bit words of a sum of remainders times factors.
pub const SUM_WORDS: usize = 6;
/// 32-bit words of a cut value's magnitude.
const CUT_WORDS: usize = 3;
/// Leading bits of P that the quotient is taken by.
const QUOTIENT_BITS: u64 = 18;
/// Bits of the quotient's reciprocal behind the point.
const RECIPROCAL_BITS: u32 = 46;

/// 2^32 / p, rounded down.
fn reciprocal(modulus: u32) -> u32 {
    ((1u64 << 32) / u64::from(modulus)) as u32
}

/// `Moduli`: the first `count` with what divides by them.
pub fn moduli(count: usize) -> Vec<u32> {
    let all = &MODULI[..MOST_MODULI];
    let powers = |modulus: u32| {
        let mut power = 1;
        let mut bytes = [0; 4 * CUT_WORDS];
        for byte in &mut bytes {
            *byte = power as u8;
            power = power * 256 % modulus;
        }
        bytes
    };
    let mut words = vec![count as u32];
    words.extend(all);
    words.extend(all.iter().map(|&modulus| reciprocal(modulus)));
    words.extend(all.iter().map(|&modulus| (1u32 << 31).next_multiple_of(modulus)));
    for &modulus in all {
        words.extend(
            powers(modulus)
                .as_chunks::<4>()
                .0
                .iter()
                .map(|&four| u32::from_le_bytes(four)),
        );
    }
    words
}

/// `Half`: H for `count` moduli.
pub fn half(count: usize) -> Vec<u32> {
    let half = half_product(count);
    let bits = half.bits();
    let leading = if bits > 64 {
        half >> (bits - 64)
    } else {
        half << (64 - bits)
    };
    let leading = leading.iter_u64_digits().next().unwrap_or(0);
    vec![bits as u32, leading as u32, (leading >> 32) as u32]
}

/// `Theorem`: the factors of the remainder theorem for `count` moduli, and what reduces their sum.
pub fn theorem(count: usize) -> Vec<u32> {
    let product = product_of(count);
    let words = sum_words(count);
    let shift = product.bits().saturating_sub(QUOTIENT_BITS);
    let leading = low_word(&(&product >> shift));
    let reciprocal = (1u64 << RECIPROCAL_BITS) / (u64::from(leading) + 1);
    // A single modulus has the quotient 0, whatever it is multiplied by.
    let reciprocal = u32::try_from(reciprocal).unwrap_or(u32::MAX);
    let down = shift - 32 * (words as u64).saturating_sub(2);
    let mut all = vec![count as u32, words as u32, down as u32, reciprocal];
    for place in 0..MOST_MODULI {
        let factor = if place < count {
            factor(&product, MODULI[place])
        } else {
            BigUint::ZERO
        };
        all.extend(padded(&factor));
    }
    all.extend(padded(&product));
    all.extend(padded(&(product >> 1)));
    all
}

/// Words of the sum of remainders below 256 times factors below P.
fn sum_words(count: usize) -> usize {
    let most = product_of(count) * 255u32 * count;
    most.bits().div_ceil(32).max(1) as usize
}

/// The number below P that is 1 modulo `modulus` and 0 modulo all others.
fn factor(product: &BigUint, modulus: u32) -> BigUint {
    let rest = product / modulus;
    // The rest is coprime to the modulus, so it has an inverse.
    let inverse = rest.modinv(&modulus.into()).unwrap_or_default();
    rest * inverse
}

fn padded(value: &BigUint) -> Vec<u32> {
    let mut words = value.to_u32_digits();
    words.resize(SUM_WORDS, 0);
    words
}

fn low_word(value: &BigUint) -> u32 {
    value.iter_u32_digits().next().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::table::ACCUMULATOR_DEPTH;
    use super::super::{choose, sums_fit};
    use super::*;

    #[test]
    fn what_the_kernels_take_is_enough_for_the_most_bits_at_the_largest_k() {
        assert_eq!(choose(ACCUMULATOR_DEPTH, MAX_BITS), Ok(MOST_MODULI));
        assert!(choose(ACCUMULATOR_DEPTH, MAX_BITS + 1).unwrap() > MOST_MODULI);
        let largest = BigUint::from(1u32) << MAX_BITS;
        assert!(sums_fit(
            ACCUMULATOR_DEPTH,
            &largest,
            &largest,
            &product_of(MOST_MODULI)
        ));
        assert_eq!(sum_words(MOST_MODULI), SUM_WORDS);
        // A line's integers stay below 2^(bits of H / 2 + 6): see `scaling`.
        assert!(half_product(MOST_MODULI).bits() / 2 + 6 < 32 * CUT_WORDS as u64);
    }

    #[test]
    fn one_subtraction_corrects_every_quotient() {
        for count in 1..=MOST_MODULI {
            let words = theorem(count);
            let [n, sums, down, reciprocal] = words[..4] else {
                unreachable!()
            };
            assert_eq!((n as usize, sums as usize), (count, sum_words(count)));
            let product = product_of(count);
            let cut = 32 * u64::from(sums).saturating_sub(2) + u64::from(down);
            // A single remainder times its factor, 1, is below P.
            let quotients = if count == 1 { 1 } else { 255 * count as u32 };
            let multiples = (0..quotients).flat_map(|q| [&product * q, &product * (q + 1) - 1u32]);
            for x in multiples {
                let leading = &x >> cut;
                // What the kernel multiplies in 64 bits, of the two leading words alone.
                assert!(leading.bits() <= 32, "{count}: {x}");
                let quotient = (leading * reciprocal) >> RECIPROCAL_BITS;
                let right = &x / &product;
                assert!(
                    quotient == right || quotient + 1u32 == right,
                    "{count} moduli, x = {x}"
                );
            }
        }
    }

    #[test]
    fn factors_give_back_each_remainder() {
        for count in [1, 2, 9, 16, MOST_MODULI] {
            let words = theorem(count);
            for (place, factor) in words[4..][..SUM_WORDS * MOST_MODULI]
                .chunks(SUM_WORDS)
                .enumerate()
            {
                let factor = BigUint::new(factor.to_vec());
                for (i, &modulus) in MODULI[..count].iter().enumerate() {
                    let expected = u32::from(i == place) % modulus;
                    assert_eq!(
                        factor.clone() % modulus,
                        expected.into(),
                        "{count}: {place} modulo {modulus}"
                    );
                }
            }
        }
    }

    #[test]
    fn no_sum_of_32_bits_is_negative_once_its_multiple_is_added() {
        let words = moduli(MOST_MODULI);
        let positive = &words[1 + 2 * MOST_MODULI..][..MOST_MODULI];
        for (&modulus, &positive) in MODULI.iter().zip(positive) {
            assert_eq!(positive % modulus, 0);
            let largest = (modulus as i64 / 2).pow(2) * ACCUMULATOR_DEPTH as i64;
            let wraps = modulus == 256;
            assert!(
                wraps || largest + i64::from(positive) <= i64::from(u32::MAX),
                "{modulus}"
            );
            assert!(wraps || i64::from(positive) >= largest, "{modulus}");
        }
    }

    #[test]
    fn the_leading_bits_of_half_are_its_own() {
        assert_eq!(half(1), [7, 0, 127 << 25]);
        let words = half(15);
        let leading = u64::from(words[2]) << 32 | u64::from(words[1]);
        assert_eq!(BigUint::from(leading), half_product(15) >> (words[0] - 64));
    }
}
