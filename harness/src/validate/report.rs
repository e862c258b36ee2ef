//! What a validation says: a row per variant, as JSON and as a table.

use assay_analysis::{Align, Table, TableColumn, rows};
use assay_kernels::family::{Difference, Verdict};
use assay_kernels::workload::Fault;
use serde::Serialize;

use super::run::of_fault;
use crate::device::DeviceInfo;
use crate::select::Selected;

/// The outcome of one variant.
#[derive(Debug, Clone, Serialize)]
pub struct ResultRow {
    /// `FAMILY/NAME`.
    pub variant: String,
    /// The device's name.
    pub device: String,
    /// Whether nothing differs, is missing or came twice.
    pub ok: bool,
    /// Candidates compared, all checks together.
    pub checked: u64,
    /// Those with a value that differs.
    pub mismatches: u64,
    /// Those reported more than once.
    pub duplicates: u64,
    /// Those that should have been reported and were not.
    pub missing: u64,
    /// Rows of a vector file that the variant does not cover.
    pub not_covered: u64,
    /// The first layer that differs, in the order in which data flows.
    pub first_bad_layer: Option<String>,
    /// What differs there, in a sentence; or that nothing does.
    pub message: String,
    /// Layers that the variant never forms.
    pub not_formed: Vec<String>,
    /// The checks that were run, with their own counts.
    pub checks: Vec<CheckRow>,
    #[serde(skip)]
    place: usize,
}

/// The outcome of one check.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CheckRow {
    /// What was checked.
    pub name: String,
    /// Candidates compared.
    pub checked: u64,
    /// Those with a value that differs.
    pub mismatches: u64,
    /// Those reported more than once.
    pub duplicates: u64,
    /// Those that should have been reported and were not.
    pub missing: u64,
    /// Rows of a vector file that the variant does not cover.
    pub not_covered: u64,
    /// The first layer that differs.
    pub first_bad_layer: Option<String>,
    /// What differs there.
    pub message: Option<String>,
    /// Whether it is right.
    pub ok: bool,
}

impl ResultRow {
    /// A row with nothing in it yet.
    pub fn new(selected: &Selected, info: &DeviceInfo) -> ResultRow {
        ResultRow {
            variant: selected.label(),
            device: info.id.clone(),
            ok: true,
            checked: 0,
            mismatches: 0,
            duplicates: 0,
            missing: 0,
            not_covered: 0,
            first_bad_layer: None,
            message: "all equal".to_owned(),
            not_formed: Vec::new(),
            checks: Vec::new(),
            place: usize::MAX,
        }
    }

    /// Add a check's verdict. Of all differences the first in the order of `layers` stays.
    pub fn add(&mut self, name: &str, verdict: &Verdict, fault: Option<&Fault>, layers: &[String]) {
        let ok = verdict.ok() && fault.is_none();
        let mismatches = verdict.mismatches + u64::from(fault.is_some());
        let differences: Vec<Difference> = verdict.first.iter().cloned().chain(fault.map(of_fault)).collect();
        let first = differences
            .iter()
            .min_by_key(|difference| place(difference, layers));
        self.ok &= ok;
        self.checked += verdict.checked;
        self.mismatches += mismatches;
        self.duplicates += verdict.duplicates;
        self.missing += verdict.missing;
        self.not_covered += verdict.not_covered;
        for layer in &verdict.not_formed {
            if !self.not_formed.contains(layer) {
                self.not_formed.push(layer.clone());
            }
        }
        self.checks.push(CheckRow {
            name: name.to_owned(),
            checked: verdict.checked,
            mismatches,
            duplicates: verdict.duplicates,
            missing: verdict.missing,
            not_covered: verdict.not_covered,
            first_bad_layer: first.map(|difference| difference.layer.clone()),
            message: first.map(sentence),
            ok,
        });
        if let Some(first) = first {
            self.differs(name, first, layers);
        }
    }

    fn differs(&mut self, check: &str, difference: &Difference, layers: &[String]) {
        let place = place(difference, layers);
        if self.first_bad_layer.is_some() && place >= self.place {
            return;
        }
        self.place = place;
        self.first_bad_layer = Some(difference.layer.clone());
        self.message = format!("{check}: {}", sentence(difference));
    }

    /// The last check, as a record keeps it.
    pub fn last_check(&self) -> Option<rows::CheckRow> {
        let check = self.checks.last()?;
        let row = rows::CheckRow {
            variant: self.variant.clone(),
            device: self.device.clone(),
            check: check.name.clone(),
            checked: check.checked,
            mismatches: check.mismatches,
            duplicates: check.duplicates,
            missing: check.missing,
            not_covered: check.not_covered,
            first_bad_layer: check.first_bad_layer.clone(),
            message: check.message.clone(),
            ..rows::CheckRow::default()
        };
        Some(row.derived())
    }

    /// The variant's set differs from another's.
    pub fn disagrees(&mut self, sentence: &str) {
        self.mismatches += 1;
        self.checks.push(CheckRow {
            name: "hit sets beside other variants'".to_owned(),
            mismatches: 1,
            first_bad_layer: Some("hit".to_owned()),
            message: Some(sentence.to_owned()),
            ..CheckRow::default()
        });
        if self.ok {
            self.message = format!("hit sets differ: {sentence}");
            self.first_bad_layer = Some("hit".to_owned());
        }
        self.ok = false;
    }
}

/// Where its layer is in the order of `layers`; behind all where it is none of them.
fn place(difference: &Difference, layers: &[String]) -> usize {
    let place = layers.iter().position(|layer| *layer == difference.layer);
    place.unwrap_or(layers.len())
}

fn sentence(difference: &Difference) -> String {
    let Difference {
        layer,
        candidate,
        got,
        expected,
    } = difference;
    format!("layer {layer} of {candidate} is {got}, expected {expected}")
}

/// The JSON document of `validate`.
#[derive(Debug, Serialize)]
pub struct Document<'d> {
    /// Version of the schema.
    pub schema: u32,
    /// Whether every row is right.
    pub ok: bool,
    /// The seed, with which the same checks can be run again.
    pub seed: u64,
    /// The folder of the record.
    pub record: String,
    /// A row per variant.
    pub results: &'d [ResultRow],
}

/// The table for the screen.
pub fn table(results: &[ResultRow]) -> Table {
    let column = |name, description, align| TableColumn {
        name,
        unit: "",
        description,
        align,
    };
    Table {
        columns: vec![
            column("variant", "what was checked", Align::Left),
            column("device", "where it ran", Align::Left),
            column(
                "outcome",
                "right, or the first layer that differs in the order in which data flows; nothing checked where a vector file has no row for it",
                Align::Left,
            ),
            column(
                "checked",
                "candidates, or values of a matrix, compared with the host's answer",
                Align::Right,
            ),
            column("mismatches", "those that differ", Align::Right),
            column("duplicates", "candidates reported more than once", Align::Right),
            column(
                "missing",
                "candidates that should have been reported and were not",
                Align::Right,
            ),
            column(
                "not covered",
                "rows of a vector file that the variant does not visit",
                Align::Right,
            ),
            column("not formed", "layers that the variant never forms", Align::Left),
        ],
        rows: results
            .iter()
            .map(|row| {
                vec![
                    row.variant.clone(),
                    row.device.clone(),
                    match &row.first_bad_layer {
                        Some(layer) => format!("WRONG at {layer}"),
                        None if row.ok && row.checked == 0 => "nothing checked".to_owned(),
                        None => "right".to_owned(),
                    },
                    row.checked.to_string(),
                    row.mismatches.to_string(),
                    row.duplicates.to_string(),
                    row.missing.to_string(),
                    row.not_covered.to_string(),
                    row.not_formed.join(" "),
                ]
            })
            .collect(),
        notes: results
            .iter()
            .filter(|row| !row.ok)
            .map(|row| format!("{}: {}", row.variant, row.message))
            .collect(),
    }
}
