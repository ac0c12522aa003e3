//! `PartsCopy`: a copy to or from a named layout of several parts, or of groups of rows.
//!
//! Rows of blocks are copied [group by group](super::group_copy), and the parts of a layout one after the
//! other: each is a copy of its own, between the part and the slice of the other side that has its indices.
//! Where neither fits, a packed tensor in memory is in between: for two such layouts, and for blocks whose
//! bytes do not follow each other.

use tensor_layout::checked;
use tensor_layout::plan::Code;
use tensor_layout::relayout::{Piece, Relayout, Settings};
use tensor_layout::{BufferTensorDesc, DataType, Error, IndexMap, ToIndexMap};

use super::group_copy::GroupCopy;
use crate::layout::Part;

use super::{NamedLayout, refused};

/// The bytes of a piece. Parts may share every cache line, so they are cut into pieces, and all parts of a
/// piece are copied before the next. Source and destination of a piece fit a cache of the second level.
const PIECE: usize = 128 << 10;

/// A copy to or from a named layout of several parts, as [`NamedLayout::copy_from`],
/// [`NamedLayout::copy_to`] and [`NamedLayout::copy_to_named`] return it.
#[derive(Debug, Clone)]
pub struct PartsCopy {
    /// The copies, each to the source of the next.
    steps: Vec<Step>,
}

#[derive(Debug, Clone)]
struct Step {
    source_bytes: u64,
    destination_bytes: u64,
    how: How,
}

#[derive(Debug, Clone)]
enum How {
    Groups {
        copy: Box<GroupCopy>,
        to_rows: bool,
    },
    /// The copy of each part, in pieces.
    Parts(Vec<Vec<Piece>>),
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
        self.copy(&source.to_index_map()?, false)
    }

    /// Returns the copy from this layout to a layout of the same sizes; see [`copy_from`](Self::copy_from).
    /// The gaps of the destination are kept.
    ///
    /// # Errors
    ///
    /// The errors of [`copy_from`](Self::copy_from).
    pub fn copy_to(&self, destination: &(impl ToIndexMap + ?Sized)) -> Result<PartsCopy, Error> {
        self.copy(&destination.to_index_map()?, true)
    }

    /// Returns the copy from this layout to another named one, of which both may have several parts. A packed
    /// tensor in memory is in between.
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
        let packed = self.packed()?;
        let (there, on) = (self.copy_to(&packed)?, other.copy_from(&packed)?);
        Ok(PartsCopy { steps: [there.steps, on.steps].concat() })
    }

    fn copy(&self, other: &IndexMap, to_other: bool) -> Result<PartsCopy, Error> {
        if other.sizes().len() != self.sizes().len() {
            let reason = format!("one side has {} axes and the other {}", self.sizes().len(), other.sizes().len());
            return Err(Error::not_expressible("copy", reason));
        }
        let mut sizes = other.sizes().iter().zip(self.sizes()).enumerate();
        if let Some((axis, (&size, &expected))) = sizes.find(|(_, (size, expected))| size != expected) {
            return Err(Code::SizeMismatch.at(axis, size, expected));
        }
        let step = |here: &IndexMap, how: How| {
            let [source_bytes, destination_bytes] =
                in_order(self.size_in_bytes(), here.physical_size_in_bytes(), to_other);
            Step { source_bytes, destination_bytes, how }
        };
        let Some(group) = &self.group else {
            let settings = Settings { least_piece: Some(1), ..Settings::default() };
            let pieces = usize::try_from(self.size_in_bytes()).unwrap_or(usize::MAX).div_ceil(PIECE);
            let part = |part: &Part| {
                let [from, to] = in_order(part.map.clone(), other.slice(&part.indices)?, to_other);
                Relayout::with(&from, &to, &settings)?.partition(pieces, 1)
            };
            let parts = self.parts.iter().map(part).collect::<Result<_, _>>()?;
            return Ok(PartsCopy { steps: vec![step(other, How::Parts(parts))] });
        };
        // The packed tensor, and the same as bytes of blocks.
        let packed = self.packed()?.to_index_map()?;
        let blocks = match self.blocks() {
            Some(blocks) => blocks.to_index_map()?,
            None => {
                let length = group.bytes();
                let sizes = [1, self.size_in_bytes().checked_div(length).unwrap_or(0), length];
                BufferTensorDesc::packed(DataType::U8, &sizes)?.to_index_map()?
            }
        };
        let rows = if *other == packed { &blocks } else { other };
        let direct = if self.blocks().is_some() || *other == packed { GroupCopy::new(group, rows) } else { None };
        let (copy, is_direct) = match direct {
            Some(copy) => (copy, true),
            None => (GroupCopy::new(group, &blocks).ok_or_else(|| refused(format!("{self} has no copy")))?, false),
        };
        let mut steps = vec![step(
            if is_direct { other } else { &packed },
            How::Groups { copy: Box::new(copy), to_rows: to_other },
        )];
        if !is_direct {
            let [from, to] = in_order(&packed, other, to_other);
            let plan = Relayout::new(from, to)?;
            let (source_bytes, destination_bytes) = (plan.source_size_in_bytes(), plan.destination_size_in_bytes());
            let how = How::Parts(vec![plan.partition(1, 1)?]);
            steps.insert(usize::from(to_other), Step { source_bytes, destination_bytes, how });
        }
        Ok(PartsCopy { steps })
    }
}

/// Returns the two sides of a copy, the source first.
fn in_order<T>(named: T, other: T, to_other: bool) -> [T; 2] {
    if to_other { [named, other] } else { [other, named] }
}

impl PartsCopy {
    /// The size of the source, in bytes.
    #[must_use]
    pub fn source_size_in_bytes(&self) -> u64 {
        self.steps.first().map_or(0, |step| step.source_bytes)
    }

    /// The size of the destination, in bytes.
    #[must_use]
    pub fn destination_size_in_bytes(&self) -> u64 {
        self.steps.last().map_or(0, |step| step.destination_bytes)
    }

    /// Copies every part. A copy of several steps allocates the tensor in between.
    ///
    /// # Errors
    ///
    /// `buffer_too_short` for a source or a destination that is too short.
    pub fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<(), Error> {
        for (what, needed, found) in [
            ("source", self.source_size_in_bytes(), source.len()),
            ("destination", self.destination_size_in_bytes(), destination.len()),
        ] {
            if checked::count(found) < needed {
                return Err(Error::buffer_too_short(what, needed, checked::count(found)));
            }
        }
        let Some((last, before)) = self.steps.split_last() else { return Ok(()) };
        let mut between: Vec<u8> = Vec::new();
        for (number, step) in before.iter().enumerate() {
            let bytes = usize::try_from(step.destination_bytes)
                .map_err(|_| Error::overflow("an offset of the copy", usize::BITS))?;
            let mut next = vec![0; bytes];
            step.run(if number == 0 { source } else { &between }, &mut next)?;
            between = next;
        }
        last.run(if before.is_empty() { source } else { &between }, destination)
    }
}

impl Step {
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<(), Error> {
        let parts = match &self.how {
            How::Groups { copy, to_rows } => {
                let copied = copy.run(source, destination, *to_rows);
                return copied.ok_or_else(|| Error::overflow("an offset of the copy", usize::BITS));
            }
            How::Parts(parts) => parts,
        };
        for number in 0..parts.iter().map(Vec::len).max().unwrap_or(0) {
            for piece in parts.iter().filter_map(|pieces| pieces.get(number)) {
                let range = piece.destination_range();
                let end = range.end.min(destination.len());
                piece.run(source, destination.get_mut(range.start.min(end)..end).unwrap_or_default())?;
            }
        }
        Ok(())
    }
}
