//! Adds axes to a tensor or removes axes.

use crate::checked::Exact;
use crate::strided::BufferTensorDesc;

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
}
