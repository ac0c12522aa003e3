//! The structures of DirectML.h, field for field.
//!
//! The structures do not need Windows. Their sizes and offsets are checked below for every 64-bit target,
//! against the header of DirectML 1.15.

use core::ffi::c_void;

/// `DML_BUFFER_TENSOR_DESC`: the type, the sizes and the strides of a tensor in a buffer.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct RawBufferTensorDesc {
    /// `DataType`: a value of `DML_TENSOR_DATA_TYPE`.
    pub data_type: i32,
    /// `Flags`: 0, or 1 for `DML_TENSOR_FLAG_OWNED_BY_DML`.
    pub flags: i32,
    /// `DimensionCount`: the number of axes.
    pub dimension_count: u32,
    /// `Sizes`: `dimension_count` numbers.
    pub sizes: *const u32,
    /// `Strides`: `dimension_count` numbers, or null for a packed tensor.
    pub strides: *const u32,
    /// `TotalTensorSizeInBytes`: the size of the buffer, in bytes.
    pub total_tensor_size_in_bytes: u64,
    /// `GuaranteedBaseOffsetAlignment`, in bytes: 0 for no guarantee.
    pub guaranteed_base_offset_alignment: u32,
}

/// `DML_TENSOR_DESC`: the kind of a tensor, and a pointer to its description.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct RawTensorDesc {
    /// `Type`: [`DML_TENSOR_TYPE_BUFFER`].
    pub tensor_type: i32,
    /// `Desc`: points to a [`RawBufferTensorDesc`].
    pub desc: *const c_void,
}

/// `DML_BUFFER_BINDING`: the range of a resource that is bound to a tensor.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct RawBufferBinding {
    /// `Buffer`: an `ID3D12Resource`, or null.
    pub buffer: *mut c_void,
    /// `Offset`: where the range begins in the resource, in bytes.
    pub offset: u64,
    /// `SizeInBytes`: the length of the range, in bytes.
    pub size_in_bytes: u64,
}

/// The value of `Type` for a buffer tensor, the only kind of tensor in DirectML.
pub const DML_TENSOR_TYPE_BUFFER: i32 = 1;
/// `DML_TENSOR_FLAG_OWNED_BY_DML`: the flag of a tensor that DirectML owns.
pub const DML_TENSOR_FLAG_OWNED_BY_DML: i32 = 1;

#[cfg(target_pointer_width = "64")]
const _: () = {
    use core::mem::{align_of, offset_of, size_of};

    assert!(size_of::<RawBufferTensorDesc>() == 48 && align_of::<RawBufferTensorDesc>() == 8);
    assert!(offset_of!(RawBufferTensorDesc, data_type) == 0);
    assert!(offset_of!(RawBufferTensorDesc, flags) == 4);
    assert!(offset_of!(RawBufferTensorDesc, dimension_count) == 8);
    assert!(offset_of!(RawBufferTensorDesc, sizes) == 16);
    assert!(offset_of!(RawBufferTensorDesc, strides) == 24);
    assert!(offset_of!(RawBufferTensorDesc, total_tensor_size_in_bytes) == 32);
    assert!(offset_of!(RawBufferTensorDesc, guaranteed_base_offset_alignment) == 40);
    assert!(size_of::<RawTensorDesc>() == 16 && offset_of!(RawTensorDesc, desc) == 8);
    assert!(size_of::<RawBufferBinding>() == 24);
    assert!(offset_of!(RawBufferBinding, offset) == 8 && offset_of!(RawBufferBinding, size_in_bytes) == 16);
};
