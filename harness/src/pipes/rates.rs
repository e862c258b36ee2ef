//! What the rates of the pipes bound.

use std::fmt;

use serde::Serialize;

use super::measure::Row;
use super::verify::kind_of;
use crate::sass::PerUnit;

/// Lanes per clock and multiprocessor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PipeRates {
    /// Of the ALU.
    pub alu: f64,
    /// Of the FMA pipe.
    pub fma: f64,
    /// Of IMAD.HI, which takes the FMA pipe longer.
    pub imad_hi: f64,
    /// Of IMAD.WIDE, likewise.
    pub imad_wide: f64,
    /// Of all pipes together: four schedulers, each a warp's instruction a clock.
    pub issue: f64,
}

/// What limits a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// The ALU.
    Alu,
    /// The FMA pipe.
    Fma,
    /// The schedulers.
    Issue,
}

/// The most units per clock and multiprocessor that each resource allows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bound {
    /// By the ALU.
    pub alu: f64,
    /// By the FMA pipe.
    pub fma: f64,
    /// By the schedulers.
    pub issue: f64,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Limit::Alu => "ALU",
            Limit::Fma => "FMA",
            Limit::Issue => "issue",
        })
    }
}

impl PipeRates {
    /// Those of Turing to Hopper; a prediction for anything newer.
    pub const USUAL: PipeRates = PipeRates {
        alu: 64.0,
        fma: 64.0,
        imad_hi: 32.0,
        imad_wide: 32.0,
        issue: 128.0,
    };

    /// Those that `rows` show. Issue is what four schedulers can do; a row cannot show more.
    pub fn of(rows: &[Row]) -> PipeRates {
        let rate = |name: &str, usual: f64| {
            let row = rows.iter().find(|row| row.pattern == name);
            row.and_then(|row| row.lanes_per_clk_per_sm).unwrap_or(usual)
        };
        let usual = PipeRates::USUAL;
        PipeRates {
            alu: rate("LOP3", usual.alu),
            fma: rate("IMAD", usual.fma),
            imad_hi: rate("IMAD.HI", usual.imad_hi),
            imad_wide: rate("IMAD.WIDE", usual.imad_wide),
            issue: usual.issue,
        }
    }

    /// What they bound, for a kernel that costs `per_unit`.
    pub fn bound(&self, per_unit: &PerUnit) -> Bound {
        let count = |wanted: &str| -> f64 {
            let of_kind = per_unit
                .opcodes
                .iter()
                .filter(|(opcode, _)| kind_of(opcode) == wanted);
            of_kind.map(|(_, count)| count).sum()
        };
        let (hi, wide) = (count("IMAD.HI"), count("IMAD.WIDE"));
        let fma_clk = (per_unit.fma - hi - wide) / self.fma + hi / self.imad_hi + wide / self.imad_wide;
        Bound {
            alu: self.alu / per_unit.alu,
            fma: 1.0 / fma_clk,
            issue: self.issue / per_unit.total,
        }
    }
}

impl Bound {
    /// The lowest, and which it is.
    pub fn lowest(&self) -> (f64, Limit) {
        let all = [
            (self.alu, Limit::Alu),
            (self.fma, Limit::Fma),
            (self.issue, Limit::Issue),
        ];
        all.into_iter()
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap_or((self.alu, Limit::Alu))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn per_unit(total: f64, alu: f64, fma: f64, wide: f64) -> PerUnit {
        let opcodes = BTreeMap::from([("IMAD.WIDE.U32".to_string(), wide)]);
        PerUnit {
            total,
            alu,
            fma,
            other: total - alu - fma,
            opcodes,
        }
    }

    #[test]
    fn a_hash_with_117_alu_instructions_is_bound_by_the_alu() {
        let bound = PipeRates::USUAL.bound(&per_unit(154.0, 117.0, 32.0, 0.0));
        assert_eq!(bound.lowest().1, Limit::Alu);
        assert!((0.530 / bound.lowest().0 - 0.969).abs() < 1e-3);
    }

    #[test]
    fn half_rate_instructions_count_twice_and_many_instructions_bind_the_schedulers() {
        assert_eq!(
            PipeRates::USUAL
                .bound(&per_unit(100.0, 10.0, 64.0, 64.0))
                .lowest(),
            (0.5, Limit::Fma)
        );
        assert_eq!(
            PipeRates::USUAL
                .bound(&per_unit(256.0, 100.0, 100.0, 0.0))
                .lowest(),
            (0.5, Limit::Issue)
        );
    }

    #[test]
    fn measured_rows_replace_what_is_usual() {
        let row = |pattern, lanes| Row {
            pattern,
            per_step: 1,
            lanes_per_clk_per_sm: lanes,
            clk_per_step: None,
            overhead: None,
            refused: None,
        };
        let rates = PipeRates::of(&[row("LOP3", Some(63.5)), row("IMAD.HI", None)]);
        assert_eq!((rates.alu, rates.imad_hi, rates.issue), (63.5, 32.0, 128.0));
    }
}
