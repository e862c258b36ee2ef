//! From CUDA text to a shared object, by the host's C++ compiler.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use assay_kernels::workload::Source;
use tempfile::TempDir;

use super::refusal;
use crate::device::DeviceError;

/// What CUDA gives a kernel, for the host's compiler.
const SHIM: &str = include_str!("shim.h");
const SHIM_FILE: &str = "assay_shim.h";
const OBJECT_FILE: &str = "kernel.so";

/// Without strict aliasing since buffers of 32-bit words are read as whatever a kernel makes of them; without
/// exceptions since a card has none, and one must not cross into this program; hidden so that no other library's
/// kernel of the same name can take the place of this one.
const FLAGS: [&str; 7] = [
    "-std=c++17",
    "-O2",
    "-fPIC",
    "-shared",
    "-fno-strict-aliasing",
    "-fno-exceptions",
    "-fvisibility=hidden",
];

/// Lines and bytes of a compiler's log that an error shows.
const LOG_LINES: usize = 12;
const LOG_BYTES: usize = 2000;

/// The host's C++ compiler.
#[derive(Debug, Clone)]
pub struct Compiler {
    /// The program, by its absolute path.
    pub program: PathBuf,
    /// Arguments that come before all others: `g++` where the program is `ccache`.
    pub arguments: Vec<OsString>,
    /// What it says of itself.
    pub version: String,
}

/// A shared object and the directory that it lies in, which goes when this is dropped.
#[derive(Debug)]
pub struct Object {
    directory: TempDir,
}

impl Object {
    /// The file.
    pub fn path(&self) -> PathBuf {
        self.directory.path().join(OBJECT_FILE)
    }
}

impl Compiler {
    /// Compile `source` in a fresh directory under `temporary`.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] names what the shim cannot express; [`DeviceError::Compile`] has the compiler's
    /// words; [`DeviceError::Unusable`] when the directory or the compiler itself fails.
    pub fn compile(&self, source: &Source, temporary: &Path) -> Result<Object, DeviceError> {
        let directory = tempfile::Builder::new()
            .prefix("assay-emulated-")
            .tempdir_in(temporary)
            .map_err(|error| cannot_write(temporary, &error))?;
        let file = file_name(&source.file);
        let mut text = source.text.clone();
        for entry in entries(source) {
            text += &format!("\n#line 1 \"launch of {entry}\"\nASSAY_BIND({entry})\n");
        }
        for (name, content) in [(SHIM_FILE, SHIM), (file.as_str(), text.as_str())] {
            let path = directory.path().join(name);
            fs::write(&path, content).map_err(|error| cannot_write(&path, &error))?;
        }
        self.refuse(source, &file, directory.path())?;
        let arguments = FLAGS
            .into_iter()
            .chain(["-include", SHIM_FILE, "-o", OBJECT_FILE]);
        let output = self.call(source, &file, directory.path(), arguments)?;
        let object = Object { directory };
        if !output.status.success() {
            return Err(compile_error(source, &output));
        }
        if !object.path().is_file() {
            return Err(unusable(format!(
                "{} reports success but wrote no shared object",
                self.version
            )));
        }
        Ok(object)
    }

    /// Refuse what the shim cannot express. The compiler's own preprocessor says which text counts: it drops comments
    /// and sections for the card, and shows what a macro hides.
    fn refuse(&self, source: &Source, file: &str, directory: &Path) -> Result<(), DeviceError> {
        let output = self.call(source, file, directory, ["-std=c++17", "-E"])?;
        let preprocessed = String::from_utf8_lossy(&output.stdout);
        let refused = if output.status.success() {
            refusal::first_refused(&preprocessed)
        } else {
            refusal::first_refused_header(&source.text)
        };
        match refused {
            Some(what) => Err(DeviceError::Unsupported {
                file: source.file.clone(),
                target: "emulated".to_owned(),
                what: what.to_owned(),
            }),
            None if output.status.success() => Ok(()),
            None => Err(compile_error(source, &output)),
        }
    }

    /// Start the compiler on `file` in `directory`: relative names keep that directory out of its messages.
    fn call<'a>(
        &self,
        source: &Source,
        file: &str,
        directory: &Path,
        arguments: impl IntoIterator<Item = &'a str>,
    ) -> Result<Output, DeviceError> {
        // In a process group of its own: Ctrl-C on a terminal asks this program for an orderly end, and must not end the
        // compiler, which would look like text that does not compile.
        Command::new(&self.program)
            .process_group(0)
            .args(&self.arguments)
            .args(arguments)
            .args(source.defines.iter().map(|define| format!("-D{define}")))
            .args(["-x", "c++", file])
            .current_dir(directory)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| {
                unusable(format!(
                    "the C++ compiler {} does not start: {error}",
                    self.program.display()
                ))
            })
    }
}

/// Every kernel of a text, the one that the work is in first.
pub fn entries(source: &Source) -> impl Iterator<Item = &'static str> {
    std::iter::once(source.entry).chain(source.helpers.iter().copied())
}

/// An error of the device as a whole.
pub fn unusable(why: String) -> DeviceError {
    DeviceError::Unusable {
        id: "emulated".to_owned(),
        why,
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> DeviceError {
    unusable(format!(
        "cannot write {}: {error}; set TMPDIR to a directory that can be written",
        path.display()
    ))
}

fn compile_error(source: &Source, output: &Output) -> DeviceError {
    let log = shortened(&String::from_utf8_lossy(&output.stderr));
    DeviceError::Compile {
        file: source.file.clone(),
        target: "emulated".to_owned(),
        log: if log.is_empty() {
            format!("the compiler ended with {} and said nothing", output.status)
        } else {
            log
        },
    }
}

/// A plain file name for the text, as the compiler's messages will show it. It ends in `.cu`, which no other file of
/// the directory does.
fn file_name(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "._-".contains(c) {
            c
        } else {
            '_'
        }
    };
    let name: String = name.trim_start_matches('-').chars().map(plain).collect();
    if name.ends_with(".cu") {
        name
    } else {
        format!("{name}.cu")
    }
}

/// The log from its first error on, without the rest of a long one.
fn shortened(log: &str) -> String {
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    let first = lines.iter().position(|line| line.contains("error")).unwrap_or(0);
    let mut text = String::new();
    let mut shown = 0;
    for line in lines[first..].iter().take(LOG_LINES) {
        if shown > 0 && text.len() + line.len() > LOG_BYTES {
            break;
        }
        text += if shown > 0 { "\n" } else { "" };
        text.extend(line.chars().take(LOG_BYTES));
        shown += 1;
    }
    match lines.len() - first - shown {
        0 => text,
        more => format!("{text}\n({more} more line{})", if more == 1 { "" } else { "s" }),
    }
}
