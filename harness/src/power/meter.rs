//! The power of a run: a sampler with the rows that it has brought so far.

use std::collections::BTreeMap;

use assay_analysis::rows::{Phase, PowerRow};

use super::sampler::{PERIOD, Sampler, Tag};
use super::source::PowerSource;

/// Warm-up ends when the temperature of the last so many seconds is that of as many before.
const PLATEAU_S: f64 = 5.0;

/// The largest rise between the two, °C.
const PLATEAU_RISE_C: f64 = 0.5;

/// What the sampler met with in one stretch of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Deadlines missed, or kept late.
    pub overruns: u64,
    /// Samples dropped because their stamp was the last one's.
    pub repeats: u64,
}

/// The sampler of a run with what it brought.
pub struct Meter {
    sampler: Sampler,
    rows: Vec<PowerRow>,
    counts: Counts,
    failures: BTreeMap<String, u64>,
}

impl Meter {
    /// Sample `source` every 100 ms from now on. `earlier` are the samples that the record has already; `now_s` is the time since
    /// the record was begun.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(source: Box<dyn PowerSource>, earlier: Vec<PowerRow>, now_s: f64) -> std::io::Result<Meter> {
        let after = earlier.last().map_or(0.0, |row| row.t_host_s);
        Ok(Meter {
            sampler: Sampler::start(
                source,
                PERIOD,
                Tag {
                    phase: Phase::Idle,
                    trial: 0,
                },
                now_s.max(after),
            )?,
            rows: earlier,
            counts: Counts::default(),
            failures: BTreeMap::new(),
        })
    }

    /// What is sampled from now on belongs to `phase`, and to `trial` if that is a trial.
    pub fn enter(&mut self, phase: Phase, trial: u32) {
        let stretch = self.sampler.turn_to(Tag { phase, trial });
        self.counts = Counts {
            overruns: stretch.overruns,
            repeats: stretch.repeats,
        };
        self.rows.extend(stretch.rows);
        if let Some(why) = stretch.last_failure {
            *self.failures.entry(why).or_default() += stretch.failures;
        }
    }

    /// Every sample up to the last [`enter`](Self::enter).
    pub fn rows(&self) -> &[PowerRow] {
        &self.rows
    }

    /// What the sampler met with before the last [`enter`](Self::enter).
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Why readings failed, each with how often.
    pub fn failures(&self) -> impl Iterator<Item = (&str, u64)> {
        self.failures.iter().map(|(why, count)| (why.as_str(), *count))
    }

    /// How far the temperature rises still; `None` as long as that is not known.
    pub fn rise(&self) -> Option<f64> {
        rise(&self.sampler.temperatures())
    }

    /// Whether a rise is a plateau.
    pub fn is_plateau(rise: f64) -> bool {
        rise.abs() <= PLATEAU_RISE_C
    }

    /// Forget the samples of a trial.
    pub fn forget(&mut self, trial: u32) {
        self.rows.retain(|row| row.trial != trial);
    }
}

/// Mean temperature of the last five seconds minus that of the five before; `None` below ten seconds.
fn rise(samples: &[(f64, u32)]) -> Option<f64> {
    let (end, start) = (samples.last()?.0, samples.first()?.0);
    if end - start < 2.0 * PLATEAU_S {
        return None;
    }
    let mean = |from: f64, to: f64| {
        let inside: Vec<f64> = samples
            .iter()
            .filter(|(time, _)| from < *time && *time <= to)
            .map(|(_, temperature)| f64::from(*temperature))
            .collect();
        (!inside.is_empty()).then(|| inside.iter().sum::<f64>() / inside.len() as f64)
    };
    Some(mean(end - PLATEAU_S, end)? - mean(end - 2.0 * PLATEAU_S, end - PLATEAU_S)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plateau_needs_ten_seconds_and_no_rise() {
        let at = |seconds: f64, slope: f64| -> Vec<(f64, u32)> {
            let count = (seconds * 10.0) as u32;
            (0..=count)
                .map(|i| (f64::from(i) / 10.0, (40.0 + slope * f64::from(i) / 10.0) as u32))
                .collect()
        };
        assert_eq!(rise(&at(9.0, 0.0)), None);
        assert_eq!(rise(&at(12.0, 0.0)).map(Meter::is_plateau), Some(true));
        assert_eq!(rise(&at(12.0, 1.0)).map(Meter::is_plateau), Some(false));
        assert_eq!(rise(&[]), None);
    }
}
