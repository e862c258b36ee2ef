//! `hits.csv`.

use crate::columns::table;

table! {
    /// Every hit, as a complete message that `md5sum` confirms.
    pub struct HitRow in "hits.csv" {
        /// The trial (as in runs.csv) in which it was found; empty in a search.
        pub trial: Option<u32>,
        /// Label of the variant that found it.
        pub variant: String,
        /// The base (as in bases.csv) it belongs to, if it has one.
        pub base: Option<u64>,
        /// The whole message, hex, prefix included: 64 bytes a prefix block and 52 bytes.
        pub message_hex: String,
        /// Its MD5, 32 hex digits.
        pub digest: String,
        /// Leading zero hex digits of the digest, 0..32.
        pub zeros_hex: u32,
        /// Leading zero bits of the digest as printed, 0..128.
        pub zeros_bits: u32,
    }
}
