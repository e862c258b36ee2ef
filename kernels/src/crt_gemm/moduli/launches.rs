//! The launches of a product, and the calls of the library where it multiplies.

use super::buffers::Place;
use super::kernel::{ModuliKernel, SIDES, clear, lines, pitch};
use super::numbers;
use super::scaling::Bound;
use super::text::{CONVERSION_BLOCK, crt_by_tensor_cores, entry, strip};
use crate::crt_gemm::problem::{Plane, Shape, Side, Strides};
use crate::crt_gemm::tiling::tiling;
use crate::library::{Gemm, GemmKind, Operand};
use crate::workload::{Argument, Launch, Step};

/// Lines and neighbours along K that a block of the conversions takes.
const BLOCK_LINES: usize = 32;
const BLOCK_DEPTH: usize = 128;
/// Lines that a block takes where it makes bytes of norms: one a warp.
const NORM_LINES: usize = CONVERSION_BLOCK as usize / 32;
/// Neighbours in a row of C that a thread takes: of sums, and of elements.
const ELEMENTS: usize = 4;
/// Rows and columns of the library's sums that a thread bounds.
const SIDE: usize = 16;

impl ModuliKernel {
    /// The library's products of so many planes; none where it does not multiply.
    pub(super) fn gemms(
        &self,
        stage: &'static str,
        shape: Shape,
        count: usize,
        bytes: impl Fn(Side) -> Place,
    ) -> Vec<Step> {
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
            stage,
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

    /// Each line's top, with `blocks` the norms too.
    pub(super) fn tops(&self, shape: Shape, side: Side, strides: Strides) -> Launch {
        let mut arguments = vec![
            Argument::Buffer(Place::Values(side).id()),
            self.lines(shape, side, strides),
            Argument::Buffer(Place::Tops(side).id()),
        ];
        let entry = match self.bound() {
            Bound::Fast | Bound::Accurate => entry::TOPS,
            Bound::Blocks => {
                arguments.push(Argument::Buffer(Place::Norms(side).id()));
                entry::NORMS
            }
        };
        arguments.push(Argument::Buffer(Place::Status.id()));
        self.conversion(entry, self.blocks(shape, side), arguments)
    }

    /// Magnitudes or bytes of norms, or sums of squares of magnitudes.
    pub(super) fn rounded_up(&self, shape: Shape, side: Side, strides: Strides) -> Launch {
        let of_values = (Place::Values(side), self.lines(shape, side, strides));
        let conversions = self.blocks(shape, side);
        let (entry, blocks, (from, lines), to) = match self.bound() {
            Bound::Fast => (entry::SQUARES, conversions, of_values, Place::Bounds(side)),
            Bound::Accurate => (entry::MAGNITUDES, conversions, of_values, Place::Magnitudes(side)),
            Bound::Blocks => {
                let norms = self.bound_shape(shape);
                let strides = Strides {
                    line: norms.depth,
                    depth: 1,
                };
                (
                    entry::NORM_BYTES,
                    self.norm_blocks(shape, side),
                    (Place::Norms(side), self.lines(norms, side, strides)),
                    Place::Magnitudes(side),
                )
            }
        };
        let arguments = vec![
            Argument::Buffer(from.id()),
            lines,
            Argument::Buffer(Place::Tops(side).id()),
            Argument::Buffer(to.id()),
        ];
        self.conversion(entry, blocks, arguments)
    }

    /// The product whose sums bound those of `shape`: [`ModuliKernel::bound_shape`].
    pub(super) fn bound_product(&self, shape: Shape) -> Launch {
        let bounds = SIDES.map(|side| Argument::Buffer(Place::Bounds(side).id()));
        let mut arguments = vec![self.product_words(shape)];
        if self.by_library() {
            arguments.push(Argument::Buffer(Place::Accumulators.id()));
            arguments.extend(bounds);
            let squares = pitch(shape) / SIDE * shape.rows.div_ceil(SIDE);
            return self.conversion(entry::BOUND, blocks_of(squares), arguments);
        }
        arguments.extend(SIDES.map(|side| Argument::Buffer(Place::Magnitudes(side).id())));
        arguments.extend(bounds);
        self.multiplication(entry::BOUND, shape, 1, arguments)
    }

    pub(super) fn exponents(&self, shape: Shape, side: Side, count: usize) -> Launch {
        let lines = lines(shape, side);
        let arguments = vec![
            Argument::U32(lines as u32),
            Argument::Words(numbers::half(count)),
            Argument::Buffer(Place::Tops(side).id()),
            Argument::Buffer(Place::Bounds(side).id()),
            Argument::Buffer(Place::Exponents(side).id()),
        ];
        self.conversion(entry::EXPONENTS, blocks_of(lines), arguments)
    }

    pub(super) fn residues(&self, shape: Shape, side: Side, strides: Strides, count: usize) -> Launch {
        let arguments = vec![
            Argument::Buffer(Place::Values(side).id()),
            self.lines(shape, side, strides),
            Argument::Words(numbers::moduli(count, self.file.residues())),
            Argument::Buffer(Place::Tops(side).id()),
            Argument::Buffer(Place::Exponents(side).id()),
            Argument::Buffer(Place::Status.id()),
            Argument::Buffer(Place::Residues(side).id()),
            self.traced(Place::Integers(side)),
        ];
        self.conversion(entry::RESIDUES, self.blocks(shape, side), arguments)
    }

    pub(super) fn product(&self, shape: Shape, count: usize) -> Launch {
        let mut arguments = vec![
            self.product_words(shape),
            Argument::Words(numbers::moduli(count, self.file.residues())),
        ];
        let remainders = Argument::Buffer(Place::Remainders.id());
        if self.by_library() {
            arguments.extend([Argument::Buffer(Place::Accumulators.id()), remainders]);
            let fours = count * shape.rows * pitch(shape) / ELEMENTS;
            return self.conversion(entry::PRODUCT, blocks_of(fours), arguments);
        }
        arguments.extend(SIDES.map(|side| Argument::Buffer(Place::Residues(side).id())));
        arguments.extend([remainders, self.traced(Place::Accumulators)]);
        self.multiplication(entry::PRODUCT, shape, count, arguments)
    }

    pub(super) fn crt(&self, shape: Shape, c_stride: usize, count: usize) -> Launch {
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
        let parts = self.crt_parts(shape);
        let (blocks, block) = if crt_by_tensor_cores(&self.file) {
            (parts.div_ceil(strip::WARPS), 32 * strip::WARPS as u32)
        } else {
            (parts, CONVERSION_BLOCK)
        };
        Launch {
            block,
            ..self.conversion(entry::CRT, blocks, arguments)
        }
    }

    /// What the theorem's kernel takes one by one: a block elements of a row, or a warp a strip of several.
    pub(super) fn crt_parts(&self, shape: Shape) -> usize {
        let Shape { rows, cols, .. } = shape;
        if crt_by_tensor_cores(&self.file) {
            rows.div_ceil(strip::ROWS) * cols.div_ceil(strip::COLS)
        } else {
            rows * blocks_of(cols.div_ceil(ELEMENTS))
        }
    }

    /// Blocks that convert a matrix, padding and all.
    pub(super) fn blocks(&self, shape: Shape, side: Side) -> usize {
        let Plane { lines, depth, .. } = self.plane(shape, side);
        lines.div_ceil(BLOCK_LINES) * depth.div_ceil(BLOCK_DEPTH)
    }

    /// Blocks that make bytes of a matrix's norms, padding and all.
    pub(super) fn norm_blocks(&self, shape: Shape, side: Side) -> usize {
        let Plane { lines, depth, .. } = self.plane(self.bound_shape(shape), side);
        lines.div_ceil(NORM_LINES) * depth.div_ceil(BLOCK_DEPTH)
    }

    /// A launch of so many blocks.
    fn conversion(&self, entry: &'static str, blocks: usize, arguments: Vec<Argument>) -> Launch {
        Launch {
            entry,
            grid: blocks as u32,
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
                (tiling.grid(shape) * products as u32).min(self.file.launch.in_flight.unwrap_or(u32::MAX)),
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

/// Blocks that have so many threads.
fn blocks_of(threads: usize) -> usize {
    threads.div_ceil(CONVERSION_BLOCK as usize)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::crt_gemm::Matrix;
    use crate::crt_gemm::options::VariantFile;
    use crate::crt_gemm::problem::Problem;

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
            let buffers = kernel.setup(std::iter::once((problem.geometry(), count))).buffers;
            let steps = kernel.steps(&problem.geometry(), count);
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
        let steps = kernel.steps(&problem.geometry(), 1);
        assert!(!steps.iter().any(|step| matches!(step, Step::Gemm(_))));
        let cleared = Step::Clear {
            buffer: Place::Accumulators.id(),
            words: 32,
            value: 0,
        };
        assert_eq!(steps.iter().filter(|step| **step == cleared).count(), 2);
    }
}
