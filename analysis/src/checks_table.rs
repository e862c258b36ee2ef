//! What the checks of a validation found, as a table.

use crate::{Align, Table, TableColumn, rows::CheckRow};

/// The table of `rows`, in their order.
pub fn checks_table(rows: &[CheckRow]) -> Table {
    let cells = |row: &CheckRow| {
        let outcome = match &row.first_bad_layer {
            _ if row.right && row.checked == 0 => "nothing checked".to_owned(),
            _ if row.right => "right".to_owned(),
            Some(layer) => format!("WRONG at {layer}"),
            None => "WRONG".to_owned(),
        };
        let not_right = row.mismatches + row.duplicates + row.missing;
        vec![
            row.variant.clone(),
            row.check.clone(),
            outcome,
            row.checked.to_string(),
            not_right.to_string(),
            row.not_covered.to_string(),
        ]
    };
    let note = |row: &CheckRow| {
        Some(format!(
            "{}, {}: {}",
            row.variant,
            row.check,
            row.message.as_ref()?
        ))
    };
    Table {
        columns: columns(),
        rows: rows.iter().map(cells).collect(),
        notes: rows.iter().filter_map(note).collect(),
    }
}

fn columns() -> Vec<TableColumn> {
    let column = |name, description, align| TableColumn {
        name,
        unit: "",
        description,
        align,
    };
    vec![
        column("variant", "what was checked", Align::Left),
        column("check", "by which products, layers or hits", Align::Left),
        column(
            "outcome",
            "right, or the first layer that differs; nothing checked where a vector file has no row for the variant",
            Align::Left,
        ),
        column(
            "checked",
            "candidates, or values of a matrix, compared with the host's answer",
            Align::Right,
        ),
        column(
            "not right",
            "that differ, are missing or came twice",
            Align::Right,
        ),
        column(
            "not covered",
            "rows of a vector file that the variant does not visit",
            Align::Right,
        ),
    ]
}
