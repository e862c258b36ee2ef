//! A build of a variant's kernels with the launches that make a product.

use std::sync::Arc;

use super::options::{Layout, VariantFile};
use super::problem::{Geometry, Plane, Shape, Side, Strides};
use super::source::{RESIDUES, entry, text};
use super::split2::{ACCUMULATOR_DEPTH, FOLD_DEPTH, PRIMES, Pass};
use super::tiling::{SPLIT2_TILES, tiling};
use super::{Refusal, words};
use crate::workload::{Argument, Buffer, BufferId, Launch, Setup, Source, Step};

/// Planes of residues of a matrix: two slices, seven primes.
pub const PLANES: usize = 2 * PRIMES.len();
/// What a residue buffer holds before it is written: no zero, so that padding must be.
pub const POISON: u32 = 0x5555_5555;
/// What a trace holds where nothing was written.
pub const UNFORMED: u32 = 0xdead_beef;
/// What C holds before it is written: a NaN of two such words.
pub const STALE: u32 = 0xfff4_dead;
/// Bit of the status for a K that the signed fold cannot take. The kernels set the bits below it.
pub const FOLD_BOUND: u32 = 4;

/// Threads a block of the kernel that cuts a matrix.
const RESIDUE_BLOCK: u32 = 256;

/// The buffers, in the order of their indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A as doubles.
    A,
    /// B as doubles.
    B,
    /// Residues of A.
    ResiduesA,
    /// Residues of B.
    ResiduesB,
    /// The result.
    C,
    /// Why the product is refused, or 0.
    Status,
    /// Trace: the slices of A.
    SlicesA,
    /// Trace: the slices of B.
    SlicesB,
    /// Trace: 32-bit sums, for each pass and prime.
    Accumulators,
    /// Trace: those modulo the prime.
    Mods,
    /// Trace: 64-bit sums, for each pass.
    Sums,
}

impl Place {
    /// All of them.
    pub const ALL: [Place; 11] = [
        Place::A,
        Place::B,
        Place::ResiduesA,
        Place::ResiduesB,
        Place::C,
        Place::Status,
        Place::SlicesA,
        Place::SlicesB,
        Place::Accumulators,
        Place::Mods,
        Place::Sums,
    ];

    /// Its buffer.
    pub fn id(self) -> BufferId {
        BufferId(self as usize)
    }

    fn name(self) -> &'static str {
        match self {
            Place::A => "A",
            Place::B => "B",
            Place::ResiduesA => "residues of A",
            Place::ResiduesB => "residues of B",
            Place::C => "C",
            Place::Status => "status",
            Place::SlicesA => "slices of A",
            Place::SlicesB => "slices of B",
            Place::Accumulators => "accumulators",
            Place::Mods => "remainders",
            Place::Sums => "sums",
        }
    }

    /// What it holds before it is written.
    pub fn fill(self) -> u32 {
        match self {
            Place::A | Place::B | Place::Status => 0,
            Place::ResiduesA | Place::ResiduesB => POISON,
            Place::C => STALE,
            Place::SlicesA | Place::SlicesB | Place::Accumulators | Place::Mods | Place::Sums => UNFORMED,
        }
    }

    /// Whether only a trace build writes it.
    pub fn is_trace(self) -> bool {
        self.fill() == UNFORMED
    }
}

/// A build of a variant.
#[derive(Clone)]
pub struct Kernel {
    /// The variant.
    pub file: Arc<VariantFile>,
    /// Whether it keeps every layer.
    pub trace: bool,
    name: String,
}

impl Kernel {
    /// A build of the variant `name`.
    pub fn new(name: &str, file: Arc<VariantFile>, trace: bool) -> Kernel {
        Kernel {
            file,
            trace,
            name: name.to_owned(),
        }
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
            entry: entry(self.file.options.kernel),
            helpers: vec![RESIDUES],
            options: vec![],
        }
    }

    /// The residues of one of the matrices.
    pub fn plane(&self, shape: Shape, side: Side) -> Plane {
        match (self.file.options.layout, side) {
            (Layout::Plain, Side::A) => Plane::by_lines(shape.rows, shape.depth),
            (Layout::Plain, Side::B) => Plane::by_depth(shape.cols, shape.depth),
            (Layout::Tiles | Layout::Blocks, side) => SPLIT2_TILES.plane(shape, side),
        }
    }

    /// Words of a buffer that a product uses.
    pub fn words_of(&self, place: Place, geometry: &Geometry) -> usize {
        let shape = geometry.shape;
        let residues = |side| words::for_bytes(PLANES * self.plane(shape, side).bytes());
        let passes = Pass::ALL.len();
        match place {
            Place::Status => 1,
            Place::A => 2 * geometry.doubles(Side::A),
            Place::B => 2 * geometry.doubles(Side::B),
            Place::C => 2 * geometry.c_doubles(),
            Place::ResiduesA => residues(Side::A),
            Place::ResiduesB => residues(Side::B),
            _ if !self.trace => 0,
            Place::SlicesA => 4 * shape.rows * shape.depth,
            Place::SlicesB => 4 * shape.cols * shape.depth,
            Place::Accumulators | Place::Mods => passes * PRIMES.len() * shape.elements(),
            Place::Sums => 2 * passes * shape.elements(),
        }
    }

    /// What to build, with buffers for each product.
    pub fn setup(&self, products: impl Iterator<Item = Geometry>) -> Setup {
        let mut most = [0; Place::ALL.len()];
        for geometry in products {
            for (most, place) in most.iter_mut().zip(Place::ALL) {
                *most = (*most).max(self.words_of(place, &geometry));
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
            library: None,
            buffers,
        }
    }

    /// The status that the host knows before anything runs: [`FOLD_BOUND`] or nothing.
    ///
    /// # Errors
    /// When K is so large that not even the sums of residues fit.
    pub fn status(depth: usize) -> Result<u32, Refusal> {
        if depth > ACCUMULATOR_DEPTH {
            return Err(Refusal::Accumulator {
                depth,
                bound: ACCUMULATOR_DEPTH,
            });
        }
        Ok(if depth > FOLD_DEPTH { FOLD_BOUND } else { 0 })
    }

    /// The launches of a product: A's residues, B's, and the multiplication. Without elements there is none.
    pub fn launches(&self, geometry: &Geometry) -> Vec<Step> {
        let shape = geometry.shape;
        let steps = [
            self.residues(shape, Side::A, geometry.strides(Side::A)),
            self.residues(shape, Side::B, geometry.strides(Side::B)),
            self.multiplication(shape, geometry.c_stride()),
        ];
        steps.into_iter().flatten().map(Step::Launch).collect()
    }

    fn residues(&self, shape: Shape, side: Side, strides: Strides) -> Option<Launch> {
        let plane = self.plane(shape, side);
        let (lines, values, residues, slices) = match side {
            Side::A => (shape.rows, Place::A, Place::ResiduesA, Place::SlicesA),
            Side::B => (shape.cols, Place::B, Place::ResiduesB, Place::SlicesB),
        };
        let lines = [
            lines,
            shape.depth,
            strides.line,
            strides.depth,
            plane.lines,
            plane.depth,
            plane.line,
            plane.step,
        ];
        (plane.bytes() > 0).then(|| Launch {
            entry: RESIDUES,
            grid: plane.bytes().div_ceil(RESIDUE_BLOCK as usize) as u32,
            block: RESIDUE_BLOCK,
            shared_bytes: 0,
            arguments: vec![
                Argument::Buffer(values.id()),
                Argument::Words(lines.map(|v| v as u32).to_vec()),
                Argument::Buffer(residues.id()),
                Argument::Buffer(Place::Status.id()),
                self.traced(slices),
            ],
        })
    }

    fn multiplication(&self, shape: Shape, c_stride: usize) -> Option<Launch> {
        let (a, b) = (self.plane(shape, Side::A), self.plane(shape, Side::B));
        let product = [
            shape.rows,
            shape.cols,
            shape.depth,
            c_stride,
            a.lines,
            b.lines,
            a.depth,
        ];
        let (grid, block) = self.grid(shape);
        (shape.elements() > 0).then(|| Launch {
            entry: entry(self.file.options.kernel),
            grid,
            block,
            shared_bytes: tiling(&self.file).map_or(0, |tiling| tiling.shared_bytes()),
            arguments: vec![
                Argument::Words(product.map(|v| v as u32).to_vec()),
                Argument::Buffer(Place::ResiduesA.id()),
                Argument::Buffer(Place::ResiduesB.id()),
                Argument::Buffer(Place::C.id()),
                Argument::Buffer(Place::Status.id()),
                self.traced(Place::Accumulators),
                self.traced(Place::Mods),
                self.traced(Place::Sums),
            ],
        })
    }

    /// Blocks and threads a block of the multiplication.
    fn grid(&self, shape: Shape) -> (u32, u32) {
        match tiling(&self.file) {
            Some(tiling) => (tiling.grid(shape), tiling.block()),
            None => {
                let block = self.file.launch.block.unwrap_or(RESIDUE_BLOCK);
                (shape.elements().div_ceil(block as usize) as u32, block)
            }
        }
    }

    /// A trace buffer; a production build, which does not touch it, gets the status in its place.
    fn traced(&self, place: Place) -> Argument {
        Argument::Buffer(if self.trace {
            place.id()
        } else {
            Place::Status.id()
        })
    }
}
