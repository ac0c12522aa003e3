//! Runs through the cache whose units change places inside a register: whole units, or whole short runs, of a
//! vector at a time.
//!
//! A vector takes one load and one shuffle so, and writes a few bytes again that the one before it wrote;
//! units that go on in the next vector took two loads.

use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::cost::{LINE, PREFETCH_IN_RUN};
use crate::nest::Stride;

/// The bytes of a lane of a vector.
pub(super) const LANE: usize = 16;

/// Reverses the units of short runs that are side by side, or of long ones.
pub(super) struct ReverseVectors<'a> {
    walk: &'a Walk<'a>,
    /// The bytes of a vector that are whole units or runs, and where each of them comes from among as many.
    step: usize,
    order: [u8; LINE],
    /// What goes vector by vector: this many bytes, so often.
    bytes: usize,
    count: Stride,
    /// They are one run each, whose source goes backwards.
    backwards: bool,
}

impl<'a> ReverseVectors<'a> {
    /// For `count.extent` runs of `run` bytes an iteration; `None` if there is another kernel for them.
    pub(super) fn of<V: Vector>(walk: &'a Walk<'a>, unit: usize, run: usize, count: Stride) -> Option<Self> {
        let side_by_side = (count.source, count.destination) == (run, run) && run <= V::BYTES;
        let (whole, bytes) = if side_by_side { (run, run * count.extent) } else { (unit, run) };
        if walk.streaming || bytes < V::BYTES {
            return None;
        }
        let step = V::BYTES - V::BYTES % whole;
        let mut order = [0; LINE];
        reverse_places(&mut order[..step], unit, if side_by_side { run } else { step });
        let count = if side_by_side { Stride { extent: 1, ..count } } else { count };
        Some(ReverseVectors { walk, step, order, bytes, count, backwards: !side_by_side })
    }
}

impl Operation for ReverseVectors<'_> {
    /// # Safety
    ///
    /// It was made for `V`, and in every iteration, each run is readable on the source and writable on the
    /// destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        const { assert!(V::BYTES == LINE || V::BYTES == 2 * LANE) };
        let ReverseVectors { walk, step, order, bytes, count, backwards } = self;
        // Backwards, a vector is loaded that ends with the units.
        let shift = if backwards { V::BYTES - step } else { 0 };
        let shifted = order.map(|place| place.wrapping_add(u8::try_from(shift).unwrap_or(0)));
        // SAFETY: both are a line, and a vector no more. Whole vectors at `at` are inside the `bytes` of a
        // run on either side; the last units, at most at `bytes - step`, are read and written in part. What a
        // vector writes after its `step` bytes is written again by the next. A prefetch may go anywhere.
        unsafe {
            let (order, shifted) = (V::load(order.as_ptr()), V::load(shifted.as_ptr()));
            for iteration in walk.iterations(bytes * count.extent) {
                for i in 0..count.extent {
                    let (from, to) = (iteration.from.add(i * count.source), iteration.to.add(i * count.destination));
                    let mut at = 0;
                    while at + V::BYTES <= bytes {
                        let from = from.add(if backwards { bytes - at - V::BYTES } else { at });
                        if iteration.prefetch {
                            let ahead = if backwards { PREFETCH_IN_RUN.wrapping_neg() } else { PREFETCH_IN_RUN };
                            V::prefetch(from.wrapping_add(ahead));
                        }
                        let line = if V::BYTES == LINE {
                            V::shuffle([V::load(from)], shifted)
                        } else {
                            let [low, high] = [from, from.add(LANE)].map(|half| V::load_lanes([half; LANES]));
                            V::shuffle_pairs(low, high, shifted)
                        };
                        line.store(to.add(at));
                        at += step;
                    }
                    while at < bytes {
                        let last = at.min(bytes - step);
                        let from = from.add(if backwards { bytes - last - step } else { last });
                        V::shuffle([V::load_partial(from, step)], order).store_partial(to.add(last), step);
                        at += step;
                    }
                }
            }
        }
    }
}

/// For each byte of some runs whose units of `unit` bytes come in the opposite order, which byte it is; at
/// most 256.
fn reverse_places(places: &mut [u8], unit: usize, run: usize) {
    for (to, place) in places.iter_mut().enumerate() {
        let (start, inside) = (to - to % run, to % run);
        *place = u8::try_from(start + run - unit - (inside - inside % unit) + inside % unit).unwrap_or(0);
    }
}
