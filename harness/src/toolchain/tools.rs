//! The CUDA tools as one thing: found when first needed, with the cache in front of the compiler.

use std::cell::OnceCell;
use std::path::PathBuf;

use assay_kernels::workload::Source;

use super::error::HOW_TO_GET;
use super::loader::{Loader, SystemLoader};
use super::locate::{NVDISASM, NVRTC, Wanted};
use super::nvrtc::Compiled;
use super::{
    Arch, CacheRead, CubinCache, Found, Nvdisasm, Nvrtc, Origin, Places, Resources, ToolError, ToolFlags,
    cache,
};
use crate::device::BuildInfo;

/// A compiled kernel.
#[derive(Debug, Clone)]
pub struct Cubin {
    /// The machine code.
    pub bytes: Vec<u8>,
    /// Hashes, registers, spills and compiler.
    pub build: BuildInfo,
}

/// NVRTC, nvdisasm and the cubin cache.
pub struct Toolchain {
    places: Places,
    loader: Box<dyn Loader>,
    cache: CubinCache,
    warn: Box<dyn Fn(&str)>,
    nvrtc: OnceCell<Nvrtc>,
    nvdisasm: OnceCell<Nvdisasm>,
}

impl Toolchain {
    /// The one of this process: its environment, the system's loader, the user's cache, warnings on stderr.
    pub fn of_process(flags: &ToolFlags) -> Toolchain {
        let warn = |what: &str| eprintln!("assay: {what}");
        Toolchain::new(
            Places::of_process(flags),
            Box::new(SystemLoader),
            CubinCache::of_user(),
            Box::new(warn),
        )
    }

    /// One with everything given.
    pub fn new(
        places: Places,
        loader: Box<dyn Loader>,
        cache: CubinCache,
        warn: Box<dyn Fn(&str)>,
    ) -> Toolchain {
        Toolchain {
            places,
            loader,
            cache,
            warn,
            nvrtc: OnceCell::new(),
            nvdisasm: OnceCell::new(),
        }
    }

    /// The cubin cache.
    pub fn cache(&self) -> &CubinCache {
        &self.cache
    }

    /// The compiler, found and loaded when first asked for.
    ///
    /// # Errors
    /// When there is none that works.
    pub fn nvrtc(&self) -> Result<&Nvrtc, ToolError> {
        if let Some(nvrtc) = self.nvrtc.get() {
            return Ok(nvrtc);
        }
        let mut candidates = self.places.candidates(&NVRTC)?;
        let by_name = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];
        candidates.extend(by_name.map(|name| Found {
            path: PathBuf::from(name),
            origin: Origin::LoaderPath,
        }));
        let nvrtc = self.first_that_loads(&NVRTC, candidates, |found| {
            Nvrtc::load(self.loader.as_ref(), found)
        })?;
        Ok(self.nvrtc.get_or_init(|| nvrtc))
    }

    /// The disassembler, found and asked for its version when first asked for.
    ///
    /// # Errors
    /// When there is none that runs.
    pub fn nvdisasm(&self) -> Result<&Nvdisasm, ToolError> {
        if let Some(nvdisasm) = self.nvdisasm.get() {
            return Ok(nvdisasm);
        }
        let mut candidates = self.places.candidates(&NVDISASM)?;
        candidates.extend(self.places.on_path(&NVDISASM));
        let nvdisasm = self.first_that_loads(&NVDISASM, candidates, Nvdisasm::load)?;
        Ok(self.nvdisasm.get_or_init(|| nvdisasm))
    }

    /// Take the first candidate that works. One that was found as a file and does not work is worth a warning; when
    /// none works, it is the error.
    fn first_that_loads<T>(
        &self,
        wanted: &Wanted,
        candidates: Vec<Found>,
        load: impl Fn(Found) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        let mut broken: Option<ToolError> = None;
        for found in candidates {
            let bare_name = !found.path.is_absolute();
            match load(found) {
                Ok(tool) => {
                    if let Some(error) = broken {
                        (self.warn)(&format!("passed over: {error}"));
                    }
                    return Ok(tool);
                }
                // The loader does not know the name: nothing is there that could be broken.
                Err(_) if bare_name => {}
                Err(error) => broken = broken.or(Some(error)),
            }
        }
        Err(broken.unwrap_or_else(|| ToolError::Missing {
            tool: wanted.tool,
            looked: self.places.looked(wanted),
            how: HOW_TO_GET.to_string(),
        }))
    }

    /// Build `source` for `arch`, from the cache where it has it.
    ///
    /// # Errors
    /// When there is no compiler, or the text does not compile. A cache that cannot be used is only a warning.
    pub fn build(&self, source: &Source, arch: Arch) -> Result<Cubin, ToolError> {
        let nvrtc = self.nvrtc()?;
        nvrtc.check_arch(arch)?;
        let key = cache::key(source, nvrtc.version(), arch);
        let cached = match self.cache.read(&key) {
            CacheRead::Hit(resources, bytes) => Some((resources, bytes)),
            CacheRead::Miss => None,
            CacheRead::Damaged(what) => {
                (self.warn)(&format!("cubin cache: {what}; it is discarded and built again"));
                None
            }
        };
        let (resources, bytes) = match cached {
            Some(entry) => entry,
            None => {
                let compiled = nvrtc.compile(source, arch)?;
                let resources = Resources::of_entry(&compiled.log, source.entry);
                if let Err(error) = self.cache.write(&key, resources, &compiled.cubin) {
                    let folder = self.cache.folder().unwrap_or(std::path::Path::new("")).display();
                    (self.warn)(&format!(
                        "cubin cache {folder} cannot be written ({error}): this build is not kept"
                    ));
                }
                (resources, compiled.cubin)
            }
        };
        let build = BuildInfo {
            source_sha256: cache::source_sha256(source),
            cubin_sha256: Some(cache::sha256_hex(&bytes)),
            registers: resources.map(|resources| resources.registers),
            spills: resources.map(|resources| resources.spills),
            compiler: Some(format!("NVRTC {}", nvrtc.version())),
            library: None,
        };
        Ok(Cubin { bytes, build })
    }

    /// The PTX of `source` for `arch`. Never cached: nothing is run from it.
    ///
    /// # Errors
    /// When there is no compiler, or the text does not compile.
    pub fn ptx(&self, source: &Source, arch: Arch) -> Result<String, ToolError> {
        let Compiled { ptx, .. } = self.nvrtc()?.compile(source, arch)?;
        Ok(ptx)
    }
}

#[cfg(test)]
mod tests {
    use super::super::loader::fake::FakeLoader;
    use super::*;

    fn bare(places: Places) -> Toolchain {
        Toolchain::new(
            places,
            Box::new(FakeLoader::default()),
            CubinCache::none(),
            Box::new(|_| {}),
        )
    }

    #[test]
    fn a_machine_without_the_tools_is_told_where_they_were_sought_and_how_to_get_them() {
        let tools = bare(Places::default());
        for error in [tools.nvrtc().unwrap_err(), tools.nvdisasm().unwrap_err()] {
            assert_eq!(error.exit_code(), 3);
            let text = error.to_string();
            assert!(
                text.contains("scripts/setup-cuda") && text.contains("CUDA_HOME"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_library_that_is_there_but_does_not_load_is_the_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("libnvrtc.so.13"), b"not a library").unwrap();
        let tools = bare(Places {
            nvrtc_flag: Some(folder.path().to_path_buf()),
            ..Places::default()
        });
        let error = tools.nvrtc().unwrap_err().to_string();
        assert!(error.contains("libnvrtc.so.13 is not usable"), "{error}");
    }
}

#[cfg(test)]
pub(crate) mod real {
    //! The real tools, for tests: those of `.cuda/` or of the machine.

    use super::{CubinCache, Places, SystemLoader, ToolFlags, Toolchain};

    /// The tools, or `None` on a machine without them. Where they must be (`ASSAY_REQUIRE_CUDA_TOOLS=1`, which the test
    /// command sets) their absence fails the test instead of skipping it.
    pub(crate) fn tools(cache: CubinCache) -> Option<Toolchain> {
        let places = Places::of_process(&ToolFlags::default());
        let tools = Toolchain::new(places, Box::new(SystemLoader), cache, Box::new(|_| {}));
        let missing = tools.nvrtc().err().or_else(|| tools.nvdisasm().err());
        match missing {
            None => Some(tools),
            Some(error) if std::env::var_os("ASSAY_REQUIRE_CUDA_TOOLS").is_some_and(|value| value == "1") => {
                panic!("ASSAY_REQUIRE_CUDA_TOOLS=1 and {error}")
            }
            Some(_) => None,
        }
    }
}
