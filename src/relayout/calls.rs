//! Where the calls of a kernel go: the loops outside it, one step at a time.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "offsets of calls lie inside the buffers, whose reach was computed with care; positions stay below extents"
)]

use smallvec::SmallVec;

use super::schedule::{Step, Stride};

/// The offsets of all calls in order, source and destination, in bytes.
#[derive(Debug, Clone)]
pub(super) struct Calls<'a> {
    /// All loops but the innermost, outer to inner.
    outer: SmallVec<[Level<'a>; 4]>,
    start: (usize, usize),
    innermost: Stride,
    /// The next call, and how many follow before an outer loop takes a step.
    next: (usize, usize),
    left: usize,
}

/// A loop, and how far it has come.
#[derive(Debug, Clone)]
struct Level<'a> {
    step: &'a Step,
    at: usize,
    /// Where its present step begins, the loops outside it included.
    offset: (usize, usize),
}

impl<'a> Calls<'a> {
    /// The calls of a kernel inside these loops, the first of which goes from and to these offsets.
    pub(super) fn new(loops: &'a [Step], start: (usize, usize)) -> Calls<'a> {
        let (outer, innermost) = match loops.split_last() {
            Some((Step::Strided(stride), outer)) => (outer, *stride),
            _ => (loops, Stride::ONCE),
        };
        let mut next = start;
        let outer = outer
            .iter()
            .map(|step| {
                next = plus(next, step.at(0));
                Level { step, at: 0, offset: next }
            })
            .collect();
        Calls { outer, start, innermost, next, left: innermost.extent }
    }

    /// Takes a step of an outer loop. `false` if all are done.
    #[inline(never)]
    fn carry(&mut self) -> bool {
        for place in (0..self.outer.len()).rev() {
            let (before, inside) = self.outer.split_at_mut(place);
            let Some((level, inside)) = inside.split_first_mut() else { return false };
            level.at += 1;
            if level.at < level.step.extent() {
                let outside = before.last().map_or(self.start, |level| level.offset);
                level.offset = plus(outside, level.step.at(level.at));
                self.next = level.offset;
                for level in inside {
                    level.at = 0;
                    level.offset = plus(self.next, level.step.at(0));
                    self.next = level.offset;
                }
                self.left = self.innermost.extent;
                return self.left > 0;
            }
        }
        // All done: from now on there is nothing to carry to.
        self.outer.clear();
        false
    }
}

fn plus(a: (usize, usize), b: (usize, usize)) -> (usize, usize) {
    (a.0 + b.0, a.1 + b.1)
}

impl Iterator for Calls<'_> {
    type Item = (usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        if self.left == 0 && !self.carry() {
            return None;
        }
        let call = self.next;
        self.left -= 1;
        // Past the last step this may lie outside the buffers, and is not used.
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
