//! What is said of a result: as JSON, and as a table that explains itself.

use assay_analysis::{Align, Table, TableColumn};
use assay_kernels::multiply::Extreme;
use serde::Serialize;

use super::run::Done;

/// The JSON document.
#[derive(Debug, Serialize)]
pub struct Document<'d> {
    /// Version of the schema.
    pub schema: u32,
    /// Whether the product was confirmed and written; there is no document otherwise.
    pub ok: bool,
    /// `FAMILY/NAME`.
    pub variant: String,
    /// Where it ran.
    pub device: &'d str,
    /// The vendor's library with its version, where it multiplies.
    pub library: Option<&'d str>,
    /// The file that was written.
    pub output: String,
    /// Rows of the result.
    pub rows: usize,
    /// Columns of the result.
    pub cols: usize,
    /// K: columns of A, rows of B.
    pub depth: usize,
    /// How many moduli were taken.
    pub moduli: Option<usize>,
    /// Bits that they were chosen for.
    pub bits: Option<u32>,
    /// Factor of the product.
    pub alpha: f64,
    /// Factor of what was added; 0 where nothing was.
    pub beta: f64,
    /// Seed of the elements that were computed anew.
    pub seed: u64,
    /// Bounds on the errors of all elements.
    pub error_bound: ErrorBound,
    /// Elements of the product that were computed anew.
    pub sample: SampleRow,
    /// Time of the launches on the device.
    pub device_s: f64,
}

/// Bounds on the errors of all elements.
#[derive(Debug, Serialize)]
pub struct ErrorBound {
    /// The largest.
    pub largest: Option<f64>,
    /// Row and column of that element.
    pub largest_at: Option<[usize; 2]>,
    /// The largest relative to its element.
    pub relative: Option<f64>,
    /// Row and column of that element.
    pub relative_at: Option<[usize; 2]>,
    /// Elements that are exact.
    pub exact: u64,
    /// Elements that are 0 with a bound above it.
    pub vanished: u64,
    /// Elements without a bound.
    pub unbounded: u64,
}

/// Elements that were computed anew.
#[derive(Debug, Serialize)]
pub struct SampleRow {
    /// How many.
    pub elements: u64,
    /// Those of them beyond the largest double, which have no error.
    pub beyond: u64,
    /// The largest error among the others.
    pub error: f64,
    /// The largest error relative to the same element of |A| |B|.
    pub error_to_magnitude: f64,
}

fn place(extreme: Option<Extreme>) -> Option<[usize; 2]> {
    extreme.map(|extreme| [extreme.row, extreme.col])
}

impl ErrorBound {
    /// Of a result.
    pub fn of(done: &Done) -> ErrorBound {
        let errors = &done.result.errors;
        ErrorBound {
            largest: errors.largest.map(|extreme| extreme.value),
            largest_at: place(errors.largest),
            relative: errors.relative.map(|extreme| extreme.value),
            relative_at: place(errors.relative),
            exact: errors.exact,
            vanished: errors.vanished,
            unbounded: errors.unbounded,
        }
    }
}

impl SampleRow {
    /// Of a result.
    pub fn of(done: &Done) -> SampleRow {
        SampleRow {
            elements: done.sample.elements,
            beyond: done.sample.beyond,
            error: done.sample.error,
            error_to_magnitude: done.sample.error_to_magnitude(),
        }
    }
}

/// The table for the screen.
pub fn table(done: &Done) -> Table {
    let column = |name, description| TableColumn {
        name,
        unit: "",
        description,
        align: Align::Right,
    };
    let number = |value: Option<f64>| value.map_or("none".to_owned(), |value| format!("{value:.3e}"));
    let at = |place: Option<[usize; 2]>| place.map_or(String::new(), |[r, c]| format!("{r}, {c}"));
    let bound = ErrorBound::of(done);
    let sample = &done.sample;
    Table {
        columns: vec![
            column(
                "largest bound",
                "no element is further from the exact one than this: what cutting values lost, and each rounding",
            ),
            column("at", "that element's row and column, from 0"),
            column(
                "relative bound",
                "the largest bound divided by its own element; large where an element's terms nearly cancel",
            ),
            column("at", "that element's row and column"),
            column("exact", "elements whose bound is 0"),
            column(
                "vanished",
                "elements that are 0 with a bound above 0: there is no relative one",
            ),
            column(
                "unbounded",
                "elements without a bound: beyond the largest double or nearly, or NaN of two infinities",
            ),
        ],
        rows: vec![vec![
            number(bound.largest),
            at(bound.largest_at),
            number(bound.relative),
            at(bound.relative_at),
            bound.exact.to_string(),
            bound.vanished.to_string(),
            bound.unbounded.to_string(),
        ]],
        notes: vec![format!(
            "{} of A B {} computed anew on the host, without rounding: none is further off than its bound. \
             The largest error is {:.3e}, and {:.3e} of the same element of |A| |B|.{}",
            match sample.elements {
                1 => "1 seeded element".to_owned(),
                many => format!("{many} seeded elements"),
            },
            if sample.elements == 1 { "was" } else { "were" },
            sample.error,
            sample.error_to_magnitude(),
            match sample.beyond {
                0 => String::new(),
                beyond => format!(" {beyond} of them are beyond the largest double and have no error."),
            }
        )],
    }
}
