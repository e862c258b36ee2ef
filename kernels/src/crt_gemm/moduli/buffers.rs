//! The buffers of a product by N moduli.

use crate::crt_gemm::kernel::{POISON, STALE, UNFORMED};
use crate::crt_gemm::problem::Side;
use crate::workload::BufferId;

/// The buffers, in the order of their indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A or B as doubles.
    Values(Side),
    /// For each line, a power of two above its magnitudes.
    Tops(Side),
    /// For each line and block of neighbours along K, a norm as the kernels pack it, of `blocks`.
    Norms(Side),
    /// The magnitudes rounded up, a byte each, of `accurate`; a byte for each norm, of `blocks`.
    Magnitudes(Side),
    /// For each line, u or w: 64 bits.
    Bounds(Side),
    /// For each line, the exponent of its scaling.
    Exponents(Side),
    /// The residues: a plane of bytes for each modulus.
    Residues(Side),
    /// For each modulus and element, the product's remainder: a byte.
    Remainders,
    /// The result.
    C,
    /// Why the product is refused, or 0.
    Status,
    /// Trace: the integers, 128 bits each.
    Integers(Side),
    /// Trace: 32-bit sums for each modulus and element.
    Accumulators,
    /// Trace: the sums that the theorem gives back, 192 bits each.
    Sums,
}

impl Place {
    /// All of them, in data-flow order but for the traces.
    pub const ALL: [Place; 21] = [
        Place::Values(Side::A),
        Place::Values(Side::B),
        Place::Tops(Side::A),
        Place::Tops(Side::B),
        Place::Norms(Side::A),
        Place::Norms(Side::B),
        Place::Magnitudes(Side::A),
        Place::Magnitudes(Side::B),
        Place::Bounds(Side::A),
        Place::Bounds(Side::B),
        Place::Exponents(Side::A),
        Place::Exponents(Side::B),
        Place::Residues(Side::A),
        Place::Residues(Side::B),
        Place::Remainders,
        Place::C,
        Place::Status,
        Place::Integers(Side::A),
        Place::Integers(Side::B),
        Place::Accumulators,
        Place::Sums,
    ];

    /// Its buffer.
    pub fn id(self) -> BufferId {
        let of = |first: usize, side: Side| first + side as usize;
        BufferId(match self {
            Place::Values(side) => of(0, side),
            Place::Tops(side) => of(2, side),
            Place::Norms(side) => of(4, side),
            Place::Magnitudes(side) => of(6, side),
            Place::Bounds(side) => of(8, side),
            Place::Exponents(side) => of(10, side),
            Place::Residues(side) => of(12, side),
            Place::Remainders => 14,
            Place::C => 15,
            Place::Status => 16,
            Place::Integers(side) => of(17, side),
            Place::Accumulators => 19,
            Place::Sums => 20,
        })
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        let of = |a, b, side| match side {
            Side::A => a,
            Side::B => b,
        };
        match self {
            Place::Values(side) => of("A", "B", side),
            Place::Tops(side) => of("tops of A", "tops of B", side),
            Place::Norms(side) => of("norms of A", "norms of B", side),
            Place::Magnitudes(side) => of("magnitudes of A", "magnitudes of B", side),
            Place::Bounds(side) => of("bounds of A", "bounds of B", side),
            Place::Exponents(side) => of("exponents of A", "exponents of B", side),
            Place::Residues(side) => of("residues of A", "residues of B", side),
            Place::Remainders => "remainders",
            Place::C => "C",
            Place::Status => "status",
            Place::Integers(side) => of("integers of A", "integers of B", side),
            Place::Accumulators => "accumulators",
            Place::Sums => "sums",
        }
    }

    /// What it holds before it is written.
    pub fn fill(self) -> u32 {
        match self {
            Place::Values(_) => 0,
            Place::C => STALE,
            Place::Integers(_) | Place::Accumulators | Place::Sums => UNFORMED,
            _ => POISON,
        }
    }

    /// Whether only a trace build writes it.
    pub fn is_trace(self) -> bool {
        self.fill() == UNFORMED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_buffer_has_the_place_that_it_is_listed_at() {
        for (place, buffer) in Place::ALL.into_iter().enumerate() {
            assert_eq!(buffer.id(), BufferId(place), "{}", buffer.name());
        }
    }
}
