//! A box in bytes: which loops the inner kernel takes, and in which order the others run.
//!
//! A box says how far apart elements lie; here it becomes a [`Nest`] of byte strides. The loop that is packed on both sides
//! disappears into the *chunk*, the bytes that are copied as they are. Then one of two kernels takes the innermost loops:
//!
//! * *rows*, when the chunk is long or no loop is packed on the source: chunks one after the other, in destination order;
//! * *transpose*, when one loop (`across`) is packed on the source and another (`along`) on the destination: both at once,
//!   in square blocks, so that every line of memory is used up while it is in the cache.
//!
//! The other loops run outside, in order of falling destination stride, so that the destination is written front to back.

use smallvec::SmallVec;

use crate::checked;
use crate::error::Error;
use crate::map::{CopyBox, Loop};

/// A loop nest over bytes.
#[derive(Debug, Clone)]
pub(super) struct Nest {
    /// Where the first chunk lies.
    pub(super) source: usize,
    pub(super) destination: usize,
    /// The loops outside the kernel, outer to inner.
    pub(super) loops: SmallVec<[Step; 6]>,
    pub(super) kernel: Kernel,
}

/// One loop outside the kernel: where its steps go, in bytes.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Strided(Stride),
    Table(Vec<(usize, usize)>),
}

/// `extent` steps, so many bytes apart on each side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stride {
    pub(super) extent: usize,
    pub(super) source: usize,
    pub(super) destination: usize,
}

/// What the innermost loops do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kernel {
    /// Copies `count.extent` chunks of `chunk` bytes.
    Rows { chunk: usize, count: Stride },
    /// Copies a plane of chunks: `across` is packed on the source, `along` on the destination.
    Transpose { chunk: usize, across: Stride, along: Stride },
}

const ONCE: Stride = Stride { extent: 1, source: 0, destination: 0 };

/// Chunks up to this many bytes are worth transposing; longer ones fill cache lines by themselves.
const LONGEST_TRANSPOSED: usize = 128;

impl Nest {
    /// The nest of a box whose elements have `bytes` whole bytes.
    pub(super) fn new(copy: &CopyBox, bytes: u64) -> Result<Nest, Error> {
        let in_bytes = |elements: u64| -> Result<usize, Error> {
            checked::narrow(checked::mul(elements, bytes, checked::BYTES)?, checked::BYTES)
        };
        let mut chunk = in_bytes(1)?;
        let (source, destination) = (in_bytes(copy.source)?, in_bytes(copy.destination)?);
        let mut loops: SmallVec<[Step; 6]> = SmallVec::new();
        for step in &copy.loops {
            let step = match step {
                Loop::Strided { extent, source, destination } => Step::Strided(Stride {
                    extent: checked::narrow(*extent, checked::ELEMENTS)?,
                    source: in_bytes(*source)?,
                    destination: in_bytes(*destination)?,
                }),
                Loop::Table(entries) => Step::Table(
                    entries.iter().map(|&(a, b)| Ok((in_bytes(a)?, in_bytes(b)?))).collect::<Result<_, Error>>()?,
                ),
            };
            loops.push(step);
        }
        chunk = absorb(&mut loops, chunk);
        let kernel = choose(&mut loops, chunk);
        Ok(Nest { source, destination, loops, kernel })
    }

    /// The bytes the nest writes.
    pub(super) fn bytes(&self) -> u64 {
        let outer = self.loops.iter().map(Step::extent).fold(1_u64, |n, extent| n.saturating_mul(extent));
        let inner = match self.kernel {
            Kernel::Rows { chunk, count } => [chunk, count.extent, 1],
            Kernel::Transpose { chunk, across, along } => [chunk, across.extent, along.extent],
        };
        inner.iter().fold(outer, |n, &factor| n.saturating_mul(u64::try_from(factor).unwrap_or(u64::MAX)))
    }
}

impl Kernel {
    /// How many bytes behind its first chunk, that one included, a kernel reads and writes.
    pub(super) fn reach(&self) -> (usize, usize) {
        let (chunk, strides) = match *self {
            Kernel::Rows { chunk, count } => (chunk, [count, ONCE]),
            Kernel::Transpose { chunk, across, along } => (chunk, [across, along]),
        };
        // Where this saturates, the kernel is refused.
        strides.iter().fold((chunk, chunk), |(source, destination), stride| {
            let last = stride.extent.saturating_sub(1);
            (
                source.saturating_add(last.saturating_mul(stride.source)),
                destination.saturating_add(last.saturating_mul(stride.destination)),
            )
        })
    }
}

impl Step {
    pub(super) fn extent(&self) -> u64 {
        let extent = match self {
            Step::Strided(stride) => stride.extent,
            Step::Table(entries) => entries.len(),
        };
        u64::try_from(extent).unwrap_or(u64::MAX)
    }
}

/// Takes loops that are packed on both sides into the chunk.
fn absorb(loops: &mut SmallVec<[Step; 6]>, mut chunk: usize) -> usize {
    while let Some(place) = position(loops, |stride| stride.source == chunk && stride.destination == chunk) {
        if let Step::Strided(stride) = loops.remove(place) {
            // Cannot saturate: it is the length of a piece of the buffers.
            chunk = chunk.saturating_mul(stride.extent);
        }
    }
    chunk
}

fn position(loops: &[Step], mut test: impl FnMut(Stride) -> bool) -> Option<usize> {
    loops.iter().position(|step| matches!(step, Step::Strided(stride) if test(*stride)))
}

/// Takes the innermost loops out of `loops` and into a kernel.
fn choose(loops: &mut SmallVec<[Step; 6]>, chunk: usize) -> Kernel {
    let take = |loops: &mut SmallVec<[Step; 6]>, place: usize| match loops.remove(place) {
        Step::Strided(stride) => stride,
        Step::Table(_) => ONCE,
    };
    if chunk <= LONGEST_TRANSPOSED
        && let Some(across) = position(loops, |stride| stride.source == chunk)
        && let Some(along) = position(loops, |stride| stride.destination == chunk)
    {
        // Remove the later one first, so that the other keeps its place.
        let later = take(loops, across.max(along));
        let earlier = take(loops, across.min(along));
        let (across, along) = if across > along { (later, earlier) } else { (earlier, later) };
        return Kernel::Transpose { chunk, across, along };
    }
    // The innermost strided loop: the loops come in order of falling destination stride.
    let last = loops.len().checked_sub(1).filter(|&last| matches!(loops.get(last), Some(Step::Strided(_))));
    let count = last.map_or(ONCE, |last| take(loops, last));
    Kernel::Rows { chunk, count }
}
