//! The space of candidates: what can be turned, and a candidate as a point in it.

use assay_kernels::family::{DeviceKind, Variant};
use assay_kernels::knob::{Absent, VariantText};
use assay_kernels::native::Isa;

/// One choice of a dial.
#[derive(Debug, Clone, PartialEq)]
enum Choice {
    /// The file is without the key.
    Unset,
    /// The key's value.
    Value(toml::Value),
    /// An instruction set of the `cpu` device.
    Isa(Isa),
}

/// Something that is turned: a key of the variant's file, or a setting of the device. The starting variant's own choice
/// stands first.
#[derive(Debug, Clone, PartialEq)]
struct Dial {
    key: &'static str,
    choices: Vec<Choice>,
}

impl Dial {
    fn new(key: &'static str, start: Choice, choices: impl Iterator<Item = Choice>) -> Dial {
        let mut all = vec![start];
        for choice in choices {
            if !all.contains(&choice) {
                all.push(choice);
            }
        }
        Dial { key, choices: all }
    }

    fn setting(&self, choice: usize) -> String {
        match self.choices.get(choice) {
            Some(Choice::Value(value)) => format!("{} = {value}", self.key),
            Some(Choice::Isa(isa)) => format!("{} = \"{isa}\"", self.key),
            Some(Choice::Unset) | None => format!("{} unset", self.key),
        }
    }
}

/// A candidate: the number of its choice on each dial. The starting variant is the one with nothing but zeros.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point(pub Vec<usize>);

/// What can be turned in a variant on a device.
#[derive(Debug, Clone)]
pub struct Space {
    start: VariantText,
    dials: Vec<Dial>,
}

/// The key under which the instruction set of the `cpu` device is told.
const ISA: &str = "isa";

impl Space {
    /// The space around `variant`, whose file is `start`, on a device of `kind`; with `isas`, of which the first is what it starts
    /// with, the instruction set is turned as well.
    pub fn new(variant: &dyn Variant, start: VariantText, kind: DeviceKind, isas: &[Isa]) -> Space {
        let knobs = variant.knobs(kind).into_iter();
        let mut dials: Vec<Dial> = knobs
            .map(|knob| {
                let (default, unset) = match knob.absent {
                    Absent::Untried => (None, None),
                    Absent::Value(value) => (Some(value), None),
                    Absent::Choice => (None, Some(Choice::Unset)),
                };
                let own = start.get(knob.key).cloned().or(default);
                let own = own.map_or(Choice::Unset, Choice::Value);
                let values = knob.values.into_iter().map(Choice::Value);
                Dial::new(knob.key, own, unset.into_iter().chain(values))
            })
            .collect();
        if let Some((first, others)) = isas.split_first() {
            let others = others.iter().copied().map(Choice::Isa);
            dials.push(Dial::new(ISA, Choice::Isa(*first), others));
        }
        dials.retain(|dial| dial.choices.len() > 1);
        Space { start, dials }
    }

    /// The number of choices of each dial.
    pub fn shape(&self) -> Vec<usize> {
        self.dials.iter().map(|dial| dial.choices.len()).collect()
    }

    /// Combinations, the refused ones included.
    pub fn size(&self) -> u64 {
        self.dials
            .iter()
            .fold(1, |size, dial| size.saturating_mul(dial.choices.len() as u64))
    }

    /// The starting variant.
    pub fn origin(&self) -> Point {
        Point(vec![0; self.dials.len()])
    }

    /// What a candidate changes in the starting variant: `key = value` joined by `; `.
    pub fn changes(&self, point: &Point) -> String {
        let changed = self.dials.iter().zip(&point.0).filter(|(_, choice)| **choice > 0);
        let settings: Vec<String> = changed.map(|(dial, choice)| dial.setting(*choice)).collect();
        settings.join("; ")
    }

    /// The candidate with these changes, if there is one.
    pub fn point(&self, changes: &str) -> Option<Point> {
        let mut point = self.origin();
        for change in changes.split("; ").filter(|change| !change.is_empty()) {
            let found = self.dials.iter().enumerate().find_map(|(place, dial)| {
                let choice = (1..dial.choices.len()).find(|choice| dial.setting(*choice) == change)?;
                Some((place, choice))
            });
            let (place, choice) = found?;
            point.0[place] = choice;
        }
        Some(point)
    }

    /// A candidate's file.
    pub fn text(&self, point: &Point) -> VariantText {
        let mut text = self.start.clone();
        for (dial, choice) in self.dials.iter().zip(&point.0) {
            match dial.choices.get(*choice) {
                _ if *choice == 0 => {}
                Some(Choice::Value(value)) => text.set(dial.key, value.clone()),
                Some(Choice::Unset) => text.remove(dial.key),
                Some(Choice::Isa(_)) | None => {}
            }
        }
        text
    }

    /// The instruction set that a candidate runs with, where that is turned.
    pub fn isa(&self, point: &Point) -> Option<Isa> {
        let turned = self.dials.iter().zip(&point.0);
        turned
            .filter_map(|(dial, choice)| match dial.choices.get(*choice) {
                Some(Choice::Isa(isa)) => Some(*isa),
                _ => None,
            })
            .next()
    }
}

#[cfg(test)]
mod tests {
    use assay_kernels::family::family;

    use super::*;

    const V5: &str = include_str!("../../../variants/md5-q9/v5.toml");

    fn space(kind: DeviceKind, isas: &[Isa]) -> Space {
        let variant = family("md5-q9").unwrap().variant("v5", V5).unwrap();
        Space::new(variant.as_ref(), VariantText::parse(V5).unwrap(), kind, isas)
    }

    #[test]
    fn every_point_is_told_by_its_changes_and_found_again() {
        let space = space(DeviceKind::Cpu, &[Isa::Avx2, Isa::Plain]);
        let shape = space.shape();
        assert_eq!(shape.len(), 2, "{space:?}");
        assert_eq!(space.size(), (shape[0] * shape[1]) as u64);
        for states in 0..shape[0] {
            for isa in 0..shape[1] {
                let point = Point(vec![states, isa]);
                assert_eq!(space.point(&space.changes(&point)), Some(point));
            }
        }
        assert_eq!(space.changes(&space.origin()), "");
        assert_eq!(
            space.changes(&Point(vec![1, 1])),
            "cpu.states = 1; isa = \"plain\""
        );
        assert_eq!(space.isa(&space.origin()), Some(Isa::Avx2));
        assert_eq!(space.point("cpu.states = 99"), None);
    }

    #[test]
    fn a_candidates_file_has_its_changes_and_nothing_else() {
        let space = space(DeviceKind::Cuda, &[]);
        let point = space
            .point("launch.block = 128; options.adds.word = \"mad\"")
            .unwrap();
        let text = space.text(&point);
        assert_eq!(text.get("launch.block"), Some(&128.into()));
        assert_eq!(text.get("options.adds.word"), Some(&"mad".into()));
        assert_eq!(text.get("launch.inner"), Some(&8.into()));
        assert_eq!(space.text(&space.origin()), VariantText::parse(V5).unwrap());
        assert_eq!(space.isa(&point), None);
    }

    #[test]
    fn what_a_file_leaves_out_is_a_choice_and_what_it_means_is_not_tried_twice() {
        let space = space(DeviceKind::Cuda, &[]);
        assert_eq!(space.point("options.zero_constants = false"), None, "v5 has that");
        let merged = space.point("options.merged_tests = 4").unwrap();
        let text = space.text(&merged);
        assert_eq!(text.get("options.merged_tests"), Some(&4.into()));
        let variant = family("md5-q9").unwrap().variant("x", &text.text()).unwrap();
        let back = Space::new(variant.as_ref(), text, DeviceKind::Cuda, &[]);
        let unset = back.point("options.merged_tests unset").unwrap();
        assert_eq!(back.text(&unset).get("options.merged_tests"), None);
    }

    #[test]
    fn a_single_instruction_set_is_not_turned() {
        let space = space(DeviceKind::Cpu, &[Isa::Plain]);
        assert_eq!(space.shape().len(), 1);
    }
}
