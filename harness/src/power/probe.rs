//! How a source behaves: how often its values change, how old they are, and how long asking takes.

use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;

use super::source::{PowerSource, Reading, SourceError};

/// Time between two readings of a probe: a fiftieth of the sampler's period.
const INTERVAL: Duration = Duration::from_millis(2);

/// How often a value changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cadence {
    /// Which value.
    pub value: &'static str,
    /// Changes seen.
    pub changes: usize,
    /// Shortest time between two changes, ms.
    pub period_ms_min: Option<f64>,
    /// Median time.
    pub period_ms_median: Option<f64>,
    /// Longest time.
    pub period_ms_max: Option<f64>,
}

/// What a probe found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Probe {
    /// The source.
    pub source: String,
    /// What it cannot tell.
    pub lacks: Vec<String>,
    /// Readings taken.
    pub readings: usize,
    /// Median time of a reading, ms.
    pub reading_ms_median: f64,
    /// Longest time of a reading, ms.
    pub reading_ms_max: f64,
    /// Median age of a stamp when its reading ended, ms: near 0 where the driver stamps the question, not the measurement.
    pub stamp_age_ms_median: Option<f64>,
    /// Longest age.
    pub stamp_age_ms_max: Option<f64>,
    /// The values, each with how often it changes.
    pub cadences: Vec<Cadence>,
}

/// One reading with its times.
struct Seen {
    reading: Reading,
    /// When it ended, s after the start.
    end_s: f64,
    /// How long it took, ms.
    took_ms: f64,
    /// Age of its stamp when it ended, ms.
    age_ms: Option<f64>,
}

/// Ask `source` every 2 ms for `time`, or until `stopped`.
///
/// # Errors
/// When it does not answer.
pub fn probe(
    source: &mut dyn PowerSource,
    time: Duration,
    stopped: impl Fn() -> bool,
) -> Result<Probe, SourceError> {
    let start = Instant::now();
    let mut seen = Vec::new();
    while start.elapsed() < time && !stopped() {
        let before = start.elapsed();
        let reading = source.read()?;
        let end = start.elapsed();
        let wall_us = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0.0, |since| since.as_secs_f64() * 1e6);
        seen.push(Seen {
            reading,
            end_s: end.as_secs_f64(),
            took_ms: (end - before).as_secs_f64() * 1e3,
            age_ms: reading.stamp_us.map(|stamp| (wall_us - stamp as f64) / 1e3),
        });
        thread::sleep(INTERVAL.saturating_sub(start.elapsed() - before));
    }
    Ok(conclude(source, &seen))
}

fn conclude(source: &dyn PowerSource, seen: &[Seen]) -> Probe {
    let took = sorted(seen.iter().map(|seen| seen.took_ms).collect());
    let ages = sorted(seen.iter().filter_map(|seen| seen.age_ms).collect());
    let bits = |value: Option<f64>| value.map(f64::to_bits);
    Probe {
        source: source.name(),
        lacks: source.lacks(),
        readings: seen.len(),
        reading_ms_median: middle(&took).unwrap_or(0.0),
        reading_ms_max: took.last().copied().unwrap_or(0.0),
        stamp_age_ms_median: middle(&ages),
        stamp_age_ms_max: ages.last().copied(),
        cadences: vec![
            cadence("energy_total_mj", seen, |reading| reading.energy_mj),
            cadence("power_instant_w", seen, |reading| bits(reading.instant_w)),
            cadence("power_average_w", seen, |reading| bits(reading.average_w)),
            cadence("t_nvml_us", seen, |reading| reading.stamp_us),
        ],
    }
}

fn cadence(value: &'static str, seen: &[Seen], of: impl Fn(&Reading) -> Option<u64>) -> Cadence {
    let changes: Vec<f64> = seen
        .windows(2)
        .filter(|pair| of(&pair[0].reading) != of(&pair[1].reading))
        .map(|pair| pair[1].end_s * 1e3)
        .collect();
    let periods = sorted(changes.windows(2).map(|pair| pair[1] - pair[0]).collect());
    Cadence {
        value,
        changes: changes.len(),
        period_ms_min: periods.first().copied(),
        period_ms_median: middle(&periods),
        period_ms_max: periods.last().copied(),
    }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

fn middle(sorted: &[f64]) -> Option<f64> {
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::super::fake::{Fake, Script};
    use super::*;

    #[test]
    fn a_counter_that_moves_shows_its_period_and_a_constant_shows_none() {
        let mut fake = Fake::new(Script::default());
        let probe = probe(&mut fake, Duration::from_millis(100), || false).unwrap();
        assert!(probe.readings > 5);
        let of = |name: &str| {
            probe
                .cadences
                .iter()
                .find(|cadence| cadence.value == name)
                .unwrap()
                .clone()
        };
        assert!(of("energy_total_mj").changes > 5 && of("energy_total_mj").period_ms_median.unwrap() < 60.0);
        assert_eq!(
            (
                of("power_instant_w").changes,
                of("power_instant_w").period_ms_median
            ),
            (0, None)
        );
    }

    #[test]
    fn a_probe_of_a_silent_source_fails_with_its_reason() {
        let mut fake = Fake::new(Script {
            silent: true,
            ..Script::default()
        });
        assert!(probe(&mut fake, Duration::from_millis(10), || false).is_err());
    }
}
