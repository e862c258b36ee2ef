//! `bases.csv`.

use crate::{Hex32, columns::table};

table! {
    /// The fixed words of each MD5 base, once, so that a candidate is its base and its Q9. Q[t+1] is the output of step t.
    pub struct BaseRow in "bases.csv" {
        /// Number of the base, unique in the record.
        pub base: u64,
        /// Q1, the output of step 0.
        pub q1: Hex32,
        /// Q2.
        pub q2: Hex32,
        /// Q3.
        pub q3: Hex32,
        /// Q4.
        pub q4: Hex32,
        /// Q5.
        pub q5: Hex32,
        /// Q6.
        pub q6: Hex32,
        /// Q7.
        pub q7: Hex32,
        /// Q8.
        pub q8: Hex32,
        /// Q10.
        pub q10: Hex32,
        /// Q11.
        pub q11: Hex32,
        /// Q12.
        pub q12: Hex32,
        /// Q13, the output of step 12.
        pub q13: Hex32,
        /// Word A of the chaining value in front of the block (MD5's initial value without a prefix).
        pub a0: Hex32,
        /// Word B of it.
        pub b0: Hex32,
        /// Word C of it.
        pub c0: Hex32,
        /// Word D of it.
        pub d0: Hex32,
        /// Number of 64-byte blocks in front of the block.
        pub prefix_blocks: u64,
        /// The record's file that holds those blocks; empty if there are none or they are not kept.
        pub prefix_file: Option<String>,
    }
}
