//! Blocks whose rows conflict in the sets of the L1 cache: they go by way of a staging buffer, in which they do not.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::block::{Level, Transposition};
use super::copy::copy_run;
use super::edge::Edge;
use super::lines::copy_lines;
use super::order::in_fours;
use super::pitch::Pitch;
use super::prefetch::PanelPrefetch;
use super::vector::{Operation, Vector};
use crate::cost::{LINE, STAGED_LINES};

/// A staged row of `LINES` lines, and one line more, so that neighbours lie in different sets.
#[repr(C)]
struct StagedRow<const LINES: usize> {
    run: [[u8; LINE]; LINES],
    gap: [u8; LINE],
}

/// As many staged rows as units fill a line, four times `IN_LANE`, and a line behind them.
#[repr(align(64))]
pub(super) struct Stage<const LINES: usize, const IN_LANE: usize>(
    MaybeUninit<([[StagedRow<LINES>; IN_LANE]; 4], [u8; LINE])>,
);

impl<const LINES: usize, const IN_LANE: usize> Stage<LINES, IN_LANE> {
    /// Bytes from the beginning of one row to the next.
    pub(super) const ROW: usize = size_of::<StagedRow<LINES>>();

    #[inline(always)]
    pub(super) fn new() -> Self {
        Stage(MaybeUninit::uninit())
    }

    #[inline(always)]
    pub(super) fn bytes(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// At most `IN_LANE * LANES` columns of a multiple of `LINES` lines of rows: transposed into a stage, which is then drained in a
/// run for each destination row.
pub(super) struct Scatter<'a, P, const UNIT: usize, const IN_LANE: usize, const LINES: usize> {
    pub(super) plane: &'a Transposition<P>,
    /// The first column.
    pub(super) column: usize,
    pub(super) rows: Range<usize>,
    pub(super) prefetch: &'a mut PanelPrefetch<P>,
}

impl<P: Pitch, const UNIT: usize, const IN_LANE: usize, const LINES: usize> Operation
    for Scatter<'_, P, UNIT, IN_LANE, LINES>
{
    /// # Safety
    ///
    /// The column and the rows, a multiple of `LINES` lines, lie inside the plane, the plane inside both sides.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let Scatter { plane, column: first, rows, prefetch } = self;
        let units = IN_LANE * LANES;
        let (columns, in_line) = (units.min(plane.columns - first), LINE / UNIT);
        debug_assert!(rows.end <= plane.rows && rows.len().is_multiple_of(LINES * in_line));
        // Each destination row of a block has a staged row of its own.
        const { assert!(LANES <= 4) };
        let mut stage = Stage::<LINES, IN_LANE>::new();
        // Copies that nothing else points to: stores cannot change them, so they stay in registers. What is staged is not streamed.
        // To the compiler, too, short registers do not permute.
        let permuted = V::BYTES == LINE && plane.permuted;
        let source_in = if permuted { Level::L2 } else { Level::Memory };
        let (own, mut issued) = (Transposition { streaming: false, source_in, permuted, ..*plane }, *prefetch);
        for run in rows.step_by(LINES * in_line) {
            for line in 0..LINES {
                let line = in_fours(line, LINES, own.permuted);
                let row = run + line * in_line;
                // SAFETY: `in_line` rows of the plane, and `columns` of its columns: as many as a vector holds, or fewer, which `Edge`
                // takes. A block writes a line, the `line`-th of `LINES`, of `units` staged rows, of which there are
                // at least as many.
                unsafe {
                    if columns < units {
                        let edge = Edge::<P, UNIT, IN_LANE> { plane, column: first, row, columns, rows: in_line };
                        V::vectorize(edge);
                        continue;
                    }
                    let (from, to) = (own.from.add(first * UNIT), stage.bytes().add(line * LINE));
                    own.block::<V, UNIT, IN_LANE, LANES, P, usize>(
                        (from, own.source_pitch, row),
                        (to, Stage::<LINES, IN_LANE>::ROW, 0),
                        &mut issued,
                    );
                }
            }
            for i in 0..if columns < units { 0 } else { units } {
                let i = in_fours(i, units, own.permuted);
                // SAFETY: the staged row was written; `LINES * in_line` units of the destination row lie in the plane.
                unsafe {
                    let row = stage.bytes().add(i * Stage::<LINES, IN_LANE>::ROW);
                    let to = own.to.add(run * UNIT + own.destination_pitch.row(first + i));
                    if own.permuted {
                        copy_row_permuted::<V, LINES>(row, to);
                    } else {
                        copy_row::<V, LINES>(row, to, plane.streaming);
                    }
                }
            }
        }
        *prefetch = issued;
    }
}

/// At most `LINES` lines of columns of a line of rows: copied into a stage run by run, and transposed from there.
pub(super) struct Gather<'a, P, const UNIT: usize, const IN_LANE: usize, const LINES: usize> {
    pub(super) plane: &'a Transposition<P>,
    pub(super) columns: Range<usize>,
    /// The first row.
    pub(super) row: usize,
}

impl<P: Pitch, const UNIT: usize, const IN_LANE: usize, const LINES: usize> Operation
    for Gather<'_, P, UNIT, IN_LANE, LINES>
{
    /// # Safety
    ///
    /// The columns, at most `LINES` lines, and a line of rows lie inside the plane, the plane inside both sides;
    /// `self.plane.streaming` is not set.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let Gather { plane, columns, row } = self;
        let (units, in_line) = (IN_LANE * LANES, LINE / UNIT);
        debug_assert!(!plane.streaming && columns.len() * UNIT <= LINES * LINE);
        debug_assert!(columns.end <= plane.columns && row + in_line <= plane.rows);
        let (mut stage, mut nothing) = (Stage::<LINES, IN_LANE>::new(), PanelPrefetch::nothing(plane.source_pitch));
        // As in `Scatter`.
        let permuted = V::BYTES == LINE && plane.permuted;
        let own = Transposition { streaming: false, source_in: Level::L2, permuted, ..*plane };
        for i in 0..in_line {
            let i = in_fours(i, in_line, own.permuted);
            // SAFETY: the columns of a row of the plane are read, at most `LINES` lines, and a staged row takes them.
            unsafe {
                let from = own.from.add(columns.start * UNIT + own.source_pitch.row(row + i));
                let (to, bytes) = (stage.bytes().add(i * Stage::<LINES, IN_LANE>::ROW), columns.len() * UNIT);
                if own.permuted && bytes == LINES * LINE {
                    copy_row_permuted::<V, LINES>(from, to);
                } else {
                    copy_run::<V, false>(from, to, bytes, None);
                }
            }
        }
        let vectors = columns.len().div_ceil(units);
        for i in 0..vectors {
            let column = columns.start + in_fours(i, vectors, own.permuted) * units;
            // SAFETY: a vector of `in_line` staged rows was written where all its columns are among those copied; a line of `units`
            // destination rows is written, all of the plane. Fewer columns go to `Edge`, which reads the plane itself.
            unsafe {
                if column + units > columns.end {
                    let columns = columns.end - column;
                    V::vectorize(Edge::<P, UNIT, IN_LANE> { plane, column, row, columns, rows: in_line });
                    continue;
                }
                let from = stage.bytes().add((column - columns.start) * UNIT).cast_const();
                own.block::<V, UNIT, IN_LANE, LANES, usize, P>(
                    (from, Stage::<LINES, IN_LANE>::ROW, 0),
                    (own.to.add(row * UNIT), own.destination_pitch, column),
                    &mut nothing,
                );
            }
        }
    }
}

/// Copies a row of `LINES` lines, in an order that hardware prefetchers do not follow.
///
/// # Safety
///
/// `LINES` lines are readable at `from` and writable at `to`.
#[inline(always)]
unsafe fn copy_row_permuted<V: Vector, const LINES: usize>(from: *const u8, to: *mut u8) {
    for line in 0..LINES {
        let at = in_fours(line, LINES, true) * LINE;
        // SAFETY: a line of both.
        unsafe { copy_lines::<V, 1>(from.add(at), to.add(at), false) };
    }
}

/// Copies a staged row of `LINES` lines, past the cache if `streaming` is set.
///
/// # Safety
///
/// `LINES` lines are readable at `from` and writable at `to`, which is a multiple of a line if `streaming` is set.
#[inline(always)]
unsafe fn copy_row<V: Vector, const LINES: usize>(from: *const u8, to: *mut u8, streaming: bool) {
    const { assert!(LINES == 2 || LINES.is_multiple_of(STAGED_LINES)) };
    if streaming {
        for part in (0..LINES * LINE).step_by(V::BYTES) {
            // SAFETY: part of the lines of both, aligned as they are. No page is looked up: the next row may lie in another.
            unsafe { V::load(from.add(part)).store_past_cache(to.add(part)) };
        }
        return;
    }
    if LINES == 2 {
        // SAFETY: two lines of both.
        return unsafe { copy_lines::<V, 2>(from, to, false) };
    }
    for line in (0..LINES).step_by(STAGED_LINES) {
        // SAFETY: as many lines of both.
        unsafe { copy_lines::<V, STAGED_LINES>(from.add(line * LINE), to.add(line * LINE), false) };
    }
}
