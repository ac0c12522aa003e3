//! The kernels over registers, written once for every width.
//!
//! A transposition of `n` rows is `log2(n)` rounds of [`Vector::interleave`] in the pattern of a perfect shuffle:
//! registers i and i + n/2 become registers 2i and 2i + 1. With as many rows as a register has units, each register then holds
//! one column; with fewer, the registers in a row hold the rows interleaved. Going backwards takes them apart again.
//!
//! # Safety
//!
//! Every function needs the CPU features of `V`, and that what the kernel describes lies inside the source and the destination
//! the pointers begin. `Job::run` has compared the kernel's reach with the slices.

use super::super::schedule::{Axis, Kernel, Plane, Twist, Walk};
use super::vector::Vector;
use super::x86_64::Widths;

/// Runs a kernel.
#[inline(always)]
pub(super) unsafe fn run<V: Widths>(kernel: &Kernel, source: &[u8], destination: &mut [u8], stream: bool) {
    let (from, to) = (source.as_ptr(), destination.as_mut_ptr());
    // SAFETY: the caller's promise, passed on.
    unsafe {
        match kernel {
            &Kernel::Rows { chunk, count } => {
                if count.source == 0 && count.destination == chunk && chunk.is_power_of_two() && chunk <= V::BYTES {
                    fill::<V>(from, to, chunk, count.extent, stream);
                } else if chunk < 16 {
                    super::portable::run(kernel, source, destination);
                } else {
                    for step in 0..count.extent {
                        row::<V>(from.add(step * count.source), to.add(step * count.destination), chunk, stream);
                    }
                }
            }
            Kernel::Places { chunk, places, count } => {
                for step in 0..count.extent {
                    let (from, to) = (from.add(step * count.source), to.add(step * count.destination));
                    for &(source, destination) in places {
                        row::<V>(from.add(source), to.add(destination), *chunk, stream);
                    }
                }
            }
            // `Job::run` has taken it.
            Kernel::Nibbles { .. } => {}
            Kernel::Transpose(plane) => match plane.chunk {
                1 => V::plane1(from, to, plane, stream),
                2 => V::plane2(from, to, plane, stream),
                4 => V::plane4(from, to, plane, stream),
                8 => V::plane8(from, to, plane, stream),
                16 => V::plane16(from, to, plane, stream),
                _ => chunks::<V>(from, to, plane, stream),
            },
        }
    }
}

/// Copies `bytes` bytes.
#[inline(always)]
unsafe fn row<V: Vector>(from: *const u8, to: *mut u8, bytes: usize, stream: bool) {
    // SAFETY: all accesses lie inside the first `bytes` bytes on both sides; a stored line is aligned.
    unsafe {
        if bytes == V::BYTES && stream && to.align_offset(V::BYTES) == 0 {
            V::load(from).stream(to);
            return;
        }
        if bytes <= V::BYTES {
            V::load_partial(from, bytes).store_partial(to, bytes);
            return;
        }
        if !stream {
            if bytes >= 1024 {
                std::ptr::copy_nonoverlapping(from, to, bytes);
                return;
            }
            let mut at = 0;
            while at + V::BYTES <= bytes {
                V::load(from.add(at)).store(to.add(at));
                at += V::BYTES;
            }
            // The last register overlaps the one before.
            V::load(from.add(bytes - V::BYTES)).store(to.add(bytes - V::BYTES));
            return;
        }
        let mut at = to.align_offset(V::BYTES).min(bytes);
        if at > 0 {
            V::load_partial(from, at).store_partial(to, at);
        }
        while at + 4 * V::BYTES <= bytes {
            let line = |i: usize| V::load(from.add(at + i * V::BYTES));
            let (a, b, c, d) = (line(0), line(1), line(2), line(3));
            a.stream(to.add(at));
            b.stream(to.add(at + V::BYTES));
            c.stream(to.add(at + 2 * V::BYTES));
            d.stream(to.add(at + 3 * V::BYTES));
            at += 4 * V::BYTES;
        }
        while at + V::BYTES <= bytes {
            V::load(from.add(at)).stream(to.add(at));
            at += V::BYTES;
        }
        if at < bytes {
            V::load_partial(from.add(at), bytes - at).store_partial(to.add(at), bytes - at);
        }
    }
}

/// Writes one chunk, a power of two of at most a register, `count` times in a row.
#[inline(always)]
unsafe fn fill<V: Vector>(from: *const u8, to: *mut u8, chunk: usize, count: usize, stream: bool) {
    // SAFETY: reads the chunk, writes the `chunk * count` bytes behind `to`; the pattern has 64 bytes, at least a register
    // more than `shift`, as `shift < chunk <= 32` or `shift` is 0.
    unsafe {
        let mut pattern = [0_u8; 128];
        let pattern_start = pattern.as_mut_ptr();
        std::ptr::copy_nonoverlapping(from, pattern_start, chunk);
        let mut filled = chunk;
        while filled < 128 {
            std::ptr::copy_nonoverlapping(pattern_start, pattern_start.add(filled), filled);
            filled *= 2;
        }
        let bytes = chunk * count;
        let mut at = if stream { to.align_offset(V::BYTES).min(bytes) } else { 0 };
        if at > 0 {
            V::load(pattern.as_ptr()).store_partial(to, at);
        }
        let shifted = V::load(pattern.as_ptr().add(at % chunk));
        while at + V::BYTES <= bytes {
            if stream {
                shifted.stream(to.add(at))
            } else {
                shifted.store(to.add(at))
            }
            at += V::BYTES;
        }
        shifted.store_partial(to.add(at), bytes - at);
    }
}

/// Transposes a plane of chunks that are no register unit, in pieces of about a kibibyte of the destination.
#[inline(always)]
unsafe fn chunks<V: Vector>(from: *const u8, to: *mut u8, plane: &Plane, stream: bool) {
    let Plane { chunk, across, along, .. } = plane;
    let (chunk, whole) = (*chunk, chunk.is_multiple_of(V::BYTES));
    // Two halves of a line are put together before it is stored.
    let halves = chunk * 2 == V::BYTES && across.are_multiples_of(V::BYTES);
    let aligned = stream && to.align_offset(V::BYTES) == 0 && across.are_multiples_of(V::BYTES);
    if (9..32).contains(&chunk) && across.stride() == Some(along.extent * chunk) {
        // SAFETY: the caller's promise, passed on; the destination is dense.
        return unsafe { overlapping(from, to, plane) };
    }
    let piece = (1024 / chunk).max(2).next_multiple_of(2);
    for first in (0..along.extent).step_by(piece) {
        let last = (first + piece).min(along.extent);
        for a in 0..across.extent {
            // SAFETY: the caller's promise: every chunk of the plane lies inside both sides; lines that are streamed are
            // aligned, as every destination row is and `first` is even.
            unsafe {
                let (from, to) = (from.add(a * chunk), to.add(across.at(a)));
                let mut b = first;
                while aligned && halves && b + 2 <= last {
                    V::load_halves(from.add(along.at(b)), from.add(along.at(b + 1))).stream(to.add(b * chunk));
                    b += 2;
                }
                for b in b..last {
                    let (from, to) = (from.add(along.at(b)), to.add(b * chunk));
                    if whole {
                        for at in (0..chunk).step_by(V::BYTES) {
                            let line = V::load(from.add(at));
                            if aligned { line.stream(to.add(at)) } else { line.store(to.add(at)) }
                        }
                    } else if chunk < V::BYTES {
                        V::load_partial(from, chunk).store_partial(to, chunk);
                    } else {
                        row::<V>(from, to, chunk, false);
                    }
                }
            }
        }
    }
}

/// A plane of chunks of 9 to 31 bytes whose destination is dense: each chunk is copied with a few bytes more than it has,
/// which the next chunk overwrites.
#[inline(always)]
unsafe fn overlapping(from: *const u8, to: *mut u8, plane: &Plane) {
    let Plane { chunk, across, along, .. } = plane;
    let last = across.extent - 1;
    // SAFETY: 16 or 32 bytes are less than two chunks, and every column but the last has another one behind it on both
    // sides; the last is copied exactly.
    unsafe {
        for a in 0..last {
            for b in 0..along.extent {
                let (from, to) = (from.add(a * chunk + along.at(b)), to.add((a * along.extent + b) * chunk));
                if *chunk <= 16 {
                    to.cast::<[u8; 16]>().write(from.cast::<[u8; 16]>().read());
                } else {
                    to.cast::<[u8; 32]>().write(from.cast::<[u8; 32]>().read());
                }
            }
        }
        for b in 0..along.extent {
            let (from, to) = (from.add(last * chunk + along.at(b)), to.add((last * along.extent + b) * chunk));
            std::ptr::copy_nonoverlapping(from, to, *chunk);
        }
    }
}

/// Transposes a plane of units: `N` of them fill a register, a quarter of `N` is `Q`.
#[inline(always)]
pub(super) unsafe fn plane<V: Widths, const UNIT: usize, const N: usize, const Q: usize>(
    from: *const u8,
    to: *mut u8,
    plane: &Plane,
    stream: bool,
) {
    let Plane { across, along, .. } = plane;
    // SAFETY: the caller's promise, passed on; the conditions are the contracts of the dense kernels.
    unsafe {
        if plane.twist.is_some() {
            return blocks_at::<V, UNIT, N, Q>(from, to, plane, stream);
        }
        if across.stride() == Some(along.extent * UNIT)
            && let Some(pitch) = along.stride()
        {
            match along.extent {
                2 if N > 2 => return weave::<V, UNIT, N, 2>(from, to, across.extent, pitch, stream),
                3 if N > 3 && V::HAS_THREE => return weave_three::<V, UNIT, N>(from, to, across.extent, pitch, stream),
                4 if N > 4 => return weave::<V, UNIT, N, 4>(from, to, across.extent, pitch, stream),
                8 if N > 8 => return weave::<V, UNIT, N, 8>(from, to, across.extent, pitch, stream),
                16 if N > 16 => return weave::<V, UNIT, N, 16>(from, to, across.extent, pitch, stream),
                _ => {}
            }
        }
        if along.stride() == Some(across.extent * UNIT)
            && let Some(pitch) = across.stride()
        {
            match across.extent {
                2 if N > 2 => return unweave::<V, UNIT, N, 2>(from, to, along.extent, pitch, stream),
                3 if N > 3 && V::HAS_THREE => {
                    return unweave_three::<V, UNIT, N>(from, to, along.extent, pitch, stream);
                }
                4 if N > 4 => return unweave::<V, UNIT, N, 4>(from, to, along.extent, pitch, stream),
                8 if N > 8 => return unweave::<V, UNIT, N, 8>(from, to, along.extent, pitch, stream),
                16 if N > 16 => return unweave::<V, UNIT, N, 16>(from, to, along.extent, pitch, stream),
                _ => {}
            }
        }
        if across.extent.min(along.extent) * 4 <= N && UNIT < 4 {
            // Too thin for square blocks.
            return thin::<UNIT>(from, to, plane);
        }
        blocks_at::<V, UNIT, N, Q>(from, to, plane, stream);
    }
}

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
unsafe fn blocks_at<V: Widths, const UNIT: usize, const N: usize, const Q: usize>(
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

/// A plane with few rows or columns, unit by unit.
#[inline(always)]
unsafe fn thin<const UNIT: usize>(from: *const u8, to: *mut u8, plane: &Plane) {
    let Plane { across, along, .. } = plane;
    for first in (0..across.extent).step_by(64) {
        for b in 0..along.extent {
            let row = along.at(b);
            for a in first..(first + 64).min(across.extent) {
                // SAFETY: the caller's promise: every unit of the plane lies inside both sides.
                unsafe {
                    std::ptr::copy_nonoverlapping(from.add(a * UNIT + row), to.add(across.at(a) + b * UNIT), UNIT);
                }
            }
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
                            V::prefetch(from.wrapping_add(self.origin.place(b + i) + 2 * V::BYTES));
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
                V::edge::<UNIT, N, Q, P>(self, (a, b), (rows, columns));
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
    pub(super) unsafe fn edge<V: Vector, const UNIT: usize, const N: usize, const Q: usize>(
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
            for (i, line) in square::<V, UNIT, N, Q>(lines).into_iter().enumerate().take(columns) {
                line.store_partial(to.add(self.target.place(a + i)), rows * UNIT);
            }
        }
    }
}

/// A square of `N` by `N` units, transposed. Bytes go by fours first, so that the registers suffice.
#[inline(always)]
unsafe fn square<V: Vector, const UNIT: usize, const N: usize, const Q: usize>(lines: [V; N]) -> [V; N] {
    // SAFETY: no memory is touched; the features are the caller's promise.
    unsafe {
        if UNIT > 1 {
            return shuffled::<V, UNIT, N>(lines);
        }
        let mut fours = [[V::zero(); Q]; 4];
        for group in 0..Q {
            let rows = [lines[4 * group], lines[4 * group + 1], lines[4 * group + 2], lines[4 * group + 3]];
            for (four, line) in fours.iter_mut().zip(shuffled::<V, 1, 4>(rows)) {
                four[group] = line;
            }
        }
        let mut result = lines;
        for (quarter, four) in fours.into_iter().enumerate() {
            for (column, line) in shuffled::<V, 4, Q>(four).into_iter().enumerate() {
                result[quarter * Q + column] = line;
            }
        }
        result
    }
}

/// The rows in `lines`, interleaved unit by unit.
#[inline(always)]
unsafe fn shuffled<V: Vector, const UNIT: usize, const ROWS: usize>(mut lines: [V; ROWS]) -> [V; ROWS] {
    for _ in 0..ROWS.ilog2() {
        let old = lines;
        for i in 0..ROWS / 2 {
            // SAFETY: no memory is touched; the features are the caller's promise.
            (lines[2 * i], lines[2 * i + 1]) = unsafe { old[i].interleave::<UNIT>(old[i + ROWS / 2]) };
        }
    }
    lines
}

/// Undoes [`shuffled`].
#[inline(always)]
unsafe fn unshuffled<V: Vector, const UNIT: usize, const ROWS: usize>(mut lines: [V; ROWS]) -> [V; ROWS] {
    for _ in 0..ROWS.ilog2() {
        let old = lines;
        for i in 0..ROWS / 2 {
            // SAFETY: no memory is touched; the features are the caller's promise.
            (lines[i], lines[i + ROWS / 2]) = unsafe { old[2 * i].deinterleave::<UNIT>(old[2 * i + 1]) };
        }
    }
    lines
}

/// How far ahead a woven row is asked for, in bytes: the next tile of a row of tiles lies about there.
const AHEAD: usize = 2048;

/// `ROWS` rows of `columns` units become one row in which they take turns.
#[inline(always)]
unsafe fn weave<V: Vector, const UNIT: usize, const N: usize, const ROWS: usize>(
    from: *const u8,
    to: *mut u8,
    columns: usize,
    source: usize,
    stream: bool,
) {
    let aligned = stream && to.align_offset(V::BYTES) == 0;
    let whole = columns - columns % N;
    // SAFETY: reads `columns` units of `ROWS` rows and writes as many in a row, as promised.
    unsafe {
        let mut lines = [V::zero(); ROWS];
        for first in (0..whole).step_by(N) {
            for (i, line) in lines.iter_mut().enumerate() {
                *line = V::load(from.add(i * source + first * UNIT));
            }
            for (i, line) in shuffled::<V, UNIT, ROWS>(lines).into_iter().enumerate() {
                let to = to.add(first * UNIT * ROWS + i * V::BYTES);
                if aligned { line.stream(to) } else { line.store(to) }
            }
        }
        let bytes = (columns - whole) * UNIT;
        if bytes > 0 {
            for (i, line) in lines.iter_mut().enumerate() {
                *line = V::load_partial(from.add(i * source + whole * UNIT), bytes);
            }
            let to = to.add(whole * UNIT * ROWS);
            for (i, line) in shuffled::<V, UNIT, ROWS>(lines).into_iter().enumerate() {
                let left = (bytes * ROWS).saturating_sub(i * V::BYTES).min(V::BYTES);
                line.store_partial(to.wrapping_add(i * V::BYTES), left);
            }
        }
    }
}

/// One row in which `ROWS` rows of `columns` units take turns becomes those rows.
#[inline(always)]
unsafe fn unweave<V: Vector, const UNIT: usize, const N: usize, const ROWS: usize>(
    from: *const u8,
    to: *mut u8,
    columns: usize,
    destination: usize,
    stream: bool,
) {
    let aligned = stream && to.align_offset(V::BYTES) == 0 && destination.is_multiple_of(V::BYTES);
    let whole = columns - columns % N;
    // SAFETY: reads `columns * ROWS` units in a row and writes `columns` units of `ROWS` rows, as promised.
    unsafe {
        let mut lines = [V::zero(); ROWS];
        for first in (0..whole).step_by(N) {
            for (i, line) in lines.iter_mut().enumerate() {
                let from = from.add(first * UNIT * ROWS + i * V::BYTES);
                if stream {
                    V::prefetch(from.wrapping_add(AHEAD));
                }
                *line = V::load(from);
            }
            for (i, line) in unshuffled::<V, UNIT, ROWS>(lines).into_iter().enumerate() {
                let to = to.add(i * destination + first * UNIT);
                if aligned { line.stream(to) } else { line.store(to) }
            }
        }
        let bytes = (columns - whole) * UNIT;
        if bytes > 0 {
            for (i, line) in lines.iter_mut().enumerate() {
                let left = (bytes * ROWS).saturating_sub(i * V::BYTES).min(V::BYTES);
                *line = V::load_partial(from.wrapping_add(whole * UNIT * ROWS + i * V::BYTES), left);
            }
            for (i, line) in unshuffled::<V, UNIT, ROWS>(lines).into_iter().enumerate() {
                line.store_partial(to.add(i * destination + whole * UNIT), bytes);
            }
        }
    }
}

/// Three rows of `columns` units become one row in which they take turns.
#[inline(always)]
unsafe fn weave_three<V: Vector, const UNIT: usize, const N: usize>(
    from: *const u8,
    to: *mut u8,
    columns: usize,
    source: usize,
    stream: bool,
) {
    let aligned = stream && to.align_offset(V::BYTES) == 0;
    // SAFETY: reads `columns` units of three rows and writes as many in a row, as promised.
    unsafe {
        for first in (0..columns).step_by(N) {
            let bytes = (columns - first).min(N) * UNIT;
            let mut lines = [V::zero(); 3];
            for (i, line) in lines.iter_mut().enumerate() {
                let row = from.add(i * source + first * UNIT);
                *line = if bytes == V::BYTES { V::load(row) } else { V::load_partial(row, bytes) };
            }
            let to = to.add(first * UNIT * 3);
            for (i, line) in V::weave_three::<UNIT>(lines).into_iter().enumerate() {
                let to = to.add(i * V::BYTES);
                let left = (bytes * 3).saturating_sub(i * V::BYTES);
                if left < V::BYTES {
                    line.store_partial(to, left);
                } else if aligned {
                    line.stream(to);
                } else {
                    line.store(to);
                }
            }
        }
    }
}

/// One row in which three rows of `columns` units take turns becomes those rows.
#[inline(always)]
unsafe fn unweave_three<V: Vector, const UNIT: usize, const N: usize>(
    from: *const u8,
    to: *mut u8,
    columns: usize,
    destination: usize,
    stream: bool,
) {
    let aligned = stream && to.align_offset(V::BYTES) == 0 && destination.is_multiple_of(V::BYTES);
    // SAFETY: reads three times `columns` units in a row and writes `columns` units of three rows, as promised.
    unsafe {
        for first in (0..columns).step_by(N) {
            let bytes = (columns - first).min(N) * UNIT;
            let mut lines = [V::zero(); 3];
            for (i, line) in lines.iter_mut().enumerate() {
                let left = (bytes * 3).saturating_sub(i * V::BYTES);
                let from = from.wrapping_add(first * UNIT * 3 + i * V::BYTES);
                *line = if left >= V::BYTES { V::load(from) } else { V::load_partial(from, left) };
            }
            for (i, line) in V::unweave_three::<UNIT>(lines).into_iter().enumerate() {
                let to = to.add(i * destination + first * UNIT);
                if bytes < V::BYTES {
                    line.store_partial(to, bytes);
                } else if aligned {
                    line.stream(to);
                } else {
                    line.store(to);
                }
            }
        }
    }
}
