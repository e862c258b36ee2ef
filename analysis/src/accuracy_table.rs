//! How far products are from the exact ones, as a table.

use crate::{Align, Table, TableColumn, natural_key, rows::AccuracyRow};

/// Half the distance from 1 to the next double: what one rounding may cost.
const UNIT_ROUNDOFF: f64 = f64::EPSILON / 2.0;

/// The table of `rows`: by matrices, and in them by variant. Errors are in roundings, and beside those of the variant `reference` (a
/// label) on the same matrices, where it is there.
pub fn accuracy_table(rows: &[AccuracyRow], reference: &str) -> Table {
    let mut in_order: Vec<&AccuracyRow> = rows.iter().collect();
    in_order.sort_by(|a, b| {
        let matrices = |row: &AccuracyRow| (row.edge, row.phi.unwrap_or(-1.0));
        let ((edge_a, phi_a), (edge_b, phi_b)) = (matrices(a), matrices(b));
        let label = |row: &AccuracyRow| (row.variant != reference, natural_key(&row.variant));
        (edge_a.cmp(&edge_b))
            .then(phi_a.total_cmp(&phi_b))
            .then_with(|| label(a).cmp(&label(b)))
    });
    let of_reference = |row: &AccuracyRow| {
        rows.iter().find(|other| {
            other.variant == reference && (other.edge, other.phi, other.seed) == (row.edge, row.phi, row.seed)
        })
    };
    let cells = |row: &AccuracyRow| {
        let ratio = match of_reference(row) {
            Some(other) if other.error_max > 0.0 && other.variant != row.variant => {
                format!("{:.3}", row.error_max / other.error_max)
            }
            _ => "-".to_owned(),
        };
        vec![
            row.edge.to_string(),
            row.phi.map_or("uniform".to_owned(), |phi| format!("phi {phi}")),
            row.variant.clone(),
            row.moduli.map_or("-".to_owned(), |moduli| moduli.to_string()),
            format!("{:.2e}", row.error_max),
            format!("{:.2}", row.error_max / UNIT_ROUNDOFF),
            ratio,
            format!("{:.2e}", row.relative_max),
            row.samples.to_string(),
        ]
    };
    Table {
        columns: columns(),
        rows: in_order.into_iter().map(cells).collect(),
        notes: Vec::new(),
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
        column("edge", "rows, columns and K", Align::Right),
        column(
            "values",
            "uniform in -1..1, or (u - 1/2) exp(phi z) with u uniform and z normal",
            Align::Left,
        ),
        column("variant", "what multiplied", Align::Left),
        column("moduli", "moduli that the product took", Align::Right),
        column(
            "error",
            "the largest |C - C*| / (|A| |B|) over the sampled elements, C* the exact one",
            Align::Right,
        ),
        column("roundings", "the same in units of 2^-53", Align::Right),
        column("to native", "the same over the native product's", Align::Right),
        column("relative", "the largest |C - C*| / |C*|", Align::Right),
        column("samples", "elements computed exactly on the host", Align::Right),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_native_product_comes_first_and_others_are_held_against_it() {
        let row = |variant: &str, phi, error: f64| {
            AccuracyRow {
                variant: variant.into(),
                edge: 64,
                phi,
                samples: 10,
                worst_error: error,
                worst_magnitude: 2.0,
                ..AccuracyRow::default()
            }
            .derived()
        };
        let rows = [
            row("f/b", Some(4.0), 1.0),
            row("f/b", None, 2f64.powi(-53)),
            row("f/native", Some(4.0), 0.5),
            row("f/a", Some(4.0), 0.0),
        ];
        let table = accuracy_table(&rows, "f/native");
        let seen: Vec<[&str; 4]> = table
            .rows
            .iter()
            .map(|cells| [1, 2, 5, 6].map(|column| cells[column].as_str()))
            .collect();
        assert_eq!(
            seen,
            [
                ["uniform", "f/b", "0.50", "-"],
                ["phi 4", "f/native", "2251799813685248.00", "-"],
                ["phi 4", "f/a", "0.00", "0.000"],
                ["phi 4", "f/b", "4503599627370496.00", "2.000"],
            ]
        );
    }
}
