//! The CUDA text of a pattern.

use std::fmt::Write as _;

use assay_kernels::workload::Source;

use super::pattern::{Pattern, Step};

/// Name of the kernel.
pub const ENTRY: &str = "pipe";

/// Independent chains of a thread: with eight warps a scheduler they hide every latency.
pub const CHAINS: u32 = 4;

/// Words that a thread writes: clock before and after, and what keeps its chains alive.
pub(super) const WORDS: usize = 5;

/// Threads of a block: as many as every architecture takes.
pub(super) const BLOCK: u32 = 1024;

/// Instructions of the loop: many enough that its own control is below 2 %, few enough for the instruction cache.
const BODY: u32 = 256;

impl Pattern {
    /// Steps of each chain in one pass of the loop.
    pub(super) fn unroll(&self) -> u32 {
        BODY / CHAINS / self.per_step()
    }
}

/// The kernel of a pattern.
pub fn source(pattern: &Pattern) -> Source {
    let body = match pattern.steps[0] {
        Step::Isetp => comparisons(pattern),
        Step::AddNumberIf => conditional_adds(pattern),
        _ => chains(pattern),
    };
    let text = format!(
        r#"typedef unsigned int u32;
typedef unsigned long long u64;
extern "C" __global__ void __launch_bounds__({BLOCK}) {ENTRY}(u32 *out, u32 passes, u32 a, u32 b)
{{
    u32 x0 = threadIdx.x ^ a, x1 = x0 * 3 + b, x2 = x1 * 5 + a, x3 = x2 * 7 + b;
    u32 y0 = x0 * 9, y1 = x1 * 9, y2 = x2 * 11, y3 = x3 * 13;
    u64 w0 = x0, w1 = x1, w2 = x2, w3 = x3;
    __syncthreads();
    const u64 before = clock64();
#pragma unroll 1
    for (u32 i = 0; i < passes; ++i) {{
{body}    }}
    const u64 after = clock64();
    u32 *const row = out + (blockIdx.x * blockDim.x + threadIdx.x) * {WORDS};
    const u64 w = w0 ^ w1 ^ w2 ^ w3;
    row[0] = (u32)before;
    row[1] = (u32)(before >> 32);
    row[2] = (u32)after;
    row[3] = (u32)(after >> 32);
    row[4] = x0 ^ x1 ^ x2 ^ x3 ^ y0 ^ y1 ^ y2 ^ y3 ^ (u32)w ^ (u32)(w >> 32);
}}
"#
    );
    Source {
        file: format!(
            "pipe-{}.cu",
            pattern.name.to_lowercase().replace([' ', '+', '.'], "-")
        ),
        text,
        defines: Vec::new(),
        entry: ENTRY,
        helpers: Vec::new(),
        options: Vec::new(),
    }
}

/// An odd number that differs from step to step.
fn number(step: u32) -> u32 {
    step.wrapping_mul(0x9e37_79b1) >> 1 | 1
}

fn chains(pattern: &Pattern) -> String {
    let mut body = String::new();
    for round in 0..pattern.unroll() {
        for step in pattern.steps {
            for chain in 0..CHAINS {
                let next = (chain + 1) % CHAINS;
                let text = operands(step.text(), chain, next)
                    .replace('#', &number(round * CHAINS + chain).to_string());
                let _ = writeln!(body, "        {text}");
            }
        }
    }
    body
}

/// Put chain numbers behind the operand names: `(x)`, and `x` at the start of a word in plain C.
fn operands(text: &str, chain: u32, next: u32) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let bytes = text.as_bytes();
    for (at, letter) in text.char_indices() {
        out.push(letter);
        let alone = |at: Option<usize>| {
            at.and_then(|at| bytes.get(at))
                .is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'_')
        };
        if alone(at.checked_sub(1)) && alone(Some(at + 1)) {
            match letter {
                'x' | 'y' | 'w' => out += &chain.to_string(),
                'X' | 'Y' => {
                    out.pop();
                    out += &format!("{}{next}", letter.to_ascii_lowercase());
                }
                _ => {}
            }
        }
    }
    out
}

/// One asm statement with the predicates of all chains.
fn comparisons(pattern: &Pattern) -> String {
    let mut body = String::from("        asm volatile(\"{.reg .pred p0,p1,p2,p3;\\n\"\n");
    for chain in 0..CHAINS {
        let _ = writeln!(body, "            \"setp.ne.u32 p{chain},%{chain},7;\\n\"");
    }
    for round in 0..pattern.unroll() {
        for chain in 0..CHAINS {
            let other = (chain + 1 + round % 3) % CHAINS;
            let next = (chain + 1) % CHAINS;
            let _ = writeln!(
                body,
                "            \"setp.lt.xor.u32 p{chain},%{chain},%{other},p{next};\\n\""
            );
        }
    }
    for chain in 0..CHAINS {
        let next = (chain + 1) % CHAINS;
        let _ = writeln!(
            body,
            "            \"selp.u32 %{chain},%{chain},%{next},p{chain};\\n\""
        );
    }
    body + "            \"}\" : \"+r\"(x0), \"+r\"(x1), \"+r\"(x2), \"+r\"(x3));\n"
}

/// Adds of numbers under two predicates in turn: adds under one would be merged.
fn conditional_adds(pattern: &Pattern) -> String {
    let mut body = String::from(
        "        asm volatile(\"{.reg .pred p0,p1; setp.ne.u32 p0,%4,0; setp.ne.u32 p1,%5,0;\\n\"\n",
    );
    for round in 0..pattern.unroll() * pattern.per_step() {
        for chain in 0..CHAINS {
            let number = number(round * CHAINS + chain);
            let _ = writeln!(
                body,
                "            \"@p{} add.u32 %{chain},%{chain},{number};\\n\"",
                round % 2
            );
        }
    }
    body + "            \"}\" : \"+r\"(x0), \"+r\"(x1), \"+r\"(x2), \"+r\"(x3) : \"r\"(a), \"r\"(b));\n"
}

#[cfg(test)]
mod tests {
    use super::operands;

    #[test]
    fn operand_names_get_their_chain_and_nothing_else_does() {
        assert_eq!(
            operands(r#"asm("xor %0,x;":"+r"(x):"r"(X));"#, 1, 2),
            r#"asm("xor %0,x1;":"+r"(x1):"r"(x2));"#
        );
        assert_eq!(operands("x = X + f_x(x, x);", 3, 0), "x3 = x0 + f_x(x3, x3);");
    }
}
