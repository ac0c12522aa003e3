//! Permutes blocks: windows of the source are loaded and shuffled.
//! [`block_permutation`](crate::block_permutation) explains the algorithm.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::index_bits::PermuteIndexBits;
use super::side_by_side::{Neighbours, stream_run};
use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::block_permutation::{BlockPermutation, Gathers, LONGEST_PERIOD, Shuffles, Tables};
use crate::destination::Destination;
use crate::kernel::Kernel;
use crate::level::SMALL_PROGRAM;
use crate::machine::LINE;
use crate::portable;

/// # Safety
///
/// * The CPU has the features of `V`.
/// * In every iteration, the span of the permutation is readable on the source and writable on the
///   destination.
#[inline(never)]
pub(super) unsafe fn gather_blocks<V: Vector>(walk: &Walk<'_>, permutation: &BlockPermutation) {
    let blocks = permutation.blocks();
    match permutation.shuffles() {
        &Shuffles::Whole { register, step, ref indices }
            if register == V::BYTES && blocks * permutation.block() >= register =>
        {
            // SAFETY: CPU and memory are in the contract. Blocks of `Shuffles::Whole` follow each other
            // without a gap, so their span is `blocks * block` bytes on both sides: at least a vector. `step`
            // and the first `step` indices are those of a register of `register` bytes.
            unsafe { V::vectorize(WholeBlocks { walk, permutation, step, indices }) };
        }
        Shuffles::Bits(bits) if bits.register == V::BYTES => {
            // SAFETY: `PermuteIndexBits` has the contract of this function.
            unsafe { V::vectorize(PermuteIndexBits { walk, permutation, bits }) };
        }
        Shuffles::Tables(gathers) if gathers.register() == V::BYTES && blocks >= gathers.blocks() => {
            if V::SHUFFLES_TWO && gathers.of_registers() {
                // SAFETY: `GatherBlocks` has the contract of this function.
                unsafe { V::vectorize(GatherBlocks::<true> { walk, permutation, gathers }) };
            } else {
                // SAFETY: `GatherBlocks` has the contract of this function.
                unsafe { V::vectorize(GatherBlocks::<false> { walk, permutation, gathers }) };
            }
        }
        _ => {
            for iteration in walk.iterations() {
                // SAFETY: the span is in the contract. The permutation has the blocks `0..blocks`.
                unsafe { few_blocks(iteration.from, iteration.to, permutation, 0..blocks) };
            }
        }
    }
}

/// Copies some blocks atom by atom, through a buffer that safe code may write.
///
/// # Safety
///
/// * The span of the permutation is readable at `from` and writable at `to`.
/// * `blocks` are blocks of the permutation.
#[inline(never)]
unsafe fn few_blocks(from: *const u8, to: *mut u8, permutation: &BlockPermutation, blocks: Range<usize>) {
    let mut stage = [MaybeUninit::uninit(); LONGEST_PERIOD];
    let block = permutation.block();
    let at_once = (LONGEST_PERIOD / block).max(1);
    for first in blocks.clone().step_by(at_once) {
        let Some((part, (start, _))) = permutation.part(first..(first + at_once).min(blocks.end)) else { return };
        let (Some(span), Some(bytes)) = part.span() else { return };
        // SAFETY: on both sides, the span of these blocks is inside the span of the permutation. The first
        // `bytes` bytes of the buffer were just written.
        unsafe {
            let source = std::slice::from_raw_parts(from.add(start), span);
            let destination = &mut Destination::uninitialised(&mut stage[..bytes]);
            portable::run(&Kernel::PermuteBlocks(part), source, destination);
            std::ptr::copy_nonoverlapping(stage.as_ptr().cast(), to.add(first * block), bytes);
        }
    }
}

/// Permutes blocks that fit a register, in every iteration of the loops. One shuffle permutes `step` bytes of
/// a vector, which are whole blocks, always by the same indices.
struct WholeBlocks<'a> {
    walk: &'a Walk<'a>,
    permutation: &'a BlockPermutation,
    step: usize,
    indices: &'a [u8; LINE],
}

/// The blocks after the last whole vector. (A closure would be compiled without the features of `V`.)
struct LastBlocks {
    at: usize,
    bytes: usize,
    indices: [u8; LINE],
}

impl LastBlocks {
    /// Loads and permutes the blocks.
    ///
    /// # Safety
    ///
    /// * `bytes` bytes, fewer than a vector has, are readable at `from + at`.
    #[inline(always)]
    unsafe fn load<V: Vector>(&self, from: *const u8) -> V {
        // SAFETY: `bytes` bytes are readable at `from + at`, by the contract. `indices` has the bytes of a
        // line, which is at least a vector.
        unsafe { V::shuffle([V::load_partial(from.add(self.at), self.bytes)], V::load(self.indices.as_ptr())) }
    }
}

impl Operation for WholeBlocks<'_> {
    /// # Safety
    ///
    /// * In every iteration, the span of the permutation is readable on the source and writable on the
    ///   destination. The span has at least `V::BYTES` bytes, the same number on both sides.
    /// * `step` is at most `V::BYTES`, and the first `step` indices are below it.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let WholeBlocks { walk, permutation, step, indices } = self;
        let bytes = permutation.blocks() * permutation.block();
        let backwards = permutation.source_step() < 0;
        // If blocks go backwards, a vector ends with whole blocks. Its first `shift` bytes are not used.
        let shift = if backwards { u8::try_from(V::BYTES - step).unwrap_or(0) } else { 0 };
        let shifted = indices.map(|index| index.wrapping_add(shift));
        // `whole` vectors are inside the span. The `left` bytes after them are loaded and stored in part. If
        // blocks go backwards, the indices for these fewer blocks are lower by `fewer`.
        let whole = (bytes - V::BYTES) / step + 1;
        let left = bytes - whole * step;
        let fewer = if backwards && left > 0 { u8::try_from(step - left).unwrap_or(0) } else { 0 };
        let last = indices.map(|index| index.saturating_sub(fewer));
        let ahead = walk.in_row();
        // Only `step` bytes of a stored vector count, and the next store overwrites the rest. If vectors are
        // stored from last to first, the next one is in front, so the last `step` bytes count.
        let front = if backwards && walk.streaming { V::BYTES - step } else { 0 };
        let mut placed = [0; LINE];
        placed[front..front + step].copy_from_slice(&shifted[..step]);
        // SAFETY: `placed` has the bytes of a line, which is at least a vector.
        let order = unsafe { V::load(placed.as_ptr()) };
        let tail = LastBlocks { at: if backwards { 0 } else { whole * step }, bytes: left, indices: last };
        for iteration in walk.iterations() {
            // Vector `i`, for `i` below `whole`, is loaded `i * delta` bytes after `first`. That is inside
            // the span: its length on both sides, `bytes`, is at least `i * step + V::BYTES`.
            let (first, delta) = match backwards {
                true => (iteration.from.wrapping_add(bytes - V::BYTES), step.wrapping_neg()),
                false => (iteration.from, step),
            };
            let source = |i: usize| first.wrapping_add(delta.wrapping_mul(i));
            if walk.streaming && step == V::BYTES && left == 0 && iteration.to.align_offset(V::BYTES) == 0 {
                // The source is read front to back, in the direction that hardware prefetchers follow.
                for n in 0..whole {
                    let i = if backwards { whole - 1 - n } else { n };
                    // SAFETY: vector `i` is inside the span, on the source and on the destination. Its
                    // destination is aligned: it is `i` whole vectors after an aligned address. A prefetch
                    // may be given any address.
                    unsafe {
                        if ahead != 0 {
                            V::prefetch(source(i).wrapping_add(ahead));
                        }
                        V::shuffle([V::load(source(i))], order).stream(iteration.to.add(i * step));
                    }
                }
            } else if walk.streaming {
                let mut buffer = Buffer::new();
                let stage = Stage::<V>::in_buffer(&mut buffer);
                // The span is copied in parts, in the order of the source. Each part begins and ends at lines
                // of the destination, and its first vector may begin in front of it. A part is written out
                // only after the next part was gathered in the buffer (double buffering): a load of a line
                // right after two stores to halves of that line would stall, because store forwarding fails.
                let head = iteration.to.align_offset(LINE).min(bytes);
                let chunks = (bytes - head).div_ceil(DRAINED) + 1;
                let mut collected = None;
                for number in 0..=chunks {
                    let mut next = None;
                    if number < chunks {
                        let chunk = if backwards { chunks - 1 - number } else { number };
                        let start = if chunk == 0 { 0 } else { head + (chunk - 1) * DRAINED };
                        let end = (head + chunk * DRAINED).min(bytes);
                        let vectors = start / step..end.div_ceil(step).min(whole);
                        let begin = vectors.start * step;
                        // SAFETY: the buffer has two halves of `LONGEST_PERIOD / 2` bytes, and `place` is a
                        // line after the start of one of them.
                        let place = unsafe { stage.start.add(number % 2 * (LONGEST_PERIOD / 2) + LINE) };
                        if backwards && end > whole * step {
                            // SAFETY: blocks go backwards, so their last `left` bytes are readable at the
                            // start of the source span. They go behind the whole vectors of this part, and
                            // end at most `DRAINED` bytes and a vector after `place`, in the same half.
                            unsafe {
                                tail.load::<V>(iteration.from).store_partial(place.add(whole * step - begin), left);
                            }
                        }
                        for n in vectors.clone() {
                            let i = if backwards { vectors.start + (vectors.end - 1 - n) } else { n };
                            // SAFETY: vector `i` is inside the source span. In the buffer it begins at most a
                            // vector in front of `place`, and ends at most `DRAINED` bytes and two vectors
                            // after `place`. A prefetch may be given any address.
                            unsafe {
                                if ahead != 0 {
                                    V::prefetch(source(i).wrapping_add(ahead));
                                }
                                V::shuffle([V::load(source(i))], order).store(place.add(i * step - begin).sub(front));
                            }
                        }
                        if !backwards && end > whole * step {
                            // SAFETY: the last `left` bytes of the source span are readable. In this half of
                            // the buffer they end at most `DRAINED` bytes and a vector after `place`.
                            unsafe {
                                tail.load::<V>(iteration.from).store_partial(place.add(whole * step - begin), left);
                            }
                        }
                        // SAFETY: destination byte `start` is in the part's first vector, which is at
                        // `begin`.
                        next = Some((unsafe { place.add(start - begin) }, start, end - start));
                    }
                    if let Some((from, at, bytes)) = std::mem::replace(&mut collected, next) {
                        // SAFETY: `bytes` bytes of this part were stored from `from` on, in the half of the
                        // buffer that the next part does not use. Their end on the destination, `at + bytes`,
                        // is inside the span.
                        unsafe { stream_run::<V>(from, iteration.to.add(at), bytes, Neighbours::NONE, None) };
                    }
                }
            } else {
                let (mut from, mut to) = (first, iteration.to);
                for _ in 0..whole {
                    // SAFETY: `from` and `to` are the addresses of the next of `whole` vectors, which are
                    // inside the span. A prefetch may be given any address.
                    unsafe {
                        if ahead != 0 {
                            let ahead = if backwards { ahead.wrapping_neg() } else { ahead };
                            V::prefetch(from.wrapping_add(ahead));
                        }
                        V::shuffle([V::load(from)], order).store(to);
                    }
                    (from, to) = (from.wrapping_add(delta), to.wrapping_add(step));
                }
                if left > 0 {
                    // SAFETY: `left` bytes of the span are left at `to`. On the source, they are at the end
                    // of the span, or at its start if blocks go backwards.
                    unsafe { tail.load::<V>(iteration.from).store_partial(to, left) };
                }
            }
        }
    }
}

/// Permutes the blocks of every iteration, period by period. With `WHOLE`, windows are whole registers.
struct GatherBlocks<'a, const WHOLE: bool> {
    walk: &'a Walk<'a>,
    permutation: &'a BlockPermutation,
    gathers: &'a Gathers,
}

impl<const WHOLE: bool> Operation for GatherBlocks<'_, WHOLE> {
    /// # Safety
    ///
    /// * In every iteration, the span of the permutation is readable on the source and writable on the
    ///   destination.
    ///
    /// # Panics
    ///
    /// * If the tables are for registers of another size, or for windows of another length.
    /// * If the permutation has fewer blocks than a period.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let GatherBlocks { walk, permutation, gathers } = self;
        assert!(gathers.register() == V::BYTES && gathers.of_registers() == WHOLE, "tables of other vectors");
        let (blocks, of_period) = (permutation.blocks(), gathers.blocks());
        assert!(of_period > 0 && blocks >= of_period, "less than a period");
        let block = permutation.block();
        let bytes = of_period * block;
        assert!(bytes <= LONGEST_PERIOD, "a period that is longer than the staging buffer");
        let period = Period::<V, LANES, WHOLE> { gathers, tables: gathers.tables(), vector: PhantomData };
        let mut buffer = Buffer::new();
        let stage = Stage::<V>::in_buffer(&mut buffer);
        for iteration in walk.iterations() {
            let ahead = iteration.later.map(|later| later.addr().wrapping_sub(iteration.from.addr()));
            // The staging buffer begins with byte `front` of the destination. In the buffer, bytes
            // `front..run` of the destination are already written out, and bytes `run..end` still wait.
            let (mut front, mut run, mut end) = (0, 0, 0);
            for first in (0..blocks).step_by(of_period) {
                // The last period ends with the last block, and may begin inside the previous period.
                let begin = first.min(blocks - of_period);
                let at = begin * block;
                // SAFETY: the permutation has `of_period` blocks from `begin` on, and its span is readable at
                // `iteration.from`.
                let from = unsafe { iteration.from.add(permutation.source_of(begin..begin + of_period)) };
                if !walk.streaming {
                    // SAFETY: the blocks of the period are readable at `from`. On the destination, blocks
                    // have no gaps, so these blocks are writable `at` bytes after the start of the span.
                    unsafe { period.permute(from, iteration.to.add(at), ahead) };
                    continue;
                }
                if at < run {
                    // SAFETY: the buffer holds the bytes from `run` to `end`, which are inside the span.
                    unsafe { stage.drain(run - front, iteration.to.add(run), end - run) };
                    (front, run, end) = (at, at, at);
                } else if at + bytes - front > ROOM {
                    // SAFETY: `end - run` bytes wait in the buffer, from index `run - front` on, and there is
                    // room for them at its start. `copy` allows ranges that overlap.
                    unsafe { std::ptr::copy(stage.start.add(run - front), stage.start, end - run) };
                    front = run;
                }
                // SAFETY: the blocks of the period are readable at `from`. The buffer has `DRAINED` bytes and
                // two periods, and fewer than `DRAINED` bytes and a period wait in it. If this period did not
                // fit behind the waiting bytes, the branch above moved those to the start.
                unsafe { period.permute(from, stage.start.add(at - front), ahead) };
                // The bytes of this period are not written out yet, because a load of a line right after two
                // stores to halves of that line waits for both stores.
                if end - run >= DRAINED {
                    let rest = iteration.to.addr().wrapping_add(end) % LINE;
                    // SAFETY: the buffer holds the bytes from `run` to `end`, of which the last `rest`, less
                    // than a line, are left out. On the destination, `end` is inside the span.
                    unsafe { stage.drain(run - front, iteration.to.add(run), end - rest - run) };
                    run = end - rest;
                }
                end = at + bytes;
            }
            if walk.streaming {
                // SAFETY: the buffer holds the bytes from `run` to `end`, the end of the destination span.
                unsafe { stage.drain(run - front, iteration.to.add(run), end - run) };
            }
        }
    }
}

#[repr(align(64))]
struct Buffer([MaybeUninit<u8>; ROOM]);

impl Buffer {
    #[inline(always)]
    fn new() -> Buffer {
        Buffer([MaybeUninit::uninit(); ROOM])
    }
}

/// A staging buffer between the shuffles and the non-temporal stores. The buffer stays in the L1 cache.
///
/// All pointers into the buffer are derived from one pointer, made once. Another mutable reference, made
/// later, would end the right of earlier pointers to access the buffer (Stacked Borrows).
struct Stage<'a, V> {
    start: *mut u8,
    memory: PhantomData<(&'a mut Buffer, V)>,
}

/// Size of a staging buffer: when a period is added, `DRAINED` bytes and another period may wait in it.
const ROOM: usize = DRAINED + 2 * LONGEST_PERIOD;

/// How many bytes a staging buffer collects before whole lines are stored. By trial (Zen 5): with 4 KiB,
/// mirrored rows took 2.6 times as long, because nothing is stored while a whole page is loaded.
const DRAINED: usize = 1 << 9;

impl<'a, V: Vector> Stage<'a, V> {
    #[inline(always)]
    fn in_buffer(buffer: &'a mut Buffer) -> Stage<'a, V> {
        Stage { start: buffer.0.as_mut_ptr().cast(), memory: PhantomData }
    }

    /// Copies `bytes` bytes of the buffer, from index `at` on, to `to`, with non-temporal stores.
    ///
    /// # Safety
    ///
    /// * `bytes` bytes of the buffer, from index `at` on, have been written.
    /// * `bytes` bytes are writable at `to`.
    #[inline(always)]
    unsafe fn drain(&self, at: usize, to: *mut u8, bytes: usize) {
        // SAFETY: by the contract, the bytes of the buffer were written, and as many are writable at `to`.
        unsafe { stream_run::<V>(self.start.add(at), to, bytes, Neighbours::NONE, None) };
    }
}

struct Period<'a, V, const LANES: usize, const WHOLE: bool> {
    gathers: &'a Gathers,
    tables: Tables,
    vector: PhantomData<V>,
}

impl<V: Vector, const LANES: usize, const WHOLE: bool> Period<'_, V, LANES, WHOLE> {
    /// Permutes the blocks of one period. Windows that are `ahead` bytes after its windows are prefetched.
    ///
    /// # Safety
    ///
    /// * The blocks of a period are readable at `from`, and writable at `to`.
    #[inline(always)]
    unsafe fn permute(&self, from: *const u8, to: *mut u8, ahead: Option<usize>) {
        let mut tables = self.tables;
        if let Some(ahead) = ahead {
            for entry in self.gathers.windows() {
                // SAFETY: a prefetch may be given any address.
                unsafe { V::prefetch(from.wrapping_add(ahead).wrapping_add(offset(*entry))) };
            }
        }
        for group in self.gathers.groups() {
            let (rounds, vectors) = (group.rounds, group.vectors);
            // SAFETY: the tables have the vectors of all numbers of rounds one after the other, and the loop
            // goes through them once. Each arm calls the function that was compiled for its number of rounds.
            tables = unsafe {
                match rounds {
                    4 if WHOLE && self.gathers.of_nibbles() => self.group::<4, true>(tables, vectors, 4, from, to),
                    _ if self.gathers.of_nibbles() && !WHOLE => {
                        self.group::<0, true>(tables, vectors, rounds, from, to)
                    }
                    _ if SMALL_PROGRAM && !WHOLE => self.group::<0, false>(tables, vectors, rounds, from, to),
                    1 if WHOLE || !V::SHUFFLES_TWO => self.group::<1, false>(tables, vectors, 1, from, to),
                    2 if WHOLE || !V::SHUFFLES_TWO => self.group::<2, false>(tables, vectors, 2, from, to),
                    3 if WHOLE || !V::SHUFFLES_TWO => self.group::<3, false>(tables, vectors, 3, from, to),
                    4 if WHOLE || !V::SHUFFLES_TWO => self.group::<4, false>(tables, vectors, 4, from, to),
                    _ if WHOLE => unreachable!("a shuffle of whole registers has four of them at most"),
                    _ => self.group::<0, false>(tables, vectors, rounds, from, to),
                }
            };
        }
    }

    /// Makes and stores the next vectors of a period, all of `rounds` rounds, and returns the tables for the
    /// vectors after them. `ROUNDS` is `rounds`, or 0 if a loop counts the rounds.
    ///
    /// # Safety
    ///
    /// * The blocks of a period are readable at `from`, and writable at `to`.
    /// * The tables have entries for `vectors` vectors of `rounds` rounds. `NIBBLES` is whether atoms are
    ///   nibbles.
    #[inline(always)]
    unsafe fn group<const ROUNDS: usize, const NIBBLES: bool>(
        &self,
        mut tables: Tables,
        vectors: usize,
        rounds: usize,
        from: *const u8,
        to: *mut u8,
    ) -> Tables {
        debug_assert!(ROUNDS == 0 && !WHOLE || ROUNDS == rounds);
        let rounds = if ROUNDS == 0 { rounds } else { ROUNDS };
        for _ in 0..vectors {
            // SAFETY: each turn of the loop reads the entries of one vector, and moves the tables past them.
            // By invariant 2 of `Gathers`, the vector ends inside the period, which is writable at `to`.
            unsafe {
                let mut vector = self.shuffled::<ROUNDS>(&mut tables, rounds, from);
                if NIBBLES {
                    let (evens, odds) = vector.exchange_bits::<4>(self.shuffled::<ROUNDS>(&mut tables, rounds, from));
                    vector = odds.choose_bits(evens, V::load(tables.high));
                    tables.high = tables.high.add(V::BYTES);
                }
                vector.store(to.add(offset(tables.offsets.read())));
                tables.offsets = tables.offsets.add(1);
            }
        }
        tables
    }

    /// Shuffles the next windows by the next indices: the next vector, or one of its two shuffles of nibbles.
    ///
    /// # Safety
    ///
    /// * The blocks of a period are readable at `from`.
    /// * The tables have entries for a vector of `rounds` rounds.
    #[inline(always)]
    unsafe fn shuffled<const ROUNDS: usize>(&self, tables: &mut Tables, rounds: usize, from: *const u8) -> V {
        // SAFETY: `entry` is an entry of this vector, by the contract. By invariant 1 of `Gathers`, the
        // window that it names is inside the blocks of a period, which are readable at `from`.
        let window = |entry: *const u32| unsafe { from.add(offset(entry.read())) };
        // SAFETY: only a register is set, in code that is compiled with the features of `V`.
        let zero = unsafe { V::zero() };
        if WHOLE {
            let mut registers = [zero; ROUNDS];
            for (round, register) in registers.iter_mut().enumerate() {
                // SAFETY: the tables have an entry for each round, whose window is a whole register.
                *register = unsafe { V::load(window(tables.windows.add(round))) };
            }
            // SAFETY: all rounds share one vector of indices. Windows and indices move on to the next vector.
            unsafe {
                let index = V::load(tables.indices);
                tables.windows = tables.windows.add(ROUNDS);
                tables.indices = tables.indices.add(V::BYTES);
                return V::shuffle(registers, index);
            }
        }
        let mut bytes = zero;
        for _ in 0..rounds {
            let mut lanes = [from; LANES];
            for (lane, pointer) in lanes.iter_mut().enumerate() {
                // SAFETY: the tables have an entry for each lane of a round.
                *pointer = window(unsafe { tables.windows.add(lane) });
            }
            // SAFETY: each pointer is at a window of one lane, which is readable. By the contract, the tables
            // have `LANES` windows and one vector of indices for this round; both pointers go past these.
            unsafe {
                bytes = bytes.or(V::load_lanes(lanes).shuffle_in_lanes(V::load(tables.indices)));
                tables.windows = tables.windows.add(LANES);
                tables.indices = tables.indices.add(V::BYTES);
            }
        }
        bytes
    }
}

#[inline(always)]
fn offset(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
