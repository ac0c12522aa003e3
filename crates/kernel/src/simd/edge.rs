//! Blocks at the edges of a panel: fewer columns than fill a vector, or fewer rows than fill a line.
//!
//! What is shuffled are lanes of 16 bytes, as many as there is something in. The last lane begins earlier
//! where it would not fit at the end: what it has in common with the one before is read, or written, once
//! more.

use std::mem::MaybeUninit;

use super::block::{How, Panel, group, store, transposed_lanes};
use super::lines::short;
use super::vector::{Operation, Vector};
use crate::line::LINE;

/// Transposes a block of at most a line of rows by a vector of columns: (the first, how many) of either.
///
/// # Safety
///
/// As for a [panel](super::block::TransposePanel); the rows and columns are some of its.
#[inline(never)]
pub(super) unsafe fn edge<V: Vector, const UNIT: usize, const IN_LANE: usize>(
    panel: &Panel<'_>,
    rows: (usize, usize),
    columns: (usize, usize),
) {
    // SAFETY: the caller's promise.
    unsafe { V::vectorize(Edge::<UNIT, IN_LANE> { panel, rows, columns }) }
}

struct Edge<'a, 'p, const UNIT: usize, const IN_LANE: usize> {
    panel: &'a Panel<'p>,
    rows: (usize, usize),
    columns: (usize, usize),
}

impl<const UNIT: usize, const IN_LANE: usize> Operation for Edge<'_, '_, UNIT, IN_LANE> {
    /// # Safety
    ///
    /// As for [`edge`].
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let Edge { panel, rows: (row, rows), columns: (column, columns) } = self;
        let (how, units) = (panel.how, IN_LANE * LANES);
        debug_assert!(columns <= units && column + columns <= panel.column_count && row + rows <= panel.row_count);
        let whole_lines = rows == LINE / UNIT && panel.left + column + columns >= IN_LANE;
        // SAFETY: the rows and columns of the caller.
        unsafe {
            if whole_lines {
                self.few_columns::<V, LANES>(&how);
            } else {
                self.some::<V, LANES>(&how);
            }
        }
    }
}

impl<const UNIT: usize, const IN_LANE: usize> Edge<'_, '_, UNIT, IN_LANE> {
    /// A line of rows by some columns, 16 bytes of each row at a time, the last of which begin before
    /// `columns` where these are fewer. Lines are written once.
    ///
    /// # Safety
    ///
    /// As for [`edge`]; they are a line of rows, and `IN_LANE` columns or more end with these.
    #[inline(always)]
    unsafe fn few_columns<V: Vector, const LANES: usize>(&self, how: &How) {
        let Edge { panel, rows: (row, _), columns: (column, columns) } = *self;
        for begin in (column..column + columns).step_by(IN_LANE) {
            let over = (begin + IN_LANE).saturating_sub(column + columns);
            // SAFETY: 16 bytes of each row, from a column on that has `IN_LANE` of them; a line of
            // destination rows from `begin` on.
            unsafe {
                let from = panel.from.wrapping_add(begin * UNIT).wrapping_sub(over * UNIT);
                let low = group::<V, IN_LANE, LANES>(how, (from, panel.rows.add(row)));
                let low = transposed_lanes::<V, UNIT, IN_LANE>(&low);
                let mut high = low;
                if V::BYTES < LINE {
                    let rows = panel.rows.add(row + IN_LANE * LANES);
                    high = transposed_lanes::<V, UNIT, IN_LANE>(&group::<V, IN_LANE, LANES>(how, (from, rows)));
                }
                for (i, (low, high)) in low.into_iter().zip(high).enumerate().skip(over) {
                    let to = panel.to.add(row * UNIT + *panel.columns.add(begin + i - over));
                    store(how, low, to);
                    if V::BYTES < LINE {
                        store(how, high, to.add(V::BYTES));
                    }
                }
            }
        }
    }

    /// A row of these columns.
    ///
    /// # Safety
    ///
    /// It is a row of the panel.
    #[inline(always)]
    unsafe fn loaded<V: Vector, const LANES: usize>(&self, how: &How, row: usize, columns: usize) -> V {
        // SAFETY: the row has these columns.
        unsafe {
            let from = self.panel.from.add(self.columns.0 * UNIT + *self.panel.rows.add(row));
            let line = if columns < IN_LANE * LANES { V::load_partial(from, columns * UNIT) } else { V::load(from) };
            match &how.micro_tile {
                Some(shuffle) => line.shuffle_lanes(shuffle),
                None => line,
            }
        }
    }

    /// Any of them: transposed into a stage, unless that is where they go, from which each row is copied.
    ///
    /// # Safety
    ///
    /// As for [`edge`].
    #[inline(always)]
    unsafe fn some<V: Vector, const LANES: usize>(&self, how: &How) {
        #[repr(align(64))]
        struct Stage(MaybeUninit<[[u8; LINE]; LINE]>);
        let Edge { panel, rows: (row, rows), columns: (column, columns) } = *self;
        let units = IN_LANE * LANES;
        let mut stage = Stage(MaybeUninit::uninit());
        let stage = stage.0.as_mut_ptr().cast::<u8>();
        for part in (0..rows).step_by(units).rev() {
            let high = (rows - part).min(units);
            // SAFETY: the caller's rows and columns; the stage has a line for each of at most a line of
            // columns.
            unsafe {
                let to = panel.to.add((row + part) * UNIT);
                let mut groups = [[V::zero(); IN_LANE]; LANES];
                #[allow(clippy::needless_range_loop, reason = "`i` counts the units of every lane, not the groups")]
                for i in 0..IN_LANE {
                    let mut lines = [V::zero(); LANES];
                    for (lane, line) in lines.iter_mut().enumerate() {
                        if i + IN_LANE * lane < high {
                            *line = self.loaded::<V, LANES>(how, row + part + i + IN_LANE * lane, columns);
                        }
                    }
                    for (group, line) in V::transpose_lanes::<LANES>(lines).into_iter().enumerate() {
                        groups[group][i] = line;
                    }
                }
                for (group, lanes) in groups.iter().enumerate() {
                    for (i, line) in transposed_lanes::<V, UNIT, IN_LANE>(lanes).into_iter().enumerate() {
                        let place = group * IN_LANE + i;
                        line.store(if how.staged {
                            to.add(*panel.columns.add(column + place))
                        } else {
                            stage.add(place * LINE)
                        });
                    }
                }
                for i in 0..if how.staged { 0 } else { columns } {
                    short(stage.add(i * LINE), to.add(*panel.columns.add(column + i)), high * UNIT);
                }
            }
        }
    }
}
