//! The numbers that the kernels of N moduli get with a launch, as 32-bit words in the order of the CUDA text's structures.

use num_bigint::BigUint;

use super::scaling::half_product;
use super::table::{MODULI, Residues, product_of};

/// Most `options.bits`.
pub const MAX_BITS: u32 = 72;
/// How many moduli the kernels take: enough for [`MAX_BITS`] at the largest K.
pub const MOST_MODULI: usize = 21;
/// 32-bit words of a sum, with its sign.
pub const SUM_WORDS: usize = 6;
/// Words that an integer takes, and the bits of one below the next.
const INTEGER_WORDS: usize = 3;
const INTEGER_WORD_BITS: u32 = 29;
/// Moduli whose remainders share a word.
const GROUP: usize = 4;
/// Words that hold a remainder of each modulus.
const GROUPS: usize = MOST_MODULI.div_ceil(GROUP);
/// Bits of the leading column of a sum of remainders times factors that its quotient does not look at.
const COLUMN_TAIL: u32 = 12;
/// Bits of that quotient behind the point.
const QUOTIENT_BITS: u32 = 17;
/// A float from 2^23 to 2^24 is a whole number, and the next one is 1 more.
const WHOLE: u32 = 1 << 23;

/// 2^32 / p, rounded down.
fn reciprocal(modulus: u32) -> u32 {
    ((1u64 << 32) / u64::from(modulus)) as u32
}

/// 2^(29 w) 256^i modulo `modulus` for byte i of word w of an integer, balanced.
fn powers(modulus: u32) -> [i8; 4 * INTEGER_WORDS] {
    std::array::from_fn(|place| {
        let bits = INTEGER_WORD_BITS as usize * (place / 4) + 8 * (place % 4);
        let power = (0..bits).fold(1, |power, _| 2 * power % modulus);
        Residues::Balanced.byte(power, modulus) as i8
    })
}

/// The largest sum of digits times powers in magnitude: digits are -128..127.
fn largest_sum(modulus: u32) -> u32 {
    let powers = powers(modulus);
    powers
        .iter()
        .map(|power| 128 * u32::from(power.unsigned_abs()))
        .sum()
}

/// What takes the residue of a sum y of digits times powers in floats of 24 bits.
struct Nearest {
    /// k p - h, from which on such a sum can be counted both ways among whole numbers. h is 0 for balanced residues, and for the
    /// least ones modulo an odd p the largest balanced one: that of y - h is the least one of y, less h.
    base: f32,
    /// 1 / p.
    inverse: f32,
    /// M - k: M + (y - h) / p, once it is rounded, is a whole number too, and M p is k p - h modulo 256.
    offset: f32,
}

impl Nearest {
    fn of(modulus: u32, residues: Residues) -> Nearest {
        // Modulo 256 the bytes are the same.
        let h = match residues {
            Residues::Least if modulus % 2 == 1 => modulus / 2,
            Residues::Least | Residues::Balanced => 0,
        };
        // The smaller k, the nearer k p times the inverse is to k.
        let k = (WHOLE + largest_sum(modulus) + h).div_ceil(modulus);
        let middle = WHOLE + WHOLE / 2;
        let fits = |m: &u32| m.wrapping_mul(modulus) as u8 == (k * modulus - h) as u8;
        let m = (middle..middle + 256).find(fits).unwrap_or(middle);
        Nearest {
            base: (k * modulus - h) as f32,
            inverse: 1.0 / modulus as f32,
            offset: (m - k) as f32,
        }
    }
}

/// `Moduli`: the first `count` with what divides by them.
pub fn moduli(count: usize, residues: Residues) -> Vec<u32> {
    let all = &MODULI[..MOST_MODULI];
    let mut words = vec![count as u32];
    words.extend(all.iter().map(|modulus| modulus.wrapping_neg()));
    words.extend(all.iter().map(|&modulus| reciprocal(modulus)));
    words.extend(all.iter().map(|&modulus| positive(modulus, residues)));
    for &modulus in all {
        let powers = powers(modulus).map(|power| power as u8);
        let fours = powers.as_chunks::<4>().0.iter();
        words.extend(fours.map(|&four| u32::from_le_bytes(four)));
    }
    let nearest = |of: fn(&Nearest) -> f32| all.iter().map(move |&p| of(&Nearest::of(p, residues)).to_bits());
    words.extend(nearest(|nearest| nearest.base));
    words.extend(nearest(|nearest| nearest.inverse));
    words.extend(nearest(|nearest| nearest.offset));
    words
}

/// The multiple of p that makes every 32-bit sum one without a sign.
fn positive(modulus: u32, residues: Residues) -> u32 {
    match residues {
        Residues::Balanced => (1u32 << 31).next_multiple_of(modulus),
        Residues::Least => 0,
    }
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

/// `Theorem`: the factors of the remainder theorem for `count` moduli, and what reduces their sum. P and all that is a
/// multiple of a part of it are shifted so that P's leading bit is the last but one of its words.
pub fn theorem(count: usize) -> Vec<u32> {
    let product = product_of(count);
    let words = sum_words(count);
    let shift = 32 * words as u64 - 1 - product.bits();
    let shifted = &product << shift;
    let column = 32 * (words as u64 - 1) + u64::from(COLUMN_TAIL);
    let reciprocal = (BigUint::from(1u32) << (32 + u64::from(QUOTIENT_BITS) + column)) / &shifted;
    let mut all = vec![count as u32, words as u32, shift as u32, low_word(&reciprocal)];
    let factors: Vec<Vec<u8>> = MODULI[..count]
        .iter()
        .map(|&modulus| (factor(&product, modulus) << shift).to_bytes_le())
        .collect();
    let byte = |place: usize, i: usize| factors.get(place).and_then(|bytes| bytes.get(i)).copied();
    for group in 0..GROUPS {
        for i in 0..4 * SUM_WORDS {
            let four: [u8; GROUP] = std::array::from_fn(|place| byte(GROUP * group + place, i).unwrap_or(0));
            all.push(u32::from_le_bytes(four));
        }
    }
    all.extend(padded(&shifted));
    let complement = padded(&((BigUint::from(1u32) << (32 * words)) - shifted));
    all.extend(complement.iter().flat_map(|word| [word & 0xffff, word >> 16]));
    all.extend(padded(&((product >> 1u32) << shift)));
    all
}

/// Words of P with a bit for the sign: at least as many as there are groups of moduli, of which only the last may have less
/// than [`GROUP`].
fn sum_words(count: usize) -> usize {
    (product_of(count).bits() + 1).div_ceil(32) as usize
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
        // A line's integers stay below 2^(bits of H / 2 + 6): see `scaling`. The last word of one is at most 2^30 then, and words
        // to 0x7f7f7f7f become bytes with signs.
        assert!(
            half_product(MOST_MODULI).bits() / 2 + 6
                <= u64::from(INTEGER_WORD_BITS) * (INTEGER_WORDS as u64 - 1) + 30
        );
    }

    #[test]
    fn the_nearest_quotient_of_every_sum_of_digits_gives_the_residue() {
        let kinds = [Residues::Balanced, Residues::Least];
        for (&modulus, residues) in MODULI[..MOST_MODULI]
            .iter()
            .flat_map(|modulus| kinds.map(|kind| (modulus, kind)))
        {
            let Nearest {
                base,
                inverse,
                offset,
            } = Nearest::of(modulus, residues);
            let largest = largest_sum(modulus) as i32;
            let whole = |v: f32| (WHOLE as f32..(2 * WHOLE) as f32).contains(&v);
            for y in -largest..=largest {
                let sum = f32::from_bits((base.to_bits() as i32 + y) as u32);
                let quotient = sum.mul_add(inverse, offset);
                assert!(whole(sum) && whole(quotient), "{modulus}: {y}");
                let residue = sum
                    .to_bits()
                    .wrapping_sub(quotient.to_bits().wrapping_mul(modulus));
                let expected = residues.byte(y.rem_euclid(modulus as i32) as u32, modulus);
                assert_eq!(residue as u8, expected, "{modulus}: {y}");
            }
        }
    }

    /// The quotient of a sum by P as the kernel finds it, to the nearest; `None` where it looks at the half.
    fn quotient(words: &[u32], columns: &[u64]) -> Option<u32> {
        const SLACK: u32 = 4;
        let unit = 1 << QUOTIENT_BITS;
        let leading = u32::try_from(columns.last().unwrap() >> COLUMN_TAIL).unwrap();
        let estimate = ((u64::from(leading) * u64::from(words[3])) >> 32) as u32 + SLACK + unit / 2;
        (estimate % unit >= SLACK).then_some(estimate / unit)
    }

    #[test]
    fn a_quotient_that_does_not_look_at_the_half_is_the_nearest() {
        let mut seeded = crate::seeded::Seeded::new(7);
        for count in 1..=MOST_MODULI {
            let words = theorem(count);
            let sums = sum_words(count);
            assert!(sums >= count.div_ceil(GROUP) && sums <= SUM_WORDS);
            assert!(
                count >= GROUP * (sums - 1),
                "{count}: a group before the last one is not full"
            );
            let product = product_of(count);
            let shift = words[2];
            let factors = &words[4..][..GROUPS * 4 * SUM_WORDS];
            let mut sure = 0;
            for trial in 0..2000u32 {
                // The largest remainders, or any; a fifth of them near to half of P.
                let mut x = BigUint::ZERO;
                for _ in 0..6 {
                    x = (x << 32u32) + seeded.bits() as u32;
                }
                x %= &product;
                if trial % 5 == 0 {
                    x = ((&product >> 1u32) + (x >> (trial % 40))) % &product;
                }
                let byte = |i: usize| low_word(&(&x % MODULI[i]));
                let remainders: Vec<u32> = (0..count)
                    .map(|i| if trial == 1 { 255 } else { byte(i) })
                    .collect();
                let limb = |i: usize| -> u64 {
                    let of = |place: usize| {
                        (factors[place / GROUP * 4 * SUM_WORDS + i] >> (place % GROUP * 8)) & 0xff
                    };
                    (0..count)
                        .map(|place| u64::from(remainders[place] * of(place)))
                        .sum()
                };
                let columns: Vec<u64> = (0..sums)
                    .map(|w| (0..4).map(|i| limb(4 * w + i) << (8 * i)).sum())
                    .collect();
                let sum: BigUint = columns
                    .iter()
                    .rev()
                    .fold(BigUint::ZERO, |sum, &column| (sum << 32u32) + column);
                if trial != 1 {
                    assert_eq!((&sum >> shift) % &product, x);
                }
                if let Some(quotient) = quotient(&words, &columns) {
                    sure += 1;
                    let nearest = (2u32 * (&sum >> shift) + &product) / (2u32 * &product);
                    assert_eq!(nearest, quotient.into(), "{count} moduli, x = {x}");
                }
            }
            assert!(sure > 1500, "{count}: {sure}");
        }
    }

    /// Byte `i` of a word.
    fn byte(word: u32, i: usize) -> u32 {
        word >> (8 * i) & 0xff
    }

    #[test]
    fn a_lane_of_the_tensor_cores_gets_the_sums_of_its_own_element() {
        let mut seeded = crate::seeded::Seeded::new(11);
        for count in 1..=MOST_MODULI {
            let words = theorem(count);
            let factors = &words[4..][..GROUPS * 4 * SUM_WORDS];
            let factors = |group: usize, i: usize| factors[group * 4 * SUM_WORDS + i];
            // A row of the left matrix: four neighbours' remainders modulo each modulus, as they lie in memory.
            let neighbours = [(); 4 * GROUPS].map(|()| seeded.bits() as u32);
            for column in 0..2 * sum_words(count) {
                // What `moduli_crt` gives a lane of the right matrix.
                let right = |lane: usize, group: usize| {
                    byte(factors(group, 2 * column + lane / 4 % 2), lane % 4) << (lane / 8 * 8)
                };
                for (place, next) in (0..4).flat_map(|place| [(place, 0), (place, 1)]) {
                    // Column n of the right matrix at k = 4 t + i is byte i of lane 4 n + t.
                    let n = 2 * place + next;
                    let sum = |group: usize| -> u32 {
                        (0..16)
                            .map(|k| {
                                byte(neighbours[4 * group + k / 4], k % 4)
                                    * byte(right(4 * n + k / 4, group), k % 4)
                            })
                            .sum()
                    };
                    let expected = |modulus: usize| {
                        byte(neighbours[modulus], place)
                            * byte(factors(modulus / GROUP, 2 * column + next), modulus % GROUP)
                    };
                    assert_eq!(
                        (0..GROUPS).map(sum).sum::<u32>(),
                        (0..count).map(expected).sum::<u32>(),
                        "{count} moduli, column {column}, neighbour {place}"
                    );
                }
            }
        }
    }

    #[test]
    fn no_sum_of_32_bits_is_negative_once_its_multiple_is_added() {
        let words = moduli(MOST_MODULI, Residues::Balanced);
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
