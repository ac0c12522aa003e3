//! Reshapes a tensor without moving an element: other sizes for the same elements in the same order.

use crate::checked::{self, Dims, ELEMENTS, Proven};
use crate::error::{Code, Error};
use crate::strided::BufferTensorDesc;
use crate::strided::axes::packed_strides;
use crate::strided::free_strides::set_free_strides;
use crate::strided::numbers::{Integer, sizes_of};
use alloc::format;

impl BufferTensorDesc {
    /// Returns a view that has other sizes, integers of any type, and the same elements in the same row-major
    /// order.
    ///
    /// The function finds a view whenever one exists. Both lists of sizes are cut into the shortest groups of
    /// equal product. In a group with several old axes, each stride must be the next stride times the next
    /// size. Strides of axes of size 1 do not matter. NumPy's `reshape` with `copy=False` follows the same
    /// rule.
    ///
    /// **Post-condition** (`reshape_is_a_view_exactly_when_one_exists`): the offsets in the order of the
    /// indices do not change; an error means that no strides give these offsets for the new sizes.
    ///
    /// # Errors
    ///
    /// `element_count_mismatch`; `not_a_view` names the axis that cannot be joined to the next axis;
    /// `negative`; `overflow` past 64 bits.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let padded = BufferTensorDesc::new(DataType::F32, &[4, 6], Some(&[8, 1]))?;
    /// let view = padded.reshape(&[2, 2, 3, 2])?;
    /// assert_eq!(view.strides(), [16, 8, 2, 1]);
    /// let refused = padded.reshape(&[24]).unwrap_err();
    /// assert_eq!(
    ///     refused.to_string(),
    ///     "a reshape is not possible without moving data: axis 0 has stride 8, but joined to the axes after it, it would need 6",
    /// );
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn reshape<T: Integer>(&self, sizes: &[T]) -> Result<Self, Error> {
        self.regroup("a reshape", sizes_of(sizes)?)
    }

    pub(super) fn regroup(&self, operation: &'static str, sizes: Dims) -> Result<Self, Error> {
        let found = checked::product(&sizes, ELEMENTS)?;
        let expected = self.element_count();
        if found != expected {
            return Err(Code::ElementCountMismatch.for_value(found, expected));
        }
        if found == 0 {
            let strides = packed_strides(&sizes, (0..sizes.len()).rev())?;
            return Ok(self.with_axes(sizes, strides));
        }
        let mut old = self.axes().enumerate().rev().filter(|&(_, (size, _))| size > 1);
        let mut view = self.view_of_sizes(sizes);
        let mut new = view.sizes.iter().zip(&mut view.strides).rev().filter(|(size, _)| **size > 1);
        // From the minor end on, each iteration takes the last old axis that is left, and joins it to the
        // axes in front of it until their product is a product of new sizes.
        while let Some((_, (size, stride))) = old.next() {
            let mut joined = size;
            let mut covered = 1_u64;
            while covered < joined {
                let Some((&new_size, slot)) = new.next() else {
                    break;
                };
                // If a view exists, both products are at most the number of elements, so they fit 64 bits.
                *slot = stride.times(covered);
                covered = covered.times(new_size);
                while covered > joined {
                    let Some((axis, (size, own))) = old.next() else {
                        break;
                    };
                    let needed = stride.saturating_mul(joined);
                    if own != needed {
                        let reason =
                            format!("has stride {own}, but joined to the axes after it, it would need {needed}");
                        return Err(Code::NotAView.with_reason(operation, reason).with_axis(axis));
                    }
                    joined = joined.times(size);
                }
            }
        }
        set_free_strides(&view.sizes, &mut view.strides, |_, inside, _| inside);
        // Every element keeps its offset, so the number of elements and the largest offset do not change.
        Ok(view.checked())
    }
}
