//! Moves inside one buffer that keep the order of the elements, like `memmove`. An example is moving rows
//! 1..128 of a cache to rows 0..127.
//!
//! The elements are visited in the order of rising source offsets, and their destination offsets rise as
//! well. An element that moves to the front overwrites no source that is still needed, if all elements in
//! front of it have moved. An element that moves to the back overwrites no such source, if all elements
//! behind it have moved. So the elements that move to the front are moved first, from first to last. Then the
//! other elements are moved, from last to first.
//!
//! ```text
//! offsets        0  1  2  3  4  5  6  7  8
//! source               a  b     c  d
//! destination    a  b                 c  d       a, b to the front; then d, c to the back
//! ```

use std::cmp::Reverse;

use crate::checked;
use crate::error::Error;
use crate::map::{CopyBox, Loop};
use crate::short_sort::sort_by_key;

/// Runs that move together, in rising order on both sides.
pub(super) struct Moves {
    /// The loops over the runs. They rise on both sides and nest, and the outermost loop is first.
    boxes: Vec<CopyBox>,
    /// The number of elements of a run.
    runs: Vec<u64>,
}

impl Moves {
    /// The moves of some boxes, if their elements have the same order on both sides.
    pub(super) fn new(boxes: &[CopyBox]) -> Option<Moves> {
        let mut moves = Moves { boxes: Vec::new(), runs: Vec::new() };
        let mut sorted: Vec<CopyBox> = boxes.to_vec();
        sorted.sort_by_key(|copy| (copy.source, copy.destination));
        let mut ends = (0_u64, 0_u64);
        for copy in sorted {
            let (copy, run, spans) = ordered(copy)?;
            if copy.source < ends.0 || copy.destination < ends.1 {
                return None;
            }
            // Nothing saturates, because the sums are offsets of last elements.
            ends = (copy.source.saturating_add(spans.0), copy.destination.saturating_add(spans.1));
            moves.boxes.push(copy);
            moves.runs.push(run);
        }
        Some(moves)
    }

    /// Moves elements of `bytes` bytes. The caller has checked the length of the buffer.
    pub(super) fn run(&self, buffer: &mut [u8], bytes: usize) -> Result<(), Error> {
        let bytes = checked::narrow(bytes, checked::BYTES)?;
        for backwards in [false, true] {
            let each = |(copy, &run): (&CopyBox, &u64)| -> Result<(), Error> {
                let length: usize = checked::narrow(checked::mul(run, bytes, checked::BYTES)?, checked::BYTES)?;
                each_run(&copy.loops, (copy.source, copy.destination), backwards, &mut |from, to| {
                    let moves = if backwards { from < to } else { from > to };
                    // Nothing saturates, because every element is inside the buffer.
                    let at = |offset: u64| usize::try_from(offset.saturating_mul(bytes)).unwrap_or(usize::MAX);
                    let (from, to) = (at(from), at(to));
                    if moves && from.max(to).saturating_add(length) <= buffer.len() {
                        buffer.copy_within(from..from.saturating_add(length), to);
                    }
                });
                Ok(())
            };
            let pairs = self.boxes.iter().zip(&self.runs);
            if backwards { pairs.rev().try_for_each(each)? } else { pairs.into_iter().try_for_each(each)? }
        }
        Ok(())
    }
}

/// Returns the box with its loops in the order in which they nest, the number of elements of a run, and the
/// distance from the first element to the last on either side. `None` if the loops do not nest in one order
/// on both sides.
fn ordered(mut copy: CopyBox) -> Option<(CopyBox, u64, (u64, u64))> {
    copy.loops.retain(|step| step.extent() > 1);
    sort_by_key(&mut copy.loops, |step| match step {
        Loop::Strided { source, .. } => Reverse(*source),
        Loop::Reversed { .. } | Loop::Table(_) => Reverse(u64::MAX),
    });
    let mut run = 1;
    if copy.loops.last().is_some_and(Loop::is_packed) {
        run = copy.loops.pop()?.extent();
    }
    let mut spans = (run, run);
    for step in copy.loops.iter().rev() {
        let Loop::Strided { extent, source, destination } = *step else { return None };
        if source < spans.0 || destination < spans.1 {
            return None;
        }
        // Nothing saturates, because the sums are offsets of last elements.
        let last = extent.saturating_sub(1);
        spans.0 = spans.0.saturating_add(last.saturating_mul(source));
        spans.1 = spans.1.saturating_add(last.saturating_mul(destination));
    }
    Some((copy, run, spans))
}

/// Calls `each` with the offsets of every run on either side, from the first run to the last run, or from the
/// last to the first.
fn each_run(loops: &[Loop], (from, to): (u64, u64), backwards: bool, each: &mut dyn FnMut(u64, u64)) {
    let Some((Loop::Strided { extent, source, destination }, rest)) = loops.split_first() else {
        return each(from, to);
    };
    for i in 0..*extent {
        let i = if backwards { extent.saturating_sub(1).saturating_sub(i) } else { i };
        // Nothing saturates, because these are offsets of elements.
        let start = (from.saturating_add(i.saturating_mul(*source)), to.saturating_add(i.saturating_mul(*destination)));
        each_run(rest, start, backwards, each);
    }
}
