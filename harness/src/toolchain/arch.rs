//! The architecture of a card, as the compiler names it.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// An architecture such as `sm_90`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Arch(u32);

impl Arch {
    /// The one whose compute capability is `major.minor`.
    pub fn of(compute_capability: (u32, u32)) -> Arch {
        Arch(compute_capability.0 * 10 + compute_capability.1)
    }

    /// The one with this number: 90 is `sm_90`.
    pub const fn number(number: u32) -> Arch {
        Arch(number)
    }

    /// Its number: 90 for `sm_90`.
    pub const fn as_number(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("sm_{}", self.0))
    }
}

impl FromStr for Arch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix("sm_")
            .filter(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
            .and_then(|digits| digits.parse().ok())
            .map(Arch)
            .ok_or_else(|| format!("`{text}` is not an architecture: write it like sm_75 or sm_90"))
    }
}

impl Serialize for Arch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::Arch;

    #[test]
    fn an_architecture_is_read_and_written_the_same() {
        assert_eq!("sm_120".parse::<Arch>().unwrap().to_string(), "sm_120");
        assert_eq!(Arch::of((9, 0)).to_string(), "sm_90");
    }

    #[test]
    fn anything_else_is_refused_with_an_example() {
        for text in ["90", "sm_", "sm_9x", "compute_90", "sm_-1", "sm_99999999999"] {
            assert!(text.parse::<Arch>().unwrap_err().contains("sm_75"), "{text}");
        }
    }
}
