//! What a run ran on and how, as names and values.

use crate::Manifest;

/// Every property of a run that its manifest knows, in the order of reading.
pub(crate) fn environment(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    let mut say = |what: &'static str, value: Option<String>| rows.extend(value.map(|value| (what, value)));
    let yes = |value: bool| if value { "on" } else { "off" }.to_owned();
    let watts = |value: f64| format!("{value} W");
    let megahertz = |value: u32| format!("{value} MHz");
    say("started", Some(manifest.started_utc.clone()));
    say("command", Some(manifest.command.join(" ")));
    say("seed", Some(manifest.seed.to_string()));
    let commit = manifest.build.commit.as_ref().map(|commit| {
        let changed = if manifest.build.dirty == Some(true) {
            ", with changes"
        } else {
            ""
        };
        format!(", commit {commit}{changed}")
    });
    say(
        "program",
        Some(format!(
            "assay {}{}",
            manifest.build.version,
            commit.unwrap_or_default()
        )),
    );
    for device in &manifest.devices {
        say(
            "device",
            Some(format!("{}: {}", device.label, device.description)),
        );
    }
    if let Some(gpu) = &manifest.gpu {
        say("card", gpu.name.clone());
        say("UUID", gpu.uuid.clone());
        say("compute capability", gpu.compute_capability.clone());
        say("multiprocessors", gpu.sms.map(|sms| sms.to_string()));
        say("driver", gpu.driver.clone());
        let range = gpu.power_limit_min_w.zip(gpu.power_limit_max_w);
        say(
            "power limit",
            gpu.power_limit_w.map(|limit| {
                let range = range.map_or(String::new(), |(low, high)| {
                    format!(", can be set from {low} to {high} W")
                });
                let shipped = gpu
                    .power_limit_default_w
                    .map_or(String::new(), |default| format!(", {default} W as shipped"));
                format!("{}{shipped}{range}", watts(limit))
            }),
        );
        say("ECC", gpu.ecc.map(yes));
        say("MIG", gpu.mig.map(yes));
        say("highest SM clock", gpu.sm_clock_max_mhz.map(megahertz));
        say("highest memory clock", gpu.mem_clock_max_mhz.map(megahertz));
        say("locked SM clock", gpu.sm_clock_locked_mhz.map(megahertz));
    }
    say("processor", manifest.host.cpu.clone());
    say(
        "threads",
        manifest.host.cpu_threads.map(|threads| threads.to_string()),
    );
    say("system", manifest.host.os.clone());
    say("compiler", manifest.compiler.clone());
    say("disassembler", manifest.disassembler.clone());
    say(
        "plan",
        manifest.plan.as_ref().map(|plan| {
            format!(
                "{} round(s) of trials of {} s in rotated order, warm-up of at most {} s",
                plan.rounds, plan.seconds, plan.warmup_seconds
            )
        }),
    );
    say(
        "power",
        manifest.power.as_ref().map(|power| {
            format!(
                "{}, every {} s, idle periods of {} s",
                power.source, power.period_s, power.idle_seconds
            )
        }),
    );
    rows
}
