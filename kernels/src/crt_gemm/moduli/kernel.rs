//! A build of a variant's kernels with the steps that make a product.

use std::sync::Arc;

use super::buffers::Place;
use super::choose::choose;
use super::numbers::SUM_WORDS;
use super::scaling::Bound;
use super::table::ACCUMULATOR_DEPTH;
use super::text::{entry, helpers, text};
use crate::crt_gemm::options::{KernelKind, Layout, VariantFile};
use crate::crt_gemm::problem::{BLOCK_DEPTH, Geometry, Plane, Shape, Side};
use crate::crt_gemm::tiling::{LIBRARY_TILES, Tile, tiling};
use crate::crt_gemm::{Refusal, words};
use crate::library::Library;
use crate::workload::{Buffer, Setup, Source, Step};

/// A row of remainders starts at a multiple of so many bytes.
const PITCH: usize = 16;
/// Padding of the residues for one thread an element: not needed there, but proved there.
const NAIVE_TILES: Tile = Tile {
    rows: 32,
    cols: 32,
    depth: 32,
};

/// A build of a variant.
#[derive(Clone)]
pub struct ModuliKernel {
    /// The variant.
    pub file: Arc<VariantFile>,
    /// Whether it keeps every layer.
    pub trace: bool,
    name: String,
}

/// The same in blocks of K.
const NAIVE_BLOCKS: Tile = Tile {
    depth: BLOCK_DEPTH,
    ..NAIVE_TILES
};
/// How many moduli a product takes, by the exact rule.
///
/// # Errors
/// When K is beyond what 32-bit sums hold, or the bits beyond the table.
pub fn moduli_for(depth: usize, bits: u32) -> Result<usize, Refusal> {
    if depth > ACCUMULATOR_DEPTH {
        return Err(Refusal::Accumulator {
            depth,
            bound: ACCUMULATOR_DEPTH,
        });
    }
    choose(depth, bits)
}

/// Bytes from one row of remainders to the next.
pub fn pitch(shape: Shape) -> usize {
    shape.cols.next_multiple_of(PITCH)
}

/// Lines along K of a matrix.
pub fn lines(shape: Shape, side: Side) -> usize {
    match side {
        Side::A => shape.rows,
        Side::B => shape.cols,
    }
}

/// Both matrices.
pub const SIDES: [Side; 2] = [Side::A, Side::B];

impl ModuliKernel {
    /// A build of the variant `name`.
    pub fn new(name: &str, file: Arc<VariantFile>, trace: bool) -> ModuliKernel {
        ModuliKernel {
            file,
            trace,
            name: name.to_owned(),
        }
    }

    /// What bounds the sums.
    pub fn bound(&self) -> Bound {
        self.file.bound()
    }

    /// How many moduli a product of `depth` takes.
    ///
    /// # Errors
    /// As [`moduli_for`].
    pub fn count(&self, depth: usize) -> Result<usize, Refusal> {
        moduli_for(depth, self.file.bits())
    }

    /// Its CUDA text.
    pub fn source(&self) -> Source {
        Source {
            file: format!("crt-gemm-{}.cu", self.name),
            text: text(&self.file),
            defines: if self.trace {
                vec!["ASSAY_TRACE".to_owned()]
            } else {
                vec![]
            },
            entry: entry::PRODUCT,
            helpers: helpers(self.bound()),
            options: if self.file.options.kernel == KernelKind::Wgmma {
                // What Hopper has and later cards have not.
                vec!["--gpu-architecture=sm_90a".to_owned()]
            } else {
                vec![]
            },
        }
    }

    /// The bytes of one of the matrices, of one modulus.
    pub fn plane(&self, shape: Shape, side: Side) -> Plane {
        let tile = match tiling(&self.file) {
            Some(tiling) => tiling.tile,
            None if self.by_library() => LIBRARY_TILES,
            None if self.file.options.layout == Layout::Blocks => NAIVE_BLOCKS,
            None => NAIVE_TILES,
        };
        match self.file.options.layout {
            Layout::Blocks => {
                let (lines, depth) = tile.padded(shape, side);
                Plane::by_blocks(lines, depth)
            }
            Layout::Tiles | Layout::Plain => tile.plane(shape, side),
        }
    }

    /// The shape of the product that bounds the sums.
    pub fn bound_shape(&self, shape: Shape) -> Shape {
        Shape {
            depth: shape.depth.div_ceil(self.bound().neighbours()),
            ..shape
        }
    }

    /// Whether the vendor's library multiplies.
    pub fn by_library(&self) -> bool {
        self.file.options.kernel == KernelKind::Cublas
    }

    /// Whether this build writes a buffer. The library's sums are no trace: they are what it leaves.
    pub fn writes(&self, place: Place) -> bool {
        self.trace || !place.is_trace() || (place == Place::Accumulators && self.by_library())
    }

    /// Sums from one row of accumulators to the next.
    pub fn accumulator_pitch(&self, shape: Shape) -> usize {
        if self.by_library() {
            pitch(shape)
        } else {
            shape.cols
        }
    }

    /// Words of a buffer that a product with `count` moduli uses.
    pub fn words_of(&self, place: Place, geometry: &Geometry, count: usize) -> usize {
        let shape = geometry.shape;
        match place {
            Place::Values(side) => 2 * geometry.doubles(side),
            Place::Tops(side) | Place::Exponents(side) => lines(shape, side),
            Place::Bounds(side) => 2 * lines(shape, side),
            Place::Norms(side) if self.bound() == Bound::Blocks => {
                lines(shape, side) * self.bound_shape(shape).depth
            }
            Place::Magnitudes(side) if self.bound().by_product() => {
                words::for_bytes(self.plane(self.bound_shape(shape), side).bytes())
            }
            Place::Norms(_) | Place::Magnitudes(_) => 0,
            Place::Residues(side) => words::for_bytes(count * self.plane(shape, side).bytes()),
            Place::Remainders => words::for_bytes(count * shape.rows * pitch(shape)),
            Place::C => 2 * geometry.c_doubles(),
            Place::Status => 1,
            place if !self.writes(place) => 0,
            Place::Integers(side) => 4 * lines(shape, side) * shape.depth,
            Place::Accumulators => count * shape.rows * self.accumulator_pitch(shape),
            Place::Sums => SUM_WORDS * shape.elements(),
        }
    }

    /// What to build, with buffers for each product and its count of moduli.
    pub fn setup(&self, products: impl Iterator<Item = (Geometry, usize)>) -> Setup {
        let mut most = [0; Place::ALL.len()];
        for (geometry, count) in products {
            for (most, place) in most.iter_mut().zip(Place::ALL) {
                *most = (*most).max(self.words_of(place, &geometry, count));
            }
        }
        let buffers = Place::ALL
            .into_iter()
            .zip(most)
            .map(|(place, words)| Buffer {
                name: place.name(),
                words,
                fill: place.fill(),
            })
            .collect();
        Setup {
            source: self.source(),
            native: None,
            library: self.by_library().then_some(Library::Cublas),
            buffers,
        }
    }

    /// The steps of a product, in data-flow order. Without elements there are no launches for them.
    pub fn steps(&self, geometry: &Geometry, count: usize) -> Vec<Step> {
        let shape = geometry.shape;
        let strides = SIDES.map(|side| geometry.strides(side));
        let mut steps = vec![clear(Place::Status, 1)];
        for side in SIDES {
            // Both grow by atomic operations.
            steps.push(clear(Place::Tops(side), lines(shape, side)));
            steps.push(clear(Place::Bounds(side), 2 * lines(shape, side)));
            steps.push(Step::Launch(self.tops(shape, side, strides[side as usize])));
        }
        for side in SIDES {
            steps.push(Step::Launch(self.rounded_up(shape, side, strides[side as usize])));
        }
        if self.bound().by_product() {
            let shape = self.bound_shape(shape);
            steps.extend(self.gemms("bound gemm", shape, 1, Place::Magnitudes));
            steps.push(Step::Launch(self.bound_product(shape)));
        }
        for side in SIDES {
            steps.push(Step::Launch(self.exponents(shape, side, count)));
            steps.push(Step::Launch(self.residues(
                shape,
                side,
                strides[side as usize],
                count,
            )));
        }
        steps.extend(self.gemms("residue gemm", shape, count, Place::Residues));
        steps.push(Step::Launch(self.product(shape, count)));
        steps.push(Step::Launch(self.crt(shape, geometry.c_stride(), count)));
        steps.retain(|step| !matches!(step, Step::Launch(launch) if launch.grid == 0));
        steps
    }
}

/// A buffer's first words, zero.
pub fn clear(place: Place, words: usize) -> Step {
    Step::Clear {
        buffer: place.id(),
        words,
        value: 0,
    }
}
