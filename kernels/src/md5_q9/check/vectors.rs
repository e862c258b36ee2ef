//! Vector files: cases that somebody else computed.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::rows::{ORDER_LAYER, RowReader, formed};
use crate::family::{Check, Difference, VectorError, Verdict};
use crate::md5_q9::base::{Base, Prefix, Shape};
use crate::md5_q9::machine::Layer;
use crate::md5_q9::md5::digest_bytes;
use crate::md5_q9::options::Walk;
use crate::md5_q9::workload::{Kernel, ROW, ROW_HEAD, Span, UNFORMED, hex};
use crate::workload::{Batch, Buffer, BufferId, Collected, Fault, Outputs, Setup, Step, Workload};

/// A vector file: bases with candidates.
#[derive(Debug, Clone, Deserialize)]
pub struct VectorFile {
    bases: Vec<VectorBase>,
}

#[derive(Debug, Clone, Deserialize)]
struct VectorBase {
    /// Whether it is meant to be orbit-shaped.
    orbit: bool,
    /// Q1..Q13 without Q9, in hex by number.
    fixed: BTreeMap<String, String>,
    candidates: Vec<VectorCandidate>,
}

#[derive(Debug, Clone, Deserialize)]
struct VectorCandidate {
    q9: String,
    message: String,
    digest: String,
    /// Further values by layer name: m8, m9, m12, and any Q.
    #[serde(flatten)]
    layers: BTreeMap<String, serde_json::Value>,
}

/// A case of the file, with its numbers read.
struct Case {
    q9: u32,
    message: String,
    digest: String,
    words: Vec<(String, u32)>,
}

fn word(text: &str, what: &str) -> Result<u32, VectorError> {
    if text.len() != 8 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(VectorError(format!("{what}: `{text}` is not eight hex digits")));
    }
    u32::from_str_radix(text, 16)
        .map_err(|_| VectorError(format!("{what}: `{text}` is not eight hex digits")))
}

impl VectorFile {
    /// Read a vector file.
    ///
    /// # Errors
    /// When it is not JSON of the expected shape.
    pub fn parse(text: &str) -> Result<VectorFile, VectorError> {
        let file: VectorFile = serde_json::from_str(text)
            .map_err(|error| VectorError(format!("not an md5-q9 vector file: {error}")))?;
        if file.bases.iter().all(|base| base.candidates.is_empty()) {
            return Err(VectorError(
                "not one case: bases[].candidates is empty".to_owned(),
            ));
        }
        Ok(file)
    }

    /// A check for each base.
    ///
    /// # Errors
    /// Names the base and the field that cannot be read.
    pub fn checks(&self, build: impl Fn() -> Kernel) -> Result<Vec<VectorCheck>, VectorError> {
        self.bases
            .iter()
            .enumerate()
            .map(|(i, base)| base.check(i, build()))
            .collect()
    }
}

impl VectorBase {
    fn check(&self, index: usize, kernel: Kernel) -> Result<VectorCheck, VectorError> {
        let mut q = [0; 13];
        for n in (1..=13).filter(|&n| n != 9) {
            let what = format!("bases[{index}].fixed.{n}");
            let text = self
                .fixed
                .get(&n.to_string())
                .ok_or_else(|| VectorError(format!("{what} is missing")))?;
            q[n - 1] = word(text, &what)?;
        }
        if (q[9], q[10]) != (0, u32::MAX) {
            return Err(VectorError(format!(
                "bases[{index}].fixed: the tunnel needs 10 = 00000000, 11 = ffffffff"
            )));
        }
        let base = Base::from_states(format!("vector-{index}"), q, Prefix::none());
        if self.orbit != base.shape.serves(Shape::Orbit) {
            return Err(VectorError(format!(
                "bases[{index}].orbit is {}, but an orbit is 7 = 00000000 with 8 = ffffffff",
                self.orbit
            )));
        }
        let cases = self.candidates.iter().enumerate().map(|(j, candidate)| {
            let what = |field: &str| format!("bases[{index}].candidates[{j}].{field}");
            let words = candidate.layers.iter().map(|(name, value)| {
                let text = value
                    .as_str()
                    .ok_or_else(|| VectorError(format!("{} is not a string", what(name))))?;
                if Quantity::named(name).is_none() {
                    return Err(VectorError(format!("{} is not m0..m15 or q1..q64", what(name))));
                }
                Ok((name.clone(), word(text, &what(name))?))
            });
            Ok(Case {
                q9: word(&candidate.q9, &what("q9"))?,
                message: candidate.message.clone(),
                digest: candidate.digest.clone(),
                words: words.collect::<Result<_, _>>()?,
            })
        });
        let cases = cases.collect::<Result<Vec<_>, _>>()?;
        Ok(VectorCheck {
            kernel,
            base,
            cases,
            covered: Vec::new(),
            reader: RowReader::default(),
        }
        .covering())
    }
}

/// A value that a vector file may give.
enum Quantity {
    Word(usize),
    Q(usize),
}

impl Quantity {
    fn named(name: &str) -> Option<Quantity> {
        let number = |text: &str| text.parse::<usize>().ok();
        match name.split_at_checked(1)? {
            ("m", rest) => number(rest).filter(|k| *k < 16).map(Quantity::Word),
            ("q", rest) => number(rest).filter(|n| (1..=64).contains(n)).map(Quantity::Q),
            _ => None,
        }
    }

    /// The layer in which a kernel of `walk` forms it.
    fn layer(&self, walk: Walk) -> Option<Layer> {
        let layer = match *self {
            Quantity::Word(8) => Layer::M8,
            Quantity::Word(9) => Layer::M9,
            Quantity::Word(12) => Layer::M12,
            Quantity::Q(n) if (25..=61).contains(&n) => Layer::Q(n),
            _ => return None,
        };
        formed(walk, layer).then_some(layer)
    }
}

/// The cases of one base, each a launch of one slot of the trace build.
pub struct VectorCheck {
    kernel: Kernel,
    base: Base,
    cases: Vec<Case>,
    /// Indices of the cases that the variant visits.
    covered: Vec<usize>,
    reader: RowReader,
}

impl VectorCheck {
    fn covering(mut self) -> VectorCheck {
        let walk = self.kernel.walk();
        let shape_fits = self.base.shape.serves(self.kernel.file.options.shape());
        self.covered = (0..self.cases.len())
            .filter(|&i| shape_fits && walk.find(self.cases[i].q9).is_some())
            .collect();
        self
    }

    /// The slots of one case: its own and, in a tunnel, as many behind it as are interleaved, so that the interleaved code runs.
    fn slots(&self, case: usize) -> Option<(u64, u64)> {
        let walk = self.kernel.walk();
        let (slot, _) = walk.find(self.cases[case].q9)?;
        let slots = self.slots_a_case();
        Some((slot.min(walk.slots() - slots), slots))
    }

    fn slots_a_case(&self) -> u64 {
        match self.kernel.walk() {
            Walk::Tunnel => u64::from(self.kernel.file.options.interleave),
            Walk::Orbit => 1,
        }
    }

    fn words(&self) -> usize {
        ROW * (self.slots_a_case() * u64::from(self.kernel.walk().slot_candidates())) as usize
    }

    fn compare(&mut self, case: usize, trace: &[u32]) {
        let walk = self.kernel.walk();
        let Case {
            q9,
            message,
            digest,
            words,
        } = &self.cases[case];
        let candidate = self.base.candidate(*q9);
        let row = trace
            .as_chunks::<ROW>()
            .0
            .iter()
            .find(|row| row[0] != UNFORMED && row[1] == *q9);
        let mut differences = Vec::new();
        let mut differs = |layer: &str, got: String, expected: String| {
            if got != expected {
                differences.push((layer.to_owned(), got, expected));
            }
        };
        for (name, expected) in words {
            let Some(quantity) = Quantity::named(name) else {
                continue;
            };
            let oracle = match quantity {
                Quantity::Word(k) => candidate.words[k],
                Quantity::Q(n) => candidate.q[n - 1],
            };
            differs(
                name,
                format!("{oracle:08x} (host)"),
                format!("{expected:08x} (host)"),
            );
            if let (Some(row), Some(layer)) = (row, quantity.layer(walk)) {
                differs(
                    name,
                    format!("{:08x}", row[ROW_HEAD + layer.index()]),
                    format!("{expected:08x}"),
                );
            }
        }
        differs("message", hex(&self.base.message(*q9)), message.to_lowercase());
        match row {
            Some(row) => {
                let words = std::array::from_fn(|i| row[ROW_HEAD + Layer::Digest(i).index()]);
                differs("digest", hex(&digest_bytes(words)), digest.to_lowercase());
            }
            None => differs(ORDER_LAYER, "no row".to_owned(), "one row".to_owned()),
        }
        let verdict = &mut self.reader.verdict;
        verdict.mismatches += u64::from(!differences.is_empty());
        if let Some((layer, got, expected)) = differences.into_iter().next() {
            let candidate = format!("{} Q9 {q9:08x}", self.base.id);
            verdict.first.get_or_insert(Difference {
                layer,
                candidate,
                got,
                expected,
            });
        }
    }
}

impl Workload for VectorCheck {
    fn setup(&self) -> Setup {
        self.kernel.setup(vec![Buffer {
            name: "trace",
            words: self.words(),
            fill: UNFORMED,
        }])
    }

    fn batch(&mut self, index: u64) -> Option<Batch> {
        let (first, slots) = self.slots(*self.covered.get(index as usize)?)?;
        let (trace, words) = (BufferId(0), self.words());
        let span = Span {
            first,
            slots,
            inner: slots as u32,
            target: 0,
            hits: trace,
            capacity: 0,
            trace,
        };
        Some(Batch {
            steps: vec![
                Step::Clear {
                    buffer: trace,
                    words,
                    value: UNFORMED,
                },
                self.kernel.launch(&self.base, &span),
                Step::Download { buffer: trace, words },
            ],
            units: self.kernel.walk().candidates(first..first + slots),
        })
    }

    fn collect(&mut self, index: u64, outputs: Outputs) -> Result<Collected, Fault> {
        let [trace] = outputs.as_slice() else {
            return Err(Fault::Malformed {
                batch: index,
                what: format!("{} downloads instead of one", outputs.len()),
            });
        };
        let case = self.covered[index as usize];
        let walk = self.kernel.walk();
        let (first, slots) = self.slots(case).unwrap_or((0, 0));
        let wanted: Vec<u32> = (first..first + slots).flat_map(|slot| walk.slot(slot)).collect();
        self.reader.read(&self.base, walk, &wanted, trace);
        self.compare(case, trace);
        Ok(Collected {
            units: wanted.len() as u64,
            ..Collected::default()
        })
    }
}

impl Check for VectorCheck {
    fn name(&self) -> String {
        format!("{} cases of {}", self.cases.len(), self.base.id)
    }

    fn finish(&mut self) -> Verdict {
        let mut verdict = std::mem::take(&mut self.reader).verdict;
        verdict.checked = self.covered.len() as u64;
        verdict.not_covered = (self.cases.len() - self.covered.len()) as u64;
        verdict.bases = vec![self.base.record()];
        verdict
    }
}
