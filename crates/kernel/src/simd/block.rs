//! Blocks: the micro-tile transpose in registers. Every panel is made of blocks.
//!
//! A transpose moves units from source rows to destination columns. If it moves one unit at a time, each
//! store goes to another cache line than the store before, and a line is visited once for each of its units.
//!
//! A *block* is the piece of a plane that makes whole lines out of whole vectors. It has as many rows as one
//! cache line of the destination has units, and as many columns as a vector has units. A block loads vectors
//! along source rows and stores vectors along destination rows, so it touches each line of either side once.
//! In between, units move from register to register:
//!
//! 1. Whole 16-byte lanes trade places between the registers, so that each register has lanes of equal
//!    columns ([`Vector::load_transposed`]).
//! 2. In every lane, units are interleaved with the units of another register, `log2(IN_LANE)` times
//!    ([`transposed_lanes`]). These rounds are a perfect shuffle: register `i` and register `i + IN_LANE / 2`
//!    become registers `2 * i` and `2 * i + 1`.
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
//! A register of 64 bytes is a line, so a block is one square. A register of 32 bytes is half a line, so a
//! block is two squares, one above the other. With non-temporal stores, both squares are loaded before either
//! square is stored. The halves of a line then leave the CPU together.
//!
//! Each panel is one call through a pointer. The function is compiled once for each length of a unit.

use std::mem::MaybeUninit;

use super::edge::edge;
use super::order::Scattered;
use super::prefetch::PanelPrefetch;
use super::vector::{Operation, Vector};
use crate::kernel::{MICRO_TILE, STAGED_PITCH};
use crate::machine::LINE;

/// Some rows and columns of a plane. The unit at (row, column) moves from `from + rows[row] + column * UNIT`
/// to `to + columns[column] + row * UNIT`.
pub(super) struct Panel<'a> {
    pub(super) from: *const u8,
    pub(super) to: *mut u8,
    /// The offsets of the rows on the source, and of the columns on the destination.
    pub(super) rows: *const usize,
    pub(super) columns: *const usize,
    pub(super) row_count: usize,
    pub(super) column_count: usize,
    /// How many columns to the left of column 0 are readable.
    pub(super) left: usize,
    /// The length of a unit in bytes.
    pub(super) unit: usize,
    pub(super) how: How,
    pub(super) prefetch: PanelPrefetch<'a>,
}

#[derive(Clone, Copy)]
pub(super) struct How {
    /// Whether the lines of whole blocks are written with non-temporal stores. These lines are aligned in
    /// every row.
    pub(super) streaming: bool,
    /// Whether the destination is a staging buffer. Whole vectors are then stored even where units are
    /// missing, and the lines of a row are stored from last to first.
    pub(super) staged: bool,
    /// Whether the destination rows are so close together that their lines are stored almost in the order of
    /// memory.
    pub(super) in_order: bool,
    pub(super) in_cache: bool,
    /// Whether blocks are in a [scattered order](super::order). Blocks of 32-byte registers access parts of
    /// lines, and are never scattered.
    pub(super) scattered: bool,
    /// If units are micro-tiles, the byte shuffle that transposes the units in 16 bytes.
    pub(super) micro_tile: Option<[u8; MICRO_TILE]>,
}

/// Transposes a panel.
///
/// # Safety
///
/// * The CPU has the features of the vector. `unit` is the length that the function was compiled for.
/// * `rows` points to `row_count` offsets. `columns` points to `column_count` offsets. If the destination is
///   a staging buffer, `column_count` is rounded up to a whole vector of units.
/// * Every row is readable from `left` columns before column 0 to column `column_count`.
/// * Every column is writable for `row_count` units. If the destination is a staging buffer, the rows are
///   rounded up to whole lines, and the columns to a whole vector of units.
/// * With `streaming`, the units of row 0 are at the start of a line in every column.
/// * If the function was compiled for a staging buffer on one side, the offsets of that side are the
///   multiples of [`STAGED_PITCH`].
pub(super) type TransposePanel = unsafe fn(&mut Panel<'_>);

/// Which side of a panel is a staging buffer, for the const parameter `STAGED`.
pub(super) const NEITHER: bool = false;
pub(super) const DESTINATION: bool = true;

/// The function for units of this length in bytes; `None` if registers do not hold such units.
///
/// If a side is `STAGED`, its rows are [`STAGED_PITCH`] bytes apart. The code then adds constants where it
/// would load offsets. Small copies by a staging buffer take 0.9 to 0.97 of the time (Zen 3).
#[inline(always)]
pub(super) fn of_unit<V: Vector, const STAGED: bool>(unit: usize) -> Option<TransposePanel> {
    let transpose: TransposePanel = match unit {
        1 => panel::<V, 1, 16, STAGED>,
        2 => panel::<V, 2, 8, STAGED>,
        4 => panel::<V, 4, 4, STAGED>,
        8 => panel::<V, 8, 2, STAGED>,
        16 => panel::<V, 16, 1, STAGED>,
        _ => return None,
    };
    Some(transpose)
}

/// # Safety
///
/// The conditions of [`TransposePanel`].
unsafe fn panel<V: Vector, const UNIT: usize, const IN_LANE: usize, const STAGED: bool>(panel: &mut Panel<'_>) {
    // SAFETY: the contract of this function.
    unsafe { V::vectorize(Blocks::<UNIT, IN_LANE, STAGED>(panel)) }
}

struct Blocks<'a, 'p, const UNIT: usize, const IN_LANE: usize, const STAGED: bool>(&'a mut Panel<'p>);

impl<const UNIT: usize, const IN_LANE: usize, const STAGED: bool> Operation for Blocks<'_, '_, UNIT, IN_LANE, STAGED> {
    /// # Safety
    ///
    /// The conditions of [`TransposePanel`].
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        const { assert!(UNIT * IN_LANE == 16 && LANES * 16 == V::BYTES && LINE.is_multiple_of(V::BYTES)) };
        let Blocks(panel) = self;
        let (units, in_line) = (IN_LANE * LANES, LINE / UNIT);
        let Panel { from, to, rows, columns, row_count, column_count, how, .. } = *panel;
        // No pointer leads to this copy. Stores cannot change it, so it stays in registers.
        let mut prefetch = panel.prefetch;
        let lines = row_count.div_ceil(in_line);
        let scattered = !STAGED && V::BYTES == LINE && how.scattered && !how.staged;
        let (wide, high) = if scattered { (column_count / in_line, row_count / in_line) } else { (0, 0) };
        let start = Corner { from, rows, to, columns };
        let at =
            |line: usize, column: usize| start.moved::<STAGED>([column * UNIT, line * in_line, line * LINE, column]);
        // SAFETY: each whole block is a line of rows by a vector of columns, and all of them are inside the
        // panel. `edge` gets the remaining rows and columns, which are inside the panel too.
        unsafe {
            if scattered {
                for block in Scattered::new(wide * high) {
                    let corner = at(block / wide, block % wide * in_line);
                    square::<V, UNIT, IN_LANE, LANES, false, STAGED>(&how, corner, &mut prefetch);
                }
            }
            for first in (0..column_count).step_by(in_line) {
                let here = (column_count - first).min(in_line);
                for line in if first < wide * in_line { high } else { 0 }..lines {
                    // Whole lines are stored. The units that are missing in the last line of a row may spill
                    // into the row below, which is stored later.
                    let line = if how.staged { lines - 1 - line } else { line };
                    let row = line * in_line;
                    let high = (row_count - row).min(in_line);
                    let whole = if high == in_line { here - here % units } else { 0 };
                    let mut corner = at(line, first);
                    let blocks = whole / units;
                    if !STAGED && how.streaming {
                        for _ in 0..blocks {
                            line_block::<V, UNIT, IN_LANE, LANES>(&how, corner, &mut prefetch);
                            corner = corner.moved::<STAGED>([V::BYTES, 0, 0, units]);
                        }
                    } else {
                        for _ in 0..blocks {
                            let mut part = corner;
                            for _ in 0..LINE / V::BYTES {
                                square::<V, UNIT, IN_LANE, LANES, false, STAGED>(&how, part, &mut prefetch);
                                part = part.moved::<STAGED>([0, units, V::BYTES, 0]);
                            }
                            corner = corner.moved::<STAGED>([V::BYTES, 0, 0, units]);
                        }
                    }
                    for column in (first + whole..first + here).step_by(units) {
                        prefetch.issue::<V>(units);
                        edge::<V, UNIT, IN_LANE>(panel, (row, high), (column, (first + here - column).min(units)));
                    }
                }
            }
        }
        panel.prefetch = prefetch;
    }
}

/// The upper left corner of a block, as pointers: to the first byte of the block on either side, and to the
/// offsets of its first row and its first column.
#[derive(Clone, Copy)]
struct Corner {
    from: *const u8,
    rows: *const usize,
    to: *mut u8,
    columns: *const usize,
}

impl Corner {
    /// Returns the corner moved by bytes of the source, rows, bytes of the destination, and columns. On a
    /// side that is `STAGED`, rows or columns are bytes of the buffer.
    #[inline(always)]
    fn moved<const STAGED: bool>(self, [from, rows, to, columns]: [usize; 4]) -> Corner {
        let to = if STAGED { to + columns * STAGED_PITCH } else { to };
        Corner {
            from: self.from.wrapping_add(from),
            rows: self.rows.wrapping_add(rows),
            to: self.to.wrapping_add(to),
            columns: self.columns.wrapping_add(columns),
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
    how: &How,
    corner: Corner,
    prefetch: &mut PanelPrefetch<'_>,
) {
    let units = IN_LANE * LANES;
    let Corner { from, rows, to, columns } = corner;
    if V::BYTES == LINE {
        // SAFETY: a vector is a line, so a square is the whole block.
        unsafe { square::<V, UNIT, IN_LANE, LANES, true, NEITHER>(how, corner, prefetch) };
        return;
    }
    // The two halves of a line are stored one after the other, so that the CPU combines them into one write.
    let (mut first, mut second) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: a line is two vectors, so the `units` rows from row 0 on and the `units` rows after them are
    // the `LINE / UNIT` rows of the contract. Each destination row is written as two aligned vectors, which
    // are its line.
    unsafe {
        prefetch.issue::<V>(units);
        let first = lanes::<V, IN_LANE, LANES, NEITHER>(how, (from, rows), &mut first);
        let second = lanes::<V, IN_LANE, LANES, NEITHER>(how, (from, rows.add(units)), &mut second);
        for (group, (first, second)) in first.iter().zip(second).enumerate() {
            let first = transposed_lanes::<V, UNIT, IN_LANE>(first);
            let second = transposed_lanes::<V, UNIT, IN_LANE>(second);
            for (i, (first, second)) in first.into_iter().zip(second).enumerate() {
                let to = to.add(*columns.add(group * IN_LANE + i));
                store(how, first, to);
                store(how, second, to.add(V::BYTES));
            }
        }
    }
}

/// # Safety
///
/// * `V::BYTES` bytes are writable at `to`.
/// * If `how.streaming` is set, `to` is a multiple of `V::BYTES`.
#[inline(always)]
pub(super) unsafe fn store<V: Vector>(how: &How, vector: V, to: *mut u8) {
    // SAFETY: the contract of this function.
    unsafe {
        match (how.streaming, how.in_order) {
            (true, true) => vector.stream(to),
            (true, false) => vector.store_non_temporal(to),
            (false, _) => vector.store(to),
        }
    }
}

/// Transposes a square of `IN_LANE * LANES` rows by as many columns.
///
/// # Safety
///
/// * `V::BYTES` bytes are readable in each of the source rows, and writable in each of the destination rows.
/// * With `STREAMING` and `how.streaming`, these destination addresses are multiples of `V::BYTES`.
#[inline(always)]
unsafe fn square<
    V: Vector,
    const UNIT: usize,
    const IN_LANE: usize,
    const LANES: usize,
    const STREAMING: bool,
    const STAGED: bool,
>(
    how: &How,
    Corner { from, rows, to, columns }: Corner,
    prefetch: &mut PanelPrefetch<'_>,
) {
    let units = IN_LANE * LANES;
    let mut all = MaybeUninit::uninit();
    // SAFETY: whole vectors of the source rows are loaded, and each vector is stored to one destination row.
    // All of these rows are in the contract.
    unsafe {
        // The prefetches are in front of the shuffles, because between the shuffles they would take
        // registers.
        prefetch.issue::<V>((units * V::BYTES).div_ceil(LINE));
        let groups = lanes::<V, IN_LANE, LANES, STAGED>(how, (from, rows), &mut all);
        for (group, lanes) in groups.iter().enumerate() {
            for (i, line) in transposed_lanes::<V, UNIT, IN_LANE>(lanes).into_iter().enumerate() {
                let column = group * IN_LANE + i;
                let to = to.add(if STAGED { column * STAGED_PITCH } else { *columns.add(column) });
                if STREAMING { store(how, line, to) } else { line.store(to) }
            }
        }
    }
}

/// Loads 16 bytes of `IN_LANE * LANES` rows: lane `l` of register `i` holds the bytes of row `i + IN_LANE *
/// l`.
///
/// # Safety
///
/// * 16 bytes are readable in each of the `IN_LANE * LANES` rows.
#[inline(always)]
pub(super) unsafe fn group<V: Vector, const IN_LANE: usize, const LANES: usize>(
    how: &How,
    (from, rows): (*const u8, *const usize),
) -> [V; IN_LANE] {
    // SAFETY: 16 bytes of each row are loaded.
    unsafe {
        let mut lines = [V::zero(); IN_LANE];
        for (i, line) in lines.iter_mut().enumerate() {
            *line = V::load_lanes::<LANES>(std::array::from_fn(|lane| from.add(*rows.add(i + IN_LANE * lane))));
        }
        if let Some(shuffle) = &how.micro_tile {
            for line in &mut lines {
                *line = line.shuffle_lanes(shuffle);
            }
        }
        lines
    }
}

/// Loads a vector of each of `IN_LANE * LANES` rows and exchanges lanes: lane `l` of register `i` in group
/// `g` holds bytes `16 * g..16 * (g + 1)` of row `i + IN_LANE * l`.
///
/// # Safety
///
/// * `V::BYTES` bytes are readable in each of the rows.
#[inline(always)]
unsafe fn lanes<'g, V: Vector, const IN_LANE: usize, const LANES: usize, const STAGED: bool>(
    how: &How,
    (from, rows): (*const u8, *const usize),
    groups: &'g mut MaybeUninit<[[V; IN_LANE]; LANES]>,
) -> &'g [[V; IN_LANE]; LANES] {
    let target = groups.as_mut_ptr().cast::<V>();
    // SAFETY: the rows are in the contract. Register `i` of each of the `LANES` groups is written for every
    // `i` below `IN_LANE`, so all of `groups` is initialised.
    unsafe {
        let offset = |row: usize| *rows.add(row);
        for i in 0..IN_LANE {
            let rows = std::array::from_fn(|lane| from.add(offset(i + IN_LANE * lane)));
            let lines = V::load_transposed::<LANES>(rows, how.in_cache);
            for (group, line) in lines.into_iter().enumerate() {
                target.add(group * IN_LANE + i).write(line);
            }
        }
        if let Some(shuffle) = &how.micro_tile {
            for i in 0..IN_LANE * LANES {
                target.add(i).write(target.add(i).read().shuffle_lanes(shuffle));
            }
        }
        groups.assume_init_ref()
    }
}

/// Transposes the units of every lane of `IN_LANE` registers, by rounds of a perfect shuffle. A lane holds
/// `IN_LANE` units.
///
/// # Safety
///
/// There is no condition besides the features of `V`.
#[inline(always)]
pub(super) unsafe fn transposed_lanes<V: Vector, const UNIT: usize, const IN_LANE: usize>(
    lanes: &[V; IN_LANE],
) -> [V; IN_LANE] {
    let mut lines = *lanes;
    for _ in 0..IN_LANE.ilog2() {
        let old = lines;
        for i in 0..IN_LANE / 2 {
            // SAFETY: no memory is accessed.
            (lines[2 * i], lines[2 * i + 1]) = unsafe { old[i].unpack::<UNIT>(old[i + IN_LANE / 2]) };
        }
    }
    lines
}
