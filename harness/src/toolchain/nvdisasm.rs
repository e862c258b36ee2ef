//! nvdisasm, the disassembler: a program that reads a cubin from a file.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use super::{Arch, Found, ToolError};

const TOOL: &str = "nvdisasm";

/// A disassembler that runs.
#[derive(Debug, Clone)]
pub struct Nvdisasm {
    found: Found,
    version: String,
}

impl Nvdisasm {
    /// The one at `found`, asked for its version.
    ///
    /// # Errors
    /// When it does not run or does not say its version.
    pub fn load(found: Found) -> Result<Nvdisasm, ToolError> {
        let unusable = |what: String| ToolError::Unusable {
            tool: TOOL,
            path: found.path.clone(),
            what,
        };
        let text = run(&found.path, &["--version"]).map_err(unusable)?;
        let version = text
            .lines()
            .find_map(|line| line.split_once(", V"))
            .map(|(_, version)| version.trim().to_string())
            .ok_or_else(|| unusable("it does not say its version".to_string()))?;
        Ok(Nvdisasm { found, version })
    }

    /// Where it was found.
    pub fn found(&self) -> &Found {
        &self.found
    }

    /// Its version, such as `13.2.51`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The disassembly of `cubin` as JSON.
    ///
    /// # Errors
    /// When it cannot read the cubin.
    pub fn json(&self, cubin: &[u8], arch: Arch) -> Result<String, ToolError> {
        self.disassemble(cubin, arch, "-json")
    }

    /// The disassembly of `cubin` as text for people, with encodings.
    ///
    /// # Errors
    /// When it cannot read the cubin.
    pub fn listing(&self, cubin: &[u8], arch: Arch) -> Result<String, ToolError> {
        self.disassemble(cubin, arch, "-c")
    }

    fn disassemble(&self, cubin: &[u8], arch: Arch, mode: &str) -> Result<String, ToolError> {
        let temporary = |path: &Path, source| ToolError::Temporary {
            path: path.to_path_buf(),
            source,
        };
        let mut file = tempfile::Builder::new()
            .prefix("assay-")
            .suffix(".cubin")
            .tempfile()
            .map_err(|error| temporary(&std::env::temp_dir(), error))?;
        file.write_all(cubin)
            .map_err(|error| temporary(file.path(), error))?;
        file.flush().map_err(|error| temporary(file.path(), error))?;
        let path = file.path().to_string_lossy().into_owned();
        run(&self.found.path, &[mode, &path]).map_err(|what| ToolError::Disassemble {
            version: self.version.clone(),
            arch,
            what,
        })
    }
}

fn run(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("it does not run: {error}"))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(format!("it ends with {}: {}", output.status, words.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::super::Origin;
    use super::*;

    #[test]
    fn a_program_that_is_no_disassembler_is_refused() {
        for path in ["/bin/false", "/bin/true", "/nowhere/nvdisasm"] {
            let found = Found {
                path: path.into(),
                origin: Origin::LoaderPath,
            };
            let error = Nvdisasm::load(found).unwrap_err().to_string();
            assert!(
                error.contains(path) && error.contains("scripts/setup-cuda"),
                "{error}"
            );
        }
    }
}
