//! From trials to one row per variant and device.

use std::collections::BTreeMap;

use crate::{
    label::{Class, class, is_control, natural_key},
    rows::{RunRow, SummaryRow, Verdict},
    stats::{Estimate, Interval, StatsError, paired_ratio, poisson_two_sided},
};

/// What the trials of a record come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// A row per variant and device: by device, then class; in a class its baseline first, then by label.
    pub rows: Vec<SummaryRow>,
    /// The trials that do not count.
    pub invalid: Vec<InvalidTrial>,
    /// Labels of the simpler products that others are held against ([`Floor::Itself`](crate::Floor::Itself)): a unit of theirs is
    /// less work, so that none is the best of a class. [`summarise`] knows of none.
    pub simple: Vec<String>,
}

impl Summary {
    /// Whether a row can be the best of its class: no A/A control, and none of [`Summary::simple`].
    pub fn competes(&self, row: &SummaryRow) -> bool {
        !is_control(&row.variant) && !self.simple.contains(&row.variant)
    }
}

/// A trial that does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidTrial {
    /// Its number in runs.csv.
    pub trial: u32,
    /// Its variant.
    pub variant: String,
    /// Why.
    pub reason: String,
}

/// Summarises trials. Only valid ones count; the others are counted and listed.
///
/// `baselines` holds the label of each class's baseline ([`TrialPlan::baselines`](crate::TrialPlan)); a class without one
/// gets no ratios. Fails where a valid trial's value cannot enter a statistic.
pub fn summarise(runs: &[RunRow], baselines: &[String]) -> Result<Summary, StatsError> {
    let baseline_of = |label: &str| {
        baselines
            .iter()
            .find(|baseline| class(baseline) == class(label) && !is_control(baseline))
            .map(String::as_str)
    };
    let mut groups: BTreeMap<(&str, Class, bool, &str), Vec<&RunRow>> = BTreeMap::new();
    for run in runs {
        let label = run.variant.as_str();
        let key = (
            run.device.as_str(),
            class(label),
            baseline_of(label) != Some(label),
            label,
        );
        groups.entry(key).or_default().push(run);
    }
    let mut in_order: Vec<_> = groups.iter().collect();
    in_order.sort_by_cached_key(|((device, class, later, label), _)| {
        (*device, *class, *later, natural_key(label))
    });
    let rows = in_order
        .into_iter()
        .map(|((device, class, _, label), trials)| {
            let baseline = baseline_of(label);
            let reference = baseline.and_then(|baseline| groups.get(&(*device, *class, false, baseline)));
            summary_row(trials, baseline, reference.map_or(&[], Vec::as_slice))
        })
        .collect::<Result<_, _>>()?;
    let invalid = runs
        .iter()
        .filter(|run| run.verdict == Verdict::Invalid)
        .map(|run| InvalidTrial {
            trial: run.trial,
            variant: run.variant.clone(),
            reason: run.reason.clone().unwrap_or_else(|| "no reason given".into()),
        })
        .collect();
    Ok(Summary {
        rows,
        invalid,
        simple: Vec::new(),
    })
}

/// The row of one variant on one device, given at least one of its trials and all trials of its baseline on that device.
fn summary_row(
    trials: &[&RunRow],
    baseline: Option<&str>,
    baseline_trials: &[&RunRow],
) -> Result<SummaryRow, StatsError> {
    let valid: Vec<&RunRow> = trials
        .iter()
        .copied()
        .filter(|run| run.verdict == Verdict::Valid)
        .collect();
    let estimate = |value: fn(&RunRow) -> Option<f64>| {
        Estimate::of(&valid.iter().filter_map(|run| value(run)).collect::<Vec<_>>())
    };
    let mean = |value| Ok(estimate(value)?.map(|estimate| estimate.mean));
    let ratio = |value| ratio_by_round(&valid, baseline_trials, value);

    let rate = estimate(|run| Some(run.rate_units_per_s))?;
    let rate_ratio = ratio(|run| Some(run.rate_units_per_s))?;
    let per_joule = estimate(|run| run.units_per_joule)?;
    let per_joule_ratio = ratio(|run| run.units_per_joule)?;
    let per_clock = estimate(|run| run.units_per_clock_per_sm)?;
    let per_clock_ratio = ratio(|run| run.units_per_clock_per_sm)?;
    let itself = baseline == trials.first().map(|run| run.variant.as_str());
    let ratio_interval = |ratio| if itself { None } else { ci95(ratio) };

    let hits: Option<u64> = valid
        .iter()
        .map(|run| run.hits)
        .sum::<Option<u64>>()
        .filter(|_| !valid.is_empty());
    let hits_expected: Option<f64> = valid
        .iter()
        .map(|run| run.hits_expected)
        .sum::<Option<f64>>()
        .filter(|_| !valid.is_empty());
    let hits_p_value = match (hits, hits_expected) {
        (Some(hits), Some(expected)) => Some(poisson_two_sided(hits, expected)?),
        _ => None,
    };

    Ok(SummaryRow {
        variant: trials.first().map(|run| run.variant.clone()).unwrap_or_default(),
        device: trials.first().map(|run| run.device.clone()).unwrap_or_default(),
        n: count(valid.len()),
        n_invalid: count(trials.len() - valid.len()),
        rate_units_per_s_mean: rate.map(|rate| rate.mean),
        rate_units_per_s_sd: sd(rate),
        rate_units_per_s_ci95_lo: ci95(rate).map(|interval| interval.lo),
        rate_units_per_s_ci95_hi: ci95(rate).map(|interval| interval.hi),
        baseline: baseline.map(Into::into),
        ratio_rounds: count(rate_ratio.map_or(0, |ratio| ratio.n)),
        ratio_to_baseline_mean: rate_ratio.map(|ratio| ratio.mean),
        ratio_to_baseline_ci95_lo: ratio_interval(rate_ratio).map(|interval| interval.lo),
        ratio_to_baseline_ci95_hi: ratio_interval(rate_ratio).map(|interval| interval.hi),
        energy_j_mean: mean(|run| run.energy_j)?,
        power_w_mean: mean(|run| run.power_w)?,
        idle_w: mean(|run| run.idle_w)?,
        units_per_joule_mean: per_joule.map(|per_joule| per_joule.mean),
        units_per_joule_sd: sd(per_joule),
        units_per_joule_ci95_lo: ci95(per_joule).map(|interval| interval.lo),
        units_per_joule_ci95_hi: ci95(per_joule).map(|interval| interval.hi),
        units_per_joule_above_idle_mean: mean(|run| run.units_per_joule_above_idle)?,
        units_per_joule_ratio_mean: per_joule_ratio.map(|ratio| ratio.mean),
        units_per_joule_ratio_ci95_lo: ratio_interval(per_joule_ratio).map(|interval| interval.lo),
        units_per_joule_ratio_ci95_hi: ratio_interval(per_joule_ratio).map(|interval| interval.hi),
        sm_clock_mhz_mean: mean(|run| run.sm_clock_mhz_mean)?,
        in_kernel_clock_mhz_mean: mean(|run| run.in_kernel_clock_mhz)?,
        units_per_clock_per_sm_mean: per_clock.map(|per_clock| per_clock.mean),
        units_per_clock_per_sm_sd: sd(per_clock),
        units_per_clock_per_sm_ci95_lo: ci95(per_clock).map(|interval| interval.lo),
        units_per_clock_per_sm_ci95_hi: ci95(per_clock).map(|interval| interval.hi),
        units_per_clock_per_sm_ratio_mean: per_clock_ratio.map(|ratio| ratio.mean),
        units_per_clock_per_sm_ratio_ci95_lo: ratio_interval(per_clock_ratio).map(|interval| interval.lo),
        units_per_clock_per_sm_ratio_ci95_hi: ratio_interval(per_clock_ratio).map(|interval| interval.hi),
        hits,
        hits_expected,
        hits_p_value,
    })
}

/// The ratio of a value to the baseline's over the rounds in which both have one.
fn ratio_by_round(
    valid: &[&RunRow],
    baseline: &[&RunRow],
    value: fn(&RunRow) -> Option<f64>,
) -> Result<Option<Estimate>, StatsError> {
    let by_round: BTreeMap<u32, f64> = baseline
        .iter()
        .filter(|run| run.verdict == Verdict::Valid)
        .filter_map(|run| Some((run.round, value(run)?)))
        .collect();
    let pairs: Vec<(f64, f64)> = valid
        .iter()
        .filter_map(|run| Some((value(run)?, *by_round.get(&run.round)?)))
        .collect();
    paired_ratio(&pairs)
}

fn sd(estimate: Option<Estimate>) -> Option<f64> {
    Some(estimate?.spread?.sd)
}

fn ci95(estimate: Option<Estimate>) -> Option<Interval> {
    Some(estimate?.spread?.ci95)
}

/// A number of trials as the tables hold it.
fn count(trials: usize) -> u32 {
    u32::try_from(trials).unwrap_or(u32::MAX)
}
