//! What can go wrong with the CUDA tools.

use std::path::PathBuf;

use super::Arch;
use crate::device::DeviceError;

/// How to get both tools without a toolkit.
pub(super) const HOW_TO_GET: &str = "run scripts/setup-cuda, or install a CUDA toolkit";

/// Why a CUDA tool could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// Nowhere to be found.
    #[error("{tool} is missing (looked in: {looked}): {how}")]
    Missing {
        /// The tool.
        tool: &'static str,
        /// Where it was looked for.
        looked: String,
        /// How to get it.
        how: String,
    },
    /// Named by a flag or a variable, and not there or not usable.
    #[error("{origin} names {path}, which {what}: give the {tool} itself or the folder that holds it")]
    Named {
        /// The tool.
        tool: &'static str,
        /// The flag or variable.
        origin: String,
        /// What it says.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Found, and it does not work.
    #[error("{tool} at {path} is not usable: {what}; {HOW_TO_GET}")]
    Unusable {
        /// The tool.
        tool: &'static str,
        /// The one that was taken.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// An architecture that this compiler does not know.
    #[error("--arch {arch} is not one that NVRTC {version} builds for: use {supported}")]
    UnsupportedArch {
        /// What was asked for.
        arch: Arch,
        /// The compiler's version.
        version: String,
        /// Those it knows.
        supported: String,
    },
    /// A text that is written for another architecture.
    #[error("{file} is written for {own} and cannot be built for {arch}")]
    OtherArch {
        /// The source's name.
        file: String,
        /// What was asked for.
        arch: Arch,
        /// What it is written for.
        own: String,
    },
    /// The text does not compile.
    #[error("{file} does not compile for {arch}: {log}")]
    Compile {
        /// The source's name.
        file: String,
        /// What for.
        arch: Arch,
        /// The compiler's own words.
        log: String,
    },
    /// The disassembler does not understand a cubin.
    #[error("nvdisasm {version} cannot read the cubin for {arch}: {what}")]
    Disassemble {
        /// The disassembler's version.
        version: String,
        /// What the cubin is for.
        arch: Arch,
        /// Its own words.
        what: String,
    },
    /// A temporary file could not be written.
    #[error("cannot write the temporary file {path}: {source}")]
    Temporary {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl ToolError {
    /// The exit code that it ends the program with: 2 for what the user typed, 3 for a missing tool, 1 for a text that
    /// does not compile.
    pub fn exit_code(&self) -> u8 {
        match self {
            ToolError::UnsupportedArch { .. } | ToolError::OtherArch { .. } | ToolError::Named { .. } => 2,
            ToolError::Missing { .. } | ToolError::Unusable { .. } | ToolError::Temporary { .. } => 3,
            ToolError::Compile { .. } | ToolError::Disassemble { .. } => 1,
        }
    }
}

impl From<ToolError> for DeviceError {
    fn from(error: ToolError) -> DeviceError {
        match error {
            ToolError::Missing { tool, looked, how } => DeviceError::MissingTool {
                tool: tool.to_string(),
                how: format!("looked in {looked}; {how}"),
            },
            ToolError::Compile { file, arch, log } => DeviceError::Compile {
                file,
                target: arch.to_string(),
                log,
            },
            ToolError::OtherArch { file, arch, own } => DeviceError::NoCode {
                file,
                target: arch.to_string(),
                what: format!("it is written for {own}"),
            },
            ToolError::Named { tool, .. } | ToolError::Unusable { tool, .. } => DeviceError::MissingTool {
                tool: tool.to_string(),
                how: error.to_string(),
            },
            ToolError::Disassemble { .. } => DeviceError::MissingTool {
                tool: "nvdisasm".to_string(),
                how: error.to_string(),
            },
            ToolError::UnsupportedArch { .. } | ToolError::Temporary { .. } => {
                DeviceError::Invalid(error.to_string())
            }
        }
    }
}
