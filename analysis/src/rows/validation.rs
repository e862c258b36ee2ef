//! `validation.tsv`.

use crate::{Hex32, columns::table};

table! {
    /// MD5 candidates for re-checking outside: Q9 and digest as the device computed them, the message words as the host did. Words are 8 hex digits.
    pub struct ValidationRow in "validation.tsv" {
        /// The base (as in bases.csv).
        pub base: u64,
        /// Q9, which makes the candidate.
        pub q9: Hex32,
        /// Message word 8.
        pub m8: Hex32,
        /// Message word 9.
        pub m9: Hex32,
        /// Message word 12.
        pub m12: Hex32,
        /// MD5 of the message, 32 hex digits.
        pub digest: String,
    }
}
