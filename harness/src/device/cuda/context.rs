//! A card's context, and the driver's errors in this program's words.

use std::cell::RefCell;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;

use super::super::DeviceError;

/// The primary context of one card. It goes when the last session on it does.
#[derive(Debug)]
pub(super) struct Context {
    /// `cuda:0`.
    pub id: String,
    device: sys::CUdevice,
    handle: sys::CUcontext,
    /// The kernel whose failure ended the context: nothing works on it any more.
    ended_by: RefCell<Option<String>>,
}

impl Context {
    /// Take the primary context of `device`, which the driver has given for `id`.
    pub fn retain(id: &str, device: sys::CUdevice) -> Result<Context, DeviceError> {
        // SAFETY: the caller has `device` from cuDeviceGet.
        let handle =
            unsafe { result::primary_ctx::retain(device) }.map_err(|error| retain_error(id, error))?;
        let context = Context {
            id: id.to_string(),
            device,
            handle,
            ended_by: RefCell::new(None),
        };
        context.make_current()?;
        Ok(context)
    }

    /// Make it the one that the calling thread's driver calls act on.
    pub fn make_current(&self) -> Result<(), DeviceError> {
        // SAFETY: the handle is retained as long as `self` lives.
        let outcome = unsafe { result::ctx::set_current(self.handle) };
        self.check("cuCtxSetCurrent", outcome)
    }

    /// A driver call's outcome, with the call in the words that a message needs.
    pub fn check<T>(&self, call: &str, outcome: Result<T, DriverError>) -> Result<T, DeviceError> {
        outcome.map_err(|error| driver_error(&self.id, call, error))
    }

    /// Remember that a failure of `kernel` has ended this context.
    pub fn end(&self, kernel: &str) {
        self.ended_by
            .borrow_mut()
            .get_or_insert_with(|| kernel.to_string());
    }

    /// Refuse further work on a context that a failed kernel has ended: the failure itself was reported once already.
    pub fn check_alive(&self) -> Result<(), DeviceError> {
        match &*self.ended_by.borrow() {
            None => Ok(()),
            Some(kernel) => Err(DeviceError::Unusable {
                id: self.id.clone(),
                why: format!(
                    "the failure of kernel {kernel}, reported before, ended this process's work on it"
                ),
            }),
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained once, in `retain`; released once, here. An error would be that of an earlier failed kernel.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// The driver's error, with its code and the code's name, taken from the binding's own table: asking the driver for the
/// name would need a driver that works.
pub(super) fn driver_error(id: &str, call: &str, error: DriverError) -> DeviceError {
    DeviceError::Driver {
        id: id.to_string(),
        call: call.to_string(),
        code: error.0 as u32,
        name: format!("{:?}", error.0),
    }
}

fn retain_error(id: &str, error: DriverError) -> DeviceError {
    let why = match error.0 {
        sys::CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE => {
            "it is in use by another process and its compute mode admits only one: end that process, or set the mode to \
             DEFAULT (nvidia-smi -c 0)"
        }
        sys::CUresult::CUDA_ERROR_INVALID_DEVICE => {
            "its compute mode prohibits computing: nvidia-smi -c 0 allows it"
        }
        sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
            "its memory is full, so not even a context fits: another process is using it (see nvidia-smi)"
        }
        _ => return driver_error(id, "cuDevicePrimaryCtxRetain", error),
    };
    DeviceError::Unusable {
        id: id.to_string(),
        why: why.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_formatted_without_a_driver() {
        let error = driver_error(
            "cuda:0",
            "kernel k",
            DriverError(sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS),
        );
        assert_eq!(
            error.to_string(),
            "kernel k failed on cuda:0 with code 700 (CUDA_ERROR_ILLEGAL_ADDRESS)"
        );
    }

    #[test]
    fn a_card_that_another_process_holds_is_said_to_be_in_use() {
        let error = retain_error(
            "cuda:0",
            DriverError(sys::CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE),
        );
        assert!(
            error
                .to_string()
                .starts_with("no usable device cuda:0: it is in use by another process"),
            "{error}"
        );
    }
}
