//! The odometer: the source and destination offsets of every iteration of a loop nest.
//!
//! A kernel runs once in each iteration of the loops around it, and needs the iteration's offsets on the
//! source and on the destination. Nested `for` loops would give these offsets, but the number of loops is not
//! known until run time. So the loops are counted like the digits of a car's odometer. The last digit turns
//! fastest. A digit that has gone round starts again, and the digit in front of it moves on by one.
//!
//! ```text
//! loops, outer to inner     extents 2, 3      source strides 100, 10
//! iterations                00   01   02   10   11   12
//! source offsets             0   10   20  100  110  120
//!                              +10  +10  new  +10  +10
//! ```
//!
//! Most nests have one or two loops, and most time is spent in the innermost loop. So for the two innermost
//! loops, only a stride is added to an offset. The outer loops are treated as one loop of many iterations.
//! Whenever the middle loop runs out, the number of the next outer iteration is divided into one digit for
//! each outer loop, and the offsets of the digits are added up anew.
//!
//! ```text
//! for number in 0..product of the outer extents:
//!     offset = start + the sum of stride * digit, for the digits of number
//!     for each iteration of the middle loop:
//!         for each iteration of the innermost loop:
//!             yield offset; offset += innermost stride
//!         offset = start of this row + middle stride
//! ```
#![allow(
    clippy::arithmetic_side_effects,
    reason = "offsets of iterations are inside the buffers, and are added with wrapping; counts stay below extents"
)]

use crate::kernel::{Loop, Stride};

/// The iterations of a loop nest, in order. Each iteration is an offset on the source and an offset on the
/// destination, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Odometer<'a> {
    /// The loops outside of the two innermost loops, outer to inner. They have `outer_count` iterations
    /// together, and `outer_begun` of these have begun.
    outer: &'a [Loop],
    outer_begun: usize,
    outer_count: usize,
    start: (usize, usize),
    middle: Stride,
    innermost: Stride,
    /// The offsets of the next iteration of the middle loop. That loop has `middle_left` iterations left.
    next_middle: (usize, usize),
    middle_left: usize,
    /// The offsets of the next iteration of the innermost loop, which has `left` iterations left.
    next: (usize, usize),
    left: usize,
}

impl<'a> Odometer<'a> {
    /// Goes through the iterations of `loops`, outer to inner. The first iteration has the offsets `start`,
    /// source and destination.
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
        // A nest without loops returns early: setting up outer loops would take as long as its small copy.
        if loops.is_empty() {
            return one;
        }
        let last = |loops: &'a [Loop]| match loops.split_last() {
            Some((Loop::Strided(stride), outer)) => (outer, *stride),
            _ => (loops, Stride::ONCE),
        };
        let (outer, innermost) = last(loops);
        let (outer, middle) = last(outer);
        // If one of the two innermost loops has no iterations, the nest has none.
        let some = innermost.extent.min(middle.extent).min(1);
        let outer_count = if outer.is_empty() { some } else { count(outer) * some };
        Odometer { outer, outer_count, middle, innermost, left: 0, ..one }
    }

    /// Moves to the next iteration of the middle loop, and of the outer loops if the middle loop has run out.
    /// Returns `false` after the last iteration.
    #[inline(always)]
    fn advance(&mut self) -> bool {
        if self.middle_left == 0 {
            if self.outer_begun == self.outer_count {
                return false;
            }
            self.next_middle = offset_at(self.outer, self.outer_begun, self.start);
            self.outer_begun += 1;
            self.middle_left = self.middle.extent;
        }
        self.middle_left -= 1;
        self.next = self.next_middle;
        // After the last iteration, the next offset may be outside of the buffers. Then no caller uses it.
        self.next_middle = (
            self.next_middle.0.wrapping_add_signed(self.middle.source),
            self.next_middle.1.wrapping_add_signed(self.middle.destination),
        );
        self.left = self.innermost.extent;
        true
    }
}

/// The number of iterations of a nest. A function of its own: every kernel inlines its odometer, and few
/// nests have more than two loops.
#[inline(never)]
fn count(loops: &[Loop]) -> usize {
    loops.iter().map(Loop::extent).product()
}

/// The offsets of iteration `number` of a nest. Arguments and result are passed in registers. If the odometer
/// itself were passed, it would be in memory, and a load of two of its words stalls after two stores.
#[inline(never)]
fn offset_at(loops: &[Loop], number: usize, start: (usize, usize)) -> (usize, usize) {
    let (mut offset, mut rest) = (start, number);
    for step in loops.iter().rev() {
        // Every loop that runs has at least one iteration. `max` lets the compiler see that.
        let extent = step.extent().max(1);
        offset = plus(offset, step.at(rest % extent));
        rest /= extent;
    }
    offset
}

fn plus(a: (usize, usize), b: (usize, usize)) -> (usize, usize) {
    // With a negative stride, the product wraps. The sum is an iteration's offset, which is inside a buffer.
    (a.0.wrapping_add(b.0), a.1.wrapping_add(b.1))
}

impl Iterator for Odometer<'_> {
    type Item = (usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        if self.left == 0 && !self.advance() {
            return None;
        }
        let offsets = self.next;
        self.left -= 1;
        // After the last iteration, the next offset may be outside of the buffers. Then no caller uses it.
        self.next = (
            offsets.0.wrapping_add_signed(self.innermost.source),
            offsets.1.wrapping_add_signed(self.innermost.destination),
        );
        Some(offsets)
    }
}
