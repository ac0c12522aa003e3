//! A walk: the iterations of a copy, each as pointers to both sides and an address to prefetch.

use crate::kernel::{Loop, Prefetch, Stride, count};
use crate::odometer::Odometer;

#[derive(Clone, Copy)]
pub(crate) struct Walk<'a> {
    pub(crate) start: (*const u8, *mut u8),
    pub(crate) loops: &'a [Loop],
    pub(crate) streaming: bool,
    /// Whether the bytes of the destination are initialised and may be read.
    pub(crate) readable: bool,
    pub(crate) prefetch: Prefetch,
}

impl<'a> Walk<'a> {
    #[inline(always)]
    pub(super) fn iterations(&self) -> Pointers<'a> {
        let iterations = Odometer::new(self.loops, (0, 0));
        let later = match self.prefetch {
            Prefetch::Iterations(ahead) if !self.loops.is_empty() => {
                let mut later = iterations;
                later.by_ref().take(count(ahead)).for_each(drop);
                Some(later)
            }
            _ => None,
        };
        Pointers { iterations, later, start: self.start }
    }

    /// Returns the walk without its innermost loop, and that innermost loop, which a kernel then runs by
    /// itself. If later iterations are prefetched, the returned walk keeps all loops, and the returned loop
    /// has one iteration.
    #[inline(always)]
    pub(super) fn around_innermost(&self) -> (Walk<'a>, Stride) {
        match self.loops.split_last() {
            Some((Loop::Strided(innermost), loops)) if !matches!(self.prefetch, Prefetch::Iterations(_)) => {
                (Walk { loops, ..*self }, *innermost)
            }
            _ => (*self, Stride::ONCE),
        }
    }

    /// How many bytes ahead of its loads a kernel prefetches a source row; 0 for no prefetch.
    #[inline(always)]
    pub(super) fn in_row(&self) -> usize {
        match self.prefetch {
            Prefetch::InRow(bytes) => count(bytes),
            Prefetch::None | Prefetch::Iterations(_) => 0,
        }
    }
}

/// The iterations of a [`Walk`]. For prefetches, a second odometer runs through the same iterations, some
/// iterations ahead.
pub(super) struct Pointers<'a> {
    iterations: Odometer<'a>,
    later: Option<Odometer<'a>>,
    start: (*const u8, *mut u8),
}

#[derive(Clone, Copy)]
pub(super) struct Iteration {
    pub(super) from: *const u8,
    pub(super) to: *mut u8,
    /// The source address of a later iteration, to be prefetched in this iteration.
    pub(super) later: Option<*const u8>,
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
        Some(Iteration { from, to, later })
    }
}
