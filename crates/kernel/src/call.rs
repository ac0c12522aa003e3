//! The safety boundary: everything `unsafe` is entered here, after the reach of a nest was compared with its
//! buffers.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

#[cfg(target_arch = "aarch64")]
use super::aarch64;
use super::destination::{Destination, initialised};
use super::iterations::Iterations;
use super::level::Available;
use super::portable;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::simd;
#[cfg(target_arch = "x86_64")]
use super::x86_64;
use crate::nest::{MicroKernel, Nest, NestLoop, Reach};
use crate::schedule::Schedule;

/// Two buffers, and how kernels read and store.
pub struct Call<'a> {
    /// What is read.
    pub source: &'a [u8],
    /// What is written.
    pub destination: Destination<'a>,
    /// Store whole lines past the cache: only under a fence, which runs after the call.
    pub streaming: Option<&'a StreamFence>,
    /// Whose vectors.
    pub level: Available,
}

impl Call<'_> {
    /// Runs a nest.
    ///
    /// # Panics
    ///
    /// If an iteration would leave a buffer (the nest does not belong to these buffers), or if there is no
    /// such kernel, or none for the schedule.
    #[inline]
    pub fn run(&mut self, nest: &Nest, schedule: &Schedule) {
        // SAFETY: invariant 3 of [`nest`](crate::nest).
        unsafe { self.run_inside(nest.kernel(), nest.loops(), nest.start(), (nest.reach(), schedule)) }
    }

    /// Runs a kernel in all iterations of some loops, the first of which begins at `start`, source and
    /// destination.
    ///
    /// # Panics
    ///
    /// As [`run`](Self::run).
    pub fn run_at(&mut self, kernel: &MicroKernel, loops: &[NestLoop], start: (usize, usize), schedule: &Schedule) {
        // SAFETY: the reach was computed from the other arguments.
        unsafe { self.run_inside(kernel, loops, start, (Reach::new(kernel, loops, start), schedule)) }
    }

    /// The same.
    ///
    /// # Safety
    ///
    /// `reach` is that of the other arguments.
    #[inline(always)]
    unsafe fn run_inside(
        &mut self,
        kernel: &MicroKernel,
        loops: &[NestLoop],
        start: (usize, usize),
        (reach, schedule): (Reach, &Schedule),
    ) {
        let Call { source, destination, .. } = self;
        assert!(reach.is_inside(source.len(), destination.len()), "a loop nest leaves its buffers");
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if self.level.has_vectors() {
            let streaming = self.streaming.is_some();
            assert!(schedule.is_for(kernel, streaming), "a schedule that no kernel is for");
            let start = (source.as_ptr().wrapping_add(start.0), destination.as_mut_ptr().wrapping_add(start.1));
            let walk = simd::Walk { start, loops, streaming, schedule };
            // SAFETY: `reach` is inside the buffers, so the kernel is well formed, and each iteration reads
            // inside `source` and writes inside `destination`. Both are borrowed for the whole call, the
            // latter exclusively, so they do not overlap. That the schedule fits was asserted.
            return unsafe { run_at_level(kernel, &walk, self.level) };
        }
        self.run_portable(kernel, loops, start);
    }

    /// The same with the safe kernels.
    #[inline(never)]
    fn run_portable(&mut self, kernel: &MicroKernel, loops: &[NestLoop], start: (usize, usize)) {
        for (from, to) in Iterations::new(loops, start) {
            portable::run(kernel, &self.source[from..], &mut self.destination.bytes()[to..]);
        }
    }
}

/// Runs a nest that [fills](Nest::fills) memory without contents, and returns its bytes. Memory that it may
/// not fill is handed back, and nothing has been run.
///
/// # Errors
///
/// The memory.
///
/// # Panics
///
/// As [`Call::run`].
pub fn run_uninit<'m>(
    (nest, schedule): (&Nest, &Schedule),
    source: &[u8],
    memory: &'m mut [MaybeUninit<u8>],
    (streaming, level): (Option<&StreamFence>, Available),
) -> Result<&'m mut [u8], &'m mut [MaybeUninit<u8>]> {
    if !nest.fills(memory.len()) {
        return Err(memory);
    }
    let destination = Destination::uninitialised(memory);
    Call { source, destination, streaming, level }.run(nest, schedule);
    // SAFETY: the nest fills the memory: it is inside, and writes as many different bytes as there are. All
    // that kernels write is bytes of the source, or made of them.
    Ok(unsafe { initialised(memory) })
}

/// Runs a kernel over vectors.
///
/// # Safety
///
/// * The kernel is [well formed](MicroKernel::is_well_formed), and the schedule [is for](Schedule::is_for)
///   it, this level and `walk.streaming`.
/// * In every iteration, the span ([`MicroKernel::span`]) is readable from the iteration's offset after
///   `walk.start.0`. What is between these spans is readable too.
/// * In every iteration, the span is writable from the iteration's offset after `walk.start.1`; it overlaps
///   nothing that is read, and no other thread accesses it.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) unsafe fn run_at_level(kernel: &MicroKernel, walk: &simd::Walk<'_>, level: Available) {
    use super::level::Level;

    let nest = simd::RunNest { kernel, walk };
    // SAFETY: `RunNest` requires what this function requires, and that the CPU has the features: an
    // `Available` level is made by a check of that alone. `Available::register` is the size of its vector.
    unsafe {
        match level.get() {
            #[cfg(target_arch = "aarch64")]
            Level::Neon => nest.run::<aarch64::neon::Pair>(),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => nest.run::<x86_64::avx2::Ymm>(),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => nest.run::<x86_64::avx512::Zmm>(),
            #[cfg(feature = "software")]
            Level::Software32 => nest.run::<simd::software::Software<32>>(),
            #[cfg(feature = "software")]
            Level::Software64 => nest.run::<simd::software::Software<64>>(),
            level => unreachable!("the level {level} has no vectors on this CPU"),
        }
    }
}

/// Orders non-temporal stores before all later ones of this thread at the end of a [scope](Self::scope): on
/// every way out of a copy, errors and panics included, other threads then see the destination as they would
/// after ordinary stores. (NEON stores are ordinary.)
///
/// A fence orders the stores of its own thread, so it stays on it:
///
/// ```compile_fail,E0277
/// fn may_be_shared<T: Sync>() {}
/// may_be_shared::<strided_copy::StreamFence>();
/// ```
pub struct StreamFence {
    /// Only kernels over vectors stream.
    needed: bool,
    thread: PhantomData<*const ()>,
}

impl StreamFence {
    /// For copies at this level, which end before it is dropped.
    pub(crate) fn new(level: Available) -> StreamFence {
        StreamFence { needed: level.has_vectors(), thread: PhantomData }
    }

    /// Runs copies at this level, with a fence after them if `streaming`. It is lent to them and not given,
    /// as a value can be forgotten and is then not dropped.
    #[inline(always)]
    pub fn scope<R>(streaming: bool, level: Available, copies: impl FnOnce(Option<&StreamFence>) -> R) -> R {
        let fence = streaming.then(|| StreamFence::new(level));
        copies(fence.as_ref())
    }
}

impl Drop for StreamFence {
    fn drop(&mut self) {
        if self.needed {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an instruction of SSE, which every x86-64 CPU has.
            unsafe {
                std::arch::x86_64::_mm_sfence();
            }
            #[cfg(feature = "software")]
            FENCES.with(|fences| fences.set(fences.get() + 1));
        }
    }
}

/// How many fences this thread has run.
#[cfg(feature = "software")]
#[must_use]
pub fn fences() -> usize {
    FENCES.with(std::cell::Cell::get)
}

#[cfg(feature = "software")]
thread_local! {
    /// Fences of this thread.
    static FENCES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
mod tests;
