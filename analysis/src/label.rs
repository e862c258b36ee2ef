//! What a label says: `FAMILY/NAME`, or `FAMILY/NAME@SIZE` where the size of what was computed is fixed; with `@aa` behind it for an
//! A/A control.

use std::fmt;

/// Whether a label is an A/A control: a baseline measured a second time, never a baseline and never the best.
pub fn is_control(label: &str) -> bool {
    label.ends_with("@aa")
}

/// The family in a label `FAMILY/NAME`.
pub fn family(label: &str) -> &str {
    label.split_once('/').map_or(label, |(family, _)| family)
}

/// A key that sorts labels `FAMILY/NAME` as people count: v2 before v10.
pub fn natural_key(label: &str) -> (String, String, u64, String) {
    let (family, name) = label.rsplit_once('/').unwrap_or(("", label));
    let start = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
    let end = name[start..]
        .find(|c: char| !c.is_ascii_digit())
        .map_or(name.len(), |end| start + end);
    (
        family.to_owned(),
        name[..start].to_owned(),
        name[start..end].parse().unwrap_or(0),
        name[end..].to_owned(),
    )
}

/// A label without the mark of an A/A control.
pub fn subject(label: &str) -> &str {
    label.strip_suffix("@aa").unwrap_or(label)
}

/// A label without the size that it fixes.
pub fn unsized_label(label: &str) -> &str {
    match label.rsplit_once('@') {
        Some((file, size)) if size.parse::<u64>().is_ok() => file,
        _ => label,
    }
}

/// Variants that are compared with one another: those of a family, at one size where that is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Class<'l> {
    /// The family.
    pub family: &'l str,
    /// The size, where the label fixes one.
    pub size: Option<u64>,
}

/// The class of a label.
pub fn class(label: &str) -> Class<'_> {
    Class {
        family: family(label),
        size: subject(label)
            .rsplit_once('@')
            .and_then(|(_, size)| size.parse().ok()),
    }
}

impl fmt::Display for Class<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.size {
            Some(size) => write!(f, "{} at {size}", self.family),
            None => f.write_str(self.family),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_goes_and_a_control_stays() {
        for (label, left) in [
            ("crt-gemm/mma@8192", "crt-gemm/mma"),
            ("crt-gemm/mma", "crt-gemm/mma"),
            ("md5-q9/v0@aa", "md5-q9/v0@aa"),
        ] {
            assert_eq!(unsized_label(label), left);
        }
    }

    #[test]
    fn variants_of_a_family_are_compared_at_one_size() {
        let at = |family, size| Class { family, size };
        assert_eq!(class("md5-q9/v0"), at("md5-q9", None));
        assert_eq!(class("md5-q9/v0@aa"), at("md5-q9", None));
        assert_eq!(class("crt-gemm/naive@512"), at("crt-gemm", Some(512)));
        assert_eq!(class("crt-gemm/naive@512@aa"), at("crt-gemm", Some(512)));
        assert!(class("f/b@512") < class("f/a@4096"), "sizes sort as numbers");
        assert_eq!(class("f/b@512").to_string(), "f at 512");
        assert!(is_control("f/b@512@aa") && !is_control("f/b@512"));
    }
}
