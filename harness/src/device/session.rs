//! The seam between what a workload asks for and who carries it out.

use assay_kernels::family::DeviceKind;
use assay_kernels::library::Library;
use assay_kernels::workload::{Batch, Outputs, Setup};

use super::DeviceError;

/// What a device is, for tables and the manifest.
#[derive(Debug, Clone)]
pub struct DeviceInfo {
    /// `cuda:0`, `cpu` or `emulated`.
    pub id: String,
    /// Which of the three it is.
    pub kind: DeviceKind,
    /// What a person calls it: a card's name, or the processor with its instruction set.
    pub name: String,
    /// Of a CUDA device only.
    pub gpu: Option<GpuInfo>,
}

/// What the driver says of a card.
#[derive(Debug, Clone)]
pub struct GpuInfo {
    /// `GPU-…`, as NVML writes it too.
    pub uuid: String,
    /// Compute capability: (9, 0) is `sm_90`.
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Version of CUDA that the driver speaks: 13000 is 13.0.
    pub driver_cuda: i32,
    /// Device memory in bytes.
    pub memory_bytes: u64,
}

/// What the compiler made of a variant.
#[derive(Debug, Clone, Default)]
pub struct BuildInfo {
    /// SHA-256 of the text with its definitions and options, in hex.
    pub source_sha256: String,
    /// SHA-256 of the cubin, in hex: the same SASS has the same hash.
    pub cubin_sha256: Option<String>,
    /// Registers a thread.
    pub registers: Option<u32>,
    /// Spilled bytes, loads and stores together.
    pub spills: Option<u32>,
    /// The compiler with its version.
    pub compiler: Option<String>,
    /// The vendor's library with its version, where the workload calls it.
    pub library: Option<String>,
}

/// One finished batch.
#[derive(Debug)]
pub struct Finished {
    /// Its index.
    pub index: u64,
    /// What its downloads brought.
    pub outputs: Outputs,
    /// Time that each of its launches and calls of the library took on the device, in seconds, in their order.
    pub launches_s: Vec<f64>,
}

/// A place where variants run.
pub trait Device {
    /// What it is.
    fn info(&self) -> &DeviceInfo;
    /// Why it has not the vendor's library; `None` where it has, or plays it.
    fn lacks(&self, library: Library) -> Option<String> {
        let _ = library;
        None
    }
    /// Build `setup` and allocate its buffers.
    ///
    /// # Errors
    /// When the text does not compile, or the buffers do not fit.
    fn open(&self, setup: &Setup) -> Result<Box<dyn Session>, DeviceError>;
}

/// A built workload with its buffers. Batches finish in the order in which they were submitted.
pub trait Session {
    /// What was built.
    fn build(&self) -> &BuildInfo;
    /// Start a batch, without waiting for it where the device can.
    ///
    /// # Errors
    /// When a step cannot be carried out.
    fn submit(&mut self, index: u64, batch: Batch) -> Result<(), DeviceError>;
    /// Wait for the oldest batch in flight; `None` when none is.
    ///
    /// # Errors
    /// When one of its steps failed.
    fn wait(&mut self) -> Result<Option<Finished>, DeviceError>;
}
