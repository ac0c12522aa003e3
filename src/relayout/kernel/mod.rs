//! The innermost loops, and the only folder with `unsafe`.
//!
//! The folder is the dispatch tree: [`portable`] is safe Rust and runs anywhere; [`lines`] is written once over a
//! [`vector::Vector`] of 32 or 64 bytes, which [`x86_64`] supplies. Which level runs is decided once, by what the CPU
//! has; the environment variable `TENSOR_LAYOUT_LEVEL` (`portable`, `avx2`, `avx512`) can ask for a lower one.
#![allow(unsafe_code, reason = "the SIMD kernels; every block says why it is sound")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "`Job::run` compares the reach of a kernel, computed with care, with its buffers; all offsets lie inside"
)]

#[cfg(target_arch = "x86_64")]
mod blocks;
#[cfg(target_arch = "x86_64")]
mod chunks;
mod level;
#[cfg(target_arch = "x86_64")]
mod lines;
mod nibbles;
mod portable;
#[cfg(target_arch = "x86_64")]
mod rows;
#[cfg(target_arch = "x86_64")]
mod task;
#[cfg(target_arch = "x86_64")]
mod turns;
#[cfg(target_arch = "x86_64")]
mod vector;
#[cfg(target_arch = "x86_64")]
mod weave;
#[cfg(target_arch = "x86_64")]
mod x86_64;

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
        let (source_reach, destination_reach) = kernel.reach_in(loops);
        assert!(
            start.0.saturating_add(source_reach) <= self.source.len()
                && start.1.saturating_add(destination_reach) <= self.destination.len(),
            "a kernel reaches past its buffers"
        );
        let Job { source, destination, stream, fetch, level } = self;
        if let Kernel::Nibbles { across, along } = kernel {
            for (from, to) in Calls::new(loops, start) {
                let (source, destination) = (&source[from..], &mut destination[to..]);
                let mut inner = Job { source, destination, stream: *stream, fetch: *fetch, level: *level };
                nibbles::run(&mut inner, *across, *along);
            }
            return;
        }
        #[cfg(target_arch = "x86_64")]
        {
            let ends = (source.as_ptr(), destination.as_mut_ptr());
            let task = task::Task { ends, loops, start, stream: *stream, fetch: *fetch };
            match level {
                KernelLevel::Portable => {}
                // SAFETY: the level is one this CPU has (`is_available` was asked), and the assertion above is the rest of
                // the contract: all calls of the kernel read and write inside the two slices.
                KernelLevel::Avx512 => return unsafe { x86_64::avx512::run(kernel, &task) },
                // SAFETY: as above.
                KernelLevel::Avx2 => return unsafe { x86_64::avx2::run(kernel, &task) },
            }
        }
        for (from, to) in Calls::new(loops, start) {
            portable::run(kernel, &source[from..], &mut destination[to..]);
        }
    }

    /// Makes streamed stores visible to other threads, in order with what follows.
    pub(super) fn finish(&self) {
        #[cfg(target_arch = "x86_64")]
        if self.stream && self.level != KernelLevel::Portable {
            // SAFETY: SSE, which every x86-64 CPU has.
            unsafe { std::arch::x86_64::_mm_sfence() };
        }
    }
}
