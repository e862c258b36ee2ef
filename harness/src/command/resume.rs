//! `assay run --resume`: more rounds for a record, as if it had never been closed.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use assay_analysis::{Manifest, Record, Status, check, check_unclosed, since_utc, utc_rfc3339};

use super::common::DeviceArgs;
use super::run::{RunArgs, prove_and_time};
use crate::book::Book;
use crate::device::{Device, DeviceInfo};
use crate::exit::{Outcome, Usage};
use crate::select::{Selected, Shelf};
use crate::trial::{Earlier, TrialRequest, production};

/// Go on with the record in `folder`.
///
/// # Errors
/// When it does not check, is no finished run, or was made on another card.
pub fn resume(args: &RunArgs, folder: &Path, shelf: &Shelf, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let record = Record::open(folder)?;
    let manifest = record.manifest();
    let killed = manifest.status == Status::Running;
    let checked = if killed {
        check_unclosed(&record)?
    } else {
        check(folder)?
    };
    let refuse = |why: &str| Usage(format!("--resume {}: {why}", folder.display()));
    let plan = manifest.plan.as_ref();
    let plan = plan.filter(|_| checked.status != Status::Failed && checked.trials > 0);
    let plan = plan.ok_or_else(|| refuse("there is no finished trial in it to go on from"))?;
    let time = Duration::try_from_secs_f64(plan.seconds).context("the record's length of a trial is none")?;
    let warmup = Duration::try_from_secs_f64(plan.warmup_seconds).unwrap_or(time);
    let request = TrialRequest {
        time,
        seed: manifest.seed,
        warmup: args.timing.warmup.unwrap_or(warmup),
        ..args.timing.request()
    };
    let labels: Vec<String> = manifest
        .variants
        .iter()
        .map(|variant| variant.label.clone())
        .collect();
    let selected = shelf.select(&labels)?;

    let device = device_of(&args.device, manifest)
        .map_err(|why| refuse(&why))?
        .open()?;
    same_device(manifest, device.info()).map_err(|why| refuse(&why))?;
    for one in &selected {
        same_build(manifest, one, device.as_ref(), request.seed)?;
    }
    let now = SystemTime::now();
    let earlier = Earlier {
        rows: record.table()?.unwrap_or_default(),
        stages: record.table()?.unwrap_or_default(),
        power: record.table()?,
        age_s: since_utc(&manifest.started_utc, now).unwrap_or(0.0),
    };
    let driver = manifest.gpu.as_ref().and_then(|gpu| gpu.driver.clone());
    let mut book = Book::reopen(&record)?;
    if killed {
        book.note("the process that wrote this record was killed; it was gone on with from the files as they were, which had no hashes yet".to_owned());
    }
    book.note_device(device.info(), Some(plan.clone()));
    book.note_continued(
        &utc_rfc3339(now),
        &format!("{} round(s)", args.timing.rounds),
        driver,
    );
    prove_and_time(
        args,
        shelf,
        &selected,
        device.as_ref(),
        &request,
        earlier,
        book,
        out,
    )
}

/// The device that was named, else the record's.
pub(super) fn device_of(args: &DeviceArgs, manifest: &Manifest) -> Result<DeviceArgs, String> {
    let mut device = args.clone();
    if device.device.is_none() && device.isa.is_none() {
        let label = manifest
            .devices
            .first()
            .map_or("", |device| device.label.as_str());
        device.device = Some(label.parse()?);
    }
    Ok(device)
}

/// A card is known by its UUID, another device by its description.
pub(super) fn same_device(manifest: &Manifest, info: &DeviceInfo) -> Result<(), String> {
    let was = manifest.gpu.as_ref().and_then(|gpu| gpu.uuid.as_deref());
    let is = info.gpu.as_ref().map(|gpu| gpu.uuid.as_str());
    if was != is {
        let name = |uuid: Option<&str>| uuid.map_or("no card".to_owned(), |uuid| format!("the card {uuid}"));
        return Err(format!(
            "it was made on {}, this is {}: start a new record",
            name(was),
            name(is)
        ));
    }
    let device = manifest.devices.first();
    match device {
        Some(device) if is.is_none() && device.description != info.name => Err(format!(
            "it was made on {}, this is {}: start a new record",
            device.description, info.name
        )),
        _ => Ok(()),
    }
}

/// A variant is built as it was for the record: to the same cubin, from the same text.
pub(super) fn same_build(
    manifest: &Manifest,
    selected: &Selected,
    device: &dyn Device,
    seed: u64,
) -> anyhow::Result<()> {
    let label = selected.label();
    let workload = selected
        .variant
        .production(&production(selected, device, seed, 0))?;
    let session = device.open(&workload.setup())?;
    let build = session.build();
    let known = manifest.variants.iter().find(|known| known.label == label);
    if known.is_some_and(|known| {
        known.source_sha256 != build.source_sha256 || known.cubin_sha256 != build.cubin_sha256
    }) {
        return Err(Usage(format!(
            "--resume: {label} is built from another text or to another cubin than in the record: start a new record"
        ))
        .into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use assay_analysis::{Device as DeviceEntry, Gpu};
    use assay_kernels::family::DeviceKind;

    use super::*;
    use crate::device::GpuInfo;

    fn info(uuid: Option<&str>, name: &str) -> DeviceInfo {
        DeviceInfo {
            id: "cuda:0".to_owned(),
            kind: DeviceKind::Cuda,
            name: name.to_owned(),
            gpu: uuid.map(|uuid| GpuInfo {
                uuid: uuid.to_owned(),
                compute_capability: (9, 0),
                multiprocessors: 132,
                driver_cuda: 13000,
                memory_bytes: 1,
            }),
        }
    }

    fn manifest(uuid: Option<&str>, name: &str) -> Manifest {
        Manifest {
            devices: vec![DeviceEntry {
                label: "cuda:0".to_owned(),
                description: name.to_owned(),
            }],
            gpu: uuid.map(|uuid| Gpu {
                uuid: Some(uuid.to_owned()),
                ..Gpu::default()
            }),
            ..Manifest::default()
        }
    }

    #[test]
    fn another_card_and_another_processor_are_refused() {
        assert_eq!(
            same_device(&manifest(Some("GPU-a"), "x"), &info(Some("GPU-a"), "x")),
            Ok(())
        );
        let refused = same_device(&manifest(Some("GPU-a"), "x"), &info(Some("GPU-b"), "x"));
        assert!(
            refused
                .unwrap_err()
                .contains("made on the card GPU-a, this is the card GPU-b")
        );
        assert!(same_device(&manifest(Some("GPU-a"), "x"), &info(None, "x")).is_err());
        assert_eq!(same_device(&manifest(None, "x"), &info(None, "x")), Ok(()));
        assert!(same_device(&manifest(None, "x"), &info(None, "y")).is_err());
    }
}
