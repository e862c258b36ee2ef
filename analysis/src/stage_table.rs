//! Where a variant's time goes, as a table.

use crate::{
    Align, Table, TableColumn,
    rows::{RunRow, StageRow, Verdict},
};

/// The table of the stages of every valid trial in `runs`; `None` where there are none. What a trial took beside its stages is the row
/// `between`: the host, copies, and gaps between launches.
pub fn stage_table(stages: &[StageRow], runs: &[RunRow]) -> Option<Table> {
    let mut variants: Vec<&str> = Vec::new();
    for run in runs.iter().filter(|run| run.verdict == Verdict::Valid) {
        let has_stages = stages.iter().any(|stage| stage.trial == run.trial);
        if has_stages && !variants.contains(&run.variant.as_str()) {
            variants.push(&run.variant);
        }
    }
    let rows: Vec<Vec<String>> = variants
        .iter()
        .flat_map(|variant| of_variant(variant, stages, runs))
        .collect();
    (!rows.is_empty()).then(|| Table {
        columns: columns(),
        rows,
        notes: Vec::new(),
    })
}

/// A row per stage of a variant, over all of its valid trials.
fn of_variant(variant: &str, stages: &[StageRow], runs: &[RunRow]) -> Vec<Vec<String>> {
    let trials: Vec<&RunRow> = runs
        .iter()
        .filter(|run| run.variant == variant && run.verdict == Verdict::Valid)
        .collect();
    let mut sums: Vec<(&str, u64, f64)> = Vec::new();
    for row in stages
        .iter()
        .filter(|row| trials.iter().any(|run| run.trial == row.trial))
    {
        match sums.iter_mut().find(|(stage, ..)| *stage == row.stage) {
            Some((_, launches, seconds)) => {
                *launches += row.launches;
                *seconds += row.seconds;
            }
            None => sums.push((&row.stage, row.launches, row.seconds)),
        }
    }
    let whole: f64 = trials.iter().map(|run| run.seconds).sum();
    let share = |seconds: f64| format!("{:.2}", 100.0 * seconds / whole);
    let between = whole - sums.iter().map(|(.., seconds)| seconds).sum::<f64>();
    let stage_row = |(stage, launches, seconds): &(&str, u64, f64)| {
        vec![
            variant.to_owned(),
            (*stage).to_owned(),
            launches.to_string(),
            format!("{:.4}", 1e3 * seconds / (*launches).max(1) as f64),
            share(*seconds),
        ]
    };
    let last = vec![
        variant.to_owned(),
        "between".to_owned(),
        "-".to_owned(),
        "-".to_owned(),
        share(between),
    ];
    sums.iter().map(stage_row).chain([last]).collect()
}

fn columns() -> Vec<TableColumn> {
    let column = |name, unit, description, align| TableColumn {
        name,
        unit,
        description,
        align,
    };
    vec![
        column("variant", "", "what was run", Align::Left),
        column(
            "stage",
            "",
            "kernel or call of a library, in the order of the data; `between` is the host, copies and gaps",
            Align::Left,
        ),
        column("launches", "", "over all valid trials", Align::Right),
        column("each", "ms", "mean time of one on the device", Align::Right),
        column("share", "%", "of the trials' time", Align::Right),
    ]
}
