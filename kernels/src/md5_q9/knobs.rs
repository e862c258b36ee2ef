//! What a tuner may turn in a variant of the family: one line a knob.

use super::options::{CPU_STATES, Placement, WordAdds};
use crate::family::DeviceKind;
use crate::knob::Knob;

/// The knobs that mean something on `device`.
pub fn knobs(device: DeviceKind) -> Vec<Knob> {
    use Placement::{Mad, MadUniform, Plain};
    let launch = [
        Knob::of("launch.block", [64, 96, 128, 192, 256, 384, 512]),
        Knob::of("launch.inner", [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]),
        Knob::of("options.interleave", [1, 2, 3, 4]),
    ];
    // Under emulation every placement is the same addition.
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
            ],
        ),
    ];
    match device {
        DeviceKind::Cuda => launch.into_iter().chain(placement).collect(),
        DeviceKind::Emulated => launch.into(),
        DeviceKind::Cpu => vec![Knob::of("cpu.states", CPU_STATES)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::VariantText;
    use crate::md5_q9::Md5Variant;

    const V5: &str = include_str!("../../../variants/md5-q9/v5.toml");

    #[test]
    fn every_value_of_every_knob_is_taken_by_the_reader() {
        for device in [DeviceKind::Cuda, DeviceKind::Cpu, DeviceKind::Emulated] {
            for knob in knobs(device) {
                assert!(knob.values.len() > 1, "{}", knob.key);
                for value in knob.values {
                    let mut text = VariantText::parse(V5).unwrap();
                    text.set(knob.key, value.clone());
                    let read = Md5Variant::parse("x", &text.text());
                    assert!(read.is_ok(), "{} = {value}: {:?}", knob.key, read.err());
                }
            }
        }
    }
}
