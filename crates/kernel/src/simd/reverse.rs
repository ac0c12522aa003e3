//! Runs whose units are stored in reverse order: mirrored images, `a[::-1]`, RGB to BGR.
//!
//! This module is for runs that are written with non-temporal stores, and for runs shorter than a vector.
//! `reverse_vector.rs` reverses the other runs. A vector of the destination is a whole vector of bytes at an
//! aligned address, so it may begin and end inside units. Its bytes come from a window of the source. The
//! window *ends* with the unit in which the vector begins:
//!
//! ```text
//! units of 3 bytes, vectors of 8
//! source          aAa bBb cCc dDd eEe
//!                 [     window      ]           ends with unit e, in which the vector begins
//! destination     eEe dDd cCc bBb aAa
//!                  [ vector ]                   begins 1 byte inside unit e
//! ```
//!
//! The index of the source byte depends only on how far inside a unit the vector begins. So one table serves
//! every vector: byte `i + j` of the table is the index for byte `j` of a vector that begins `i` bytes inside
//! a unit.
//!
//! A window of two vectors is always long enough. There are three methods to shuffle it, the cheapest first
//! (see [`method`]). If vectors are whole units, the lanes and the units in each lane are reversed. If the
//! window of every single lane fits 32 bytes, the vector is shuffled lane by lane, from pairs of lanes.
//! Otherwise it is shuffled from two whole registers.
//!
//! ```text
//! for each run, from its end on the destination to its start, so that the source is read front to back:
//!     bytes after the last whole line: partial stores
//!     whole lines: load the window, shuffle, non-temporal store
//!     bytes before the first whole line: partial stores
//! ```

use std::ops::Range;

use super::reverse_vector::LANE;
use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::kernel::{LONGEST_REVERSED, Stride};
use crate::line::LINE;

/// Size of the longest vector in bytes.
const LONGEST: usize = 64;

/// The indices of the source bytes of a vector. A vector that begins `i` bytes inside a unit has the index
/// for its byte `j` in entry `i + j`. The source window ends with the unit in which the vector begins.
type Table = [u8; LONGEST_REVERSED + LONGEST];

/// The methods to reverse whole vectors.
mod method {
    /// Reverses the lanes, and the units in each lane. Vectors are whole units.
    pub(super) const UNITS: usize = 0;
    /// Shuffles every lane from 32 bytes. These end with the unit in which the lane begins.
    pub(super) const LANES: usize = 1;
    /// Shuffles every vector from two registers.
    pub(super) const REGISTERS: usize = 2;
}

/// Reverses runs with non-temporal stores, or runs that are shorter than a vector.
pub(super) struct ReverseRuns<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) unit: usize,
    /// The length of a run in bytes. It is a multiple of `unit`.
    pub(super) run: usize,
    pub(super) count: Stride,
}

impl Operation for ReverseRuns<'_> {
    /// # Safety
    ///
    /// * `unit` is 1 to [`LONGEST_REVERSED`], and `run` is a multiple of it.
    /// * If the walk does not stream, `run` is shorter than a vector.
    /// * In every iteration, each run is readable on the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const COUNT: usize>(self) {
        const { assert!(V::BYTES <= LONGEST && V::BYTES >= 2 * LONGEST_REVERSED && LINE.is_multiple_of(V::BYTES)) };
        let ReverseRuns { walk, unit, run, count } = self;
        assert!((1..=LONGEST_REVERSED).contains(&unit) && run.is_multiple_of(unit));
        assert!(walk.streaming || run < V::BYTES, "whole vectors are stored past the cache");
        let tables = Tables::new(unit, V::BYTES);
        for iteration in walk.iterations() {
            for i in 0..count.extent {
                let from = iteration.from.wrapping_add(i * count.source.cast_unsigned());
                let to = iteration.to.wrapping_add(i * count.destination.cast_unsigned());
                let reversed = ReversedRun { from, to, unit, run, tables: &tables };
                let head = if walk.streaming { to.align_offset(LINE).min(run) } else { 0 };
                let prefetch = walk.in_row();
                // SAFETY: the run belongs to this iteration, and `head` leads to the first line that is
                // streamed.
                unsafe {
                    match reversed.method::<V>(head) {
                        method::UNITS => reversed.reverse::<V, COUNT, { method::UNITS }>(head, prefetch),
                        method::LANES => reversed.reverse::<V, COUNT, { method::LANES }>(head, prefetch),
                        _ => reversed.reverse::<V, COUNT, { method::REGISTERS }>(head, prefetch),
                    }
                }
            }
        }
    }
}

/// The tables for units of one length.
struct Tables {
    /// The byte indices for a shuffle of two whole registers, and for a shuffle of two lanes.
    registers: Table,
    lanes: Table,
    /// Entry `i` is for a lane that begins `i` bytes inside a unit. It says how many bytes earlier the window
    /// of the next lane ends, and how far inside a unit the next lane begins.
    next: [(u8, u8); LONGEST_REVERSED],
}

impl Tables {
    #[inline(always)]
    fn new(unit: usize, vector: usize) -> Tables {
        let table = |window: usize, bytes: usize| {
            let mut table: Table = [0; LONGEST_REVERSED + LONGEST];
            let (mut first, mut inside) = (window - unit, 0);
            for byte in table.iter_mut().take(unit - 1 + bytes) {
                // The difference is below 0 if the units of a lane span more than two lanes of the source.
                // Such entries are not used.
                *byte = u8::try_from(first.wrapping_add(inside)).unwrap_or(0);
                inside += 1;
                if inside == unit {
                    (first, inside) = (first.wrapping_sub(unit), 0);
                }
            }
            table
        };
        let mut next = [(0, 0); LONGEST_REVERSED];
        for (inside, next) in next.iter_mut().enumerate().take(unit) {
            let end = inside + LANE;
            *next = (u8::try_from(end - end % unit).unwrap_or(0), u8::try_from(end % unit).unwrap_or(0));
        }
        Tables { registers: table(2 * vector, vector), lanes: table(2 * LANE, LANE), next }
    }
}

/// One run: its units, and its addresses on the source and on the destination.
struct ReversedRun<'a> {
    from: *const u8,
    to: *mut u8,
    unit: usize,
    run: usize,
    tables: &'a Tables,
}

impl ReversedRun<'_> {
    /// The cheapest method that can shuffle the vectors after the first `head` bytes.
    #[inline(always)]
    fn method<V: Vector>(&self, head: usize) -> usize {
        let unit = self.unit;
        if LANE.is_multiple_of(unit) && head.is_multiple_of(unit) {
            return method::UNITS;
        }
        // `most` is the largest distance from the start of a unit to the start of a lane inside it. `fits` is
        // whether all units that a lane needs are inside two lanes of the source.
        let step = 1 << unit.trailing_zeros();
        let most = unit - step + head % step;
        let fits = (most + LANE).next_multiple_of(unit) <= 2 * LANE;
        if fits && !V::SHUFFLES_TWO { method::LANES } else { method::REGISTERS }
    }

    /// Reverses the run.
    ///
    /// # Safety
    ///
    /// * `run` bytes, a multiple of `unit`, are readable at `from` and writable at `to`.
    /// * The tables are for this unit and for `V`, and `METHOD` is the method for `head`.
    /// * `head` is at most `run` and leads to the start of a line, or `run` is shorter than a vector.
    #[inline(always)]
    unsafe fn reverse<V: Vector, const COUNT: usize, const METHOD: usize>(&self, head: usize, prefetch: usize) {
        let ReversedRun { to, run, .. } = *self;
        // Whole vectors begin at offsets for which both source vectors of their window are inside the run.
        let open = (run + 1).saturating_sub(2 * V::BYTES + head);
        let whole = open.div_ceil(V::BYTES) * V::BYTES;
        let whole = whole - whole % LINE;
        // SAFETY: the bytes before `head`, the `whole` bytes and the bytes after them are the run. A whole
        // vector begins at `run - 2 * V::BYTES` or earlier, so the vector and its window are inside the run.
        // The vector is aligned.
        unsafe {
            // The loops go from the end of the destination to its start.
            for offset in (head + whole..run).step_by(V::BYTES).rev() {
                self.vector_at::<V>(offset).store_partial(to.add(offset), (run - offset).min(V::BYTES));
            }
            self.vectors::<V, COUNT, METHOD>(head..head + whole, prefetch);
            for offset in (0..head).step_by(V::BYTES) {
                self.vector_at::<V>(offset).store_partial(to.add(offset), (head - offset).min(V::BYTES));
            }
        }
    }

    /// Stores the vectors that begin in this range with non-temporal stores. The last vector is first, so
    /// that the source is read front to back.
    ///
    /// # Safety
    ///
    /// * The conditions of [`reverse`](Self::reverse).
    /// * The window of each of these vectors, which is two vectors long, is readable on the source.
    /// * The vectors begin at multiples of `V::BYTES` in memory.
    #[inline(always)]
    unsafe fn vectors<V: Vector, const COUNT: usize, const METHOD: usize>(
        &self,
        offsets: Range<usize>,
        prefetch: usize,
    ) {
        let ReversedRun { from, to, unit, run, .. } = *self;
        // `inside` is updated without a division, because each vector would wait for the latency of the
        // division.
        let (mut inside, step) = if METHOD == method::UNITS { (0, 0) } else { (offsets.end % unit, V::BYTES % unit) };
        let mut offset = offsets.end;
        for _ in offsets.step_by(V::BYTES) {
            offset -= V::BYTES;
            inside = if inside < step { inside + (unit - step) } else { inside - step };
            // SAFETY: the contract of this function. (`stream` would also load address translations ahead,
            // which costs time here on a Zen 5, so `store_non_temporal` is used.)
            unsafe {
                let end = from.add(run - (offset - inside));
                if prefetch > 0 {
                    V::prefetch(end.wrapping_add(prefetch));
                }
                self.vector::<V, COUNT, METHOD>(end, inside).store_non_temporal(to.add(offset));
            }
        }
    }

    /// Computes the destination vector that begins `inside` bytes inside a unit. On the source, that unit
    /// ends at `end`.
    ///
    /// # Safety
    ///
    /// * Two vectors that end at `end` are readable, or one vector if vectors are whole units.
    /// * `inside` is below the length of a unit, and `METHOD` is a method for this `inside`.
    #[inline(always)]
    unsafe fn vector<V: Vector, const COUNT: usize, const METHOD: usize>(&self, end: *const u8, inside: usize) -> V {
        let Tables { registers, lanes, next, .. } = self.tables;
        // SAFETY: all loads are inside the two vectors in front of `end`. The windows of lanes have 32 bytes,
        // and the last of them ends at most `V::BYTES - LANE + unit` bytes before `end`. A table has a vector
        // from every `inside` on.
        unsafe {
            match METHOD {
                method::UNITS => {
                    let order = lanes.first_chunk::<LANE>().map_or([0; LANE], |order| order.map(|byte| byte & 15));
                    V::load(end.sub(V::BYTES)).reverse_lanes().shuffle_lanes(&order)
                }
                method::LANES => {
                    let (mut ends, mut index) = ([end; COUNT], [lanes.as_ptr().add(inside); COUNT]);
                    let (mut end, mut inside) = (end, inside);
                    for (lane_end, index) in ends.iter_mut().zip(&mut index) {
                        (*lane_end, *index) = (end, lanes.as_ptr().add(inside));
                        let (units, further) = next[inside % LONGEST_REVERSED];
                        (end, inside) = (end.sub(usize::from(units)), usize::from(further));
                    }
                    let low = V::load_lanes(ends.map(|end| end.sub(2 * LANE)));
                    let high = V::load_lanes(ends.map(|end| end.sub(LANE)));
                    V::shuffle_pairs(low, high, V::load_lanes(index))
                }
                _ => {
                    let low = end.sub(2 * V::BYTES);
                    let index = V::load(registers.as_ptr().add(inside));
                    V::shuffle([V::load(low), V::load(low.add(V::BYTES))], index)
                }
            }
        }
    }

    /// Computes the destination vector that begins at this offset of the run. Bytes after the end of the run
    /// are not defined.
    ///
    /// # Safety
    ///
    /// * The conditions of [`reverse`](Self::reverse).
    /// * The offset is below `run`.
    #[inline(always)]
    unsafe fn vector_at<V: Vector>(&self, offset: usize) -> V {
        let ReversedRun { from, unit, run, tables, .. } = *self;
        let inside = offset % unit;
        let end = run - (offset - inside);
        let mut bytes = [0_u8; 2 * LONGEST];
        // SAFETY: the source up to `end` is inside the run. If it is shorter than two vectors, it is copied
        // to the end of two vectors on the stack. A table has a vector from every `inside` on.
        unsafe {
            let mut low = from.wrapping_add(end).wrapping_sub(2 * V::BYTES);
            if let Some(missing) = (2 * V::BYTES).checked_sub(end) {
                std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr().add(missing), end);
                low = bytes.as_ptr();
            }
            let index = V::load(tables.registers.as_ptr().add(inside));
            V::shuffle([V::load(low), V::load(low.add(V::BYTES))], index)
        }
    }
}
