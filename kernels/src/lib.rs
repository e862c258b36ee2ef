//! Families of integer kernels: what there is to compute, the variants that compute it, the oracles that
//! know the answer, native host kernels and CUDA text. Knows no device and does no input or output.

pub mod crt_gemm;
pub mod family;
pub mod knob;
pub mod library;
pub mod loops;
pub mod md5_q9;
pub mod multiply;
pub mod native;
pub mod seeded;
pub mod workload;
