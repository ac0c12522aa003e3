//! Interleaves a few rows into one row, and deinterleaves one row into a few rows. The tiles (2,1) and (4,1)
//! of XLA, the channels of an image and packed elements are copied like this.
//!
//! Planar pixels become interleaved pixels by taking one unit of each row in turn. Unit by unit, that takes a
//! load and a store for each unit. In registers, one shuffle moves as many units as a register holds:
//!
//! ```text
//! rows            r0 r1 r2 r3 | r4 ..      one register of each row
//!                 g0 g1 g2 g3 | g4 ..
//!                 b0 b1 b2 b3 | b4 ..
//! joined row      r0 g0 b0 r1 | g1 b1 r2 g2 | b2 r3 g3 b3      as many registers as there are rows
//! ```
//!
//! ```text
//! for each iteration of the loops:
//!     columns before the first line of the destination      in registers that are filled in part (`part`)
//!     whole registers of columns                            block: load, shuffle, store
//!     columns that fill no register                         the last whole register again, or `part`
//! ```
//!
//! The code that shuffles some whole registers of columns ([`Block`]) is compiled once for each shuffle and
//! called through a pointer, so the loop around it is compiled once for each level.
//!
//! When several destination rows are written with non-temporal stores, each row has a line that is written in
//! part. A CPU has few buffers for such lines. If there are more rows than buffers, every line takes two
//! writes to memory. Registers of half a line therefore go to a *staging buffer* first. The buffer collects
//! some lines of each row, and these lines are then stored row by row. If the rows of neighbouring iterations
//! continue each other, the staging buffer joins several iterations.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::lines::{copy_lines, short};
use super::shuffles::{Block, Shuffling};
use super::side_by_side::{Neighbours, stream_run};
use super::vector::{Operation, Vector};
use super::walk::{Iteration, Walk};
use crate::kernel::{JOINED_RUN, Rows, Stride};
use crate::level::SMALL_PROGRAM;
use crate::machine::LINE;

const ROWS: usize = 32;

/// The pitch of the rows of the staging buffer, in bytes. It is a line more than the longest run, so that
/// neighbouring rows are in different sets of the L1 cache.
const STAGED_ROW: usize = JOINED_RUN + LINE;

/// About how many bytes of all destination rows together are collected before they are stored. With 8 KiB, 16
/// rows take 1.3 times as long, because nothing is loaded while the buffer is stored (Zen 3).
const STAGED: usize = 1 << 11;

#[repr(align(64))]
struct Stage(MaybeUninit<[[u8; STAGED_ROW]; ROWS]>);

/// Rows of `row` bytes. They are `pitch` bytes apart on one side, and are one interleaved row on the other.
pub(super) struct InterleaveRows<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) shuffling: &'a Shuffling,
    pub(super) row: usize,
    pub(super) unit: usize,
    /// The pitch of the rows; negative if the first row is the last in memory.
    pub(super) pitch: isize,
    pub(super) signed: bool,
    pub(super) by: Rows,
}

impl Operation for InterleaveRows<'_> {
    /// # Safety
    ///
    /// * The shuffle was made for `V`, and `by` fits the rows (`Kernel::fit`).
    /// * In every iteration, the rows are readable on the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        // SAFETY: `rows` and `by_stage` have this function's contract. Without a stage, `by` is `Direct`.
        unsafe {
            match self.by {
                Rows::Direct => self.rows::<V>(None),
                _ if SMALL_PROGRAM => self.rows::<V>(None),
                Rows::Staged | Rows::Joined(_) => by_stage::<V>(&self),
            }
        }
    }
}

/// Interleaves or deinterleaves rows through a staging buffer. A function of its own, because the buffer
/// makes its stack frame several pages long.
///
/// # Safety
///
/// The conditions of the operation [`InterleaveRows`].
#[inline(never)]
unsafe fn by_stage<V: Vector>(rows: &InterleaveRows<'_>) {
    // SAFETY: the operation `ByStage` has the contract of this function.
    unsafe { V::vectorize(ByStage(rows)) }
}

struct ByStage<'a, 'w>(&'a InterleaveRows<'w>);

impl Operation for ByStage<'_, '_> {
    /// # Safety
    ///
    /// The conditions of [`by_stage`].
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let mut stage = Stage(MaybeUninit::uninit());
        // SAFETY: `rows` has the contract of this function, and gets the memory of a staging buffer.
        unsafe { self.0.rows::<V>(Some(stage.0.as_mut_ptr().cast::<u8>())) }
    }
}

impl InterleaveRows<'_> {
    /// # Safety
    ///
    /// * The conditions of the operation [`InterleaveRows`].
    /// * `stage` is the memory of a [`Stage`], and is `Some` if `by` asks for a staging buffer.
    #[inline(always)]
    unsafe fn rows<V: Vector>(&self, stage: Option<*mut u8>) {
        let &InterleaveRows { walk, shuffling, row, unit, pitch, by, .. } = self;
        let &Shuffling { sources, destinations, source_apart, .. } = shuffling;
        let stage = stage.unwrap_or(std::ptr::null_mut());
        let runs = if let Rows::Joined(runs) = by { usize::from(runs) } else { 0 };
        let dense_destination = source_apart || destinations == 1;
        // Whether lines start at the same column in every destination row, so that they can be streamed.
        let may_stream = walk.streaming && (dense_destination || pitch.unsigned_abs().is_multiple_of(LINE));
        // How many bytes each destination row gets for one byte of a source row.
        let step = if source_apart { destinations } else { 1 };
        // If the rows are in reverse order, the last row is the first in memory. Even then, offsets are
        // counted from the first row: the others are negative, and wrap.
        let last = (if source_apart { sources } else { destinations } - 1) * pitch.unsigned_abs();
        let (first, pitch) = (if pitch < 0 { last } else { 0 }, self.pitch());
        // If rows are whole registers, and are neither streamed nor joined, no columns are left over for
        // other code. So the function that shuffles columns also runs the innermost loop.
        let is_whole = row.is_multiple_of(V::BYTES) && !may_stream && runs == 0;
        let (walk, times) = if is_whole { walk.around_innermost() } else { (*walk, Stride::ONCE) };
        let mut run = 0;
        for mut iteration in walk.iterations() {
            if source_apart {
                iteration.from = iteration.from.wrapping_add(first);
                iteration.later = iteration.later.map(|later| later.wrapping_add(first));
            } else {
                iteration.to = iteration.to.wrapping_add(first);
            }
            let ahead = iteration.later.map_or(walk.in_row(), |later| later.addr().wrapping_sub(iteration.from.addr()));
            let Iteration { from, to, .. } = iteration;
            if runs > 0 {
                let end = row - row % V::BYTES;
                // SAFETY: `Rows::has_code` checked that `runs * row` is at most `JOINED_RUN`, which a row of
                // the staging buffer has, and that the innermost loop has a multiple of `runs` iterations,
                // each `row` bytes after the one before on the destination. So run number `run` begins `run *
                // row` bytes after the start of the buffer's row, and of the joined run. The contract covers
                // the columns. After the last run, all `runs * row` bytes of each buffer row are written.
                unsafe {
                    let staged = (stage.add(run * row), STAGED_ROW);
                    self.columns::<V>(from, staged, 0..end, (ahead, false), times);
                    self.rest::<V>(from, staged, end..row, false);
                    if run + 1 == runs {
                        drain::<V>(stage, (to.wrapping_sub(run * row), pitch), destinations, runs * row);
                    }
                }
                run = (run + 1) % runs;
                continue;
            }
            // Lines can be streamed if every destination row reaches a line after the same whole columns.
            let (mut streaming, mut head) = (false, 0);
            if may_stream {
                let to_line = to.align_offset(LINE);
                streaming = to_line.is_multiple_of(step * unit);
                head = if streaming { (to_line / step).min(row) } else { 0 };
            }
            let whole = if streaming && (destinations == 1 || by == Rows::Staged) { LINE } else { V::BYTES };
            let end = row - (row - head) % whole;
            // SAFETY: the contract covers the columns `0..row`. With `streaming`, byte `head * step` of the
            // first destination row is at a line, and so is that byte of every row: there is one row, or the
            // pitch is whole lines (`may_stream`). With `Rows::Staged`, `head..end` is whole lines, and
            // `stage` is the memory of a staging buffer.
            unsafe {
                self.part::<V>(from, (to, pitch), 0..head);
                if streaming && by == Rows::Staged {
                    self.by_lines::<V>(from, (to, pitch), head..end, (ahead, stage));
                } else {
                    self.columns::<V>(from, (to, pitch), head..end, (ahead, streaming), times);
                }
                self.rest::<V>(from, (to, pitch), end..row, streaming);
            }
        }
    }
}

impl InterleaveRows<'_> {
    /// Shuffles columns in registers of half a line, with non-temporal stores. A staging buffer collects
    /// several lines of each row, which are then stored whole: a CPU has few buffers for lines that are
    /// written in part.
    ///
    /// # Safety
    ///
    /// * The conditions of [`columns`](Self::columns).
    /// * The columns fill whole lines, and start at a line in every destination row.
    /// * `stage` is the memory of a [`Stage`].
    #[inline(always)]
    unsafe fn by_lines<V: Vector>(
        &self,
        from: *const u8,
        (to, pitch): (*mut u8, usize),
        columns: Range<usize>,
        (ahead, stage): (usize, *mut u8),
    ) {
        let most = (STAGED / self.shuffling.destinations).clamp(2 * LINE, 8 * LINE);
        let most = most - most % LINE;
        for at in columns.clone().step_by(most) {
            let some = most.min(columns.end - at);
            // SAFETY: the contract covers the columns `at..at + some`. They are whole lines, and at most
            // `JOINED_RUN` bytes, so there is room for them in each row of the staging buffer.
            unsafe {
                let staged = (stage.wrapping_sub(at), STAGED_ROW);
                self.columns::<V>(from, staged, at..at + some, (ahead, false), Stride::ONCE);
                let to = to.wrapping_add(at);
                for i in 0..self.shuffling.destinations {
                    let (from, to) = (stage.add(i * STAGED_ROW), to.wrapping_add(i.wrapping_mul(pitch)));
                    for at in (0..some).step_by(LINE) {
                        copy_lines::<V, 1>(from.add(at), to.add(at), true);
                    }
                }
            }
        }
    }

    /// # Safety
    ///
    /// * In each iteration of `times`, the columns are readable in the rows at `from` and writable in the
    ///   rows at `to`.
    /// * With `streaming`, the columns start at a multiple of a register in every destination row.
    #[inline(always)]
    unsafe fn columns<V: Vector>(
        &self,
        from: *const u8,
        (to, pitch): (*mut u8, usize),
        columns: Range<usize>,
        (ahead, streaming): (usize, bool),
        times: Stride,
    ) {
        let &Shuffling { shuffle, sources, destinations, source_apart } = self.shuffling;
        let (read, written) = if source_apart { (1, destinations) } else { (sources, 1) };
        if !columns.is_empty() {
            let block = Block {
                from: from.wrapping_add(columns.start * read),
                to: to.wrapping_add(columns.start * written),
                registers: columns.len() / V::BYTES,
                times,
                pitch: if source_apart { self.pitch() } else { pitch },
                ahead,
                streaming,
                signed: self.signed,
            };
            // SAFETY: `block` is the whole registers of these columns, which the contract covers.
            unsafe { shuffle(&block) };
        }
    }

    /// The pitch of the rows as a `usize`. It is added with wrapping, because the pitch may be negative.
    fn pitch(&self) -> usize {
        self.pitch.cast_unsigned()
    }

    /// Shuffles the last columns of a row, which do not fill a register. With ordinary stores, if there are
    /// enough columns before them, a whole register that ends with the row is shuffled: some columns are
    /// stored again.
    ///
    /// # Safety
    ///
    /// * All columns before the end of `columns` are readable in the rows at `from` and writable in the rows
    ///   at `to`.
    #[inline(always)]
    unsafe fn rest<V: Vector>(&self, from: *const u8, to: (*mut u8, usize), columns: Range<usize>, streamed: bool) {
        // SAFETY: a register that ends with `columns` begins at column 0 or later, so the contract covers it.
        unsafe {
            match columns.end.checked_sub(V::BYTES) {
                _ if columns.is_empty() => {}
                Some(first) if !streamed => {
                    self.columns::<V>(from, to, first..columns.end, (0, false), Stride::ONCE);
                }
                _ => self.part::<V>(from, to, columns),
            }
        }
    }

    /// Shuffles columns that fill no register, in registers that are filled in part.
    ///
    /// # Safety
    ///
    /// * The columns are readable in the rows at `from` and writable in the rows at `to`.
    #[inline(always)]
    unsafe fn part<V: Vector>(&self, from: *const u8, (to, pitch): (*mut u8, usize), columns: Range<usize>) {
        if columns.is_empty() {
            return;
        }
        // SAFETY: the function `part` has the contract of this one.
        unsafe { part::<V>(self.shuffling, (from, self.pitch()), (to, pitch), columns, self.signed) };
    }
}

/// Copies `run` bytes of each of `rows` rows from the staging buffer, with non-temporal stores.
///
/// # Safety
///
/// * `run` bytes are readable in each of `rows` rows of the staging buffer, which are [`STAGED_ROW`] bytes
///   apart.
/// * `run` bytes are writable in each of the destination rows, which begin at `to.0` and are `to.1` bytes
///   apart.
#[inline(always)]
unsafe fn drain<V: Vector>(stage: *const u8, to: (*mut u8, usize), rows: usize, run: usize) {
    for i in 0..rows {
        // SAFETY: `i` is below `rows`, so the contract covers row `i` of the buffer and of the destination.
        unsafe {
            let (from, to) = (stage.add(i * STAGED_ROW), to.0.wrapping_add(i.wrapping_mul(to.1)));
            stream_run::<V>(from, to, run, Neighbours::NONE, None);
        }
    }
}

#[repr(align(64))]
struct Registers(MaybeUninit<[[u8; LINE]; ROWS]>);

/// Shuffles columns that do not fill a register. They are copied to a buffer of whole registers, shuffled
/// from there into another buffer, and copied to the destination.
///
/// # Safety
///
/// * The shuffle was made for `V`.
/// * The columns are readable in the rows at `from` and writable in the rows at `to`.
#[inline(never)]
unsafe fn part<V: Vector>(
    &Shuffling { shuffle, sources, destinations, source_apart }: &Shuffling,
    (from, from_pitch): (*const u8, usize),
    (to, to_pitch): (*mut u8, usize),
    columns: Range<usize>,
    signed: bool,
) {
    let (mut loaded, mut stored) = (Registers(MaybeUninit::uninit()), Registers(MaybeUninit::uninit()));
    let (loaded, stored): (*mut u8, *mut u8) = (loaded.0.as_mut_ptr().cast(), stored.0.as_mut_ptr().cast());
    for first in columns.clone().step_by(V::BYTES) {
        let bytes = (columns.end - first).min(V::BYTES);
        // SAFETY: `loaded` has room for `ROWS` registers, and `sources` is at most `ROWS`. From column
        // `first` on, `bytes` columns are readable in each source row, or `bytes * sources` bytes in the
        // dense row.
        unsafe {
            std::ptr::write_bytes(loaded, 0, sources * V::BYTES);
            if source_apart {
                for i in 0..sources {
                    let from = from.wrapping_add(i.wrapping_mul(from_pitch)).wrapping_add(first);
                    short(from, loaded.add(i * V::BYTES), bytes);
                }
            } else {
                std::ptr::copy_nonoverlapping(from.add(first * sources), loaded, bytes * sources);
            }
        }
        let block = Block {
            from: loaded,
            to: stored,
            registers: 1,
            times: Stride::ONCE,
            pitch: V::BYTES,
            ahead: 0,
            streaming: false,
            signed,
        };
        // SAFETY: the shuffle loads `sources` registers, which were just written, and stores `destinations`
        // registers, for which `stored` has room. From column `first` on, `bytes` columns are writable in
        // each destination row, or `bytes * destinations` bytes in the one dense destination row.
        unsafe {
            shuffle(&block);
            if source_apart {
                std::ptr::copy_nonoverlapping(stored, to.add(first * destinations), bytes * destinations);
            } else {
                for i in 0..destinations {
                    let to = to.wrapping_add(i.wrapping_mul(to_pitch)).wrapping_add(first);
                    short(stored.add(i * V::BYTES), to, bytes);
                }
            }
        }
    }
}
