//! The device itself: builds are kept, launches divided among the host's cores.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use assay_kernels::family::DeviceKind;
use assay_kernels::library::Library;
use assay_kernels::workload::{Launch, Setup, Source};
use rayon::prelude::*;

use super::arguments::Arguments;
use super::compiler::{Compiler, entries};
use super::library::LoadedKernel;
use super::lookup::Lookup;
use crate::device::host::{HostLaunch, HostSession};
use crate::device::{BuildInfo, Device, DeviceError, DeviceInfo, Session, source_sha256};

/// Threads that a block may have, as on every card.
const MOST_THREADS: u32 = 1024;

/// Pieces of a grid per core: enough that a slow piece does not leave the other cores idle for long.
const PIECES: usize = 8;

/// The CUDA text of variants, compiled for the host.
pub struct Emulated {
    info: DeviceInfo,
    compiler: Compiler,
    temporary: PathBuf,
    builds: Mutex<HashMap<BuildKey, Arc<LoadedKernel>>>,
}

/// What makes two builds the same. Options are for the card's compiler and change nothing here.
#[derive(PartialEq, Eq, Hash)]
struct BuildKey {
    text: String,
    defines: Vec<String>,
    entries: Vec<&'static str>,
}

impl Emulated {
    /// The device with the compiler that `$CXX` names, or else the first of g++, clang++ and c++ on the path.
    ///
    /// # Errors
    /// [`DeviceError::MissingTool`] when there is no compiler.
    pub fn new() -> Result<Emulated, DeviceError> {
        Emulated::with(&Lookup::from_environment(), std::env::temp_dir())
    }

    /// The device with the compiler that `lookup` finds, compiling under the directory `temporary`.
    pub(super) fn with(lookup: &Lookup, temporary: PathBuf) -> Result<Emulated, DeviceError> {
        let compiler = lookup.find()?;
        let info = DeviceInfo {
            id: "emulated".to_owned(),
            kind: DeviceKind::Emulated,
            name: format!("CUDA text compiled by {}", compiler.version),
            gpu: None,
        };
        Ok(Emulated {
            info,
            compiler,
            temporary,
            builds: Mutex::default(),
        })
    }

    /// The loaded build of `source`: compiled the first time, kept from then on. A failure is not kept.
    pub(super) fn kernel(&self, source: &Source) -> Result<Arc<LoadedKernel>, DeviceError> {
        let key = BuildKey {
            text: source.text.clone(),
            defines: source.defines.clone(),
            entries: entries(source).collect(),
        };
        // Held while compiling, so that two sessions of one build compile it once. Nothing in here leaves the table
        // half written, so it is good even after a panic.
        let mut builds = self.builds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = builds.get(&key) {
            return Ok(Arc::clone(kernel));
        }
        let object = self.compiler.compile(source, &self.temporary)?;
        let kernel = Arc::new(LoadedKernel::load(object, &key.entries)?);
        builds.insert(key, Arc::clone(&kernel));
        Ok(kernel)
    }
}

impl Device for Emulated {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn open(&self, setup: &Setup) -> Result<Box<dyn Session>, DeviceError> {
        let kernel = self.kernel(&setup.source)?;
        let build = BuildInfo {
            source_sha256: source_sha256(&setup.source),
            compiler: Some(self.compiler.version.clone()),
            library: setup
                .library
                .map(|_: Library| "cuBLAS played by plain loops on the host".to_owned()),
            ..BuildInfo::default()
        };
        let launcher = EmulatedLaunch { kernel };
        Ok(Box::new(HostSession::new(launcher, build, setup)?))
    }
}

struct EmulatedLaunch {
    kernel: Arc<LoadedKernel>,
}

impl HostLaunch for EmulatedLaunch {
    fn launch(&self, launch: &Launch, buffers: &mut [Vec<u32>]) -> Result<(), DeviceError> {
        let &Launch {
            entry,
            grid,
            block,
            shared_bytes,
            ..
        } = launch;
        if shared_bytes > 0 {
            return Err(DeviceError::Invalid(format!(
                "a launch of {entry} with shared memory, in which threads meet: emulated has none"
            )));
        }
        if !(1..=MOST_THREADS).contains(&block) {
            return Err(DeviceError::Invalid(format!(
                "a launch of {entry} with {block} threads a block: 1 to {MOST_THREADS} are allowed"
            )));
        }
        let kernel = self.kernel.entry(entry).ok_or_else(|| {
            DeviceError::Invalid(format!("a launch of {entry}, which the source does not name"))
        })?;
        let arguments = Arguments::lay_out(entry, &launch.arguments, kernel.parameters(), buffers)?;
        let piece = grid
            .div_ceil((rayon::current_num_threads() * PIECES) as u32)
            .max(1);
        (0..grid.div_ceil(piece)).into_par_iter().for_each(|index| {
            let first = index * piece;
            let last = first.saturating_add(piece).min(grid);
            // SAFETY: `lay_out` matched number, sizes and kinds with the kernel's own. The addresses among them are
            // those of `buffers`, borrowed exclusively until all pieces are done, and nothing in this program reads
            // or writes them meanwhile. That the kernel stays inside them, and that its threads meet in them only by
            // atomics or keep to words of their own, is the text's contract, on the card as here. The shim keeps
            // the thread's place per host thread, and a piece never yields to another on the same one.
            unsafe { kernel.run(first, last, grid, block, &arguments.addresses()) }
        });
        Ok(())
    }
}
