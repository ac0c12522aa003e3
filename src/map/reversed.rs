//! Walks dimensions of a copy backwards.
//!
//! A layout has no direction, but a pair of layouts has. Reading a dimension backwards or writing it
//! backwards is the same copy, and doing both is the copy without reversal. The direction therefore belongs
//! to the loops of a box, and only the source of a loop may be walked backwards.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "invariant 1: every value here is the offset of an element, or the distance of two"
)]

use super::digits::Chain;
use super::refine::{Loop, Segment};

/// Whether a chain can be walked backwards: the value at `extent - 1 - u` is the last value minus the value
/// at `u`, for every `u`. This holds if the digits are independent of each other and every block is full.
pub(super) fn counts_down(chain: &Chain, extent: u64) -> bool {
    chain.is_exact() && chain.digits().first().is_none_or(|top| extent.is_multiple_of(top.divisor.get()))
}

/// Changes a segment so that its source is walked backwards. `last` is the largest offset that the chain of
/// the source gives: offset `i` becomes `last - i`.
pub(super) fn source_reversed(segment: &mut Segment, last: u64) {
    segment.source = last - segment.source;
    for step in &mut segment.loops {
        match step {
            Loop::Strided(stride) => stride.source = -stride.source,
            Loop::Table(entries) => {
                let most = entries.iter().map(|&(source, _)| source).max().unwrap_or(0);
                entries.iter_mut().for_each(|(source, _)| *source = most - *source);
                segment.source -= most;
            }
        }
    }
}

/// Changes a segment so that its destination is walked backwards. `last` is the last value of the destination
/// chain. Each loop then begins at its other end on both sides, so that its source is walked backwards
/// instead.
pub(super) fn destination_reversed(segment: &mut Segment, last: u64) {
    segment.destination = last - segment.destination;
    for step in &mut segment.loops {
        match step {
            Loop::Strided(stride) => {
                segment.source += (stride.extent - 1) * stride.source.unsigned_abs();
                segment.destination -= (stride.extent - 1) * stride.destination;
                stride.source = -stride.source;
            }
            Loop::Table(entries) => {
                let most = entries.iter().map(|&(_, destination)| destination).max().unwrap_or(0);
                entries.iter_mut().for_each(|(_, destination)| *destination = most - *destination);
                segment.destination -= most;
            }
        }
    }
}
