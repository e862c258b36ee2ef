//! Products whose every layer (in a trace build) or whose result (in a production build) is compared with the host's.

use super::expected::Expected;
use super::findings::{Findings, not_formed_but};
use crate::crt_gemm::kernel::{FOLD_BOUND, Kernel, PLANES, POISON, Place, STALE, UNFORMED};
use crate::crt_gemm::problem::{Problem, Shape, Side};
use crate::crt_gemm::split2::{PRIMES, Pass};
use crate::crt_gemm::words;
use crate::family::{Check, Verdict};
use crate::workload::{Batch, Collected, Fault, Outputs, Setup, Step, Workload};

/// The layers of the two-slice scheme.
const FORMED: [&str; 6] = ["split", "residue", "accumulator", "mod", "crt", "scale"];

/// A product of a check.
#[derive(Debug, Clone)]
pub struct Case {
    /// What is special about it.
    pub name: String,
    /// The product.
    pub problem: Problem,
    /// Whether C is poisoned first. Else it holds what the case before has left.
    pub clear: bool,
}

/// The check: a batch for each case.
pub struct ProductCheck {
    kernel: Kernel,
    name: String,
    cases: Vec<Case>,
    findings: Findings,
}

impl ProductCheck {
    /// The check of `cases`; K of each is within what 32-bit sums hold.
    pub fn new(kernel: Kernel, name: &str, cases: Vec<Case>, findings: Findings) -> ProductCheck {
        ProductCheck {
            kernel,
            name: name.to_owned(),
            cases,
            findings,
        }
    }

    /// The buffers that come back, in order.
    fn downloaded(&self) -> impl Iterator<Item = Place> + '_ {
        Place::ALL
            .into_iter()
            .filter(|place| !matches!(place, Place::A | Place::B))
            .filter(|place| self.kernel.trace || !place.is_trace())
    }
}

impl Workload for ProductCheck {
    fn setup(&self) -> Setup {
        self.kernel
            .setup(self.cases.iter().map(|case| case.problem.geometry()))
    }

    fn batch(&mut self, index: u64) -> Option<Batch> {
        let case = self.cases.get(index as usize)?;
        let problem = &case.problem;
        let geometry = problem.geometry();
        let shape = geometry.shape;
        // A case beyond the bound would be an error of the check's own: it is never launched.
        let status = Kernel::status(shape.depth).unwrap_or(FOLD_BOUND);
        let mut steps = Vec::new();
        for (place, side) in [(Place::A, Side::A), (Place::B, Side::B)] {
            steps.push(Step::Upload {
                buffer: place.id(),
                words: words::of_doubles(&problem.stored(side)),
            });
        }
        for place in self.downloaded() {
            if place != Place::C || case.clear {
                steps.push(Step::Clear {
                    buffer: place.id(),
                    words: self.kernel.words_of(place, &geometry),
                    value: if place == Place::Status {
                        status
                    } else {
                        place.fill()
                    },
                });
            }
        }
        steps.extend(self.kernel.launches(&geometry));
        steps.extend(self.downloaded().map(|place| Step::Download {
            buffer: place.id(),
            words: self.kernel.words_of(place, &geometry),
        }));
        Some(Batch {
            steps,
            units: shape.units(),
        })
    }

    fn collect(&mut self, index: u64, outputs: Outputs) -> Result<Collected, Fault> {
        let case = &self.cases[index as usize];
        let expected = Expected::of(&case.problem);
        let places: Vec<Place> = self.downloaded().collect();
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

impl Check for ProductCheck {
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
    kernel: &'c Kernel,
    case: &'c Case,
    expected: &'c Expected,
    findings: &'c mut Findings,
}

impl Comparison<'_> {
    fn place(&mut self, place: Place, words: &[u32]) {
        match place {
            Place::A | Place::B => {}
            Place::ResiduesA => self.residues(Side::A, words),
            Place::ResiduesB => self.residues(Side::B, words),
            Place::SlicesA => self.slices(Side::A, words),
            Place::SlicesB => self.slices(Side::B, words),
            Place::Accumulators => self.accumulators(words),
            Place::Mods => self.mods(words),
            Place::Sums => self.sums(words),
            Place::Status => self.status(words),
            Place::C => self.result(words),
        }
    }

    fn slices(&mut self, side: Side, words: &[u32]) {
        let cut = &self.expected.cuts[side as usize];
        let unformed = u64::from(UNFORMED) << 32 | u64::from(UNFORMED);
        let expected = cut
            .slices
            .iter()
            .flat_map(|slices| slices.map_or([unformed; 2], |slices| [slices.hi as u64, slices.lo as u64]));
        let depth = self.expected.shape.depth;
        let name = |place: usize| {
            let slice = if place.is_multiple_of(2) { "hi" } else { "lo" };
            format!(
                "{}, {slice} of {}",
                self.case.name,
                element(side, place / 2 / depth, place / 2 % depth)
            )
        };
        self.findings
            .compare("split", words::longs(words), expected, name, |v| {
                (*v as i64).to_string()
            });
    }

    /// Residues and, where the kernel wants padding, its zeros.
    fn residues(&mut self, side: Side, words: &[u32]) {
        let (plane, cut) = (
            self.kernel.plane(self.expected.shape, side),
            &self.expected.cuts[side as usize],
        );
        let depth = self.expected.shape.depth;
        let mut expected = vec![0; plane.bytes() * PLANES];
        for (number, part) in expected.chunks_mut(plane.bytes().max(1)).enumerate() {
            for (line, k) in (0..cut.lines).flat_map(|line| (0..depth).map(move |k| (line, k))) {
                part[plane.at(line, k)] = cut.residue(number, line, k);
            }
        }
        // The last word may have bytes to spare, which stay as they were.
        expected.resize(4 * words.len(), POISON.to_le_bytes()[0]);
        let name = |place: usize| {
            let (number, place) = (place / plane.bytes(), place % plane.bytes());
            let (line, k) = plane.of(place);
            let slice = if number < PRIMES.len() { "hi" } else { "lo" };
            let prime = PRIMES[number % PRIMES.len()];
            format!(
                "{}, {slice} of {} modulo {prime}",
                self.case.name,
                element(side, line, k)
            )
        };
        self.findings
            .compare("residue", words::bytes(words), expected, name, u8::to_string);
    }

    fn accumulators(&mut self, words: &[u32]) {
        let expected = passes_and_primes().flat_map(|(pass, prime)| self.expected.accumulators(pass, prime));
        let got = words.iter().map(|&word| Some(word as i32));
        let (case, shape) = (self.case, self.expected.shape);
        let name = |place| pass_name(case, shape, place, PRIMES.len());
        let show = |sum: &Option<i32>| sum.map_or("beyond 32 bits".to_owned(), |sum| sum.to_string());
        self.findings.compare("accumulator", got, expected, name, show);
    }

    fn mods(&mut self, words: &[u32]) {
        let expected = passes_and_primes().flat_map(|(pass, prime)| self.expected.mods(pass, prime));
        let got = words.iter().map(|&word| word as i32);
        let (case, shape) = (self.case, self.expected.shape);
        let name = |place| pass_name(case, shape, place, PRIMES.len());
        self.findings.compare("mod", got, expected, name, i32::to_string);
    }

    fn sums(&mut self, words: &[u32]) {
        let unformed = (u64::from(UNFORMED) << 32 | u64::from(UNFORMED)) as i64;
        let expected = (0..Pass::ALL.len())
            .flat_map(|pass| self.expected.sums(pass))
            .map(|sum| sum.unwrap_or(unformed));
        let got = words::longs(words).map(|sum| sum as i64);
        let (case, shape) = (self.case, self.expected.shape);
        let name = |place| pass_name(case, shape, place, 1);
        let show = |sum: &i64| match *sum {
            sum if sum == unformed => "not formed".to_owned(),
            sum => sum.to_string(),
        };
        self.findings.compare("crt", got, expected, name, show);
    }

    /// A refused product is known by its status, and one that is not by having none.
    fn status(&mut self, words: &[u32]) {
        let refused = words.first().is_some_and(|status| *status != 0);
        let shape = self.expected.shape;
        // Without elements a value that is out of range reaches no result.
        if shape.elements() > 0 && refused != self.expected.refusal.is_some() {
            let outcome = |refused| if refused { "refused" } else { "computed" }.to_owned();
            let expected = self.expected.refusal.as_ref();
            self.findings.differs("crt", || {
                let why = expected.map_or(outcome(false), |why| format!("refused: {why}"));
                (format!("{}, the product", self.case.name), outcome(refused), why)
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
        self.findings.compare(
            "scale",
            words::longs(words),
            expected.map(f64::to_bits),
            name,
            show,
        );
    }
}

/// Which value of the traces of sums one is.
fn pass_name(case: &Case, shape: Shape, place: usize, primes: usize) -> String {
    let (number, place) = (place / shape.elements(), place % shape.elements());
    let prime = if primes > 1 {
        format!(" modulo {}", PRIMES[number % primes])
    } else {
        String::new()
    };
    let pass = Pass::ALL[number / primes].name();
    let (r, c) = (place / shape.cols, place % shape.cols);
    format!("{}, {pass}{prime} of C[{r}, {c}]", case.name)
}

/// Every pass with every prime, in the order of the trace.
fn passes_and_primes() -> impl Iterator<Item = (usize, usize)> {
    (0..Pass::ALL.len()).flat_map(|pass| (0..PRIMES.len()).map(move |prime| (pass, prime)))
}

/// The name of a value by its line along K.
pub fn element(side: Side, line: usize, k: usize) -> String {
    match side {
        Side::A => format!("A[{line}, {k}]"),
        Side::B => format!("B[{k}, {line}]"),
    }
}
