//! Blocks at the edges of a plane: fewer columns than fill a vector, or fewer rows than fill a line.
//!
//! What is shuffled are lanes of 16 bytes, as many as there is something in. The last lane begins earlier where it would not fit behind: what it has in
//! common with the one before is read, or written, once more.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::block::{Rows, Transposition, transposed_lanes};
use super::pitch::{Pitch, RowsFrom};
use super::vector::{Operation, Vector};
use crate::cost::{EDGE_PREFETCH, LINE};

impl<P: Pitch> Transposition<P> {
    /// A line of rows by some columns, 16 bytes of each row at a time, the last of which begin before `columns` where these are fewer. Lines are written once.
    ///
    /// # Safety
    ///
    /// * The columns lie inside the plane, and end behind `IN_LANE` columns of it or more. `from` is where row 0 begins.
    /// * The `LINE / UNIT` rows from `row` on lie inside the plane, and the plane inside the source.
    /// * `LINE` bytes are writable in as many destination rows from `to` on; if `self.streaming` is set, they begin at multiples of `V::BYTES`.
    #[inline(always)]
    unsafe fn few_columns<V: Vector, const UNIT: usize, const IN_LANE: usize, const LANES: usize, D: Pitch>(
        &self,
        (from, source, row): Rows<*const u8, P>,
        (to, destination, first): Rows<*mut u8, D>,
        columns: Range<usize>,
    ) {
        debug_assert!((IN_LANE..=self.columns).contains(&columns.end));
        for begin in columns.clone().step_by(IN_LANE) {
            let column = begin.min(columns.end - IN_LANE);
            // SAFETY: 16 bytes of each row, from a column on that has `IN_LANE` of them; a line of destination rows from `begin` on.
            unsafe {
                let from = from.add(column * UNIT);
                let low =
                    transposed_lanes::<V, UNIT, IN_LANE>(&self.group::<V, IN_LANE, LANES, P>((from, source, row)));
                let high = if V::BYTES < LINE {
                    let row = row + IN_LANE * LANES;
                    transposed_lanes::<V, UNIT, IN_LANE>(&self.group::<V, IN_LANE, LANES, P>((from, source, row)))
                } else {
                    low
                };
                for (i, (low, high)) in low.into_iter().zip(high).enumerate() {
                    if column + i < begin {
                        continue;
                    }
                    let to = to.add(destination.row(column + i - columns.start + first));
                    self.store(low, to);
                    if V::BYTES < LINE {
                        self.store(high, to.add(V::BYTES));
                    }
                }
            }
        }
    }

    /// Some rows by a vector of columns, 16 bytes of each destination row at a time, the first of which begin before `rows.start` where these are fewer.
    ///
    /// # Safety
    ///
    /// * The rows lie inside the plane, and end behind `IN_LANE` rows of it or more.
    /// * `IN_LANE * LANES` columns of the source are readable from `from` on, where row 0 begins at the first of them, or as many as there are if
    ///   `columns` is less.
    /// * As many destination rows from `destination.2` on have `rows` and the `IN_LANE` rows before their end; `to` is where row 0 of the plane lies in the first row.
    #[inline(always)]
    unsafe fn few_rows<V: Vector, const UNIT: usize, const IN_LANE: usize, const LANES: usize, D: Pitch>(
        &self,
        from: *const u8,
        rows: Range<usize>,
        columns: usize,
        (to, destination, column): Rows<*mut u8, D>,
    ) {
        debug_assert!((IN_LANE..=self.rows).contains(&rows.end));
        for begin in rows.clone().step_by(IN_LANE) {
            let row = begin.min(rows.end - IN_LANE);
            // SAFETY: `IN_LANE` rows, which end before the plane does, and 16 bytes of each destination row, which are theirs.
            unsafe {
                let (mut lines, mut sources) = ([V::zero(); IN_LANE], RowsFrom::new(from, self.source_pitch, row));
                for (i, line) in lines.iter_mut().enumerate() {
                    let row = sources.next_row::<V>(i);
                    *line = if columns < IN_LANE * LANES { V::load_partial(row, columns * UNIT) } else { V::load(row) };
                    if let Some(shuffle) = &self.micro_tile {
                        *line = line.shuffle_lanes(shuffle);
                    }
                }
                for (i, line) in transposed_lanes::<V, UNIT, IN_LANE>(&lines).into_iter().enumerate() {
                    let row = |lane: usize| to.wrapping_add(row * UNIT + destination.row(column + i + IN_LANE * lane));
                    line.store_lanes::<LANES>(std::array::from_fn(row));
                }
            }
        }
    }

    /// A block of at most so many rows and columns, into a stage: whole vectors are written, whatever is missing. What a row has too much
    /// of there, the next row writes over, where they lie that close.
    ///
    /// # Safety
    ///
    /// `columns` units, at most a vector, are readable in each of `rows` source rows from `source.2` on. `rows` units, rounded up to whole vectors, are
    /// writable in each of `IN_LANE * LANES` rows, `pitch` bytes apart, at `to`.
    #[inline(always)]
    unsafe fn partial_block<V: Vector, const UNIT: usize, const IN_LANE: usize, const LANES: usize>(
        &self,
        (from, source, row): Rows<*const u8, P>,
        (rows, columns): (usize, usize),
        (to, pitch): (*mut u8, usize),
    ) {
        let units = IN_LANE * LANES;
        for part in (0..rows).step_by(units).rev() {
            // SAFETY: the caller's rows and columns; one vector of each row of the stage.
            unsafe {
                let mut groups = MaybeUninit::uninit();
                let extent = ((rows - part).min(units), columns * UNIT);
                let groups = self.lanes::<V, IN_LANE, LANES, P>((from, source, row + part), extent, &mut groups);
                for (group, lanes) in groups.iter().enumerate() {
                    for (i, line) in transposed_lanes::<V, UNIT, IN_LANE>(lanes).into_iter().enumerate() {
                        line.store(to.add(part * UNIT + (group * IN_LANE + i) * pitch));
                    }
                }
            }
        }
    }
}

/// Are so many rows worth lanes of their own, with `above` rows in front of them to fill up the last? More than half a line are not: as many shuffles, and
/// more stores. Not tuned.
#[inline(always)]
fn are_few<const UNIT: usize, const IN_LANE: usize>(rows: usize, above: usize) -> bool {
    rows <= LINE / UNIT / 2 && above + rows >= IN_LANE
}

/// A block at the edge of a plane: at most a line of rows by `IN_LANE * LANES` columns.
pub(super) struct Edge<'a, P, const UNIT: usize, const IN_LANE: usize> {
    pub(super) plane: &'a Transposition<P>,
    /// The first of the block.
    pub(super) column: usize,
    pub(super) row: usize,
    /// How many of either.
    pub(super) columns: usize,
    pub(super) rows: usize,
}

impl<P: Pitch, const UNIT: usize, const IN_LANE: usize> Operation for Edge<'_, P, UNIT, IN_LANE> {
    /// # Safety
    ///
    /// The rows and columns lie inside the plane, and the plane inside both sides; `columns` is at most `IN_LANE * LANES`. If `plane.streaming` is set
    /// and it is a line of rows, they begin lines of the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        const { assert!(UNIT * IN_LANE == 16 && LANES * 16 == V::BYTES) };
        // A copy that nothing else points to: stores to the destination cannot change it, so it stays in registers.
        let plane = *self.plane;
        let Edge { column: first_column, row: first_row, columns, rows, .. } = self;
        let units = IN_LANE * LANES;
        debug_assert!(columns <= units && first_column + columns <= plane.columns && first_row + rows <= plane.rows);
        let whole_lines = rows == LINE / UNIT && first_column + columns >= IN_LANE;
        if plane.prefetch && !(plane.streaming && whole_lines) {
            // A store to part of a line reads the rest of it first.
            for column in (first_column + EDGE_PREFETCH * units..plane.columns).take(columns) {
                let to = plane.to.wrapping_add(first_row * UNIT + plane.destination_pitch.row(column));
                // SAFETY: a prefetch may go anywhere.
                unsafe { V::prefetch_to_write(to) };
            }
        }
        if whole_lines {
            let source = (plane.from, plane.source_pitch, first_row);
            let destination = (plane.to.wrapping_add(first_row * UNIT), plane.destination_pitch, first_column);
            // SAFETY: the columns of a line of rows.
            return unsafe {
                let columns = first_column..first_column + columns;
                plane.few_columns::<V, UNIT, IN_LANE, LANES, P>(source, destination, columns);
            };
        }
        // What was streamed a line above is not to be written again.
        let above = if plane.streaming { 0 } else { first_row };
        if columns == units && are_few::<UNIT, IN_LANE>(rows, above) {
            let rows = first_row..first_row + rows;
            let destination = (plane.to, plane.destination_pitch, first_column);
            // SAFETY: a vector of columns of these rows of the plane.
            return unsafe {
                let from = plane.from.add(first_column * UNIT);
                plane.few_rows::<V, UNIT, IN_LANE, LANES, P>(from, rows, units, destination);
            };
        }
        for part in (0..rows).step_by(units) {
            let rows = (rows - part).min(units);
            // SAFETY: reads `columns` units of `rows` rows from `first_row + part` on and writes `rows` units of `columns`
            // destination rows, all of the plane.
            unsafe {
                let to = plane.to.add((first_row + part) * UNIT);
                let mut groups = MaybeUninit::uninit();
                let source = (plane.from.add(first_column * UNIT), plane.source_pitch, first_row + part);
                let groups = plane.lanes::<V, IN_LANE, LANES, P>(source, (rows, columns * UNIT), &mut groups);
                let mut destination = RowsFrom::new(to, plane.destination_pitch, first_column);
                for (group, lanes) in groups.iter().enumerate() {
                    for (i, line) in transposed_lanes::<V, UNIT, IN_LANE>(lanes).into_iter().enumerate() {
                        let column = group * IN_LANE + i;
                        if column < columns {
                            line.store_partial(destination.next_row::<V>(column).cast_mut(), rows * UNIT);
                        }
                    }
                }
            }
        }
    }
}

/// Fewer rows or columns than a block has, into a stage.
pub(super) struct StagedEdge<'a, P, const UNIT: usize, const IN_LANE: usize> {
    pub(super) plane: &'a Transposition<P>,
    /// Where the plane begins on the source.
    pub(super) from: *const u8,
    pub(super) columns: Range<usize>,
    /// At most a line of them.
    pub(super) rows: Range<usize>,
    /// The rows that are staged in front of these.
    pub(super) in_panel: usize,
    /// Where the first of them goes in the stage, and how many bytes one staged row lies from the next.
    pub(super) to: (*mut u8, usize),
}

impl<P: Pitch, const UNIT: usize, const IN_LANE: usize> Operation for StagedEdge<'_, P, UNIT, IN_LANE> {
    /// # Safety
    ///
    /// `columns`, at most a vector, and `rows` lie inside the plane, and the plane inside the source; `plane.streaming` is not set. `IN_LANE * LANES` staged rows
    /// are writable, a line behind `to` included, which may be the next row, and so are the `in_panel` rows before.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let StagedEdge { from, columns, rows, in_panel, to: (to, pitch), .. } = self;
        // A copy that nothing else points to: stores cannot change it, so it stays in registers.
        let (plane, in_line) = (*self.plane, LINE / UNIT);
        let first = from.wrapping_add(columns.start * UNIT);
        // SAFETY: the caller's columns and rows, and their places in the stage.
        unsafe {
            if rows.len() == in_line && columns.end >= IN_LANE {
                let source = (from, plane.source_pitch, rows.start);
                plane.few_columns::<V, UNIT, IN_LANE, LANES, usize>(source, (to, pitch, 0), columns);
            } else if are_few::<UNIT, IN_LANE>(rows.len(), in_panel) {
                let stage = (to.wrapping_sub(rows.start * UNIT), pitch, 0);
                plane.few_rows::<V, UNIT, IN_LANE, LANES, usize>(first, rows, columns.len(), stage);
            } else {
                let extent = (rows.len(), columns.len());
                let source = (first, plane.source_pitch, rows.start);
                plane.partial_block::<V, UNIT, IN_LANE, LANES>(source, extent, (to, pitch));
            }
        }
    }
}
