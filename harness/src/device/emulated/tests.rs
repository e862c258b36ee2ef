//! The device on small texts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_kernels::crt_gemm::exact::Dyadic;
use assay_kernels::family::DeviceKind;
use assay_kernels::workload::{Argument, Batch, Buffer, BufferId, Launch, Outputs, Setup, Source, Step};

use super::Emulated;
use super::lookup::Lookup;
use crate::device::{Device, DeviceError};

const TYPES: &str = "typedef unsigned int u32; typedef unsigned long long u64;\n";

fn device() -> Emulated {
    Emulated::new().expect("the tests need a C++ compiler")
}

fn setup_of(text: &str, words: &[usize]) -> Setup {
    Setup {
        source: Source {
            file: "small.cu".to_owned(),
            text: format!("{TYPES}{text}"),
            defines: vec![],
            entry: "small",
            helpers: vec![],
            options: vec![],
        },
        native: None,
        library: None,
        buffers: words
            .iter()
            .map(|&words| Buffer {
                name: "words",
                words,
                fill: 7,
            })
            .collect(),
    }
}

fn opened(text: &str) -> Result<(), DeviceError> {
    device().open(&setup_of(text, &[])).map(|_| ())
}

/// Launches `text` once and downloads every buffer.
fn launched(
    text: &str,
    words: &[usize],
    grid: u32,
    block: u32,
    arguments: Vec<Argument>,
) -> Result<Outputs, DeviceError> {
    let mut session = device().open(&setup_of(text, words))?;
    let mut steps = vec![Step::Launch(Launch {
        entry: "small",
        shared_bytes: 0,
        grid,
        block,
        arguments,
    })];
    steps.extend(words.iter().enumerate().map(|(i, &words)| Step::Download {
        buffer: BufferId(i),
        words,
    }));
    session.submit(0, Batch { steps, units: 0 })?;
    Ok(session.wait()?.expect("a batch was submitted").outputs)
}

fn buffer(index: usize) -> Argument {
    Argument::Buffer(BufferId(index))
}

fn refused(text: &str) -> Option<String> {
    match opened(text) {
        Err(DeviceError::Unsupported { what, .. }) => Some(what),
        Ok(()) => None,
        Err(other) => panic!("{text}: {other}"),
    }
}

#[test]
fn every_thread_of_a_partial_last_block_has_its_own_index() {
    let text = r#"
        extern "C" __global__ void __launch_bounds__(32) small(u32 *const out, const u32 count) {
            const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= count) return;
            out[4 * i] = threadIdx.x;
            out[4 * i + 1] = blockIdx.x;
            out[4 * i + 2] = blockDim.x + threadIdx.y + threadIdx.z;
            out[4 * i + 3] = gridDim.x * gridDim.y * gridDim.z + blockIdx.y;
        }"#;
    let out = launched(text, &[4 * 96], 3, 32, vec![buffer(0), Argument::U32(70)])
        .unwrap()
        .remove(0);
    for (i, row) in (0..96).zip(out.chunks(4)) {
        let expected = if i < 70 { [i % 32, i / 32, 32, 3] } else { [7; 4] };
        assert_eq!(row, expected, "thread {i}");
    }
}

#[test]
fn atomics_of_all_blocks_meet() {
    let text = r#"
        extern "C" __global__ void small(u32 *w, u64 *d) {
            const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
            atomicAdd(w, 1);
            atomicMax(w + 1, i);
            atomicMin(w + 2, i);
            atomicOr(w + 3, 1u << (i & 31));
            atomicAdd(d, 0x100000000ull);
            atomicMax(d + 1, (u64)i << 32);
            atomicMin(d + 2, (u64)i);
            atomicOr(d + 3, 1ull << (i & 63));
        }"#;
    let out = launched(text, &[4, 8], 1000, 64, vec![buffer(0), buffer(1)]).unwrap();
    assert_eq!(out[0], [64_007, 63_999, 0, u32::MAX]);
    assert_eq!(out[1], [7, 64_007, 0, 63_999, 0, 0, u32::MAX, u32::MAX]);
}

#[test]
fn a_structure_and_64_bit_words_arrive_by_value() {
    let text = r#"
        struct Base { u32 a, b, c; };
        extern "C" __global__ void small(const Base base, const u64 first, u32 *const __restrict__ out, const u32 last) {
            out[0] = base.a; out[1] = base.b; out[2] = base.c;
            out[3] = (u32)first; out[4] = (u32)(first >> 32); out[5] = last;
        }"#;
    let arguments = vec![
        Argument::Words(vec![1, 2, 3]),
        Argument::U64(0x5_0000_0004),
        buffer(0),
        Argument::U32(6),
    ];
    assert_eq!(
        launched(text, &[6], 1, 1, arguments).unwrap(),
        [[1, 2, 3, 4, 5, 6]]
    );
}

#[test]
fn the_intrinsics_do_what_the_cuda_manual_says() {
    let text = r#"
        __constant__ const u32 table[2] = {40, 2};
        __device__ __noinline__ u32 sum() { return table[0] + __ldg(&table[1]); }
        extern "C" __global__ void small(u32 *out) {
            const u32 low = 0x89abcdefu, high = 0x01234567u;
            u32 n = 0;
            out[n++] = sum();
            out[n++] = __funnelshift_l(low, high, 8);
            out[n++] = __funnelshift_l(low, high, 32);
            out[n++] = __funnelshift_lc(low, high, 40);
            out[n++] = __funnelshift_r(low, high, 8);
            out[n++] = __funnelshift_r(low, high, 32);
            out[n++] = __funnelshift_rc(low, high, 40);
            out[n++] = __umulhi(low, high);
            out[n++] = __popc(low);
            out[n++] = __clz(0);
            out[n++] = __clz(high);
            out[n++] = __byte_perm(low, high, 0x7520);
            out[n++] = __brev(1);
            out[n++] = min(-1, 1u) + max(3, 4);
            out[n++] = (u32)__umul64hi(1ull << 63, 6);
            out[n++] = (u32)__double2loint(__longlong_as_double((long long)high << 32 | low));
        }"#;
    let expected: [u32; 16] = [
        42,
        0x2345_6789,
        0x0123_4567,
        0x89ab_cdef,
        0x6789_abcd,
        0x89ab_cdef,
        0x0123_4567,
        ((0x89ab_cdef_u64 * 0x0123_4567) >> 32) as u32,
        0x89ab_cdef_u32.count_ones(),
        32,
        7,
        0x0145_abef,
        0x8000_0000,
        5,
        3,
        0x89ab_cdef,
    ];
    assert_eq!(launched(text, &[16], 1, 1, vec![buffer(0)]).unwrap(), [expected]);
}

/// `__fma_ru` of every three of `values`, the last one fastest.
fn rounded_up(values: &[f64]) -> Vec<f64> {
    let count = values.len();
    let bits: Vec<_> = values.iter().map(|v| format!("{}ull", v.to_bits())).collect();
    let text = format!(
        "constexpr u64 table[] = {{{}}};
        static double value(u32 i) {{ return __longlong_as_double((long long)table[i % {count}]); }}
        extern \"C\" __global__ void small(u64 *out) {{
            const u32 i = blockIdx.x;
            out[i] = __double_as_longlong(__fma_ru(value(i / {count} / {count}), value(i / {count}), value(i)));
        }}",
        bits.join(", ")
    );
    let results = count.pow(3);
    let out = launched(&text, &[2 * results], results as u32, 1, vec![buffer(0)]).unwrap();
    let double = |words: &[u32]| f64::from_bits(u64::from(words[1]) << 32 | u64::from(words[0]));
    out[0].chunks(2).map(double).collect()
}

#[test]
fn a_sum_of_a_product_rounded_up_is_the_least_double_that_is_not_below_it() {
    let power = |exponent| 2f64.powi(exponent);
    let magnitudes = [
        0.0,
        f64::from_bits(1),
        f64::from_bits(3),
        f64::MIN_POSITIVE.next_down(),
        f64::MIN_POSITIVE,
        power(-1000),
        power(-537),
        power(-537).next_down(),
        power(-53),
        1.0 / 3.0,
        1f64.next_down(),
        1.0,
        1f64.next_up(),
        power(52) - 0.5,
        power(52),
        power(511).next_up(),
        power(970),
        power(1023),
        f64::MAX,
    ];
    let values: Vec<f64> = magnitudes.into_iter().flat_map(|v| [v, -v]).collect();
    let exact = |v: f64| Dyadic::of(v).unwrap();
    let mut results = rounded_up(&values).into_iter();
    let (mut overflows, mut underflows) = (0, 0);
    for &a in &values {
        for &b in &values {
            let product = &exact(a) * &exact(b);
            for &c in &values {
                let sum = &product + &exact(c);
                let up = results.next().unwrap();
                let case = format!("{a:e} * {b:e} + {c:e}: {up:e}");
                assert!(up == f64::INFINITY || exact(up) >= sum, "{case}");
                assert!(up == -f64::MAX || exact(up.next_down()) < sum, "{case}");
                // The sign of zero: positive, but for a negative number too small and a sum of negative zeros.
                let negative =
                    sum < exact(0.0) || (a * b).is_sign_negative() && c == 0.0 && c.is_sign_negative();
                assert!(up != 0.0 || up.is_sign_negative() == negative, "{case}");
                overflows += u32::from(up.is_infinite() || up == -f64::MAX);
                underflows += u32::from(up == 0.0 && negative || up == f64::from_bits(1));
            }
        }
    }
    assert!(overflows > 1000 && underflows > 1000, "{overflows} {underflows}");
}

#[test]
fn what_is_not_finite_stays_so_in_a_sum_rounded_up() {
    let values = [1.0, 0.0, f64::NEG_INFINITY, f64::NAN];
    let mut results = rounded_up(&values).into_iter();
    for a in values {
        for b in values {
            for c in values {
                let (up, sum) = (results.next().unwrap(), a.mul_add(b, c));
                assert!(up == sum || up.is_nan() && sum.is_nan(), "{a} * {b} + {c}: {up}");
            }
        }
    }
}

#[test]
fn an_empty_grid_runs_nothing_and_a_block_has_its_limits() {
    let text = r#"extern "C" __global__ void small(u32 *out) { atomicAdd(out, 1u); }"#;
    assert_eq!(launched(text, &[1], 0, 32, vec![buffer(0)]).unwrap(), [[7]]);
    for block in [0, 1025] {
        assert!(matches!(
            launched(text, &[1], 1, block, vec![buffer(0)]),
            Err(DeviceError::Invalid(_))
        ));
    }
}

#[test]
fn what_the_shim_cannot_express_is_refused_by_name() {
    for (name, body) in [
        ("__shared__", "__shared__ u32 words[32]; words[0] = 1;"),
        ("__syncthreads", "__syncthreads();"),
        ("__syncwarp", "__syncwarp();"),
        ("__shfl_down_sync", "__shfl_down_sync(~0u, 1, 1);"),
        ("__ballot_sync", "__ballot_sync(~0u, 1);"),
        ("asm", "asm(\"mad.lo.u32 %0, %1, %2, %3;\" : : );"),
        ("cooperative_groups", "cooperative_groups::this_grid().sync();"),
        ("wmma", "wmma::fragment f;"),
    ] {
        let text = format!("extern \"C\" __global__ void small() {{ {body} }}");
        assert_eq!(refused(&text).as_deref(), Some(name));
    }
    let hidden = "#define MEET __syncthreads()\nextern \"C\" __global__ void small() { MEET; }";
    assert_eq!(refused(hidden).as_deref(), Some("__syncthreads"));
    let header = "#include <cooperative_groups.h>\nextern \"C\" __global__ void small() {}";
    assert_eq!(refused(header).as_deref(), Some("cooperative_groups"));
    let error = opened("extern \"C\" __global__ void small() { __syncthreads(); }").unwrap_err();
    assert_eq!(
        error.to_string(),
        "small.cu cannot run on emulated: it uses __syncthreads"
    );
}

#[test]
fn comments_strings_and_sections_for_the_card_are_not_refused() {
    let text = r#"
        // __shared__ would be nice
        /* asm and
           __syncthreads() */
        #define UNUSED __shfl_sync
        static const char *const note = "no __shared__ \" asm";
        extern "C" __global__ void small() {
        #ifdef __CUDA_ARCH__
            asm("exit;");
        #elif !defined(__CUDA_ARCH__)
            (void)note;
        #else
            __syncwarp();
        #endif
        }"#;
    assert_eq!(refused(text), None);
}

#[test]
fn arguments_that_do_not_fit_are_invalid() {
    let text =
        r#"extern "C" __global__ void small(u32 *out, const u32 a, const u64 b) { *out = a + (u32)b; }"#;
    let (a, b) = (Argument::U32(1), Argument::U64(2));
    assert_eq!(
        launched(text, &[1], 1, 1, vec![buffer(0), a.clone(), b.clone()]).unwrap(),
        [[3]]
    );
    for (arguments, message) in [
        (
            vec![buffer(0), a.clone()],
            "a launch of small with 2 arguments: it takes 3",
        ),
        (
            vec![buffer(0), b.clone(), b.clone()],
            "argument 2 of a launch of small: it has 8 bytes where the kernel takes 4",
        ),
        (
            vec![buffer(0), a.clone(), Argument::Words(vec![1, 2, 3])],
            "argument 3 of a launch of small: it has 12 bytes where the kernel takes 8",
        ),
        (
            vec![b.clone(), a.clone(), b.clone()],
            "argument 1 of a launch of small: it is a value where the kernel takes a buffer",
        ),
        (
            vec![buffer(0), a.clone(), buffer(0)],
            "argument 3 of a launch of small: it is a buffer where the kernel takes a value",
        ),
        (
            vec![buffer(5), a.clone(), b.clone()],
            "argument 1 of a launch of small: there is no buffer 5",
        ),
    ] {
        match launched(text, &[1], 1, 1, arguments) {
            Err(DeviceError::Invalid(what)) => assert_eq!(what, message),
            other => panic!("{message}: {other:?}"),
        }
    }
}

#[test]
fn broken_text_is_a_compile_error_in_the_compilers_words() {
    let errors = "nonsense;\n".repeat(100);
    for (text, word) in [
        (
            "extern \"C\" __global__ void small() { return undeclared_name; }",
            "undeclared_name",
        ),
        ("extern \"C\" __global__ void other() {}", "small"),
        ("#error out of cheese\n", "cheese"),
        ("#include <no_such_header.h>\n", "no_such_header"),
        (errors.as_str(), "nonsense"),
    ] {
        match opened(text) {
            Err(DeviceError::Compile { file, log, .. }) => {
                assert_eq!(file, "small.cu");
                assert!(log.contains(word) && log.contains("error"), "{log}");
                assert!(log.lines().count() <= 13 && log.len() < 2100, "{log}");
                assert!(!log.contains("assay-emulated-"), "{log}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn definitions_make_another_build_and_the_same_build_is_compiled_once() {
    let device = device();
    let mut source = setup_of(
        r#"extern "C" __global__ void small(u32 *out) { *out = VALUE; }"#,
        &[],
    )
    .source;
    source.defines = vec!["VALUE=3".to_owned()];
    let three = device.kernel(&source).unwrap();
    assert!(Arc::ptr_eq(&three, &device.kernel(&source).unwrap()));
    source.defines = vec!["VALUE=4".to_owned()];
    assert!(!Arc::ptr_eq(&three, &device.kernel(&source).unwrap()));
    source.defines.clear();
    assert!(matches!(device.kernel(&source), Err(DeviceError::Compile { .. })));
}

#[test]
fn a_session_outlives_its_device() {
    let text = r#"extern "C" __global__ void small(u32 *out) { *out = 1; }"#;
    assert_eq!(launched(text, &[1], 1, 1, vec![buffer(0)]).unwrap(), [[1]]);
}

fn lookup(cxx: Option<&str>, path: Option<&str>) -> Lookup {
    Lookup {
        cxx: cxx.map(Into::into),
        path: path.map_or_else(|| std::env::var_os("PATH"), |path| Some(path.into())),
    }
}

#[test]
fn a_missing_compiler_is_a_missing_tool() {
    let empty = tempfile::tempdir().unwrap();
    let nowhere = empty.path().to_str();
    for (cxx, path) in [
        (None, nowhere),
        (None, Some("")),
        (Some(" "), nowhere),
        (Some("no-such-compiler"), None),
        (Some("no-such-compiler with arguments"), None),
        (Some("./no/such/compiler"), None),
        (nowhere, None),
        (Some("false"), None),
    ] {
        match Emulated::with(&lookup(cxx, path), std::env::temp_dir()) {
            Err(DeviceError::MissingTool { how, .. }) => assert!(how.contains("install g++"), "{how}"),
            Err(other) => panic!("{cxx:?}: {other}"),
            Ok(device) => panic!("{cxx:?}: found {}", device.info().name),
        }
    }
}

#[test]
fn a_compiler_with_arguments_is_used_with_them() {
    let device = Emulated::with(&lookup(Some("env g++ -DVALUE=9"), None), std::env::temp_dir()).unwrap();
    assert!(device.info().name.contains("g++"), "{}", device.info().name);
    let session = device.open(&setup_of(
        r#"extern "C" __global__ void small(u32 *out) { *out = VALUE; }"#,
        &[],
    ));
    assert!(
        session
            .unwrap()
            .build()
            .compiler
            .as_deref()
            .is_some_and(|compiler| compiler.contains("g++"))
    );
}

#[test]
fn a_compiler_that_compiles_nothing_and_a_closed_directory_make_the_device_unusable() {
    let setup = setup_of("extern \"C\" __global__ void small() {}", &[]);
    let open = |lookup: &Lookup, temporary: PathBuf| {
        Emulated::with(lookup, temporary)
            .unwrap()
            .open(&setup)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    let nothing = open(&lookup(Some("echo"), None), std::env::temp_dir());
    assert!(
        nothing.starts_with("no usable device emulated: ") && nothing.contains("no shared object"),
        "{nothing}"
    );
    let closed = open(&lookup(None, None), Path::new("/no/such/directory").to_owned());
    assert!(
        closed.contains("/no/such/directory") && closed.contains("TMPDIR"),
        "{closed}"
    );
}

#[test]
fn the_compiler_is_named_in_the_device_and_in_the_build() {
    let device = device();
    let info = device.info();
    assert_eq!((info.id.as_str(), info.kind), ("emulated", DeviceKind::Emulated));
    let session = device
        .open(&setup_of("extern \"C\" __global__ void small() {}", &[]))
        .unwrap();
    let compiler = session.build().compiler.clone().unwrap();
    assert!(
        info.name.ends_with(&compiler) && compiler.contains(|c: char| c.is_ascii_digit()),
        "{compiler}"
    );
}
