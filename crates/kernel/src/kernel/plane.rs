//! A plane to be transposed: two axes, each of which is packed on one of the two sides.
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
//! A *row* is always a row of the source, and a *column* is always a column of the source. So each row of the
//! destination in memory is a column. Each axis lists the offsets on the side where the axis is not packed:
//! `rows` has the offsets of the source rows, and `columns` the offsets of the destination rows.

use std::fmt;

/// The largest size in bytes of a micro-tile: a unit that one shuffle inside lanes transposes.
pub const MICRO_TILE: usize = 16;

/// A plane of units. The unit at (row, column) moves from `rows.offset(row) + column * unit` on the source to
/// `columns.offset(column) + row * unit` on the destination, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plane {
    /// The length of a unit in bytes. The bytes of a unit stay in order, unless the unit is a micro-tile.
    pub unit: usize,
    /// The columns of the source, `unit` bytes apart. Column c becomes the row of the destination that starts
    /// at `columns.offset(c)`.
    pub columns: Axis,
    /// The rows of the source. Row r starts at `rows.offset(r)` on the source, and its units go to place r of
    /// each destination row.
    pub rows: Axis,
    /// The shape of the units if they are micro-tiles: small planes themselves, transposed on the way.
    pub micro_tile: Option<MicroTile>,
}

impl Plane {
    /// The length of a source row in bytes.
    pub fn source_row(&self) -> usize {
        self.columns.extent.saturating_mul(self.unit)
    }

    /// The length of a destination row in bytes.
    pub fn destination_row(&self) -> usize {
        self.rows.extent.saturating_mul(self.unit)
    }

    /// Whether source rows and destination rows both have a constant pitch that is not negative.
    pub fn has_constant_pitches(&self) -> bool {
        self.rows.stride().is_some() && self.columns.stride().is_some()
    }

    /// The pitch of the source rows in bytes, if the rows are interleaved unit by unit into one dense
    /// destination row. The pitch is negative if the first row is the last in memory.
    #[must_use]
    pub fn interleaves(&self) -> Option<isize> {
        self.rows.pitch().filter(|_| self.columns.stride() == Some(self.destination_row()))
    }

    /// The pitch of the destination rows in bytes, if the rows are deinterleaved unit by unit from one dense
    /// source row. The pitch is negative if the first row is the last in memory.
    #[must_use]
    pub fn deinterleaves(&self) -> Option<isize> {
        self.columns.pitch().filter(|_| self.rows.stride() == Some(self.source_row()))
    }
}

/// A unit of `rows` by `columns` elements of `element` bytes each, at most [`MICRO_TILE`] bytes in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MicroTile {
    /// The number of rows of elements.
    pub rows: u8,
    /// The number of columns of elements.
    pub columns: u8,
    /// The size of an element in bytes.
    pub element: u8,
}

impl MicroTile {
    /// The size of the tile in bytes.
    pub fn bytes(self) -> usize {
        let [rows, columns, element] = [self.rows, self.columns, self.element].map(usize::from);
        rows.saturating_mul(columns).saturating_mul(element)
    }

    /// Whether there is a shuffle that transposes the micro-tile: whether whole micro-tiles fill 16 bytes.
    pub(super) fn has_shuffle(self) -> bool {
        let bytes = self.bytes();
        bytes.is_power_of_two() && bytes <= MICRO_TILE
    }

    /// The indices of the shuffle that transposes all micro-tiles in 16 bytes: for each byte of the result,
    /// the index of the source byte. All indices are 0 if whole micro-tiles do not fill 16 bytes.
    pub fn shuffle(self) -> [u8; MICRO_TILE] {
        let [rows, columns, element] = [self.rows, self.columns, self.element].map(usize::from);
        let mut bytes = [0; MICRO_TILE];
        if !self.has_shuffle() {
            return bytes;
        }
        // Element (column, row) of the result is element (row, column) of the source.
        let indices = (0..columns).flat_map(|column| (0..rows).map(move |row| row * columns + column));
        let tile = indices.flat_map(|index| (0..element).map(move |byte| index * element + byte));
        for (i, from) in tile.enumerate() {
            for first in (0..MICRO_TILE).step_by(self.bytes()) {
                bytes[first + i] = u8::try_from(first + from).unwrap_or(0);
            }
        }
        bytes
    }
}

/// One axis of a plane. The axis is packed on one side. On the other side, it has a constant stride, or a
/// list of the offset of each index.
#[derive(Clone, PartialEq, Eq)]
pub struct Axis {
    /// The number of indices.
    pub extent: usize,
    offsets: Offsets,
}

/// Prints the extent and the stride: `64 x +50176`. An axis of several loops prints them all, the innermost
/// first: `3 x +4 x 20 x +4096`.
impl fmt::Debug for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Offsets::Stride(stride) = self.offsets {
            return write!(f, "{} x {stride:+}", self.extent);
        }
        for (i, (stride, extent)) in self.loops().enumerate() {
            write!(f, "{}{extent} x {stride:+}", if i == 0 { "" } else { " x " })?;
        }
        Ok(())
    }
}

#[derive(Clone, PartialEq, Eq)]
enum Offsets {
    /// A constant stride. If it is negative, index 0 has the highest offset, and the last index has offset 0.
    Stride(isize),
    /// Several loops fused into one axis. All numbers are in one list, so that an axis is three words long:
    /// the offset of every index, then the stride and the extent of each loop, the innermost loop first, and
    /// last the number of loops.
    Table(Box<[usize]>),
}

/// The strides and extents at the end of the list of numbers, and how many offsets are in front of them.
fn loops_of_table(table: &[usize]) -> (&[usize], usize) {
    let loops = || {
        let (&loops, rest) = table.split_last()?;
        let offsets = rest.len().checked_sub(loops.checked_mul(2)?)?;
        Some((rest.get(offsets..)?, offsets))
    };
    loops().unwrap_or((&[], 0))
}

impl Axis {
    /// An axis of `extent` indices, `stride` bytes apart. Offsets are never negative: if the stride is, the
    /// last index has offset 0, and index 0 has the highest offset.
    #[must_use]
    pub fn new(extent: usize, stride: isize) -> Axis {
        Axis { extent, offsets: Offsets::Stride(stride) }
    }

    /// The offset of index `i`.
    ///
    /// # Panics
    ///
    /// If the axis has listed offsets, and its list ends before index `i`. Other numbers follow the offsets
    /// in the list, so a larger index may also return one of these.
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
            Offsets::Table(table) => table[i],
        }
    }

    /// The stride in bytes, if it is constant and not negative.
    #[inline(always)]
    #[must_use]
    pub fn stride(&self) -> Option<usize> {
        match &self.offsets {
            Offsets::Stride(stride) => usize::try_from(*stride).ok(),
            Offsets::Table(_) => None,
        }
    }

    /// The stride in bytes, if it is constant. It is negative if the offsets descend.
    #[inline(always)]
    #[must_use]
    pub fn pitch(&self) -> Option<isize> {
        match &self.offsets {
            Offsets::Stride(stride) => Some(*stride),
            Offsets::Table(_) => None,
        }
    }

    /// The loops of which the axis was made, as pairs of stride and extent. The innermost loop comes first.
    pub fn loops(&self) -> impl Iterator<Item = (usize, usize)> {
        let (one, table): (_, &[_]) = match &self.offsets {
            Offsets::Stride(stride) => (Some((stride.unsigned_abs(), self.extent)), &[]),
            Offsets::Table(table) => (None, loops_of_table(table).0),
        };
        let (pairs, _) = table.as_chunks::<2>();
        one.into_iter().chain(pairs.iter().map(|&[stride, extent]| (stride, extent)))
    }

    /// Whether the axis has an offset for every index. The field `extent` is public, so it may have been
    /// changed since the offsets were listed.
    pub(super) fn is_whole(&self) -> bool {
        match &self.offsets {
            Offsets::Stride(_) => true,
            Offsets::Table(table) => loops_of_table(table).1 == self.extent,
        }
    }

    /// Whether all offsets are multiples of `bytes`.
    pub fn are_multiples_of(&self, bytes: usize) -> bool {
        self.loops().all(|(stride, _)| stride.is_multiple_of(bytes))
    }

    pub(super) fn largest(&self) -> Option<usize> {
        let last = |(stride, extent): (usize, usize)| extent.saturating_sub(1).checked_mul(stride);
        self.loops().map(last).try_fold(0_usize, |sum, last| sum.checked_add(last?))
    }

    /// Returns the axis with further loops outside of it. Each loop is a pair of stride and extent; the
    /// innermost loop comes first.
    pub fn inside(self, outer: &[(usize, usize)]) -> Axis {
        // No product saturates and no sum wraps, because every offset of an axis is inside a buffer.
        let extent = outer.iter().fold(self.extent, |product, &(_, extent)| product.saturating_mul(extent));
        let numbers = self.loops().chain(outer.iter().copied()).count().saturating_mul(2).saturating_add(1);
        let mut offsets = Vec::with_capacity(extent.saturating_add(numbers));
        offsets.extend((0..self.extent).map(|i| self.offset(i)));
        for &(stride, extent) in outer {
            // Each turn appends twice as many offsets as the turn before, because the loops may be short.
            let (inner, mut iterations) = (offsets.len(), 1);
            while iterations < extent {
                let more = iterations.min(extent.saturating_sub(iterations));
                let (old, moved) = (offsets.len(), iterations.saturating_mul(stride));
                offsets.extend_from_within(..more.saturating_mul(inner));
                offsets.iter_mut().skip(old).for_each(|offset| *offset = offset.wrapping_add(moved));
                iterations = iterations.saturating_add(more);
            }
        }
        offsets.extend(self.loops().chain(outer.iter().copied()).flat_map(|(stride, extent)| [stride, extent]));
        offsets.push(numbers.div_euclid(2));
        Axis { extent, offsets: Offsets::Table(offsets.into_boxed_slice()) }
    }
}
