//! How near variants come to what a simpler product of the same size allows.

use crate::{
    Align, Floor, Summary, Table, TableColumn, class, is_control,
    rows::SummaryRow,
    table::{giga, plus_minus},
};

/// The table of the variants in `summary` that `floors` has an entry for, by label, and whose class holds the simple product too;
/// `None` where there are none. Where a class has several simple products, the fastest counts.
pub fn floor_table(summary: &Summary, floors: &[(String, Floor)]) -> Option<Table> {
    let floor_of = |row: &SummaryRow| {
        floors
            .iter()
            .find(|(label, _)| *label == row.variant)
            .map(|(_, floor)| *floor)
    };
    let simple = |row: &SummaryRow| {
        summary
            .rows
            .iter()
            .filter(|other| other.device == row.device && class(&other.variant) == class(&row.variant))
            .filter(|other| floor_of(other) == Some(Floor::Itself))
            .filter_map(|other| Some((other.rate_units_per_s_mean?, other.variant.as_str())))
            .max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let cells = |row: &SummaryRow| {
        let Some(Floor::Products(products)) = floor_of(row) else {
            return None;
        };
        let ((raw, name), rate) = (simple(row)?, row.rate_units_per_s_mean?);
        let bound = raw / f64::from(products.max(1));
        Some(vec![
            row.variant.clone(),
            products.to_string(),
            name.to_owned(),
            plus_minus(giga(Some(bound)), None, None),
            plus_minus(giga(Some(rate)), None, None),
            format!("{:.1}", 100.0 * rate / bound),
        ])
    };
    let rows: Vec<Vec<String>> = summary
        .rows
        .iter()
        .filter(|row| !is_control(&row.variant))
        .filter_map(cells)
        .collect();
    (!rows.is_empty()).then(|| Table {
        columns: columns(),
        rows,
        notes: Vec::new(),
    })
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
        column("products", "", "simple products that it takes", Align::Right),
        column(
            "simple",
            "",
            "the fastest simple product of that size in this run",
            Align::Left,
        ),
        column("bound", "G units/s", "its rate / products", Align::Right),
        column("rate", "G units/s", "the variant's rate", Align::Right),
        column(
            "of it",
            "%",
            "rate / bound; all that is not those products is in the rest",
            Align::Right,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_is_held_against_the_fastest_simple_product_of_its_size() {
        let row = |variant: &str, rate: f64| SummaryRow {
            variant: variant.into(),
            rate_units_per_s_mean: Some(rate),
            ..SummaryRow::default()
        };
        let summary = Summary {
            rows: vec![
                row("f/slow@8", 50e9),
                row("f/fast@8", 60e9),
                row("f/whole@8", 3e9),
                row("f/whole@8@aa", 3e9),
                row("f/whole@16", 3e9),
                row("f/native@8", 9e9),
            ],
            ..Summary::default()
        };
        let floors = [
            ("f/slow@8", Floor::Itself),
            ("f/fast@8", Floor::Itself),
            ("f/whole@8", Floor::Products(15)),
            ("f/whole@8@aa", Floor::Products(15)),
            ("f/whole@16", Floor::Products(15)),
        ]
        .map(|(label, floor)| (label.to_owned(), floor));
        let table = floor_table(&summary, &floors).unwrap();
        assert_eq!(
            table.rows.len(),
            1,
            "one with a simple product of its size: {:?}",
            table.rows
        );
        assert_eq!(table.rows[0][..3], ["f/whole@8", "15", "f/fast@8"]);
        assert_eq!(table.rows[0][5], "75.0");
        assert!(floor_table(&summary, &floors[..2]).is_none());
    }
}
