//! The crate from outside, by its public interface.

mod accuracy;
mod checks;
mod compare;
mod docs;
mod energy;
mod readers;
mod record;
mod report;
mod sample;
mod stages;
mod summary;
mod tune;
