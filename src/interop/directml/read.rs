//! Conversion from DirectML's structure to a descriptor.

use alloc::string::ToString;

use crate::checked::narrow;
use crate::element::DataType;
use crate::error::{Code, Error};
use crate::strided::{BufferTensorDesc, TensorFlags};

use super::super::foreign_list::list;
use super::raw::{DML_TENSOR_FLAG_OWNED_BY_DML, RawBufferTensorDesc};

/// The most axes of a DirectML tensor (`DML_TENSOR_DIMENSION_COUNT_MAX1`). A structure with more is refused.
const MAX_AXES: u32 = 8;

/// The fields of a `DML_BUFFER_TENSOR_DESC` as safe values.
///
/// ```
/// use tensor_layout::{interop::directml::DirectmlFields, BufferTensorDesc};
///
/// let fields = DirectmlFields {
///     data_type: 2,
///     flags: 0,
///     sizes: &[1, 1, 2, 3],
///     strides: Some(&[10, 10, 5, 1]),
///     total_size: 20,
///     alignment: 0,
/// };
/// assert_eq!(BufferTensorDesc::try_from(fields)?.to_string(), "f16[1,1,2,3]:[10,10,5,1]");
/// let short = DirectmlFields { total_size: 12, ..fields };
/// assert_eq!(BufferTensorDesc::try_from(short).unwrap_err().code(), "total_size_too_small");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectmlFields<'a> {
    /// The data type: a value of `DML_TENSOR_DATA_TYPE`.
    pub data_type: i32,
    /// The flags: 0, or 1 for `OWNED_BY_DML`.
    pub flags: i32,
    /// The sizes, in elements.
    pub sizes: &'a [u32],
    /// The strides, in elements, or `None` for a packed tensor.
    pub strides: Option<&'a [u32]>,
    /// The total size, in bytes.
    pub total_size: u64,
    /// The guaranteed alignment of the base offset, in bytes, or 0 without a guarantee.
    pub alignment: u32,
}

impl TryFrom<DirectmlFields<'_>> for BufferTensorDesc {
    type Error = Error;

    /// Returns the descriptor, with every field checked against the others.
    ///
    /// # Errors
    ///
    /// `unknown_data_type` for an unknown data type. `out_of_limits` for
    /// flags that are not defined. `zero_size` for a size of 0. The errors of
    /// [`BufferTensorDesc`]'s constructors: `rank_mismatch` and `overflow` for
    /// strides, `bad_alignment`, `total_size_too_small` and
    /// `total_size_unaligned`.
    fn try_from(fields: DirectmlFields<'_>) -> Result<BufferTensorDesc, Error> {
        let data_type = u32::try_from(fields.data_type).ok().and_then(DataType::from_directml_value);
        let data_type = data_type.ok_or_else(|| Error::unknown_data_type(fields.data_type.to_string()))?;
        let flags = match fields.flags {
            0 => TensorFlags::None,
            DML_TENSOR_FLAG_OWNED_BY_DML => TensorFlags::OwnedByDirectml,
            other => {
                let value = u64::from(other.cast_unsigned());
                return Err(Error::out_of_limits("the DML_TENSOR_FLAGS value", value, 0, 1));
            }
        };
        if let Some(axis) = fields.sizes.iter().position(|&size| size == 0) {
            return Err(Code::ZeroSize.at(axis, 0, 0));
        }
        BufferTensorDesc::new(data_type, fields.sizes, fields.strides)?
            .with_flags(flags)
            .with_base_offset_alignment(fields.alignment)?
            .with_total_size_in_bytes(fields.total_size)
    }
}

impl RawBufferTensorDesc {
    /// Returns the descriptor of a raw structure.
    ///
    /// # Safety
    ///
    /// `sizes` and `strides` must each be null, unaligned, or valid for reads of `dimension_count` numbers.
    /// The numbers must not change during the call.
    ///
    /// # Errors
    ///
    /// `out_of_limits` for no axes or more than 8; `bad_pointer` for null sizes
    /// and for sizes or strides that are not aligned; and the errors of [`DirectmlFields`].
    pub unsafe fn to_desc(&self) -> Result<BufferTensorDesc, Error> {
        if self.dimension_count == 0 || self.dimension_count > MAX_AXES {
            return Err(Error::out_of_limits("the DimensionCount", self.dimension_count.into(), 1, MAX_AXES.into()));
        }
        let rank: usize = narrow(self.dimension_count, "the DimensionCount")?;
        // SAFETY: the caller promises that `dimension_count` numbers can be read at a pointer that is neither
        // null nor unaligned, and that they do not change. The slices do not outlive this call.
        let list = |what, start: *const u32| unsafe { list(what, start, rank) };
        let sizes = list("the Sizes", self.sizes)?;
        let strides = if self.strides.is_null() { None } else { Some(list("the Strides", self.strides)?) };
        BufferTensorDesc::try_from(DirectmlFields {
            data_type: self.data_type,
            flags: self.flags,
            sizes,
            strides,
            total_size: self.total_tensor_size_in_bytes,
            alignment: self.guaranteed_base_offset_alignment,
        })
    }
}
