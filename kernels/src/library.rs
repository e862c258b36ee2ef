//! Calls of the card's vendor's library of matrix products, cuBLAS, as a batch may have them among its launches.
//!
//! The conventions are the library's own: matrices lie column after column, and a leading dimension is the distance from one
//! column to the next, in elements. C = op(A) op(B): alpha is 1 and beta 0, so C is written and never read.

use crate::workload::BufferId;

/// A vendor's library that a workload calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Library {
    /// NVIDIA's cuBLAS.
    Cublas,
    /// The same with its fixed-point emulation of doubles, which older ones have not.
    CublasFixedPoint,
}

/// What is multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GemmKind {
    /// Doubles: `cublasDgemm`.
    F64,
    /// Doubles by the library's own emulation from integers: `cublasDgemm` in its mode `CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH`,
    /// eager, with so many bits of mantissa (in whole bytes, the sign's bit included).
    F64FixedPoint {
        /// Bits of mantissa.
        bits: u32,
    },
    /// Bytes with a sign to 32-bit sums, which wrap: `cublasGemmEx` of `CUDA_R_8I` with `CUBLAS_COMPUTE_32I`.
    S8,
}

/// One matrix of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operand {
    /// The buffer that it lies in.
    pub buffer: BufferId,
    /// Bytes in front of it there.
    pub offset: usize,
    /// Elements from one stored column to the next.
    pub leading: usize,
    /// Whether the stored matrix is the transposed one.
    pub transposed: bool,
}

/// C = op(A) op(B).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gemm {
    /// What it is called for, in a table of the times: `gemm`, `bound gemm`.
    pub stage: &'static str,
    /// What is multiplied.
    pub kind: GemmKind,
    /// Rows of op(A) and C.
    pub m: usize,
    /// Columns of op(B) and C.
    pub n: usize,
    /// Columns of op(A), rows of op(B).
    pub k: usize,
    /// The left matrix.
    pub a: Operand,
    /// The right matrix.
    pub b: Operand,
    /// The result; it cannot be transposed.
    pub c: Operand,
}

/// What the library's INT8 product needs of sizes, leading dimensions and addresses.
pub const S8_MULTIPLE: usize = 16;

/// Why a call is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GemmError {
    /// A size beyond the library's 32-bit integers.
    #[error("{field} = {value}: the library takes 1 to {}", i32::MAX)]
    Size {
        /// Which number.
        field: &'static str,
        /// What it is.
        value: usize,
    },
    /// A leading dimension shorter than a column.
    #[error("{field} = {value}: a stored column has {column} elements, it must be at least that")]
    Leading {
        /// Which number.
        field: &'static str,
        /// What it is.
        value: usize,
        /// The elements of a column.
        column: usize,
    },
    /// A number that the INT8 product has no code for.
    #[error("{field} = {value}: the INT8 product takes multiples of {S8_MULTIPLE}")]
    Multiple {
        /// Which number.
        field: &'static str,
        /// What it is.
        value: usize,
    },
    /// Another order than the INT8 product has code for.
    #[error("{field} must be {right}: the INT8 product takes A transposed and B as it is")]
    Order {
        /// Which matrix.
        field: &'static str,
        /// What it must be.
        right: &'static str,
    },
    /// A matrix that reaches past its buffer.
    #[error("{field} takes {needed} bytes of a buffer of {present}")]
    Buffer {
        /// Which matrix.
        field: &'static str,
        /// Bytes up to its end.
        needed: usize,
        /// Bytes that there are.
        present: usize,
    },
}

impl GemmKind {
    /// Bytes of an element of A or B, and of C.
    pub fn bytes(self) -> (usize, usize) {
        match self {
            GemmKind::F64 | GemmKind::F64FixedPoint { .. } => (8, 8),
            GemmKind::S8 => (1, 4),
        }
    }
}

impl Gemm {
    /// Check everything that the library would refuse, or read past.
    ///
    /// # Errors
    /// The first number that is wrong, and what would be right. `present` says how many bytes a buffer has.
    pub fn check(&self, present: impl Fn(BufferId) -> usize) -> Result<(), GemmError> {
        for (field, value) in [
            ("m", self.m),
            ("n", self.n),
            ("k", self.k),
            ("lda", self.a.leading),
            ("ldb", self.b.leading),
            ("ldc", self.c.leading),
        ] {
            if value == 0 || i32::try_from(value).is_err() {
                return Err(GemmError::Size { field, value });
            }
        }
        if self.kind == GemmKind::S8 {
            self.check_s8()?;
        }
        if self.c.transposed {
            return Err(GemmError::Order {
                field: "C",
                right: "as it is",
            });
        }
        let (input, output) = self.kind.bytes();
        for (field, operand, rows, columns, bytes) in [
            ("A", self.a, self.m, self.k, input),
            ("B", self.b, self.k, self.n, input),
            ("C", self.c, self.m, self.n, output),
        ] {
            let (column, columns) = if operand.transposed {
                (columns, rows)
            } else {
                (rows, columns)
            };
            if operand.leading < column {
                let field = match field {
                    "A" => "lda",
                    "B" => "ldb",
                    _ => "ldc",
                };
                return Err(GemmError::Leading {
                    field,
                    value: operand.leading,
                    column,
                });
            }
            let needed = operand.offset + ((columns - 1) * operand.leading + column) * bytes;
            let present = present(operand.buffer);
            if needed > present {
                return Err(GemmError::Buffer {
                    field,
                    needed,
                    present,
                });
            }
        }
        Ok(())
    }

    fn check_s8(&self) -> Result<(), GemmError> {
        if !self.a.transposed {
            return Err(GemmError::Order {
                field: "A",
                right: "transposed",
            });
        }
        if self.b.transposed {
            return Err(GemmError::Order {
                field: "B",
                right: "as it is",
            });
        }
        let multiples = [
            ("m", self.m),
            ("k", self.k),
            ("lda", self.a.leading),
            ("ldb", self.b.leading),
            ("ldc", self.c.leading),
            ("the offset of A", self.a.offset),
            ("the offset of B", self.b.offset),
            ("the offset of C", self.c.offset),
        ];
        match multiples
            .into_iter()
            .find(|(_, value)| !value.is_multiple_of(S8_MULTIPLE))
        {
            Some((field, value)) => Err(GemmError::Multiple { field, value }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operand(leading: usize, transposed: bool) -> Operand {
        Operand {
            buffer: BufferId(0),
            offset: 0,
            leading,
            transposed,
        }
    }

    fn s8() -> Gemm {
        Gemm {
            stage: "gemm",
            kind: GemmKind::S8,
            m: 32,
            n: 5,
            k: 48,
            a: operand(48, true),
            b: operand(48, false),
            c: operand(32, false),
        }
    }

    #[test]
    fn each_number_that_the_library_refuses_is_named_with_what_is_right() {
        let said = |change: fn(&mut Gemm)| {
            let mut gemm = s8();
            change(&mut gemm);
            gemm.check(|_| 1 << 20).unwrap_err().to_string()
        };
        assert_eq!(s8().check(|_| 1 << 20), Ok(()));
        assert_eq!(said(|g| g.m = 0), "m = 0: the library takes 1 to 2147483647");
        assert_eq!(
            said(|g| g.n = 1 << 31),
            "n = 2147483648: the library takes 1 to 2147483647"
        );
        assert_eq!(
            said(|g| g.k = 40),
            "k = 40: the INT8 product takes multiples of 16"
        );
        assert_eq!(
            said(|g| g.c.leading = 33),
            "ldc = 33: the INT8 product takes multiples of 16"
        );
        assert_eq!(
            said(|g| g.b.offset = 8),
            "the offset of B = 8: the INT8 product takes multiples of 16"
        );
        assert!(said(|g| g.a.transposed = false).starts_with("A must be transposed"));
        assert!(said(|g| g.b.transposed = true).starts_with("B must be as it is"));
        assert_eq!(
            said(|g| g.a.leading = 32),
            "lda = 32: a stored column has 48 elements, it must be at least that"
        );
    }

    #[test]
    fn a_matrix_must_end_in_its_buffer() {
        let gemm = s8();
        // A: 32 columns of 48 bytes; C: 5 columns of 32 sums, of 4 bytes each.
        assert_eq!(gemm.check(|_| 32 * 48), Ok(()));
        assert_eq!(
            gemm.check(|_| 32 * 48 - 1).unwrap_err().to_string(),
            "A takes 1536 bytes of a buffer of 1535"
        );
        let doubles = Gemm {
            kind: GemmKind::F64,
            a: operand(50, true),
            b: operand(48, false),
            ..gemm
        };
        assert_eq!(doubles.check(|_| (31 * 50 + 48) * 8), Ok(()));
        assert!(doubles.check(|_| (31 * 50 + 48) * 8 - 1).is_err());
    }
}
