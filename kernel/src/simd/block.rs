//! Blocks of a transpose: a line of rows by a vector of columns, in registers.
//!
//! Each row of a block is loaded into a vector. Whole 16-byte lanes of several rows change places first, then the units inside
//! the lanes: what comes out are rows of the destination.

use std::mem::MaybeUninit;

use super::pitch::{Pitch, RowsFrom};
use super::prefetch::PanelPrefetch;
use super::vector::Vector;
use crate::cost::{LINE, MICRO_TILE};
use crate::nest::Plane;

/// A level of the memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    L1,
    L2,
    Memory,
}

/// A plane that is being transposed: what all blocks of one iteration share.
#[derive(Clone, Copy)]
pub(super) struct Transposition<P> {
    /// The first byte of the plane on either side.
    pub(super) from: *const u8,
    pub(super) to: *mut u8,
    /// How many columns and rows the source has, in units.
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// Where the rows of either side begin.
    pub(super) source_pitch: P,
    pub(super) destination_pitch: P,
    /// Whole lines of a block are stored past the cache: they are aligned in every destination row.
    pub(super) streaming: bool,
    /// Destination rows follow each other inside a page, so that their lines are stored nearly in the order of the memory.
    pub(super) in_order: bool,
    /// Prefetch lines that are written in part.
    pub(super) prefetch: bool,
    /// Units of 1 and 2 bytes may be read in groups of columns, each of which reads all rows of a block: the rows stay in the cache.
    pub(super) in_groups: bool,
    /// Where the source is.
    pub(super) source_in: Level,
    /// The rows of a block on the source share sets of the L1 cache: they are copied into a stage first.
    pub(super) gather: bool,
    /// See [`permutes_blocks`](super::walk::Walk::permutes_blocks).
    pub(super) permuted: bool,
    /// The next block is prefetched into the L1 cache before one is transposed.
    pub(super) next_near: bool,
    /// Lines of each destination row that are staged and then written as one run; 0 for none.
    pub(super) scatter: usize,
    /// The byte shuffle of 16 bytes, if units are transposed themselves.
    pub(super) micro_tile: Option<[u8; MICRO_TILE]>,
}

/// Rows on one side of a block: where row 0 of the plane begins at the block's first column, the pitch, and the block's first row.
pub(super) type Rows<Pointer, P> = (Pointer, P, usize);

impl<P: Pitch> Transposition<P> {
    /// Through the cache; nothing is staged, and no order is asked for.
    #[inline(always)]
    pub(super) fn new((from, to): (*const u8, *mut u8), plane: &Plane, (source, destination): (P, P)) -> Self {
        Transposition {
            from,
            to,
            columns: plane.columns.extent,
            rows: plane.rows.extent,
            source_pitch: source,
            destination_pitch: destination,
            streaming: false,
            in_order: true,
            prefetch: false,
            in_groups: false,
            source_in: Level::Memory,
            gather: false,
            permuted: false,
            next_near: false,
            scatter: 0,
            micro_tile: None,
        }
    }

    /// A whole block: `LINE / UNIT` rows by `IN_LANE * LANES` columns.
    ///
    /// # Safety
    ///
    /// * `V::BYTES` bytes are readable in each of the `LINE / UNIT` source rows from `source.2` on.
    /// * `LINE` bytes are writable in each of the `IN_LANE * LANES` destination rows from `destination.2` on; if
    ///   `self.streaming` is set, they begin at multiples of `V::BYTES`.
    #[inline(always)]
    pub(super) unsafe fn block<
        V: Vector,
        const UNIT: usize,
        const IN_LANE: usize,
        const LANES: usize,
        S: Pitch,
        D: Pitch,
    >(
        &self,
        (from, source, row): Rows<*const u8, S>,
        (to, destination, column): Rows<*mut u8, D>,
        prefetch: &mut PanelPrefetch<P>,
    ) {
        const { assert!(UNIT * IN_LANE == 16 && LANES * 16 == V::BYTES && LINE.is_multiple_of(V::BYTES)) };
        let units = IN_LANE * LANES;
        if V::BYTES == LINE || !self.streaming {
            for part in 0..LINE / V::BYTES {
                // SAFETY: the `units` rows from `row + part * units` on are among the `LINE / UNIT` of the caller's promise, and what
                // they are written to, `V::BYTES` bytes at `part * V::BYTES` of each line, is inside it and as aligned.
                unsafe {
                    let to = to.add(part * V::BYTES);
                    self.square::<V, UNIT, IN_LANE, LANES, S, D>(
                        (from, source, row + part * units),
                        (to, destination, column),
                        prefetch,
                    );
                }
            }
            return;
        }
        // Both halves of a line one after the other, so that they leave together.
        let (mut first, mut second) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: here a line is two vectors, so `units` rows from `row` and from `row + units` on are the caller's `LINE / UNIT`;
        // each line of the promised destination rows is written as two aligned vectors.
        unsafe {
            // Unlike in `square`, narrow units at once (by trial).
            let now = if UNIT < 4 || prefetch.at_once { units } else { units / 2 };
            prefetch.issue::<V>(now);
            let first = self.lanes::<V, IN_LANE, LANES, S>((from, source, row), (units, V::BYTES), &mut first);
            prefetch.issue::<V>(units - now);
            let second =
                self.lanes::<V, IN_LANE, LANES, S>((from, source, row + units), (units, V::BYTES), &mut second);
            let mut destination = RowsFrom::new(to, destination, column);
            for (group, (first, second)) in first.iter().zip(second).enumerate() {
                let halves =
                    transposed_lanes::<V, UNIT, IN_LANE>(first)
                        .into_iter()
                        .zip(transposed_lanes::<V, UNIT, IN_LANE>(second));
                for (i, (first, second)) in halves.enumerate() {
                    let to = destination.next_row::<V>(group * IN_LANE + i).cast_mut();
                    self.store(first, to);
                    self.store(second, to.add(V::BYTES));
                }
            }
        }
    }

    /// Stores a vector of a destination row.
    ///
    /// # Safety
    ///
    /// `V::BYTES` bytes are writable at `to`, a multiple of as many if `self.streaming` is set.
    #[inline(always)]
    pub(super) unsafe fn store<V: Vector>(&self, vector: V, to: *mut u8) {
        // SAFETY: the same condition.
        unsafe {
            match (self.streaming, self.in_order) {
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
    /// `V::BYTES` bytes are readable in each of the source rows from `source.2` on, and writable in each of the destination rows from
    /// `destination.2` on; aligned to `V::BYTES` if `self.streaming` is set.
    #[inline(always)]
    unsafe fn square<V: Vector, const UNIT: usize, const IN_LANE: usize, const LANES: usize, S: Pitch, D: Pitch>(
        &self,
        (from, source, row): Rows<*const u8, S>,
        (to, destination, column): Rows<*mut u8, D>,
        prefetch: &mut PanelPrefetch<P>,
    ) {
        let in_groups = UNIT <= 2 && self.in_groups;
        let units = IN_LANE * LANES;
        let mut all = MaybeUninit::uninit();
        let mut destination = RowsFrom::new(to, destination, column);
        // SAFETY: `lanes` and `group` read whole vectors, or 16 bytes at multiples of 16 inside them, of the promised rows; each vector
        // is stored to its own promised destination row. `all` is read only where `lanes` has filled it.
        unsafe {
            let at_once = UNIT >= 4 && prefetch.at_once;
            if at_once {
                prefetch.issue::<V>((units * V::BYTES).div_ceil(LINE));
            }
            if !in_groups {
                self.lanes::<V, IN_LANE, LANES, S>((from, source, row), (units, V::BYTES), &mut all);
            }
            for group in 0..LANES {
                if !at_once {
                    prefetch.issue::<V>((IN_LANE * V::BYTES).div_ceil(LINE));
                }
                let lanes = if in_groups {
                    self.group::<V, IN_LANE, LANES, S>((from.add(16 * group), source, row))
                } else {
                    all.assume_init_ref()[group]
                };
                for (i, line) in transposed_lanes::<V, UNIT, IN_LANE>(&lanes).into_iter().enumerate() {
                    self.store(line, destination.next_row::<V>(group * IN_LANE + i).cast_mut());
                }
            }
        }
    }

    /// 16 bytes of `IN_LANE * LANES` rows: lane `l` of register `i` holds those of row `i + IN_LANE * l`.
    ///
    /// # Safety
    ///
    /// 16 bytes are readable in each of the `IN_LANE * LANES` rows from `source.2` on.
    #[inline(always)]
    pub(super) unsafe fn group<V: Vector, const IN_LANE: usize, const LANES: usize, S: Pitch>(
        &self,
        (from, source, first): Rows<*const u8, S>,
    ) -> [V; IN_LANE] {
        // SAFETY: row numbers stay below `first + IN_LANE * LANES`, and 16 bytes of each are read.
        unsafe {
            let mut lines = [V::zero(); IN_LANE];
            let mut sources = sources::<IN_LANE, LANES, S>((from, source, first));
            for (i, line) in lines.iter_mut().enumerate() {
                let mut rows = [from; LANES];
                for (row, source) in rows.iter_mut().zip(&mut sources) {
                    *row = source.next_row::<V>(i);
                }
                *line = V::load_lanes::<LANES>(rows);
                if let Some(shuffle) = &self.micro_tile {
                    *line = line.shuffle_lanes(shuffle);
                }
            }
            lines
        }
    }

    /// `rows` rows of `bytes` bytes, so that lane `l` of register `i` in group `g` holds bytes `16 * g..16 * (g + 1)` of
    /// row `i + IN_LANE * l`. What is missing is zero.
    ///
    /// # Safety
    ///
    /// `rows` is at most `IN_LANE * LANES` and `bytes` at most `V::BYTES`; `bytes` bytes are readable in each of the rows from
    /// `source.2` on.
    #[inline(always)]
    pub(super) unsafe fn lanes<'g, V: Vector, const IN_LANE: usize, const LANES: usize, S: Pitch>(
        &self,
        (from, source, first): Rows<*const u8, S>,
        (rows, bytes): (usize, usize),
        groups: &'g mut MaybeUninit<[[V; IN_LANE]; LANES]>,
    ) -> &'g [[V; IN_LANE]; LANES] {
        debug_assert!(rows <= IN_LANE * LANES && bytes <= V::BYTES);
        let target = groups.as_mut_ptr().cast::<V>();
        // SAFETY: rows below `first + rows` are read, `bytes` bytes of each; register `i` of each of the `LANES` groups is written for
        // each `i` below `IN_LANE`, which initialises all of `groups`.
        unsafe {
            let whole = rows == IN_LANE * LANES && bytes == V::BYTES;
            let mut sources = sources::<IN_LANE, LANES, S>((from, source, first));
            for i in 0..IN_LANE {
                if whole && self.source_in != Level::Memory && self.micro_tile.is_none() {
                    let mut rows = [from; LANES];
                    for (row, source) in rows.iter_mut().zip(&mut sources) {
                        *row = source.next_row::<V>(i);
                    }
                    let lines = match self.source_in {
                        Level::L1 => V::load_transposed::<LANES, true>(rows),
                        _ => V::load_transposed::<LANES, false>(rows),
                    };
                    for (group, line) in lines.into_iter().enumerate() {
                        target.add(group * IN_LANE + i).write(line);
                    }
                    continue;
                }
                let mut lines = [V::zero(); LANES];
                for (lane, (line, source)) in lines.iter_mut().zip(&mut sources).enumerate() {
                    let is_row = i + IN_LANE * lane < rows;
                    if whole || is_row && bytes == V::BYTES {
                        *line = V::load(source.next_row::<V>(i));
                    } else if is_row {
                        *line = V::load_partial(source.next_row::<V>(i), bytes);
                    }
                    if let Some(shuffle) = &self.micro_tile {
                        *line = line.shuffle_lanes(shuffle);
                    }
                }
                for (group, line) in V::transpose_lanes::<LANES>(lines).into_iter().enumerate() {
                    target.add(group * IN_LANE + i).write(line);
                }
            }
            groups.assume_init_ref()
        }
    }
}

/// The rows of a block from `first` on, `IN_LANE` for each lane.
#[inline(always)]
fn sources<const IN_LANE: usize, const LANES: usize, S: Pitch>(
    (from, source, first): Rows<*const u8, S>,
) -> [RowsFrom<S>; LANES] {
    std::array::from_fn(|lane| RowsFrom::new(from, source, first + IN_LANE * lane))
}

/// Transposes the units of every lane of `IN_LANE` registers, which hold `IN_LANE` units each: rounds of a perfect shuffle.
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
