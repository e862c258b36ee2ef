//! The library's products on host memory, by plain loops: so that everything around a call of it is proved without a card.
//! Its speed means nothing.

use assay_kernels::library::{Gemm, GemmKind, Operand};
use rayon::prelude::*;

use super::DeviceError;

/// Carry out `gemm` as the library's documentation states it.
///
/// # Errors
/// [`DeviceError::Invalid`] when the library would refuse it, or read or write past a buffer.
pub fn multiply(gemm: &Gemm, buffers: &mut [Vec<u32>]) -> Result<(), DeviceError> {
    gemm.check(|id| buffers.get(id.0).map_or(0, |buffer| 4 * buffer.len()))
        .map_err(|error| DeviceError::Invalid(format!("a call of the library: {error}")))?;
    let Gemm { m, n, k, a, b, c, .. } = *gemm;
    // Element (row, col) of an operand that the call takes as it is or transposed.
    let place = |operand: Operand, row: usize, col: usize| {
        let (row, col) = if operand.transposed {
            (col, row)
        } else {
            (row, col)
        };
        row + col * operand.leading
    };
    let elements = (0..m * n).into_par_iter().map(|at| (at % m, at / m));
    match gemm.kind {
        GemmKind::F64 | GemmKind::F64FixedPoint { .. } => {
            let value = |operand: Operand, row, col| {
                let words = &buffers[operand.buffer.0][operand.offset / 4..];
                let at = 2 * place(operand, row, col);
                f64::from_bits(u64::from(words[at]) | u64::from(words[at + 1]) << 32)
            };
            let element = |(row, col)| (0..k).fold(0.0, |sum, i| sum + value(a, row, i) * value(b, i, col));
            let values: Vec<f64> = elements.map(element).collect();
            let words = &mut buffers[c.buffer.0][c.offset / 4..];
            for (at, value) in values.iter().enumerate() {
                let place = 2 * place(c, at % m, at / m);
                words[place] = value.to_bits() as u32;
                words[place + 1] = (value.to_bits() >> 32) as u32;
            }
        }
        GemmKind::S8 => {
            let value = |operand: Operand, row, col| {
                let byte = operand.offset + place(operand, row, col);
                i32::from(buffers[operand.buffer.0][byte / 4].to_le_bytes()[byte % 4] as i8)
            };
            let element = |(row, col)| {
                (0..k).fold(0i32, |sum, i| {
                    sum.wrapping_add(value(a, row, i) * value(b, i, col))
                })
            };
            let sums: Vec<i32> = elements.map(element).collect();
            let words = &mut buffers[c.buffer.0][c.offset / 4..];
            for (at, &sum) in sums.iter().enumerate() {
                words[place(c, at % m, at / m)] = sum as u32;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use assay_kernels::workload::BufferId;

    use super::*;

    fn operand(buffer: usize, leading: usize, transposed: bool) -> Operand {
        Operand {
            buffer: BufferId(buffer),
            offset: 0,
            leading,
            transposed,
        }
    }

    fn doubles(values: &[f64]) -> Vec<u32> {
        let words = |v: &f64| [v.to_bits() as u32, (v.to_bits() >> 32) as u32];
        values.iter().flat_map(words).collect()
    }

    #[test]
    fn doubles_are_multiplied_column_after_column_in_either_order() {
        // A = [1 2 3; 4 5 6], B = [1; 10; 100]: 321 and 654.
        let b = doubles(&[1.0, 10.0, 100.0]);
        for (values, leading, transposed) in [
            ([1.0, 4.0, 2.0, 5.0, 3.0, 6.0], 2, false),
            ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3, true),
        ] {
            let mut buffers = [doubles(&values), b.clone(), vec![7; 6]];
            let gemm = Gemm {
                stage: "gemm",
                kind: GemmKind::F64,
                m: 2,
                n: 1,
                k: 3,
                a: operand(0, leading, transposed),
                b: operand(1, 3, false),
                c: operand(2, 2, false),
            };
            multiply(&gemm, &mut buffers).unwrap();
            assert_eq!(buffers[2], [doubles(&[321.0, 654.0]), vec![7, 7]].concat());
        }
    }

    #[test]
    fn bytes_keep_their_sign_and_sums_their_place() {
        // Line l of A is 16 times l - 3, all of B's 2 columns are -2: sums of 16 * (l - 3) * -2.
        let bytes = |value: i8| u32::from_le_bytes([value as u8; 4]);
        let a: Vec<u32> = (0..16).flat_map(|line| [bytes(line - 3); 4]).collect();
        let mut buffers = [a, vec![bytes(-2); 8], vec![9; 64]];
        let gemm = Gemm {
            stage: "gemm",
            kind: GemmKind::S8,
            m: 16,
            n: 2,
            k: 16,
            a: operand(0, 16, true),
            b: operand(1, 16, false),
            c: operand(2, 32, false),
        };
        multiply(&gemm, &mut buffers).unwrap();
        let column: Vec<u32> = (0..16).map(|line: i32| (-32 * (line - 3)) as u32).collect();
        assert_eq!(buffers[2][..16], column);
        assert_eq!(buffers[2][16..32], [9; 16]);
        assert_eq!(buffers[2][32..48], column);
        let wrong = Gemm { k: 32, ..gemm };
        assert!(
            multiply(&wrong, &mut buffers)
                .unwrap_err()
                .to_string()
                .contains("lda = 16")
        );
    }
}
