//! Batches on host memory: what `cpu` and `emulated` have in common.

use std::collections::VecDeque;
use std::time::Instant;

use assay_kernels::workload::{Batch, Launch, Outputs, Setup, Step};

use super::host_gemm::multiply;
use super::{BuildInfo, DeviceError, Finished, Session};
use crate::memory::{self, NoMemory};

/// Carries out one launch on host buffers.
pub trait HostLaunch {
    /// Run `launch` to its end.
    ///
    /// # Errors
    /// When the launch does not fit the kernel.
    fn launch(&self, launch: &Launch, buffers: &mut [Vec<u32>]) -> Result<(), DeviceError>;
}

/// A session whose buffers lie in host memory. A batch is finished when `submit` returns.
pub struct HostSession<L> {
    launcher: L,
    build: BuildInfo,
    buffers: Vec<Vec<u32>>,
    finished: VecDeque<Finished>,
}

impl<L: HostLaunch> HostSession<L> {
    /// Allocate the buffers of `setup`.
    ///
    /// # Errors
    /// [`DeviceError::Memory`] when the host has not so much memory.
    pub fn new(launcher: L, build: BuildInfo, setup: &Setup) -> Result<HostSession<L>, DeviceError> {
        memory::afford(setup.bytes())?;
        let buffers = setup.buffers.iter().map(|buffer| {
            let mut words = Vec::new();
            words
                .try_reserve_exact(buffer.words)
                .map_err(|_| NoMemory::of(setup.bytes()))?;
            words.resize(buffer.words, buffer.fill);
            Ok(words)
        });
        Ok(HostSession {
            launcher,
            build,
            buffers: buffers.collect::<Result<_, NoMemory>>()?,
            finished: VecDeque::new(),
        })
    }

    /// The first `words` words of a buffer.
    fn part(&mut self, buffer: usize, words: usize) -> Result<&mut [u32], DeviceError> {
        self.buffers
            .get_mut(buffer)
            .and_then(|buffer| buffer.get_mut(..words))
            .ok_or_else(|| {
                DeviceError::Invalid(format!("a step reaches past buffer {buffer}: {words} words"))
            })
    }
}

impl<L: HostLaunch> Session for HostSession<L> {
    fn build(&self) -> &BuildInfo {
        &self.build
    }

    fn submit(&mut self, index: u64, batch: Batch) -> Result<(), DeviceError> {
        let mut outputs = Outputs::new();
        let mut launches_s = Vec::new();
        for step in &batch.steps {
            match step {
                Step::Upload { buffer, words } => self.part(buffer.0, words.len())?.copy_from_slice(words),
                Step::Clear { buffer, words, value } => self.part(buffer.0, *words)?.fill(*value),
                Step::Download { buffer, words } => outputs.push(self.part(buffer.0, *words)?.to_vec()),
                Step::Gemm(gemm) => {
                    let start = Instant::now();
                    multiply(gemm, &mut self.buffers)?;
                    launches_s.push(start.elapsed().as_secs_f64());
                }
                Step::Launch(launch) => {
                    let start = Instant::now();
                    self.launcher.launch(launch, &mut self.buffers)?;
                    launches_s.push(start.elapsed().as_secs_f64());
                }
            }
        }
        self.finished.push_back(Finished {
            index,
            outputs,
            launches_s,
        });
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Finished>, DeviceError> {
        Ok(self.finished.pop_front())
    }
}
