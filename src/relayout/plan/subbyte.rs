//! Boxes of elements that are not whole bytes.
//!
//! Three ways, the fastest first: everything begins and ends at whole bytes, and the box is one over bytes;
//! rows of whole bytes are interleaved element by element; elements begin anywhere, and rows, planes or
//! single elements of bits are copied.

use crate::map::{CopyBox, Loop, Loops};

use super::super::plan::machine::Knobs;
use super::cost::{LEAST_BIT_PLANE, LONGEST_TRANSPOSED};
use super::nest_loops::loops_in_bytes;
use super::select::{in_source_order, neighbours_last};
use strided_copy::nest::{BitInterleave, BitPlane, BitRows, Direction, MicroKernel, Nest, Stride};

/// A box of elements that begin anywhere.
#[derive(Debug, Clone)]
pub(crate) struct SubByteBox {
    /// The loops outside, and where the first element is stored.
    pub(crate) outer: CopyBox,
    /// How many elements it has in all.
    pub(crate) elements: u64,
    pub(crate) inner: Inner,
}

/// What an iteration of the loops copies.
#[derive(Debug, Clone)]
pub(crate) enum Inner {
    /// Elements that are packed on both sides.
    Rows(BitRows),
    /// Elements that are packed on either side in another order.
    Plane(BitPlane),
    Element,
}

/// The same box over bytes, if nothing in it begins or ends inside one.
///
/// The innermost loop must be packed on both sides and fill whole bytes; every other stride and both bases
/// must be whole bytes as well.
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

/// The nest of a box that interleaves a few rows, or deinterleaves them, if all of them begin and end at
/// whole bytes.
pub(crate) fn interleaved(copy: &CopyBox, bits: u32, knobs: &Knobs) -> Option<Nest> {
    let (column_place, row_place, BitPlane { columns, rows, .. }) = plane(copy, bits)?;
    let in_bytes = |elements: u64| whole_bytes(elements, bits).and_then(|bytes| usize::try_from(bytes).ok());
    let few = |rows: &Stride| BitInterleave::ROWS.contains(&rows.extent);
    let (direction, count, length, pitch) = if few(&rows) && columns.destination == rows.extent {
        (Direction::Interleave, rows.extent, columns.extent, rows.source)
    } else if few(&columns) && rows.source == columns.extent {
        (Direction::Deinterleave, columns.extent, rows.extent, columns.destination)
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
    let (source, destination) = sides_in_bytes((copy.source, copy.destination))?;
    Some(Nest::new(MicroKernel::InterleaveBits(kernel), loops.into_vec(), source, destination))
}

/// The bytes that this many elements fill, if they are whole.
fn whole_bytes(elements: u64, bits: u32) -> Option<u64> {
    let total = elements.checked_mul(bits.into())?;
    total.is_multiple_of(8).then_some(total / 8)
}

impl SubByteBox {
    pub(crate) fn new(copy: CopyBox, bits: u32) -> SubByteBox {
        let mut outer = copy;
        let elements = outer.loops.iter().fold(1, |elements: u64, step| elements.saturating_mul(step.extent()));
        let width = u64::from(bits);
        let inner = if let Some(place) = packed(&outer, |source, destination| source == 1 && destination == 1) {
            let row = outer.loops.remove(place).extent();
            let (count, source, destination) = match outer.loops.pop() {
                Some(Loop::Strided { extent, source, destination }) => (extent, source, destination),
                table => {
                    outer.loops.extend(table);
                    (1, 0, 0)
                }
            };
            // Nothing saturates: these are lengths of parts of the buffers.
            let [bits, source, destination] = [row, source, destination].map(|n| n.saturating_mul(width));
            Inner::Rows(BitRows { bits, count, source, destination })
        } else if let Some((columns, rows, plane)) = plane(&outer, bits)
            && plane.columns.extent.saturating_mul(plane.rows.extent) >= LEAST_BIT_PLANE
        {
            outer.loops.remove(columns.max(rows));
            outer.loops.remove(columns.min(rows));
            Inner::Plane(plane)
        } else {
            Inner::Element
        };
        SubByteBox { outer, elements, inner }
    }
}

/// A loop whose strides pass a test, source and destination.
fn packed(copy: &CopyBox, test: fn(u64, u64) -> bool) -> Option<usize> {
    copy.loops
        .iter()
        .position(|step| matches!(step, Loop::Strided { source, destination, .. } if test(*source, *destination)))
}

/// The places of the loops that are packed on the source (columns) and on the destination (rows), and their
/// plane.
pub(super) fn plane(copy: &CopyBox, bits: u32) -> Option<(usize, usize, BitPlane)> {
    let stride = |place: usize| match *copy.loops.get(place)? {
        Loop::Strided { extent, source, destination } => Some(Stride {
            extent: usize::try_from(extent).ok()?,
            source: usize::try_from(source).ok()?,
            destination: usize::try_from(destination).ok()?,
        }),
        Loop::Reversed { .. } | Loop::Table(_) => None,
    };
    let (columns, rows) = (packed(copy, |source, _| source == 1)?, packed(copy, |_, destination| destination == 1)?);
    if columns == rows || ![1, 2, 4].contains(&bits) {
        return None;
    }
    let bits = usize::try_from(bits).ok()?;
    Some((columns, rows, BitPlane { bits, columns: stride(columns)?, rows: stride(rows)? }))
}

#[cfg(test)]
mod tests;
