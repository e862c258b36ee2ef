//! Finding the host's C++ compiler.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::compiler::Compiler;
use crate::device::DeviceError;

/// Compilers that are looked for when the user names none, in this order.
const CANDIDATES: [&str; 3] = ["g++", "clang++", "c++"];

const HOW: &str = "install g++ or clang (on Debian: apt-get install g++), or set CXX to a C++ compiler";

/// Where to look: the two environment variables that matter, as values, so that a test needs no environment.
pub struct Lookup {
    /// `$CXX`.
    pub cxx: Option<OsString>,
    /// `$PATH`.
    pub path: Option<OsString>,
}

impl Lookup {
    /// The environment of this process.
    pub fn from_environment() -> Lookup {
        Lookup {
            cxx: std::env::var_os("CXX"),
            path: std::env::var_os("PATH"),
        }
    }

    /// The compiler that `$CXX` names, or else the first candidate on the path that starts.
    ///
    /// # Errors
    /// [`DeviceError::MissingTool`] when there is none. A `$CXX` that does not start is an error too: another
    /// compiler would be a silent answer to a question that was not asked.
    pub fn find(&self) -> Result<Compiler, DeviceError> {
        if let Some(cxx) = self
            .cxx
            .as_deref()
            .filter(|cxx| !cxx.to_string_lossy().trim().is_empty())
        {
            return self.named(cxx);
        }
        CANDIDATES
            .iter()
            .flat_map(|name| self.on_path(OsStr::new(name)))
            .find_map(|program| started(program, Vec::new()).ok())
            .ok_or_else(|| DeviceError::MissingTool {
                tool: "a C++ compiler".to_owned(),
                how: HOW.to_owned(),
            })
    }

    /// `$CXX`: a program, or a program with arguments, such as `ccache g++`.
    fn named(&self, cxx: &OsStr) -> Result<Compiler, DeviceError> {
        let (program, arguments) = if Path::new(cxx).is_file() {
            (cxx.to_owned(), Vec::new())
        } else {
            let text = cxx.to_string_lossy();
            let mut words = text.split_whitespace().map(OsString::from);
            (words.next().unwrap_or_default(), words.collect())
        };
        let missing = |why: String| DeviceError::MissingTool {
            tool: format!("the C++ compiler CXX=\"{}\"", cxx.to_string_lossy()),
            how: format!("{why}; {HOW}"),
        };
        let program = if Path::new(&program).components().count() > 1 {
            // The compiler is started in another directory, so a relative name would not be found there.
            std::path::absolute(&program).map_err(|error| missing(error.to_string()))?
        } else {
            self.on_path(&program)
                .next()
                .ok_or_else(|| missing("it is not on PATH".to_owned()))?
        };
        started(program, arguments).map_err(missing)
    }

    /// Files called `name` on the path.
    fn on_path(&self, name: &OsStr) -> impl Iterator<Item = PathBuf> {
        let directories: Vec<PathBuf> = self.path.iter().flat_map(std::env::split_paths).collect();
        let name = name.to_owned();
        directories
            .into_iter()
            .filter_map(move |directory| std::path::absolute(directory.join(&name)).ok())
            .filter(|file| file.is_file())
    }
}

/// The compiler with its version, if it starts; else why it does not.
fn started(program: PathBuf, arguments: Vec<OsString>) -> Result<Compiler, String> {
    let output = Command::new(&program)
        .args(&arguments)
        .arg("--version")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("it does not start ({error})"))?;
    if !output.status.success() {
        return Err(format!("it does not tell its version ({})", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.lines().map(str::trim).find(|line| !line.is_empty());
    let version = version.map_or_else(|| program.display().to_string(), str::to_owned);
    Ok(Compiler {
        program,
        arguments,
        version,
    })
}
