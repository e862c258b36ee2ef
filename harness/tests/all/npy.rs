//! NumPy's .npy files, written and read by hand.

use std::path::Path;

/// A matrix of a test, by its values.
#[derive(Clone, PartialEq, Debug)]
pub struct Matrix {
    pub rows: usize,
    pub cols: usize,
    /// Row after row.
    pub values: Vec<f64>,
}

impl Matrix {
    pub fn from_fn(rows: usize, cols: usize, value: impl Fn(usize, usize) -> f64) -> Matrix {
        let places = (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c)));
        Matrix {
            rows,
            cols,
            values: places.map(|(r, c)| value(r, c)).collect(),
        }
    }

    /// Values that look random, in -1 to 1, and depend on `seed`.
    pub fn seeded(rows: usize, cols: usize, seed: u64) -> Matrix {
        let mut numbers = assay_kernels::seeded::Seeded::new(seed);
        let values = (0..rows * cols).map(|_| (numbers.bits() >> 11) as f64 / 2f64.powi(52) - 1.0);
        Matrix {
            rows,
            cols,
            values: values.collect(),
        }
    }

    pub fn at(&self, r: usize, c: usize) -> f64 {
        self.values[r * self.cols + c]
    }

    pub fn transposed(&self) -> Matrix {
        Matrix::from_fn(self.cols, self.rows, |r, c| self.at(c, r))
    }

    /// Its file in C order.
    pub fn file(&self) -> Vec<u8> {
        npy("<f8", false, &self.shape(), &bytes(&self.values))
    }

    /// Its file in Fortran order.
    pub fn fortran_file(&self) -> Vec<u8> {
        npy("<f8", true, &self.shape(), &bytes(&self.transposed().values))
    }

    pub fn shape(&self) -> String {
        format!("({}, {})", self.rows, self.cols)
    }
}

pub fn bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// A file of version 1.0.
pub fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    with_header(&header, data)
}

/// A file of version 1.0 whose header is `header`, padded as NumPy pads it.
pub fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
    let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((length as u16).to_le_bytes());
    file.extend(format!("{header:<width$}\n", width = length - 1).bytes());
    file.extend(data);
    file
}

/// The matrix of a file in C order that this program wrote.
pub fn read(path: &Path) -> Matrix {
    let file = std::fs::read(path).unwrap();
    assert!(file.starts_with(b"\x93NUMPY\x01\x00"));
    let end = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
    assert_eq!(end % 64, 0, "values are aligned as NumPy aligns them");
    let header = std::str::from_utf8(&file[10..end]).unwrap();
    assert!(header.contains("'descr': '<f8'") && header.contains("'fortran_order': False"));
    let shape = header.split_once("'shape': (").unwrap().1;
    let sides: Vec<usize> = shape[..shape.find(')').unwrap()]
        .split(',')
        .map(|side| side.trim().parse().unwrap())
        .collect();
    let values = file[end..].as_chunks::<8>().0.iter();
    Matrix {
        rows: sides[0],
        cols: sides[1],
        values: values.map(|bytes| f64::from_le_bytes(*bytes)).collect(),
    }
}
