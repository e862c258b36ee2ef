//! Products of the largest K: sums of residues that reach the ends of 32 bits.

use crate::crt_gemm::check::{Case, case, constants};
use crate::crt_gemm::moduli::kernel::moduli_for;
use crate::crt_gemm::moduli::scaling::exponents;
use crate::crt_gemm::moduli::table::{ACCUMULATOR_DEPTH, Residues};
use crate::crt_gemm::options::VariantFile;
use crate::crt_gemm::problem::{Problem, Shape};
use crate::crt_gemm::{Matrix, uniform};
use crate::seeded::Seeded;

/// The modulus whose sums are the largest that fit.
const MODULUS: u64 = 255;
/// Bits behind the point of the values whose residue is chosen: few enough that all of them count, many enough that choosing
/// it does not change how a value's magnitude is rounded up.
const PLACES: i32 = 40;

const SHAPE: Shape = Shape {
    rows: 1,
    cols: 2,
    depth: ACCUMULATOR_DEPTH,
};

/// The largest residue modulo [`MODULUS`].
fn largest(residues: Residues) -> u64 {
    match residues {
        Residues::Balanced => MODULUS / 2,
        Residues::Least => MODULUS - 1,
    }
}

/// The cases for a variant: of chosen residues where its integers are long enough to choose them, else random. Few, since a
/// host forms and compares gigabytes for each.
pub fn cases(seed: u64, file: &VariantFile) -> Vec<Case> {
    let Some(v) = at_the_end(file) else {
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

/// A value near 3/4 whose integer, scaled as it will be in a matrix of it alone, is the [`largest`] modulo [`MODULUS`].
fn at_the_end(file: &VariantFile) -> Option<f64> {
    let count = moduli_for(SHAPE.depth, file.bits()).ok()?;
    let of = |v| {
        let (a, b) = (
            Matrix::constant(1, SHAPE.depth, v),
            Matrix::constant(SHAPE.depth, 1, v),
        );
        exponents(&a, &b, count, file.bound()).map(|exponents| exponents.rows[0])
    };
    let power = of(0.75)?;
    if power < PLACES {
        return None;
    }
    let doubled = |integer: u64| (0..power - PLACES).fold(integer % MODULUS, |r, _| 2 * r % MODULUS);
    let integer = (0..MODULUS)
        .map(|less| (3 << (PLACES - 2)) - less)
        .find(|&integer| doubled(integer) == largest(file.residues()))?;
    let v = integer as f64 * 2f64.powi(-PLACES);
    (of(v) == Some(power)).then_some(v)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crt_gemm::moduli::choose::choose;
    use crate::crt_gemm::moduli::oracle::integers;
    use crate::crt_gemm::moduli::table::FOLD_DEPTH;

    #[test]
    fn the_largest_sum_is_the_last_that_32_bits_hold() {
        for text in [
            include_str!("../../../../../variants/crt-gemm/moduli-naive.toml"),
            include_str!("../../../../../variants/crt-gemm/moduli-naive-fast.toml"),
            include_str!("../../../../../variants/crt-gemm/moduli-naive-norms.toml"),
            include_str!("../../../../../variants/crt-gemm/moduli-naive-blocks.toml"),
            include_str!("../../../../../variants/crt-gemm/moduli-wgmma.toml"),
            include_str!("../../../../../variants/crt-gemm/moduli-wgmma-14.toml"),
        ] {
            let file = VariantFile::parse(text).unwrap();
            let v = at_the_end(&file).unwrap();
            let problem = constants(1, SHAPE.depth, 1, v, v);
            let count = choose(SHAPE.depth, file.bits()).unwrap();
            let exponents = exponents(&problem.a, &problem.b, count, file.bound()).unwrap();
            // So many squares of this integer's residue are within a few products of what 32 bits hold.
            let one = |matrix: &Matrix| Matrix::constant(1, 1, matrix.values[0]);
            let square = integers(&one(&problem.a), &one(&problem.b), &exponents)
                .unwrap()
                .sum(0, 0);
            let largest = largest(file.residues());
            assert_eq!(
                &square % MODULUS,
                (largest * largest % MODULUS).into(),
                "{file:?}"
            );
            let (depth, most) = match file.residues() {
                Residues::Balanced => (SHAPE.depth, i32::MAX as u64),
                Residues::Least => (FOLD_DEPTH, u32::MAX.into()),
            };
            let sum = depth as u64 * largest * largest;
            assert!(sum <= most && sum > most / 64 * 63, "{sum}");
        }
        let short = include_str!("../../../../../variants/crt-gemm/moduli-naive.toml")
            .replace("bits = 53", "bits = 26");
        assert!(
            at_the_end(&VariantFile::parse(&short).unwrap()).is_none(),
            "too short to choose"
        );
    }
}
