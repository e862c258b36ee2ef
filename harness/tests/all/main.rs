//! Tests of the program as a user runs it.

mod accuracy;
mod bad_files;
mod bad_input;
mod commands;
mod crt_gemm;
mod cuda_driver;
mod full_stdout;
mod gemm;
mod gemm_refusals;
mod interrupt;
mod npy;
mod program;
mod sass_tables;
mod tune;
mod validation_record;
