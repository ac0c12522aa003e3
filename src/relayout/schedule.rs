//! A box in bytes: which loops the inner kernel takes, and in which order the others run.
//!
//! A box says how far apart elements lie; here it becomes a [`Nest`] of byte strides. The loop that is packed on both sides
//! disappears into the *chunk*, the bytes that are copied as they are. Then a kernel takes the innermost loops:
//!
//! * *rows*, when the chunk is long or no loop is packed on the source: chunks one after the other;
//! * *places*, the same for chunks whose places follow no stride (48-blocks against 32-blocks);
//! * *transpose*, when one loop (`across`) is packed on the source and another (`along`) on the destination: both at once,
//!   so that every line of memory is used up while it is in the cache;
//! * *turns*, for rows of elements smaller than a byte that take turns in one row.
//!
//! # What a copy costs
//!
//! Every byte is read once and written once, and the processor could do much more meanwhile. So the cost is how far the traffic
//! is from two streams, and the rules below are about that, in the order in which they matter:
//!
//! 1. *Whole lines.* Half a line written makes memory read the other half first. A transpose therefore works in blocks that
//!    are a line on both sides, and a short axis takes in the loop that goes on where it ends ([`lengthened`]).
//! 2. *Round the cache.* A cached store reads its line first, as well. From 8 MiB on (`execute.rs`) lines are stored round
//!    the cache; below, what is read next would have to come back from memory.
//! 3. *Reads are a stream, writes may jump.* What is read is waited for; what is written is not. Chunks and woven rows that
//!    leave at least two lines in each place go in the order of the source ([`along_source`]); shorter ones, and a
//!    source that is repeated and stays in the cache, in the order of the destination.
//! 4. *Ask early.* Where the order is no stream the hardware knows (the next row, the next tile), the kernel asks for what it
//!    will read some 8 KiB later, a line for every line it copies (`kernel/task.rs`), and a transpose for the next panel of
//!    its plane, row by row, while it works on this one (`kernel/blocks.rs`). Asked for all at once, lines queue up.
//! 5. *Do not meet.* Rows a multiple of 4096 bytes apart share the sets of the nearest cache and, written line by line, the
//!    queues of the memory. Through the cache such planes go by way of a stage (`kernel/stage.rs`); round it, blocks
//!    are ordered so that runs are left in few rows at a time.
//! 6. *Threads* take steps of one outer loop each (`kernel/threads.rs`), which changes none of this; where no loop is long
//!    enough, the destination is cut into pieces (`partition.rs`).

use std::cmp::Reverse;

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
    /// The bytes it writes.
    pub(super) bytes: u64,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kernel {
    /// Copies `count.extent` chunks of `chunk` bytes.
    Rows { chunk: usize, count: Stride },
    /// For each step of `count`, copies chunks of `chunk` bytes to and from these places.
    Places { chunk: usize, places: Vec<(usize, usize)>, count: Stride },
    /// Copies a plane of chunks.
    Transpose(Plane),
    /// Copies rows of elements smaller than a byte that take turns on one side.
    Turns(Turns),
}

/// Rows of elements smaller than a byte, and one row in which they take turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turns {
    /// Of an element: 1, 2 or 4.
    pub(super) bits: usize,
    /// How many rows: one of [`ROWS`](Turns::ROWS).
    pub(super) rows: usize,
    /// The bytes of each, which are whole.
    pub(super) row: usize,
    /// How many bytes apart the rows begin.
    pub(super) pitch: usize,
    /// The rows lie on the destination, the source has them in turns.
    pub(super) apart: bool,
}

impl Turns {
    /// How many rows there are kernels for.
    pub(super) const ROWS: [usize; 5] = [2, 4, 8, 16, 32];
}

/// A plane of chunks: chunk (a, b) goes from `a * chunk + along.at(b)` to `across.at(a) + b * chunk`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plane {
    pub(super) chunk: usize,
    /// Packed on the source; offsets are the destination's.
    pub(super) across: Axis,
    /// Packed on the destination; offsets are the source's.
    pub(super) along: Axis,
    /// A chunk is itself a small plane, which is transposed on the way.
    pub(super) twist: Option<Twist>,
}

impl Plane {
    /// Are its rows a few that take turns on one side, and does it leave a few lines at least in each place it writes? Rows that
    /// are woven in the cache are better written front to back.
    fn writes_long_runs(&self, loops: &[Step]) -> bool {
        let Plane { chunk, across, along, .. } = self;
        let packed = |axis: &Axis| axis.extent.saturating_mul(*chunk);
        let woven = along.extent <= 16 && across.stride() == Some(packed(along));
        let unwoven = across.extent <= 16 && along.stride() == Some(packed(across));
        let run = if woven { packed(along).saturating_mul(across.extent) } else { packed(along) };
        let calls = loops.iter().map(Step::extent).fold(1, usize::saturating_mul);
        let bytes = calls.saturating_mul(packed(across)).saturating_mul(along.extent);
        (unwoven || woven && bytes >= CACHED) && run >= LONGEST_TRANSPOSED
    }
}

/// A chunk of `rows` by `columns` units of `unit` bytes, of at most 16 bytes in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Twist {
    rows: usize,
    columns: usize,
    unit: usize,
}

impl Twist {
    /// For each of 16 bytes of whole chunks, where it comes from.
    pub(super) fn bytes(self) -> [u8; 16] {
        let Twist { rows, columns, unit } = self;
        let chunk = rows.saturating_mul(columns).saturating_mul(unit).max(1);
        let mut bytes = [0; 16];
        for (i, byte) in bytes.iter_mut().enumerate() {
            let (first, inside) = (i.saturating_sub(i.rem_euclid(chunk)), i.rem_euclid(chunk));
            let (place, rest) = (inside.div_euclid(unit.max(1)), inside.rem_euclid(unit.max(1)));
            // Place (column, row) of the result is place (row, column) of the source.
            let (column, row) = (place.div_euclid(rows.max(1)), place.rem_euclid(rows.max(1)));
            let from = row.saturating_mul(columns).saturating_add(column).saturating_mul(unit);
            *byte = u8::try_from(first.saturating_add(from).saturating_add(rest)).unwrap_or(0);
        }
        bytes
    }
}

/// One axis of a plane: on one side its steps are packed, on the other they lie at these offsets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) extent: usize,
    pub(super) offsets: Offsets,
}

/// Offsets in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Offsets {
    /// Every step as far from the one before.
    Stride(usize),
    /// Several loops in one.
    Table(Table),
}

/// The offsets of several loops, and what can be said of them all without a look at each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    offsets: Vec<usize>,
    largest: usize,
    /// Every bit that is set in a stride of the loops.
    strides: usize,
}

impl Axis {
    /// Where step `i` lies.
    #[inline(always)]
    #[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "called for steps below the extent")]
    pub(super) fn at(&self, i: usize) -> usize {
        match &self.offsets {
            Offsets::Stride(stride) => i * stride,
            Offsets::Table(table) => table.offsets[i],
        }
    }

    /// The distance of neighbours, if it is everywhere the same.
    pub(super) fn stride(&self) -> Option<usize> {
        match &self.offsets {
            Offsets::Stride(stride) => Some(*stride),
            Offsets::Table(_) => None,
        }
    }

    /// Are all offsets multiples of `bytes`, a power of two?
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only kernels over registers ask"))]
    pub(super) fn are_multiples_of(&self, bytes: usize) -> bool {
        self.strides().is_multiple_of(bytes)
    }

    fn strides(&self) -> usize {
        match &self.offsets {
            Offsets::Stride(stride) => *stride,
            Offsets::Table(table) => table.strides,
        }
    }

    /// The largest offset.
    fn largest(&self) -> usize {
        match &self.offsets {
            Offsets::Stride(stride) => self.extent.saturating_sub(1).saturating_mul(*stride),
            Offsets::Table(table) => table.largest,
        }
    }

    /// The axis with another loop outside it.
    fn inside(self, extent: usize, stride: usize) -> Axis {
        // Nothing saturates or wraps: all these offsets lie in a buffer.
        let mut offsets = Vec::with_capacity(self.extent.saturating_mul(extent));
        offsets.extend((0..self.extent).map(|i| self.at(i)));
        // Copied and moved in runs that double: the loops may be short.
        let mut steps = 1;
        while steps < extent {
            let more = steps.min(extent.saturating_sub(steps));
            let (old, moved) = (offsets.len(), steps.saturating_mul(stride));
            offsets.extend_from_within(..more.saturating_mul(self.extent));
            offsets.iter_mut().skip(old).for_each(|offset| *offset = offset.wrapping_add(moved));
            steps = steps.saturating_add(more);
        }
        let largest = self.largest().saturating_add(extent.saturating_sub(1).saturating_mul(stride));
        let table = Table { offsets, largest, strides: self.strides() | stride };
        Axis { extent: self.extent.saturating_mul(extent), offsets: Offsets::Table(table) }
    }
}

/// Chunks up to this many bytes are worth transposing; longer ones fill cache lines by themselves.
pub(super) const LONGEST_TRANSPOSED: usize = 128;

/// A cache line.
pub(super) const LINE: usize = 64;

/// An axis of a plane should span this many bytes on the side where it is packed; shorter ones take in a further loop.
const LONG_ENOUGH: usize = 512;

/// So many bytes on either side stay in the level-2 cache.
const CACHED: usize = 1 << 19;

/// The most steps a table of offsets may have.
const LARGEST_TABLE: usize = 4096;

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
        Ok(Nest::around(kernel, loops, source, destination))
    }

    /// Loops around a kernel.
    pub(super) fn around(kernel: Kernel, loops: SmallVec<[Step; 6]>, source: usize, destination: usize) -> Nest {
        let factors = loops.iter().map(Step::extent).chain(kernel.factors());
        let bytes = factors.fold(1, |bytes: u64, n| bytes.saturating_mul(u64::try_from(n).unwrap_or(u64::MAX)));
        Nest { source, destination, loops, kernel, bytes }
    }
}

impl Kernel {
    /// Numbers whose product is the bytes a call writes.
    fn factors(&self) -> [usize; 3] {
        match self {
            Kernel::Rows { chunk, count } => [*chunk, count.extent, 1],
            Kernel::Places { chunk, places, count } => [*chunk, places.len(), count.extent],
            Kernel::Transpose(plane) => [plane.chunk, plane.across.extent, plane.along.extent],
            Kernel::Turns(turns) => [turns.row, turns.rows, 1],
        }
    }

    /// How many bytes behind its first chunk, that one included, a kernel reads and writes inside some loops.
    pub(super) fn reach_in(&self, loops: &[Step]) -> (usize, usize) {
        // Where this saturates, the kernel is refused.
        loops.iter().map(Step::reach).fold(self.reach(), |(source, destination), reach| {
            (source.saturating_add(reach.0), destination.saturating_add(reach.1))
        })
    }

    /// How many bytes behind its first chunk, that one included, one call of a kernel reads and writes.
    fn reach(&self) -> (usize, usize) {
        // Where this saturates, the kernel is refused.
        match self {
            Kernel::Rows { chunk, count } => {
                let last = count.extent.saturating_sub(1);
                let behind = |stride: usize| last.saturating_mul(stride).saturating_add(*chunk);
                (behind(count.source), behind(count.destination))
            }
            Kernel::Places { chunk, places, count } => {
                let last = count.extent.saturating_sub(1);
                let behind = |stride: usize, side: fn(&(usize, usize)) -> usize| {
                    let largest = places.iter().map(side).max().unwrap_or(0);
                    last.saturating_mul(stride).saturating_add(largest).saturating_add(*chunk)
                };
                (behind(count.source, |place| place.0), behind(count.destination, |place| place.1))
            }
            Kernel::Turns(Turns { rows, row, pitch, apart, .. }) => {
                let (rows, turns) =
                    (rows.saturating_sub(1).saturating_mul(*pitch).saturating_add(*row), rows.saturating_mul(*row));
                if *apart { (turns, rows) } else { (rows, turns) }
            }
            Kernel::Transpose(Plane { chunk, across, along, .. }) => {
                let packed = |axis: &Axis| axis.extent.saturating_mul(*chunk);
                (along.largest().saturating_add(packed(across)), across.largest().saturating_add(packed(along)))
            }
        }
    }
}

impl Stride {
    /// No loop at all.
    pub(super) const ONCE: Stride = Stride { extent: 1, source: 0, destination: 0 };
}

impl Step {
    /// How many steps.
    pub(super) fn extent(&self) -> usize {
        match self {
            Step::Strided(stride) => stride.extent,
            Step::Table(entries) => entries.len(),
        }
    }

    /// Where step `i` lies, source and destination.
    pub(super) fn at(&self, i: usize) -> (usize, usize) {
        match self {
            // Nothing saturates: all steps lie in a buffer.
            Step::Strided(stride) => (stride.source.saturating_mul(i), stride.destination.saturating_mul(i)),
            Step::Table(entries) => entries.get(i).copied().unwrap_or_default(),
        }
    }

    /// The largest offsets of a step, source and destination.
    fn reach(&self) -> (usize, usize) {
        match self {
            Step::Strided(stride) => self.at(stride.extent.saturating_sub(1)),
            Step::Table(entries) => {
                entries.iter().fold((0, 0), |largest, entry| (largest.0.max(entry.0), largest.1.max(entry.1)))
            }
        }
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
        Step::Table(_) => Stride::ONCE,
    };
    if chunk <= LONGEST_TRANSPOSED
        && let Some(across) = position(loops, |stride| stride.source == chunk)
        // A chunk that is repeated along the destination is filled in, row by row.
        && let Some(along) = position(loops, |stride| stride.destination == chunk && stride.source > 0)
    {
        // Remove the later one first, so that the other keeps its place.
        let later = take(loops, across.max(along));
        let earlier = take(loops, across.min(along));
        let (across, along) = if across > along { (later, earlier) } else { (earlier, later) };
        let plane = plane(loops, chunk, across, along, true);
        if plane.writes_long_runs(loops) {
            along_source(loops);
        }
        return Kernel::Transpose(plane);
    }
    if chunk > LONGEST_TRANSPOSED {
        along_source(loops);
    }
    // The innermost strided loop.
    let last = loops.len().checked_sub(1).filter(|&last| matches!(loops.get(last), Some(Step::Strided(_))));
    let count = last.map_or(Stride::ONCE, |last| take(loops, last));
    // A table goes inside: its places are near each other on the destination.
    if let Some(place) = loops.iter().position(|step| matches!(step, Step::Table(_)))
        && let Step::Table(places) = loops.remove(place)
    {
        return Kernel::Places { chunk, places, count };
    }
    Kernel::Rows { chunk, count }
}

/// Orders loops so that the source is read front to back: reads want a stream, while writes of whole lines may go anywhere.
/// A source that is repeated is read from the cache, and keeps the order of the destination.
pub(super) fn along_source(loops: &mut SmallVec<[Step; 6]>) {
    let key = |step: &Step| match step {
        Step::Strided(stride) if stride.source > 0 => Some(Reverse((stride.source, stride.destination))),
        _ => None,
    };
    if loops.iter().all(|step| key(step).is_some()) {
        loops.sort_by_key(key);
    }
}

/// A plane of two loops, with further loops fused into an axis that is short.
fn plane(loops: &mut SmallVec<[Step; 6]>, chunk: usize, across: Stride, along: Stride, twist: bool) -> Plane {
    let sides = [
        (across.destination == along.extent.saturating_mul(chunk), along.extent),
        (along.source == across.extent.saturating_mul(chunk), across.extent),
    ];
    let (rows, columns) = (along.extent, across.extent);
    if twist
        && sides[0].0
        && sides[1].0
        && rows.saturating_mul(columns).saturating_mul(chunk) <= 16
        && let Some(plane) = twisted(loops, Twist { rows, columns, unit: chunk })
    {
        return plane;
    }
    let mut across = Axis { extent: columns, offsets: Offsets::Stride(across.destination) };
    let mut along = Axis { extent: rows, offsets: Offsets::Stride(along.source) };
    // A few interleaved rows (two by two, four by four) have kernels of their own, and are dense as they are.
    if !sides.iter().any(|&(dense, extent)| dense && extent <= 16) {
        // A line on either side first; then long runs on the destination, then on the source.
        for (on_source, least) in [(true, LINE), (false, LONG_ENOUGH), (true, LONG_ENOUGH)] {
            if on_source {
                across = lengthened(loops, chunk, across, least, |stride| (stride.source, stride.destination));
            } else {
                along = lengthened(loops, chunk, along, least, |stride| (stride.destination, stride.source));
            }
        }
    }
    Plane { chunk, across, along, twist: None }
}

/// A plane whose chunks are small planes themselves, if the loops around them make one.
fn twisted(loops: &mut SmallVec<[Step; 6]>, twist: Twist) -> Option<Plane> {
    let chunk = twist.rows.saturating_mul(twist.columns).saturating_mul(twist.unit);
    let (across, along) =
        (position(loops, |stride| stride.source == chunk)?, position(loops, |stride| stride.destination == chunk)?);
    if !chunk.is_power_of_two() || across == along {
        return None;
    }
    let (later, earlier) = (loops.remove(across.max(along)), loops.remove(across.min(along)));
    let (Step::Strided(later), Step::Strided(earlier)) = (later, earlier) else { return None };
    let (across, along) = if across > along { (later, earlier) } else { (earlier, later) };
    Some(Plane { twist: Some(twist), ..plane(loops, chunk, across, along, false) })
}

/// Takes loops into an axis that is packed with it, until it is long enough.
fn lengthened(
    loops: &mut SmallVec<[Step; 6]>,
    chunk: usize,
    mut axis: Axis,
    least: usize,
    sides: fn(Stride) -> (usize, usize),
) -> Axis {
    while axis.extent.saturating_mul(chunk) < least {
        let packed = axis.extent.saturating_mul(chunk);
        let next = position(loops, |stride| {
            sides(stride).0 == packed && stride.extent.saturating_mul(axis.extent) <= LARGEST_TABLE
        });
        let Some(place) = next else { break };
        let Step::Strided(stride) = loops.remove(place) else { break };
        axis = axis.inside(stride.extent, sides(stride).1);
    }
    axis
}
