//! Conversions from a descriptor to the structures that DirectML reads, and back.

use alloc::rc::Rc;
use alloc::string::ToString;
use alloc::vec;
use core::ffi::c_void;
use core::ops::Deref;
use core::ptr;

use smallvec::SmallVec;

use crate::checked::{self, OFFSET, narrow};
use crate::element::DataType;
use crate::error::{Code, Error};
use crate::strided::{BufferTensorDesc, TensorFlags};
use crate::upload::{DeviceLimits, Errors, FeatureLevel, validate_description};

use super::super::foreign::{Lent, list};
use super::raw::{
    DML_TENSOR_FLAG_OWNED_BY_DML, DML_TENSOR_TYPE_BUFFER, RawBufferBinding, RawBufferTensorDesc, RawTensorDesc,
};

/// The most axes of a DirectML tensor (`DML_TENSOR_DIMENSION_COUNT_MAX1`). A structure with more is refused.
const MAX_AXES: u32 = 8;

/// A tensor in DirectML's 32-bit numbers, checked for a feature level. This value owns the arrays that the
/// raw structures point to, and lends the structures as long as it lives.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DirectmlTensor {
    data_type: i32,
    flags: i32,
    sizes: SmallVec<[u32; 8]>,
    strides: Option<SmallVec<[u32; 8]>>,
    /// The field `TotalTensorSizeInBytes`.
    pub total_size_in_bytes: u64,
    alignment: u32,
    /// The base offset of the tensor, in bytes. Add this number to the offset at which the buffer is bound.
    pub offset_in_bytes: u64,
}

impl DirectmlTensor {
    /// Returns the description of a tensor for DirectML of this feature level.
    ///
    /// DirectML has no base offset in a description. The base offset of `desc` becomes
    /// [`offset_in_bytes`](field@DirectmlTensor::offset_in_bytes), which belongs in the binding.
    ///
    /// # Errors
    ///
    /// Every rule of the level that is broken: the errors of [`validate_description`], with
    /// `unsupported_data_type` first.
    pub fn new(desc: &BufferTensorDesc, level: FeatureLevel) -> Result<DirectmlTensor, Errors> {
        let desc = &desc.clone().with_canonical_strides_up_to(u32::MAX.into());
        let report = validate_description(desc, &DeviceLimits::directml_level(level))?;
        let give_up = |error| Errors::new(vec![error], report.clone());
        let unknown = || Error::unsupported_data_type(desc.data_type().xla_name(), "DirectML");
        let data_type = desc.data_type().directml_value().ok_or_else(unknown).map_err(give_up)?;
        let sizes = to_u32("a size", desc.sizes()).map_err(give_up)?;
        let strides = desc.explicit_strides().map(|strides| to_u32("a stride", strides)).transpose();
        Ok(DirectmlTensor {
            data_type: narrow(data_type, "a data type").map_err(give_up)?,
            flags: match desc.flags() {
                TensorFlags::None => 0,
                TensorFlags::OwnedByDirectml => DML_TENSOR_FLAG_OWNED_BY_DML,
            },
            sizes,
            strides: strides.map_err(give_up)?,
            total_size_in_bytes: report.total_bytes,
            alignment: desc.alignment_after(desc.base_offset()),
            offset_in_bytes: report.bound.start,
        })
    }

    /// Returns the binding of the tensor in a buffer that begins `offset` bytes into a resource.
    ///
    /// # Errors
    ///
    /// `overflow` if the sum of the offsets does not fit 64 bits.
    pub fn binding(&self, buffer: *mut c_void, offset: u64) -> Result<RawBufferBinding, Error> {
        let offset = checked::add(offset, self.offset_in_bytes, OFFSET)?;
        Ok(RawBufferBinding { buffer, offset, size_in_bytes: self.total_size_in_bytes })
    }

    /// Returns the raw structure, whose pointers are valid while this tensor is borrowed.
    #[must_use]
    pub fn lend(&self) -> Lent<'_, RawBufferTensorDesc> {
        let raw = RawBufferTensorDesc {
            data_type: self.data_type,
            flags: self.flags,
            // The default is never used, because the feature level allows at most 8 axes.
            dimension_count: u32::try_from(self.sizes.len()).unwrap_or(0),
            sizes: self.sizes.as_ptr(),
            strides: self.strides.as_ref().map_or(ptr::null(), |strides| strides.as_ptr()),
            total_tensor_size_in_bytes: self.total_size_in_bytes,
            guaranteed_base_offset_alignment: self.alignment,
        };
        Lent::new(raw)
    }
}

/// A `DML_TENSOR_DESC` for operators, made from a descriptor in one step. This value owns all structures and
/// arrays that the `DML_TENSOR_DESC` points to.
///
/// ```
/// use tensor_layout::interop::directml::{DirectmlTensorDesc, RawBufferBinding, RawTensorDesc};
/// use tensor_layout::{upload::FeatureLevel, BufferTensorDesc, DataType};
///
/// let rows = BufferTensorDesc::packed(DataType::F16, &[64, 128])?.slice_axis(0, 3..7)?;
/// let input = DirectmlTensorDesc::new(&rows, FeatureLevel::V5_0)?;
/// // Valid for as long as `input` lives.
/// let for_operators: &RawTensorDesc = &input;
/// assert_eq!(for_operators.tensor_type, 1);
/// // The arena is an `ID3D12Resource`; the tensor begins 768 bytes into it.
/// let binding: RawBufferBinding = input.binding(std::ptr::null_mut(), 0)?;
/// assert_eq!((binding.offset, binding.size_in_bytes), (768, 1024));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DirectmlTensorDesc {
    desc: RawTensorDesc,
    /// The structure that `desc` points to. An `Rc`, unlike a `Box`, may be moved while pointers into it
    /// exist.
    _buffer: Rc<RawBufferTensorDesc>,
    /// The arrays that `_buffer` points to.
    tensor: Rc<DirectmlTensor>,
}

impl DirectmlTensorDesc {
    /// Returns the description of a tensor for DirectML of this feature level.
    ///
    /// # Errors
    ///
    /// The errors of [`DirectmlTensor::new`].
    pub fn new(desc: &BufferTensorDesc, level: FeatureLevel) -> Result<DirectmlTensorDesc, Errors> {
        let tensor = Rc::new(DirectmlTensor::new(desc, level)?);
        let buffer = Rc::new(*tensor.lend());
        let desc = RawTensorDesc { tensor_type: DML_TENSOR_TYPE_BUFFER, desc: Rc::as_ptr(&buffer).cast() };
        Ok(DirectmlTensorDesc { desc, _buffer: buffer, tensor })
    }

    /// Returns the binding of the tensor in a buffer that begins `offset` bytes into a resource.
    ///
    /// # Errors
    ///
    /// `overflow` if the sum of the offsets does not fit 64 bits.
    pub fn binding(&self, buffer: *mut c_void, offset: u64) -> Result<RawBufferBinding, Error> {
        self.tensor.binding(buffer, offset)
    }
}

/// The structure to pass to DirectML, by pointer.
impl Deref for DirectmlTensorDesc {
    type Target = RawTensorDesc;

    fn deref(&self) -> &RawTensorDesc {
        &self.desc
    }
}

impl Lent<'_, RawBufferTensorDesc> {
    /// Returns the `DML_TENSOR_DESC` that points to this structure. The result is valid while this structure
    /// is borrowed.
    ///
    /// ```
    /// use tensor_layout::interop::{Lent, directml::{DirectmlTensor, RawBufferTensorDesc}};
    /// use tensor_layout::{BufferTensorDesc, DataType, upload::FeatureLevel};
    ///
    /// let packed = BufferTensorDesc::packed(DataType::F16, &[2, 3])?;
    /// let tensor = DirectmlTensor::new(&packed, FeatureLevel::LATEST)?;
    /// let buffer: Lent<'_, RawBufferTensorDesc> = tensor.lend();
    /// assert_eq!((buffer.dimension_count, buffer.total_tensor_size_in_bytes), (2, 12));
    /// assert_eq!(buffer.tensor_desc().tensor_type, 1);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn tensor_desc(&self) -> Lent<'_, RawTensorDesc> {
        let desc: *const RawBufferTensorDesc = &**self;
        Lent::new(RawTensorDesc { tensor_type: DML_TENSOR_TYPE_BUFFER, desc: desc.cast::<c_void>() })
    }
}

fn to_u32(what: &'static str, numbers: &[u64]) -> Result<SmallVec<[u32; 8]>, Error> {
    numbers.iter().map(|&number| narrow(number, what)).collect()
}

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

    /// # Errors
    ///
    /// `unknown_data_type`, `out_of_limits` for flags that are not defined, `zero_size`, and the errors of
    /// [`BufferTensorDesc`]'s constructors.
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
            return Err(Code::ZeroSize.on_axis(axis, 0, 0));
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
    /// `out_of_limits` for no axes or more than 8; `bad_pointer` for null sizes and for sizes or strides that
    /// are not aligned; and the errors of [`DirectmlFields`].
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
