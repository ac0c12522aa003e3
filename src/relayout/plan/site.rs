//! The surroundings of a kernel: how the whole copy loads and stores, and the machine. The choice of the
//! kernel depends on them and on the shape.

use strided_copy::Prefetch;

use super::cost::{PREFETCH_DISTANCE, PREFETCH_ITERATIONS};
use super::machine::Knobs;

/// How the whole copy loads and stores, and on which machine it runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site<'a> {
    /// Whether whole lines are written with non-temporal stores.
    pub(crate) streaming: bool,
    /// Whether the source is prefetched where the hardware prefetcher does not follow.
    pub(crate) prefetch: bool,
    /// Whether small blocks may be permuted in registers, which takes tables of up to 30 KB for each box.
    pub(crate) permutes: bool,
    pub(crate) knobs: &'a Knobs,
}

impl Site<'_> {
    /// Size of a vector register in bytes.
    pub(super) fn register(&self) -> usize {
        self.knobs.level.register()
    }
}

/// Returns the prefetch of an iteration that reads `bytes` bytes, as a number of iterations ahead.
pub(super) fn iterations_ahead(bytes: usize) -> Prefetch {
    let ahead = PREFETCH_DISTANCE.checked_div(bytes).unwrap_or(PREFETCH_ITERATIONS).clamp(1, PREFETCH_ITERATIONS);
    Prefetch::Iterations(number(ahead))
}

/// Converts a count to the `u32` that fields of kernels have.
pub(super) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
