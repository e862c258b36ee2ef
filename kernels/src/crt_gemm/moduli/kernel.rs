//! A build of a variant's kernels with the steps that make a product.

use std::sync::Arc;

use super::buffers::Place;
use super::choose::choose;
use super::numbers::{self, SUM_WORDS};
use super::scaling::Bound;
use super::table::ACCUMULATOR_DEPTH;
use super::text::{CONVERSION_BLOCK, entry, helpers, text};
use crate::crt_gemm::options::{KernelKind, VariantFile};
use crate::crt_gemm::problem::{Plane, Problem, Shape, Side, Strides};
use crate::crt_gemm::tiling::{Tile, tiling};
use crate::crt_gemm::{Refusal, words};
use crate::library::{Gemm, GemmKind, Library, Operand, S8_MULTIPLE};
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

/// What the library takes.
const LIBRARY_TILES: Tile = Tile {
    rows: S8_MULTIPLE,
    cols: S8_MULTIPLE,
    depth: S8_MULTIPLE,
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
        let tile = match tiling(&self.file) {
            Some(tiling) => tiling.tile,
            None if self.by_library() => LIBRARY_TILES,
            None => NAIVE_TILES,
        };
        tile.plane(shape, side)
    }

    /// Whether the vendor's library multiplies.
    fn by_library(&self) -> bool {
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
            place if !self.writes(place) => 0,
            Place::Cuts(side) => 4 * lines(shape, side) * shape.depth,
            Place::Accumulators => count * shape.rows * self.accumulator_pitch(shape),
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
            library: self.by_library().then_some(Library::Cublas),
            buffers,
        }
    }

    /// The steps of a product, in data-flow order. Without elements there are no launches for them.
    pub fn steps(&self, shape: Shape, strides: [Strides; 2], c_stride: usize, count: usize) -> Vec<Step> {
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
        if self.bound() == Bound::Accurate {
            steps.extend(self.gemms(shape, 1, Place::Magnitudes));
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
        steps.extend(self.gemms(shape, count, Place::Residues));
        steps.push(Step::Launch(self.product(shape, count)));
        steps.push(Step::Launch(self.crt(shape, c_stride, count)));
        steps.retain(|step| !matches!(step, Step::Launch(launch) if launch.grid == 0));
        steps
    }

    /// The library's products of so many planes; none where it does not multiply.
    fn gemms(&self, shape: Shape, count: usize, bytes: impl Fn(Side) -> Place) -> Vec<Step> {
        if !self.by_library() || shape.elements() == 0 {
            return Vec::new();
        }
        let [a, b] = SIDES.map(|side| self.plane(shape, side));
        let sums = shape.rows * pitch(shape);
        if a.depth == 0 {
            // The library takes no empty K.
            return vec![clear(Place::Accumulators, count * sums)];
        }
        let operand = |side, plane: Plane, number, transposed| Operand {
            buffer: bytes(side).id(),
            offset: number * plane.bytes(),
            leading: plane.depth,
            transposed,
        };
        // The library counts columns first: it forms the transposed product B^T A^T, whose columns are C's rows. Lines along K
        // are columns to it, so B is to be transposed and A taken as it is.
        let gemm = |number| Gemm {
            kind: GemmKind::S8,
            m: b.lines,
            n: shape.rows,
            k: a.depth,
            a: operand(Side::B, b, number, true),
            b: operand(Side::A, a, number, false),
            c: Operand {
                buffer: Place::Accumulators.id(),
                offset: 4 * number * sums,
                leading: pitch(shape),
                transposed: false,
            },
        };
        (0..count).map(|number| Step::Gemm(gemm(number))).collect()
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
        let bounds = SIDES.map(|side| Argument::Buffer(Place::Bounds(side).id()));
        let mut arguments = vec![self.product_words(shape)];
        if self.by_library() {
            arguments.push(Argument::Buffer(Place::Accumulators.id()));
            arguments.extend(bounds);
            let squares = pitch(shape) / RUN * shape.rows.div_ceil(RUN);
            return self.conversion(entry::BOUND, squares, arguments);
        }
        arguments.extend(SIDES.map(|side| Argument::Buffer(Place::Magnitudes(side).id())));
        arguments.extend(bounds);
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
        let mut arguments = vec![self.product_words(shape), Argument::Words(numbers::moduli(count))];
        let remainders = Argument::Buffer(Place::Remainders.id());
        if self.by_library() {
            arguments.extend([Argument::Buffer(Place::Accumulators.id()), remainders]);
            let runs = count * shape.rows * pitch(shape) / RUN;
            return self.conversion(entry::PRODUCT, runs, arguments);
        }
        arguments.extend(SIDES.map(|side| Argument::Buffer(Place::Residues(side).id())));
        arguments.extend([remainders, self.traced(Place::Accumulators)]);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crt_gemm::Matrix;

    fn cublas() -> ModuliKernel {
        let text = include_str!("../../../../variants/crt-gemm/moduli-cublas.toml");
        ModuliKernel::new("x", Arc::new(VariantFile::parse(text).unwrap()), false)
    }

    #[test]
    fn every_shape_gives_the_library_calls_that_it_takes_within_their_buffers() {
        let kernel = cublas();
        for (rows, depth, cols) in [(1, 1, 1), (15, 17, 33), (16, 16, 16), (3, 100, 1), (1, 31, 70)] {
            let problem = Problem::new(
                Matrix::constant(rows, depth, 1.0),
                Matrix::constant(depth, cols, 1.0),
            );
            let count = kernel.count(depth).unwrap();
            let buffers = kernel.setup(std::iter::once((&problem, count))).buffers;
            let strides = SIDES.map(|side| problem.strides(side));
            let steps = kernel.steps(problem.shape(), strides, problem.c_stride(), count);
            let gemms: Vec<Gemm> = steps
                .iter()
                .filter_map(|step| {
                    if let Step::Gemm(gemm) = step {
                        Some(*gemm)
                    } else {
                        None
                    }
                })
                .collect();
            // One bounds the sums.
            assert_eq!(gemms.len(), count + 1);
            for gemm in &gemms {
                assert_eq!(
                    gemm.check(|id| 4 * buffers[id.0].words),
                    Ok(()),
                    "{rows} {depth} {cols}"
                );
                assert_eq!((gemm.n, gemm.m), (rows, cols.next_multiple_of(16)));
            }
            // The last one ends where its buffers do.
            let last = gemms[count];
            let short =
                |id: crate::workload::BufferId| 4 * buffers[id.0].words - usize::from(id == last.c.buffer);
            assert!(last.check(short).is_err());
        }
    }

    #[test]
    fn an_empty_k_calls_no_library_and_leaves_zeros() {
        let kernel = cublas();
        let problem = Problem::new(Matrix::constant(2, 0, 1.0), Matrix::constant(0, 3, 1.0));
        let strides = SIDES.map(|side| problem.strides(side));
        let steps = kernel.steps(problem.shape(), strides, 3, 1);
        assert!(!steps.iter().any(|step| matches!(step, Step::Gemm(_))));
        let cleared = Step::Clear {
            buffer: Place::Accumulators.id(),
            words: 32,
            value: 0,
        };
        assert_eq!(steps.iter().filter(|step| **step == cleared).count(), 2);
    }
}
