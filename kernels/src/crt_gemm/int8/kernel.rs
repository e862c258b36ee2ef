//! A build of the INT8 product with its launch.

use std::sync::Arc;

use super::cases::Bytes;
use crate::crt_gemm::native::source as library_source;
use crate::crt_gemm::options::VariantFile;
use crate::crt_gemm::problem::{Plane, Shape, Side};
use crate::crt_gemm::source::{entry, int8_text};
use crate::crt_gemm::tiling::{LIBRARY_TILES, Tile, Tiling};
use crate::crt_gemm::words;
use crate::library::{Gemm, GemmKind, Library, Operand, S8_MULTIPLE};
use crate::workload::{Argument, Buffer, BufferId, Launch, Setup, Source, Step};

/// A, padded.
pub const A: BufferId = BufferId(0);
/// B along K, padded.
pub const B: BufferId = BufferId(1);
/// The sums.
pub const C: BufferId = BufferId(2);

/// What C holds before it is written.
pub const STALE: u32 = 0xdead_beef;

/// A build of a variant.
#[derive(Clone)]
pub struct Int8Kernel {
    /// The variant.
    pub file: Arc<VariantFile>,
    name: String,
    /// `None` where the vendor's library multiplies.
    tiling: Option<Tiling>,
}

/// The INT8 product of two matrices and how its result lies.
#[derive(Debug, Clone)]
pub struct Int8Problem {
    /// A, row after row.
    pub a: Bytes,
    /// B, column after column.
    pub b: Bytes,
    /// Sums between the rows of C.
    pub gap: usize,
}

impl Int8Problem {
    /// Its shape.
    pub fn shape(&self) -> Shape {
        Shape {
            rows: self.a.lines,
            cols: self.b.lines,
            depth: self.a.depth,
        }
    }
}

impl Int8Kernel {
    /// A build of the variant `name`.
    pub fn new(name: &str, file: Arc<VariantFile>, tiling: Option<Tiling>) -> Int8Kernel {
        Int8Kernel {
            file,
            name: name.to_owned(),
            tiling,
        }
    }

    /// Its CUDA text.
    pub fn source(&self) -> Source {
        let Some(tiling) = &self.tiling else {
            return library_source(&self.name);
        };
        Source {
            file: format!("crt-gemm-{}.cu", self.name),
            text: int8_text(tiling),
            defines: vec![],
            entry: entry(self.file.options.kernel),
            helpers: vec![],
            options: vec![],
        }
    }

    /// What the matrices are padded to.
    fn tile(&self) -> Tile {
        self.tiling.map_or(LIBRARY_TILES, |tiling| tiling.tile)
    }

    /// Columns of C that are written: the library's with what B is padded by, or with all of the gap where there is no K for it.
    pub fn written(&self, problem: &Int8Problem) -> usize {
        match self.tiling {
            Some(_) => problem.b.lines,
            None if problem.a.depth == 0 => self.c_stride(problem),
            None => self.tile().plane(problem.shape(), Side::B).lines,
        }
    }

    /// Sums from one row of C to the next.
    pub fn c_stride(&self, problem: &Int8Problem) -> usize {
        match self.tiling {
            Some(_) => problem.b.lines + problem.gap,
            None => (problem.b.lines + problem.gap).next_multiple_of(S8_MULTIPLE),
        }
    }

    /// Words of C.
    pub fn c_words(&self, problem: &Int8Problem) -> usize {
        problem.a.lines * self.c_stride(problem)
    }

    /// What to build, with buffers for each of `problems`.
    pub fn setup<'p>(&self, problems: impl Iterator<Item = &'p Int8Problem>) -> Setup {
        let mut most = [0; 3];
        for problem in problems {
            let padded = |side| words::for_bytes(self.tile().plane(problem.shape(), side).bytes());
            let words = [padded(Side::A), padded(Side::B), self.c_words(problem)];
            for (most, words) in most.iter_mut().zip(words) {
                *most = (*most).max(words);
            }
        }
        let buffers = ["A", "B", "C"]
            .into_iter()
            .zip(most)
            .map(|(name, words)| Buffer {
                name,
                words,
                fill: STALE,
            })
            .collect();
        Setup {
            source: self.source(),
            native: None,
            library: self.tiling.is_none().then_some(Library::Cublas),
            buffers,
        }
    }

    /// Copies of A and B, padded with zeros to whole tiles.
    pub fn uploads(&self, problem: &Int8Problem) -> Vec<Step> {
        let padded = |side, matrix: &Bytes| {
            let plane = self.tile().plane(problem.shape(), side);
            let mut bytes = vec![0u8; plane.bytes()];
            for (line, values) in matrix.values.chunks(matrix.depth.max(1)).enumerate() {
                for (k, &value) in values.iter().enumerate() {
                    bytes[plane.at(line, k)] = value as u8;
                }
            }
            words::of_bytes(&bytes)
        };
        vec![
            Step::Upload {
                buffer: A,
                words: padded(Side::A, &problem.a),
            },
            Step::Upload {
                buffer: B,
                words: padded(Side::B, &problem.b),
            },
        ]
    }

    /// The multiplication; none without elements.
    pub fn multiplication(&self, problem: &Int8Problem) -> Option<Step> {
        let shape = problem.shape();
        if shape.elements() == 0 {
            return None;
        }
        let [a, b] = [Side::A, Side::B].map(|side| self.tile().plane(shape, side));
        let stride = self.c_stride(problem);
        let Some(tiling) = &self.tiling else {
            return Some(library_call(shape.rows, a, b, stride));
        };
        let product = [shape.rows, shape.cols, stride, a.lines, b.lines, a.depth];
        Some(Step::Launch(Launch {
            entry: entry(self.file.options.kernel),
            grid: tiling.grid(shape),
            block: tiling.block(),
            shared_bytes: tiling.shared_bytes(),
            arguments: vec![
                Argument::Words(product.map(|v| v as u32).to_vec()),
                Argument::Buffer(A),
                Argument::Buffer(B),
                Argument::Buffer(C),
            ],
        }))
    }
}

/// The library's product. It counts columns first, so it is told to form the transposed one, whose columns are C's rows; lines
/// along K are columns to it. It takes no empty K: that leaves zeros.
fn library_call(rows: usize, a: Plane, b: Plane, stride: usize) -> Step {
    if a.depth == 0 {
        return Step::Clear {
            buffer: C,
            words: rows * stride,
            value: 0,
        };
    }
    let operand = |buffer, leading, transposed| Operand {
        buffer,
        offset: 0,
        leading,
        transposed,
    };
    Step::Gemm(Gemm {
        stage: "gemm",
        kind: GemmKind::S8,
        m: b.lines,
        n: rows,
        k: a.depth,
        a: operand(B, b.depth, true),
        b: operand(A, a.depth, false),
        c: operand(C, stride, false),
    })
}
