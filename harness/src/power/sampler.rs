//! The thread that asks a source at absolute deadlines.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use assay_analysis::rows::{Phase, PowerRow};

use super::source::{PowerSource, Reading};

/// Time between two samples.
pub const PERIOD: Duration = Duration::from_millis(100);

/// What samples belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag {
    pub phase: Phase,
    pub trial: u32,
}

/// What was sampled under one tag.
#[derive(Debug, Default)]
pub(super) struct Stretch {
    pub rows: Vec<PowerRow>,
    pub overruns: u64,
    pub repeats: u64,
    /// How many readings failed, and why the last one did.
    pub failures: u64,
    pub last_failure: Option<String>,
}

struct State {
    tag: Tag,
    /// Counts the changes of the tag: a reading that began under an earlier one belongs to neither.
    turn: u64,
    stretch: Stretch,
    last_stamp: Option<u64>,
}

struct Shared {
    state: Mutex<State>,
    stop: AtomicBool,
    /// Where the host's time starts, and what it starts with.
    origin: Instant,
    origin_s: f64,
}

impl Shared {
    /// A reader that panicked leaves whole rows behind: they are still good.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running sampler. It stops when dropped.
pub(super) struct Sampler {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Sampler {
    /// Ask `source` every `period`, under `tag`. `origin_s` is the host's time now, by the record's count.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(
        source: Box<dyn PowerSource>,
        period: Duration,
        tag: Tag,
        origin_s: f64,
    ) -> std::io::Result<Sampler> {
        let state = State {
            tag,
            turn: 0,
            stretch: Stretch::default(),
            last_stamp: None,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            stop: AtomicBool::new(false),
            origin: Instant::now(),
            origin_s,
        });
        let thread = {
            let shared = Arc::clone(&shared);
            thread::Builder::new()
                .name("power".to_owned())
                .spawn(move || sample(source, period, &shared))?
        };
        Ok(Sampler {
            shared,
            thread: Some(thread),
        })
    }

    /// Hand over what was sampled under the present tag, and go on under `tag`.
    pub fn turn_to(&self, tag: Tag) -> Stretch {
        let mut state = self.shared.state();
        state.tag = tag;
        state.turn += 1;
        std::mem::take(&mut state.stretch)
    }

    /// Time and temperature of the samples under the present tag, as far as they are known.
    pub fn temperatures(&self) -> Vec<(f64, u32)> {
        let state = self.shared.state();
        let rows = state.stretch.rows.iter();
        rows.filter_map(|row| Some((row.t_host_s, row.temperature_c?)))
            .collect()
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A source that panicked has ended the thread: its samples end there, which the trials' verdicts show.
            let _ = thread.join();
        }
    }
}

/// Sample until told to stop. Deadlines are absolute, so that lateness does not add up.
fn sample(mut source: Box<dyn PowerSource>, period: Duration, shared: &Shared) {
    let mut deadline = Instant::now();
    loop {
        while let Some(left) = deadline.checked_duration_since(Instant::now()) {
            if shared.stop.load(Ordering::SeqCst) {
                return;
            }
            thread::park_timeout(left);
        }
        if shared.stop.load(Ordering::SeqCst) {
            return;
        }
        let late = deadline.elapsed();
        let missed = (late.as_nanos() / period.as_nanos().max(1)) as u32;
        let overruns = if missed > 0 {
            missed
        } else {
            u32::from(late > period / 2)
        };
        deadline += period * (missed + 1);

        let turn = shared.state().turn;
        let before = shared.origin.elapsed();
        let reading = source.read();
        let between = (before + shared.origin.elapsed()) / 2;
        let mut state = shared.state();
        if state.turn != turn {
            continue;
        }
        let tag = state.tag;
        let last_stamp = state.last_stamp;
        let stretch = &mut state.stretch;
        stretch.overruns += u64::from(overruns);
        match reading {
            Err(error) => {
                stretch.failures += 1;
                stretch.last_failure = Some(error.to_string());
            }
            Ok(reading) if reading.stamp_us.is_some() && reading.stamp_us == last_stamp => {
                stretch.repeats += 1
            }
            Ok(reading) => {
                let t_host_s = shared.origin_s + between.as_secs_f64();
                stretch.rows.push(row(&reading, tag, t_host_s));
                state.last_stamp = reading.stamp_us;
            }
        }
    }
}

fn row(reading: &Reading, tag: Tag, t_host_s: f64) -> PowerRow {
    PowerRow {
        trial: tag.trial,
        // To the microsecond: what is behind it is noise, and a file of it is long.
        t_host_s: (t_host_s * 1e6).round() / 1e6,
        t_nvml_us: reading.stamp_us,
        power_instant_w: reading.instant_w,
        power_average_w: reading.average_w,
        energy_total_mj: reading.energy_mj,
        sm_clock_mhz: reading.sm_clock_mhz,
        mem_clock_mhz: reading.mem_clock_mhz,
        temperature_c: reading.temperature_c,
        throttle_reasons: reading.throttle,
        phase: tag.phase,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::{Fake, Script};
    use super::*;

    const IDLE: Tag = Tag {
        phase: Phase::Idle,
        trial: 0,
    };
    const FIRST: Tag = Tag {
        phase: Phase::Trial,
        trial: 1,
    };
    const SHORT: Duration = Duration::from_millis(5);

    fn start(script: Script) -> Sampler {
        Sampler::start(Box::new(Fake::new(script)), SHORT, IDLE, 10.0).unwrap()
    }

    #[test]
    fn samples_come_in_order_and_go_to_what_they_were_taken_in() {
        let sampler = start(Script::default());
        thread::sleep(SHORT * 20);
        let idle = sampler.turn_to(FIRST);
        thread::sleep(SHORT * 20);
        let trial = sampler.turn_to(IDLE);
        assert!(idle.rows.len() >= 5 && trial.rows.len() >= 5);
        assert!(
            idle.rows
                .iter()
                .all(|row| row.phase == Phase::Idle && row.trial == 0)
        );
        assert!(
            trial
                .rows
                .iter()
                .all(|row| row.phase == Phase::Trial && row.trial == 1)
        );
        let times: Vec<f64> = idle
            .rows
            .iter()
            .chain(&trial.rows)
            .map(|row| row.t_host_s)
            .collect();
        assert!(times[0] >= 10.0 && times.is_sorted());
    }

    #[test]
    fn a_stamp_that_does_not_change_is_a_repeat_and_a_failure_is_counted_with_its_reason() {
        let sampler = start(Script {
            stuck_stamp: true,
            ..Script::default()
        });
        thread::sleep(SHORT * 20);
        let stretch = sampler.turn_to(FIRST);
        assert_eq!(stretch.rows.len(), 1);
        assert!(stretch.repeats >= 5);
        let sampler = start(Script {
            silent: true,
            ..Script::default()
        });
        thread::sleep(SHORT * 20);
        let stretch = sampler.turn_to(FIRST);
        assert!(stretch.rows.is_empty() && stretch.failures >= 5);
        assert_eq!(stretch.last_failure.as_deref(), Some("the card is lost"));
    }

    #[test]
    fn a_slow_source_overruns_and_deadlines_stay_absolute() {
        let sampler = start(Script {
            delay: SHORT * 3,
            ..Script::default()
        });
        thread::sleep(SHORT * 40);
        let stretch = sampler.turn_to(FIRST);
        assert!(stretch.overruns >= stretch.rows.len() as u64, "{stretch:?}");
    }
}
