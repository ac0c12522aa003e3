//! A copy in pieces along an axis.

use std::ops::Range;

use crate::checked;
use crate::error::Error;
use crate::map::IndexMap;
use crate::strided::Slice;

use super::relayout::Relayout;

/// Some indices of one axis of a copy, all of the other axes: whole rows, for instance.
///
/// Source and destination are slices of the layouts of the whole copy: they describe the same two buffers,
/// with base offsets of their own.
///
/// ```
/// use tensor_layout::{relayout::{AxisPiece, Relayout}, ArrayShape};
///
/// let (rows, columns): (ArrayShape, ArrayShape) = ("f32[6,5]{1,0}".parse()?, "f32[6,5]{0,1}".parse()?);
/// let pieces: Vec<AxisPiece> = Relayout::new(&rows, &columns)?.partition_axis(0, 2)?;
/// assert_eq!(pieces[1].range, 3..6);
/// assert_eq!(pieces[1].relayout.source().base(), 15);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AxisPiece {
    /// The indices of the axis, on the destination.
    pub range: Range<u64>,
    /// The copy of the piece: its [`source`](Relayout::source) and [`destination`](Relayout::destination) are
    /// the slices of the two layouts, and it runs on the whole buffers.
    /// [`lower`](crate::bridge::lower) makes descriptors of them.
    pub relayout: Relayout,
}

impl Relayout {
    /// The copy in at most `pieces` pieces of about the same number of indices of one axis, for whoever needs
    /// rows whole. Padding is left alone. An axis that is walked backwards gives pieces of the other end of
    /// the source.
    ///
    /// There are fewer pieces where the axis is shorter, and where it is cut into tiles, which stay whole;
    /// never more than 16,384, and fewer of a copy of dozens of boxes, as every piece is a plan of its own.
    ///
    /// Unlike those of [`partition`](Self::partition), the pieces may write bytes between each other's: they
    /// share a destination one after the other, or by [`run_write_only`](Self::run_write_only).
    ///
    /// # Errors
    ///
    /// [`AxisOutOfRange`](crate::ArgumentRule); [`Error::NotAView`] if the axis is joined with others on one
    /// side, so that no part of it has a layout of its own; and as for [`Relayout::new`].
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, ArrayShape};
    ///
    /// let (rows, tiles): (ArrayShape, ArrayShape) = ("u8[20,16]{1,0}".parse()?, "u8[20,16]{1,0:T(8,8)}".parse()?);
    /// let pieces = Relayout::new(&rows, &tiles)?.partition_axis(0, 4)?;
    /// let ranges: Vec<_> = pieces.iter().map(|piece| piece.range.clone()).collect();
    /// assert_eq!(ranges, [0..8, 8..16, 16..20]);
    /// assert_eq!(pieces[1].relayout.destination().base(), 128);
    ///
    /// let (source, mut destination) = ([7; 320], [0; 384]);
    /// for piece in &pieces {
    ///     piece.relayout.run(&source, &mut destination)?;
    /// }
    /// assert_eq!(destination.iter().filter(|&&byte| byte == 7).count(), 320);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn partition_axis(&self, axis: usize, pieces: usize) -> Result<Vec<AxisPiece>, Error> {
        let sizes = self.destination.sizes();
        let rank = sizes.len();
        let Some(&size) = sizes.get(axis) else { return Err(Error::axis_out_of_range(axis, rank)) };
        let backwards = self.reversed.contains(&axis);
        let tile = self.tile_along(axis, size, backwards);
        let most = u64::try_from(pieces.min(self.most_axis_pieces()).max(1)).unwrap_or(1);
        let tiles = size.div_ceil(tile);
        let per_piece = tiles.div_ceil(most).max(1).saturating_mul(tile);
        let mut found = Vec::new();
        let mut start = 0_u64;
        while start < size || found.is_empty() {
            let end = start.saturating_add(per_piece).min(size);
            found.push(self.along(axis, start..end, backwards)?);
            start = end;
        }
        Ok(found)
    }

    /// How many pieces a plan of this size may be repeated for.
    fn most_axis_pieces(&self) -> usize {
        let parts = self.passes.programs().map(|program| {
            let entries = usize::try_from(program.boxes.entries()).unwrap_or(usize::MAX);
            program.boxes.segments().saturating_add(program.prepared.len()).saturating_add(entries.div_euclid(16))
        });
        MOST_PARTS.checked_div(parts.fold(0, usize::saturating_add)).unwrap_or(MOST_PIECES).min(MOST_PIECES)
    }

    /// How many indices stay together, so that the tiles of both sides stay whole; all of them if the sides
    /// do not agree.
    fn tile_along(&self, axis: usize, size: u64, backwards: bool) -> u64 {
        let (source, destination) = (tile(&self.source, axis), tile(&self.destination, axis));
        let both = checked::lcm(source, destination).unwrap_or(size).clamp(1, size.max(1));
        // From the other end, tiles begin where the size is whole tiles.
        if backwards && !size.is_multiple_of(source.max(1)) { size.max(1) } else { both }
    }

    fn along(&self, axis: usize, range: Range<u64>, backwards: bool) -> Result<AxisPiece, Error> {
        let whole = self.destination.sizes();
        let slices = |own: Range<u64>| -> Vec<Slice> {
            let other = whole.iter().map(|&size| Slice::from(0..size));
            other.enumerate().map(|(at, slice)| if at == axis { own.clone().into() } else { slice }).collect()
        };
        let size = whole.get(axis).copied().unwrap_or(0);
        let read =
            if backwards { size.saturating_sub(range.end)..size.saturating_sub(range.start) } else { range.clone() };
        let (source, destination) =
            (self.source.slice(&slices(read))?, self.destination.slice(&slices(range.clone()))?);
        let relayout = Relayout::reversing(&source, &destination, &self.reversed)?.planned_with(self.knobs);
        Ok(AxisPiece { range, relayout })
    }
}

/// The most pieces: as [`Relayout::partition`] has.
const MOST_PIECES: usize = 16_384;

/// The most parts of all their plans together: a hundred bytes each, or more.
const MOST_PARTS: usize = 1 << 16;

/// How many indices of an axis share a tile: 1 if it is not cut.
fn tile(map: &IndexMap, axis: usize) -> u64 {
    let own = map.components().iter().find(|component| component.dims() == [axis]);
    match own.map(|component| component.chain.digits()) {
        Some([top, _, ..]) => top.divisor.get(),
        _ => 1,
    }
}
