//! The order in which a walk visits a base's candidates.
//!
//! Work is divided into slots: a tunnel's slot is one candidate, an orbit walk's slot is one orbit of 17. With
//! `y = -Q9`, an orbit is `y_k = y0 + k * 0x0f0f0f0f`, k in 0..17 and y0 below 0x0f0f0f0f = (2^32 - 1) / 17; the
//! orbits cover every y but 2^32 - 1, which is Q9 = 1. Slot `s` is the orbit whose y0 has the low 12 bits
//! `s / 61681` and the high bits `s % 61681`: rotr(y0, 12) then has those low bits on top, and k* depends on
//! them alone. Of the 4096 rows, 241 are one short; their last slot is empty.

use std::ops::Range;

use super::options::Walk;

/// Distance between the members of an orbit, and the number of orbits: (2^32 - 1) / 17.
pub const ORBIT_STEP: u32 = 0x0f0f_0f0f;
/// Members of an orbit.
pub const MEMBERS: u32 = 17;
/// Slots that share the low 12 bits of y0.
pub const ORBIT_ROW: u32 = 61_681;
/// The only Q9 that no orbit visits.
pub const LEFT_OUT: u32 = 1;

/// `y0` of the orbit in a slot, `None` for the 241 empty slots.
pub fn orbit(slot: u32) -> Option<u32> {
    let y0 = ((slot % ORBIT_ROW) << 12) | (slot / ORBIT_ROW);
    (slot / ORBIT_ROW < 4096 && y0 < ORBIT_STEP).then_some(y0)
}

/// The slot of the orbit with `y0`, which is below [`ORBIT_STEP`].
pub fn orbit_slot(y0: u32) -> u32 {
    (y0 & 0xfff) * ORBIT_ROW + (y0 >> 12)
}

/// First slots of the rows that differ from the one before: the second, the first short one, the one after it, the last.
pub fn row_borders() -> impl Iterator<Item = u64> {
    [1, 0xf0f, 0xf10, 4095]
        .into_iter()
        .map(|row| row * u64::from(ORBIT_ROW))
}

/// k*: members up to it share `rotr(y0, 12) + y0`, the others that minus one.
pub fn last_of_first_group(y0: u32) -> u32 {
    y0.rotate_right(12) / ORBIT_STEP
}

/// Q9 of member `k` of the orbit with `y0`.
pub fn member(y0: u32, k: u32) -> u32 {
    y0.wrapping_add(k.wrapping_mul(ORBIT_STEP)).wrapping_neg()
}

impl Walk {
    /// Slots of a base.
    pub fn slots(self) -> u64 {
        match self {
            Walk::Tunnel => 1 << 32,
            Walk::Orbit => 4096 * u64::from(ORBIT_ROW),
        }
    }

    /// Candidates that a full slot holds.
    pub fn slot_candidates(self) -> u32 {
        match self {
            Walk::Tunnel => 1,
            Walk::Orbit => MEMBERS,
        }
    }

    /// Q9 of every candidate of a slot, in the order in which a thread visits them.
    pub fn slot(self, slot: u64) -> impl Iterator<Item = u32> {
        let (y0, count) = match self {
            Walk::Tunnel => (0, 1),
            Walk::Orbit => (
                orbit(slot as u32).unwrap_or(0),
                if orbit(slot as u32).is_some() { MEMBERS } else { 0 },
            ),
        };
        (0..count).map(move |k| match self {
            Walk::Tunnel => slot as u32,
            Walk::Orbit => member(y0, k),
        })
    }

    /// The slot that visits `q9`, and the candidate's place in it; `None` when the walk leaves it out.
    pub fn find(self, q9: u32) -> Option<(u64, u32)> {
        match self {
            Walk::Tunnel => Some((u64::from(q9), 0)),
            Walk::Orbit => {
                let y = q9.wrapping_neg();
                let k = y / ORBIT_STEP;
                (k < MEMBERS).then(|| (u64::from(orbit_slot(y % ORBIT_STEP)), k))
            }
        }
    }

    /// Candidates in a range of slots.
    pub fn candidates(self, slots: Range<u64>) -> u64 {
        let all = slots.end - slots.start;
        match self {
            Walk::Tunnel => all,
            Walk::Orbit => {
                // Rows from 0xf0f on are short: their last slot is empty.
                let empty = |end: u64| {
                    let row = u64::from(ORBIT_ROW);
                    (end / row).saturating_sub(0xf0f)
                };
                (all - (empty(slots.end) - empty(slots.start))) * u64::from(MEMBERS)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_orbits_of_a_base_hold_all_candidates_but_one() {
        assert_eq!(Walk::Orbit.candidates(0..Walk::Orbit.slots()), (1 << 32) - 1);
        assert_eq!(Walk::Tunnel.candidates(0..Walk::Tunnel.slots()), 1 << 32);
        assert_eq!(Walk::Orbit.find(LEFT_OUT), None);
    }

    #[test]
    fn every_candidate_is_found_where_its_slot_visits_it() {
        let places = (0..1u32 << 16).map(|i| i.wrapping_mul(0x9e37_79b9));
        for q9 in places.chain([0, 2, u32::MAX, 0x0f0f_0f0f, 0xf0f0_f0f1, 0xf0f0_f0f0]) {
            for walk in [Walk::Tunnel, Walk::Orbit] {
                let (slot, place) = walk.find(q9).unwrap();
                assert!(slot < walk.slots());
                assert_eq!(walk.slot(slot).nth(place as usize), Some(q9), "{walk:?} {q9:08x}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_slot_and_a_place_in_it_are_found_again_from_the_candidate(slot in 0..Walk::Orbit.slots()) {
            for walk in [Walk::Tunnel, Walk::Orbit] {
                for (place, q9) in walk.slot(slot).enumerate() {
                    prop_assert_eq!(walk.find(q9), Some((slot, place as u32)));
                }
            }
        }

        #[test]
        fn every_candidate_is_in_the_slot_that_is_found_for_it(q9 in any::<u32>()) {
            for walk in [Walk::Tunnel, Walk::Orbit] {
                match walk.find(q9) {
                    Some((slot, place)) => prop_assert_eq!(walk.slot(slot).nth(place as usize), Some(q9)),
                    None => prop_assert_eq!((walk, q9), (Walk::Orbit, LEFT_OUT)),
                }
            }
        }
    }

    #[test]
    fn empty_slots_are_counted_where_they_are() {
        let row = u64::from(ORBIT_ROW);
        for start in [0, 3 * row, 0xf0f * row - 5, 0x0f10 * row - 2, 4096 * row - 700] {
            for length in [0, 1, 4, 5, 6, 700] {
                let range = start..start + length;
                let counted: u64 = range
                    .clone()
                    .map(|slot| Walk::Orbit.slot(slot).count() as u64)
                    .sum();
                assert_eq!(Walk::Orbit.candidates(range.clone()), counted, "{range:?}");
            }
        }
    }

    #[test]
    fn members_share_two_values_of_m9_and_k_star_depends_on_the_low_bits_alone() {
        for y0 in [0u32, 0xfff, 0x1000, 0x0f0f_0f0e, 0x0123_4567, 0x0f0f_0000] {
            let shared = y0.rotate_right(12).wrapping_add(y0);
            let last = last_of_first_group(y0);
            assert_eq!(last, ((y0 & 0xfff) << 20) / ORBIT_STEP);
            for k in 0..MEMBERS {
                let y = member(y0, k).wrapping_neg();
                let expected = shared.wrapping_sub(u32::from(k > last));
                assert_eq!(y.rotate_right(12).wrapping_add(y), expected, "y0 {y0:08x} k {k}");
            }
        }
        let stars = [0, 0x1000, 0x0f0f_0f0e, 0xfff].map(last_of_first_group);
        assert_eq!(stars, [0, 0, 15, 16]);
    }
}
