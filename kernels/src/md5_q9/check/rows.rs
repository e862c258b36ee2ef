//! Reading a trace: every row against the oracle, layer by layer.

use std::collections::HashMap;

use ::md5::{Digest, Md5};

use crate::family::{Difference, ValidationRow, Verdict};
use crate::md5_q9::base::{Base, Candidate};
use crate::md5_q9::machine::Layer;
use crate::md5_q9::md5::digest_bytes;
use crate::md5_q9::options::Walk;
use crate::md5_q9::workload::{ROW, ROW_HEAD, UNFORMED, hex};

/// Name of the layer in front of all others: which candidate a thread takes.
pub const ORDER_LAYER: &str = "q9";

/// Whether kernels of `walk` form `layer` at all.
pub fn formed(walk: Walk, layer: Layer) -> bool {
    match walk {
        Walk::Tunnel => true,
        // The orbit keeps m8 and m12 in the sums K + m only.
        Walk::Orbit => !matches!(layer, Layer::M8 | Layer::M12),
    }
}

/// The oracle's value of a layer.
pub fn expected(candidate: &Candidate, layer: Layer) -> u32 {
    match layer {
        Layer::M8 => candidate.words[8],
        Layer::M9 => candidate.words[9],
        Layer::M12 => candidate.words[12],
        Layer::Q(n) => candidate.q[n - 1],
        Layer::Digest(i) => candidate.digest[i],
    }
}

/// A verdict in the making.
#[derive(Default)]
pub struct RowReader {
    /// What is known so far.
    pub verdict: Verdict,
    first_place: usize,
}

impl RowReader {
    /// Notes a difference; the first in data-flow order stays. `place` 0 is the order, then the layers.
    fn differs(&mut self, place: usize, difference: Difference) {
        if self.verdict.first.is_none() || place < self.first_place {
            self.first_place = place;
            self.verdict.first = Some(difference);
        }
    }

    /// Compares the rows of one launch: `wanted` are the candidates that it should have visited.
    pub fn read(&mut self, base: &Base, walk: Walk, wanted: &[u32], trace: &[u32]) {
        let mut seen: HashMap<u32, u32> = wanted.iter().map(|&q9| (q9, 0)).collect();
        for row in trace.as_chunks::<ROW>().0 {
            let written = row[0].wrapping_sub(UNFORMED);
            if written == 0 {
                continue;
            }
            self.verdict.duplicates += u64::from(written - 1);
            let q9 = row[1];
            match seen.get_mut(&q9) {
                Some(times) => {
                    self.verdict.duplicates += u64::from(*times > 0);
                    *times += 1;
                    self.compare(base, walk, q9, row);
                }
                None => {
                    self.verdict.mismatches += 1;
                    let difference = Difference {
                        layer: ORDER_LAYER.to_owned(),
                        candidate: format!("{} Q9 {q9:08x}", base.id),
                        got: format!("{q9:08x}"),
                        expected: "a candidate of the launch".to_owned(),
                    };
                    self.differs(0, difference);
                }
            }
        }
        let missing: Vec<u32> = wanted.iter().copied().filter(|q9| seen[q9] == 0).collect();
        self.verdict.missing += missing.len() as u64;
        if let Some(q9) = missing.first() {
            let difference = Difference {
                layer: ORDER_LAYER.to_owned(),
                candidate: format!("{} Q9 {q9:08x}", base.id),
                got: "nothing: no thread takes it".to_owned(),
                expected: "one row".to_owned(),
            };
            self.differs(0, difference);
        }
    }

    /// Compares one row with the oracle, and the digest with the md-5 crate's of the reconstructed message.
    fn compare(&mut self, base: &Base, walk: Walk, q9: u32, row: &[u32; ROW]) {
        let candidate = base.candidate(q9);
        self.verdict.checked += 1;
        let mut equal = true;
        for layer in Layer::all() {
            let got = row[ROW_HEAD + layer.index()];
            let expected = if formed(walk, layer) {
                expected(&candidate, layer)
            } else {
                UNFORMED
            };
            if got != expected {
                equal = false;
                let difference = Difference {
                    layer: layer.name(),
                    candidate: format!("{} Q9 {q9:08x}", base.id),
                    got: format!("{got:08x}"),
                    expected: format!("{expected:08x}"),
                };
                self.differs(1 + layer.index(), difference);
                break;
            }
        }
        let digest = digest_bytes(std::array::from_fn(|i| row[ROW_HEAD + Layer::Digest(i).index()]));
        let hashed: [u8; 16] = Md5::digest(base.message(q9)).into();
        if equal && digest != hashed {
            equal = false;
            let difference = Difference {
                layer: Layer::Digest(0).name(),
                candidate: format!("{} Q9 {q9:08x}", base.id),
                got: hex(&digest),
                expected: hex(&hashed),
            };
            self.differs(1 + Layer::Digest(0).index(), difference);
        }
        self.verdict.mismatches += u64::from(!equal);
        let [m8, m9, m12] = [8, 9, 12].map(|k| candidate.words[k]);
        self.verdict.rows.push(ValidationRow {
            base: base.id.clone(),
            words: [q9, m8, m9, m12],
            digest,
        });
    }
}
