//! Blocks of three vectors that are whole units, which are reversed past the cache: their shuffles are the
//! same in every block. (Three, as pixels of three channels are what is reversed.)

use super::vector::Vector;
use crate::cost::LINE;

/// Vectors of a block.
const VECTORS: usize = 3;

/// The bytes of the longest block, and the pieces of one that has most: two lanes of each vector.
const LONGEST: usize = VECTORS * LINE;
const PIECES: usize = 2 * VECTORS;

/// The bytes of a lane of a vector.
pub(super) const LANE: usize = 16;

/// How the bytes of a block change places. Each piece of it, a vector or a lane, takes its bytes from twice
/// as many in a row.
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

/// Some blocks that follow each other.
pub(super) struct Blocks {
    /// Where the first block begins on the source, and where it ends on the destination.
    pub(super) from: *const u8,
    pub(super) to: *mut u8,
    pub(super) count: usize,
    /// How far ahead the source is prefetched.
    pub(super) prefetch: Option<usize>,
}

impl ReversedBlock {
    /// The bytes of a block.
    pub(super) const fn bytes<V: Vector>() -> usize {
        VECTORS * V::BYTES
    }

    /// A block whose units of `unit` bytes come in the opposite order; `None` if it is not whole units, or
    /// some piece takes bytes that are too far apart.
    pub(super) fn new<V: Vector>(unit: usize) -> Option<ReversedBlock> {
        const { assert!(V::BYTES <= LINE) };
        let bytes = Self::bytes::<V>();
        if !bytes.is_multiple_of(unit) {
            return None;
        }
        let mut block = ReversedBlock { starts: [0; PIECES], order: [0; LONGEST] };
        reverse_places(&mut block.order[..bytes], unit, bytes);
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
    /// Reverses some blocks, on the destination from the last to the first.
    ///
    /// # Safety
    ///
    /// All blocks are readable from `from` on and writable up to `to` on the destination, where the first of
    /// them begins a line.
    #[inline(always)]
    pub(super) unsafe fn reverse<const LANES: usize>(self, blocks: &Blocks) {
        let Blocks { mut from, mut to, count, prefetch } = *blocks;
        let bytes = ReversedBlock::bytes::<V>();
        // SAFETY: each piece reads twice its bytes from a place on where as many are left in the block, which
        // is how they were chosen; what is written is the block. They are whole vectors after the beginning
        // of a line. A prefetch may go anywhere.
        unsafe {
            for _ in 0..count {
                to = to.sub(bytes);
                for (i, order) in self.orders.into_iter().enumerate() {
                    if let Some(ahead) = prefetch {
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
                    line.store_past_cache(to.add(i * V::BYTES));
                }
                from = from.add(bytes);
            }
        }
    }
}

/// For each byte of some runs whose units of `unit` bytes come in the opposite order, which byte it is; at
/// most 256.
pub(super) fn reverse_places(places: &mut [u8], unit: usize, run: usize) {
    for (to, place) in places.iter_mut().enumerate() {
        let (start, inside) = (to - to % run, to % run);
        *place = u8::try_from(start + run - unit - (inside - inside % unit) + inside % unit).unwrap_or(0);
    }
}
