//! Reads the bytes of a tensor as elements of another type.

use crate::checked::{self, Dims, OFFSET, Proven};
use crate::element::DataType;
use crate::error::{Code, Error};
use crate::strided::BufferTensorDesc;
use alloc::format;
use alloc::string::String;

const OPERATION: &str = "reading the bytes as another type";

impl BufferTensorDesc {
    /// Returns a view of the bytes as elements of `data_type`. With a narrower type the last axis grows, and
    /// with a wider type it shrinks (NumPy's `view`). With a type of equal width only the type changes.
    ///
    /// **Post-condition** (`reinterpreted_bytes_are_the_same_bytes`): the bytes of the elements, in the order
    /// of the indices, do not change.
    ///
    /// # Errors
    ///
    /// `not_a_view` if the elements of the last axis are not contiguous, or do not fill whole wider elements
    /// at aligned offsets. `unsupported_element_bits` if neither width divides the other. `bad_alignment` if
    /// the promised alignment is below the wider element. `overflow` past 64 bits.
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
            return self.of_type(data_type, self.sizes.clone(), self.strides.clone(), self.base_offset);
        }
        let Some(last) = self.rank().checked_sub(1) else {
            let reason = String::from("is missing: a tensor of rank 0 has no axis whose size could change");
            return Err(Code::NotAView.with_reason(OPERATION, reason).with_axis(0));
        };
        let (size, stride) = self.axis(last)?;
        let mut sizes = self.sizes.clone();
        if from > to {
            let split = self.split_elements(data_type)?;
            if let Some(slot) = sizes.last_mut() {
                let parts = split.sizes().last().copied().unwrap_or(1);
                *slot = checked::mul(size, parts, checked::ELEMENTS)?;
            }
            return split.regroup(OPERATION, sizes);
        }
        let parts = ratio(to, from)?;
        if size > 1 && stride != 1 {
            let reason = format!("has stride {stride}, so that its elements are not next to each other");
            return Err(Code::NotAView.with_reason(OPERATION, reason).with_axis(last));
        }
        let wide = size.divided_by(parts);
        if wide.checked_mul(parts) != Some(size) {
            let reason = format!("has size {size}, which does not fill whole elements of {parts} each");
            return Err(Code::NotAView.with_reason(OPERATION, reason).with_axis(last));
        }
        if let Some(slot) = sizes.last_mut() {
            *slot = wide;
        }
        sizes.push(parts);
        self.regroup(OPERATION, sizes)?.join_elements(data_type, parts)
    }

    fn of_type(&self, data_type: DataType, sizes: Dims, strides: Dims, base_offset: u64) -> Result<Self, Error> {
        let mut view = BufferTensorDesc { data_type, sizes, strides, base_offset, base_offset_alignment: 0, ..*self };
        view.explicit_strides = true;
        view.measure()?;
        view.with_base_offset_alignment(self.base_offset_alignment)
    }

    /// Returns a view of the bytes as narrower elements, which a new last axis counts, the low half first.
    fn split_elements(&self, data_type: DataType) -> Result<Self, Error> {
        let parts = ratio(self.data_type().bits(), data_type.bits())?;
        let (mut sizes, mut strides) = (self.sizes.clone(), self.strides.clone());
        for (stride, &size) in strides.iter_mut().zip(&sizes) {
            // No element uses the stride of an axis of size 1. If the product is too large, the stride is 0.
            *stride = match stride.checked_mul(parts) {
                None if size <= 1 => 0,
                product => product.ok_or_else(|| Error::overflow(OFFSET, 64))?,
            };
        }
        sizes.push(parts);
        strides.push(1);
        self.of_type(data_type, sizes, strides, checked::mul(self.base_offset, parts, OFFSET)?)
    }

    /// Returns a view of the bytes as wider elements. The last axis, of `parts` indices, becomes one element.
    fn join_elements(&self, data_type: DataType, parts: u64) -> Result<Self, Error> {
        let refuse = |axis, reason| Err(Code::NotAView.with_reason(OPERATION, reason).with_axis(axis));
        let (base, last) = (self.base_offset, self.rank().saturating_sub(1));
        if !base.is_multiple_of(parts) {
            return refuse(last, format!("begins at element {base}, which is not a multiple of {parts}"));
        }
        let (mut sizes, mut strides) = (self.sizes.clone(), self.strides.clone());
        sizes.pop();
        strides.pop();
        for (axis, (&size, stride)) in sizes.iter().zip(&mut strides).enumerate() {
            if size > 1 && !stride.is_multiple_of(parts) {
                return refuse(axis, format!("has stride {stride}, which is not a multiple of {parts}"));
            }
            *stride = stride.divided_by(parts);
        }
        self.of_type(data_type, sizes, strides, base.divided_by(parts))
    }
}

fn ratio(wide: u32, narrow: u32) -> Result<u64, Error> {
    match wide.checked_div(narrow) {
        Some(parts) if wide.is_multiple_of(narrow) => Ok(parts.into()),
        _ => Err(Error::unsupported_bits(narrow, "widths that divide the other one")),
    }
}
