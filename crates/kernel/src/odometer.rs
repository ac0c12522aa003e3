//! The odometer over the loops of a copy: where each iteration begins, source and destination.
//!
//! It counts like the mileage of a car: the innermost loop turns fastest, and each loop that has run out
//! starts again while the loop outside of it moves on by one.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "offsets of iterations are inside the buffers, and are added with wrapping; counts stay below extents"
)]

use crate::kernel::{Loop, Stride};

/// The offsets of all iterations in order, source and destination, in bytes.
///
/// The two innermost loops are counted by additions; the offset of the loops outside them is computed anew
/// whenever the middle one has run out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Odometer<'a> {
    /// All loops but the two innermost, outer to inner, how many iterations of them have begun, and how many
    /// there are.
    outer: &'a [Loop],
    outer_begun: usize,
    outer_count: usize,
    start: (usize, usize),
    middle: Stride,
    innermost: Stride,
    /// Where the next iteration of the middle loop begins, and how many are left of it.
    next_middle: (usize, usize),
    middle_left: usize,
    /// The same of the innermost loop.
    next: (usize, usize),
    left: usize,
}

impl<'a> Odometer<'a> {
    /// The iterations of these loops, the first of which begins at `start`, source and destination.
    #[inline(always)]
    pub(super) fn new(loops: &'a [Loop], start: (usize, usize)) -> Odometer<'a> {
        let one = Odometer {
            outer: &[],
            outer_begun: 0,
            outer_count: 0,
            start,
            middle: Stride::ONCE,
            innermost: Stride::ONCE,
            next_middle: start,
            middle_left: 0,
            next: start,
            left: 1,
        };
        // The copy may be so small that the rest of this would take as long.
        if loops.is_empty() {
            return one;
        }
        let last = |loops: &'a [Loop]| match loops.split_last() {
            Some((Loop::Strided(stride), outer)) => (outer, *stride),
            _ => (loops, Stride::ONCE),
        };
        let (outer, innermost) = last(loops);
        let (outer, middle) = last(outer);
        let outer_count = if outer.is_empty() { 1 } else { count(outer) };
        Odometer { outer, outer_count, middle, innermost, left: 0, ..one }
    }

    /// The next iteration of the middle loop. `false` if it has run out.
    #[inline(always)]
    fn advance_middle(&mut self) -> bool {
        if self.middle_left == 0 {
            return false;
        }
        self.middle_left -= 1;
        self.next = self.next_middle;
        // Past the last iteration this may be outside the buffers, and is not used.
        self.next_middle = (
            self.next_middle.0.wrapping_add_signed(self.middle.source),
            self.next_middle.1.wrapping_add_signed(self.middle.destination),
        );
        self.left = self.innermost.extent;
        self.left > 0
    }

    /// The next iteration of the outer loops. `false` if all are over.
    #[inline(always)]
    fn advance_outer(&mut self) -> bool {
        if self.outer_begun == self.outer_count {
            return false;
        }
        self.next_middle = offset_at(self.outer, self.outer_begun, self.start);
        self.outer_begun += 1;
        self.middle_left = self.middle.extent;
        self.advance_middle()
    }
}

/// How many iterations some loops have: a function of its own, as few nests have more than two, and every
/// kernel makes its iterations in line.
#[inline(never)]
fn count(loops: &[Loop]) -> usize {
    loops.iter().map(Loop::extent).product()
}

/// Where iteration `number` of some loops begins. It takes and gives what registers hold: a function that was
/// handed the iterator itself would keep it in memory, where a load of two words that were stored one by one
/// waits.
#[inline(never)]
fn offset_at(loops: &[Loop], number: usize, start: (usize, usize)) -> (usize, usize) {
    let (mut offset, mut rest) = (start, number);
    for step in loops.iter().rev() {
        // A loop has at least one iteration.
        let extent = step.extent().max(1);
        offset = plus(offset, step.at(rest % extent));
        rest /= extent;
    }
    offset
}

fn plus(a: (usize, usize), b: (usize, usize)) -> (usize, usize) {
    // A stride that counts down wraps; the sum is the offset of an iteration.
    (a.0.wrapping_add(b.0), a.1.wrapping_add(b.1))
}

impl Iterator for Odometer<'_> {
    type Item = (usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        if self.left == 0 && !self.advance_middle() && !self.advance_outer() {
            return None;
        }
        let offsets = self.next;
        self.left -= 1;
        // As for the middle loop.
        self.next = (
            offsets.0.wrapping_add_signed(self.innermost.source),
            offsets.1.wrapping_add_signed(self.innermost.destination),
        );
        Some(offsets)
    }
}

#[cfg(test)]
mod tests;
