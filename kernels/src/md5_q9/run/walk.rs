//! The loops around the candidate: a range of slots, `N` vectors at a time.

use std::ops::Range;

use super::lanes::{Lanes, MAX_LANES, Runs};
use crate::md5_q9::describe::{self, Group, Window, Words};
use crate::md5_q9::machine::{Layer, Phase};
use crate::md5_q9::options::{Options, Walk};
use crate::md5_q9::order::{MEMBERS, ORBIT_ROW, last_of_first_group};
use crate::md5_q9::workload::{HIT_WORDS, ROW, ROW_HEAD};

/// What a piece of a launch is given.
pub struct Piece {
    /// Slots, counted from the beginning of the base.
    pub slots: Range<u64>,
    /// Q61 of a hit.
    pub target: u32,
    /// Bits of Q61 that are compared, as a mask.
    pub mask: u32,
    /// Distance between the members of an orbit.
    pub orbit_step: u32,
}

/// What a piece yields.
pub struct Yield<'t> {
    /// Records of Q9 and the digest's words.
    pub hits: Vec<[u32; HIT_WORDS]>,
    /// The trace rows of the piece's candidates, in order; empty in a production build.
    pub rows: &'t mut [u32],
}

/// Walk a piece. `TRACE` keeps every layer.
#[inline(always)]
pub fn walk<'a, L, M, const N: usize, const TRACE: bool>(
    m: &mut M,
    options: &Options,
    piece: &Piece,
    out: &mut Yield<'_>,
) where
    L: Lanes,
    M: Runs<'a, L, N, TRACE>,
{
    match options.walk {
        Walk::Tunnel => tunnel::<L, M, N, TRACE>(m, options, piece, out),
        Walk::Orbit => orbits::<L, M, N, TRACE>(m, options, piece, out),
    }
}

#[inline(always)]
fn tunnel<'a, L, M, const N: usize, const TRACE: bool>(
    m: &mut M,
    options: &Options,
    piece: &Piece,
    out: &mut Yield<'_>,
) where
    L: Lanes,
    M: Runs<'a, L, N, TRACE>,
{
    let width = (N * L::LANES) as u64;
    let mut slot = piece.slots.start;
    while slot < piece.slots.end {
        let valid = (piece.slots.end - slot).min(width) as usize;
        let mut q9 = [L::splat(0); N];
        for i in 0..N {
            q9[i] = L::add(
                L::splat((slot as u32).wrapping_add((i * L::LANES) as u32)),
                L::ramp(1),
            );
        }
        m.phase(Phase::Candidate);
        let (mut windows, mut words) = ([zero_window::<L>(); N], [zero_words::<L>(options.walk); N]);
        for i in 0..N {
            m.select(i);
            (windows[i], words[i]) = describe::tunnel_words(m, q9[i]);
        }
        describe::head(m, options, &mut windows, &words);
        describe::tail(m, options, &mut windows, &words);
        let first_row = (slot - piece.slots.start) as usize;
        let place = Place {
            first_row,
            row_stride: 1,
            valid,
        };
        finish::<L, M, N, TRACE>(m, options, piece, out, &place, &windows, &words, &q9);
        slot += width;
    }
}

#[inline(always)]
fn orbits<'a, L, M, const N: usize, const TRACE: bool>(
    m: &mut M,
    options: &Options,
    piece: &Piece,
    out: &mut Yield<'_>,
) where
    L: Lanes,
    M: Runs<'a, L, N, TRACE>,
{
    let row_slots = u64::from(ORBIT_ROW);
    let width = N * L::LANES;
    let mut slot = piece.slots.start;
    while slot < piece.slots.end {
        // As many orbits with the same low bits of y0 as there are, and as fit: they have one k*.
        let (low, high) = ((slot / row_slots) as u32, (slot % row_slots) as u32);
        let row_end = ORBIT_ROW - u32::from(low >= 0xf0f);
        let left_in_row = u64::from(row_end.saturating_sub(high)).min(piece.slots.end - slot);
        if left_in_row == 0 {
            slot += 1; // the empty slot of a short row
            continue;
        }
        let valid = left_in_row.min(width as u64) as usize;
        let (mut y0, mut z) = ([L::splat(0); N], [L::splat(0); N]);
        for i in 0..N {
            let first = (high.wrapping_add((i * L::LANES) as u32)) << 12 | low;
            y0[i] = L::add(L::splat(first), L::ramp(1 << 12));
            z[i] = L::sub(L::splat(1), y0[i]);
        }
        let last = last_of_first_group(high << 12 | low);
        let first_row = (slot - piece.slots.start) as usize;
        for (group, members) in [(0, 0..last + 1), (1, last + 1..MEMBERS)] {
            m.phase(Phase::Group);
            let mut groups = [zero_group::<L>(); N];
            for i in 0..N {
                m.select(i);
                // m9 - C9 = R0 + y0, less one in the second group
                let v = L::add(L::rotl::<20>(y0[i]), L::sub(y0[i], L::splat(group)));
                groups[i] = describe::group(m, options, v);
            }
            for k in members {
                m.phase(Phase::Candidate);
                let (mut windows, mut words) = ([zero_window::<L>(); N], [zero_words::<L>(options.walk); N]);
                let mut q9 = [L::splat(0); N];
                for i in 0..N {
                    m.select(i);
                    (windows[i], words[i]) = describe::member(m, &groups[i], z[i]);
                    q9[i] = L::sub(z[i], L::splat(1));
                }
                describe::tail(m, options, &mut windows, &words);
                let first_row = first_row * MEMBERS as usize + k as usize;
                let place = Place {
                    first_row,
                    row_stride: MEMBERS as usize,
                    valid,
                };
                finish::<L, M, N, TRACE>(m, options, piece, out, &place, &windows, &words, &q9);
                for i in 0..N {
                    z[i] = L::sub(z[i], L::splat(piece.orbit_step));
                }
            }
        }
        slot += valid as u64;
    }
}

// The arrays above are filled by loops, not by closures: a closure is a function of its own, without the instruction
// set of the function around it, and the compiler would not inline the intrinsics into it.

#[inline(always)]
fn zero_window<L: Lanes>() -> Window<L::Vector> {
    let zero = L::splat(0);
    Window {
        q0: zero,
        q1: zero,
        q2: zero,
        q3: zero,
    }
}

#[inline(always)]
fn zero_words<L: Lanes>(walk: Walk) -> Words<L::Vector> {
    let zero = L::splat(0);
    match walk {
        Walk::Tunnel => Words::Tunnel {
            m8: zero,
            m9: zero,
            m12: zero,
        },
        Walk::Orbit => Words::Orbit {
            r: zero,
            z: zero,
            km9: zero,
        },
    }
}

#[inline(always)]
fn zero_group<L: Lanes>() -> Group<L::Vector> {
    let zero = L::splat(0);
    Group {
        q: [zero; 3],
        c27: zero,
        c: [zero; 3],
        km9: zero,
    }
}

/// Where the rows of `N` vectors of candidates lie, and how many of their lanes are candidates at all.
struct Place {
    first_row: usize,
    row_stride: usize,
    valid: usize,
}

/// The test of Q61, and for what passes it the rest of the digest. A trace takes everything.
#[inline(always)]
#[allow(
    clippy::too_many_arguments,
    reason = "inlined into its two callers, which share nothing else"
)]
fn finish<'a, L, M, const N: usize, const TRACE: bool>(
    m: &mut M,
    options: &Options,
    piece: &Piece,
    out: &mut Yield<'_>,
    place: &Place,
    windows: &[Window<L::Vector>; N],
    words: &[Words<L::Vector>; N],
    q9: &[L::Vector; N],
) where
    L: Lanes,
    M: Runs<'a, L, N, TRACE>,
{
    let target = L::splat(piece.target);
    let mut passes = [0; N];
    let mut any = 0;
    for i in 0..N {
        passes[i] = if TRACE {
            u32::MAX
        } else if piece.mask != u32::MAX {
            // A branch on a scalar that never changes: free beside the vectors, where a masked test is not.
            // (Q61 ^ target) & mask = 0, with the truth tables that the vectors have
            let zero = L::splat(0);
            let difference = L::logic::<0x96>(windows[i].q0, target, zero);
            L::equal(L::logic::<0xca>(L::splat(piece.mask), difference, zero), zero)
        } else {
            L::equal(windows[i].q0, target)
        };
        any |= passes[i];
    }
    if any == 0 {
        return;
    }
    // Written out instead of a loop: one that the compiler does not unroll would index the arrays, which then live in
    // memory throughout and are stored to at every step.
    macro_rules! confirm {
        ($($i:literal)*) => {
            $(
                if $i < N && passes[$i % N] != 0 {
                    let i = $i % N;
                    m.select(i);
                    let digest = describe::digest(m, options, windows[i], &words[i]);
                    yield_passed::<L, M, N, TRACE>(m, out, place, i, passes[i], q9[i], digest);
                }
            )*
        };
    }
    const { assert!(N <= 6) };
    confirm!(0 1 2 3 4 5);
}

/// Hand on what passed of vector `i`, lane by lane.
#[inline(always)]
fn yield_passed<'a, L, M, const N: usize, const TRACE: bool>(
    m: &M,
    out: &mut Yield<'_>,
    place: &Place,
    i: usize,
    passes: u32,
    q9: L::Vector,
    digest: [L::Vector; 4],
) where
    L: Lanes,
    M: Runs<'a, L, N, TRACE>,
{
    let [a, b, c, d] = digest;
    let (a, b, c, d) = (L::lanes(a), L::lanes(b), L::lanes(c), L::lanes(d));
    let q9 = L::lanes(q9);
    let valid = place.valid.saturating_sub(i * L::LANES).min(L::LANES);
    for lane in (0..valid).filter(|lane| passes >> lane & 1 == 1) {
        if TRACE {
            let row = place.first_row + (i * L::LANES + lane) * place.row_stride;
            write_row(
                &mut out.rows[ROW * row..][..ROW],
                q9[lane],
                m.vectors().layers(i),
                lane,
            );
        } else {
            out.hits.push([q9[lane], a[lane], b[lane], c[lane], d[lane]]);
        }
    }
}

fn write_row(row: &mut [u32], q9: u32, layers: &[Option<[u32; MAX_LANES]>; Layer::COUNT], lane: usize) {
    row[0] += 1;
    row[1] = q9;
    for (place, layer) in row[ROW_HEAD..].iter_mut().zip(layers) {
        if let Some(lanes) = layer {
            *place = lanes[lane];
        }
    }
}
