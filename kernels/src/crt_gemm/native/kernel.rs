//! The call of the library, and how far its result may be off.

use crate::crt_gemm::exact::{Dyadic, dot_ieee};
use crate::crt_gemm::problem::{Geometry, Shape, Side};
use crate::crt_gemm::{Matrix, Refusal, kernel::STALE};
use crate::library::{Gemm, GemmKind, Library, Operand};
use crate::multiply::Order;
use crate::workload::{Buffer, BufferId, Setup, Source};

/// A as it lies.
pub const A: BufferId = BufferId(0);
/// B as it lies.
pub const B: BufferId = BufferId(1);
/// The result, row after row.
pub const C: BufferId = BufferId(2);

/// A session builds a text; here the library has all the work.
const TEXT: &str = "// The library multiplies: this text has nothing to do, and is there because a session builds one.\n\
                    extern \"C\" __global__ void native_nothing() {}\n";

/// The CUDA text.
pub fn source(name: &str) -> Source {
    Source {
        file: format!("crt-gemm-{name}.cu"),
        text: TEXT.to_owned(),
        defines: vec![],
        entry: "native_nothing",
        helpers: vec![],
        options: vec![],
    }
}

/// What to build, with buffers for each product.
pub fn setup(name: &str, products: impl Iterator<Item = Geometry>) -> Setup {
    let mut most = [0; 3];
    for geometry in products {
        let words = [
            2 * geometry.doubles(Side::A),
            2 * geometry.doubles(Side::B),
            2 * geometry.c_doubles(),
        ];
        for (most, words) in most.iter_mut().zip(words) {
            *most = (*most).max(words);
        }
    }
    let buffers = ["A", "B", "C"].into_iter().zip(most);
    Setup {
        source: source(name),
        native: None,
        library: Some(Library::Cublas),
        buffers: buffers
            .map(|(name, words)| Buffer {
                name,
                words,
                fill: STALE,
            })
            .collect(),
    }
}

/// The most elements of C: beyond any memory, and within the numbers that count its bytes.
const MOST_ELEMENTS: u128 = 1 << 48;

/// Check that the library can count what a product has.
///
/// # Errors
/// [`Refusal::Size`] with what there is too much of.
pub fn check_size(shape: Shape) -> Result<(), Refusal> {
    shape.check_sides()?;
    let elements = shape.rows as u128 * shape.cols as u128;
    shape.within("elements of C", elements, MOST_ELEMENTS)
}

/// The call. The library counts columns first, where C lies row after row: it is told to form the transposed product
/// B^T A^T, whose columns are C's rows. A matrix that lies row after row is its own transposed one to the library.
pub fn gemm(geometry: &Geometry, kind: GemmKind) -> Gemm {
    let shape = geometry.shape;
    let operand = |buffer, side: Side| {
        let strides = geometry.strides(side);
        Operand {
            buffer,
            offset: 0,
            leading: strides.line.max(strides.depth),
            transposed: geometry.orders[side as usize] == Order::Columns,
        }
    };
    Gemm {
        stage: "gemm",
        kind,
        m: shape.cols,
        n: shape.rows,
        k: shape.depth,
        a: operand(B, Side::B),
        b: operand(A, Side::A),
        c: Operand {
            buffer: C,
            offset: 0,
            leading: geometry.c_stride(),
            transposed: false,
        },
    }
}

/// What an element must be: the exact one rounded once, and how far off it may be. N. Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2002, section 3.5: K u / (1 - K u) times the sum of magnitudes, whatever the order of the sums. The
/// emulation cuts the mantissas of a line to so many bits under its largest: K products lose at most 2^(2-bits) of the product of
/// both largest more, with a bit to spare for how it aligns them, which nobody states.
pub fn element(kind: GemmKind, a: &Matrix, b: &Matrix, r: usize, c: usize) -> (f64, f64) {
    let column: Vec<f64> = (0..b.rows).map(|k| b.at(k, c)).collect();
    let cut = match kind {
        GemmKind::F64 | GemmKind::S8 => 0.0,
        GemmKind::F64FixedPoint { bits } => {
            let largest = |line: &[f64]| line.iter().fold(0f64, |most, v| most.max(v.abs()));
            a.cols as f64 * 2f64.powi(3 - bits as i32) * largest(a.row(r)) * largest(&column)
        }
    };
    let right = dot_ieee(a.row(r), &column);
    let magnitude = |v: &f64| Dyadic::of(*v).map_or_else(|| Dyadic::new(0, 0), |v| v.abs());
    let magnitudes = a
        .row(r)
        .iter()
        .zip(&column)
        .fold(Dyadic::new(0, 0), |sum, (a, b)| {
            &sum + &(&magnitude(a) * &magnitude(b))
        });
    let roundings = a.cols as f64 * f64::EPSILON / 2.0;
    // The rounding of the right one to a double, and what each product loses below the smallest normal.
    let rounded = if right.is_finite() {
        right.abs() * f64::EPSILON / 2.0 + (a.cols + 1) as f64 * f64::from_bits(1)
    } else {
        0.0
    };
    (
        right,
        (roundings / (1.0 - roundings) * magnitudes.to_f64()).next_up() + rounded + cut,
    )
}

/// Whether `got` is an element that [`element`] allows.
pub fn allowed(got: f64, (right, off): (f64, f64)) -> bool {
    // Sums that overflow on the way may end as an infinity of either sign, or as NaN.
    if off == f64::INFINITY {
        return true;
    }
    if right.is_finite() {
        (got - right).abs() <= off
    } else {
        got.is_nan() == right.is_nan() && (got.is_nan() || got == right)
    }
}

/// Hold an element, which is `got`, against what [`element`] allows.
///
/// # Errors
/// What it must be instead, when it is further off.
pub fn holds(got: f64, bound: (f64, f64)) -> Result<(), String> {
    if allowed(got, bound) {
        return Ok(());
    }
    let (right, off) = bound;
    Err(format!("the exact one is {right:e} within {off:e}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crt_gemm::problem::Problem;

    #[test]
    fn every_order_and_gap_gives_the_library_a_call_that_it_takes() {
        use Order::{Columns, Rows};
        // The library's A is B.
        for (gap, orders, leading) in [
            (0, [Rows, Rows], (2, 4)),
            (3, [Rows, Rows], (5, 7)),
            (0, [Columns, Columns], (4, 3)),
            (5, [Columns, Rows], (7, 8)),
            (1, [Rows, Columns], (5, 5)),
        ] {
            let problem = Problem {
                gap,
                orders,
                ..Problem::new(Matrix::constant(3, 4, 1.0), Matrix::constant(4, 2, 1.0))
            };
            let gemm = gemm(&problem.geometry(), GemmKind::F64);
            let setup = setup("x", std::iter::once(problem.geometry()));
            assert_eq!(
                gemm.check(|id| 4 * setup.buffers[id.0].words),
                Ok(()),
                "{gap} {orders:?}"
            );
            assert_eq!((gemm.m, gemm.n, gemm.k), (2, 3, 4));
            assert_eq!((gemm.a.leading, gemm.b.leading), leading);
        }
    }

    #[test]
    fn an_element_may_be_off_by_its_roundings_and_no_more() {
        let (a, b) = (Matrix::constant(1, 100, 0.1), Matrix::constant(100, 1, 0.3));
        let summed: f64 = (0..100).map(|_| 0.1 * 0.3).sum();
        let bound = element(GemmKind::F64, &a, &b, 0, 0);
        assert!(allowed(summed, bound) && allowed(bound.0, bound));
        assert!(!allowed(summed + 1e-13, bound) && !allowed(f64::NAN, bound));
        // 30 bits cut off at most 100 * 2^-27 * 0.03.
        let cut = element(GemmKind::F64FixedPoint { bits: 30 }, &a, &b, 0, 0);
        assert!(allowed(summed + 2e-8, cut) && !allowed(summed + 2.3e-8, cut));
        let infinite = Matrix::constant(1, 100, f64::INFINITY);
        let bound = element(GemmKind::F64, &infinite, &b, 0, 0);
        assert!(allowed(f64::INFINITY, bound) && !allowed(1.0, bound) && !allowed(f64::NAN, bound));
    }
}
