//! Dimensions that a copy walks backwards on its source.
//!
//! A layout has no direction, a pair of them has one: reading a dimension backwards and writing it backwards
//! are the same copy, and doing both is doing neither. So the sign belongs to the loops of a box, whose
//! source may count down.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "invariant 1: every value here is the offset of an element, or the distance of two"
)]

use super::digits::Chain;
use super::refine::{Loop, Segment};

/// Is the value at `extent - 1 - u` what the value at `u` lacks of the last one, for every `u`?
///
/// It is where the digits are independent of each other and every block is full: then all digits count down.
pub(super) fn counts_down(chain: &Chain, extent: u64) -> bool {
    chain.is_exact() && chain.digits().first().is_none_or(|top| extent.is_multiple_of(top.divisor.get()))
}

/// The segment with its source walked backwards, whose last value is `last`.
pub(super) fn source_reversed(segment: &mut Segment, last: u64) {
    segment.source = last - segment.source;
    for step in &mut segment.loops {
        match step {
            Loop::Strided { extent, source, destination } if *source > 0 => {
                *step = Loop::Reversed { extent: *extent, source: *source, destination: *destination };
            }
            Loop::Strided { .. } | Loop::Reversed { .. } => {}
            Loop::Table(entries) => {
                let most = entries.iter().map(|&(source, _)| source).max().unwrap_or(0);
                entries.iter_mut().for_each(|(source, _)| *source = most - *source);
                segment.source -= most;
            }
        }
    }
}

/// Walks the destination of a segment backwards, from its last value `last`. This is written as a source that
/// is walked backwards, because every loop may as well begin at its other end.
pub(super) fn destination_reversed(segment: &mut Segment, last: u64) {
    segment.destination = last - segment.destination;
    for step in &mut segment.loops {
        match step {
            Loop::Strided { extent, source, destination } => {
                segment.source += (*extent - 1) * *source;
                segment.destination -= (*extent - 1) * *destination;
                if *source > 0 {
                    *step = Loop::Reversed { extent: *extent, source: *source, destination: *destination };
                }
            }
            Loop::Reversed { .. } => {}
            Loop::Table(entries) => {
                let most = entries.iter().map(|&(_, destination)| destination).max().unwrap_or(0);
                entries.iter_mut().for_each(|(_, destination)| *destination = most - *destination);
                segment.destination -= most;
            }
        }
    }
}
