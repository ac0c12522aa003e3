//! The innermost loops, and the only folder with `unsafe`.
//!
//! The folder is the dispatch tree: [`portable`] is safe Rust and runs anywhere; [`lines`] and what it calls are written once over a
//! [`vector::Vector`] of 32 or 64 bytes, which [`x86_64`] supplies. Which level runs is decided once, by what the CPU
//! has; the environment variable `TENSOR_LAYOUT_LEVEL` (`portable`, `avx2`, `avx512`) can ask for a lower one.
#![allow(unsafe_code, reason = "the SIMD kernels; every block says why it is sound")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "`Job::run` compares the reach of a kernel, computed with care, with its buffers; all offsets lie inside"
)]

mod bit_plane;
mod bit_rows;
#[cfg(target_arch = "x86_64")]
mod bits;
#[cfg(target_arch = "x86_64")]
mod blocks;
#[cfg(target_arch = "x86_64")]
mod chunks;
mod level;
#[cfg(target_arch = "x86_64")]
mod lines;
#[cfg(target_arch = "x86_64")]
mod odd_turns;
#[cfg(target_arch = "x86_64")]
mod places;
mod portable;
mod portable_bits;
#[cfg(target_arch = "x86_64")]
mod rows;
#[cfg(target_arch = "x86_64")]
mod stage;
#[cfg(target_arch = "x86_64")]
mod task;
#[cfg(all(target_arch = "x86_64", feature = "rayon"))]
pub(super) mod threads;
#[cfg(target_arch = "x86_64")]
mod vector;
#[cfg(target_arch = "x86_64")]
mod weave;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub(super) use bit_plane::{BitPlane, Buffers};
pub(super) use bit_rows::{BitRows, copy_element};
pub use level::KernelLevel;

use super::calls::Calls;
use super::schedule::{Kernel, Step};

/// Where kernels work, and how they read and store.
pub(super) struct Job<'a> {
    pub(super) source: &'a [u8],
    pub(super) destination: &'a mut [u8],
    /// Store round the cache: worth it for copies much larger than the cache.
    pub(super) stream: bool,
    /// Ask for what will be read: worth it for copies that are not in the level-2 cache.
    pub(super) fetch: bool,
    pub(super) level: KernelLevel,
}

impl Job<'_> {
    /// Runs a kernel inside some loops; its first chunk lies at `start`, source and destination.
    pub(super) fn run(&mut self, kernel: &Kernel, loops: &[Step], start: (usize, usize)) {
        let Job { source, destination, .. } = self;
        assert!(!reaches_past(kernel, loops, start, (source, destination)), "a kernel reaches past its buffers");
        #[cfg(target_arch = "x86_64")]
        if self.level != KernelLevel::Portable {
            let ends = (source.as_ptr(), destination.as_mut_ptr());
            let task = task::Task { ends, loops, start, stream: self.stream, fetch: self.fetch };
            // SAFETY: the level is one this CPU has (`is_available` was asked), and the assertion above is the rest of the
            // contract: all calls of the kernel read and write inside the two slices.
            return unsafe { dispatch(kernel, &task, self.level) };
        }
        for (from, to) in Calls::new(loops, start) {
            portable::run(kernel, &source[from..], &mut destination[to..]);
        }
    }

    /// Makes streamed stores visible to other threads, in order with what follows.
    pub(super) fn finish(&self) {
        finish(self.stream && self.level != KernelLevel::Portable);
    }
}

/// Does a call of a kernel inside some loops leave the buffers, or may it?
fn reaches_past(kernel: &Kernel, loops: &[Step], start: (usize, usize), ends: (&[u8], &[u8])) -> bool {
    // Where this saturates, it is past any buffer.
    let (source, destination) = kernel.reach_in(loops);
    start.0.saturating_add(source) > ends.0.len() || start.1.saturating_add(destination) > ends.1.len()
}

/// Runs a kernel over registers.
///
/// # Safety
///
/// The CPU must have the level, and all calls of the kernel must stay inside source and destination.
#[cfg(target_arch = "x86_64")]
unsafe fn dispatch(kernel: &Kernel, task: &task::Task<'_>, level: KernelLevel) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        match level {
            KernelLevel::Portable => {}
            KernelLevel::Avx2 => x86_64::avx2::run(kernel, task),
            KernelLevel::Avx512 => x86_64::avx512::run(kernel, task),
        }
    }
}

/// Orders stores that went round the cache with what follows.
fn finish(streamed: bool) {
    #[cfg(target_arch = "x86_64")]
    if streamed {
        // SAFETY: SSE, which every x86-64 CPU has.
        unsafe { std::arch::x86_64::_mm_sfence() };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = streamed;
}
