//! The library's own FP64 product: what the schemes are held against in speed. It forms one layer, the result, and promises
//! no bits of it: an element is right where it is as near to the exact one as K roundings allow.

mod check;
mod kernel;
mod multiplication;
mod multiplier;
mod variant;

pub use kernel::source;
pub use variant::NativeVariant;
