//! A few rows interleaved into one, and the way back: tiles such as (2,1) and (4,1), the channels of an image.
//!
//! One loop serves both directions and all row counts: it loads a vector of each row (or as many vectors of the joined row), shuffles
//! them in registers, and stores them. The shuffle of 2, 4, 8, ... rows is log2(rows) rounds of [`Vector::interleave`] in the
//! pattern of a perfect shuffle: registers `i` and `i + rows / 2` become registers `2 * i` and `2 * i + 1`. Going backwards undoes it.

use super::exchange_bits::{exchanged, restored};
use super::vector::Vector;
use super::walk::{Iteration, Walk};

/// How `ROWS` registers, one of each row, become the same bytes interleaved, and back.
pub(super) trait InterleaveRows {
    /// One register of each row to as many registers of the joined row.
    ///
    /// # Safety
    ///
    /// Nothing but the features of `V`.
    unsafe fn joined<V: Vector, const UNIT: usize, const ROWS: usize>(rows: [V; ROWS]) -> [V; ROWS];

    /// Undoes [`joined`](Self::joined).
    ///
    /// # Safety
    ///
    /// Nothing but the features of `V`.
    unsafe fn separated<V: Vector, const UNIT: usize, const ROWS: usize>(joined: [V; ROWS]) -> [V; ROWS];

    /// `ROWS` rows of `columns` units, `pitch` bytes apart, become one row in which they are interleaved.
    ///
    /// # Safety
    ///
    /// In every iteration, the rows are readable on the source, and `ROWS * columns * UNIT` bytes writable on the destination.
    #[inline(always)]
    unsafe fn interleave<V: Vector, const UNIT: usize, const ROWS: usize>(
        walk: &Walk<'_>,
        columns: usize,
        pitch: usize,
    ) {
        // SAFETY: the caller's promise is that of `run` for this direction.
        unsafe { run::<V, Self, UNIT, ROWS, true>(walk, columns, pitch) }
    }

    /// One row in which `ROWS` rows of `columns` units are interleaved becomes those rows, `pitch` bytes apart.
    ///
    /// # Safety
    ///
    /// In every iteration, `ROWS * columns * UNIT` bytes are readable on the source, and the rows are writable on the destination.
    #[inline(always)]
    unsafe fn deinterleave<V: Vector, const UNIT: usize, const ROWS: usize>(
        walk: &Walk<'_>,
        columns: usize,
        pitch: usize,
    ) {
        // SAFETY: the caller's promise is that of `run` for this direction.
        unsafe { run::<V, Self, UNIT, ROWS, false>(walk, columns, pitch) }
    }
}

/// 2, 4, 8, 16 or 32 rows of elements of `BITS` bits; 8 stands for whole units.
pub(super) struct Bits<const BITS: usize>;

/// 2, 4, 8 or 16 rows of units of whole bytes.
pub(super) type Bytes = Bits<8>;

impl<const BITS: usize> InterleaveRows for Bits<BITS> {
    #[inline(always)]
    unsafe fn joined<V: Vector, const UNIT: usize, const ROWS: usize>(rows: [V; ROWS]) -> [V; ROWS] {
        const { assert!(ROWS.is_power_of_two() && (BITS == 8 || UNIT == 1)) };
        // SAFETY: no memory is touched.
        let mut lines = unsafe { exchanged::<V, BITS, ROWS>(rows) };
        for _ in 0..ROWS.ilog2() {
            let old = lines;
            for i in 0..ROWS / 2 {
                // SAFETY: no memory is touched.
                (lines[2 * i], lines[2 * i + 1]) = unsafe { old[i].interleave::<UNIT>(old[i + ROWS / 2]) };
            }
        }
        lines
    }

    #[inline(always)]
    unsafe fn separated<V: Vector, const UNIT: usize, const ROWS: usize>(joined: [V; ROWS]) -> [V; ROWS] {
        let mut lines = joined;
        for _ in 0..ROWS.ilog2() {
            let old = lines;
            for i in 0..ROWS / 2 {
                // SAFETY: no memory is touched.
                (lines[i], lines[i + ROWS / 2]) = unsafe { old[2 * i].deinterleave::<UNIT>(old[2 * i + 1]) };
            }
        }
        // SAFETY: no memory is touched.
        unsafe { restored::<V, BITS, ROWS>(lines) }
    }
}

/// Three rows of units of whole bytes.
pub(super) struct Three;

impl InterleaveRows for Three {
    #[inline(always)]
    unsafe fn joined<V: Vector, const UNIT: usize, const ROWS: usize>(mut rows: [V; ROWS]) -> [V; ROWS] {
        const { assert!(ROWS == 3) };
        // SAFETY: no memory is touched.
        let joined = unsafe { V::interleave_three::<UNIT>([rows[0], rows[1], rows[2]]) };
        rows.copy_from_slice(&joined);
        rows
    }

    #[inline(always)]
    unsafe fn separated<V: Vector, const UNIT: usize, const ROWS: usize>(mut joined: [V; ROWS]) -> [V; ROWS] {
        const { assert!(ROWS == 3) };
        // SAFETY: no memory is touched.
        let rows = unsafe { V::deinterleave_three::<UNIT>([joined[0], joined[1], joined[2]]) };
        joined.copy_from_slice(&rows);
        joined
    }
}

/// Interleaves rows, or deinterleaves them if `JOIN` is not set: `ROWS` rows of `columns` units on the one side, `pitch` bytes apart,
/// and the joined row on the other.
///
/// # Safety
///
/// In every iteration, `columns * UNIT` bytes of each row and `ROWS` times as many of the joined row are readable on the source or
/// writable on the destination, whichever they lie on.
#[inline(always)]
unsafe fn run<V: Vector, S: InterleaveRows + ?Sized, const UNIT: usize, const ROWS: usize, const JOIN: bool>(
    walk: &Walk<'_>,
    columns: usize,
    pitch: usize,
) {
    let (units, row) = (V::BYTES / UNIT, columns * UNIT);
    let whole = columns - columns % units;
    let pitch_fits = JOIN || pitch.is_multiple_of(V::BYTES);
    for iteration in walk.iterations(row * ROWS) {
        let Iteration { from, to, .. } = iteration;
        let streaming = walk.streaming && pitch_fits && to.align_offset(V::BYTES) == 0;
        let far = Far { later: iteration.later_in_row(if JOIN { row } else { row * ROWS }), streaming };
        // SAFETY: the columns up to `whole` are whole vectors of every row and of the joined row. Of what is left, `bytes` bytes
        // of every row, and `ROWS` times as many of the joined row, are read and written and no more; a vector of the
        // joined row that begins behind them has 0 bytes.
        unsafe {
            // Most planes are small, and their loop is compiled without a branch for either.
            if far.streaming || far.later.is_some() {
                whole_vectors::<V, S, UNIT, ROWS, JOIN, true>(&iteration, &far, whole, pitch);
            } else {
                whole_vectors::<V, S, UNIT, ROWS, JOIN, false>(&iteration, &far, whole, pitch);
            }
            let bytes = row - whole * UNIT;
            if bytes > 0 {
                let in_joined = |i: usize| (bytes * ROWS).saturating_sub(i * V::BYTES).min(V::BYTES);
                let mut lines = [V::zero(); ROWS];
                for (i, line) in lines.iter_mut().enumerate() {
                    *line = if JOIN {
                        V::load_partial(from.add(i * pitch + whole * UNIT), bytes)
                    } else {
                        V::load_partial(from.wrapping_add(whole * UNIT * ROWS + i * V::BYTES), in_joined(i))
                    };
                }
                let lines = if JOIN { S::joined::<V, UNIT, ROWS>(lines) } else { S::separated::<V, UNIT, ROWS>(lines) };
                for (i, line) in lines.into_iter().enumerate() {
                    if JOIN {
                        line.store_partial(to.wrapping_add(whole * UNIT * ROWS + i * V::BYTES), in_joined(i));
                    } else {
                        line.store_partial(to.add(i * pitch + whole * UNIT), bytes);
                    }
                }
            }
        }
    }
}

/// The first `whole` columns of [`run`], a multiple of a vector.
///
/// # Safety
///
/// As for [`run`], for these columns. If `far.streaming` is set, the destination and its row pitch are multiples of `V::BYTES`.
#[inline(always)]
unsafe fn whole_vectors<
    V: Vector,
    S: InterleaveRows + ?Sized,
    const UNIT: usize,
    const ROWS: usize,
    const JOIN: bool,
    const FAR: bool,
>(
    iteration: &Iteration,
    far: &Far,
    whole: usize,
    pitch: usize,
) {
    for first in (0..whole).step_by(V::BYTES / UNIT) {
        let in_row = |i: usize| i * pitch + first * UNIT;
        let in_joined = |i: usize| first * UNIT * ROWS + i * V::BYTES;
        // SAFETY: a vector of each row and `ROWS` vectors of the joined row; where they are streamed, `first * UNIT` is a multiple
        // of `V::BYTES`, so that each is aligned as the destination and its rows are.
        unsafe {
            let mut lines = [V::zero(); ROWS];
            for (i, line) in lines.iter_mut().enumerate() {
                *line = far.load::<V, FAR>(iteration.from, if JOIN { in_row(i) } else { in_joined(i) });
            }
            let lines = if JOIN { S::joined::<V, UNIT, ROWS>(lines) } else { S::separated::<V, UNIT, ROWS>(lines) };
            for (i, line) in lines.into_iter().enumerate() {
                far.store::<V, FAR>(line, iteration.to.add(if JOIN { in_joined(i) } else { in_row(i) }));
            }
        }
    }
}

/// What a copy that leaves the caches does besides: prefetch, and store past the cache.
struct Far {
    later: Option<*const u8>,
    streaming: bool,
}

impl Far {
    /// Loads a vector `offset` bytes behind `from`.
    ///
    /// # Safety
    ///
    /// `V::BYTES` bytes are readable there.
    #[inline(always)]
    unsafe fn load<V: Vector, const FAR: bool>(&self, from: *const u8, offset: usize) -> V {
        // SAFETY: the caller's promise; a prefetch may go anywhere.
        unsafe {
            if FAR && let Some(later) = self.later {
                V::prefetch(later.wrapping_add(offset));
            }
            V::load(from.add(offset))
        }
    }

    /// Stores a vector.
    ///
    /// # Safety
    ///
    /// `V::BYTES` bytes are writable at `to`, which is a multiple of `V::BYTES` if `self.streaming` is set.
    #[inline(always)]
    unsafe fn store<V: Vector, const FAR: bool>(&self, line: V, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { if FAR && self.streaming { line.stream(to) } else { line.store(to) } }
    }
}
