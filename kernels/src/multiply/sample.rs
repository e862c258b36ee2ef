//! What seeded elements of a product show of its error.

/// Elements that the host computed anew, without any rounding. Errors are distances of finite elements from the exact ones.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sample {
    /// How many.
    pub elements: u64,
    /// Those of them beyond the largest double, which have no distance from anything.
    pub beyond: u64,
    /// The largest error.
    pub error: f64,
    /// The element whose error is the largest part of its element of |A| |B|; `None` where all of those are 0.
    pub worst: Option<Worst>,
    /// The largest error / |A| |B|, of each error what is beyond half the smallest subnormal: that a rounding may cost, whatever the
    /// accuracy.
    pub above_underflow: f64,
    /// Mean of error / |A| |B| over elements where that is not 0.
    pub mean: f64,
    /// The largest error relative to the exact element, among those that are not 0.
    pub relative: f64,
}

/// An element with its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Worst {
    /// Row, from 0.
    pub row: usize,
    /// Column, from 0.
    pub col: usize,
    /// How far it is from the exact one.
    pub error: f64,
    /// Its element of |A| |B|: the sum of its products' magnitudes, above 0.
    pub magnitude: f64,
    /// error / magnitude, formed before either is rounded to a double.
    pub ratio: f64,
}

impl Sample {
    /// The largest error / |A| |B|; 0 where all of those are 0.
    pub fn error_to_magnitude(&self) -> f64 {
        self.worst.map_or(0.0, |worst| worst.ratio)
    }
}
