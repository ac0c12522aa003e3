//! A few rows interleaved into one, and the way back: tiles such as (2,1) and (4,1), the channels of an
//! image, packed elements.
//!
//! Planar pixels become interleaved ones when a unit of each row is written in turns. Unit by unit, that is a
//! load and a store for each; in registers it is one shuffle for a whole register of units:
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
//!     columns up to the first line of the destination       by way of registers in memory (`part`)
//!     whole registers of columns                            a block: load, shuffle, store
//!     columns that fill no register                         the last register again, or `part`
//! ```
//!
//! A *block* does this for some registers of columns. It is compiled once for each [`Shuffle`] and called by
//! a pointer, so that the loop around it is compiled once for a level.
//!
//! When the destination has the rows and is stored past the cache, a CPU has few buffers for lines that are
//! half full. Registers of half a line then go to a *staging buffer* first, some lines of each row, which are
//! stored row by row; and where rows of neighbouring iterations continue each other, several iterations are
//! joined there.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::part::part;
use super::shuffles::Shuffle;
use super::side_by_side::{Neighbours, stream_run};
use super::vector::{Operation, Vector};
use super::walk::{Iteration, Walk};
use crate::kernel::{JOINED_RUN, Rows};
use crate::line::LINE;

/// Rows of the destination that are stored to in turns from which on no page is looked up ahead: it would be
/// one more access for each. By trial.
const MANY_ROWS: usize = 16;

/// Columns of some rows: where they begin on the source and on the destination, how many registers of each
/// row, how far apart rows are, how far ahead is prefetched (0: not), and whether it is stored past the cache
/// and numbers have a sign.
///
/// # Safety
///
/// As many registers of each row are readable, or writable; with `streaming`, they are aligned on the
/// destination.
type Block = unsafe fn(*const u8, *mut u8, usize, usize, usize, (bool, bool));

/// How some rows are shuffled.
#[derive(Clone, Copy)]
pub(super) struct Shuffling {
    pub(super) block: Block,
    /// Registers that are loaded, and stored.
    pub(super) sources: usize,
    pub(super) destinations: usize,
    /// The rows that are apart are those of the source; the other side is dense.
    pub(super) source_apart: bool,
}

impl Shuffling {
    /// The one of a shuffle.
    pub(super) fn of<V: Vector, S: Shuffle<N>, const N: usize>() -> Shuffling {
        Shuffling {
            block: block::<V, S, N>,
            sources: S::SOURCES,
            destinations: S::DESTINATIONS,
            source_apart: S::SOURCE_APART,
        }
    }
}

/// See [`Block`].
///
/// # Safety
///
/// As for a `Block`, and the CPU has the features of `V`.
unsafe fn block<V: Vector, S: Shuffle<N>, const N: usize>(
    from: *const u8,
    to: *mut u8,
    count: usize,
    pitch: usize,
    ahead: usize,
    (streaming, signed): (bool, bool),
) {
    // SAFETY: the caller's promise.
    unsafe { V::vectorize(Columns::<S, N> { from, to, count, pitch, ahead, streaming, signed, shuffle: PhantomData }) }
}

/// The arguments of a [`Block`].
struct Columns<S, const N: usize> {
    from: *const u8,
    to: *mut u8,
    count: usize,
    pitch: usize,
    ahead: usize,
    streaming: bool,
    signed: bool,
    shuffle: PhantomData<S>,
}

impl<S: Shuffle<N>, const N: usize> Operation for Columns<S, N> {
    /// # Safety
    ///
    /// As for a [`Block`].
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let Columns { mut from, mut to, count, pitch, ahead, streaming, signed, .. } = self;
        let source = |i: usize| if S::SOURCE_APART { i.wrapping_mul(pitch) } else { i * V::BYTES };
        let destination = |i: usize| if S::SOURCE_APART { i * V::BYTES } else { i.wrapping_mul(pitch) };
        let (sources, destinations) = if S::SOURCE_APART { (1, S::DESTINATIONS) } else { (S::SOURCES, 1) };
        for _ in 0..count {
            // SAFETY: registers of the rows; a prefetch may go anywhere.
            unsafe {
                let mut registers = [V::zero(); N];
                for (i, register) in registers.iter_mut().enumerate().take(S::SOURCES) {
                    let from = from.wrapping_add(source(i));
                    if ahead != 0 {
                        V::prefetch(from.wrapping_add(ahead));
                    }
                    *register = V::load(from);
                }
                let registers = S::shuffled(registers, signed);
                for (i, register) in registers.into_iter().enumerate().take(S::DESTINATIONS) {
                    let to = to.wrapping_add(destination(i));
                    match streaming {
                        true if S::SOURCE_APART || N < MANY_ROWS => register.stream(to),
                        true => register.store_past_cache(to),
                        false => register.store(to),
                    }
                }
            }
            from = from.wrapping_add(sources * V::BYTES);
            to = to.wrapping_add(destinations * V::BYTES);
        }
    }
}

/// The most rows.
pub(super) const ROWS: usize = 32;

/// Bytes from one staged row to the next: a line more than the longest run, so that neighbours are in
/// different sets of the L1 cache.
const STAGED_ROW: usize = JOINED_RUN + LINE;

/// Bytes of all rows that are staged at once, about: a quarter of an L1 cache.
const STAGED: usize = 1 << 13;

/// Rows before they are drained.
#[repr(align(64))]
struct Stage(MaybeUninit<[[u8; STAGED_ROW]; ROWS]>);

/// Rows of `row` bytes, `pitch` bytes apart on one side and joined on the other.
pub(super) struct InterleaveRows<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) shuffling: Shuffling,
    pub(super) row: usize,
    /// Bytes that stay together.
    pub(super) unit: usize,
    /// From one row to the next; negative if the first row is the last in memory.
    pub(super) pitch: isize,
    pub(super) signed: bool,
    /// Where rows of the destination are collected.
    pub(super) by: Rows,
}

impl Operation for InterleaveRows<'_> {
    /// # Safety
    ///
    /// The shuffle is one for `V`, and `by` fits the rows (`Kernel::fit`). In every iteration, the rows are
    /// readable on the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        // SAFETY: the caller's rows.
        unsafe {
            match self.by {
                Rows::Direct => self.rows::<V>(None),
                Rows::Staged | Rows::Joined(_) => by_stage::<V>(&self),
            }
        }
    }
}

/// Rows by way of a stage: a function of its own, whose stack is some pages.
///
/// # Safety
///
/// As for the operation.
#[inline(never)]
unsafe fn by_stage<V: Vector>(rows: &InterleaveRows<'_>) {
    // SAFETY: the same rows.
    unsafe { V::vectorize(ByStage(rows)) }
}

/// Rows that are collected in a staging buffer.
struct ByStage<'a, 'w>(&'a InterleaveRows<'w>);

impl Operation for ByStage<'_, '_> {
    /// # Safety
    ///
    /// As for [`by_stage`].
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let mut stage = Stage(MaybeUninit::uninit());
        // SAFETY: the same rows.
        unsafe { self.0.rows::<V>(Some(stage.0.as_mut_ptr().cast::<u8>())) }
    }
}

impl InterleaveRows<'_> {
    /// # Safety
    ///
    /// As for the operation; `stage` is the memory of a [`Stage`], and there is one if rows are collected.
    #[inline(always)]
    unsafe fn rows<V: Vector>(&self, stage: Option<*mut u8>) {
        let &InterleaveRows { walk, shuffling, row, unit, pitch, by, .. } = self;
        let Shuffling { sources, destinations, source_apart, .. } = shuffling;
        let stage = stage.unwrap_or(std::ptr::null_mut());
        let runs = if let Rows::Joined(runs) = by { usize::from(runs) } else { 0 };
        let dense_destination = source_apart || destinations == 1;
        // Every row of the destination begins lines where the first one does.
        let may_stream = walk.streaming && (dense_destination || pitch.unsigned_abs().is_multiple_of(LINE));
        // The bytes of each row of the destination for a byte of a row.
        let step = if source_apart { destinations } else { 1 };
        // Of rows in the opposite order, the last one comes first in memory: offsets go back from the first,
        // and wrap.
        let last = (if source_apart { sources } else { destinations } - 1) * pitch.unsigned_abs();
        let (first, pitch) = (if pitch < 0 { last } else { 0 }, self.pitch());
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
            // SAFETY: the caller's rows. The runs of neighbouring iterations follow each other in a row of
            // the stage, as in the destination.
            unsafe {
                if runs > 0 {
                    let end = row - row % V::BYTES;
                    let staged = (stage.add(run * row), STAGED_ROW);
                    self.columns::<V>(from, staged, 0..end, (ahead, false));
                    self.rest::<V>(from, staged, end..row, false);
                    if run + 1 == runs {
                        drain::<V>(stage, (to.wrapping_sub(run * row), pitch), destinations, runs * row);
                    }
                    run = (run + 1) % runs;
                    continue;
                }
                // Lines are streamed if they are aligned after a few columns, in every row of the
                // destination.
                let (mut streaming, mut head) = (false, 0);
                if may_stream {
                    let to_line = to.align_offset(LINE);
                    streaming = to_line.is_multiple_of(step * unit);
                    head = if streaming { (to_line / step).min(row) } else { 0 };
                }
                let whole = if streaming && destinations == 1 { LINE } else { V::BYTES };
                let end = row - (row - head) % whole;
                self.part::<V>(from, (to, pitch), 0..head);
                if streaming && by == Rows::Staged {
                    self.by_lines::<V>(from, (to, pitch), head..end, (ahead, stage));
                } else {
                    self.columns::<V>(from, (to, pitch), head..end, (ahead, streaming));
                }
                self.rest::<V>(from, (to, pitch), end..row, streaming);
            }
        }
    }
}

impl InterleaveRows<'_> {
    /// Columns of which a line is two registers, past the cache: both halves of a line at once, and several
    /// lines, as few buffers hold lines that are filled in part.
    ///
    /// # Safety
    ///
    /// As for [`columns`](Self::columns), and there is a stage.
    #[inline(always)]
    unsafe fn by_lines<V: Vector>(
        &self,
        from: *const u8,
        (to, pitch): (*mut u8, usize),
        columns: Range<usize>,
        (ahead, stage): (usize, *mut u8),
    ) {
        let most = (STAGED / self.shuffling.destinations).clamp(4 * LINE, JOINED_RUN);
        for at in columns.clone().step_by(most) {
            let some = most.min(columns.end - at);
            // SAFETY: the caller's columns, of which a row of the stage has room for `JOINED_RUN`.
            unsafe {
                let staged = (stage.wrapping_sub(at), STAGED_ROW);
                self.columns::<V>(from, staged, at..at + some, (ahead, false));
                drain::<V>(stage, (to.wrapping_add(at), pitch), self.shuffling.destinations, some);
            }
        }
    }

    /// Columns that are whole registers.
    ///
    /// # Safety
    ///
    /// They are readable in the rows at `from` and writable in those at `to`; aligned there if they are
    /// streamed.
    #[inline(always)]
    unsafe fn columns<V: Vector>(
        &self,
        from: *const u8,
        (to, pitch): (*mut u8, usize),
        columns: Range<usize>,
        (ahead, streaming): (usize, bool),
    ) {
        let Shuffling { block, sources, destinations, source_apart } = self.shuffling;
        let (read, written) = if source_apart { (1, destinations) } else { (sources, 1) };
        let pitch = if source_apart { self.pitch() } else { pitch };
        if !columns.is_empty() {
            let (from, to) = (from.wrapping_add(columns.start * read), to.wrapping_add(columns.start * written));
            // SAFETY: the caller's promise.
            unsafe { block(from, to, columns.len() / V::BYTES, pitch, ahead, (streaming, self.signed)) };
        }
    }

    /// From one row to the next where they are apart, to be added with wrapping.
    fn pitch(&self) -> usize {
        self.pitch.cast_unsigned()
    }

    /// The last columns of a row, which fill no register: with columns before them, which are written again,
    /// if they are in the cache and there are enough.
    ///
    /// # Safety
    ///
    /// All columns up to these are readable in the rows at `from` and writable in those at `to`.
    #[inline(always)]
    unsafe fn rest<V: Vector>(&self, from: *const u8, to: (*mut u8, usize), columns: Range<usize>, streamed: bool) {
        // SAFETY: the caller's promise.
        unsafe {
            match columns.end.checked_sub(V::BYTES) {
                _ if columns.is_empty() => {}
                Some(first) if !streamed => self.columns::<V>(from, to, first..columns.end, (0, false)),
                _ => self.part::<V>(from, to, columns),
            }
        }
    }

    /// Columns that fill no register: by way of registers of their own.
    ///
    /// # Safety
    ///
    /// They are readable in the rows at `from` and writable in those at `to`.
    #[inline(always)]
    unsafe fn part<V: Vector>(&self, from: *const u8, (to, pitch): (*mut u8, usize), columns: Range<usize>) {
        if columns.is_empty() {
            return;
        }
        // SAFETY: the caller's promise.
        unsafe { part::<V>(self.shuffling, (from, self.pitch()), (to, pitch), columns, self.signed) };
    }
}

/// Writes runs of some staged rows past the cache.
///
/// # Safety
///
/// `run` bytes are readable in each of these staged rows, which are [`STAGED_ROW`] bytes apart, and writable
/// in those of the destination, which begin at `to.0` and are `to.1` bytes apart.
#[inline(always)]
unsafe fn drain<V: Vector>(stage: *const u8, to: (*mut u8, usize), rows: usize, run: usize) {
    for i in 0..rows {
        // SAFETY: a staged row, and its run of the destination.
        unsafe {
            let (from, to) = (stage.add(i * STAGED_ROW), to.0.wrapping_add(i.wrapping_mul(to.1)));
            stream_run::<V>(from, to, run, Neighbours::NONE, None);
        }
    }
}
