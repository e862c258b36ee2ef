//! What a tuner may turn in a variant of the family: one line a knob.

use super::options::{CPU_STATES, FirstTest, Logic, Placement, Slots, WordAdds};
use crate::family::DeviceKind;
use crate::knob::Knob;

/// The knobs that mean something on `device`.
pub fn knobs(device: DeviceKind) -> Vec<Knob> {
    use Placement::{Mad, MadUniform, Plain};
    let shape = [
        Knob::of("launch.block", [64, 96, 128, 192, 256, 384, 512]),
        Knob::of("launch.inner", [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]),
        Knob::of("options.interleave", [1, 2, 3, 4]),
        Knob::of("options.zero_constants", [false, true]).first_is_default(),
        Knob::of("options.merged_tests", [1, 2, 3, 4, 6, 8]).or_absent(),
        Knob::of("options.slots", [Slots::Divided, Slots::Carried]).first_is_default(),
    ];
    // Under emulation every placement is the same addition, and every form of a function the same function.
    let placement = [
        Knob::of("options.adds.constant", [Plain, Mad, MadUniform]),
        Knob::of("options.adds.function", [Plain, Mad, MadUniform]),
        Knob::of(
            "options.adds.word",
            [
                WordAdds::Separate,
                WordAdds::Plain,
                WordAdds::Mad,
                WordAdds::MadUniform,
                WordAdds::LastMadUniform,
            ],
        ),
        Knob::of("options.test", [FirstTest::Equal, FirstTest::Mad]).first_is_default(),
        Knob::of("options.logic", [Logic::Plain, Logic::Lop3]).first_is_default(),
        Knob::of("options.held_constants", [false, true]).first_is_default(),
    ];
    match device {
        DeviceKind::Cuda => shape.into_iter().chain(placement).collect(),
        DeviceKind::Emulated => shape.into(),
        DeviceKind::Cpu => vec![Knob::of("cpu.states", CPU_STATES)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::VariantError;
    use crate::knob::VariantText;
    use crate::md5_q9::Md5Variant;

    const V5: &str = include_str!("../../../variants/md5-q9/v5.toml");

    #[test]
    fn the_reader_knows_every_value_of_every_knob() {
        for device in [DeviceKind::Cuda, DeviceKind::Cpu, DeviceKind::Emulated] {
            for knob in knobs(device) {
                assert!(knob.values.len() > 1, "{}", knob.key);
                for value in knob.values {
                    let mut text = VariantText::parse(V5).unwrap();
                    text.set(knob.key, value.clone());
                    // Some values need another key beside them; none may be unknown.
                    if let Err(error @ VariantError::Syntax { .. }) = Md5Variant::parse("x", &text.text()) {
                        panic!("{} = {value}: {error}", knob.key);
                    }
                }
            }
        }
    }
}
