//! Doubles in the notation of C99, `-0x1.8p-3`: exact, and readable.

/// Read one. `None` where the text is none, or has more bits than a double.
pub fn hex_float(text: &str) -> Option<f64> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (digits, exponent) = rest.strip_prefix("0x")?.split_once('p')?;
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mantissa = u64::from_str_radix(&format!("{whole}{fraction}"), 16).ok()?;
    let exponent = exponent - 4 * fraction.len() as i32;
    let exact = crate::crt_gemm::exact::Dyadic::new(mantissa, exponent.into());
    let value = exact.to_f64();
    let kept = crate::crt_gemm::exact::Dyadic::of(value).is_some_and(|kept| kept == exact);
    kept.then_some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::hex_float;

    #[test]
    fn values_are_read_exactly_or_not_at_all() {
        assert_eq!(hex_float("0x1.0000000000000p+0"), Some(1.0));
        assert_eq!(hex_float("-0x1.8p-3"), Some(-0.1875));
        assert_eq!(hex_float("0x1.5555555555555p-2"), Some(1.0 / 3.0));
        assert_eq!(hex_float("0x1p-1074"), Some(f64::from_bits(1)));
        assert_eq!(hex_float("0x0.0p+0"), Some(0.0));
        for bad in [
            "",
            "1.0",
            "0x1.0",
            "0x1p-1075",
            "0x1p1024",
            "0x1.00000000000001p0",
            "0xgp0",
            "0x1p",
        ] {
            assert_eq!(hex_float(bad), None, "{bad:?}");
        }
    }
}
