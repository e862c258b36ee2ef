use proptest::prelude::*;

use super::*;

fn close(got: f64, right: f64, relative: f64) {
    assert!(
        (got - right).abs() <= relative * right.abs(),
        "{got} should be {right}"
    );
}

#[test]
fn quantiles_are_those_of_printed_tables() {
    // Two-sided 95 % and 99 % columns of any printed t table.
    for (freedom, t975, t995) in [
        (1.0, 12.706, 63.657),
        (2.0, 4.303, 9.925),
        (3.0, 3.182, 5.841),
        (4.0, 2.776, 4.604),
        (5.0, 2.571, 4.032),
        (9.0, 2.262, 3.250),
        (10.0, 2.228, 3.169),
        (29.0, 2.045, 2.756),
        (100.0, 1.984, 2.626),
    ] {
        assert!((student_t(freedom, 0.975) - t975).abs() < 6e-4, "{freedom}");
        assert!((student_t(freedom, 0.995) - t995).abs() < 6e-4, "{freedom}");
    }
    // Closed forms: tan(pi (p - 1/2)) for one degree of freedom, (2p - 1) / sqrt(2 p (1 - p)) for two.
    assert_eq!(student_t(1.0, 0.975), 12.706205);
    assert_eq!(student_t(2.0, 0.975), 4.302653);
}

#[test]
fn three_trials_worked_by_hand() {
    // 2, 4, 6: mean 4, sd 2, half width 4.302653 * 2 / sqrt 3 = 4.968276.
    let estimate = Estimate::of(&[2.0, 4.0, 6.0]).unwrap().unwrap();
    let spread = estimate.spread.unwrap();
    assert_eq!((estimate.n, estimate.mean, spread.sd), (3, 4.0, 2.0));
    close(spread.ci95.half_width(), 4.968_276, 1e-6);
    assert!(spread.ci95.contains(4.0) && !spread.ci95.contains(9.0));
    assert_eq!(estimate.remark(), None);
}

#[test]
fn few_trials_have_words_and_no_nan() {
    assert_eq!(Estimate::of(&[]).unwrap(), None);
    let one = Estimate::of(&[5.0]).unwrap().unwrap();
    assert_eq!(
        (one.mean, one.spread, one.remark()),
        (5.0, None, Some("one trial: no interval"))
    );
    // 1, 3: sd sqrt 2, standard error 1.
    let two = Estimate::of(&[1.0, 3.0]).unwrap().unwrap();
    close(two.spread.unwrap().ci95.half_width(), 12.706_205, 1e-9);
    assert!(two.remark().unwrap().contains("12.7"));
}

#[test]
fn what_is_not_finite_is_an_error() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(
            Estimate::of(&[1.0, bad]),
            Err(StatsError::NotFinite { .. })
        ));
        assert!(paired_ratio(&[(bad, 1.0)]).is_err());
        assert!(welch(&[1.0, bad], &[1.0, 2.0]).is_err());
        assert!(poisson_two_sided(1, bad).is_err());
        assert!(expected_seconds_to_zeros(bad, 10).is_err());
    }
    assert!(Estimate::of(&[f64::MAX, f64::MAX]).is_err());
    assert!(matches!(
        paired_ratio(&[(1.0, 0.0)]),
        Err(StatsError::NotPositive { .. })
    ));
    assert!(poisson_two_sided(1, -1.0).is_err());
}

#[test]
fn a_paired_ratio_forgets_what_a_round_shares() {
    // The second round is twice as fast for both.
    let ratio = paired_ratio(&[(11.0, 10.0), (22.0, 20.0), (33.0, 30.0)])
        .unwrap()
        .unwrap();
    close(ratio.mean, 1.1, 1e-15);
    assert!(ratio.spread.unwrap().sd < 1e-15);
}

#[test]
fn welch_worked_by_hand() {
    // 1..5 against 2, 4, .., 10: means 3 and 6, variances 2.5 and 10, standard error sqrt 2.5,
    // freedom 2.5^2 / (0.5^2 / 4 + 2^2 / 4) = 5.882353; t(0.995) lies between 4.032 (5) and 3.707 (6).
    let (a, b) = ([1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 4.0, 6.0, 8.0, 10.0]);
    let test = welch(&a, &b).unwrap().unwrap();
    assert_eq!(test.difference, -3.0);
    close(test.freedom, 5.882_353, 1e-6);
    let t = test.ci99.half_width() / 2.5f64.sqrt();
    assert!(3.707 < t && t < 4.032, "{t}");
    assert!(test.agrees());
    assert!(
        !welch(&[1.0, 1.01, 0.99], &[2.0, 2.01, 1.99])
            .unwrap()
            .unwrap()
            .agrees()
    );
    assert_eq!(welch(&[1.0], &[2.0]).unwrap(), None);
    assert_eq!(welch(&[], &[1.0, 2.0]).unwrap(), None);
    assert!(welch(&[1.0, 1.0], &[1.0, 1.0]).unwrap().unwrap().agrees());
}

#[test]
fn a_single_value_is_compared_by_the_other_samples_scatter() {
    // 1 against 2, 4, 6: mean 4, sd 2, standard error 2 sqrt(1 + 1/3), freedom 2, t(0.995) = 9.924843.
    for (a, b, difference) in [
        (&[1.0][..], &[2.0, 4.0, 6.0][..], -3.0),
        (&[2.0, 4.0, 6.0], &[1.0], 3.0),
    ] {
        let test = welch(a, b).unwrap().unwrap();
        assert_eq!((test.difference, test.freedom), (difference, 2.0));
        close(
            test.ci99.half_width(),
            9.924_843 * 2.0 * (4.0f64 / 3.0).sqrt(),
            1e-5,
        );
    }
    assert!(!welch(&[1.1], &[1.0, 1.001, 0.999]).unwrap().unwrap().agrees());
}

#[test]
fn poisson_tails_are_those_of_the_summed_series() {
    // Summed term by term with lgamma, outside this program.
    for (observed, expected, p) in [
        (0, 3.0, 0.099_574_1),
        (10, 3.0, 0.002_204_98),
        (5, 5.0, 1.0),
        (60, 40.0, 0.003_759_26),
        (900, 1000.0, 0.001_395_53),
        (1, 0.5, 0.786_939),
    ] {
        close(poisson_two_sided(observed, expected).unwrap(), p, 5e-4);
    }
    // Far out the normal law with continuity correction is good to a few per cent.
    close(poisson_two_sided(1_002_000, 1e6).unwrap(), 0.045_55, 0.02);
    assert!(poisson_two_sided(0, 100.0).unwrap() < HIT_P_VALUE_MIN);
    assert_eq!(poisson_two_sided(0, 0.0).unwrap(), 1.0);
    assert_eq!(poisson_two_sided(1, 0.0).unwrap(), 0.0);
}

#[test]
fn times_to_zeros_are_powers_of_sixteen_over_the_rate() {
    let times = expected_times(1e9).unwrap();
    assert_eq!(times.first(), Some(&(10, 1_099.511_627_776)));
    assert_eq!(times.len(), 6);
    close(times[5].1, 1_152_921_504.606_847, 1e-12);
    assert!(expected_times(0.0).is_err());
}

proptest! {
    #[test]
    fn an_estimate_lies_among_its_values(values in prop::collection::vec(-1e12..1e12f64, 1..20)) {
        let estimate = Estimate::of(&values).unwrap().unwrap();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let slack = 1e-9 * (high.abs() + low.abs());
        prop_assert!(low - slack <= estimate.mean && estimate.mean <= high + slack);
        if let Some(spread) = estimate.spread {
            prop_assert!(spread.sd.is_finite() && spread.ci95.contains(estimate.mean));
        }
    }

    #[test]
    fn a_p_value_is_a_probability(observed in 0..100_000u64, expected in 0.0..100_000.0f64) {
        let p = poisson_two_sided(observed, expected).unwrap();
        prop_assert!((0.0..=1.0).contains(&p));
    }
}

#[test]
fn no_count_is_too_large_for_a_p_value() {
    for observed in [
        0,
        1,
        1_000,
        99_999_999,
        4_000_000_000,
        9_000_000_000_000_000,
        u64::MAX,
    ] {
        for expected in [1e-300, 1e-9, 1.0, 1e3, 1e8, 4e9, 9e15, 1.8e19, 1e300] {
            let p = poisson_two_sided(observed, expected).unwrap();
            assert!((0.0..=1.0).contains(&p), "{observed} {expected} {p}");
        }
    }
    // 2 standard deviations off on either side of the change of method: 0.0455.
    close(poisson_two_sided(100_020_000, 1e8).unwrap(), 0.0455, 2e-3);
    close(poisson_two_sided(100_020_001, 1e8 + 1.0).unwrap(), 0.0455, 1e-3);
}
