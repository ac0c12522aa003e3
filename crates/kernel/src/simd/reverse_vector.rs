//! Runs through the cache whose units change places inside a register: whole units, or whole short runs, of a
//! vector at a time.
//!
//! A vector takes one load and one shuffle so, and writes a few bytes again that the one before it wrote;
//! units that go on in the next vector took two loads.

use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::kernel::{Stride, side_by_side};
use crate::line::LINE;

/// The bytes of a lane of a vector.
pub(super) const LANE: usize = 16;

/// Reverses the units of short runs that are side by side, or of long runs.
pub(super) struct ReverseRegisters<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) unit: usize,
    /// Units of a run.
    pub(super) extent: usize,
    pub(super) count: Stride,
}

impl Operation for ReverseRegisters<'_> {
    /// # Safety
    ///
    /// A run, or all runs of an iteration if they are side by side, have at least `V::BYTES` bytes. In every
    /// iteration, each run is readable on the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        const { assert!(V::BYTES == LINE || V::BYTES == 2 * LANE) };
        #[cfg(feature = "software")]
        crate::observed::ran("reverse inside registers");
        let ReverseRegisters { walk, unit, extent, count } = self;
        let run = unit * extent;
        // Short runs that are side by side go forwards, as many at a time as a vector holds. The units of a
        // long run come from its end.
        let backwards = !side_by_side(unit, extent, count, V::BYTES);
        let (whole, bytes) = if backwards { (unit, run) } else { (run, run * count.extent) };
        let count = if backwards { count } else { Stride { extent: 1, ..count } };
        // The bytes of a vector that are whole units or runs, and where each of them comes from.
        let step = V::BYTES - V::BYTES % whole;
        let mut order = [0; LINE];
        reverse_places(&mut order[..step], unit, if backwards { step } else { run });
        // Backwards, a vector is loaded that ends with the units.
        let shift = if backwards { V::BYTES - step } else { 0 };
        let shifted = order.map(|place| place.wrapping_add(u8::try_from(shift).unwrap_or(0)));
        // SAFETY: both are a line, and a vector no more. Whole vectors at `at` are inside the `bytes` of a
        // run on either side; the last units, at most at `bytes - step`, are read and written in part. What a
        // vector writes after its `step` bytes is written again by the next. A prefetch may go anywhere.
        unsafe {
            let (order, shifted) = (V::load(order.as_ptr()), V::load(shifted.as_ptr()));
            let ahead = if backwards { walk.in_row().wrapping_neg() } else { walk.in_row() };
            for iteration in walk.iterations() {
                for i in 0..count.extent {
                    let from = iteration.from.add(i * count.source.cast_unsigned());
                    let to = iteration.to.add(i * count.destination.cast_unsigned());
                    let mut at = 0;
                    while at + V::BYTES <= bytes {
                        let from = from.add(if backwards { bytes - at - V::BYTES } else { at });
                        if ahead != 0 {
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
