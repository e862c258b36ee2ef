//! Why a driver holds a card's clocks back, and what that means for a trial.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a throttle reason does to a trial in which it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// The trial counts, and its row says so.
    Label,
    /// The trial does not count: the card was not in its normal state.
    Invalid,
}

/// One reason, with its bit in NVML's mask, its name, and its effect.
struct Reason {
    bit: u64,
    name: &'static str,
    effect: Effect,
}

/// The reasons that NVML knows. A power cap by software is how a card keeps its limit, so it is legitimate and labelled;
/// heat, the power brake and hardware slowdown are accidents of the machine.
const REASONS: [Reason; 9] = [
    reason(0x1, "gpu_idle", Effect::None),
    reason(0x2, "applications_clocks_setting", Effect::Label),
    reason(0x4, "sw_power_cap", Effect::Label),
    reason(0x8, "hw_slowdown", Effect::Invalid),
    reason(0x10, "sync_boost", Effect::Label),
    reason(0x20, "sw_thermal_slowdown", Effect::Invalid),
    reason(0x40, "hw_thermal_slowdown", Effect::Invalid),
    reason(0x80, "hw_power_brake_slowdown", Effect::Invalid),
    reason(0x100, "display_clock_setting", Effect::Label),
];

const fn reason(bit: u64, name: &'static str, effect: Effect) -> Reason {
    Reason { bit, name, effect }
}

/// A set of throttle reasons. As text: names joined by `|`, or `none`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThrottleSet(u64);

impl ThrottleSet {
    /// The reasons in NVML's mask; bits without a name are left out.
    pub fn from_bits(bits: u64) -> Self {
        let known = REASONS.iter().fold(0, |known, reason| known | reason.bit);
        Self(bits & known)
    }

    /// Those in either set.
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those that have `effect`.
    pub fn with(self, effect: Effect) -> Self {
        let of_effect = REASONS.iter().filter(|reason| reason.effect == effect);
        Self(of_effect.fold(0, |bits, reason| bits | (self.0 & reason.bit)))
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for ThrottleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        let names = REASONS.iter().filter(|reason| self.0 & reason.bit != 0);
        f.write_str(&names.map(|reason| reason.name).collect::<Vec<_>>().join("|"))
    }
}

/// A name that is no throttle reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no throttle reason: use names such as sw_power_cap joined by |, or none")]
pub struct UnknownReason(String);

impl FromStr for ThrottleSet {
    type Err = UnknownReason;

    fn from_str(text: &str) -> Result<Self, UnknownReason> {
        if text == "none" {
            return Ok(Self::default());
        }
        text.split('|').try_fold(Self::default(), |set, name| {
            let reason = REASONS.iter().find(|reason| reason.name == name);
            let reason = reason.ok_or_else(|| UnknownReason(name.to_owned()))?;
            Ok(Self(set.0 | reason.bit))
        })
    }
}

impl Serialize for ThrottleSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ThrottleSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_reads_back() {
        for bits in 0..0x400 {
            let set = ThrottleSet::from_bits(bits);
            assert_eq!(set.to_string().parse(), Ok(set));
        }
        assert!("sw_power_cap|heat".parse::<ThrottleSet>().is_err());
        assert!("".parse::<ThrottleSet>().is_err());
    }

    #[test]
    fn heat_and_hardware_slowdown_invalidate_and_a_power_cap_is_labelled() {
        let set = ThrottleSet::from_bits(0x4 | 0x20 | 0x1);
        assert_eq!(set.with(Effect::Invalid).to_string(), "sw_thermal_slowdown");
        assert_eq!(set.with(Effect::Label).to_string(), "sw_power_cap");
        assert_eq!(set.with(Effect::None).to_string(), "gpu_idle");
        for bit in [0x8, 0x20, 0x40, 0x80] {
            assert!(!ThrottleSet::from_bits(bit).with(Effect::Invalid).is_empty());
        }
    }
}
