//! Blocks: the parts of a panel that are transposed in registers.
//!
//! A transpose moves each source row to a column of the destination. If it moves one unit at a time, each
//! store goes to another cache line than the store before, and a line is visited once for each of its units.
//!
//! A *block* is the part of a plane that makes whole lines out of whole vectors. It has as many rows as one
//! cache line of the destination has units, and as many columns as a vector has units. A block loads vectors
//! along source rows and stores vectors along destination rows, so it touches each line of either side once.
//! Between loads and stores, units move from register to register:
//!
//! 1. Whole 16-byte lanes trade places between the registers, so that each register has lanes of equal
//!    columns ([`Vector::load_transposed`]).
//! 2. In every lane, units are interleaved with the units of another register, `log2(IN_LANE)` times
//!    ([`transposed_lanes`]). Each such round is a perfect shuffle: register `i` and register `i + IN_LANE /
//!    2` become registers `2 * i` and `2 * i + 1`.
//!
//! ```text
//! 4-byte units, vectors of two lanes; digits are columns
//!
//! loaded vectors             after step 1               after step 2
//! a0 a1 a2 a3 a4 a5 a6 a7    a0 a1 a2 a3 e0 e1 e2 e3    a0 b0 c0 d0 e0 f0 g0 h0   destination row 0
//! b0 b1 b2 b3 b4 b5 b6 b7    b0 b1 b2 b3 f0 f1 f2 f3    a1 b1 c1 d1 e1 f1 g1 h1   destination row 1
//! ..                         ..                         ..
//! h0 h1 h2 h3 h4 h5 h6 h7    d4 d5 d6 d7 h4 h5 h6 h7    a7 b7 c7 d7 e7 f7 g7 h7   destination row 7
//! ```
//!
//! ```text
//! for each strip of columns, one line of the source wide:
//!     for each line of rows, top to bottom:
//!         for each block of the strip, left to right:
//!             prefetch some lines of the next panel
//!             load, exchange, store
//!         the columns that fill no vector, and the rows that fill no line, go to `edge`
//! ```
//!
//! A register of 64 bytes is a line, so a block has as many rows as columns: it is one *square*. A register
//! of 32 bytes is half a line, so a block is two squares, one below the other. With non-temporal stores, both
//! squares are loaded before the first store, so that both halves of a line leave the CPU together.
//!
//! One call through a pointer transposes a panel. The function is compiled once for each length of a unit.

use std::mem::MaybeUninit;

use super::edge::edge;
use super::order::Scattered;
use super::prefetch::PanelPrefetch;
use super::square::{Corner, How, Panel, TransposePanel, lanes, square, store, transposed_lanes};
use super::vector::{Operation, Vector};
use crate::machine::LINE;

/// The function that transposes panels of units of `unit` bytes. `None` if registers do not hold such units.
#[inline(always)]
pub(super) fn of_unit<V: Vector>(unit: usize) -> Option<TransposePanel> {
    let transpose: TransposePanel = match unit {
        1 => panel::<V, 1, 16>,
        2 => panel::<V, 2, 8>,
        4 => panel::<V, 4, 4>,
        8 => panel::<V, 8, 2>,
        16 => panel::<V, 16, 1>,
        _ => return None,
    };
    Some(transpose)
}

/// # Safety
///
/// The conditions of [`TransposePanel`].
unsafe fn panel<V: Vector, const UNIT: usize, const IN_LANE: usize>(
    panel: &Panel<'_>,
    prefetch: &mut PanelPrefetch<'_>,
) {
    // SAFETY: the operation `Blocks` has the contract of this function.
    unsafe { V::vectorize(Blocks::<UNIT, IN_LANE>(panel, prefetch)) }
}

struct Blocks<'a, 'p, const UNIT: usize, const IN_LANE: usize>(&'a Panel<'a>, &'a mut PanelPrefetch<'p>);

impl<const UNIT: usize, const IN_LANE: usize> Operation for Blocks<'_, '_, UNIT, IN_LANE> {
    /// # Safety
    ///
    /// The conditions of [`TransposePanel`].
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        const { assert!(UNIT * IN_LANE == 16 && LANES * 16 == V::BYTES && LINE.is_multiple_of(V::BYTES)) };
        let Blocks(panel, prefetch) = self;
        let (units, in_line) = (IN_LANE * LANES, LINE / UNIT);
        let Panel { from, to, rows, columns, row_count, column_count, how, .. } = *panel;
        let lines = row_count.div_ceil(in_line);
        let scattered = V::BYTES == LINE && how.scattered && !how.staged;
        let (wide, high) = if scattered { (column_count / in_line, row_count / in_line) } else { (0, 0) };
        let start = Corner { from, rows, to, columns };
        let at = |line: usize, column: usize| start.moved([column * UNIT, line * in_line, line * LINE, column]);
        if scattered {
            for block in Scattered::new(wide * high) {
                let corner = at(block / wide, block % wide * in_line);
                // SAFETY: a vector is a line here, so the square is `in_line` rows by `in_line` columns. The
                // panel has `high` times as many rows and `wide` times as many columns, and `block` is below
                // `wide * high`.
                unsafe { square::<V, UNIT, IN_LANE, LANES, false>(&how, corner, prefetch) };
            }
        }
        for first in (0..column_count).step_by(in_line) {
            let here = (column_count - first).min(in_line);
            for line in if first < wide * in_line { high } else { 0 }..lines {
                // A staging buffer gets whole vectors, also where the last line of a row has fewer units. The
                // surplus may land in the first line of the next row of the buffer, which is stored later:
                // lines are stored from last to first.
                let line = if how.staged { lines - 1 - line } else { line };
                let row = line * in_line;
                let high = (row_count - row).min(in_line);
                let whole = if high == in_line { here - here % units } else { 0 };
                let mut corner = at(line, first);
                let blocks = whole / units;
                if how.streaming {
                    for _ in 0..blocks {
                        // SAFETY: there are blocks only if the panel has `in_line` rows from `row` on. A
                        // block takes `units` of the `whole` columns from `first` on, which are inside the
                        // panel. A panel that streams begins at a line in every destination row
                        // ([`TransposePanel`]), and `line` counts whole lines from there.
                        unsafe { line_block::<V, UNIT, IN_LANE, LANES>(&how, corner, prefetch) };
                        corner = corner.moved([V::BYTES, 0, 0, units]);
                    }
                } else {
                    for _ in 0..blocks {
                        let mut part = corner;
                        for _ in 0..LINE / V::BYTES {
                            // SAFETY: there are blocks only if the panel has `in_line` rows from `row` on.
                            // The `LINE / V::BYTES` squares divide these rows: each has `units` of them.
                            // A block takes `units` of the `whole` columns from `first` on, which are
                            // inside the panel.
                            unsafe { square::<V, UNIT, IN_LANE, LANES, false>(&how, part, prefetch) };
                            part = part.moved([0, units, V::BYTES, 0]);
                        }
                        corner = corner.moved([V::BYTES, 0, 0, units]);
                    }
                }
                for column in (first + whole..first + here).step_by(units) {
                    let columns = (first + here - column).min(units);
                    // SAFETY: the `high` rows from `row` on are inside the panel, and so are the columns up
                    // to `first + here`.
                    unsafe {
                        prefetch.issue::<V>(units);
                        edge::<V, UNIT, IN_LANE>(panel, (row, high), (column, columns));
                    }
                }
            }
        }
    }
}

/// Transposes a whole block with non-temporal stores: `LINE / UNIT` rows by `IN_LANE * LANES` columns.
///
/// # Safety
///
/// * `V::BYTES` bytes are readable in each of the `LINE / UNIT` rows of the source.
/// * `LINE` bytes are writable in each of the `IN_LANE * LANES` rows of the destination, and start at a line.
#[inline(always)]
unsafe fn line_block<V: Vector, const UNIT: usize, const IN_LANE: usize, const LANES: usize>(
    how: &How<'_>,
    corner: Corner,
    prefetch: &mut PanelPrefetch<'_>,
) {
    let units = IN_LANE * LANES;
    let Corner { from, rows, to, columns } = corner;
    if V::BYTES == LINE {
        // SAFETY: a vector is a line, so a square is the whole block, and the contract covers its rows.
        unsafe { square::<V, UNIT, IN_LANE, LANES, true>(how, corner, prefetch) };
        return;
    }
    // The two halves of a line are stored one after the other, so that the CPU combines them into one write.
    let (mut first, mut second) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: a line is two vectors, so the `units` rows from row 0 on and the next `units` rows are the
    // `LINE / UNIT` rows of the contract. Each destination row is written as two aligned vectors, which are
    // its line.
    unsafe {
        prefetch.issue::<V>(units);
        let first = lanes::<V, IN_LANE, LANES>(how, (from, rows), &mut first);
        let second = lanes::<V, IN_LANE, LANES>(how, (from, rows.add(units)), &mut second);
        for (group, (first, second)) in first.iter().zip(second).enumerate() {
            let first = transposed_lanes::<V, UNIT, IN_LANE>(first);
            let second = transposed_lanes::<V, UNIT, IN_LANE>(second);
            for (i, (&first, &second)) in first.iter().zip(&second).enumerate() {
                let to = to.add(*columns.add(group * IN_LANE + i));
                store(how, first, to);
                store(how, second, to.add(V::BYTES));
            }
        }
    }
}
