//! Reading and writing the record's tables as text.
//!
//! A table has exactly its row type's header. Numbers are written in the shortest form that reads back as the same value,
//! so a row that is read and written again is unchanged.

use csv::{ReaderBuilder, StringRecord, WriterBuilder};

use crate::{Fault, Row};

/// The text of a table, header included. Fails on a number that is not finite, naming its line and column.
pub fn encode_rows<R: Row>(rows: &[R]) -> Result<Vec<u8>, Fault> {
    let mut writer = WriterBuilder::new()
        .delimiter(delimiter::<R>())
        .has_headers(false)
        .from_writer(Vec::new());
    let unwritable = |error: csv::Error| Fault::file(R::FILE, format!("a row cannot be written: {error}"));
    writer
        .write_record(R::COLUMNS.iter().map(|column| column.name))
        .map_err(unwritable)?;
    for row in rows {
        writer.serialize(row).map_err(unwritable)?;
    }
    let text = writer
        .into_inner()
        .map_err(|error| Fault::file(R::FILE, error.to_string()))?;
    for fields in raw_records::<R>(&text)? {
        for (column, value) in R::COLUMNS.iter().zip(&fields) {
            if matches!(value, "NaN" | "inf" | "-inf") {
                return Err(Fault::field(
                    R::FILE,
                    line(&fields),
                    column.name,
                    "should be a finite number",
                ));
            }
        }
    }
    Ok(text)
}

/// The rows of a table's text. Fails, naming line and column, on another header, a missing field, or a value that its column cannot hold.
pub fn decode_rows<R: Row>(text: &[u8]) -> Result<Vec<R>, Fault> {
    let headers: StringRecord = R::COLUMNS.iter().map(|column| column.name).collect();
    let rows = raw_records::<R>(text)?
        .iter()
        .map(|fields| {
            fields
                .deserialize(Some(&headers))
                .map_err(|error| in_field::<R>(line(fields), &error))
        })
        .collect::<Result<Vec<R>, _>>()?;
    // Refuses the numbers that a double cannot hold.
    encode_rows(&rows)?;
    Ok(rows)
}

/// A table's fields as they are written, without its header, which must be the row type's.
pub(crate) fn raw_records<R: Row>(text: &[u8]) -> Result<Vec<StringRecord>, Fault> {
    let mut reader = ReaderBuilder::new().delimiter(delimiter::<R>()).from_reader(text);
    let unreadable = |error: csv::Error| match error.position() {
        Some(position) => Fault::line(R::FILE, position.line(), error.to_string()),
        None => Fault::file(R::FILE, error.to_string()),
    };
    let header = reader.headers().map_err(unreadable)?;
    if !header.iter().eq(R::COLUMNS.iter().map(|column| column.name)) {
        let expected: Vec<_> = R::COLUMNS.iter().map(|column| column.name).collect();
        return Err(Fault::line(
            R::FILE,
            1,
            format!("the header should be `{}`", expected.join(",")),
        ));
    }
    reader
        .records()
        .map(|record| record.map_err(unreadable))
        .collect()
}

/// The line on which a record begins.
pub(crate) fn line(fields: &StringRecord) -> u64 {
    fields.position().map_or(0, csv::Position::line)
}

fn delimiter<R: Row>() -> u8 {
    if R::FILE.ends_with(".tsv") { b'\t' } else { b',' }
}

fn in_field<R: Row>(line: u64, error: &csv::Error) -> Fault {
    let csv::ErrorKind::Deserialize { err, .. } = error.kind() else {
        return Fault::line(R::FILE, line, error.to_string());
    };
    match err
        .field()
        .and_then(|field| R::COLUMNS.get(usize::try_from(field).ok()?))
    {
        Some(column) => Fault::field(R::FILE, line, column.name, err.kind().to_string()),
        None => Fault::line(R::FILE, line, err.kind().to_string()),
    }
}
