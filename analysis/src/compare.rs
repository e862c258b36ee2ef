//! Two records side by side: two cards, two drivers, two commits, or the same twice.

use std::collections::BTreeMap;
use std::fmt;

use crate::{
    Align, Manifest, Record, RecordError, Table, TableColumn, class,
    environment::environment,
    natural_key,
    report::ReportError,
    rows::{RunRow, Verdict},
    stats::{Interval, StatsError, welch},
    table::{giga, plus_minus},
};

/// What a variant's two sets of trials say about its two means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Agreement {
    /// The 99 % interval of their ratio holds 1.
    Agree,
    /// It does not.
    Differ,
    /// One trial on either side: nothing can be said.
    Unknown,
}

/// Two records compared. Its `Display` is Markdown.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Whether both were made on the same card; `None` where a card is not known.
    pub same_card: Option<bool>,
    /// A row per variant that both have: rates, units per joule, and the ratios to the baseline.
    pub values: Table,
    /// Whether each ratio to the baseline, in rate and in energy, is the same in both: by variant.
    pub ratios: Vec<(String, Agreement)>,
    /// What differs in the environment.
    pub environment: Table,
}

/// Compares two records from their files.
pub fn compare(a: &Record, b: &Record) -> Result<Comparison, ReportError> {
    let (runs_a, runs_b) = (Trials::of(a)?, Trials::of(b)?);
    let mut rows = Vec::new();
    let mut ratios = Vec::new();
    for (device, variant) in runs_a.variants() {
        if !runs_b.variants().contains(&(device.clone(), variant.clone())) {
            continue;
        }
        for measure in [Measure::Rate, Measure::PerJoule] {
            let of = |trials: &Trials| trials.values(&device, &variant, measure);
            rows.extend(value_row(&variant, measure, &of(&runs_a), &of(&runs_b))?);
        }
        for measure in [Measure::Rate, Measure::PerJoule] {
            let of = |trials: &Trials| trials.ratios(&device, &variant, measure);
            let (in_a, in_b) = (of(&runs_a), of(&runs_b));
            if let Some((row, agreement)) = ratio_row(&variant, measure, &in_a, &in_b)? {
                rows.push(row);
                ratios.push((variant.clone(), agreement));
            }
        }
    }
    let uuid = |record: &Record| record.manifest().gpu.as_ref().and_then(|gpu| gpu.uuid.clone());
    Ok(Comparison {
        same_card: uuid(a).zip(uuid(b)).map(|(a, b)| a == b),
        values: Table {
            columns: value_columns(),
            rows,
            notes: Vec::new(),
        },
        ratios,
        environment: differences(a.manifest(), b.manifest()),
    })
}

/// What is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Measure {
    Rate,
    PerJoule,
}

impl Measure {
    fn of(self, run: &RunRow) -> Option<f64> {
        match self {
            Measure::Rate => Some(run.rate_units_per_s),
            Measure::PerJoule => run.units_per_joule,
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Measure::Rate => "G units/s",
            Measure::PerJoule => "G units/J",
        }
    }

    fn ratio(self) -> &'static str {
        match self {
            Measure::Rate => "rate / baseline",
            Measure::PerJoule => "units per joule / baseline",
        }
    }
}

/// The valid trials of a record.
struct Trials {
    runs: Vec<RunRow>,
    baselines: Vec<String>,
}

impl Trials {
    fn of(record: &Record) -> Result<Self, RecordError> {
        let runs: Vec<RunRow> = record.table()?.unwrap_or_default();
        let plan = record.manifest().plan.as_ref();
        Ok(Self {
            runs: runs
                .into_iter()
                .filter(|run| run.verdict == Verdict::Valid)
                .collect(),
            baselines: plan.map_or_else(Vec::new, |plan| plan.baselines.clone()),
        })
    }

    /// Device and label of every variant, in the order of labels.
    fn variants(&self) -> Vec<(String, String)> {
        let mut variants: Vec<_> = self
            .runs
            .iter()
            .map(|run| (run.device.clone(), run.variant.clone()))
            .collect();
        variants.sort_by_cached_key(|(device, label)| (device.clone(), natural_key(label)));
        variants.dedup();
        variants
    }

    fn by_round(&self, device: &str, variant: &str, measure: Measure) -> BTreeMap<u32, f64> {
        let of_variant = self
            .runs
            .iter()
            .filter(|run| run.device == device && run.variant == variant);
        of_variant
            .filter_map(|run| Some((run.round, measure.of(run)?)))
            .collect()
    }

    fn values(&self, device: &str, variant: &str, measure: Measure) -> Vec<f64> {
        self.by_round(device, variant, measure).into_values().collect()
    }

    /// The ratio to the baseline in each round that has both.
    fn ratios(&self, device: &str, variant: &str, measure: Measure) -> Vec<f64> {
        let baseline = self
            .baselines
            .iter()
            .find(|baseline| class(baseline) == class(variant) && *baseline != variant);
        let Some(baseline) = baseline else {
            return Vec::new();
        };
        let below = self.by_round(device, baseline, measure);
        let above = self.by_round(device, variant, measure);
        above
            .iter()
            .filter_map(|(round, value)| Some(value / below.get(round)?))
            .collect()
    }
}

const fn column(name: &'static str, description: &'static str, align: Align) -> TableColumn {
    TableColumn {
        name,
        unit: "",
        description,
        align,
    }
}

fn value_columns() -> Vec<TableColumn> {
    vec![
        column("variant", "what was run", Align::Left),
        column(
            "what",
            "a rate, units per joule, or their ratio to the baseline of the same round",
            Align::Left,
        ),
        column(
            "A",
            "mean of the first record's valid trials or rounds",
            Align::Right,
        ),
        column("B", "mean of the second record's", Align::Right),
        column(
            "B / A",
            "ratio of the means and its 99 % interval (Welch's t on logarithms; a single trial is taken to scatter as the other record's)",
            Align::Right,
        ),
        column("verdict", "whether that interval holds 1", Align::Left),
    ]
}

/// Ratio of two means with its 99 % interval, by the two-sample t on logarithms; the interval needs two values on one side.
fn ratio(a: &[f64], b: &[f64]) -> Result<(f64, Option<Interval>), StatsError> {
    let logs = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<f64>>();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    Ok(match welch(&logs(b), &logs(a))? {
        Some(welch) => (
            welch.difference.exp(),
            Some(Interval {
                lo: welch.ci99.lo.exp(),
                hi: welch.ci99.hi.exp(),
            }),
        ),
        None => (mean(b) / mean(a), None),
    })
}

fn row(
    variant: &str,
    what: &str,
    means: [String; 2],
    a: &[f64],
    b: &[f64],
) -> Result<(Vec<String>, Agreement), StatsError> {
    let (ratio, interval) = ratio(a, b)?;
    let agreement = match interval {
        Some(interval) if interval.contains(1.0) => Agreement::Agree,
        Some(_) => Agreement::Differ,
        None => Agreement::Unknown,
    };
    let verdict = match agreement {
        Agreement::Agree => "agree",
        Agreement::Differ => "differ",
        Agreement::Unknown => "too few trials",
    };
    let [mean_a, mean_b] = means;
    let interval = interval.map(|interval| (interval.lo, interval.hi)).unzip();
    let cells = vec![
        variant.to_owned(),
        what.to_owned(),
        mean_a,
        mean_b,
        match interval {
            (Some(lo), Some(hi)) => format!("{ratio:.5} ({lo:.5} to {hi:.5})"),
            _ => format!("{ratio:.5}"),
        },
        verdict.to_owned(),
    ];
    Ok((cells, agreement))
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn value_row(
    variant: &str,
    measure: Measure,
    a: &[f64],
    b: &[f64],
) -> Result<Option<Vec<String>>, StatsError> {
    if a.is_empty() || b.is_empty() {
        return Ok(None);
    }
    let means = [a, b].map(|values| plus_minus(giga(mean(values)), None, None));
    Ok(Some(row(variant, measure.unit(), means, a, b)?.0))
}

fn ratio_row(
    variant: &str,
    measure: Measure,
    a: &[f64],
    b: &[f64],
) -> Result<Option<(Vec<String>, Agreement)>, StatsError> {
    if a.is_empty() || b.is_empty() {
        return Ok(None);
    }
    let means = [a, b].map(|values| plus_minus(mean(values), None, None));
    row(variant, measure.ratio(), means, a, b).map(Some)
}

/// Properties that are not the same, and variants that were not built to the same code.
fn differences(a: &Manifest, b: &Manifest) -> Table {
    let mut left: BTreeMap<String, String> = BTreeMap::new();
    let mut right: BTreeMap<String, String> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    for (manifest, side) in [(a, &mut left), (b, &mut right)] {
        let properties = environment(manifest)
            .into_iter()
            .map(|(what, value)| (what.to_owned(), value));
        let builds = manifest.variants.iter().map(|variant| {
            let hash = variant.cubin_sha256.as_ref().unwrap_or(&variant.source_sha256);
            (
                format!("build of {}", variant.label),
                hash.get(..16).unwrap_or(hash).to_owned(),
            )
        });
        for (what, value) in properties.chain(builds) {
            // When it started differs always.
            if what != "started" {
                if !order.contains(&what) {
                    order.push(what.clone());
                }
                side.insert(what, value);
            }
        }
    }
    let cell = |side: &BTreeMap<String, String>, what: &String| {
        side.get(what).cloned().unwrap_or_else(|| "-".to_owned())
    };
    let rows = order
        .iter()
        .filter(|what| left.get(*what) != right.get(*what))
        .map(|what| vec![what.clone(), cell(&left, what), cell(&right, what)])
        .collect();
    Table {
        columns: vec![
            column(
                "what differs",
                "a property of the run, or the machine code of a variant (first 16 digits of its SHA-256)",
                Align::Left,
            ),
            column("A", "in the first record", Align::Left),
            column("B", "in the second", Align::Left),
        ],
        rows,
        notes: Vec::new(),
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.values.rows.is_empty() {
            writeln!(
                f,
                "The records have no variant in common that was timed on the same device (`cuda:0`, `cpu`).\n"
            )?;
        } else {
            writeln!(f, "{}", self.values)?;
        }
        writeln!(
            f,
            "{}\n",
            match self.same_card {
                Some(true) => "Both records are of the same card: its ratios should agree.",
                Some(false) =>
                    "The records are of two cards, whose power sensors may differ by some 5 % in gain: differences of energy below that say nothing.",
                None => "Whether both records are of the same card is not known.",
            }
        )?;
        if self.environment.rows.is_empty() {
            writeln!(f, "The environment is the same.")
        } else {
            write!(f, "{}", self.environment)
        }
    }
}
