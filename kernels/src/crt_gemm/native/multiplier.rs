//! The library's product as it is timed.

use super::kernel::{A, B, C, element, gemm, holds, setup};
use crate::crt_gemm::Matrix;
use crate::crt_gemm::problem::Geometry;
use crate::crt_gemm::production::{Element, Multiplier};
use crate::library::GemmKind;
use crate::workload::{BufferId, Setup, Step};

/// What the library is asked for, for the variant of that name.
pub struct NativeMultiplier {
    /// The variant.
    pub variant: String,
    /// What is multiplied.
    pub kind: GemmKind,
}

impl Multiplier for NativeMultiplier {
    fn setup(&self, geometry: Geometry) -> Setup {
        setup(&self.variant, std::iter::once(geometry))
    }

    fn inputs(&self) -> [BufferId; 2] {
        [A, B]
    }

    fn result(&self) -> BufferId {
        C
    }

    fn steps(&self, geometry: &Geometry) -> Vec<Step> {
        vec![Step::Gemm(gemm(geometry, self.kind))]
    }

    /// The element is within its roundings of the exact one.
    fn confirm(&self, at: &Element, _evidence: &[Vec<u32>]) -> Result<(), String> {
        let depth = at.line.len();
        let matrix = |rows, cols, values: &[f64]| Matrix {
            rows,
            cols,
            values: values.to_vec(),
        };
        let (row, column) = (matrix(1, depth, at.line), matrix(depth, 1, at.column));
        holds(at.value, element(self.kind, &row, &column, 0, 0))
    }
}
