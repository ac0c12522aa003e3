//! Strips of a plane, at most a line of columns wide, block by block; and planes in the cache, which are nothing but strips.

use std::ops::Range;

use super::block::{Level, Transposition};
use super::edge::Edge;
use super::order::Permuted;
use super::pitch::Pitch;
use super::prefetch::PanelPrefetch;
use super::vector::{Operation, Vector};
use super::walk::{Iteration, Walk};
use crate::cost::LINE;
use crate::nest::{Axis, Plane};

/// Planes in the cache whose rows do not conflict in its sets: strip by strip, with nothing to prefetch and nothing to stage.
// No pitches: two words that are stored one by one are loaded as a pair, which waits.
pub(super) struct Strips<'a, const UNIT: usize, const IN_LANE: usize, const IN_L1: bool> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) plane: &'a Plane,
    /// See [`Transposition`].
    pub(super) in_groups: bool,
}

impl<const UNIT: usize, const IN_LANE: usize, const IN_L1: bool> Operation for Strips<'_, UNIT, IN_LANE, IN_L1> {
    /// # Safety
    ///
    /// In every iteration, the plane's span is readable on the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let Plane { columns, rows, .. } = self.plane;
        // SAFETY: the same planes; the pitches are those of its axes.
        unsafe {
            match (rows.stride(), columns.stride()) {
                (Some(source), Some(destination)) => self.strips::<V, LANES, usize>((source, destination)),
                _ => self.strips::<V, LANES, &Axis>((rows, columns)),
            }
        }
    }
}

impl<const UNIT: usize, const IN_LANE: usize, const IN_L1: bool> Strips<'_, UNIT, IN_LANE, IN_L1> {
    /// # Safety
    ///
    /// The pitches are those of the plane's axes, source and destination. In every iteration, the plane's span is readable on the source and
    /// writable on the destination.
    #[inline(always)]
    unsafe fn strips<V: Vector, const LANES: usize, P: Pitch>(&self, (source_pitch, destination_pitch): (P, P)) {
        let &Strips { walk, plane, in_groups } = self;
        let (columns, rows) = (plane.columns.extent, plane.rows.extent);
        for Iteration { from, to, .. } in walk.iterations(columns * rows * UNIT) {
            let pitches = (source_pitch, destination_pitch);
            let transposition = Transposition { in_groups, ..Transposition::new((from, to), plane, pitches) };
            let (plane, in_line) = (&transposition, LINE / UNIT);
            let permuted = !IN_L1 && walk.permutes_blocks::<V>();
            let (wide, high) = if permuted { (columns / in_line, rows / in_line) } else { (0, 0) };
            // SAFETY: whole blocks, then at most a line of columns of the rows that are left: all of the plane, readable and writable by the caller's promise.
            unsafe {
                for block in Permuted::new(wide * high) {
                    plane.permuted_block::<V, UNIT, IN_LANE, LANES>(block / wide * in_line, block % wide * in_line);
                }
                for column in (0..columns).step_by(in_line) {
                    let rows = if column < wide * in_line { high * in_line..rows } else { 0..rows };
                    let prefetch = &mut PanelPrefetch::nothing(source_pitch);
                    Strip::<P, UNIT, IN_LANE, false, IN_L1> { plane, column, rows, prefetch }.run::<V, LANES>();
                }
            }
        }
    }
}

impl<P: Pitch> Transposition<P> {
    /// A line of rows by a line of columns that are in the L2 cache, wherever the block before was.
    ///
    /// # Safety
    ///
    /// The rows from `row` on and the columns from `column` on lie inside the plane, and the plane inside both sides.
    #[inline(always)]
    unsafe fn permuted_block<V: Vector, const UNIT: usize, const IN_LANE: usize, const LANES: usize>(
        &self,
        row: usize,
        column: usize,
    ) {
        let own = Transposition { streaming: false, source_in: Level::L2, ..*self };
        let (source, first_row) = own.source_pitch.begin_at(row);
        for column in (column..column + LINE / UNIT).step_by(IN_LANE * LANES) {
            let (destination, first_column) = own.destination_pitch.begin_at(column);
            // SAFETY: a line of rows by a vector of columns of the plane.
            unsafe {
                let from = (own.from.add(column * UNIT + source), own.source_pitch, first_row);
                let to = (own.to.add(row * UNIT + destination), own.destination_pitch, first_column);
                own.block::<V, UNIT, IN_LANE, LANES, P, P>(from, to, &mut PanelPrefetch::nothing(own.source_pitch));
            }
        }
    }
}

/// At most a line of columns of some rows, block by block.
pub(super) struct Strip<'a, P, const UNIT: usize, const IN_LANE: usize, const STREAMING: bool, const IN_L1: bool> {
    pub(super) plane: &'a Transposition<P>,
    /// The first column.
    pub(super) column: usize,
    pub(super) rows: Range<usize>,
    pub(super) prefetch: &'a mut PanelPrefetch<P>,
}

impl<P: Pitch, const UNIT: usize, const IN_LANE: usize, const STREAMING: bool, const IN_L1: bool> Operation
    for Strip<'_, P, UNIT, IN_LANE, STREAMING, IN_L1>
{
    /// # Safety
    ///
    /// The column and the rows lie inside the plane, the plane inside both sides; if `plane.streaming` is set, the destination rows
    /// are aligned to a line where `rows` begins.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let Strip { plane, column: first, rows, prefetch } = self;
        let (units, in_line) = (IN_LANE * LANES, LINE / UNIT);
        debug_assert!(first < plane.columns && rows.end <= plane.rows);
        let columns = in_line.min(plane.columns - first);
        let mut row = rows.start;
        // Copies that nothing else points to: stores to the destination cannot change them, so they stay in registers.
        debug_assert!(plane.streaming == STREAMING);
        let source_in = match (STREAMING, IN_L1) {
            (true, _) => Level::Memory,
            (false, true) => Level::L1,
            (false, false) => Level::L2,
        };
        let (own, mut issued) = (Transposition { streaming: STREAMING, source_in, ..*plane }, *prefetch);
        // SAFETY: whole blocks are a line of columns by a line of rows of the plane, and begin whole lines behind `rows.start`; what is
        // left goes to `Edge`, with as many columns and rows as there are.
        unsafe {
            while columns == in_line && row + in_line <= rows.end {
                if STREAMING && own.next_near {
                    let here = row + 2 * in_line <= rows.end;
                    let (next, column) = if here { (row + in_line, first) } else { (rows.start, first + in_line) };
                    let at = own.from.wrapping_add(column * UNIT);
                    for i in 0..in_line {
                        V::prefetch_near(at.wrapping_add(own.source_pitch.row(next + i)));
                    }
                }
                for part in 0..in_line / units {
                    let column = first + part * units;
                    let (from, to) = (own.from.add(column * UNIT), own.to.add(row * UNIT));
                    own.block::<V, UNIT, IN_LANE, LANES, P, P>(
                        (from, own.source_pitch, row),
                        (to, own.destination_pitch, column),
                        &mut issued,
                    );
                }
                row += in_line;
            }
            while row < rows.end {
                for part in (0..columns).step_by(units) {
                    issued.issue::<V>(units);
                    let (rows, columns) = (in_line.min(rows.end - row), units.min(columns - part));
                    V::vectorize(Edge::<P, UNIT, IN_LANE> { plane, column: first + part, row, columns, rows });
                }
                row += in_line;
            }
        }
        *prefetch = issued;
    }
}
