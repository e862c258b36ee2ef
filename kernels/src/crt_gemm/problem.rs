//! A product as it lies in memory: shapes, strides, and what a kernel wants of its residues.

use super::{Matrix, Refusal};
use crate::multiply::Order;

/// The value between the lines of a matrix, where there is a gap: a NaN, so that a kernel that reads it shows.
pub const GAP: f64 = f64::from_bits(0xfff4_dead_fff4_dead);

/// Rows, columns and K of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Rows of A and C.
    pub rows: usize,
    /// Columns of B and C.
    pub cols: usize,
    /// Columns of A, rows of B: K.
    pub depth: usize,
}

impl Shape {
    /// Elements of C.
    pub fn elements(self) -> usize {
        self.rows * self.cols
    }

    /// Multiply-adds.
    pub fn units(self) -> u64 {
        self.elements() as u64 * self.depth as u64
    }

    /// Refuse a product that takes more of something than there can be.
    ///
    /// # Errors
    /// [`Refusal::Size`] when `needed` is above `bound`.
    pub fn within(self, what: &'static str, needed: u128, bound: u128) -> Result<(), Refusal> {
        if needed <= bound {
            return Ok(());
        }
        let Shape { rows, cols, depth } = self;
        Err(Refusal::Size {
            rows,
            cols,
            depth,
            what,
            needed,
            bound,
        })
    }

    /// Refuse sides beyond 32-bit numbers with a sign, in which kernels and libraries count lines: what padding makes of
    /// the longest still fits those without.
    ///
    /// # Errors
    /// [`Refusal::Size`] for the first side that is longer.
    pub fn check_sides(self) -> Result<(), Refusal> {
        [self.rows, self.cols, self.depth]
            .into_iter()
            .try_for_each(|side| self.within("rows or columns", side as u128, i32::MAX as u128))
    }
}

/// Which of the two matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// A: its lines along K are rows.
    A,
    /// B: its lines along K are columns.
    B,
}

/// Distances in doubles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strides {
    /// From one line along K to the next.
    pub line: usize,
    /// From one k to the next.
    pub depth: usize,
}

/// How the matrices of a product lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Rows, columns and K.
    pub shape: Shape,
    /// The orders of A and of B; C lies row after row.
    pub orders: [Order; 2],
    /// Doubles between the rows (columns, where that is the order) of A, of B, and the rows of C.
    pub gap: usize,
}

impl Geometry {
    /// Lines of a matrix as it lies, rows or columns, and the doubles of each.
    fn lying(&self, side: Side) -> (usize, usize) {
        let Shape { rows, cols, depth } = self.shape;
        let (rows, cols) = match side {
            Side::A => (rows, depth),
            Side::B => (depth, cols),
        };
        match self.orders[side as usize] {
            Order::Rows => (rows, cols),
            Order::Columns => (cols, rows),
        }
    }

    /// Strides of a matrix.
    pub fn strides(&self, side: Side) -> Strides {
        let step = self.lying(side).1 + self.gap;
        let (row, col) = match self.orders[side as usize] {
            Order::Rows => (step, 1),
            Order::Columns => (1, step),
        };
        match side {
            Side::A => Strides {
                line: row,
                depth: col,
            },
            Side::B => Strides {
                line: col,
                depth: row,
            },
        }
    }

    /// Doubles of a matrix, gaps included.
    pub fn doubles(&self, side: Side) -> usize {
        let (lines, length) = self.lying(side);
        lines * (length + self.gap)
    }

    /// Doubles from one row of C to the next.
    pub fn c_stride(&self) -> usize {
        self.shape.cols + self.gap
    }

    /// Doubles of C, gaps included.
    pub fn c_doubles(&self) -> usize {
        self.shape.rows * self.c_stride()
    }
}

/// A product to compute, with how its matrices lie.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The left matrix.
    pub a: Matrix,
    /// The right matrix.
    pub b: Matrix,
    /// As [`Geometry::gap`].
    pub gap: usize,
    /// As [`Geometry::orders`].
    pub orders: [Order; 2],
}

impl Problem {
    /// A product of matrices that lie row after row without gaps.
    pub fn new(a: Matrix, b: Matrix) -> Problem {
        Problem {
            a,
            b,
            gap: 0,
            orders: [Order::Rows; 2],
        }
    }

    /// Its shape.
    pub fn shape(&self) -> Shape {
        Shape {
            rows: self.a.rows,
            cols: self.b.cols,
            depth: self.a.cols,
        }
    }

    /// How its matrices lie.
    pub fn geometry(&self) -> Geometry {
        Geometry {
            shape: self.shape(),
            orders: self.orders,
            gap: self.gap,
        }
    }

    /// A matrix as it lies in memory, gaps included.
    pub fn stored(&self, side: Side) -> Vec<f64> {
        let matrix = self.matrix(side);
        let transposed;
        let lying = match self.orders[side as usize] {
            Order::Rows => matrix,
            Order::Columns => {
                transposed = matrix.transposed();
                &transposed
            }
        };
        if self.gap == 0 {
            return lying.values.clone();
        }
        (0..lying.rows)
            .flat_map(|r| {
                lying
                    .row(r)
                    .iter()
                    .copied()
                    .chain(std::iter::repeat_n(GAP, self.gap))
            })
            .collect()
    }

    /// A matrix with its lines along K as rows.
    pub fn lines(&self, side: Side) -> Matrix {
        match side {
            Side::A => self.a.clone(),
            Side::B => self.b.transposed(),
        }
    }

    fn matrix(&self, side: Side) -> &Matrix {
        match side {
            Side::A => &self.a,
            Side::B => &self.b,
        }
    }
}

/// How a kernel wants the residues of a matrix: a plane for each slice and prime, padded with zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plane {
    /// Lines along K, padded.
    pub lines: usize,
    /// K, padded.
    pub depth: usize,
    /// Bytes from one line to the next.
    pub line: usize,
    /// Bytes from one k to the next.
    pub step: usize,
    /// Whether it lies in blocks of [`BLOCK_DEPTH`] of K, a block's lines one after the other, each line's chunks of
    /// [`CHUNK`] bytes permuted by the line's number modulo 8; `line` and `step` are those in a block.
    pub in_blocks: bool,
}

/// K of a block.
pub const BLOCK_DEPTH: usize = 128;
/// Bytes of a chunk.
const CHUNK: usize = 16;

impl Plane {
    /// Lines one after the other.
    pub fn by_lines(lines: usize, depth: usize) -> Plane {
        Plane {
            lines,
            depth,
            line: depth,
            step: 1,
            in_blocks: false,
        }
    }

    /// All lines' values at one k together.
    pub fn by_depth(lines: usize, depth: usize) -> Plane {
        Plane {
            lines,
            depth,
            line: 1,
            step: lines,
            in_blocks: false,
        }
    }

    /// In blocks; `depth` is a multiple of [`BLOCK_DEPTH`].
    pub fn by_blocks(lines: usize, depth: usize) -> Plane {
        Plane {
            lines,
            depth,
            line: BLOCK_DEPTH,
            step: 1,
            in_blocks: true,
        }
    }

    /// Its bytes.
    pub fn bytes(self) -> usize {
        self.lines * self.depth
    }

    /// Place of a residue.
    pub fn at(self, line: usize, k: usize) -> usize {
        if self.in_blocks {
            let (block, k) = (k / BLOCK_DEPTH, k % BLOCK_DEPTH);
            let chunk = (k / CHUNK) ^ (line % 8);
            return (block * self.lines + line) * BLOCK_DEPTH + chunk * CHUNK + k % CHUNK;
        }
        line * self.line + k * self.step
    }

    /// The line and the k of the residue at a place.
    pub fn of(self, place: usize) -> (usize, usize) {
        if self.in_blocks {
            let (row, byte) = (place / BLOCK_DEPTH, place % BLOCK_DEPTH);
            let (block, line) = (row / self.lines, row % self.lines);
            let chunk = (byte / CHUNK) ^ (line % 8);
            return (line, block * BLOCK_DEPTH + chunk * CHUNK + byte % CHUNK);
        }
        if self.step == 1 {
            (place / self.line, place % self.line)
        } else {
            (place % self.step, place / self.step)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_plane_has_one_place_and_is_found_again() {
        for plane in [
            Plane::by_lines(5, 7),
            Plane::by_depth(5, 7),
            Plane::by_blocks(24, 384),
        ] {
            let mut seen = vec![false; plane.bytes()];
            for (line, k) in (0..plane.lines).flat_map(|line| (0..plane.depth).map(move |k| (line, k))) {
                let place = plane.at(line, k);
                assert!(!std::mem::replace(&mut seen[place], true), "{plane:?} {line} {k}");
                assert_eq!(plane.of(place), (line, k), "{plane:?}");
            }
        }
        // The second chunk of line 1 changes places with the first; the next block comes after all lines.
        let plane = Plane::by_blocks(8, 256);
        assert_eq!(
            (plane.at(1, 0), plane.at(1, 16), plane.at(0, 128)),
            (128 + 16, 128, 1024)
        );
    }

    #[test]
    fn every_order_and_gap_holds_the_same_matrix() {
        let a = Matrix::from_fn(3, 4, |r, c| (10 * r + c) as f64);
        let b = Matrix::from_fn(4, 2, |r, c| (100 * r + c) as f64);
        use Order::{Columns, Rows};
        for (gap, orders) in [
            (0, [Rows, Rows]),
            (3, [Rows, Rows]),
            (0, [Columns, Columns]),
            (5, [Columns, Rows]),
            (0, [Rows, Columns]),
        ] {
            let problem = Problem {
                gap,
                orders,
                ..Problem::new(a.clone(), b.clone())
            };
            for side in [Side::A, Side::B] {
                let geometry = problem.geometry();
                let (stored, strides, lines) =
                    (problem.stored(side), geometry.strides(side), problem.lines(side));
                assert_eq!(stored.len(), geometry.doubles(side));
                for line in 0..lines.rows {
                    for k in 0..lines.cols {
                        assert_eq!(stored[line * strides.line + k * strides.depth], lines.at(line, k));
                    }
                }
                let gaps = stored.iter().filter(|v| v.is_nan()).count();
                assert_eq!(stored.len(), lines.values.len() + gaps);
            }
        }
    }
}
