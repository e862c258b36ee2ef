//! A compiled kernel, loaded into this program.

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

/// A loaded kernel. It stays loaded, and its file in place, as long as this lives.
pub struct LoadedKernel {
    run: Run,
    parameters: Vec<Parameter>,
    // Dropped in this order: unloaded before its file goes.
    _library: Library,
    _object: Object,
}

impl LoadedKernel {
    /// Load a compiled text.
    ///
    /// # Errors
    /// [`DeviceError::Unusable`] when the system refuses to load it.
    pub fn load(object: Object) -> Result<LoadedKernel, DeviceError> {
        let failed = |error: libloading::Error| {
            unusable(format!(
                "the compiled kernel cannot be loaded: {error}; set TMPDIR to a directory that allows it"
            ))
        };
        // SAFETY: the object was just compiled from a family's text behind the shim; the shim has no constructors
        // that run on loading, and a text with one would run it as part of the kernel that the user asked to run.
        let library = unsafe { Library::new(object.path()) }.map_err(failed)?;
        // SAFETY: ASSAY_BIND in the shim defines `assay_parameters` with exactly this signature.
        let parameters = *unsafe { library.get::<Parameters>(b"assay_parameters\0") }.map_err(failed)?;
        // SAFETY: ASSAY_BIND in the shim defines `assay_run` with exactly this signature.
        let run = *unsafe { library.get::<Run>(b"assay_run\0") }.map_err(failed)?;
        let mut count: c_uint = 0;
        // SAFETY: the shim writes one unsigned int to the address, which is valid for the call.
        let first = unsafe { parameters(&raw mut count) };
        // SAFETY: the shim returns a static array of at least `count` entries of the layout of `Parameter`; the
        // library is loaded, and they are copied out before it can be unloaded.
        let parameters = unsafe { std::slice::from_raw_parts(first, count as usize) }.to_vec();
        Ok(LoadedKernel {
            run,
            parameters,
            _library: library,
            _object: object,
        })
    }

    /// The kernel's parameters, in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Run the blocks `first..last` of a grid on this thread.
    ///
    /// # Safety
    /// `arguments` has an address for each of [`LoadedKernel::parameters`], of a value of that size. Whatever the
    /// kernel reads or writes through an argument that is an address is valid for that.
    pub unsafe fn run(&self, first: u32, last: u32, grid: u32, block: u32, arguments: &[*const c_void]) {
        debug_assert_eq!(arguments.len(), self.parameters.len());
        // SAFETY: the signature is the shim's; the caller vouches for the arguments, and `first`, `last`, `grid` and
        // `block` are plain numbers.
        unsafe { (self.run)(first, last, grid, block, arguments.as_ptr()) }
    }
}
