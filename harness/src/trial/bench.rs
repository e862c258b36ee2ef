//! The bench: instruments that measure beside timed runs, and the rows that those leave in the record.

use std::time::Duration;

use assay_analysis::rows::{RunRow, StageRow};
use assay_analysis::stats::StatsError;

use super::contestant::Contestant;
use super::instruments::Instruments;
use super::plan::{Earlier, TrialRequest};
use crate::book::Book;
use crate::device::{Device, DeviceInfo};
use crate::interrupt;

/// The place of a trial among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Round, from 1.
    pub round: u32,
    /// Place in the round, from 1.
    pub position: u32,
}

/// Instruments with the trials that were run beside them.
pub struct Bench {
    /// What measures.
    pub instruments: Instruments,
    rows: Vec<RunRow>,
    stages: Vec<StageRow>,
}

impl Bench {
    /// Start the instruments that `device` has. The trials of `earlier` come first.
    ///
    /// # Errors
    /// When a record that holds power samples is continued where there are none.
    pub fn start(
        device: &dyn Device,
        request: &TrialRequest,
        mut earlier: Earlier,
        book: &mut Book,
    ) -> anyhow::Result<Bench> {
        Ok(Bench {
            instruments: Instruments::start(device, request, &mut earlier, book)?,
            rows: earlier.rows,
            stages: earlier.stages,
        })
    }

    /// Time `contestant` once, for `time`; `None` when that was interrupted: a trial that was cut short is none.
    ///
    /// # Errors
    /// When the device fails, or the host does not confirm a hit.
    pub fn time(
        &mut self,
        place: Place,
        contestant: &mut Contestant,
        info: &DeviceInfo,
        time: Duration,
        book: &mut Book,
    ) -> anyhow::Result<Option<&RunRow>> {
        let trial = self.rows.iter().map(|row| row.trial).max().unwrap_or(0) + 1;
        let before = self.instruments.begin(trial)?;
        let timed = contestant.run(time);
        if timed.is_err() {
            self.instruments.forget(trial);
        }
        let timed = timed?;
        let (in_kernel_clock_mhz, counts) = self.instruments.end(before.as_ref(), book)?;
        if interrupt::asked() {
            self.instruments.forget(trial);
            return Ok(None);
        }
        let row = RunRow {
            trial,
            batches: timed.batches,
            base_first: timed.base_first,
            base_last: timed.base_last,
            units: timed.units,
            seconds: timed.seconds,
            hits: hit_bits(contestant).map(|_| timed.hits.len() as u64),
            in_kernel_clock_mhz,
            power_overruns: counts.map(|counts| counts.overruns),
            power_repeats: counts.map(|counts| counts.repeats),
            ..row_of(place, contestant, info)
        };
        // Where there is one stage, the trial's own time says all.
        if timed.stages.len() > 1 {
            let stage_row = |(stage, launches, seconds): &(&'static str, u64, f64)| StageRow {
                trial,
                stage: (*stage).to_owned(),
                launches: *launches,
                seconds: *seconds,
            };
            self.stages.extend(timed.stages.iter().map(stage_row));
        }
        self.rows.push(row.derived(self.instruments.log().as_ref())?);
        book.keep_hits(&contestant.label, Some(trial), &timed.hits)?;
        Ok(self.rows.last())
    }

    /// The trials so far.
    pub fn rows(&self) -> &[RunRow] {
        &self.rows
    }

    /// The stages of the trials, where they have several.
    pub fn stages(&self) -> &[StageRow] {
        &self.stages
    }

    /// Write trials and samples, and what the book holds.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn write(&self, book: &Book) -> anyhow::Result<()> {
        self.write_rows(book)?;
        book.save()
    }

    /// Write trials and samples alone: the book's own tables are long, and grow with hits and validated candidates only.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn write_rows(&self, book: &Book) -> anyhow::Result<()> {
        if let Some(samples) = self.instruments.samples() {
            book.writer().write_table(samples)?;
        }
        if !self.stages.is_empty() {
            book.writer().write_table(&self.stages)?;
        }
        Ok(book.writer().write_table(&self.rows)?)
    }

    /// Stop measuring and derive every row once more: what was idle after the rounds is known only now.
    ///
    /// # Errors
    /// When a value cannot enter a statistic, or the record cannot be written.
    pub fn finish(&mut self, book: &mut Book) -> anyhow::Result<()> {
        self.instruments.hand_over();
        self.instruments.note_failures(book);
        let log = self.instruments.log();
        self.rows = std::mem::take(&mut self.rows)
            .into_iter()
            .map(|row| row.derived(log.as_ref()))
            .collect::<Result<_, StatsError>>()?;
        self.write(book)
    }
}

fn hit_bits(contestant: &Contestant) -> Option<u32> {
    let search = contestant.selected.family.search()?;
    Some(4 * search.zeros_tested())
}

/// The columns that are known before a trial.
fn row_of(place: Place, contestant: &Contestant, info: &DeviceInfo) -> RunRow {
    RunRow {
        round: place.round,
        position: place.position,
        variant: contestant.label.clone(),
        device: info.id.clone(),
        hit_bits: hit_bits(contestant),
        sms: info.gpu.as_ref().map(|gpu| gpu.multiprocessors),
        ..RunRow::default()
    }
}
