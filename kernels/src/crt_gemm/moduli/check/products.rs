//! Products whose every layer (in a trace build) or whose buffers of a production build are compared with the host's.

use num_bigint::BigInt;

use super::expected::Expected;
use crate::crt_gemm::check::{Case, Findings, element, not_formed_but};
use crate::crt_gemm::kernel::{STALE, UNFORMED};
use crate::crt_gemm::moduli::buffers::Place;
use crate::crt_gemm::moduli::kernel::{ModuliKernel, pitch};
use crate::crt_gemm::moduli::norms;
use crate::crt_gemm::moduli::numbers::SUM_WORDS;
use crate::crt_gemm::moduli::scaling::Bound;
use crate::crt_gemm::moduli::table::MODULI;
use crate::crt_gemm::problem::{Shape, Side};
use crate::crt_gemm::words;
use crate::family::{Check, Verdict};
use crate::workload::{Batch, Collected, Fault, Outputs, Setup, Step, Workload};

/// The layers of the scheme.
const FORMED: [&str; 9] = [
    "magnitude",
    "bound",
    "exponent",
    "split",
    "residue",
    "accumulator",
    "mod",
    "crt",
    "scale",
];

/// The check: a batch for each case.
pub struct ModuliCheck {
    kernel: ModuliKernel,
    name: String,
    /// Each with its count of moduli.
    cases: Vec<(Case, usize)>,
    findings: Findings,
}

impl ModuliCheck {
    /// The check of `cases`; one whose K is refused on the host is left out: it has no launches.
    pub fn new(kernel: ModuliKernel, name: &str, cases: Vec<Case>, findings: Findings) -> ModuliCheck {
        let counted = |case: Case| {
            let count = kernel.count(case.problem.shape().depth).ok()?;
            Some((case, count))
        };
        ModuliCheck {
            cases: cases.into_iter().filter_map(counted).collect(),
            kernel,
            name: name.to_owned(),
            findings,
        }
    }

    /// The buffers that come back, in order.
    fn downloaded(&self) -> impl Iterator<Item = Place> + '_ {
        Place::ALL
            .into_iter()
            .filter(|place| !matches!(place, Place::Values(_)))
            .filter(|place| self.kernel.writes(*place))
    }
}

impl Workload for ModuliCheck {
    fn setup(&self) -> Setup {
        self.kernel.setup(
            self.cases
                .iter()
                .map(|(case, count)| (case.problem.geometry(), *count)),
        )
    }

    fn batch(&mut self, index: u64) -> Option<Batch> {
        let (case, count) = self.cases.get(index as usize)?;
        let problem = &case.problem;
        let geometry = problem.geometry();
        let mut steps = Vec::new();
        for side in [Side::A, Side::B] {
            steps.push(Step::Upload {
                buffer: Place::Values(side).id(),
                words: words::of_doubles(&problem.stored(side)),
            });
        }
        let words = |place| self.kernel.words_of(place, &geometry, *count);
        for place in self.downloaded() {
            if place != Place::C || case.clear {
                steps.push(Step::Clear {
                    buffer: place.id(),
                    words: words(place),
                    value: place.fill(),
                });
            }
        }
        steps.extend(self.kernel.steps(&geometry, *count));
        steps.extend(self.downloaded().map(|place| Step::Download {
            buffer: place.id(),
            words: words(place),
        }));
        Some(Batch {
            steps,
            units: geometry.shape.units(),
        })
    }

    fn collect(&mut self, index: u64, outputs: Outputs) -> Result<Collected, Fault> {
        let places: Vec<Place> = self.downloaded().collect();
        let (case, count) = &self.cases[index as usize];
        let expected = Expected::of(&case.problem, *count, &self.kernel.file);
        if outputs.len() != places.len() {
            return Err(Fault::Malformed {
                batch: index,
                what: format!("{} downloads instead of {}", outputs.len(), places.len()),
            });
        }
        let mut comparison = Comparison {
            kernel: &self.kernel,
            case,
            expected: &expected,
            findings: &mut self.findings,
        };
        for (place, words) in places.into_iter().zip(&outputs) {
            comparison.place(place, words);
        }
        Ok(Collected {
            units: expected.shape.units(),
            ..Collected::default()
        })
    }
}

impl Check for ModuliCheck {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn finish(&mut self) -> Verdict {
        Verdict {
            not_formed: not_formed_but(&FORMED),
            ..self.findings.verdict()
        }
    }
}

/// One case's buffers against the host's answers.
struct Comparison<'c> {
    kernel: &'c ModuliKernel,
    case: &'c Case,
    expected: &'c Expected,
    findings: &'c mut Findings,
}

impl Comparison<'_> {
    fn place(&mut self, place: Place, words: &[u32]) {
        match place {
            Place::Values(_) => {}
            Place::Tops(side) => {
                let expected = self.expected.tops(side);
                let name = self.line_name("the top of", side);
                self.findings
                    .compare("magnitude", words.iter().copied(), expected, name, u32::to_string);
            }
            Place::Norms(side) => self.norms(side, words),
            Place::Magnitudes(side) => self.magnitudes(side, words),
            Place::Bounds(side) => {
                let name = self.line_name("the bound of", side);
                let expected = self.expected.bounds(side);
                self.findings
                    .compare("bound", words::longs(words), expected, name, u64::to_string);
            }
            Place::Exponents(side) => {
                let expected = self.expected.exponents(side).iter().copied();
                let name = self.line_name("the exponent of", side);
                let got = words.iter().map(|&word| word as i32);
                self.findings
                    .compare("exponent", got, expected, name, i32::to_string);
            }
            Place::Residues(side) => self.residues(side, words),
            Place::Remainders => self.remainders(words),
            Place::C => self.result(words),
            Place::Status => self.status(words),
            Place::Integers(side) => self.integers(side, words),
            Place::Accumulators => self.accumulators(words),
            Place::Sums => self.sums(words),
        }
    }

    fn line_name(&self, what: &'static str, side: Side) -> impl Fn(usize) -> String + use<> {
        let name = self.case.name.clone();
        let of = match side {
            Side::A => "row",
            Side::B => "column",
        };
        move |line| format!("{name}, {what} {of} {line}")
    }

    /// Bytes of a padded plane for each modulus, zero in the padding.
    fn planes(
        &mut self,
        layer: &'static str,
        side: Side,
        words: &[u32],
        (shape, count): (Shape, usize),
        value: impl Fn(usize, usize, usize) -> u8,
        modulus: impl Fn(usize) -> String,
    ) {
        let plane = self.kernel.plane(shape, side);
        let depth = shape.depth;
        let mut expected = vec![0; plane.bytes() * count];
        for (number, part) in expected.chunks_mut(plane.bytes().max(1)).enumerate() {
            for (line, k) in
                (0..self.expected.lines(side)).flat_map(|line| (0..depth).map(move |k| (line, k)))
            {
                part[plane.at(line, k)] = value(number, line, k);
            }
        }
        let name = |place: usize| {
            let (number, place) = (place / plane.bytes(), place % plane.bytes());
            let (line, k) = plane.of(place);
            let of = element(side, line, k);
            format!("{}, {of}{}", self.case.name, modulus(number))
        };
        let kind = self.kernel.file.residues();
        let show = |byte: &u8| kind.value(*byte).to_string();
        self.findings
            .compare(layer, words::bytes(words), expected, name, show);
    }

    fn norms(&mut self, side: Side, words: &[u32]) {
        let lines = self.expected.rounded(side).iter();
        let expected = lines.flat_map(|line| line.norms.iter().map(|norm| norm.packed()));
        let (case, blocks) = (self.case, self.kernel.bound_shape(self.expected.shape).depth);
        let name = |place: usize| {
            let of = element(side, place / blocks, place % blocks * norms::BLOCK);
            format!("{}, the norm of the block from {of} on", case.name)
        };
        let got = words.iter().copied();
        self.findings
            .compare("magnitude", got, expected, name, u32::to_string);
    }

    fn magnitudes(&mut self, side: Side, words: &[u32]) {
        if words.is_empty() {
            return;
        }
        let expected = self.expected;
        let shape = self.kernel.bound_shape(expected.shape);
        let value = |_, line: usize, k: usize| expected.rounded(side)[line].values[k] as u8;
        let unit = match self.kernel.bound() {
            Bound::Fast | Bound::Accurate => String::new(),
            Bound::Blocks => format!(" in blocks of {} of K", norms::BLOCK),
        };
        self.planes("magnitude", side, words, (shape, 1), value, |_| unit.clone());
    }

    fn residues(&mut self, side: Side, words: &[u32]) {
        let expected = self.expected;
        let value = |number, line, k| expected.residue(side, number, line, k);
        let modulus = |number: usize| format!(" modulo {}", MODULI[number]);
        let planes = (expected.shape, expected.count);
        self.planes("residue", side, words, planes, value, modulus);
    }

    fn integers(&mut self, side: Side, words: &[u32]) {
        let depth = self.expected.shape.depth;
        let name = |place: usize| {
            format!(
                "{}, {}",
                self.case.name,
                element(side, place / depth, place % depth)
            )
        };
        let expected = self.expected.integers[side as usize].iter().copied();
        self.findings
            .compare("split", words::quads(words), expected, name, i128::to_string);
    }

    fn accumulators(&mut self, words: &[u32]) {
        let expected = (0..self.expected.count).flat_map(|modulus| self.expected.accumulators(modulus));
        let (case, shape) = (self.case, self.expected.shape);
        // What lies between the rows belongs to nobody.
        let pitch = self.kernel.accumulator_pitch(shape);
        let rows = words.chunks(pitch.max(1)).flat_map(|row| &row[..shape.cols]);
        let got = rows.map(|&word| word as i32);
        let name = |place: usize| {
            let (number, place) = (place / shape.elements(), place % shape.elements());
            let (r, c) = (place / shape.cols, place % shape.cols);
            format!("{}, C[{r}, {c}] modulo {}", case.name, MODULI[number])
        };
        self.findings
            .compare("accumulator", got, expected, name, i32::to_string);
    }

    /// What lies between the rows of remainders belongs to nobody.
    fn remainders(&mut self, words: &[u32]) {
        let (expected, shape) = (self.expected, self.expected.shape);
        let (plane, pitch) = (shape.rows * pitch(shape), pitch(shape));
        let place = |place: usize| (place / plane, place % plane / pitch, place % pitch);
        let bytes = words::bytes(words);
        let is_element = |&at: &usize| place(at).2 < shape.cols;
        let elements: Vec<usize> = (0..bytes.len()).filter(is_element).collect();
        let name = |index: usize| {
            let (number, r, c) = place(elements[index]);
            format!("{}, C[{r}, {c}] modulo {}", self.case.name, MODULI[number])
        };
        let right = |&at: &usize| {
            let (number, r, c) = place(at);
            expected.remainder(number, r * shape.cols + c)
        };
        let got = elements.iter().map(|&at| bytes[at]);
        let right = elements.iter().map(right);
        self.findings.compare("mod", got, right, name, u8::to_string);
    }

    fn sums(&mut self, words: &[u32]) {
        let unformed = BigInt::from_signed_bytes_le(&words::bytes(&[UNFORMED; SUM_WORDS]));
        let expected = self.expected.sums.iter().map(|sum| {
            if self.expected.refused {
                unformed.clone()
            } else {
                sum.clone()
            }
        });
        let got = words
            .chunks(SUM_WORDS)
            .map(|words| BigInt::from_signed_bytes_le(&words::bytes(words)));
        let (case, cols) = (self.case, self.expected.shape.cols);
        let name = |place: usize| format!("{}, the sum of C[{}, {}]", case.name, place / cols, place % cols);
        let show = |sum: &BigInt| {
            if *sum == unformed {
                "not formed".to_owned()
            } else {
                sum.to_string()
            }
        };
        self.findings.compare("crt", got, expected, name, show);
    }

    /// A refused product is known by its status, and one that is not by having none.
    fn status(&mut self, words: &[u32]) {
        let expected = self.expected.refused;
        let refused = words.first().is_some_and(|status| *status != 0);
        // Without elements a value that is not finite reaches no result.
        if self.expected.shape.elements() > 0 && refused != expected {
            let outcome = |refused| if refused { "refused" } else { "computed" }.to_owned();
            self.findings.differs("magnitude", || {
                (
                    format!("{}, the product", self.case.name),
                    outcome(refused),
                    outcome(expected),
                )
            });
        }
    }

    fn result(&mut self, words: &[u32]) {
        let stride = self.case.problem.geometry().c_stride();
        let cols = self.expected.shape.cols;
        let stale = f64::from_bits(u64::from(STALE) << 32 | u64::from(STALE));
        let expected = (0..self.expected.shape.rows)
            .flat_map(|r| (0..stride).map(move |c| (r, c)))
            .map(|(r, c)| if c < cols { self.expected.c(r, c) } else { stale });
        let name = |place: usize| {
            let (r, c) = (place / stride, place % stride);
            let what = if c < cols { "" } else { "the gap behind " };
            format!("{}, {what}C[{r}, {c}]", self.case.name)
        };
        let show = |bits: &u64| format!("{:e} ({bits:016x})", f64::from_bits(*bits));
        let expected = expected.map(f64::to_bits);
        self.findings
            .compare("scale", words::longs(words), expected, name, show);
    }
}
