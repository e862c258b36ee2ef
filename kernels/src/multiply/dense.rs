//! Matrices as somebody's file has them, and the product of two.

use std::sync::Arc;

use super::MultiplyError;

/// In which order a matrix lies in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// Row after row, as C has it.
    #[default]
    Rows,
    /// Column after column, as Fortran has it.
    Columns,
}

impl Order {
    /// That of the transposed matrix in the same memory.
    pub fn transposed(self) -> Order {
        match self {
            Order::Rows => Order::Columns,
            Order::Columns => Order::Rows,
        }
    }
}

/// A matrix of doubles as it lies, without gaps.
#[derive(Debug, Clone, PartialEq)]
pub struct Dense {
    rows: usize,
    cols: usize,
    order: Order,
    values: Vec<f64>,
}

impl Dense {
    /// The matrix of `rows` x `cols` whose values lie in `order`.
    ///
    /// # Errors
    /// [`MultiplyError::Length`] when there are more values or fewer.
    pub fn new(rows: usize, cols: usize, order: Order, values: Vec<f64>) -> Result<Dense, MultiplyError> {
        if rows.checked_mul(cols) != Some(values.len()) {
            return Err(MultiplyError::Length {
                rows,
                cols,
                present: values.len(),
            });
        }
        Ok(Dense {
            rows,
            cols,
            order,
            values,
        })
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// How it lies.
    pub fn order(&self) -> Order {
        self.order
    }

    /// Its values as they lie.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The value at row `r` and column `c`.
    ///
    /// # Panics
    /// When the place is outside.
    pub fn at(&self, r: usize, c: usize) -> f64 {
        match self.order {
            Order::Rows => self.values[r * self.cols + c],
            Order::Columns => self.values[c * self.rows + r],
        }
    }

    /// Rows as columns, in the same memory.
    #[must_use]
    pub fn transposed(self) -> Dense {
        Dense {
            rows: self.cols,
            cols: self.rows,
            order: self.order.transposed(),
            values: self.values,
        }
    }

    /// Row and column, from 0, of the first NaN or infinity as it lies, with its value.
    pub fn first_not_finite(&self) -> Option<(usize, usize, f64)> {
        let place = self.values.iter().position(|v| !v.is_finite())?;
        let (row, col) = match self.order {
            Order::Rows => (place / self.cols, place % self.cols),
            Order::Columns => (place % self.rows, place / self.rows),
        };
        Some((row, col, self.values[place]))
    }
}

/// Elements of a product that the host computes anew, where nobody asks for another number.
pub const SAMPLES: usize = 256;

/// Two matrices of finite values that fit each other. A clone shares them.
#[derive(Debug, Clone, PartialEq)]
pub struct Product {
    a: Arc<Dense>,
    b: Arc<Dense>,
    /// Bits of a line's largest value that must count; `None` leaves it to the variant.
    pub bits: Option<u32>,
    /// Seed of the elements that are computed anew on the host.
    pub seed: u64,
    /// How many of them: all where there are no more.
    pub samples: usize,
}

impl Product {
    /// `a` times `b`.
    ///
    /// # Errors
    /// [`MultiplyError::Shape`] when A has not as many columns as B has rows, [`MultiplyError::NotFinite`] for a NaN or an
    /// infinity.
    pub fn new(a: Dense, b: Dense) -> Result<Product, MultiplyError> {
        if a.cols != b.rows {
            return Err(MultiplyError::Shape {
                a: (a.rows, a.cols),
                b: (b.rows, b.cols),
            });
        }
        for (matrix, values) in [('A', &a), ('B', &b)] {
            if let Some((row, col, value)) = values.first_not_finite() {
                return Err(MultiplyError::NotFinite {
                    matrix,
                    row,
                    col,
                    value,
                });
            }
        }
        Ok(Product {
            a: Arc::new(a),
            b: Arc::new(b),
            bits: None,
            seed: 1,
            samples: SAMPLES,
        })
    }

    /// The left matrix.
    pub fn a(&self) -> &Dense {
        &self.a
    }

    /// The right matrix.
    pub fn b(&self) -> &Dense {
        &self.b
    }

    /// K: columns of A and rows of B.
    pub fn depth(&self) -> usize {
        self.a.cols
    }

    /// Row `i` of A.
    pub fn row(&self, i: usize) -> Vec<f64> {
        (0..self.depth()).map(|k| self.a.at(i, k)).collect()
    }

    /// Column `j` of B.
    pub fn column(&self, j: usize) -> Vec<f64> {
        (0..self.depth()).map(|k| self.b.at(k, j)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_hold_the_same_matrix_and_a_transposed_one_its_rows_as_columns() {
        let rows = Dense::new(2, 3, Order::Rows, vec![1., 2., 3., 4., 5., 6.]).unwrap();
        let columns = Dense::new(2, 3, Order::Columns, vec![1., 4., 2., 5., 3., 6.]).unwrap();
        for (r, c) in (0..2).flat_map(|r| (0..3).map(move |c| (r, c))) {
            assert_eq!(rows.at(r, c), columns.at(r, c));
            assert_eq!(rows.clone().transposed().at(c, r), rows.at(r, c));
            assert_eq!(columns.clone().transposed().at(c, r), rows.at(r, c));
        }
    }

    #[test]
    fn what_is_no_product_says_why() {
        let of = |rows, cols, values: &[f64]| Dense::new(rows, cols, Order::Rows, values.to_vec()).unwrap();
        let refused = |a, b| Product::new(a, b).unwrap_err().to_string();
        assert_eq!(
            refused(of(1, 2, &[1.0, 2.0]), of(1, 2, &[1.0, 2.0])),
            "A is 1 x 2 and B is 1 x 2: A must have as many columns as B has rows"
        );
        let odd = Dense::new(2, 2, Order::Columns, vec![1.0, 2.0, f64::NAN, 3.0]).unwrap();
        assert_eq!(odd.first_not_finite().map(|(r, c, _)| (r, c)), Some((0, 1)));
        assert!(refused(of(1, 2, &[1.0, 2.0]), odd).contains("B[0, 1] is NaN"));
        for (rows, cols) in [(2, 2), (usize::MAX, 2), (3, 1 << 63)] {
            assert!(Dense::new(rows, cols, Order::Rows, vec![0.0; 3]).is_err());
        }
        assert!(Dense::new(usize::MAX, 0, Order::Rows, vec![]).is_ok());
    }
}
