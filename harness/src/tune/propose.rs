//! Which candidate comes next: single changes first, then children of what was good, and now and then a leap.

use std::collections::BTreeSet;

use assay_kernels::seeded::Seeded;

use super::space::Point;

/// A candidate that was made already.
#[derive(Debug, Clone, Copy)]
pub struct Tried<'t> {
    /// Where it lies.
    pub point: &'t Point,
    /// How good it is, the starting variant being 1; `None` while that is not known.
    pub ratio: Option<f64>,
}

/// One proposal in so many is drawn from the whole space, so that the search does not end on the first hill.
const LEAP: usize = 4;

/// Candidates that have children.
const PARENTS: usize = 8;

/// One child in so many has one dial turned at random.
const MUTATION: u64 = 4;

/// Draws before the space is taken for exhausted.
const DRAWS: usize = 200;

/// The next candidate after those that were `tried`, or `None` when there is none left. `shape` is the number of choices of each
/// dial. The same seed and the same trials give the same candidate.
///
/// The starting variant comes first, then every single change of it in a seeded order, then all good single changes together
/// (whenever those have changed). After that two of the best candidates are crossed: a dial that only one of them turned is turned, so that the child of two single changes is the pair of them.
pub fn propose(shape: &[usize], tried: &[Tried], seed: u64) -> Option<Point> {
    let known: BTreeSet<&Point> = tried.iter().map(|tried| tried.point).collect();
    let origin = Point(vec![0; shape.len()]);
    if !known.contains(&origin) {
        return Some(origin);
    }
    let number = tried.len();
    let mut seeded = Seeded::new(seed ^ (number as u64) << 32);
    let mut singles = singles(&origin, shape);
    singles.retain(|single| !known.contains(single));
    if !singles.is_empty() {
        let at = seeded.below(singles.len() as u64) as usize;
        return Some(singles.swap_remove(at));
    }
    let together = together(tried, shape.len());
    if !known.contains(&together) {
        return Some(together);
    }
    let parents = parents(tried);
    (0..DRAWS)
        .map(|draw| match parents.as_slice() {
            // Children run out before the space does: the second half of the draws leaps.
            [_, _, ..] if !number.is_multiple_of(LEAP) && draw < DRAWS / 2 => {
                child(&parents, shape, &mut seeded)
            }
            _ => Point(shape.iter().map(|choices| pick(*choices, &mut seeded)).collect()),
        })
        .find(|point| !known.contains(point))
        .or_else(|| first_untried(shape, &known))
}

fn pick(choices: usize, seeded: &mut Seeded) -> usize {
    seeded.below(choices.max(1) as u64) as usize
}

/// Every candidate with one dial turned.
fn singles(origin: &Point, shape: &[usize]) -> Vec<Point> {
    let turned = |place: usize, choice| {
        let mut point = origin.clone();
        point.0[place] = choice;
        point
    };
    shape
        .iter()
        .enumerate()
        .flat_map(|(place, choices)| (1..*choices).map(move |choice| turned(place, choice)))
        .collect()
}

/// The candidates with a ratio, the best first.
fn ranked<'t>(tried: &[Tried<'t>]) -> Vec<(f64, &'t Point)> {
    let timed = tried.iter();
    let mut timed: Vec<(f64, &Point)> = timed
        .filter_map(|tried| Some((tried.ratio?, tried.point)))
        .collect();
    timed.sort_by(|a, b| b.0.total_cmp(&a.0));
    timed
}

/// On each dial the choice that was best when nothing else was turned, if it was better than the starting variant's.
fn together(tried: &[Tried], dials: usize) -> Point {
    let mut point = Point(vec![0; dials]);
    for (ratio, single) in ranked(tried) {
        let mut turned = single.0.iter().enumerate().filter(|(_, choice)| **choice > 0);
        if let (Some((place, choice)), None) = (turned.next(), turned.next())
            && ratio > 1.0
            && point.0[place] == 0
        {
            point.0[place] = *choice;
        }
    }
    point
}

/// The best of those with a ratio.
fn parents<'t>(tried: &[Tried<'t>]) -> Vec<&'t Point> {
    let best = ranked(tried).into_iter().take(PARENTS);
    best.map(|(_, point)| point).collect()
}

fn child(parents: &[&Point], shape: &[usize], seeded: &mut Seeded) -> Point {
    let one = parents[pick(parents.len(), seeded)];
    let other = parents[pick(parents.len(), seeded)];
    let mut point = Point(
        one.0
            .iter()
            .zip(&other.0)
            .map(|(one, other)| match (one, other) {
                (0, choice) | (choice, 0) => *choice,
                _ if seeded.below(2) == 0 => *one,
                _ => *other,
            })
            .collect(),
    );
    if seeded.below(MUTATION) == 0 && !shape.is_empty() {
        let place = pick(shape.len(), seeded);
        point.0[place] = pick(shape[place], seeded);
    }
    point
}

/// The first candidate in counting order that was not tried. It comes soon: where many draws failed, few are left.
fn first_untried(shape: &[usize], known: &BTreeSet<&Point>) -> Option<Point> {
    let mut point = Point(vec![0; shape.len()]);
    while known.contains(&point) {
        let place = (0..shape.len()).find(|place| point.0[*place] + 1 < shape[*place])?;
        point.0[..place].fill(0);
        point.0[place] += 1;
    }
    Some(point)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every proposal in turn, each with the ratio that `ratio` gives it.
    fn walk(shape: &[usize], seed: u64, count: usize, ratio: impl Fn(&Point) -> Option<f64>) -> Vec<Point> {
        let mut points: Vec<Point> = Vec::new();
        while points.len() < count {
            let tried: Vec<Tried> = points
                .iter()
                .map(|point| Tried {
                    point,
                    ratio: ratio(point),
                })
                .collect();
            let Some(next) = propose(shape, &tried, seed) else {
                break;
            };
            points.push(next);
        }
        points
    }

    #[test]
    fn every_candidate_comes_once_and_then_none() {
        for shape in [&[2, 3, 4][..], &[5], &[2, 2, 2, 2, 2], &[1, 3], &[]] {
            let size: usize = shape.iter().product();
            let points = walk(shape, 7, usize::MAX, |point| {
                Some(point.0.iter().sum::<usize>() as f64)
            });
            assert_eq!(points.len(), size, "{shape:?}");
            assert_eq!(points.iter().collect::<BTreeSet<_>>().len(), size, "{shape:?}");
            assert!(points[0].0.iter().all(|choice| *choice == 0));
        }
    }

    #[test]
    fn single_changes_come_before_all_others() {
        let shape = [3, 4, 2, 5];
        let singles = shape.iter().map(|choices| choices - 1).sum::<usize>();
        let points = walk(&shape, 3, 40, |_| Some(1.0));
        let turned = |point: &Point| point.0.iter().filter(|choice| **choice > 0).count();
        assert!(points[1..=singles].iter().all(|point| turned(point) == 1));
        assert!(points[singles + 1..].iter().all(|point| turned(point) > 1));
    }

    #[test]
    fn the_seed_decides() {
        let ratio = |point: &Point| Some(1.0 + point.0[0] as f64 / 10.0);
        assert_eq!(walk(&[4, 4, 4], 1, 30, ratio), walk(&[4, 4, 4], 1, 30, ratio));
        assert_ne!(walk(&[4, 4, 4], 1, 30, ratio), walk(&[4, 4, 4], 2, 30, ratio));
    }

    /// Six dials of six choices: 46,656 candidates.
    const SIX: [usize; 6] = [6; 6];

    #[test]
    fn all_good_single_changes_are_soon_tried_together() {
        let ratio = |point: &Point| Some(1.0 + point.0.iter().sum::<usize>() as f64);
        for seed in 0..10 {
            let points = walk(&SIX, seed, 40, ratio);
            assert!(points.contains(&Point(vec![5; 6])), "seed {seed}");
        }
    }

    #[test]
    fn what_the_single_changes_do_not_tell_is_found_by_crossing() {
        // Alone every choice but 1 is bad; the best of all is 3 everywhere.
        let ratio = |point: &Point| {
            let threes = point.0.iter().filter(|choice| **choice == 3).count() as f64;
            let ones = point.0.iter().filter(|choice| **choice == 1).count() as f64;
            0.9 + 0.11 * ones + 0.05 * threes * threes
        };
        let best = |points: &[Point]| points.iter().map(ratio).fold(0.0, f64::max);
        let drawn = |seed| {
            let mut seeded = Seeded::new(seed);
            let points = (0..150).map(|_| Point(SIX.iter().map(|n| pick(*n, &mut seeded)).collect()));
            best(&points.collect::<Vec<_>>())
        };
        let (mut searched, mut random) = (0.0, 0.0);
        for seed in 0..20 {
            searched += best(&walk(&SIX, seed, 150, |point| Some(ratio(point))));
            random += drawn(seed);
        }
        assert!(searched > 1.1 * random, "{searched} against {random} by chance");
    }

    #[test]
    fn candidates_without_a_ratio_do_not_stop_the_search() {
        assert_eq!(walk(&[3, 3, 3], 1, usize::MAX, |_| None).len(), 27);
    }
}
