//! Loops over elements as the loops over bytes of a nest.

use smallvec::SmallVec;
use strided_copy::nest::{NestLoop, Stride};

use crate::map::Loop;

/// Loops from which a kernel is chosen, outer to inner; up to rank 8 without an allocation.
pub(crate) type NestLoops = SmallVec<[NestLoop; 8]>;

/// Loops over elements as loops over bytes, by what strides and offsets are in bytes; `None` where one of
/// them is not whole.
pub(crate) fn loops_in_bytes<'a>(
    steps: impl Iterator<Item = &'a Loop>,
    in_bytes: impl Fn((u64, u64)) -> Option<(usize, usize)>,
) -> Option<NestLoops> {
    let stride = |extent: u64, sides| {
        let (source, destination) = in_bytes(sides)?;
        Some(Stride { extent: usize::try_from(extent).ok()?, source, destination })
    };
    let in_bytes = |step: &Loop| match *step {
        Loop::Strided { extent, source, destination } => stride(extent, (source, destination)).map(NestLoop::Strided),
        Loop::Reversed { extent, source, destination } => stride(extent, (source, destination)).map(NestLoop::Reversed),
        Loop::Table(ref entries) => {
            entries.iter().map(|&entry| in_bytes(entry)).collect::<Option<_>>().map(NestLoop::Table)
        }
    };
    steps.map(in_bytes).collect()
}
