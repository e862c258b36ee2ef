//! One stretch of samples, with one time axis.

use super::SILENCE_MAX_S;
use crate::rows::PowerRow;

/// Samples that hold every field that any sample of the stretch holds, with their times.
pub(super) struct Stretch<'r> {
    rows: Vec<&'r PowerRow>,
    /// Time of each, s.
    times: Vec<f64>,
}

/// Energy and time between two edges of the counter, as indices into a stretch.
#[derive(Clone, Copy)]
pub(super) struct Edges {
    pub(super) first: usize,
    pub(super) last: usize,
}

impl<'r> Stretch<'r> {
    pub(super) fn of(rows: &[&'r PowerRow]) -> Self {
        let fields = |row: &PowerRow| {
            [
                row.power_instant_w.is_some(),
                row.power_average_w.is_some(),
                row.energy_total_mj.is_some(),
                row.sm_clock_mhz.is_some(),
                row.mem_clock_mhz.is_some(),
                row.temperature_c.is_some(),
                row.throttle_reasons.is_some(),
            ]
        };
        let mut known = [false; 7];
        for row in rows {
            for (known, has) in known.iter_mut().zip(fields(row)) {
                *known |= has;
            }
        }
        let whole: Vec<&PowerRow> = rows.iter().copied().filter(|row| fields(row) == known).collect();
        let times = times(&whole);
        Self { rows: whole, times }
    }

    /// The samples later than `seconds` after the first.
    pub(super) fn after(mut self, seconds: f64) -> Self {
        if let Some(start) = self.times.first().copied() {
            let cut = self.times.partition_point(|time| *time < start + seconds);
            self.rows.drain(..cut);
            self.times.drain(..cut);
        }
        self
    }

    /// The longest time between two samples, and the time from the first to the last, s.
    pub(super) fn longest_silence(&self) -> (f64, f64) {
        let longest = self
            .times
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .fold(0.0, f64::max);
        (longest, self.seconds(self.whole()))
    }

    /// From the first sample to the last.
    pub(super) fn whole(&self) -> Edges {
        Edges {
            first: 0,
            last: self.rows.len().saturating_sub(1),
        }
    }

    /// The first and the last edge of the counter; `None` below two.
    pub(super) fn edges(&self) -> Option<Edges> {
        let edges = self.edge_indices();
        let (first, last) = (*edges.first()?, *edges.last()?);
        (first < last).then_some(Edges { first, last })
    }

    fn edge_indices(&self) -> Vec<usize> {
        (1..self.rows.len())
            .filter(|&i| self.rows[i].energy_total_mj != self.rows[i - 1].energy_total_mj)
            .collect()
    }

    /// Whether the samples hold a counter.
    pub(super) fn has_counter(&self) -> bool {
        self.rows.first().is_some_and(|row| row.energy_total_mj.is_some())
    }

    /// The longest time that the counter stood still, if that is too long, s.
    pub(super) fn frozen(&self) -> Option<f64> {
        let last = self.rows.len().checked_sub(1)?;
        let mut from = 0;
        let mut longest = 0.0;
        for edge in self.edge_indices().into_iter().chain([last]) {
            longest = f64::max(longest, self.times[edge] - self.times[from]);
            from = edge;
        }
        (longest > SILENCE_MAX_S).then_some(longest)
    }

    /// Whether the counter went back.
    pub(super) fn went_back(&self) -> bool {
        self.rows
            .windows(2)
            .any(|pair| pair[1].energy_total_mj < pair[0].energy_total_mj)
    }

    /// Time between two samples, s.
    pub(super) fn seconds(&self, edges: Edges) -> f64 {
        match (self.times.get(edges.first), self.times.get(edges.last)) {
            (Some(first), Some(last)) => last - first,
            _ => 0.0,
        }
    }

    /// Energy by the counter, J.
    pub(super) fn counted(&self, edges: Edges) -> Option<f64> {
        let at = |i: usize| self.rows.get(i)?.energy_total_mj;
        Some(at(edges.last)?.checked_sub(at(edges.first)?)? as f64 / 1e3)
    }

    /// Energy by trapezoids under the instant power, J.
    pub(super) fn integral(&self, edges: Edges) -> Option<f64> {
        let mut sum = 0.0;
        for i in edges.first..edges.last {
            let mean = (self.rows.get(i)?.power_instant_w? + self.rows.get(i + 1)?.power_instant_w?) / 2.0;
            sum += mean * (self.times[i + 1] - self.times[i]);
        }
        (edges.first < edges.last).then_some(sum)
    }

    /// Mean of a field over the samples.
    pub(super) fn mean(&self, field: impl Fn(&PowerRow) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.rows.iter().filter_map(|row| field(row)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }
}

/// Times of samples, s: by the driver's stamps where all have one and they agree with the host's clock, else by the host's.
///
/// A driver may stamp a value when it was measured, which is what counts. Its stamps are of a clock that can be set, so a stretch
/// in which they do not rise, or differ from the monotonic clock by more than two sampling periods, is timed by the host.
fn times(rows: &[&PowerRow]) -> Vec<f64> {
    let host: Vec<f64> = rows.iter().map(|row| row.t_host_s).collect();
    let Some(stamps) = rows.iter().map(|row| row.t_nvml_us).collect::<Option<Vec<u64>>>() else {
        return host;
    };
    let (Some(start), Some(host_start)) = (stamps.first(), host.first()) else {
        return host;
    };
    let stamped: Vec<f64> = stamps
        .iter()
        .map(|stamp| stamp.saturating_sub(*start) as f64 / 1e6)
        .collect();
    let rising = stamps.windows(2).all(|pair| pair[0] < pair[1]);
    let agree = stamped
        .iter()
        .zip(&host)
        .all(|(stamp, host)| (host - host_start - stamp).abs() <= 0.25);
    if rising && agree { stamped } else { host }
}
