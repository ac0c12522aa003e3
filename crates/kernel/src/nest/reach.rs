//! How much of two buffers a loop nest needs.

use super::{MicroKernel, NestLoop};

/// Where a kernel in all iterations of some loops ends in both buffers, in bytes. That kernels are sound
/// rests on it: they are run in buffers that are at least as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    source: usize,
    destination: usize,
}

impl Reach {
    /// Past the end of any buffer.
    const NOWHERE: Reach = Reach { source: usize::MAX, destination: usize::MAX };

    /// Of iterations the first of which begins at `start`, source and destination. It is past the end of any
    /// buffer if there is no such kernel, or if an iteration would begin in front of the destination.
    pub fn new(kernel: &MicroKernel, loops: &[NestLoop], start: (usize, usize)) -> Reach {
        let backwards = loops.iter().map(NestLoop::backwards).fold(0, usize::saturating_add);
        if !kernel.is_well_formed() || backwards > start.1 {
            return Reach::NOWHERE;
        }
        // A sum that saturates is larger than any buffer.
        let (source, destination) = kernel.span_in(loops);
        Reach { source: start.0.saturating_add(source), destination: start.1.saturating_add(destination) }
    }

    /// Do all iterations sit inside buffers of these lengths?
    pub fn is_inside(self, source: usize, destination: usize) -> bool {
        self.source <= source && self.destination <= destination
    }
}
