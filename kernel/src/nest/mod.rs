//! The loop nest of one box: what planning makes of it, what `exec` walks, what a kernel runs.
//!
//! Offsets, strides and lengths are in bytes.
//!
//! # Invariants
//!
//! 1. Every loop and every axis has at least one iteration. (Of axes, `kernel/call.rs` makes sure; a loop
//!    without any is harmless.)
//! 2. A [`span`](MicroKernel::span) that does not fit a `usize` saturates, and so is past the end of any
//!    buffer: the check in `kernel/call.rs` refuses it.
//! 3. The [`reach`](Nest::reach) of a nest is that of its kernel, loops and start: they are set together and
//!    do not change.

use crate::cost::{LONGEST_REVERSED, LONGEST_UNIT, MOST_INTERLEAVED};

mod bits;
mod plane;
mod reach;

mod stride;
mod width;

pub use bits::{BitInterleave, BitPlane, BitRows, Direction};
pub use plane::{Axis, MicroTile, Plane, RowPitch};
pub use reach::Reach;
pub use stride::Stride;
pub use width::{PackedWords, WidthChange, WidthRow};

/// A loop nest around a micro-kernel.
#[derive(Debug, Clone)]
pub struct Nest {
    start: (usize, usize),
    loops: NestLoops,
    kernel: MicroKernel,
    bytes: u64,
    reach: Reach,
}

/// The loops of a nest, outer to inner.
pub type NestLoops = Vec<NestLoop>;

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

/// What an iteration of the loops does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MicroKernel {
    /// Copies `count.extent` contiguous runs of `run` bytes.
    Copy {
        /// Bytes of a run.
        run: usize,
        /// Where the runs are.
        count: Stride,
    },
    /// For each iteration of `count`, copies a run of `run` bytes between each pair of offsets (blocks of 48
    /// against blocks of 32).
    CopyTable {
        /// Bytes of a run.
        run: usize,
        /// Where the runs of an iteration of `count` are, source and destination.
        offsets: Vec<(usize, usize)>,
        /// Where its iterations are.
        count: Stride,
    },
    /// Transposes a plane.
    Transpose(Plane),
    /// Interleaves rows of sub-byte elements, or deinterleaves them.
    InterleaveBits(BitInterleave),
    /// Reverses each of `count.extent` runs of `extent` units of `unit` bytes.
    Reverse {
        /// Bytes that stay together.
        unit: usize,
        /// Units of a run.
        extent: usize,
        /// Where the runs are.
        count: Stride,
    },
    /// Unpacks a row of sub-byte elements, or packs it.
    ChangeWidth(WidthRow),
    /// Unpacks words of sub-byte elements into rows, or packs rows into words.
    ChangeWords(PackedWords),
}

impl Nest {
    /// `source`, `destination`: where the first element of a box is stored whose reversed loops go backwards
    /// on the source; in a nest they go backwards on the destination.
    pub fn new(kernel: MicroKernel, loops: NestLoops, source: usize, destination: usize) -> Nest {
        let turned =
            loops.iter().map(NestLoop::turned).fold((0, 0), |(a, b): (usize, usize), (source, destination)| {
                (a.saturating_add(source), b.saturating_add(destination))
            });
        // A box that begins in front of the source reaches past the end of any buffer.
        let source = source.checked_sub(turned.0).unwrap_or(usize::MAX);
        let destination = destination.saturating_add(turned.1);
        let factors = loops.iter().map(NestLoop::extent).chain(kernel.factors());
        let bytes = factors.fold(1, |bytes: u64, n| bytes.saturating_mul(u64::try_from(n).unwrap_or(u64::MAX)));
        let start = (source, destination);
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

    /// Do all iterations of the loops write different bytes, so that threads may share them?
    ///
    /// True is certain. The test is that the destination's steps nest: neighbours in each are at least as far
    /// apart as all smaller steps span together. It holds for packed, padded and tiled destinations; strides
    /// that interleave without meeting (sizes 2 and 3, strides 3 and 2), strides of 0 and long tables fail
    /// it.
    pub fn writes_are_disjoint(&self) -> bool {
        let mut steps = Steps::new();
        let mut run = self.kernel.destination_steps(&mut steps);
        for step in &self.loops {
            steps.push(match step {
                NestLoop::Strided(stride) | NestLoop::Reversed(stride) => strided(stride.destination, stride.extent),
                NestLoop::Table(entries) => listed(entries),
            });
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

/// Steps on the destination: how far apart neighbours are at least, and how far the last is from the first.
type Steps = Vec<(usize, usize)>;

/// The steps of a loop.
fn strided(stride: usize, extent: usize) -> (usize, usize) {
    let last = extent.saturating_sub(1);
    (if last == 0 { usize::MAX } else { stride }, last.saturating_mul(stride))
}

/// The steps of a table; one that is long is said to repeat a place, which nests in nothing.
fn listed(entries: &[(usize, usize)]) -> (usize, usize) {
    let mut offsets: Vec<usize> = entries.iter().take(65).map(|&(_, to)| to).collect();
    offsets.sort_unstable();
    let neighbours = offsets.iter().zip(offsets.iter().skip(1));
    let gap = neighbours.map(|(a, b)| b.saturating_sub(*a)).min().unwrap_or(usize::MAX);
    if offsets.len() > 64 { (0, 0) } else { (gap, offsets.last().copied().unwrap_or(0)) }
}

impl MicroKernel {
    /// Numbers whose product is the bytes that one iteration writes.
    fn factors(&self) -> [usize; 3] {
        match self {
            MicroKernel::Copy { run, count } => [*run, count.extent, 1],
            MicroKernel::CopyTable { run, offsets, count } => [*run, offsets.len(), count.extent],
            MicroKernel::Transpose(plane) => [plane.unit, plane.columns.extent, plane.rows.extent],
            MicroKernel::InterleaveBits(rows) => [rows.row, rows.rows, 1],
            MicroKernel::ChangeWidth(row) => [row.span().1, 1, 1],
            MicroKernel::ChangeWords(words) => match words.change {
                WidthChange::Unpack { .. } => [words.words, words.rows(), 1],
                WidthChange::Pack => [words.packed(), 1, 1],
            },
            MicroKernel::Reverse { unit, extent, count } => [*unit, *extent, count.extent],
        }
    }

    /// Is it one that there is code for? Kernels rest on this, whatever the span is: that rows and columns
    /// are not empty, and that bits are interleaved of as many rows as there are loops for, and a packed
    /// element is a part of a byte.
    pub fn is_well_formed(&self) -> bool {
        match self {
            MicroKernel::Copy { run, .. } | MicroKernel::CopyTable { run, .. } => *run > 0,
            MicroKernel::Transpose(plane) => {
                let tile = plane.micro_tile.is_none_or(|tile| tile.bytes() == plane.unit && tile.has_shuffle());
                (1..=LONGEST_UNIT).contains(&plane.unit) && plane.columns.extent > 0 && plane.rows.extent > 0 && tile
            }
            MicroKernel::InterleaveBits(rows) => {
                matches!(rows.bits, 1 | 2 | 4) && BitInterleave::ROWS.contains(&rows.rows)
            }
            MicroKernel::ChangeWidth(row) => matches!(row.bits, 1 | 2 | 4) && row.packed > 0,
            MicroKernel::ChangeWords(words) => matches!(words.bits, 1 | 2 | 4) && words.words > 0,
            MicroKernel::Reverse { unit, extent, .. } => (1..=LONGEST_REVERSED).contains(unit) && *extent > 0,
        }
    }

    /// The bytes of a row and how far apart rows are, if an iteration separates a few rows of the
    /// destination.
    pub fn separated_rows(&self) -> Option<(usize, usize)> {
        match self {
            MicroKernel::Transpose(plane) if plane.columns.extent <= MOST_INTERLEAVED => {
                plane.deinterleaves().map(|pitch| (plane.destination_row(), pitch.bytes))
            }
            MicroKernel::InterleaveBits(rows) if rows.direction == Direction::Deinterleave => {
                Some((rows.row, rows.pitch))
            }
            MicroKernel::ChangeWords(words) if words.change != WidthChange::Pack => Some((words.words, words.pitch)),
            _ => None,
        }
    }

    /// How many bytes all iterations inside these loops span on the source and on the destination, from the
    /// beginning of the first one to the last. What a destination that [goes backwards](NestLoop::backwards)
    /// writes in front of that is not counted.
    pub fn span_in(&self, loops: &[NestLoop]) -> (usize, usize) {
        loops.iter().map(NestLoop::largest).fold(self.span(), |(source, destination), last| {
            (source.saturating_add(last.0), destination.saturating_add(last.1))
        })
    }

    /// How many bytes one iteration spans on the source and on the destination.
    pub fn span(&self) -> (usize, usize) {
        match self {
            MicroKernel::Copy { run, count } => {
                let (source, destination) = count.last();
                (source.saturating_add(*run), destination.saturating_add(*run))
            }
            MicroKernel::CopyTable { run, offsets, count } => {
                let (source, destination) = count.last();
                let largest = largest(offsets);
                (
                    source.saturating_add(largest.0).saturating_add(*run),
                    destination.saturating_add(largest.1).saturating_add(*run),
                )
            }
            MicroKernel::Transpose(plane) => plane.span(),
            MicroKernel::InterleaveBits(BitInterleave { rows, row, pitch, direction, .. }) => {
                let apart = rows.saturating_sub(1).saturating_mul(*pitch).saturating_add(*row);
                let joined = rows.saturating_mul(*row);
                match direction {
                    Direction::Interleave => (apart, joined),
                    Direction::Deinterleave => (joined, apart),
                }
            }
            MicroKernel::ChangeWidth(row) => row.span(),
            MicroKernel::ChangeWords(words) => words.span(),
            MicroKernel::Reverse { unit, extent, count } => {
                let (run, (source, destination)) = (unit.saturating_mul(*extent), count.last());
                (source.saturating_add(run), destination.saturating_add(run))
            }
        }
    }

    /// Adds the steps of the destination inside one iteration to `steps`, and returns the bytes of the runs
    /// between them.
    fn destination_steps(&self, steps: &mut Steps) -> usize {
        match self {
            MicroKernel::Copy { run, count } => {
                steps.push(strided(count.destination, count.extent));
                *run
            }
            MicroKernel::CopyTable { run, offsets, count } => {
                steps.push(strided(count.destination, count.extent));
                steps.push(listed(offsets));
                *run
            }
            MicroKernel::Transpose(plane) => {
                steps.extend(plane.columns.loops().iter().map(|&(stride, extent)| strided(stride, extent)));
                plane.destination_row()
            }
            MicroKernel::InterleaveBits(BitInterleave { rows, row, pitch, direction, .. }) => match direction {
                Direction::Interleave => rows.saturating_mul(*row),
                Direction::Deinterleave => {
                    steps.push(strided(*pitch, *rows));
                    *row
                }
            },
            MicroKernel::ChangeWidth(row) => row.span().1,
            MicroKernel::ChangeWords(words) => match words.change {
                WidthChange::Unpack { .. } => {
                    steps.push(strided(words.pitch, words.rows()));
                    words.words
                }
                WidthChange::Pack => words.packed(),
            },
            MicroKernel::Reverse { unit, extent, count } => {
                steps.push(strided(count.destination, count.extent));
                unit.saturating_mul(*extent)
            }
        }
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
