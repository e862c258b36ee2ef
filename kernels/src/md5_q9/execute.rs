//! For tests: runs a workload's batches by its native kernel, without a device.

use crate::family::{Check, Verdict};
use crate::native::Isa;
use crate::workload::{Batch, Collected, Fault, Outputs, Setup, Step, Workload};

/// Buffers of a workload, and its native kernel.
pub struct Executor {
    setup: Setup,
    isa: Isa,
    buffers: Vec<Vec<u32>>,
}

impl Executor {
    /// What `setup` asks for.
    pub fn new(setup: Setup, isa: Isa) -> Executor {
        let buffers = setup
            .buffers
            .iter()
            .map(|buffer| vec![buffer.fill; buffer.words])
            .collect();
        Executor { setup, isa, buffers }
    }

    /// Carries out a batch.
    pub fn outputs(&mut self, batch: &Batch) -> Outputs {
        let native = self.setup.native.clone().expect("a native kernel");
        let mut outputs = Vec::new();
        for step in &batch.steps {
            match step {
                Step::Upload { buffer, words } => {
                    self.buffers[buffer.0][..words.len()].copy_from_slice(words);
                }
                Step::Clear { buffer, words, value } => self.buffers[buffer.0][..*words].fill(*value),
                Step::Launch(launch) => native
                    .launch(launch, self.isa, &mut self.buffers)
                    .expect("a launch of this kernel"),
                Step::Gemm(_) => unreachable!("md5-q9 multiplies no matrices"),
                Step::Download { buffer, words } => outputs.push(self.buffers[buffer.0][..*words].to_vec()),
            }
        }
        outputs
    }

    /// Runs batch `index` of a workload; `None` when there is none.
    pub fn run(&mut self, workload: &mut dyn Workload, index: u64) -> Option<Result<Collected, Fault>> {
        let batch = workload.batch(index)?;
        let outputs = self.outputs(&batch);
        Some(workload.collect(index, outputs))
    }
}

/// Runs a check to its end.
pub fn verdict(check: &mut dyn Check, isa: Isa) -> Result<Verdict, Fault> {
    let mut executor = Executor::new(check.setup(), isa);
    for index in 0.. {
        match executor.run(check, index) {
            None => break,
            Some(done) => done?,
        };
    }
    Ok(check.finish())
}

/// The variants' files by name.
pub const VARIANTS: [(&str, &str); 7] = [
    ("v0", include_str!("../../../variants/md5-q9/v0.toml")),
    ("v1", include_str!("../../../variants/md5-q9/v1.toml")),
    ("v2", include_str!("../../../variants/md5-q9/v2.toml")),
    ("v3", include_str!("../../../variants/md5-q9/v3.toml")),
    ("v4", include_str!("../../../variants/md5-q9/v4.toml")),
    ("v5", include_str!("../../../variants/md5-q9/v5.toml")),
    ("v6", include_str!("../../../variants/md5-q9/v6.toml")),
];

/// A variant's file.
pub fn text(name: &str) -> &'static str {
    let found = VARIANTS.into_iter().find(|(known, _)| *known == name);
    found.expect("a variant of the family").1
}
