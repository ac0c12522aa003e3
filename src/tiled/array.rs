//! `ArrayShape`: a data type, sizes and a layout.

use smallvec::SmallVec;

use crate::checked::{self, Dims, ELEMENTS};
use crate::element::DataType;
use crate::error::Error;

use super::layout::Layout;

/// An XLA array shape, with the text `f32[3,5]{1,0:T(2,2)}`.
///
/// A text without a layout has XLA's default layout, row-major and untiled. A dimension whose size is only
/// known when the program runs is written `<=5`. Its bound is used as its size, as in every size and offset
/// that XLA computes.
///
/// ```
/// use tensor_layout::ArrayShape;
///
/// let shape: ArrayShape = "f32[3,5]{1,0:T(2,2)}".parse()?;
/// assert_eq!(shape.sizes(), [3, 5]);
/// assert_eq!(shape.layout().minor_to_major(), [1, 0]);
/// assert_eq!(shape.to_string(), "f32[3,5]{1,0:T(2,2)}");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ArrayShape {
    data_type: DataType,
    sizes: Dims,
    dynamic: SmallVec<[bool; 8]>,
    layout: Layout,
}

impl ArrayShape {
    /// Returns a shape of these `sizes` with the given layout.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` if `sizes` and the layout have different numbers of dimensions. `zero_tail_alignment`,
    /// `out_of_limits` or `unsupported_data_type` if XLA does not allow an attribute. `overflow` past 64
    /// bits.
    pub fn new(data_type: DataType, sizes: &[u64], layout: Layout) -> Result<ArrayShape, Error> {
        let layout = layout.checked(sizes.len())?;
        checked::product(sizes, ELEMENTS)?;
        let dynamic = SmallVec::from_elem(false, sizes.len());
        Ok(ArrayShape { data_type, sizes: Dims::from_slice(sizes), dynamic, layout })
    }

    /// Returns a row-major, untiled shape.
    ///
    /// # Errors
    ///
    /// `overflow` if the number of elements passes 64 bits.
    pub fn row_major(data_type: DataType, sizes: &[u64]) -> Result<ArrayShape, Error> {
        Self::new(data_type, sizes, Layout::row_major(sizes.len()))
    }

    pub(crate) fn with_layout(self, layout: Layout) -> Result<ArrayShape, Error> {
        Ok(ArrayShape { layout: layout.checked(self.rank())?, ..self })
    }

    /// Returns this shape, where the sizes with `dynamic` true are bounds: `f32[<=5]`.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` if `dynamic` does not have one entry for each dimension.
    pub fn with_dynamic(self, dynamic: &[bool]) -> Result<ArrayShape, Error> {
        if dynamic.len() != self.rank() {
            return Err(Error::rank_mismatch("dynamic marks", self.rank(), dynamic.len()));
        }
        Ok(ArrayShape { dynamic: SmallVec::from_slice(dynamic), ..self })
    }

    /// Returns a view of the memory with the dimensions in another order: dimension `k` of the result is
    /// dimension `order[k]` of this shape. Only the numbers of the dimensions change. Tiles and all other
    /// attributes of the layout stay.
    ///
    /// # Errors
    ///
    /// `rank_mismatch`, `axis_out_of_range` or `not_a_permutation` if `order` does not name each one once.
    pub fn permute(&self, order: &[usize]) -> Result<ArrayShape, Error> {
        let rank = self.rank();
        let new_of = checked::inverse_permutation(order, rank)?;
        let minor_to_major = self.layout.minor_to_major().iter();
        let minor_to_major: SmallVec<[usize; 8]> =
            minor_to_major.filter_map(|&axis| new_of.get(axis).copied()).collect();
        Ok(ArrayShape {
            data_type: self.data_type,
            sizes: order.iter().filter_map(|&axis| self.sizes.get(axis).copied()).collect(),
            dynamic: order.iter().filter_map(|&axis| self.dynamic.get(axis).copied()).collect(),
            layout: self.layout.clone().with_minor_to_major(&minor_to_major)?,
        })
    }

    /// For each dimension, whether its size is only a bound.
    #[must_use]
    pub fn dynamic(&self) -> &[bool] {
        &self.dynamic
    }

    /// The type of an element.
    #[must_use]
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// The logical sizes, in elements. The size of a dynamic dimension is its bound.
    #[must_use]
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// The number of dimensions.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// The layout: the order of the dimensions in memory, and the tiles.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The bits of an element in memory: `E(n)`, or the width of the data type in whole bytes.
    #[must_use]
    pub fn element_bits(&self) -> u32 {
        self.layout.element_bits.unwrap_or(self.data_type.xla_storage_bits())
    }

    /// The number of elements: the product of the sizes.
    #[must_use]
    pub fn element_count(&self) -> u64 {
        // The product fits 64 bits, because `new` has checked it.
        checked::element_count(&self.sizes)
    }
}
