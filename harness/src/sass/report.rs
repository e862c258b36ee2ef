//! The account of a variant on an architecture, as a result and as a table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assay_analysis::rows::{self, SassRow};
use assay_kernels::loops::LoopPlan;
use assay_kernels::workload::Source;
use serde::Serialize;

use super::{Account, PerUnit, Pipe, SassError, entry_instructions, pipe_of, published};
use crate::pipes::{Limit, PipeRates};
use crate::toolchain::{Arch, ToolError, Toolchain};

/// A variant to account for.
#[derive(Debug, Clone)]
pub struct Subject {
    /// `FAMILY/NAME`.
    pub variant: String,
    /// Its production text.
    pub source: Source,
    /// What its loops iterate over.
    pub loops: LoopPlan,
}

/// Why a variant has no account on an architecture.
#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    /// A tool is missing or fails.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// Its machine code is not understood.
    #[error("{variant} on {arch}: {source}")]
    Sass {
        /// The variant.
        variant: String,
        /// The architecture.
        arch: Arch,
        /// Why.
        source: SassError,
    },
}

/// Where the pipe of an instruction is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PipeSource {
    /// From a `pipes` record of this architecture.
    Measured,
    /// From what other architectures do.
    Predicted,
}

/// The account of a variant on an architecture.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SassResult {
    /// `FAMILY/NAME`.
    pub variant: String,
    /// The architecture.
    pub arch: Arch,
    /// The compiler with its version.
    pub compiler: String,
    /// The disassembler with its version.
    pub disassembler: String,
    /// Instructions per unit.
    pub per_unit: PerUnit,
    /// Mean units of a thread, by which counters of a launch are divided.
    pub units_per_thread: f64,
    /// Where the split into pipes is known from.
    pub pipes: PipeSource,
    /// Registers a thread.
    pub registers: Option<u32>,
    /// Spilled bytes.
    pub spills: Option<u32>,
    /// SHA-256 of the cubin.
    pub cubin_sha256: String,
}

impl SassResult {
    /// The rows that a record keeps of it: one per opcode.
    pub fn rows(&self) -> Vec<SassRow> {
        let row = |(opcode, per_unit): (&String, &f64)| SassRow {
            variant: self.variant.clone(),
            arch: self.arch.to_string(),
            compiler: self.compiler.clone(),
            registers: self.registers,
            spill_bytes: self.spills,
            pipe: match pipe_of(self.arch, opcode) {
                Pipe::Alu => rows::Pipe::Alu,
                Pipe::Fma => rows::Pipe::Fma,
                Pipe::Other => rows::Pipe::Other,
            },
            opcode: opcode.clone(),
            instructions_per_unit: *per_unit,
        };
        self.per_unit.opcodes.iter().map(row).collect()
    }

    /// The most units per clock and multiprocessor at the usual rates of the pipes, and what sets it.
    fn bound(&self) -> (f64, Limit) {
        PipeRates::USUAL.bound(&self.per_unit).lowest()
    }

    /// Build, disassemble and account for `subject`.
    ///
    /// # Errors
    /// When a tool is missing or fails, or the machine code is not understood.
    pub fn of(
        tools: &Toolchain,
        subject: &Subject,
        arch: Arch,
        pipes: PipeSource,
    ) -> Result<SassResult, AccountError> {
        let nvdisasm = tools.nvdisasm()?;
        let cubin = tools.build(&subject.source, arch)?;
        let json = nvdisasm.json(&cubin.bytes, arch)?;
        let account = entry_instructions(&json, subject.source.entry)
            .and_then(|instructions| Account::new(&instructions, &subject.loops, arch))
            .map_err(|source| AccountError::Sass {
                variant: subject.variant.clone(),
                arch,
                source,
            })?;
        Ok(SassResult {
            variant: subject.variant.clone(),
            arch,
            compiler: cubin.build.compiler.unwrap_or_default(),
            disassembler: format!("nvdisasm {}", nvdisasm.version()),
            per_unit: rounded(account.per_unit),
            units_per_thread: subject.loops.units_per_thread(),
            pipes,
            registers: cubin.build.registers,
            spills: cubin.build.spills,
            cubin_sha256: cubin.build.cubin_sha256.unwrap_or_default(),
        })
    }
}

/// To four places: what is behind them is the order of summation.
fn rounded(per_unit: PerUnit) -> PerUnit {
    let round = |value: f64| (value * 1e4).round() / 1e4;
    let opcodes: BTreeMap<_, _> = per_unit
        .opcodes
        .into_iter()
        .map(|(opcode, count)| (opcode, round(count)))
        .collect();
    PerUnit {
        total: round(per_unit.total),
        alu: round(per_unit.alu),
        fma: round(per_unit.fma),
        other: round(per_unit.other),
        opcodes,
    }
}

/// The results as Markdown: one table of all, then what others have published beside ours.
pub fn table(results: &[SassResult]) -> String {
    let mut text = String::new();
    if let Some(first) = results.first() {
        let _ = writeln!(
            text,
            "Instructions per unit ({}, {}).\n",
            first.compiler, first.disassembler
        );
    }
    text +=
        "| variant | arch | total | ALU | FMA | other | pipes | bound | by | registers | spilled bytes |\n";
    text += "|---|---|--:|--:|--:|--:|---|--:|---|--:|--:|\n";
    for result in results {
        let (bound, limit) = result.bound();
        let best = highest_bound(results, result.arch) == Some(bound);
        let pipes = match result.pipes {
            PipeSource::Measured => "measured",
            PipeSource::Predicted => "predicted",
        };
        let number = |value: Option<u32>| value.map_or(String::new(), |value| value.to_string());
        let PerUnit {
            total,
            alu,
            fma,
            other,
            ..
        } = &result.per_unit;
        let _ = writeln!(
            text,
            "| {} | {} | {total:.2} | {alu:.2} | {fma:.2} | {other:.2} | {pipes} | {bound:.4}{} | {limit} | {} | {} |",
            result.variant,
            result.arch,
            if best { " *" } else { "" },
            number(result.registers),
            number(result.spills),
        );
    }
    text += "\nbound: the most units per clock and multiprocessor that 64 lanes of the ALU, 64 of the FMA pipe and 128 of the schedulers allow for these \
             instructions, and which of them sets it; * the highest on that architecture. A prediction: what a kernel reaches of its bound only a card \
             shows.\npipes: measured, where a record of `assay pipes` shows which pipe executes an instruction on that architecture; else predicted.\n";
    text += &published_table(results);
    text
}

/// The highest bound of the results on `arch`, where there are several.
fn highest_bound(results: &[SassResult], arch: Arch) -> Option<f64> {
    let bounds: Vec<f64> = results
        .iter()
        .filter(|result| result.arch == arch)
        .map(|result| result.bound().0)
        .collect();
    let several = bounds.len() > 1;
    bounds.into_iter().reduce(f64::max).filter(|_| several)
}

fn published_table(results: &[SassResult]) -> String {
    let known: Vec<_> = results
        .iter()
        .filter_map(|result| Some((result, published(&result.variant, result.arch)?)))
        .collect();
    let Some((_, first)) = known.first() else {
        return String::new();
    };
    let mut text = format!(
        "\nPublished ({}) and ours; docs/sass.md explains the gaps.\n\n",
        first.source
    );
    text += "| variant | total | ours | ALU | ours | IMAD | ours |\n|---|--:|--:|--:|--:|--:|--:|\n";
    for (result, theirs) in known {
        let _ = writeln!(
            text,
            "| {} | {:.0} | {:.2} | {:.0} | {:.2} | {:.0} | {:.2} |",
            result.variant,
            theirs.total,
            result.per_unit.total,
            theirs.alu,
            result.per_unit.alu,
            theirs.imad,
            result.per_unit.fma,
        );
    }
    text
}

/// Every opcode of every result, as Markdown.
pub fn opcode_tables(results: &[SassResult]) -> String {
    let mut text = String::new();
    for result in results {
        let _ = writeln!(
            text,
            "\n{} on {}:\n\n| opcode | per unit |\n|---|--:|",
            result.variant, result.arch
        );
        let mut opcodes: Vec<_> = result.per_unit.opcodes.iter().collect();
        opcodes.sort_by(|a, b| b.1.total_cmp(a.1).then_with(|| a.0.cmp(b.0)));
        for (opcode, count) in opcodes {
            let _ = writeln!(text, "| {opcode} | {count:.3} |");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(variant: &str, arch: u32) -> SassResult {
        SassResult {
            variant: variant.into(),
            arch: Arch::number(arch),
            compiler: "NVRTC 13.0.88".into(),
            disassembler: "nvdisasm 13.2.51".into(),
            per_unit: PerUnit {
                total: 190.0,
                alu: 129.0,
                fma: 57.0,
                other: 4.0,
                opcodes: BTreeMap::from([("LOP3.LUT".to_string(), 37.0)]),
            },
            units_per_thread: 256.0,
            pipes: PipeSource::Predicted,
            registers: Some(32),
            spills: Some(0),
            cubin_sha256: String::new(),
        }
    }

    #[test]
    fn the_table_labels_predictions_and_shows_published_counts_where_there_are_any() {
        let text = table(&[result("md5-q9/v0", 75), result("md5-q9/v0", 90)]);
        assert!(
            text.contains(
                "| md5-q9/v0 | sm_90 | 190.00 | 129.00 | 57.00 | 4.00 | predicted | 0.4961 | ALU | 32 | 0 |"
            ),
            "{text}"
        );
        assert!(
            text.contains("| md5-q9/v0 | 184 | 190.00 | 172 | 129.00 | 2 | 57.00 |"),
            "{text}"
        );
        assert!(!table(&[result("md5-q9/v1", 75)]).contains("Published"));
        assert!(opcode_tables(&[result("a", 75)]).contains("| LOP3.LUT | 37.000 |"));
    }

    #[test]
    fn the_json_has_the_fields_that_are_fixed() {
        let json = serde_json::to_value(result("md5-q9/v0", 75)).unwrap();
        assert_eq!(json["arch"], "sm_75");
        assert_eq!(json["per_unit"]["total"], 190.0);
        assert_eq!((&json["registers"], &json["spills"]), (&32.into(), &0.into()));
    }
}
