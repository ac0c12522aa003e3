//! The edges of a panel: blocks with fewer columns than a vector has units, or fewer rows than a line has.
//!
//! A panel of 100 x 100 units is not made of whole blocks. Copying the remaining units one by one would take
//! longer than transposing all whole blocks, so the edges are shuffled in registers too:
//!
//! ```text
//!     whole blocks      | few columns         few columns:  whole lines are stored, 16 bytes of each source row
//!                       |                                   at a time; the last 16 bytes begin further left, and
//!     ------------------+------------                       overlap columns that were copied before
//!     few rows          | corner              few rows,     partial loads, a whole transpose, and then as many
//!                                             corner:       bytes of each destination row as it has
//! ```
//!
//! If there are few columns, the last 16-byte lane of a row may reach past the end of the row. That lane is
//! loaded further left instead, so that it ends with the row. The `over` columns that it shares with the
//! previous lane are transposed again and not stored. A panel narrower than a lane is loaded in part.
//!
//! If there are few rows, the registers of the missing rows are zero. The transpose still makes whole vectors
//! of the destination rows. They are stored into a small buffer on the stack, from which each row is copied
//! with its true length. If the destination is a staging buffer, the vectors are stored directly to it.

use std::mem::MaybeUninit;

use super::lines::short;
use super::square::{How, Panel, group, store, transposed_lanes};
use super::vector::{Operation, Vector};
use crate::machine::LINE;

/// Transposes an edge: a block of at most a line of rows by at most a vector of columns. `rows` and `columns`
/// are pairs of a first index and a count.
///
/// # Safety
///
/// * The conditions of [`TransposePanel`](super::square::TransposePanel).
/// * The rows and columns are inside the panel.
#[inline(never)]
pub(super) unsafe fn edge<V: Vector, const UNIT: usize, const IN_LANE: usize>(
    panel: &Panel<'_>,
    rows: (usize, usize),
    columns: (usize, usize),
) {
    // SAFETY: the operation `Edge` has the contract of this function.
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
    /// The conditions of [`edge`].
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let Edge { panel, rows: (row, rows), columns: (column, columns) } = self;
        let (how, units) = (panel.how, IN_LANE * LANES);
        debug_assert!(columns <= units && column + columns <= panel.column_count && row + rows <= panel.row_count);
        let whole_lines = rows == LINE / UNIT && panel.left + column + columns >= IN_LANE;
        // SAFETY: both functions have the contract of this one. `few_columns` gets a whole line of rows, and
        // has at least `IN_LANE` readable columns up to the last one, columns on the left included.
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
    /// Transposes a whole line of rows by some columns, a lane of each source row at a time. The last lane
    /// may begin to the left of `columns`. Each destination line is stored once.
    ///
    /// # Safety
    ///
    /// * The conditions of [`edge`].
    /// * The rows are a whole line, and at least `IN_LANE` readable columns end with the last of `columns`.
    #[inline(always)]
    unsafe fn few_columns<V: Vector, const LANES: usize>(&self, how: &How<'_>) {
        let Edge { panel, rows: (row, _), columns: (column, columns) } = *self;
        for begin in (column..column + columns).step_by(IN_LANE) {
            let over = (begin + IN_LANE).saturating_sub(column + columns);
            let from = panel.from.wrapping_add(begin * UNIT).wrapping_sub(over * UNIT);
            // SAFETY: `from` is `over` columns before `begin`, so the 16 bytes that are loaded of each row
            // begin at a readable column, and end with the last column or before it. From `row` on there are
            // a line of rows, which is one vector of units or two.
            let (low, high) = unsafe {
                let low = group::<V, IN_LANE, LANES>(how, (from, panel.rows.add(row)));
                let low = transposed_lanes::<V, UNIT, IN_LANE>(&low);
                let mut high = low;
                if V::BYTES < LINE {
                    let rows = panel.rows.add(row + IN_LANE * LANES);
                    high = transposed_lanes::<V, UNIT, IN_LANE>(&group::<V, IN_LANE, LANES>(how, (from, rows)));
                }
                (low, high)
            };
            for (i, (&low, &high)) in low.iter().zip(&high).enumerate().skip(over) {
                // SAFETY: `begin + i - over` is a column, because `i` is below `IN_LANE`. In its destination
                // row, a line is writable from `row` on: one vector, or two.
                unsafe {
                    let to = panel.to.add(row * UNIT + *panel.columns.add(begin + i - over));
                    store(how, low, to);
                    if V::BYTES < LINE {
                        store(how, high, to.add(V::BYTES));
                    }
                }
            }
        }
    }

    /// Loads the edge's columns of one row: a whole vector, or a part of one.
    ///
    /// # Safety
    ///
    /// * `row` is a row of the panel.
    /// * In that row, `columns` columns are readable from the first column of the edge on.
    #[inline(always)]
    unsafe fn loaded<V: Vector, const LANES: usize>(&self, how: &How<'_>, row: usize, columns: usize) -> V {
        // SAFETY: a partial load reads `columns` units. A whole load reads `IN_LANE * LANES` units, and is
        // used only if there are that many columns.
        unsafe {
            let from = self.panel.from.add(self.columns.0 * UNIT + *self.panel.rows.add(row));
            let line = if columns < IN_LANE * LANES { V::load_partial(from, columns * UNIT) } else { V::load(from) };
            match how.micro_tile {
                Some(shuffle) => line.shuffle_lanes(shuffle),
                None => line,
            }
        }
    }

    /// Transposes an edge of any form. If the destination is a staging buffer, the result is stored to it.
    /// Otherwise the result is stored to a buffer on the stack, and copied from there to each destination
    /// row.
    ///
    /// # Safety
    ///
    /// The conditions of [`edge`].
    #[inline(always)]
    unsafe fn some<V: Vector, const LANES: usize>(&self, how: &How<'_>) {
        #[repr(align(64))]
        struct Stage(MaybeUninit<[[u8; LINE]; LINE]>);
        let Edge { panel, rows: (row, rows), columns: (column, columns) } = *self;
        let units = IN_LANE * LANES;
        let mut stage = Stage(MaybeUninit::uninit());
        let stage = stage.0.as_mut_ptr().cast::<u8>();
        for part in (0..rows).step_by(units).rev() {
            let high = (rows - part).min(units);
            // SAFETY: only registers are touched.
            let mut groups = unsafe { [[V::zero(); IN_LANE]; LANES] };
            #[allow(clippy::needless_range_loop, reason = "`i` counts the units of every lane, not the groups")]
            for i in 0..IN_LANE {
                // SAFETY: a row is loaded only if it is below `part + high`, so it is one of `rows` rows from
                // `row` on, and its `columns` columns are readable. All else happens in registers.
                let lines = unsafe {
                    let mut lines = [V::zero(); LANES];
                    for (lane, line) in lines.iter_mut().enumerate() {
                        if i + IN_LANE * lane < high {
                            *line = self.loaded::<V, LANES>(how, row + part + i + IN_LANE * lane, columns);
                        }
                    }
                    V::transpose_lanes::<LANES>(lines)
                };
                for (group, &line) in lines.iter().enumerate() {
                    groups[group][i] = line;
                }
            }
            // SAFETY: `row + part` is a row of the panel, so its units are in every destination row, at this
            // offset.
            let to = unsafe { panel.to.add((row + part) * UNIT) };
            for (group, lanes) in groups.iter().enumerate() {
                // SAFETY: only registers are touched.
                let lines = unsafe { transposed_lanes::<V, UNIT, IN_LANE>(lanes) };
                for (i, &line) in lines.iter().enumerate() {
                    let index = group * IN_LANE + i;
                    if how.staged {
                        // SAFETY: `panel.to` is the staging buffer. For each of the `units` columns of a
                        // vector, it has a row of whole vectors, and `panel.columns` has an offset. This
                        // includes the columns after the last column of the panel.
                        unsafe { line.store(to.add(*panel.columns.add(column + index))) };
                    } else {
                        // SAFETY: the buffer on the stack has `LINE` rows of a line. `index` is below
                        // `units`, which is at most `LINE`.
                        unsafe { line.store(stage.add(index * LINE)) };
                    }
                }
            }
            for i in 0..if how.staged { 0 } else { columns } {
                // SAFETY: line `i` of the buffer was stored above, because `columns` is at most the units of
                // a vector. The destination row of this column has `high` units from `row + part` on.
                unsafe { short(stage.add(i * LINE), to.add(*panel.columns.add(column + i)), high * UNIT) };
            }
        }
    }
}
