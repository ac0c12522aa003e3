//! Reverses runs inside registers and writes them with ordinary stores. Each vector holds whole units, or
//! whole short runs.
//!
//! A vector that may begin inside a unit needs two loads and a shuffle of two registers (`reverse.rs`). If
//! each vector begins at the start of a unit instead, one load and one shuffle are enough. The vector then
//! has some bytes more than whole units. These bytes are stored too, and the next vector stores the right
//! bytes over them.

use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::kernel::{Stride, side_by_side};
use crate::line::LINE;

/// Size of a lane of a vector in bytes.
pub(super) const LANE: usize = 16;

/// Reverses the units of short runs that are side by side, or the units of long runs.
pub(super) struct ReverseRegisters<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) unit: usize,
    /// How many units a run has.
    pub(super) extent: usize,
    pub(super) count: Stride,
}

impl Operation for ReverseRegisters<'_> {
    /// # Safety
    ///
    /// * A run has at least `V::BYTES` bytes. If runs are side by side, all runs of an iteration have at
    ///   least `V::BYTES` bytes together.
    /// * In every iteration, each run is readable on the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        const { assert!(V::BYTES == LINE || V::BYTES == 2 * LANE) };
        let ReverseRegisters { walk, unit, extent, count } = self;
        let run = unit * extent;
        // Short runs that are side by side are reversed from front to back, a vector of whole runs at a time.
        // The units of a long run are reversed from its end.
        let backwards = !side_by_side(unit, extent, count, V::BYTES);
        let (whole, bytes) = if backwards { (unit, run) } else { (run, run * count.extent) };
        let count = if backwards { count } else { Stride { extent: 1, ..count } };
        // The bytes of a vector that are whole units or whole runs, and the index of each of these bytes.
        let step = V::BYTES - V::BYTES % whole;
        let mut order = [0; LINE];
        reversed_indices(&mut order[..step], unit, if backwards { step } else { run });
        // From the end of a run, the vector that is loaded ends with whole units.
        let shift = if backwards { V::BYTES - step } else { 0 };
        let shifted = order.map(|index| index.wrapping_add(u8::try_from(shift).unwrap_or(0)));
        // SAFETY: both tables have a line, which is at least a vector. Whole vectors at `at` end inside the
        // `bytes` of a run on both sides. The last `step` bytes are loaded and stored in part.
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

/// Writes the index of each byte of some runs whose units of `unit` bytes are reversed. There are at most 256
/// bytes.
fn reversed_indices(indices: &mut [u8], unit: usize, run: usize) {
    for (to, index) in indices.iter_mut().enumerate() {
        let (start, inside) = (to - to % run, to % run);
        *index = u8::try_from(start + run - unit - (inside - inside % unit) + inside % unit).unwrap_or(0);
    }
}
