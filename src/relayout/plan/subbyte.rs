//! Boxes of elements that are not whole bytes.
//!
//! There are three cases, the fastest first:
//!
//! 1. If all rows begin and end at whole bytes, the box becomes a box over bytes.
//! 2. If rows of whole bytes are interleaved element by element, a kernel does that in registers.
//! 3. If elements begin anywhere, rows of bits are copied unchanged, a plane goes through buffers block by
//!    block, and single elements are copied one by one.
//!
//! A block of a plane is at most [`BIT_BLOCK`] bytes in one direction, so that all buffers stay in the L1
//! cache. A group of rows, one for each element of a byte, is interleaved into one row that has a byte for
//! each column. A plane of bytes remains to be transposed:
//!
//! ```text
//! s4, two elements a byte       rows of pairs, a byte a column      transposed
//! a0 a1 a2 a3 ..                (a0 b0) (a1 b1) (a2 b2) ..          (a0 b0) (c0 d0) ..
//! b0 b1 b2 b3 ..          ->    (c0 d0) (c1 d1) (c2 d2) ..    ->    (a1 b1) (c1 d1) ..
//! c0 c1 c2 c3 ..                                                    (a2 b2) (c2 d2) ..
//! ```
//!
//! If the plane has more rows than columns, it is transposed first and its rows are deinterleaved. Only the
//! copies into the first buffer and out of the last buffer touch single bits.

use strided_copy::Copy;
use strided_copy::kernel::{Axis, BitInterleave, BitRows, Direction, Loop as ByteLoop, Plane, Stride};

use crate::checked;
use crate::error::Error;
use crate::map::{CopyBox, Loop, Loops};

use super::cost::{BIT_BLOCK, BUFFER, LEAST_BIT_PLANE, LONGEST_TRANSPOSED};
use super::machine::{Knobs, Site};
use super::resolve::Shape;
use super::select::{self, NestLoops, in_source_order, loops_in_bytes, neighbours_last};
use super::step::{RowsOfBits, Step, StepBox};

/// A plane of elements of 1, 2 or 4 bits: element (row, column) goes from `column + row * source` to
/// `column * destination + row`, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BitPlane {
    /// The number of bits of an element.
    pub(super) bits: usize,
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// The pitch of the source rows, in elements.
    pub(super) source: usize,
    /// The pitch of the destination rows, in elements.
    pub(super) destination: usize,
}

/// The box as a box over bytes. `None` if an element begins or ends inside a byte.
///
/// The innermost loop must be contiguous on both sides and fill whole bytes. Every other stride, and both
/// bases, must be whole bytes as well.
pub(crate) fn in_whole_bytes(copy: &CopyBox, bits: u32) -> Option<CopyBox> {
    let in_bytes = |elements: u64| whole_bytes(elements, bits);
    let (last, outer) = copy.loops.split_last()?;
    let Loop::Strided { extent, source: 1, destination: 1 } = last else { return None };
    let both = |(source, destination)| Some((in_bytes(source)?, in_bytes(destination)?));
    let mut loops = outer.iter().map(|step| step.with_sides(both)).collect::<Option<Loops>>()?;
    loops.push(Loop::Strided { extent: in_bytes(*extent)?, source: 1, destination: 1 });
    let (source, destination) = both((copy.source, copy.destination))?;
    Some(CopyBox { source, destination, loops })
}

/// Returns the copy of a box that interleaves a few rows, or deinterleaves them, if all rows begin and end at
/// whole bytes.
pub(crate) fn interleaved(copy: &CopyBox, bits: u32, site: Site<'_>) -> Result<Option<Copy>, Error> {
    let Some((rows, mut loops, start)) = interleaved_rows(copy, bits, site.knobs) else { return Ok(None) };
    select::resolved(Shape::Bits(rows), &mut loops, start, site).map(Some)
}

/// The rows, the loops around the rows, and the start of the first iteration in bytes, on the source and on
/// the destination.
fn interleaved_rows(copy: &CopyBox, bits: u32, knobs: &Knobs) -> Option<(BitInterleave, NestLoops, (usize, usize))> {
    let (column_place, row_place, plane) = plane(copy, bits)?;
    let in_bytes = |elements: u64| whole_bytes(elements, bits).and_then(|bytes| usize::try_from(bytes).ok());
    let BitPlane { columns, rows, source, destination, .. } = plane;
    let (direction, count, length, pitch) = if BitInterleave::ROWS.contains(&rows) && destination == rows {
        (Direction::Interleave, rows, columns, source)
    } else if BitInterleave::ROWS.contains(&columns) && source == columns {
        (Direction::Deinterleave, columns, rows, destination)
    } else {
        return None;
    };
    let elements_in_bytes = |elements: usize| in_bytes(u64::try_from(elements).ok()?);
    let (row, pitch) = (elements_in_bytes(length)?, elements_in_bytes(pitch)?);
    let kernel = BitInterleave { bits: usize::try_from(bits).ok()?, rows: count, row, pitch, direction };
    let sides_in_bytes = |(source, destination)| Some((in_bytes(source)?, in_bytes(destination)?));
    let outer = copy.loops.iter().enumerate().filter(|&(i, _)| i != column_place && i != row_place);
    let mut loops = loops_in_bytes(outer.map(|(_, step)| step), sides_in_bytes)?;
    if direction == Direction::Interleave && count.saturating_mul(row) > LONGEST_TRANSPOSED && !knobs.rules.follows_rows
    {
        in_source_order(&mut loops);
    }
    if direction == Direction::Deinterleave {
        neighbours_last(&mut loops, row, pitch, knobs);
    }
    Some((kernel, loops, sides_in_bytes((copy.source, copy.destination))?))
}

/// How many bytes `elements` elements fill. `None` if they are not whole bytes.
fn whole_bytes(elements: u64, bits: u32) -> Option<u64> {
    let total = elements.checked_mul(bits.into())?;
    total.is_multiple_of(8).then_some(total / 8)
}

/// Plans a box whose elements begin at any bit.
///
/// # Errors
///
/// `overflow` if an offset does not fit.
pub(crate) fn steps(copy: CopyBox, bits: u32, site: Site<'_>, planned: &mut Vec<StepBox>) -> Result<(), Error> {
    let mut outer = copy;
    if let Some(index) = packed(&outer, |source, destination| source == 1 && destination == 1) {
        let row = outer.loops.remove(index).extent();
        let (count, source, destination) = match outer.loops.pop() {
            Some(Loop::Strided { extent, source, destination }) => (extent, source, destination),
            other => {
                outer.loops.extend(other);
                (1, 0, 0)
            }
        };
        let in_bits = |elements: u64| checked::mul(elements, bits.into(), checked::BYTES);
        let rows = BitRows { bits: in_bits(row)?, count, source: in_bits(source)?, destination: in_bits(destination)? };
        let steps = vec![Step::Bits(RowsOfBits::new(rows, site)?)];
        planned.push(StepBox { outer, bits: (bits, bits), steps });
        return Ok(());
    }
    match plane(&outer, bits) {
        Some((columns, rows, plane)) if plane.columns.saturating_mul(plane.rows) >= LEAST_BIT_PLANE => {
            outer.loops.remove(columns.max(rows));
            outer.loops.remove(columns.min(rows));
            plan_plane(&outer, &plane, site, planned)
        }
        _ => {
            planned.push(StepBox { outer, bits: (bits, bits), steps: vec![Step::Element(bits)] });
            Ok(())
        }
    }
}

/// Plans a plane in each iteration of some loops, as blocks of equal size and smaller blocks at the edges.
fn plan_plane(outer: &CopyBox, plane: &BitPlane, site: Site<'_>, planned: &mut Vec<StepBox>) -> Result<(), Error> {
    let &BitPlane { bits, columns, rows, source, destination } = plane;
    let in_byte = 8_usize.div_euclid(bits);
    let longest = BIT_BLOCK.saturating_mul(in_byte);
    // The long side of a block is a multiple of 8 elements, so that rows of a buffer fill whole bytes.
    let most = |short: usize| BUFFER.div_euclid(short.min(longest).div_ceil(in_byte)).div_euclid(8).saturating_mul(8);
    let (wide, deep) = if columns >= rows { (most(rows), longest) } else { (longest, most(columns)) };
    // The blocks of one axis: blocks of equal size, then a shorter one. Each entry has the start, the length
    // and the number of blocks.
    let parts = |extent: usize, block: usize| {
        let whole = extent.div_euclid(block);
        let rest = extent.rem_euclid(block);
        [(0, block, whole), (extent.saturating_sub(rest), rest, 1)]
            .into_iter()
            .filter(|&(_, size, count)| size > 0 && count > 0)
    };
    for (column, width, across) in parts(columns, wide) {
        for (row, height, down) in parts(rows, deep) {
            let at =
                |index: usize, pitch: usize| checked::mul(checked::count(index), checked::count(pitch), checked::BYTES);
            let mut blocks = outer.clone();
            blocks.source = checked::add(
                blocks.source,
                checked::add(at(column, 1)?, at(row, source)?, checked::BYTES)?,
                checked::BYTES,
            )?;
            let to = checked::add(at(column, destination)?, at(row, 1)?, checked::BYTES)?;
            blocks.destination = checked::add(blocks.destination, to, checked::BYTES)?;
            for (count, (from, to)) in
                [(across, (at(width, 1)?, at(width, destination)?)), (down, (at(height, source)?, at(height, 1)?))]
            {
                if count > 1 {
                    blocks.loops.push(Loop::Strided { extent: checked::count(count), source: from, destination: to });
                }
            }
            let steps = vec![block(plane, (width, height), site)?];
            let width = u32::try_from(bits).unwrap_or(8);
            planned.push(StepBox { outer: blocks, bits: (width, width), steps });
        }
    }
    Ok(())
}

/// Returns the steps of a block of this many columns and rows.
fn block(plane: &BitPlane, (columns, rows): (usize, usize), site: Site<'_>) -> Result<Step, Error> {
    let bits = plane.bits;
    let in_byte = 8_usize.div_euclid(bits);
    let in_bits = |elements: usize| checked::mul(checked::count(elements), checked::count(bits), checked::BYTES);
    // The size of a row in the first buffer and in the last buffer, in bytes.
    let (source, destination) = (columns.div_ceil(in_byte), rows.div_ceil(in_byte));
    let in_buffer = |bytes: usize| checked::count(bytes).saturating_mul(8);
    let mut into = BitRows {
        bits: in_bits(columns)?,
        count: checked::count(rows),
        source: in_bits(plane.source)?,
        destination: in_buffer(source),
    };
    let mut out = BitRows {
        bits: in_bits(rows)?,
        count: checked::count(columns),
        source: in_buffer(destination),
        destination: in_bits(plane.destination)?,
    };
    let interleave = |direction: Direction, rows: usize, row: usize| {
        Shape::Bits(BitInterleave { bits, rows, row, pitch: row, direction })
    };
    let few_rows = BitInterleave::ROWS.contains(&rows) && plane.destination == rows;
    let few_columns = !few_rows && BitInterleave::ROWS.contains(&columns) && plane.source == columns;
    // Rows without a gap are one long row.
    if few_rows {
        out = BitRows { bits: out.bits.saturating_mul(out.count), count: 1, ..out };
    }
    if few_columns {
        into = BitRows { bits: into.bits.saturating_mul(into.count), count: 1, ..into };
    }
    let (pairs, quads) = (in_byte.saturating_mul(source), in_byte.saturating_mul(destination));
    let passes = if few_rows {
        vec![(interleave(Direction::Interleave, rows, source), None)]
    } else if few_columns {
        vec![(interleave(Direction::Deinterleave, columns, destination), None)]
    } else if columns >= rows {
        let groups = Some((destination, pairs));
        vec![
            (interleave(Direction::Interleave, in_byte, source), groups),
            (transpose((pairs, destination), (destination, pairs)), None),
        ]
    } else {
        let groups = Some((source, quads));
        vec![
            (transpose((source, quads), (rows, source)), None),
            (interleave(Direction::Deinterleave, in_byte, destination), groups),
        ]
    };
    let in_cache = Site { streaming: false, prefetch: false, ..site };
    let mut chain = vec![Step::Bits(RowsOfBits::new(out, Site { prefetch: false, ..site })?)];
    for (shape, groups) in passes.into_iter().rev() {
        // This loop goes over groups of rows. The rows of a group follow each other on both sides.
        let mut loops = NestLoops::new();
        if let Some((extent, bytes)) = groups {
            let stride = isize::try_from(bytes).unwrap_or(isize::MAX);
            loops.push(ByteLoop::Strided(Stride { extent, source: stride, destination: stride }));
        }
        let copy = select::resolved(shape, &mut loops, (0, 0), in_cache)?;
        chain = vec![Step::through(vec![Step::Copy(copy)], chain)];
    }
    let into = RowsOfBits::new(into, Site { streaming: false, ..site })?;
    Ok(Step::through(vec![Step::Bits(into)], chain))
}

/// A plane of bytes to transpose: `columns` columns, whose destination rows are `to` bytes apart, and `rows`
/// source rows, which are `from` bytes apart.
fn transpose((columns, to): (usize, usize), (rows, from): (usize, usize)) -> Shape {
    let axis = |extent: usize, pitch: usize| Axis::new(extent, isize::try_from(pitch).unwrap_or(isize::MAX));
    Shape::Plane(Plane { unit: 1, columns: axis(columns, to), rows: axis(rows, from), micro_tile: None })
}

/// The index of the first strided loop whose strides on the source and on the destination pass a test.
fn packed(copy: &CopyBox, test: fn(u64, u64) -> bool) -> Option<usize> {
    copy.loops
        .iter()
        .position(|step| matches!(step, Loop::Strided { source, destination, .. } if test(*source, *destination)))
}

/// The index of the loop that is packed on the source (columns), the index of the loop that is packed on the
/// destination (rows), and the plane that these two loops make.
pub(super) fn plane(copy: &CopyBox, bits: u32) -> Option<(usize, usize, BitPlane)> {
    let stride = |index: usize| match *copy.loops.get(index)? {
        Loop::Strided { extent, source, destination } => {
            Some((usize::try_from(extent).ok()?, usize::try_from(source).ok()?, usize::try_from(destination).ok()?))
        }
        Loop::Reversed { .. } | Loop::Table(_) => None,
    };
    let (columns, rows) = (packed(copy, |source, _| source == 1)?, packed(copy, |_, destination| destination == 1)?);
    if columns == rows || ![1, 2, 4].contains(&bits) {
        return None;
    }
    let bits = usize::try_from(bits).ok()?;
    let ((wide, _, destination), (high, source, _)) = (stride(columns)?, stride(rows)?);
    Some((columns, rows, BitPlane { bits, columns: wide, rows: high, source, destination }))
}
