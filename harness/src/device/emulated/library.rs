//! A compiled text, loaded into this program.

use std::ffi::{c_uint, c_void};

use libloading::Library;

use super::compiler::{Object, unusable};
use crate::device::DeviceError;

/// A parameter of the kernel, as the shim describes it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its size.
    pub bytes: c_uint,
    is_pointer: c_uint,
}

impl Parameter {
    /// Whether it is an address.
    pub fn is_pointer(self) -> bool {
        self.is_pointer != 0
    }
}

type Parameters = unsafe extern "C" fn(*mut c_uint) -> *const Parameter;
type Run = unsafe extern "C" fn(c_uint, c_uint, c_uint, c_uint, *const *const c_void);

/// A loaded text with its kernels. It stays loaded, and its file in place, as long as this lives.
pub struct LoadedKernel {
    entries: Vec<Entry>,
    // Dropped in this order: unloaded before its file goes.
    _library: Library,
    _object: Object,
}

/// One kernel of a loaded text.
pub struct Entry {
    name: &'static str,
    run: Run,
    parameters: Vec<Parameter>,
}

impl LoadedKernel {
    /// Load a compiled text, bound to the kernels `entries`.
    ///
    /// # Errors
    /// [`DeviceError::Unusable`] when the system refuses to load it.
    pub fn load(object: Object, entries: &[&'static str]) -> Result<LoadedKernel, DeviceError> {
        let failed = |error: libloading::Error| {
            unusable(format!(
                "the compiled kernel cannot be loaded: {error}; set TMPDIR to a directory that allows it"
            ))
        };
        // SAFETY: the object was just compiled from a family's text behind the shim; the shim has no constructors
        // that run on loading, and a text with one would run it as part of the kernel that the user asked to run.
        let library = unsafe { Library::new(object.path()) }.map_err(failed)?;
        let entries = entries
            .iter()
            .map(|entry| Entry::find(&library, entry).map_err(failed))
            .collect::<Result<_, _>>()?;
        Ok(LoadedKernel {
            entries,
            _library: library,
            _object: object,
        })
    }

    /// The kernel called `name`.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }
}

impl Entry {
    /// Look a kernel up. It must not be run after the library is gone.
    fn find(library: &Library, name: &'static str) -> Result<Entry, libloading::Error> {
        let parameters_of = format!("assay_parameters_{name}\0");
        // SAFETY: ASSAY_BIND in the shim defines it with exactly this signature.
        let parameters = *unsafe { library.get::<Parameters>(parameters_of.as_bytes()) }?;
        // SAFETY: ASSAY_BIND in the shim defines it with exactly this signature.
        let run = *unsafe { library.get::<Run>(format!("assay_run_{name}\0").as_bytes()) }?;
        let mut count: c_uint = 0;
        // SAFETY: the shim writes one unsigned int to the address, which is valid for the call.
        let first = unsafe { parameters(&raw mut count) };
        // SAFETY: the shim returns a static array of at least `count` entries of the layout of `Parameter`; the
        // library is loaded, and they are copied out before it can be unloaded.
        let parameters = unsafe { std::slice::from_raw_parts(first, count as usize) }.to_vec();
        Ok(Entry {
            name,
            run,
            parameters,
        })
    }

    /// The kernel's parameters, in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Run the blocks `first..last` of a grid on this thread.
    ///
    /// # Safety
    /// `arguments` has an address for each of [`Entry::parameters`], of a value of that size. Whatever the
    /// kernel reads or writes through an argument that is an address is valid for that.
    pub unsafe fn run(&self, first: u32, last: u32, grid: u32, block: u32, arguments: &[*const c_void]) {
        debug_assert_eq!(arguments.len(), self.parameters.len());
        // SAFETY: the signature is the shim's; the caller vouches for the arguments, and `first`, `last`, `grid` and
        // `block` are plain numbers.
        unsafe { (self.run)(first, last, grid, block, arguments.as_ptr()) }
    }
}
