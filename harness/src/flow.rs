//! A workload on its way through a session: two batches in flight, the next one prepared while one runs.

use std::collections::VecDeque;

use assay_kernels::workload::{Collected, Fault, Step, Workload};

use crate::device::{DeviceError, Session};

/// Batches in flight.
const IN_FLIGHT: usize = 2;

/// Why a flow ended early.
#[derive(Debug, thiserror::Error)]
pub enum FlowError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The host does not confirm what the device reported.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// What a batch yielded.
pub struct Yield {
    /// What the host confirmed.
    pub collected: Collected,
    /// Each launch and call of the library by its stage, with the time that it took on the device, in seconds.
    pub stages: Vec<(&'static str, f64)>,
}

/// A workload with the session that runs it.
pub struct Flow<'f, W: Workload + ?Sized> {
    session: &'f mut dyn Session,
    workload: &'f mut W,
    next: &'f mut u64,
    /// The stages of each batch in flight.
    in_flight: VecDeque<Vec<&'static str>>,
    exhausted: bool,
}

impl<'f, W: Workload + ?Sized> Flow<'f, W> {
    /// `next` is the index of the next batch; it outlives the flow, so that a later one goes on from there.
    pub fn new(session: &'f mut dyn Session, workload: &'f mut W, next: &'f mut u64) -> Flow<'f, W> {
        Flow {
            session,
            workload,
            next,
            in_flight: VecDeque::new(),
            exhausted: false,
        }
    }

    /// The next batch's confirmed yield, or `None` when nothing is in flight any more.
    /// New batches are submitted only while `more` is true.
    ///
    /// # Errors
    /// When the device fails or the host does not confirm what came back.
    pub fn next(&mut self, more: bool) -> Result<Option<Yield>, FlowError> {
        while more && !self.exhausted && self.in_flight.len() < IN_FLIGHT {
            match self.workload.batch(*self.next) {
                Some(batch) => {
                    let stages = batch.steps.iter().filter_map(Step::stage).collect();
                    self.session.submit(*self.next, batch)?;
                    *self.next += 1;
                    self.in_flight.push_back(stages);
                }
                None => self.exhausted = true,
            }
        }
        let Some(finished) = self.session.wait()? else {
            return Ok(None);
        };
        let stages = self.in_flight.pop_front().unwrap_or_default();
        let collected = self.workload.collect(finished.index, finished.outputs)?;
        let stages = stages.into_iter().zip(finished.launches_s).collect();
        Ok(Some(Yield { collected, stages }))
    }
}
