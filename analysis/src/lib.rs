//! Records of Assay runs: what a run writes down, what can be concluded from it, and how anyone can check it again.
//!
//! Everything here works from files and row values. The crate knows no device and no kernel, so a record made on a board
//! can be summarised, printed and re-verified on a laptop.
//!
//! The way through it: a run fills a [`Manifest`] and a [`RecordWriter`] with [rows]; [`summarise`] turns trials
//! into [`rows::SummaryRow`]s by the rules of [`stats`]; [`summary_table`] prints them; [`check()`] re-derives all of it from
//! the files alone.

mod accuracy_table;
mod check;
mod checks_table;
mod columns;
mod compare;
mod energy;
mod environment;
mod fault;
mod floor_table;
mod hex;
mod label;
mod manifest;
mod record;
mod rederive;
mod report;
mod rfc1321;
pub mod rows;
mod stage_table;
pub mod stats;
mod summary;
mod table;
mod tables;
mod throttle;
mod tune_table;
mod utc;

pub use accuracy_table::accuracy_table;
pub use check::{CheckError, CheckReport, check, check_unclosed};
pub use checks_table::checks_table;
pub use columns::{Column, Row};
pub use compare::{Agreement, Comparison, compare};
pub use energy::{EDGES_MIN_S, Finding, GAP_FLAGGED, LEAD_S, PowerLog, SILENCE_MAX_S, TrialPower};
pub use fault::Fault;
pub use floor_table::floor_table;
pub use hex::{Hex32, HexError, decode_hex, encode_hex};
pub use label::{Class, class, family, is_control, natural_key, subject, unsized_label};
pub use manifest::{
    Build, Device, FileEntry, Floor, Gpu, Host, Manifest, Objective, PowerPlan, SCHEMA, Status, TrialPlan,
    TunePlan, VariantEntry,
};
pub use record::{MANIFEST, Record, RecordError, RecordWriter};
pub use rederive::rederive;
pub use report::{REPORT_FILES, Report, ReportError};
pub use stage_table::stage_table;
pub use summary::{InvalidTrial, Summary, summarise};
pub use table::{Align, Table, TableColumn, summary_table};
pub use tables::{decode_rows, encode_rows};
pub use throttle::{Effect, ThrottleSet, UnknownReason};
pub use tune_table::tune_table;
pub use utc::{since_utc, utc_rfc3339, utc_stamp};
