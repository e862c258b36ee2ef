//! The products of the checks: edge values first, random ones last.

use super::products::Case;
use crate::crt_gemm::problem::Problem;
use crate::crt_gemm::split2::FOLD_DEPTH;
use crate::crt_gemm::{Matrix, uniform};
use crate::multiply::Order::{Columns, Rows};
use crate::seeded::Seeded;

/// Cases that are checked together.
pub struct Group {
    /// What they have in common.
    pub name: &'static str,
    /// The cases.
    pub cases: Vec<Case>,
}

/// Every group, in order. `large` adds sizes that take a card no time and a host long.
pub fn groups(seed: u64, large: bool) -> Vec<Group> {
    let group = |name, cases| Group { name, cases };
    vec![
        group("edge values", edge_values()),
        group("K at its bound and one over", fold_bound()),
        group("values above one", above_one()),
        group("NaN, infinities, subnormals, zero lines", odd_values(seed)),
        group("sizes, gaps and orders", lying(seed)),
        group("a second product into the same C", repeated(seed)),
        group("random", random(seed, large)),
    ]
}

/// A case that finds a poisoned C.
pub fn case(name: impl Into<String>, problem: Problem) -> Case {
    Case {
        name: name.into(),
        problem,
        clear: true,
    }
}

/// A product of matrices of one value each.
pub fn constants(rows: usize, depth: usize, cols: usize, a: f64, b: f64) -> Problem {
    Problem::new(Matrix::constant(rows, depth, a), Matrix::constant(depth, cols, b))
}

/// Zero, one, 1/8 and the ends of both slices, with both signs: equal signs, opposite ones, and a row of each.
fn edge_values() -> Vec<Case> {
    // 131071.5 rounds away from zero, so its low slice is the most negative; just below it the low slice is the largest.
    let both_largest = 131_071.5 / 131_072.0;
    let values = [
        ("zeros", 0.0),
        ("ones", 1.0),
        ("eighths", 0.125),
        ("the smallest high slice", 2f64.powi(-17)),
        ("the smallest low slice", 2f64.powi(-34)),
        ("the smallest that rounds to a low slice", 2f64.powi(-35)),
        ("the largest that does not", 2f64.powi(-35).next_down()),
        ("a high slice by half", 2f64.powi(-18)),
        ("the largest high and the most negative low slice", both_largest),
        ("the largest low slice", both_largest.next_down()),
        ("just below one", 1f64.next_down()),
    ];
    let mut cases = Vec::new();
    for (name, v) in values {
        cases.push(case(format!("{name}, both positive"), constants(3, 5, 2, v, v)));
        cases.push(case(
            format!("{name}, a negative inner product"),
            constants(3, 5, 2, v, -v),
        ));
        cases.push(case(format!("{name}, both negative"), constants(2, 3, 3, -v, -v)));
        let sign = |place: usize| if place.is_multiple_of(2) { v } else { -v };
        let a = Matrix::from_fn(3, 7, |r, k| sign(r + k));
        let b = Matrix::from_fn(7, 4, |k, c| sign(k / 2 + c));
        cases.push(case(format!("{name}, signs mixed"), Problem::new(a, b)));
    }
    let identity = Matrix::from_fn(9, 9, |r, c| f64::from(u8::from(r == c)));
    let counted = Matrix::from_fn(9, 5, |r, c| (5 * r + c) as f64 / 64.0 - 0.5);
    cases.push(case("the identity", Problem::new(identity, counted)));
    cases
}

/// The largest sums that the fold tells apart, and the smallest that it does not.
fn fold_bound() -> Vec<Case> {
    let mut cases = Vec::new();
    for depth in [FOLD_DEPTH, FOLD_DEPTH + 1] {
        for (name, a, b) in [
            ("positive", 1.0, 1.0),
            ("negative", 1.0, -1.0),
            ("both negative", -1.0, -1.0),
        ] {
            cases.push(case(format!("K = {depth}, {name}"), constants(2, depth, 3, a, b)));
        }
    }
    cases
}

/// Above one the slices and residues are right and the sums too, but not within what the fold can tell: the product must be
/// refused. The fixture with 1000 r + k shows by each residue where it came from.
fn above_one() -> Vec<Case> {
    let mut cases: Vec<Case> = [127.0, -127.0, 128.0, -128.0, 1f64.next_up()]
        .into_iter()
        .map(|v| case(format!("{v}"), constants(3, 4, 2, v, 1.0)))
        .collect();
    cases.push(case(
        "K = 1, 128 * 128: a sum of 2^48",
        constants(1, 1, 1, 128.0, 128.0),
    ));
    let numbered = |rows, cols| Matrix::from_fn(rows, cols, |r, c| (1000 * r + c) as f64);
    cases.push(case(
        "A[r, k] = 1000 r + k, B[k, c] = 1000 k + c",
        Problem::new(numbered(131, 37), numbered(37, 67)),
    ));
    cases
}

/// One odd value in the middle of ordinary ones, on either side.
fn odd_values(seed: u64) -> Vec<Case> {
    let mut seeded = Seeded::new(seed ^ 0x6f64_6421);
    let mut cases = Vec::new();
    let odd = [
        ("NaN", f64::NAN),
        ("a negative NaN", -f64::NAN),
        ("an infinity", f64::INFINITY),
        ("a negative infinity", f64::NEG_INFINITY),
        ("the largest double", f64::MAX),
        ("a value without slices", 2f64.powi(45)),
        ("the smallest subnormal", f64::from_bits(1)),
        ("the largest subnormal", -f64::MIN_POSITIVE.next_down()),
        ("a negative zero", -0.0),
    ];
    for (name, v) in odd {
        for (side, place) in [("A", 7), ("B", 3)] {
            let mut problem = Problem::new(uniform(4, 6, &mut seeded), uniform(6, 3, &mut seeded));
            let matrix = if side == "A" {
                &mut problem.a
            } else {
                &mut problem.b
            };
            matrix.values[place] = v;
            cases.push(case(format!("{name} in {side}"), problem));
        }
    }
    let mut problem = Problem::new(uniform(4, 6, &mut seeded), uniform(6, 3, &mut seeded));
    problem.a.values[6..12].fill(0.0);
    for k in 0..6 {
        problem.b.values[3 * k + 2] = -0.0;
    }
    cases.push(case("a zero row and a zero column", problem));
    let all = constants(2, 3, 2, f64::INFINITY, 0.0);
    cases.push(case("infinities times zeros", all));
    cases
}

/// Sizes on and off every grid, gaps between lines, Fortran's order.
pub fn lying(seed: u64) -> Vec<Case> {
    let mut seeded = Seeded::new(seed ^ 0x6c79_696e);
    let sizes = [
        (1, 1, 1),
        (1, 1, 9),
        (1, 33, 70),
        (70, 33, 1),
        (4, 0, 3),
        (0, 4, 3),
        (3, 4, 0),
        (17, 31, 5),
        (128, 32, 64),
        (129, 33, 65),
        (127, 63, 63),
        (255, 96, 129),
    ];
    let mut cases = Vec::new();
    for (rows, depth, cols) in sizes {
        for (how, gap, orders) in [
            ("", 0, [Rows, Rows]),
            (", gaps", 3, [Rows, Rows]),
            (", Fortran's order and gaps", 1, [Columns, Columns]),
            (", Fortran's order of A and gaps", 2, [Columns, Rows]),
            (", Fortran's order of B and gaps", 1, [Rows, Columns]),
        ] {
            if gap > 0 && rows * depth * cols > 1 << 18 {
                continue;
            }
            let (a, b) = (
                uniform(rows, depth, &mut seeded),
                uniform(depth, cols, &mut seeded),
            );
            let problem = Problem {
                gap,
                orders,
                ..Problem::new(a, b)
            };
            cases.push(case(format!("{rows} x {depth} x {cols}{how}"), problem));
        }
    }
    cases
}

/// Consecutive products without a clear between them must not add up.
pub fn repeated(seed: u64) -> Vec<Case> {
    let mut seeded = Seeded::new(seed ^ 0x7265_7065);
    let first = case(
        "the first",
        Problem::new(uniform(9, 20, &mut seeded), uniform(20, 7, &mut seeded)),
    );
    let again = Case {
        name: "the same again".to_owned(),
        clear: false,
        ..first.clone()
    };
    let other = Case {
        name: "another in its place".to_owned(),
        problem: Problem::new(uniform(9, 20, &mut seeded), uniform(20, 7, &mut seeded)),
        clear: false,
    };
    vec![first, again, other]
}

/// Uniform values.
pub fn random(seed: u64, large: bool) -> Vec<Case> {
    let mut seeded = Seeded::new(seed ^ 0x7261_6e64);
    let sizes: &[(usize, usize, usize)] = if large {
        &[(150, 90, 70), (64, 1000, 65), (300, 520, 270)]
    } else {
        &[(150, 90, 70), (33, 1000, 34)]
    };
    sizes
        .iter()
        .map(|&(rows, depth, cols)| {
            let (a, b) = (
                uniform(rows, depth, &mut seeded),
                uniform(depth, cols, &mut seeded),
            );
            case(
                format!("seed {seed}, {rows} x {depth} x {cols}"),
                Problem::new(a, b),
            )
        })
        .collect()
}
