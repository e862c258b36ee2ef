//! `assay power`: what a device's power sensors say, and how they behave.

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use assay_analysis::rows::{Phase, PowerRow};
use assay_kernels::family::DeviceKind;
use serde::Serialize;

use super::common::{duration, print_json};
use crate::device::{Card, DeviceName};
use crate::exit::NoDevice;
use crate::interrupt;
use crate::power::{Cadence, Meter, Probe, open, probe};

/// Show a device's power, clocks and temperature, or measure how often its sensors change
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  assay power
  assay power --probe --for 10s
  assay search --for 30s & assay power --probe       under load, where the values move")]
pub struct PowerArgs {
    /// cuda:N or cpu [default: cuda:0 if there is one, else cpu]
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<DeviceName>,
    /// Measure how often each value changes, how old stamps are, and how long a reading takes
    #[arg(long)]
    pub probe: bool,
    /// How long to look
    #[arg(long = "for", value_name = "TIME", value_parser = duration, default_value = "5s")]
    pub time: Duration,
    /// Print one JSON document on stdout
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct Document<'d> {
    schema: u32,
    device: &'d str,
    source: &'d str,
    lacks: &'d [String],
    probe: Option<Probe>,
    samples: Option<&'d [PowerRow]>,
}

/// Run the command.
///
/// # Errors
/// When the device has no power sensor (exit code 3), or stdout cannot be written.
pub fn run(args: &PowerArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let (label, kind, uuid) = target(args.device)?;
    let none = |why: String| NoDevice(format!("{label}: {why}"));
    let mut source = open(kind, uuid.as_deref()).map_err(|why| none(why.to_string()))?;
    let (name, lacks) = (source.name(), source.lacks());
    let mut document = Document {
        schema: 1,
        device: &label,
        source: &name,
        lacks: &lacks,
        probe: None,
        samples: None,
    };
    if args.probe {
        eprintln!("assay: asking {name} for {} s", args.time.as_secs_f64());
        let found =
            probe(source.as_mut(), args.time, interrupt::asked).map_err(|why| none(why.to_string()))?;
        if !args.json {
            out.write_all(probe_text(&label, &found).as_bytes())?;
            return Ok(());
        }
        document.probe = Some(found);
        print_json(out, &document)?;
        return Ok(());
    }
    let mut meter = Meter::start(source, Vec::new(), 0.0)?;
    let start = Instant::now();
    while start.elapsed() < args.time && !interrupt::asked() {
        thread::sleep(Duration::from_millis(20));
    }
    meter.enter(Phase::Idle, 0);
    if args.json {
        document.samples = Some(meter.rows());
        print_json(out, &document)?;
    } else {
        out.write_all(trace_text(&label, &name, &lacks, meter.rows()).as_bytes())?;
    }
    Ok(())
}

/// Label, kind and UUID of the device to ask.
fn target(device: Option<DeviceName>) -> anyhow::Result<(String, DeviceKind, Option<String>)> {
    let card = |ordinal: u32| {
        let (_, cards) = Card::all()?;
        let card = cards.into_iter().find(|card| card.ordinal == ordinal);
        card.ok_or_else(|| format!("there is no card {ordinal}"))
    };
    let of_card = |card: Card| (card.id(), DeviceKind::Cuda, Some(card.gpu.uuid));
    let cpu = || ("cpu".to_owned(), DeviceKind::Cpu, None);
    match device {
        Some(DeviceName::Cuda(ordinal)) => Ok(of_card(
            card(ordinal).map_err(|why| NoDevice(format!("cuda:{ordinal}: {why}")))?,
        )),
        Some(DeviceName::Cpu) => Ok(cpu()),
        Some(DeviceName::Emulated) => Ok(("emulated".to_owned(), DeviceKind::Emulated, None)),
        None => Ok(card(0).map_or_else(|_| cpu(), of_card)),
    }
}

fn number(value: Option<f64>, places: usize) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.places$}"))
}

fn probe_text(label: &str, probe: &Probe) -> String {
    let mut text = format!(
        "{label}, {}: {} readings, {:.2} ms each (median), {:.2} ms at most\n",
        probe.source, probe.readings, probe.reading_ms_median, probe.reading_ms_max
    );
    for lack in &probe.lacks {
        text += &format!("Not told: {lack}\n");
    }
    text +=
        "\n| value | changes | period, shortest [ms] | median [ms] | longest [ms] |\n|:--|--:|--:|--:|--:|\n";
    for Cadence {
        value,
        changes,
        period_ms_min,
        period_ms_median,
        period_ms_max,
    } in &probe.cadences
    {
        text += &format!(
            "| {value} | {changes} | {} | {} | {} |\n",
            number(*period_ms_min, 1),
            number(*period_ms_median, 1),
            number(*period_ms_max, 1)
        );
    }
    if probe.stamp_age_ms_median.is_some() {
        text += &format!(
            "\nA stamp is {} ms old when its reading ends (median), {} ms at most: near 0 means that the driver stamps the question.\n",
            number(probe.stamp_age_ms_median, 2),
            number(probe.stamp_age_ms_max, 2)
        );
    }
    text
}

fn trace_text(label: &str, source: &str, lacks: &[String], rows: &[PowerRow]) -> String {
    let mut text = format!("{label}, {source}\n");
    for lack in lacks {
        text += &format!("Not told: {lack}\n");
    }
    text += "\n| t [s] | now [W] | average [W] | counter [J] | SM [MHz] | memory [MHz] | [°C] | throttle |\n";
    text += "|--:|--:|--:|--:|--:|--:|--:|:--|\n";
    let first = rows.first().and_then(|row| row.energy_total_mj).unwrap_or(0);
    let whole = |value: Option<u32>| value.map_or("-".to_owned(), |value| value.to_string());
    for row in rows {
        text += &format!(
            "| {:.2} | {} | {} | {} | {} | {} | {} | {} |\n",
            row.t_host_s,
            number(row.power_instant_w, 1),
            number(row.power_average_w, 1),
            number(
                row.energy_total_mj
                    .map(|energy| energy.saturating_sub(first) as f64 / 1e3),
                2
            ),
            whole(row.sm_clock_mhz),
            whole(row.mem_clock_mhz),
            whole(row.temperature_c),
            row.throttle_reasons
                .map_or("-".to_owned(), |reasons| reasons.to_string()),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_a_dash_never_a_zero() {
        let rows = [PowerRow {
            t_host_s: 0.1,
            energy_total_mj: Some(7000),
            ..PowerRow::default()
        }];
        let text = trace_text("cpu", "RAPL", &[], &rows);
        assert!(
            text.ends_with("| 0.10 | - | - | 0.00 | - | - | - | - |\n"),
            "{text}"
        );
    }
}
