//! A few rows interleaved into one, and the way back: tiles such as (2,1) and (4,1), the channels of an image.
//!
//! One loop serves both directions and all row counts: it loads a vector of each row (or as many vectors of the joined row), shuffles
//! them in registers, and stores them. The shuffle of 2, 4, 8, ... rows is log2(rows) rounds of [`Vector::interleave`] in the
//! pattern of a perfect shuffle: registers `i` and `i + rows / 2` become registers `2 * i` and `2 * i + 1`. Going backwards undoes it.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::copy::copy_run;
use super::exchange_bits::{exchanged, restored};
use super::vector::{Operation, Vector};
use super::walk::{Iteration, Walk};
use crate::cost::{JOINED_RUN, LINE, MANY_ROWS, PAGE};
use crate::nest::{NestLoop, RowPitch, Stride};

/// How `ROWS` registers, one of each row, become the same bytes interleaved, and back.
pub(super) trait InterleaveRows {
    /// How many units of the rows a byte of the joined row holds: more than one if they are packed there.
    const PACKED: usize = 1;

    /// One register of each row to as many registers of the joined row; those past the first `ROWS / PACKED` are of no use.
    ///
    /// # Safety
    ///
    /// Nothing but the features of `V`.
    unsafe fn joined<V: Vector, const UNIT: usize, const ROWS: usize>(rows: [V; ROWS]) -> [V; ROWS];

    /// Undoes [`joined`](Self::joined): does not look at registers past the first `ROWS / PACKED`.
    ///
    /// # Safety
    ///
    /// Nothing but the features of `V`.
    unsafe fn separated<V: Vector, const UNIT: usize, const ROWS: usize>(joined: [V; ROWS]) -> [V; ROWS];

    /// `ROWS` rows of `columns` units, `pitch` bytes apart, become one row in which they are interleaved.
    ///
    /// # Safety
    ///
    /// In every iteration, the rows are readable on the source, and `ROWS * columns * UNIT / PACKED` bytes writable on the destination.
    #[inline(always)]
    unsafe fn interleave<V: Vector, const UNIT: usize, const ROWS: usize>(
        walk: &Walk<'_>,
        columns: usize,
        pitch: RowPitch,
    ) {
        // SAFETY: with `JOIN`, the rows that `run` wants are read and the joined row is written, as listed above.
        unsafe { run::<V, Self, UNIT, ROWS, true>(walk, columns, pitch) }
    }

    /// One row in which `ROWS` rows of `columns` units are interleaved becomes those rows, `pitch` bytes apart.
    ///
    /// # Safety
    ///
    /// In every iteration, `ROWS * columns * UNIT / PACKED` bytes are readable on the source, and the rows are writable on the destination.
    #[inline(always)]
    unsafe fn deinterleave<V: Vector, const UNIT: usize, const ROWS: usize>(
        walk: &Walk<'_>,
        columns: usize,
        pitch: RowPitch,
    ) {
        // SAFETY: without `JOIN`, the joined row that `run` wants is read and the rows are written, as listed above.
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
        const { assert!(ROWS.is_power_of_two() && (BITS == 8 || UNIT == 1)) };
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
/// In every iteration, `columns * UNIT` bytes of each row and `ROWS / PACKED` times as many of the joined row are readable on the source or
/// writable on the destination, whichever they lie on.
#[inline(always)]
unsafe fn run<V: Vector, S: InterleaveRows + ?Sized, const UNIT: usize, const ROWS: usize, const JOIN: bool>(
    walk: &Walk<'_>,
    columns: usize,
    pitch: RowPitch,
) {
    const { assert!(V::BYTES.is_multiple_of(UNIT) && LINE.is_multiple_of(V::BYTES) && ROWS.is_multiple_of(S::PACKED)) };
    let (units, row) = (V::BYTES / UNIT, columns * UNIT);
    // The bytes that an iteration reads, and those of the destination that a column moves on by in each of its rows.
    let read = if JOIN { row * ROWS } else { row * (ROWS / S::PACKED) };
    let step = if JOIN { UNIT * (ROWS / S::PACKED) } else { UNIT };
    let may_stream = walk.streaming && (JOIN || pitch.bytes.is_multiple_of(LINE));
    if !JOIN && let Some(runs) = joined_runs(walk, row, pitch) {
        let pitch = pitch.bytes;
        // SAFETY: the same rows; `joined_runs` has looked at the innermost loop.
        return unsafe { V::vectorize(JoinTiles::<S, UNIT, ROWS> { walk, columns, pitch, runs, kind: PhantomData }) };
    }
    // Of rows in the opposite order, the last one lies in front: offsets go back from the first, and wrap.
    let (RowPitch { bytes: pitch, reversed }, last) = (pitch, (ROWS - 1) * pitch.bytes);
    let (first, pitch) = if reversed { (last, pitch.wrapping_neg()) } else { (0, pitch) };
    for mut iteration in walk.iterations(read) {
        if JOIN {
            iteration.from = iteration.from.wrapping_add(first);
            iteration.later = iteration.later.map(|later| later.wrapping_add(first));
        } else {
            iteration.to = iteration.to.wrapping_add(first);
        }
        let later = if JOIN { iteration.later_in_rows(row, walk.knobs) } else { iteration.later_in_row(read) };
        // Lines are streamed if they are aligned after a few columns, in every row of the destination.
        let (mut streaming, mut head) = (false, 0);
        if may_stream {
            let to_line = iteration.to.align_offset(LINE);
            streaming = to_line.is_multiple_of(step);
            head = if streaming { (to_line / step).min(columns) } else { 0 };
        }
        let end = columns - (columns - head) % units;
        let far = Far { later, streaming };
        // SAFETY: the columns up to `head`, from there to `end`, which are whole vectors, and those behind are all of the rows. With
        // `streaming`, column `head` of every destination row begins a line.
        unsafe {
            if head > 0 {
                few_columns::<V, S, UNIT, ROWS, JOIN>(&iteration, 0..head, pitch);
            }
            // Most planes are small, and their loop is compiled without a branch for either.
            if far.streaming || far.later.is_some() {
                whole_vectors::<V, S, UNIT, ROWS, JOIN, true>(&iteration, &far, head..end, pitch);
            } else {
                whole_vectors::<V, S, UNIT, ROWS, JOIN, false>(&iteration, &far, head..end, pitch);
            }
            if end < columns {
                few_columns::<V, S, UNIT, ROWS, JOIN>(&iteration, end..columns, pitch);
            }
        }
    }
}

/// How many neighbouring iterations write runs of `row` bytes side by side in rows that lie whole pages apart, if these are worth joining: the
/// innermost loop says so.
#[inline(always)]
fn joined_runs(walk: &Walk<'_>, row: usize, pitch: RowPitch) -> Option<usize> {
    if !walk.streaming || row > walk.knobs.joined_up_to || !pitch.bytes.is_multiple_of(PAGE) || pitch.reversed {
        return None;
    }
    let Some(NestLoop::Strided(Stride { extent, destination, .. })) = walk.loops.last() else { return None };
    let most = JOINED_RUN / row;
    let runs = (2..=most).rev().find(|&runs| extent.is_multiple_of(runs))?;
    (*destination == row && runs * row >= 2 * LINE).then_some(runs)
}

/// Two stages of `ROWS` rows, a line longer than the longest run, so that neighbours lie in different sets of the L1 cache.
#[repr(align(64))]
struct Joined<const ROWS: usize>(MaybeUninit<[[[u8; JOINED_RUN + LINE]; ROWS]; 2]>);

/// [`run`] that deinterleaves `runs` iterations at a time into a stage, while it writes what is in the other one: a run as long as all
/// of them to each row of the destination.
struct JoinTiles<'a, S: ?Sized, const UNIT: usize, const ROWS: usize> {
    walk: &'a Walk<'a>,
    columns: usize,
    pitch: usize,
    runs: usize,
    kind: PhantomData<S>,
}

impl<S: InterleaveRows + ?Sized, const UNIT: usize, const ROWS: usize> Operation for JoinTiles<'_, S, UNIT, ROWS> {
    /// # Safety
    ///
    /// As for [`run`] without `JOIN`; [`joined_runs`] has returned `runs` for these rows.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let JoinTiles { walk, columns, pitch, runs, .. } = self;
        /// Bytes from one staged row to the next, and from one stage to the other.
        const ROW: usize = JOINED_RUN + LINE;
        let (row, read) = (columns * UNIT, columns * UNIT * (ROWS / S::PACKED));
        debug_assert!(runs * row <= JOINED_RUN);
        let mut stages = Joined::<ROWS>(MaybeUninit::uninit());
        let stages: *mut u8 = stages.0.as_mut_ptr().cast();
        let end = columns - columns % (V::BYTES / UNIT);
        // The full stage, and where its first row begins on the destination.
        let (mut number, mut full): (usize, Option<*mut u8>) = (0, None);
        for (place, iteration) in walk.iterations(read).enumerate() {
            let run = place % runs;
            let far = Far { later: iteration.later_in_row(read), streaming: false };
            // In turns: so much of the full stage as is read into the other.
            if let Some(to) = full {
                let stage = stages.wrapping_add((1 - number) * ROWS * ROW);
                // SAFETY: rows of the full stage, and their runs of the destination.
                unsafe { drain::<V, ROW>(stage, (to, pitch), run * ROWS / runs..(run + 1) * ROWS / runs, runs * row) };
            }
            // SAFETY: a run of `row` bytes, the `run`-th of those that fit a staged row, is written in each of the `ROWS` rows of a stage. After
            // `runs` iterations, which are neighbours of the innermost loop because its extent is a multiple of them, all of its rows are
            // written, and their runs lie side by side in the destination, the last of them at `iteration.to`.
            unsafe {
                let to = stages.add(number * ROWS * ROW + run * row);
                let in_stage = Iteration { to, ..iteration };
                whole_vectors::<V, S, UNIT, ROWS, false, true>(&in_stage, &far, 0..end, ROW);
                if end < columns {
                    few_columns::<V, S, UNIT, ROWS, false>(&in_stage, end..columns, ROW);
                }
                if run + 1 == runs {
                    full = Some(iteration.to.sub(run * row));
                    number = 1 - number;
                }
            }
        }
        if let Some(to) = full {
            let stage = stages.wrapping_add((1 - number) * ROWS * ROW);
            // SAFETY: as above.
            unsafe { drain::<V, ROW>(stage, (to, pitch), 0..ROWS, runs * row) };
        }
    }
}

/// Writes the runs of some rows of a stage past the cache.
///
/// # Safety
///
/// `run` bytes are readable in each of these staged rows, which are `ROW` bytes apart, and writable in those of the destination, which begin at `to.0`
/// and are `to.1` bytes apart.
#[inline(always)]
unsafe fn drain<V: Vector, const ROW: usize>(stage: *const u8, to: (*mut u8, usize), rows: Range<usize>, run: usize) {
    for i in rows {
        // SAFETY: a staged row, and its run of the destination.
        unsafe { copy_run::<V, true>(stage.add(i * ROW), to.0.add(i * to.1), run, None) };
    }
}

/// Columns of [`run`] that are read and written in part.
///
/// # Safety
///
/// The units of these columns are readable on the source and writable on the destination, in each of the `ROWS` rows (`pitch` bytes
/// apart) and in the joined row, whichever lie there.
#[inline(always)]
unsafe fn few_columns<V: Vector, S: InterleaveRows + ?Sized, const UNIT: usize, const ROWS: usize, const JOIN: bool>(
    iteration: &Iteration,
    columns: Range<usize>,
    pitch: usize,
) {
    let Iteration { from, to, .. } = *iteration;
    for first in columns.clone().step_by(V::BYTES / UNIT) {
        let bytes = (columns.end - first).min(V::BYTES / UNIT) * UNIT;
        let in_row = |i: usize| i.wrapping_mul(pitch).wrapping_add(first * UNIT);
        let in_joined = |i: usize| first * UNIT * (ROWS / S::PACKED) + i * V::BYTES;
        let of_joined = |i: usize| (bytes * (ROWS / S::PACKED)).saturating_sub(i * V::BYTES).min(V::BYTES);
        // SAFETY: `bytes` bytes of each row, and `ROWS / PACKED` times as many of the joined row; a vector of it that begins behind
        // these has 0 bytes.
        unsafe {
            let mut lines = [V::zero(); ROWS];
            for (i, line) in lines.iter_mut().enumerate() {
                *line = if JOIN {
                    V::load_partial(from.wrapping_add(in_row(i)), bytes)
                } else {
                    V::load_partial(from.wrapping_add(in_joined(i)), of_joined(i))
                };
            }
            let lines = if JOIN { S::joined::<V, UNIT, ROWS>(lines) } else { S::separated::<V, UNIT, ROWS>(lines) };
            for (i, line) in lines.into_iter().enumerate() {
                if JOIN {
                    line.store_partial(to.wrapping_add(in_joined(i)), of_joined(i));
                } else {
                    line.store_partial(to.wrapping_add(in_row(i)), bytes);
                }
            }
        }
    }
}

/// Columns of [`run`] that are whole vectors.
///
/// # Safety
///
/// The units of these columns, a multiple of a vector, are readable on the source and writable on the destination, in each of the `ROWS`
/// rows (`pitch` bytes apart) and in the joined row, whichever lie there. If `far.streaming` is set, the first of them begins a line in
/// every row of the destination.
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
    columns: Range<usize>,
    pitch: usize,
) {
    let mut start = columns.start;
    let by_lines = !JOIN && V::BYTES < LINE;
    if FAR && by_lines && far.streaming {
        start = columns.end - (columns.end - start) % (LINE / UNIT);
        // SAFETY: the first of the columns, as many as fill lines; `far.streaming` is set, so they begin a line in every row.
        unsafe { separate_lines::<V, S, UNIT, ROWS>(iteration, far, columns.start..start, pitch) };
    }
    for first in (start..columns.end).step_by(V::BYTES / UNIT) {
        let in_row = |i: usize| i.wrapping_mul(pitch).wrapping_add(first * UNIT);
        let in_joined = |i: usize| first * UNIT * (ROWS / S::PACKED) + i * V::BYTES;
        let (loads, stores) = if JOIN { (ROWS, ROWS / S::PACKED) } else { (ROWS / S::PACKED, ROWS) };
        // SAFETY: a vector of each row and `ROWS / PACKED` vectors of the joined row; where they are streamed, they lie a multiple of
        // `V::BYTES` behind the beginning of a line.
        unsafe {
            let mut lines = [V::zero(); ROWS];
            for (i, line) in lines.iter_mut().enumerate().take(loads) {
                *line = far.load::<V, FAR>(iteration.from, if JOIN { in_row(i) } else { in_joined(i) });
            }
            let lines = if JOIN { S::joined::<V, UNIT, ROWS>(lines) } else { S::separated::<V, UNIT, ROWS>(lines) };
            for (i, line) in lines.into_iter().enumerate().take(stores) {
                let to = iteration.to.wrapping_add(if JOIN { in_joined(i) } else { in_row(i) });
                // With `by_lines`, what is left here is less than a line of each row.
                match FAR && far.streaming && !by_lines {
                    true if JOIN || ROWS < MANY_ROWS => line.stream(to),
                    true => line.store_past_cache(to),
                    false => line.store(to),
                }
            }
        }
    }
}

/// Deinterleaves columns with vectors of half a line: both halves of a line are computed before it is stored, so that no half-filled
/// lines of several rows compete for the few buffers that hold them.
///
/// # Safety
///
/// The units of these columns, which fill whole lines, are readable in the joined row of the source and writable in each of the `ROWS`
/// rows of the destination (`pitch` bytes apart), where the first of them begins a line.
#[inline(always)]
unsafe fn separate_lines<V: Vector, S: InterleaveRows + ?Sized, const UNIT: usize, const ROWS: usize>(
    iteration: &Iteration,
    far: &Far,
    columns: Range<usize>,
    pitch: usize,
) {
    debug_assert!(V::BYTES * 2 == LINE && columns.len().is_multiple_of(LINE / UNIT));
    for first in columns.step_by(LINE / UNIT) {
        // SAFETY: `ROWS / PACKED` lines of the joined row, and a line of each row, aligned as the row is.
        unsafe {
            let (mut low, mut high, loads) = ([V::zero(); ROWS], [V::zero(); ROWS], ROWS / S::PACKED);
            let joined = |i: usize| first * UNIT * loads + i * V::BYTES;
            for (i, line) in low.iter_mut().enumerate().take(loads) {
                *line = far.load::<V, true>(iteration.from, joined(i));
            }
            let low = S::separated::<V, UNIT, ROWS>(low);
            for (i, line) in high.iter_mut().enumerate().take(loads) {
                *line = far.load::<V, true>(iteration.from, joined(loads + i));
            }
            let high = S::separated::<V, UNIT, ROWS>(high);
            for (i, (low, high)) in low.into_iter().zip(high).enumerate() {
                let to = iteration.to.wrapping_add(i.wrapping_mul(pitch).wrapping_add(first * UNIT));
                if ROWS < MANY_ROWS {
                    low.stream(to);
                } else {
                    low.store_past_cache(to);
                }
                high.store_past_cache(to.add(V::BYTES));
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
            V::load(from.wrapping_add(offset))
        }
    }
}
