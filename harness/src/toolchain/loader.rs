//! Loading a shared library: a seam, so that missing and broken libraries can be tested on any machine.

use std::ffi::{CStr, c_void};
use std::path::Path;
use std::ptr::NonNull;

/// A loaded shared library. It stays loaded as long as this value lives.
pub trait Library {
    /// The address of a symbol, or `None` when the library has no such symbol.
    fn address(&self, symbol: &CStr) -> Option<NonNull<c_void>>;
}

/// Who loads shared libraries.
pub trait Loader {
    /// Load the library at `path`: an absolute path, or a bare name that the loader's own path is searched for.
    ///
    /// # Errors
    /// The loader's words, when there is none or it cannot be loaded.
    fn open(&self, path: &Path) -> Result<Box<dyn Library>, String>;
}

/// The operating system's loader.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemLoader;

struct SystemLibrary(libloading::Library);

impl Library for SystemLibrary {
    fn address(&self, symbol: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the address is taken as untyped; whoever calls through it states its type and vouches for it.
        let found = unsafe { self.0.get::<*mut c_void>(symbol.to_bytes_with_nul()) }.ok()?;
        // `Symbol<*mut T>` dereferences to the address itself.
        NonNull::new(*found)
    }
}

impl Loader for SystemLoader {
    fn open(&self, path: &Path) -> Result<Box<dyn Library>, String> {
        // SAFETY: loading runs the library's initialisers. Only NVIDIA's own libraries are named here, by the user or
        // by the search order that docs/cuda.md gives, and they may be loaded into any process.
        match unsafe { libloading::Library::new(path) } {
            Ok(library) => Ok(Box::new(SystemLibrary(library))),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
pub(crate) mod fake {
    //! A loader that loads what a test says.

    use std::collections::BTreeMap;
    use std::ffi::{CStr, c_void};
    use std::path::Path;
    use std::ptr::NonNull;

    use super::{Library, Loader};

    /// Symbols of a pretended library.
    pub(crate) type Symbols = BTreeMap<&'static str, usize>;

    /// Libraries by file name: those not listed do not exist.
    #[derive(Default)]
    pub(crate) struct FakeLoader(pub BTreeMap<&'static str, Symbols>);

    struct FakeLibrary(Symbols);

    impl Library for FakeLibrary {
        fn address(&self, symbol: &CStr) -> Option<NonNull<c_void>> {
            let address = *self.0.get(symbol.to_str().ok()?)?;
            NonNull::new(address as *mut c_void)
        }
    }

    impl Loader for FakeLoader {
        fn open(&self, path: &Path) -> Result<Box<dyn Library>, String> {
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            match self.0.get(name) {
                Some(symbols) => Ok(Box::new(FakeLibrary(symbols.clone()))),
                None => Err(format!("{}: cannot open shared object file", path.display())),
            }
        }
    }
}
