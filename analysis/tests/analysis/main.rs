//! The crate from outside, by its public interface.

mod docs;
mod energy;
mod readers;
mod record;
mod report;
mod sample;
mod summary;
