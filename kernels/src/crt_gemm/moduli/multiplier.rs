//! The scheme of N moduli as it is timed.

use super::buffers::Place;
use super::confirm::Claim;
use super::kernel::ModuliKernel;
use crate::crt_gemm::Refusal;
use crate::crt_gemm::problem::{Geometry, Shape, Side};
use crate::crt_gemm::production::{Element, Multiplier};
use crate::workload::{BufferId, Setup, Step};

/// A build with its count of moduli.
pub struct ModuliMultiplier {
    kernel: ModuliKernel,
    count: usize,
}

impl ModuliMultiplier {
    /// The build `kernel` for a K.
    ///
    /// # Errors
    /// When it is beyond what 32-bit sums or the moduli hold.
    pub fn new(kernel: ModuliKernel, depth: usize) -> Result<ModuliMultiplier, Refusal> {
        Ok(ModuliMultiplier {
            count: kernel.count(depth)?,
            kernel,
        })
    }
}

impl Multiplier for ModuliMultiplier {
    fn setup(&self, geometry: Geometry) -> Setup {
        self.kernel.setup(std::iter::once((geometry, self.count)))
    }

    fn inputs(&self) -> [BufferId; 2] {
        [Place::Values(Side::A).id(), Place::Values(Side::B).id()]
    }

    fn result(&self) -> BufferId {
        Place::C.id()
    }

    fn steps(&self, geometry: &Geometry) -> Vec<Step> {
        self.kernel.steps(geometry, self.count)
    }

    /// The exponents, under which elements are computed anew. That they are the right ones is what a validation proves.
    fn evidence(&self, shape: Shape) -> Vec<(BufferId, usize)> {
        vec![
            (Place::Exponents(Side::A).id(), shape.rows),
            (Place::Exponents(Side::B).id(), shape.cols),
        ]
    }

    fn confirm(&self, element: &Element, evidence: &[Vec<u32>]) -> Result<(), String> {
        let exponent = |side: Side, line: usize| evidence[side as usize][line] as i32;
        let claim = Claim {
            row: element.row,
            col: element.col,
            value: element.value,
            exponents: (exponent(Side::A, element.row), exponent(Side::B, element.col)),
        };
        claim.holds(element.line.to_vec(), element.column.to_vec(), self.count)
    }
}
