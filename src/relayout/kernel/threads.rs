//! One nest on several threads: each runs some iterations of one of its loops (feature `rayon`).

use rayon::prelude::*;

use super::super::plan::cost::PARTS_PER_THREAD;
use super::super::plan::nest::{Nest, NestLoop, Stride};
use super::call::{Call, StreamFence, run_at_level};
use super::level::Available;
use super::simd::Walk;

/// A destination that several threads write, each its own bytes of it.
#[derive(Clone, Copy)]
struct SharedDestination(*mut u8);

// SAFETY: sending the pointer accesses nothing; `run` shows that what is written through it on one thread is accessed by no other.
unsafe impl Send for SharedDestination {}
// SAFETY: as above.
unsafe impl Sync for SharedDestination {}

impl SharedDestination {
    fn pointer(self) -> *mut u8 {
        self.0
    }
}

/// Which loop of a nest has enough iterations for so many threads: the outermost with several parts for each, or with two at least.
/// `None` if there is none, if iterations may write the same bytes, or if the level has no vectors.
pub(in super::super) fn loop_to_share(nest: &Nest, level: Available, threads: usize) -> Option<usize> {
    let extent_from = |least: usize| {
        nest.loops().iter().position(|step| matches!(step, NestLoop::Strided(stride) if stride.extent >= least))
    };
    if !level.has_vectors() || !nest.writes_are_disjoint() {
        return None;
    }
    extent_from(PARTS_PER_THREAD * threads).or_else(|| extent_from(2 * threads))
}

/// Runs a nest on rayon's current pool, whose threads share the loop that [`loop_to_share`] names. Does nothing if it names none.
///
/// # Panics
///
/// If an iteration would leave a buffer of the call, or if there is no such kernel.
pub(in super::super) fn run(nest: &Nest, call: &mut Call<'_>, threads: usize) {
    let Call { source, destination, streaming, prefetch, level, knobs } = call;
    let (streaming, prefetch, level, knobs) = (streaming.is_some(), *prefetch, *level, *knobs);
    let Some(shared) = loop_to_share(nest, level, threads) else { return };
    let Some(NestLoop::Strided(stride)) = nest.loops().get(shared) else { return };
    let start = nest.start();
    assert!(nest.reach().is_inside(source.len(), destination.len()), "a loop nest leaves its buffers");
    let parts = stride.extent.min(PARTS_PER_THREAD * threads);
    let (source, shared_destination) = (*source, SharedDestination(destination.as_mut_ptr()));
    (0..parts).into_par_iter().for_each(|part| {
        let (first, last) = (stride.extent * part / parts, stride.extent * (part + 1) / parts);
        let mut loops = nest.loops().to_vec();
        loops[shared] = NestLoop::Strided(Stride { extent: last - first, ..*stride });
        let from = source.as_ptr().wrapping_add(start.0 + first * stride.source);
        let to = shared_destination.pointer().wrapping_add(start.1 + first * stride.destination);
        let prefetch = prefetch && !nest.kernel().is_followed(&loops, knobs);
        let walk = Walk { start: (from, to), loops: &loops, streaming, prefetch, knobs };
        // A fence orders the stores of its own thread.
        let _fence = streaming.then(|| StreamFence::new(level));
        // SAFETY: the iterations of a part are among those of the nest, for which `is_inside` was asserted: they read inside `source` and
        // write inside `destination`, both of which are borrowed until all parts are done, and which do not overlap, the latter being
        // nobody else's. `writes_are_disjoint` holds, by `loop_to_share`: no two iterations, so no two parts, write one byte.
        unsafe { run_at_level(nest.kernel(), &walk, level) };
    });
}
