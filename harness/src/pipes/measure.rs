//! Timing patterns on a card.

use assay_kernels::workload::{Argument, Batch, Buffer, BufferId, Launch, Setup, Step};
use serde::Serialize;

use super::kernel::{BLOCK, CHAINS, ENTRY, WORDS, source};
use super::pattern::Pattern;
use super::verify::verify;
use crate::device::{CudaDevice, Device, DeviceError};
use crate::sass::entry_instructions;

/// Passes of the loop in a launch: a few milliseconds.
const PASSES: u32 = 4096;

/// Launches of a pattern: the first warms up, the median of the others counts.
const LAUNCHES: u64 = 6;

/// Schedulers of a multiprocessor, on every architecture since sm_70.
const SCHEDULERS: f64 = 4.0;

/// Threads of a warp.
const WARP: f64 = 32.0;

/// One pattern on one card.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The pattern.
    pub pattern: &'static str,
    /// Instructions of a step.
    pub per_step: u32,
    /// Claimed instructions, in lanes per clock and multiprocessor; empty where refused.
    pub lanes_per_clk_per_sm: Option<f64>,
    /// Clocks that a scheduler needs for one step of one warp.
    pub clk_per_step: Option<f64>,
    /// Instructions of the loop that are not claimed, as a share of all.
    pub overhead: Option<f64>,
    /// Why it was not timed.
    pub refused: Option<String>,
}

/// Time `pattern` on `device`, once its machine code is verified.
///
/// # Errors
/// When a tool is missing or the card fails. A pattern that is not what it claims is a row that says so.
pub fn measure(device: &CudaDevice, pattern: &'static Pattern) -> Result<Row, DeviceError> {
    let mut row = Row {
        pattern: pattern.name,
        per_step: pattern.per_step(),
        lanes_per_clk_per_sm: None,
        clk_per_step: None,
        overhead: None,
        refused: None,
    };
    let source = source(pattern);
    let tools = device.tools();
    let arch = device.card().arch();
    let cubin = tools.build(&source, arch)?;
    let json = tools.nvdisasm()?.json(&cubin.bytes, arch)?;
    let verified = entry_instructions(&json, ENTRY)
        .map_err(|error| error.to_string())
        .and_then(|instructions| verify(pattern, &instructions));
    let body = match verified {
        Ok(body) => body,
        Err(why) => {
            row.refused = Some(why);
            return Ok(row);
        }
    };
    let blocks = device.card().gpu.multiprocessors;
    let words = blocks as usize * BLOCK as usize * WORDS;
    let buffers = vec![Buffer {
        name: "clocks",
        words,
        fill: 0,
    }];
    let mut session = device.open(&Setup {
        source,
        native: None,
        library: None,
        buffers,
    })?;
    let mut clocks = Vec::new();
    for launch in 0..LAUNCHES {
        session.submit(launch, batch(blocks, words))?;
        let outputs = session
            .wait()?
            .map(|finished| finished.outputs)
            .unwrap_or_default();
        let rows = outputs
            .first()
            .ok_or_else(|| DeviceError::Invalid("a launch brought nothing back".into()))?;
        if launch > 0 {
            clocks.push(median(
                rows.chunks_exact(BLOCK as usize * WORDS)
                    .map(block_clocks)
                    .collect(),
            ));
        }
    }
    let clocks = median(clocks);
    let claimed = f64::from(body.claimed) * f64::from(PASSES);
    row.lanes_per_clk_per_sm = Some(claimed * f64::from(BLOCK) / clocks);
    let steps = claimed / f64::from(row.per_step) * f64::from(BLOCK) / WARP / SCHEDULERS;
    row.clk_per_step = Some(clocks / steps);
    row.overhead = Some(f64::from(body.instructions - body.claimed) / f64::from(body.instructions));
    debug_assert_eq!(body.claimed % CHAINS, 0);
    Ok(row)
}

fn batch(blocks: u32, words: usize) -> Batch {
    let clocks = BufferId(0);
    let arguments = vec![
        Argument::Buffer(clocks),
        Argument::U32(PASSES),
        Argument::U32(0x1234_5677),
        Argument::U32(0x89ab_cdef),
    ];
    let launch = Step::Launch(Launch {
        entry: ENTRY,
        shared_bytes: 0,
        grid: blocks,
        block: BLOCK,
        arguments,
    });
    Batch {
        steps: vec![
            launch,
            Step::Download {
                buffer: clocks,
                words,
            },
        ],
        units: 0,
    }
}

/// From the first thread's start to the last one's end, on the multiprocessor's own clock.
fn block_clocks(rows: &[u32]) -> f64 {
    let clock = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    let before = rows
        .chunks_exact(WORDS)
        .map(|row| clock(row[0], row[1]))
        .min()
        .unwrap_or(0);
    let after = rows
        .chunks_exact(WORDS)
        .map(|row| clock(row[2], row[3]))
        .max()
        .unwrap_or(0);
    after.saturating_sub(before) as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_takes_from_its_first_start_to_its_last_end() {
        assert_eq!(
            block_clocks(&[5, 0, 9, 0, 1, 3, 0, 1, 1, 1]),
            (1u64 << 32 | 1) as f64 - 3.0
        );
    }

    #[test]
    fn the_median_of_an_even_number_is_between_the_middle_two() {
        assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
    }
}
