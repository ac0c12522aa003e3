//! `PartsCopy`: a copy to or from a named layout of several parts.
//!
//! Repacked blocks are copied [group by group](super::groups). Otherwise each part is a copy of its own,
//! between the part and the slice of the other side that has its indices. The parts of a repacked tensor of
//! blocks share every cache line: the scales of a group of rows lie between its values. So the parts are
//! cut into pieces of about [`PIECE`] bytes, and all parts of a piece are copied before the next piece,
//! while its lines are in the cache.

use tensor_layout::checked;
use tensor_layout::plan::Code;
use tensor_layout::relayout::{Piece, Relayout, Settings};
use tensor_layout::{Error, ToIndexMap};

use super::NamedLayout;
use super::groups::Groups;

/// The bytes of a piece. Source and destination of a piece fit a cache of the second level.
const PIECE: usize = 128 << 10;

/// A copy to or from a named layout of several parts, as [`NamedLayout::copy_from`] and
/// [`NamedLayout::copy_to`] return it.
#[derive(Debug, Clone)]
pub struct PartsCopy {
    /// The copy group by group, if the layout has that form.
    groups: Option<Groups>,
    to_other: bool,
    /// The copies part by part, otherwise.
    parts: Vec<Vec<Piece>>,
    /// The bits that are flipped in every byte of the last part.
    flip: u8,
    source_bytes: u64,
    destination_bytes: u64,
}

impl NamedLayout {
    /// Returns the copy to this layout, of any number of parts, from a layout of the same sizes. It also
    /// flips the bits that [differ](super::Row::flip).
    ///
    /// # Errors
    ///
    /// `size_mismatch` for other sizes, and the errors of [`Relayout::new`].
    ///
    /// ```
    /// use tensor_layout::strided::BlockTensorDesc;
    /// use tensor_layout_text::named::NamedLayout;
    ///
    /// let rows: BlockTensorDesc = "q8_0[4,64]".parse()?;
    /// let repacked: NamedLayout = "ggml.q8_0x4<8>:q8_0[4,64]".parse()?;
    /// let source: Vec<u8> = (0..=255).chain(0..16).collect();
    /// let mut group = vec![0; 272];
    /// repacked.copy_from(&rows)?.run(&source, &mut group)?;
    /// // The scales of four rows, then 8 values of each row in turn.
    /// assert_eq!(group[..18], [0, 1, 68, 69, 136, 137, 204, 205, 2, 3, 4, 5, 6, 7, 8, 9, 70, 71]);
    /// let mut back = vec![0; 272];
    /// repacked.copy_to(&rows)?.run(&group, &mut back)?;
    /// assert_eq!(back, source);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn copy_from(&self, source: &(impl ToIndexMap + ?Sized)) -> Result<PartsCopy, Error> {
        self.copy(source, false)
    }

    /// Returns the copy from this layout to a layout of the same sizes; see [`copy_from`](Self::copy_from).
    /// The gaps of the destination are kept.
    ///
    /// # Errors
    ///
    /// The errors of [`copy_from`](Self::copy_from).
    pub fn copy_to(&self, destination: &(impl ToIndexMap + ?Sized)) -> Result<PartsCopy, Error> {
        self.copy(destination, true)
    }

    fn copy(&self, other: &(impl ToIndexMap + ?Sized), to_other: bool) -> Result<PartsCopy, Error> {
        let other = other.to_index_map()?;
        if other.sizes().len() != self.sizes().len() {
            let reason = format!("one side has {} axes and the other {}", self.sizes().len(), other.sizes().len());
            return Err(Error::not_expressible("copy", reason));
        }
        let mut sizes = other.sizes().iter().zip(self.sizes()).enumerate();
        if let Some((axis, (&size, &expected))) = sizes.find(|(_, (size, expected))| size != expected) {
            return Err(Code::SizeMismatch.at(axis, size, expected));
        }
        let settings = Settings { least_piece: Some(1), ..Settings::default() };
        let mut bytes = [self.size_in_bytes(), other.physical_size_in_bytes()];
        bytes.rotate_left(usize::from(to_other).saturating_add(1) & 1);
        let pieces = usize::try_from(self.size_in_bytes()).unwrap_or(usize::MAX).div_ceil(PIECE);
        let groups = Groups::of(&self.parts, &other);
        let mut parts = Vec::new();
        for part in self.parts.iter().filter(|_| groups.is_none()) {
            let view = other.slice(&part.slices)?;
            let (from, to) = if to_other { (&part.map, &view) } else { (&view, &part.map) };
            parts.push(Relayout::with(from, to, &settings)?.partition(pieces, 1)?);
        }
        let [source_bytes, destination_bytes] = bytes;
        Ok(PartsCopy { groups, to_other, parts, flip: self.row.flip, source_bytes, destination_bytes })
    }
}

impl PartsCopy {
    /// The size of the source, in bytes.
    #[must_use]
    pub fn source_size_in_bytes(&self) -> u64 {
        self.source_bytes
    }

    /// The size of the destination, in bytes.
    #[must_use]
    pub fn destination_size_in_bytes(&self) -> u64 {
        self.destination_bytes
    }

    /// Copies every part. A copy that flips bits needs a second source in memory.
    ///
    /// # Errors
    ///
    /// `buffer_too_short` for a source or a destination that is too short.
    pub fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<(), Error> {
        for (what, needed, found) in
            [("source", self.source_bytes, source.len()), ("destination", self.destination_bytes, destination.len())]
        {
            if checked::count(found) < needed {
                return Err(Error::buffer_too_short(what, needed, checked::count(found)));
            }
        }
        if let Some(groups) = &self.groups {
            return groups
                .run(source, destination, self.to_other, self.flip)
                .ok_or_else(|| Error::overflow("an offset of the copy", usize::BITS));
        }
        let flipped: Vec<u8> =
            if self.flip == 0 { Vec::new() } else { source.iter().map(|byte| byte ^ self.flip).collect() };
        let last = self.parts.len().saturating_sub(1);
        let most = self.parts.iter().map(Vec::len).max().unwrap_or(0);
        for number in 0..most {
            for (part, pieces) in self.parts.iter().enumerate() {
                let Some(piece) = pieces.get(number) else { continue };
                let source = if self.flip != 0 && part == last { &flipped } else { source };
                let range = piece.destination_range();
                let end = range.end.min(destination.len());
                piece.run(source, destination.get_mut(range.start.min(end)..end).unwrap_or_default())?;
            }
        }
        Ok(())
    }
}
