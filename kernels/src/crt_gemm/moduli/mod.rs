//! The scheme of N moduli: as many pairwise coprime numbers up to 256 as the wanted accuracy needs.
//!
//! Rows of A and columns of B are scaled by powers of two and rounded to integers, such that no sum of products reaches half
//! the product P of the moduli. The integers' residues fit 8 bits; N INT8 products give every sum
//! modulo each modulus, the Chinese remainder theorem gives the sum itself, and one rounding gives the double.

mod bounds;
mod buffers;
mod check;
mod choose;
mod confirm;
mod kernel;
mod launches;
mod limits;
mod multiplication;
mod multiplier;
mod norms;
mod numbers;
mod oracle;
mod scaling;
mod table;
mod text;
mod variant;

pub use choose::{choose, depth_limit, sums_fit};
pub use numbers::MAX_BITS;
pub use oracle::{Integers, crt, error_bound, integers, product};
pub use scaling::{Bound, Exponents, exponents};
pub use table::{ACCUMULATOR_DEPTH, MODULI, Residues, product_of};
pub use variant::ModuliVariant;
