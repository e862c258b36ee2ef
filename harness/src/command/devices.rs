//! `assay devices`: what there is to run on and to build with, and what is missing.

use std::io::Write;

use serde::Serialize;

use crate::device::{Card, DeviceInfo, cuda_version};
use crate::toolchain::{Arch, Found, ToolError, ToolFlags, Toolchain};

/// List devices and CUDA tools: which were taken, their versions, what is missing and how to get it
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  assay devices
  assay devices --json
  assay devices --nvrtc /usr/local/cuda/lib64")]
pub struct DevicesArgs {
    /// Print one JSON document instead of lines
    #[arg(long)]
    pub json: bool,
    /// Which CUDA tools to take
    #[command(flatten)]
    pub tools: ToolFlags,
}

#[derive(Serialize)]
struct Document {
    schema: u32,
    devices: Vec<DeviceRow>,
    driver: DriverRow,
    nvrtc: ToolRow,
    nvdisasm: ToolRow,
    cache: Option<String>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct DeviceRow {
    id: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    card: Option<CardRow>,
}

#[derive(Serialize)]
struct CardRow {
    arch: Arch,
    uuid: String,
    multiprocessors: u32,
    memory_bytes: u64,
    compute_mode: String,
    /// Whether the compiler that was found builds for it.
    buildable: bool,
}

#[derive(Serialize)]
struct DriverRow {
    cuda: Option<String>,
    missing: Option<String>,
}

#[derive(Serialize, Default)]
struct ToolRow {
    version: Option<String>,
    path: Option<String>,
    found_by: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    archs: Vec<Arch>,
    missing: Option<String>,
}

impl ToolRow {
    fn found(found: &Found, version: String, archs: &[Arch]) -> ToolRow {
        ToolRow {
            version: Some(version),
            path: Some(found.path.display().to_string()),
            found_by: Some(found.origin.to_string()),
            archs: archs.to_vec(),
            missing: None,
        }
    }

    fn missing(error: &ToolError) -> ToolRow {
        ToolRow {
            missing: Some(error.to_string()),
            ..ToolRow::default()
        }
    }
}

/// List them. `others` are the devices that are no cards: `cpu`, `emulated`.
///
/// # Errors
/// The error of writing to `out`. What is missing is no error: it is what this command is for.
pub fn run(
    args: &DevicesArgs,
    others: &[DeviceInfo],
    tools: &Toolchain,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let document = survey(others, tools);
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)?;
    } else {
        out.write_all(lines(&document).as_bytes())?;
    }
    Ok(())
}

fn survey(others: &[DeviceInfo], tools: &Toolchain) -> Document {
    let nvrtc = tools.nvrtc();
    let mut notes = Vec::new();
    let mut devices = Vec::new();
    let driver = match Card::all() {
        Err(why) => DriverRow {
            cuda: None,
            missing: Some(why),
        },
        Ok((driver, cards)) => {
            if let Ok(nvrtc) = &nvrtc {
                let (major, minor) = nvrtc.version().cuda;
                if major * 1000 + minor * 10 > driver.cuda {
                    // A driver loads cubins of later versions of its own major version, not of the next.
                    let what = if major == driver.cuda / 1000 {
                        "kernels are built as cubins, which it loads all the same"
                    } else {
                        "it may refuse the cubins, then take an NVRTC of its own major version with --nvrtc"
                    };
                    let (compiler, driver) = (nvrtc.version(), cuda_version(driver.cuda));
                    notes.push(format!(
                        "NVRTC {compiler} is newer than the driver's CUDA {driver}: {what}"
                    ));
                }
            }
            if cards.is_empty() {
                notes.push("the driver works and shows no card (is CUDA_VISIBLE_DEVICES set?)".to_string());
            }
            for card in &cards {
                let buildable = nvrtc
                    .as_ref()
                    .is_ok_and(|nvrtc| nvrtc.archs().contains(&card.arch()));
                devices.push(DeviceRow {
                    id: card.id(),
                    name: card.name.clone(),
                    card: Some(card_row(card, buildable)),
                });
            }
            DriverRow {
                cuda: Some(cuda_version(driver.cuda)),
                missing: None,
            }
        }
    };
    devices.extend(others.iter().map(|info| DeviceRow {
        id: info.id.clone(),
        name: info.name.clone(),
        card: None,
    }));
    let nvrtc = match nvrtc {
        Ok(nvrtc) => ToolRow::found(nvrtc.found(), nvrtc.version().to_string(), nvrtc.archs()),
        Err(error) => ToolRow::missing(&error),
    };
    let nvdisasm = match tools.nvdisasm() {
        Ok(nvdisasm) => ToolRow::found(nvdisasm.found(), nvdisasm.version().to_string(), &[]),
        Err(error) => ToolRow::missing(&error),
    };
    let cache = tools.cache().folder().map(|folder| folder.display().to_string());
    Document {
        schema: 1,
        devices,
        driver,
        nvrtc,
        nvdisasm,
        cache,
        notes,
    }
}

fn card_row(card: &Card, buildable: bool) -> CardRow {
    CardRow {
        arch: card.arch(),
        uuid: card.gpu.uuid.clone(),
        multiprocessors: card.gpu.multiprocessors,
        memory_bytes: card.gpu.memory_bytes,
        compute_mode: card.mode.to_string(),
        buildable,
    }
}

fn lines(document: &Document) -> String {
    let mut lines = Vec::new();
    for device in &document.devices {
        lines.push(format!("{:<10} {}", device.id, device.name));
        if let Some(card) = &device.card {
            let built = if card.buildable {
                ""
            } else {
                ", which NVRTC does not build for"
            };
            lines.push(format!(
                "{:<10} {}{built}, {} multiprocessors, {:.1} GiB, {}, {}",
                "",
                card.arch,
                card.multiprocessors,
                card.memory_bytes as f64 / f64::from(1 << 30),
                card.compute_mode,
                card.uuid
            ));
        }
    }
    lines.push(match (&document.driver.cuda, &document.driver.missing) {
        (Some(cuda), _) => format!("{:<10} CUDA {cuda}", "driver"),
        (None, missing) => format!(
            "{:<10} none: {}",
            "driver",
            missing.as_deref().unwrap_or_default()
        ),
    });
    for (name, tool) in [("NVRTC", &document.nvrtc), ("nvdisasm", &document.nvdisasm)] {
        lines.push(match (&tool.version, &tool.path, &tool.found_by) {
            (Some(version), Some(path), Some(by)) => format!("{name:<10} {version} ({by}) {path}"),
            _ => format!("{name:<10} none: {}", tool.missing.as_deref().unwrap_or_default()),
        });
    }
    if !document.nvrtc.archs.is_empty() {
        let archs: Vec<_> = document.nvrtc.archs.iter().map(Arch::to_string).collect();
        lines.push(format!("{:<10} builds for {}", "", archs.join(", ")));
    }
    lines.push(format!(
        "{:<10} {}",
        "cache",
        document
            .cache
            .as_deref()
            .unwrap_or("none: neither ASSAY_CACHE nor HOME is set")
    ));
    lines.extend(document.notes.iter().map(|note| format!("{:<10} {note}", "note")));
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::fake::FakeLoader;
    use crate::toolchain::{CubinCache, Places};

    #[test]
    fn a_machine_with_nothing_is_told_what_is_missing_and_how_to_get_it() {
        let tools = Toolchain::new(
            Places::default(),
            Box::new(FakeLoader::default()),
            CubinCache::none(),
            Box::new(|_| {}),
        );
        let mut out = Vec::new();
        run(
            &DevicesArgs {
                json: false,
                tools: ToolFlags::default(),
            },
            &[],
            &tools,
            &mut out,
        )
        .unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.contains("NVRTC      none:") && text.contains("scripts/setup-cuda"),
            "{text}"
        );
        let mut out = Vec::new();
        run(
            &DevicesArgs {
                json: true,
                tools: ToolFlags::default(),
            },
            &[],
            &tools,
            &mut out,
        )
        .unwrap();
        let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(json["schema"], 1);
        assert!(
            json["nvdisasm"]["missing"]
                .as_str()
                .unwrap()
                .contains("nvdisasm is missing")
        );
    }
}
