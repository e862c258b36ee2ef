//! The report's tables.

use super::{
    ReportError,
    facts::Facts,
    words::{energy as joules, fixed, or_dash, percent, significant, time},
};
use crate::{
    Align, Table, TableColumn,
    environment::environment as environment_of,
    is_control,
    rows::{SassRow, SummaryRow, Verdict, pipe_totals},
    stats::expected_times,
    subject,
    table::{giga, plus_minus as plus_minus_text},
};

const fn left(name: &'static str, description: &'static str) -> TableColumn {
    TableColumn {
        name,
        unit: "",
        description,
        align: Align::Left,
    }
}

const fn right(name: &'static str, unit: &'static str, description: &'static str) -> TableColumn {
    TableColumn {
        name,
        unit,
        description,
        align: Align::Right,
    }
}

/// A mean with half its interval.
pub(super) fn plus_minus(mean: Option<f64>, lo: Option<f64>, hi: Option<f64>) -> String {
    plus_minus_text(mean, lo, hi)
}

/// The same in thousands of millions.
pub(super) fn plus_minus_giga(mean: Option<f64>, lo: Option<f64>, hi: Option<f64>) -> String {
    plus_minus_text(giga(mean), giga(lo), giga(hi))
}

/// A ratio to the baseline; the baseline itself says so.
fn ratio(row: &SummaryRow, mean: Option<f64>, lo: Option<f64>, hi: Option<f64>) -> String {
    if mean.is_some() && row.baseline.as_ref() == Some(&row.variant) {
        return "baseline".into();
    }
    plus_minus(mean, lo, hi)
}

/// Power and energy of each variant; `None` where none was measured.
pub(super) fn energy(facts: &Facts) -> Option<Table> {
    let columns = vec![
        left("variant", "what was run"),
        right(
            "power",
            "W",
            "mean power under load, by the energy counter between two of its edges",
        ),
        right(
            "idle",
            "W",
            "mean power of the idle periods before and after the rounds, its context open and nothing running",
        ),
        right(
            "gross",
            "G units/J",
            "units per joule, all power counted, mean over trials ± half the 95 % interval",
        ),
        right(
            "ratio",
            "",
            "gross units per joule / the baseline's in the same round ± half the 95 % interval",
        ),
        right(
            "above idle",
            "G units/J",
            "units per joule of the power above idle",
        ),
        right(
            "gap",
            "%",
            "the largest difference of a trial's integral of the instant power from its counter",
        ),
    ];
    let rows: Vec<Vec<String>> = facts
        .summary
        .rows
        .iter()
        .filter(|row| row.units_per_joule_mean.is_some())
        .map(|row| {
            let gaps = facts
                .runs
                .iter()
                .filter(|run| run.variant == row.variant && run.verdict == Verdict::Valid);
            let gap = gaps
                .filter_map(|run| run.energy_gap_fraction)
                .max_by(|a, b| a.abs().total_cmp(&b.abs()));
            vec![
                row.variant.clone(),
                fixed(row.power_w_mean, 1),
                fixed(row.idle_w, 1),
                plus_minus_giga(
                    row.units_per_joule_mean,
                    row.units_per_joule_ci95_lo,
                    row.units_per_joule_ci95_hi,
                ),
                ratio(
                    row,
                    row.units_per_joule_ratio_mean,
                    row.units_per_joule_ratio_ci95_lo,
                    row.units_per_joule_ratio_ci95_hi,
                ),
                or_dash(giga(row.units_per_joule_above_idle_mean), 5),
                gap.map_or_else(|| "-".into(), |gap| format!("{:+.2}", gap * 100.0)),
            ]
        })
        .collect();
    (!rows.is_empty()).then_some(Table {
        columns,
        rows,
        notes: Vec::new(),
    })
}

/// What a clock of a multiprocessor brings, and how much of what the pipes allow that is.
pub(super) fn clocks(facts: &Facts) -> Option<Table> {
    let has_clocks = facts
        .summary
        .rows
        .iter()
        .any(|row| row.units_per_clock_per_sm_mean.is_some());
    if !has_clocks && facts.sass.is_empty() {
        return None;
    }
    let columns = vec![
        left("variant", "what was run"),
        right(
            "SM clock",
            "MHz",
            "mean over trials, as the multiprocessors count it",
        ),
        right(
            "sampled",
            "MHz",
            "mean over trials, as the driver's samples show it",
        ),
        right(
            "per clock and SM",
            "units",
            "units per clock and multiprocessor, mean over trials ± half the 95 % interval",
        ),
        right(
            "ratio",
            "",
            "units per clock and SM / the baseline's in the same round ± half the 95 % interval",
        ),
        right(
            "instructions",
            "per unit",
            "machine instructions per unit, by the disassembly",
        ),
        right("ALU", "per unit", "those of the ALU"),
        right("FMA", "per unit", "those of the FMA pipe"),
        right(
            "bound",
            "units",
            "the most units per clock and multiprocessor that the pipes' nominal rates allow, and which pipe sets it",
        ),
        right("share", "", "units per clock and SM as a share of that"),
    ];
    let rows = facts
        .summary
        .rows
        .iter()
        .map(|row| {
            let label = subject(&row.variant);
            let account: Vec<&SassRow> = facts.sass.iter().filter(|sass| sass.variant == label).collect();
            let has_account = !account.is_empty();
            let totals = pipe_totals(account);
            let count = |value: f64| fixed(has_account.then_some(value), 2);
            let bound = facts.bound(label).and_then(|bound| bound.lowest());
            let share = bound
                .zip(row.units_per_clock_per_sm_mean)
                .map(|((bound, _), got)| got / bound);
            vec![
                row.variant.clone(),
                fixed(row.in_kernel_clock_mhz_mean, 1),
                fixed(row.sm_clock_mhz_mean, 1),
                plus_minus(
                    row.units_per_clock_per_sm_mean,
                    row.units_per_clock_per_sm_ci95_lo,
                    row.units_per_clock_per_sm_ci95_hi,
                ),
                ratio(
                    row,
                    row.units_per_clock_per_sm_ratio_mean,
                    row.units_per_clock_per_sm_ratio_ci95_lo,
                    row.units_per_clock_per_sm_ratio_ci95_hi,
                ),
                count(totals.total),
                count(totals.alu),
                count(totals.fma),
                bound.map_or_else(
                    || "-".into(),
                    |(bound, limit)| format!("{} ({limit})", significant(bound, 4)),
                ),
                percent(share, 1),
            ]
        })
        .collect();
    Some(Table {
        columns,
        rows,
        notes: Vec::new(),
    })
}

/// Expected time and energy to 10 to 15 leading zeros, for variants whose hits are digests.
pub(super) fn zeros(facts: &Facts) -> Result<Option<Table>, ReportError> {
    let mut columns = vec![left("variant", "what was run; an A/A control is left out")];
    const ZEROS: [(&str, &str); 6] = [
        (
            "10 zeros",
            "expected time to a digest that starts with 10 zero hex digits, and its energy where that is measured",
        ),
        ("11 zeros", "with 11"),
        ("12 zeros", "with 12"),
        ("13 zeros", "with 13"),
        ("14 zeros", "with 14"),
        ("15 zeros", "with 15"),
    ];
    columns.extend(ZEROS.map(|(name, description)| right(name, "", description)));
    let mut rows = Vec::new();
    for row in &facts.summary.rows {
        let (Some(rate), false, true) = (
            row.rate_units_per_s_mean,
            is_control(&row.variant),
            row.hits.is_some(),
        ) else {
            continue;
        };
        let mut cells = vec![row.variant.clone()];
        for (zeros, seconds) in expected_times(rate)? {
            let energy = row
                .units_per_joule_mean
                .map(|per_joule| 16f64.powi(zeros as i32) / per_joule);
            cells.push(match energy {
                Some(energy) => format!("{}, {}", time(seconds), joules(energy)),
                None => time(seconds),
            });
        }
        rows.push(cells);
    }
    let notes = vec![
        "The time to a hit is exponentially distributed: its standard deviation is its mean. s, min, h, d (days) and a (years of 365.25 days).".into(),
    ];
    Ok((!rows.is_empty()).then_some(Table { columns, rows, notes }))
}

/// Every trial.
pub(super) fn trials(facts: &Facts) -> Table {
    let columns = vec![
        right("trial", "", "number in the order of time"),
        right("round", "", "round and place in it"),
        left("variant", "what was run"),
        right("rate", "G units/s", "units / time"),
        right("hits", "", "hits found / expected"),
        right("energy", "J", "by the counter between two of its edges"),
        right("over", "s", "time between those edges"),
        right("gap", "%", "integral of the instant power / counter - 1"),
        right(
            "SM clock",
            "MHz",
            "as the multiprocessors count it, else as sampled",
        ),
        right("temperature", "°C", "mean"),
        right("samples", "", "power samples (overruns, repeats)"),
        left("verdict", "whether the trial counts, and why not or what to know"),
    ];
    let rows = facts
        .runs
        .iter()
        .map(|run| {
            let verdict = match run.verdict {
                Verdict::Valid => "valid",
                Verdict::Invalid => "INVALID",
            };
            let samples = run.power_samples.map(|samples| {
                format!(
                    "{samples} ({}, {})",
                    run.power_overruns.unwrap_or(0),
                    run.power_repeats.unwrap_or(0)
                )
            });
            let hits = run.hits.zip(run.hits_expected);
            vec![
                run.trial.to_string(),
                format!("{}.{}", run.round, run.position),
                run.variant.clone(),
                significant(run.rate_units_per_s / 1e9, 6),
                hits.map_or_else(
                    || "-".into(),
                    |(hits, expected)| format!("{hits} / {expected:.1}"),
                ),
                fixed(run.energy_j, 1),
                fixed(run.energy_s, 2),
                run.energy_gap_fraction
                    .map_or_else(|| "-".into(), |gap| format!("{:+.2}", gap * 100.0)),
                fixed(run.in_kernel_clock_mhz.or(run.sm_clock_mhz_mean), 1),
                fixed(run.temperature_c_mean, 1),
                samples.unwrap_or_else(|| "-".into()),
                match &run.reason {
                    Some(reason) => format!("{verdict}: {reason}"),
                    None => verdict.into(),
                },
            ]
        })
        .collect();
    Table {
        columns,
        rows,
        notes: Vec::new(),
    }
}

/// What the run ran on, under which plan.
pub(super) fn environment(facts: &Facts) -> Table {
    let rows = environment_of(&facts.manifest);
    Table {
        columns: vec![
            left("what", "a property of the run"),
            left("value", "as the manifest has it"),
        ],
        rows: rows
            .into_iter()
            .map(|(what, value)| vec![what.to_owned(), value])
            .collect(),
        notes: Vec::new(),
    }
}

/// The variants as they were built.
pub(super) fn variants(facts: &Facts) -> Table {
    let columns = vec![
        left("variant", "its label"),
        left("options", "as its file gives them"),
        right("registers", "", "per thread"),
        right("spilled", "bytes", "per thread, stores and loads"),
        left(
            "source",
            "SHA-256 of the text that was compiled, its first 16 digits",
        ),
        left(
            "cubin",
            "SHA-256 of the machine code, its first 16 digits: the same digits are the same code",
        ),
    ];
    let start = |hash: &str| hash.get(..16).unwrap_or(hash).to_owned();
    let number = |value: Option<u32>| value.map_or_else(|| "-".into(), |value| value.to_string());
    let rows = facts
        .manifest
        .variants
        .iter()
        .map(|variant| {
            let options: Vec<String> = variant
                .options
                .iter()
                .map(|(key, value)| format!("{key} = {value}"))
                .collect();
            vec![
                variant.label.clone(),
                options.join(", "),
                number(variant.registers),
                number(variant.spill_bytes),
                start(&variant.source_sha256),
                variant.cubin_sha256.as_deref().map_or_else(|| "-".into(), start),
            ]
        })
        .collect();
    Table {
        columns,
        rows,
        notes: Vec::new(),
    }
}

/// The record's files.
pub(super) fn files(facts: &Facts) -> Table {
    let rows = facts
        .files
        .iter()
        .map(|(name, entry)| vec![name.clone(), entry.size.to_string(), entry.sha256.clone()])
        .collect();
    Table {
        columns: vec![
            left("file", "in the record's folder"),
            right("size", "bytes", "its length"),
            left("SHA-256", "of its bytes"),
        ],
        rows,
        notes: Vec::new(),
    }
}
