//! The search itself.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_analysis::stats::HIT_P_VALUE_MIN;
use assay_kernels::family::{Production, Search};

use super::tally::Tally;
use crate::book::Book;
use crate::device::Device;
use crate::exit::{Outcome, Usage, Wrong};
use crate::flow::{Flow, Yield};
use crate::interrupt;
use crate::progress::Progress;
use crate::select::Selected;

/// What to search for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest {
    /// Stop at a digest with so many leading zero hex digits.
    pub zeros: Option<u32>,
    /// Stop after so long.
    pub time: Option<Duration>,
    /// Seed of the bases.
    pub seed: u64,
    /// File whose blocks stand in front of the message.
    pub prefix: Option<PathBuf>,
}

/// The search capability of a variant's family.
///
/// # Errors
/// When the family has none.
pub fn capability(selected: &Selected) -> Result<&'static dyn Search, Usage> {
    selected
        .family
        .search()
        .ok_or_else(|| Usage(format!("{} cannot search", selected.family.name())))
}

/// Search with `selected` on `device`. Every hit is confirmed on the host and written at once.
///
/// # Errors
/// When the request does not fit the family, the device fails, the host does not confirm a hit, or hits are so far
/// from their expectation that the kernel must be wrong.
pub fn search(
    selected: &Selected,
    device: &dyn Device,
    request: &SearchRequest,
    book: &mut Book,
    progress: &Progress,
) -> anyhow::Result<(Tally, Outcome)> {
    let capability = capability(selected)?;
    let prefix = read_prefix(capability, request)?;
    let production = Production {
        seed: request.seed,
        first_base: 0,
        prefix,
        batch_units: selected.family.batch_units(device.info().kind),
    };
    let mut workload = selected
        .variant
        .production(&production)
        .map_err(|error| Usage(error.to_string()))?;
    let mut session = device.open(&workload.setup())?;
    book.note_device(device.info(), None);
    book.note_variant(selected, session.build(), device.info());

    let bar = progress.line("searching");
    let mut tally = Tally::default();
    let start = Instant::now();
    let reached = |tally: &Tally| request.zeros.is_some_and(|zeros| tally.zeros() >= zeros);
    let in_time = || request.time.is_none_or(|time| start.elapsed() < time);
    let mut next = 0;
    let mut flow = Flow::new(session.as_mut(), workload.as_mut(), &mut next);
    while let Some(Yield { collected, .. }) =
        flow.next(!reached(&tally) && in_time() && !interrupt::asked())?
    {
        tally.add(&collected, start.elapsed().as_secs_f64());
        if !collected.hits.is_empty() {
            book.keep_hits(&selected.label(), None, &collected.hits)?;
            book.save()?;
        }
        bar.say(&line(&tally, capability.zeros_tested()));
    }
    drop(bar);
    if tally.hits_p_value.is_some_and(|p| p < HIT_P_VALUE_MIN) {
        return Err(Wrong(format!(
            "{} hits where chance gives {:.1}: the odds of that are below {HIT_P_VALUE_MIN:e}, the kernel misses or repeats candidates",
            tally.hits, tally.hits_expected
        ))
        .into());
    }
    let outcome = match request.zeros {
        _ if reached(&tally) => Outcome::Right,
        _ if interrupt::asked() => Outcome::Interrupted,
        Some(_) => Outcome::NotReached,
        None => Outcome::Right,
    };
    Ok((tally, outcome))
}

/// Longest text in front of a message, in bytes.
const MAX_PREFIX: u64 = 1 << 30;

/// The text in front of the message.
///
/// # Errors
/// When the file cannot be read or does not fit the family's blocks.
pub fn read_prefix(capability: &dyn Search, request: &SearchRequest) -> anyhow::Result<Arc<[u8]>> {
    let Some(path) = &request.prefix else {
        return Ok(Arc::from([]));
    };
    let refuse = |why: String| Usage(format!("--prefix {}: {why}", path.display()));
    let found = std::fs::metadata(path).map_err(|error| refuse(error.to_string()))?;
    if !found.is_file() || found.len() > MAX_PREFIX {
        return Err(refuse(format!("it should be a plain file of at most {MAX_PREFIX} bytes")).into());
    }
    let text = std::fs::read(path).map_err(|error| refuse(error.to_string()))?;
    capability
        .check_prefix(&text)
        .map_err(|error| Usage(format!("--prefix {}: {error}", path.display())))?;
    Ok(text.into())
}

/// One line about how it stands.
pub fn line(tally: &Tally, zeros_tested: u32) -> String {
    let best = tally.best.as_ref().map_or("no hit yet".to_owned(), |best| {
        format!(
            "best {} ({} zeros, {} bits)",
            best.digest, best.zeros_hex, best.zeros_bits
        )
    });
    let next = tally
        .seconds_to_next_zero(zeros_tested)
        .map_or(String::new(), |seconds| {
            format!(
                ", next zero in about {}",
                indicatif::HumanDuration(Duration::from_secs_f64(seconds.min(1e15)))
            )
        });
    format!(
        "{:.3} G/s, {:.3e} candidates, {} hit{} ({:.1} expected), {best}{next}",
        tally.rate_units_per_s / 1e9,
        tally.candidates as f64,
        tally.hits,
        if tally.hits == 1 { "" } else { "s" },
        tally.hits_expected
    )
}
