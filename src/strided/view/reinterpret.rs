//! Reads the bytes of a tensor as elements of another type.

use crate::checked::{self, Dims, Exact, OFFSET};
use crate::element::DataType;
use crate::error::Error;
use crate::strided::BufferTensorDesc;
use crate::strided::axis_list::AxisList;
use alloc::format;
use alloc::string::String;

const OPERATION: &str = "reading the bytes as another type";

impl BufferTensorDesc {
    /// Returns a view of the bytes as elements of `data_type`. With a narrower type the last axis grows, and
    /// with a wider type it shrinks (NumPy's `view`). With a type of equal width only the type changes.
    ///
    /// # Errors
    ///
    /// `not_a_view` if the elements of the last axis are not contiguous, or do not fill whole wider
    /// elements at aligned offsets. `unsupported_element_bits` if neither width divides
    /// the other. `bad_alignment` if the promised alignment is below the wider element.
    /// `overflow` if a size or an offset in narrower elements passes 64 bits.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let words = BufferTensorDesc::new(DataType::U32, &[2, 3], Some(&[5, 1]))?;
    /// let halves = words.reinterpret(DataType::F16)?;
    /// assert_eq!((halves.sizes(), halves.strides()), (&[2, 6][..], &[10, 1][..]));
    /// assert_eq!(halves.min_size_in_bytes(), words.min_size_in_bytes());
    /// assert_eq!(halves.reinterpret(DataType::U32)?, words);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn reinterpret(&self, data_type: DataType) -> Result<Self, Error> {
        let (from, to) = (self.data_type().bits(), data_type.bits());
        if from == to {
            return self.build_view(data_type, self.axis_list().clone(), self.base_offset());
        }
        let Some(last) = self.rank().checked_sub(1) else {
            let reason = String::from("is missing: a tensor of rank 0 has no axis whose size could change");
            return Err(Error::not_a_view(OPERATION, 0, reason));
        };
        let (size, stride) = self.axis(last)?;
        let mut sizes = Dims::from_slice(self.sizes());
        if from > to {
            let split = self.split_elements(data_type)?;
            if let Some(slot) = sizes.last_mut() {
                let parts = split.sizes().last().copied().unwrap_or(1);
                *slot = checked::mul(size, parts, checked::ELEMENTS)?;
            }
            return split.regroup(OPERATION, &sizes);
        }
        let parts = ratio(to, from)?;
        if size > 1 && stride != 1 {
            let reason = format!("has stride {stride}, so that its elements are not next to each other");
            return Err(Error::not_a_view(OPERATION, last, reason));
        }
        let wide = size.divided_by(parts);
        if wide.checked_mul(parts) != Some(size) {
            let reason = format!("has size {size}, which does not fill whole elements of {parts} each");
            return Err(Error::not_a_view(OPERATION, last, reason));
        }
        if let Some(slot) = sizes.last_mut() {
            *slot = wide;
        }
        sizes.push(parts);
        self.regroup(OPERATION, &sizes)?.join_elements(data_type)
    }

    /// Returns a view of the bytes as narrower elements. A new last axis counts the narrower elements
    /// inside one element of this tensor: a `u32` becomes two `u16`, the low half first. This is possible
    /// for all strides.
    ///
    /// # Errors
    ///
    /// `unsupported_element_bits` if the new width does not divide this width.
    /// `overflow` if a size or an offset in narrower elements passes 64 bits.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let repeated = BufferTensorDesc::new(DataType::C64, &[2, 3], Some(&[0, 4]))?;
    /// let parts = repeated.split_elements(DataType::F32)?;
    /// assert_eq!((parts.sizes(), parts.strides()), (&[2, 3, 2][..], &[0, 8, 1][..]));
    /// assert_eq!(parts.join_elements(DataType::C64)?, repeated);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    fn split_elements(&self, data_type: DataType) -> Result<Self, Error> {
        let parts = ratio(self.data_type().bits(), data_type.bits())?;
        let mut list = AxisList::EMPTY;
        for (size, stride) in self.axes() {
            list.push(size, scaled(size, stride, parts)?);
        }
        list.push(parts, 1);
        self.build_view(data_type, list, checked::mul(self.base_offset(), parts, OFFSET)?)
    }

    /// Returns a view of the bytes as wider elements. The last axis of this tensor disappears, because it
    /// becomes one element. This is the inverse of [`split_elements`](Self::split_elements).
    ///
    /// # Errors
    ///
    /// `not_a_view` if the last axis does not fill exactly one wider element, if its elements are not
    /// contiguous, or if a wider element would begin at an offset that is not a multiple of its width.
    /// `unsupported_element_bits` if the width does not divide the new width.
    /// `bad_alignment` if the promised alignment is below the wider element.
    fn join_elements(&self, data_type: DataType) -> Result<Self, Error> {
        let parts = ratio(data_type.bits(), self.data_type().bits())?;
        let refuse = |axis, reason| Err(Error::not_a_view(OPERATION, axis, reason));
        let last = self.rank().saturating_sub(1);
        match self.axes().next_back() {
            Some((size, stride)) if size == parts && (stride == 1 || parts == 1) => {}
            Some((size, stride)) => {
                return refuse(last, format!("is {size}:{stride}, but one wider element is {parts}:1"));
            }
            None => return refuse(0, String::from("is missing: rank 0 has no axis to join")),
        }
        let base = self.base_offset();
        if !base.is_multiple_of(parts) {
            return refuse(last, format!("begins at element {base}, which is not a multiple of {parts}"));
        }
        let mut list = AxisList::EMPTY;
        for (axis, (size, stride)) in self.axes().take(last).enumerate() {
            if size > 1 && !stride.is_multiple_of(parts) {
                return refuse(axis, format!("has stride {stride}, which is not a multiple of {parts}"));
            }
            list.push(size, stride.checked_div(parts).unwrap_or(stride));
        }
        self.build_view(data_type, list, base.checked_div(parts).unwrap_or(base))
    }
}

/// The number of narrow elements in a wide element.
fn ratio(wide: u32, narrow: u32) -> Result<u64, Error> {
    match wide.checked_div(narrow) {
        Some(parts) if wide.is_multiple_of(narrow) => Ok(parts.into()),
        _ => Err(Error::unsupported_bits(narrow, "widths that divide the other one")),
    }
}

/// Converts a stride to narrower elements. A stride that no element uses may be too large, and
/// then becomes 0.
fn scaled(size: u64, stride: u64, parts: u64) -> Result<u64, Error> {
    match stride.checked_mul(parts) {
        Some(stride) => Ok(stride),
        None if size <= 1 => Ok(0),
        None => checked::mul(stride, parts, OFFSET),
    }
}
