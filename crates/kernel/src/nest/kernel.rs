//! What one iteration of a nest does, and where it reads and writes.

use super::bits::{BitInterleave, Direction};
use super::plane::{Axis, Plane};
use super::stride::Stride;
use super::width::{PackedWords, WidthChange, WidthRow};
use super::{NestLoop, largest};
use crate::cost::{LONGEST_REVERSED, LONGEST_UNIT, MOST_INTERLEAVED};

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

/// How the runs of one iteration follow each other on one side.
pub(super) enum Step<'a> {
    /// The bytes from one to the next, and how many.
    Strided(usize, usize),
    /// At the offsets of a table, of its source if so.
    Listed(&'a [(usize, usize)], bool),
    /// At those of an axis.
    Axis(&'a Axis),
}

impl Step<'_> {
    /// A single run.
    const ONCE: Self = Step::Strided(0, 1);

    pub(super) fn extent(&self) -> usize {
        match self {
            Step::Strided(_, extent) => *extent,
            Step::Listed(entries, _) => entries.len(),
            Step::Axis(axis) => axis.extent,
        }
    }

    /// Where the last run begins.
    fn last(&self) -> usize {
        match self {
            Step::Strided(stride, extent) => extent.saturating_sub(1).saturating_mul(*stride),
            Step::Listed(entries, source) => {
                if *source {
                    largest(entries).0
                } else {
                    largest(entries).1
                }
            }
            Step::Axis(axis) => axis.largest(),
        }
    }

    /// Adds how far apart neighbours are at least on the destination, and how far the last is from the first.
    pub(super) fn add_gaps(&self, gaps: &mut Vec<(usize, usize)>) {
        match self {
            Step::Strided(stride, extent) => {
                gaps.push((if *extent <= 1 { usize::MAX } else { *stride }, self.last()));
            }
            // A table that is long is said to repeat a place, which nests in nothing.
            Step::Listed(entries, _) if entries.len() > 64 => gaps.push((0, 0)),
            Step::Listed(entries, _) => {
                let mut offsets: Vec<usize> = entries.iter().map(|&(_, to)| to).collect();
                offsets.sort_unstable();
                let neighbours = offsets.iter().zip(offsets.iter().skip(1));
                let gap = neighbours.map(|(a, b)| b.saturating_sub(*a)).min().unwrap_or(usize::MAX);
                gaps.push((gap, offsets.last().copied().unwrap_or(0)));
            }
            Step::Axis(axis) => {
                axis.loops().for_each(|(stride, extent)| Step::Strided(stride, extent).add_gaps(gaps));
            }
        }
    }
}

impl MicroKernel {
    /// One side of an iteration: the bytes of a run, and the steps between runs.
    pub(super) fn side(&self, source: bool) -> (usize, [Step<'_>; 2]) {
        let counted =
            |count: &Stride| Step::Strided(if source { count.source } else { count.destination }, count.extent);
        let rows = |row: usize, pitch: usize, rows: usize, apart: bool| match apart {
            true => (row, [Step::Strided(pitch, rows), Step::ONCE]),
            false => (row, [Step::ONCE, Step::ONCE]),
        };
        match self {
            MicroKernel::Copy { run, count } => (*run, [counted(count), Step::ONCE]),
            MicroKernel::CopyTable { run, offsets, count } => (*run, [counted(count), Step::Listed(offsets, source)]),
            MicroKernel::Reverse { unit, extent, count } => {
                (unit.saturating_mul(*extent), [counted(count), Step::ONCE])
            }
            MicroKernel::Transpose(plane) if source => (plane.source_row(), [Step::Axis(&plane.rows), Step::ONCE]),
            MicroKernel::Transpose(plane) => (plane.destination_row(), [Step::Axis(&plane.columns), Step::ONCE]),
            MicroKernel::InterleaveBits(bits) => {
                let apart = source == (bits.direction == Direction::Interleave);
                let row = if apart { bits.row } else { bits.rows.saturating_mul(bits.row) };
                rows(row, bits.pitch, bits.rows, apart)
            }
            MicroKernel::ChangeWidth(row) => {
                let packed = source == (row.change != WidthChange::Pack);
                rows(if packed { row.packed } else { row.unpacked() }, 0, 1, false)
            }
            MicroKernel::ChangeWords(words) => {
                let apart = source == (words.change == WidthChange::Pack);
                rows(if apart { words.words } else { words.packed() }, words.pitch, words.rows(), apart)
            }
        }
    }

    /// Is there code for it? That kernels are sound rests on this, whatever the span is: runs, rows and
    /// columns are not empty, a unit is at most as long as registers and stages have room for, there are as
    /// many rows of bits as there is a shuffle for, and a packed element is a part of a byte.
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
        let span = |(run, [a, b]): (usize, [Step<'_>; 2])| a.last().saturating_add(b.last()).saturating_add(run);
        (span(self.side(true)), span(self.side(false)))
    }
}
