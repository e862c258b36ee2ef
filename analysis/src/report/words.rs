//! Numbers as people read them.

/// A number to a count of significant digits, without an exponent where that is readable.
pub(super) fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..9.0).contains(&magnitude) {
        return format!("{value:.*e}", digits.saturating_sub(1));
    }
    let decimals = (digits as f64 - 1.0 - magnitude).clamp(0.0, 12.0) as usize;
    format!("{value:.decimals$}")
}

/// A value, or a dash.
pub(super) fn or_dash(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".into(), |value| significant(value, digits))
}

/// A value with a fixed number of decimals, or a dash.
pub(super) fn fixed(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.decimals$}"))
}

/// A share as a percentage, or a dash.
pub(super) fn percent(share: Option<f64>, decimals: usize) -> String {
    share.map_or_else(|| "-".into(), |share| format!("{:.decimals$} %", share * 100.0))
}

/// A time as people say it: `41 s`, `3.2 h`, `88 d`, `12 a`.
pub(super) fn time(seconds: f64) -> String {
    const UNITS: [(f64, &str); 5] = [
        (31_557_600.0, "a"),
        (86_400.0, "d"),
        (3_600.0, "h"),
        (60.0, "min"),
        (1.0, "s"),
    ];
    match UNITS.iter().find(|(length, _)| seconds >= *length) {
        Some((length, unit)) => format!("{} {unit}", significant(seconds / length, 3)),
        None => format!("{} ms", significant(seconds * 1e3, 3)),
    }
}

/// An energy with a prefix: `1.2 kJ`, `3.4 MJ`.
pub(super) fn energy(joules: f64) -> String {
    const PREFIXES: [(f64, &str); 5] = [(1e12, "TJ"), (1e9, "GJ"), (1e6, "MJ"), (1e3, "kJ"), (1.0, "J")];
    match PREFIXES.iter().find(|(size, _)| joules >= *size) {
        Some((size, unit)) => format!("{} {unit}", significant(joules / size, 3)),
        None => format!("{} J", significant(joules, 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_people_read_them() {
        assert_eq!(significant(0.123_456, 3), "0.123");
        assert_eq!(significant(138.83, 5), "138.83");
        assert_eq!(significant(1.5e12, 3), "1.50e12");
        assert_eq!(significant(0.0, 3), "0");
        assert_eq!(
            (time(7.93), time(127.0), time(5e5)),
            ("7.93 s".into(), "2.12 min".into(), "5.79 d".into())
        );
        assert_eq!((time(0.05), time(1e9)), ("50.0 ms".into(), "31.7 a".into()));
        assert_eq!(
            (energy(1234.0), energy(0.5)),
            ("1.23 kJ".into(), "0.500 J".into())
        );
        assert_eq!(
            (percent(Some(0.9687), 1), percent(None, 1)),
            ("96.9 %".into(), "-".into())
        );
    }
}
