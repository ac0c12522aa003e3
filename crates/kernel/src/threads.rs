//! One nest in parts for several threads: each runs some iterations of one of its loops.

use std::marker::PhantomData;

use crate::call::Call;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::call::{StreamFence, run_at_level};
use crate::level::Available;
use crate::nest::{Nest, NestLoop, Stride};
use crate::schedule::Schedule;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::simd::Walk;

/// Which loop of a nest has enough iterations for this many threads: the outermost with several `parts` for
/// each, or with two at least. `None` if there is none, if iterations may write the same bytes, or if the
/// level has no vectors.
#[must_use]
pub fn loop_to_share(nest: &Nest, level: Available, threads: usize, parts: usize) -> Option<usize> {
    let extent_from = |least: usize| {
        nest.loops().iter().position(|step| matches!(step, NestLoop::Strided(stride) if stride.extent >= least))
    };
    if !level.has_vectors() || !nest.writes_are_disjoint() {
        return None;
    }
    extent_from(parts.saturating_mul(threads)).or_else(|| extent_from(threads.saturating_mul(2)))
}

/// Some iterations of one loop of a nest. No two parts of a nest write the same byte.
pub struct Part<'a> {
    nest: &'a Nest,
    source: &'a [u8],
    destination: *mut u8,
    shared: usize,
    stride: Stride,
    first: usize,
    streaming: bool,
    level: Available,
    schedule: &'a Schedule,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: a part is the only access to the bytes it writes, for as long as it lives: `parts` borrows the
// destination, and shows that parts are disjoint.
unsafe impl Send for Part<'_> {}

/// The parts of a nest for this many threads, several for each if there are as many iterations; none if
/// [`loop_to_share`] names no loop.
///
/// # Panics
///
/// If an iteration would leave a buffer of the call, or if there is no such kernel.
#[must_use]
pub fn parts<'a>(
    nest: &'a Nest,
    schedule: &'a Schedule,
    call: &'a mut Call<'_>,
    (threads, parts): (usize, usize),
) -> Vec<Part<'a>> {
    let Some(shared) = loop_to_share(nest, call.level, threads, parts) else { return Vec::new() };
    let Some(&NestLoop::Strided(stride)) = nest.loops().get(shared) else { return Vec::new() };
    let reach = nest.reach();
    assert!(reach.is_inside(call.source.len(), call.destination.len()), "a loop nest leaves its buffers");
    let count = stride.extent.min(parts.saturating_mul(threads));
    let streaming = call.streaming.is_some();
    assert!(schedule.is_for(nest.kernel(), streaming), "a schedule that no kernel is for");
    let Call { source, ref mut destination, level, .. } = *call;
    let destination = destination.as_mut_ptr();
    let (each, more) = (stride.extent / count.max(1), stride.extent % count.max(1));
    // No product here is above the extent: one that wrapped would be an iteration of no nest.
    let begin = |part: usize| part * each + part.min(more);
    let part = |part: usize| {
        let (first, last) = (begin(part), begin(part + 1));
        let stride = Stride { extent: last - first, ..stride };
        let memory = PhantomData;
        Part { nest, source, destination, shared, stride, first, streaming, level, schedule, memory }
    };
    (0..count).map(part).collect()
}

impl Part<'_> {
    /// Runs it.
    pub fn run(self) {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        {
            let Part { nest, source, destination, shared, stride, first, streaming, level, schedule, .. } = self;
            let start = nest.start();
            let mut loops = nest.loops().to_vec();
            loops[shared] = NestLoop::Strided(stride);
            let from = source.as_ptr().wrapping_add(start.0 + first * stride.source);
            let to = destination.wrapping_add(start.1 + first * stride.destination);
            let walk = Walk { start: (from, to), loops: &loops, streaming, schedule };
            // A fence orders the stores of its own thread.
            let _fence = streaming.then(|| StreamFence::new(level));
            // SAFETY: `parts` asserted that the nest is inside both buffers and that the schedule is for it;
            // the iterations of a part are some of the nest's. Both buffers are borrowed until all parts are
            // done, and do not overlap; by `writes_are_disjoint`, no two parts write the same byte.
            unsafe { run_at_level(nest.kernel(), &walk, level) };
        }
    }
}
