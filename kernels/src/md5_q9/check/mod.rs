//! The checks that prove a variant.

mod agreement;
mod overflow;
mod planted;
mod rows;
mod trace;
mod vectors;

pub use agreement::AgreementCheck;
pub use overflow::OverflowCheck;
pub use planted::PlantedCheck;
pub use rows::ORDER_LAYER;
pub use trace::TraceCheck;
pub use vectors::VectorFile;
