//! `ScaledTensor`: values and the scales of their blocks, in planes of their own.

use alloc::vec::Vec;

use crate::checked::{Dims, Exact};
use crate::error::{Code, Error};
use crate::map::{IndexMap, ToIndexMap};
use crate::strided::{Integer, index_of};

use super::arena::{PackedBuffer, pack_buffer};
use super::limits::DeviceLimits;

/// A tensor of small numbers with one scale for each block of them, as MXFP4, MXFP8, NVFP4 and Metal's
/// auxiliary planes have it. Values and scales are layouts of their own, and may be any: packed, padded, or
/// a named layout such as `nvidia.sf_128x4`. There may be several levels of scales.
///
/// ```
/// use tensor_layout::upload::ScaledTensor;
/// use tensor_layout::{BufferTensorDesc, DataType, DeviceLimits};
///
/// // MXFP4: a power of two for each 32 values of a row.
/// let values = BufferTensorDesc::packed(DataType::F4E2M1FN, &[128, 320])?;
/// let scales = BufferTensorDesc::packed(DataType::F8E8M0FNU, &[128, 10])?;
/// let tensor = ScaledTensor::new(&values, &[(&scales, &[1, 32])])?;
/// let packed = tensor.pack(&DeviceLimits::webgpu())?;
/// assert_eq!((packed.offsets.as_slice(), packed.len), (&[0, 20480][..], 21760));
/// // Value 70 of row 3 is element 1030 of its plane, its scale element 32 of the other.
/// assert_eq!(tensor.offsets(&[3, 70])?, [1030, 32]);
///
/// let error = ScaledTensor::new(&values, &[(&scales, &[1, 16])]).err().unwrap();
/// assert_eq!(error.to_string(), "axis 1 has size 10, but size 20 was expected");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub struct ScaledTensor<'a> {
    layouts: Vec<&'a (dyn ToIndexMap + Sync)>,
    /// The maps of the planes, each with the block that an element of it is for. The block of a value is 1.
    planes: Vec<(IndexMap, Dims)>,
}

impl<'a> ScaledTensor<'a> {
    /// Returns the tensor of these values, with planes of scales. A plane has the *block* of an element:
    /// how many values of each axis have one scale. The last block of an axis may be narrower.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` for a plane or a block of another rank, `out_of_limits` for a block of 0,
    /// `size_mismatch` for a plane that has not one scale for each block, and the errors of
    /// [`ToIndexMap::to_index_map`].
    pub fn new<T: Integer>(
        values: &'a (dyn ToIndexMap + Sync),
        scales: &[(&'a (dyn ToIndexMap + Sync), &[T])],
    ) -> Result<Self, Error> {
        let map = values.to_index_map()?;
        let (sizes, ones) = (Dims::from_slice(map.sizes()), Dims::from_elem(1, map.sizes().len()));
        let (mut layouts, mut planes) = (Vec::from([values]), Vec::from([(map, ones)]));
        for &(layout, block) in scales {
            let (map, block): (_, Dims) =
                (layout.to_index_map()?, block.iter().map(|&number| index_of(number)).collect());
            for length in [block.len(), map.sizes().len()] {
                if length != sizes.len() {
                    return Err(Error::rank_mismatch("sizes of a plane and of its block", sizes.len(), length));
                }
            }
            for (axis, ((&size, &number), &scales)) in sizes.iter().zip(&block).zip(map.sizes()).enumerate() {
                if number == 0 {
                    return Err(Error::out_of_limits("the block of a scale", 0, 1, u64::MAX));
                }
                if size.div_ceil(number) != scales {
                    return Err(Code::SizeMismatch.at(axis, scales, size.div_ceil(number)));
                }
            }
            layouts.push(layout);
            planes.push((map, block));
        }
        Ok(ScaledTensor { layouts, planes })
    }

    /// Chooses an offset for each plane in one buffer, the values first, as [`pack_buffer`] does.
    ///
    /// # Errors
    ///
    /// The errors of [`pack_buffer`].
    pub fn pack(&self, limits: &DeviceLimits) -> Result<PackedBuffer, Error> {
        let mut layouts: Vec<&dyn ToIndexMap> = Vec::new();
        for &layout in &self.layouts {
            layouts.push(layout);
        }
        pack_buffer(&layouts, limits)
    }

    /// Returns the offset of a value in its plane, and of its scale in each plane of scales, in elements of
    /// the plane.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` and `index_out_of_range` for an index outside the sizes of the values.
    pub fn offsets<T: Integer>(&self, index: &[T]) -> Result<Vec<u64>, Error> {
        let index: Dims = index.iter().map(|&i| index_of(i)).collect();
        let offset = |(map, block): &(IndexMap, Dims)| {
            let place: Dims = index.iter().zip(block).map(|(i, number)| i.divided_by(*number)).collect();
            // A list of another length stays so, and the map refuses it.
            if index.len() == block.len() { map.offset(&place) } else { map.offset(&index) }
        };
        self.planes.iter().map(offset).collect()
    }
}
