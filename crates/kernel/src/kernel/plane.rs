//! A plane to be transposed: two axes, one packed on either side.
//!
//! ```text
//! source                                  destination
//!           column 0  1  2  3                        row 0  1  2
//! row 0            a  b  c  d             column 0       a  e  i
//! row 1            e  f  g  h      ->     column 1       b  f  j
//! row 2            i  j  k  l             column 2       c  g  k
//!                                         column 3       d  h  l
//! ```
//!
//! A *row* is always a row of the source, and a *column* a column of the source. So the columns of the source
//! are the rows that the destination has in memory. Each axis has the offsets of the side on which it is not
//! packed: `rows` those of the source rows, `columns` those of the destination rows.

/// Bytes of a micro-tile, at most: one shuffle inside a 16-byte lane transposes it.
pub const MICRO_TILE: usize = 16;

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

    /// The pitch of the source rows in bytes, if the destination is dense: one row in which the source rows
    /// are interleaved unit by unit. The pitch is negative if the first row is the last in memory.
    #[must_use]
    pub fn interleaves(&self) -> Option<isize> {
        self.rows.pitch().filter(|_| self.columns.stride() == Some(self.destination_row()))
    }

    /// The pitch of the destination rows in bytes, if the source is dense: one row in which the destination
    /// rows are interleaved unit by unit. The pitch is negative if the first row is the last in memory.
    #[must_use]
    pub fn deinterleaves(&self) -> Option<isize> {
        self.columns.pitch().filter(|_| self.rows.stride() == Some(self.source_row()))
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
    /// A constant distance. If it is negative, index 0 has the highest offset, and the last index offset 0.
    Stride(isize),
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
    /// `extent` indices, `stride` bytes apart. With a negative stride, index 0 is the last in memory and the
    /// last index has offset 0: offsets are never negative.
    #[must_use]
    pub fn new(extent: usize, stride: isize) -> Axis {
        Axis { extent, offsets: Offsets::Stride(stride) }
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
            Offsets::Stride(stride) if *stride < 0 => (self.extent - 1 - i) * stride.unsigned_abs(),
            Offsets::Stride(stride) => i * stride.unsigned_abs(),
            Offsets::Table(fused) => fused.offsets[i],
        }
    }

    /// The distance of neighbours in bytes, if it is constant and offsets ascend.
    #[inline(always)]
    #[must_use]
    pub fn stride(&self) -> Option<usize> {
        match &self.offsets {
            Offsets::Stride(stride) => usize::try_from(*stride).ok(),
            Offsets::Table(_) => None,
        }
    }

    /// The distance of neighbours in bytes, if it is constant: negative if offsets descend.
    #[inline(always)]
    #[must_use]
    pub fn pitch(&self) -> Option<isize> {
        match &self.offsets {
            Offsets::Stride(stride) => Some(*stride),
            Offsets::Table(_) => None,
        }
    }

    /// The loops it was made of, as pairs of stride and extent, the innermost one first.
    pub fn loops(&self) -> impl Iterator<Item = (usize, usize)> {
        let (one, fused): (_, &[_]) = match &self.offsets {
            Offsets::Stride(stride) => (Some((stride.unsigned_abs(), self.extent)), &[]),
            Offsets::Table(fused) => (None, &fused.loops),
        };
        one.into_iter().chain(fused.iter().copied())
    }

    /// Are all offsets multiples of `bytes`?
    pub fn are_multiples_of(&self, bytes: usize) -> bool {
        match &self.offsets {
            Offsets::Stride(stride) => stride.unsigned_abs().is_multiple_of(bytes),
            Offsets::Table(fused) => fused.loops.iter().all(|(stride, _)| stride.is_multiple_of(bytes)),
        }
    }

    /// The largest offset; `None` if it does not fit a `usize`.
    pub(super) fn largest(&self) -> Option<usize> {
        let last = |(stride, extent): (usize, usize)| extent.saturating_sub(1).checked_mul(stride);
        match &self.offsets {
            Offsets::Stride(stride) => last((stride.unsigned_abs(), self.extent)),
            Offsets::Table(fused) => {
                fused.loops.iter().copied().map(last).try_fold(0_usize, |sum, last| sum.checked_add(last?))
            }
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
