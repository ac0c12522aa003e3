//! `PartsCopy`: a copy to or from a named layout of several parts.
//!
//! The parts are copied one after the other: each copy moves the elements that a part of one side and a part
//! of the other have in common. Groups of scales and then values are copied [at once](super::group_copy).

use tensor_layout::checked;
use tensor_layout::plan::Code;
use tensor_layout::relayout::{Piece, Relayout, Settings};
use tensor_layout::{Error, ToIndexMap};

use crate::part::{Part, common};

use super::group_copy::GroupCopy;
use super::{NamedLayout, refused, repack};

/// The bytes of a piece. Parts may share every cache line, so they are cut into pieces, and all parts of a
/// piece are copied before the next. Source and destination of a piece fit a cache of the second level.
const PIECE: usize = 128 << 10;

/// A copy to or from a named layout of several parts, as [`NamedLayout::copy_from`],
/// [`NamedLayout::copy_to`] and [`NamedLayout::copy_to_named`] return it.
#[derive(Debug, Clone)]
pub struct PartsCopy {
    source_bytes: u64,
    destination_bytes: u64,
    /// The pieces of each copy, and the bits of each byte that it flips.
    copies: Vec<(Vec<Piece>, u8)>,
    /// The copy of all groups instead, and whether it is to their rows.
    groups: Option<(GroupCopy, bool)>,
}

impl NamedLayout {
    /// Returns the copy to this layout, of any number of parts, from a layout of the same sizes. It also
    /// flips the bits that [differ](Part::flip).
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
        let source = self.beside(source)?;
        self.in_groups(&source, false).map_or_else(|| PartsCopy::new(&source, &self.parts), Ok)
    }

    /// Returns the copy from this layout to a layout of the same sizes; see [`copy_from`](Self::copy_from).
    /// The gaps of the destination are kept.
    ///
    /// # Errors
    ///
    /// The errors of [`copy_from`](Self::copy_from).
    pub fn copy_to(&self, destination: &(impl ToIndexMap + ?Sized)) -> Result<PartsCopy, Error> {
        let destination = self.beside(destination)?;
        self.in_groups(&destination, true).map_or_else(|| PartsCopy::new(&self.parts, &destination), Ok)
    }

    /// Returns the copy from this layout to another named one, of which both may have several parts.
    ///
    /// # Errors
    ///
    /// `data_type_mismatch` for other elements or blocks, and the errors of [`copy_from`](Self::copy_from).
    ///
    /// ```
    /// use tensor_layout_text::named::NamedLayout;
    ///
    /// let fours: NamedLayout = "ggml.q4_0x4<4>:q4_0[8,32]".parse()?;
    /// let eights: NamedLayout = "ggml.q4_0x8:q4_0[8,32]".parse()?;
    /// let mut group = vec![0; 144];
    /// fours.copy_to_named(&eights)?.run(&(0..144).collect::<Vec<u8>>(), &mut group)?;
    /// // The scales of the first four rows, those of the others, and 4 of the 8 bytes of row 0.
    /// assert_eq!(group[..20], [0, 1, 2, 3, 4, 5, 6, 7, 72, 73, 74, 75, 76, 77, 78, 79, 8, 9, 10, 11]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn copy_to_named(&self, other: &NamedLayout) -> Result<PartsCopy, Error> {
        if self.type_name() != other.type_name() {
            return Err(Error::data_type_mismatch(other.type_name(), self.type_name()));
        }
        check_sizes(self.sizes(), other.sizes())?;
        PartsCopy::new(&self.parts, &other.parts)
    }

    /// Returns the copy of all groups, if they and the other side have the form that is copied at once.
    fn in_groups(&self, [other]: &[Part; 1], to_rows: bool) -> Option<PartsCopy> {
        let values = self.row.values(self.data_type, &self.sizes, &self.numbers);
        let form = repack::scales_then_values(self.row.memory.strip_prefix("group of ")?, &values)?;
        let groups = Some((GroupCopy::new(form, self.row.flip, &other.map)?, to_rows));
        let (own, others) = (self.size_in_bytes(), other.map.physical_size_in_bytes());
        let (source_bytes, destination_bytes) = if to_rows { (own, others) } else { (others, own) };
        Some(PartsCopy { source_bytes, destination_bytes, copies: Vec::new(), groups })
    }

    /// Returns the one part of a layout of the same sizes.
    fn beside(&self, other: &(impl ToIndexMap + ?Sized)) -> Result<[Part; 1], Error> {
        let other = other.to_index_map()?;
        check_sizes(self.sizes(), other.sizes())?;
        Ok([Part::whole(other)])
    }
}

fn check_sizes(expected: &[u64], sizes: &[u64]) -> Result<(), Error> {
    if sizes.len() != expected.len() {
        let reason = format!("one side has {} axes and the other {}", expected.len(), sizes.len());
        return Err(Error::not_expressible("copy", reason));
    }
    let mut sizes = sizes.iter().zip(expected).enumerate();
    match sizes.find(|(_, (size, expected))| size != expected) {
        Some((axis, (&size, &expected))) => Err(Code::SizeMismatch.at(axis, size, expected)),
        None => Ok(()),
    }
}

impl PartsCopy {
    /// Returns the copy of each pair of parts that have indices in common.
    fn new(from: &[Part], to: &[Part]) -> Result<PartsCopy, Error> {
        let bytes = |parts: &[Part]| parts.iter().map(|part| part.map.physical_size_in_bytes()).max().unwrap_or(0);
        let (source_bytes, destination_bytes) = (bytes(from), bytes(to));
        let settings = Settings { least_piece: Some(1), ..Settings::default() };
        let pieces = usize::try_from(destination_bytes).unwrap_or(usize::MAX).div_ceil(PIECE).max(1);
        let copy = |(part, runs, other): (&Part, Vec<_>, &Part)| {
            let (from, to) = (part.map_of(&runs)?, other.map_of(&runs)?);
            let flip = part.flip ^ other.flip;
            if flip != 0 && to.element_bits() != 8 {
                return Err(refused(format!("elements of {} bits have no bits that are flipped", to.element_bits())));
            }
            Ok((Relayout::with(&from, &to, &settings)?.partition(pieces, 1)?, flip))
        };
        let copies = common(from, to).map(copy).collect::<Result<_, Error>>()?;
        Ok(PartsCopy { source_bytes, destination_bytes, copies, groups: None })
    }

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

    /// Copies every part.
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
        if let Some((groups, to_rows)) = &self.groups {
            let copied = groups.run(source, destination, *to_rows);
            return copied.ok_or_else(|| Error::overflow("an offset of the copy", usize::BITS));
        }
        let most = self.copies.iter().map(|(pieces, _)| pieces.len()).max().unwrap_or(0);
        for number in 0..most {
            for (piece, flip) in self.copies.iter().filter_map(|(pieces, flip)| Some((pieces.get(number)?, *flip))) {
                let range = piece.destination_range();
                let end = range.end.min(destination.len());
                let own = destination.get_mut(range.start.min(end)..end).unwrap_or_default();
                // What the piece does not write is flipped twice, and stays.
                flip_bits(own, flip);
                piece.run(source, &mut *own)?;
                flip_bits(own, flip);
            }
        }
        Ok(())
    }
}

fn flip_bits(bytes: &mut [u8], flip: u8) {
    if flip != 0 {
        bytes.iter_mut().for_each(|byte| *byte ^= flip);
    }
}
