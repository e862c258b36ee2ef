//! The crate from outside, by its public interface.

mod docs;
mod readers;
mod record;
mod sample;
mod summary;
