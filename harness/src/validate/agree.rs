//! Sets that must be the same for every variant.

use assay_kernels::family::Agreement;

/// Two variants whose sets differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    /// Their labels.
    pub variants: [String; 2],
    /// One item that only one of them has, in a sentence.
    pub sentence: String,
}

/// The pairs of variants that disagree.
pub fn disagreements(found: &[(String, Agreement)]) -> Vec<Disagreement> {
    let mut pairs = Vec::new();
    for (i, (label, one)) in found.iter().enumerate() {
        for (other_label, other) in &found[..i] {
            if one.key != other.key {
                continue;
            }
            let only = |a: &Agreement, b: &Agreement| {
                a.items
                    .difference(&b.items)
                    .find(|item| !b.omits.contains(item))
                    .copied()
            };
            for (item, has, lacks) in [
                only(one, other).map(|item| (item, label, other_label)),
                only(other, one).map(|item| (item, other_label, label)),
            ]
            .into_iter()
            .flatten()
            {
                pairs.push(Disagreement {
                    variants: [label.clone(), other_label.clone()],
                    sentence: format!("{}: {has} finds {item:08x}, {lacks} does not", one.key),
                });
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(key: &str, items: &[u64], omits: &[u64]) -> Agreement {
        Agreement {
            key: key.to_owned(),
            items: items.iter().copied().collect(),
            omits: omits.iter().copied().collect(),
        }
    }

    #[test]
    fn sets_under_one_key_must_be_equal_but_for_what_a_variant_leaves_out() {
        let named = |name: &str, set| (name.to_owned(), set);
        let agree = [
            named("a", set("k", &[1, 2, 3], &[])),
            named("b", set("k", &[2, 3], &[1])),
        ];
        assert_eq!(disagreements(&agree), []);
        let other_key = [named("a", set("k", &[1], &[])), named("b", set("l", &[2], &[]))];
        assert_eq!(disagreements(&other_key), []);
        let differ = [
            named("a", set("k", &[1, 2], &[])),
            named("b", set("k", &[2, 4], &[1])),
        ];
        let pairs = disagreements(&differ);
        assert_eq!(pairs.len(), 1);
        assert_eq!(pairs[0].sentence, "k: b finds 00000004, a does not");
    }
}
