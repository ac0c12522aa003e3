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
        let far = Far::of(task, visit.ahead_of_row(row), to.align_offset(V::BYTES) == 0);
        // SAFETY: reads `columns` units of `ROWS` rows and writes as many in a row, as promised.
        unsafe {
            match &far {
                None => whole_weave::<V, BITS, UNIT, N, ROWS, false>(&visit, &Far::NEAR, whole, source),
                Some(far) => whole_weave::<V, BITS, UNIT, N, ROWS, true>(&visit, far, whole, source),
            }
            let bytes = row - whole * UNIT;
            if bytes > 0 {
                let mut lines = [V::zero(); ROWS];
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

/// The whole registers of [`weave`].
#[inline(always)]
unsafe fn whole_weave<
    V: Vector,
    const BITS: usize,
    const UNIT: usize,
    const N: usize,
    const ROWS: usize,
    const FAR: bool,
>(
    visit: &Visit,
    far: &Far,
    whole: usize,
    source: usize,
) {
    for first in (0..whole).step_by(N) {
        // SAFETY: the caller's promise: the columns lie inside both sides.
        unsafe {
            let mut lines = [V::zero(); ROWS];
            for (i, line) in lines.iter_mut().enumerate() {
                *line = far.load::<V, FAR>(visit.from, i * source + first * UNIT);
            }
            for (i, line) in shuffled::<V, UNIT, ROWS>(mixed::<V, BITS, ROWS>(lines)).into_iter().enumerate() {
                far.store::<V, FAR>(line, visit.to.add(first * UNIT * ROWS + i * V::BYTES));
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
    let rows_fit = destination.is_multiple_of(V::BYTES);
    for visit in task.visits(row * ROWS) {
        let Visit { from, to, .. } = visit;
        let far = Far::of(task, visit.ahead_of_row(row * ROWS), rows_fit && to.align_offset(V::BYTES) == 0);
        // SAFETY: reads `columns * ROWS` units in a row and writes `columns` units of `ROWS` rows, as promised.
        unsafe {
            match &far {
                None => whole_unweave::<V, BITS, UNIT, N, ROWS, false>(&visit, &Far::NEAR, whole, destination),
                Some(far) => whole_unweave::<V, BITS, UNIT, N, ROWS, true>(&visit, far, whole, destination),
            }
            let bytes = row - whole * UNIT;
            if bytes > 0 {
                let mut lines = [V::zero(); ROWS];
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

/// The whole registers of [`unweave`].
#[inline(always)]
unsafe fn whole_unweave<
    V: Vector,
    const BITS: usize,
    const UNIT: usize,
    const N: usize,
    const ROWS: usize,
    const FAR: bool,
>(
    visit: &Visit,
    far: &Far,
    whole: usize,
    destination: usize,
) {
    for first in (0..whole).step_by(N) {
        // SAFETY: the caller's promise: the columns lie inside both sides.
        unsafe {
            let mut lines = [V::zero(); ROWS];
            for (i, line) in lines.iter_mut().enumerate() {
                *line = far.load::<V, FAR>(visit.from, first * UNIT * ROWS + i * V::BYTES);
            }
            for (i, line) in unmixed::<V, BITS, ROWS>(unshuffled::<V, UNIT, ROWS>(lines)).into_iter().enumerate() {
                far.store::<V, FAR>(line, visit.to.add(i * destination + first * UNIT));
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
    let (whole, row) = (columns - columns % N, columns * UNIT);
    for visit in task.visits(row * 3) {
        let Visit { from, to, .. } = visit;
        let far = Far::of(task, visit.ahead_of_row(row), to.align_offset(V::BYTES) == 0);
        // SAFETY: reads `columns` units of three rows and writes as many in a row, as promised.
        unsafe {
            match &far {
                None => whole_threes::<V, UNIT, N, true, false>(&visit, &Far::NEAR, whole, source),
                Some(far) => whole_threes::<V, UNIT, N, true, true>(&visit, far, whole, source),
            }
            let bytes = row - whole * UNIT;
            if bytes > 0 {
                let mut lines = [V::zero(); 3];
                for (i, line) in lines.iter_mut().enumerate() {
                    *line = V::load_partial(from.add(i * source + whole * UNIT), bytes);
                }
                let to = to.add(whole * UNIT * 3);
                for (i, line) in V::weave_three::<UNIT>(lines).into_iter().enumerate() {
                    let left = (bytes * 3).saturating_sub(i * V::BYTES).min(V::BYTES);
                    line.store_partial(to.wrapping_add(i * V::BYTES), left);
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
    let (whole, row) = (columns - columns % N, columns * UNIT);
    let rows_fit = destination.is_multiple_of(V::BYTES);
    for visit in task.visits(row * 3) {
        let Visit { from, to, .. } = visit;
        let far = Far::of(task, visit.ahead_of_row(row * 3), rows_fit && to.align_offset(V::BYTES) == 0);
        // SAFETY: reads three times `columns` units in a row and writes `columns` units of three rows, as promised.
        unsafe {
            match &far {
                None => whole_threes::<V, UNIT, N, false, false>(&visit, &Far::NEAR, whole, destination),
                Some(far) => whole_threes::<V, UNIT, N, false, true>(&visit, far, whole, destination),
            }
            let bytes = row - whole * UNIT;
            if bytes > 0 {
                let mut lines = [V::zero(); 3];
                for (i, line) in lines.iter_mut().enumerate() {
                    let left = (bytes * 3).saturating_sub(i * V::BYTES).min(V::BYTES);
                    *line = V::load_partial(from.wrapping_add(whole * UNIT * 3 + i * V::BYTES), left);
                }
                for (i, line) in V::unweave_three::<UNIT>(lines).into_iter().enumerate() {
                    line.store_partial(to.add(i * destination + whole * UNIT), bytes);
                }
            }
        }
    }
}

/// The whole registers of [`weave_three`], or of [`unweave_three`].
#[inline(always)]
unsafe fn whole_threes<V: Vector, const UNIT: usize, const N: usize, const WEAVE: bool, const FAR: bool>(
    visit: &Visit,
    far: &Far,
    whole: usize,
    pitch: usize,
) {
    for first in (0..whole).step_by(N) {
        let apart = |i: usize| i * pitch + first * UNIT;
        let joined = |i: usize| first * UNIT * 3 + i * V::BYTES;
        // SAFETY: the caller's promise: the columns lie inside both sides.
        unsafe {
            let mut lines = [V::zero(); 3];
            for (i, line) in lines.iter_mut().enumerate() {
                *line = far.load::<V, FAR>(visit.from, if WEAVE { apart(i) } else { joined(i) });
            }
            let lines = if WEAVE { V::weave_three::<UNIT>(lines) } else { V::unweave_three::<UNIT>(lines) };
            for (i, line) in lines.into_iter().enumerate() {
                far.store::<V, FAR>(line, visit.to.add(if WEAVE { joined(i) } else { apart(i) }));
            }
        }
    }
}

/// What a copy that leaves the nearest caches does beside: where it asks for what comes, and whether it stores round the cache.
struct Far {
    ahead: Option<*const u8>,
    aligned: bool,
}

impl Far {
    /// Nothing.
    const NEAR: Far = Far { ahead: None, aligned: false };

    /// `None` if it does neither: most planes are small, and their loop is not to ask.
    #[inline(always)]
    fn of(task: &Task<'_>, ahead: Option<*const u8>, aligned: bool) -> Option<Far> {
        let far = Far { ahead, aligned: aligned && task.stream };
        (far.aligned || ahead.is_some()).then_some(far)
    }

    /// Loads a register so many bytes behind `from`.
    #[inline(always)]
    unsafe fn load<V: Vector, const FAR: bool>(&self, from: *const u8, place: usize) -> V {
        // SAFETY: the caller's promise: `V::BYTES` bytes are readable there; a prefetch may go anywhere.
        unsafe {
            if FAR && let Some(ahead) = self.ahead {
                V::prefetch(ahead.wrapping_add(place));
            }
            V::load(from.add(place))
        }
    }

    /// Stores a register; all of a copy are aligned if one is.
    #[inline(always)]
    unsafe fn store<V: Vector, const FAR: bool>(&self, line: V, to: *mut u8) {
        // SAFETY: the caller's promise: `V::BYTES` bytes are writable there, aligned ones if they are to be streamed.
        unsafe { if FAR && self.aligned { line.stream(to) } else { line.store(to) } }
    }
}
