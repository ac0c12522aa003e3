//! The maximal runs of some nests: plain ranges that are contiguous on both sides, in the order of the
//! destination.
//!
//! Each nest is visited in the order of the destination, and a heap holds the next run of every nest. A run
//! that continues the run before it on both sides is added to it. A nest whose loops do not visit the
//! destination in order (strides 2 and 3) is unrolled along a loop, so that the rest does.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tensor_layout::checked::Proven;

use super::nest::{Loop, NEST_LIMIT, Nest};

/// The offsets at which the iterations of some loops begin, the last loop the fastest.
#[derive(Debug, Clone)]
pub(crate) struct Starts<'a> {
    loops: &'a [Loop],
    index: Vec<u64>,
    at: (u64, u64),
    is_done: bool,
}

impl<'a> Starts<'a> {
    pub(crate) fn new(source: u64, destination: u64, loops: &'a [Loop]) -> Starts<'a> {
        Starts { loops, index: vec![0; loops.len()], at: (source, destination), is_done: false }
    }

    /// Moves to the next iteration. Returns false after the last.
    // Proved for every input (proofs/lemmas.py):
    // * starts.back: a step back to the first index, with wrapping, is exact where both offsets fit 64 bits.
    fn advance(&mut self) -> bool {
        for (index, step) in self.index.iter_mut().zip(self.loops).rev() {
            let (source, destination) = step.strides();
            *index = index.plus(1);
            // The offsets of a loop's steps fit 64 bits, so what wraps on the way to one of them cancels out.
            if *index < step.count {
                self.at = (self.at.0.wrapping_add_signed(source), self.at.1.wrapping_add_signed(destination));
                return true;
            }
            *index = 0;
            let back = |stride: i64| stride.cast_unsigned().wrapping_mul(step.count.wrapping_sub(1));
            self.at = (self.at.0.wrapping_sub(back(source)), self.at.1.wrapping_sub(back(destination)));
        }
        false
    }
}

impl Iterator for Starts<'_> {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        if self.is_done {
            return None;
        }
        let at = self.at;
        self.is_done = !self.advance();
        Some(at)
    }
}

/// A run: where it begins in the source and in the destination, and its length.
pub(crate) type Run = (u64, u64, u64);

/// The maximal runs of some nests. Runs longer than `piece` are cut.
#[derive(Debug, Clone)]
pub(crate) struct Ranges<'a> {
    nests: Vec<(Starts<'a>, u64)>,
    /// The destination of the next run of each nest.
    next: BinaryHeap<(Reverse<u64>, usize)>,
    pending: Option<Run>,
    piece: u64,
}

impl<'a> Ranges<'a> {
    pub(crate) fn new(nests: impl Iterator<Item = &'a Nest>, piece: u64) -> Ranges<'a> {
        let starts = |nest: &'a Nest| (Starts::new(nest.source, nest.destination, nest.outer()), nest.run());
        let nests: Vec<_> = nests.map(starts).collect();
        let next = nests.iter().enumerate().map(|(place, (starts, _))| (Reverse(starts.at.1), place)).collect();
        Ranges { nests, next, pending: None, piece }
    }

    fn run(&mut self) -> Option<Run> {
        let mut top = self.next.peek_mut()?;
        let (starts, length) = self.nests.get_mut(top.1)?;
        let run = (starts.at.0, starts.at.1, *length);
        if starts.advance() {
            top.0 = Reverse(starts.at.1);
        } else {
            std::collections::binary_heap::PeekMut::pop(top);
        }
        Some(run)
    }
}

impl Iterator for Ranges<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let mut whole = match self.pending.take() {
            Some(run) => run,
            None => self.run()?,
        };
        while whole.2 <= self.piece {
            match self.run() {
                Some(next) if (whole.0.plus(whole.2), whole.1.plus(whole.2)) == (next.0, next.1) => {
                    whole.2 = whole.2.plus(next.2);
                }
                next => {
                    self.pending = next;
                    return Some(whole);
                }
            }
        }
        let piece = self.piece;
        self.pending = Some((whole.0.plus(piece), whole.1.plus(piece), whole.2.minus(piece)));
        Some((whole.0, whole.1, piece))
    }
}

/// Returns the nests with those unrolled whose loops do not visit the destination in order. Where that would
/// make more than [`NEST_LIMIT`] nests, a nest stays as it is, and some of its neighbours may not be merged.
pub(crate) fn in_order(nests: Vec<Nest>) -> Vec<Nest> {
    let mut room = NEST_LIMIT.saturating_sub(nests.len());
    let (mut open, mut done) = (nests, Vec::new());
    while let Some(nest) = open.pop() {
        let fewest = || {
            let places = 0..nest.outer().len();
            let key = |&place: &usize| {
                let rest = nest.outer().iter().enumerate().filter(|&(other, _)| other != place);
                (!ascends(rest.map(|(_, step)| step)), nest.loops.get(place).map_or(0, |step| step.count))
            };
            places.min_by_key(key)
        };
        let unrolled = (!ascends(nest.outer().iter())).then(fewest).flatten().and_then(|place| {
            let mut loops = nest.loops.clone();
            let step = loops.remove(place);
            room = room.checked_sub(usize::try_from(step.count).ok()?)?;
            Some(
                Starts::new(nest.source, nest.destination, &[step])
                    .map(|(source, destination)| Nest { source, destination, loops: loops.clone() })
                    .collect::<Vec<_>>(),
            )
        });
        match unrolled {
            Some(parts) => open.extend(parts),
            None => done.push(nest),
        }
    }
    done
}

/// Whether loops, from outer to inner, visit the destination in ascending order.
fn ascends<'a>(loops: impl DoubleEndedIterator<Item = &'a Loop>) -> bool {
    let mut reach = 0_i128;
    loops.rev().all(|step| {
        let ascends = i128::from(step.destination_stride) > reach;
        reach = reach.plus(step.last().1);
        ascends
    })
}

/// Whether the runs of a nest are maximal, and at most `piece` long.
pub(crate) fn is_even(nest: &Nest, piece: u64) -> bool {
    let length = i128::from(nest.run());
    let mut reach = (0, 0);
    nest.run() <= piece
        && nest.outer().iter().rev().all(|step| {
            let (source, destination) = (i128::from(step.source_stride), i128::from(step.destination_stride));
            let apart = (source.minus(reach.0), destination.minus(reach.1));
            let is_apart = destination > reach.1 && apart != (length, length);
            reach = (reach.0.plus(step.last().0), reach.1.plus(step.last().1));
            is_apart
        })
}
