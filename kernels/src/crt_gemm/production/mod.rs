//! What a trial times: products of seeded matrices, over and over, of which seeded elements are held against the host.

mod multiplier;
mod places;
mod seeded_product;
mod spot;
mod timed;

pub use multiplier::{Element, Multiplier};
pub use places::{edge, places_of, repeats};
pub use spot::SpotCheck;
pub use timed::TimedProducts;
