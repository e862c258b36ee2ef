//! The best candidates of a tuner as a table.

use crate::{
    Align, Objective, Table, TableColumn,
    rows::{Fate, TuneRow},
    table::{giga, plus_minus},
};

/// The table of `rows`, the best first; `control` is the A/A control, which shows the noise.
pub fn tune_table(rows: &[TuneRow], control: Option<&TuneRow>, objective: Objective) -> Table {
    let column = |name, unit, description, align| TableColumn {
        name,
        unit,
        description,
        align,
    };
    let mut columns = vec![
        column(
            "variant",
            "",
            "label of the candidate; * marks the best",
            Align::Left,
        ),
        column(
            "changes",
            "",
            "what it changes in the starting variant's file (`isa` is the device's)",
            Align::Left,
        ),
        column(
            "rung",
            "",
            "the last rung of the race that it was timed in; each keeps the better half and is longer",
            Align::Right,
        ),
        column(
            "rate",
            "G units/s",
            "mean over the trials of that rung",
            Align::Right,
        ),
        column(
            "ratio",
            "",
            "rate / the starting variant's in the same round, mean over the rung's rounds ± half the 95 % Student-t interval",
            Align::Right,
        ),
    ];
    let with_energy =
        objective == Objective::Energy || rows.iter().any(|row| row.units_per_joule_mean.is_some());
    if with_energy {
        columns.push(column(
            "energy",
            "G units/J",
            "units per joule, gross, mean over the trials of that rung",
            Align::Right,
        ));
        columns.push(column(
            "energy ratio",
            "",
            "the same as ratio, of units per joule",
            Align::Right,
        ));
    }
    columns.push(column("n", "", "valid trials in that rung", Align::Right));
    let cells = |row: &TuneRow| {
        let is_start = row.candidate == 0;
        let against = |mean, lo, hi| {
            if is_start {
                "start".to_owned()
            } else {
                plus_minus(mean, lo, hi)
            }
        };
        let mut cells = vec![
            format!(
                "{}{}",
                row.variant,
                if row.fate == Fate::Winner { " *" } else { "" }
            ),
            row.changes.clone().unwrap_or_default(),
            row.rung.map_or("-".to_owned(), |rung| rung.to_string()),
            plus_minus(giga(row.rate_units_per_s_mean), None, None),
            against(
                row.ratio_to_start_mean,
                row.ratio_to_start_ci95_lo,
                row.ratio_to_start_ci95_hi,
            ),
        ];
        if with_energy {
            cells.push(plus_minus(giga(row.units_per_joule_mean), None, None));
            cells.push(against(
                row.units_per_joule_ratio_mean,
                row.units_per_joule_ratio_ci95_lo,
                row.units_per_joule_ratio_ci95_hi,
            ));
        }
        cells.push(row.n.unwrap_or(0).to_string());
        cells
    };
    let noise = control.map(|row| {
        let (mean, lo, hi) = match objective {
            Objective::Rate => (row.ratio_to_start_mean, row.ratio_to_start_ci95_lo, row.ratio_to_start_ci95_hi),
            Objective::Energy => (
                row.units_per_joule_ratio_mean,
                row.units_per_joule_ratio_ci95_lo,
                row.units_per_joule_ratio_ci95_hi,
            ),
        };
        format!(
            "The A/A control, the starting variant measured again in the last rung, has the ratio {}: that is the noise.",
            plus_minus(mean, lo, hi)
        )
    });
    Table {
        columns,
        rows: rows.iter().map(cells).collect(),
        notes: noise.into_iter().collect(),
    }
}
