//! Where the calls of a kernel go: the loops outside it, one step at a time.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "offsets of calls lie inside the buffers, whose reach was computed with care; positions stay below extents"
)]

use super::schedule::{Step, Stride};

/// The offsets of all calls in order, source and destination, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Calls<'a> {
    /// All loops but the two innermost, outer to inner, and how many steps they have taken in all.
    outer: &'a [Step],
    taken: usize,
    start: (usize, usize),
    middle: Stride,
    innermost: Stride,
    /// The next step of the middle loop, and how many follow before an outer loop takes a step.
    turn: (usize, usize),
    turns: usize,
    /// The next call, and how many follow before the middle loop takes a step.
    next: (usize, usize),
    left: usize,
}

impl<'a> Calls<'a> {
    /// The calls of a kernel inside these loops, the first of which goes from and to these offsets.
    pub(super) fn new(loops: &'a [Step], start: (usize, usize)) -> Calls<'a> {
        let last = |loops: &'a [Step]| match loops.split_last() {
            Some((Step::Strided(stride), outer)) => (outer, *stride),
            _ => (loops, Stride::ONCE),
        };
        let (outer, innermost) = last(loops);
        let (outer, middle) = last(outer);
        let (turns, left) = (middle.extent, 0);
        let mut calls = Calls { outer, taken: 0, start, middle, innermost, turn: start, turns, next: start, left };
        if !outer.is_empty() {
            calls.turn = calls.outside().unwrap_or(start);
        }
        calls
    }

    /// Where the outer loops have come to. `None` if they are done.
    fn outside(&self) -> Option<(usize, usize)> {
        let (mut begin, mut rest) = (self.start, self.taken);
        for step in self.outer.iter().rev() {
            // A loop has a step at least.
            let extent = step.extent().max(1);
            begin = plus(begin, step.at(rest % extent));
            rest /= extent;
        }
        (rest == 0).then_some(begin)
    }

    /// Takes a step of the middle loop. `false` if it was at its last.
    #[inline(always)]
    fn step(&mut self) -> bool {
        if self.turns == 0 {
            return false;
        }
        self.turns -= 1;
        self.next = self.turn;
        // Past the last step this may lie outside the buffers, and is not used.
        self.turn = (self.turn.0.wrapping_add(self.middle.source), self.turn.1.wrapping_add(self.middle.destination));
        self.left = self.innermost.extent;
        self.left > 0
    }

    /// Takes a step of an outer loop. `false` if all are done.
    #[inline(never)]
    fn carry(&mut self) -> bool {
        self.taken += 1;
        let Some(turn) = self.outside() else { return false };
        (self.turn, self.turns) = (turn, self.middle.extent);
        self.step()
    }
}

fn plus(a: (usize, usize), b: (usize, usize)) -> (usize, usize) {
    (a.0 + b.0, a.1 + b.1)
}

impl Iterator for Calls<'_> {
    type Item = (usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        if self.left == 0 && !self.step() && !self.carry() {
            return None;
        }
        let call = self.next;
        self.left -= 1;
        // As for the middle loop.
        self.next = (call.0.wrapping_add(self.innermost.source), call.1.wrapping_add(self.innermost.destination));
        Some(call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_come_in_the_order_of_the_loops() {
        let strided = |extent, source, destination| Step::Strided(Stride { extent, source, destination });
        let loops = [strided(2, 100, 1000), Step::Table(vec![(7, 70), (0, 20), (9, 0)]), strided(2, 1, 2)];
        let mut expected = Vec::new();
        for a in 0..2 {
            for (from, to) in [(7, 70), (0, 20), (9, 0)] {
                for c in 0..2 {
                    expected.push((5 + 100 * a + from + c, 3 + 1000 * a + to + 2 * c));
                }
            }
        }
        let mut calls = Calls::new(&loops, (5, 3));
        assert_eq!(calls.by_ref().collect::<Vec<_>>(), expected);
        assert_eq!(calls.next(), None);
        assert_eq!(Calls::new(&[], (5, 3)).collect::<Vec<_>>(), [(5, 3)]);
        assert_eq!(Calls::new(&loops[..2], (0, 0)).count(), 6);
    }
}
