//! How much of the source is read front to back.

use strided_copy::nest::{Direction, MicroKernel, NestLoop, Stride, WidthChange};

use super::cost::{FOLLOWED, LINE, MOST_INTERLEAVED, PAIRED_ROW};
use super::machine::Knobs;

/// Are prefetches useless, because the hardware prefetcher follows what these loops read? (Z4; on X5 such
/// copies want them.)
pub(super) fn is_followed(kernel: &MicroKernel, loops: &[NestLoop], knobs: &Knobs) -> bool {
    knobs.rules.follows_rows && sequence_in(kernel, loops) >= FOLLOWED
}

/// The bytes of the source that the innermost iterations of these loops read in sequence, with gaps of less
/// than a line; 0 if the kernel reads in some other order.
fn sequence_in(kernel: &MicroKernel, loops: &[NestLoop]) -> usize {
    let own = match kernel {
        MicroKernel::Copy { run, count } => after_each_other(*run, count),
        MicroKernel::Reverse { unit, extent, count } => after_each_other(unit.saturating_mul(*extent), count),
        // Halves of lines are read from two rows in turns, or more.
        MicroKernel::Transpose(plane) if plane.unit == LINE / 2 && plane.source_row() >= PAIRED_ROW => None,
        MicroKernel::Transpose(plane) if plane.columns.extent <= MOST_INTERLEAVED => {
            let rows = |source| Stride { extent: plane.rows.extent, source, destination: 0 };
            plane.rows.stride().and_then(|pitch| after_each_other(plane.source_row(), &rows(pitch)))
        }
        MicroKernel::InterleaveBits(rows) if rows.direction == Direction::Deinterleave => Some(kernel.span().0),
        MicroKernel::ChangeWords(words) if words.change != WidthChange::Pack => Some(kernel.span().0),
        MicroKernel::ChangeWidth(_) => Some(kernel.span().0),
        _ => None,
    };
    let Some(own) = own else { return 0 };
    let strides = loops.iter().rev().map_while(|step| match step {
        NestLoop::Strided(stride) | NestLoop::Reversed(stride) => Some(stride),
        NestLoop::Table(_) => None,
    });
    let mut bytes = own;
    for stride in strides {
        let Some(more) = after_each_other(bytes, stride) else { break };
        bytes = more;
    }
    bytes
}

/// The bytes of `count` runs, if each begins where the one before ends, or less than a line further on.
fn after_each_other(run: usize, count: &Stride) -> Option<usize> {
    if count.extent == 1 {
        return Some(run);
    }
    let gap = count.source.checked_sub(run)?;
    (gap < LINE).then(|| count.source.saturating_mul(count.extent))
}

#[cfg(test)]
mod tests;
