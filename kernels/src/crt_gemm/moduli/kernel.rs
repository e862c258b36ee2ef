//! A build of a variant's kernels with the steps that make a product.

use std::sync::Arc;

use super::buffers::Place;
use super::choose::choose;
use super::numbers::{self, SUM_WORDS};
use super::scaling::Bound;
use super::table::ACCUMULATOR_DEPTH;
use super::text::{CONVERSION_BLOCK, entry, helpers, text};
use crate::crt_gemm::options::VariantFile;
use crate::crt_gemm::problem::{Plane, Problem, Shape, Side, Strides};
use crate::crt_gemm::tiling::{Tile, tiling};
use crate::crt_gemm::{Refusal, words};
use crate::workload::{Argument, Buffer, Launch, Setup, Source, Step};

/// Neighbours along K that a thread of the conversions takes.
const RUN: usize = 16;
/// Neighbours in a row of C that a thread of the remainder theorem takes.
const ELEMENTS: usize = 4;
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

const SIDES: [Side; 2] = [Side::A, Side::B];

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
            options: vec![],
        }
    }

    /// The bytes of one of the matrices, of one modulus.
    pub fn plane(&self, shape: Shape, side: Side) -> Plane {
        tiling(&self.file)
            .map_or(NAIVE_TILES, |tiling| tiling.tile)
            .plane(shape, side)
    }

    /// Words of a buffer that a product with `count` moduli uses.
    pub fn words_of(&self, place: Place, problem: &Problem, count: usize) -> usize {
        let shape = problem.shape();
        match place {
            Place::Values(side) => 2 * problem.stored(side).len(),
            Place::Tops(side) | Place::Exponents(side) => lines(shape, side),
            Place::Bounds(side) => 2 * lines(shape, side),
            Place::Magnitudes(_) if self.bound() == Bound::Fast => 0,
            Place::Magnitudes(side) => words::for_bytes(self.plane(shape, side).bytes()),
            Place::Residues(side) => words::for_bytes(count * self.plane(shape, side).bytes()),
            Place::Remainders => words::for_bytes(count * shape.rows * pitch(shape)),
            Place::C => 2 * shape.rows * problem.c_stride(),
            Place::Status => 1,
            _ if !self.trace => 0,
            Place::Cuts(side) => 4 * lines(shape, side) * shape.depth,
            Place::Accumulators => count * shape.elements(),
            Place::Sums => SUM_WORDS * shape.elements(),
        }
    }

    /// What to build, with buffers for each of `problems` and its count of moduli.
    pub fn setup<'p>(&self, problems: impl Iterator<Item = (&'p Problem, usize)>) -> Setup {
        let mut most = [0; Place::ALL.len()];
        for (problem, count) in problems {
            for (most, place) in most.iter_mut().zip(Place::ALL) {
                *most = (*most).max(self.words_of(place, problem, count));
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
            buffers,
        }
    }

    /// The steps of a product, in data-flow order. Without elements there are no launches for them.
    pub fn steps(&self, shape: Shape, strides: [Strides; 2], c_stride: usize, count: usize) -> Vec<Step> {
        let mut steps = vec![clear(Place::Status, 1)];
        let mut launches = Vec::new();
        for side in SIDES {
            // Both grow by atomic operations.
            steps.push(clear(Place::Tops(side), lines(shape, side)));
            steps.push(clear(Place::Bounds(side), 2 * lines(shape, side)));
            launches.push(self.tops(shape, side, strides[side as usize]));
        }
        for side in SIDES {
            launches.push(self.rounded_up(shape, side, strides[side as usize]));
        }
        if self.bound() == Bound::Accurate {
            launches.push(self.bound_product(shape));
        }
        for side in SIDES {
            launches.push(self.exponents(shape, side, count));
            launches.push(self.residues(shape, side, strides[side as usize], count));
        }
        launches.push(self.product(shape, count));
        launches.push(self.crt(shape, c_stride, count));
        steps.extend(
            launches
                .into_iter()
                .filter(|launch| launch.grid > 0)
                .map(Step::Launch),
        );
        steps
    }

    fn tops(&self, shape: Shape, side: Side, strides: Strides) -> Launch {
        let arguments = vec![
            Argument::Buffer(Place::Values(side).id()),
            self.lines(shape, side, strides),
            Argument::Buffer(Place::Tops(side).id()),
            Argument::Buffer(Place::Status.id()),
        ];
        self.conversion(entry::TOPS, self.plane(shape, side).bytes() / RUN, arguments)
    }

    /// Magnitudes, or sums of their squares.
    fn rounded_up(&self, shape: Shape, side: Side, strides: Strides) -> Launch {
        let (entry, to) = match self.bound() {
            Bound::Accurate => (entry::MAGNITUDES, Place::Magnitudes(side)),
            Bound::Fast => (entry::SQUARES, Place::Bounds(side)),
        };
        let arguments = vec![
            Argument::Buffer(Place::Values(side).id()),
            self.lines(shape, side, strides),
            Argument::Buffer(Place::Tops(side).id()),
            Argument::Buffer(to.id()),
        ];
        self.conversion(entry, self.plane(shape, side).bytes() / RUN, arguments)
    }

    fn bound_product(&self, shape: Shape) -> Launch {
        let arguments = vec![
            self.product_words(shape),
            Argument::Buffer(Place::Magnitudes(Side::A).id()),
            Argument::Buffer(Place::Magnitudes(Side::B).id()),
            Argument::Buffer(Place::Bounds(Side::A).id()),
            Argument::Buffer(Place::Bounds(Side::B).id()),
        ];
        self.multiplication(entry::BOUND, shape, 1, arguments)
    }

    fn exponents(&self, shape: Shape, side: Side, count: usize) -> Launch {
        let lines = lines(shape, side);
        let arguments = vec![
            Argument::U32(lines as u32),
            Argument::Words(numbers::half(count)),
            Argument::Buffer(Place::Tops(side).id()),
            Argument::Buffer(Place::Bounds(side).id()),
            Argument::Buffer(Place::Exponents(side).id()),
        ];
        self.conversion(entry::EXPONENTS, lines, arguments)
    }

    fn residues(&self, shape: Shape, side: Side, strides: Strides, count: usize) -> Launch {
        let arguments = vec![
            Argument::Buffer(Place::Values(side).id()),
            self.lines(shape, side, strides),
            Argument::Words(numbers::moduli(count)),
            Argument::Buffer(Place::Exponents(side).id()),
            Argument::Buffer(Place::Residues(side).id()),
            self.traced(Place::Cuts(side)),
        ];
        self.conversion(entry::RESIDUES, self.plane(shape, side).bytes() / RUN, arguments)
    }

    fn product(&self, shape: Shape, count: usize) -> Launch {
        let arguments = vec![
            self.product_words(shape),
            Argument::Words(numbers::moduli(count)),
            Argument::Buffer(Place::Residues(Side::A).id()),
            Argument::Buffer(Place::Residues(Side::B).id()),
            Argument::Buffer(Place::Remainders.id()),
            self.traced(Place::Accumulators),
        ];
        self.multiplication(entry::PRODUCT, shape, count, arguments)
    }

    fn crt(&self, shape: Shape, c_stride: usize, count: usize) -> Launch {
        let elements = [shape.rows, shape.cols, pitch(shape), c_stride];
        let arguments = vec![
            Argument::Words(elements.map(|v| v as u32).to_vec()),
            Argument::Words(numbers::theorem(count)),
            Argument::Buffer(Place::Remainders.id()),
            Argument::Buffer(Place::Exponents(Side::A).id()),
            Argument::Buffer(Place::Exponents(Side::B).id()),
            Argument::Buffer(Place::Status.id()),
            Argument::Buffer(Place::C.id()),
            self.traced(Place::Sums),
        ];
        self.conversion(entry::CRT, shape.rows * shape.cols.div_ceil(ELEMENTS), arguments)
    }

    /// A launch of so many threads.
    fn conversion(&self, entry: &'static str, threads: usize, arguments: Vec<Argument>) -> Launch {
        Launch {
            entry,
            grid: threads.div_ceil(CONVERSION_BLOCK as usize) as u32,
            block: CONVERSION_BLOCK,
            shared_bytes: 0,
            arguments,
        }
    }

    /// A launch of `products` products.
    fn multiplication(
        &self,
        entry: &'static str,
        shape: Shape,
        products: usize,
        arguments: Vec<Argument>,
    ) -> Launch {
        let (grid, block, shared_bytes) = match tiling(&self.file) {
            Some(tiling) => (
                tiling.grid(shape) * products as u32,
                tiling.block(),
                tiling.shared_bytes(),
            ),
            None => {
                let block = self.file.launch.block.unwrap_or(CONVERSION_BLOCK);
                let threads = products * shape.elements();
                (threads.div_ceil(block as usize) as u32, block, 0)
            }
        };
        Launch {
            entry,
            grid,
            block,
            shared_bytes,
            arguments,
        }
    }

    /// `Lines` of the CUDA text.
    fn lines(&self, shape: Shape, side: Side, strides: Strides) -> Argument {
        let plane = self.plane(shape, side);
        let words = [
            lines(shape, side),
            shape.depth,
            strides.line,
            strides.depth,
            plane.lines,
            plane.depth,
        ];
        Argument::Words(words.map(|v| v as u32).to_vec())
    }

    /// `Product` of the CUDA text.
    fn product_words(&self, shape: Shape) -> Argument {
        let [a, b] = SIDES.map(|side| self.plane(shape, side));
        let words = [shape.rows, shape.cols, a.lines, b.lines, a.depth, pitch(shape)];
        Argument::Words(words.map(|v| v as u32).to_vec())
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

fn clear(place: Place, words: usize) -> Step {
    Step::Clear {
        buffer: place.id(),
        words,
        value: 0,
    }
}
