//! Turns a box into a loop nest: it decides which loops an iteration takes, and the order of the other loops.
//!
//! A box has distances in elements, and a nest has distances in bytes. Loops that are packed on both sides
//! become one contiguous run, whose bytes keep their order. Then, by the rules of [`cost`](super::cost), the
//! iteration becomes one of four kernels:
//!
//! * *Channels*, if a loop goes over groups of up to 8 units, and some units of each group are copied.
//! * A *plane* to be transposed, if the run is short, one loop is packed on the source and another loop on
//!   the destination. Both loops go into the plane, so that every cache line is used up while it is in the
//!   cache.
//! * *Blocks*, if a loop is packed on both sides and goes backwards: it reverses the order of units.
//! * Contiguous *runs* otherwise, at a constant stride or at the offsets of a table.
//!
//! [`resolve`](super::resolve) then decides which code runs the kernel.

use smallvec::SmallVec;
use strided_copy::kernel::{Axis, FixedList, Kernel, Loop, MicroTile, Plane, Runs, Stride, Transpose};

use crate::error::Error;
use crate::map::CopyBox;

use super::channels::channels;
use super::cost::{LARGEST_TABLE, LINE, LONGEST_TRANSPOSED, MICRO_TILE, MIN_AXIS, MOST_INTERLEAVED};
use super::machine::{Knobs, Site};
use super::nest::{
    NestLoops, checked, front_to_back, in_source_order, innermost, loops_of_box, neighbours_last, overflow, position,
    stride, take,
};
use super::permutation;
use super::planned;
use super::resolve::resolve;

/// Plans the copy of the elements of one box. Each element is `bytes` bytes long. The error is `overflow` if
/// an offset in bytes does not fit a `usize`.
pub(crate) fn copy(copy: &CopyBox, bytes: u64, site: Site<'_>) -> Result<planned::Copy, Error> {
    let mut loops = NestLoops::new();
    let (run, mut start) = loops_of_box(&mut loops, copy, bytes)?;
    let kernel = iteration(&mut loops, run, &mut start, site.knobs);
    resolved(kernel, &mut loops, start, site)
}

/// Returns the `Copy` that runs a kernel in some loops, after its code was chosen and checked. Leaves `loops`
/// empty. `L` is the type of the list of loops that the copy keeps: for a copy that runs once, a list without
/// an allocation. The error is `overflow` if an iteration ends after the last address.
pub(crate) fn resolved<L: FixedList<Loop> + FromIterator<Loop>>(
    mut kernel: Kernel,
    loops: &mut NestLoops,
    start: (usize, usize),
    site: Site<'_>,
) -> Result<strided_copy::Copy<L>, Error> {
    let start = front_to_back(loops, start).ok_or_else(overflow)?;
    let access = resolve(&mut kernel, loops, site);
    checked(kernel, loops.drain(..).collect(), start, access, site)
}

/// Takes the loops of an iteration out of `loops`, which go around runs of `run` bytes, and returns the
/// kernel that copies the iteration, for which no code is chosen yet. The remaining loops go around this
/// kernel.
///
/// `start` is where the first run is, source and destination. If a loop of the iteration goes backwards, the
/// iteration begins at its lowest address, and `start` moves to that address.
pub(crate) fn iteration(loops: &mut NestLoops, run: usize, start: &mut (usize, usize), knobs: &Knobs) -> Kernel {
    if let Some(channels) = channels(loops, run, start, knobs) {
        return Kernel::Channels(channels);
    }
    if let Some((blocks, lowest)) = permutation::reversed(loops, run, *start, knobs) {
        *start = lowest;
        return Kernel::PermuteBlocks(blocks);
    }
    let source = &mut start.0;
    // If lines of the destination compete for one set of the cache, the runs are not copied as a plane, but
    // in the order of the destination. But runs of up to one line, and of two lines, are always copied as a
    // plane, because kernels copy such planes in the order of the source (`in_source_order`).
    if run <= LONGEST_TRANSPOSED
        && (run <= LINE || run == LONGEST_TRANSPOSED || !writes_one_set(loops, run, knobs))
        && let Some((columns, rows)) = take_pair(loops, run, source)
    {
        let plane = plane(loops, run, columns, rows, true);
        if writes_long_runs(&plane, loops, knobs) {
            in_source_order(loops);
        }
        if let Some(pitch) = plane.deinterleaves() {
            neighbours_last(loops, plane.destination_row(), pitch.unsigned_abs(), knobs);
        }
        return Kernel::Transpose { plane, by: Transpose::Units };
    }
    if run > LONGEST_TRANSPOSED && !writes_one_set(loops, run, knobs) {
        in_source_order(loops);
    }
    let count = innermost(loops);
    // A table goes into the iteration, because its entries are near each other on the destination.
    if let Some(index) = loops.iter().position(|step| matches!(step, Loop::Table(_)))
        && let Loop::Table(offsets) = loops.remove(index)
    {
        return Kernel::Table { run, offsets, count };
    }
    Kernel::Runs { run, count, by: Runs::Memcpy }
}

/// Takes out the loop that is packed on the source (columns) and the loop that is packed on the destination
/// (rows), if both exist. Both loops may go backwards on the source.
fn take_pair(loops: &mut NestLoops, unit: usize, source: &mut usize) -> Option<(Stride, Stride)> {
    let either = |test: &dyn Fn(Stride) -> bool| loops.iter().position(|step| step.stride().is_some_and(test));
    let columns = either(&|stride| stride.source.unsigned_abs() == unit)?;
    // A loop that repeats a unit on the destination is not taken: such units are copied row by row.
    let rows = either(&|step| Some(step.destination) == stride(unit) && step.source != 0)?;
    if columns == rows {
        return None;
    }
    // The later loop is removed first, so that the index of the other loop does not change.
    let later = take(loops, columns.max(rows), source);
    let earlier = take(loops, columns.min(rows), source);
    Some(if columns > rows { (later, earlier) } else { (earlier, later) })
}

/// Whether a copy inside the L2 cache, in the order of the source, would write more lines of one set of the
/// L1 cache in turns than the set holds. On a Zen 5, `kv_append_f16` took twice as long in that order.
fn writes_one_set(loops: &[Loop], run: usize, knobs: &Knobs) -> bool {
    let bytes = loops.iter().map(Loop::extent).fold(run, usize::saturating_mul);
    let innermost = loops.iter().filter_map(Loop::stride).filter(|stride| stride.source > 0);
    let innermost = innermost.min_by_key(|stride| stride.source);
    let one_set = |stride: Stride| {
        stride.extent > knobs.l1_ways && stride.destination.unsigned_abs().is_multiple_of(knobs.l1_way)
    };
    bytes < knobs.in_l2 && innermost.is_some_and(one_set)
}

/// Whether a plane deinterleaves a few rows into runs of at least two cache lines, or interleaves them and
/// the L2 cache does not hold the copy. Then the source is read front to back: in the order of the
/// destination, `tile_bf16` takes 1.25 times as long (Zen 5).
fn writes_long_runs(plane: &Plane, loops: &[Loop], knobs: &Knobs) -> bool {
    let interleaves = plane.rows.extent <= MOST_INTERLEAVED && plane.columns.stride() == Some(plane.destination_row());
    let deinterleaves = plane.columns.extent <= MOST_INTERLEAVED && plane.rows.stride() == Some(plane.source_row());
    let row = plane.destination_row();
    let run = if interleaves { row.saturating_mul(plane.columns.extent) } else { row };
    let iterations = loops.iter().map(Loop::extent).fold(1, usize::saturating_mul);
    let bytes = iterations.saturating_mul(plane.source_row()).saturating_mul(plane.rows.extent);
    (deinterleaves || interleaves && bytes >= knobs.in_l2) && run >= LONGEST_TRANSPOSED
}

/// Makes a plane of two loops, columns and rows. If an axis is short, further loops are fused into it.
fn plane(loops: &mut NestLoops, unit: usize, columns: Stride, rows: Stride, micro_tiles: bool) -> Plane {
    let dense_destination = columns.source > 0 && Some(columns.destination) == stride(rows.extent.saturating_mul(unit));
    let dense_source = Some(rows.source) == stride(columns.extent.saturating_mul(unit));
    if micro_tiles && dense_destination && dense_source {
        let tile = || {
            let [rows, columns, element] = [rows.extent, columns.extent, unit].map(u8::try_from);
            Some(MicroTile { rows: rows.ok()?, columns: columns.ok()?, element: element.ok()? })
        };
        if let Some(tile) = tile()
            && tile.bytes() <= MICRO_TILE
            && let Some(plane) = plane_of_micro_tiles(loops, tile)
        {
            return plane;
        }
    }
    let few_interleaved = dense_destination && rows.extent <= MOST_INTERLEAVED;
    let few_deinterleaved = dense_source && columns.extent <= MOST_INTERLEAVED;
    // If columns go backwards on the source, the plane begins with the last one. Destination offsets then
    // fall.
    let backwards = columns.source < 0;
    let offsets = if backwards { columns.destination.checked_neg() } else { Some(columns.destination) };
    let offsets = offsets.unwrap_or_else(|| unreachable!("a stride inside a buffer"));
    let mut columns = Axis::new(columns.extent, offsets);
    let mut rows = Axis::new(rows.extent, rows.source);
    // Few interleaved or deinterleaved rows (two, four) have their own kernels, for which no axis is
    // lengthened.
    if !few_interleaved && !few_deinterleaved {
        // By fused loops, first the columns become a line on the source, then the rows a long run on the
        // destination, and then the columns a long run on the source.
        let (on_source, on_destination): (Sides, Sides) =
            (|stride| (stride.source, stride.destination), |stride| (stride.destination, stride.source));
        columns = lengthened(loops, unit, columns, LINE, on_source);
        rows = lengthened(loops, unit, rows, MIN_AXIS, on_destination);
        columns = lengthened(loops, unit, columns, MIN_AXIS, on_source);
    }
    Plane { unit, columns, rows, micro_tile: None }
}

/// Makes a plane of micro-tiles, units that are small planes, if the loops around them make a plane.
fn plane_of_micro_tiles(loops: &mut NestLoops, tile: MicroTile) -> Option<Plane> {
    let unit = tile.bytes();
    let (columns, rows) = (
        position(loops, |step| Some(step.source) == stride(unit))?,
        position(loops, |step| Some(step.destination) == stride(unit))?,
    );
    if !unit.is_power_of_two() || columns == rows {
        return None;
    }
    let later = take(loops, columns.max(rows), &mut 0);
    let earlier = take(loops, columns.min(rows), &mut 0);
    let (columns, rows) = if columns > rows { (later, earlier) } else { (earlier, later) };
    Some(Plane { micro_tile: Some(tile), ..plane(loops, unit, columns, rows, false) })
}

/// Of a loop: the stride on the side where an axis is packed, and the stride on the other side.
type Sides = fn(Stride) -> (isize, isize);

/// Fuses an axis with further loops that continue it on the side where it is packed, until it spans `least`
/// bytes on that side.
fn lengthened(loops: &mut NestLoops, unit: usize, axis: Axis, least: usize, sides: Sides) -> Axis {
    let (mut extent, mut outer) = (axis.extent, SmallVec::<[_; 8]>::new());
    while extent.saturating_mul(unit) < least {
        let packed = stride(extent.saturating_mul(unit));
        let next = position(loops, |step| {
            Some(sides(step).0) == packed && step.extent.saturating_mul(extent) <= LARGEST_TABLE
        });
        let Some(index) = next else { break };
        let stride = take(loops, index, &mut 0);
        extent = extent.saturating_mul(stride.extent);
        outer.push((sides(stride).1.unsigned_abs(), stride.extent));
    }
    if outer.is_empty() { axis } else { axis.inside(&outer) }
}
