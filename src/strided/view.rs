//! Views: other descriptors of the same buffer, made without moving an element.
//!
//! Every view keeps the flags, the promised alignment, the base offset and what its tensor owns, but a slice
//! moves the base offset and may own less. A total size that was set by hand does not change. Otherwise the
//! view gets its own minimum as its total size.

mod reinterpret;
mod reshape;

use crate::checked::{self, Dims, Proven};
use crate::error::{Code, Error};

use super::desc::BufferTensorDesc;
use super::numbers::{Integer, sizes_of};

/// The end at which axes are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NewAxes {
    /// Axes are added before the first axis. The last axes keep their positions from the end.
    Front,
    /// Axes are added after the last axis. The first axes keep their positions.
    Back,
}

impl BufferTensorDesc {
    /// Returns a view with the axes in another order: axis `k` of the view is axis `axes[k]` of this tensor.
    ///
    /// **Post-condition** (`permute_moves_axes`): index `i` of the view has the offset of the index whose
    /// axis `axes[k]` is `i[k]`.
    ///
    /// # Errors
    ///
    /// `rank_mismatch`, `axis_out_of_range` or `not_a_permutation` if `axes` does not name every axis once.
    pub fn permute(&self, axes: &[usize]) -> Result<Self, Error> {
        let rank = self.rank();
        if axes.len() != rank {
            return Err(Error::rank_mismatch("axes", rank, axes.len()));
        }
        checked::check_permutation("the order of axes", axes, rank)?;
        let mut view = self.clone();
        view.explicit_strides = true;
        let (own_sizes, own_strides) = (self.sizes(), self.strides());
        for ((&axis, size), stride) in axes.iter().zip(&mut view.sizes).zip(&mut view.strides) {
            if let (Some(&own_size), Some(&own_stride)) = (own_sizes.get(axis), own_strides.get(axis)) {
                (*size, *stride) = (own_size, own_stride);
            }
        }
        Ok(view.checked())
    }

    /// Returns a view with two axes exchanged.
    ///
    /// **Post-condition** (`transpose_exchanges_two_axes`): it is the [`permute`](Self::permute) of the order
    /// in which the two axes are exchanged.
    ///
    /// # Errors
    ///
    /// `axis_out_of_range` if an axis does not exist.
    pub fn transpose(&self, first: usize, second: usize) -> Result<Self, Error> {
        self.axis(first)?;
        self.axis(second)?;
        let mut view = self.clone();
        view.explicit_strides = true;
        view.sizes.swap(first, second);
        view.strides.swap(first, second);
        Ok(view.checked())
    }

    /// Returns a view of the elements in their order with the fewest axes. The view has no axis of size 1.
    /// Neighbouring axes become one axis if the outer stride is the inner size times the inner stride.
    ///
    /// **Post-condition** (`coalesce_keeps_the_order_of_offsets`): the offsets in the order of the indices do
    /// not change, and no two neighbouring axes of the view could be one.
    #[must_use]
    pub fn coalesce(&self) -> Self {
        let (mut sizes, mut strides, empty) = (Dims::new(), Dims::new(), self.elements == 0);
        for (size, stride) in self.axes().filter(|&(size, _)| size != 1) {
            match (sizes.last_mut(), strides.last_mut()) {
                (Some(last_size), Some(last_stride)) if empty || stride.checked_mul(size) == Some(*last_stride) => {
                    // The product of the sizes fits 64 bits by invariant 2 of the descriptor.
                    *last_size = u64::times(*last_size, size);
                    *last_stride = stride;
                }
                _ => {
                    sizes.push(size);
                    strides.push(stride);
                }
            }
        }
        self.with_axes(sizes, strides)
    }

    /// Returns the tensor repeated along axes of size 1 until it has `sizes`, integers of any type. New axes
    /// appear in front. Repeated axes get stride 0 (NumPy's broadcasting rules). A tensor of sizes `[1]`,
    /// which is DirectML's form of a scalar, can also be broadcast to `[]`, as in Chromium.
    ///
    /// **Post-condition** (`broadcast_to_repeats_elements`): index `i` of the view has the offset of the
    /// index without the new axes, with 0 on each repeated axis.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` if `sizes` has fewer axes, `size_mismatch` if the size of an axis is neither 1 nor the
    /// requested size, `negative`, and `overflow` past 64 bits.
    pub fn broadcast_to<T: Integer>(&self, sizes: &[T]) -> Result<Self, Error> {
        self.repeated(sizes_of(sizes)?)
    }

    fn repeated(&self, sizes: Dims) -> Result<Self, Error> {
        if sizes.is_empty() && self.sizes() == [1] {
            return Ok(self.with_axes(sizes, Dims::new()));
        }
        let Some(new_axes) = sizes.len().checked_sub(self.rank()) else {
            return Err(Error::rank_mismatch("sizes to broadcast to (new axes not counted)", self.rank(), sizes.len()));
        };
        // New axes repeat the whole tensor, so their stride is 0.
        let mut view = self.view_of_sizes(sizes);
        let places = view.strides.iter_mut().zip(&view.sizes).enumerate().skip(new_axes);
        for ((axis, (slot, &wanted)), (size, stride)) in places.zip(self.axes()) {
            if size == wanted {
                *slot = stride;
            } else if size != 1 {
                return Err(Code::SizeMismatch.on_axis(axis, size, wanted));
            }
        }
        view.measure()?;
        Ok(view)
    }

    /// Returns a view with axes of size 1 and stride 0 added at one end until it has `rank` axes. A tensor
    /// that already has this rank does not change. The first axis of a scalar gets stride 1, as if the tensor
    /// had been made with sizes `[1]`. No element uses the stride of an axis of size 1, but engines compare
    /// these strides, and Chromium sets the same strides.
    ///
    /// **Post-condition** (`rank_at_least_adds_axes_of_size_1`): the offsets in the order of the indices do
    /// not change.
    #[must_use]
    pub fn rank_at_least(&self, rank: usize, side: NewAxes) -> Self {
        let missing = rank.saturating_sub(self.rank());
        if missing == 0 {
            return self.clone();
        }
        // A scalar first becomes a packed tensor of sizes `[1]`.
        let scalar = (self.rank() == 0).then_some((1, 1));
        let ones = core::iter::repeat_n((1, 0), missing.minus(usize::from(scalar.is_some())));
        let (sizes, strides) = match side {
            NewAxes::Front => ones.chain(scalar).chain(self.axes()).unzip(),
            NewAxes::Back => self.axes().chain(scalar).chain(ones).unzip(),
        };
        self.with_axes(sizes, strides)
    }
}
