//! The arguments of a launch, laid out as the kernel's parameters.

use std::ffi::c_void;

use assay_kernels::workload::Argument;

use super::library::Parameter;
use crate::device::DeviceError;

/// What an address must be divisible by: the largest alignment that a kernel may ask of a buffer's start here.
const ALIGNMENT: usize = 16;

/// Arguments by value, each as its bytes.
pub struct Arguments {
    values: Vec<Vec<u8>>,
}

impl Arguments {
    /// Lay out `arguments` for a kernel with `parameters`.
    ///
    /// # Errors
    /// [`DeviceError::Invalid`] when they do not fit in number, size or kind, or name a buffer that is not there.
    pub fn lay_out(
        entry: &str,
        arguments: &[Argument],
        parameters: &[Parameter],
        buffers: &mut [Vec<u32>],
    ) -> Result<Arguments, DeviceError> {
        if arguments.len() != parameters.len() {
            return Err(DeviceError::Invalid(format!(
                "a launch of {entry} with {} arguments: it takes {}",
                arguments.len(),
                parameters.len()
            )));
        }
        let mut values = Vec::with_capacity(arguments.len());
        for (place, (argument, parameter)) in (1..).zip(arguments.iter().zip(parameters)) {
            let invalid = |what: String| {
                DeviceError::Invalid(format!("argument {place} of a launch of {entry}: {what}"))
            };
            if matches!(argument, Argument::Buffer(_)) != parameter.is_pointer() {
                let (given, wanted) = if parameter.is_pointer() {
                    ("a value", "a buffer")
                } else {
                    ("a buffer", "a value")
                };
                return Err(invalid(format!("it is {given} where the kernel takes {wanted}")));
            }
            let value = match argument {
                Argument::U32(word) => word.to_ne_bytes().to_vec(),
                Argument::U64(word) => word.to_ne_bytes().to_vec(),
                Argument::Words(words) => words.iter().flat_map(|word| word.to_ne_bytes()).collect(),
                Argument::Buffer(id) => {
                    let buffer = buffers
                        .get_mut(id.0)
                        .ok_or_else(|| invalid(format!("there is no buffer {}", id.0)))?;
                    let address = buffer.as_mut_ptr().expose_provenance();
                    if !buffer.is_empty() && !address.is_multiple_of(ALIGNMENT) {
                        return Err(invalid(format!(
                            "the buffer does not start at a multiple of {ALIGNMENT} bytes"
                        )));
                    }
                    address.to_ne_bytes().to_vec()
                }
            };
            if value.len() != parameter.bytes as usize {
                return Err(invalid(format!(
                    "it has {} bytes where the kernel takes {}",
                    value.len(),
                    parameter.bytes
                )));
            }
            values.push(value);
        }
        Ok(Arguments { values })
    }

    /// The address of each value, as a launch takes them. They are good while `self` is.
    pub fn addresses(&self) -> Vec<*const c_void> {
        self.values.iter().map(|value| value.as_ptr().cast()).collect()
    }
}
