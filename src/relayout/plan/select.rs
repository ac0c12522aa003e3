//! A box becomes a loop nest: which of its loops the micro-kernel takes, and in which order the others run.
//!
//! A box says how far apart elements are stored, in elements; a nest counts bytes. Loops that are packed on
//! both sides disappear into the contiguous run that is copied as it is. Then, by the rules of
//! [`cost`](super::cost):
//!
//! * a *transpose*, when the run is short, one loop is packed on the source and another on the destination:
//!   both go into the kernel, so that every cache line is used up while it is in the cache;
//! * *copies* of contiguous runs otherwise, from a table of offsets where they follow no stride.

use std::cmp::Reverse;

use smallvec::SmallVec;

use crate::checked;
use crate::error::Error;
use crate::map::CopyBox;
use crate::short_sort::sort_by_key;

use super::super::plan::machine::Knobs;
use super::cost::{
    JOINED_RUN, LARGEST_TABLE, LINE, LONGEST_REVERSED, LONGEST_TRANSPOSED, MICRO_TILE, MIN_AXIS, MOST_INTERLEAVED, PAGE,
};
use super::nest_loops::{NestLoops, loops_in_bytes};
use strided_copy::nest::{Axis, MicroKernel, MicroTile, Nest, NestLoop, Plane, Stride, position};

/// The nest of a box whose elements have `bytes` whole bytes.
///
/// # Errors
///
/// [`Error::Overflow`] if an offset in bytes does not fit a `usize`.
pub(crate) fn nest(copy: &CopyBox, bytes: u64, knobs: &Knobs) -> Result<Nest, Error> {
    let in_bytes = |elements: u64| -> Result<usize, Error> {
        checked::narrow(checked::mul(elements, bytes, checked::BYTES)?, checked::BYTES)
    };
    let start = (in_bytes(copy.source)?, in_bytes(copy.destination)?);
    let sides = |(source, destination)| Some((in_bytes(source).ok()?, in_bytes(destination).ok()?));
    let mut loops = loops_in_bytes(copy.loops.iter(), sides).ok_or_else(|| checked::overflow(checked::BYTES, 64))?;
    let (kernel, (source, destination)) = kernel(&mut loops, in_bytes(1)?, start, knobs);
    Ok(Nest::new(kernel, loops.into_vec(), source, destination))
}

/// The kernel of loops, in bytes, around elements of `element` bytes, and where its first element is stored
/// on both sides if that of the loops is at `start`. What is left of the loops is outside the kernel.
pub(crate) fn kernel(
    loops: &mut NestLoops,
    element: usize,
    (mut source, destination): (usize, usize),
    knobs: &Knobs,
) -> (MicroKernel, (usize, usize)) {
    let run = contiguous_run(loops, element);
    let kernel = micro_kernel(loops, run, &mut source, knobs);
    (kernel, (source, destination))
}

/// The bytes that are together on both sides: the loops that are packed on both go into it.
fn contiguous_run(loops: &mut NestLoops, element: usize) -> usize {
    let mut run = element;
    while let Some(place) = position(loops, |stride| stride.source == run && stride.destination == run) {
        if let NestLoop::Strided(stride) = loops.remove(place) {
            // Cannot saturate: it is the length of a part of the buffers.
            run = run.saturating_mul(stride.extent);
        }
    }
    run
}

/// Takes the innermost loops out of `loops` and into a kernel. Of a loop that goes backwards, the kernel
/// begins at the front, to which `source` moves.
fn micro_kernel(loops: &mut NestLoops, run: usize, source: &mut usize, knobs: &Knobs) -> MicroKernel {
    let backwards = |step: &NestLoop| match step {
        NestLoop::Reversed(stride) => stride.source == run && stride.destination == run,
        NestLoop::Strided(_) | NestLoop::Table(_) => false,
    };
    if run <= LONGEST_REVERSED
        && let Some(place) = loops.iter().position(backwards)
    {
        let Taken { stride, .. } = take(loops, place).at_front(source);
        let count = innermost(loops);
        return MicroKernel::Reverse { unit: run, extent: stride.extent, count };
    }
    // Lines that would meet in one set of the cache are written in the order of the destination, unless there
    // is a kernel for such runs (`in_source_order`: one line, two).
    if run <= LONGEST_TRANSPOSED
        && (run <= LINE || run == LONGEST_TRANSPOSED || !writes_one_set(loops, run, knobs))
        && let Some((columns, rows)) = take_pair(loops, run, source)
    {
        let plane = plane(loops, run, columns, rows, true);
        if writes_long_runs(&plane, loops, knobs) {
            in_source_order(loops);
        }
        if let Some(pitch) = plane.deinterleaves() {
            neighbours_last(loops, plane.destination_row(), pitch.bytes, knobs);
        }
        return MicroKernel::Transpose(plane);
    }
    if run > LONGEST_TRANSPOSED && !writes_one_set(loops, run, knobs) {
        in_source_order(loops);
    }
    let count = innermost(loops);
    // A table goes inside: its entries are near each other on the destination.
    if let Some(place) = loops.iter().position(|step| matches!(step, NestLoop::Table(_)))
        && let NestLoop::Table(offsets) = loops.remove(place)
    {
        return MicroKernel::CopyTable { run, offsets, count };
    }
    MicroKernel::Copy { run, count }
}

/// The loop that is packed on the source (columns) and the one that is packed on the destination (rows), if
/// there are both.
///
/// They may go backwards.
fn take_pair(loops: &mut NestLoops, unit: usize, source: &mut usize) -> Option<(Taken, Taken)> {
    let either = |test: &dyn Fn(Stride) -> bool| {
        let is_one = |step: &NestLoop| match step {
            NestLoop::Strided(stride) | NestLoop::Reversed(stride) => test(*stride),
            NestLoop::Table(_) => false,
        };
        loops.iter().position(is_one)
    };
    let columns = either(&|stride| stride.source == unit)?;
    // A unit that is repeated in the destination is copied row by row instead.
    let rows = either(&|stride| stride.destination == unit && stride.source > 0)?;
    if columns == rows {
        return None;
    }
    // The later one first, so that the other keeps its place.
    let later = take(loops, columns.max(rows)).at_front(source);
    let earlier = take(loops, columns.min(rows)).at_front(source);
    Some(if columns > rows { (later, earlier) } else { (earlier, later) })
}

/// A loop that became a part of a kernel.
#[derive(Clone, Copy)]
struct Taken {
    stride: Stride,
    backwards: bool,
}

impl Taken {
    /// With `source` moved to where its front is, which is where a loop ends that goes backwards.
    fn at_front(self, source: &mut usize) -> Taken {
        if self.backwards {
            // Nothing saturates: that is where an element is stored.
            *source = source.saturating_sub(self.stride.last().0);
        }
        self
    }

    /// As an axis of a plane with these offsets on the side where it is not packed.
    fn axis(self, offset: usize) -> Axis {
        if self.backwards { Axis::reversed(self.stride.extent, offset) } else { Axis::new(self.stride.extent, offset) }
    }
}

fn take(loops: &mut NestLoops, place: usize) -> Taken {
    match loops.remove(place) {
        NestLoop::Strided(stride) => Taken { stride, backwards: false },
        NestLoop::Reversed(stride) => Taken { stride, backwards: true },
        NestLoop::Table(_) => Taken { stride: Stride::ONCE, backwards: false },
    }
}

/// Takes the innermost loop out, if it is a strided one.
fn innermost(loops: &mut NestLoops) -> Stride {
    match loops.pop() {
        Some(NestLoop::Strided(stride)) => stride,
        other => {
            loops.extend(other);
            Stride::ONCE
        }
    }
}

/// Orders loops so that the source is read front to back: reads are fastest in sequence, while whole lines
/// may be written anywhere. A source that is repeated is read from the cache, and keeps the order of the
/// destination.
pub(crate) fn in_source_order(loops: &mut NestLoops) {
    let key = |step: &NestLoop| match step {
        NestLoop::Strided(stride) | NestLoop::Reversed(stride) if stride.source > 0 => {
            Some(Reverse((stride.source, stride.destination)))
        }
        _ => None,
    };
    if loops.iter().all(|step| key(step).is_some()) {
        sort_by_key(loops, key);
    }
}

/// Puts the loop that continues short destination runs, `pitch` bytes apart, innermost, so that a kernel can
/// join them: as many iterations as make a run of [`JOINED_RUN`], and the rest of the loop where it was.
pub(crate) fn neighbours_last(loops: &mut NestLoops, run: usize, pitch: usize, knobs: &Knobs) {
    if run == 0 || run > knobs.joined_up_to() || !pitch.is_multiple_of(PAGE) {
        return;
    }
    let Some(place) = position(loops, |stride| stride.destination == run) else { return };
    let Taken { stride, .. } = take(loops, place);
    let most = JOINED_RUN.div_euclid(run);
    let joined = (2..=most).rev().find(|&joined| stride.extent.is_multiple_of(joined)).unwrap_or(stride.extent);
    if joined < stride.extent {
        // Nothing saturates: these are offsets in the buffers.
        let outer = Stride {
            extent: stride.extent.checked_div(joined).unwrap_or(1),
            source: stride.source.saturating_mul(joined),
            destination: stride.destination.saturating_mul(joined),
        };
        loops.insert(place, NestLoop::Strided(outer));
    }
    loops.push(NestLoop::Strided(Stride { extent: joined, ..stride }));
}

/// Would a copy inside the L2 cache, in the order of the source, write more places one after the other than a
/// set of the L1 cache holds? On Z5, kv_append_f16 took twice as long so.
fn writes_one_set(loops: &[NestLoop], run: usize, knobs: &Knobs) -> bool {
    let bytes = loops.iter().map(NestLoop::extent).fold(run, usize::saturating_mul);
    let strides = loops.iter().filter_map(|step| match step {
        NestLoop::Strided(stride) if stride.source > 0 => Some(*stride),
        _ => None,
    });
    let innermost = strides.min_by_key(|stride| stride.source);
    bytes < knobs.in_l2
        && innermost
            .is_some_and(|stride| stride.extent > knobs.l1_ways && stride.destination.is_multiple_of(knobs.l1_way))
}

/// Does it interleave or deinterleave a few rows, and leave at least two lines in each place it writes? Rows
/// that are interleaved in the cache are better written front to back, and so are others where the hardware
/// follows all rows of a tile.
fn writes_long_runs(plane: &Plane, loops: &[NestLoop], knobs: &Knobs) -> bool {
    let interleaves = plane.rows.extent <= MOST_INTERLEAVED && plane.columns.stride() == Some(plane.destination_row());
    let deinterleaves = plane.columns.extent <= MOST_INTERLEAVED && plane.rows.stride() == Some(plane.source_row());
    let row = plane.destination_row();
    let run = if interleaves { row.saturating_mul(plane.columns.extent) } else { row };
    let iterations = loops.iter().map(NestLoop::extent).fold(1, usize::saturating_mul);
    let bytes = iterations.saturating_mul(plane.source_row()).saturating_mul(plane.rows.extent);
    (deinterleaves || interleaves && bytes >= knobs.in_l2 && !knobs.rules.follows_rows) && run >= LONGEST_TRANSPOSED
}

/// A plane of two loops, with further loops fused into an axis that is short.
fn plane(loops: &mut NestLoops, unit: usize, columns: Taken, rows: Taken, micro_tiles: bool) -> Plane {
    let dense_destination = columns.stride.destination == rows.stride.extent.saturating_mul(unit) && !columns.backwards;
    let dense_source = rows.stride.source == columns.stride.extent.saturating_mul(unit) && !rows.backwards;
    if micro_tiles && dense_destination && dense_source {
        let tile = MicroTile { rows: rows.stride.extent, columns: columns.stride.extent, element: unit };
        if tile.bytes() <= MICRO_TILE
            && let Some(plane) = plane_of_micro_tiles(loops, tile)
        {
            return plane;
        }
    }
    let few_interleaved = dense_destination && rows.stride.extent <= MOST_INTERLEAVED;
    let few_deinterleaved = dense_source && columns.stride.extent <= MOST_INTERLEAVED;
    let mut columns = columns.axis(columns.stride.destination);
    let mut rows = rows.axis(rows.stride.source);
    // A few interleaved rows (two by two, four by four) have kernels of their own, and are dense as they are.
    if !few_interleaved && !few_deinterleaved {
        // A line on either side first; then long runs on the destination, then on the source.
        let (on_source, on_destination): (Sides, Sides) =
            (|stride| (stride.source, stride.destination), |stride| (stride.destination, stride.source));
        columns = lengthened(loops, unit, columns, LINE, on_source);
        rows = lengthened(loops, unit, rows, MIN_AXIS, on_destination);
        columns = lengthened(loops, unit, columns, MIN_AXIS, on_source);
    }
    Plane { unit, columns, rows, micro_tile: None }
}

/// A plane whose units are small planes themselves, if the loops around them make one.
fn plane_of_micro_tiles(loops: &mut NestLoops, tile: MicroTile) -> Option<Plane> {
    let unit = tile.bytes();
    let (columns, rows) =
        (position(loops, |stride| stride.source == unit)?, position(loops, |stride| stride.destination == unit)?);
    if !unit.is_power_of_two() || columns == rows {
        return None;
    }
    let (later, earlier) = (take(loops, columns.max(rows)), take(loops, columns.min(rows)));
    let (columns, rows) = if columns > rows { (later, earlier) } else { (earlier, later) };
    Some(Plane { micro_tile: Some(tile), ..plane(loops, unit, columns, rows, false) })
}

/// The stride of a loop on the side where an axis is packed, and on the other.
type Sides = fn(Stride) -> (usize, usize);

/// Fuses an axis with the loops that continue it on the side where it is packed, until it spans `least` bytes
/// there.
fn lengthened(loops: &mut NestLoops, unit: usize, axis: Axis, least: usize, sides: Sides) -> Axis {
    let (mut places, mut outer) = (axis.extent, SmallVec::<[_; 8]>::new());
    while places.saturating_mul(unit) < least {
        let packed = places.saturating_mul(unit);
        let next = position(loops, |stride| {
            sides(stride).0 == packed && stride.extent.saturating_mul(places) <= LARGEST_TABLE
        });
        let Some(place) = next else { break };
        let Taken { stride, .. } = take(loops, place);
        places = places.saturating_mul(stride.extent);
        outer.push((sides(stride).1, stride.extent));
    }
    if outer.is_empty() { axis } else { axis.inside(&outer) }
}

#[cfg(test)]
mod tests;
