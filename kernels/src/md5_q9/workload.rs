//! What every md5-q9 workload is made of: a build of the kernel, its launches, and the reading of its hits.

use std::sync::Arc;

use ::md5::{Digest, Md5};

use super::base::Base;
use super::machine::{Input, Layer};
use super::md5::digest_bytes;
use super::mutate::Mutation;
use super::options::{VariantFile, Walk};
use super::run::Md5Native;
use super::source::{ENTRY, source};
use crate::workload::{Argument, Buffer, BufferId, Fault, Hit, Launch, Outputs, Setup, Source, Step};

/// Words in front of a trace row's layers: how often it was written, and Q9.
pub const ROW_HEAD: usize = 2;
/// Words of a trace row.
pub const ROW: usize = ROW_HEAD + Layer::COUNT;
/// What a trace holds where nothing was written.
pub const UNFORMED: u32 = 0xdead_beef;
/// Words in front of the hit records: their count.
pub const HIT_HEAD: usize = 1;
/// Words of a hit record: Q9 and the digest's A, B, C, D.
pub const HIT_WORDS: usize = 5;

/// What a build of the kernel does with Q61.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// The production build: all of it must be the target.
    Whole,
    /// The production build with the test narrowed to so many low bits, 1..=31.
    Bits(u32),
    /// The trace build: everything passes, and every layer is kept.
    Trace,
}

impl Test {
    /// The bits of Q61 that are compared.
    pub fn mask(self) -> u32 {
        match self {
            Test::Whole => u32::MAX,
            Test::Bits(bits) => (1 << bits) - 1,
            Test::Trace => 0,
        }
    }
}

/// A build of a variant's kernel.
pub struct Kernel {
    /// The variant.
    pub file: Arc<VariantFile>,
    /// What it does with Q61.
    pub test: Test,
    name: String,
    text: String,
    inputs: Vec<Input>,
    mutation: Option<Mutation>,
}

/// One launch of it.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// First slot.
    pub first: u64,
    /// Number of slots.
    pub slots: u64,
    /// Slots a thread.
    pub inner: u32,
    /// Q61 of a hit.
    pub target: u32,
    /// Where the hits go.
    pub hits: BufferId,
    /// Records that fit there.
    pub capacity: u32,
    /// Where the trace goes.
    pub trace: BufferId,
}

/// Arguments of a launch, as [`Kernel::launch`] lays them out.
pub struct LaunchArguments<'l> {
    /// The `Base` structure.
    pub base: &'l [u32],
    /// First slot.
    pub first: u64,
    /// Number of slots.
    pub slots: u64,
    /// Q61 of a hit.
    pub target: u32,
    /// The hit buffer.
    pub hits: BufferId,
    /// Records that fit in it.
    pub capacity: u32,
    /// The trace buffer.
    pub trace: BufferId,
}

impl<'l> LaunchArguments<'l> {
    /// Read a launch; `None` when it is not one of this family.
    pub fn read(launch: &'l Launch) -> Option<LaunchArguments<'l>> {
        let [
            Argument::Words(base),
            Argument::U64(first),
            Argument::U64(slots),
            Argument::U32(_inner),
            Argument::U32(target),
            Argument::U32(_one),
            Argument::Buffer(hits),
            Argument::U32(capacity),
            Argument::Buffer(trace),
        ] = launch.arguments.as_slice()
        else {
            return None;
        };
        Some(LaunchArguments {
            base,
            first: *first,
            slots: *slots,
            target: *target,
            hits: *hits,
            capacity: *capacity,
            trace: *trace,
        })
    }
}

impl Kernel {
    /// The build of the variant `name` that does `test`.
    pub fn new(name: &str, file: Arc<VariantFile>, test: Test, mutation: Option<Mutation>) -> Kernel {
        let printed = source(&file, mutation);
        Kernel {
            file,
            test,
            name: name.to_owned(),
            text: printed.text,
            inputs: printed.inputs,
            mutation,
        }
    }

    /// Its walk.
    pub fn walk(&self) -> Walk {
        self.file.options.walk
    }

    /// Its CUDA text.
    pub fn source(&self) -> Source {
        let defines = match self.test {
            Test::Whole => vec![],
            Test::Bits(bits) => vec![format!("ASSAY_TEST_BITS={bits}")],
            Test::Trace => vec!["ASSAY_TRACE".to_owned()],
        };
        Source {
            file: format!("md5-q9-{}.cu", self.name),
            text: self.text.clone(),
            defines,
            entry: ENTRY,
            helpers: vec![],
            options: vec![],
        }
    }

    /// What to build, with the given buffers.
    pub fn setup(&self, buffers: Vec<Buffer>) -> Setup {
        Setup {
            source: self.source(),
            native: Some(Arc::new(Md5Native {
                options: self.file.options,
                inputs: self.inputs.clone(),
                test: self.test,
                states: self.file.cpu.states,
                mutation: self.mutation,
            })),
            library: None,
            buffers,
        }
    }

    /// A launch over `span` of `base`.
    pub fn launch(&self, base: &Base, span: &Span) -> Step {
        let threads = span.slots.div_ceil(u64::from(span.inner));
        Step::Launch(Launch {
            entry: ENTRY,
            grid: threads.div_ceil(u64::from(self.file.launch.block)) as u32,
            block: self.file.launch.block,
            shared_bytes: 0,
            arguments: vec![
                Argument::Words(self.inputs.iter().map(|&input| base.input(input)).collect()),
                Argument::U64(span.first),
                Argument::U64(span.slots),
                Argument::U32(span.inner),
                Argument::U32(span.target),
                Argument::U32(1),
                Argument::Buffer(span.hits),
                Argument::U32(span.capacity),
                Argument::Buffer(span.trace),
            ],
        })
    }
}

/// A hit buffer for `capacity` records.
pub fn hit_buffer(name: &'static str, capacity: u32) -> Buffer {
    Buffer {
        name,
        words: hit_words(capacity),
        fill: 0,
    }
}

/// Words of a hit buffer for `capacity` records.
pub fn hit_words(capacity: u32) -> usize {
    HIT_HEAD + HIT_WORDS * capacity as usize
}

/// A reported hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// The candidate.
    pub q9: u32,
    /// Digest words A, B, C, D as the kernel formed them.
    pub digest: [u32; 4],
}

/// The reports of a batch whose only download is its hit buffer.
///
/// # Errors
/// [`Fault::Overflow`] when there were more hits than room; [`Fault::Malformed`] when the buffer is not one.
pub fn reports(batch: u64, outputs: &Outputs, capacity: u32) -> Result<Vec<Report>, Fault> {
    let [words] = outputs.as_slice() else {
        return Err(Fault::Malformed {
            batch,
            what: format!("{} downloads instead of one", outputs.len()),
        });
    };
    if words.len() != hit_words(capacity) {
        return Err(Fault::Malformed {
            batch,
            what: format!("a hit buffer of {} words", words.len()),
        });
    }
    if words[0] > capacity {
        return Err(Fault::Overflow {
            found: words[0].into(),
            capacity: capacity.into(),
        });
    }
    let records = words[HIT_HEAD..].as_chunks::<HIT_WORDS>().0;
    Ok(records[..words[0] as usize]
        .iter()
        .map(|&[q9, a, b, c, d]| Report {
            q9,
            digest: [a, b, c, d],
        })
        .collect())
}

/// Confirm a report: its message, hashed anew by the md-5 crate, has the digest that the kernel formed, and passes
/// the test under the digest's own word A.
///
/// # Errors
/// [`Fault::Unconfirmed`] says what differs.
pub fn confirm(batch: u64, base: &Base, report: Report, target: u32, mask: u32) -> Result<Hit, Fault> {
    let message = base.message(report.q9);
    let digest: [u8; 16] = Md5::digest(&message).into();
    let candidate = || format!("{} Q9 {:08x}", base.id, report.q9);
    if digest_bytes(report.digest) != digest {
        return Err(Fault::Unconfirmed {
            batch,
            candidate: candidate(),
            what: format!(
                "its digest is {}, not {}",
                hex(&digest),
                hex(&digest_bytes(report.digest))
            ),
        });
    }
    let a = u32::from_le_bytes([digest[0], digest[1], digest[2], digest[3]]);
    // A = A0 + Q61, and A0 is the negative of the target that makes A zero.
    let q61 = a.wrapping_add(base.zero_target());
    if (q61 ^ target) & mask != 0 {
        return Err(Fault::Unconfirmed {
            batch,
            candidate: candidate(),
            what: format!("its Q61 is {q61:08x} where the test wanted {target:08x} under mask {mask:08x}"),
        });
    }
    Ok(Hit {
        base: base.record(),
        message,
        digest,
    })
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
