//! A few rows that take turns in one row, and the way back: tiles such as (2,1) and (4,1), channels of an image.
//!
//! A transposition of `n` rows is `log2(n)` rounds of [`Vector::interleave`] in the pattern of a perfect shuffle:
//! registers i and i + n/2 become registers 2i and 2i + 1. With as many rows as a register has units, each register then holds
//! one column; with fewer, the registers in a row hold the rows interleaved. Going backwards takes them apart again.
//!
//! # Safety
//!
//! As for [`lines`](super::lines): the features of `V`, and a plane that lies inside both sides.

use super::bits::{mixed, unmixed};
use super::task::{Task, Visit};
use super::vector::Vector;

/// The rows in `lines`, interleaved unit by unit.
#[inline(always)]
pub(super) unsafe fn shuffled<V: Vector, const UNIT: usize, const ROWS: usize>(mut lines: [V; ROWS]) -> [V; ROWS] {
    for _ in 0..ROWS.ilog2() {
        let old = lines;
        for i in 0..ROWS / 2 {
            // SAFETY: no memory is touched; the features are the caller's promise.
            (lines[2 * i], lines[2 * i + 1]) = unsafe { old[i].interleave::<UNIT>(old[i + ROWS / 2]) };
        }
    }
    lines
}

/// Undoes [`shuffled`].
#[inline(always)]
unsafe fn unshuffled<V: Vector, const UNIT: usize, const ROWS: usize>(mut lines: [V; ROWS]) -> [V; ROWS] {
    for _ in 0..ROWS.ilog2() {
        let old = lines;
        for i in 0..ROWS / 2 {
            // SAFETY: no memory is touched; the features are the caller's promise.
            (lines[i], lines[i + ROWS / 2]) = unsafe { old[2 * i].deinterleave::<UNIT>(old[2 * i + 1]) };
        }
    }
    lines
}

/// Several rows of `columns` units become one row in which they take turns, elements of `BITS` bits if that is less than 8.
#[inline(always)]
pub(super) unsafe fn weave<V: Vector, const BITS: usize, const UNIT: usize, const N: usize, const ROWS: usize>(
    task: &Task<'_>,
    columns: usize,
    source: usize,
) {
    let (whole, row) = (columns - columns % N, columns * UNIT);
    for visit in task.visits(row * ROWS) {
        let Visit { from, to, .. } = visit;
        let ahead = visit.ahead_of_row(row);
        let aligned = task.stream && to.align_offset(V::BYTES) == 0;
        // SAFETY: reads `columns` units of `ROWS` rows and writes as many in a row, as promised.
        unsafe {
            let mut lines = [V::zero(); ROWS];
            for first in (0..whole).step_by(N) {
                for (i, line) in lines.iter_mut().enumerate() {
                    let place = i * source + first * UNIT;
                    if let Some(ahead) = ahead {
                        V::prefetch(ahead.wrapping_add(place));
                    }
                    *line = V::load(from.add(place));
                }
                for (i, line) in shuffled::<V, UNIT, ROWS>(mixed::<V, BITS, ROWS>(lines)).into_iter().enumerate() {
                    let to = to.add(first * UNIT * ROWS + i * V::BYTES);
                    if aligned { line.stream(to) } else { line.store(to) }
                }
            }
            let bytes = row - whole * UNIT;
            if bytes > 0 {
                for (i, line) in lines.iter_mut().enumerate() {
                    *line = V::load_partial(from.add(i * source + whole * UNIT), bytes);
                }
                let to = to.add(whole * UNIT * ROWS);
                for (i, line) in shuffled::<V, UNIT, ROWS>(mixed::<V, BITS, ROWS>(lines)).into_iter().enumerate() {
                    let left = (bytes * ROWS).saturating_sub(i * V::BYTES).min(V::BYTES);
                    line.store_partial(to.wrapping_add(i * V::BYTES), left);
                }
            }
        }
    }
}

/// One row in which several rows of `columns` units take turns becomes those rows: undoes [`weave`].
#[inline(always)]
pub(super) unsafe fn unweave<V: Vector, const BITS: usize, const UNIT: usize, const N: usize, const ROWS: usize>(
    task: &Task<'_>,
    columns: usize,
    destination: usize,
) {
    let (whole, row) = (columns - columns % N, columns * UNIT);
    for visit in task.visits(row * ROWS) {
        let Visit { from, to, .. } = visit;
        let ahead = visit.ahead_of_row(row * ROWS);
        let aligned = task.stream && to.align_offset(V::BYTES) == 0 && destination.is_multiple_of(V::BYTES);
        // SAFETY: reads `columns * ROWS` units in a row and writes `columns` units of `ROWS` rows, as promised.
        unsafe {
            let mut lines = [V::zero(); ROWS];
            for first in (0..whole).step_by(N) {
                for (i, line) in lines.iter_mut().enumerate() {
                    let place = first * UNIT * ROWS + i * V::BYTES;
                    if let Some(ahead) = ahead {
                        V::prefetch(ahead.wrapping_add(place));
                    }
                    *line = V::load(from.add(place));
                }
                for (i, line) in unmixed::<V, BITS, ROWS>(unshuffled::<V, UNIT, ROWS>(lines)).into_iter().enumerate() {
                    let to = to.add(i * destination + first * UNIT);
                    if aligned { line.stream(to) } else { line.store(to) }
                }
            }
            let bytes = row - whole * UNIT;
            if bytes > 0 {
                for (i, line) in lines.iter_mut().enumerate() {
                    let left = (bytes * ROWS).saturating_sub(i * V::BYTES).min(V::BYTES);
                    *line = V::load_partial(from.wrapping_add(whole * UNIT * ROWS + i * V::BYTES), left);
                }
                for (i, line) in unmixed::<V, BITS, ROWS>(unshuffled::<V, UNIT, ROWS>(lines)).into_iter().enumerate() {
                    line.store_partial(to.add(i * destination + whole * UNIT), bytes);
                }
            }
        }
    }
}

/// Three rows of `columns` units become one row in which they take turns.
#[inline(always)]
pub(super) unsafe fn weave_three<V: Vector, const UNIT: usize, const N: usize>(
    task: &Task<'_>,
    columns: usize,
    source: usize,
) {
    let row = columns * UNIT;
    for visit in task.visits(row * 3) {
        let Visit { from, to, .. } = visit;
        let ahead = visit.ahead_of_row(row);
        let aligned = task.stream && to.align_offset(V::BYTES) == 0;
        // SAFETY: reads `columns` units of three rows and writes as many in a row, as promised.
        unsafe {
            for first in (0..columns).step_by(N) {
                let bytes = (columns - first).min(N) * UNIT;
                let mut lines = [V::zero(); 3];
                for (i, line) in lines.iter_mut().enumerate() {
                    let place = i * source + first * UNIT;
                    if let Some(ahead) = ahead {
                        V::prefetch(ahead.wrapping_add(place));
                    }
                    let from = from.add(place);
                    *line = if bytes == V::BYTES { V::load(from) } else { V::load_partial(from, bytes) };
                }
                let to = to.add(first * UNIT * 3);
                for (i, line) in V::weave_three::<UNIT>(lines).into_iter().enumerate() {
                    let to = to.add(i * V::BYTES);
                    let left = (bytes * 3).saturating_sub(i * V::BYTES);
                    if left < V::BYTES {
                        line.store_partial(to, left);
                    } else if aligned {
                        line.stream(to);
                    } else {
                        line.store(to);
                    }
                }
            }
        }
    }
}

/// One row in which three rows of `columns` units take turns becomes those rows.
#[inline(always)]
pub(super) unsafe fn unweave_three<V: Vector, const UNIT: usize, const N: usize>(
    task: &Task<'_>,
    columns: usize,
    destination: usize,
) {
    let row = columns * UNIT;
    for visit in task.visits(row * 3) {
        let Visit { from, to, .. } = visit;
        let ahead = visit.ahead_of_row(row * 3);
        let aligned = task.stream && to.align_offset(V::BYTES) == 0 && destination.is_multiple_of(V::BYTES);
        // SAFETY: reads three times `columns` units in a row and writes `columns` units of three rows, as promised.
        unsafe {
            for first in (0..columns).step_by(N) {
                let bytes = (columns - first).min(N) * UNIT;
                let mut lines = [V::zero(); 3];
                for (i, line) in lines.iter_mut().enumerate() {
                    let left = (bytes * 3).saturating_sub(i * V::BYTES);
                    let place = first * UNIT * 3 + i * V::BYTES;
                    if let Some(ahead) = ahead {
                        V::prefetch(ahead.wrapping_add(place));
                    }
                    let from = from.wrapping_add(place);
                    *line = if left >= V::BYTES { V::load(from) } else { V::load_partial(from, left) };
                }
                for (i, line) in V::unweave_three::<UNIT>(lines).into_iter().enumerate() {
                    let to = to.add(i * destination + first * UNIT);
                    if bytes < V::BYTES {
                        line.store_partial(to, bytes);
                    } else if aligned {
                        line.stream(to);
                    } else {
                        line.store(to);
                    }
                }
            }
        }
    }
}
