//! The manifest: what was run, on what, from which sources, and the hash of every other file of the record.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The manifest's schema version that this crate writes and reads.
pub const SCHEMA: u32 = 1;

/// `manifest.json`. Optional fields are absent where the machine could not tell; `notes` says why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Schema version, [`SCHEMA`]. [`RecordWriter::create`](crate::RecordWriter::create) sets it.
    pub schema: u32,
    /// The command line, program name first.
    pub command: Vec<String>,
    /// The seed from which every random choice of the run follows.
    pub seed: u64,
    /// How far the run came. The record's writer sets it.
    pub status: Status,
    /// When the run started, RFC 3339 in UTC ([`utc_rfc3339`](crate::utc_rfc3339)).
    pub started_utc: String,
    /// When the record was closed, RFC 3339 in UTC. The record's writer sets it.
    pub finished_utc: Option<String>,
    /// The program that ran.
    pub build: Build,
    /// The machine it ran on.
    pub host: Host,
    /// The devices that were used.
    pub devices: Vec<Device>,
    /// The GPU, if one was used.
    pub gpu: Option<Gpu>,
    /// The compiler of the kernels and its version, such as `NVRTC 13.0.88`.
    pub compiler: Option<String>,
    /// The disassembler and its version.
    pub disassembler: Option<String>,
    /// How trials were planned, if the command times anything.
    pub plan: Option<TrialPlan>,
    /// How power was sampled, if it was.
    pub power: Option<PowerPlan>,
    /// What a tuner was asked for, and how far its time has gone.
    pub tune: Option<TunePlan>,
    /// The variants in the order in which they were selected (the A/A control is not one).
    pub variants: Vec<VariantEntry>,
    /// Sentences a reader needs, such as the reason why a column is empty.
    pub notes: Vec<String>,
    /// Every other file of the record by name. The record's writer fills it when the run ends.
    pub files: BTreeMap<String, FileEntry>,
}

/// How far a run came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Still running, or killed: the manifest was never closed and lists no hashes.
    #[default]
    Running,
    /// Everything planned was done.
    Complete,
    /// The user stopped it; what is there is whole.
    Aborted,
    /// It found something wrong (a mismatch, too few hits) and stopped.
    Failed,
}

/// The program that ran, as known when it was built.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Build {
    /// The program's version.
    pub version: String,
    /// The commit it was built from.
    pub commit: Option<String>,
    /// Whether the sources differed from that commit.
    pub dirty: Option<bool>,
}

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Host name.
    pub name: Option<String>,
    /// Operating system and kernel version.
    pub os: Option<String>,
    /// The processor's name.
    pub cpu: Option<String>,
    /// Hardware threads that the run could use.
    pub cpu_threads: Option<u32>,
}

/// A device that was used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Its label, as in the tables' `device` column: `cuda:0`, `cpu`, `emulated`.
    pub label: String,
    /// What it is, in words: the card's or the processor's name, the instruction set, the number of threads.
    pub description: String,
}

/// A GPU. Whatever its driver does not tell is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gpu {
    /// Product name.
    pub name: Option<String>,
    /// The card's UUID, `GPU-…`.
    pub uuid: Option<String>,
    /// Compute capability, such as `9.0`.
    pub compute_capability: Option<String>,
    /// Number of streaming multiprocessors.
    pub sms: Option<u32>,
    /// Driver version.
    pub driver: Option<String>,
    /// Power limit in force, W.
    pub power_limit_w: Option<f64>,
    /// Power limit as shipped, W.
    pub power_limit_default_w: Option<f64>,
    /// Lowest power limit that can be set, W.
    pub power_limit_min_w: Option<f64>,
    /// Highest power limit that can be set, W.
    pub power_limit_max_w: Option<f64>,
    /// Whether ECC is on.
    pub ecc: Option<bool>,
    /// Whether MIG is on.
    pub mig: Option<bool>,
    /// Highest SM clock, MHz.
    pub sm_clock_max_mhz: Option<u32>,
    /// Highest memory clock, MHz.
    pub mem_clock_max_mhz: Option<u32>,
    /// SM clock that was asked for, MHz, if clocks were locked.
    pub sm_clock_locked_mhz: Option<u32>,
    /// Memory, bytes.
    pub memory_bytes: Option<u64>,
}

/// How trials were planned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialPlan {
    /// Length of a trial, s.
    pub seconds: f64,
    /// Number of rounds; each times every variant once.
    pub rounds: u32,
    /// Longest warm-up before the first trial, s.
    pub warmup_seconds: f64,
    /// The label of each class's baseline ([`class`](crate::class)), at most one a class.
    pub baselines: Vec<String>,
}

/// How power was sampled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PowerPlan {
    /// What was asked: `NVML, driver 580.159`, `RAPL, 2 package(s)`.
    pub source: String,
    /// Time between two samples, s.
    pub period_s: f64,
    /// Length of each idle period, s; 0 where trials are too short for an energy.
    pub idle_seconds: f64,
}

/// What a tuner looks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// The highest rate.
    #[default]
    Rate,
    /// The most units per joule.
    Energy,
}

/// What a tuner was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TunePlan {
    /// Label of the variant that it started from: candidate 0 of tune.csv.
    pub start: String,
    /// What it looked for: `rate` or `energy`.
    pub objective: Objective,
    /// Time it was given, s; where it was continued, all of it together.
    pub budget_s: f64,
    /// Time it has used, s.
    pub spent_s: f64,
    /// Whether the race was run to its end, so that there is nothing to continue.
    pub decided: bool,
}

/// What a variant's rate is held against: a simpler product of the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Floor {
    /// It is that product itself.
    Itself,
    /// It takes so many of them.
    Products(u32),
}

/// One variant as it was built.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VariantEntry {
    /// Its label, `FAMILY/NAME`.
    pub label: String,
    /// Its options, as its file gives them.
    pub options: BTreeMap<String, String>,
    /// SHA-256 of the source text that was compiled, hex.
    pub source_sha256: String,
    /// SHA-256 of the cubin, hex, if one was made.
    pub cubin_sha256: Option<String>,
    /// Registers per thread.
    pub registers: Option<u32>,
    /// Bytes spilled per thread, stores and loads.
    pub spill_bytes: Option<u32>,
    /// Options that mean nothing on the device that was used.
    pub not_applicable: Vec<String>,
    /// What bounds its rate, where its family has such a thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Floor>,
}

/// What another file of the record must be, byte for byte.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// SHA-256 of its bytes, hex.
    pub sha256: String,
    /// Its length, bytes.
    pub size: u64,
}
