//! Permutes blocks by shuffles of source windows. [`block_permutation`](crate::block_permutation) explains
//! the algorithm.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::side_by_side::{Neighbours, stream_run};
use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::block_permutation::{BlockPermutation, Gathers, LONGEST_PERIOD, Tables};
use crate::destination::Destination;
use crate::kernel::Kernel;
use crate::portable;

/// Runs the permutation in every iteration of a walk.
///
/// # Safety
///
/// * In every iteration, the span of the permutation is readable on the source and writable on the
///   destination.
#[inline(never)]
pub(super) unsafe fn gather_blocks<V: Vector>(walk: &Walk<'_>, permutation: &BlockPermutation) {
    let gathers = permutation.gathers();
    // SAFETY: the contract of this function. The size of the register and the kind of windows are checked by
    // the conditions below.
    unsafe {
        if gathers.register() != V::BYTES || permutation.blocks() < gathers.blocks() {
            for iteration in walk.iterations() {
                few_blocks(iteration.from, iteration.to, permutation, 0..permutation.blocks());
            }
        } else if V::SHUFFLES_TWO && gathers.of_registers() {
            V::vectorize(GatherBlocks::<true> { walk, permutation });
        } else {
            V::vectorize(GatherBlocks::<false> { walk, permutation });
        }
    }
}

/// Copies some blocks atom by atom, through a buffer that safe code may write.
///
/// # Safety
///
/// * The span of the permutation is readable at `from` and writable at `to`.
/// * The permutation has these blocks.
#[inline(never)]
unsafe fn few_blocks(from: *const u8, to: *mut u8, permutation: &BlockPermutation, blocks: Range<usize>) {
    let mut stage = [MaybeUninit::uninit(); LONGEST_PERIOD];
    let block = permutation.block();
    let at_once = (LONGEST_PERIOD / block).max(1);
    for first in blocks.clone().step_by(at_once) {
        let Some((part, (start, _))) = permutation.part(first..(first + at_once).min(blocks.end)) else { return };
        let (Some(span), Some(bytes)) = part.span() else { return };
        // SAFETY: the span of the part is inside the span of the permutation on both sides. The first `bytes`
        // bytes of the buffer were just written.
        unsafe {
            let source = std::slice::from_raw_parts(from.add(start), span);
            let destination = &mut Destination::uninitialised(&mut stage[..bytes]);
            portable::run(&Kernel::PermuteBlocks(part), source, destination, (0, 0));
            std::ptr::copy_nonoverlapping(stage.as_ptr().cast(), to.add(first * block), bytes);
        }
    }
}

/// Permutes the blocks of every iteration of a walk. With `WHOLE`, windows are as long as vectors.
struct GatherBlocks<'a, const WHOLE: bool> {
    walk: &'a Walk<'a>,
    permutation: &'a BlockPermutation,
}

impl<const WHOLE: bool> Operation for GatherBlocks<'_, WHOLE> {
    /// # Safety
    ///
    /// * In every iteration, the span of the permutation is readable on the source and writable on the
    ///   destination.
    ///
    /// # Panics
    ///
    /// * If the tables are for vectors of another size, or for the other kind of windows.
    /// * If the permutation has fewer blocks than a period.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let GatherBlocks { walk, permutation } = self;
        let gathers = permutation.gathers();
        assert!(gathers.register() == V::BYTES && gathers.of_registers() == WHOLE, "tables of other vectors");
        let (blocks, of_period) = (permutation.blocks(), gathers.blocks());
        assert!(of_period > 0 && blocks >= of_period, "less than a period");
        let block = permutation.block();
        let bytes = of_period * block;
        assert!(bytes <= LONGEST_PERIOD, "a period that is longer than the staging buffer");
        let period = Period::<V, LANES, WHOLE> { gathers, tables: gathers.tables(), vector: PhantomData };
        let mut stage = Stage::<V> { buffer: Buffer([MaybeUninit::uninit(); LONGEST_PERIOD]), vector: PhantomData };
        for iteration in walk.iterations() {
            let (mut staged, mut run) = (0, 0);
            for first in (0..blocks).step_by(of_period) {
                // The last period ends with the last block, and may begin inside the previous period.
                let begin = first.min(blocks - of_period);
                // SAFETY: the period from block `begin` on is inside the permutation, whose span is readable
                // and writable. The buffer holds `staged` bytes of the destination from `run` on, and has
                // room for one more period.
                unsafe {
                    let from = iteration.from.add(permutation.source_of(begin..begin + of_period));
                    if !walk.streaming {
                        period.permute(from, iteration.to.add(begin * block));
                        continue;
                    }
                    if staged + bytes > LONGEST_PERIOD || begin * block != run + staged {
                        stage.drain(iteration.to.add(run), staged);
                        (staged, run) = (0, begin * block);
                    }
                    period.permute(from, stage.start().add(staged));
                    staged += bytes;
                }
            }
            if walk.streaming {
                // SAFETY: the first `staged` bytes of the buffer were written. They belong at byte `run` of
                // the destination.
                unsafe { stage.drain(iteration.to.add(run), staged) };
            }
        }
    }
}

/// A staging buffer between the shuffles and the non-temporal stores. The buffer stays in the L1 cache.
struct Stage<V> {
    buffer: Buffer,
    vector: PhantomData<V>,
}

#[repr(align(64))]
struct Buffer([MaybeUninit<u8>; LONGEST_PERIOD]);

impl<V: Vector> Stage<V> {
    #[inline(always)]
    fn start(&mut self) -> *mut u8 {
        self.buffer.0.as_mut_ptr().cast()
    }

    /// Copies the first `bytes` bytes of the buffer to `to`, with non-temporal stores.
    ///
    /// # Safety
    ///
    /// * The first `bytes` bytes of the buffer have been written.
    /// * `bytes` bytes are writable at `to`.
    #[inline(always)]
    unsafe fn drain(&mut self, to: *mut u8, bytes: usize) {
        // SAFETY: the contract of this function.
        unsafe { stream_run::<V>(self.start(), to, bytes, Neighbours::NONE, None) };
    }
}

/// One period of a permutation, and its tables.
struct Period<'a, V, const LANES: usize, const WHOLE: bool> {
    gathers: &'a Gathers,
    tables: Tables,
    vector: PhantomData<V>,
}

impl<V: Vector, const LANES: usize, const WHOLE: bool> Period<'_, V, LANES, WHOLE> {
    /// Permutes one period.
    ///
    /// # Safety
    ///
    /// * The blocks of a period are readable at `from`, and writable at `to`.
    #[inline(always)]
    unsafe fn permute(&self, from: *const u8, to: *mut u8) {
        let mut tables = self.tables;
        for group in self.gathers.groups() {
            let (rounds, vectors) = (group.rounds, group.vectors);
            // SAFETY: the groups go through the tables once and in order. Each arm calls the function that
            // was compiled for its number of rounds.
            tables = unsafe {
                match rounds {
                    4 if WHOLE && self.gathers.of_nibbles() => self.group::<4, true>(tables, vectors, 4, from, to),
                    _ if self.gathers.of_nibbles() && !WHOLE => {
                        self.group::<0, true>(tables, vectors, rounds, from, to)
                    }
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

    /// Computes the next vectors of a period, and returns the tables for the vectors after them. `ROUNDS` is
    /// `rounds`, or 0 for a function that counts the rounds in a loop.
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
            // SAFETY: each step reads the entries of one vector, and moves the tables past them. By invariant
            // 2 of `Gathers`, a vector is writable at its offset.
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

    /// Loads and shuffles the bytes that the next entries of the tables name.
    ///
    /// # Safety
    ///
    /// * The blocks of a period are readable at `from`.
    /// * The tables have entries for a vector of `rounds` rounds.
    #[inline(always)]
    unsafe fn shuffled<const ROUNDS: usize>(&self, tables: &mut Tables, rounds: usize, from: *const u8) -> V {
        // SAFETY: the entries that are read belong to one vector. By invariant 1 of `Gathers`, every window
        // is inside the blocks of a period.
        unsafe {
            let window = |entry: *const u32| from.add(offset(entry.read()));
            if WHOLE {
                let mut registers = [V::zero(); ROUNDS];
                for (round, register) in registers.iter_mut().enumerate() {
                    *register = V::load(window(tables.windows.add(round)));
                }
                let index = V::load(tables.indices);
                tables.windows = tables.windows.add(ROUNDS);
                tables.indices = tables.indices.add(V::BYTES);
                return V::shuffle(registers, index);
            }
            let mut bytes = V::zero();
            for _ in 0..rounds {
                let mut lanes = [from; LANES];
                for (lane, pointer) in lanes.iter_mut().enumerate() {
                    *pointer = window(tables.windows.add(lane));
                }
                bytes = bytes.or(V::load_lanes(lanes).shuffle_in_lanes(V::load(tables.indices)));
                tables.windows = tables.windows.add(LANES);
                tables.indices = tables.indices.add(V::BYTES);
            }
            bytes
        }
    }
}

/// Converts an entry of a table to an offset.
#[inline(always)]
fn offset(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
