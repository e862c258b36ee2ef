//! Statistics over trials. A trial is the unit: nothing is inferred from samples inside one.
//!
//! Few trials are a normal case, so what a number of trials cannot tell is a missing value with words for it, never NaN.
//! Means and intervals use `+ - * /`, square roots (all exact to the last bit by IEEE 754) and quantiles rounded to six
//! decimals as printed tables give them, so that a record re-checks to the same text on every machine.

use statrs::{
    distribution::{ContinuousCDF, DiscreteCDF, Poisson, StudentsT},
    function::erf::erfc,
};

/// Hits whose [`poisson_two_sided`] p-value is below this mean a broken search, not bad luck.
pub const HIT_P_VALUE_MIN: f64 = 1e-6;

/// Above this expectation a Poisson count is taken as normal with continuity correction: its skewness is below 1e-4, and
/// the exact tails' series grow long and lose digits.
const NORMAL_ABOVE: f64 = 1e8;

/// Why a statistic cannot be formed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StatsError {
    /// A value is NaN or infinite.
    #[error("{name} is {value}, but should be a finite number")]
    NotFinite {
        /// What the value is.
        name: String,
        /// The value.
        value: f64,
    },
    /// A value that should be positive is not.
    #[error("{name} is {value}, but should be positive")]
    NotPositive {
        /// What the value is.
        name: String,
        /// The value.
        value: f64,
    },
}

/// The value, if it is finite.
pub(crate) fn finite(name: &str, value: f64) -> Result<f64, StatsError> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(StatsError::NotFinite {
            name: name.into(),
            value,
        })
    }
}

/// The value, if it is finite and above 0.
pub(crate) fn positive(name: &str, value: f64) -> Result<f64, StatsError> {
    if finite(name, value)? > 0.0 {
        Ok(value)
    } else {
        Err(StatsError::NotPositive {
            name: name.into(),
            value,
        })
    }
}

/// A closed interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
}

impl Interval {
    fn around(centre: f64, half_width: f64) -> Self {
        Self {
            lo: centre - half_width,
            hi: centre + half_width,
        }
    }

    /// Half its width, in the unit of its ends.
    pub fn half_width(&self) -> f64 {
        (self.hi - self.lo) / 2.0
    }

    /// Whether a value lies in it, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.lo <= value && value <= self.hi
    }
}

/// How far trials scatter; known from two trials on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Standard deviation with n - 1.
    pub sd: f64,
    /// 95 % Student-t interval of the mean.
    pub ci95: Interval,
}

/// A mean over at least one trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Number of trials, at least 1.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Their scatter, from two trials on.
    pub spread: Option<Spread>,
}

impl Estimate {
    /// The estimate from one value a trial; `None` without trials. Fails on a value that is not finite (or whose sum or square is not).
    pub fn of(values: &[f64]) -> Result<Option<Self>, StatsError> {
        if values.is_empty() {
            return Ok(None);
        }
        for value in values {
            finite("a trial's value", *value)?;
        }
        let n = values.len();
        let mean = finite("the trials' mean", values.iter().sum::<f64>() / n as f64)?;
        if n == 1 {
            return Ok(Some(Self {
                n,
                mean,
                spread: None,
            }));
        }
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let sd = finite(
            "the trials' standard deviation",
            (squares / (n - 1) as f64).sqrt(),
        )?;
        let half_width = student_t((n - 1) as f64, 0.975) * sd / (n as f64).sqrt();
        Ok(Some(Self {
            n,
            mean,
            spread: Some(Spread {
                sd,
                ci95: Interval::around(mean, half_width),
            }),
        }))
    }

    /// What a reader should know of an estimate from one or two trials.
    pub fn remark(&self) -> Option<&'static str> {
        match self.n {
            1 => Some("one trial: no interval"),
            2 => Some("two trials: the interval is 12.7 standard errors to each side"),
            _ => None,
        }
    }
}

/// The ratio to a baseline, paired: the mean and interval over one ratio `value / baseline` per round. `None` without pairs.
///
/// Fails if a baseline value is not positive.
pub fn paired_ratio(value_and_baseline: &[(f64, f64)]) -> Result<Option<Estimate>, StatsError> {
    let ratios = value_and_baseline
        .iter()
        .map(|(value, baseline)| Ok(value / positive("a round's baseline", *baseline)?))
        .collect::<Result<Vec<_>, StatsError>>()?;
    Estimate::of(&ratios)
}

/// Two samples compared without assuming equal scatter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Welch {
    /// Mean of the first minus mean of the second.
    pub difference: f64,
    /// Welch-Satterthwaite degrees of freedom.
    pub freedom: f64,
    /// 99 % interval of the difference.
    pub ci99: Interval,
}

impl Welch {
    /// Whether the two samples may have the same mean, at 99 %.
    pub fn agrees(&self) -> bool {
        self.ci99.contains(0.0)
    }
}

/// The two-sample t interval at 99 %: Welch's where both samples have at least two values. A single value is taken to scatter as
/// the other sample does (the pooled t with n - 1 degrees of freedom). `None` where neither sample shows any scatter, or one is empty.
pub fn welch(a: &[f64], b: &[f64]) -> Result<Option<Welch>, StatsError> {
    let (Some(a), Some(b)) = (Estimate::of(a)?, Estimate::of(b)?) else {
        return Ok(None);
    };
    let (spread_a, spread_b) = match (a.spread, b.spread) {
        (Some(spread_a), Some(spread_b)) => (spread_a, spread_b),
        (Some(spread), None) | (None, Some(spread)) => return pooled(&a, &b, spread).map(Some),
        (None, None) => return Ok(None),
    };
    let part = |spread: Spread, n: usize| spread.sd * spread.sd / n as f64;
    let (part_a, part_b) = (part(spread_a, a.n), part(spread_b, b.n));
    let variance = finite("the variance of the difference", part_a + part_b)?;
    let scatter = part_a * part_a / (a.n - 1) as f64 + part_b * part_b / (b.n - 1) as f64;
    // Samples without any scatter (or with one whose square underflows) have no Welch-Satterthwaite freedom.
    let freedom = if scatter > 0.0 {
        variance * variance / scatter
    } else {
        (a.n + b.n - 2) as f64
    };
    let freedom = finite("the degrees of freedom", freedom)?.max(1.0);
    let difference = finite("the difference of the means", a.mean - b.mean)?;
    let half_width = student_t(freedom, 0.995) * variance.sqrt();
    Ok(Some(Welch {
        difference,
        freedom,
        ci99: Interval::around(difference, half_width),
    }))
}

/// The pooled t interval of two samples of which one is a single value, for the `spread` of the other.
fn pooled(a: &Estimate, b: &Estimate, spread: Spread) -> Result<Welch, StatsError> {
    let (n_a, n_b) = (a.n as f64, b.n as f64);
    let freedom = n_a + n_b - 2.0;
    let difference = finite("the difference of the means", a.mean - b.mean)?;
    let variance = finite(
        "the variance of the difference",
        spread.sd * spread.sd * (1.0 / n_a + 1.0 / n_b),
    )?;
    Ok(Welch {
        difference,
        freedom,
        ci99: Interval::around(difference, student_t(freedom, 0.995) * variance.sqrt()),
    })
}

/// Two-sided Poisson p-value of a count: twice the smaller tail, at most 1. Rounded to four digits.
///
/// `expected` must be finite and at least 0; with 0 expected, no hit has p = 1 and any hit p = 0.
pub fn poisson_two_sided(observed: u64, expected: f64) -> Result<f64, StatsError> {
    finite("the expected number of hits", expected)?;
    let Ok(poisson) = Poisson::new(expected) else {
        return if expected == 0.0 {
            Ok(if observed == 0 { 1.0 } else { 0.0 })
        } else {
            Err(StatsError::NotPositive {
                name: "the expected number of hits".into(),
                value: expected,
            })
        };
    };
    if expected > NORMAL_ABOVE {
        let distance = ((observed as f64 - expected).abs() - 0.5).max(0.0);
        return Ok(four_digits(erfc(distance / (2.0 * expected).sqrt()).min(1.0)));
    }
    let at_most = poisson.cdf(observed);
    let at_least = observed.checked_sub(1).map_or(1.0, |below| poisson.sf(below));
    let p = finite("the p-value", (2.0 * at_most.min(at_least)).min(1.0))?;
    Ok(four_digits(p))
}

/// Expected time, s, to a digest that starts with `zeros_hex` zero hex digits, at a rate in candidates/s: 16^zeros_hex / rate.
pub fn expected_seconds_to_zeros(rate_units_per_s: f64, zeros_hex: u32) -> Result<f64, StatsError> {
    let candidates = 16f64.powi(zeros_hex.min(32) as i32);
    Ok(candidates / positive("the rate", rate_units_per_s)?)
}

/// [`expected_seconds_to_zeros`] for 10 to 15 zeros, each with its number of zeros.
pub fn expected_times(rate_units_per_s: f64) -> Result<Vec<(u32, f64)>, StatsError> {
    (10..=15)
        .map(|zeros| Ok((zeros, expected_seconds_to_zeros(rate_units_per_s, zeros)?)))
        .collect()
}

/// Student's t quantile to six decimals, as printed tables give it. `freedom` is at least 1.
fn student_t(freedom: f64, quantile: f64) -> f64 {
    let t = StudentsT::new(0.0, 1.0, freedom).map_or(0.0, |student| student.inverse_cdf(quantile));
    (t * 1e6).round() / 1e6
}

/// A number rounded to four significant decimal digits: what the series below it gives alike on every machine.
fn four_digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests;
