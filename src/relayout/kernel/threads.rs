//! One nest on several threads: each runs some steps of one of its loops (feature `rayon`).

use rayon::prelude::*;

use super::super::schedule::{Nest, Step, Stride};
use super::task::Task;
use super::{KernelLevel, reaches_past};

/// Parts for each thread: one that was kept waiting leaves its next part to another.
const PARTS: usize = 4;

/// A destination that several threads write, each its own bytes of it.
#[derive(Clone, Copy)]
struct Shared(*mut u8);

// SAFETY: a pointer can be sent; what is written through it is `run`'s to prove.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    fn pointer(self) -> *mut u8 {
        self.0
    }
}

/// Which loop of a nest has enough steps for so many threads: the outermost such, or the longest there is of two steps each.
fn loop_to_share(nest: &Nest, threads: usize) -> Option<usize> {
    let long = |least: usize| {
        nest.loops.iter().position(|step| matches!(step, Step::Strided(stride) if stride.extent >= least))
    };
    long(PARTS * threads).or_else(|| long(2 * threads))
}

/// Can [`run`] run it?
pub(in super::super) fn can_run(nest: &Nest, level: KernelLevel, threads: usize) -> bool {
    level != KernelLevel::Portable && loop_to_share(nest, threads).is_some()
}

/// Runs a nest on the threads of rayon's pool. The nest is part of a plan: no two of its elements go to the same place, as
/// destinations in which two would are refused before there is a plan.
///
/// Nothing is done if the nest is not one that [`can_run`].
pub(in super::super) fn run(
    nest: &Nest,
    level: KernelLevel,
    (stream, fetch): (bool, bool),
    source: &[u8],
    destination: &mut [u8],
) {
    let threads = rayon::current_num_threads();
    let Some(shared) = loop_to_share(nest, threads).filter(|_| can_run(nest, level, threads)) else { return };
    let Some(Step::Strided(stride)) = nest.loops.get(shared) else { return };
    let start = (nest.source, nest.destination);
    assert!(
        !reaches_past(&nest.kernel, &nest.loops, start, (source, destination)),
        "a kernel reaches past its buffers"
    );
    let parts = stride.extent.min(PARTS * threads);
    let ends = (source, Shared(destination.as_mut_ptr()));
    (0..parts).into_par_iter().for_each(|part| {
        let (first, last) = (stride.extent * part / parts, stride.extent * (part + 1) / parts);
        let mut loops = nest.loops.clone();
        loops[shared] = Step::Strided(Stride { extent: last - first, ..*stride });
        let start = (start.0 + first * stride.source, start.1 + first * stride.destination);
        let task = Task { ends: (ends.0.as_ptr(), ends.1.pointer()), loops: &loops, start, stream, fetch };
        // SAFETY: the level is one this CPU has; the calls of a part are among those whose reach was compared with both buffers.
        // No two calls write the same byte, which is what the caller says of the nest, so that threads do not meet.
        unsafe { super::dispatch(&nest.kernel, &task, level) };
        super::finish(stream);
    });
}
