//! `Slice` is `start:end:step` of one axis. `slice`, `slice_axis` and `select` make views with it.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::ops::{Deref, Range, RangeFrom, RangeFull, RangeTo};
use core::str::FromStr;

use smallvec::SmallVec;

use crate::checked::Proven;
use crate::cursor::Cursor;
use crate::error::{Code, Error};
use crate::typed_sizes::write_list;

use super::desc::BufferTensorDesc;
use super::numbers::{Integer, index_of};

/// The indices of one axis that a slice keeps: every `step`-th index from `start` up to but not
/// including `end`.
///
/// The text is Python's `start:end:step`. Each of the three numbers may be left out: `2:9:3`, `:5`, `::2`,
/// `:`. A single number keeps this one index, and the axis stays, with size 1. Negative numbers, which count
/// from the end in Python, are not allowed.
///
/// ```
/// use tensor_layout::strided::Slice;
///
/// assert_eq!(Slice::from(2..9).step_by(3), Slice { start: 2, end: Some(9), step: 3 });
/// assert_eq!(Slice::from(..), Slice::ALL);
/// assert_eq!("2:9:3".parse(), Ok(Slice::from(2..9).step_by(3)));
/// assert_eq!("::2".parse(), Ok(Slice::ALL.step_by(2)));
/// assert_eq!("4".parse(), Ok(Slice::from(4..5)));
/// assert_eq!(Slice::from(4..).to_string(), "4:");
/// assert_eq!("1:-1".parse::<Slice>().unwrap_err().column(), Some(3));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slice {
    /// The first index.
    pub start: u64,
    /// The end of the range: the slice keeps smaller indices only. `None` stands for the size of the axis.
    pub end: Option<u64>,
    /// The distance between neighbouring indices, at least 1. Strides are unsigned, so no step
    /// walks backwards.
    pub step: u64,
}

/// A slice of an axis with a known size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taken {
    /// The first index, at most the size of the axis.
    pub(crate) start: u64,
    /// The distance between neighbouring indices, at least 1.
    pub(crate) step: u64,
    /// The number of indices.
    pub(crate) length: u64,
}

impl Slice {
    /// The whole axis.
    pub const ALL: Slice = Slice { start: 0, end: None, step: 1 };

    /// Returns this range with another step.
    #[must_use]
    pub const fn step_by(self, step: u64) -> Slice {
        Slice { step, ..self }
    }

    /// Returns the indices that the slice keeps of an axis of this size.
    #[inline]
    pub(crate) fn on_axis(self, axis: usize, size: u64) -> Result<Taken, Error> {
        let end = self.end.unwrap_or(size);
        if self.start <= end && end <= size && self.step > 0 {
            let span = end.minus(self.start);
            let length = if self.step == 1 { span } else { span.div_ceil(self.step) };
            return Ok(Taken { start: self.start, step: self.step, length });
        }
        Err(self.refusal(axis, size))
    }

    #[cold]
    fn refusal(self, axis: usize, size: u64) -> Error {
        let end = self.end.unwrap_or(size);
        if self.step == 0 {
            return Error::out_of_limits("the step of a slice", 0, 1, u64::MAX);
        }
        if self.start > size {
            return Code::IndexOutOfRange.on_axis(axis, self.start, size);
        }
        if end > size {
            return Code::IndexOutOfRange.on_axis(axis, end.minus(1), size);
        }
        Error::out_of_limits("the end of a slice", end, self.start, size)
    }

    fn read(cursor: &mut Cursor<'_>) -> Result<Slice, Error> {
        let optional = |cursor: &mut Cursor<'_>| match cursor.peek() {
            Some(digit) if digit.is_ascii_digit() => cursor.number("a number").map(Some),
            None | Some(b':' | b',' | b']') => Ok(None),
            _ => Err(cursor.error("a number, `:` or the end of the slice")),
        };
        let at = cursor.position();
        let start = optional(cursor)?;
        if !cursor.eat(":") {
            let index = start.ok_or_else(|| cursor.error("a slice such as 2:9, ::2 or 4"))?;
            let end = index.checked_add(1).ok_or_else(|| cursor.error_at(at, "an index below 2^64 - 1"))?;
            return Ok(Slice::from(index..end));
        }
        let end = optional(cursor)?;
        let step = if cursor.eat(":") { optional(cursor)? } else { None };
        Ok(Slice { start: start.unwrap_or(0), end, step: step.unwrap_or(1) })
    }
}

fn index<T: TryInto<u64>>(number: T) -> u64 {
    number.try_into().unwrap_or(u64::MAX)
}

impl<T: TryInto<u64>> From<Range<T>> for Slice {
    fn from(range: Range<T>) -> Self {
        Slice { start: index(range.start), end: Some(index(range.end)), step: 1 }
    }
}

impl<T: TryInto<u64>> From<RangeFrom<T>> for Slice {
    fn from(range: RangeFrom<T>) -> Self {
        Slice { start: index(range.start), ..Slice::ALL }
    }
}

impl<T: TryInto<u64>> From<RangeTo<T>> for Slice {
    fn from(range: RangeTo<T>) -> Self {
        Slice { end: Some(index(range.end)), ..Slice::ALL }
    }
}

impl From<RangeFull> for Slice {
    fn from(_: RangeFull) -> Self {
        Slice::ALL
    }
}

impl FromStr for Slice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut cursor = Cursor::new(text);
        let slice = Slice::read(&mut cursor)?;
        cursor.end("nothing more than start, end and step")?;
        Ok(slice)
    }
}

impl fmt::Display for Slice {
    /// Writes `2:9:3`. A start of 0, an end of `None` and a step of 1 are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.start != 0 {
            write!(f, "{}", self.start)?;
        }
        f.write_str(":")?;
        if let Some(end) = self.end {
            write!(f, "{end}")?;
        }
        if self.step == 1 { Ok(()) } else { write!(f, ":{}", self.step) }
    }
}

/// A slice for each axis, with the text `[8:16,0:128]`. The brackets may be left out, except in the text
/// `[]` for no axes.
///
/// ```
/// use tensor_layout::{strided::Slices, BufferTensorDesc, DataType};
///
/// let slices: Slices = "8:16,::2".parse()?;
/// assert_eq!(slices.to_string(), "[8:16,::2]");
/// let part = BufferTensorDesc::packed(DataType::F32, &[16, 256])?.slice(&slices)?;
/// assert_eq!(part.to_string(), "f32[8,128]:[256,2]+2048");
/// assert_eq!("[8:16,x]".parse::<Slices>().unwrap_err().column(), Some(7));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Slices(Vec<Slice>);

impl Deref for Slices {
    type Target = [Slice];

    fn deref(&self) -> &[Slice] {
        &self.0
    }
}

impl From<Vec<Slice>> for Slices {
    fn from(slices: Vec<Slice>) -> Slices {
        Slices(slices)
    }
}

impl From<Slices> for Vec<Slice> {
    fn from(slices: Slices) -> Vec<Slice> {
        slices.0
    }
}

impl FromIterator<Slice> for Slices {
    fn from_iter<I: IntoIterator<Item = Slice>>(slices: I) -> Slices {
        Slices(slices.into_iter().collect())
    }
}

impl FromStr for Slices {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut cursor = Cursor::new(text);
        let slices = if cursor.eat("[") {
            cursor.list("]", Slice::read)?
        } else {
            let mut slices = vec![Slice::read(&mut cursor)?];
            while cursor.eat(",") {
                slices.push(Slice::read(&mut cursor)?);
            }
            slices
        };
        cursor.end("`,` and another slice, or nothing more")?;
        Ok(Slices(slices))
    }
}

impl fmt::Display for Slices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, self.iter())
    }
}

impl BufferTensorDesc {
    /// Returns the part of the tensor that `slices` keep. There is one slice for each axis.
    ///
    /// The part begins at a [`base_offset`](Self::base_offset). Its minimum size still counts from the
    /// start of the buffer. It [owns](crate::strided::GapOwner) the gaps between its elements if the tensor
    /// owned them and no element that was left out lies between them.
    ///
    /// **Post-condition** (`slice_keeps_the_offsets_of_its_indices`): index `i` of the part has the offset of
    /// the index `start + i * step`.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` if there is not one slice for each axis. `index_out_of_range` if a start or an end is
    /// past the size. `out_of_limits` for a step of 0 or an end before its start.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::packed(DataType::F32, &[4, 10])?;
    /// let part = desc.slice(&[1..3, 2..9])?;
    /// assert_eq!((part.sizes(), part.strides(), part.base_offset()), (&[2, 7][..], &[10, 1][..], 12));
    /// let thinned = desc.slice_axis(1, tensor_layout::strided::Slice::from(1..).step_by(4))?;
    /// assert_eq!((thinned.sizes(), thinned.strides(), thinned.base_offset()), (&[4, 3][..], &[10, 4][..], 1));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn slice<S: Clone + Into<Slice>>(&self, slices: &[S]) -> Result<Self, Error> {
        if slices.len() != self.rank() {
            return Err(Error::rank_mismatch("slices", self.rank(), slices.len()));
        }
        let axes = slices.iter().zip(&self.sizes).enumerate();
        let taken: SmallVec<[Taken; 8]> =
            axes.map(|(axis, (slice, &size))| slice.clone().into().on_axis(axis, size)).collect::<Result<_, _>>()?;
        self.sliced(&|axis| taken.get(axis).copied())
    }

    /// Returns the part that a [`slice`](Self::slice) of one axis keeps.
    ///
    /// # Errors
    ///
    /// `axis_out_of_range`, and the errors of [`slice`](Self::slice).
    pub fn slice_axis(&self, axis: usize, slice: impl Into<Slice>) -> Result<Self, Error> {
        let (size, _) = self.axis(axis)?;
        let taken = slice.into().on_axis(axis, size)?;
        self.sliced(&|other| (other == axis).then_some(taken))
    }

    fn sliced(&self, taken: &dyn Fn(usize) -> Option<Taken>) -> Result<Self, Error> {
        let mut part = self.clone();
        let axes = part.sizes.iter_mut().zip(&mut part.strides).enumerate();
        let mut base = self.base_offset;
        for (axis, (size, stride)) in axes {
            let Some(taken) = taken(axis) else { continue };
            // Both results are within the span of the axis, which invariant 3 of the descriptor bounds. In an
            // empty tensor, base and strides are never used.
            if taken.length > 0 {
                base = base.plus(taken.start.times(*stride));
            }
            if taken.length > 1 {
                *stride = stride.times(taken.step);
            }
            *size = taken.length;
        }
        // An empty part has no first element, so its base offset does not change.
        if !part.sizes.contains(&0) {
            part.base_offset = base;
        }
        if part.sizes != self.sizes && self.elements > 0 {
            part.owns = self.owned_by_slice(taken);
        }
        part.explicit_strides = true;
        part.measure()?;
        Ok(part)
    }

    /// Returns the elements with one index of an axis. The axis disappears.
    ///
    /// **Post-condition** (`select_keeps_one_index`): index `i` of the view has the offset of `i` with
    /// `index` inserted at `axis`.
    ///
    /// # Errors
    ///
    /// `axis_out_of_range` and `index_out_of_range`.
    pub fn select(&self, axis: usize, index: impl Integer) -> Result<Self, Error> {
        let (size, _) = self.axis(axis)?;
        let index = index_of(index);
        if index >= size {
            return Err(Code::IndexOutOfRange.on_axis(axis, index, size));
        }
        let mut one = self.slice_axis(axis, index..index.plus(1))?;
        one.sizes.remove(axis);
        one.strides.remove(axis);
        one.measure()?;
        Ok(one)
    }
}
