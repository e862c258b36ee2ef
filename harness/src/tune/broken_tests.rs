//! A candidate whose kernel is broken: it is found out before it is timed, and the record says so.

use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_analysis::rows::{Fate, RunRow, Standing, TuneRow};
use assay_analysis::{Objective, Record, Status, check};
use assay_kernels::family::{DeviceKind, Family, Search, Variant, VariantError, family};
use assay_kernels::knob::VariantText;
use assay_kernels::md5_q9::{Md5Variant, Mutation, Phase};

use super::candidate::Workshop;
use super::ledger::Ledger;
use super::race::{End, race};
use super::resume::restore;
use super::schedule::Schedule;
use super::space::Space;
use super::winner::Winner;
use super::workbench::{Sitting, Workbench};
use crate::book::Book;
use crate::device::Cpu;
use crate::progress::Progress;
use crate::select::Selected;
use crate::trial::Earlier;
use crate::validate::Doctored;

const V5: &str = include_str!("../../../variants/md5-q9/v5.toml");

/// The family with a generator that breaks the first candidate.
struct Breaking;

impl Breaking {
    const LABEL: &'static str = "md5-q9/v5-t1";

    fn whole() -> &'static dyn Family {
        family("md5-q9").unwrap()
    }
}

impl Family for Breaking {
    fn name(&self) -> &'static str {
        Breaking::whole().name()
    }

    fn summary(&self) -> &'static str {
        Breaking::whole().summary()
    }

    fn unit(&self) -> &'static str {
        Breaking::whole().unit()
    }

    fn batch_units(&self, device: DeviceKind) -> u64 {
        Breaking::whole().batch_units(device)
    }

    fn layers(&self) -> Vec<String> {
        Breaking::whole().layers()
    }

    fn default_variant(&self, device: DeviceKind) -> &'static str {
        Breaking::whole().default_variant(device)
    }

    fn baseline(&self) -> &'static str {
        Breaking::whole().baseline()
    }

    fn has_native(&self) -> bool {
        true
    }

    fn variant(&self, name: &str, text: &str) -> Result<Arc<dyn Variant>, VariantError> {
        let mut variant = Md5Variant::parse(name, text)?;
        if name == "v5-t1" {
            variant = variant.broken(Mutation::Operation(Phase::Candidate, 40));
        }
        // One check says it, too; all of them take long on a broken kernel.
        Ok(Arc::new(Doctored {
            variant: Arc::new(variant),
            kind: "trace",
            change: None,
        }))
    }

    fn search(&self) -> Option<&dyn Search> {
        Breaking::whole().search()
    }
}

#[test]
fn a_broken_candidate_is_rejected_with_its_layer_and_never_timed() {
    let start = Selected {
        family: &Breaking,
        variant: Breaking.variant("v5", V5).unwrap(),
    };
    let text = VariantText::parse(V5).unwrap();
    let space = Space::new(start.variant.as_ref(), text, DeviceKind::Cpu, &[]);
    let cpu = Cpu::new(None).unwrap();
    let workshop = Workshop::new(&start, &space, &cpu, &[]).unwrap();
    let mut schedule = Schedule::of(Objective::Rate, Duration::from_secs(600)).unwrap();
    schedule.shortest = Duration::from_millis(50);
    schedule.longest = schedule.shortest;
    let sitting = Sitting {
        seed: 1,
        objective: Objective::Rate,
        schedule,
        began: Instant::now(),
        before: Duration::ZERO,
    };
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("record");
    let mut book = Book::open(Some(dir.clone()), "tune", 1).unwrap();
    book.note_device(workshop.device().info(), None);
    let mut bench =
        Workbench::new(&workshop, &sitting, Earlier::default(), book, &Progress::silent()).unwrap();
    let mut ledger = Ledger::default();
    let end = race(&mut ledger, &sitting.schedule, &space.shape(), 1, &mut bench).unwrap();
    assert_eq!(end, End::Decided);
    bench.finish().unwrap();
    let rows = bench.rows(&ledger, true).unwrap();
    let plan = bench.plan(&ledger);
    let mut book = bench.book;
    book.note_tune(plan.clone());
    book.writer().write_table(&rows).unwrap();
    book.close(Status::Failed).unwrap();

    let wrong = &ledger.entries[1].finding;
    assert_eq!(wrong.standing, Standing::Wrong);
    assert!(wrong.first_bad_layer.is_some() && wrong.checked > 0, "{wrong:?}");
    let row = rows.iter().find(|row| row.variant == Breaking::LABEL).unwrap();
    assert_eq!(
        (row.fate, row.n, row.rung),
        (Fate::Rejected, None, None),
        "{row:?}"
    );
    assert_eq!(row.first_bad_layer, wrong.first_bad_layer);
    let record = Record::open(&dir).unwrap();
    let runs: Vec<RunRow> = record.table().unwrap().unwrap();
    assert!(runs.iter().all(|run| run.variant != Breaking::LABEL));
    assert!(
        ledger.entries.len() > 3 && runs.len() > 10,
        "the others are timed"
    );
    assert!(check(&dir).unwrap().tune_rows == rows.len());

    // What the record holds is the race as it was.
    let kept: Vec<TuneRow> = record.table().unwrap().unwrap();
    let restored = restore(&kept, &runs, &space, &sitting.schedule, Objective::Rate).unwrap();
    assert_eq!(restored.heats, ledger.heats);
    assert_eq!(restored.laps, ledger.laps);
    assert_eq!(restored.entries, ledger.entries);

    // The winner's file is a variant with the winner's options.
    let winner = Winner::of(&rows, &ledger, &workshop, Objective::Rate).unwrap();
    let file = winner.file(
        &ledger,
        &workshop,
        &plan,
        "a card\nwith two lines",
        &["assay".to_owned(), "a\nb".to_owned()],
    );
    let read = Breaking.variant("best", &file).unwrap();
    let best = workshop
        .make(ledger.winner(), &ledger.entries[ledger.winner()].point)
        .unwrap();
    assert_eq!(read.options(), best.variant.options(), "{file}");
    let comments = file.lines().take_while(|line| line.starts_with("# ")).count();
    assert!(comments >= 4 && file.contains("a card with two lines"), "{file}");
}
