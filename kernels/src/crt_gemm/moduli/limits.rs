//! What one launch can compute: a card counts blocks, and the kernels lines, in 32 bits.

use super::kernel::{ModuliKernel, SIDES};
use super::scaling::Bound;
use super::text::CONVERSION_BLOCK;
use crate::crt_gemm::Refusal;
use crate::crt_gemm::problem::Shape;
use crate::crt_gemm::tiling::tiling;

/// The most blocks of a grid.
const BLOCKS: u128 = i32::MAX as u128;
impl ModuliKernel {
    /// Check that a product with `count` moduli fits the launches of this build.
    ///
    /// # Errors
    /// [`Refusal::Size`] with what there is too much of.
    pub fn check_size(&self, shape: Shape, count: usize) -> Result<(), Refusal> {
        let Shape { rows, cols, .. } = shape;
        shape.check_sides()?;
        // From here on no product of two sides and a count of moduli overflows.
        let within = |blocks| shape.within("blocks of a launch", blocks, BLOCKS);
        for side in SIDES {
            within(self.blocks(shape, side) as u128)?;
            if self.bound() == Bound::Blocks {
                within(self.norm_blocks(shape, side) as u128)?;
            }
        }
        let (elements, count) = (rows as u128 * cols as u128, count as u128);
        within(self.crt_parts(shape) as u128)?;
        let blocks = match tiling(&self.file) {
            Some(tiling) => {
                let tiles = |size: usize, tile: usize| size.div_ceil(tile) as u128;
                tiles(rows, tiling.tile.rows) * tiles(cols, tiling.tile.cols) * count
            }
            None => {
                (elements * count).div_ceil(u128::from(self.file.launch.block.unwrap_or(CONVERSION_BLOCK)))
            }
        };
        within(blocks)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::crt_gemm::options::VariantFile;

    fn kernel(text: &str) -> ModuliKernel {
        ModuliKernel::new("x", Arc::new(VariantFile::parse(text).unwrap()), false)
    }

    #[test]
    fn no_size_overflows_and_what_no_launch_holds_is_refused() {
        for text in [
            include_str!("../../../../variants/crt-gemm/moduli-naive.toml"),
            include_str!("../../../../variants/crt-gemm/moduli-naive-norms.toml"),
            include_str!("../../../../variants/crt-gemm/moduli-mma.toml"),
            include_str!("../../../../variants/crt-gemm/moduli-wgmma.toml"),
            include_str!("../../../../variants/crt-gemm/moduli-cublas.toml"),
        ] {
            let kernel = kernel(text);
            let check = |rows, depth, cols| kernel.check_size(Shape { rows, cols, depth }, 16);
            assert_eq!(check(32_768, 32_768, 32_768), Ok(()));
            assert_eq!(check(0, 0, 0), Ok(()));
            for (rows, depth, cols) in [
                (1 << 31, 0, 1),
                (1, usize::MAX, 0),
                (1 << 30, 0, 1 << 30),
                (1 << 30, 133_144, 1),
                (i32::MAX as usize, 133_144, i32::MAX as usize),
                (usize::MAX, usize::MAX, usize::MAX),
            ] {
                let refused = check(rows, depth, cols);
                assert!(
                    matches!(refused, Err(Refusal::Size { .. })),
                    "{rows} {depth} {cols}: {refused:?}"
                );
            }
        }
    }
}
