//! A workload on its way through a session: two batches in flight, the next one prepared while one runs.

use assay_kernels::workload::{Collected, Fault, Workload};

use crate::device::{DeviceError, Session};

/// Batches in flight.
const IN_FLIGHT: u64 = 2;

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

/// A workload with the session that runs it.
pub struct Flow<'f, W: Workload + ?Sized> {
    session: &'f mut dyn Session,
    workload: &'f mut W,
    next: &'f mut u64,
    in_flight: u64,
    exhausted: bool,
}

impl<'f, W: Workload + ?Sized> Flow<'f, W> {
    /// `next` is the index of the next batch; it outlives the flow, so that a later one goes on from there.
    pub fn new(session: &'f mut dyn Session, workload: &'f mut W, next: &'f mut u64) -> Flow<'f, W> {
        Flow {
            session,
            workload,
            next,
            in_flight: 0,
            exhausted: false,
        }
    }

    /// The next batch's confirmed yield with its time on the device, or `None` when nothing is in flight any more.
    /// New batches are submitted only while `more` is true.
    ///
    /// # Errors
    /// When the device fails or the host does not confirm what came back.
    pub fn next(&mut self, more: bool) -> Result<Option<(Collected, f64)>, FlowError> {
        while more && !self.exhausted && self.in_flight < IN_FLIGHT {
            match self.workload.batch(*self.next) {
                Some(batch) => {
                    self.session.submit(*self.next, batch)?;
                    *self.next += 1;
                    self.in_flight += 1;
                }
                None => self.exhausted = true,
            }
        }
        let Some(finished) = self.session.wait()? else {
            return Ok(None);
        };
        self.in_flight -= 1;
        let collected = self.workload.collect(finished.index, finished.outputs)?;
        Ok(Some((collected, finished.busy_s)))
    }
}
