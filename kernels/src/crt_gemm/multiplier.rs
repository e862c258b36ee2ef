//! The two-slice scheme as it is timed.

use super::kernel::{Kernel, Place};
use super::problem::Geometry;
use super::production::{Element, Multiplier};
use super::split2::{Pass, pass_sum, scale, slices};
use crate::workload::{BufferId, Setup, Step};

impl Multiplier for Kernel {
    fn setup(&self, geometry: Geometry) -> Setup {
        Kernel::setup(self, std::iter::once(geometry))
    }

    fn inputs(&self) -> [BufferId; 2] {
        [Place::A.id(), Place::B.id()]
    }

    fn result(&self) -> BufferId {
        Place::C.id()
    }

    fn steps(&self, geometry: &Geometry) -> Vec<Step> {
        self.launches(geometry)
    }

    /// The element is that of the host's integers, bit for bit.
    fn confirm(&self, element: &Element, _evidence: &[Vec<u32>]) -> Result<(), String> {
        let cut = |line: &[f64], slice| -> Vec<i64> {
            // The values are seeded and at most one.
            line.iter()
                .map(|&v| slices(v).map_or(0, |slices| slices.get(slice)))
                .collect()
        };
        let sum = |pass: Pass| pass_sum(&cut(element.line, pass.a), &cut(element.column, pass.b)) as i64;
        let expected = scale(Pass::ALL.map(sum));
        if expected.to_bits() == element.value.to_bits() {
            return Ok(());
        }
        Err(format!("the host has {expected:e}"))
    }
}
