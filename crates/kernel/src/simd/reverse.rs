//! Runs whose units come in the opposite order: mirrored images, `a[::-1]`, RGB to BGR.

use std::ops::Range;

use super::reverse_vector::LANE;
use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::kernel::{LONGEST_REVERSED, Stride};
use crate::line::LINE;

/// The bytes of the longest vector.
const LONGEST: usize = 64;

/// Where the bytes of a vector come from that begins `i` bytes into a unit: byte `i + j` of a table is the
/// place of its byte `j` in this many bytes of the source, which end with the unit that it begins in.
type Table = [u8; LONGEST_REVERSED + LONGEST];

/// How whole vectors are reversed.
mod method {
    /// The lanes in the opposite order, and the units in each: where vectors are whole units.
    pub(super) const UNITS: usize = 0;
    /// Every lane from the 32 bytes that end with the unit it begins in.
    pub(super) const LANES: usize = 1;
    /// From two registers.
    pub(super) const REGISTERS: usize = 2;
}

/// Reverses runs past the cache, and runs that are shorter than a vector.
pub(super) struct ReverseRuns<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) unit: usize,
    /// The bytes of a run, whole units.
    pub(super) run: usize,
    pub(super) count: Stride,
}

impl Operation for ReverseRuns<'_> {
    /// # Safety
    ///
    /// `unit` is above 0 and at most [`LONGEST_REVERSED`], `run` a multiple of it. If the walk does not
    /// stream, `run` is shorter than a vector. In every iteration, each run is readable on the source and
    /// writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const COUNT: usize>(self) {
        const { assert!(V::BYTES <= LONGEST && V::BYTES >= 2 * LONGEST_REVERSED && LINE.is_multiple_of(V::BYTES)) };
        let ReverseRuns { walk, unit, run, count } = self;
        assert!((1..=LONGEST_REVERSED).contains(&unit) && run.is_multiple_of(unit));
        assert!(walk.streaming || run < V::BYTES, "whole vectors are stored past the cache");
        #[cfg(feature = "software")]
        crate::observed::ran("reverse run by run");
        let tables = Tables::new(unit, V::BYTES);
        for iteration in walk.iterations() {
            for i in 0..count.extent {
                let from = iteration.from.wrapping_add(i * count.source.cast_unsigned());
                let to = iteration.to.wrapping_add(i * count.destination.cast_unsigned());
                let reversed = ReversedRun { from, to, unit, run, tables: &tables };
                let head = if walk.streaming { to.align_offset(LINE).min(run) } else { 0 };
                let prefetch = walk.in_row();
                // SAFETY: a run of this iteration, and the bytes up to the first line that is streamed.
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

/// What is the same for all runs of units of this many bytes.
struct Tables {
    /// For two registers, and for two lanes.
    registers: Table,
    lanes: Table,
    /// For a lane that begins so far into a unit: how many bytes of whole units end inside it or with it, and
    /// how far into a unit the next lane begins.
    next: [(u8, u8); LONGEST_REVERSED],
}

impl Tables {
    #[inline(always)]
    fn new(unit: usize, vector: usize) -> Tables {
        let table = |window: usize, bytes: usize| {
            let mut table: Table = [0; LONGEST_REVERSED + LONGEST];
            let (mut first, mut inside) = (window - unit, 0);
            for byte in table.iter_mut().take(unit - 1 + bytes) {
                // Below 0 for a lane whose bytes are further apart: none is read there.
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

/// One run.
struct ReversedRun<'a> {
    from: *const u8,
    to: *mut u8,
    unit: usize,
    run: usize,
    tables: &'a Tables,
}

impl ReversedRun<'_> {
    /// How the vectors after the first `head` bytes are reversed.
    #[inline(always)]
    fn method<V: Vector>(&self, head: usize) -> usize {
        let unit = self.unit;
        if LANE.is_multiple_of(unit) && head.is_multiple_of(unit) {
            return method::UNITS;
        }
        // A lane begins this far into a unit at most, and reaches over this many bytes of whole units.
        let step = 1 << unit.trailing_zeros();
        let most = unit - step + head % step;
        let fits = (most + LANE).next_multiple_of(unit) <= 2 * LANE;
        if fits && !V::SHUFFLES_TWO { method::LANES } else { method::REGISTERS }
    }

    /// # Safety
    ///
    /// `run` bytes, a multiple of `unit`, are readable at `from` and writable at `to`; the tables are those
    /// of this unit and of `V`; the method is the one for `head`, which is at most `run` and leads to the
    /// beginning of a line, or `run` is less than a vector.
    #[inline(always)]
    unsafe fn reverse<V: Vector, const COUNT: usize, const METHOD: usize>(&self, head: usize, prefetch: usize) {
        let ReversedRun { to, run, .. } = *self;
        // While two vectors that end with the unit at hand begin inside the run.
        let open = (run + 1).saturating_sub(2 * V::BYTES + head);
        let whole = open.div_ceil(V::BYTES) * V::BYTES;
        let whole = whole - whole % LINE;
        // SAFETY: places up to `head`, the next `whole`, and those after are all of the run. Whole vectors
        // are written at places up to `run - 2 * V::BYTES`: they end inside the run, as do the two source
        // vectors: no place is later. Streamed ones are whole vectors after the beginning of a line.
        unsafe {
            // From the back of the destination to its front.
            for place in (head + whole..run).step_by(V::BYTES).rev() {
                self.vector_at::<V>(place).store_partial(to.add(place), (run - place).min(V::BYTES));
            }
            self.vectors::<V, COUNT, METHOD>(head..head + whole, prefetch);
            for place in (0..head).step_by(V::BYTES) {
                self.vector_at::<V>(place).store_partial(to.add(place), (head - place).min(V::BYTES));
            }
        }
    }

    /// Stores the vectors at these places past the cache, from the last one on, so that the source is read
    /// front to back.
    ///
    /// # Safety
    ///
    /// As for [`reverse`](Self::reverse); two vectors are readable on the source that end with the unit each
    /// of these vectors begins in; they begin where a vector may be streamed to.
    #[inline(always)]
    unsafe fn vectors<V: Vector, const COUNT: usize, const METHOD: usize>(
        &self,
        places: Range<usize>,
        prefetch: usize,
    ) {
        let ReversedRun { from, to, unit, run, .. } = *self;
        // Steps without a division or a chain of operations, whose latency every vector would wait for.
        let (mut inside, step) = if METHOD == method::UNITS { (0, 0) } else { (places.end % unit, V::BYTES % unit) };
        let mut place = places.end;
        for _ in places.step_by(V::BYTES) {
            place -= V::BYTES;
            inside = if inside < step { inside + (unit - step) } else { inside - step };
            // SAFETY: the caller's promise; a prefetch may go anywhere. No page is looked up ahead, which
            // costs here (Z5).
            unsafe {
                let end = from.add(run - (place - inside));
                if prefetch > 0 {
                    V::prefetch(end.wrapping_add(prefetch));
                }
                self.vector::<V, COUNT, METHOD>(end, inside).store_past_cache(to.add(place));
            }
        }
    }

    /// The vector of the destination that begins `inside` bytes into the unit that ends at `end` on the
    /// source.
    ///
    /// # Safety
    ///
    /// Two vectors are readable that end at `end`, or one if they are whole units; `inside` is below the
    /// unit, and one that `METHOD` is for.
    #[inline(always)]
    unsafe fn vector<V: Vector, const COUNT: usize, const METHOD: usize>(&self, end: *const u8, inside: usize) -> V {
        let Tables { registers, lanes, next, .. } = self.tables;
        // SAFETY: all that is read is in the two vectors before `end`: of two lanes, the second reaches over
        // units that begin at most a lane and a unit before `end`, and 32 bytes more are two vectors or less.
        // Tables are readable from any place of a unit on.
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

    /// The vector at a place of the destination; what is after the run means nothing.
    ///
    /// # Safety
    ///
    /// As for [`reverse`](Self::reverse), and `place` is below `run`.
    #[inline(always)]
    unsafe fn vector_at<V: Vector>(&self, place: usize) -> V {
        let ReversedRun { from, unit, run, tables, .. } = *self;
        let inside = place % unit;
        let end = run - (place - inside);
        let mut bytes = [0_u8; 2 * LONGEST];
        // SAFETY: the source up to `end` is inside the run, and if it is shorter than two vectors it fits
        // after what is missing in front; two vectors of it or of the array, and one of the table, from any
        // place of a unit on, are inside these.
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
