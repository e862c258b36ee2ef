//! A build of the INT8 product with its launch.

use std::sync::Arc;

use super::cases::Bytes;
use crate::crt_gemm::options::VariantFile;
use crate::crt_gemm::problem::{Shape, Side};
use crate::crt_gemm::source::{entry, int8_text};
use crate::crt_gemm::tiling::Tiling;
use crate::crt_gemm::words;
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
    tiling: Tiling,
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

    /// Sums from one row of C to the next.
    pub fn c_stride(&self) -> usize {
        self.b.lines + self.gap
    }

    /// Words of C.
    pub fn c_words(&self) -> usize {
        self.a.lines * self.c_stride()
    }
}

impl Int8Kernel {
    /// A build of the variant `name`.
    pub fn new(name: &str, file: Arc<VariantFile>, tiling: Tiling) -> Int8Kernel {
        Int8Kernel {
            file,
            name: name.to_owned(),
            tiling,
        }
    }

    /// Its CUDA text.
    pub fn source(&self) -> Source {
        Source {
            file: format!("crt-gemm-{}.cu", self.name),
            text: int8_text(&self.tiling),
            defines: vec![],
            entry: entry(self.file.options.kernel),
            helpers: vec![],
            options: vec![],
        }
    }

    /// What to build, with buffers for each of `problems`.
    pub fn setup<'p>(&self, problems: impl Iterator<Item = &'p Int8Problem>) -> Setup {
        let mut most = [0; 3];
        for problem in problems {
            let padded = |side| words::for_bytes(self.tiling.tile.plane(problem.shape(), side).bytes());
            let words = [padded(Side::A), padded(Side::B), problem.c_words()];
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
            library: None,
            buffers,
        }
    }

    /// Copies of A and B, padded with zeros to whole tiles.
    pub fn uploads(&self, problem: &Int8Problem) -> Vec<Step> {
        let padded = |side, matrix: &Bytes| {
            let plane = self.tiling.tile.plane(problem.shape(), side);
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
        let [a, b] = [Side::A, Side::B].map(|side| self.tiling.tile.plane(shape, side));
        let product = [
            shape.rows,
            shape.cols,
            problem.c_stride(),
            a.lines,
            b.lines,
            a.depth,
        ];
        (shape.elements() > 0).then(|| {
            Step::Launch(Launch {
                entry: entry(self.file.options.kernel),
                grid: self.tiling.grid(shape),
                block: self.tiling.block(),
                shared_bytes: self.tiling.shared_bytes(),
                arguments: vec![
                    Argument::Words(product.map(|v| v as u32).to_vec()),
                    Argument::Buffer(A),
                    Argument::Buffer(B),
                    Argument::Buffer(C),
                ],
            })
        })
    }
}
