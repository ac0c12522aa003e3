//! The loop nest of one box: what planning makes of it, what `exec` walks, what a kernel runs.
//!
//! Offsets, strides and lengths are in bytes.
//!
//! # Invariants
//!
//! 1. No axis of a kernel is empty ([`is_well_formed`](MicroKernel::is_well_formed)). A loop may be: nothing
//!    is copied then, and the nest reaches as far as if that loop had one iteration.
//! 2. A [`span`](MicroKernel::span) that does not fit a `usize` saturates, and so is past the end of any
//!    buffer: the check in `call.rs` refuses it.
//! 3. The [`reach`](Nest::reach) of a nest is that of its kernel, loops and start: they are set together and
//!    do not change.

use kernel::Step;

mod bits;
mod kernel;
mod plane;
mod reach;
mod stride;
mod width;

pub use bits::{BitInterleave, BitPlane, BitRows, Direction};
pub use kernel::MicroKernel;
pub use plane::{Axis, MicroTile, Plane, RowPitch};
pub use reach::Reach;
pub use stride::Stride;
pub use width::{PackedWords, WidthChange, WidthRow};

/// A loop nest around a micro-kernel.
#[derive(Debug, Clone)]
pub struct Nest {
    start: (usize, usize),
    loops: Vec<NestLoop>,
    kernel: MicroKernel,
    bytes: u64,
    reach: Reach,
}

/// One loop outside the kernel.
#[derive(Debug, Clone)]
pub enum NestLoop {
    /// A constant step.
    Strided(Stride),
    /// Each iteration begins this many bytes after the one before on the source, and in front of it on the
    /// destination: so the source is read front to back.
    Reversed(Stride),
    /// The offsets of each iteration, source and destination.
    Table(Vec<(usize, usize)>),
}

impl Nest {
    /// `source`, `destination`: where the first element of a box is stored whose reversed loops go backwards
    /// on the source; in a nest they go backwards on the destination.
    pub fn new(kernel: MicroKernel, loops: Vec<NestLoop>, source: usize, destination: usize) -> Nest {
        let start = first_iteration(&loops, (source, destination));
        let (run, [a, b]) = kernel.side(false);
        let factors = loops.iter().map(NestLoop::extent).chain([run, a.extent(), b.extent()]);
        let bytes = factors.fold(1, |bytes: u64, n| bytes.saturating_mul(u64::try_from(n).unwrap_or(u64::MAX)));
        let reach = Reach::new(&kernel, &loops, start);
        Nest { start, loops, kernel, bytes, reach }
    }

    /// Where the first iteration begins, source and destination.
    pub fn start(&self) -> (usize, usize) {
        self.start
    }

    /// The loops outside the kernel, outer to inner.
    pub fn loops(&self) -> &[NestLoop] {
        &self.loops
    }

    /// What an iteration does.
    pub fn kernel(&self) -> &MicroKernel {
        &self.kernel
    }

    /// The bytes that all iterations write.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where all iterations end.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// Does it write every byte of a destination of this length? True is certain.
    pub fn fills(&self, length: usize) -> bool {
        let inside = self.reach.is_inside(usize::MAX, length);
        inside && u64::try_from(length) == Ok(self.bytes) && self.writes_are_disjoint()
    }

    /// Do all iterations of the loops write different bytes, so that threads may share them?
    ///
    /// True is certain. The test is that the destination's steps nest: neighbours in each are at least as far
    /// apart as all smaller steps span together. It holds for packed, padded and tiled destinations; strides
    /// that interleave without meeting (sizes 2 and 3, strides 3 and 2), strides of 0 and long tables fail
    /// it.
    pub fn writes_are_disjoint(&self) -> bool {
        let (mut run, inside) = self.kernel.side(false);
        let mut steps = Vec::new();
        inside.iter().for_each(|step| step.add_gaps(&mut steps));
        for step in &self.loops {
            match step {
                NestLoop::Strided(stride) | NestLoop::Reversed(stride) => {
                    Step::Strided(stride.destination, stride.extent).add_gaps(&mut steps);
                }
                NestLoop::Table(entries) => Step::Listed(entries, false).add_gaps(&mut steps),
            }
        }
        // Single iterations come last, with a gap that no run reaches past; steps that repeat one place have
        // none.
        steps.sort_unstable();
        steps.iter().all(|&(gap, span)| {
            let nests = gap >= run;
            run = run.saturating_add(span);
            nests
        })
    }
}

impl NestLoop {
    /// How many iterations.
    pub fn extent(&self) -> usize {
        match self {
            NestLoop::Strided(stride) | NestLoop::Reversed(stride) => stride.extent,
            NestLoop::Table(entries) => entries.len(),
        }
    }

    /// Where iteration `i` begins, source and destination: to be added with wrapping, as a destination that
    /// goes backwards wraps.
    pub fn at(&self, i: usize) -> (usize, usize) {
        match self {
            // Nothing saturates: the spans of all iterations are inside the buffers.
            NestLoop::Strided(stride) => (stride.source.saturating_mul(i), stride.destination.saturating_mul(i)),
            NestLoop::Reversed(stride) => {
                (stride.source.saturating_mul(i), stride.destination.saturating_mul(i).wrapping_neg())
            }
            NestLoop::Table(entries) => entries.get(i).copied().unwrap_or_default(),
        }
    }

    /// Does every iteration begin a multiple of this many bytes from the first on the destination?
    pub fn moves_destination_by(&self, bytes: usize) -> bool {
        match self {
            NestLoop::Strided(stride) | NestLoop::Reversed(stride) => stride.destination.is_multiple_of(bytes),
            NestLoop::Table(entries) => entries.iter().all(|(_, destination)| destination.is_multiple_of(bytes)),
        }
    }

    /// How far the last iteration begins in front of the first one on the destination.
    pub fn backwards(&self) -> usize {
        self.turned().1
    }

    /// How far apart the first and the last iteration begin, source and destination, if it is reversed.
    pub fn turned(&self) -> (usize, usize) {
        match self {
            NestLoop::Reversed(stride) => stride.last(),
            NestLoop::Strided(_) | NestLoop::Table(_) => (0, 0),
        }
    }

    /// The largest offsets of an iteration, source and destination.
    fn largest(&self) -> (usize, usize) {
        match self {
            NestLoop::Strided(stride) => stride.last(),
            NestLoop::Reversed(stride) => (stride.last().0, 0),
            NestLoop::Table(entries) => largest(entries),
        }
    }
}

/// Where the first iteration of loops begins, source and destination, if a box begins at `start` whose
/// reversed loops go backwards on the source: they go backwards on the destination instead.
pub fn first_iteration(loops: &[NestLoop], start: (usize, usize)) -> (usize, usize) {
    loops.iter().map(NestLoop::turned).fold(start, |(source, destination), (before, after)| {
        // A box that begins in front of the source reaches past the end of any buffer.
        (source.checked_sub(before).unwrap_or(usize::MAX), destination.saturating_add(after))
    })
}

/// The largest of some offsets on either side.
fn largest(offsets: &[(usize, usize)]) -> (usize, usize) {
    offsets.iter().fold((0, 0), |largest, offset| (largest.0.max(offset.0), largest.1.max(offset.1)))
}

/// The first strided loop that passes a test.
pub fn position(loops: &[NestLoop], mut test: impl FnMut(Stride) -> bool) -> Option<usize> {
    loops.iter().position(|step| matches!(step, NestLoop::Strided(stride) if test(*stride)))
}

#[cfg(test)]
mod tests;
