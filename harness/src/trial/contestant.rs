//! A variant that is built and ready to be timed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_kernels::family::Production;
use assay_kernels::workload::{Hit, Workload};

use crate::device::{Device, Session};
use crate::exit::Usage;
use crate::flow::{Flow, FlowError, Yield};
use crate::interrupt;
use crate::select::Selected;

/// A variant under a label, with its own session. The A/A control is the baseline under another label.
pub struct Contestant {
    /// Its label.
    pub label: String,
    /// The variant.
    pub selected: Selected,
    session: Box<dyn Session>,
    workload: Box<dyn Workload>,
    next: u64,
}

/// What one timed run did.
#[derive(Debug, Default)]
pub struct Timed {
    /// Number of the first base worked on.
    pub base_first: Option<u64>,
    /// Number of the last.
    pub base_last: Option<u64>,
    /// Batches.
    pub batches: u64,
    /// Units.
    pub units: u64,
    /// Wall time from the first submission to the last confirmation.
    pub seconds: f64,
    /// Launches of each stage with the time that they took on the device together, in seconds; in the order of the data.
    pub stages: Vec<(&'static str, u64, f64)>,
    /// Confirmed hits.
    pub hits: Vec<Hit>,
}

impl Timed {
    fn took(&mut self, launches: Vec<(&'static str, f64)>) {
        for (name, seconds) in launches {
            match self.stages.iter_mut().find(|(known, ..)| *known == name) {
                Some((_, launches, sum)) => {
                    *launches += 1;
                    *sum += seconds;
                }
                None => self.stages.push((name, 1, seconds)),
            }
        }
    }
}

/// What of `selected` is timed on `device`: from base `first_base` on, with no text in front.
pub fn production(selected: &Selected, device: &dyn Device, seed: u64, first_base: u64) -> Production {
    Production {
        seed,
        first_base,
        prefix: Arc::from([]),
        batch_units: selected.family.batch_units(device.info().kind),
    }
}

impl Contestant {
    /// Build `selected` for `device`, as [`production`] has it.
    ///
    /// # Errors
    /// When it does not build.
    pub fn new(
        selected: &Selected,
        label: String,
        device: &dyn Device,
        seed: u64,
        first_base: u64,
    ) -> anyhow::Result<Contestant> {
        let workload = selected
            .variant
            .production(&production(selected, device, seed, first_base))
            .map_err(|error| Usage(format!("--prefix: {error}")))?;
        let session = device.open(&workload.setup())?;
        Ok(Contestant {
            label,
            selected: selected.clone(),
            session,
            workload,
            next: 0,
        })
    }

    /// How it was built.
    pub fn build(&self) -> &crate::device::BuildInfo {
        self.session.build()
    }

    /// Work for `time`, or until interrupted. Every hit is confirmed on the host.
    ///
    /// # Errors
    /// When the device fails or the host does not confirm a hit.
    pub fn run(&mut self, time: Duration) -> Result<Timed, FlowError> {
        let mut timed = Timed::default();
        let start = Instant::now();
        let mut flow = Flow::new(self.session.as_mut(), self.workload.as_mut(), &mut self.next);
        while let Some(Yield { collected, stages }) =
            flow.next(start.elapsed() < time && !interrupt::asked())?
        {
            timed.batches += 1;
            timed.units += collected.units;
            timed.took(stages);
            timed.base_first = timed.base_first.or(collected.base);
            timed.base_last = collected.base.or(timed.base_last);
            timed.hits.extend(collected.hits);
        }
        timed.seconds = start.elapsed().as_secs_f64();
        Ok(timed)
    }
}
