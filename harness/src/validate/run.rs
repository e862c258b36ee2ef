//! Running the checks.

use std::collections::BTreeSet;

use assay_analysis::Status;
use assay_kernels::family::{Agreement, Check, DeviceKind, Difference, ValidationPlan, Verdict};
use assay_kernels::workload::Fault;

use super::agree::disagreements;
use super::at_once::{self, two_at_once};
use super::report::ResultRow;
use crate::book::Book;
use crate::device::Device;
use crate::exit::Usage;
use crate::flow::{Flow, FlowError};
use crate::interrupt;
use crate::progress::Progress;
use crate::select::Selected;

/// What a validation found.
#[derive(Default)]
pub struct Validation {
    /// A row per variant.
    pub results: Vec<ResultRow>,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

impl Validation {
    /// Whether a check found something wrong, interrupted or not.
    pub fn wrong(&self) -> bool {
        self.results
            .iter()
            .flat_map(|row| &row.checks)
            .any(|check| !check.ok)
    }

    /// How the record of a validation that ends the command is closed: an interruption does not hide what is wrong.
    pub fn status(&self) -> Status {
        match (self.wrong(), self.interrupted) {
            (true, _) => Status::Failed,
            (false, true) => Status::Aborted,
            (false, false) => Status::Complete,
        }
    }

    /// Whether everything that was run is right, and all of it was run.
    pub fn ok(&self) -> bool {
        !self.interrupted && self.results.iter().all(|row| row.ok)
    }
}

/// Which candidates a validation leaves in the record, digests as the device formed them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// All: a record with a wrong one fails its check, at the digest that is wrong.
    All,
    /// Those of right checks: the record holds other things, and must check.
    OfRightChecks,
}

/// Validate `selected` on `device`; with `vectors`, the cases of a vector file instead of the family's own checks.
/// Candidates go into the book, as far as `evidence` says.
///
/// # Errors
/// When the device fails or the vector file cannot be read. What the checks find is in the results.
pub fn validate(
    selected: &[Selected],
    device: &dyn Device,
    plan: &ValidationPlan,
    vectors: Option<&str>,
    evidence: Evidence,
    book: &mut Book,
    progress: &Progress,
) -> anyhow::Result<Validation> {
    let mut validation = Validation::default();
    let mut agreements: Vec<(String, Agreement)> = Vec::new();
    // All vectors are read before the first check runs: a corrupt file should not cost a minute.
    let mut checks = Vec::new();
    for one in selected {
        checks.push(match vectors {
            Some(text) => one
                .variant
                .vector_checks(text)
                .map_err(|error| Usage(format!("--vectors: {error}")))?,
            None => one.variant.checks(plan),
        });
    }
    let bar = progress.bar("validating", checks.iter().map(Vec::len).sum::<usize>() as u64);
    for (one, checks) in selected.iter().zip(checks) {
        let mut row = ResultRow::new(one, device.info());
        for mut check in checks {
            if interrupt::asked() {
                validation.interrupted = true;
                break;
            }
            bar.say(&format!("{} {}", one.label(), check.name()));
            let setup = check.setup();
            let mut session = device.open(&setup)?;
            // The record names the build that will be timed, where a check ran it: its hash is that of a trial's.
            if setup.source == one.variant.source() {
                book.note_production(one, session.build(), device.info());
            } else {
                book.note_variant(one, session.build(), device.info());
            }
            let going_on = || !interrupt::asked();
            let Some((verdict, fault)) = run_check(session.as_mut(), check.as_mut(), going_on)? else {
                validation.interrupted = true;
                break;
            };
            if evidence == Evidence::All || (verdict.ok() && fault.is_none()) {
                book.keep_candidates(&verdict.bases, &verdict.rows)?;
            }
            agreements.extend(verdict.agreements.iter().map(|set| (one.label(), set.clone())));
            row.add(&check.name(), &verdict, fault.as_ref(), &one.family.layers());
            book.keep_checks(row.last_check());
            bar.advance(1);
        }
        // Only a card runs two sessions at once.
        let alone = device.info().kind != DeviceKind::Cuda || vectors.is_some() || validation.interrupted;
        if !alone {
            bar.say(&format!("{} {}", one.label(), at_once::NAME));
            let (verdict, fault) = match two_at_once(one, device, plan.seed)? {
                Ok(checked) => (
                    Verdict {
                        checked,
                        ..Verdict::default()
                    },
                    None,
                ),
                Err(fault) => (Verdict::default(), Some(fault)),
            };
            row.add(at_once::NAME, &verdict, fault.as_ref(), &one.family.layers());
            book.keep_checks(row.last_check());
        }
        // A variant that was not run to the end has not been validated.
        row.ok &= !validation.interrupted;
        validation.results.push(row);
    }
    // Whose own checks have failed is to blame for a disagreement with one whose have not.
    let right: BTreeSet<String> = validation
        .results
        .iter()
        .filter(|row| row.ok)
        .map(|row| row.variant.clone())
        .collect();
    for pair in disagreements(&agreements) {
        let both_right = pair.variants.iter().all(|variant| right.contains(variant));
        for row in validation.results.iter_mut().filter(|row| {
            pair.variants.contains(&row.variant) && (both_right || !right.contains(&row.variant))
        }) {
            row.disagrees(&pair.sentence);
            book.keep_checks(row.last_check());
        }
    }
    Ok(validation)
}

/// Run one check to its end, or `None` when it must not go on before. A fault that the host found is a part of the
/// outcome.
fn run_check(
    session: &mut dyn crate::device::Session,
    check: &mut dyn Check,
    going_on: impl Fn() -> bool,
) -> anyhow::Result<Option<(Verdict, Option<Fault>)>> {
    let mut next = 0;
    let mut flow = Flow::new(session, check, &mut next);
    loop {
        let more = going_on();
        match flow.next(more) {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(more.then(|| (check.finish(), None))),
            Err(FlowError::Fault(fault)) => return Ok(Some((check.finish(), Some(fault)))),
            Err(FlowError::Device(error)) => return Err(error.into()),
        }
    }
}

/// The verdict of a check that ended in a fault.
pub(super) fn of_fault(fault: &Fault) -> Difference {
    Difference {
        layer: "hit".to_owned(),
        candidate: match fault {
            Fault::Unconfirmed { candidate, .. } => candidate.clone(),
            Fault::Overflow { .. } | Fault::Malformed { .. } => String::new(),
        },
        got: fault.to_string(),
        expected: "hits that the host confirms".to_owned(),
    }
}

/// Whether a hit buffer that is too small is rejected, for each variant.
///
/// # Errors
/// When the device fails.
pub fn overflow_is_rejected(
    selected: &[Selected],
    device: &dyn Device,
    plan: &ValidationPlan,
) -> anyhow::Result<Vec<(String, bool, String)>> {
    let mut outcomes = Vec::new();
    for one in selected {
        let mut check = one.variant.overflow_check(plan).ok_or_else(|| {
            Usage(format!(
                "{}: --overflow is for families with a buffer of hits, {} has none",
                one.label(),
                one.family.name()
            ))
        })?;
        let mut session = device.open(&check.setup())?;
        let Some((verdict, fault)) = run_check(session.as_mut(), check.as_mut(), || true)? else {
            break;
        };
        let rejected = verdict.ok() && matches!(fault, Some(Fault::Overflow { .. }));
        let message = match (verdict.first, fault) {
            (Some(first), _) => format!("{} where there are {}", first.got, first.expected),
            (None, Some(fault)) => fault.to_string(),
            (None, None) => "the short list was accepted".to_owned(),
        };
        outcomes.push((one.label(), rejected, message));
    }
    Ok(outcomes)
}

#[cfg(test)]
mod tests {
    use super::super::crt_gemm_mutation_tests::outcome;
    use super::*;

    #[test]
    fn an_interruption_hides_no_wrong_check() {
        let stale_c = (
            "double total = 0.0;",
            "double total = c[(u64)row * m.c_stride + col]; if (total != total) total = 0.0;",
        );
        for (change, interrupted, status) in [
            (None, false, Status::Complete),
            (None, true, Status::Aborted),
            (Some(stale_c), false, Status::Failed),
            (Some(stale_c), true, Status::Failed),
        ] {
            let row = outcome("naive", "layers: a second product", change);
            let check = row.last_check().unwrap();
            assert_eq!(check.right, change.is_none(), "{check:?}");
            assert_eq!(check.first_bad_layer.as_deref(), change.map(|_| "scale"));
            let validation = Validation {
                results: vec![row],
                interrupted,
            };
            assert_eq!(validation.status(), status);
        }
    }
}
