//! Matrices in NumPy's .npy files. A header is not believed: what it says is held against the file's length before memory is
//! taken for it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use assay_kernels::multiply::{Dense, Order};
use ndarray_npy::npy::header::{Header, Layout, ParseHeaderError, ReadHeaderError};
use ndarray_npy::{ReadDataError, ReadableElement, WritableElement, WriteDataError};

use crate::exit::Usage;
use crate::memory;

/// Longest header that is read. One of a matrix has 128 bytes; NumPy itself refuses more than this.
const MOST_HEADER: usize = 10_000;
/// Most opening brackets in a header. A matrix of numbers has two, structures have some more. The library tries what is nested in ways
/// whose number doubles with each.
const MOST_BRACKETS: usize = 8;
/// Longest side, so that no number of this program overflows.
const MOST_SIDE: usize = i32::MAX as usize;

/// The matrix of a file: doubles or single-precision numbers, in either byte order, row after row or column after column.
///
/// # Errors
/// A sentence that names the file and what is wrong with it: exit code 2, or 3 where the host has not the memory.
pub fn read(path: &Path) -> anyhow::Result<Dense> {
    let refuse = |why: String| Usage(format!("{}: {why}", path.display()));
    let failed = |error: io::Error| refuse(error.to_string());
    let found = std::fs::metadata(path).map_err(failed)?;
    if !found.is_file() {
        return Err(refuse("it should be a plain file".to_owned()).into());
    }
    let mut file = File::open(path).map_err(failed)?;
    let header = read_header(&mut file).map_err(refuse)?;
    let Header {
        type_descriptor,
        layout,
        shape,
    } = header.parsed;
    // As the library prints it, in quotes.
    let descriptor = type_descriptor.to_string();
    let size = match descriptor.trim_matches('\'') {
        "<f8" | ">f8" => 8,
        "<f4" | ">f4" => 4,
        other => {
            return Err(refuse(format!(
                "its values are {other}: use float64 (<f8 or >f8) or float32 (<f4 or >f4)"
            ))
            .into());
        }
    };
    let &[rows, cols] = shape.as_slice() else {
        return Err(refuse(format!(
            "its shape is {}: a matrix has two dimensions",
            shape_words(&shape)
        ))
        .into());
    };
    if rows.max(cols) > MOST_SIDE {
        return Err(refuse(format!("it is {rows} x {cols}: a side has at most {MOST_SIDE}")).into());
    }
    // Both are below 2^31.
    let needed = (rows * cols) as u128 * size as u128;
    let present = found.len().saturating_sub(header.bytes as u64);
    if needed != u128::from(present) {
        return Err(refuse(format!(
            "its header says {rows} x {cols} values, {needed} bytes, and {present} bytes follow it"
        ))
        .into());
    }
    // Once as they are read, and in 32-bit words on their way to a device.
    let doubles = (rows * cols) as u64 * 8;
    memory::afford(doubles.saturating_mul(2))
        .map_err(|error| anyhow::Error::new(error).context(path.display().to_string()))?;
    let unread = |error: ReadDataError| refuse(error.to_string());
    let values = if size == 8 {
        f64::read_to_end_exact_vec(&mut file, &type_descriptor, rows * cols).map_err(unread)?
    } else {
        let singles = f32::read_to_end_exact_vec(&mut file, &type_descriptor, rows * cols).map_err(unread)?;
        singles.into_iter().map(f64::from).collect()
    };
    let order = match layout {
        Layout::Standard => Order::Rows,
        Layout::Fortran => Order::Columns,
    };
    let matrix = Dense::new(rows, cols, order, values).map_err(|error| refuse(error.to_string()))?;
    if let Some((row, col, value)) = matrix.first_not_finite() {
        return Err(refuse(format!(
            "the value in row {row}, column {col} is {value}: only finite values can be multiplied (both count from 0)"
        ))
        .into());
    }
    Ok(matrix)
}

/// A header that was read.
struct Front {
    parsed: Header,
    /// Its bytes, up to the first value.
    bytes: usize,
}

fn read_header(file: &mut File) -> Result<Front, String> {
    let no_file = || "it is no .npy file".to_owned();
    let mut bytes = vec![0; 10];
    file.read_exact(&mut bytes).map_err(|_| no_file())?;
    if !bytes.starts_with(b"\x93NUMPY") {
        return Err(no_file());
    }
    let mut length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    if bytes[6] > 1 {
        // Later versions have a length of four bytes.
        let mut high = [0; 2];
        file.read_exact(&mut high).map_err(|_| no_file())?;
        bytes.extend(high);
        length |= usize::from(u16::from_le_bytes(high)) << 16;
    }
    if length > MOST_HEADER {
        return Err(format!(
            "its header has {length} bytes: at most {MOST_HEADER} are read"
        ));
    }
    let start = bytes.len();
    bytes.resize(start + length, 0);
    file.read_exact(&mut bytes[start..])
        .map_err(|_| format!("it ends in its header, which should have {length} bytes"))?;
    let count = |of: &[u8]| bytes[start..].iter().filter(|byte| of.contains(byte)).count();
    if count(b"{") > 1 || count(b"([{") > MOST_BRACKETS {
        return Err(format!(
            "its header has more than one `{{` or {MOST_BRACKETS} opening brackets: it is none of a matrix"
        ));
    }
    let parsed = Header::from_reader(&mut bytes.as_slice()).map_err(|error| match error {
        // What the parser says of a text it says in several lines.
        ReadHeaderError::Parse(ParseHeaderError::DictParse(_)) => {
            "its header is no Python dictionary".to_owned()
        }
        error => error.to_string(),
    })?;
    Ok(Front {
        parsed,
        bytes: bytes.len(),
    })
}

/// A shape as NumPy writes it.
fn shape_words(shape: &[usize]) -> String {
    let sides: Vec<String> = shape.iter().map(usize::to_string).collect();
    match sides.as_slice() {
        [one] => format!("({one},)"),
        sides => format!("({})", sides.join(", ")),
    }
}

/// Write a matrix of `shape`, row after row, as doubles.
///
/// # Errors
/// When it cannot be written.
pub fn write(out: &mut impl Write, shape: [usize; 2], values: &[f64]) -> io::Result<()> {
    let header = Header {
        type_descriptor: f64::type_descriptor(),
        layout: Layout::Standard,
        shape: shape.to_vec(),
    };
    header.write(&mut *out).map_err(io::Error::other)?;
    f64::write_slice(values, &mut *out).map_err(|error| match error {
        WriteDataError::Io(error) => error,
        error => io::Error::other(error),
    })?;
    out.flush()
}
