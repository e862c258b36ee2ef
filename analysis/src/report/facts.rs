//! What a record holds, read once.

use super::{REPORT_FILES, ReportError};
use crate::{
    Class, FileEntry, Floor, MANIFEST, Manifest, Record, Summary, class, family,
    record::{file_entry, file_names},
    rows::{AccuracyRow, BoundRow, CheckRow, PowerRow, RunRow, SassRow, StageRow, SummaryRow},
    subject, summarise,
};

/// Everything that the report says something about.
pub(super) struct Facts {
    pub(super) manifest: Manifest,
    pub(super) runs: Vec<RunRow>,
    pub(super) summary: Summary,
    pub(super) power: Vec<PowerRow>,
    pub(super) stages: Vec<StageRow>,
    pub(super) accuracies: Vec<AccuracyRow>,
    pub(super) sass: Vec<SassRow>,
    pub(super) bounds: Vec<BoundRow>,
    pub(super) checks: Vec<CheckRow>,
    /// The table of the validation, as the run wrote it.
    pub(super) validation: Option<String>,
    /// Every file but the manifest and the report itself.
    pub(super) files: Vec<(String, FileEntry)>,
}

impl Facts {
    pub(super) fn of(record: &Record) -> Result<Self, ReportError> {
        let runs: Vec<RunRow> = record.table()?.unwrap_or_default();
        let plan = record.manifest().plan.as_ref();
        let mut summary = summarise(&runs, plan.map_or(&[][..], |plan| &plan.baselines))?;
        let simple = record
            .manifest()
            .variants
            .iter()
            .filter(|variant| variant.floor == Some(Floor::Itself));
        summary.simple = simple.map(|variant| variant.label.clone()).collect();
        let validation = record.read_file("validation.md")?;
        let mut files = Vec::new();
        for name in file_names(record.dir())? {
            if name != MANIFEST && !REPORT_FILES.contains(&name.as_str()) && !name.starts_with('.') {
                let entry = file_entry(&record.dir().join(&name))?;
                files.push((name, entry));
            }
        }
        Ok(Self {
            manifest: record.manifest().clone(),
            runs,
            summary,
            power: record.table()?.unwrap_or_default(),
            stages: record.table()?.unwrap_or_default(),
            accuracies: record.table()?.unwrap_or_default(),
            checks: record.table()?.unwrap_or_default(),
            sass: record.table()?.unwrap_or_default(),
            bounds: record.table()?.unwrap_or_default(),
            validation: validation.map(|text| String::from_utf8_lossy(&text).into_owned()),
            files,
        })
    }

    /// What the run was on: the card's or the processor's name.
    pub(super) fn device(&self) -> &str {
        let gpu = self.manifest.gpu.as_ref().and_then(|gpu| gpu.name.as_deref());
        let device = || {
            self.manifest
                .devices
                .first()
                .map(|device| device.description.as_str())
        };
        gpu.or_else(device).unwrap_or("an unknown device")
    }

    /// The families that were run, in order.
    pub(super) fn families(&self) -> Vec<&str> {
        let mut families: Vec<&str> = Vec::new();
        let labels = self
            .manifest
            .variants
            .iter()
            .map(|variant| variant.label.as_str());
        for name in labels.map(family) {
            if !families.contains(&name) {
                families.push(name);
            }
        }
        families
    }

    /// The classes whose variants were timed, in order.
    pub(super) fn classes(&self) -> Vec<Class<'_>> {
        let mut classes: Vec<Class> = Vec::new();
        for of_row in self.summary.rows.iter().map(|row| class(&row.variant)) {
            if !classes.contains(&of_row) {
                classes.push(of_row);
            }
        }
        classes
    }

    /// The best variant of a class of those that compete ([`Summary::competes`]).
    pub(super) fn best<'f>(
        &'f self,
        of: Class,
        value: fn(&SummaryRow) -> Option<f64>,
    ) -> Option<&'f SummaryRow> {
        self.summary
            .rows
            .iter()
            .filter(|row| class(&row.variant) == of && self.summary.competes(row) && value(row).is_some())
            .max_by(|a, b| value(a).unwrap_or(0.0).total_cmp(&value(b).unwrap_or(0.0)))
    }

    /// The bound of a variant; an A/A control has its baseline's.
    pub(super) fn bound(&self, label: &str) -> Option<&BoundRow> {
        let label = subject(label);
        self.bounds.iter().find(|row| row.variant == label)
    }
}

/// The part of a label behind the family, for a place where there is little.
pub(super) fn short(label: &str) -> &str {
    label.split_once('/').map_or(label, |(_, name)| name)
}
