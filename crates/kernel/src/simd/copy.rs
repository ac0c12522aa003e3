//! Copies of contiguous runs.
//!
//! The time of a short run is the time of its branches, so runs of up to 256 bytes are copied without a loop.
//! Long runs are copied line by line, so that the lines can be prefetched, stored whole with non-temporal
//! stores, or taken in a scattered order. [`Runs`] lists the code for each length, and the planner chooses.

use super::lines::{copy_lines, first_and_last, short};
use super::order::opaque;
use super::side_by_side::{Beside, LaterRun, Neighbours, stream_run};
use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::kernel::{Runs, Stride};
use crate::level::SMALL_PROGRAM;
use crate::machine::LINE;

pub(super) struct CopyRuns<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) run: usize,
    pub(super) count: Stride,
    pub(super) by: Runs,
}

impl Operation for CopyRuns<'_> {
    /// # Safety
    ///
    /// * In every iteration, each run is readable on the source and writable on the destination.
    /// * All bytes between the first and the last byte that any iteration reads are readable.
    /// * `run` is above 0, and `by` is code for runs of this length (`Kernel::fit`).
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let CopyRuns { walk, run, count, by } = self;
        match by {
            // SAFETY: `lines` requires what this function requires, except for `by`.
            Runs::Lines { ahead } if walk.streaming => return unsafe { lines::<V, true>(walk, run, count, ahead) },
            // SAFETY: `lines` requires what this function requires, except for `by`.
            Runs::Lines { ahead } => return unsafe { lines::<V, false>(walk, run, count, ahead) },
            // SAFETY: `lines` requires what this function requires, except for `by`.
            Runs::Scattered if SMALL_PROGRAM => return unsafe { lines::<V, false>(walk, run, count, 0) },
            // Runs of 17 to 256 bytes have loops of their own. In the loop below, which all other lengths
            // share, they take 1.15 times as long (Zen 5). SAFETY: `Kernel::fit` allows this code for runs of
            // 17 to 256 bytes only. Each arm is for `SIZE` to `2 * SIZE` bytes, or for `LINES` to `2 * LINES`
            // lines.
            Runs::Halves if !SMALL_PROGRAM => unsafe {
                return match run {
                    ..=32 => halves::<16>(walk, run, count),
                    33..=64 => halves::<32>(walk, run, count),
                    65..=128 => halves_of_lines::<V, 1>(walk, run, count),
                    _ => halves_of_lines::<V, 2>(walk, run, count),
                };
            },
            _ => {}
        }
        for iteration in walk.iterations() {
            let runs = (iteration.from, iteration.to, count);
            match by {
                // SAFETY: the length of the run is a power of two, and at most a register. The run is
                // repeated without a gap, so the iteration writes `run * count.extent` bytes.
                Runs::Repeat => unsafe {
                    repeat::<V>(iteration.from, iteration.to, run, count.extent, walk.streaming);
                },
                Runs::Words => {
                    if let Some(later) = iteration.later {
                        for i in 0..count.extent {
                            // SAFETY: a prefetch may be given any address.
                            unsafe { V::prefetch(later.wrapping_add(i * count.source.cast_unsigned())) };
                        }
                    }
                    // SAFETY: `Kernel::fit` allows this code for runs of 1, 2, 4, 8, 12 and 16 bytes only,
                    // and each arm is for one of these lengths.
                    unsafe {
                        match run {
                            1 => words::<1>(runs),
                            2 => words::<2>(runs),
                            4 => words::<4>(runs),
                            8 => words::<8>(runs),
                            12 => words::<12>(runs),
                            _ => words::<16>(runs),
                        }
                    }
                }
                // SAFETY: `Kernel::fit` allows this code only for runs of at least a line.
                Runs::Scattered => unsafe { scattered_lines::<V>(runs, run) },
                // SAFETY: `Kernel::fit` allows this code only for runs of 17 to 256 bytes.
                Runs::Halves => unsafe { of_any_length(runs, run) },
                // SAFETY: the contract of `memcpy` is the first condition of this function.
                Runs::Memcpy | Runs::Lines { .. } => unsafe { memcpy(runs, run) },
            }
        }
    }
}

/// The addresses of the first run of an iteration, source and destination, and how many runs there are.
type SomeRuns = (*const u8, *mut u8, Stride);

/// # Safety
///
/// * `i` is below `count.extent`. Run `i` is inside the memory of `from`, and inside that of `to`.
#[inline(always)]
unsafe fn at(from: *const u8, to: *mut u8, count: Stride, i: usize) -> (*const u8, *mut u8) {
    // SAFETY: run `i` is inside the memory, by the contract. Strides inside a kernel are at least 0.
    unsafe { (from.add(i * count.source.cast_unsigned()), to.add(i * count.destination.cast_unsigned())) }
}

/// # Safety
///
/// * In every iteration, each run is readable on the source and writable on the destination.
/// * All bytes between the first and the last byte that any iteration reads are readable.
/// * `run` is above 0.
#[inline(always)]
unsafe fn lines<V: Vector, const STREAMING: bool>(walk: &Walk<'_>, run: usize, count: Stride, ahead: u32) {
    let source = count.source.cast_unsigned();
    // Runs that are side by side on the destination are one long row, whose lines can be stored whole.
    let joined = STREAMING && count.destination.cast_unsigned() == run && run >= LINE && count.extent > 1;
    let ahead = crate::kernel::count(ahead);
    let beside = if STREAMING && !joined { Beside::of(walk.loops, run) } else { None };
    for (number, iteration) in walk.iterations().enumerate() {
        let later = LaterRun { iteration: &iteration, count, ahead };
        let outside = beside.map_or(Neighbours::NONE, |beside| beside.neighbours(number));
        for i in 0..count.extent {
            // SAFETY: the run belongs to this iteration. The run in front of it belongs to this iteration or
            // to the previous one, so all source bytes from that run's start on are readable. The destination
            // line that both runs share holds bytes of no third run.
            unsafe {
                let (from, to) = at(iteration.from, iteration.to, count, i);
                if STREAMING {
                    let inside = Neighbours { before: (i > 0).then_some(source), after: i + 1 < count.extent };
                    stream_run::<V>(from, to, run, if joined { inside } else { outside }, later.than(i));
                } else {
                    copy_run::<V>(from, to, run, later.than(i));
                }
            }
        }
    }
}

/// # Safety
///
/// * Each of the `count` runs is readable on the source and writable on the destination.
#[inline(always)]
unsafe fn memcpy((from, to, count): SomeRuns, run: usize) {
    for i in 0..count.extent {
        // SAFETY: `i` is below `count.extent`, so run `i` may be read and written, by the contract.
        unsafe {
            let (from, to) = at(from, to, count, i);
            std::ptr::copy_nonoverlapping(from, to, run);
        }
    }
}

/// Copies runs of at most 256 bytes, with branches on the length of the run.
///
/// # Safety
///
/// * `run` is at most 256, and each run is readable on the source and writable on the destination.
#[inline(always)]
unsafe fn of_any_length((from, to, count): SomeRuns, run: usize) {
    for i in 0..count.extent {
        // SAFETY: `i` is below `count.extent`, so run `i` may be read and written, by the contract.
        unsafe {
            let (from, to) = at(from, to, count, i);
            short(from, to, run);
        }
    }
}

/// Copies runs of `SIZE` to `2 * SIZE` bytes, without a branch, as two halves that may overlap. The runs are
/// in a cache.
///
/// # Safety
///
/// * `run` is `SIZE` to `2 * SIZE`.
/// * In every iteration, each run is readable on the source and writable on the destination.
#[inline(always)]
unsafe fn halves<const SIZE: usize>(walk: &Walk<'_>, run: usize, count: Stride) {
    assert!((SIZE..=2 * SIZE).contains(&run));
    for iteration in walk.iterations() {
        for i in 0..count.extent {
            // SAFETY: by the contract, run `i` may be read and written, and has at least `SIZE` bytes.
            unsafe {
                let (from, to) = at(iteration.from, iteration.to, count, i);
                first_and_last::<SIZE>(from, to, run);
            }
        }
    }
}

/// Copies runs of `LINES` to `2 * LINES` lines as their first `LINES` lines and their last `LINES` lines. The
/// lines go through vectors, because the compiler would copy arrays of this length over the stack.
///
/// # Safety
///
/// * `run` is at least `LINES` lines and at most `2 * LINES` lines.
/// * In every iteration, each run is readable on the source and writable on the destination.
#[inline(always)]
unsafe fn halves_of_lines<V: Vector, const LINES: usize>(walk: &Walk<'_>, run: usize, count: Stride) {
    assert!((LINES * LINE..=2 * LINES * LINE).contains(&run));
    let last = run - LINES * LINE;
    for iteration in walk.iterations() {
        for i in 0..count.extent {
            // SAFETY: run `i` may be read and written, by the contract, and has at least `LINES` lines.
            unsafe {
                let (from, to) = at(iteration.from, iteration.to, count, i);
                copy_lines::<V, LINES>(from, to, false);
                copy_lines::<V, LINES>(from.add(last), to.add(last), false);
            }
        }
    }
}

/// Copies runs that are in the L2 cache. Of every four lines, line 2 is copied first, then 3, 0 and 1, in an
/// order which hardware prefetchers do not follow.
///
/// # Safety
///
/// * `run` is at least a line.
/// * Each of the `count` runs is readable on the source and writable on the destination.
#[inline(always)]
unsafe fn scattered_lines<V: Vector>((from, to, count): SomeRuns, run: usize) {
    debug_assert!(run >= LINE);
    let fours = opaque(run - run % (4 * LINE));
    for i in 0..count.extent {
        // SAFETY: `next ^ 2 * LINE` is a line of the same four lines as `next`, and `fours` is a multiple of
        // four lines inside the run. The last line ends with the run.
        unsafe {
            let (from, to) = at(from, to, count, i);
            let (mut next, mut at) = (0, fours);
            // One load instruction loads all lines, in the scattered order. If the loop were unrolled, each
            // of its load instructions would have a constant stride, which a hardware prefetcher follows.
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

/// Copies runs that are shorter than a vector, each by one load and one store of `RUN` bytes.
///
/// # Safety
///
/// * Each of the `count` runs of `RUN` bytes is readable on the source and writable on the destination.
#[inline(always)]
unsafe fn words<const RUN: usize>((from, to, count): SomeRuns) {
    for i in 0..count.extent {
        // SAFETY: `i` is below `count.extent`, so run `i` may be read and written, by the contract.
        unsafe {
            let (from, to) = at(from, to, count, i);
            to.cast::<[u8; RUN]>().write(from.cast::<[u8; RUN]>().read());
        }
    }
}

pub(super) struct CopyTable<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) run: usize,
    pub(super) offsets: &'a [(usize, usize)],
    pub(super) count: Stride,
}

impl Operation for CopyTable<'_> {
    /// # Safety
    ///
    /// * In every iteration, each listed run is readable on the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let CopyTable { walk, run, offsets, count } = self;
        for iteration in walk.iterations() {
            for i in 0..count.extent {
                // SAFETY: `i` is below `count.extent`, and `offsets` lists where runs begin. By the contract,
                // all these runs may be read and written.
                unsafe {
                    let (from, to) = at(iteration.from, iteration.to, count, i);
                    for &(source, destination) in offsets {
                        let (from, to) = (from.add(source), to.add(destination));
                        if walk.streaming {
                            stream_run::<V>(from, to, run, Neighbours::NONE, None);
                        } else if SMALL_PROGRAM {
                            std::ptr::copy_nonoverlapping(from, to, run);
                        } else {
                            copy_run::<V>(from, to, run, None);
                        }
                    }
                }
            }
        }
    }
}

/// Copies `bytes` bytes with ordinary stores, and prefetches as many bytes from `later` on.
///
/// # Safety
///
/// * `bytes` bytes are readable at `from` and writable at `to`.
#[inline(always)]
pub(super) unsafe fn copy_run<V: Vector>(from: *const u8, to: *mut u8, bytes: usize, later: Option<*const u8>) {
    if bytes <= 4 * LINE {
        if let Some(later) = later.filter(|_| bytes <= LINE) {
            // SAFETY: a prefetch may be given any address.
            unsafe { V::prefetch(later) };
        }
        // SAFETY: `short` has the contract of this function, and copies up to four lines.
        return unsafe { short(from, to, bytes) };
    }
    // The loop copies a line at a time, because the hardware prefetcher follows the addresses of one load
    // instruction, but not of four (Zen 5).
    let mut at = 0;
    while at < bytes {
        if let Some(later) = later {
            // SAFETY: a prefetch may be given any address.
            unsafe { V::prefetch(later.wrapping_add(at)) };
        }
        // The last `LINE` bytes of the run are copied together. Some of them may have been copied before.
        let line = at.min(bytes - LINE);
        // SAFETY: the line ends at or before byte `bytes`, up to which the contract allows access.
        unsafe { copy_lines::<V, 1>(from.add(line), to.add(line), false) };
        at += LINE;
    }
}

/// # Safety
///
/// * `run` is a power of two of at most `V::BYTES`.
/// * `run` bytes are readable at `from`, and `run * count` bytes writable at `to`.
#[inline(always)]
unsafe fn repeat<V: Vector>(from: *const u8, to: *mut u8, run: usize, count: usize, streaming: bool) {
    /// Two vectors of the widest level, in bytes.
    const TWICE: usize = 128;
    const { assert!(2 * V::BYTES <= TWICE) };
    assert!(run.is_power_of_two() && run <= V::BYTES);
    let bytes = run * count;
    // SAFETY: `run` bytes are readable at `from`, and `run` is at most a vector.
    let pattern = unsafe { V::repeat(from, run) };
    let head = if streaming { to.align_offset(V::BYTES).min(bytes) } else { 0 };
    let mut shifted = pattern;
    if head > 0 {
        let mut twice = [0_u8; TWICE];
        // SAFETY: `head` is at most `bytes`, and less than a vector. `twice` has room for two vectors. The
        // load from it begins at byte `head % run`, inside the first vector.
        unsafe {
            pattern.store_partial(to, head);
            pattern.store(twice.as_mut_ptr());
            pattern.store(twice.as_mut_ptr().add(V::BYTES));
            shifted = V::load(twice.as_ptr().add(head % run));
        }
    }
    // SAFETY: whole vectors are stored only where a whole vector of bytes is left, and the rest is stored in
    // part. With `streaming`, the first vector is at the aligned address `head` bytes after `to`, and the
    // other vectors follow it without a gap.
    unsafe {
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
        // Without this check, a masked store of no bytes would still ask the cache for the line after the
        // destination.
        if at < bytes {
            shifted.store_partial(to.add(at), bytes - at);
        }
    }
}
