//! The trace check: every layer of whole stretches of candidates.

use super::rows::{RowReader, formed};
use crate::family::{Check, Verdict};
use crate::md5_q9::base::Base;
use crate::md5_q9::machine::Layer;
use crate::md5_q9::workload::{Kernel, ROW, Span, UNFORMED};
use crate::workload::{Batch, Buffer, BufferId, Collected, Fault, Outputs, Setup, Step, Workload};

/// Slots a thread takes in a trace: two interleaved passes and a tail of one.
fn inner(kernel: &Kernel) -> u32 {
    2 * kernel.file.options.interleave + 1
}

/// Stretches of slots of one base, each a batch.
pub struct TraceCheck {
    kernel: Kernel,
    base: Base,
    what: &'static str,
    stretches: Vec<(u64, u64)>,
    reader: RowReader,
}

impl TraceCheck {
    /// The check of `(first slot, slots)` stretches of `base`. The kernel is a trace build.
    pub fn new(kernel: Kernel, base: Base, what: &'static str, stretches: Vec<(u64, u64)>) -> TraceCheck {
        TraceCheck {
            kernel,
            base,
            what,
            stretches,
            reader: RowReader::default(),
        }
    }

    /// Words of the rows of `slots` slots, and of as many more as a block of threads could run past the end: they must
    /// stay as they are.
    fn words(&self, slots: u64) -> usize {
        let guard = u64::from(self.kernel.file.launch.block * inner(&self.kernel));
        ROW * ((slots + guard) * u64::from(self.kernel.walk().slot_candidates())) as usize
    }
}

impl Workload for TraceCheck {
    fn setup(&self) -> Setup {
        let most = self
            .stretches
            .iter()
            .map(|&(_, slots)| self.words(slots))
            .max()
            .unwrap_or(0);
        self.kernel.setup(vec![Buffer {
            name: "trace",
            words: most,
            fill: UNFORMED,
        }])
    }

    fn batch(&mut self, index: u64) -> Option<Batch> {
        let &(first, slots) = self.stretches.get(index as usize)?;
        let trace = BufferId(0);
        let words = self.words(slots);
        let span = Span {
            first,
            slots,
            inner: inner(&self.kernel),
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
        let (first, slots) = self.stretches[index as usize];
        let [trace] = outputs.as_slice() else {
            return Err(Fault::Malformed {
                batch: index,
                what: format!("{} downloads instead of one", outputs.len()),
            });
        };
        let walk = self.kernel.walk();
        let wanted: Vec<u32> = (first..first + slots).flat_map(|slot| walk.slot(slot)).collect();
        self.reader.read(&self.base, walk, &wanted, trace);
        Ok(Collected {
            units: wanted.len() as u64,
            ..Collected::default()
        })
    }
}

impl Check for TraceCheck {
    fn name(&self) -> String {
        format!("trace of {}, {}", self.base.id, self.what)
    }

    fn finish(&mut self) -> Verdict {
        let walk = self.kernel.walk();
        let mut verdict = std::mem::take(&mut self.reader).verdict;
        verdict.not_formed = Layer::all()
            .filter(|&layer| !formed(walk, layer))
            .map(Layer::name)
            .collect();
        verdict.bases = vec![self.base.record()];
        verdict
    }
}
