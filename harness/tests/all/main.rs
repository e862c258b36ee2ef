//! Tests of the program as a user runs it.

mod cuda_driver;
mod sass_tables;
