//! Facts about shapes: ranks, dimension numbers, byte sizes, comparisons.

use smallvec::SmallVec;

use crate::checked::{self, BYTES};
use crate::error::Error;

use super::array::ArrayShape;
use super::layout::Layout;

/// What TPU dumps mean by the memory space `S(n)`. `None` for a space nothing is known of.
///
/// | n | name | holds | source |
/// |---|---|---|---|
/// | 0 | HBM | everything without an `S`; on other devices, simply their memory | XLA's page *Shapes and layout* |
/// | 1 | VMEM | the vector units' memory | the same page |
/// | 2 | SFLAG | flags that asynchronous copies wait for (JAX: `SEMAPHORE_MEM`) | JAX's `tpu_custom_call`, libtpu 0.0.51 |
/// | 4 | SMEM | the scalar unit's memory | JAX's `tpu_custom_call` |
/// | 5 | host | the host's memory | XLA's page |
/// | 6 | SREG | scalars that stay in the scalar unit's registers: no memory | what libtpu 0.0.51 generates for them |
///
/// ```
/// use tensor_layout::tiled::memory_space_name;
///
/// assert_eq!(memory_space_name(1), Some("VMEM"));
/// assert_eq!((memory_space_name(2), memory_space_name(6)), (Some("SFLAG"), Some("SREG")));
/// assert_eq!(memory_space_name(3), None);
/// ```
#[must_use]
pub fn memory_space_name(memory_space: u64) -> Option<&'static str> {
    match memory_space {
        0 => Some("HBM"),
        1 => Some("VMEM"),
        2 => Some("SFLAG"),
        4 => Some("SMEM"),
        5 => Some("host"),
        6 => Some("SREG"),
        _ => None,
    }
}

impl Layout {
    /// Is this the default order, in which the last dimension is the fastest? Tiles and all other
    /// parts do not matter.
    ///
    /// ```
    /// use tensor_layout::tiled::Layout;
    ///
    /// assert!(Layout::row_major(3).is_row_major() && !Layout::new(&[0, 1])?.is_row_major());
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn is_row_major(&self) -> bool {
        self.minor_to_major().iter().rev().copied().eq(0..self.minor_to_major().len())
    }
}

impl ArrayShape {
    /// The number of dimensions whose size is not 1.
    ///
    /// ```
    /// let shape: tensor_layout::ArrayShape = "f32[1,5,1,3]".parse()?;
    /// assert_eq!((shape.rank(), shape.true_rank()), (4, 2));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn true_rank(&self) -> usize {
        self.sizes().iter().filter(|&&size| size != 1).count()
    }

    /// The dimension that `number` means, where -1 is the last, -2 the one before it.
    ///
    /// # Errors
    ///
    /// [`Error::AxisOutOfRange`] if there is none; `axis` is then the magnitude of the number, or
    /// `usize::MAX` if that is smaller.
    ///
    /// ```
    /// let shape: tensor_layout::ArrayShape = "f32[2,3,5]".parse()?;
    /// assert_eq!(shape.dimension(-1)?, 2);
    /// assert_eq!(shape.dimension(0)?, 0);
    /// assert!(shape.dimension(-4).is_err());
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn dimension(&self, number: i64) -> Result<usize, Error> {
        let rank = self.rank();
        let magnitude = usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX);
        let found = if number < 0 { rank.checked_sub(magnitude) } else { Some(magnitude) };
        found.filter(|&dimension| dimension < rank).ok_or(Error::AxisOutOfRange { axis: magnitude, rank })
    }

    /// Does the program learn a size of this array only when it runs?
    #[must_use]
    pub fn is_dynamic(&self) -> bool {
        self.dynamic().contains(&true)
    }

    /// The bytes that XLA's CPU and GPU backends append to a dynamic array for its sizes: one
    /// 32-bit number for each dimension, and none if no dimension is dynamic.
    ///
    /// Source: `GetSizeOfShape` of those backends. What `M(n)` puts in front of the data is separate.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`].
    ///
    /// ```
    /// let shape: tensor_layout::ArrayShape = "f32[2,<=3]".parse()?;
    /// assert_eq!(shape.dynamic_size_metadata_bytes()?, 8);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn dynamic_size_metadata_bytes(&self) -> Result<u64, Error> {
        if !self.is_dynamic() {
            return Ok(0);
        }
        checked::mul(checked::narrow(self.rank(), BYTES)?, 4, BYTES)
    }

    /// The elements of the buffer that hold no element of the array, tail padding included.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`].
    ///
    /// ```
    /// use tensor_layout::ArrayShape;
    ///
    /// let shape: ArrayShape = "s4[3,5]{1,0:T(2,2)E(4)}".parse()?;
    /// assert_eq!((shape.padding_elements()?, shape.buffer_size_in_bytes()?), (9, 12));
    /// assert!(shape.is_packed_below_a_byte() && !shape.is_dynamic() && shape.layout().is_row_major());
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn padding_elements(&self) -> Result<u64, Error> {
        // A divided dimension can make the buffer smaller than the array.
        Ok(self.physical_elements()?.saturating_sub(self.element_count()))
    }

    /// The bytes of the whole buffer: what `M(n)` puts in front of the data, and the
    /// [physical size](ArrayShape::physical_size_in_bytes).
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`].
    pub fn buffer_size_in_bytes(&self) -> Result<u64, Error> {
        checked::add(self.layout().metadata_prefix_bytes(), self.physical_size_in_bytes()?, BYTES)
    }

    /// Do several elements share a byte, because `E(n)` packs them?
    #[must_use]
    pub fn is_packed_below_a_byte(&self) -> bool {
        self.element_bits() < 8
    }

    /// Are type, sizes and layout the same but for where dimensions of size 1 are in the order?
    /// Such a dimension has one index, so its place moves no element as long as no tile counts it.
    ///
    /// Tiles must agree too; two orders that differ by a size-1 dimension a tile covers are taken
    /// as different here, although the elements may be stored at the same places.
    ///
    /// ```
    /// use tensor_layout::ArrayShape;
    ///
    /// let parse = |text: &str| text.parse::<ArrayShape>();
    /// assert!(parse("f32[8,1,3]{2,1,0}")?.equal_but_for_size_one_dimensions(&parse("f32[8,1,3]{2,0,1}")?));
    /// assert!(!parse("f32[8,2,3]{2,1,0}")?.equal_but_for_size_one_dimensions(&parse("f32[8,2,3]{2,0,1}")?));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn equal_but_for_size_one_dimensions(&self, other: &ArrayShape) -> bool {
        let same_array = self.data_type() == other.data_type() && self.dynamic() == other.dynamic();
        let (layout, other_layout) = (self.layout(), other.layout());
        let order = other_layout.minor_to_major();
        let same_parts = layout.clone().with_minor_to_major(order).is_ok_and(|layout| layout == *other_layout);
        // No more dimensions than this are touched by a tile, counted from the fastest.
        let touched: usize = layout.tiles().iter().map(|tile| tile.entries().len()).sum();
        let mut touched_pairs = layout.minor_to_major().iter().zip(order).take(touched);
        same_array && same_parts && touched_pairs.all(|(a, b)| a == b) && self.same_physical_order(other)
    }

    /// Do the dimensions that are larger than 1 sit in the same order? Tiles do not matter.
    ///
    /// ```
    /// use tensor_layout::ArrayShape;
    ///
    /// let parse = |text: &str| text.parse::<ArrayShape>();
    /// assert!(parse("f32[8,1,3]{2,1,0:T(8,128)}")?.same_physical_order(&parse("f32[8,1,3]{1,2,0}")?));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn same_physical_order(&self, other: &ArrayShape) -> bool {
        let live = |shape: &ArrayShape| -> SmallVec<[usize; 8]> {
            let order = shape.layout().minor_to_major().iter().copied();
            order.filter(|&dimension| shape.sizes().get(dimension) != Some(&1)).collect()
        };
        self.sizes() == other.sizes() && live(self) == live(other)
    }
}
