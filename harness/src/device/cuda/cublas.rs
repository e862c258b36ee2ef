//! cuBLAS on a session's stream. Its library is looked at before the binding is, which would panic where this finds a reason.

use std::ffi::{CStr, OsStr, c_int, c_void};
use std::path::Path;

use assay_kernels::library::{Gemm, GemmKind, Library as Kind, Operand};
use cudarc::cublas::result::{self, CublasError};
use cudarc::cublas::sys;

use super::super::DeviceError;
use crate::toolchain::{Library, Loader};

/// Every function of the library that this program calls.
const FUNCTIONS: [&CStr; 6] = [
    c"cublasCreate_v2",
    c"cublasDestroy_v2",
    c"cublasSetStream_v2",
    c"cublasGetVersion_v2",
    c"cublasDgemm_v2",
    c"cublasGemmEx",
];

/// How the library is told to compute doubles from integers. The binding has no types for these numbers where it is that of
/// CUDA 13.0, so they are passed as the integers that they are in the library's interface.
struct FixedPoint {
    math_mode: SetNumber,
    strategy: SetNumber,
    mantissa_control: SetNumber,
    mantissa_bits: SetNumber,
}

/// Sets one number of a handle. The status comes as an integer: an enumeration of Rust must not hold one that it does not know.
type SetNumber = unsafe extern "C" fn(sys::cublasHandle_t, c_int) -> c_int;

/// `CUBLAS_DEFAULT_MATH`, `CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH`, `CUBLAS_EMULATION_STRATEGY_EAGER` and
/// `CUDA_EMULATION_MANTISSA_CONTROL_FIXED`.
const DEFAULT_MATH: c_int = 0;
const FIXED_POINT_MATH: c_int = 8;
const EAGER: c_int = 2;
const FIXED_MANTISSA: c_int = 1;

impl FixedPoint {
    /// The functions, where the library has them all: from CUDA 13.0, update 2.
    fn of(library: &dyn Library) -> Option<FixedPoint> {
        let find = |name: &CStr| {
            let address = library.address(name)?;
            // SAFETY: cuBLAS declares all four as status (handle, enumeration or int), and an enumeration there is an int.
            Some(unsafe { std::mem::transmute::<*mut c_void, SetNumber>(address.as_ptr()) })
        };
        Some(FixedPoint {
            math_mode: find(c"cublasSetMathMode")?,
            strategy: find(c"cublasSetEmulationStrategy")?,
            mantissa_control: find(c"cublasSetFixedPointEmulationMantissaControl")?,
            mantissa_bits: find(c"cublasSetFixedPointEmulationMaxMantissaBitCount")?,
        })
    }
}

/// What makes the library compute doubles from integers by itself.
const EMULATION: &str = "CUBLAS_EMULATE_DOUBLE_PRECISION";

/// A handle of the library, bound to a stream. The context that it was made in must be current when it is dropped.
pub(super) struct Cublas {
    handle: sys::cublasHandle_t,
    fixed_point: Option<FixedPoint>,
    /// `cuBLAS 13.1.0; CUBLAS_EMULATE_DOUBLE_PRECISION is not in force`.
    pub description: String,
}

/// Refuse an environment in which the library's doubles are not the card's own.
///
/// # Errors
/// [`DeviceError::Unusable`] when the variable has a value other than 0.
fn refuse_emulation(id: &str, value: Option<&OsStr>) -> Result<(), DeviceError> {
    match value {
        None => Ok(()),
        Some(value) if value == "0" => Ok(()),
        Some(value) => Err(DeviceError::Unusable {
            id: id.to_owned(),
            why: format!(
                "{EMULATION} is {}: cuBLAS would compute doubles from integers, and a rate of it would not be the card's \
                 own; unset it",
                value.display()
            ),
        }),
    }
}

/// Whether the library is here with every function, looked for as the binding will.
///
/// # Errors
/// [`DeviceError::MissingTool`] says what to do.
fn probe(loader: &dyn Loader) -> Result<Option<FixedPoint>, DeviceError> {
    let missing = |how: String| DeviceError::MissingTool {
        tool: "cuBLAS".to_owned(),
        how,
    };
    let names = cudarc::get_lib_name_candidates("cublas");
    let found = names.iter().find_map(|name| loader.open(Path::new(name)).ok());
    let library = found.ok_or_else(|| {
        missing(
            "no libcublas can be loaded: install that of CUDA 13 or 12 and put its folder into LD_LIBRARY_PATH"
                .to_owned(),
        )
    })?;
    if let Some(name) = FUNCTIONS.iter().find(|name| library.address(name).is_none()) {
        return Err(missing(format!(
            "the library has no `{}`: install that of CUDA 13 or 12",
            name.to_string_lossy()
        )));
    }
    let fixed_point = FixedPoint::of(library.as_ref());
    // The binding loads it again: loaded once and kept, it is initialised once, and the addresses stay.
    std::mem::forget(library);
    Ok(fixed_point)
}

/// Why the library is not there, or not with what `library` says; `None` where it is.
pub(super) fn lacks(loader: &dyn Loader, library: Kind) -> Option<String> {
    match (probe(loader), library) {
        (Err(why), _) => Some(why.to_string()),
        (Ok(None), Kind::CublasFixedPoint) => Some(no_fixed_point().to_string()),
        (Ok(_), Kind::Cublas | Kind::CublasFixedPoint) => None,
    }
}

/// What an older library has not.
fn no_fixed_point() -> DeviceError {
    DeviceError::MissingTool {
        tool: "cuBLAS's fixed-point emulation".to_owned(),
        how: "the library has no `cublasSetFixedPointEmulationMaxMantissaBitCount`: install that of CUDA 13.0 update 2 or newer"
            .to_owned(),
    }
}

/// 130100 as `13.1.0`.
fn version(number: i32) -> String {
    format!("{}.{}.{}", number / 10_000, number / 100 % 100, number % 100)
}

impl Cublas {
    /// A handle on the stream of a session on the card `id`.
    ///
    /// # Errors
    /// When the environment fakes doubles, the library is missing, or it does not start.
    ///
    /// # Safety
    /// The stream's context is current, and the stream outlives the handle.
    pub unsafe fn new(
        id: &str,
        loader: &dyn Loader,
        stream: cudarc::driver::sys::CUstream,
    ) -> Result<Cublas, DeviceError> {
        refuse_emulation(id, std::env::var_os(EMULATION).as_deref())?;
        let fixed_point = probe(loader)?;
        let call =
            |call: &str, outcome: Result<(), CublasError>| outcome.map_err(|error| failed(id, call, error));
        let handle = result::create_handle().map_err(|error| failed(id, "cublasCreate", error))?;
        let mut cublas = Cublas {
            handle,
            fixed_point,
            description: String::new(),
        };
        // SAFETY: the handle was just made, the caller vouches for the stream; both names stand for one opaque type.
        call("cublasSetStream", unsafe {
            result::set_stream(handle, stream.cast())
        })?;
        let mut number = 0;
        // SAFETY: the handle lives, and the pointer is to a live integer.
        let told = unsafe { sys::cublasGetVersion_v2(handle, &mut number) };
        call("cublasGetVersion", told.result())?;
        cublas.description = format!("cuBLAS {}; {EMULATION} is not in force", version(number));
        Ok(cublas)
    }

    /// Start a product on the stream.
    ///
    /// # Errors
    /// When the library refuses it.
    ///
    /// # Safety
    /// `gemm` has passed its check against the buffers, and `address` gives where each lies on the card; they live until
    /// the stream's work is done, and nothing else writes them meanwhile.
    pub unsafe fn multiply(
        &self,
        id: &str,
        gemm: &Gemm,
        address: impl Fn(&Operand) -> u64,
    ) -> Result<(), DeviceError> {
        let order = |operand: &Operand| {
            if operand.transposed {
                sys::cublasOperation_t::CUBLAS_OP_T
            } else {
                sys::cublasOperation_t::CUBLAS_OP_N
            }
        };
        // Checked against the library's 32-bit integers.
        let [m, n, k] = [gemm.m, gemm.n, gemm.k].map(|value| value as i32);
        let [lda, ldb, ldc] = [gemm.a, gemm.b, gemm.c].map(|operand| operand.leading as i32);
        let [a, b, c] = [&gemm.a, &gemm.b, &gemm.c].map(|operand| address(operand) as *mut c_void);
        let (ta, tb) = (order(&gemm.a), order(&gemm.b));
        self.set_mode(id, gemm.kind)?;
        let (name, outcome) = match gemm.kind {
            GemmKind::F64 | GemmKind::F64FixedPoint { .. } => {
                let (alpha, beta) = (1f64, 0f64);
                // SAFETY: sizes fit the buffers by the caller's word; both factors are read before the call returns.
                let outcome = unsafe {
                    result::dgemm(
                        self.handle,
                        ta,
                        tb,
                        m,
                        n,
                        k,
                        &alpha,
                        a.cast(),
                        lda,
                        b.cast(),
                        ldb,
                        &beta,
                        c.cast(),
                        ldc,
                    )
                };
                ("cublasDgemm", outcome)
            }
            GemmKind::S8 => {
                let (alpha, beta) = (1i32, 0i32);
                let bytes = sys::cudaDataType::CUDA_R_8I;
                // SAFETY: as above; with 32-bit integers computed, both factors are 32-bit integers.
                let outcome = unsafe {
                    result::gemm_ex(
                        self.handle,
                        ta,
                        tb,
                        m,
                        n,
                        k,
                        (&raw const alpha).cast(),
                        a,
                        bytes,
                        lda,
                        b,
                        bytes,
                        ldb,
                        (&raw const beta).cast(),
                        c,
                        sys::cudaDataType::CUDA_R_32I,
                        ldc,
                        sys::cublasComputeType_t::CUBLAS_COMPUTE_32I,
                        sys::cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
                    )
                };
                ("cublasGemmEx", outcome)
            }
        };
        outcome.map_err(|error| failed(id, name, error))
    }
}

impl Cublas {
    /// Have doubles computed as `kind` says.
    fn set_mode(&self, id: &str, kind: GemmKind) -> Result<(), DeviceError> {
        let set = |call: &str, function: SetNumber, number: c_int| {
            // SAFETY: the handle lives, and the function was looked up in the library that made it.
            match unsafe { function(self.handle, number) } {
                0 => Ok(()),
                code => Err(DeviceError::Driver {
                    id: id.to_owned(),
                    call: call.to_owned(),
                    code: code as u32,
                    name: "no success".to_owned(),
                }),
            }
        };
        match (kind, &self.fixed_point) {
            (GemmKind::S8, _) | (GemmKind::F64, None) => Ok(()),
            (GemmKind::F64, Some(mode)) => set("cublasSetMathMode", mode.math_mode, DEFAULT_MATH),
            (GemmKind::F64FixedPoint { .. }, None) => Err(no_fixed_point()),
            (GemmKind::F64FixedPoint { bits }, Some(mode)) => {
                set("cublasSetMathMode", mode.math_mode, FIXED_POINT_MATH)?;
                set("cublasSetEmulationStrategy", mode.strategy, EAGER)?;
                let control = "cublasSetFixedPointEmulationMantissaControl";
                set(control, mode.mantissa_control, FIXED_MANTISSA)?;
                let count = "cublasSetFixedPointEmulationMaxMantissaBitCount";
                set(count, mode.mantissa_bits, bits as c_int)
            }
        }
    }
}

impl Drop for Cublas {
    fn drop(&mut self) {
        // SAFETY: made in `new`, destroyed once; the session waits for its stream first.
        let _ = unsafe { result::destroy_handle(self.handle) };
    }
}

fn failed(id: &str, call: &str, error: CublasError) -> DeviceError {
    DeviceError::Driver {
        id: id.to_owned(),
        call: call.to_owned(),
        code: error.0 as u32,
        name: format!("{:?}", error.0),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::toolchain::fake::FakeLoader;

    #[test]
    fn a_missing_library_is_a_sentence_and_a_missing_function_is_named() {
        let said = probe(&FakeLoader::default()).err().unwrap().to_string();
        assert!(said.starts_with("cuBLAS is missing: no libcublas"), "{said}");
        let with = |names: &[&'static CStr]| {
            let symbols = names.iter().map(|name| (name.to_str().unwrap(), 1));
            FakeLoader(BTreeMap::from([("libcublas.so.13", symbols.collect())]))
        };
        assert!(
            matches!(probe(&with(&FUNCTIONS)), Ok(None)),
            "without the emulation"
        );
        assert_eq!(lacks(&with(&FUNCTIONS), Kind::Cublas), None);
        let older = lacks(&with(&FUNCTIONS), Kind::CublasFixedPoint).unwrap();
        assert!(older.contains("CUDA 13.0 update 2"), "{older}");
        assert!(lacks(&FakeLoader::default(), Kind::Cublas).is_some());
        let said = probe(&with(&FUNCTIONS[..5])).err().unwrap().to_string();
        assert!(said.contains("`cublasGemmEx`"), "{said}");
    }

    #[test]
    fn an_environment_that_fakes_doubles_is_refused() {
        assert!(refuse_emulation("cuda:0", None).is_ok());
        assert!(refuse_emulation("cuda:0", Some(OsStr::new("0"))).is_ok());
        let said = refuse_emulation("cuda:0", Some(OsStr::new("1")))
            .unwrap_err()
            .to_string();
        assert!(
            said.contains("CUBLAS_EMULATE_DOUBLE_PRECISION is 1") && said.contains("unset it"),
            "{said}"
        );
    }

    #[test]
    fn versions_are_told_as_people_count() {
        assert_eq!(
            (version(130_100), version(120_803)),
            ("13.1.0".to_owned(), "12.8.3".to_owned())
        );
    }
}
