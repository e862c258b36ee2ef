//! Keeping a record while a command runs: its manifest, and the bases, hits, candidates and checks that it collects.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::Context;
use assay_analysis::rows::{BaseRow, CheckRow, HitRow, ValidationRow};
use assay_analysis::{
    Build, Device as DeviceEntry, Floor, Gpu, Hex32, Manifest, PowerPlan, Record, RecordWriter, Status,
    TrialPlan, TunePlan, VariantEntry, decode_hex, encode_hex, utc_rfc3339, utc_stamp,
};
use assay_kernels::family::{self, BaseWords};
use assay_kernels::workload::Hit;

use crate::device::{BuildInfo, DeviceInfo, cuda_version};
use crate::host_facts;
use crate::power::NvmlCard;
use crate::select::Selected;
use crate::zeros;

/// A folder in `runs/` that does not exist yet: two commands may begin in the same second.
fn unused(name: &str) -> PathBuf {
    let runs = PathBuf::from("runs");
    let mut dir = runs.join(name);
    for n in 2.. {
        if !dir.exists() {
            break;
        }
        dir = runs.join(format!("{name}-{n}"));
    }
    dir
}

/// The open record of a command. Dropped without being closed, by an error on the way, it closes itself as aborted with what it holds.
pub struct Book {
    writer: RecordWriter,
    closed: bool,
    /// Number of each base by its words, in the order of the table's columns.
    base_numbers: HashMap<[u32; 16], u64>,
    bases: Vec<BaseRow>,
    hits: Vec<HitRow>,
    candidates: Vec<ValidationRow>,
    checks: Vec<CheckRow>,
    seen: BTreeSet<(u64, [u32; 4], [u8; 16])>,
}

impl Book {
    /// Open a record in `out`, or in `runs/<UTC stamp>-<command>`.
    ///
    /// # Errors
    /// When the folder holds something, or cannot be written.
    pub fn open(out: Option<PathBuf>, command: &str, seed: u64) -> anyhow::Result<Book> {
        let now = SystemTime::now();
        let dir = out.unwrap_or_else(|| unused(&format!("{}-{command}", utc_stamp(now))));
        let manifest = Manifest {
            command: std::env::args().collect(),
            seed,
            started_utc: utc_rfc3339(now),
            build: this_build(),
            host: host_facts::host(),
            ..Manifest::default()
        };
        let writer = RecordWriter::create(dir, manifest)?;
        Ok(Book {
            writer,
            closed: false,
            base_numbers: HashMap::new(),
            bases: Vec::new(),
            hits: Vec::new(),
            candidates: Vec::new(),
            checks: Vec::new(),
            seen: BTreeSet::new(),
        })
    }

    /// Go on with a record that was closed. What it holds is kept.
    ///
    /// # Errors
    /// When it cannot be read or written, or its tables do not fit together.
    pub fn reopen(record: &Record) -> anyhow::Result<Book> {
        let bases: Vec<BaseRow> = record.table()?.unwrap_or_default();
        let candidates: Vec<ValidationRow> = record.table()?.unwrap_or_default();
        let base_numbers = bases.iter().map(|base| (words_of(base), base.base)).collect();
        let seen = candidates
            .iter()
            .map(|row| {
                let mut digest = [0; 16];
                let bytes = decode_hex(&row.digest)?;
                anyhow::ensure!(bytes.len() == digest.len(), "a digest has {} bytes", bytes.len());
                digest.copy_from_slice(&bytes);
                Ok((
                    row.base,
                    [row.q9, row.m8, row.m9, row.m12].map(|word| word.0),
                    digest,
                ))
            })
            .collect::<anyhow::Result<_>>()?;
        Ok(Book {
            base_numbers,
            hits: record.table()?.unwrap_or_default(),
            checks: record.table()?.unwrap_or_default(),
            writer: RecordWriter::reopen(record)?,
            closed: false,
            bases,
            candidates,
            seen,
        })
    }

    /// The folder.
    pub fn dir(&self) -> String {
        self.writer.dir().display().to_string()
    }

    /// The record's writer, for a command's own tables.
    pub fn writer(&self) -> &RecordWriter {
        &self.writer
    }

    /// Note the device and the trial plan.
    pub fn note_device(&mut self, info: &DeviceInfo, plan: Option<TrialPlan>) {
        let manifest = self.writer.manifest_mut();
        manifest.devices = vec![DeviceEntry {
            label: info.id.clone(),
            description: info.name.clone(),
        }];
        let gpu = info.gpu.as_ref().map(|gpu| Gpu {
            name: Some(info.name.clone()),
            uuid: Some(gpu.uuid.clone()),
            compute_capability: Some(format!(
                "{}.{}",
                gpu.compute_capability.0, gpu.compute_capability.1
            )),
            sms: Some(gpu.multiprocessors),
            driver: Some(format!("CUDA {}", cuda_version(gpu.driver_cuda))),
            memory_bytes: Some(gpu.memory_bytes),
            ..Gpu::default()
        });
        manifest.plan = plan;
        let gpu = gpu.map(|gpu| self.with_what_nvml_tells(gpu));
        self.writer.manifest_mut().gpu = gpu;
    }

    fn with_what_nvml_tells(&mut self, mut gpu: Gpu) -> Gpu {
        match NvmlCard::open(gpu.uuid.as_deref().unwrap_or_default()) {
            Ok(card) => card.describe(&mut gpu),
            Err(why) => self.note(format!(
                "driver, limits, ECC and MIG of the card are not known: {why}"
            )),
        }
        gpu
    }

    /// Note how power is sampled.
    pub fn note_power(&mut self, plan: PowerPlan) {
        self.writer.manifest_mut().power = Some(plan);
    }

    /// How power is sampled.
    pub fn power_plan(&mut self) -> Option<&mut PowerPlan> {
        self.writer.manifest_mut().power.as_mut()
    }

    /// Note what a tuner was asked for, and how far it is.
    pub fn note_tune(&mut self, plan: TunePlan) {
        self.writer.manifest_mut().tune = Some(plan);
    }

    /// The command line that the manifest holds.
    pub fn command(&mut self) -> Vec<String> {
        self.writer.manifest_mut().command.clone()
    }

    /// Note that the record was continued, and by which program and driver if those changed.
    pub fn note_continued(&mut self, at: &str, how_far: &str, driver_before: Option<String>) {
        let build = this_build();
        let manifest = self.writer.manifest_mut();
        let driver = manifest.gpu.as_ref().and_then(|gpu| gpu.driver.clone());
        let mut sentence = format!("continued at {at} for {how_far}");
        if manifest.build != build {
            let commit = build.commit.as_deref().unwrap_or("unknown");
            let dirty = if build.dirty == Some(true) {
                " with changes"
            } else {
                ""
            };
            sentence += &format!(", by the program of commit {commit}{dirty}");
        }
        if driver != driver_before {
            sentence += &format!(", under driver {}", driver.as_deref().unwrap_or("unknown"));
        }
        self.note(sentence);
    }

    /// Note how a variant was built, unless that is known.
    pub fn note_variant(&mut self, selected: &Selected, build: &BuildInfo, info: &DeviceInfo) {
        let label = selected.label();
        let manifest = self.writer.manifest_mut();
        if manifest.compiler.is_none() {
            manifest.compiler.clone_from(&build.compiler);
        }
        if manifest.variants.iter().all(|known| known.label != label) {
            manifest.variants.push(entry(selected, build, info));
        }
        if let Some(library) = &build.library {
            self.note(format!("{label}: {library}"));
        }
    }

    /// Note the build of a variant that is timed, in place of one that was only checked.
    pub fn note_production(&mut self, selected: &Selected, build: &BuildInfo, info: &DeviceInfo) {
        self.note_variant(selected, build, info);
        let entry = entry(selected, build, info);
        let variants = &mut self.writer.manifest_mut().variants;
        if let Some(known) = variants.iter_mut().find(|known| known.label == entry.label) {
            *known = entry;
        }
    }

    /// Note the compiler and the disassembler.
    pub fn note_tools(&mut self, compiler: &str, disassembler: &str) {
        let manifest = self.writer.manifest_mut();
        manifest.compiler = Some(compiler.to_owned());
        manifest.disassembler = Some(disassembler.to_owned());
    }

    /// Note a sentence that a reader needs.
    pub fn note(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        let notes = &mut self.writer.manifest_mut().notes;
        if !notes.contains(&sentence) {
            notes.push(sentence);
        }
    }

    fn base_number(&mut self, base: &BaseWords) -> anyhow::Result<u64> {
        let word = |name: &str| {
            let found = base.words.iter().find(|(known, _)| known == name);
            found
                .map(|(_, word)| Hex32(*word))
                .with_context(|| format!("base {} has no {name}", base.id))
        };
        let number = self.bases.len() as u64;
        let row = BaseRow {
            base: number,
            q1: word("q1")?,
            q2: word("q2")?,
            q3: word("q3")?,
            q4: word("q4")?,
            q5: word("q5")?,
            q6: word("q6")?,
            q7: word("q7")?,
            q8: word("q8")?,
            q10: word("q10")?,
            q11: word("q11")?,
            q12: word("q12")?,
            q13: word("q13")?,
            a0: word("a0")?,
            b0: word("b0")?,
            c0: word("c0")?,
            d0: word("d0")?,
            prefix_blocks: base.prefix.len() as u64 / 64,
            prefix_file: (!base.prefix.is_empty()).then(|| "prefix.bin".to_owned()),
        };
        let words = words_of(&row);
        if let Some(known) = self.base_numbers.get(&words) {
            return Ok(*known);
        }
        if let Some(name) = &row.prefix_file {
            self.writer.write_file(name, &base.prefix)?;
        }
        self.bases.push(row);
        self.base_numbers.insert(words, number);
        Ok(number)
    }

    /// Keep hits, with the trial that found them.
    ///
    /// # Errors
    /// When a prefix cannot be written.
    pub fn keep_hits(&mut self, label: &str, trial: Option<u32>, hits: &[Hit]) -> anyhow::Result<()> {
        for hit in hits {
            let base = self.base_number(&hit.base)?;
            self.hits.push(HitRow {
                trial,
                variant: label.to_owned(),
                base: Some(base),
                message_hex: encode_hex(&hit.message),
                digest: encode_hex(hit.digest),
                zeros_hex: zeros::hex_digits(&hit.digest),
                zeros_bits: zeros::bits(&hit.digest),
            });
        }
        Ok(())
    }

    /// Keep validated candidates; one that several variants agree on is kept once.
    ///
    /// # Errors
    /// When a row names a base that is not among `bases`.
    pub fn keep_candidates(
        &mut self,
        bases: &[BaseWords],
        rows: &[family::ValidationRow],
    ) -> anyhow::Result<()> {
        let mut numbers = HashMap::new();
        for base in bases {
            numbers.insert(base.id.as_str(), self.base_number(base)?);
        }
        for row in rows {
            let base = *numbers
                .get(row.base.as_str())
                .with_context(|| format!("no base {}", row.base))?;
            if self.seen.insert((base, row.words, row.digest)) {
                let [q9, m8, m9, m12] = row.words.map(Hex32);
                self.candidates.push(ValidationRow {
                    base,
                    q9,
                    m8,
                    m9,
                    m12,
                    digest: encode_hex(row.digest),
                });
            }
        }
        Ok(())
    }

    /// Keep checks of a validation.
    pub fn keep_checks(&mut self, rows: impl IntoIterator<Item = CheckRow>) {
        self.checks.extend(rows);
    }

    /// Write bases, hits, candidates and checks as far as there are any.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn save(&self) -> anyhow::Result<()> {
        if !self.bases.is_empty() {
            self.writer.write_table(&self.bases)?;
        }
        if !self.hits.is_empty() {
            self.writer.write_table(&self.hits)?;
        }
        if !self.candidates.is_empty() {
            self.writer.write_table(&self.candidates)?;
        }
        if !self.checks.is_empty() {
            self.writer.write_table(&self.checks)?;
        }
        Ok(())
    }

    /// Write everything with the report, and close the record. A report that cannot be made is said and left out: the record is
    /// what counts, and `assay report` can try again.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn close_with_report(self, status: Status) -> anyhow::Result<()> {
        self.save()?;
        if let Err(why) = self.writer.write_report(status) {
            eprintln!("assay: no report: {why}");
        }
        self.close(status)
    }

    /// Write everything and close the record.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn close(mut self, status: Status) -> anyhow::Result<()> {
        // If this fails, trying again will not help.
        self.closed = true;
        self.save_and_close(status)
    }

    fn save_and_close(&mut self, status: Status) -> anyhow::Result<()> {
        self.save()?;
        Ok(self.writer.close(status, Some(utc_rfc3339(SystemTime::now())))?)
    }
}

impl Drop for Book {
    fn drop(&mut self) {
        if !self.closed {
            // The command is ending with an error of its own; that one is worth saying.
            let _ = self.save_and_close(Status::Aborted);
        }
    }
}

/// A family's floor as a record has it.
pub fn floor(floor: family::Floor) -> Floor {
    match floor {
        family::Floor::Itself => Floor::Itself,
        family::Floor::Products(products) => Floor::Products(products),
    }
}

/// A variant as it was built.
fn entry(selected: &Selected, build: &BuildInfo, info: &DeviceInfo) -> VariantEntry {
    let named = |option: (&str, String)| (option.0.to_owned(), option.1);
    let not_applicable = selected.variant.not_applicable(info.kind);
    VariantEntry {
        label: selected.label(),
        options: selected.variant.options().into_iter().map(named).collect(),
        source_sha256: build.source_sha256.clone(),
        cubin_sha256: build.cubin_sha256.clone(),
        registers: build.registers,
        spill_bytes: build.spills,
        not_applicable: not_applicable.into_iter().map(str::to_owned).collect(),
        floor: selected.variant.floor().map(floor),
    }
}

/// The program that runs.
pub fn this_build() -> Build {
    Build {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: Some(env!("ASSAY_COMMIT").to_owned()).filter(|commit| !commit.is_empty()),
        dirty: env!("ASSAY_DIRTY").parse().ok(),
    }
}

/// The words that make a base: one behind another prefix has another chaining value.
fn words_of(base: &BaseRow) -> [u32; 16] {
    [
        base.q1, base.q2, base.q3, base.q4, base.q5, base.q6, base.q7, base.q8, base.q10, base.q11, base.q12,
        base.q13, base.a0, base.b0, base.c0, base.d0,
    ]
    .map(|word| word.0)
}
