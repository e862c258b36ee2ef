//! Instructions as the disassembler prints them in JSON.

use serde::Deserialize;
use serde_json::Value;

use super::SassError;

/// Bytes of an instruction, on every architecture since sm_70.
pub(super) const BYTES: u64 = 16;

/// One instruction.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Instruction {
    /// With its modifiers: `LOP3.LUT`.
    pub opcode: String,
    /// As printed, separated by commas.
    #[serde(default)]
    pub operands: String,
    /// `@P0` or `@!P0`, where it is conditional.
    #[serde(default)]
    pub predicate: Option<String>,
}

impl Instruction {
    /// The opcode without modifiers.
    pub fn base(&self) -> &str {
        self.opcode.split('.').next().unwrap_or(&self.opcode)
    }

    /// Whether it may do nothing.
    pub fn is_conditional(&self) -> bool {
        self.predicate
            .as_deref()
            .is_some_and(|predicate| predicate != "@PT" && predicate != "@UPT")
    }

    /// Whether it changes memory that other threads see at once: what reports a hit.
    pub fn is_atomic(&self) -> bool {
        matches!(
            self.base(),
            "ATOM" | "ATOMG" | "ATOMS" | "RED" | "REDG" | "UREDGR"
        )
    }
}

/// The instructions of kernel `entry` in the disassembler's JSON.
///
/// # Errors
/// When the text is not that JSON or does not have the kernel.
pub fn entry_instructions(json: &str, entry: &str) -> Result<Vec<Instruction>, SassError> {
    #[derive(Deserialize)]
    struct Function {
        #[serde(rename = "function-name")]
        name: String,
        #[serde(rename = "sass-instructions")]
        instructions: Vec<Instruction>,
    }
    let format = |error: serde_json::Error| SassError::Format(error.to_string());
    // A heading, then the functions.
    let parts: Vec<Value> = serde_json::from_str(json).map_err(format)?;
    let functions = parts
        .into_iter()
        .nth(1)
        .ok_or_else(|| SassError::Format("it has no functions".into()))?;
    let functions: Vec<Function> = serde_json::from_value(functions).map_err(format)?;
    functions
        .into_iter()
        .find(|function| function.name == entry)
        .map(|function| function.instructions)
        .ok_or_else(|| SassError::Format(format!("it has no kernel `{entry}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_asked_for_is_read() {
        let json = r#"[{"SM":{}},[{"function-name":"other","sass-instructions":[]},
            {"function-name":"k","start":0,"sass-instructions":[
                {"predicate":"@!P0","opcode":"BRA","operands":"0x10","other-attributes":{"control-flow":"True"}},
                {"opcode":"EXIT"}]}]]"#;
        let instructions = entry_instructions(json, "k").unwrap();
        assert_eq!(instructions.len(), 2);
        assert!(instructions[0].is_conditional() && !instructions[1].is_conditional());
        assert!(
            entry_instructions(json, "missing")
                .unwrap_err()
                .to_string()
                .contains("`missing`")
        );
        assert!(entry_instructions("{", "k").is_err());
        assert!(entry_instructions("[1]", "k").is_err());
    }
}
