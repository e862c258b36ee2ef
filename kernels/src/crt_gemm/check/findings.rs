//! What a check found so far.

use crate::family::{Difference, Verdict};

/// The layers of all schemes, in the order in which data flows.
pub const LAYERS: [&str; 9] = [
    "magnitude",
    "bound",
    "exponent",
    "split",
    "residue",
    "accumulator",
    "mod",
    "crt",
    "scale",
];

/// The layers that a scheme does not form, of which it forms `formed`.
pub fn not_formed_but(formed: &[&str]) -> Vec<String> {
    LAYERS
        .iter()
        .filter(|layer| !formed.contains(layer))
        .map(|&layer| layer.to_owned())
        .collect()
}

/// A verdict in the making: of all differences the first in the order of the layers stays.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    verdict: Verdict,
}

impl Findings {
    /// Compare values of a layer one by one. `name` says which value one is, `show` what it is.
    pub fn compare<T: PartialEq>(
        &mut self,
        layer: &'static str,
        got: impl IntoIterator<Item = T>,
        expected: impl IntoIterator<Item = T>,
        name: impl Fn(usize) -> String,
        show: impl Fn(&T) -> String,
    ) {
        let (mut got, mut expected) = (got.into_iter(), expected.into_iter());
        for place in 0.. {
            let pair = (got.next(), expected.next());
            match &pair {
                (None, None) => break,
                (Some(got), Some(expected)) if got == expected => {}
                (got, expected) => {
                    let show = |value: &Option<T>| value.as_ref().map_or_else(|| "nothing".to_owned(), &show);
                    self.differs(layer, || (name(place), show(got), show(expected)));
                }
            }
            self.verdict.checked += 1;
        }
    }

    /// Note one value, and where it does not hold which it is, what it is, and what it should be.
    pub fn holds(
        &mut self,
        layer: &'static str,
        holds: bool,
        words: impl FnOnce() -> (String, String, String),
    ) {
        self.verdict.checked += 1;
        if !holds {
            self.differs(layer, words);
        }
    }

    /// Note a difference: which value, what it is, and what it should be.
    pub fn differs(&mut self, layer: &'static str, words: impl FnOnce() -> (String, String, String)) {
        self.verdict.mismatches += 1;
        let place = |layer: &str| {
            LAYERS
                .iter()
                .position(|known| *known == layer)
                .unwrap_or(LAYERS.len())
        };
        if self
            .verdict
            .first
            .as_ref()
            .is_some_and(|first| place(&first.layer) <= place(layer))
        {
            return;
        }
        let (candidate, got, expected) = words();
        self.verdict.first = Some(Difference {
            layer: layer.to_owned(),
            candidate,
            got,
            expected,
        });
    }

    /// Note so many values that the variant does not cover.
    pub fn not_covered(&mut self, count: u64) {
        self.verdict.not_covered += count;
    }

    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        self.verdict.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_layer_stays_whatever_the_order_of_finding() {
        let mut findings = Findings::default();
        let mut compare = |layer, got: &[i32], expected: &[i32]| {
            findings.compare(
                layer,
                got.to_vec(),
                expected.to_vec(),
                |i| format!("#{i}"),
                |v| v.to_string(),
            );
        };
        compare("crt", &[1, 2, 3], &[1, 5, 6]);
        compare("residue", &[1, 2], &[1, 2, 3]);
        compare("scale", &[1], &[2]);
        compare("residue", &[7], &[8]);
        let verdict = findings.verdict();
        assert_eq!((verdict.checked, verdict.mismatches), (8, 5));
        let first = verdict.first.unwrap();
        assert_eq!(
            (first.layer.as_str(), first.candidate.as_str()),
            ("residue", "#2")
        );
        assert_eq!((first.got.as_str(), first.expected.as_str()), ("nothing", "3"));
    }
}
