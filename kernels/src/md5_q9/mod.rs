//! MD5 with thirteen free message words, searched for digests with leading zeros through the Q9 tunnel
//! (V. Klima, "Tunnels in hash functions: MD5 collisions within a minute", 2006, for the tunnel itself).

mod base;
mod check;
mod count;
mod describe;
mod family;
mod knobs;
mod machine;
mod md5;
mod mutate;
mod options;
mod order;
mod print;
mod production;
mod run;
mod source;
mod taint;
mod variant;
mod workload;

#[cfg(test)]
mod execute;
#[cfg(test)]
mod instruction_set_tests;
#[cfg(test)]
mod mutation_tests;
#[cfg(test)]
mod production_tests;
#[cfg(test)]
mod vector_tests;

pub use count::{Count, count};
pub use family::Md5Q9;
pub use machine::{Layer, Phase};
pub use mutate::Mutation;
pub use options::{CPU_STATES, Walk};
pub use run::{BARE_STATES, bare_chain};
pub use variant::Md5Variant;
