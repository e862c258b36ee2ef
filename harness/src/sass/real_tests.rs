//! The account of kernels that the real compiler has made, on every architecture: no GPU needed.
//!
//! The kernels have the shape of the hash families: a run-time number of units a thread, several at a time with a tail,
//! or groups of members; a rare hit. The rotations of a unit are known, so the account can be held against it.

use std::fmt::Write as _;

use assay_kernels::loops::{LoopLevel, LoopPlan, Trips, UnitMark};
use assay_kernels::workload::Source;

use super::{PerUnit, PipeSource, SassResult, Subject};
use crate::toolchain::{Arch, CubinCache, real};

const ARCHS: [u32; 7] = [75, 80, 86, 89, 90, 100, 120];

/// Steps of a unit: each one LOP3, two adds, one rotation.
const STEPS: usize = 32;

const HEAD: &str = r#"
typedef unsigned int u32;
typedef unsigned long long u64;
struct Base { u32 q[4]; u32 k[32]; };
__device__ __forceinline__ void report(u32 *hits, u32 capacity, u32 a, u32 b)
{
    const u32 place = atomicAdd(hits, 1u);
    if (place < capacity) { hits[1 + 2 * place] = a; hits[2 + 2 * place] = b; }
}
"#;

/// A function that computes `count` units step by step, side by side.
fn units(count: usize) -> String {
    let mut text = format!(
        "__device__ __forceinline__ void units_{count}(const Base &base, u32 seed, u32 target, u32 *hits, u32 capacity)\n{{\n"
    );
    for unit in 0..count {
        let _ = writeln!(
            text,
            "u32 a{unit} = seed + {unit}, b{unit} = base.q[1], c{unit} = base.q[2], d{unit} = base.q[3], t{unit};"
        );
    }
    for step in 0..STEPS {
        for unit in 0..count {
            let _ = writeln!(
                text,
                "t{unit} = d{unit} + ((a{unit} & b{unit}) | (~a{unit} & c{unit})) + base.k[{step}]; d{unit} = c{unit}; \
                 c{unit} = b{unit}; b{unit} = a{unit}; a{unit} = b{unit} + __funnelshift_l(t{unit}, t{unit}, {});",
                5 + step % 20
            );
        }
    }
    for unit in 0..count {
        let _ = writeln!(
            text,
            "if (a{unit} == target) report(hits, capacity, seed + {unit}, b{unit});"
        );
    }
    text + "}\n"
}

fn subject(text: String, levels: Vec<LoopLevel>) -> Subject {
    Subject {
        variant: "test/kernel".into(),
        source: Source {
            file: "kernel.cu".into(),
            text,
            defines: Vec::new(),
            entry: "kernel",
            helpers: vec![],
            options: Vec::new(),
        },
        loops: LoopPlan {
            mark: UnitMark::rotations(STEPS as u32),
            levels,
        },
    }
}

/// Each thread computes `inner` units, `interleave` at a time, then the rest one by one.
fn flat(interleave: usize, inner: u32) -> Subject {
    let main = if interleave > 1 {
        format!(
            "for (; left >= {interleave}; left -= {interleave}, s += {interleave}) units_{interleave}(base, s, target, hits, capacity);\n"
        )
    } else {
        String::new()
    };
    let more = if interleave > 1 {
        units(interleave)
    } else {
        String::new()
    };
    let text = format!(
        "{HEAD}{}{more}extern \"C\" __global__ void kernel(const Base base, u64 first, u64 slots, u32 inner, u32 target, \
         u32 *hits, u32 capacity)\n{{\nconst u64 begin = (u64)(blockIdx.x * blockDim.x + threadIdx.x) * inner;\n\
         if (begin >= slots) return;\nu32 left = slots - begin < inner ? (u32)(slots - begin) : inner;\n\
         u32 s = (u32)(first + begin);\n{main}\
         for (; left > 0; --left, ++s) units_1(base, s, target, hits, capacity);\n}}\n",
        units(1)
    );
    subject(text, vec![LoopLevel::times("unit", inner)])
}

/// Each thread computes `inner` orbits of two groups, which have 17 members together.
fn nested(inner: u32) -> Subject {
    let text = format!(
        "{HEAD}{}extern \"C\" __global__ void kernel(const Base base, u64 first, u64 slots, u32 inner, u32 target, \
         u32 *hits, u32 capacity)\n{{\nconst u64 begin = (u64)(blockIdx.x * blockDim.x + threadIdx.x) * inner;\n\
         if (begin >= slots) return;\nconst u32 mine = slots - begin < inner ? (u32)(slots - begin) : inner;\n\
         for (u32 i = 0; i < mine; ++i) {{\nconst u32 y = (u32)(first + begin) + i;\nif (y >= 0x0f0f0f0fu) continue;\n\
         const u32 last = __funnelshift_l(y, y, 20) / 0x0f0f0f0fu;\nu32 z = 1 - y;\n\
         for (u32 g = 0; g < 2; ++g) {{\nu32 left = g == 0 ? last + 1 : 16 - last;\nif (left == 0) continue;\n\
         Base mixed = base;\nmixed.q[1] += y - g;\nmixed.q[2] = (mixed.q[1] & z) | (~mixed.q[1] & y);\n\
         for (; left > 0; --left, z -= 0x0f0f0f0fu) units_1(mixed, z, target, hits, capacity);\n}}\n}}\n}}\n",
        units(1)
    );
    let trips = (0..17)
        .flat_map(|last| [last + 1, 16 - last])
        .map(|count| Trips { count, weight: 1.0 })
        .collect();
    let levels = vec![
        LoopLevel::times("orbit", inner),
        LoopLevel::times("group", 2),
        LoopLevel {
            name: "member",
            trips,
        },
    ];
    subject(text, levels)
}

fn rotations(per_unit: &PerUnit) -> f64 {
    let mark = UnitMark::rotations(STEPS as u32);
    per_unit
        .opcodes
        .iter()
        .filter(|(opcode, _)| mark.is(opcode))
        .map(|(_, count)| count)
        .sum()
}

fn check(subject: &Subject, spare: f64) {
    let Some(tools) = real::tools(CubinCache::none()) else {
        return;
    };
    for arch in ARCHS.map(Arch::number) {
        let result = SassResult::of(&tools, subject, arch, PipeSource::Predicted).unwrap();
        let rotations = rotations(&result.per_unit);
        let steps = STEPS as f64;
        assert!(
            (steps - 0.1..=steps + spare).contains(&rotations),
            "{arch}: {rotations} rotations"
        );
        let PerUnit {
            total,
            alu,
            fma,
            other,
            ..
        } = result.per_unit;
        assert!((total - alu - fma - other).abs() < 1e-3, "{arch}");
        // At least LOP3, add and rotation. sm_100 splits the logic of a single unit in two, and adds more.
        assert!(
            (3.0 * steps..=8.0 * steps).contains(&total),
            "{arch}: {total} instructions"
        );
        assert!(
            !result
                .per_unit
                .opcodes
                .keys()
                .any(|opcode| opcode.starts_with("ATOM")),
            "{arch}: a hit counts"
        );
        assert_eq!(result.spills, Some(0), "{arch}");
    }
}

#[test]
fn one_unit_at_a_time() {
    check(&flat(1, 256), 3.0);
}

#[test]
fn two_units_at_a_time_with_a_tail_that_never_runs() {
    check(&flat(2, 256), 3.0);
}

#[test]
fn three_units_at_a_time_with_a_tail_that_runs() {
    check(&flat(3, 256), 3.0);
}

#[test]
fn members_of_two_groups_of_an_orbit() {
    check(&nested(8), 4.0);
}

#[test]
fn a_plan_that_misses_a_level_is_refused() {
    let Some(tools) = real::tools(CubinCache::none()) else {
        return;
    };
    let mut subject = nested(8);
    subject.loops.levels.remove(1);
    let error = SassResult::of(&tools, &subject, Arch::number(90), PipeSource::Predicted).unwrap_err();
    assert!(error.to_string().contains("sm_90"), "{error}");
}
