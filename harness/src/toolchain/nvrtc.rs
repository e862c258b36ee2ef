//! NVRTC, the CUDA compiler as a library, bound by hand.
//!
//! Bound here and not through a crate for two reasons: the library is loaded by its absolute path, together with the
//! builtins that lie beside it, so no LD_LIBRARY_PATH is needed; and a missing library or symbol is an error with a
//! sentence, never a panic.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt;
use std::path::{Path, PathBuf};
use std::ptr;

use assay_kernels::workload::Source;

use super::loader::{Library, Loader};
use super::{Arch, Found, Origin, ToolError};

const TOOL: &str = "NVRTC";

/// Options of every compilation. No `-lineinfo`: it writes the current folder into the cubin.
pub(super) const FIXED_OPTIONS: [&str; 2] = ["--std=c++17", "--ptxas-options=-v"];

/// Version of the compiler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NvrtcVersion {
    /// Version of CUDA that it belongs to: (13, 0).
    pub cuda: (i32, i32),
    /// The compiler's own, such as `13.0.88`.
    pub full: String,
}

impl fmt::Display for NvrtcVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.full)
    }
}

type Program = *mut c_void;
type Size = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type Fetch = unsafe extern "C" fn(Program, *mut c_char) -> c_int;

/// The functions that are used, as `nvrtc.h` declares them.
struct Functions {
    version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int,
    arch_count: unsafe extern "C" fn(*mut c_int) -> c_int,
    archs: unsafe extern "C" fn(*mut c_int) -> c_int,
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> c_int,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int,
    destroy: unsafe extern "C" fn(*mut Program) -> c_int,
    log_size: Size,
    log: Fetch,
    cubin_size: Size,
    cubin: Fetch,
    ptx_size: Size,
    ptx: Fetch,
}

/// Look `symbol` up as a function of type `F`.
///
/// # Safety
/// `F` must be a function pointer with the signature that `nvrtc.h` declares for `symbol`, and must not be called after
/// `library` is gone.
unsafe fn bind<F: Copy>(library: &dyn Library, symbol: &'static CStr) -> Result<F, &'static CStr> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    let address = library.address(symbol).ok_or(symbol)?.as_ptr();
    // SAFETY: a function pointer has the size of an address; its type is the caller's word.
    Ok(unsafe { std::mem::transmute_copy::<*mut c_void, F>(&address) })
}

impl Functions {
    /// Those of `library`, or the symbol that it lacks.
    fn of(library: &dyn Library) -> Result<Functions, &'static CStr> {
        // SAFETY: each field has the type that `nvrtc.h` declares for its symbol, in every version that has it; `Nvrtc`
        // holds the library as long as the functions.
        unsafe {
            Ok(Functions {
                version: bind(library, c"nvrtcVersion")?,
                arch_count: bind(library, c"nvrtcGetNumSupportedArchs")?,
                archs: bind(library, c"nvrtcGetSupportedArchs")?,
                create: bind(library, c"nvrtcCreateProgram")?,
                compile: bind(library, c"nvrtcCompileProgram")?,
                destroy: bind(library, c"nvrtcDestroyProgram")?,
                log_size: bind(library, c"nvrtcGetProgramLogSize")?,
                log: bind(library, c"nvrtcGetProgramLog")?,
                cubin_size: bind(library, c"nvrtcGetCUBINSize")?,
                cubin: bind(library, c"nvrtcGetCUBIN")?,
                ptx_size: bind(library, c"nvrtcGetPTXSize")?,
                ptx: bind(library, c"nvrtcGetPTX")?,
            })
        }
    }
}

/// What one compilation yields.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The machine code, an ELF file.
    pub cubin: Vec<u8>,
    /// The assembly that it was made from.
    pub ptx: String,
    /// The compiler's log, with the assembler's resource lines.
    pub log: String,
}

/// A loaded NVRTC.
pub struct Nvrtc {
    found: Found,
    version: NvrtcVersion,
    archs: Vec<Arch>,
    functions: Functions,
    // Dropped last: the functions point into them.
    _libraries: Vec<Box<dyn Library>>,
}

impl fmt::Debug for Nvrtc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nvrtc")
            .field("found", &self.found)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// The architecture that a source is written for and no other: `sm_90a` has instructions that later ones have not.
fn own_architecture(source: &Source) -> Option<&str> {
    let mut options = source.options.iter();
    options.find_map(|option| option.strip_prefix("--gpu-architecture="))
}

impl Nvrtc {
    /// Load the library at `found`, with its builtins.
    ///
    /// # Errors
    /// When it cannot be loaded, lacks a function, or does not compile an empty text.
    pub fn load(loader: &dyn Loader, found: Found) -> Result<Nvrtc, ToolError> {
        let path = found.path.clone();
        let unusable = |what: String| ToolError::Unusable {
            tool: TOOL,
            path: path.clone(),
            what,
        };
        let mut libraries = Vec::new();
        // NVRTC loads its builtins by bare name: once they are loaded from beside it, that name is found.
        for builtins in builtins_beside(&found) {
            libraries.push(loader.open(&builtins).map_err(unusable)?);
        }
        libraries.push(loader.open(&found.path).map_err(unusable)?);
        let library = libraries.last().expect("one was just pushed");
        let functions = Functions::of(library.as_ref()).map_err(|symbol| {
            unusable(format!(
                "it has no `{}` and is too old or not NVRTC",
                symbol.to_string_lossy()
            ))
        })?;
        let (mut major, mut minor, mut count) = (0, 0, 0);
        // SAFETY: the pointers are to live integers.
        let code = unsafe { (functions.version)(&mut major, &mut minor) };
        check(code, "nvrtcVersion").map_err(unusable)?;
        // SAFETY: as above.
        let code = unsafe { (functions.arch_count)(&mut count) };
        check(code, "nvrtcGetNumSupportedArchs").map_err(unusable)?;
        let mut archs: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: the array has the number of entries that NVRTC has just said it will write.
        let code = unsafe { (functions.archs)(archs.as_mut_ptr()) };
        check(code, "nvrtcGetSupportedArchs").map_err(unusable)?;
        let archs = archs
            .into_iter()
            .filter_map(|arch| u32::try_from(arch).ok())
            .map(Arch::number)
            .collect();
        let cuda = (major, minor);
        let full = format!("{major}.{minor}");
        let mut nvrtc = Nvrtc {
            found,
            version: NvrtcVersion { cuda, full },
            archs,
            functions,
            _libraries: libraries,
        };
        nvrtc.version.full = nvrtc.full_version().map_err(unusable)?;
        Ok(nvrtc)
    }

    /// Where it was found.
    pub fn found(&self) -> &Found {
        &self.found
    }

    /// Its version.
    pub fn version(&self) -> &NvrtcVersion {
        &self.version
    }

    /// The architectures that it builds for, ascending.
    pub fn archs(&self) -> &[Arch] {
        &self.archs
    }

    /// Check that it builds for `arch`.
    ///
    /// # Errors
    /// When it does not: the message lists those it does.
    pub fn check_arch(&self, arch: Arch) -> Result<(), ToolError> {
        if self.archs.contains(&arch) {
            return Ok(());
        }
        let supported: Vec<_> = self.archs.iter().map(Arch::to_string).collect();
        Err(ToolError::UnsupportedArch {
            arch,
            version: self.version.to_string(),
            supported: supported.join(", "),
        })
    }

    /// Compile `source` for `arch`.
    ///
    /// # Errors
    /// When the architecture is unknown or the text does not compile.
    pub fn compile(&self, source: &Source, arch: Arch) -> Result<Compiled, ToolError> {
        self.check_arch(arch)?;
        let failed = |log: String| ToolError::Compile {
            file: source.file.clone(),
            arch,
            log,
        };
        let mut options = match own_architecture(source) {
            None => vec![format!("--gpu-architecture={arch}")],
            // The source's options name it.
            Some(own) if own == format!("{arch}a") => vec![],
            Some(own) => {
                return Err(ToolError::OtherArch {
                    file: source.file.clone(),
                    arch,
                    own: own.to_string(),
                });
            }
        };
        options.extend(FIXED_OPTIONS.map(str::to_string));
        options.extend(
            source
                .defines
                .iter()
                .map(|define| format!("--define-macro={define}")),
        );
        options.extend(source.options.iter().cloned());
        let program = self.create(&source.text, &source.file).map_err(failed)?;
        let log = program.compile(&options).map_err(failed)?;
        let functions = &self.functions;
        let cubin = program
            .fetch(functions.cubin_size, functions.cubin, "nvrtcGetCUBIN")
            .map_err(failed)?;
        if cubin.is_empty() {
            return Err(failed(
                "the compiler reports success and gives an empty cubin".to_string(),
            ));
        }
        let ptx = program
            .text(functions.ptx_size, functions.ptx, "nvrtcGetPTX")
            .map_err(failed)?;
        Ok(Compiled { cubin, ptx, log })
    }

    fn create(&self, text: &str, file: &str) -> Result<ProgramGuard<'_>, String> {
        let text = CString::new(text).map_err(|_| "the text holds a zero byte".to_string())?;
        let file = CString::new(file).map_err(|_| "the file name holds a zero byte".to_string())?;
        let mut program: Program = ptr::null_mut();
        // SAFETY: both strings end in zero and live through the call, which copies them; there are no headers.
        let code = unsafe {
            (self.functions.create)(
                &mut program,
                text.as_ptr(),
                file.as_ptr(),
                0,
                ptr::null(),
                ptr::null(),
            )
        };
        check(code, "nvrtcCreateProgram")?;
        Ok(ProgramGuard {
            functions: &self.functions,
            program,
        })
    }

    /// The compiler's third version number, which only its output shows.
    fn full_version(&self) -> Result<String, String> {
        let newest = self.archs.last().ok_or("it names no architecture")?;
        let program = self.create("", "version.cu")?;
        program.compile(&[format!("--gpu-architecture=compute_{}", newest.as_number())])?;
        let ptx = program.text(self.functions.ptx_size, self.functions.ptx, "nvrtcGetPTX")?;
        let version = ptx
            .lines()
            .find_map(|line| line.split_once(", V"))
            .map(|(_, version)| version.trim());
        Ok(version.unwrap_or(&self.version.full).to_string())
    }
}

/// A program that is destroyed when it goes out of use.
struct ProgramGuard<'a> {
    functions: &'a Functions,
    program: Program,
}

impl ProgramGuard<'_> {
    /// The log of a compilation that succeeded, or that of one that failed.
    fn compile(&self, options: &[String]) -> Result<String, String> {
        let options: Vec<CString> = options
            .iter()
            .map(|option| {
                CString::new(option.as_str()).map_err(|_| format!("option {option:?} holds a zero byte"))
            })
            .collect::<Result<_, _>>()?;
        let pointers: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(pointers.len()).map_err(|_| "too many options".to_string())?;
        // SAFETY: the program is alive, and `pointers` holds `count` strings that live through the call.
        let code = unsafe { (self.functions.compile)(self.program, count, pointers.as_ptr()) };
        let log = self.text(self.functions.log_size, self.functions.log, "nvrtcGetProgramLog")?;
        match check(code, "nvrtcCompileProgram") {
            Ok(()) => Ok(log),
            Err(what) if log.trim().is_empty() => Err(what),
            Err(_) => Err(log.trim().to_string()),
        }
    }

    fn fetch(&self, size: Size, fetch: Fetch, name: &str) -> Result<Vec<u8>, String> {
        let mut length = 0usize;
        // SAFETY: the program is alive and the pointer is to a live integer.
        let code = unsafe { size(self.program, &mut length) };
        check(code, name)?;
        let mut bytes = vec![0u8; length];
        // SAFETY: the buffer has the length that NVRTC has just asked for.
        let code = unsafe { fetch(self.program, bytes.as_mut_ptr().cast()) };
        check(code, name)?;
        Ok(bytes)
    }

    fn text(&self, size: Size, fetch: Fetch, name: &str) -> Result<String, String> {
        let bytes = self.fetch(size, fetch, name)?;
        Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_string())
    }
}

impl Drop for ProgramGuard<'_> {
    fn drop(&mut self) {
        // SAFETY: the program was created by this library and is destroyed once, here.
        unsafe { (self.functions.destroy)(&mut self.program) };
    }
}

/// `nvrtcResult` by its name in `nvrtc.h`.
fn check(code: c_int, function: &str) -> Result<(), String> {
    let name = match code {
        0 => return Ok(()),
        1 => "out of memory",
        2 => "program creation failure",
        3 => "invalid input",
        4 => "invalid program",
        5 => "invalid option",
        6 => "compilation failure",
        7 => "builtins could not be loaded",
        11 => "internal error",
        _ => "unknown",
    };
    Err(format!("{function} fails with code {code} ({name})"))
}

fn builtins_beside(found: &Found) -> Vec<PathBuf> {
    if found.origin == Origin::LoaderPath {
        return Vec::new();
    }
    let folder = found.path.parent().unwrap_or(Path::new("/"));
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .filter(|entry| {
            entry
                .file_name()
                .to_string_lossy()
                .starts_with("libnvrtc-builtins.so.")
        })
        // A toolkit has the file and links to it: one of them is enough.
        .filter_map(|entry| entry.path().canonicalize().ok())
        .collect();
    files.sort();
    files.dedup();
    files
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::loader::fake::FakeLoader;
    use super::*;

    fn found() -> Found {
        Found {
            path: "/fake/libnvrtc.so.13".into(),
            origin: Origin::Setup,
        }
    }

    #[test]
    fn a_library_that_does_not_load_is_named_with_the_loaders_words() {
        let error = Nvrtc::load(&FakeLoader::default(), found())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("/fake/libnvrtc.so.13") && error.contains("cannot open shared object"),
            "{error}"
        );
        assert!(error.contains("scripts/setup-cuda"), "{error}");
    }

    #[test]
    fn a_library_without_the_functions_is_named_with_the_first_that_it_lacks() {
        let loader = FakeLoader(BTreeMap::from([("libnvrtc.so.13", BTreeMap::new())]));
        let error = Nvrtc::load(&loader, found()).unwrap_err();
        assert!(error.to_string().contains("`nvrtcVersion`"), "{error}");
        assert_eq!(error.exit_code(), 3);
    }

    extern "C" fn fails(_: *mut c_int, _: *mut c_int) -> c_int {
        7
    }

    #[test]
    fn a_library_whose_first_call_fails_is_unusable() {
        const SYMBOLS: [&str; 12] = [
            "nvrtcVersion",
            "nvrtcGetNumSupportedArchs",
            "nvrtcGetSupportedArchs",
            "nvrtcCreateProgram",
            "nvrtcCompileProgram",
            "nvrtcDestroyProgram",
            "nvrtcGetProgramLogSize",
            "nvrtcGetProgramLog",
            "nvrtcGetCUBINSize",
            "nvrtcGetCUBIN",
            "nvrtcGetPTXSize",
            "nvrtcGetPTX",
        ];
        // Only the first is called.
        let address = fails as extern "C" fn(*mut c_int, *mut c_int) -> c_int as usize;
        let symbols = SYMBOLS.into_iter().map(|symbol| (symbol, address)).collect();
        let loader = FakeLoader(BTreeMap::from([("libnvrtc.so.13", symbols)]));
        let error = Nvrtc::load(&loader, found()).unwrap_err().to_string();
        assert!(error.contains("code 7 (builtins could not be loaded)"), "{error}");
    }
}
