//! The products of the checks: edge values first, random ones last.

use super::depth;
use crate::crt_gemm::check::{Case, Group, case, constants, lying, random, repeated};
use crate::crt_gemm::moduli::choose::{choose, depth_limit};
use crate::crt_gemm::moduli::numbers::MOST_MODULI;
use crate::crt_gemm::moduli::scaling::half_product;
use crate::crt_gemm::options::VariantFile;
use crate::crt_gemm::problem::Problem;
use crate::crt_gemm::{Matrix, uniform, wide};
use crate::seeded::Seeded;

/// Largest K of a case: what a host multiplies in a moment.
const MOST_DEPTH: u64 = 8192;

/// Every group, in order, for a variant. `large` adds sizes that take a card no time and a host long.
pub fn groups(seed: u64, file: &VariantFile, large: bool) -> Vec<Group> {
    let group = |name, cases| Group { name, cases };
    let mut groups = vec![
        group("edge values", edge_values()),
        group("K where the moduli suffice and one over", bounds(file.bits())),
        group("wide ranges, overflow and underflow", ranges(seed)),
        group("NaN, infinities, subnormals, zero lines", odd_values(seed)),
        group("sizes, gaps and orders", lying(seed)),
        group("a second product into the same C", repeated(seed)),
    ];
    if large {
        groups.push(group("the largest K", depth::cases(seed, file)));
    }
    groups.push(group("random", random(seed, large)));
    groups
}

/// Zeros, ones, ends of the exponents and of the mantissa, with both signs: equal ones, opposite ones, and mixed.
fn edge_values() -> Vec<Case> {
    let values = [
        ("zeros", 0.0),
        ("ones", 1.0),
        ("one and a half", 1.5),
        ("just below one", 1f64.next_down()),
        ("just above one", 1f64.next_up()),
        ("an integer of 53 ones", 9_007_199_254_740_991.0),
        ("the largest double", f64::MAX),
        ("the smallest normal", f64::MIN_POSITIVE),
        ("the largest subnormal", f64::MIN_POSITIVE.next_down()),
        ("the smallest subnormal", f64::from_bits(1)),
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
    let numbered = |rows, cols| Matrix::from_fn(rows, cols, |r, c| (1000 * r + c) as f64);
    cases.push(case(
        "A[r, k] = 1000 r + k, B[k, c] = 1000 k + c",
        Problem::new(numbered(131, 37), numbered(37, 67)),
    ));
    cases
}

/// The largest K of each count of moduli, and the smallest of the next, with values that reach the bounds.
fn bounds(bits: u32) -> Vec<Case> {
    let mut cases = Vec::new();
    let limits = (1..MOST_MODULI).filter_map(|count| u64::try_from(depth_limit(count, bits)).ok());
    for limit in limits.filter(|limit| (1..MOST_DEPTH).contains(limit)) {
        for depth in [limit as usize, limit as usize + 1] {
            for (name, a, b) in [
                ("positive", 1f64.next_down(), 1f64.next_down()),
                ("negative", 1f64.next_down(), -1.0),
                ("both negative", -1.0, -1.0),
            ] {
                cases.push(case(format!("K = {depth}, {name}"), constants(2, depth, 3, a, b)));
            }
            // Large values that meet zeros: the integers are as long as they can be, and beside them is one that is rounded.
            let line = |values: [f64; 5]| move |k: usize| values.get(k).copied().unwrap_or(0.0);
            let (large, small) = (1f64.next_down(), 2f64.powi(-40).next_down());
            let (row, column) = (
                line([large, 2f64.powi(-30), 0.0, small, 0.0]),
                line([0.0, -2f64.powi(-30), large, 0.0, -small]),
            );
            let a = Matrix::from_fn(2, depth, |_, k| row(k));
            let b = Matrix::from_fn(depth, 2, |k, _| column(k));
            cases.push(case(
                format!("K = {depth}, large values by zeros"),
                Problem::new(a, b),
            ));
        }
    }
    cases.extend(
        (1..=MOST_MODULI)
            .filter_map(|count| near_half(count, bits))
            .flatten(),
    );
    cases
}

/// Sums within 2^-17 of half the product of `count` moduli, of both signs; `None` where no K takes so many. By `accurate` the
/// largest one is H / 4^q, rounded down, in units of 4^q.
fn near_half(count: usize, bits: u32) -> Option<[Case; 2]> {
    let half = half_product(count);
    // In units of 1/32 by 1/32, of which a one by a one has 1024.
    let (most, ones) = [19, 21, 23].into_iter().find_map(|length| {
        let down = half.bits().checked_sub(length)? / 2 * 2;
        let most = u32::try_from(&half >> down).ok()?;
        let ones = most as usize / 1024;
        (choose(ones + 2, bits) == Ok(count)).then_some((most, ones))
    })?;
    Some([1.0, -1.0].map(|sign| {
        let a = Matrix::from_fn(1, ones + 2, |_, k| {
            sign * if k == ones + 1 { 1.0 / 32.0 } else { 1.0 }
        });
        let b = Matrix::from_fn(ones + 2, 6, |k, c| {
            let units = most - c as u32;
            let thirty_seconds = match k {
                k if k < units as usize / 1024 => 32,
                k if k < ones => 0,
                k if k == ones => units / 32 % 32,
                _ => units % 32,
            };
            f64::from(thirty_seconds) / 32.0
        });
        case(format!("near half of {count} moduli, {sign}"), Problem::new(a, b))
    }))
}

/// Exponents that spread, within lines and between them; results beyond the largest double and below the smallest, where
/// the one rounding must be that of a subnormal.
fn ranges(seed: u64) -> Vec<Case> {
    let mut seeded = Seeded::new(seed ^ 0x7769_6465);
    let mut cases = Vec::new();
    for phi in [0.5, 1.0, 2.0, 4.0, 40.0] {
        let (a, b) = (wide(6, 40, phi, &mut seeded), wide(40, 5, phi, &mut seeded));
        cases.push(case(format!("phi {phi}, seed {seed}"), Problem::new(a, b)));
    }
    for (name, a_power, b_power) in [
        ("large", 900, 120),
        ("overflow here and there", 511, 511),
        ("overflow", 1000, 1000),
        ("small", -900, -100),
        ("subnormal results", -530, -530),
        ("results near the smallest subnormal", -537, -537),
        ("underflow", -600, -600),
    ] {
        let power = |exponent: i32| 2f64.powi(exponent);
        let mut a = uniform(4, 9, &mut seeded);
        let mut b = uniform(9, 5, &mut seeded);
        a.values.iter_mut().for_each(|v| *v *= power(a_power));
        b.values.iter_mut().for_each(|v| *v *= power(b_power));
        cases.push(case(format!("{name}, seed {seed}"), Problem::new(a, b)));
    }
    // Lines of their own size: each has its own exponent.
    let of_line = |line: usize| 2f64.powi(200 * (line as i32 % 7) - 600);
    let mut a = uniform(9, 20, &mut seeded);
    let mut b = uniform(20, 8, &mut seeded);
    for (place, v) in a.values.iter_mut().enumerate() {
        *v *= of_line(place / 20);
    }
    for (place, v) in b.values.iter_mut().enumerate() {
        *v *= of_line(place % 8 + 3);
    }
    cases.push(case(
        format!("lines of different sizes, seed {seed}"),
        Problem::new(a, b),
    ));
    // Halfway between two doubles, to the even one, and just off it by what lies beyond the leading 64 bits.
    for (name, sign) in [("a tie", 0.0), ("above a tie", 1.0), ("below a tie", -1.0)] {
        for last_bit in [0.0, 2f64.powi(-52)] {
            // 1 + 2^-53 + 2^-80, or without the last, or less it.
            let a = Matrix::from_fn(1, 3, |_, k| [1.0 + last_bit, 2f64.powi(-27), 2f64.powi(-40)][k]);
            let b = Matrix::from_fn(3, 1, |k, _| [1.0, 2f64.powi(-26), sign * 2f64.powi(-40)][k]);
            let name = format!("{name}, last bit {}", u8::from(last_bit > 0.0));
            cases.push(case(name, Problem::new(a, b)));
        }
    }
    // 1.5 and 2.5 units wherever a line's unit lies: its integers are the even ones. With large values that meet zeros the others
    // may have more bits.
    for (name, large, small) in [
        ("ties", 0.0, 1.0),
        ("ties below large values", 1.0, 2f64.powi(-30)),
    ] {
        let value = |k: usize, zero: usize| match k {
            0 | 1 if k == zero => 0.0,
            0 => large,
            1 => -large,
            _ => small * [1.5, -1.5, 2.5, -2.5][k % 4] * 2f64.powi(-(k as i32) / 4),
        };
        let a = Matrix::from_fn(2, 400, |_, k| value(k, 0));
        let b = Matrix::from_fn(400, 2, |k, _| value(k, 1));
        cases.push(case(name, Problem::new(a, b)));
    }
    // Halves of the smallest subnormal: to the even multiple of it.
    let a = Matrix::from_fn(6, 1, |r, _| (2.0 * r as f64 + 1.0) * 2f64.powi(-538));
    let b = Matrix::from_fn(1, 2, |_, c| [1.0, -1.0][c] * 2f64.powi(-537));
    cases.push(case("ties between subnormals", Problem::new(a, b)));
    cases
}

/// One odd value in the middle of ordinary ones, on either side; lines of zeros.
fn odd_values(seed: u64) -> Vec<Case> {
    let mut seeded = Seeded::new(seed ^ 0x6f64_6421);
    let mut cases = Vec::new();
    let odd = [
        ("NaN", f64::NAN),
        ("a negative NaN", -f64::NAN),
        ("a NaN of ones", f64::from_bits(u64::MAX >> 1)),
        ("an infinity", f64::INFINITY),
        ("a negative infinity", f64::NEG_INFINITY),
        ("the largest double", f64::MAX),
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
    // Rows that meet zeros alone: their bounds are zero though they are not.
    cases.push(case("large values by zeros", constants(2, 3, 2, f64::MAX, 0.0)));
    cases.push(case(
        "infinities times zeros",
        constants(2, 3, 2, f64::INFINITY, 0.0),
    ));
    cases.push(case("zeros alone", constants(2, 3, 2, -0.0, 0.0)));
    cases
}
