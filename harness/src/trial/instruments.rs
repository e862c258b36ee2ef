//! What measures beside the trials: the power sampler and the reader of the SM clocks.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use assay_analysis::rows::{Phase, PowerRow};
use assay_analysis::{EDGES_MIN_S, LEAD_S, PowerLog, PowerPlan};

use super::clock::{ClockReader, Clocks, mean_mhz};
use super::plan::{Earlier, TrialRequest};
use crate::book::Book;
use crate::device::{Device, DeviceError};
use crate::exit::Usage;
use crate::interrupt;
use crate::power::{self, Counts, Meter, PERIOD};

/// Length of an idle period: the lead that no statistic uses, and four seconds.
const IDLE: Duration = Duration::from_secs(6);

/// The instruments of a run, as far as the device has any.
pub struct Instruments {
    meter: Option<Meter>,
    clocks: Option<ClockReader>,
    idle: Duration,
}

impl Instruments {
    /// Start what there is; what there is not is noted in the record with its reason.
    ///
    /// # Errors
    /// When a record that holds power samples is continued where there are none.
    pub fn start(
        device: &dyn Device,
        request: &TrialRequest,
        earlier: &mut Earlier,
        book: &mut Book,
    ) -> anyhow::Result<Instruments> {
        let meter = start_meter(device, request, earlier, book)?;
        let has_energy = request.time.as_secs_f64() > LEAD_S + EDGES_MIN_S + 1.0;
        if meter.is_some() && !has_energy {
            book.note(format!(
                "no energy: trials of {:.1} s are too short, {:.1} s and longer ones have one",
                request.time.as_secs_f64(),
                LEAD_S + EDGES_MIN_S + 1.0
            ));
        }
        let idle = if meter.is_some() && has_energy {
            IDLE
        } else {
            Duration::ZERO
        };
        if let Some(power) = book.power_plan() {
            power.idle_seconds = idle.as_secs_f64();
        }
        let clocks = device.info().gpu.as_ref().and_then(|gpu| {
            let reader = ClockReader::new(device, gpu.multiprocessors);
            reader
                .map_err(|error| book.note(format!("no in-kernel clock: {error}")))
                .ok()
        });
        Ok(Instruments { meter, clocks, idle })
    }

    /// Sample the idle device, unless there is nothing to be had from it.
    pub fn rest(&mut self) {
        if let Some(meter) = &mut self.meter {
            meter.enter(Phase::Idle, 0);
            pause(self.idle);
        }
    }

    /// What comes now is the warm-up.
    pub fn warm_up(&mut self) {
        if let Some(meter) = &mut self.meter {
            meter.enter(Phase::Warmup, 0);
        }
    }

    /// Take what was sampled so far into [`samples`](Self::samples).
    pub fn hand_over(&mut self) {
        if let Some(meter) = &mut self.meter {
            meter.enter(Phase::Idle, 0);
        }
    }

    /// The sampler.
    pub fn meter(&self) -> Option<&Meter> {
        self.meter.as_ref()
    }

    /// A trial begins.
    ///
    /// # Errors
    /// When the card fails.
    pub fn begin(&mut self, trial: u32) -> Result<Option<Clocks>, DeviceError> {
        let clocks = self.clocks.as_mut().map(ClockReader::read).transpose()?;
        if let Some(meter) = &mut self.meter {
            meter.enter(Phase::Trial, trial);
        }
        Ok(clocks)
    }

    /// The trial has ended: its mean SM clock, and what the sampler met with.
    ///
    /// # Errors
    /// When the card fails.
    pub fn end(
        &mut self,
        before: Option<&Clocks>,
        book: &mut Book,
    ) -> Result<(Option<f64>, Option<Counts>), DeviceError> {
        let counts = self.meter.as_mut().map(|meter| {
            meter.enter(Phase::Warmup, 0);
            meter.counts()
        });
        let after = self.clocks.as_mut().map(ClockReader::read).transpose()?;
        let mhz = match (before, &after) {
            (Some(before), Some(after)) => mean_mhz(before, after)
                .map_err(|why| book.note(format!("an in-kernel clock is empty: {why}")))
                .ok(),
            _ => None,
        };
        Ok((mhz, counts))
    }

    /// Forget the samples of a trial that was cut short.
    pub fn forget(&mut self, trial: u32) {
        if let Some(meter) = &mut self.meter {
            meter.enter(Phase::Idle, 0);
            meter.forget(trial);
        }
    }

    /// The samples so far.
    pub fn samples(&self) -> Option<&[PowerRow]> {
        self.meter.as_ref().map(Meter::rows)
    }

    /// The samples so far, to be asked about trials.
    pub fn log(&self) -> Option<PowerLog<'_>> {
        self.samples().map(PowerLog::new)
    }

    /// Note what went wrong with the sampler.
    pub fn note_failures(&self, book: &mut Book) {
        for (why, count) in self.meter.iter().flat_map(Meter::failures) {
            book.note(format!("{count} power readings failed: {why}"));
        }
    }
}

fn start_meter(
    device: &dyn Device,
    request: &TrialRequest,
    earlier: &mut Earlier,
    book: &mut Book,
) -> anyhow::Result<Option<Meter>> {
    let continued = !earlier.rows.is_empty();
    let samples = earlier.power.take();
    if !request.power || (continued && samples.is_none()) {
        if samples.is_some() {
            return Err(
                Usage("--no-power: the record that is continued has power samples".to_owned()).into(),
            );
        }
        if !continued {
            book.note("power was not sampled, as asked for: the energy columns are empty");
        }
        return Ok(None);
    }
    let info = device.info();
    let source = match power::open(info.kind, info.gpu.as_ref().map(|gpu| gpu.uuid.as_str())) {
        Ok(source) => source,
        Err(why) if continued => return Err(why).context("the record that is continued has power samples"),
        Err(why) => {
            book.note(format!(
                "power was not sampled, so the energy columns are empty: {why}"
            ));
            return Ok(None);
        }
    };
    for lack in source.lacks() {
        book.note(format!("{}: {lack}", source.name()));
    }
    book.note_power(PowerPlan {
        source: source.name(),
        period_s: PERIOD.as_secs_f64(),
        idle_seconds: 0.0,
    });
    let meter = Meter::start(source, samples.unwrap_or_default(), earlier.age_s);
    Ok(Some(meter.context("the power sampler cannot be started")?))
}

/// Wait, unless interrupted.
fn pause(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time && !interrupt::asked() {
        thread::sleep((time - start.elapsed().min(time)).min(Duration::from_millis(50)));
    }
}
