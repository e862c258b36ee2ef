//! A built workload on a card: batches go into one stream, several at a time.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::rc::Rc;

use assay_kernels::library::{Gemm, Library};
use assay_kernels::workload::{Argument, Batch, BufferId, Launch, Setup, Step};
use cudarc::driver::result;
use cudarc::driver::sys;

use super::super::{BuildInfo, DeviceError, Finished, Session};
use super::context::Context;
use super::cublas::Cublas;
use super::memory::{DeviceWords, Event, Module, PinnedWords, Stream, parameter_sizes};
use super::{Driver, cuda_version};
use crate::toolchain::{Cubin, NvrtcVersion, SystemLoader};

/// A batch that the card has not finished.
struct InFlight {
    index: u64,
    /// Start and end of each launch and each call of the library.
    launches: Vec<(Event, Event)>,
    downloads: Vec<(PinnedWords, usize)>,
    /// Kept until the card has read them.
    uploads: Vec<PinnedWords>,
    done: Event,
}

/// A kernel of the module.
struct Kernel {
    entry: &'static str,
    function: sys::CUfunction,
    /// Sizes of its parameters, where the driver can tell.
    parameters: Option<Vec<usize>>,
}

/// The session. Fields are dropped in order: what the stream's work uses goes before the stream, the context last.
pub(super) struct CudaSession {
    build: BuildInfo,
    /// The text's kernels in messages: the one that the work is in, with the source's name.
    kernel: String,
    kernels: Vec<Kernel>,
    names: Vec<&'static str>,
    in_flight: VecDeque<InFlight>,
    spare_events: Vec<Event>,
    spare_words: Vec<PinnedWords>,
    buffers: Vec<DeviceWords>,
    library: Option<Cublas>,
    _module: Module,
    stream: Stream,
    context: Rc<Context>,
}

impl CudaSession {
    pub fn new(
        context: Rc<Context>,
        driver: &Driver,
        setup: &Setup,
        cubin: Cubin,
        nvrtc: &NvrtcVersion,
    ) -> Result<CudaSession, DeviceError> {
        context.make_current()?;
        let source = &setup.source;
        let mut call = format!("loading the cubin of {}", source.file);
        if nvrtc.cuda.0 * 1000 + nvrtc.cuda.1 * 10 > driver.cuda {
            call += &format!(
                " (NVRTC {nvrtc} is newer than the driver's CUDA {})",
                cuda_version(driver.cuda)
            );
        }
        let module = context.check(&call, Module::load(&cubin.bytes))?;
        let mut kernels = Vec::new();
        for entry in std::iter::once(&source.entry).chain(&source.helpers) {
            let function = context.check(
                &format!("looking kernel {entry} up in the cubin of {}", source.file),
                module.function(entry),
            )?;
            kernels.push(Kernel {
                entry,
                function,
                parameters: driver.knows_parameters.then(|| parameter_sizes(function)),
            });
        }
        let stream = context.check("cuStreamCreate", Stream::new())?;
        let mut buffers = Vec::new();
        for buffer in &setup.buffers {
            let words = DeviceWords::new(buffer.words).map_err(|error| {
                let free = result::mem_get_info()
                    .map_or(String::new(), |(free, _)| format!(", {free} bytes are free"));
                let what = format!(
                    "allocating {} bytes for buffer `{}`{free},",
                    buffer.words * 4,
                    buffer.name
                );
                super::context::driver_error(&context.id, &what, error)
            })?;
            context.check(
                &format!("filling buffer `{}`", buffer.name),
                stream.fill(&words, buffer.words, buffer.fill),
            )?;
            buffers.push(words);
        }
        context.check("filling the buffers", stream.wait())?;
        let library = match setup.library {
            None => None,
            Some(Library::Cublas | Library::CublasFixedPoint) => {
                // SAFETY: the context was made current above; the session drops the handle before the stream.
                let cublas = unsafe { Cublas::new(&context.id, &SystemLoader, stream.handle()) };
                Some(cublas?)
            }
        };
        let build = BuildInfo {
            library: library.as_ref().map(|library| library.description.clone()),
            ..cubin.build
        };
        Ok(CudaSession {
            build,
            library,
            kernel: format!("{} ({})", source.entry, source.file),
            kernels,
            names: setup.buffers.iter().map(|buffer| buffer.name).collect(),
            in_flight: VecDeque::new(),
            spare_events: Vec::new(),
            spare_words: Vec::new(),
            buffers,
            _module: module,
            stream,
            context,
        })
    }

    /// The buffer, checked to have `words` words.
    fn buffer(&self, id: BufferId, words: usize) -> Result<&DeviceWords, DeviceError> {
        let buffer = self.buffers.get(id.0).ok_or_else(|| {
            DeviceError::Invalid(format!(
                "a step names buffer {}, there are {}",
                id.0,
                self.buffers.len()
            ))
        })?;
        if words > buffer.words {
            let name = self.names[id.0];
            let what = format!(
                "a step asks for {words} words of buffer `{name}`, which has {}",
                buffer.words
            );
            return Err(DeviceError::Invalid(what));
        }
        Ok(buffer)
    }

    fn event(&mut self) -> Result<Event, DeviceError> {
        match self.spare_events.pop() {
            Some(event) => Ok(event),
            None => self.context.check("cuEventCreate", Event::new()),
        }
    }

    /// Pinned memory of at least `words` words: a spare one, or a new one.
    fn pinned(&mut self, words: usize) -> Result<PinnedWords, DeviceError> {
        let fits = |spare: &PinnedWords| spare.capacity >= words && spare.capacity / 4 <= words.max(1024);
        match self.spare_words.iter().position(fits) {
            Some(index) => Ok(self.spare_words.swap_remove(index)),
            None => self.context.check(
                &format!("pinning {} bytes of host memory", words * 4),
                PinnedWords::new(words),
            ),
        }
    }

    fn launch(&self, launch: &Launch) -> Result<(), DeviceError> {
        let entry = launch.entry;
        let kernel = self.kernels.iter().find(|kernel| kernel.entry == entry);
        let kernel = kernel.ok_or_else(|| {
            DeviceError::Invalid(format!(
                "a launch of {entry}, which {} does not name",
                self.kernel
            ))
        })?;
        // The values stay here until the driver has copied them.
        let mut values: Vec<Vec<u64>> = Vec::with_capacity(launch.arguments.len());
        let mut sizes = Vec::with_capacity(launch.arguments.len());
        for argument in &launch.arguments {
            let (value, size) = match argument {
                Argument::U32(value) => (vec![u64::from(*value)], 4),
                Argument::U64(value) => (vec![*value], 8),
                Argument::Buffer(id) => (vec![self.buffer(*id, 0)?.address], 8),
                Argument::Words(words) => (packed(words), words.len() * 4),
            };
            values.push(value);
            sizes.push(size);
        }
        if let Some(parameters) = kernel
            .parameters
            .as_ref()
            .filter(|parameters| **parameters != sizes)
        {
            return Err(DeviceError::Invalid(format!(
                "kernel {entry} has parameters of {parameters:?} bytes and is launched with arguments of {sizes:?} bytes"
            )));
        }
        let mut pointers: Vec<*mut c_void> =
            values.iter_mut().map(|value| value.as_mut_ptr().cast()).collect();
        // SAFETY: each pointer is to a value of its parameter's size (checked above where the driver tells, else the
        // family's word), and the family's workload vouches for the sizes of its buffers.
        let outcome = unsafe { self.stream.launch(kernel.function, launch, &mut pointers) };
        self.context
            .check(&format!("launching kernel {entry} of {}", self.kernel), outcome)
    }

    fn multiply(&self, gemm: &Gemm) -> Result<(), DeviceError> {
        let library = self.library.as_ref().ok_or_else(|| {
            DeviceError::Invalid(
                "a step calls the library, which the workload's setup does not name".to_owned(),
            )
        })?;
        gemm.check(|id| self.buffers.get(id.0).map_or(0, |buffer| 4 * buffer.words))
            .map_err(|error| DeviceError::Invalid(format!("a call of the library: {error}")))?;
        // SAFETY: checked above against the buffers, which live as long as the session, and its work goes into one stream.
        unsafe {
            library.multiply(&self.context.id, gemm, |operand| {
                self.buffers[operand.buffer.0].address + operand.offset as u64
            })
        }
    }

    fn enqueue(&mut self, step: Step, batch: &mut InFlight) -> Result<(), DeviceError> {
        match step {
            Step::Upload { buffer, words } => {
                self.buffer(buffer, words.len())?;
                let mut pinned = self.pinned(words.len())?;
                // SAFETY: a spare or new one: no copy uses it.
                unsafe { pinned.write(&words) };
                let target = self.buffer(buffer, words.len())?;
                // SAFETY: it is kept in `batch.uploads`, untouched, until the batch is done.
                let outcome = unsafe { self.stream.upload(target, &pinned, words.len()) };
                batch.uploads.push(pinned);
                self.context.check("uploading", outcome)
            }
            Step::Clear { buffer, words, value } => {
                let outcome = self.stream.fill(self.buffer(buffer, words)?, words, value);
                self.context.check("clearing a buffer", outcome)
            }
            Step::Launch(launch) => {
                let (start, end) = (self.event()?, self.event()?);
                self.context.check("cuEventRecord", start.record(&self.stream))?;
                self.launch(&launch)?;
                self.context.check("cuEventRecord", end.record(&self.stream))?;
                batch.launches.push((start, end));
                Ok(())
            }
            Step::Gemm(gemm) => {
                let (start, end) = (self.event()?, self.event()?);
                self.context.check("cuEventRecord", start.record(&self.stream))?;
                self.multiply(&gemm)?;
                self.context.check("cuEventRecord", end.record(&self.stream))?;
                batch.launches.push((start, end));
                Ok(())
            }
            Step::Download { buffer, words } => {
                self.buffer(buffer, words)?;
                let pinned = self.pinned(words)?;
                // SAFETY: it is kept in `batch.downloads`, untouched, until the batch is done.
                let outcome = unsafe { self.stream.download(&pinned, self.buffer(buffer, words)?, words) };
                batch.downloads.push((pinned, words));
                self.context.check("downloading", outcome)
            }
        }
    }

    /// A failure that the card reports after the fact is that of a kernel, and it ends the context.
    fn failed(&mut self, error: DeviceError) -> DeviceError {
        self.context.end(&self.kernel);
        self.in_flight.clear();
        error
    }
}

/// Words as the start of an array of 64-bit words: aligned for any structure of words.
fn packed(words: &[u32]) -> Vec<u64> {
    let pair = |pair: &[u32]| u64::from(pair[0]) | u64::from(pair.get(1).copied().unwrap_or(0)) << 32;
    // One at least, so that an empty structure has an address too.
    words
        .chunks(2)
        .map(pair)
        .chain(words.is_empty().then_some(0))
        .collect()
}

impl Session for CudaSession {
    fn build(&self) -> &BuildInfo {
        &self.build
    }

    fn submit(&mut self, index: u64, batch: Batch) -> Result<(), DeviceError> {
        self.context.check_alive()?;
        self.context.make_current()?;
        let done = self.event()?;
        let mut in_flight = InFlight {
            index,
            launches: Vec::new(),
            downloads: Vec::new(),
            uploads: Vec::new(),
            done,
        };
        for step in batch.steps {
            if let Err(error) = self.enqueue(step, &mut in_flight) {
                // Copies that are under way use what `in_flight` holds. If they fail, that is a kernel's failure.
                if self.stream.wait().is_err() {
                    return Err(self.failed(error));
                }
                return Err(error);
            }
        }
        let recorded = in_flight.done.record(&self.stream);
        self.in_flight.push_back(in_flight);
        self.context.check("cuEventRecord", recorded)
    }

    fn wait(&mut self) -> Result<Option<Finished>, DeviceError> {
        let Some(batch) = self.in_flight.front() else {
            return Ok(None);
        };
        self.context.make_current()?;
        let waited = batch.done.wait();
        if let Err(error) = self.context.check(&format!("kernel {}", self.kernel), waited) {
            return Err(self.failed(error));
        }
        let Some(batch) = self.in_flight.pop_front() else {
            return Ok(None);
        };
        let took = |(start, end): &(Event, Event)| {
            self.context.check("cuEventElapsedTime", start.seconds_until(end))
        };
        let launches_s = batch.launches.iter().map(took).collect::<Result<_, _>>()?;
        // SAFETY: the batch is done, so are its copies.
        let outputs = batch
            .downloads
            .iter()
            .map(|(pinned, words)| unsafe { pinned.read(*words) }.to_vec())
            .collect();
        self.spare_events.push(batch.done);
        self.spare_events
            .extend(batch.launches.into_iter().flat_map(|(start, end)| [start, end]));
        self.spare_words.extend(
            batch
                .downloads
                .into_iter()
                .map(|(pinned, _)| pinned)
                .chain(batch.uploads),
        );
        Ok(Some(Finished {
            index: batch.index,
            outputs,
            launches_s,
        }))
    }
}

impl Drop for CudaSession {
    fn drop(&mut self) {
        // What is freed next may still be in use, and is freed in the current context. Errors here are those of a
        // kernel that was reported already.
        let _ = self.context.make_current();
        let _ = self.stream.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::packed;

    #[test]
    fn words_lie_in_memory_as_a_structure_of_words_does() {
        assert_eq!(packed(&[1, 2, 3]), [1 | 2 << 32, 3]);
        assert_eq!(packed(&[]), [0]);
    }
}
