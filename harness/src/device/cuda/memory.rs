//! What the driver gives and takes back: device memory, pinned host memory, events, streams, modules.
//!
//! Every type here must be made and dropped with its context current; [`super::session`] sees to that.

use std::ffi::{CString, c_void};
use std::ptr::NonNull;

use assay_kernels::workload::Launch;
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUevent_flags};

const WORD: usize = size_of::<u32>();

/// Shared memory that a block may have without the kernel being told of it: 48 KB on every card.
const SHARED_BYTES_UNASKED: u32 = 48 * 1024;

/// Words on the device.
#[derive(Debug)]
pub(super) struct DeviceWords {
    pub address: sys::CUdeviceptr,
    pub words: usize,
}

impl DeviceWords {
    /// Allocate at least one word.
    pub fn new(words: usize) -> Result<DeviceWords, DriverError> {
        // SAFETY: the memory is only ever seen as words, each of which is valid whatever it holds.
        let address = unsafe { result::malloc_sync(words.max(1) * WORD) }?;
        Ok(DeviceWords { address, words })
    }
}

impl Drop for DeviceWords {
    fn drop(&mut self) {
        // SAFETY: allocated in `new`, freed once. Work that uses it has ended: the session waits for its stream first.
        let _ = unsafe { result::free_sync(self.address) };
    }
}

/// Words on the host that the device can reach while the host does something else.
#[derive(Debug)]
pub(super) struct PinnedWords {
    pointer: NonNull<u32>,
    pub capacity: usize,
}

impl PinnedWords {
    /// Allocate at least one word, all zero.
    pub fn new(capacity: usize) -> Result<PinnedWords, DriverError> {
        let capacity = capacity.max(1);
        // SAFETY: it is zeroed below, before anyone reads it.
        let pointer = unsafe { result::malloc_host(capacity * WORD, 0) }?.cast::<u32>();
        let pointer = NonNull::new(pointer).ok_or(DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY))?;
        // SAFETY: the driver has given `capacity` words at this address, aligned to a page.
        unsafe { pointer.write_bytes(0, capacity) };
        Ok(PinnedWords { pointer, capacity })
    }

    /// The first `words` words.
    ///
    /// # Safety
    /// No copy from the device into them may be under way.
    pub unsafe fn read(&self, words: usize) -> &[u32] {
        assert!(words <= self.capacity);
        // SAFETY: within the allocation, zeroed when made, and by the caller's word nobody writes now.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), words) }
    }

    /// Store `words` at its start.
    ///
    /// # Safety
    /// No copy from or to it may be under way.
    pub unsafe fn write(&mut self, words: &[u32]) {
        assert!(words.len() <= self.capacity);
        // SAFETY: within the allocation, and by the caller's word nobody else uses it now.
        unsafe {
            self.pointer
                .copy_from_nonoverlapping(NonNull::from(words).cast(), words.len())
        };
    }

    /// Its address, for a copy by the device.
    pub fn address(&self) -> *mut c_void {
        self.pointer.as_ptr().cast()
    }
}

impl Drop for PinnedWords {
    fn drop(&mut self) {
        // SAFETY: allocated in `new`, freed once.
        let _ = unsafe { result::free_host(self.pointer.as_ptr().cast()) };
    }
}

/// A point in a stream, with its time.
#[derive(Debug)]
pub(super) struct Event(sys::CUevent);

impl Event {
    pub fn new() -> Result<Event, DriverError> {
        // Waiting blocks instead of spinning: the host has the last batch's hits to confirm meanwhile.
        result::event::create(CUevent_flags::CU_EVENT_BLOCKING_SYNC).map(Event)
    }

    pub fn record(&self, stream: &Stream) -> Result<(), DriverError> {
        // SAFETY: both handles live.
        unsafe { result::event::record(self.0, stream.0) }
    }

    pub fn wait(&self) -> Result<(), DriverError> {
        // SAFETY: the handle lives.
        unsafe { result::event::synchronize(self.0) }
    }

    /// Seconds from `self` to `end`, both of which have happened.
    pub fn seconds_until(&self, end: &Event) -> Result<f64, DriverError> {
        // SAFETY: both handles live, and both events were recorded in the session's only stream.
        let milliseconds = unsafe { result::event::elapsed(self.0, end.0) }?;
        Ok(f64::from(milliseconds) / 1e3)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: created in `new`, destroyed once.
        let _ = unsafe { result::event::destroy(self.0) };
    }
}

/// Work in order.
#[derive(Debug)]
pub(super) struct Stream(sys::CUstream);

impl Stream {
    pub fn new() -> Result<Stream, DriverError> {
        result::stream::create(result::stream::StreamKind::NonBlocking).map(Stream)
    }

    /// The driver's handle, good as long as `self` lives.
    pub fn handle(&self) -> sys::CUstream {
        self.0
    }

    pub fn wait(&self) -> Result<(), DriverError> {
        // SAFETY: the handle lives.
        unsafe { result::stream::synchronize(self.0) }
    }

    /// Fill the first `words` words of `target`.
    pub fn fill(&self, target: &DeviceWords, words: usize, value: u32) -> Result<(), DriverError> {
        assert!(words <= target.words);
        if words == 0 {
            return Ok(());
        }
        // SAFETY: within the allocation, which outlives the stream's work.
        unsafe { sys::cuMemsetD32Async(target.address, value, words, self.0) }.result()
    }

    /// Copy the first `words` words of `source` to the start of `target`.
    ///
    /// # Safety
    /// `source` may be neither written nor dropped before the copy has happened.
    pub unsafe fn upload(
        &self,
        target: &DeviceWords,
        source: &PinnedWords,
        words: usize,
    ) -> Result<(), DriverError> {
        assert!(words <= target.words && words <= source.capacity);
        if words == 0 {
            return Ok(());
        }
        // SAFETY: within both allocations; the caller keeps the source.
        unsafe { sys::cuMemcpyHtoDAsync_v2(target.address, source.address(), words * WORD, self.0) }.result()
    }

    /// Copy the first `words` words of `source` to the start of `target`.
    ///
    /// # Safety
    /// `target` may be neither read nor written nor dropped before the copy has happened.
    pub unsafe fn download(
        &self,
        target: &PinnedWords,
        source: &DeviceWords,
        words: usize,
    ) -> Result<(), DriverError> {
        assert!(words <= source.words && words <= target.capacity);
        if words == 0 {
            return Ok(());
        }
        // SAFETY: within both allocations; the caller keeps the target.
        unsafe { sys::cuMemcpyDtoHAsync_v2(target.address(), source.address, words * WORD, self.0) }.result()
    }

    /// Launch `function` of a module.
    ///
    /// # Safety
    /// `arguments` must point to values of the sizes of the kernel's parameters, and buffers among them must hold what
    /// the kernel reaches.
    pub unsafe fn launch(
        &self,
        function: sys::CUfunction,
        launch: &Launch,
        arguments: &mut [*mut c_void],
    ) -> Result<(), DriverError> {
        let &Launch {
            grid,
            block,
            shared_bytes,
            ..
        } = launch;
        if shared_bytes > SHARED_BYTES_UNASKED {
            let most = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            // SAFETY: the function's module is loaded.
            unsafe { sys::cuFuncSetAttribute(function, most, shared_bytes as i32) }.result()?;
        }
        // SAFETY: the driver copies the arguments before it returns; the rest is the caller's word.
        unsafe {
            result::launch_kernel(
                function,
                (grid, 1, 1),
                (block, 1, 1),
                shared_bytes,
                self.0,
                arguments,
            )
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: created in `new`, destroyed once.
        let _ = unsafe { result::stream::destroy(self.0) };
    }
}

/// A loaded cubin.
#[derive(Debug)]
pub(super) struct Module(sys::CUmodule);

impl Module {
    /// Load a cubin, which NVRTC has made.
    pub fn load(cubin: &[u8]) -> Result<Module, DriverError> {
        // SAFETY: an ELF file carries its own length, and its hash was verified when it came out of the cache.
        unsafe { result::module::load_data(cubin.as_ptr().cast()) }.map(Module)
    }

    /// One of its kernels. It must not be used after the module is gone.
    pub fn function(&self, name: &str) -> Result<sys::CUfunction, DriverError> {
        let name = CString::new(name).map_err(|_| DriverError(sys::CUresult::CUDA_ERROR_INVALID_VALUE))?;
        // SAFETY: the module is loaded.
        unsafe { result::module::get_function(self.0, name) }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: loaded in `load`, unloaded once, after its kernels have ended.
        let _ = unsafe { result::module::unload(self.0) };
    }
}

/// Sizes of a kernel's parameters in bytes, in order. The driver must know the function that is asked
/// (`Driver::knows_parameters`).
pub(super) fn parameter_sizes(function: sys::CUfunction) -> Vec<usize> {
    let mut sizes = Vec::new();
    loop {
        let (mut offset, mut size) = (0usize, 0usize);
        // SAFETY: the function's module is loaded, the pointers are to live integers; past the last parameter the
        // driver answers with an error.
        match unsafe { sys::cuFuncGetParamInfo(function, sizes.len(), &mut offset, &mut size) }.result() {
            Ok(()) => sizes.push(size),
            Err(_) => return sizes,
        }
    }
}
