//! Tiles of the kernels with tensor cores.

use super::options::{KernelKind, Scheme, TileSize, VariantFile};
use super::problem::{Plane, Shape, Side};
use crate::library::S8_MULTIPLE;

/// Rows, columns and K that a block takes at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// Rows of A.
    pub rows: usize,
    /// Columns of B.
    pub cols: usize,
    /// K, in bytes.
    pub depth: usize,
}

/// Those of the two-slice scheme.
pub const SPLIT2_TILES: Tile = Tile {
    rows: 128,
    cols: 64,
    depth: 32,
};

/// What the vendor's INT8 product takes.
pub const LIBRARY_TILES: Tile = Tile {
    rows: S8_MULTIPLE,
    cols: S8_MULTIPLE,
    depth: S8_MULTIPLE,
};

/// Those of the kernel by warpgroups.
const WGMMA_TILES: Tile = Tile {
    rows: 128,
    cols: 256,
    depth: 128,
};

impl Tile {
    /// A matrix along K, padded to whole tiles.
    pub fn plane(self, shape: Shape, side: Side) -> Plane {
        let (lines, depth) = self.padded(shape, side);
        Plane::by_lines(lines, depth)
    }

    /// Lines and K of a matrix, padded to whole tiles.
    pub fn padded(self, shape: Shape, side: Side) -> (usize, usize) {
        let lines = match side {
            Side::A => shape.rows.next_multiple_of(self.rows),
            Side::B => shape.cols.next_multiple_of(self.cols),
        };
        (lines, shape.depth.next_multiple_of(self.depth))
    }
}

/// How a block with tensor cores is made up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tiling {
    /// Its tile.
    pub tile: Tile,
    /// Rows and columns of a warp.
    pub warp: (usize, usize),
    /// Tiles in shared memory.
    pub stages: u32,
    /// Warps that copy and do not multiply.
    pub copying_warps: u32,
    /// Bytes of shared memory beside the stages.
    pub beside: u32,
}

/// That of a variant; `None` for one without tensor cores.
pub fn tiling(file: &VariantFile) -> Option<Tiling> {
    let stages = file.launch.stages?;
    let int8 = |cols| Tile {
        rows: 128,
        cols,
        depth: 64,
    };
    let options = file.options;
    if options.kernel == KernelKind::Wgmma {
        return Some(Tiling {
            tile: WGMMA_TILES,
            // A quarter of what a warpgroup multiplies.
            warp: (16, 256),
            stages,
            copying_warps: 4,
            // The remainders, a row of which is 16 bytes longer than a tile's, and two barriers a stage.
            beside: (WGMMA_TILES.rows * (WGMMA_TILES.cols + 16)) as u32 + 16 * stages,
        });
    }
    let (tile, warp) = match (options.kernel, options.scheme, options.tile) {
        (KernelKind::Naive | KernelKind::Cublas | KernelKind::Wgmma, ..) => return None,
        (KernelKind::Mma, Scheme::Split2, _) => (SPLIT2_TILES, (32, 32)),
        (KernelKind::Mma | KernelKind::S8s8s32, _, Some(TileSize::Wide)) => (int8(256), (64, 64)),
        (KernelKind::Mma | KernelKind::S8s8s32, ..) => (int8(128), (64, 32)),
    };
    Some(Tiling {
        tile,
        warp,
        stages,
        copying_warps: 0,
        beside: 0,
    })
}

impl Tiling {
    /// Threads a block.
    pub fn block(&self) -> u32 {
        let warps = (self.tile.rows / self.warp.0) * (self.tile.cols / self.warp.1);
        32 * (warps as u32 + self.copying_warps)
    }

    /// Shared memory of a block.
    pub fn shared_bytes(&self) -> u32 {
        self.stages * ((self.tile.rows + self.tile.cols) * self.tile.depth) as u32 + self.beside
    }

    /// Blocks of a product: one a tile of C.
    pub fn grid(&self, shape: Shape) -> u32 {
        let [a, b] = [Side::A, Side::B].map(|side| self.tile.plane(shape, side));
        (a.lines / self.tile.rows * (b.lines / self.tile.cols)) as u32
    }

    /// Its numbers, for the CUDA text.
    pub fn defines(&self) -> String {
        let Tile { rows, cols, depth } = self.tile;
        format!(
            "#define TILE_ROWS {rows}\n#define TILE_COLS {cols}\n#define TILE_DEPTH {depth}\n#define TILE_WARP_ROWS {}\n\
             #define TILE_WARP_COLS {}\n#define TILE_STAGES {}\n#define BLOCK {}\n#define SHARED_BYTES {}\n\n",
            self.warp.0,
            self.warp.1,
            self.stages,
            self.block(),
            self.shared_bytes()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Tiling> {
        tiling(&VariantFile::parse(text).unwrap())
    }

    #[test]
    fn every_tiling_has_eight_warps_and_fits_a_card() {
        let texts = [
            include_str!("../../../variants/crt-gemm/mma.toml"),
            include_str!("../../../variants/crt-gemm/s8s8s32-128x128.toml"),
            include_str!("../../../variants/crt-gemm/s8s8s32-128x256.toml"),
        ];
        for text in texts {
            let tiling = of(text).unwrap();
            assert_eq!(tiling.block(), 256);
            // What a block may have on sm_86, the least of the cards since sm_80.
            assert!(tiling.shared_bytes() <= 99 * 1024, "{tiling:?}");
        }
        assert_eq!(
            of(include_str!("../../../variants/crt-gemm/naive-tiles.toml")),
            None
        );
    }

    #[test]
    fn the_tiling_by_warpgroups_fits_a_hopper_block() {
        let tiling = of(include_str!("../../../variants/crt-gemm/moduli-wgmma.toml")).unwrap();
        assert_eq!((tiling.block(), tiling.stages), (384, 4));
        assert!(tiling.shared_bytes() <= 227 * 1024, "{}", tiling.shared_bytes());
    }

    #[test]
    fn a_grid_covers_what_is_padded() {
        let tiling = of(include_str!("../../../variants/crt-gemm/mma.toml")).unwrap();
        let grid = |rows, cols| tiling.grid(Shape { rows, cols, depth: 1 });
        assert_eq!(
            (
                grid(1, 1),
                grid(128, 64),
                grid(129, 64),
                grid(128, 65),
                grid(0, 5)
            ),
            (1, 1, 2, 2, 0)
        );
    }
}
