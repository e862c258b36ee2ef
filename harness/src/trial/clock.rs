//! The mean SM clock of a trial, as the multiprocessors themselves count it.
//!
//! A multiprocessor's `%clock64` goes on counting between kernels, so a kernel of a few instructions before and after a trial
//! brackets it: cycles over `%globaltimer` is the mean clock. The kernels that are timed stay as they are.

use std::collections::BTreeMap;

use assay_kernels::workload::{Argument, Batch, Buffer, BufferId, Launch, Setup, Source, Step};

use crate::device::{Device, DeviceError, Session};

const ENTRY: &str = "read_clocks";

/// Words that a block writes: multiprocessor, clock, global time.
const WORDS: usize = 5;

const TEXT: &str = r#"extern "C" __global__ void read_clocks(unsigned int *out)
{
    unsigned int sm;
    unsigned long long clock, time;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(clock));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    unsigned int *const row = out + blockIdx.x * 5;
    row[0] = sm;
    row[1] = (unsigned int)clock;
    row[2] = (unsigned int)(clock >> 32);
    row[3] = (unsigned int)time;
    row[4] = (unsigned int)(time >> 32);
}
"#;

/// Largest difference between two multiprocessors' mean clocks, as a share, at which they are believed.
const SPREAD_MAX: f64 = 0.01;

/// Why a bracket gives no clock.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoClock {
    /// No multiprocessor was read both before and after.
    #[error("no multiprocessor was read both before and after the trial")]
    NoPair,
    /// A counter did not go on counting.
    #[error("the cycle counter of multiprocessor {0} did not go on counting")]
    Reset(u32),
    /// Multiprocessors disagree.
    #[error("the multiprocessors' mean clocks lie between {0:.1} and {1:.1} MHz")]
    Spread(f64, f64),
}

/// Cycles and nanoseconds of each multiprocessor that was read.
pub type Clocks = BTreeMap<u32, (u64, u64)>;

/// The kernel that reads them.
pub struct ClockReader {
    session: Box<dyn Session>,
    blocks: u32,
    next: u64,
}

impl ClockReader {
    /// Build it for a card with `multiprocessors`.
    ///
    /// # Errors
    /// When it does not build.
    pub fn new(device: &dyn Device, multiprocessors: u32) -> Result<ClockReader, DeviceError> {
        // More blocks than multiprocessors, since the scheduler may give one of them two.
        let blocks = 4 * multiprocessors;
        let session = device.open(&Setup {
            source: source(),
            native: None,
            library: None,
            buffers: vec![Buffer {
                name: "clocks",
                words: blocks as usize * WORDS,
                fill: 0,
            }],
        })?;
        Ok(ClockReader {
            session,
            blocks,
            next: 0,
        })
    }

    /// Read every multiprocessor that gets a block.
    ///
    /// # Errors
    /// When the card fails.
    pub fn read(&mut self) -> Result<Clocks, DeviceError> {
        let words = self.blocks as usize * WORDS;
        let buffer = BufferId(0);
        let launch = Step::Launch(Launch {
            entry: ENTRY,
            shared_bytes: 0,
            grid: self.blocks,
            block: 1,
            arguments: vec![Argument::Buffer(buffer)],
        });
        let steps = vec![launch, Step::Download { buffer, words }];
        self.session.submit(self.next, Batch { steps, units: 0 })?;
        self.next += 1;
        let finished = self.session.wait()?;
        let rows = finished.and_then(|finished| finished.outputs.into_iter().next());
        Ok(clocks(&rows.unwrap_or_default()))
    }
}

fn source() -> Source {
    Source {
        file: "clock.cu".to_owned(),
        text: TEXT.to_owned(),
        defines: Vec::new(),
        entry: ENTRY,
        helpers: Vec::new(),
        options: Vec::new(),
    }
}

fn clocks(words: &[u32]) -> Clocks {
    let long = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    words
        .as_chunks::<WORDS>()
        .0
        .iter()
        .map(|&[sm, clock, clock_high, time, time_high]| {
            (sm, (long(clock, clock_high), long(time, time_high)))
        })
        .collect()
}

/// The mean clock between two readings, MHz: the mean over the multiprocessors read in both.
///
/// # Errors
/// When there is none, a counter started again, or they disagree.
pub fn mean_mhz(before: &Clocks, after: &Clocks) -> Result<f64, NoClock> {
    let mut rates = Vec::new();
    for (sm, (clock, time)) in before {
        let Some((clock_after, time_after)) = after.get(sm) else {
            continue;
        };
        match (clock_after.checked_sub(*clock), time_after.checked_sub(*time)) {
            (Some(cycles), Some(ns)) if cycles > 0 && ns > 0 => rates.push(cycles as f64 * 1e3 / ns as f64),
            _ => return Err(NoClock::Reset(*sm)),
        }
    }
    if rates.is_empty() {
        return Err(NoClock::NoPair);
    }
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let low = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let high = rates.iter().copied().fold(0.0, f64::max);
    if high - low > SPREAD_MAX * mean {
        return Err(NoClock::Spread(low, high));
    }
    Ok(mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::entry_instructions;
    use crate::toolchain::{Arch, CubinCache, real};

    #[test]
    fn the_kernel_reads_the_cycle_counter_and_the_global_timer_on_every_architecture() {
        let Some(tools) = real::tools(CubinCache::none()) else {
            return;
        };
        for arch in [75, 80, 90, 100, 120].map(Arch::number) {
            let cubin = tools.build(&source(), arch).unwrap();
            let json = tools.nvdisasm().unwrap().json(&cubin.bytes, arch).unwrap();
            let text = format!("{:?}", entry_instructions(&json, ENTRY).unwrap());
            assert!(
                text.contains("SR_CLOCK") && text.contains("SR_GLOBALTIMER"),
                "{arch}: {text}"
            );
        }
    }

    #[test]
    fn the_clock_is_cycles_over_time_of_the_multiprocessors_in_both_readings() {
        let before = clocks(&[0, 10, 0, 100, 0, 1, 0, 1, 100, 0, 7, 5, 0, 100, 0]);
        let after = clocks(&[1, 2_000_000, 1, 1_000_100, 0, 0, 2_000_010, 0, 1_000_100, 0]);
        assert_eq!(before.len(), 3);
        assert_eq!(mean_mhz(&before, &after), Ok(2000.0));
    }

    #[test]
    fn a_counter_that_starts_again_and_multiprocessors_that_disagree_give_no_clock() {
        let before = clocks(&[0, 10, 0, 100, 0]);
        assert_eq!(
            mean_mhz(&before, &clocks(&[0, 9, 0, 200, 0])),
            Err(NoClock::Reset(0))
        );
        assert_eq!(mean_mhz(&before, &clocks(&[])), Err(NoClock::NoPair));
        let before = clocks(&[0, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
        let after = clocks(&[0, 1000, 0, 1000, 0, 1, 1500, 0, 1000, 0]);
        assert!(matches!(mean_mhz(&before, &after), Err(NoClock::Spread(..))));
    }
}
