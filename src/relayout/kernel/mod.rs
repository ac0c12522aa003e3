//! The innermost loops, and the only folder with `unsafe`.
//!
//! The folder is the dispatch tree: [`portable`] is safe Rust and runs anywhere; [`lines`] is written once over a
//! [`vector::Vector`] of 32 or 64 bytes, which [`x86_64`] supplies. Which level runs is decided once, by what the CPU
//! has; the environment variable `TENSOR_LAYOUT_LEVEL` (`portable`, `avx2`, `avx512`) can ask for a lower one.
#![allow(unsafe_code, reason = "the SIMD kernels; every block says why it is sound")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "`Job::repeat` compares the reach of a kernel, computed with care, with its buffers; all offsets lie inside"
)]

#[cfg(target_arch = "x86_64")]
mod blocks;
mod level;
#[cfg(target_arch = "x86_64")]
mod lines;
mod nibbles;
mod portable;
#[cfg(target_arch = "x86_64")]
mod vector;
#[cfg(target_arch = "x86_64")]
mod weave;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use level::KernelLevel;

use super::schedule::{Kernel, Stride};

/// Where a kernel works, and how it stores.
pub(super) struct Job<'a> {
    pub(super) source: &'a [u8],
    pub(super) destination: &'a mut [u8],
    /// Store round the cache: worth it for copies much larger than the cache.
    pub(super) stream: bool,
    pub(super) level: KernelLevel,
}

/// A kernel with its reach, which is measured once: no call of it has to do more than compare two numbers.
///
/// The fields are private to this module: whatever runs was measured as it is.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    kernel: Kernel,
    /// How many bytes behind its first chunk, that one included, it reads and writes.
    reach: (usize, usize),
}

impl Measured {
    pub(super) fn new(kernel: Kernel) -> Measured {
        Measured { reach: kernel.reach(), kernel }
    }

    pub(super) fn kernel(&self) -> &Kernel {
        &self.kernel
    }
}

impl Job<'_> {
    /// Runs a kernel whose first chunk lies at `from` and goes to `to`.
    pub(super) fn run(&mut self, kernel: &Measured, from: usize, to: usize) {
        self.repeat(kernel, Stride { extent: 1, source: 0, destination: 0 }, from, to);
    }

    /// Runs a kernel `steps.extent` times: the loop round it is as close to it as can be.
    pub(super) fn repeat(&mut self, Measured { kernel, reach }: &Measured, steps: Stride, from: usize, to: usize) {
        let (Some(source), Some(destination)) = (self.source.get(from..), self.destination.get_mut(to..)) else {
            return;
        };
        // Where this saturates, the kernel is refused.
        let behind =
            |stride: usize, reach: usize| steps.extent.saturating_sub(1).saturating_mul(stride).saturating_add(reach);
        assert!(
            behind(steps.source, reach.0) <= source.len() && behind(steps.destination, reach.1) <= destination.len(),
            "a kernel reaches past its buffers"
        );
        #[cfg(target_arch = "x86_64")]
        match (self.level, kernel) {
            (_, Kernel::Nibbles { .. }) | (KernelLevel::Portable, _) => {}
            (KernelLevel::Avx512, _) => {
                // SAFETY: the level is one this CPU has (`is_available` was asked), and the assertion above is the rest of
                // the contract: at every step the kernel reads and writes inside the two slices.
                return unsafe { x86_64::avx512::run(kernel, steps, source, destination, self.stream) };
            }
            (KernelLevel::Avx2, _) => {
                // SAFETY: as above.
                return unsafe { x86_64::avx2::run(kernel, steps, source, destination, self.stream) };
            }
        }
        for step in 0..steps.extent {
            let (source, destination) = (&source[step * steps.source..], &mut destination[step * steps.destination..]);
            if let Kernel::Nibbles { across, along } = kernel {
                let mut inner = Job { source, destination, stream: self.stream, level: self.level };
                nibbles::run(&mut inner, *across, *along);
            } else {
                portable::run(kernel, source, destination);
            }
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
