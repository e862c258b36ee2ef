//! What can go wrong with a device.

use crate::memory::NoMemory;

/// Why a device could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// There is no such device here: exit code 3.
    #[error("no usable device {id}: {why}")]
    Unusable {
        /// The device that was asked for.
        id: String,
        /// Why, and how to get it.
        why: String,
    },
    /// A tool or library is missing: exit code 3.
    #[error("{tool} is missing: {how}")]
    MissingTool {
        /// What is missing.
        tool: String,
        /// How to get it.
        how: String,
    },
    /// The text does not compile.
    #[error("{file} does not compile for {target}: {log}")]
    Compile {
        /// The source file's name.
        file: String,
        /// What it was compiled for.
        target: String,
        /// The compiler's own words.
        log: String,
    },
    /// The text uses something that this device cannot express.
    #[error("{file} cannot run on {target}: it uses {what}")]
    Unsupported {
        /// The source file's name.
        file: String,
        /// The device.
        target: String,
        /// What it uses.
        what: String,
    },
    /// The variant asks for something that this device has no code for: exit code 2.
    #[error("{file} cannot run on {target}: {what}")]
    NoCode {
        /// The source file's name.
        file: String,
        /// The device.
        target: String,
        /// The key of the variant's file, and what there is code for.
        what: String,
    },
    /// The driver reports an error; on a launch error every later call fails too.
    #[error("{call} failed on {id} with code {code} ({name})")]
    Driver {
        /// The device.
        id: String,
        /// The driver's function, and the kernel's name where it was a launch.
        call: String,
        /// The driver's code.
        code: u32,
        /// What the code is called.
        name: String,
    },
    /// The host has not the memory that buffers need: exit code 3.
    #[error("the buffers do not fit: {0}")]
    Memory(#[from] NoMemory),
    /// A launch or a buffer that does not fit together: a fault of this program.
    #[error("{0}")]
    Invalid(String),
}
