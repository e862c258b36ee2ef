//! Instants as UTC text, so that a record's dates read the same everywhere.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// An instant to the second as RFC 3339 in UTC, such as `2026-11-30T02:45:00Z`. Instants before 1970 read as 1970.
pub fn utc_rfc3339(at: SystemTime) -> String {
    let ([year, month, day], [hour, minute, second]) = civil(at);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// An instant to the second for a folder's name, such as `20261130T024500Z`. Instants before 1970 read as 1970.
pub fn utc_stamp(at: SystemTime) -> String {
    utc_rfc3339(at).replace(['-', ':'], "")
}

/// Seconds from an instant written by [`utc_rfc3339`] to `now`; `None` if it is not written so, or later than `now`.
pub fn since_utc(text: &str, now: SystemTime) -> Option<f64> {
    let now = now.duration_since(UNIX_EPOCH).ok()?.as_secs();
    // The text grows with the instant, so the instant is found by halving.
    let (mut low, mut high) = (0, now + 1);
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if utc_rfc3339(UNIX_EPOCH + Duration::from_secs(middle)).as_str() <= text {
            low = middle;
        } else {
            high = middle;
        }
    }
    (utc_rfc3339(UNIX_EPOCH + Duration::from_secs(low)) == text).then(|| (now - low) as f64)
}

/// Year, month, day and hour, minute, second, by Howard Hinnant's `civil_from_days`.
fn civil(at: SystemTime) -> ([u64; 3], [u64; 3]) {
    let seconds = at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    // Days since 0000-03-01: a leap day then ends its year, and 400 years are always 146,097 days.
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (
        [year, month, day],
        [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants_are_written_right() {
        // Values of `date -u -d @N +%FT%TZ`.
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            let at = UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(utc_rfc3339(at), text);
        }
        assert_eq!(utc_stamp(UNIX_EPOCH), "19700101T000000Z");
    }

    #[test]
    fn the_time_since_a_written_instant_is_known() {
        let now = UNIX_EPOCH + Duration::from_secs(1_735_689_599);
        assert_eq!(since_utc("2024-12-31T23:59:59Z", now), Some(0.0));
        assert_eq!(since_utc("2024-12-31T23:57:58Z", now), Some(121.0));
        for text in ["2025-01-01T00:00:00Z", "yesterday", "", "2024-13-01T00:00:00Z"] {
            assert_eq!(since_utc(text, now), None, "{text}");
        }
    }
}
