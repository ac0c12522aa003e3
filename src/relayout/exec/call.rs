//! Two buffers and how they are read and stored: planned nests have a schedule, others get one here.

use strided_copy::nest::{MicroKernel, NestLoop};
use strided_copy::{Destination, Schedule, StreamFence};

use super::super::plan::machine::Knobs;
use super::super::plan::schedule::{Memory, Scheduled, schedule};

/// Two buffers, and how kernels read and store.
pub(super) struct Call<'a> {
    pub(super) source: &'a [u8],
    pub(super) destination: Destination<'a>,
    /// Store whole lines past the cache: only under a fence, which outlives the call.
    pub(super) streaming: Option<&'a StreamFence>,
    /// Prefetch what will be read.
    pub(super) prefetch: bool,
    pub(super) knobs: &'a Knobs,
    /// Both are as the nests were scheduled.
    pub(super) as_planned: bool,
}

impl Call<'_> {
    /// Runs a nest that was planned.
    ///
    /// # Panics
    ///
    /// If an iteration would leave a buffer (the nest does not belong to these buffers), or if there is no
    /// such kernel.
    #[inline]
    pub(super) fn run(&mut self, Scheduled { nest, schedule }: &Scheduled) {
        if self.as_planned {
            return self.kernels().run(nest, schedule);
        }
        let schedule = self.schedule(nest.kernel(), nest.loops());
        self.kernels().run(nest, &schedule);
    }

    /// Runs a nest that begins elsewhere.
    ///
    /// # Panics
    ///
    /// As [`run`](Self::run).
    pub(super) fn run_from(&mut self, Scheduled { nest, schedule }: &Scheduled, start: (usize, usize)) {
        if self.as_planned {
            return self.kernels().run_at(nest.kernel(), nest.loops(), start, schedule);
        }
        self.run_at(nest.kernel(), nest.loops(), start);
    }

    /// Runs a kernel in all iterations of some loops, the first of which begins at `start`, source and
    /// destination.
    ///
    /// # Panics
    ///
    /// As [`run`](Self::run).
    pub(super) fn run_at(&mut self, kernel: &MicroKernel, loops: &[NestLoop], start: (usize, usize)) {
        let schedule = self.schedule(kernel, loops);
        self.kernels().run_at(kernel, loops, start, &schedule);
    }

    /// The schedule of a kernel in some loops.
    #[inline(always)]
    pub(super) fn schedule(&self, kernel: &MicroKernel, loops: &[NestLoop]) -> Schedule {
        let memory = Memory { streaming: self.streaming.is_some(), prefetch: self.prefetch };
        schedule(kernel, loops, memory, self.knobs)
    }

    /// The same buffers for the kernels.
    #[inline(always)]
    pub(super) fn kernels(&mut self) -> strided_copy::Call<'_> {
        let Call { source, ref mut destination, streaming, knobs, .. } = *self;
        strided_copy::Call { source, destination: destination.reborrow(), streaming, level: knobs.level }
    }
}
