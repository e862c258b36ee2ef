//! The cases of a vector file: slices with their residues, and sums near the bound of the signed fold. Its other sections
//! belong to other schemes and are counted.

use serde::Deserialize;

use super::findings::Findings;
use super::products::{Case, ProductCheck};
use crate::crt_gemm::Matrix;
use crate::crt_gemm::kernel::Kernel;
use crate::crt_gemm::problem::Problem;
use crate::crt_gemm::split2::{
    ACCUMULATOR_DEPTH, FOLD_DEPTH, MODULUS, PRIMES, crt, fold, folds_exactly, hex_float, residue, slices,
};
use crate::family::VectorError;

/// Largest K of a case: what a host multiplies in a moment.
const MOST_DEPTH: usize = ACCUMULATOR_DEPTH;

#[derive(Deserialize)]
struct File {
    seven_primes: SevenPrimes,
    split: Vec<Split>,
    seven_primes_near_bound: Vec<Near>,
    #[serde(default)]
    moduli_near_bound: Vec<serde::de::IgnoredAny>,
    #[serde(default)]
    dd_cases: Vec<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct SevenPrimes {
    primes: Vec<u32>,
    product: String,
    k_limit_hi_hi: usize,
}

#[derive(Deserialize)]
struct Split {
    v: String,
    hi: i64,
    lo: i64,
    hi_mod: Vec<u8>,
    lo_mod: Vec<u8>,
}

#[derive(Deserialize)]
struct Near {
    k: usize,
    hi: i64,
    true_sum: String,
    folded: String,
    exact: bool,
}

/// A vector file, read.
pub struct VectorFile {
    values: Vec<f64>,
    file: File,
}

impl VectorFile {
    /// Read the text of a vector file.
    ///
    /// # Errors
    /// When it is not JSON of the right shape, or a case cannot be one.
    pub fn parse(text: &str) -> Result<VectorFile, VectorError> {
        let file: File = serde_json::from_str(text).map_err(|error| VectorError(error.to_string()))?;
        let mut values = Vec::new();
        for (row, split) in file.split.iter().enumerate() {
            let value = hex_float(&split.v).filter(|v| slices(*v).is_some());
            let bad = || {
                VectorError(format!(
                    "split[{row}].v: `{}` is not a hexadecimal double below 2^45",
                    split.v
                ))
            };
            values.push(value.ok_or_else(bad)?);
        }
        for (row, near) in file.seven_primes_near_bound.iter().enumerate() {
            if near.k > MOST_DEPTH || near.hi.unsigned_abs() > 1 << 17 {
                return Err(VectorError(format!(
                    "seven_primes_near_bound[{row}]: k above {MOST_DEPTH} or hi above 131072 is no case of this scheme"
                )));
            }
        }
        Ok(VectorFile { values, file })
    }

    /// How many cases it has, of every scheme.
    pub fn cases(&self) -> u64 {
        let ours = self.file.split.len() + self.file.seven_primes_near_bound.len();
        (ours + self.ignored()) as u64
    }

    fn ignored(&self) -> usize {
        self.file.moduli_near_bound.len() + self.file.dd_cases.len()
    }

    /// The check of its cases. What the file says is first compared with the host's own answers, and then those with the
    /// kernel's: a wrong file and a wrong kernel both show.
    pub fn check(&self, kernel: Kernel) -> ProductCheck {
        let mut findings = Findings::default();
        self.constants(&mut findings);
        self.splits(&mut findings);
        self.folds(&mut findings);
        findings.not_covered(self.ignored() as u64);
        let column = Matrix {
            rows: self.values.len(),
            cols: 1,
            values: self.values.clone(),
        };
        let row = column.transposed();
        let one = Matrix::constant(1, 1, 1.0);
        let case = |name: String, a: Matrix, b: Matrix| Case {
            name,
            problem: Problem::new(a, b),
            clear: true,
        };
        let mut cases = vec![
            case("split of A".to_owned(), column, one.clone()),
            case("split of B".to_owned(), one, row),
        ];
        cases.extend(self.file.seven_primes_near_bound.iter().map(|near| {
            let v = near.hi as f64 / 131_072.0;
            let name = format!("K = {}, hi = {}", near.k, near.hi);
            case(
                name,
                Matrix::constant(1, near.k, v),
                Matrix::constant(near.k, 1, v),
            )
        }));
        ProductCheck::new(kernel, "vectors", cases, findings)
    }

    fn constants(&self, findings: &mut Findings) {
        let given = &self.file.seven_primes;
        let show = |v: &String| v.clone();
        let numbers = |primes: &[u32], product: &str, limit: usize| -> Vec<String> {
            let primes = primes.iter().map(u32::to_string);
            primes.chain([product.to_owned(), limit.to_string()]).collect()
        };
        findings.compare(
            "residue",
            numbers(&PRIMES, &MODULUS.to_string(), FOLD_DEPTH),
            numbers(&given.primes, &given.product, given.k_limit_hi_hi),
            |i| format!("number {i} of seven_primes"),
            show,
        );
    }

    fn splits(&self, findings: &mut Findings) {
        for (split, &v) in self.file.split.iter().zip(&self.values) {
            let Some(ours) = slices(v) else { continue };
            let name = |i: usize| format!("slice {i} of {}", split.v);
            findings.compare(
                "split",
                [ours.hi, ours.lo],
                [split.hi, split.lo],
                name,
                i64::to_string,
            );
            for (slice, value, given) in [("hi", ours.hi, &split.hi_mod), ("lo", ours.lo, &split.lo_mod)] {
                let ours = PRIMES.map(|prime| residue(value, prime));
                let name = |i: usize| format!("residue {i} of {slice} of {}", split.v);
                findings.compare("residue", ours, given.iter().copied(), name, u8::to_string);
            }
        }
    }

    fn folds(&self, findings: &mut Findings) {
        for near in &self.file.seven_primes_near_bound {
            let sum = near.k as i128 * i128::from(near.hi) * i128::from(near.hi);
            let back = fold(crt(PRIMES.map(|prime| sum.rem_euclid(prime.into()) as u32)));
            let ours = [sum.to_string(), back.to_string(), folds_exactly(sum).to_string()];
            let given = [near.true_sum.clone(), near.folded.clone(), near.exact.to_string()];
            let name = |i: usize| format!("{} of K = {}", ["true_sum", "folded", "exact"][i.min(2)], near.k);
            findings.compare("crt", ours, given, name, String::clone);
        }
    }
}
