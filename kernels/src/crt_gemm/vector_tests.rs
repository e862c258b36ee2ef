//! The oracles against the constants, slices and bounds of the committed vector file.

use num_bigint::BigUint;
use serde::Deserialize;

use super::moduli::{MODULI, choose, depth_limit, product_of, sums_fit};
use super::split2::{self, FOLD_DEPTH, MODULUS, PRIMES, crt, fold, folds_exactly, residue, slices};

const TEXT: &str = include_str!("../../../harness/tests/vectors/gemm.json");

#[derive(Deserialize)]
struct File {
    seven_primes: SevenPrimes,
    split: Vec<Split>,
    seven_primes_near_bound: Vec<NearFold>,
    moduli: Moduli,
    moduli_near_bound: Vec<NearProduct>,
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
struct NearFold {
    k: i128,
    hi: i128,
    true_sum: String,
    folded: String,
    exact: bool,
}

#[derive(Deserialize)]
struct Moduli {
    list: Vec<u32>,
    cumulative_bits: Vec<f64>,
    k_limit_106: std::collections::BTreeMap<String, u64>,
    k_limit_113: std::collections::BTreeMap<String, u64>,
}

#[derive(Deserialize)]
struct NearProduct {
    moduli: usize,
    k: usize,
    exact: bool,
}

fn file() -> File {
    serde_json::from_str(TEXT).unwrap()
}

#[test]
fn the_primes_are_those_of_the_file() {
    let SevenPrimes {
        primes,
        product,
        k_limit_hi_hi,
    } = file().seven_primes;
    assert_eq!(
        (primes, product, k_limit_hi_hi),
        (PRIMES.to_vec(), MODULUS.to_string(), FOLD_DEPTH)
    );
}

#[test]
fn slices_and_residues_are_those_of_the_file() {
    let rows = file().split;
    assert_eq!(rows.len(), 20);
    for row in rows {
        let got = slices(split2::hex_float(&row.v).unwrap()).unwrap();
        assert_eq!((got.hi, got.lo), (row.hi, row.lo), "{}", row.v);
        let residues = |value| PRIMES.map(|p| residue(value, p)).to_vec();
        assert_eq!(
            (residues(got.hi), residues(got.lo)),
            (row.hi_mod, row.lo_mod),
            "{}",
            row.v
        );
    }
}

#[test]
fn folding_near_the_bound_goes_as_in_the_file() {
    for row in file().seven_primes_near_bound {
        let sum = row.k * row.hi * row.hi;
        assert_eq!(sum.to_string(), row.true_sum);
        assert_eq!(folds_exactly(sum), row.exact, "K = {}", row.k);
        let folded = fold(crt(PRIMES.map(|p| sum.rem_euclid(p.into()) as u32)));
        assert_eq!(folded.to_string(), row.folded, "K = {}", row.k);
    }
}

#[test]
fn moduli_and_limits_are_those_of_the_file() {
    let File {
        moduli,
        moduli_near_bound,
        ..
    } = file();
    assert_eq!(moduli.list, MODULI);
    for (count, bits) in (1..).zip(&moduli.cumulative_bits) {
        let ours: f64 = MODULI[..count].iter().map(|&m| f64::from(m).log2()).sum();
        // The file has four digits.
        assert_eq!((ours * 1e4).round(), (bits * 1e4).round(), "{count} moduli");
    }
    for (bits, limits) in [(106, &moduli.k_limit_106), (113, &moduli.k_limit_113)] {
        for (count, limit) in limits {
            assert_eq!(
                depth_limit(count.parse().unwrap(), bits),
                (*limit).into(),
                "{count} moduli, {bits} bits"
            );
        }
    }
    assert_eq!(moduli_near_bound.len(), 5);
    let largest = BigUint::from(1u32) << 106;
    for row in moduli_near_bound {
        let fits = sums_fit(row.k, &largest, &largest, &product_of(row.moduli));
        assert_eq!(fits, row.exact, "{} moduli, K = {}", row.moduli, row.k);
        assert_eq!(choose(row.k, 106).unwrap() <= row.moduli, row.exact);
    }
}
