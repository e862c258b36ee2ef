//! Is there a driver, and does it work? Asked without the binding, which would panic where this finds a reason.

use std::ffi::{CStr, c_int, c_uint};
use std::path::Path;

use crate::toolchain::{Library, Loader};

/// Every function of the driver that this program calls.
const FUNCTIONS: [&CStr; 32] = [
    c"cuInit",
    c"cuDriverGetVersion",
    c"cuDeviceGetCount",
    c"cuDeviceGet",
    c"cuDeviceGetName",
    c"cuDeviceGetUuid_v2",
    c"cuDeviceGetAttribute",
    c"cuDeviceTotalMem_v2",
    c"cuDevicePrimaryCtxRetain",
    c"cuDevicePrimaryCtxRelease_v2",
    c"cuCtxSetCurrent",
    c"cuMemGetInfo_v2",
    c"cuMemAlloc_v2",
    c"cuMemFree_v2",
    c"cuMemHostAlloc",
    c"cuMemFreeHost",
    c"cuMemsetD32Async",
    c"cuMemcpyHtoDAsync_v2",
    c"cuMemcpyDtoHAsync_v2",
    c"cuStreamCreate",
    c"cuStreamDestroy_v2",
    c"cuStreamSynchronize",
    c"cuEventCreate",
    c"cuEventDestroy_v2",
    c"cuEventRecord",
    c"cuEventSynchronize",
    c"cuEventElapsedTime_v2",
    c"cuModuleLoadData",
    c"cuModuleUnload",
    c"cuModuleGetFunction",
    c"cuFuncSetAttribute",
    c"cuLaunchKernel",
];

/// A driver that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Driver {
    /// Version of CUDA that it speaks: 13000 is 13.0.
    pub cuda: i32,
    /// Cards that it shows.
    pub cards: u32,
    /// Whether it can say which parameters a kernel has (12.4 and newer).
    pub knows_parameters: bool,
}

/// 13000 as `13.0`.
pub fn cuda_version(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

impl Driver {
    /// Look for the driver and ask it for its version and its cards.
    ///
    /// # Errors
    /// Why there is none that works, in words that say what to do.
    pub fn probe(loader: &dyn Loader) -> Result<Driver, String> {
        let library = open(loader)?;
        if let Some(missing) = FUNCTIONS.iter().find(|name| library.address(name).is_none()) {
            return Err(format!(
                "the driver's library has no `{}`: it is a stub or too old, install NVIDIA driver 570 or newer",
                missing.to_string_lossy()
            ));
        }
        let init = library.address(c"cuInit").ok_or("cuInit is missing")?;
        // SAFETY: `cuda.h` declares cuInit so, in every version.
        let init: unsafe extern "C" fn(c_uint) -> c_int = unsafe { std::mem::transmute(init.as_ptr()) };
        // SAFETY: cuInit may be called at any time, any number of times, with 0.
        match unsafe { init(0) } {
            0 => {}
            code => {
                return Err(format!(
                    "the driver does not start: cuInit gives code {code} ({})",
                    why(code)
                ));
            }
        }
        let cuda = ask(library.as_ref(), c"cuDriverGetVersion")?;
        let cards = ask(library.as_ref(), c"cuDeviceGetCount")?;
        let knows_parameters = library.address(c"cuFuncGetParamInfo").is_some();
        // The driver does not survive being unloaded once it has started.
        std::mem::forget(library);
        Ok(Driver {
            cuda,
            cards: u32::try_from(cards).unwrap_or(0),
            knows_parameters,
        })
    }
}

/// The library that the binding will take: the same names in the same order.
fn open(loader: &dyn Loader) -> Result<Box<dyn Library>, String> {
    let names = cudarc::get_lib_name_candidates("cuda")
        .into_iter()
        .chain(cudarc::get_lib_name_candidates("nvcuda"));
    for name in names {
        if let Ok(library) = loader.open(Path::new(&name)) {
            return Ok(library);
        }
    }
    Err("there is no NVIDIA driver here (libcuda.so.1 cannot be loaded): install one, or run on the cpu device".into())
}

/// Call a function that stores one integer.
fn ask(library: &dyn Library, function: &CStr) -> Result<c_int, String> {
    let name = function.to_string_lossy();
    let address = library
        .address(function)
        .ok_or_else(|| format!("{name} is missing"))?;
    // SAFETY: `cuda.h` declares both functions asked so, in every version.
    let call: unsafe extern "C" fn(*mut c_int) -> c_int = unsafe { std::mem::transmute(address.as_ptr()) };
    let mut value = 0;
    // SAFETY: the pointer is to a live integer.
    match unsafe { call(&mut value) } {
        0 => Ok(value),
        code => Err(format!("{name} gives code {code} ({})", why(code))),
    }
}

fn why(code: c_int) -> &'static str {
    match code {
        2 => "out of memory",
        3 => "not initialised",
        34 => {
            "this is the toolkit's stub library: put the driver's own libcuda before it in the loader's path"
        }
        100 => "no card that CUDA can use",
        101 => "invalid device",
        802 => "the system is not ready, perhaps its fabric manager is not running",
        803 => {
            "the driver's library and its kernel module are of different versions: reboot or reinstall the driver"
        }
        804 => "the compatibility library does not support this card",
        999 => "unknown error: the kernel module may not be loaded",
        _ => "see CUresult in cuda.h",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::toolchain::fake::FakeLoader;

    extern "C" fn no_device(_: c_uint) -> c_int {
        100
    }
    extern "C" fn stub(_: c_uint) -> c_int {
        34
    }
    extern "C" fn starts(_: c_uint) -> c_int {
        0
    }
    extern "C" fn thirteen(value: *mut c_int) -> c_int {
        // SAFETY: `ask` passes a live integer.
        unsafe { *value = 13000 };
        0
    }
    extern "C" fn two(value: *mut c_int) -> c_int {
        // SAFETY: `ask` passes a live integer.
        unsafe { *value = 2 };
        0
    }

    type One = extern "C" fn(c_uint) -> c_int;
    type Store = extern "C" fn(*mut c_int) -> c_int;

    fn driver(init: One) -> FakeLoader {
        let mut symbols: BTreeMap<&'static str, usize> = FUNCTIONS
            .iter()
            .map(|name| (name.to_str().unwrap(), starts as One as usize))
            .collect();
        symbols.insert("cuInit", init as usize);
        symbols.insert("cuDriverGetVersion", thirteen as Store as usize);
        symbols.insert("cuDeviceGetCount", two as Store as usize);
        FakeLoader(BTreeMap::from([("libcuda.so.1", symbols)]))
    }

    #[test]
    fn a_machine_without_a_driver_is_told_so() {
        assert!(
            Driver::probe(&FakeLoader::default())
                .unwrap_err()
                .contains("no NVIDIA driver")
        );
    }

    #[test]
    fn a_library_that_lacks_a_function_is_named_with_it() {
        let mut loader = driver(starts);
        loader.0.get_mut("libcuda.so.1").unwrap().remove("cuLaunchKernel");
        assert!(Driver::probe(&loader).unwrap_err().contains("`cuLaunchKernel`"));
    }

    #[test]
    fn a_stub_and_a_machine_without_cards_fail_with_their_code() {
        assert!(Driver::probe(&driver(stub)).unwrap_err().contains("stub library"));
        assert!(
            Driver::probe(&driver(no_device))
                .unwrap_err()
                .contains("code 100 (no card")
        );
    }

    #[test]
    fn a_driver_that_answers_gives_version_and_cards() {
        let found = Driver::probe(&driver(starts)).unwrap();
        assert_eq!(
            found,
            Driver {
                cuda: 13000,
                cards: 2,
                knows_parameters: false
            }
        );
        assert_eq!(cuda_version(found.cuda), "13.0");
        assert_eq!(cuda_version(12080), "12.8");
    }
}
