//! Products of the largest K: sums of residues that reach the ends of 32 bits.

use crate::crt_gemm::check::{Case, case, constants};
use crate::crt_gemm::moduli::Bound;
use crate::crt_gemm::moduli::kernel::moduli_for;
use crate::crt_gemm::moduli::scaling::exponents;
use crate::crt_gemm::moduli::table::ACCUMULATOR_DEPTH;
use crate::crt_gemm::problem::{Problem, Shape};
use crate::crt_gemm::{Matrix, uniform};
use crate::seeded::Seeded;

/// The modulus whose sums are the largest that fit, and its largest residue.
const MODULUS: u64 = 255;
const LARGEST: u64 = MODULUS / 2;
/// Bits behind the point of the values whose residue is chosen: few enough that all of them count, many enough that choosing
/// it does not change how a value's magnitude is rounded up.
const PLACES: i32 = 40;

const SHAPE: Shape = Shape {
    rows: 1,
    cols: 2,
    depth: ACCUMULATOR_DEPTH,
};

/// The cases for a variant of so many bits: of chosen residues where its integers are long enough to choose them, else random.
/// Few, since a host forms and compares gigabytes for each.
pub fn cases(seed: u64, bits: u32, bound: Bound) -> Vec<Case> {
    let Some(v) = at_the_end(bits, bound) else {
        let mut seeded = Seeded::new(seed ^ 0x6465_7074);
        let random = Problem::new(
            uniform(SHAPE.rows, SHAPE.depth, &mut seeded),
            uniform(SHAPE.depth, SHAPE.cols, &mut seeded),
        );
        return vec![case(format!("random, seed {seed}"), random)];
    };
    let of = |name, a, b| {
        let name = format!("{name} modulo {MODULUS}");
        case(name, constants(SHAPE.rows, SHAPE.depth, SHAPE.cols, a, b))
    };
    vec![of("the largest sum", v, v), of("the smallest sum", v, -v)]
}

/// A value near 3/4 whose integer, scaled as it will be in a matrix of it alone, is [`LARGEST`] modulo [`MODULUS`].
fn at_the_end(bits: u32, bound: Bound) -> Option<f64> {
    let count = moduli_for(SHAPE.depth, bits).ok()?;
    let of = |v| {
        let (a, b) = (
            Matrix::constant(1, SHAPE.depth, v),
            Matrix::constant(SHAPE.depth, 1, v),
        );
        exponents(&a, &b, count, bound).map(|exponents| exponents.rows[0])
    };
    let power = of(0.75)?;
    if power < PLACES {
        return None;
    }
    let doubled = |integer: u64| (0..power - PLACES).fold(integer % MODULUS, |r, _| 2 * r % MODULUS);
    let integer = (0..MODULUS)
        .map(|less| (3 << (PLACES - 2)) - less)
        .find(|&integer| doubled(integer) == LARGEST)?;
    let v = integer as f64 * 2f64.powi(-PLACES);
    (of(v) == Some(power)).then_some(v)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crt_gemm::moduli::choose::choose;
    use crate::crt_gemm::moduli::oracle::truncated;

    #[test]
    fn the_largest_sum_is_the_last_that_32_bits_hold() {
        for (bits, bound) in [
            (53, Bound::Accurate),
            (53, Bound::Fast),
            (64, Bound::Accurate),
            (53, Bound::Blocks),
            (51, Bound::Blocks),
        ] {
            let v = at_the_end(bits, bound).unwrap();
            let problem = constants(1, SHAPE.depth, 1, v, v);
            let count = choose(SHAPE.depth, bits).unwrap();
            let exponents = exponents(&problem.a, &problem.b, count, bound).unwrap();
            // K squares of this integer's residue, 127 by 127, are within one product of 2^31.
            let one = |matrix: &Matrix| Matrix::constant(1, 1, matrix.values[0]);
            let cut = truncated(&one(&problem.a), &one(&problem.b), &exponents).unwrap();
            let square = cut.sum(0, 0);
            assert_eq!(
                &square % MODULUS,
                (LARGEST * LARGEST % MODULUS).into(),
                "{bits} {bound:?}"
            );
            let sum = SHAPE.depth as u64 * LARGEST * LARGEST;
            assert!(sum <= i32::MAX as u64 && sum + LARGEST * LARGEST > i32::MAX as u64);
        }
        assert!(at_the_end(8, Bound::Accurate).is_none(), "too short to choose");
    }
}
