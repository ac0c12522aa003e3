//! Planes whose rows meet in the sets of the nearest cache: they go by way of a stage, in which they do not.
//!
//! # Safety
//!
//! As for [`lines`](super::lines): the features of `V`, and blocks that lie inside both sides.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::super::schedule::LINE;
use super::blocks::{Blocks, Fetch};
use super::places::Places;
use super::rows::row;
use super::x86_64::Widths;

/// The lines of a row that are staged together.
pub(super) const RUN: usize = 4;

/// The bytes of a staged row: one more line, so that rows do not meet in the sets of the cache.
const STAGED: usize = (RUN + 1) * LINE;

/// A block of staged rows.
#[repr(align(64))]
struct Stage(MaybeUninit<[u8; STAGED * LINE]>);

impl Stage {
    #[inline(always)]
    fn new() -> Stage {
        Stage(MaybeUninit::uninit())
    }

    #[inline(always)]
    fn bytes(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

impl<P: Places> Blocks<P> {
    /// At most `N` columns of a multiple of [`RUN`] lines of rows, by way of a stage that leaves a run in every destination row.
    #[inline(always)]
    pub(super) unsafe fn scatter<V: Widths, const UNIT: usize, const N: usize, const K: usize, const LANES: usize>(
        &self,
        a: usize,
        rows: Range<usize>,
    ) {
        let (columns, deep) = (N.min(self.across - a), LINE / UNIT);
        let (mut stage, mut fetch) = (Stage::new(), Fetch::nothing(self.origin));
        // SAFETY: the blocks lie inside the plane, and `N` rows of a run inside the stage.
        unsafe {
            for b in rows.step_by(RUN * deep) {
                for line in 0..RUN {
                    let b = b + line * deep;
                    if columns < N {
                        V::edge::<UNIT, N, K, LANES, P>(self, (a, b), (deep, columns));
                        continue;
                    }
                    let (from, to) = (self.from.add(a * UNIT), stage.bytes().add(line * LINE));
                    self.block::<V, UNIT, N, K, LANES, P, usize>((from, self.origin, b), (to, STAGED, 0), &mut fetch);
                }
                for column in 0..if columns < N { 0 } else { N } {
                    let to = self.to.add(b * UNIT + self.target.place(a + column));
                    row::<V>(stage.bytes().add(column * STAGED), to, RUN * LINE, false, None);
                }
            }
        }
    }

    /// At most [`RUN`] lines of columns of a line of rows, by way of a stage that is filled run by run.
    #[inline(always)]
    pub(super) unsafe fn gather<V: Widths, const UNIT: usize, const N: usize, const K: usize, const LANES: usize>(
        &self,
        columns: Range<usize>,
        b: usize,
    ) {
        let deep = LINE / UNIT;
        let (mut stage, mut fetch) = (Stage::new(), Fetch::nothing(self.origin));
        // SAFETY: the blocks lie inside the plane, and a line of rows of a run inside the stage.
        unsafe {
            for i in 0..deep {
                let from = self.from.add(columns.start * UNIT + self.origin.place(b + i));
                row::<V>(from, stage.bytes().add(i * STAGED), columns.len() * UNIT, false, None);
            }
            for a in columns.clone().step_by(N) {
                if a + N > columns.end {
                    V::edge::<UNIT, N, K, LANES, P>(self, (a, b), (deep, columns.end - a));
                    continue;
                }
                let from = stage.bytes().add((a - columns.start) * UNIT).cast_const();
                let to = self.to.add(b * UNIT);
                self.block::<V, UNIT, N, K, LANES, usize, P>((from, STAGED, 0), (to, self.target, a), &mut fetch);
            }
        }
    }
}
