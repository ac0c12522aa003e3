//! Parts of a tensor: slices with a step, one index of an axis, splits, sliding windows.

use std::ops::{Range, RangeFrom, RangeFull, RangeTo};
use std::str::FromStr;

use smallvec::SmallVec;

use crate::checked::{self, Dims};
use crate::error::Error;
use crate::strided::BufferTensorDesc;

/// Which indices of one axis a slice keeps: from `start` up to but not including `end`, every
/// `step`-th.
///
/// ```
/// use tensor_layout::strided::Slice;
///
/// assert_eq!(Slice::from(2..9).step_by(3), Slice { start: 2, end: Some(9), step: 3 });
/// assert_eq!(Slice::from(..), Slice::ALL);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slice {
    /// The first index.
    pub start: u64,
    /// One past the last index there may be; `None` for the size of the axis.
    pub end: Option<u64>,
    /// From one index to the next; at least 1. (Strides are unsigned: there is no walking backwards.)
    pub step: u64,
}

impl Slice {
    /// The whole axis.
    pub const ALL: Slice = Slice { start: 0, end: None, step: 1 };

    /// The same range with another step.
    #[must_use]
    pub const fn step_by(self, step: u64) -> Slice {
        Slice { step, ..self }
    }
}

impl From<Range<u64>> for Slice {
    fn from(range: Range<u64>) -> Self {
        Slice { start: range.start, end: Some(range.end), step: 1 }
    }
}

impl From<RangeFrom<u64>> for Slice {
    fn from(range: RangeFrom<u64>) -> Self {
        Slice { start: range.start, ..Slice::ALL }
    }
}

impl From<RangeTo<u64>> for Slice {
    fn from(range: RangeTo<u64>) -> Self {
        Slice { end: Some(range.end), ..Slice::ALL }
    }
}

impl From<RangeFull> for Slice {
    fn from(_: RangeFull) -> Self {
        Slice::ALL
    }
}

impl FromStr for Slice {
    type Err = Error;

    /// Reads `start:end:step` as Python writes it, any of the three left out: `2:9:3`, `:5`, `::2`, `:`. A single
    /// number is that one index. Nothing counts from the end.
    ///
    /// ```
    /// use tensor_layout::strided::Slice;
    ///
    /// assert_eq!("2:9:3".parse(), Ok(Slice::from(2..9).step_by(3)));
    /// assert_eq!("::2".parse(), Ok(Slice::ALL.step_by(2)));
    /// assert_eq!("4".parse(), Ok(Slice::from(4..5)));
    /// assert_eq!("1:-1".parse::<Slice>().unwrap_err().column(), Some(3));
    /// ```
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut column = 1_usize;
        let mut numbers: SmallVec<[Option<u64>; 4]> = SmallVec::new();
        for part in text.split(':') {
            let wrong = |expected: &str| Error::Parse {
                text: text.to_owned(),
                column,
                expected: expected.to_owned(),
                found: if part.is_empty() { String::from("nothing") } else { format!("`{part}`") },
            };
            if numbers.len() == 3 {
                return Err(wrong("at most start, end and step"));
            }
            // `parse` would take a leading plus sign.
            let digits = part.bytes().all(|byte| byte.is_ascii_digit());
            numbers.push(match part {
                "" if text.is_empty() => return Err(wrong("a slice such as 2:9, ::2 or 4")),
                "" => None,
                _ if !digits => return Err(wrong("a number")),
                _ => Some(part.parse().map_err(|_| wrong("a number below 2^64"))?),
            });
            column = column.saturating_add(part.len()).saturating_add(1);
        }
        let slot = |position: usize| numbers.get(position).copied().flatten();
        let start = slot(0).unwrap_or(0);
        let end = if numbers.len() == 1 { Some(start.saturating_add(1)) } else { slot(1) };
        Ok(Slice { start, end, step: slot(2).unwrap_or(1) })
    }
}

impl BufferTensorDesc {
    /// The part that `slices` keep, one for each axis.
    ///
    /// The part begins at a [`base_offset`](Self::base_offset); its minimum size still counts from the
    /// start of the buffer.
    ///
    /// # Errors
    ///
    /// [`Error::RankMismatch`]; [`Error::IndexOutOfRange`] if a start or an end lies past the size;
    /// [`Error::OutOfLimits`] for a step of 0 or an end before its start.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::packed(DataType::F32, &[4, 10])?;
    /// let part = desc.slice(&[(1..3).into(), (2..9).into()])?;
    /// assert_eq!((part.sizes(), part.strides(), part.base_offset()), (&[2, 7][..], &[10, 1][..], 12));
    /// let thinned = desc.slice_axis(1, tensor_layout::strided::Slice::from(1..).step_by(4))?;
    /// assert_eq!((thinned.sizes(), thinned.strides(), thinned.base_offset()), (&[4, 3][..], &[10, 4][..], 1));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn slice(&self, slices: &[Slice]) -> Result<Self, Error> {
        if slices.len() != self.rank() {
            return Err(Error::RankMismatch { what: "slices", expected: self.rank(), found: slices.len() });
        }
        let (mut sizes, mut strides) = (Dims::from_slice(self.sizes()), Dims::from_slice(self.strides()));
        let mut base = self.base_offset();
        for (axis, ((size, stride), &slice)) in sizes.iter_mut().zip(&mut strides).zip(slices).enumerate() {
            keep(axis, slice, size, stride, &mut base)?;
        }
        self.part(sizes, strides, base)
    }

    fn part(&self, sizes: Dims, strides: Dims, base: u64) -> Result<Self, Error> {
        // An empty part lies nowhere: leave its base where it is.
        let base = if sizes.contains(&0) { self.base_offset() } else { base };
        self.build_view(self.data_type(), sizes, strides, base)
    }

    /// [`slice`](Self::slice) of one axis.
    ///
    /// # Errors
    ///
    /// [`Error::AxisOutOfRange`], and as for [`slice`](Self::slice).
    pub fn slice_axis(&self, axis: usize, slice: impl Into<Slice>) -> Result<Self, Error> {
        let (mut sizes, mut strides) = (Dims::from_slice(self.sizes()), Dims::from_slice(self.strides()));
        let mut base = self.base_offset();
        let (Some(size), Some(stride)) = (sizes.get_mut(axis), strides.get_mut(axis)) else {
            return Err(Error::AxisOutOfRange { axis, rank: self.rank() });
        };
        keep(axis, slice.into(), size, stride, &mut base)?;
        self.part(sizes, strides, base)
    }

    /// One index of an axis, which disappears.
    ///
    /// # Errors
    ///
    /// [`Error::AxisOutOfRange`] or [`Error::IndexOutOfRange`].
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let row = BufferTensorDesc::packed(DataType::F32, &[4, 10])?.select(0, 3)?;
    /// assert_eq!((row.sizes(), row.strides(), row.base_offset()), (&[10][..], &[1][..], 30));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn select(&self, axis: usize, index: u64) -> Result<Self, Error> {
        let (size, _) = self.axis(axis)?;
        if index >= size {
            return Err(Error::IndexOutOfRange { axis, index, size });
        }
        let one = self.slice_axis(axis, index..index.saturating_add(1))?;
        one.view_of(one.axes().enumerate().filter(|&(a, _)| a != axis).map(|(_, pair)| pair))
    }

    /// The parts of the tensor along an axis, of these lengths one after the other.
    ///
    /// # Errors
    ///
    /// [`Error::AxisOutOfRange`], or [`Error::SizeMismatch`] if the lengths do not add up to the size.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let qkv = BufferTensorDesc::packed(DataType::F16, &[8, 96])?;
    /// let parts = qkv.split(1, &[32, 32, 32])?;
    /// assert_eq!(parts.iter().map(|p| p.base_offset()).collect::<Vec<_>>(), [0, 32, 64]);
    /// assert_eq!((parts[2].sizes(), parts[2].strides()), (&[8, 32][..], &[96, 1][..]));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn split(&self, axis: usize, lengths: &[u64]) -> Result<Vec<Self>, Error> {
        let (size, _) = self.axis(axis)?;
        let mut total = 0;
        for &length in lengths {
            total = checked::add(total, length, checked::ELEMENTS)?;
        }
        if total != size {
            return Err(Error::SizeMismatch { axis, expected: total, found: size });
        }
        let mut start = 0_u64;
        let part = |&length: &u64| {
            let end = start.saturating_add(length);
            let part = self.slice_axis(axis, start..end);
            start = end;
            part
        };
        lengths.iter().map(part).collect()
    }

    /// Windows that slide along an axis, `step` indices from one to the next: the axis then counts
    /// windows, and a new last axis of size `length` counts within one. What a convolution reads.
    ///
    /// # Errors
    ///
    /// [`Error::AxisOutOfRange`]; [`Error::OutOfLimits`] for a length or a step of 0, or a length above the size.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::packed(DataType::F32, &[2, 10])?.windows(1, 4, 3)?;
    /// assert_eq!((desc.sizes(), desc.strides()), (&[2, 3, 4][..], &[10, 3, 1][..]));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn windows(&self, axis: usize, length: u64, step: u64) -> Result<Self, Error> {
        let (size, stride) = self.axis(axis)?;
        if length == 0 || length > size {
            return Err(Error::OutOfLimits { what: "the length of a window", value: length, min: 1, max: size });
        }
        if step == 0 {
            return Err(Error::OutOfLimits { what: "the step of a window", value: 0, min: 1, max: u64::MAX });
        }
        let last_start = size.saturating_sub(length);
        let starts = self.slice_axis(axis, Slice::from(..last_start.saturating_add(1)).step_by(step))?;
        self.view_of(starts.axes().chain([(length, stride)]))
    }
}

/// Narrows one axis to a slice of it.
fn keep(axis: usize, slice: Slice, size: &mut u64, stride: &mut u64, base: &mut u64) -> Result<(), Error> {
    let end = slice.end.unwrap_or(*size);
    if slice.start > *size || end > *size {
        return Err(Error::IndexOutOfRange { axis, index: slice.start.max(end), size: *size });
    }
    let Some(length) = end.checked_sub(slice.start) else {
        return Err(Error::OutOfLimits { what: "the end of a slice", value: end, min: slice.start, max: *size });
    };
    if slice.step == 0 {
        return Err(Error::OutOfLimits { what: "the step of a slice", value: 0, min: 1, max: u64::MAX });
    }
    let kept = if slice.step == 1 { length } else { length.div_ceil(slice.step) };
    // Neither saturates where it counts: both lie within the span of the axis, which invariant 3 of
    // the descriptor bounds. Of an empty tensor, base and strides are never used.
    if kept > 0 {
        *base = base.saturating_add(slice.start.saturating_mul(*stride));
    }
    if kept > 1 {
        *stride = stride.saturating_mul(slice.step);
    }
    *size = kept;
    Ok(())
}
