//! The `emulated` device: a variant's CUDA text, compiled by the host's C++ compiler behind a shim and run on host
//! buffers. It proves the text (indexing, loops, hit path, upload) on a machine without a GPU; its speed means nothing.

mod arguments;
mod compiler;
mod emulator;
mod library;
mod lookup;
mod refusal;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod variant_tests;

pub use emulator::Emulated;
