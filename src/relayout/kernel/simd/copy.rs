//! Copies of contiguous runs, one after the other.

use super::super::super::plan::cost::{FEW_RUNS, LINE, LONG_RUN, LONGEST_PERMUTED, MEMCPY_FROM, PAGE};
use super::super::super::plan::machine::Knobs;
use super::super::super::plan::nest::Stride;
use super::order::{in_fours, opaque};
use super::vector::{Operation, Vector};
use super::walk::{Iteration, Walk};

/// Copies `count.extent` runs of `run` bytes an iteration.
pub(super) struct CopyRuns<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) run: usize,
    pub(super) count: Stride,
}

impl Operation for CopyRuns<'_> {
    /// # Safety
    ///
    /// In every iteration, each run is readable on the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let CopyRuns { walk, run, count } = self;
        // SAFETY: all arms copy the same runs; `repeat` is given a power of two of at most a vector, and the others the length
        // in their names.
        unsafe {
            if count.source == 0 && count.destination == run && run.is_power_of_two() && run <= V::BYTES {
                for iteration in walk.iterations(run) {
                    repeat::<V>(iteration.from, iteration.to, run, count.extent, walk.streaming);
                }
                return;
            }
            match run {
                1 => return short_runs::<V, 1>(walk, count),
                2 => return short_runs::<V, 2>(walk, count),
                4 => return short_runs::<V, 4>(walk, count),
                8 => return short_runs::<V, 8>(walk, count),
                12 => return short_runs::<V, 12>(walk, count),
                16 => return short_runs::<V, 16>(walk, count),
                _ => {}
            }
            let far = |stride: usize| stride >= PAGE;
            let jumps = count.extent == 1 || far(count.source) || far(count.destination);
            if walk.knobs.permuted && !walk.streaming && jumps && (4 * LINE + 1..LONGEST_PERMUTED).contains(&run) {
                return permuted_runs::<V>(walk, run, count);
            }
            if !walk.streaming && !walk.prefetch {
                match run {
                    17..=32 => return halved_runs::<16>(walk, run, count),
                    33..=64 => return halved_runs::<32>(walk, run, count),
                    65..=128 => return runs_of_lines::<V, 1>(walk, run, count),
                    129..=256 => return runs_of_lines::<V, 2>(walk, run, count),
                    _ => {}
                }
            }
            if walk.streaming {
                long_runs::<V, true>(walk, run, count);
            } else {
                long_runs::<V, false>(walk, run, count);
            }
        }
    }
}

/// Runs of any length, past the cache or through it.
///
/// # Safety
///
/// In every iteration, each run is readable on the source and writable on the destination.
#[inline(always)]
unsafe fn long_runs<V: Vector, const STREAMING: bool>(walk: &Walk<'_>, run: usize, count: Stride) {
    // SAFETY: all are runs of an iteration.
    unsafe {
        // Runs side by side in the destination are one long row of it, whose lines can be stored whole.
        let joined = STREAMING && count.destination == run && run >= LINE && count.extent > 1;
        let distance = (walk.knobs.prefetch_distance / run).clamp(1, count.extent.max(1));
        let followed = run >= LONG_RUN;
        for iteration in walk.iterations(run.saturating_mul(count.extent)) {
            let later = LaterRun { iteration: &iteration, count, distance, run, followed, knobs: walk.knobs };
            if joined && !(run.is_multiple_of(LINE) && iteration.to.align_offset(LINE) == 0) {
                join_runs::<V>(iteration.from, iteration.to, run, count, &later);
                continue;
            }
            for i in 0..count.extent {
                let (from, to) = (iteration.from.add(i * count.source), iteration.to.add(i * count.destination));
                copy_run::<V, STREAMING>(from, to, run, later.than(i));
            }
        }
    }
}

/// Runs of `SIZE` to twice as many bytes that are in the cache: two pieces each, which may overlap, without a branch.
///
/// # Safety
///
/// `run` is at least `SIZE` and at most twice as much. In every iteration, each run is readable on the source and writable on the destination.
#[inline(always)]
unsafe fn halved_runs<const SIZE: usize>(walk: &Walk<'_>, run: usize, count: Stride) {
    debug_assert!((SIZE..=2 * SIZE).contains(&run));
    for iteration in walk.iterations(run * count.extent) {
        for i in 0..count.extent {
            // SAFETY: a run of `run` bytes, at least `SIZE`, of this iteration.
            unsafe {
                let (from, to) = (iteration.from.add(i * count.source), iteration.to.add(i * count.destination));
                first_and_last::<SIZE>(from, to, run);
            }
        }
    }
}

/// The same of runs of `LINES` to twice as many lines. In vectors: arrays of so many bytes would go by way of the stack.
///
/// # Safety
///
/// `run` is at least `LINES` lines and at most twice as much. In every iteration, each run is readable on the source and writable on the
/// destination.
#[inline(always)]
unsafe fn runs_of_lines<V: Vector, const LINES: usize>(walk: &Walk<'_>, run: usize, count: Stride) {
    debug_assert!((LINES * LINE..=2 * LINES * LINE).contains(&run));
    let (last, permuted) = (run - LINES * LINE, walk.knobs.permuted);
    for iteration in walk.iterations(run * count.extent) {
        for i in 0..count.extent {
            let i = in_fours(i, count.extent, permuted);
            // SAFETY: the first and the last `LINES` lines of a run of this iteration.
            unsafe {
                let (from, to) = (iteration.from.add(i * count.source), iteration.to.add(i * count.destination));
                copy_lines::<V, LINES>(from, to, false);
                copy_lines::<V, LINES>(from.add(last), to.add(last), false);
            }
        }
    }
}

/// Runs of more than four lines that are in the L2 cache, whose lines go [in fours](in_fours).
///
/// # Safety
///
/// `run` is at least a line. In every iteration, each run is readable on the source and writable on the destination.
#[inline(always)]
unsafe fn permuted_runs<V: Vector>(walk: &Walk<'_>, run: usize, count: Stride) {
    debug_assert!(run >= LINE);
    let fours = opaque(run - run % (4 * LINE));
    for iteration in walk.iterations(run.saturating_mul(count.extent)) {
        for i in 0..count.extent {
            // SAFETY: lines of a run of this iteration: `next ^ 2 * LINE` lies in the same four as `next`, and the last may overlap the one before.
            unsafe {
                let (from, to) = (iteration.from.add(i * count.source), iteration.to.add(i * count.destination));
                let (mut next, mut at) = (0, fours);
                // One load and one store in a short loop: more of them would have constant strides again.
                while next < fours {
                    let line = opaque(next) ^ (2 * LINE);
                    copy_lines::<V, 1>(from.add(line), to.add(line), false);
                    next += LINE;
                }
                while at < run {
                    let line = at.min(run - LINE);
                    copy_lines::<V, 1>(from.add(line), to.add(line), false);
                    at += LINE;
                }
            }
        }
    }
}

/// What to prefetch while runs are copied.
struct LaterRun<'a> {
    iteration: &'a Iteration,
    count: Stride,
    /// How many runs ahead.
    distance: usize,
    run: usize,
    /// Does the hardware prefetcher follow the runs?
    followed: bool,
    knobs: &'a Knobs,
}

impl LaterRun<'_> {
    /// Where a run begins that is read some time after this one; in a long run, a place further on.
    #[inline(always)]
    fn than(&self, i: usize) -> Option<*const u8> {
        if self.followed {
            return self
                .iteration
                .later_in_rows(self.run, self.knobs)
                .map(|later| later.wrapping_add(i * self.count.source));
        }
        let from = self.iteration.from;
        match (i + self.distance).checked_sub(self.count.extent) {
            None => self.iteration.prefetch.then(|| from.wrapping_add((i + self.distance) * self.count.source)),
            Some(i) => self.iteration.later.map(|later| later.wrapping_add(i * self.count.source)),
        }
    }
}

/// Copies runs of so few bytes that a vector is too much.
///
/// # Safety
///
/// In every iteration, each run of `RUN` bytes is readable on the source and writable on the destination.
#[inline(always)]
unsafe fn short_runs<V: Vector, const RUN: usize>(walk: &Walk<'_>, count: Stride) {
    for iteration in walk.iterations(RUN * count.extent) {
        if let Some(later) = iteration.later.filter(|_| count.extent <= FEW_RUNS) {
            for i in 0..count.extent {
                // SAFETY: a prefetch may go anywhere.
                unsafe { V::prefetch(later.wrapping_add(i * count.source)) };
            }
        }
        for i in 0..count.extent {
            // SAFETY: a run.
            unsafe {
                let (from, to) = (iteration.from.add(i * count.source), iteration.to.add(i * count.destination));
                to.cast::<[u8; RUN]>().write(from.cast::<[u8; RUN]>().read());
            }
        }
    }
}

/// Copies a run of `run` bytes between each pair of offsets, once for every iteration of `count`.
pub(super) struct CopyTable<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) run: usize,
    pub(super) offsets: &'a [(usize, usize)],
    pub(super) count: Stride,
}

impl Operation for CopyTable<'_> {
    /// # Safety
    ///
    /// In every iteration, each run is readable on the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let CopyTable { walk, run, offsets, count } = self;
        for iteration in walk.iterations(run * offsets.len() * count.extent) {
            for i in 0..count.extent {
                // SAFETY: a run.
                unsafe {
                    let (from, to) = (iteration.from.add(i * count.source), iteration.to.add(i * count.destination));
                    for &(source, destination) in offsets {
                        if walk.streaming {
                            copy_run::<V, true>(from.add(source), to.add(destination), run, None);
                        } else {
                            copy_run::<V, false>(from.add(source), to.add(destination), run, None);
                        }
                    }
                }
            }
        }
    }
}

/// Copies `bytes` bytes, and prefetches as many at `later`. With `STREAMING`, whole lines of the destination are stored past
/// the cache.
///
/// # Safety
///
/// `bytes` bytes are readable at `from` and writable at `to`.
#[inline(always)]
pub(super) unsafe fn copy_run<V: Vector, const STREAMING: bool>(
    from: *const u8,
    to: *mut u8,
    bytes: usize,
    later: Option<*const u8>,
) {
    // SAFETY: all accesses lie inside the first `bytes` bytes on both sides; with `STREAMING`, `at` is where a line of the destination
    // begins.
    unsafe {
        if bytes <= LINE {
            if let Some(later) = later {
                V::prefetch(later);
            }
            if bytes == LINE && STREAMING && to.align_offset(LINE) == 0 {
                return copy_lines::<V, 1>(from, to, true);
            }
            return short(from, to, bytes);
        }
        if !STREAMING && bytes <= 4 * LINE {
            return short(from, to, bytes);
        }
        if !STREAMING && bytes >= MEMCPY_FROM {
            std::ptr::copy_nonoverlapping(from, to, bytes);
            return;
        }
        let mut at = if STREAMING { to.align_offset(LINE).min(bytes) } else { 0 };
        short(from, to, at);
        // Registers of a line, and whatever is in the cache, go line by line: prefetchers follow one instruction, not four (Z5).
        while STREAMING && V::BYTES < LINE && at + 4 * LINE <= bytes {
            if let Some(later) = later {
                for line in 0..4 {
                    V::prefetch(later.wrapping_add(at + line * LINE));
                }
            }
            copy_lines::<V, 4>(from.add(at), to.add(at), STREAMING);
            at += 4 * LINE;
        }
        while at + LINE <= bytes {
            if let Some(later) = later {
                V::prefetch(later.wrapping_add(at));
            }
            copy_lines::<V, 1>(from.add(at), to.add(at), STREAMING);
            at += LINE;
        }
        if STREAMING {
            short(from.add(at), to.add(at), bytes - at);
        } else if at < bytes {
            // The last line overlaps the one before.
            copy_lines::<V, 1>(from.add(bytes - LINE), to.add(bytes - LINE), false);
        }
    }
}

/// Copies up to four lines; all are read before one is written.
///
/// # Safety
///
/// `LINES * LINE` bytes are readable at `from` and writable at `to`, which is a multiple of a line if `streaming` is set.
#[inline(always)]
pub(super) unsafe fn copy_lines<V: Vector, const LINES: usize>(from: *const u8, to: *mut u8, streaming: bool) {
    const { assert!(LINE / V::BYTES <= 2 && LINE.is_multiple_of(V::BYTES)) };
    debug_assert!(!streaming || to.align_offset(LINE) == 0);
    // SAFETY: `LINE / V::BYTES` vectors of each line, aligned as the lines are.
    unsafe {
        let mut parts = [[V::zero(); 2]; LINES];
        for (i, line) in parts.iter_mut().enumerate() {
            for (j, part) in line.iter_mut().enumerate().take(LINE / V::BYTES) {
                *part = V::load(from.add(i * LINE + j * V::BYTES));
            }
        }
        for (i, line) in parts.into_iter().enumerate() {
            for (j, part) in line.into_iter().enumerate().take(LINE / V::BYTES) {
                let to = to.add(i * LINE + j * V::BYTES);
                if streaming { part.stream(to) } else { part.store(to) }
            }
        }
    }
}

/// Copies at most 256 bytes: two overlapping pieces of half the next power of two.
///
/// # Safety
///
/// `bytes` bytes are readable at `from` and writable at `to`.
#[inline(always)]
pub(in super::super) unsafe fn short(from: *const u8, to: *mut u8, bytes: usize) {
    debug_assert!(bytes <= 256);
    // SAFETY: each arm is given at least as many bytes as its pieces have.
    unsafe {
        match bytes {
            128..=256 => first_and_last::<128>(from, to, bytes),
            64..128 => first_and_last::<64>(from, to, bytes),
            32..64 => first_and_last::<32>(from, to, bytes),
            16..32 => first_and_last::<16>(from, to, bytes),
            8..16 => first_and_last::<8>(from, to, bytes),
            4..8 => first_and_last::<4>(from, to, bytes),
            2..4 => first_and_last::<2>(from, to, bytes),
            1 => to.write(from.read()),
            _ => {}
        }
    }
}

/// Copies the first and the last `SIZE` of `bytes` bytes.
///
/// # Safety
///
/// `bytes` is at least `SIZE`, and as many bytes are readable at `from` and writable at `to`.
#[inline(always)]
unsafe fn first_and_last<const SIZE: usize>(from: *const u8, to: *mut u8, bytes: usize) {
    debug_assert!(bytes >= SIZE);
    // SAFETY: both pieces lie inside the first `bytes` bytes.
    unsafe {
        let first = from.cast::<[u8; SIZE]>().read();
        let last = from.add(bytes - SIZE).cast::<[u8; SIZE]>().read();
        to.cast::<[u8; SIZE]>().write(first);
        to.add(bytes - SIZE).cast::<[u8; SIZE]>().write(last);
    }
}

/// Copies runs that lie side by side in the destination past the cache: every line of it is stored once, also those that two runs
/// share.
///
/// # Safety
///
/// `run` is at least a line. `count.extent` runs, `count.source` bytes apart, are readable at `from`, and all of them in a row
/// writable at `to`.
#[inline(always)]
unsafe fn join_runs<V: Vector>(from: *const u8, to: *mut u8, run: usize, count: Stride, later: &LaterRun<'_>) {
    debug_assert!(run >= LINE);
    let total = run * count.extent;
    let head = to.align_offset(LINE).min(total);
    // SAFETY: `at` is a place of the run `start..end` in the destination, `at - start` the same place of it in the source. Lines that are
    // streamed begin at multiples of a line behind `head`, which is less than the first run. A line that two runs share takes
    // what is left of the one, and less than a line, so less than a run, of the next.
    unsafe {
        short(from, to, head);
        let mut at = head;
        for i in 0..count.extent {
            let (start, end) = (i * run, (i + 1) * run);
            let from = from.add(i * count.source);
            let later = later.than(i);
            while at + 4 * LINE <= end {
                if let Some(later) = later {
                    for line in 0..4 {
                        V::prefetch(later.wrapping_add(at - start + line * LINE));
                    }
                }
                copy_lines::<V, 4>(from.add(at - start), to.add(at), true);
                at += 4 * LINE;
            }
            while at + LINE <= end {
                copy_lines::<V, 1>(from.add(at - start), to.add(at), true);
                at += LINE;
            }
            let rest = end - at;
            if rest == 0 {
                continue;
            }
            let tail = from.add(at - start);
            if i + 1 == count.extent {
                return short(tail, to.add(at), rest);
            }
            let mut line = [0_u8; LINE];
            short(tail, line.as_mut_ptr(), rest);
            short(from.add(count.source), line.as_mut_ptr().add(rest), LINE - rest);
            copy_lines::<V, 1>(line.as_ptr(), to.add(at), true);
            at += LINE;
        }
    }
}

/// Writes one run `count` times in a row.
///
/// # Safety
///
/// `run` is a power of two of at most `V::BYTES`. As many bytes are readable at `from`, and `count` times as many writable at `to`.
#[inline(always)]
unsafe fn repeat<V: Vector>(from: *const u8, to: *mut u8, run: usize, count: usize, streaming: bool) {
    /// Two vectors of the widest kind.
    const TWICE: usize = 128;
    const { assert!(2 * V::BYTES <= TWICE) };
    debug_assert!(run.is_power_of_two() && run <= V::BYTES);
    let bytes = run * count;
    // SAFETY: reads the run, and writes at places below `bytes`, whole vectors only where as many bytes are left. `head % run` is less
    // than a vector, and two vectors are in `twice`. Streamed vectors lie whole vectors behind the aligned `head`.
    unsafe {
        let pattern = V::repeat(from, run);
        let head = if streaming { to.align_offset(V::BYTES).min(bytes) } else { 0 };
        let mut shifted = pattern;
        if head > 0 {
            pattern.store_partial(to, head);
            let mut twice = [0_u8; TWICE];
            pattern.store(twice.as_mut_ptr());
            pattern.store(twice.as_mut_ptr().add(V::BYTES));
            shifted = V::load(twice.as_ptr().add(head % run));
        }
        let put = |at: usize| if streaming { shifted.stream(to.add(at)) } else { shifted.store(to.add(at)) };
        let mut at = head;
        while at + 4 * V::BYTES <= bytes {
            put(at);
            put(at + V::BYTES);
            put(at + 2 * V::BYTES);
            put(at + 3 * V::BYTES);
            at += 4 * V::BYTES;
        }
        while at + V::BYTES <= bytes {
            put(at);
            at += V::BYTES;
        }
        // A masked store of no bytes would still read the line behind.
        if at < bytes {
            shifted.store_partial(to.add(at), bytes - at);
        }
    }
}
