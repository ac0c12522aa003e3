//! Boxes of elements that are not whole bytes on one side or on both: 1 to 7 bits.
//!
//! Kernels copy whole bytes, so there is one rule for all other elements: *widen, copy bytes, narrow*. Some
//! iterations of the loops are taken together, until their elements, one byte each, fill a staging buffer in
//! the L1 cache. The packed source is unpacked into one buffer, in its own order. A copy of whole bytes, for
//! which there are all kernels, brings the elements into the order of the destination, in a second buffer.
//! From there, a packed destination is packed:
//!
//! ```text
//! source                 staging buffer         staging buffer         destination
//! a0a1 a2a3              a0 a1 a2 a3            a0 b0 c0 d0            a0b0 c0d0
//! b0b1 b2b3   unpack     b0 b1 b2 b3   copy     a1 b1 c1 d1   pack     a1b1 c1d1
//! c0c1 c2c3    ---->     c0 c1 c2 c3   ---->    a2 b2 c2 d2   ---->    a2b2 c2d2
//! d0d1 d2d3              d0 d1 d2 d3            a3 b3 c3 d3            a3b3 c3d3
//! ```
//!
//! A side that has a byte for each element needs no staging buffer: the copy of whole bytes reads such a
//! source, or writes such a destination.
//!
//! The elements of rows that are contiguous on both sides stay in order. So these rows are unpacked or packed
//! from one side to the other, or copied as bytes, or as rows of bits if they begin inside a byte. There is a
//! kernel for rows that are interleaved into words of 32 bits, as in the tiles of TPUs.
//!
//! Elements of 3, 5, 6 and 7 bits have no kernels over registers. Their rows are unpacked and packed element
//! by element.

use std::cmp::Reverse;

use smallvec::{SmallVec, smallvec};
use strided_copy::kernel::{BitInterleave, Direction, Kernel, Rows as By, WidthRow};
use strided_copy::{Access, Prefetch, SMALL_PROGRAM};

use crate::error::Error;
use crate::map::{CopyBox, Loop, Loops, Stride};
use crate::short_sort::sort_by_key;

use super::cost::{
    BUFFER, LEAST_UNPACKED_ROW, LONGEST_TRANSPOSED, STAGED_PACKED_RUN, STAGED_READ_RUN, STAGED_UNPACKED_RUN,
};
use super::machine::{Knobs, Site, number};
use super::nest::{NestLoops, checked, in_source_order, loops_in_bytes, neighbours_last};
use super::planned::{Copy, PlannedBox, PlannedBoxes, Rows, Staged, Step, StepBox, WidthRows};
use super::select;
use super::widths::{Change, Widths};

/// The number of elements that a staging buffer holds.
const STAGE: u64 = 1 << 14;
const _: () = assert!(BUFFER == 1 << 14);

/// Plans a box whose elements are not whole bytes on both sides. The error is `overflow` if an offset in
/// bytes does not fit a `usize`.
pub(crate) fn plan(copy: &CopyBox, widths: Widths, site: Site<'_>, planned: &mut PlannedBoxes) -> Result<(), Error> {
    let whole = match in_whole_bytes(copy, widths, site)? {
        None if !SMALL_PROGRAM => interleaved(copy, widths, site)?,
        found => found,
    };
    if let Some(whole) = whole {
        planned.push(PlannedBox::Copy(whole));
        return Ok(());
    }
    let mut rest: SmallVec<[CopyBox; 4]> = smallvec![copy.clone()];
    while let Some(copy) = rest.pop() {
        let (outer, step) = match row(&copy, widths, site)? {
            Some(found) => found,
            None => {
                let staged = staged_iterations(&copy, widths);
                if let Some(halves) = cut(&copy, &staged) {
                    rest.extend(halves);
                    continue;
                }
                part(&copy, &staged, widths, site)?
            }
        };
        let bits = (widths.source, widths.destination);
        planned.push(PlannedBox::Steps(StepBox { outer, bits, step }));
    }
    Ok(())
}

/// Returns a box as one copy, if its rows are contiguous on both sides, and all rows begin and end at whole
/// bytes.
fn in_whole_bytes(copy: &CopyBox, widths: Widths, site: Site<'_>) -> Result<Option<Copy>, Error> {
    let change = widths.change();
    let index = if change.is_some() { long_row(copy) } else { copy.loops.iter().position(Loop::is_packed) };
    let Some((index, row)) = index.and_then(|index| Some((index, copy.loops.get(index)?.extent()))) else {
        return Ok(None);
    };
    let others = || copy.loops.iter().enumerate().filter(|&(i, _)| i != index).map(|(_, step)| step);
    let start = (copy.source, copy.destination);
    if let Some(change) = change {
        let rows = whole_rows(others(), row, start, &change);
        let copy = |(row, mut loops, start)| select::resolved(Kernel::ChangeWidth(row), &mut loops, start, site);
        return rows.map(copy).transpose();
    }
    let in_bytes = |elements: u64| whole_bytes(elements, widths.source);
    let both = |(source, destination)| Some((in_bytes(source)?, in_bytes(destination)?));
    let whole = || {
        let mut loops = others().map(|step| step.with_sides(both)).collect::<Option<Loops>>()?;
        loops.push(Loop::run(in_bytes(row)?, 1));
        let (source, destination) = both(start)?;
        Some(CopyBox { source, destination, loops })
    };
    whole().map(|whole| select::copy(&whole, 1, site)).transpose()
}

/// A row of elements to unpack or pack, the loops around it, and where the first iteration starts, source and
/// destination, in bytes.
type WholeRows = (WidthRow, NestLoops, (usize, usize));

/// Describes rows of `row` elements and the loops around them, if every row begins and ends at a byte
/// boundary of the packed side.
fn whole_rows<'a>(
    outer: impl Iterator<Item = &'a Loop>,
    row: u64,
    start: (u64, u64),
    change: &Change,
) -> Option<WholeRows> {
    let packed = usize::try_from(change.whole_bytes(row).filter(|_| change.has_kernels())?).ok()?;
    let loops = loops_in_bytes(outer, |sides| change.in_bytes(sides))?;
    Some((change.row(packed), loops, change.in_bytes(start)?))
}

/// The loop that is contiguous on both sides, if it is long enough to be copied without a staging buffer.
fn long_row(copy: &CopyBox) -> Option<usize> {
    let index = copy.loops.iter().position(Loop::is_packed)?;
    (copy.loops.get(index)?.extent() >= LEAST_UNPACKED_ROW || copy.loops.len() == 1).then_some(index)
}

/// Plans a box without a staging buffer: its rows are long, or the box is one element, or the kernels have no
/// code for its elements. Returns the loops around a row, and the step that copies it. `None` for other
/// boxes.
fn row(copy: &CopyBox, widths: Widths, site: Site<'_>) -> Result<Option<(CopyBox, Step)>, Error> {
    let mut outer = copy.clone();
    let row = match long_row(copy) {
        Some(index) => outer.loops.remove(index).extent(),
        // A small program has no staging buffers.
        None if copy.loops.is_empty() || widths.changes() == (None, None) || SMALL_PROGRAM => 1,
        None => return Ok(None),
    };
    Ok(Some((outer, unstaged(row, widths, site)?)))
}

/// Returns the step that copies a row that is contiguous on both sides, and may begin at any bit of a byte.
fn unstaged(row: u64, widths: Widths, site: Site<'_>) -> Result<Step, Error> {
    Ok(match widths.change() {
        Some(change) => Step::Rows(width_rows(Loops::new(), row, change, site)?),
        None => Step::Bits(row.saturating_mul(widths.source.into())),
    })
}

/// How many iterations of each loop fill the staging buffers. First come iterations that make long runs on
/// the source or on the destination, and then other iterations until a buffer is full.
fn staged_iterations(copy: &CopyBox, widths: Widths) -> SmallVec<[u64; 6]> {
    let mut staged: SmallVec<[u64; 6]> = smallvec![1; copy.loops.len()];
    // If the source has a byte for each element, the copy of bytes reads from memory, and not from a buffer:
    // the runs on the source should be longer then.
    let (unpack, pack) = widths.changes();
    let steps = match (unpack, pack) {
        (Some(_), None) => [(true, STAGED_PACKED_RUN), (false, STAGED_UNPACKED_RUN), (true, STAGE), (false, STAGE)],
        (None, _) => [(false, STAGED_PACKED_RUN), (true, STAGED_READ_RUN), (true, STAGE), (false, STAGE)],
        (Some(_), Some(_)) => [(false, STAGED_PACKED_RUN), (true, STAGED_PACKED_RUN), (true, STAGE), (false, STAGE)],
    };
    let group = unpack.map_or(1, |change| change.group).max(pack.map_or(1, |change| change.group));
    for (of_source, length) in steps {
        let mut run = 1;
        // While the run on the given side is too short, the loop that continues the run is added.
        while run < length
            && let Some((index, Stride { extent, .. })) = loop_of_stride(copy, of_source, run)
            && let Some(own) = staged.get(index).copied()
        {
            let all = staged.iter().fold(1, |all: u64, &n| all.saturating_mul(n));
            let room = STAGE.checked_div(all.checked_div(own).unwrap_or(all)).unwrap_or(1);
            let mut some = length.div_ceil(run).min(room).min(extent);
            if some < extent && some > group {
                // The number of iterations is rounded down, so that they fill whole bytes of the packed side.
                some = some.saturating_sub(some.checked_rem(group).unwrap_or(0));
            }
            let some = some.max(own);
            if let Some(own) = staged.get_mut(index) {
                *own = some;
            }
            if some < extent {
                break;
            }
            run = run.saturating_mul(extent);
        }
    }
    staged
}

/// The first loop that goes forwards on both sides and has this stride on the given side, and its index.
fn loop_of_stride(copy: &CopyBox, of_source: bool, stride: u64) -> Option<(usize, Stride)> {
    copy.loops.iter().enumerate().find_map(|(index, step)| {
        let own = step.stride().filter(|own| own.ascends() && own.extent > 1)?;
        let found = if of_source { own.source.unsigned_abs() } else { own.destination };
        (found == stride).then_some((index, own))
    })
}

/// Cuts a box in two if the extent of a loop is no multiple of the iterations that fill a staging buffer.
fn cut(copy: &CopyBox, staged: &[u64]) -> Option<[CopyBox; 2]> {
    let (index, whole, left) = copy.loops.iter().zip(staged).enumerate().find_map(|(index, (step, &staged))| {
        let left = step.extent().checked_rem(staged)?;
        (left > 0).then(|| (index, step.extent().saturating_sub(left), left))
    })?;
    let (mut first, mut second) = (copy.clone(), copy.clone());
    if let (Some(Loop::Strided(stride)), Some(Loop::Strided(rest))) =
        (first.loops.get_mut(index), second.loops.get_mut(index))
    {
        (stride.extent, rest.extent) = (whole, left);
        (second.source, second.destination) = stride.at(whole, (second.source, second.destination));
    }
    first.loops.retain(|step| step.extent() > 1);
    second.loops.retain(|step| step.extent() > 1);
    Some([second, first])
}

/// A loop inside a part (what fills a staging buffer): its extent, and its strides on the source, in the
/// buffer into which the source is unpacked, in the buffer from which the destination is packed, and on the
/// destination.
struct StagedLoop {
    extent: u64,
    source: u64,
    unpacked: u64,
    to_pack: u64,
    destination: u64,
}

/// Plans a box that goes through staging buffers. A part of `staged` iterations of each loop fills a buffer,
/// and these numbers divide the extents of the loops. Returns the loops around the parts, and the step that
/// copies a part.
fn part(copy: &CopyBox, staged: &[u64], widths: Widths, site: Site<'_>) -> Result<(CopyBox, Step), Error> {
    let mut outer = CopyBox { loops: Loops::new(), ..*copy };
    let mut inner: SmallVec<[StagedLoop; 6]> = SmallVec::new();
    for (step, &staged) in copy.loops.iter().zip(staged) {
        let Some(stride) = step.stride().filter(|_| staged > 1) else {
            outer.loops.push(step.clone());
            continue;
        };
        let rounds = stride.extent.checked_div(staged).unwrap_or(stride.extent);
        if rounds > 1 {
            let (source, destination) = stride.at(staged, (0, 0));
            outer.loops.extend(Loop::strided(rounds, source, destination));
        }
        let Stride { source, destination, .. } = stride;
        inner.push(StagedLoop { extent: staged, source: source.unsigned_abs(), unpacked: 0, to_pack: 0, destination });
    }
    // The loops around a part go through the source in order, so that prefetches reach the next part.
    sort_by_key(&mut outer.loops, |step| {
        Reverse(step.stride().map_or(u64::MAX, |stride| stride.source.unsigned_abs()))
    });
    if inner.is_empty() {
        // No elements are neighbours on either side, so no buffer helps: elements are copied one by one.
        return Ok((outer, unstaged(1, widths, site)?));
    }
    // In both buffers, elements have no gaps. The first buffer has the order of the source, the second buffer
    // that of the destination. An element that the source repeats is unpacked once.
    let (unpack, pack) = widths.changes();
    sort_by_key(&mut inner, |step| step.source);
    let mut stage = 1_u64;
    for step in inner.iter_mut().filter(|step| step.source > 0) {
        step.unpacked = stage;
        stage = stage.saturating_mul(step.extent);
    }
    sort_by_key(&mut inner, |step| step.destination);
    let mut stage = 1_u64;
    for step in &mut inner {
        step.to_pack = stage;
        stage = stage.saturating_mul(step.extent);
    }
    let copied = |sides: &dyn Fn(&StagedLoop) -> (u64, u64)| {
        let strided = |step: &StagedLoop| {
            let (source, destination) = sides(step);
            // A loop with a stride of 0 on both sides is left out: it would copy the same elements again.
            if source > 0 || destination > 0 { Loop::strided(step.extent, source, destination) } else { None }
        };
        CopyBox { source: 0, destination: 0, loops: inner.iter().filter_map(strided).collect() }.in_order()
    };
    let site_of = |reads: bool, writes: bool| Site {
        streaming: site.streaming && writes,
        prefetch: site.prefetch && reads,
        ..site
    };
    // A side that has a byte for each element needs no buffer: the copy of bytes accesses that side.
    let first = unpack
        .map(|change| rows_of(copied(&|step| (step.source, step.unpacked)), &outer, change, site_of(true, false)))
        .transpose()?;
    let last = pack
        .map(|change| rows_of(copied(&|step| (step.to_pack, step.destination)), &outer, change, site_of(false, true)))
        .transpose()?;
    let bytes = copied(&|step| {
        let from = if first.is_some() { step.unpacked } else { step.source };
        (from, if last.is_some() { step.to_pack } else { step.destination })
    });
    let copy = select::copy(&bytes, 1, site_of(first.is_none(), last.is_none()))?;
    Ok((outer, Step::Staged(Box::new(Staged { first, copy, last }))))
}

/// Returns the rows of a part that are unpacked into the first buffer, or packed from the second one.
fn rows_of(rows: CopyBox, outer: &CopyBox, change: Change, site: Site<'_>) -> Result<Rows, Error> {
    let mut rows = rows.loops;
    let row = rows.iter().position(Loop::is_packed).map_or(1, |index| rows.remove(index).extent());
    let starts = (outer.source, outer.destination);
    let whole = whole_rows(outer.loops.iter(), change.group, starts, &change)
        .and_then(|_| whole_rows(rows.iter(), row, (0, 0), &change));
    Ok(match whole {
        Some((row, loops, start)) => {
            // The next part usually continues this row. Its row is prefetched as a whole, and arrives while
            // this part is copied out of the staging buffer.
            let ahead = Prefetch::InRow(number(if change.unpacks() { row.packed } else { row.unpacked() }));
            let prefetch = if site.prefetch { ahead } else { Prefetch::None };
            let access = Access { streaming: site.streaming, prefetch };
            Rows::Whole(checked(Kernel::ChangeWidth(row), loops.into_iter().collect(), start, access, site)?)
        }
        None => Rows::Anywhere(width_rows(rows, row, change, site)?),
    })
}

/// Returns a box as one copy, if it interleaves rows into words of 32 bits, or deinterleaves them, and all
/// rows begin and end at whole bytes. If such a box went through staging buffers, `tile_s4` would take 2.3
/// times as long, and `tile_pack_s4` 1.4 times (Zen 5).
fn interleaved(copy: &CopyBox, widths: Widths, site: Site<'_>) -> Result<Option<Copy>, Error> {
    let found = interleaved_rows(copy, widths, site.knobs);
    let kernel = |rows| Kernel::InterleaveBits { rows, by: By::Direct };
    let resolved = |(rows, mut loops, start)| select::resolved(kernel(rows), &mut loops, start, site);
    found.map(resolved).transpose()
}

/// The rows of a box that `interleaved` copies, the loops around the rows, and where the first iteration
/// starts, source and destination, in bytes.
fn interleaved_rows(
    copy: &CopyBox,
    widths: Widths,
    knobs: &Knobs,
) -> Option<(BitInterleave, NestLoops, (usize, usize))> {
    let Widths { source: from, destination: bits, .. } = widths;
    let packs = from == 8;
    if !matches!(bits, 1 | 2 | 4) || !packs && from != bits {
        return None;
    }
    // The loop over columns is contiguous on the source, and the loop over rows on the destination.
    let ((column, columns), (row, rows)) = (loop_of_stride(copy, true, 1)?, loop_of_stride(copy, false, 1)?);
    let in_word = u64::from(32_u32.checked_div(bits)?);
    let (direction, length, pitch) = if (rows.extent, columns.destination) == (in_word, in_word) {
        (if packs { Direction::Pack } else { Direction::Interleave }, columns.extent, rows.source.unsigned_abs())
    } else if !packs && (columns.extent, rows.source.unsigned_abs()) == (in_word, in_word) {
        (Direction::Deinterleave, rows.extent, columns.destination)
    } else {
        return None;
    };
    let in_bytes = |elements, bits| usize::try_from(whole_bytes(elements, bits)?).ok();
    let (length, pitch) = (in_bytes(length, from)?, in_bytes(pitch, from)?);
    let rows_of_bits = BitInterleave { bits: usize::try_from(bits).ok()?, row: length, pitch, direction };
    let sides_in_bytes = |(source, destination)| Some((in_bytes(source, from)?, in_bytes(destination, bits)?));
    let outer = copy.loops.iter().enumerate().filter(|&(i, _)| i != column && i != row);
    let mut loops = loops_in_bytes(outer.map(|(_, step)| step), sides_in_bytes)?;
    match direction {
        Direction::Deinterleave => neighbours_last(&mut loops, rows_of_bits.row, rows_of_bits.pitch, knobs),
        Direction::Interleave | Direction::Pack => {
            if rows_of_bits.interleaved() > LONGEST_TRANSPOSED {
                in_source_order(&mut loops);
            }
        }
    }
    Some((rows_of_bits, loops, sides_in_bytes((copy.source, copy.destination))?))
}

fn whole_bytes(elements: u64, bits: u32) -> Option<u64> {
    let total = elements.checked_mul(bits.into())?;
    total.is_multiple_of(8).then(|| total.div_euclid(8))
}

/// Plans rows of `row` elements, which may begin inside bytes: one row in each iteration of `loops`. The
/// error is `overflow` if a size in bytes does not fit a `usize`.
fn width_rows(loops: Loops, row: u64, change: Change, site: Site<'_>) -> Result<WidthRows, Error> {
    let whole = if change.has_kernels() { row.checked_div(change.group).unwrap_or(0) } else { 0 };
    let mut wholes = Vec::new();
    for bytes in [whole, whole.saturating_sub(1)] {
        if bytes > 0 && wholes.iter().all(|(other, _)| *other != bytes) {
            let packed = crate::checked::narrow(bytes, crate::checked::BYTES)?;
            let kernel = Kernel::ChangeWidth(change.row(packed));
            wholes.push((bytes, select::resolved(kernel, &mut NestLoops::new(), (0, 0), site)?));
        }
    }
    Ok(WidthRows { loops, row, change, wholes })
}
