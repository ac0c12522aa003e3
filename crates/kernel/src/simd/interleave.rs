//! A few rows interleaved into one, and the way back: tiles such as (2,1) and (4,1), the channels of an
//! image, packed elements.
//!
//! A *block* loads a register of each row, or as many of the joined row, shuffles them and stores them, for
//! some columns. It is compiled once for each [`Shuffle`] and called by a pointer; the loop around it is
//! compiled once for a level.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::part::part;
use super::shuffles::Shuffle;
use super::side_by_side::{Neighbours, stream_run};
use super::vector::{Operation, Vector};
use super::walk::{Iteration, Walk};
use crate::cost::{JOINED_RUN, LINE, MANY_ROWS};
use crate::nest::RowPitch;

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
pub(super) struct Weave {
    pub(super) block: Block,
    /// Registers that are loaded, and stored.
    pub(super) sources: usize,
    pub(super) destinations: usize,
    /// The rows that are apart are those of the source; the other side is dense.
    pub(super) source_apart: bool,
}

impl Weave {
    /// The one of a shuffle.
    pub(super) fn of<V: Vector, S: Shuffle<N>, const N: usize>() -> Weave {
        Weave {
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
pub(super) struct Interleave<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) weave: Weave,
    pub(super) row: usize,
    /// Bytes that stay together.
    pub(super) unit: usize,
    pub(super) pitch: RowPitch,
    pub(super) signed: bool,
}

impl Operation for Interleave<'_> {
    /// # Safety
    ///
    /// The weave is one for `V`. In every iteration, its rows are readable on the source and writable on the
    /// destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let Interleave { walk, weave, row, pitch, .. } = self;
        let dense_destination = weave.source_apart || weave.destinations == 1;
        let may_stream = walk.streaming && (dense_destination || pitch.bytes.is_multiple_of(LINE));
        let runs = if dense_destination { None } else { walk.joined_iterations(row).filter(|_| !pitch.reversed) };
        let staged = runs.is_some() || may_stream && !dense_destination && V::BYTES < LINE;
        // SAFETY: the caller's rows.
        unsafe {
            if staged { by_stage::<V>(&self, runs) } else { self.rows::<V>((may_stream, None, std::ptr::null_mut())) }
        }
    }
}

/// Rows by way of a stage: a function of its own, whose stack is some pages.
///
/// # Safety
///
/// As for the operation.
#[inline(never)]
unsafe fn by_stage<V: Vector>(rows: &Interleave<'_>, runs: Option<usize>) {
    // SAFETY: the same rows.
    unsafe { V::vectorize(ByStage { rows, runs }) }
}

struct ByStage<'a, 'w> {
    rows: &'a Interleave<'w>,
    runs: Option<usize>,
}

impl Operation for ByStage<'_, '_> {
    /// # Safety
    ///
    /// As for [`by_stage`].
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let mut stage = Stage(MaybeUninit::uninit());
        // SAFETY: the same rows.
        unsafe { self.rows.rows::<V>((true, self.runs, stage.0.as_mut_ptr().cast::<u8>())) }
    }
}

impl Interleave<'_> {
    /// # Safety
    ///
    /// As for the operation; there is a stage where rows are stored past the cache that are not dense, or
    /// iterations are joined.
    #[inline(always)]
    unsafe fn rows<V: Vector>(&self, (may_stream, runs, stage): (bool, Option<usize>, *mut u8)) {
        let &Interleave { walk, weave, row, unit, pitch, .. } = self;
        let Weave { sources, destinations, source_apart, .. } = weave;
        let dense_destination = source_apart || destinations == 1;
        // The bytes of each row of the destination for a byte of a row.
        let step = if source_apart { destinations } else { 1 };
        // Of rows in the opposite order, the last one comes first in memory: offsets go back from the first,
        // and wrap.
        let last = (if source_apart { sources } else { destinations } - 1) * pitch.bytes;
        let (first, pitch) = (if pitch.reversed { last } else { 0 }, self.pitch());
        let mut run = 0;
        for mut iteration in walk.iterations(row * sources) {
            if source_apart {
                iteration.from = iteration.from.wrapping_add(first);
                iteration.later = iteration.later.map(|later| later.wrapping_add(first));
            } else {
                iteration.to = iteration.to.wrapping_add(first);
            }
            let later = if source_apart && sources > 1 {
                iteration.later_in_rows(row)
            } else {
                iteration.later_in_row(row * sources)
            };
            let ahead = later.map_or(0, |later| later.addr().wrapping_sub(iteration.from.addr()));
            let Iteration { from, to, .. } = iteration;
            // SAFETY: the caller's rows. The runs of neighbouring iterations follow each other in a row of
            // the stage, as in the destination.
            unsafe {
                if let Some(runs) = runs {
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
                if streaming && !dense_destination && V::BYTES < LINE {
                    self.by_lines::<V>(from, (to, pitch), head..end, (ahead, stage));
                } else {
                    self.columns::<V>(from, (to, pitch), head..end, (ahead, streaming));
                }
                self.rest::<V>(from, (to, pitch), end..row, streaming);
            }
        }
    }
}

impl Interleave<'_> {
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
        let most = (STAGED / self.weave.destinations).clamp(4 * LINE, JOINED_RUN);
        for at in columns.clone().step_by(most) {
            let some = most.min(columns.end - at);
            // SAFETY: the caller's columns, of which a row of the stage has room for `JOINED_RUN`.
            unsafe {
                let staged = (stage.wrapping_sub(at), STAGED_ROW);
                self.columns::<V>(from, staged, at..at + some, (ahead, false));
                drain::<V>(stage, (to.wrapping_add(at), pitch), self.weave.destinations, some);
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
        let Weave { block, sources, destinations, source_apart } = self.weave;
        let (read, written) = if source_apart { (1, destinations) } else { (sources, 1) };
        let pitch = if source_apart { self.pitch() } else { pitch };
        if !columns.is_empty() {
            let (from, to) = (from.wrapping_add(columns.start * read), to.wrapping_add(columns.start * written));
            // SAFETY: the caller's promise.
            unsafe { block(from, to, columns.len() / V::BYTES, pitch, ahead, (streaming, self.signed)) };
        }
    }

    /// From one row to the next where they are apart; it wraps if they are reversed.
    fn pitch(&self) -> usize {
        if self.pitch.reversed { self.pitch.bytes.wrapping_neg() } else { self.pitch.bytes }
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
        unsafe { part::<V>(self.weave, (from, self.pitch()), (to, pitch), columns, self.signed) };
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
