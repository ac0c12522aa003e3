//! Planes that are long both ways: blocks of one line by one register.
//!
//! Every block reads whole registers and writes whole lines once, so only the order matters, to the memory behind the caches. What
//! was found by measuring, on large planes:
//!
//! * Writes want neighbours soon: lines at the same place of different pages (rows a multiple of 4096 bytes apart) collide in
//!   the memory controller once some 48 of them follow each other. So the blocks of one strip, one line of the source wide,
//!   come first, which leaves runs in its destination rows.
//! * Reads want long runs of few rows, which is the opposite. So they are decoupled: while a panel of [`PANEL`] bytes
//!   is transposed, the lines of the next one are asked for, row by row, one for every line that is read. They are
//!   in the level-2 cache when their turn comes.
//!
//! # Safety
//!
//! As for [`lines`](super::lines): the features of `V`, and calls whose planes lie inside both sides.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::super::schedule::{Axis, LINE, Plane, Twist};
use super::places::Places;
use super::stage::RUN;
use super::task::Task;
use super::vector::Vector;
use super::x86_64::Widths;

/// Rows as far apart as this, or a multiple of it, meet in the sets of the nearest cache.
const PAGE: usize = 1 << 12;

/// So many rows can use a set at once.
const MOST_IN_SET: usize = 8;

/// The bytes of a panel, at most: two of them fit a level-2 cache.
const PANEL: usize = 1 << 17;

/// The source rows of a panel, at most.
const PANEL_ROWS: usize = 256;

/// Rows as far apart as this, or a multiple of it, need an entry each of the few that one set of the TLB has: fewer of them
/// make a panel, so that their entries are still there for its next strip.
const FAR: usize = 1 << 16;
const FAR_ROWS: usize = 32;

/// The bytes of a panel's row. Rows that lie a multiple of a page apart are better read in longer runs.
const PANEL_WIDTH: usize = 1 << 8;

/// What is asked for lies about so many bytes ahead, at least a panel.
const DISTANCE: usize = 1 << 15;

/// How many blocks further on the lines lie that a block at the edge asks for.
const EDGES: usize = 4;

/// How many of so many rows at this pitch meet in a set of the nearest cache, which has 64 sets of lines?
fn rows_in_set(axis: &Axis, rows: usize) -> usize {
    let bits = axis.stride().map_or(0, usize::trailing_zeros).min(PAGE.trailing_zeros());
    (rows << bits) / PAGE
}

/// Transposes planes whose axes are plain strides, or any.
#[inline(always)]
pub(super) unsafe fn blocks_at<V: Widths, const UNIT: usize, const N: usize, const K: usize, const LANES: usize>(
    task: &Task<'_>,
    plane: &Plane,
) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        match (plane.across.stride(), plane.along.stride()) {
            (Some(across), Some(along)) => blocks::<V, UNIT, N, K, LANES, usize>(task, plane, (across, along)),
            _ => blocks::<V, UNIT, N, K, LANES, &Axis>(task, plane, (&plane.across, &plane.along)),
        }
    }
}

/// Transposes planes, panel by panel.
#[inline(always)]
unsafe fn blocks<V: Widths, const UNIT: usize, const N: usize, const K: usize, const LANES: usize, P: Places>(
    task: &Task<'_>,
    plane: &Plane,
    (target, origin): (P, P),
) {
    let (across, along) = (plane.across.extent, plane.along.extent);
    let lines_fit = task.stream && plane.across.are_multiples_of(LINE);
    let twist = plane.twist.map(Twist::bytes);
    let far = plane.along.are_multiples_of(FAR) && (plane.across.stride().is_some() || plane.along.stride().is_none());
    let panel_rows = along.min(if far { FAR_ROWS.max(LINE / UNIT) } else { PANEL_ROWS });
    let crowded = plane.along.are_multiples_of(PAGE);
    let width = if crowded { (PANEL / panel_rows).min(PAGE) } else { PANEL_WIDTH };
    let width = (width - width % LINE).max(LINE) / UNIT;
    let panels = across.div_ceil(width);
    let distance = (DISTANCE / (panel_rows * width * UNIT)).max(1);
    let (in_source_set, in_target_set) =
        (rows_in_set(&plane.along, LINE / UNIT), rows_in_set(&plane.across, LINE / UNIT));
    let scatter = !task.stream && in_target_set > MOST_IN_SET;
    let gather = !task.stream && in_source_set > MOST_IN_SET && along > LINE / UNIT;
    // Rows that push each other out of the cache can only be read once.
    let in_groups = gather || in_source_set <= MOST_IN_SET / 2 && !crowded;
    for visit in task.visits(across * along * UNIT) {
        let (from, to) = (visit.from, visit.to);
        // Whole lines can only be stored round the cache if every destination row has them at the same places.
        let ahead = to.align_offset(LINE);
        let aligned = lines_fit && ahead.is_multiple_of(UNIT);
        let head = if aligned { (ahead / UNIT).min(along) } else { 0 };
        let job =
            Blocks { from, to, across, target, origin, aligned, fetch: task.fetch, in_groups, gather, scatter, twist };
        let fetch = |from: *const u8, a: usize, b: usize| Fetch {
            from: from.wrapping_add(a * UNIT),
            origin,
            row: b,
            rows: (b + panel_rows).min(along),
            line: 0,
            lines: ((across - a).min(width) * UNIT).div_ceil(LINE),
        };
        // SAFETY: the blocks lie inside the plane, which the caller promised for.
        unsafe {
            if head > 0 {
                job.panel::<V, UNIT, N, K, LANES>(0..across, 0..head, &mut fetch(from, 0, along));
            }
            for b in (head..along).step_by(panel_rows) {
                for a in (0..across).step_by(width) {
                    // Some panels on: in this row of panels, in the next, or in the next plane.
                    let later = a / width + distance;
                    let mut next = match (task.fetch, later < panels, b + panel_rows < along, visit.ahead) {
                        (true, true, ..) => fetch(from, later * width, b),
                        (true, _, true, _) => fetch(from, ((later - panels) * width).min(across - 1), b + panel_rows),
                        (true, _, _, Some(ahead)) => fetch(ahead, ((later - panels) * width).min(across - 1), 0),
                        _ => fetch(from, 0, along),
                    };
                    let (columns, rows) = (a..(a + width).min(across), b..(b + panel_rows).min(along));
                    job.panel::<V, UNIT, N, K, LANES>(columns, rows, &mut next);
                }
            }
        }
    }
}

/// The lines of a panel that will be read next.
pub(super) struct Fetch<P> {
    from: *const u8,
    origin: P,
    row: usize,
    rows: usize,
    line: usize,
    lines: usize,
}

impl<P: Places> Fetch<P> {
    /// Asks for nothing.
    #[inline(always)]
    pub(super) fn nothing(origin: P) -> Fetch<P> {
        Fetch { from: std::ptr::null(), origin, row: 0, rows: 0, line: 0, lines: 0 }
    }

    /// Asks for some more lines.
    #[inline(always)]
    unsafe fn more<V: Vector>(&mut self, lines: usize) {
        let mut left = lines;
        while self.row < self.rows && left > 0 {
            let row = self.from.wrapping_add(self.origin.place(self.row));
            let some = (self.lines - self.line).min(left);
            for line in self.line..self.line + some {
                // SAFETY: the features are the caller's promise.
                unsafe { V::prefetch(row.wrapping_add(line * LINE)) };
            }
            left -= some;
            self.line += some;
            if self.line == self.lines {
                (self.line, self.row) = (0, self.row + 1);
            }
        }
    }
}

/// What all blocks of a plane share.
pub(super) struct Blocks<P> {
    pub(super) from: *const u8,
    pub(super) to: *mut u8,
    pub(super) across: usize,
    /// Where destination rows lie, and source rows.
    pub(super) target: P,
    pub(super) origin: P,
    /// Are the lines of whole blocks aligned in every destination row, and to be streamed?
    aligned: bool,
    /// Ask for lines that are written in part.
    fetch: bool,
    /// Can small units be read in groups of columns, all rows of a block for each?
    in_groups: bool,
    /// Do the source rows of a block, or the destination rows, share sets of the cache?
    gather: bool,
    scatter: bool,
    /// Where the bytes of 16 come from, if chunks are transposed themselves.
    twist: Option<[u8; 16]>,
}

impl<P: Places> Blocks<P> {
    /// Some columns of some rows, strip by strip.
    #[inline(always)]
    unsafe fn panel<V: Widths, const UNIT: usize, const N: usize, const K: usize, const LANES: usize>(
        &self,
        columns: Range<usize>,
        rows: Range<usize>,
        fetch: &mut Fetch<P>,
    ) {
        let mut rows = rows;
        // SAFETY: the caller's promise, passed on.
        unsafe {
            if self.scatter {
                let done = rows.len() - rows.len() % (RUN * LINE / UNIT);
                for a in columns.clone().step_by(N) {
                    V::scatter::<UNIT, N, K, LANES, P>(self, a, rows.start..rows.start + done);
                }
                rows.start += done;
            } else if self.gather {
                let done = rows.len() - rows.len() % (LINE / UNIT);
                let wide = RUN * LINE / UNIT;
                for b in (rows.start..rows.start + done).step_by(LINE / UNIT) {
                    for a in columns.clone().step_by(wide) {
                        let width = a..(a + wide).min(columns.end);
                        V::gather::<UNIT, N, K, LANES, P>(self, width, b);
                    }
                }
                rows.start += done;
            }
            for a in columns.step_by(LINE / UNIT) {
                V::strip::<UNIT, N, K, LANES, P>(self, a, rows.clone(), fetch);
            }
            fetch.more::<V>(usize::MAX);
        }
    }

    /// At most a line of columns of some rows, block by block.
    #[inline(always)]
    pub(super) unsafe fn strip<V: Widths, const UNIT: usize, const N: usize, const K: usize, const LANES: usize>(
        &self,
        first: usize,
        rows: Range<usize>,
        fetch: &mut Fetch<P>,
    ) {
        let deep = LINE / UNIT;
        let columns = deep.min(self.across - first);
        let mut b = rows.start;
        // SAFETY: the blocks lie inside the plane.
        unsafe {
            while columns == deep && b + deep <= rows.end {
                for part in 0..deep / N {
                    let a = first + part * N;
                    let (from, to) = (self.from.add(a * UNIT), self.to.add(b * UNIT));
                    self.block::<V, UNIT, N, K, LANES, P, P>((from, self.origin, b), (to, self.target, a), fetch);
                }
                b += deep;
            }
            while b < rows.end {
                for part in (0..columns).step_by(N) {
                    fetch.more::<V>(N);
                    let size = (deep.min(rows.end - b), N.min(columns - part));
                    V::edge::<UNIT, N, K, LANES, P>(self, (first + part, b), size);
                }
                b += deep;
            }
        }
    }

    /// A line of rows, `N` columns: from these rows of a source, from row `b` on, to these rows of a destination, from row `a` on.
    #[inline(always)]
    pub(super) unsafe fn block<
        V: Vector,
        const UNIT: usize,
        const N: usize,
        const K: usize,
        const LANES: usize,
        O: Places,
        T: Places,
    >(
        &self,
        (from, origin, b): (*const u8, O, usize),
        (to, target, a): (*mut u8, T, usize),
        fetch: &mut Fetch<P>,
    ) {
        // SAFETY: reads `N` units of as many rows as fill a line, and writes a line of `N` rows, which the caller promises
        // are there; lines that are streamed are aligned, as every strip begins at an aligned line.
        unsafe {
            if V::BYTES == LINE || !self.aligned {
                for part in 0..LINE / V::BYTES {
                    let (from, to) = ((from, origin, b + part * N), (to.add(part * V::BYTES), target, a));
                    self.square::<V, UNIT, N, K, LANES, O, T>(from, to, fetch);
                }
                return;
            }
            // Both halves of a line one after the other, so that they go round the cache together.
            fetch.more::<V>(N);
            let (mut first, mut second) = (MaybeUninit::uninit(), MaybeUninit::uninit());
            let first = self.lanes::<V, UNIT, K, LANES, O>((from, origin, b), (N, V::BYTES), &mut first);
            let second = self.lanes::<V, UNIT, K, LANES, O>((from, origin, b + N), (N, V::BYTES), &mut second);
            for (group, (first, second)) in first.iter().zip(second).enumerate() {
                let halves = unpacked::<V, UNIT, K>(first).into_iter().zip(unpacked::<V, UNIT, K>(second));
                for (column, (first, second)) in halves.enumerate() {
                    let to = to.add(target.place(a + group * K + column));
                    first.stream(to);
                    second.stream(to.add(V::BYTES));
                }
            }
        }
    }

    /// As many rows as columns.
    #[inline(always)]
    unsafe fn square<
        V: Vector,
        const UNIT: usize,
        const N: usize,
        const K: usize,
        const LANES: usize,
        O: Places,
        T: Places,
    >(
        &self,
        (from, origin, b): (*const u8, O, usize),
        (to, target, a): (*mut u8, T, usize),
        fetch: &mut Fetch<P>,
    ) {
        let in_groups = UNIT <= 2 && self.in_groups;
        let mut all = MaybeUninit::uninit();
        // SAFETY: the caller's promise, as for `block`. `lanes` fills what it is given, which is not read where it was not called.
        unsafe {
            // Found by measuring: units of four bytes want what comes asked for at once, others little by little.
            if UNIT == 4 {
                fetch.more::<V>((N * V::BYTES).div_ceil(LINE));
            }
            if !in_groups {
                self.lanes::<V, UNIT, K, LANES, O>((from, origin, b), (N, V::BYTES), &mut all);
            }
            for group in 0..LANES {
                if UNIT != 4 {
                    fetch.more::<V>((K * V::BYTES).div_ceil(LINE));
                }
                let lanes = if in_groups {
                    self.group::<V, K, LANES, O>((from.add(16 * group), origin, b))
                } else {
                    all.assume_init_ref()[group]
                };
                for (column, line) in unpacked::<V, UNIT, K>(&lanes).into_iter().enumerate() {
                    let to = to.add(target.place(a + group * K + column));
                    if self.aligned { line.stream(to) } else { line.store(to) }
                }
            }
        }
    }

    /// 16 bytes of `K * LANES` rows: lane `l` of register `i` holds those of row `i + K * l`.
    #[inline(always)]
    unsafe fn group<V: Vector, const K: usize, const LANES: usize, O: Places>(
        &self,
        (from, origin, b): (*const u8, O, usize),
    ) -> [V; K] {
        // SAFETY: the rows that are read are the caller's promise.
        unsafe {
            let mut lines = [V::zero(); K];
            for (i, line) in lines.iter_mut().enumerate() {
                let mut rows = [from; LANES];
                for (lane, row) in rows.iter_mut().enumerate() {
                    *row = from.add(origin.place(b + i + K * lane));
                }
                *line = V::load_lanes::<LANES>(rows);
                if let Some(twist) = &self.twist {
                    *line = line.shuffle(twist);
                }
            }
            lines
        }
    }

    /// `rows` rows of `bytes` bytes, at most `N` units each way, so that lane `l` of register `i` in group `g` holds the units of
    /// group `g` of row `i + K * l`. What is missing is zero.
    #[inline(always)]
    unsafe fn lanes<'g, V: Vector, const UNIT: usize, const K: usize, const LANES: usize, O: Places>(
        &self,
        (from, origin, b): (*const u8, O, usize),
        (rows, bytes): (usize, usize),
        groups: &'g mut MaybeUninit<[[V; K]; LANES]>,
    ) -> &'g [[V; K]; LANES] {
        let target = groups.as_mut_ptr().cast::<V>();
        // SAFETY: the rows that are read lie inside the plane; all registers of all groups are written.
        unsafe {
            for i in 0..K {
                let mut lines = [V::zero(); LANES];
                for (lane, line) in lines.iter_mut().enumerate() {
                    let row = i + K * lane;
                    if rows == K * LANES && bytes == V::BYTES {
                        *line = V::load(from.add(origin.place(b + row)));
                    } else if row < rows {
                        *line = V::load_partial(from.add(origin.place(b + row)), bytes);
                    }
                    if let Some(twist) = &self.twist {
                        *line = line.shuffle(twist);
                    }
                }
                for (group, line) in V::swap_lanes::<LANES>(lines).into_iter().enumerate() {
                    target.add(group * K + i).write(line);
                }
            }
            groups.assume_init_ref()
        }
    }

    /// A block at the edge of the plane, at most a line of rows by `N` columns.
    #[inline(always)]
    pub(super) unsafe fn edge<V: Vector, const UNIT: usize, const N: usize, const K: usize, const LANES: usize>(
        &self,
        (a, b): (usize, usize),
        (rows, columns): (usize, usize),
    ) {
        if self.fetch {
            // Part of a line is written to the cache, which reads the rest of it first.
            for column in (a + EDGES * N..self.across).take(columns) {
                // SAFETY: the features are the caller's promise.
                unsafe { V::prefetch_to_write(self.to.wrapping_add(b * UNIT + self.target.place(column))) };
            }
        }
        for first in (0..rows).step_by(N) {
            let rows = (rows - first).min(N);
            // SAFETY: reads `columns` units of `rows` rows and writes `rows` units of `columns` rows, all inside the plane.
            unsafe {
                let to = self.to.add((b + first) * UNIT);
                let mut groups = MaybeUninit::uninit();
                let from = (self.from.add(a * UNIT), self.origin, b + first);
                let groups = self.lanes::<V, UNIT, K, LANES, P>(from, (rows, columns * UNIT), &mut groups);
                for (group, lanes) in groups.iter().enumerate() {
                    for (column, line) in unpacked::<V, UNIT, K>(lanes).into_iter().enumerate() {
                        let column = group * K + column;
                        if column < columns {
                            line.store_partial(to.add(self.target.place(a + column)), rows * UNIT);
                        }
                    }
                }
            }
        }
    }
}

/// Transposes the units of every lane of `K` registers, which hold `K` units each: rounds of a perfect shuffle.
#[inline(always)]
unsafe fn unpacked<V: Vector, const UNIT: usize, const K: usize>(lanes: &[V; K]) -> [V; K] {
    let mut lines = *lanes;
    for _ in 0..K.ilog2() {
        let old = lines;
        for i in 0..K / 2 {
            // SAFETY: no memory is touched; the features are the caller's promise.
            (lines[2 * i], lines[2 * i + 1]) = unsafe { old[i].unpack::<UNIT>(old[i + K / 2]) };
        }
    }
    lines
}
