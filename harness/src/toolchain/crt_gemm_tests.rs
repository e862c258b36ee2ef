//! The tensor-core kernels of crt-gemm through the real compiler: what they become, without a card to run them on.

use std::path::Path;

use assay_kernels::family::{DeviceKind, ValidationPlan, family};

use super::{Arch, CubinCache, ToolError, real};

const PLAN: ValidationPlan = ValidationPlan {
    seed: 1,
    device: DeviceKind::Cuda,
    whole_base: false,
};

#[test]
fn they_use_tensor_cores_and_asynchronous_copies_and_what_is_timed_spills_nothing() {
    let Some(tools) = real::tools(CubinCache::none()) else {
        return;
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../variants/crt-gemm");
    let family = family("crt-gemm").unwrap();
    for name in [
        "mma",
        "s8s8s32-128x128",
        "s8s8s32-128x256",
        "moduli-mma",
        "moduli-mma-fast",
    ] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
        let variant = family.variant(name, &text).unwrap();
        // The first check is that of a trace build, where there is one.
        let traced = variant.checks(&PLAN)[0].setup().source;
        for arch in [80, 90].map(Arch::number) {
            let timed = variant.source();
            for source in [&timed, &traced] {
                let cubin = tools.build(source, arch).unwrap();
                assert!(
                    *source != timed || cubin.build.spills == Some(0),
                    "{name} on {arch}"
                );
                let listing = tools.nvdisasm().unwrap().listing(&cubin.bytes, arch).unwrap();
                for opcode in ["IMMA.16832.S8.S8", "LDGSTS", "LDSM"] {
                    assert!(listing.contains(opcode), "{name} on {arch} has no {opcode}");
                }
            }
        }
    }
}

#[test]
fn the_conversions_of_every_bound_spill_nothing() {
    let Some(tools) = real::tools(CubinCache::none()) else {
        return;
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../variants/crt-gemm");
    for name in ["moduli-naive", "moduli-naive-fast", "moduli-naive-norms"] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
        let variant = family("crt-gemm").unwrap().variant(name, &text).unwrap();
        let traced = variant.checks(&PLAN)[0].setup().source;
        for arch in [80, 90].map(Arch::number) {
            for source in [&variant.source(), &traced] {
                let cubin = tools.build(source, arch).unwrap();
                assert_eq!(cubin.build.spills, Some(0), "{name} on {arch}");
            }
        }
    }
}

#[test]
fn the_kernel_by_warpgroups_is_built_for_hopper_and_refused_elsewhere() {
    let Some(tools) = real::tools(CubinCache::none()) else {
        return;
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../variants/crt-gemm");
    for name in [
        "moduli-wgmma",
        "moduli-wgmma-14",
        "moduli-wgmma-15",
        "moduli-wgmma-accurate",
    ] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
        let variant = family("crt-gemm").unwrap().variant(name, &text).unwrap();
        let timed = variant.source();
        let traced = variant.checks(&PLAN)[0].setup().source;
        for source in [&timed, &traced] {
            let cubin = tools.build(source, Arch::number(90)).unwrap();
            assert_eq!(cubin.build.spills, Some(0));
            let listing = tools.nvdisasm().unwrap();
            let listing = listing.listing(&cubin.bytes, Arch::number(90)).unwrap();
            for opcode in ["IGMMA.64x256x32.U8.U8", "UBLKCP", "SYNCS"] {
                assert!(listing.contains(opcode), "{name} has no {opcode}");
            }
            let theorem = "IMMA.16832.U8.U8";
            assert!(listing.contains(theorem), "{name} has no {theorem}");
        }
        for arch in [80, 100].map(Arch::number) {
            let refused = tools.build(&timed, arch).unwrap_err();
            assert!(matches!(refused, ToolError::OtherArch { .. }), "{refused}");
            assert!(refused.to_string().contains("sm_90a"), "{refused}");
        }
    }
}
