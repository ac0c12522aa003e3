//! Planes that are long both ways: blocks of one register by one register.
//!
//! # Safety
//!
//! As for [`lines`](super::lines): the features of `V`, and a plane that lies inside both sides.

use super::super::schedule::{Axis, Plane, Twist, Walk};
use super::vector::Vector;
use super::weave::shuffled;
use super::x86_64::Widths;

/// Where the steps of an axis lie. Kernels are compiled once for plain strides, where this is one multiplication, and
/// once for any axis.
pub(super) trait Places: Copy {
    fn place(self, i: usize) -> usize;
}

impl Places for usize {
    #[inline(always)]
    fn place(self, i: usize) -> usize {
        i * self
    }
}

impl Places for &Axis {
    #[inline(always)]
    fn place(self, i: usize) -> usize {
        self.at(i)
    }
}

/// Blocks of a plane whose axes are plain strides, or any.
#[inline(always)]
pub(super) unsafe fn blocks_at<V: Widths, const UNIT: usize, const N: usize, const Q: usize>(
    from: *const u8,
    to: *mut u8,
    plane: &Plane,
    stream: bool,
) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        match (plane.across.stride(), plane.along.stride()) {
            (Some(across), Some(along)) => blocks::<V, UNIT, N, Q, usize>(from, to, plane, (across, along), stream),
            _ => blocks::<V, UNIT, N, Q, &Axis>(from, to, plane, (&plane.across, &plane.along), stream),
        }
    }
}

/// Blocks of `N` by `N` units.
///
/// Every block reads and writes whole lines once, so only the order matters: to the memory behind the caches. Walking along the
/// source lets the hardware see its rows as streams; walking along the destination leaves runs of lines there. Either
/// way a strip of 16 lines is finished before the next is begun, and the lines of a block two ahead are asked for.
#[inline(always)]
unsafe fn blocks<V: Widths, const UNIT: usize, const N: usize, const Q: usize, P: Places>(
    from: *const u8,
    to: *mut u8,
    plane: &Plane,
    (target, origin): (P, P),
    stream: bool,
) {
    let Plane { across, along, walk, .. } = plane;
    // Whole lines can only be stored round the cache if every destination row has them at the same places.
    let ahead = to.align_offset(V::BYTES);
    let aligned = stream && across.are_multiples_of(V::BYTES) && ahead.is_multiple_of(UNIT);
    let head = if aligned { (ahead / UNIT).min(along.extent) } else { 0 };
    let twist = plane.twist.map(Twist::bytes);
    let job = Blocks { from, to, plane, target, origin, aligned, stream, twist };
    let strip = 16 * N;
    // SAFETY: the blocks lie inside the plane, which the caller promised for.
    unsafe {
        if head > 0 {
            for a in (0..across.extent).step_by(N) {
                V::block::<UNIT, N, Q, P>(&job, a, 0, head);
            }
        }
        for first_b in (head..along.extent).step_by(strip) {
            let rows = first_b..(first_b + strip).min(along.extent);
            for first_a in (0..across.extent).step_by(strip) {
                let columns = first_a..(first_a + strip).min(across.extent);
                match walk {
                    Walk::Destination => {
                        for a in columns.step_by(N) {
                            for b in rows.clone().step_by(N) {
                                V::block::<UNIT, N, Q, P>(&job, a, b, N);
                            }
                        }
                    }
                    Walk::Source => {
                        for b in rows.clone().step_by(N) {
                            for a in columns.clone().step_by(N) {
                                V::block::<UNIT, N, Q, P>(&job, a, b, N);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What all blocks of a plane share.
pub(super) struct Blocks<'a, P> {
    from: *const u8,
    to: *mut u8,
    plane: &'a Plane,
    /// Where destination rows lie, and source rows.
    target: P,
    origin: P,
    /// Are the lines of whole blocks aligned in every destination row, and to be streamed?
    aligned: bool,
    stream: bool,
    /// Where the bytes of 16 come from, if chunks are transposed themselves.
    twist: Option<[u8; 16]>,
}

impl<P: Places> Blocks<'_, P> {
    /// The block at (a, b): at most `rows` rows of the source, `N` units each, become `N` rows of the destination.
    #[inline(always)]
    pub(super) unsafe fn block<V: Widths, const UNIT: usize, const N: usize, const Q: usize>(
        &self,
        a: usize,
        b: usize,
        rows: usize,
    ) {
        let Plane { across, along, walk, .. } = self.plane;
        let (rows, columns) = (rows.min(along.extent - b), N.min(across.extent - a));
        // SAFETY: the block lies inside the plane; prefetching touches no memory.
        unsafe {
            if self.stream {
                let from = self.from.add(a * UNIT);
                match walk {
                    Walk::Source => {
                        for i in 0..rows {
                            V::prefetch(from.wrapping_add(self.origin.place(b + i) + 4 * V::BYTES));
                        }
                    }
                    Walk::Destination => {
                        for b in b + N..(b + 2 * N).min(along.extent) {
                            V::prefetch(from.wrapping_add(self.origin.place(b)));
                        }
                    }
                }
            }
            if rows == N && columns == N {
                self.whole_block::<V, UNIT, N, Q>(a, b);
            } else {
                V::edge::<UNIT, N, P>(self, (a, b), (rows, columns));
            }
        }
    }

    #[inline(always)]
    unsafe fn whole_block<V: Vector, const UNIT: usize, const N: usize, const Q: usize>(&self, a: usize, b: usize) {
        // SAFETY: reads `N` units of `N` rows and writes as many, all inside the plane; lines that are streamed are aligned,
        // as `b` is the first aligned column plus a multiple of `N`.
        unsafe {
            let (from, to) = (self.from.add(a * UNIT), self.to.add(b * UNIT));
            let put = |line: V, column: usize| (line, to.add(self.target.place(a + column)));
            if UNIT == 1 {
                // Bytes go by fours first, then as 4-byte units a quarter at a time, so that the registers suffice.
                let mut fours = [[V::zero(); Q]; 4];
                for group in 0..Q {
                    let row = |i: usize| from.add(self.origin.place(b + 4 * group + i));
                    let rows = [V::load(row(0)), V::load(row(1)), V::load(row(2)), V::load(row(3))];
                    for (four, line) in fours.iter_mut().zip(shuffled::<V, 1, 4>(rows)) {
                        four[group] = line;
                    }
                }
                for (quarter, four) in fours.into_iter().enumerate() {
                    for (column, line) in shuffled::<V, 4, Q>(four).into_iter().enumerate() {
                        let (line, to) = put(line, quarter * Q + column);
                        if self.aligned { line.stream(to) } else { line.store(to) }
                    }
                }
                return;
            }
            let mut lines = [V::zero(); N];
            for (i, line) in lines.iter_mut().enumerate() {
                *line = V::load(from.add(self.origin.place(b + i)));
            }
            if let Some(twist) = &self.twist {
                lines = lines.map(|line| line.shuffle(twist));
            }
            for (column, line) in shuffled::<V, UNIT, N>(lines).into_iter().enumerate() {
                let (line, to) = put(line, column);
                if self.aligned { line.stream(to) } else { line.store(to) }
            }
        }
    }

    /// A block at the edge of the plane, `rows` by `columns`.
    #[inline(always)]
    pub(super) unsafe fn edge<V: Vector, const UNIT: usize, const N: usize>(
        &self,
        (a, b): (usize, usize),
        (rows, columns): (usize, usize),
    ) {
        // SAFETY: reads `columns` units of `rows` rows and writes `rows` units of `columns` rows, all inside the plane.
        unsafe {
            let (from, to) = (self.from.add(a * UNIT), self.to.add(b * UNIT));
            let mut lines = [V::zero(); N];
            for (i, line) in lines.iter_mut().enumerate().take(rows) {
                *line = V::load_partial(from.add(self.origin.place(b + i)), columns * UNIT);
            }
            if let Some(twist) = &self.twist {
                lines = lines.map(|line| line.shuffle(twist));
            }
            for (i, line) in shuffled::<V, UNIT, N>(lines).into_iter().enumerate().take(columns) {
                line.store_partial(to.add(self.target.place(a + i)), rows * UNIT);
            }
        }
    }
}
