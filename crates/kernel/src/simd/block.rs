//! Blocks of a transpose: a line of rows by a vector of columns, in registers.
//!
//! Each row of a block is loaded into a vector. Whole 16-byte lanes of several rows change places first, then
//! the units inside the lanes: what comes out are rows of the destination. A panel of them is one call by a
//! pointer, compiled once for each unit.

use std::mem::MaybeUninit;

use super::edge::edge;
use super::order::Scattered;
use super::prefetch::PanelPrefetch;
use super::vector::{Operation, Vector};
use crate::kernel::MICRO_TILE;
use crate::line::LINE;

/// Some rows and columns of a plane: unit (row, column) goes from `from + rows[row] + column * UNIT` to
/// `to + columns[column] + row * UNIT`.
pub(super) struct Panel<'a> {
    pub(super) from: *const u8,
    pub(super) to: *mut u8,
    /// Where the rows begin on the source, and the columns on the destination.
    pub(super) rows: *const usize,
    pub(super) columns: *const usize,
    pub(super) row_count: usize,
    pub(super) column_count: usize,
    /// Columns on the left of these, which may be read.
    pub(super) left: usize,
    /// Bytes that stay together.
    pub(super) unit: usize,
    pub(super) how: How,
    pub(super) prefetch: PanelPrefetch<'a>,
}

/// How a panel is read and stored.
#[derive(Clone, Copy)]
pub(super) struct How {
    /// Lines of whole blocks are stored past the cache: they are aligned in every row.
    pub(super) streaming: bool,
    /// The destination is a stage: whole vectors are written, whatever is missing in them, the last lines
    /// first.
    pub(super) staged: bool,
    /// Destination rows follow each other inside a page, so that their lines are stored nearly in the order
    /// of the memory.
    pub(super) in_order: bool,
    /// The source is in a cache.
    pub(super) in_cache: bool,
    /// Blocks go in an [order](super::order) of their own. Those of shorter registers read and write parts of
    /// lines, and do not.
    pub(super) scattered: bool,
    /// The byte shuffle of 16 bytes, if units are transposed themselves.
    pub(super) micro_tile: Option<[u8; MICRO_TILE]>,
}

/// Transposes a panel.
///
/// # Safety
///
/// * The CPU has the features, and the unit is that of the function.
/// * `rows` and `columns` point to as many offsets as are counted, in a stage to those of a vector's columns.
/// * All rows and columns are readable on the source; so are `left` columns before them.
/// * They are writable on the destination: in a stage a line for each line of rows, and all columns of a
///   vector. If they are streamed, the first row begins a line in every column.
pub(super) type TransposePanel = unsafe fn(&mut Panel<'_>);

/// The function for units of this many bytes; `None` if registers do not hold such units.
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
/// As for [`TransposePanel`].
unsafe fn panel<V: Vector, const UNIT: usize, const IN_LANE: usize>(panel: &mut Panel<'_>) {
    // SAFETY: the caller's promise.
    unsafe { V::vectorize(Blocks::<UNIT, IN_LANE>(panel)) }
}

struct Blocks<'a, 'p, const UNIT: usize, const IN_LANE: usize>(&'a mut Panel<'p>);

impl<const UNIT: usize, const IN_LANE: usize> Operation for Blocks<'_, '_, UNIT, IN_LANE> {
    /// # Safety
    ///
    /// As for [`TransposePanel`].
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        const { assert!(UNIT * IN_LANE == 16 && LANES * 16 == V::BYTES && LINE.is_multiple_of(V::BYTES)) };
        let Blocks(panel) = self;
        let (units, in_line) = (IN_LANE * LANES, LINE / UNIT);
        let Panel { from, to, rows, columns, row_count, column_count, how, .. } = *panel;
        // A copy that nothing else points to: stores cannot change it, so it stays in registers.
        let mut prefetch = panel.prefetch;
        let lines = row_count.div_ceil(in_line);
        let scattered = V::BYTES == LINE && how.scattered && !how.staged;
        let (wide, high) = if scattered { (column_count / in_line, row_count / in_line) } else { (0, 0) };
        let at = |line: usize, column: usize| Corner {
            from: from.wrapping_add(column * UNIT),
            rows: rows.wrapping_add(line * in_line),
            to: to.wrapping_add(line * LINE),
            columns: columns.wrapping_add(column),
        };
        // SAFETY: whole blocks are a line of rows by a vector of columns of the panel; what is left goes to
        // `edge`.
        unsafe {
            if scattered {
                for block in Scattered::new(wide * high) {
                    let corner = at(block / wide, block % wide * in_line);
                    square::<V, UNIT, IN_LANE, LANES, false>(&how, corner, &mut prefetch);
                }
            }
            for first in (0..column_count).step_by(in_line) {
                let here = (column_count - first).min(in_line);
                for line in if first < wide * in_line { high } else { 0 }..lines {
                    // What is too much in the last line of a staged row is written over by the next row.
                    let line = if how.staged { lines - 1 - line } else { line };
                    let row = line * in_line;
                    let high = (row_count - row).min(in_line);
                    let whole = if high == in_line { here - here % units } else { 0 };
                    let mut corner = at(line, first);
                    let blocks = whole / units;
                    if how.streaming {
                        for _ in 0..blocks {
                            line_block::<V, UNIT, IN_LANE, LANES>(&how, corner, &mut prefetch);
                            corner = corner.moved([V::BYTES, 0, 0, units]);
                        }
                    } else {
                        for _ in 0..blocks {
                            let mut part = corner;
                            for _ in 0..LINE / V::BYTES {
                                square::<V, UNIT, IN_LANE, LANES, false>(&how, part, &mut prefetch);
                                part = part.moved([0, units, V::BYTES, 0]);
                            }
                            corner = corner.moved([V::BYTES, 0, 0, units]);
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

/// Where a block begins: on the source and the destination, and in the offsets of its rows and columns.
#[derive(Clone, Copy)]
struct Corner {
    from: *const u8,
    rows: *const usize,
    to: *mut u8,
    columns: *const usize,
}

impl Corner {
    /// Further by bytes of the source, rows, bytes of the destination, and columns.
    #[inline(always)]
    fn moved(self, [from, rows, to, columns]: [usize; 4]) -> Corner {
        Corner {
            from: self.from.wrapping_add(from),
            rows: self.rows.wrapping_add(rows),
            to: self.to.wrapping_add(to),
            columns: self.columns.wrapping_add(columns),
        }
    }
}

/// A whole block past the cache: `LINE / UNIT` rows by `IN_LANE * LANES` columns.
///
/// # Safety
///
/// * `V::BYTES` bytes are readable in each of the `LINE / UNIT` rows of the source.
/// * `LINE` bytes are writable in each of the `IN_LANE * LANES` rows of the destination, aligned.
#[inline(always)]
unsafe fn line_block<V: Vector, const UNIT: usize, const IN_LANE: usize, const LANES: usize>(
    how: &How,
    corner: Corner,
    prefetch: &mut PanelPrefetch<'_>,
) {
    let units = IN_LANE * LANES;
    let Corner { from, rows, to, columns } = corner;
    if V::BYTES == LINE {
        // SAFETY: the same rows.
        unsafe { square::<V, UNIT, IN_LANE, LANES, true>(how, corner, prefetch) };
        return;
    }
    // Both halves of a line one after the other, so that they leave together.
    let (mut first, mut second) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: here a line is two vectors, so `units` rows from 0 and from `units` on are the caller's
    // `LINE / UNIT`; each line of the promised destination rows is written as two aligned vectors.
    unsafe {
        prefetch.issue::<V>(units);
        let first = lanes::<V, IN_LANE, LANES>(how, (from, rows), &mut first);
        let second = lanes::<V, IN_LANE, LANES>(how, (from, rows.add(units)), &mut second);
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

/// Stores a vector of a destination row.
///
/// # Safety
///
/// `V::BYTES` bytes are writable at `to`, a multiple of as many if `how.streaming` is set.
#[inline(always)]
pub(super) unsafe fn store<V: Vector>(how: &How, vector: V, to: *mut u8) {
    // SAFETY: the same condition.
    unsafe {
        match (how.streaming, how.in_order) {
            (true, true) => vector.stream(to),
            (true, false) => vector.store_past_cache(to),
            (false, _) => vector.store(to),
        }
    }
}

/// As many rows as columns, `IN_LANE * LANES` of either.
///
/// # Safety
///
/// `V::BYTES` bytes are readable in each of the source rows, and writable in each of the destination rows;
/// aligned if `how.streaming` is set.
#[inline(always)]
unsafe fn square<V: Vector, const UNIT: usize, const IN_LANE: usize, const LANES: usize, const STREAMING: bool>(
    how: &How,
    Corner { from, rows, to, columns }: Corner,
    prefetch: &mut PanelPrefetch<'_>,
) {
    let units = IN_LANE * LANES;
    let mut all = MaybeUninit::uninit();
    // SAFETY: whole vectors of the promised rows are read; each vector is stored to its own promised
    // destination row.
    unsafe {
        // Here alone: between the shuffles it would cost registers.
        prefetch.issue::<V>((units * V::BYTES).div_ceil(LINE));
        let groups = lanes::<V, IN_LANE, LANES>(how, (from, rows), &mut all);
        for (group, lanes) in groups.iter().enumerate() {
            for (i, line) in transposed_lanes::<V, UNIT, IN_LANE>(lanes).into_iter().enumerate() {
                let to = to.add(*columns.add(group * IN_LANE + i));
                if STREAMING { store(how, line, to) } else { line.store(to) }
            }
        }
    }
}

/// 16 bytes of `IN_LANE * LANES` rows: lane `l` of register `i` holds those of row `i + IN_LANE * l`.
///
/// # Safety
///
/// 16 bytes are readable in each of the `IN_LANE * LANES` rows.
#[inline(always)]
pub(super) unsafe fn group<V: Vector, const IN_LANE: usize, const LANES: usize>(
    how: &How,
    (from, rows): (*const u8, *const usize),
) -> [V; IN_LANE] {
    // SAFETY: 16 bytes of each row are read.
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

/// `IN_LANE * LANES` rows, so that lane `l` of register `i` in group `g` holds bytes `16 * g..16 * (g + 1)`
/// of row `i + IN_LANE * l`.
///
/// # Safety
///
/// `V::BYTES` bytes are readable in each of the rows.
#[inline(always)]
unsafe fn lanes<'g, V: Vector, const IN_LANE: usize, const LANES: usize>(
    how: &How,
    (from, rows): (*const u8, *const usize),
    groups: &'g mut MaybeUninit<[[V; IN_LANE]; LANES]>,
) -> &'g [[V; IN_LANE]; LANES] {
    let target = groups.as_mut_ptr().cast::<V>();
    // SAFETY: the promised rows are read; register `i` of each of the `LANES` groups is written for each `i`
    // below `IN_LANE`, which initialises all of `groups`.
    unsafe {
        for i in 0..IN_LANE {
            let rows = std::array::from_fn(|lane| from.add(*rows.add(i + IN_LANE * lane)));
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

/// Transposes the units of every lane of `IN_LANE` registers, which hold `IN_LANE` units each: rounds of a
/// perfect shuffle.
///
/// # Safety
///
/// Nothing but the features of `V`.
#[inline(always)]
pub(super) unsafe fn transposed_lanes<V: Vector, const UNIT: usize, const IN_LANE: usize>(
    lanes: &[V; IN_LANE],
) -> [V; IN_LANE] {
    let mut lines = *lanes;
    for _ in 0..IN_LANE.ilog2() {
        let old = lines;
        for i in 0..IN_LANE / 2 {
            // SAFETY: no memory is touched.
            (lines[2 * i], lines[2 * i + 1]) = unsafe { old[i].unpack::<UNIT>(old[i + IN_LANE / 2]) };
        }
    }
    lines
}
