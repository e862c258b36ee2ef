//! A source that a test controls.

use std::thread;
use std::time::{Duration, Instant};

use assay_analysis::ThrottleSet;

use super::source::{PowerSource, Reading, SourceError};

/// How a fake behaves.
#[derive(Debug, Clone, Copy, Default)]
pub struct Script {
    /// Every stamp is the same.
    pub stuck_stamp: bool,
    /// The energy counter stands still.
    pub frozen: bool,
    /// Readings fail.
    pub silent: bool,
    /// Throttle reasons, as NVML's bits.
    pub throttle: u64,
    /// How long a reading takes.
    pub delay: Duration,
}

/// A card that draws 400 W at 1500 MHz.
pub struct Fake {
    script: Script,
    start: Instant,
}

impl Fake {
    pub fn new(script: Script) -> Fake {
        Fake {
            script,
            start: Instant::now(),
        }
    }
}

impl PowerSource for Fake {
    fn name(&self) -> String {
        "a fake".to_owned()
    }

    fn lacks(&self) -> Vec<String> {
        Vec::new()
    }

    fn read(&mut self) -> Result<Reading, SourceError> {
        thread::sleep(self.script.delay);
        if self.script.silent {
            return Err(SourceError("the card is lost".to_owned()));
        }
        let time = self.start.elapsed();
        let stamp = if self.script.stuck_stamp {
            0
        } else {
            time.as_micros() as u64
        };
        let counted = if self.script.frozen {
            0.0
        } else {
            time.as_secs_f64()
        };
        Ok(Reading {
            stamp_us: Some(1_790_000_000_000_000 + stamp),
            instant_w: Some(400.0),
            average_w: Some(400.0),
            energy_mj: Some(1_000_000 + (counted * 400e3) as u64),
            sm_clock_mhz: Some(1500),
            mem_clock_mhz: Some(3000),
            temperature_c: Some(50),
            throttle: Some(ThrottleSet::from_bits(self.script.throttle)),
        })
    }
}
