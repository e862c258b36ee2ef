//! What a search has found so far, and what chance would have given.

use assay_analysis::encode_hex;
use assay_analysis::stats::{expected_seconds_to_zeros, poisson_two_sided};
use assay_kernels::workload::{Collected, Hit};
use serde::Serialize;

use crate::zeros;

/// The message with the most leading zeros.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Best {
    /// Leading zero hex digits.
    pub zeros_hex: u32,
    /// Leading zero bits.
    pub zeros_bits: u32,
    /// The complete message.
    pub message_hex: String,
    /// Its digest.
    pub digest: String,
}

/// Counts of a search.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Tally {
    /// Candidates tried.
    pub candidates: u64,
    /// Seconds since the first one.
    pub elapsed_s: f64,
    /// Candidates per second.
    pub rate_units_per_s: f64,
    /// Hits, all of them confirmed by the host.
    pub hits: u64,
    /// Hits that chance would give.
    pub hits_expected: f64,
    /// Two-sided Poisson probability of a count at least so far from the expectation.
    pub hits_p_value: Option<f64>,
    /// The best hit.
    pub best: Option<Best>,
}

impl Tally {
    /// Add a batch that ended `elapsed_s` after the start.
    pub fn add(&mut self, collected: &Collected, elapsed_s: f64) {
        self.candidates += collected.units;
        self.elapsed_s = elapsed_s;
        self.rate_units_per_s = self.candidates as f64 / elapsed_s;
        self.hits += collected.hits.len() as u64;
        self.hits_expected += collected.hits_expected;
        self.hits_p_value = poisson_two_sided(self.hits, self.hits_expected).ok();
        for hit in &collected.hits {
            self.consider(hit);
        }
    }

    fn consider(&mut self, hit: &Hit) {
        let bits = zeros::bits(&hit.digest);
        if self.best.as_ref().is_none_or(|best| bits > best.zeros_bits) {
            self.best = Some(Best {
                zeros_hex: zeros::hex_digits(&hit.digest),
                zeros_bits: bits,
                message_hex: encode_hex(&hit.message),
                digest: encode_hex(hit.digest),
            });
        }
    }

    /// Leading zero hex digits of the best hit, 0 without one.
    pub fn zeros(&self) -> u32 {
        self.best.as_ref().map_or(0, |best| best.zeros_hex)
    }

    /// Seconds until one more zero than the best is to be expected, at this rate.
    pub fn seconds_to_next_zero(&self, zeros_tested: u32) -> Option<f64> {
        let next = (self.zeros() + 1).max(zeros_tested);
        expected_seconds_to_zeros(self.rate_units_per_s, next).ok()
    }
}
