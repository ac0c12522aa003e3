//! The work in registers: a square has as many rows as columns of units, which are loaded, exchanged and
//! stored. [`block`](super::block) explains how.

use std::mem::MaybeUninit;

use super::prefetch::PanelPrefetch;
use super::vector::Vector;
use crate::kernel::MICRO_TILE;
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
    pub(super) unit: usize,
    pub(super) how: How<'a>,
}

#[derive(Clone, Copy)]
pub(super) struct How<'a> {
    /// Whether whole blocks are written with non-temporal stores. Their lines are then aligned in every row.
    pub(super) streaming: bool,
    /// Whether the destination is a staging buffer. Whole vectors are then stored, even if a row has fewer
    /// units, and the lines of a row are stored from last to first.
    pub(super) staged: bool,
    /// Whether the destination rows are so close together that their lines are stored almost in the order of
    /// memory.
    pub(super) in_order: bool,
    pub(super) in_cache: bool,
    /// Whether blocks are in a [scattered order](super::order). Blocks of registers of 32 bytes never are,
    /// because they access halves of lines.
    pub(super) scattered: bool,
    /// If units are micro-tiles (small planes), the byte shuffle that transposes each unit in a lane.
    pub(super) micro_tile: Option<&'a [u8; MICRO_TILE]>,
}

/// Transposes a panel, and prefetches lines meanwhile.
///
/// # Safety
///
/// * The CPU has the features of the vectors, and `unit` is the length, for which the function was compiled.
/// * `rows` points to `row_count` offsets. `columns` points to `column_count` offsets. If the destination is
///   a staging buffer, `column_count` is rounded up to a whole vector of units.
/// * Every source row is readable from `left` columns before column 0 on, up to its `column_count` columns.
/// * Every column, a row of the destination, is writable for `row_count` units. In a staging buffer, these
///   rows are rounded up to whole lines, and their number to a whole vector of units.
/// * With `streaming`, the unit of row 0 is at the start of a line in every column.
pub(super) type TransposePanel = unsafe fn(&Panel<'_>, &mut PanelPrefetch<'_>);

/// The upper left corner of a block: the addresses of its first byte, source and destination, and pointers to
/// the offsets of its first row and its first column.
#[derive(Clone, Copy)]
pub(super) struct Corner {
    pub(super) from: *const u8,
    pub(super) rows: *const usize,
    pub(super) to: *mut u8,
    pub(super) columns: *const usize,
}

impl Corner {
    /// Returns the corner moved by numbers of source bytes, of rows, of destination bytes and of columns.
    #[inline(always)]
    pub(super) fn moved(self, [from, rows, to, columns]: [usize; 4]) -> Corner {
        Corner {
            from: self.from.wrapping_add(from),
            rows: self.rows.wrapping_add(rows),
            to: self.to.wrapping_add(to),
            columns: self.columns.wrapping_add(columns),
        }
    }
}

/// # Safety
///
/// * `V::BYTES` bytes are writable at `to`.
/// * If `how.streaming` is set, `to` is a multiple of `V::BYTES`.
#[inline(always)]
pub(super) unsafe fn store<V: Vector>(how: &How<'_>, vector: V, to: *mut u8) {
    // SAFETY: a vector is writable at `to`, which is aligned if `how.streaming` is set, by the contract.
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
/// * With `STREAMING` and `how.streaming`, what is written begins at a multiple of `V::BYTES` in each row.
#[inline(always)]
pub(super) unsafe fn square<
    V: Vector,
    const UNIT: usize,
    const IN_LANE: usize,
    const LANES: usize,
    const STREAMING: bool,
>(
    how: &How<'_>,
    Corner { from, rows, to, columns }: Corner,
    prefetch: &mut PanelPrefetch<'_>,
) {
    let units = IN_LANE * LANES;
    let mut all = MaybeUninit::uninit();
    // SAFETY: one vector of each source row is loaded, and one vector is stored to each destination row, as
    // the contract allows.
    unsafe {
        // The prefetches come before the shuffles: between shuffles, prefetches would take registers.
        prefetch.issue::<V>((units * V::BYTES).div_ceil(LINE));
        let groups = lanes::<V, IN_LANE, LANES>(how, (from, rows), &mut all);
        for (group, lanes) in groups.iter().enumerate() {
            for (i, &line) in transposed_lanes::<V, UNIT, IN_LANE>(lanes).iter().enumerate() {
                let column = group * IN_LANE + i;
                let to = to.add(*columns.add(column));
                if STREAMING { store(how, line, to) } else { line.store(to) }
            }
        }
    }
}

/// Loads one lane of each of `IN_LANE * LANES` rows: lane `l` of register `i` holds 16 bytes of row `i +
/// IN_LANE * l`.
///
/// # Safety
///
/// * 16 bytes are readable in each of the `IN_LANE * LANES` rows.
#[inline(always)]
pub(super) unsafe fn group<V: Vector, const IN_LANE: usize, const LANES: usize>(
    how: &How<'_>,
    (from, rows): (*const u8, *const usize),
) -> [V; IN_LANE] {
    // SAFETY: 16 bytes of each row are loaded.
    unsafe {
        let mut lines = [V::zero(); IN_LANE];
        for (i, line) in lines.iter_mut().enumerate() {
            *line = V::load_lanes::<LANES>(std::array::from_fn(|lane| from.add(*rows.add(i + IN_LANE * lane))));
        }
        if let Some(shuffle) = how.micro_tile {
            for line in &mut lines {
                *line = line.shuffle_lanes(shuffle);
            }
        }
        lines
    }
}

/// Loads a vector of each of `IN_LANE * LANES` rows and exchanges lanes: lane `l` of register `i` in array
/// `g` holds bytes `16 * g..16 * (g + 1)` of row `i + IN_LANE * l`.
///
/// # Safety
///
/// * `V::BYTES` bytes are readable in each of the rows.
#[inline(always)]
pub(super) unsafe fn lanes<'g, V: Vector, const IN_LANE: usize, const LANES: usize>(
    how: &How<'_>,
    (from, rows): (*const u8, *const usize),
    groups: &'g mut MaybeUninit<[[V; IN_LANE]; LANES]>,
) -> &'g [[V; IN_LANE]; LANES] {
    let target = groups.as_mut_ptr().cast::<V>();
    // SAFETY: by the contract, a vector of each row is readable. In each of the `LANES` arrays, register
    // `i` is written for every `i` below `IN_LANE`, so all of `groups` is initialised.
    unsafe {
        let offset = |row: usize| *rows.add(row);
        for i in 0..IN_LANE {
            let rows = std::array::from_fn(|lane| from.add(offset(i + IN_LANE * lane)));
            let lines = V::load_transposed::<LANES>(rows, how.in_cache);
            for (group, &line) in lines.iter().enumerate() {
                target.add(group * IN_LANE + i).write(line);
            }
        }
        if let Some(shuffle) = how.micro_tile {
            for i in 0..IN_LANE * LANES {
                target.add(i).write(target.add(i).read().shuffle_lanes(shuffle));
            }
        }
        groups.assume_init_ref()
    }
}

/// Transposes `IN_LANE` registers lane by lane, in rounds of a perfect shuffle: in each lane, unit `j` of
/// register `i` becomes unit `i` of register `j`.
///
/// # Safety
///
/// The CPU has the features of `V`; there is no other condition.
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
