//! Other sizes for the same elements in the same order, where no element has to move.

use crate::checked::{self, ELEMENTS, Exact};
use crate::error::{ArgumentRule, Error};
use crate::strided::BufferTensorDesc;
use crate::strided::axes::packed_strides;
use crate::strided::axis_list::AxisList;
use alloc::format;

impl BufferTensorDesc {
    /// A view of the elements in their row-major order with other sizes.
    ///
    /// A view exists exactly when this returns one: both lists of sizes are cut into the
    /// shortest groups of equal product, and within a group of more than one axis
    /// each step of an axis must go on where the next axis ends. Strides of size-1 axes are
    /// not looked at. (NumPy's `reshape` with `copy=False` decides the same.)
    ///
    /// # Errors
    ///
    /// [`ElementCountMismatch`](crate::ArgumentRule); [`Error::NotAView`] with the axis that cannot be joined
    /// to the one after it; [`Error::Overflow`].
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
    pub fn reshape(&self, sizes: &[u64]) -> Result<Self, Error> {
        self.regroup("a reshape", sizes)
    }

    /// [`reshape`](Self::reshape) under the name of what was requested.
    pub(super) fn regroup(&self, operation: &'static str, sizes: &[u64]) -> Result<Self, Error> {
        let found = checked::product(sizes, ELEMENTS)?;
        let expected = self.element_count();
        if found != expected {
            return Err(ArgumentRule::ElementCountMismatch.by(found, expected));
        }
        if found == 0 {
            let strides = packed_strides(sizes, (0..sizes.len()).rev())?;
            return Ok(self.with_axes(AxisList::new(sizes, &strides)));
        }
        let mut old = self.axes().enumerate().rev().filter(|&(_, (size, _))| size > 1);
        let mut list = AxisList::with_zero_strides(sizes);
        let (_, strides) = list.both_mut();
        let mut new = sizes.iter().zip(&mut *strides).rev().filter(|(size, _)| **size > 1);
        // From the minor end: take the last old axis and whatever must be joined to it.
        while let Some((_, (size, stride))) = old.next() {
            let mut joined = size;
            let mut covered = 1_u64;
            while covered < joined {
                let Some((&new_size, slot)) = new.next() else {
                    break;
                };
                // Cannot saturate: both products are at most the number of elements, where a view exists.
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
                        return Err(Error::NotAView { operation, axis, reason });
                    }
                    joined = joined.times(size);
                }
            }
        }
        settle_unit_strides(sizes, strides);
        // Every element stays where it is, so the number of them and the largest offset do too.
        Ok(self.with_axes(list))
    }
}

/// Gives axes of size 1 the stride a packed tensor would have there. It is never used, but some
/// readers look at it.
fn settle_unit_strides(sizes: &[u64], strides: &mut [u64]) {
    let mut next = 1_u64;
    for (&size, stride) in sizes.iter().zip(strides).rev() {
        if size == 1 {
            *stride = next;
        } else {
            next = stride.checked_mul(size).unwrap_or(0);
        }
    }
}
