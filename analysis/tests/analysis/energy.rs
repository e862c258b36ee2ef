//! From samples to energy and verdict, with faults put into the samples: a verdict, never a number.

use assay_analysis::{
    Finding, PowerLog, ThrottleSet, TrialPower,
    rows::{Phase, PowerRow, RunRow, Verdict},
};

use crate::sample;

/// Samples of one trial of 20 s at 400 W and 1500 MHz, between two idle periods at 100 W.
fn samples() -> Vec<PowerRow> {
    let mut rows = Vec::new();
    let mut energy_mj = 5_000_000u64;
    for (phase, count, watts) in [
        (Phase::Idle, 60, 100),
        (Phase::Trial, 200, 400),
        (Phase::Idle, 60, 100),
    ] {
        for _ in 0..count {
            energy_mj += watts * 100;
            rows.push(PowerRow {
                trial: u32::from(phase == Phase::Trial),
                t_host_s: rows.len() as f64 / 10.0,
                t_nvml_us: Some(1_790_000_000_000_000 + 100_000 * rows.len() as u64),
                power_instant_w: Some(watts as f64),
                energy_total_mj: Some(energy_mj),
                sm_clock_mhz: Some(1500),
                temperature_c: Some(60),
                throttle_reasons: Some(ThrottleSet::default()),
                phase,
                ..PowerRow::default()
            });
        }
    }
    rows
}

/// The rows of the trial in [`samples`].
const TRIAL: std::ops::Range<usize> = 60..260;

fn of(rows: &[PowerRow]) -> TrialPower {
    PowerLog::new(rows).trial(1, 20.0)
}

fn run() -> RunRow {
    RunRow {
        trial: 1,
        units: 20_000_000_000_000,
        seconds: 20.0,
        ..RunRow::default()
    }
}

fn derived(rows: &[PowerRow]) -> RunRow {
    run().derived(Some(&PowerLog::new(rows))).unwrap()
}

/// A trial that does not count, without energy.
fn assert_void(rows: &[PowerRow], finding: &Finding) {
    let power = of(rows);
    let said: Vec<String> = power.findings.iter().map(Finding::to_string).collect();
    assert_eq!(said, [finding.to_string()]);
    assert_eq!(
        (power.energy_j, power.energy_integral_j, power.energy_s),
        (None, None, None)
    );
    let row = derived(rows);
    assert_eq!(row.verdict, Verdict::Invalid);
    assert!(row.reason.unwrap().contains(&finding.to_string()));
    assert_eq!((row.energy_j, row.units_per_joule), (None, None));
}

#[test]
fn a_steady_trial_has_the_energy_of_its_power_and_the_idle_power_around_it() {
    let power = of(&samples());
    let seconds = power.energy_s.unwrap();
    assert!((17.7..=17.9).contains(&seconds), "{seconds}");
    assert!((power.energy_j.unwrap() - 400.0 * seconds).abs() < 1e-6);
    assert!((power.energy_integral_j.unwrap() - 400.0 * seconds).abs() < 1e-6);
    assert!((power.idle_w.unwrap() - 100.0).abs() < 1e-9);
    assert_eq!(
        (power.sm_clock_mhz_mean, power.temperature_c_mean),
        (Some(1500.0), Some(60.0))
    );
    assert_eq!((power.samples, power.findings.len()), (200, 0));
    let row = derived(&samples());
    assert_eq!((row.verdict, row.reason), (Verdict::Valid, None));
    assert!((row.units_per_joule.unwrap() - 1e12 / 400.0).abs() < 1.0);
    assert!((row.units_per_joule_above_idle.unwrap() - 1e12 / 300.0).abs() < 1.0);
}

#[test]
fn the_first_two_seconds_enter_no_statistic() {
    let mut rows = samples();
    for row in &mut rows[TRIAL.start..TRIAL.start + 20] {
        row.power_instant_w = Some(900.0);
        row.sm_clock_mhz = Some(300);
    }
    let power = of(&rows);
    assert_eq!(power.sm_clock_mhz_mean, Some(1500.0));
    assert_eq!(
        (power.energy_integral_j, power.findings.len()),
        (of(&samples()).energy_integral_j, 0)
    );
}

#[test]
fn an_edge_is_where_the_counter_changes_and_not_where_it_is_read() {
    let mut rows = samples();
    // The counter moves every third sample only.
    for i in TRIAL {
        let back = (i - TRIAL.start) % 3;
        rows[i].energy_total_mj = rows[i - back].energy_total_mj;
    }
    let power = of(&rows);
    assert!((power.energy_j.unwrap() / power.energy_s.unwrap() - 400.0).abs() < 1e-6);
}

#[test]
fn missing_samples_void_the_trial() {
    let mut rows = samples();
    rows.drain(TRIAL.start + 100..TRIAL.start + 115);
    assert_void(&rows, &Finding::Silence { seconds: 1.6 });
    // A sampler that stopped halfway, and one that never ran.
    let mut rows = samples();
    rows.drain(TRIAL.start + 150..);
    let power = of(&rows);
    assert!(
        matches!(power.findings[..], [Finding::Silence { seconds }] if seconds > 5.0),
        "{:?}",
        power.findings
    );
    assert_eq!(derived(&rows).verdict, Verdict::Invalid);
    assert_void(&[], &Finding::NoSamples);
}

#[test]
fn a_field_that_goes_missing_is_a_missing_sample() {
    let mut rows = samples();
    for row in &mut rows[TRIAL.start + 100..TRIAL.start + 115] {
        row.throttle_reasons = None;
    }
    assert_void(&rows, &Finding::Silence { seconds: 1.6 });
}

#[test]
fn a_frozen_counter_voids_the_trial() {
    let mut rows = samples();
    let stuck = rows[TRIAL.start + 100].energy_total_mj;
    for row in &mut rows[TRIAL.start + 100..TRIAL.start + 120] {
        row.energy_total_mj = stuck;
    }
    let power = of(&rows);
    assert!(
        matches!(power.findings[..], [Finding::Frozen { seconds }] if (1.9..2.1).contains(&seconds)),
        "{power:?}"
    );
    let stuck = rows[0].energy_total_mj;
    for row in &mut rows {
        row.energy_total_mj = stuck;
    }
    assert!(matches!(of(&rows).findings[..], [Finding::Frozen { .. }]));
    assert_eq!(
        (derived(&rows).verdict, derived(&rows).energy_j),
        (Verdict::Invalid, None)
    );
}

#[test]
fn a_counter_that_goes_back_voids_the_trial() {
    let mut rows = samples();
    rows[TRIAL.start + 100].energy_total_mj = Some(7);
    assert_void(&rows, &Finding::Backwards);
}

#[test]
fn heat_voids_a_trial_and_a_power_cap_is_labelled() {
    let mut rows = samples();
    rows[TRIAL.start + 3].throttle_reasons = Some(ThrottleSet::from_bits(0x40));
    let row = derived(&rows);
    assert_eq!(row.verdict, Verdict::Invalid);
    assert_eq!(
        row.reason.as_deref(),
        Some("clocks slowed down by hw_thermal_slowdown")
    );
    let mut rows = samples();
    rows[TRIAL.start + 3].throttle_reasons = Some(ThrottleSet::from_bits(0x4));
    let row = derived(&rows);
    assert_eq!(row.verdict, Verdict::Valid);
    assert_eq!(row.reason.as_deref(), Some("clocks held by sw_power_cap"));
    // Outside the trial it is nobody's fault.
    let mut rows = samples();
    rows[3].throttle_reasons = Some(ThrottleSet::from_bits(0x40));
    assert_eq!(derived(&rows).reason, None);
}

#[test]
fn a_gap_between_counter_and_integral_is_flagged_over_two_per_cent() {
    for (factor, flagged) in [(1.015, false), (1.03, true), (0.97, true)] {
        let mut rows = samples();
        for row in &mut rows {
            row.power_instant_w = row.power_instant_w.map(|watts| watts * factor);
        }
        let row = derived(&rows);
        assert!((row.energy_gap_fraction.unwrap() - (factor - 1.0)).abs() < 1e-9);
        assert_eq!(
            (row.verdict, row.reason.is_some()),
            (Verdict::Valid, flagged),
            "{factor}"
        );
    }
}

#[test]
fn a_record_that_was_gone_on_with_is_idle_only_where_it_was_sampled() {
    // Idle, a trial, idle; 90 s in which other work drew 500 W; idle, a trial, idle.
    let first = samples();
    let mut rows = first.clone();
    for row in &first {
        let mut row = row.clone();
        row.trial *= 2;
        row.t_host_s += 90.0 + 32.0;
        row.t_nvml_us = row.t_nvml_us.map(|stamp| stamp + 122_000_000);
        let so_far = first[first.len() - 1].energy_total_mj.unwrap() - 5_000_000;
        row.energy_total_mj = row.energy_total_mj.map(|counter| counter + so_far + 90 * 500_000);
        rows.push(row);
    }
    let log = PowerLog::new(&rows);
    for trial in [1, 2] {
        let idle = log.trial(trial, 20.0).idle_w.unwrap();
        assert!((idle - 100.0).abs() < 1e-6, "trial {trial}: idle at {idle} W");
    }
}

#[test]
fn a_short_trial_has_no_energy_and_counts() {
    let mut rows = samples();
    rows.drain(TRIAL.start + 60..TRIAL.end);
    let power = PowerLog::new(&rows).trial(1, 6.0);
    assert_eq!(
        (power.energy_j, power.energy_s, power.findings.len()),
        (None, None, 0)
    );
    assert_eq!(power.sm_clock_mhz_mean, Some(1500.0));
}

#[test]
fn a_counter_alone_gives_energy_and_an_integral_alone_gives_no_power() {
    let mut rows = samples();
    for row in &mut rows {
        *row = PowerRow {
            trial: row.trial,
            t_host_s: row.t_host_s,
            energy_total_mj: row.energy_total_mj,
            phase: row.phase,
            ..PowerRow::default()
        };
    }
    let row = derived(&rows);
    assert!((row.power_w.unwrap() - 400.0).abs() < 1e-9 && (row.idle_w.unwrap() - 100.0).abs() < 1e-9);
    assert_eq!(
        (
            row.energy_integral_j,
            row.energy_gap_fraction,
            row.throttle_reasons
        ),
        (None, None, None)
    );
    let mut rows = samples();
    for row in &mut rows {
        row.energy_total_mj = None;
    }
    let row = derived(&rows);
    assert!(row.energy_integral_j.is_some() && row.energy_j.is_none() && row.power_w.is_none());
}

#[test]
fn a_clock_that_was_set_during_the_trial_does_not_move_the_energy() {
    let mut rows = samples();
    for row in &mut rows[TRIAL.start + 100..] {
        row.t_nvml_us = row.t_nvml_us.map(|stamp| stamp + 3_600_000_000);
    }
    let power = of(&rows);
    assert!((power.energy_j.unwrap() / power.energy_s.unwrap() - 400.0).abs() < 1e-6);
}

#[test]
fn hits_that_chance_does_not_explain_void_the_trial() {
    let row = RunRow {
        hits: Some(10),
        hit_bits: Some(32),
        ..run()
    };
    let row = row.derived(None).unwrap();
    assert_eq!(row.verdict, Verdict::Invalid);
    assert_eq!(row.reason.as_deref(), Some("10 hits where 4656.6 are expected"));
}

#[test]
fn without_a_log_no_power_column_is_believed() {
    let row = sample::runs().remove(0).derived(None).unwrap();
    assert_eq!(
        (
            row.energy_j,
            row.power_samples,
            row.throttle_reasons,
            row.units_per_joule
        ),
        (None, None, None, None)
    );
}
