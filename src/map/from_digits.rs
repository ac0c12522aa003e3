//! Makes an index map from the digits of each dimension.

use alloc::vec::Vec;
use core::num::NonZeroU64;

use smallvec::SmallVec;

use crate::checked::{self, Dims, ELEMENTS, OFFSET, Proven};
use crate::element::DataType;
use crate::error::Error;

use super::digits::{Chain, Digit};
use super::index_map::{Component, Components, IndexMap};

impl IndexMap {
    /// Returns a layout in which every dimension is an ordinary mixed-radix number, and each digit has a
    /// stride.
    ///
    /// `dimensions` holds the digits of each dimension, the major digit first: the size of each digit, and
    /// the distance between its neighbouring values in elements. The size of a dimension is the product of
    /// the sizes of its digits. A dimension without digits has size 1. The buffer ends after the last
    /// element.
    ///
    /// # Errors
    ///
    /// `overflow` if the size in bytes passes 64 bits, and
    /// `unsupported_element_bits` for elements of 0 bits.
    ///
    /// ```
    /// use tensor_layout::{map::{IndexMap}, ArrayShape, DataType, ToIndexMap};
    ///
    /// let rows = vec![(2, 2048), (8, 128)];
    /// let columns = vec![(2, 1024), (128, 1)];
    /// let map = IndexMap::from_digits(DataType::F32, 32, &[rows, columns])?;
    /// assert_eq!(map, "f32[16,256]{1,0:T(8,128)}".parse::<ArrayShape>()?.to_index_map()?);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn from_digits(
        data_type: DataType,
        element_bits: u32,
        dimensions: &[Vec<(u64, u64)>],
    ) -> Result<IndexMap, Error> {
        if element_bits == 0 {
            return Err(Error::unsupported_bits(0, "1 and more"));
        }
        let (mut sizes, mut components) = (Dims::new(), Components::new());
        let mut last = 0_u64;
        for (dim, digits) in dimensions.iter().enumerate() {
            let mut extent = 1_u64;
            let mut minor_first: SmallVec<[Digit; 4]> = SmallVec::new();
            for &(size, stride) in digits.iter().rev() {
                // A digit of size 1 changes nothing, and a size of 0 makes the tensor empty.
                if let Some(divisor) = NonZeroU64::new(extent).filter(|_| size > 1) {
                    minor_first.push(Digit::new(divisor, stride));
                    let largest = checked::mul(size.minus(1), stride, OFFSET)?;
                    last = checked::add(last, largest, OFFSET)?;
                }
                extent = checked::mul(extent, size, ELEMENTS)?;
            }
            sizes.push(extent);
            let chain = Chain::normalised(minor_first.into_iter().rev(), extent);
            if extent > 1 {
                components.push(Component::of(dim, extent, chain));
            }
        }
        checked::product(&sizes, ELEMENTS)?;
        let empty = sizes.contains(&0);
        if empty {
            components.clear();
        }
        let physical_elements = if empty { 0 } else { checked::add(last, 1, OFFSET)? };
        IndexMap::made((data_type, element_bits), sizes, components, None, 0, physical_elements)
    }
}
