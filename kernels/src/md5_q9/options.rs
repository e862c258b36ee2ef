//! A variant's options: the TOML file as it is read and checked.

use serde::{Deserialize, Serialize};

use super::base::Shape;
use super::machine::Role;
use crate::family::VariantError;

/// A variant file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariantFile {
    /// One line about the variant.
    pub summary: String,
    /// What it computes and how.
    pub options: Options,
    /// How it is launched.
    pub launch: LaunchOptions,
    /// Settings of the native kernel.
    #[serde(default)]
    pub cpu: CpuOptions,
}

/// What a variant computes and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// In which order Q9 runs through its values, and what candidates share.
    pub walk: Walk,
    /// How K and a constant message word enter a step.
    pub constants: Constants,
    /// The base makes K + m zero at seven steps, which then take neither.
    #[serde(default)]
    pub zero_constants: bool,
    /// Every K + m is computed at the beginning of a thread, for the compiler to keep: on sm_90 it does so in uniform registers.
    #[serde(default)]
    pub held_constants: bool,
    /// How a logic function of three words is written.
    #[serde(default)]
    pub logic: Logic,
    /// Candidates computed step by step together in one thread.
    pub interleave: u32,
    /// Orbit members whose tests are merged into one branch; unset, each member is tested on its own, with its hit path.
    #[serde(default)]
    pub merged_tests: Option<u32>,
    /// What is asked of a candidate first.
    #[serde(default)]
    pub test: FirstTest,
    /// How a thread goes from one slot to the next.
    #[serde(default)]
    pub slots: Slots,
    /// Where additions are placed.
    pub adds: Adds,
}

/// In which order Q9 runs through its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Walk {
    /// Upwards from 0; 37 steps a candidate.
    Tunnel,
    /// In orbits of 17 members that share two values of m9; 34 steps a candidate.
    Orbit,
}

/// How K and a message word that the base fixes enter a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Constants {
    /// As two additions.
    Separate,
    /// As one: their sum is part of the base.
    Preadded,
}

/// How a logic function of three words is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Logic {
    /// As a formula of C. Where operands are the same for a whole loop, the compiler may take the formula apart, and then needs
    /// two instructions.
    #[default]
    Plain,
    /// As the one instruction `lop3`.
    Lop3,
}

/// What is asked of a candidate first. A merged test may pass a few candidates that are no hits: all that passes is computed
/// again and tested exactly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FirstTest {
    /// Whether Q61 is the target.
    #[default]
    Equal,
    /// Whether 26 bits of it are, on the FMA pipe: `x * 64 + Q60 + 63 - target <= 63`, where Q61 = Q60 + rotl(x, 6).
    Mad,
}

/// How a thread of an orbit walk goes from one slot to the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Slots {
    /// By dividing each slot's number.
    #[default]
    Divided,
    /// By adding to the orbit before; only the first is divided.
    Carried,
}

/// Where an addition is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// The compiler decides: IADD3, VIADD, LEA.
    Plain,
    /// `mad.lo` by a run-time 1, which the compiler cannot see through: the FMA pipe.
    Mad,
    /// The same by a 1 in a uniform register, where there are such: one read fewer of the register file.
    MadUniform,
}

/// How `K + m` is formed for the words that Q9 changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WordAdds {
    /// It is not: K and m enter the step one after the other, by plain additions.
    Separate,
    /// By a plain addition.
    Plain,
    /// By `mad.lo` by a run-time 1.
    Mad,
    /// The same by a 1 in a uniform register.
    MadUniform,
    /// The part that the base fixes is added to Q[t-3], and the candidate's own part to that, by a 1 in a uniform register:
    /// no sum of K and m at all. Orbits only.
    LastMadUniform,
}

/// Where the additions of a step are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adds {
    /// `Q[t-3] + (K + m)`.
    pub constant: Placement,
    /// The round function plus that.
    pub function: Placement,
    /// `K + m` of the words that Q9 changes.
    pub word: WordAdds,
}

/// How a variant is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchOptions {
    /// Threads a block, a multiple of 32.
    pub block: u32,
    /// Slots a thread: candidates of a tunnel, orbits of an orbit walk.
    pub inner: u32,
}

/// Settings of the native kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuOptions {
    /// Vector states interleaved; unset takes the number that measured best for the instruction set.
    pub states: Option<u32>,
}

/// Largest `interleave`.
pub const MAX_INTERLEAVE: u32 = 8;
/// Largest `launch.inner`.
pub const MAX_INNER: u32 = 65_536;
/// Largest `merged_tests`.
pub const MAX_MERGED_TESTS: u32 = 8;
/// Numbers of states for which native kernels are compiled; the narrower instruction sets, which have fewer registers,
/// have only the smaller ones.
pub const CPU_STATES: [u32; 5] = [1, 2, 3, 4, 6];

impl Options {
    /// What a base must have at the least.
    pub fn shape(&self) -> Shape {
        match self.walk {
            _ if self.zero_constants => Shape::ZeroOrbit,
            Walk::Orbit => Shape::Orbit,
            Walk::Tunnel => Shape::Ordinary,
        }
    }
}

impl Adds {
    /// Whether an addition with this role is placed on the FMA pipe, and with which 1.
    pub fn mad(&self, role: Role) -> Option<One> {
        match role {
            Role::Constant => self.constant.one(),
            Role::Function => self.function.one(),
            Role::Word => match self.word {
                WordAdds::Separate | WordAdds::Plain => None,
                WordAdds::Mad => Some(One::Register),
                WordAdds::MadUniform | WordAdds::LastMadUniform => Some(One::Uniform),
            },
            Role::Setup | Role::Separate | Role::State => None,
        }
    }
}

/// The run-time 1 of an addition on the FMA pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum One {
    /// In a register.
    Register,
    /// In a uniform register.
    Uniform,
}

impl Placement {
    fn one(self) -> Option<One> {
        match self {
            Placement::Plain => None,
            Placement::Mad => Some(One::Register),
            Placement::MadUniform => Some(One::Uniform),
        }
    }
}

impl VariantFile {
    /// Read and check a variant file.
    ///
    /// # Errors
    /// A syntax error with its line, or the first key whose value is out of range.
    pub fn parse(text: &str) -> Result<VariantFile, VariantError> {
        let file: VariantFile = toml::from_str(text).map_err(|error| VariantError::of_toml(&error, text))?;
        file.check()?;
        Ok(file)
    }

    fn check(&self) -> Result<(), VariantError> {
        let within = VariantError::within;
        within("options.interleave", self.options.interleave, 1..=MAX_INTERLEAVE)?;
        within("launch.block", self.launch.block, 32..=1024)?;
        if !self.launch.block.is_multiple_of(32) {
            return Err(VariantError::Value {
                key: "launch.block",
                what: format!(
                    "{} is not a multiple of 32, the threads of a warp",
                    self.launch.block
                ),
            });
        }
        within("launch.inner", self.launch.inner, 1..=MAX_INNER)?;
        if let Some(states) = self.cpu.states
            && !CPU_STATES.contains(&states)
        {
            return Err(VariantError::Value {
                key: "cpu.states",
                what: format!("{states} is not one of 1, 2, 3, 4, 6"),
            });
        }
        let adds = &self.options.adds;
        if self.options.constants == Constants::Separate
            && (adds.constant, adds.function, adds.word)
                != (Placement::Plain, Placement::Plain, WordAdds::Separate)
        {
            return Err(VariantError::Value {
                key: "options.constants",
                what: "`separate` goes with plain additions only: adds.constant = \"plain\", adds.function = \"plain\", \
                       adds.word = \"separate\""
                    .to_owned(),
            });
        }
        self.check_orbit_only()?;
        if self.options.zero_constants && self.options.constants == Constants::Separate {
            return Err(VariantError::Value {
                key: "options.zero_constants",
                what: "it leaves out K + m where that is zero, which `constants = \"separate\"` never forms: use \"preadded\""
                    .to_owned(),
            });
        }
        if self.options.held_constants && self.options.constants == Constants::Separate {
            return Err(VariantError::Value {
                key: "options.held_constants",
                what:
                    "it holds sums of K and m, which `constants = \"separate\"` never forms: use \"preadded\""
                        .to_owned(),
            });
        }
        if self.options.constants == Constants::Separate && self.options.walk == Walk::Orbit {
            return Err(VariantError::Value {
                key: "options.constants",
                what: "an orbit's group adds K and m once for all its members: walk = \"orbit\" needs \"preadded\""
                    .to_owned(),
            });
        }
        Ok(())
    }
}

impl VariantFile {
    /// What only an orbit's members, one by one, can have.
    fn check_orbit_only(&self) -> Result<(), VariantError> {
        let options = &self.options;
        if let Some(merged) = options.merged_tests {
            let key = "options.merged_tests";
            if !(1..=MAX_MERGED_TESTS).contains(&merged) {
                let what = format!("{merged} is outside 1 to {MAX_MERGED_TESTS}");
                return Err(VariantError::Value { key, what });
            }
            if options.walk == Walk::Tunnel || options.interleave != 1 {
                let what = "it goes with walk = \"orbit\" and interleave = 1".to_owned();
                return Err(VariantError::Value { key, what });
            }
        }
        if options.test == FirstTest::Mad && options.merged_tests.is_none() {
            return Err(VariantError::Value {
                key: "options.test",
                what: "`mad` passes more than hits, which only `merged_tests` tests again: set that, or use \"equal\""
                    .to_owned(),
            });
        }
        for (key, orbit_only, otherwise) in [
            ("options.slots", options.slots == Slots::Carried, "divided"),
            (
                "options.adds.word",
                options.adds.word == WordAdds::LastMadUniform,
                "mad-uniform",
            ),
        ] {
            if orbit_only && options.walk == Walk::Tunnel {
                let what = format!("it goes with walk = \"orbit\": use \"{otherwise}\"");
                return Err(VariantError::Value { key, what });
            }
        }
        Ok(())
    }
}

/// The name of a value in the file.
fn name(value: &impl Serialize) -> String {
    toml::Value::try_from(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

impl VariantFile {
    /// The options with their values, in the order of the file.
    pub fn described(&self) -> Vec<(&'static str, String)> {
        let Options {
            walk,
            constants,
            zero_constants,
            held_constants,
            logic,
            interleave,
            merged_tests,
            test,
            slots,
            adds,
        } = self.options;
        let mut described = vec![
            ("walk", name(&walk)),
            ("constants", name(&constants)),
            ("zero_constants", zero_constants.to_string()),
            ("held_constants", held_constants.to_string()),
            ("logic", name(&logic)),
            ("interleave", interleave.to_string()),
            (
                "merged_tests",
                merged_tests.map_or("none".to_owned(), |merged| merged.to_string()),
            ),
            ("test", name(&test)),
            ("slots", name(&slots)),
            ("adds.constant", name(&adds.constant)),
            ("adds.function", name(&adds.function)),
            ("adds.word", name(&adds.word)),
            ("launch.block", self.launch.block.to_string()),
            ("launch.inner", self.launch.inner.to_string()),
        ];
        if let Some(states) = self.cpu.states {
            described.push(("cpu.states", states.to_string()));
        }
        described
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const V0: &str = include_str!("../../../variants/md5-q9/v0.toml");
    const V4: &str = include_str!("../../../variants/md5-q9/v4.toml");

    fn refusal(change: (&str, &str)) -> String {
        assert!(V4.contains(change.0), "the text does not hold `{}`", change.0);
        VariantFile::parse(&V4.replace(change.0, change.1))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn values_on_the_bounds_are_taken_and_the_next_ones_refused() {
        for (from, good, bad) in [
            (
                "interleave = 2",
                ["interleave = 1", "interleave = 8"],
                ["interleave = 0", "interleave = 9"],
            ),
            (
                "block = 256",
                ["block = 32", "block = 1024"],
                ["block = 31", "block = 1056"],
            ),
            (
                "inner = 256",
                ["inner = 1", "inner = 65536"],
                ["inner = 0", "inner = 65537"],
            ),
        ] {
            for good in good {
                assert!(VariantFile::parse(&V4.replace(from, good)).is_ok(), "{good}");
            }
            for bad in bad {
                assert!(refusal((from, bad)).contains("is outside"), "{bad}");
            }
        }
        assert!(refusal(("block = 256", "block = 100")).contains("multiple of 32"));
    }

    #[test]
    fn refusals_name_the_key_and_what_it_allows() {
        let unknown = refusal(("interleave", "interlaeve"));
        assert!(
            unknown.contains("line 6") && unknown.contains("interlaeve") && unknown.contains("interleave"),
            "{unknown}"
        );
        let value = refusal(("\"tunnel\"", "\"tunel\""));
        assert!(value.contains("tunel") && value.contains("orbit"), "{value}");
        let pair = refusal(("\"preadded\"", "\"separate\""));
        assert!(
            pair.contains("options.constants") && pair.contains("plain"),
            "{pair}"
        );
        let nothing_to_hold = VariantFile::parse(&V0.replace(
            "constants = \"separate\"",
            "constants = \"separate\"\nheld_constants = true",
        ));
        let held = nothing_to_hold.unwrap_err().to_string();
        assert!(
            held.contains("options.held_constants") && held.contains("preadded"),
            "{held}"
        );
        let kind = refusal(("interleave = 2", "interleave = \"two\""));
        assert!(kind.contains("line 6"), "{kind}");
        let states = refusal(("[launch]", "[cpu]\nstates = 5\n[launch]"));
        assert!(states.contains("cpu.states"), "{states}");
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "\\PC*") {
            let _ = VariantFile::parse(&text);
        }

        #[test]
        fn no_damage_to_a_variant_makes_the_reader_panic(place in 0..V4.len(), byte in any::<u8>()) {
            let mut bytes = V4.as_bytes().to_vec();
            bytes[place] = byte;
            if let Ok(text) = String::from_utf8(bytes) {
                let _ = VariantFile::parse(&text);
            }
        }
    }
}
