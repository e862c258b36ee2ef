//! A small, whole record: two variants and the A/A control, three rounds, one trial invalid; two bases, one behind a prefix.

use std::path::Path;

use assay_analysis::{
    Device, Gpu, Hex32, Manifest, RecordWriter, Status, TrialPlan, VariantEntry,
    rows::{BaseRow, HitRow, Pipe, PowerRow, RunRow, SassRow, ValidationRow, Verdict},
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
        variants: vec![variant("md5-q9/v0"), variant("md5-q9/v5")],
        ..Default::default()
    }
}

pub fn runs() -> Vec<RunRow> {
    let labels = ["md5-q9/v0", "md5-q9/v5", "md5-q9/v0@aa"];
    let mut rows = Vec::new();
    for round in 0..3u32 {
        for position in 0..3u32 {
            let which = ((round + position) % 3) as usize;
            let trial = rows.len() as u32 + 1;
            let thermal = trial == 5;
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
                energy_j: Some([4_470.0, 5_060.0, 4_474.0][which] + f64::from(round)),
                energy_integral_j: Some([4_475.0, 5_068.0, 4_470.0][which]),
                energy_s: Some(9.9),
                idle_w: Some(120.0),
                sm_clock_mhz_mean: Some(1_980.0),
                in_kernel_clock_mhz: Some(1_979.0 + f64::from(position)),
                sms: Some(132),
                temperature_c_mean: Some(52.5),
                throttle_reasons: Some(if thermal { "sw_thermal_slowdown" } else { "none" }.into()),
                power_samples: Some(99),
                power_overruns: Some(0),
                power_repeats: Some(1),
                verdict: if thermal { Verdict::Invalid } else { Verdict::Valid },
                reason: thermal.then(|| "thermal slowdown".into()),
                ..Default::default()
            };
            rows.push(row.with_derived().unwrap());
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

pub fn power() -> Vec<PowerRow> {
    (0..20)
        .map(|i| PowerRow {
            trial: 1,
            t_host_s: 0.1 * f64::from(i),
            t_nvml_us: Some(1_790_000_000_000_000 + 100_000 * u64::from(i as u32)),
            power_instant_w: Some(447.25),
            power_average_w: None,
            energy_total_mj: Some(1_000_000 + 44_725 * u64::from(i as u32)),
            sm_clock_mhz: Some(1_980),
            mem_clock_mhz: Some(3_201),
            temperature_c: Some(52),
            throttle_reasons: Some("none".into()),
        })
        .collect()
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
