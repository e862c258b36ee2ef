//! The products of the checks: edge values first, random ones last.

use super::kernel::Int8Problem;
use crate::seeded::Seeded;

/// A matrix of bytes with a sign, line after line along K.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bytes {
    /// Rows of A, or columns of B.
    pub lines: usize,
    /// K.
    pub depth: usize,
    /// `lines * depth` values.
    pub values: Vec<i8>,
}

impl Bytes {
    /// The matrix whose value of line `l` at `k` is `value(l, k)`.
    pub fn from_fn(lines: usize, depth: usize, mut value: impl FnMut(usize, usize) -> i8) -> Bytes {
        let places = (0..lines).flat_map(|line| (0..depth).map(move |k| (line, k)));
        Bytes {
            lines,
            depth,
            values: places.map(|(line, k)| value(line, k)).collect(),
        }
    }

    /// Seeded values, all 256 of them.
    pub fn random(lines: usize, depth: usize, seeded: &mut Seeded) -> Bytes {
        Bytes::from_fn(lines, depth, |_, _| seeded.bits() as i8)
    }

    /// A line.
    pub fn line(&self, line: usize) -> &[i8] {
        &self.values[line * self.depth..][..self.depth]
    }
}

/// A product of a check.
#[derive(Debug, Clone)]
pub struct Int8Case {
    /// What is special about it.
    pub name: String,
    /// The product.
    pub problem: Int8Problem,
    /// Whether C is poisoned first. Else it holds what the case before has left.
    pub clear: bool,
}

/// The sum of products of two lines, modulo 2^32 as the card's sums are.
pub fn sum(a: &[i8], b: &[i8]) -> i32 {
    let sum: i64 = a.iter().zip(b).map(|(&a, &b)| i64::from(a) * i64::from(b)).sum();
    sum as i32
}

/// Every group of cases with its name, in order.
pub fn groups(seed: u64) -> Vec<(&'static str, Vec<Int8Case>)> {
    vec![
        ("edge values", edge_values()),
        ("K up to where sums wrap", long()),
        ("the layout", layout()),
        ("sizes and gaps", sizes(seed)),
        ("a second product into the same C", repeated(seed)),
        ("random", random(seed)),
    ]
}

fn case(name: impl Into<String>, a: Bytes, b: Bytes, gap: usize) -> Int8Case {
    Int8Case {
        name: name.into(),
        problem: Int8Problem { a, b, gap },
        clear: true,
    }
}

fn constants(rows: usize, depth: usize, cols: usize, a: i8, b: i8) -> (Bytes, Bytes) {
    (
        Bytes::from_fn(rows, depth, |_, _| a),
        Bytes::from_fn(cols, depth, |_, _| b),
    )
}

fn edge_values() -> Vec<Int8Case> {
    let pairs = [
        (0, 0),
        (1, 1),
        (1, -1),
        (-1, -1),
        (127, 127),
        (127, -127),
        (127, -128),
        (-128, -128),
    ];
    let cases = pairs.into_iter().map(|(x, y)| {
        let (a, b) = constants(5, 70, 9, x, y);
        case(format!("{x} times {y}"), a, b, 0)
    });
    cases.collect()
}

/// The last K at which (-128)^2 fits, and the first at which it wraps.
fn long() -> Vec<Int8Case> {
    let cases = [131_071, 131_072].into_iter().flat_map(|depth| {
        [(-128, -128), (-128, 127)].map(|(x, y)| {
            let (a, b) = constants(1, depth, 2, x, y);
            case(format!("{x} times {y}, K = {depth}"), a, b, 0)
        })
    });
    cases.collect()
}

/// Each value at its own place: one k of A meets one k of B, so that each element of C is one element of a matrix.
fn layout() -> Vec<Int8Case> {
    let numbered = |lines, depth| Bytes::from_fn(lines, depth, |line, k| ((7 * line + 31 * k) % 251) as i8);
    let unit = |lines, depth| Bytes::from_fn(lines, depth, |line, k| i8::from(line == k));
    vec![
        case("A by units", numbered(131, 67), unit(67, 67), 0),
        case("units by B", unit(67, 67), numbered(257, 67), 0),
        case("numbered by numbered", numbered(130, 129), numbered(259, 129), 0),
    ]
}

fn sizes(seed: u64) -> Vec<Int8Case> {
    let mut seeded = Seeded::new(seed ^ 0x7369_7a65);
    let sizes = [
        (1, 1, 1),
        (1, 65, 300),
        (130, 1, 1),
        (3, 0, 4),
        (128, 64, 256),
        (129, 63, 255),
        (127, 128, 257),
        (256, 192, 512),
    ];
    let mut cases = Vec::new();
    for (rows, depth, cols) in sizes {
        for gap in [0, 5] {
            let (a, b) = (
                Bytes::random(rows, depth, &mut seeded),
                Bytes::random(cols, depth, &mut seeded),
            );
            cases.push(case(format!("{rows} x {depth} x {cols}, gap {gap}"), a, b, gap));
        }
    }
    cases
}

fn repeated(seed: u64) -> Vec<Int8Case> {
    let mut seeded = Seeded::new(seed ^ 0x7265_7065);
    let mut product = || {
        (
            Bytes::random(140, 90, &mut seeded),
            Bytes::random(70, 90, &mut seeded),
        )
    };
    let (a, b) = product();
    let first = case("the first", a, b, 0);
    let again = Int8Case {
        name: "the same again".to_owned(),
        clear: false,
        ..first.clone()
    };
    let (a, b) = product();
    let other = Int8Case {
        clear: false,
        ..case("another in its place", a, b, 0)
    };
    vec![first, again, other]
}

fn random(seed: u64) -> Vec<Int8Case> {
    let mut seeded = Seeded::new(seed ^ 0x7261_6e64);
    let sizes = [(200, 1000, 300), (515, 333, 777)];
    let cases = sizes.map(|(rows, depth, cols)| {
        let (a, b) = (
            Bytes::random(rows, depth, &mut seeded),
            Bytes::random(cols, depth, &mut seeded),
        );
        case(format!("seed {seed}, {rows} x {depth} x {cols}"), a, b, 0)
    });
    cases.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_wrap_where_they_leave_32_bits() {
        let line = |value, depth| vec![value; depth];
        assert_eq!(sum(&line(-128, 131_071), &line(-128, 131_071)), 2_147_467_264);
        assert_eq!(sum(&line(-128, 131_072), &line(-128, 131_072)), i32::MIN);
        assert_eq!(sum(&[], &[]), 0);
    }
}
