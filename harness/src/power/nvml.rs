//! A card's sensors by NVML.

use std::sync::OnceLock;

use assay_analysis::{Gpu, ThrottleSet};
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::enums::device::SampleValue;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::structs::device::FieldId;
use nvml_wrapper::{Device, Nvml};

use super::source::{NoPower, PowerSource, Reading, SourceError};

/// `NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION`, mJ.
const TOTAL_ENERGY: FieldId = FieldId(83);
/// `NVML_FI_DEV_POWER_AVERAGE`, mW over the last second on most cards.
const POWER_AVERAGE: FieldId = FieldId(185);
/// `NVML_FI_DEV_POWER_INSTANT`, mW.
const POWER_INSTANT: FieldId = FieldId(186);

/// NVML, started once in a process and never stopped: a sampler may still be asking it.
fn nvml() -> Result<&'static Nvml, NoPower> {
    static NVML: OnceLock<Result<Nvml, String>> = OnceLock::new();
    let started = NVML.get_or_init(|| Nvml::init().map_err(|error| error.to_string()));
    started.as_ref().map_err(|why| NoPower::Nvml(why.clone()))
}

/// One card.
pub struct NvmlCard {
    device: Device<'static>,
    driver: Option<String>,
    lacks: Vec<String>,
}

/// What one call for the three fields brought.
#[derive(Default)]
struct Fields {
    reading: Reading,
    lacks: Vec<String>,
}

impl NvmlCard {
    /// The card that CUDA knows by `uuid`.
    ///
    /// # Errors
    /// When there is no NVML, or it does not know the card.
    pub fn open(uuid: &str) -> Result<NvmlCard, NoPower> {
        let nvml = nvml()?;
        let unknown = |error: NvmlError| NoPower::UnknownCard {
            uuid: uuid.to_owned(),
            why: error.to_string(),
        };
        Ok(NvmlCard {
            device: nvml.device_by_uuid(uuid).map_err(unknown)?,
            driver: nvml.sys_driver_version().ok(),
            lacks: Vec::new(),
        })
    }

    /// The card, once it has shown that it tells its power or its energy; what else it does not tell is noted.
    ///
    /// # Errors
    /// When it tells neither.
    pub fn with_power(mut self) -> Result<NvmlCard, NoPower> {
        let Fields { reading, mut lacks } = self.fields().map_err(|error| NoPower::Nothing(error.0))?;
        if reading.instant_w.is_none() && reading.energy_mj.is_none() {
            return Err(NoPower::Nothing(lacks.join("; ")));
        }
        let mut also = |what: &str, error: Option<NvmlError>| {
            lacks.extend(error.map(|error| format!("{what}: {error}")));
        };
        also("SM clock", self.device.clock_info(Clock::SM).err());
        also("memory clock", self.device.clock_info(Clock::Memory).err());
        also(
            "temperature",
            self.device.temperature(TemperatureSensor::Gpu).err(),
        );
        also("throttle reasons", self.device.current_throttle_reasons().err());
        self.lacks = lacks;
        Ok(self)
    }

    /// Add to a manifest's card what NVML tells of it.
    pub fn describe(&self, gpu: &mut Gpu) {
        let watts = |milliwatts: Result<u32, NvmlError>| milliwatts.ok().map(|value| f64::from(value) / 1e3);
        let device = &self.device;
        let range = device.power_management_limit_constraints().ok();
        if self.driver.is_some() {
            gpu.driver.clone_from(&self.driver);
        }
        gpu.power_limit_w = watts(
            device
                .enforced_power_limit()
                .or_else(|_| device.power_management_limit()),
        );
        gpu.power_limit_default_w = watts(device.power_management_limit_default());
        gpu.power_limit_min_w = range.as_ref().map(|range| f64::from(range.min_limit) / 1e3);
        gpu.power_limit_max_w = range.as_ref().map(|range| f64::from(range.max_limit) / 1e3);
        gpu.ecc = device.is_ecc_enabled().ok().map(|state| state.currently_enabled);
        gpu.mig = device.mig_mode().ok().map(|mode| mode.current == 1);
        gpu.sm_clock_max_mhz = device.max_clock_info(Clock::SM).ok();
        gpu.mem_clock_max_mhz = device.max_clock_info(Clock::Memory).ok();
    }

    /// The three fields, in one call, with the counter's stamp (else the instant power's).
    fn fields(&self) -> Result<Fields, SourceError> {
        let asked = [TOTAL_ENERGY, POWER_INSTANT, POWER_AVERAGE];
        let samples = self
            .device
            .field_values_for(&asked)
            .map_err(|error| SourceError(error.to_string()))?;
        let mut fields = Fields::default();
        for (field, sample) in asked.into_iter().zip(samples) {
            let (name, value) = match (
                &field,
                sample.and_then(|sample| Ok((sample.timestamp, sample.value?))),
            ) {
                (_, Ok((stamp, value))) => {
                    let stamp = u64::try_from(stamp).ok().filter(|stamp| *stamp > 0);
                    fields.reading.stamp_us = fields.reading.stamp_us.or(stamp);
                    (None, whole(&value))
                }
                (_, Err(error)) => (Some(error.to_string()), None),
            };
            if let Some(why) = name {
                fields.lacks.push(format!("NVML field {}: {why}", field.0));
            }
            if field == TOTAL_ENERGY {
                fields.reading.energy_mj = value;
            } else if field == POWER_INSTANT {
                fields.reading.instant_w = value.map(|milliwatts| milliwatts as f64 / 1e3);
            } else {
                fields.reading.average_w = value.map(|milliwatts| milliwatts as f64 / 1e3);
            }
        }
        Ok(fields)
    }
}

impl PowerSource for NvmlCard {
    fn name(&self) -> String {
        let driver = self.driver.as_deref().unwrap_or("of unknown version");
        format!("NVML, driver {driver}")
    }

    fn lacks(&self) -> Vec<String> {
        self.lacks.clone()
    }

    fn read(&mut self) -> Result<Reading, SourceError> {
        let Fields { reading, .. } = self.fields()?;
        let throttle = self.device.current_throttle_reasons().ok();
        Ok(Reading {
            sm_clock_mhz: self.device.clock_info(Clock::SM).ok(),
            mem_clock_mhz: self.device.clock_info(Clock::Memory).ok(),
            temperature_c: self.device.temperature(TemperatureSensor::Gpu).ok(),
            throttle: throttle.map(|reasons| ThrottleSet::from_bits(reasons.bits())),
            ..reading
        })
    }
}

/// A field's value, whichever type the driver gives it.
fn whole(value: &SampleValue) -> Option<u64> {
    match value {
        SampleValue::U32(value) => Some(u64::from(*value)),
        SampleValue::U64(value) => Some(*value),
        SampleValue::I64(value) => u64::try_from(*value).ok(),
        SampleValue::F64(value) => (*value >= 0.0).then_some(*value as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_driver_the_reason_is_said() {
        // Where there is a driver, no card has this UUID either.
        let error = NvmlCard::open("GPU-00000000-0000-0000-0000-000000000000").err();
        assert!(matches!(
            error,
            Some(NoPower::Nvml(_) | NoPower::UnknownCard { .. })
        ));
    }

    #[test]
    fn a_value_is_read_whatever_its_type_and_never_from_a_negative_one() {
        assert_eq!(whole(&SampleValue::U32(7)), Some(7));
        assert_eq!(whole(&SampleValue::U64(1 << 40)), Some(1 << 40));
        assert_eq!(whole(&SampleValue::I64(-1)), None);
        assert_eq!(whole(&SampleValue::F64(2.9)), Some(2));
        assert_eq!(whole(&SampleValue::F64(f64::NAN)), None);
    }
}
