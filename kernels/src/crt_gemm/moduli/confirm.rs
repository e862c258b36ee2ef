//! Elements of a device's product, computed anew by whole numbers under the exponents that it took.

use super::oracle::integers;
use super::scaling::Exponents;
use super::table::product_of;
use crate::crt_gemm::Matrix;
use crate::workload::Fault;

/// Exponents of a scaling are within -`EXPONENTS`..=`EXPONENTS`: no line of doubles and no moduli give others.
pub const EXPONENTS: i32 = 4096;

/// What a device says of an element.
pub struct Claim {
    /// Its row.
    pub row: usize,
    /// Its column.
    pub col: usize,
    /// Its value.
    pub value: f64,
    /// The exponents of the row of A and of the column of B.
    pub exponents: (i32, i32),
}

impl Claim {
    /// Compute the element anew from `row` of A and `column` of B: it must be the same bit for bit, and its sums must fit
    /// `count` moduli.
    ///
    /// # Errors
    /// [`Fault::Unconfirmed`] with what differs.
    pub fn confirm(&self, batch: u64, row: Vec<f64>, column: Vec<f64>, count: usize) -> Result<(), Fault> {
        self.holds(row, column, count).map_err(|host| Fault::Unconfirmed {
            batch,
            candidate: format!("C[{}, {}]", self.row, self.col),
            what: format!("it is {:e} where {host}", self.value),
        })
    }

    /// The same.
    ///
    /// # Errors
    /// What the host has instead.
    pub fn holds(&self, row: Vec<f64>, column: Vec<f64>, count: usize) -> Result<(), String> {
        let (s, t) = self.exponents;
        match element(row, column, self.exponents, count) {
            Some(expected) if expected.to_bits() == self.value.to_bits() => Ok(()),
            Some(expected) => Err(format!("the host has {expected:e}")),
            None => Err(format!("the exponents {s} and {t} do not fit {count} moduli")),
        }
    }
}

/// The element of a row and a column under their exponents; `None` where its sums do not fit the moduli.
fn element(row: Vec<f64>, column: Vec<f64>, (s, t): (i32, i32), count: usize) -> Option<f64> {
    // What is beyond would not fit either, nor the host's memory.
    if s.unsigned_abs() > EXPONENTS as u32 || t.unsigned_abs() > EXPONENTS as u32 {
        return None;
    }
    let depth = row.len();
    let matrix = |rows, cols, values| Matrix { rows, cols, values };
    let exponents = Exponents {
        rows: vec![s],
        cols: vec![t],
    };
    let integers = integers(&matrix(1, depth, row), &matrix(depth, 1, column), &exponents)?;
    let fits = integers.sum_of_magnitudes(0, 0) * 2u32 < product_of(count);
    fits.then(|| integers.scaled_back(&integers.sum(0, 0), 0, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(value: f64, exponents: (i32, i32)) -> Claim {
        Claim {
            row: 3,
            col: 5,
            value,
            exponents,
        }
    }

    #[test]
    fn only_the_element_itself_is_confirmed() {
        let confirm = |claim: Claim| claim.confirm(0, vec![1.5, -2.0], vec![2.0, 0.25], 4);
        assert_eq!(confirm(claim(2.5, (1, 2))), Ok(()));
        let said = |claim| confirm(claim).unwrap_err().to_string();
        assert!(said(claim(2.5f64.next_up(), (1, 2))).contains("C[3, 5]"));
        // One bit more than the moduli hold, and exponents of a device that has gone wrong.
        for exponents in [(20, 20), (i32::MAX, 0), (0, i32::MIN)] {
            assert!(said(claim(2.5, exponents)).contains("do not fit 4 moduli"));
        }
    }
}
