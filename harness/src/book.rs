//! Keeping a record while a command runs: its manifest, and the bases, hits and candidates that it collects.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::Context;
use assay_analysis::rows::{BaseRow, HitRow, ValidationRow};
use assay_analysis::{
    Build, Device as DeviceEntry, Gpu, Hex32, Manifest, RecordWriter, Status, TrialPlan, VariantEntry,
    encode_hex, utc_rfc3339, utc_stamp,
};
use assay_kernels::family::{self, BaseWords};
use assay_kernels::workload::Hit;

use crate::device::{BuildInfo, DeviceInfo};

use crate::host_facts;
use crate::select::Selected;
use crate::zeros;

/// The open record of a command.
pub struct Book {
    writer: RecordWriter,
    base_numbers: HashMap<BaseWords, u64>,
    bases: Vec<BaseRow>,
    hits: Vec<HitRow>,
    candidates: Vec<ValidationRow>,
    seen: BTreeSet<(u64, [u32; 4], [u8; 16])>,
}

impl Book {
    /// Open a record in `out`, or in `runs/<UTC stamp>-<command>`.
    ///
    /// # Errors
    /// When the folder holds something, or cannot be written.
    pub fn open(out: Option<PathBuf>, command: &str, seed: u64) -> anyhow::Result<Book> {
        let now = SystemTime::now();
        let dir = out.unwrap_or_else(|| PathBuf::from("runs").join(format!("{}-{command}", utc_stamp(now))));
        let manifest = Manifest {
            command: std::env::args().collect(),
            seed,
            started_utc: utc_rfc3339(now),
            build: Build {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                commit: Some(env!("ASSAY_COMMIT").to_owned()).filter(|commit| !commit.is_empty()),
                dirty: env!("ASSAY_DIRTY").parse().ok(),
            },
            host: host_facts::host(),
            ..Manifest::default()
        };
        let writer = RecordWriter::create(dir, manifest)?;
        Ok(Book {
            writer,
            base_numbers: HashMap::new(),
            bases: Vec::new(),
            hits: Vec::new(),
            candidates: Vec::new(),
            seen: BTreeSet::new(),
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
        manifest.gpu = info.gpu.as_ref().map(|gpu| Gpu {
            name: Some(info.name.clone()),
            uuid: Some(gpu.uuid.clone()),
            compute_capability: Some(format!(
                "{}.{}",
                gpu.compute_capability.0, gpu.compute_capability.1
            )),
            sms: Some(gpu.multiprocessors),
            memory_bytes: Some(gpu.memory_bytes),
            ..Gpu::default()
        });
        manifest.plan = plan;
    }

    /// Note how a variant was built.
    pub fn note_variant(&mut self, selected: &Selected, build: &BuildInfo, info: &DeviceInfo) {
        let label = selected.label();
        let manifest = self.writer.manifest_mut();
        if manifest.compiler.is_none() {
            manifest.compiler.clone_from(&build.compiler);
        }
        if manifest.variants.iter().all(|known| known.label != label) {
            let options = selected.variant.options();
            manifest.variants.push(VariantEntry {
                label,
                options: options
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect(),
                source_sha256: build.source_sha256.clone(),
                cubin_sha256: build.cubin_sha256.clone(),
                registers: build.registers,
                spill_bytes: build.spills,
                not_applicable: selected
                    .variant
                    .not_applicable(info.kind)
                    .into_iter()
                    .map(str::to_owned)
                    .collect(),
            });
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
        if let Some(number) = self.base_numbers.get(base) {
            return Ok(*number);
        }
        let number = self.bases.len() as u64;
        let word = |name: &str| {
            let found = base.words.iter().find(|(known, _)| known == name);
            found
                .map(|(_, word)| Hex32(*word))
                .with_context(|| format!("base {} has no {name}", base.id))
        };
        let prefix_file = (!base.prefix.is_empty()).then(|| "prefix.bin".to_owned());
        if let Some(name) = &prefix_file {
            self.writer.write_file(name, &base.prefix)?;
        }
        self.bases.push(BaseRow {
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
            prefix_file,
        });
        self.base_numbers.insert(base.clone(), number);
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

    /// Write bases, hits and candidates as far as there are any.
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
        Ok(())
    }

    /// Write everything and close the record.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn close(self, status: Status) -> anyhow::Result<()> {
        self.save()?;
        Ok(self.writer.finish(status)?)
    }
}
