//! Every message that the record claims something about, hashed again.

use std::collections::BTreeMap;

use md5::{Digest, Md5};

use crate::{
    Fault, Hex32, Record, Row, decode_hex, decode_rows, encode_hex,
    record::RecordError,
    rfc1321::{INITIAL, block_words, compress, last_block, le_bytes, message_words},
    rows::{BaseRow, HitRow, RunRow, ValidationRow},
    tables::{line, raw_records},
};

/// How many rows were verified.
pub(super) struct Messages {
    pub(super) hits: usize,
    pub(super) candidates: usize,
}

/// Checks bases.csv, hits.csv and validation.tsv, each if it is there.
pub(super) fn check(record: &Record, runs: Option<&[RunRow]>) -> Result<Messages, RecordError> {
    let mut bases = BTreeMap::new();
    let mut prefixes = BTreeMap::new();
    for_each(record, |base: &BaseRow, at| {
        check_prefix(record, &mut prefixes, base, at)?;
        match bases.insert(base.base, base.clone()) {
            Some(_) => Err(at.fault("base", "is given twice").into()),
            None => Ok(()),
        }
    })?;
    let variants: Option<BTreeMap<u32, &str>> =
        runs.map(|runs| runs.iter().map(|run| (run.trial, run.variant.as_str())).collect());
    let hits = for_each(record, |hit: &HitRow, at| {
        if let (Some(trial), Some(variants)) = (hit.trial, &variants) {
            let variant = variants.get(&trial).ok_or_else(|| {
                at.fault(
                    "trial",
                    format!("is {trial}, which {} does not have", RunRow::FILE),
                )
            })?;
            at.expect("variant", hit.variant.as_str(), variant)?;
        }
        Ok(check_hit(
            hit,
            hit.base.map(|base| base_of(&bases, base, at)).transpose()?,
            at,
        )?)
    })?;
    let candidates = for_each(record, |candidate: &ValidationRow, at| {
        Ok(check_candidate(
            candidate,
            base_of(&bases, candidate.base, at)?,
            at,
        )?)
    })?;
    Ok(Messages { hits, candidates })
}

/// A row's place in the record.
#[derive(Clone, Copy)]
struct At {
    file: &'static str,
    line: u64,
}

impl At {
    fn fault(self, column: &str, problem: impl Into<String>) -> Fault {
        Fault::field(self.file, self.line, column, problem)
    }

    /// Fails unless a field is what it should be.
    fn expect<T: PartialEq + ToString>(self, column: &str, got: T, right: T) -> Result<(), Fault> {
        if got == right {
            return Ok(());
        }
        Err(self.fault(
            column,
            format!("is {}, but should be {}", got.to_string(), right.to_string()),
        ))
    }
}

/// Calls `visit` for each row of a table, if it is there, and returns their number.
fn for_each<R: Row>(
    record: &Record,
    mut visit: impl FnMut(&R, At) -> Result<(), RecordError>,
) -> Result<usize, RecordError> {
    let Some(text) = record.read_file(R::FILE)? else {
        return Ok(0);
    };
    let rows: Vec<R> = decode_rows(&text)?;
    for (row, fields) in rows.iter().zip(raw_records::<R>(&text)?) {
        visit(
            row,
            At {
                file: R::FILE,
                line: line(&fields),
            },
        )?;
    }
    Ok(rows.len())
}

fn base_of(bases: &BTreeMap<u64, BaseRow>, number: u64, at: At) -> Result<&BaseRow, Fault> {
    bases.get(&number).ok_or_else(|| {
        at.fault(
            "base",
            format!("is {number}, which {} does not have", BaseRow::FILE),
        )
    })
}

/// A base's chaining value is MD5's own without a prefix, and follows from the prefix where the record keeps it.
/// `known` holds the chaining values of the prefix files met so far, with their number of blocks.
fn check_prefix(
    record: &Record,
    known: &mut BTreeMap<String, (u64, [u32; 4])>,
    base: &BaseRow,
    at: At,
) -> Result<(), RecordError> {
    let (blocks, chain) = match &base.prefix_file {
        None if base.prefix_blocks > 0 => return Ok(()),
        None => (0, INITIAL),
        Some(name) => match known.get(name) {
            Some(prefix) => *prefix,
            None => {
                let text = record
                    .read_file(name)
                    .map_err(|error| at.fault("prefix_file", error.to_string()))?
                    .ok_or_else(|| {
                        at.fault(
                            "prefix_file",
                            format!("is {name}, which the record does not have"),
                        )
                    })?;
                let (blocks, []) = text.as_chunks::<64>() else {
                    return Err(Fault::file(name, "should be whole blocks of 64 bytes").into());
                };
                let chain = blocks
                    .iter()
                    .fold(INITIAL, |chain, block| compress(chain, &block_words(block)));
                *known.entry(name.clone()).or_insert((blocks.len() as u64, chain))
            }
        },
    };
    at.expect("prefix_blocks", base.prefix_blocks, blocks)?;
    let words = [("a0", base.a0), ("b0", base.b0), ("c0", base.c0), ("d0", base.d0)];
    for ((column, got), right) in words.into_iter().zip(chain) {
        at.expect(column, got, Hex32(right))?;
    }
    Ok(())
}

/// The chaining value and the message words of a base's candidate.
fn candidate(base: &BaseRow, q9: Hex32) -> ([u32; 4], [u32; 13]) {
    let chain = [base.a0, base.b0, base.c0, base.d0].map(|word| word.0);
    let outputs = [
        base.q1, base.q2, base.q3, base.q4, base.q5, base.q6, base.q7, base.q8, q9, base.q10, base.q11,
        base.q12, base.q13,
    ];
    (chain, message_words(chain, outputs.map(|word| word.0)))
}

fn check_candidate(row: &ValidationRow, base: &BaseRow, at: At) -> Result<(), Fault> {
    let (chain, words) = candidate(base, row.q9);
    for (column, got, word) in [("m8", row.m8, 8), ("m9", row.m9, 9), ("m12", row.m12, 12)] {
        at.expect(column, got, Hex32(words[word]))?;
    }
    let digest = match base.prefix_blocks {
        0 => encode_hex(Md5::digest(le_bytes(&words))),
        blocks => encode_hex(le_bytes(&compress(chain, &last_block(words, blocks)))),
    };
    at.expect("digest", &row.digest, &digest)
}

fn check_hit(hit: &HitRow, base: Option<&BaseRow>, at: At) -> Result<(), Fault> {
    let message = decode_hex(&hit.message_hex).map_err(|error| at.fault("message_hex", error.to_string()))?;
    if message.len() % 64 != 52 {
        let problem = format!(
            "has {} bytes, but should have whole blocks of 64 and then 52",
            message.len()
        );
        return Err(at.fault("message_hex", problem));
    }
    if let Some(base) = base {
        check_hit_is_of_base(&message, base, at)?;
    }
    let digest: [u8; 16] = Md5::digest(&message).into();
    at.expect("digest", &hit.digest, &encode_hex(digest))?;
    let zeros = u128::from_be_bytes(digest).leading_zeros();
    at.expect("zeros_bits", hit.zeros_bits, zeros)?;
    at.expect("zeros_hex", hit.zeros_hex, zeros / 4)
}

/// The words that no Q9 changes (m0..m7) are the base's, behind as many blocks as the base has in front.
fn check_hit_is_of_base(message: &[u8], base: &BaseRow, at: At) -> Result<(), Fault> {
    let blocks = (message.len() / 64) as u64;
    if blocks != base.prefix_blocks {
        let problem = format!(
            "has {blocks} blocks in front, but base {} has {}",
            base.base, base.prefix_blocks
        );
        return Err(at.fault("message_hex", problem));
    }
    let (_, words) = candidate(base, Hex32(0));
    let last = &message[message.len() - 52..];
    if last[..32] != le_bytes(&words[..8]) {
        return Err(at.fault(
            "message_hex",
            format!("should have the words m0 to m7 of base {}", base.base),
        ));
    }
    Ok(())
}
