//! Copies that are so small that plain loops take less time than a kernel.

use smallvec::SmallVec;
use strided_copy::PlainNest;
use strided_copy::kernel::Stride;

/// The plain loops of a whole copy. A plan builds and checks them once.
pub(crate) type Plain = PlainNest<SmallVec<[Stride; 4]>>;

/// Whether the runs are copied faster one by one than by choosing a kernel first. There may be at most `most`
/// runs.
pub(crate) fn is_plain<L: AsRef<[Stride]>>(nest: &PlainNest<L>, most: usize) -> bool {
    nest.runs() <= most && nest.bytes() <= MOST_PLAIN_BYTES
}

/// The largest copy, in bytes, that runs as a plain loop nest. Larger copies may want prefetching or
/// non-temporal stores, which a plan decides. Not tuned.
pub(super) const MOST_PLAIN_BYTES: u64 = 1 << 18;

/// The most runs that a plain loop nest copies, if a kernel has not been chosen yet, or if the chosen kernel
/// copies runs shorter than a [`PIECE`]. By trial (Zen 3).
pub(crate) const MOST_PLAIN_RUNS: usize = 512;

/// Whether a plain loop nest is faster than a kernel that was chosen already: if it moves few pieces of
/// [`PIECE`] bytes, or if the kernel copies runs too and the runs are shorter than a piece (300 runs of 5
/// bytes take 0.15 of the time of a kernel on a Zen 3, and 300 runs of 20 bytes 0.7). A long run costs little
/// more than a call of `memcpy`.
pub(super) fn is_cheap(nest: &Plain, kernel_copies_runs: bool) -> bool {
    if kernel_copies_runs && nest.bytes_of_run() < PIECE {
        return is_plain(nest, MOST_PLAIN_RUNS);
    }
    let pieces = nest.bytes_of_run().div_ceil(PIECE).min(PIECES_OF_A_CALL);
    nest.runs().saturating_mul(pieces) <= MOST_PIECES && is_plain(nest, MOST_PIECES)
}

/// How many bytes a plain loop nest moves at once. (A kernel moves as many, and more runs at a time.)
const PIECE: usize = 32;

/// How many pieces take as long as a call of `memcpy`. By trial (Zen 3).
const PIECES_OF_A_CALL: usize = 8;

/// The most pieces that a plain loop nest moves. By trial (Zen 3): 10 runs of 40 bytes take 0.8 of the time
/// of a kernel, 32 runs of 124 bytes 1.5 of it.
const MOST_PIECES: usize = 64;
