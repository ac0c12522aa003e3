//! Conversions to and from the structures of the `windows` crate, which have the same fields under other
//! names.
//!
//! Structures of plain numbers and raw pointers have a `From` both ways. A binding of the `windows` crate
//! holds a counted reference to a resource, so the conversion to it is [`RawBufferBinding::to_windows`],
//! which is unsafe.

use core::ffi::c_void;
use core::mem::{ManuallyDrop, align_of, offset_of, size_of};
use core::ptr;

use ::windows::Win32::AI::MachineLearning::DirectML::{
    DML_BUFFER_BINDING, DML_BUFFER_TENSOR_DESC, DML_TENSOR_DATA_TYPE, DML_TENSOR_DESC, DML_TENSOR_FLAGS,
    DML_TENSOR_TYPE,
};
use ::windows::Win32::Graphics::Direct3D12::ID3D12Resource;
use ::windows::core::Interface;

use super::raw::{RawBufferBinding, RawBufferTensorDesc, RawTensorDesc};

// Both structures have equal fields at equal offsets, so that a pointer to one may be cast to a pointer to
// the other.
const _: () = {
    assert!(size_of::<RawBufferTensorDesc>() == size_of::<DML_BUFFER_TENSOR_DESC>());
    assert!(align_of::<RawBufferTensorDesc>() == align_of::<DML_BUFFER_TENSOR_DESC>());
    assert!(offset_of!(RawBufferTensorDesc, data_type) == offset_of!(DML_BUFFER_TENSOR_DESC, DataType));
    assert!(offset_of!(RawBufferTensorDesc, flags) == offset_of!(DML_BUFFER_TENSOR_DESC, Flags));
    assert!(offset_of!(RawBufferTensorDesc, dimension_count) == offset_of!(DML_BUFFER_TENSOR_DESC, DimensionCount));
    assert!(offset_of!(RawBufferTensorDesc, sizes) == offset_of!(DML_BUFFER_TENSOR_DESC, Sizes));
    assert!(offset_of!(RawBufferTensorDesc, strides) == offset_of!(DML_BUFFER_TENSOR_DESC, Strides));
    assert!(
        offset_of!(RawBufferTensorDesc, total_tensor_size_in_bytes)
            == offset_of!(DML_BUFFER_TENSOR_DESC, TotalTensorSizeInBytes)
    );
    assert!(
        offset_of!(RawBufferTensorDesc, guaranteed_base_offset_alignment)
            == offset_of!(DML_BUFFER_TENSOR_DESC, GuaranteedBaseOffsetAlignment)
    );
    assert!(size_of::<DML_TENSOR_DATA_TYPE>() == 4 && size_of::<DML_TENSOR_FLAGS>() == 4);

    assert!(size_of::<RawTensorDesc>() == size_of::<DML_TENSOR_DESC>());
    assert!(align_of::<RawTensorDesc>() == align_of::<DML_TENSOR_DESC>());
    assert!(offset_of!(RawTensorDesc, tensor_type) == offset_of!(DML_TENSOR_DESC, Type));
    assert!(offset_of!(RawTensorDesc, desc) == offset_of!(DML_TENSOR_DESC, Desc));

    assert!(size_of::<RawBufferBinding>() == size_of::<DML_BUFFER_BINDING>());
    assert!(align_of::<RawBufferBinding>() == align_of::<DML_BUFFER_BINDING>());
    assert!(offset_of!(RawBufferBinding, buffer) == offset_of!(DML_BUFFER_BINDING, Buffer));
    assert!(offset_of!(RawBufferBinding, offset) == offset_of!(DML_BUFFER_BINDING, Offset));
    assert!(offset_of!(RawBufferBinding, size_in_bytes) == offset_of!(DML_BUFFER_BINDING, SizeInBytes));
};

/// The pointers are copied. The arrays that they point to must live as long as the structure is read.
impl From<RawBufferTensorDesc> for DML_BUFFER_TENSOR_DESC {
    fn from(raw: RawBufferTensorDesc) -> Self {
        DML_BUFFER_TENSOR_DESC {
            DataType: DML_TENSOR_DATA_TYPE(raw.data_type),
            Flags: DML_TENSOR_FLAGS(raw.flags),
            DimensionCount: raw.dimension_count,
            Sizes: raw.sizes,
            Strides: raw.strides,
            TotalTensorSizeInBytes: raw.total_tensor_size_in_bytes,
            GuaranteedBaseOffsetAlignment: raw.guaranteed_base_offset_alignment,
        }
    }
}

impl From<DML_BUFFER_TENSOR_DESC> for RawBufferTensorDesc {
    fn from(desc: DML_BUFFER_TENSOR_DESC) -> Self {
        RawBufferTensorDesc {
            data_type: desc.DataType.0,
            flags: desc.Flags.0,
            dimension_count: desc.DimensionCount,
            sizes: desc.Sizes,
            strides: desc.Strides,
            total_tensor_size_in_bytes: desc.TotalTensorSizeInBytes,
            guaranteed_base_offset_alignment: desc.GuaranteedBaseOffsetAlignment,
        }
    }
}

/// The pointer is copied. The structure that it points to must live as long as the result is read.
impl From<RawTensorDesc> for DML_TENSOR_DESC {
    fn from(raw: RawTensorDesc) -> Self {
        DML_TENSOR_DESC { Type: DML_TENSOR_TYPE(raw.tensor_type), Desc: raw.desc }
    }
}

impl From<DML_TENSOR_DESC> for RawTensorDesc {
    fn from(desc: DML_TENSOR_DESC) -> Self {
        RawTensorDesc { tensor_type: desc.Type.0, desc: desc.Desc }
    }
}

/// The result holds no reference to the resource, so the resource must live as long as the pointer is used.
impl From<&DML_BUFFER_BINDING> for RawBufferBinding {
    fn from(binding: &DML_BUFFER_BINDING) -> Self {
        let buffer = binding.Buffer.as_ref().map_or(ptr::null_mut::<c_void>(), Interface::as_raw);
        RawBufferBinding { buffer, offset: binding.Offset, size_in_bytes: binding.SizeInBytes }
    }
}

impl RawBufferBinding {
    /// Returns the binding with a resource of the `windows` crate. The result holds no counted reference, so
    /// dropping the result releases nothing.
    ///
    /// # Safety
    ///
    /// `buffer` must be null or an `ID3D12Resource` that lives as long as the result is used.
    ///
    /// ```
    /// use tensor_layout::interop::directml::RawBufferBinding;
    ///
    /// let raw = RawBufferBinding { buffer: std::ptr::null_mut(), offset: 256, size_in_bytes: 64 };
    /// // SAFETY: the pointer is null.
    /// let binding = unsafe { raw.to_windows() };
    /// assert_eq!((binding.Offset, binding.SizeInBytes, binding.Buffer.is_none()), (256, 64, true));
    /// ```
    #[must_use]
    pub unsafe fn to_windows(&self) -> DML_BUFFER_BINDING {
        let resource = (!self.buffer.is_null()).then(|| {
            // SAFETY: the caller promises that the pointer, which is not null, is a resource that outlives
            // the result. No reference was taken for the result, and `ManuallyDrop` keeps the result from
            // releasing a reference.
            unsafe { ID3D12Resource::from_raw(self.buffer) }
        });
        DML_BUFFER_BINDING { Buffer: ManuallyDrop::new(resource), Offset: self.offset, SizeInBytes: self.size_in_bytes }
    }
}
