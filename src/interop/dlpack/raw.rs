//! The structures of dlpack.h, field for field.

use core::ffi::c_void;

/// `DLDevice`: the device that holds the memory of a tensor.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DlDevice {
    /// `device_type`: 1 is the CPU, 2 CUDA, 7 Vulkan, 8 Metal, 15 WebGPU.
    pub device_type: i32,
    /// `device_id`: the number of the device among the devices of its type.
    pub device_id: i32,
}

/// `DLDataType`: the type of an element.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DlDataType {
    /// `code`: a value of `DLDataTypeCode`.
    pub code: u8,
    /// `bits`: the number of bits of one lane.
    pub bits: u8,
    /// `lanes`: the number of values in an element, usually 1.
    pub lanes: u16,
}

/// `DLTensor`: a pointer to memory, and the layout of a tensor there.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DlTensor {
    /// `data`: the start of the memory.
    pub data: *mut c_void,
    /// `device`: the device that holds the memory.
    pub device: DlDevice,
    /// `ndim`: the number of axes.
    pub ndim: i32,
    /// `dtype`: the type of an element.
    pub dtype: DlDataType,
    /// `shape`: `ndim` numbers, in elements.
    pub shape: *mut i64,
    /// `strides`: `ndim` numbers, in elements; null means packed, before version 1.2.
    pub strides: *mut i64,
    /// `byte_offset`: the offset of the first element from `data`, in bytes.
    pub byte_offset: u64,
}

/// `DLPackVersion`: the version of dlpack.h that a producer was built with.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DlVersion {
    /// `major`: changes with the fields of the structures.
    pub major: u32,
    /// `minor`: changes with new types and devices.
    pub minor: u32,
}

/// `DLManagedTensorVersioned`: a tensor, and the function that ends its use.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DlManagedTensor {
    /// `version`: the version of this structure.
    pub version: DlVersion,
    /// `manager_ctx`: the producer's own.
    pub manager_ctx: *mut c_void,
    /// `deleter`: what a consumer calls once, with this structure, when it no longer uses the tensor. May be
    /// null.
    pub deleter: Option<unsafe extern "C" fn(*mut DlManagedTensor)>,
    /// `flags`: 1 for memory that is only read, 2 for a copy, 4 for types below a byte that take a byte each.
    pub flags: u64,
    /// `dl_tensor`: the tensor.
    pub dl_tensor: DlTensor,
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    use core::mem::{align_of, offset_of, size_of};

    assert!(size_of::<DlDevice>() == 8 && size_of::<DlDataType>() == 4);
    assert!(size_of::<DlTensor>() == 48 && align_of::<DlTensor>() == 8);
    assert!(offset_of!(DlTensor, device) == 8 && offset_of!(DlTensor, ndim) == 16);
    assert!(offset_of!(DlTensor, dtype) == 20 && offset_of!(DlTensor, shape) == 24);
    assert!(offset_of!(DlTensor, strides) == 32 && offset_of!(DlTensor, byte_offset) == 40);
    assert!(size_of::<DlManagedTensor>() == 80 && offset_of!(DlManagedTensor, deleter) == 16);
    assert!(offset_of!(DlManagedTensor, flags) == 24 && offset_of!(DlManagedTensor, dl_tensor) == 32);
};
