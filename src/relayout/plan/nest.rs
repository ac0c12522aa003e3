//! Loop nests in bytes. A nest is made of the loops of a box. Some of its loops become a kernel, and the
//! others are ordered and go around the kernel.

use std::cmp::Reverse;

use smallvec::SmallVec;
use strided_copy::kernel::{FixedList, Kernel, Loop, Offsets, Stride, Transpose};
use strided_copy::{Access, Copy, Misfit};

use crate::checked;
use crate::error::Error;
use crate::map::{self, CopyBox};
use crate::short_sort::sort_by_key;

use super::cost::{JOINED_RUN, PAGE, THIN};
use super::machine::{Knobs, Site};

/// The loops around a kernel that is to be chosen, outer to inner. Up to 8 loops need no allocation.
///
/// In a nest, the destination never counts down: a loop that goes backwards has a negative stride on the
/// source.
pub(crate) type NestLoops = SmallVec<[Loop; 8]>;

/// Turns a box into loops around a contiguous run of bytes. Adds these loops to `loops`. Returns the length
/// of the run, and where the first run begins, source and destination. The error is `overflow` if an offset
/// in bytes does not fit a `usize`.
pub(super) fn loops_of_box(
    loops: &mut NestLoops,
    copy: &CopyBox,
    bytes: u64,
) -> Result<(usize, (usize, usize)), Error> {
    let in_bytes = |elements: u64| -> Result<usize, Error> {
        checked::narrow(checked::mul(elements, bytes, checked::BYTES)?, checked::BYTES)
    };
    let start = (in_bytes(copy.source)?, in_bytes(copy.destination)?);
    let sides = |(source, destination)| Some((in_bytes(source).ok()?, in_bytes(destination).ok()?));
    add_loops_in_bytes(loops, copy.loops.iter(), sides).ok_or_else(overflow)?;
    Ok((contiguous_run(loops, in_bytes(1)?), start))
}

/// Converts loops over elements to loops over bytes. `in_bytes` converts the two sides of a stride or an
/// offset. `None` if a side is not whole bytes, or does not fit an `isize`.
pub(super) fn loops_in_bytes<'a>(
    steps: impl Iterator<Item = &'a map::Loop>,
    in_bytes: impl Fn((u64, u64)) -> Option<(usize, usize)>,
) -> Option<NestLoops> {
    let mut loops = NestLoops::new();
    add_loops_in_bytes(&mut loops, steps, in_bytes)?;
    Some(loops)
}

/// Appends the loops of [`loops_in_bytes`] to a list. The list is filled in place, because moving a whole
/// list would take longer than filling it.
fn add_loops_in_bytes<'a>(
    loops: &mut NestLoops,
    steps: impl Iterator<Item = &'a map::Loop>,
    in_bytes: impl Fn((u64, u64)) -> Option<(usize, usize)>,
) -> Option<()> {
    for step in steps {
        if let map::Loop::Table(entries) = step {
            let offsets = entries.iter().map(|&entry| in_bytes(entry)).collect::<Option<_>>()?;
            loops.push(Loop::Table(Offsets(offsets)));
            continue;
        }
        loops.push(Loop::Strided(stride_in_bytes(step.stride()?, &in_bytes)?));
    }
    Some(())
}

/// Converts a loop over elements to a loop over bytes, or over whatever `in_bytes` counts.
pub(super) fn stride_in_bytes(
    map::Stride { extent, source, destination }: map::Stride,
    in_bytes: impl Fn((u64, u64)) -> Option<(usize, usize)>,
) -> Option<Stride> {
    let (moved, destination) = in_bytes((source.unsigned_abs(), destination))?;
    let moved = isize::try_from(moved).ok()?;
    Some(Stride {
        extent: usize::try_from(extent).ok()?,
        source: if source < 0 { moved.checked_neg()? } else { moved },
        destination: isize::try_from(destination).ok()?,
    })
}

/// Reverses every loop that counts down on the source. The loop then reads the source front to back, and
/// counts down on the destination. `start` is where the first iteration starts on the source and on the
/// destination. Returns where the first iteration of the reversed loops starts.
///
/// `None` if that is in front of a buffer.
pub(super) fn front_to_back(loops: &mut [Loop], start: (usize, usize)) -> Option<(usize, usize)> {
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

pub(super) fn stride(bytes: usize) -> Option<isize> {
    isize::try_from(bytes).ok()
}

/// The index of the first loop that goes forwards on the source and for which a test of its stride is true.
pub(super) fn position(loops: &[Loop], mut test: impl FnMut(Stride) -> bool) -> Option<usize> {
    loops.iter().position(|step| step.stride().is_some_and(|stride| stride.source >= 0 && test(stride)))
}

/// The length of the contiguous run in bytes. Takes out the loops that make it: those that are packed on both
/// sides.
fn contiguous_run(loops: &mut NestLoops, element: usize) -> usize {
    let mut run = element;
    while let Some(index) =
        position(loops, |step| Some(step.source) == stride(run) && Some(step.destination) == stride(run))
    {
        // Nothing saturates: the run is inside both buffers, so its length fits a `usize`.
        run = run.saturating_mul(loops.remove(index).extent());
    }
    run
}

/// Takes out a strided loop. If the loop goes backwards, `source` moves to the loop's lowest address, where
/// its last iteration is.
pub(super) fn take(loops: &mut NestLoops, index: usize, source: &mut usize) -> Stride {
    let stride = loops.remove(index).stride().unwrap_or(Stride::ONCE);
    if stride.source < 0 {
        let last = stride.last().and_then(|(moved, _)| source.checked_add_signed(moved));
        *source = last.unwrap_or_else(|| unreachable!("the front of a loop is inside the source"));
    }
    stride
}

/// Takes out the innermost loop if it is strided and goes forwards, else returns a loop of one iteration.
pub(super) fn innermost(loops: &mut NestLoops) -> Stride {
    match loops.pop() {
        Some(Loop::Strided(stride)) if stride.ascends() => stride,
        other => {
            loops.extend(other);
            Stride::ONCE
        }
    }
}

/// Orders loops so that the source is read front to back. Sequential reads are the fastest, while the order
/// of writes of whole lines does not matter. Loops that repeat the source read from the cache, and keep the
/// order of the destination.
pub(super) fn in_source_order(loops: &mut NestLoops) {
    let key = |step: &Loop| {
        let stride = step.stride().filter(|stride| stride.source != 0)?;
        Some(Reverse((stride.source.unsigned_abs(), stride.destination)))
    };
    if loops.iter().all(|step| key(step).is_some()) {
        sort_by_key(loops, key);
    }
}

/// If iterations write short destination runs, in rows `pitch` bytes apart, moves the loop whose iterations
/// continue these runs to the inside, so that a kernel can join the runs. Only as many iterations move as
/// make a run of [`JOINED_RUN`]; the rest of the loop keeps its place.
pub(super) fn neighbours_last(loops: &mut NestLoops, run: usize, pitch: usize, knobs: &Knobs) {
    if run == 0 || run > knobs.joined_up_to() || !pitch.is_multiple_of(PAGE) {
        return;
    }
    let Some(index) = position(loops, |step| Some(step.destination) == stride(run)) else { return };
    let stride = take(loops, index, &mut 0);
    let most = JOINED_RUN.div_euclid(run);
    let joined = (2..=most).rev().find(|&joined| stride.extent.is_multiple_of(joined)).unwrap_or(stride.extent);
    if joined < stride.extent {
        // Nothing saturates, because these strides are distances inside the buffers.
        let times = isize::try_from(joined).unwrap_or(isize::MAX);
        let outer = Stride {
            extent: stride.extent.div_euclid(joined),
            source: stride.source.saturating_mul(times),
            destination: stride.destination.saturating_mul(times),
        };
        loops.insert(index, Loop::Strided(outer));
    }
    loops.push(Loop::Strided(Stride { extent: joined, ..stride }));
}

/// Makes the `Copy` that runs the chosen kernel, which checks it. The error is `overflow` if an iteration
/// ends after the last address.
pub(super) fn checked<L: FixedList<Loop>>(
    kernel: Kernel,
    loops: L,
    start: (usize, usize),
    access: Access,
    site: Site<'_>,
) -> Result<Copy<L>, Error> {
    let level = site.knobs.level;
    let half = access.streaming && is_thin(&kernel) || is_half_square(&kernel, level.register());
    let level = if half { level.with_half_registers() } else { level };
    Copy::new(kernel, loops, start, access, level).map_err(|misfit| match misfit {
        Misfit::Reach => overflow(),
        misfit => unreachable!("a kernel was chosen that cannot run: {misfit}"),
    })
}

/// Whether a kernel transposes panels of units of 1 or 2 bytes, and all columns or all rows together fill at
/// most half a line. Registers of a line would be half empty then.
fn is_thin(kernel: &Kernel) -> bool {
    match kernel {
        Kernel::Transpose { plane, by: Transpose::Panels(_) } if plane.micro_tile.is_none() && plane.unit <= 2 => {
            plane.unit.saturating_mul(plane.columns.extent.min(plane.rows.extent)) <= THIN
        }
        _ => false,
    }
}

/// Whether a kernel transposes squares in registers, and a row of the plane is shorter than a register.
fn is_half_square(kernel: &Kernel, register: usize) -> bool {
    let Kernel::Transpose { plane, by: Transpose::Squares } = kernel else { return false };
    plane.unit < 16 && plane.unit.saturating_mul(plane.columns.extent) < register
}

pub(super) fn overflow() -> Error {
    checked::overflow(checked::BYTES, usize::BITS)
}
