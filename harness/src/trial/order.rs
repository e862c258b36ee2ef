//! The order of trials: a seeded Latin square, so that drift falls on every contestant alike.

use assay_kernels::seeded::Seeded;

/// The order of `count` contestants in round `round`, from 0: a seeded shuffle, rotated by one place a round. Over
/// `count` rounds every contestant stands once in every place.
pub fn order(count: usize, round: usize, seed: u64) -> Vec<usize> {
    let mut seeded = Seeded::new(seed);
    let mut order: Vec<usize> = (0..count).collect();
    // Fisher and Yates
    for last in (1..count).rev() {
        order.swap(last, seeded.below(last as u64 + 1) as usize);
    }
    if count > 0 {
        order.rotate_left(round % count);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_as_many_rounds_as_contestants_everyone_stands_once_in_every_place() {
        for seed in 0..20 {
            for count in 1..9 {
                let rounds: Vec<Vec<usize>> = (0..count).map(|round| order(count, round, seed)).collect();
                for place in 0..count {
                    let mut there: Vec<usize> = rounds.iter().map(|order| order[place]).collect();
                    there.sort_unstable();
                    assert_eq!(
                        there,
                        (0..count).collect::<Vec<_>>(),
                        "seed {seed}, place {place}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_seed_decides_the_order() {
        assert_eq!(order(6, 2, 7), order(6, 2, 7));
        assert!((0..20).any(|seed| order(6, 0, seed) != order(6, 0, 0)));
        assert_eq!(order(0, 3, 1), Vec::<usize>::new());
    }
}
