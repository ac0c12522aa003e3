//! How far a copy reaches into its two buffers.

use super::{Axis, Direction, Kernel, Loop, Misfit, Stride, WidthChange};

/// How far a copy reaches into both buffers, in bytes. A buffer must be at least that long. No iteration
/// starts before byte 0 of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reach {
    source: usize,
    destination: usize,
}

impl Reach {
    /// Computes the reach of a kernel in all iterations of `loops`. The first iteration begins at `start`,
    /// source and destination. A loop without iterations counts as a loop of one iteration. The error is
    /// [`Misfit::Reach`] if an iteration begins before byte 0, or ends after the last address.
    // Proved for every input (proofs/lemmas.py):
    // * reach.inside: every iteration of an answer begins at or after byte 0, and ends at or before the
    //   reach.
    // * reach.reached: one of the iterations ends at the reach.
    // * reach.fits: every distance that an answer is made of fits an `isize`.
    // * reach.error: without an answer, an iteration begins before byte 0 or ends after the last address, or
    //   a distance does not fit an `isize`.
    pub(crate) fn new(kernel: &Kernel, loops: &[Loop], start: (usize, usize)) -> Result<Reach, Misfit> {
        let reach = || {
            let (source, destination) = kernel.span();
            let (mut least, mut most) = (start, start);
            for step in loops {
                let (low, high) = step.ends()?;
                least = (least.0.checked_add_signed(low.0)?, least.1.checked_add_signed(low.1)?);
                most = (most.0.checked_add_signed(high.0)?, most.1.checked_add_signed(high.1)?);
            }
            Some(Reach { source: most.0.checked_add(source?)?, destination: most.1.checked_add(destination?)? })
        };
        reach().ok_or(Misfit::Reach)
    }

    #[inline]
    pub(crate) fn is_inside(self, source: usize, destination: usize) -> bool {
        self.source <= source && self.destination <= destination
    }

    pub(crate) fn ends(self) -> (usize, usize) {
        (self.source, self.destination)
    }
}

type Offsets = (isize, isize);

impl Loop {
    /// The least offset and the largest offset of all iterations, each for the source and the destination.
    /// `None` if an offset overflows.
    fn ends(&self) -> Option<(Offsets, Offsets)> {
        match self {
            Loop::Strided(stride) => {
                let (source, destination) = stride.last()?;
                Some(((source.min(0), destination.min(0)), (source.max(0), destination.max(0))))
            }
            Loop::Table(entries) => {
                let (source, destination) = largest(entries);
                Some(((0, 0), (isize::try_from(source).ok()?, isize::try_from(destination).ok()?)))
            }
        }
    }
}

fn largest(offsets: &[(usize, usize)]) -> (usize, usize) {
    offsets.iter().fold((0, 0), |largest, offset| (largest.0.max(offset.0), largest.1.max(offset.1)))
}

/// Where the contiguous runs of one iteration of a kernel begin on one side.
enum Step<'a> {
    /// A stride in bytes, and the number of runs.
    Strided(usize, usize),
    /// The offsets of a table. `Side` chooses the source offset or the destination offset of each entry.
    Listed(&'a [(usize, usize)], Side),
    Axis(&'a Axis),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Source,
    Destination,
}

impl Step<'_> {
    const ONCE: Self = Step::Strided(0, 1);

    fn extent(&self) -> usize {
        match self {
            Step::Strided(_, extent) => *extent,
            Step::Listed(entries, _) => entries.len(),
            Step::Axis(axis) => axis.extent,
        }
    }

    fn last(&self) -> Option<usize> {
        match self {
            Step::Strided(stride, extent) => extent.saturating_sub(1).checked_mul(*stride),
            Step::Listed(entries, Side::Source) => Some(largest(entries).0),
            Step::Listed(entries, Side::Destination) => Some(largest(entries).1),
            Step::Axis(axis) => axis.largest(),
        }
    }
}

impl Kernel {
    /// One side of an iteration: the length of a contiguous run, and where the runs begin. `None` if a length
    /// overflows.
    fn side(&self, side: Side) -> Option<(usize, [Step<'_>; 2])> {
        let source = side == Side::Source;
        let counted = |count: &Stride| {
            // By condition 2 of `fit.rs`, the strides inside a kernel are at least 0.
            Step::Strided(if source { count.source } else { count.destination }.unsigned_abs(), count.extent)
        };
        let rows = |row: usize, pitch: usize, rows: usize, apart: bool| match apart {
            true => (row, [Step::Strided(pitch, rows), Step::ONCE]),
            false => (row, [Step::ONCE, Step::ONCE]),
        };
        Some(match self {
            Kernel::Runs { run, count, .. } => (*run, [counted(count), Step::ONCE]),
            Kernel::Table { run, offsets, count } => (*run, [counted(count), Step::Listed(offsets, side)]),
            Kernel::Transpose { plane, .. } if source => (plane.source_row(), [Step::Axis(&plane.rows), Step::ONCE]),
            Kernel::Transpose { plane, .. } => (plane.destination_row(), [Step::Axis(&plane.columns), Step::ONCE]),
            Kernel::PermuteBlocks(permutation) => {
                let (from, to) = permutation.span();
                rows(if source { from } else { to }?, 0, 1, false)
            }
            Kernel::Channels(channels) => {
                let (from, to) = channels.steps();
                let groups = Step::Strided(if source { from } else { to }, channels.groups());
                (channels.unit(), [groups, Step::Listed(channels.channels(), side)])
            }
            Kernel::InterleaveBits { rows: bits, .. } => {
                let apart = source == (bits.direction != Direction::Deinterleave);
                // If the length saturates, no buffer is long enough, and the copy is refused.
                rows(if apart { bits.row } else { bits.interleaved() }, bits.pitch, bits.rows(), apart)
            }
            Kernel::ChangeWidth(row) => {
                let packed = source == (row.change != WidthChange::Pack);
                rows(if packed { row.packed } else { row.unpacked() }, 0, 1, false)
            }
        })
    }

    /// How many bytes one iteration spans on the source and on the destination. A number that overflows is
    /// `None`.
    pub(crate) fn span(&self) -> (Option<usize>, Option<usize>) {
        let span = |side| {
            let (run, [a, b]) = self.side(side)?;
            a.last()?.checked_add(b.last()?)?.checked_add(run)
        };
        (span(Side::Source), span(Side::Destination))
    }

    /// How many bytes one iteration writes; `None` if the number overflows.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let (run, [a, b]) = self.side(Side::Destination)?;
        [a.extent(), b.extent()]
            .iter()
            .try_fold(u64::try_from(run).ok()?, |bytes, &extent| bytes.checked_mul(u64::try_from(extent).ok()?))
    }
}
