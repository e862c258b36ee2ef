//! `assay variants`: what there is to run.

use std::collections::BTreeMap;
use std::io::Write;

use assay_analysis::{Align, Table, TableColumn};
use serde::Serialize;

use super::common::print_json;
use crate::select::Shelf;

/// List variants with their options
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  assay variants
  assay variants md5-q9/v4 --json")]
pub struct VariantsArgs {
    /// Families or variants [default: all]
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
    /// Print one JSON document on stdout
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct Document {
    schema: u32,
    variants: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    variant: String,
    summary: String,
    unit: &'static str,
    layers: Vec<String>,
    options: BTreeMap<&'static str, String>,
}

/// Run the command.
///
/// # Errors
/// When a selector fits nothing or a file is no variant.
pub fn run(args: &VariantsArgs, shelf: &Shelf, out: &mut dyn Write) -> anyhow::Result<()> {
    let selected = shelf.select(&args.selectors)?;
    if args.json {
        let variants = selected
            .iter()
            .map(|one| Row {
                variant: one.label(),
                summary: one.variant.summary().to_owned(),
                unit: one.family.unit(),
                layers: one.family.layers(),
                options: one.variant.options().into_iter().collect(),
            })
            .collect();
        return Ok(print_json(out, &Document { schema: 1, variants })?);
    }
    let column = |name, description| TableColumn {
        name,
        unit: "",
        description,
        align: Align::Left,
    };
    let options = |one: &crate::select::Selected| {
        let options = one.variant.options();
        options
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let table = Table {
        columns: vec![
            column("variant", "its label, FAMILY/NAME"),
            column("what it is", "the summary of its file"),
            column("options", "how it computes and how it is launched"),
        ],
        rows: selected
            .iter()
            .map(|one| vec![one.label(), one.variant.summary().to_owned(), options(one)])
            .collect(),
        notes: vec![],
    };
    writeln!(out, "{table}")?;
    Ok(())
}
