//! The flags that name a CUDA tool.

use std::path::PathBuf;

/// Which CUDA tools to take. Without them: the environment, `.cuda/`, a CUDA toolkit, the loader's path.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ToolFlags {
    /// NVRTC library to compile with, or the folder that holds it (also: ASSAY_NVRTC)
    #[arg(long, value_name = "PATH", global = true, help_heading = "CUDA tools")]
    pub nvrtc: Option<PathBuf>,
    /// nvdisasm program to disassemble with, or the folder that holds it (also: ASSAY_NVDISASM)
    #[arg(long, value_name = "PATH", global = true, help_heading = "CUDA tools")]
    pub nvdisasm: Option<PathBuf>,
}
