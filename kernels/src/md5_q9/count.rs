//! The count reading: the operation account of a candidate, to hold a disassembly against.

use super::describe;
use super::machine::{Input, Machine, Phase, Role};
use super::mutate::Mutant;
use super::options::{Options, Walk};

/// Operations by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Three-input logic functions.
    pub logic: u32,
    /// Rotations; each is followed by the addition of the state, with which a card may merge it.
    pub rotations: u32,
    /// Additions and subtractions left to the compiler.
    pub plain_adds: u32,
    /// Additions placed on the FMA pipe.
    pub mad_adds: u32,
}

struct Counter {
    options: Options,
    count: Count,
}

impl Counter {
    fn added(&mut self, role: Role) {
        let mad = self.options.adds.mad(role).is_some();
        if mad {
            self.count.mad_adds += 1
        } else {
            self.count.plain_adds += 1
        }
    }
}

impl Machine for Counter {
    type Word = ();

    fn add(&mut self, role: Role, (): (), (): ()) {
        self.added(role);
    }

    fn sub(&mut self, role: Role, (): (), (): ()) {
        self.added(role);
    }

    fn rotl<const N: u32>(&mut self, (): ()) {
        self.count.rotations += 1;
    }

    fn logic<const LUT: u8>(&mut self, (): (), (): (), (): ()) {
        self.count.logic += 1;
    }

    fn input(&mut self, _input: Input) {}
}

/// The account of one candidate up to the test, averaged over an orbit where there is one: a candidate's own
/// operations, and the operations of a group, of which 17 candidates share two.
pub fn count(options: &Options) -> (Count, Count) {
    let counter = || {
        Mutant::new(
            Counter {
                options: *options,
                count: Count::default(),
            },
            None,
        )
    };
    let mut group = counter();
    let mut m = counter();
    let (window, words) = match options.walk {
        Walk::Tunnel => describe::tunnel_words(&mut m, ()),
        Walk::Orbit => {
            group.phase(Phase::Group);
            let group = describe::group(&mut group, options, ());
            describe::member(&mut m, &group, ())
        }
    };
    let mut windows = [window];
    if options.walk == Walk::Tunnel {
        describe::head(&mut m, options, &mut windows, &[words]);
    }
    describe::tail(&mut m, options, &mut windows, &[words]);
    (m.machine.count, group.machine.count)
}

impl Count {
    /// Additions of either kind.
    pub fn adds(&self) -> u32 {
        self.plain_adds + self.mad_adds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::md5_q9::options::VariantFile;

    fn counted(variant: &str) -> (Count, Count) {
        count(&VariantFile::parse(variant).unwrap().options)
    }

    #[test]
    fn a_tunnel_candidate_takes_37_steps_and_an_orbit_member_34() {
        let (v0, _) = counted(include_str!("../../../variants/md5-q9/v0.toml"));
        // 37 steps and F of m9; 37 rotations and those of m8 and m9; 4 adds a step; 2, 3 and 1 for the words.
        assert_eq!((v0.logic, v0.rotations, v0.adds()), (38, 39, 37 * 4 + 6));
        let (v3, _) = counted(include_str!("../../../variants/md5-q9/v3.toml"));
        // 3 adds a step, of which Q[t] + rotl is left to the compiler; K + m of the 8 steps with m8, m9 or m12.
        assert_eq!((v3.mad_adds, v3.plain_adds), (37 * 2 + 8, 37 + 6));
        let (member, group) = counted(include_str!("../../../variants/md5-q9/v5.toml"));
        // Steps 28..=60; step 27 has no logic of its own.
        assert_eq!((member.logic, member.rotations), (33, 35));
        // Step 27: 2 adds; 28..=30: 2 each; 31..=60: 3 each; K + m of 31, 33, 45, 52, 56.
        assert_eq!(member.adds(), 2 + 3 * 2 + 30 * 3 + 5);
        assert_eq!((group.logic, group.rotations), (4, 3));
    }
}
