//! The whole CUDA text of a variant: prelude, printed functions, and the hand-written kernel around them.

use std::fmt::Write as _;

use super::mutate::Mutation;
use super::options::{Logic, Slots, VariantFile, Walk};
use super::print::{Printed, print};

/// Name of the kernel in the text.
pub const ENTRY: &str = "md5_q9";

/// The text of a variant, and what its `Base` structure holds.
pub fn source(file: &VariantFile, mutation: Option<Mutation>) -> Printed {
    let options = &file.options;
    let printed = print(options, mutation);
    let (kernel, candidate, stride) = match options.walk {
        Walk::Tunnel => (include_str!("cuda/tunnel.cu"), "q9", "+"),
        Walk::Orbit => (include_str!("cuda/orbit.cu"), "z", "- ORBIT_STEP *"),
    };
    let group = match options.walk {
        Walk::Tunnel => "",
        Walk::Orbit => "group, ",
    };
    let n = options.interleave;
    let each: Vec<String> = (0..n)
        .map(|i| format!("{candidate} {stride} {i}u ROW_ARGUMENT({i})"))
        .collect();
    let mut text = include_str!("cuda/prelude.cu").to_owned();
    if options.logic == Logic::Lop3 {
        text += include_str!("cuda/lop3.cu");
    }
    if options.held_constants {
        text += "\n#define HELD\n";
    }
    let _ = write!(
        text,
        "\n#define BLOCK {}\n#define INTERLEAVE {n}\n#define INTERLEAVED_CANDIDATES candidates_{n}(base, run, {group}{})\n",
        file.launch.block,
        each.join(", "),
    );
    if options.walk == Walk::Orbit {
        let step = super::order::ORBIT_STEP.wrapping_add(Mutation::orbit_step_error(mutation));
        let _ = writeln!(text, "#define ORBIT_STEP 0x{step:08x}u");
        if options.slots == Slots::Carried {
            text += "#define CARRIED\n";
        }
        if let Some(merged) = options.merged_tests {
            let any: Vec<String> = (0..merged)
                .map(|i| format!("passes(base, run, group, z - {i}u * ORBIT_STEP)"))
                .collect();
            let each: Vec<String> = (0..merged)
                .map(|i| format!("candidates_1(base, run, group, z - {i}u * ORBIT_STEP ROW_ARGUMENT({i}))"))
                .collect();
            let _ = writeln!(
                text,
                "#define MERGED {merged}u\n#define ANY_PASSES ({})\n#define MERGED_CANDIDATES do {{ {}; }} while (0)",
                any.join(" | "),
                each.join("; "),
            );
        }
    }
    let _ = write!(text, "\n{}{kernel}", printed.text);
    Printed {
        text,
        inputs: printed.inputs,
    }
}
