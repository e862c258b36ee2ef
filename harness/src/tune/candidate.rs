//! Making candidates: a point of the space becomes a variant, if its family takes it.

use assay_kernels::family::{Family, VariantError};
use assay_kernels::native::Isa;

use super::space::{Point, Space};
use crate::device::{Cpu, Device, DeviceError};
use crate::select::Selected;

/// Makes candidates of a starting variant, and knows the device of each.
pub struct Workshop<'t> {
    /// The starting variant.
    pub start: &'t Selected,
    /// What is turned.
    pub space: &'t Space,
    device: &'t dyn Device,
    /// Devices for the other instruction sets.
    others: Vec<(Isa, Cpu)>,
}

impl<'t> Workshop<'t> {
    /// A workshop of candidates that run on `device`; with `isas`, on the processor with each of these as well.
    ///
    /// # Errors
    /// When the processor lacks one of them.
    pub fn new(
        start: &'t Selected,
        space: &'t Space,
        device: &'t dyn Device,
        isas: &[Isa],
    ) -> Result<Workshop<'t>, DeviceError> {
        let others = isas.iter().map(|isa| Ok((*isa, Cpu::new(Some(*isa))?)));
        Ok(Workshop {
            start,
            space,
            device,
            others: others.collect::<Result<_, DeviceError>>()?,
        })
    }

    fn family(&self) -> &'static dyn Family {
        self.start.family
    }

    /// The name of candidate `number`: the starting variant's with that number.
    fn name(&self, number: usize) -> String {
        match number {
            0 => self.start.variant.name().to_owned(),
            _ => format!("{}-t{number}", self.start.variant.name()),
        }
    }

    /// Candidate `number`'s label.
    pub fn label(&self, number: usize) -> String {
        format!("{}/{}", self.family().name(), self.name(number))
    }

    /// Make candidate `number`.
    ///
    /// # Errors
    /// When its family refuses the combination.
    pub fn make(&self, number: usize, point: &Point) -> Result<Selected, VariantError> {
        if number == 0 {
            return Ok(self.start.clone());
        }
        let text = self.space.text(point).text();
        Ok(Selected {
            family: self.family(),
            variant: self.family().variant(&self.name(number), &text)?,
        })
    }

    /// The device that the starting variant runs on.
    pub fn device(&self) -> &'t dyn Device {
        self.device
    }

    /// The device that a candidate runs on.
    pub fn device_of(&self, point: &Point) -> &dyn Device {
        let isa = self.space.isa(point).filter(|_| *point != self.space.origin());
        let other = isa.and_then(|isa| self.others.iter().find(|(other, _)| *other == isa));
        other.map_or(self.device, |(_, cpu)| cpu)
    }
}

#[cfg(test)]
mod tests {
    use assay_kernels::family::{DeviceKind, family};
    use assay_kernels::knob::VariantText;

    use super::*;

    const V0: &str = include_str!("../../../variants/md5-q9/v0.toml");

    #[test]
    fn a_combination_that_the_family_refuses_is_refused_with_its_reason() {
        let family = family("md5-q9").unwrap();
        let start = Selected {
            family,
            variant: family.variant("v0", V0).unwrap(),
        };
        let text = VariantText::parse(V0).unwrap();
        let space = Space::new(start.variant.as_ref(), text, DeviceKind::Cuda, &[]);
        let cpu = Cpu::new(None).unwrap();
        let workshop = Workshop::new(&start, &space, &cpu, &[]).unwrap();
        let make = |changes| {
            let point = space.point(changes).unwrap();
            workshop.make(7, &point).map(|made| made.label())
        };
        assert_eq!(make("launch.block = 128").as_deref(), Ok("md5-q9/v0-t7"));
        let refused = make("options.adds.function = \"mad\"").unwrap_err().to_string();
        assert!(refused.contains("options.constants"), "{refused}");
        assert_eq!(workshop.label(0), "md5-q9/v0");
    }
}
