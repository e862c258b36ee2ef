//! Where the CUDA tools are looked for, in which order.
//!
//! Flag, environment, the `.cuda/` folder that `scripts/setup-cuda` makes, a CUDA toolkit, the loader's path. What the
//! user names outright is taken or refused, never passed over; every other place is passed over when it is empty.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use super::{ToolError, ToolFlags};

/// How a tool was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A flag named it.
    Flag(&'static str),
    /// An environment variable named it or the toolkit that holds it.
    Environment(&'static str),
    /// The `.cuda/` folder of `scripts/setup-cuda`.
    Setup,
    /// A CUDA toolkit in its usual place, or the one whose nvcc is on PATH.
    Toolkit,
    /// The loader's path, or PATH for a program.
    LoaderPath,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Origin::Flag(name) | Origin::Environment(name) => name,
            Origin::Setup => "scripts/setup-cuda",
            Origin::Toolkit => "CUDA toolkit",
            Origin::LoaderPath => "loader's path",
        })
    }
}

/// A tool that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The file: absolute, except where the loader's own path is to be searched.
    pub path: PathBuf,
    /// How it was found.
    pub origin: Origin,
}

/// What to look for: one of the two tools.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub tool: &'static str,
    pub flag: &'static str,
    pub variable: &'static str,
    /// Folders below a toolkit, or below a folder of `.cuda/nvidia`.
    pub below: &'static [&'static str],
    /// The best file of this tool in a folder.
    pub pick: fn(&Path) -> Option<PathBuf>,
}

pub(super) const NVRTC: Wanted = Wanted {
    tool: "NVRTC",
    flag: "--nvrtc",
    variable: "ASSAY_NVRTC",
    below: &[
        "lib64",
        "lib",
        "targets/x86_64-linux/lib",
        "targets/sbsa-linux/lib",
    ],
    pick: newest_nvrtc,
};

pub(super) const NVDISASM: Wanted = Wanted {
    tool: "nvdisasm",
    flag: "--nvdisasm",
    variable: "ASSAY_NVDISASM",
    below: &["bin"],
    pick: nvdisasm_in,
};

/// The surroundings in which tools are looked for.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// Library named by a flag.
    pub nvrtc_flag: Option<PathBuf>,
    /// Program named by a flag.
    pub nvdisasm_flag: Option<PathBuf>,
    /// Environment variables that matter, with their values.
    pub environment: Vec<(&'static str, OsString)>,
    /// Folders from which `.cuda/` is looked for upwards: the current one and the executable's.
    pub upwards_from: Vec<PathBuf>,
    /// Usual places of a toolkit.
    pub toolkits: Vec<PathBuf>,
}

impl Places {
    /// Those of this process.
    pub fn of_process(flags: &ToolFlags) -> Places {
        const VARIABLES: [&str; 5] = ["ASSAY_NVRTC", "ASSAY_NVDISASM", "CUDA_HOME", "CUDA_PATH", "PATH"];
        let environment = VARIABLES
            .into_iter()
            .filter_map(|name| Some((name, env::var_os(name).filter(|v| !v.is_empty())?)))
            .collect();
        let executable = env::current_exe().ok().and_then(|path| path.canonicalize().ok());
        let folder = executable.and_then(|path| path.parent().map(Path::to_path_buf));
        Places {
            nvrtc_flag: flags.nvrtc.clone(),
            nvdisasm_flag: flags.nvdisasm.clone(),
            environment,
            upwards_from: env::current_dir().ok().into_iter().chain(folder).collect(),
            toolkits: usual_toolkits(),
        }
    }

    fn variable(&self, name: &str) -> Option<&OsString> {
        self.environment
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    }

    fn path_folders(&self) -> Vec<PathBuf> {
        self.variable("PATH")
            .map(|path| env::split_paths(path).collect())
            .unwrap_or_default()
    }

    /// Every place that holds the tool, best first. The loader's path of a library is not among them.
    ///
    /// # Errors
    /// When a flag or variable names something that is not there.
    pub(super) fn candidates(&self, wanted: &Wanted) -> Result<Vec<Found>, ToolError> {
        let flag = if wanted.tool == NVRTC.tool {
            &self.nvrtc_flag
        } else {
            &self.nvdisasm_flag
        };
        let by_flag = flag.as_deref().map(|path| (path, Origin::Flag(wanted.flag)));
        let by_variable = || {
            self.variable(wanted.variable)
                .map(|v| (Path::new(v), Origin::Environment(wanted.variable)))
        };
        if let Some((path, origin)) = by_flag.or_else(by_variable) {
            return named(wanted, path, origin).map(|found| vec![found]);
        }
        let mut found = Vec::new();
        for name in ["CUDA_HOME", "CUDA_PATH"] {
            if let Some(root) = self.variable(name) {
                found.extend(in_root(wanted, Path::new(root), &Origin::Environment(name)));
            }
        }
        for start in &self.upwards_from {
            for ancestor in start.ancestors() {
                for root in folders_in(&ancestor.join(".cuda").join("nvidia")) {
                    found.extend(in_root(wanted, &root, &Origin::Setup));
                }
            }
        }
        for root in self.toolkits.iter().cloned().chain(self.toolkits_on_path()) {
            found.extend(in_root(wanted, &root, &Origin::Toolkit));
        }
        Ok(found)
    }

    /// Programs on PATH, last resort.
    pub(super) fn on_path(&self, wanted: &Wanted) -> Option<Found> {
        let path = self
            .path_folders()
            .iter()
            .find_map(|folder| (wanted.pick)(folder))?;
        Some(Found {
            path,
            origin: Origin::LoaderPath,
        })
    }

    /// The toolkits that programs on PATH belong to: `bin` of each is on it.
    fn toolkits_on_path(&self) -> Vec<PathBuf> {
        let programs = ["nvcc", "nvdisasm"];
        let found = programs.iter().filter_map(|program| {
            let path = self
                .path_folders()
                .into_iter()
                .map(|folder| folder.join(program))
                .find(|path| path.is_file())?;
            Some(path.canonicalize().ok()?.parent()?.parent()?.to_path_buf())
        });
        found.collect()
    }

    /// In words, for the message that a tool is missing.
    pub(super) fn looked(&self, wanted: &Wanted) -> String {
        let mut places = vec![wanted.flag.to_string(), wanted.variable.to_string()];
        places.extend(["CUDA_HOME", "CUDA_PATH", ".cuda/"].map(str::to_string));
        places.extend(self.toolkits.iter().map(|path| path.display().to_string()));
        places.push(
            if wanted.tool == NVRTC.tool {
                "the loader's path"
            } else {
                "PATH"
            }
            .to_string(),
        );
        places.join(", ")
    }
}

fn named(wanted: &Wanted, path: &Path, origin: Origin) -> Result<Found, ToolError> {
    let refuse = |what: &str| ToolError::Named {
        tool: wanted.tool,
        origin: origin.to_string(),
        path: path.to_path_buf(),
        what: what.to_string(),
    };
    let file = if path.is_dir() {
        let below = wanted.below.iter().map(|name| path.join(name));
        let mut folders = std::iter::once(path.to_path_buf()).chain(below);
        folders
            .find_map(|folder| (wanted.pick)(&folder))
            .ok_or_else(|| refuse("is a folder without it"))?
    } else if path.is_file() {
        path.to_path_buf()
    } else {
        return Err(refuse("does not exist"));
    };
    let path = file
        .canonicalize()
        .map_err(|error| refuse(&format!("cannot be resolved ({error})")))?;
    Ok(Found { path, origin })
}

fn in_root(wanted: &Wanted, root: &Path, origin: &Origin) -> Option<Found> {
    let file = wanted
        .below
        .iter()
        .find_map(|below| (wanted.pick)(&root.join(below)))?;
    // The builtins library lies beside the real file, not beside a link to it.
    Some(Found {
        path: file.canonicalize().ok()?,
        origin: origin.clone(),
    })
}

/// `/usr/local/cuda`, which the installer links to one version, then the others beside it, newest first.
fn usual_toolkits() -> Vec<PathBuf> {
    let versioned = folders_in(Path::new("/usr/local")).into_iter().filter(|path| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with("cuda-"))
    });
    let mut toolkits = vec![PathBuf::from("/usr/local/cuda")];
    toolkits.extend(versioned);
    toolkits.push(PathBuf::from("/opt/cuda"));
    toolkits
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = folder
        .read_dir()
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let mut folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    folders.sort_by(|a, b| b.cmp(a));
    folders
}

fn nvdisasm_in(folder: &Path) -> Option<PathBuf> {
    Some(folder.join("nvdisasm")).filter(|path| path.is_file())
}

/// `libnvrtc.so.13` before `libnvrtc.so.12` before `libnvrtc.so`; never the builtins, nor the second build that some
/// packages carry as `libnvrtc.alt.so`.
fn newest_nvrtc(folder: &Path) -> Option<PathBuf> {
    let mut best: Option<(Vec<u32>, PathBuf)> = None;
    for entry in folder.read_dir().ok()?.flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix("libnvrtc.so")) else {
            continue;
        };
        let version: Vec<u32> = rest.split('.').filter_map(|part| part.parse().ok()).collect();
        if entry.path().is_file() && best.as_ref().is_none_or(|(other, _)| *other < version) {
            best = Some((version, entry.path()));
        }
    }
    best.map(|(_, path)| path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn touch(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"x").unwrap();
    }

    fn places_in(root: &Path) -> Places {
        Places {
            upwards_from: vec![root.join("a/b")],
            toolkits: vec![root.join("toolkit")],
            environment: vec![("PATH", root.join("path").into())],
            ..Places::default()
        }
    }

    #[test]
    fn the_set_up_folder_above_comes_before_the_toolkit() {
        let root = tempfile::tempdir().unwrap();
        touch(&root.path().join(".cuda/nvidia/cu13/lib/libnvrtc.so.13"));
        touch(&root.path().join("toolkit/lib64/libnvrtc.so.12.9"));
        let found = places_in(root.path()).candidates(&NVRTC).unwrap();
        let origins: Vec<_> = found.iter().map(|found| found.origin.clone()).collect();
        assert_eq!(origins, [Origin::Setup, Origin::Toolkit]);
    }

    #[test]
    fn the_environment_comes_before_the_set_up_folder_and_a_flag_before_both() {
        let root = tempfile::tempdir().unwrap();
        touch(&root.path().join(".cuda/nvidia/cu13/bin/nvdisasm"));
        touch(&root.path().join("home/bin/nvdisasm"));
        touch(&root.path().join("own/nvdisasm"));
        let mut places = places_in(root.path());
        places
            .environment
            .push(("CUDA_HOME", root.path().join("home").into()));
        assert_eq!(
            places.candidates(&NVDISASM).unwrap()[0].origin,
            Origin::Environment("CUDA_HOME")
        );
        places.nvdisasm_flag = Some(root.path().join("own"));
        assert_eq!(
            places.candidates(&NVDISASM).unwrap()[0].origin,
            Origin::Flag("--nvdisasm")
        );
    }

    #[test]
    fn the_toolkit_of_a_program_on_path_is_one_of_the_places() {
        let root = tempfile::tempdir().unwrap();
        touch(&root.path().join("cuda-13/bin/nvdisasm"));
        touch(&root.path().join("cuda-13/lib64/libnvrtc.so.13"));
        let mut places = places_in(root.path());
        places.environment = vec![("PATH", root.path().join("cuda-13/bin").into())];
        let found = places.candidates(&NVRTC).unwrap();
        assert!(
            found[0].path.ends_with("cuda-13/lib64/libnvrtc.so.13"),
            "{found:?}"
        );
        assert_eq!(found[0].origin, Origin::Toolkit);
    }

    #[test]
    fn the_newest_library_wins_and_the_builtins_are_no_candidate() {
        let root = tempfile::tempdir().unwrap();
        for name in [
            "libnvrtc.so",
            "libnvrtc.so.9",
            "libnvrtc.so.13",
            "libnvrtc.alt.so.14",
            "libnvrtc-builtins.so.15",
        ] {
            touch(&root.path().join(name));
        }
        assert_eq!(
            newest_nvrtc(root.path()).unwrap().file_name().unwrap(),
            "libnvrtc.so.13"
        );
    }

    #[test]
    fn a_named_tool_that_is_not_there_is_an_error_that_names_the_flag() {
        let places = Places {
            nvrtc_flag: Some("/nowhere/libnvrtc.so".into()),
            ..Places::default()
        };
        let error = places.candidates(&NVRTC).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("--nvrtc names /nowhere/libnvrtc.so, which does not exist"),
            "{error}"
        );
        assert_eq!(error.exit_code(), 2);
    }

    #[test]
    fn nothing_anywhere_is_no_candidate() {
        let root = tempfile::tempdir().unwrap();
        let places = places_in(root.path());
        assert_eq!(places.candidates(&NVRTC).unwrap(), []);
        assert_eq!(places.on_path(&NVDISASM), None);
    }
}
