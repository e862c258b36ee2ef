//! Tests with the real NVRTC and nvdisasm: no GPU needed.

use std::cell::RefCell;
use std::rc::Rc;

use assay_kernels::workload::Source;

use super::tools::real;
use super::{Arch, CacheRead, CubinCache, Places, SystemLoader, ToolError, ToolFlags, Toolchain};

const SM_90: Arch = Arch::number(90);

fn source(body: &str) -> Source {
    Source {
        file: "test.cu".into(),
        text: format!("extern \"C\" __global__ void test(unsigned* out, unsigned one) {{ {body} }}"),
        defines: vec!["VALUE=7u".into()],
        entry: "test",
        helpers: vec![],
        options: Vec::new(),
    }
}

#[test]
fn a_text_compiles_to_a_cubin_with_its_resources_and_the_cache_gives_it_back() {
    let folder = tempfile::tempdir().unwrap();
    let Some(tools) = real::tools(CubinCache::in_folder(folder.path().to_path_buf())) else {
        return;
    };
    let source = source("out[threadIdx.x] = one * VALUE;");
    let first = tools.build(&source, SM_90).unwrap();
    let second = tools.build(&source, SM_90).unwrap();
    assert!(first.bytes.starts_with(b"\x7fELF"));
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    assert_eq!(first.bytes, second.bytes);
    assert_eq!((first.build.spills, second.build.spills), (Some(0), Some(0)));
    assert!(
        first
            .build
            .registers
            .is_some_and(|registers| (4..64).contains(&registers))
    );
    assert_eq!(first.build.registers, second.build.registers);
    assert!(tools.nvrtc().unwrap().version().full.split('.').count() == 3);
    assert!(tools.ptx(&source, SM_90).unwrap().contains(".entry test"));
    assert!(
        tools
            .nvdisasm()
            .unwrap()
            .listing(&first.bytes, SM_90)
            .unwrap()
            .contains("EXIT")
    );
}

#[test]
fn a_damaged_entry_is_built_again_and_said() {
    let folder = tempfile::tempdir().unwrap();
    if real::tools(CubinCache::none()).is_none() {
        return;
    }
    let said = Rc::new(RefCell::new(Vec::new()));
    let heard = Rc::clone(&said);
    let tools = Toolchain::new(
        Places::of_process(&ToolFlags::default()),
        Box::new(SystemLoader),
        CubinCache::in_folder(folder.path().to_path_buf()),
        Box::new(move |what: &str| heard.borrow_mut().push(what.to_string())),
    );
    let source = source("out[0] = one;");
    let first = tools.build(&source, SM_90).unwrap();
    let entry = folder.path().read_dir().unwrap().next().unwrap().unwrap().path();
    std::fs::write(&entry, b"").unwrap();
    let second = tools.build(&source, SM_90).unwrap();
    assert_eq!(first.bytes, second.bytes);
    assert!(said.borrow()[0].contains("is empty; it is discarded"), "{said:?}");
    tools.build(&source, SM_90).unwrap();
    assert_eq!(said.borrow().len(), 1, "what was built again is kept");
}

#[test]
fn an_architecture_that_the_compiler_lacks_is_a_usage_error_that_lists_those_it_has() {
    let Some(tools) = real::tools(CubinCache::none()) else {
        return;
    };
    let error = tools.build(&source(""), Arch::number(61)).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    let text = error.to_string();
    assert!(
        text.starts_with("--arch sm_61") && text.contains("sm_75") && text.contains("sm_120"),
        "{text}"
    );
}

#[test]
fn a_text_that_does_not_compile_shows_the_line_and_is_not_cached() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CubinCache::in_folder(folder.path().to_path_buf());
    let Some(tools) = real::tools(cache) else {
        return;
    };
    let error = tools.build(&source("out[0] = nonsense;"), SM_90).unwrap_err();
    assert!(
        matches!(&error, ToolError::Compile { log, .. } if log.contains("test.cu(1)") && log.contains("nonsense"))
    );
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

#[test]
fn many_writers_and_readers_of_one_entry_see_it_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let cubin: Vec<u8> = (0..100_000u32).map(|i| (i % 251) as u8).collect();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let cache = CubinCache::in_folder(folder.path().to_path_buf());
                for _ in 0..20 {
                    cache.write("k", None, &cubin).unwrap();
                    assert_eq!(cache.read("k"), CacheRead::Hit(None, cubin.clone()));
                }
            });
        }
    });
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
}
