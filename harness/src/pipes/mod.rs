//! Pipes: what each machine instruction costs, measured on a card, and what that bounds.
//!
//! A [`Pattern`] is a loop of independent chains of one or a few instructions. Before it is timed its own machine code
//! is read: a row whose loop is not what its name says is refused by name.

mod kernel;
mod measure;
mod pattern;
mod rates;
mod record;
mod verify;

pub use measure::{Row, measure};
pub use pattern::PATTERNS;
pub use rates::{Bound, Limit, PipeRates};
pub use record::{PIPES_FILE, recorded};
