//! What a family hands the harness to run: a workload.
//!
//! A workload says what to build and which buffers to make ([`Setup`]), what to do in what order ([`Batch`]),
//! and reads what came back ([`Workload::collect`]). It knows no device: `cpu`, `emulated` and `cuda:N` all
//! execute the same steps on buffers of 32-bit words.

use std::sync::Arc;

use crate::family::BaseWords;
use crate::library::{Gemm, Library};
use crate::native::NativeKernel;

/// Index of a buffer in [`Setup::buffers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub usize);

/// A device buffer of 32-bit words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    /// Name for messages.
    pub name: &'static str,
    /// Number of 32-bit words.
    pub words: usize,
    /// The word that fills it before the first batch.
    pub fill: u32,
}

/// The CUDA text of a variant and how to compile it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// File name shown in compiler messages, such as `md5-q9-v4.cu`.
    pub file: String,
    /// The whole text: it includes nothing.
    pub text: String,
    /// Preprocessor definitions, as `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Name of the `extern "C" __global__` function that the work is in: the one that an account of the machine code is of.
    pub entry: &'static str,
    /// Further ones that a launch may name, such as one that prepares the buffers.
    pub helpers: Vec<&'static str>,
    /// Further compiler options that the variant asks for, such as `--maxrregcount=64`.
    pub options: Vec<String>,
}

/// All that has to exist before the first batch.
#[derive(Clone)]
pub struct Setup {
    /// The CUDA text.
    pub source: Source,
    /// The same computation as a native host kernel, where the family has one.
    pub native: Option<Arc<dyn NativeKernel>>,
    /// The vendor's library that a [`Step::Gemm`] calls, where a batch has any.
    pub library: Option<Library>,
    /// The buffers, addressed by [`BufferId`].
    pub buffers: Vec<Buffer>,
}

impl Setup {
    /// Bytes of all buffers together; the largest number where there are more.
    pub fn bytes(&self) -> u64 {
        let of = |buffer: &Buffer| (buffer.words as u64).saturating_mul(4);
        self.buffers.iter().map(of).fold(0, u64::saturating_add)
    }
}

/// One argument of a launch, in the order of the kernel's parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// A 32-bit word.
    U32(u32),
    /// A 64-bit word.
    U64(u64),
    /// A structure of 32-bit words, passed by value.
    Words(Vec<u32>),
    /// The address of a buffer.
    Buffer(BufferId),
}

/// One launch of a kernel: a one-dimensional grid of one-dimensional blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Which kernel: [`Source::entry`] or one of [`Source::helpers`].
    pub entry: &'static str,
    /// Blocks in the grid.
    pub grid: u32,
    /// Threads in a block.
    pub block: u32,
    /// Bytes of shared memory that a block gets beyond what the text declares.
    pub shared_bytes: u32,
    /// Arguments in the order of the kernel's parameters.
    pub arguments: Vec<Argument>,
}

/// One step of a batch. The steps of a batch run in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Copy words from the host to the start of a buffer.
    Upload {
        /// Where to.
        buffer: BufferId,
        /// What.
        words: Vec<u32>,
    },
    /// Set the first `words` words of a buffer to `value`.
    Clear {
        /// Which buffer.
        buffer: BufferId,
        /// How many words, from its start.
        words: usize,
        /// The value.
        value: u32,
    },
    /// Launch a kernel.
    Launch(Launch),
    /// Multiply by [`Setup::library`]; a device on the host plays it by plain loops.
    Gemm(Gemm),
    /// Copy the first `words` words of a buffer to the host: one entry of [`Outputs`].
    Download {
        /// Which buffer.
        buffer: BufferId,
        /// How many words, from its start.
        words: usize,
    },
}

impl Step {
    /// What takes time on the device in it: a kernel's name, or what the library is called for.
    pub fn stage(&self) -> Option<&'static str> {
        match self {
            Step::Launch(launch) => Some(launch.entry),
            Step::Gemm(gemm) => Some(gemm.stage),
            Step::Upload { .. } | Step::Clear { .. } | Step::Download { .. } => None,
        }
    }
}

/// A piece of work that is submitted at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Its steps, in order.
    pub steps: Vec<Step>,
    /// Units of the family (candidates, multiply-adds) that it computes.
    pub units: u64,
}

/// What the downloads of a batch brought, in the order of its [`Step::Download`]s.
pub type Outputs = Vec<Vec<u32>>;

/// Something that the host could not confirm. It ends the run: exit code 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// More hits than the buffer holds: some are lost, so none counts.
    #[error(
        "{found} hits in a buffer for {capacity}: the batch is rejected, raise the capacity or narrow the test"
    )]
    Overflow {
        /// How many the kernel counted.
        found: u64,
        /// How many the buffer can hold.
        capacity: u64,
    },
    /// A reported hit that the host's own computation does not bear out.
    #[error("batch {batch}: reported candidate {candidate} is not confirmed by the host: {what}")]
    Unconfirmed {
        /// Index of the batch.
        batch: u64,
        /// The candidate, in the family's words.
        candidate: String,
        /// What differs.
        what: String,
    },
    /// The outputs do not have the shape that the steps ask for.
    #[error("batch {batch}: {what}")]
    Malformed {
        /// Index of the batch.
        batch: u64,
        /// What is wrong with them.
        what: String,
    },
}

/// A hit: a complete message whose digest the host has recomputed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The base that it came from.
    pub base: BaseWords,
    /// The whole message, prefix included.
    pub message: Vec<u8>,
    /// Its digest, recomputed on the host from `message`.
    pub digest: [u8; 16],
}

/// What one batch yielded, once the host has confirmed it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Collected {
    /// Units computed.
    pub units: u64,
    /// Number of the base that they belong to, for families with bases.
    pub base: Option<u64>,
    /// Confirmed hits.
    pub hits: Vec<Hit>,
    /// How many hits chance alone would give.
    pub hits_expected: f64,
}

/// A sequence of batches and how to read what they bring back.
///
/// Batches are prepared and collected in order, but a device keeps several in flight: batch `i + 1` is asked
/// for before batch `i` is collected.
pub trait Workload: Send {
    /// What to build and allocate.
    fn setup(&self) -> Setup;
    /// Batch number `index`, or `None` when there is nothing left.
    fn batch(&mut self, index: u64) -> Option<Batch>;
    /// Read and confirm the outputs of batch `index`.
    ///
    /// # Errors
    /// A [`Fault`] when the outputs are not what the host can confirm.
    fn collect(&mut self, index: u64, outputs: Outputs) -> Result<Collected, Fault>;
}
