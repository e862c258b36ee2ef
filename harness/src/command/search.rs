//! `assay search`: look for digests with leading zeros.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use assay_analysis::Status;
use assay_kernels::family::families;
use serde::Serialize;

use super::common::{DeviceArgs, duration, print_json};
use crate::book::Book;
use crate::exit::{Outcome, Usage};
use crate::progress::Progress;
use crate::search::{SearchRequest, Tally, capability, line, read_prefix, search};
use crate::select::Shelf;

/// Look for messages whose digest begins with zeros
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  assay search --zeros 8
  assay search --for 30s --seed 7
  assay search --zeros 9 --for 1h --prefix blocks.bin --variant md5-q9/v5

The bases follow from seed and index, so a search can be repeated exactly. Every hit is hashed anew on the host
before it is written; hits.csv holds complete messages (xxd -r -p turns one into a file for md5sum). Exit code 4
when --zeros was not reached within --for. Without --zeros and --for it runs until Ctrl-C.")]
pub struct SearchArgs {
    /// Stop at a digest with so many leading zero hex digits; kernels report those with 8 and more, so fewer are met by the first hit
    #[arg(long, value_name = "N")]
    pub zeros: Option<u32>,
    /// Stop after so long, such as 30s, 10m or 2h
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub time: Option<Duration>,
    /// The variant to search with [default: the fastest proven one on the
    /// device: md5-q9/v6 on a card, else md5-q9/v5]
    #[arg(long, value_name = "VARIANT")]
    pub variant: Option<String>,
    /// Where to run
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Seed of the bases
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// File of whole 64-byte blocks to stand in front of the message
    #[arg(long, value_name = "FILE")]
    pub prefix: Option<PathBuf>,
    /// Folder for the record [default: runs/<UTC stamp>-search]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON document on stdout
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct Document<'d> {
    schema: u32,
    ok: bool,
    variant: String,
    device: &'d str,
    seed: u64,
    record: String,
    #[serde(flatten)]
    tally: &'d Tally,
}

/// Run the command.
///
/// # Errors
/// When the request, the device or the record cannot be used, or the host does not confirm a hit.
pub fn run(args: &SearchArgs, shelf: &Shelf, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let device = args.device.open()?;
    let named = match &args.variant {
        Some(variant) => variant.clone(),
        None => families()
            .iter()
            .find(|family| family.search().is_some())
            .map(|family| format!("{}/{}", family.name(), family.default_variant(device.info().kind)))
            .ok_or_else(|| Usage("no family can search".to_owned()))?,
    };
    let selected = shelf.select(std::slice::from_ref(&named))?;
    let [selected] = selected.as_slice() else {
        return Err(Usage(format!("--variant {named}: name one variant")).into());
    };
    let capability = capability(selected)?;
    if let Some(zeros) = args
        .zeros
        .filter(|zeros| !(1..=capability.max_zeros()).contains(zeros))
    {
        return Err(Usage(format!(
            "--zeros {zeros}: use 1 to {}, the digest's hex digits",
            capability.max_zeros()
        ))
        .into());
    }
    let request = SearchRequest {
        zeros: args.zeros,
        time: args.time,
        seed: args.seed,
        prefix: args.prefix.clone(),
    };
    // A prefix that does not fit leaves no record behind.
    read_prefix(capability, &request)?;
    let mut book = Book::open(args.out.clone(), "search", args.seed)?;
    let record = book.dir();
    let (tally, outcome) = match search(selected, device.as_ref(), &request, &mut book, &Progress::new()) {
        Ok(done) => done,
        Err(error) => {
            book.close(Status::Failed)?;
            return Err(error);
        }
    };
    book.close(if outcome == Outcome::Interrupted {
        Status::Aborted
    } else {
        Status::Complete
    })?;
    if args.json {
        let document = Document {
            schema: 1,
            ok: outcome == Outcome::Right,
            variant: selected.label(),
            device: &device.info().id,
            seed: args.seed,
            record,
            tally: &tally,
        };
        print_json(out, &document)?;
    } else {
        writeln!(out, "{}", line(&tally, capability.zeros_tested()))?;
        if let Some(best) = &tally.best {
            writeln!(out, "message (hex) {}", best.message_hex)?;
        }
        writeln!(out, "Record: {record}")?;
    }
    Ok(outcome)
}
