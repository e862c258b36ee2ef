//! Where a broken operation shows first, by the flow of data alone: what a check is expected to name.
//!
//! A machine whose words know nothing but whether the broken operation has touched them. It computes no MD5, counts
//! operations by itself, and shares nothing with the kernels but the description.

use super::describe;
use super::machine::{Input, Layer, Machine, Phase, Role};
use super::mutate::Mutation;
use super::options::{Options, Walk};

/// A word as far as a fault is concerned.
#[derive(Debug, Clone, Copy, Default)]
struct Touch {
    /// The broken operation has a part in it.
    touched: bool,
    /// It is zero in every message, so that subtracting it is adding it.
    nought: bool,
}

struct Taint {
    broken: Mutation,
    phase: Phase,
    operations: usize,
    layers: [bool; Layer::COUNT],
}

impl Taint {
    /// Whether the operation that comes now is the broken one.
    fn breaks(&mut self) -> bool {
        let here = Mutation::Operation(self.phase, self.operations);
        self.operations += 1;
        self.broken == here
    }

    fn made(&mut self, harmless: bool, from: &[Touch]) -> Touch {
        let broken = self.breaks() && !harmless;
        Touch {
            touched: broken || from.iter().any(|word| word.touched),
            nought: false,
        }
    }
}

impl Machine for Taint {
    type Word = Touch;

    fn add(&mut self, _role: Role, a: Touch, b: Touch) -> Touch {
        self.made(b.nought, &[a, b])
    }

    fn sub(&mut self, _role: Role, a: Touch, b: Touch) -> Touch {
        self.made(b.nought, &[a, b])
    }

    fn rotl<const N: u32>(&mut self, a: Touch) -> Touch {
        self.made(false, &[a])
    }

    fn logic<const LUT: u8>(&mut self, a: Touch, b: Touch, c: Touch) -> Touch {
        self.made(false, &[a, b, c])
    }

    fn input(&mut self, input: Input) -> Touch {
        let made = self.made(false, &[]);
        // m15 is the upper half of the message's length in bits, which is below 2^32.
        Touch {
            nought: !made.touched && matches!(input, Input::Zero | Input::Word(15)),
            ..made
        }
    }

    fn phase(&mut self, phase: Phase) {
        (self.phase, self.operations) = (phase, 0);
    }

    fn layer(&mut self, layer: Layer, word: Touch) {
        self.layers[layer.index()] |= word.touched;
    }
}

/// The description once, with `states` candidates step by step together: the machine after it, and how many
/// operations and inputs the group and the candidates had.
fn taint(options: &Options, states: usize, broken: Mutation) -> (Taint, [usize; 2]) {
    let mut m = Taint {
        broken,
        phase: Phase::Group,
        operations: 0,
        layers: [false; Layer::COUNT],
    };
    let given = Touch::default();
    let group = (options.walk == Walk::Orbit).then(|| describe::group(&mut m, options, given));
    let in_group = m.operations;
    m.phase(Phase::Candidate);
    let (mut windows, mut words) = (Vec::new(), Vec::new());
    for _ in 0..states {
        let (window, word) = match &group {
            None => describe::tunnel_words(&mut m, given),
            Some(group) => describe::member(&mut m, group, given),
        };
        windows.push(window);
        words.push(word);
    }
    if group.is_none() {
        describe::head(&mut m, options, &mut windows, &words);
    }
    describe::tail(&mut m, options, &mut windows, &words);
    for (window, words) in windows.iter().zip(&words) {
        describe::digest(&mut m, options, *window, words);
    }
    let in_candidates = m.operations;
    (m, [in_group, in_candidates])
}

#[cfg(test)]
/// How many operations and inputs `phase` has with `states` candidates step by step together.
#[cfg(test)]
pub fn operations(options: &Options, states: usize, phase: Phase) -> usize {
    let (_, [group, candidates]) = taint(options, states, Mutation::OrbitStep);
    match phase {
        Phase::Group => group,
        Phase::Candidate => candidates,
    }
}

/// The first layer, in data-flow order, that a broken operation reaches; `None` when it reaches none.
pub fn first_layer(options: &Options, states: usize, broken: Mutation) -> Option<Layer> {
    let (m, _) = taint(options, states, broken);
    Layer::all().find(|layer| m.layers[layer.index()])
}
