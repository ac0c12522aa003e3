//! Blocks of three vectors that are whole runs of reversed units: their shuffles are the same in every block. (Three, as pixels of three channels
//! are what is reversed.)

use super::super::super::plan::cost::{LINE, PREFETCH_IN_RUN};
use super::super::super::plan::nest::Stride;
use super::vector::{Operation, Vector};
use super::walk::Walk;

/// Vectors of a block.
const VECTORS: usize = 3;

/// The bytes of the longest block, and the pieces of one that has most: two lanes of each vector.
const LONGEST: usize = VECTORS * LINE;
const PIECES: usize = 2 * VECTORS;

/// The bytes of a lane of a vector.
pub(super) const LANE: usize = 16;

/// How the bytes of a block change places. Each piece of it, a vector or a lane, takes its bytes from twice as many in a row.
pub(super) struct ReversedBlock {
    /// Where those begin on the source.
    starts: [usize; PIECES],
    /// For each byte, which of those it is.
    order: [u8; LONGEST],
}

/// The same with its order in registers.
#[derive(Clone, Copy)]
pub(super) struct LoadedBlock<V> {
    starts: [usize; PIECES],
    orders: [V; VECTORS],
}

/// Which way blocks go.
pub(super) mod order {
    pub(in super::super) const FORWARDS: usize = 0;
    /// Backwards on one side: through the cache on the source (by trial), past it on the destination.
    pub(in super::super) const SOURCE: usize = 1;
    pub(in super::super) const DESTINATION: usize = 2;
}

/// Some blocks that follow each other.
pub(super) struct Blocks {
    /// Where the first block begins; on the side that goes backwards, where it ends.
    pub(super) from: *const u8,
    pub(super) to: *mut u8,
    pub(super) count: usize,
    pub(super) streaming: bool,
    /// How far ahead the source is prefetched.
    pub(super) prefetch: Option<usize>,
}

impl ReversedBlock {
    /// The bytes of a block.
    pub(super) const fn bytes<V: Vector>() -> usize {
        VECTORS * V::BYTES
    }

    /// A block in which each run of `run` bytes has its units of `unit` bytes in the opposite order; `None` if it is not whole runs, or some piece takes
    /// bytes that lie too far apart.
    pub(super) fn new<V: Vector>(unit: usize, run: usize) -> Option<ReversedBlock> {
        const { assert!(V::BYTES <= LINE) };
        let bytes = Self::bytes::<V>();
        if !bytes.is_multiple_of(run) || !run.is_multiple_of(unit) {
            return None;
        }
        let mut block = ReversedBlock { starts: [0; PIECES], order: [0; LONGEST] };
        let mut place = 0;
        for run_start in (0..bytes).step_by(run) {
            for unit_start in (run_start..run_start + run).step_by(unit).rev() {
                for byte in unit_start..unit_start + unit {
                    block.order[place] = u8::try_from(byte).ok()?;
                    place += 1;
                }
            }
        }
        let piece = if V::SHUFFLES_TWO { V::BYTES } else { LANE };
        for (start, order) in block.starts.iter_mut().zip(block.order[..bytes].chunks_exact_mut(piece)) {
            let first = order.iter().copied().min()?.min(u8::try_from(bytes - 2 * piece).ok()?);
            *start = usize::from(first);
            order.iter_mut().for_each(|byte| *byte -= first);
            if order.iter().any(|&byte| usize::from(byte) >= 2 * piece) {
                return None;
            }
        }
        Some(block)
    }

    /// With its order in registers.
    ///
    /// # Safety
    ///
    /// The block was made for `V`.
    #[inline(always)]
    pub(super) unsafe fn loaded<V: Vector>(&self) -> LoadedBlock<V> {
        // SAFETY: three vectors are at most the longest block.
        unsafe {
            let mut orders = [V::zero(); VECTORS];
            for (i, order) in orders.iter_mut().enumerate() {
                *order = V::load(self.order.as_ptr().add(i * V::BYTES));
            }
            LoadedBlock { starts: self.starts, orders }
        }
    }
}

impl<V: Vector> LoadedBlock<V> {
    /// Reverses some blocks.
    ///
    /// # Safety
    ///
    /// All blocks are readable on the source, and writable on the destination; where they are streamed, the first of them begins a line.
    #[inline(always)]
    pub(super) unsafe fn reverse<const LANES: usize, const ORDER: usize>(self, blocks: &Blocks) {
        let Blocks { mut from, mut to, count, streaming, prefetch } = *blocks;
        let bytes = ReversedBlock::bytes::<V>();
        // SAFETY: each piece reads twice its bytes from a place on where as many are left in the block, which is how they were chosen; what is written
        // is the block. Vectors of streamed blocks lie whole vectors behind the beginning of a line. A prefetch may go anywhere.
        unsafe {
            for _ in 0..count {
                match ORDER {
                    order::SOURCE => from = from.sub(bytes),
                    order::DESTINATION => to = to.sub(bytes),
                    _ => {}
                }
                for (i, order) in self.orders.into_iter().enumerate() {
                    if let Some(ahead) = prefetch {
                        let ahead = if ORDER == order::SOURCE { ahead.wrapping_neg() } else { ahead };
                        V::prefetch(from.wrapping_add(ahead).wrapping_add(i * V::BYTES));
                    }
                    let line = if V::SHUFFLES_TWO {
                        let low = from.add(self.starts[i]);
                        V::shuffle([V::load(low), V::load(low.add(V::BYTES))], order)
                    } else {
                        let mut low = [from; LANES];
                        for (lane, low) in low.iter_mut().enumerate() {
                            *low = from.add(self.starts[i * LANES + lane]);
                        }
                        V::shuffle_pairs(V::load_lanes(low), V::load_lanes(low.map(|low| low.add(LANE))), order)
                    };
                    let to = to.add(i * V::BYTES);
                    if streaming { line.store_past_cache(to) } else { line.store(to) }
                }
                if ORDER != order::SOURCE {
                    from = from.add(bytes);
                }
                if ORDER != order::DESTINATION {
                    to = to.add(bytes);
                }
            }
        }
    }
}

/// Runs through the cache that are blocks, up to a rest.
pub(super) struct ReverseBlocks<'a> {
    walk: &'a Walk<'a>,
    block: ReversedBlock,
    /// What is reversed block by block: so many bytes, so often.
    bytes: usize,
    count: Stride,
    /// They are one run each, and not whole runs.
    backwards: bool,
}

impl<'a> ReverseBlocks<'a> {
    /// For `count.extent` runs of `run` bytes an iteration; `None` if there is another kernel for them.
    pub(super) fn of<V: Vector>(walk: &'a Walk<'a>, unit: usize, run: usize, count: Stride) -> Option<Self> {
        let block = ReversedBlock::bytes::<V>();
        let side_by_side = (count.source, count.destination) == (run, run);
        if walk.streaming {
            None
        } else if side_by_side && run <= V::BYTES && run * count.extent >= block {
            let once = Stride { extent: 1, ..count };
            let block = ReversedBlock::new::<V>(unit, run)?;
            Some(ReverseBlocks { walk, block, bytes: run * count.extent, count: once, backwards: false })
        } else if run >= block && !LANE.is_multiple_of(unit) {
            let block = ReversedBlock::new::<V>(unit, block)?;
            Some(ReverseBlocks { walk, block, bytes: run, count, backwards: true })
        } else {
            None
        }
    }
}

impl Operation for ReverseBlocks<'_> {
    /// # Safety
    ///
    /// It was made for `V`, and in every iteration, each run is readable on the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let ReverseBlocks { walk, block, bytes, count, backwards } = self;
        let in_block = ReversedBlock::bytes::<V>();
        let last = bytes - in_block;
        // SAFETY: the block was made for `V`.
        let block = unsafe { block.loaded::<V>() };
        for iteration in walk.iterations(bytes * count.extent) {
            let prefetch = iteration.prefetch.then_some(PREFETCH_IN_RUN);
            for i in 0..count.extent {
                let from = iteration.from.wrapping_add(i * count.source);
                let to = iteration.to.wrapping_add(i * count.destination);
                let whole = Blocks { from, to, count: bytes / in_block, streaming: false, prefetch };
                let rest = Blocks { to: to.wrapping_add(last), count: 1, prefetch: None, ..whole };
                // SAFETY: as many blocks as there is room for; the last one, which is whole units or runs as well, may write some bytes a second time.
                unsafe {
                    if backwards {
                        block.reverse::<LANES, { order::SOURCE }>(&Blocks { from: from.add(bytes), ..whole });
                        block.reverse::<LANES, { order::SOURCE }>(&Blocks { from: from.add(in_block), ..rest });
                    } else {
                        block.reverse::<LANES, { order::FORWARDS }>(&whole);
                        block.reverse::<LANES, { order::FORWARDS }>(&Blocks { from: from.add(last), ..rest });
                    }
                }
            }
        }
    }
}
