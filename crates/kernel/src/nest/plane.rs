//! A plane to be transposed: two axes, one packed on either side.

use crate::cost::MICRO_TILE;

/// A plane of units: unit (row, column) goes from `rows.offset(row) + column * unit` on the source to
/// `columns.offset(column) + row * unit` on the destination, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plane {
    /// Bytes that stay together.
    pub unit: usize,
    /// Packed on the source; each is a row of the destination, at these offsets.
    pub columns: Axis,
    /// Packed on the destination; at these offsets of the source.
    pub rows: Axis,
    /// A unit is itself a small plane, which is transposed on the way.
    pub micro_tile: Option<MicroTile>,
}

impl Plane {
    /// How many bytes it spans on the source and on the destination.
    pub fn span(&self) -> (usize, usize) {
        (
            self.rows.largest().saturating_add(self.source_row()),
            self.columns.largest().saturating_add(self.destination_row()),
        )
    }

    /// Bytes of a source row.
    pub fn source_row(&self) -> usize {
        self.columns.extent.saturating_mul(self.unit)
    }

    /// Bytes of a destination row.
    pub fn destination_row(&self) -> usize {
        self.rows.extent.saturating_mul(self.unit)
    }

    /// Do the rows sit at one stride on either side, going forwards?
    pub fn has_constant_pitches(&self) -> bool {
        self.rows.stride().is_some() && self.columns.stride().is_some()
    }

    /// The pitch of the source rows, if the destination is dense: one row in which they are interleaved unit
    /// by unit.
    pub fn interleaves(&self) -> Option<RowPitch> {
        self.rows.pitch().filter(|_| self.columns.stride() == Some(self.destination_row()))
    }

    /// The pitch of the destination rows, if the source is dense: one row in which they are interleaved unit
    /// by unit.
    pub fn deinterleaves(&self) -> Option<RowPitch> {
        self.columns.pitch().filter(|_| self.rows.stride() == Some(self.source_row()))
    }
}

/// How far each row is from the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowPitch {
    /// Bytes.
    pub bytes: usize,
    /// The first row is after all others.
    pub reversed: bool,
}

impl RowPitch {
    /// Rows this many bytes apart, the first one first.
    pub fn forwards(bytes: usize) -> RowPitch {
        RowPitch { bytes, reversed: false }
    }
}

/// A unit of `rows` by `columns` elements of `element` bytes, of at most [`MICRO_TILE`] bytes in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MicroTile {
    /// Rows of elements.
    pub rows: usize,
    /// Columns of elements.
    pub columns: usize,
    /// Bytes of an element.
    pub element: usize,
}

impl MicroTile {
    /// The bytes of a tile.
    pub fn bytes(self) -> usize {
        self.rows.saturating_mul(self.columns).saturating_mul(self.element)
    }

    /// Is there a shuffle for it: do whole tiles fill 16 bytes?
    pub(super) fn has_shuffle(self) -> bool {
        let bytes = self.bytes();
        bytes.is_power_of_two() && bytes <= MICRO_TILE && self.element > 0
    }

    /// The byte shuffle that transposes as many whole micro-tiles as 16 bytes hold: where each byte of the
    /// result comes from. Zeros if whole tiles do not fill them.
    pub fn shuffle(self) -> [u8; MICRO_TILE] {
        let MicroTile { rows, columns, element } = self;
        let mut bytes = [0; MICRO_TILE];
        if !self.has_shuffle() {
            return bytes;
        }
        // Place (column, row) of the result is place (row, column) of the source.
        let places = (0..columns).flat_map(|column| (0..rows).map(move |row| row * columns + column));
        let tile = places.flat_map(|place| (0..element).map(move |byte| place * element + byte));
        for (i, from) in tile.enumerate() {
            for first in (0..MICRO_TILE).step_by(self.bytes()) {
                bytes[first + i] = u8::try_from(first + from).unwrap_or(0);
            }
        }
        bytes
    }
}

/// One axis of a plane: packed on one side, at these offsets on the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// How many places.
    pub extent: usize,
    offsets: Offsets,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Offsets {
    Stride(usize),
    /// From the last one down.
    Reversed(usize),
    /// Several loops in one.
    Table(Fused),
}

/// The offsets of several loops, and the loops.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fused {
    offsets: Vec<usize>,
    loops: Vec<(usize, usize)>,
}

impl Axis {
    /// `extent` places, `stride` bytes apart.
    pub fn new(extent: usize, stride: usize) -> Axis {
        Axis { extent, offsets: Offsets::Stride(stride) }
    }

    /// The same in the opposite order: the first place is the last in memory.
    pub fn reversed(extent: usize, stride: usize) -> Axis {
        Axis { extent, offsets: Offsets::Reversed(stride) }
    }

    /// The offset of index `i`.
    ///
    /// # Panics
    ///
    /// If `i` is not below the extent and the axis is a table.
    #[inline(always)]
    #[allow(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        reason = "callers pass indices below the extent"
    )]
    pub fn offset(&self, i: usize) -> usize {
        debug_assert!(i < self.extent);
        match &self.offsets {
            Offsets::Stride(stride) => i * stride,
            Offsets::Reversed(stride) => (self.extent - 1 - i) * stride,
            Offsets::Table(fused) => fused.offsets[i],
        }
    }

    /// The distance of neighbours, if it is the same everywhere and they ascend.
    #[inline(always)]
    pub fn stride(&self) -> Option<usize> {
        match &self.offsets {
            Offsets::Stride(stride) => Some(*stride),
            Offsets::Reversed(_) | Offsets::Table(_) => None,
        }
    }

    /// The same, and whether they ascend.
    #[inline(always)]
    pub fn pitch(&self) -> Option<RowPitch> {
        match &self.offsets {
            Offsets::Stride(bytes) => Some(RowPitch::forwards(*bytes)),
            Offsets::Reversed(bytes) => Some(RowPitch { bytes: *bytes, reversed: true }),
            Offsets::Table(_) => None,
        }
    }

    /// The loops it was made of, as pairs of stride and extent, the innermost one first.
    pub fn loops(&self) -> impl Iterator<Item = (usize, usize)> {
        let (one, fused): (_, &[_]) = match &self.offsets {
            Offsets::Stride(stride) | Offsets::Reversed(stride) => (Some((*stride, self.extent)), &[]),
            Offsets::Table(fused) => (None, &fused.loops),
        };
        one.into_iter().chain(fused.iter().copied())
    }

    /// Are all offsets multiples of `bytes`?
    pub fn are_multiples_of(&self, bytes: usize) -> bool {
        match &self.offsets {
            Offsets::Stride(stride) | Offsets::Reversed(stride) => stride.is_multiple_of(bytes),
            Offsets::Table(fused) => fused.loops.iter().all(|(stride, _)| stride.is_multiple_of(bytes)),
        }
    }

    /// The largest offset.
    pub(super) fn largest(&self) -> usize {
        let last = |(stride, extent): (usize, usize)| extent.saturating_sub(1).saturating_mul(stride);
        match &self.offsets {
            Offsets::Stride(stride) | Offsets::Reversed(stride) => last((*stride, self.extent)),
            Offsets::Table(fused) => fused.loops.iter().copied().map(last).fold(0, usize::saturating_add),
        }
    }

    /// The axis with other loops outside it, each a pair of stride and extent, the innermost one first.
    pub fn inside(self, outer: &[(usize, usize)]) -> Axis {
        // Nothing saturates or wraps: all these offsets are in a buffer.
        let extent = outer.iter().fold(self.extent, |product, &(_, extent)| product.saturating_mul(extent));
        let mut offsets = Vec::with_capacity(extent);
        offsets.extend((0..self.extent).map(|i| self.offset(i)));
        for &(stride, extent) in outer {
            // Copied and moved in runs that double: the loops may be short.
            let (inner, mut iterations) = (offsets.len(), 1);
            while iterations < extent {
                let more = iterations.min(extent.saturating_sub(iterations));
                let (old, moved) = (offsets.len(), iterations.saturating_mul(stride));
                offsets.extend_from_within(..more.saturating_mul(inner));
                offsets.iter_mut().skip(old).for_each(|offset| *offset = offset.wrapping_add(moved));
                iterations = iterations.saturating_add(more);
            }
        }
        let mut loops = Vec::with_capacity(outer.len().saturating_add(1));
        loops.extend(self.loops().chain(outer.iter().copied()));
        Axis { extent, offsets: Offsets::Table(Fused { offsets, loops }) }
    }
}

#[cfg(test)]
mod tests;
