//! A small, whole record: two variants and the A/A control, three rounds, one trial invalid; two bases, one behind a prefix.

use std::path::Path;

use assay_analysis::{
    Device, Gpu, Hex32, Manifest, PowerLog, PowerPlan, RecordWriter, Status, ThrottleSet, TrialPlan,
    VariantEntry,
    rows::{BaseRow, HitRow, Phase, Pipe, PowerRow, RunRow, SassRow, ValidationRow},
    summarise,
};

/// The block in front of base 1.
pub const PREFIX: &str = "Assay keeps the blocks in front of a base beside its record.\n\n\n\n";

pub fn manifest() -> Manifest {
    let variant = |label: &str| VariantEntry {
        label: label.into(),
        source_sha256: "00".repeat(32),
        ..Default::default()
    };
    Manifest {
        command: ["assay", "run", "md5-q9"].map(Into::into).to_vec(),
        seed: 7,
        started_utc: "2026-11-30T02:45:00Z".into(),
        devices: vec![Device {
            label: "cuda:0".into(),
            description: "a card".into(),
        }],
        gpu: Some(Gpu {
            name: Some("a card".into()),
            sms: Some(132),
            ..Default::default()
        }),
        plan: Some(TrialPlan {
            seconds: 10.0,
            rounds: 3,
            warmup_seconds: 5.0,
            baselines: vec!["md5-q9/v0".into()],
        }),
        power: Some(PowerPlan {
            source: "NVML, driver 580.159".into(),
            period_s: 0.1,
            idle_seconds: 6.0,
        }),
        variants: vec![variant("md5-q9/v0"), variant("md5-q9/v5")],
        ..Default::default()
    }
}

/// The trials, with every column that follows from others.
pub fn runs() -> Vec<RunRow> {
    let power = power();
    let derive = |row: RunRow| row.derived(Some(&PowerLog::new(&power))).unwrap();
    measured().into_iter().map(derive).collect()
}

/// The trials as they were measured.
fn measured() -> Vec<RunRow> {
    let labels = ["md5-q9/v0", "md5-q9/v5", "md5-q9/v0@aa"];
    let mut rows = Vec::new();
    for round in 0..3u32 {
        for position in 0..3u32 {
            let which = ((round + position) % 3) as usize;
            let trial = rows.len() as u32 + 1;
            let row = RunRow {
                trial,
                round: round + 1,
                position: position + 1,
                variant: labels[which].into(),
                device: "cuda:0".into(),
                base_first: Some(u64::from(trial) * 300),
                base_last: Some(u64::from(trial) * 300 + 299),
                batches: 300,
                units: [1_384_000_000_000, 1_839_000_000_000, 1_383_000_000_000][which]
                    + 1_000_000_007 * u64::from(trial),
                seconds: 10.0 + 0.001 * f64::from(trial),
                hits: Some([320, 431, 322][which]),
                hit_bits: Some(32),
                in_kernel_clock_mhz: Some(1_979.0 + f64::from(position)),
                sms: Some(132),
                power_overruns: Some(0),
                power_repeats: Some(1),
                ..Default::default()
            };
            rows.push(row);
        }
    }
    rows
}

pub fn bases() -> Vec<BaseRow> {
    // Base 0 and its candidates were made outside this project; so were base 1 and its candidate, with Python's hashlib.
    vec![
        base(
            0,
            [
                0x618a9261, 0x550caef9, 0x3b106980, 0xfe1b1434, 0x2a8161e5, 0xe6e9d6a1, 0xe9f0fcf8,
                0x62b8a158, 0x00000000, 0xffffffff, 0x93f3cfc7, 0xe57b47b9,
            ],
            [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476],
            None,
        ),
        base(
            1,
            [
                0xf6fffbd9, 0xe9a0494c, 0x2cb6aa75, 0x6e4d4a70, 0x7238e2ed, 0x280e140a, 0x5dd760c1,
                0xf15903a2, 0x5244afdb, 0x888b4234, 0x6a2ac18c, 0x9bb29c27,
            ],
            [0x351427b0, 0xfa84921f, 0x8b3c40b0, 0x4a271910],
            Some("prefix.bin".into()),
        ),
    ]
}

fn base(base: u64, q: [u32; 12], chain: [u32; 4], prefix_file: Option<String>) -> BaseRow {
    let [q1, q2, q3, q4, q5, q6, q7, q8, q10, q11, q12, q13] = q.map(Hex32);
    let [a0, b0, c0, d0] = chain.map(Hex32);
    let prefix_blocks = u64::from(prefix_file.is_some());
    BaseRow {
        base,
        q1,
        q2,
        q3,
        q4,
        q5,
        q6,
        q7,
        q8,
        q10,
        q11,
        q12,
        q13,
        a0,
        b0,
        c0,
        d0,
        prefix_blocks,
        prefix_file,
    }
}

pub fn validation() -> Vec<ValidationRow> {
    let row = |base, [q9, m8, m9, m12]: [u32; 4], digest: &str| ValidationRow {
        base,
        q9: Hex32(q9),
        m8: Hex32(m8),
        m9: Hex32(m9),
        m12: Hex32(m12),
        digest: digest.into(),
    };
    vec![
        row(
            0,
            [0, 0xd8469d07, 0xa3e034b8, 0xe51f2e06],
            "65c18b43a561f6106322cc0fecc5ad89",
        ),
        row(
            0,
            [1, 0xda469d07, 0xa3e034b7, 0xe51f2e05],
            "73a3f3bb2aa4b32f3345d2894c4283b8",
        ),
        row(
            0,
            [0x02635545, 0x624b63b1, 0x4de06182, 0xe2bbd8c1],
            "219b52afbabd3299f0c3b9e2000c709c",
        ),
        row(
            1,
            [0x3d88624c, 0x1f87ce70, 0xb43f3d8a, 0x74fc2df0],
            "4a00f3a4ed48b1a85270d212e8b1931f",
        ),
    ]
}

pub fn hits() -> Vec<HitRow> {
    let prefix: String = PREFIX.bytes().map(|byte| format!("{byte:02x}")).collect();
    let row = |trial, base, message_hex: String, digest: &str, zeros_bits| HitRow {
        trial,
        variant: "md5-q9/v5".into(),
        base,
        message_hex,
        digest: digest.into(),
        zeros_hex: zeros_bits / 4,
        zeros_bits,
    };
    let of_base_0 = "56d578d9b65ddcd6c7219f34b49d9427c27f3dd0404926743b91577509034e40b1634b628261e04dfe0557b339a929e3c1d8bbe2";
    let of_base_1 = "9b2153df65c7cba8a514938e2d3254a32cc0e75f6d032572e45f2b6bb124c97070ce871f8a3d3fb449bc3c3ace6547cef02dfc74";
    // The MD5 of 52 zero bytes, by md5sum.
    let zeros = "00".repeat(52);
    vec![
        row(
            Some(2),
            Some(0),
            of_base_0.into(),
            "219b52afbabd3299f0c3b9e2000c709c",
            2,
        ),
        row(
            None,
            Some(1),
            prefix + of_base_1,
            "4a00f3a4ed48b1a85270d212e8b1931f",
            1,
        ),
        row(Some(4), None, zeros, ZEROS_52_MD5, 1),
    ]
}

const ZEROS_52_MD5: &str = "469aa816010c9c8639a9176f625189af";

/// Ten samples a second: an idle period, a warm-up, the trials with hotter clocks in the fifth, and an idle period.
pub fn power() -> Vec<PowerRow> {
    let mut rows = Vec::new();
    let mut energy_mj = 1_000_000.0;
    let mut stretch = |phase, trial: u32, seconds: u32, watts: f64| {
        for _ in 0..10 * seconds {
            let i = rows.len() as u32;
            energy_mj += watts * 100.0;
            rows.push(PowerRow {
                trial,
                t_host_s: f64::from(i) / 10.0,
                t_nvml_us: Some(1_790_000_000_000_000 + 100_000 * u64::from(i)),
                // What the sensor sees wavers; what the counter adds up does not.
                power_instant_w: Some(watts + [1.0, -0.5, -0.25][i as usize % 3]),
                power_average_w: None,
                energy_total_mj: Some(energy_mj as u64),
                sm_clock_mhz: Some(if phase == Phase::Idle { 345 } else { 1_980 }),
                mem_clock_mhz: Some(3_201),
                temperature_c: Some(if phase == Phase::Idle { 35 } else { 52 + i % 2 }),
                throttle_reasons: Some(ThrottleSet::from_bits(match phase {
                    Phase::Idle => 0x1,
                    Phase::Trial if trial == 5 && i.is_multiple_of(50) => 0x20,
                    Phase::Trial if trial == 6 => 0x4,
                    _ => 0,
                })),
                phase,
            });
        }
    };
    stretch(Phase::Idle, 0, 6, 118.0);
    stretch(Phase::Warmup, 0, 3, 450.0);
    for run in measured() {
        let watts = [451.5, 511.0, 452.0][((run.round + run.position - 2) % 3) as usize];
        stretch(Phase::Trial, run.trial, 10, watts + f64::from(run.round));
    }
    stretch(Phase::Idle, 0, 6, 122.0);
    rows
}

pub fn sass() -> Vec<SassRow> {
    [
        (Pipe::Alu, "LOP3.LUT", 33.0),
        (Pipe::Fma, "IMAD", 34.0),
        (Pipe::Other, "BRA", 1.0 / 17.0),
    ]
    .map(|(pipe, opcode, instructions_per_unit)| SassRow {
        variant: "md5-q9/v5".into(),
        arch: "sm_90".into(),
        compiler: "NVRTC 13.0.88".into(),
        registers: Some(40),
        spill_bytes: Some(0),
        pipe,
        opcode: opcode.into(),
        instructions_per_unit,
    })
    .to_vec()
}

/// Writes the whole record.
pub fn write(dir: &Path, status: Status) {
    let writer = RecordWriter::create(dir, manifest()).unwrap();
    let runs = runs();
    for trials in 1..=runs.len() {
        writer.write_table(&runs[..trials]).unwrap();
    }
    writer.write_table(&bases()).unwrap();
    writer.write_table(&validation()).unwrap();
    writer.write_table(&hits()).unwrap();
    writer.write_table(&power()).unwrap();
    writer.write_table(&sass()).unwrap();
    writer
        .write_table(&summarise(&runs, &["md5-q9/v0".into()]).unwrap().rows)
        .unwrap();
    writer.write_file("prefix.bin", PREFIX).unwrap();
    writer.write_file("report.md", "# Report\n").unwrap();
    writer.finish(status).unwrap();
}
