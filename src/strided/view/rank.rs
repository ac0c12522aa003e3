//! Adds axes to a tensor or removes axes.

use crate::checked::{self, ELEMENTS, Exact};
use crate::error::{ArgumentRule, Error};
use crate::strided::BufferTensorDesc;
use crate::strided::axis_list::AxisList;

/// The end at which axes are added or joined.
///
/// ```
/// use tensor_layout::{strided::Side, BufferTensorDesc, DataType};
///
/// let desc = BufferTensorDesc::packed(DataType::F32, &[3, 1, 5])?;
/// assert_eq!(desc.rank_at_least(4, Side::Front).sizes(), [1, 3, 1, 5]);
/// assert_eq!(desc.rank_at_least(4, Side::Back).sizes(), [3, 1, 5, 1]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Axes are added before the first axis or joined there. The last axes keep their positions from the end.
    Front,
    /// Axes are added after the last axis or joined there. The first axes keep their positions.
    Back,
}

impl BufferTensorDesc {
    /// Returns a view with axes of size 1 and stride 0 added at one end until it has `rank` axes. A tensor
    /// that already has this rank does not change. The first axis of a scalar gets stride 1, as if the tensor
    /// had been made with sizes `[1]`. No element uses the stride of an axis of size 1, but engines compare
    /// these strides, and Chromium sets the same strides.
    ///
    /// DirectML's operators take 4 or 5 axes, and its page pads the leading axes with 1. Each added axis
    /// makes the descriptor 16 bytes larger.
    ///
    /// ```
    /// use tensor_layout::{strided::Side, BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::packed(DataType::F32, &[3, 4])?;
    /// assert_eq!(desc.rank_at_least(4, Side::Front).sizes(), [1, 1, 3, 4]);
    /// assert_eq!(desc.rank_at_least(4, Side::Back).strides(), [4, 1, 0, 0]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn rank_at_least(&self, rank: usize, side: Side) -> Self {
        let missing = rank.saturating_sub(self.rank());
        if missing == 0 {
            return self.clone();
        }
        // A scalar first becomes a packed tensor of sizes `[1]`.
        let scalar = (self.rank() == 0).then_some((1, 1));
        let ones = core::iter::repeat_n((1, 0), missing.minus(usize::from(scalar.is_some())));
        match side {
            Side::Front => self.same_elements(ones.chain(scalar).chain(self.axes())),
            Side::Back => self.same_elements(self.axes().chain(scalar).chain(ones)),
        }
    }

    /// Returns a view with at most `rank` axes. Surplus axes at one end are joined to one axis.
    ///
    /// Axes are joined only if every element keeps its offset. Axes of size 1 never prevent this.
    /// ([`coalesce`](Self::coalesce) joins axes at any position.) The other axes keep their strides, even if
    /// no element uses them. If all joined axes have size 1, the joined axis gets the stride of the last one.
    ///
    /// # Errors
    ///
    /// [`Error::NotAView`] names the axis that cannot be joined.
    /// [`ElementCountMismatch`](crate::ArgumentRule) if `rank` is 0 and there is not exactly one element.
    ///
    /// ```
    /// use tensor_layout::{strided::Side, BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::packed(DataType::F32, &[2, 3, 4, 5])?;
    /// assert_eq!(desc.rank_at_most(3, Side::Front)?.sizes(), [6, 4, 5]);
    /// assert_eq!(desc.rank_at_most(3, Side::Back)?.sizes(), [2, 3, 20]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn rank_at_most(&self, rank: usize, side: Side) -> Result<Self, Error> {
        if self.rank() <= rank {
            return Ok(self.clone());
        }
        let Some(kept) = rank.checked_sub(1) else {
            return self.regroup("a fold", &[]);
        };
        let surplus = self.rank().minus(kept);
        let (joined, others) = match side {
            Side::Front => (0..surplus, surplus..self.rank()),
            Side::Back => (kept..self.rank(), 0..kept),
        };
        let with = |joined: (u64, u64)| -> AxisList {
            let others = self.axes().take(others.end).skip(others.start);
            match side {
                Side::Front => core::iter::once(joined).chain(others).collect(),
                Side::Back => others.chain([joined]).collect(),
            }
        };
        let size = checked::product(self.sizes().get(joined.clone()).unwrap_or_default(), ELEMENTS)?;
        let folded = self.regroup("a fold", with((size, 0)).sizes())?;
        let last_given = joined.end.minus(1);
        let (_, stride) = if size == 1 { self.axis(last_given)? } else { folded.axis(joined.start)? };
        self.view(with((size, stride)))
    }

    /// Returns a view with a new axis of size 1 at position `axis`. The later axes move up. This is
    /// `unsqueeze` in PyTorch and `expand_dims` in NumPy. PyTorch's `expand` is
    /// [`broadcast_to`](Self::broadcast_to).
    ///
    /// # Errors
    ///
    /// [`AxisOutOfRange`](crate::ArgumentRule) if `axis` is above the rank.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// assert_eq!(BufferTensorDesc::packed(DataType::F32, &[3, 4])?.unsqueeze(1)?.sizes(), [3, 1, 4]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn unsqueeze(&self, axis: usize) -> Result<Self, Error> {
        let rank = self.rank();
        if axis > rank {
            return Err(Error::axis_out_of_range(axis, rank));
        }
        Ok(self.same_elements(self.axes().take(axis).chain([(1, 0)]).chain(self.axes().skip(axis))))
    }

    /// Returns a view without `axis`, whose size must be 1.
    ///
    /// # Errors
    ///
    /// [`AxisOutOfRange`](crate::ArgumentRule) if the axis does not exist, or
    /// [`SizeMismatch`](crate::ArgumentRule) if its size is not 1.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::packed(DataType::F32, &[3, 1, 4])?;
    /// assert_eq!(desc.squeeze(1)?.sizes(), [3, 4]);
    /// assert_eq!(desc.squeeze(0).unwrap_err().code(), "size_mismatch");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn squeeze(&self, axis: usize) -> Result<Self, Error> {
        match self.axis(axis)? {
            (1, _) => Ok(self.same_elements(self.axes().enumerate().filter(|&(a, _)| a != axis).map(|(_, pair)| pair))),
            (found, _) => Err(ArgumentRule::SizeMismatch.at(axis, found, 1)),
        }
    }
}
