//! Converts loops over elements to loops over bytes.

use smallvec::SmallVec;
use strided_copy::kernel::{Loop, Stride};

use crate::map;

/// The loops around a kernel that is to be chosen, outer to inner. Up to 8 loops need no allocation.
///
/// In these loops the destination never counts down: a loop that goes backwards has a negative stride on the
/// source.
pub(crate) type NestLoops = SmallVec<[Loop; 8]>;

/// Converts loops over elements to loops over bytes. `in_bytes` converts the two sides of a stride or an
/// offset. `None` if a side is not whole bytes, or does not fit.
pub(crate) fn loops_in_bytes<'a>(
    steps: impl Iterator<Item = &'a map::Loop>,
    in_bytes: impl Fn((u64, u64)) -> Option<(usize, usize)>,
) -> Option<NestLoops> {
    let mut loops = NestLoops::new();
    add_loops_in_bytes(&mut loops, steps, in_bytes)?;
    Some(loops)
}

/// Appends to a list what [`loops_in_bytes`] returns. Moving the list would take longer than filling it.
pub(crate) fn add_loops_in_bytes<'a>(
    loops: &mut NestLoops,
    steps: impl Iterator<Item = &'a map::Loop>,
    in_bytes: impl Fn((u64, u64)) -> Option<(usize, usize)>,
) -> Option<()> {
    for step in steps {
        if let map::Loop::Table(entries) = step {
            loops.push(Loop::Table(entries.iter().map(|&entry| in_bytes(entry)).collect::<Option<_>>()?));
            continue;
        }
        let (extent, source, destination, backwards) = step.strides()?;
        let (source, destination) = in_bytes((source, destination))?;
        let source = isize::try_from(source).ok()?;
        loops.push(Loop::Strided(Stride {
            extent: usize::try_from(extent).ok()?,
            source: if backwards { source.checked_neg()? } else { source },
            destination: isize::try_from(destination).ok()?,
        }));
    }
    Some(())
}

/// Reverses every loop that counts down on the source. The source is then read front to back, and the
/// destination counts down instead. Returns the new start of the first iteration, which began at `start`.
///
/// `None` if the new start is in front of a buffer.
pub(crate) fn front_to_back(loops: &mut [Loop], start: (usize, usize)) -> Option<(usize, usize)> {
    let mut start = start;
    for step in loops {
        if let Loop::Strided(stride) = step
            && stride.source < 0
        {
            let (source, destination) = stride.last()?;
            start = (start.0.checked_add_signed(source)?, start.1.checked_add_signed(destination)?);
            stride.source = stride.source.checked_neg()?;
            stride.destination = stride.destination.checked_neg()?;
        }
    }
    Some(start)
}
