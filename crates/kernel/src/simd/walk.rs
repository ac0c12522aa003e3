//! The iterations of a nest as kernels see them: pointers, and what to prefetch.

use super::super::iterations::Iterations;
use crate::cost::{JOINED_RUN, LONG_RUN, PREFETCH_IN_RUN, PREFETCH_ITERATIONS};
use crate::nest::{NestLoop, Stride};
use crate::schedule::Schedule;

/// The iterations of a nest, and how its kernel reads and stores.
pub(crate) struct Walk<'a> {
    /// Where the first iteration begins on the source and on the destination.
    pub(crate) start: (*const u8, *mut u8),
    pub(crate) loops: &'a [NestLoop],
    /// Use non-temporal stores.
    pub(crate) streaming: bool,
    pub(crate) schedule: &'a Schedule,
}

impl<'a> Walk<'a> {
    /// How many neighbouring iterations are joined, if they write runs of `row` bytes side by side: the
    /// innermost loop says so.
    pub(super) fn joined_iterations(&self, row: usize) -> Option<usize> {
        let runs = usize::from(self.schedule.joined_iterations);
        let &NestLoop::Strided(Stride { extent, destination, .. }) = self.loops.last()? else { return None };
        let joined = self.streaming && runs >= 2 && destination == row && extent.is_multiple_of(runs);
        (joined && runs * row <= JOINED_RUN).then_some(runs)
    }

    /// All iterations, each of which reads this many bytes.
    #[inline(always)]
    pub(super) fn iterations(&self, bytes: usize) -> Pointers<'a> {
        let iterations = Iterations::new(self.loops, (0, 0));
        let later = (self.schedule.prefetch && !self.loops.is_empty()).then(|| {
            let mut later = iterations;
            let distance = (bytes_of(self.schedule.prefetch_distance) / bytes.max(1)).clamp(1, PREFETCH_ITERATIONS);
            later.by_ref().take(distance).for_each(drop);
            later
        });
        Pointers { iterations, later, start: self.start, prefetch: self.schedule.prefetch }
    }
}

/// The iterations of a [`Walk`]. A second iterator is some iterations further on and says what to prefetch.
pub(super) struct Pointers<'a> {
    iterations: Iterations<'a>,
    later: Option<Iterations<'a>>,
    start: (*const u8, *mut u8),
    prefetch: bool,
}

/// One iteration: where it begins on both sides.
#[derive(Clone, Copy)]
pub(super) struct Iteration {
    pub(super) from: *const u8,
    pub(super) to: *mut u8,
    /// Where an iteration begins that reads [`prefetch_distance`](Schedule::prefetch_distance) bytes later,
    /// or the next one.
    pub(super) later: Option<*const u8>,
    pub(super) prefetch: bool,
}

impl Iterator for Pointers<'_> {
    type Item = Iteration;

    #[inline(always)]
    fn next(&mut self) -> Option<Iteration> {
        let (from, to) = self.iterations.next()?;
        let later = match &mut self.later {
            Some(later) => later.next().map(|(from, _)| self.start.0.wrapping_add(from)),
            None => None,
        };
        let (from, to) = (self.start.0.wrapping_add(from), self.start.1.wrapping_add(to));
        Some(Iteration { from, to, later, prefetch: self.prefetch })
    }
}

impl Iteration {
    /// What to prefetch while the first bytes of a source row of this length are read: as far into the row as
    /// `from` is.
    #[inline(always)]
    pub(super) fn later_in_row(&self, row: usize) -> Option<*const u8> {
        if row >= LONG_RUN { self.prefetch.then(|| self.from.wrapping_add(PREFETCH_IN_RUN)) } else { self.later }
    }

    /// The same of several source rows of this length, or of one that is copied as it is: nothing of long
    /// ones, which the hardware prefetcher follows.
    #[inline(always)]
    pub(super) fn later_in_rows(&self, row: usize) -> Option<*const u8> {
        if row < LONG_RUN { self.later } else { None }
    }
}

/// A number of a schedule.
#[inline(always)]
pub(super) fn bytes_of(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
