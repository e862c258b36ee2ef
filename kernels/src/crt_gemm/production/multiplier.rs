//! The seam between a scheme and the products that are timed.

use crate::crt_gemm::problem::{Geometry, Shape};
use crate::workload::{BufferId, Setup, Step};

/// An element of C as a device computed it.
pub struct Element<'e> {
    /// Its row.
    pub row: usize,
    /// Its column.
    pub col: usize,
    /// Its value.
    pub value: f64,
    /// The row of A, K values.
    pub line: &'e [f64],
    /// The column of B.
    pub column: &'e [f64],
}

/// How a scheme multiplies, and what it promises of an element.
pub trait Multiplier: Send + Sync {
    /// What to build, with buffers for a product.
    fn setup(&self, geometry: Geometry) -> Setup;
    /// The buffers of A and of B.
    fn inputs(&self) -> [BufferId; 2];
    /// That of C, row after row.
    fn result(&self) -> BufferId;
    /// The steps of one product of what lies in the buffers.
    fn steps(&self, geometry: &Geometry) -> Vec<Step>;
    /// What [`Multiplier::confirm`] needs besides C: buffers with how many words of each.
    fn evidence(&self, shape: Shape) -> Vec<(BufferId, usize)> {
        let _ = shape;
        Vec::new()
    }
    /// Hold an element against the host's own answer.
    ///
    /// # Errors
    /// What the host has instead, in a sentence that goes on from the value.
    fn confirm(&self, element: &Element, evidence: &[Vec<u32>]) -> Result<(), String>;
}
