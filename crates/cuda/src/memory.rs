//! The device memory that this crate takes: cudarc's own types.
//!
//! cudarc's traits `DevicePtr` and `DevicePtrMut` are safe, so any type may implement them with a pointer and
//! a length of its own. The copies of this crate rely on both, so they take types whose pointer and length
//! are cudarc's.

use bytemuck::AnyBitPattern;
use cudarc::driver::{
    CudaSlice, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, UnifiedSlice, UnifiedView, UnifiedViewMut,
};

/// Device memory that is read: a slice or a view of cudarc's. No other type implements this trait.
///
/// ```compile_fail,E0277
/// struct Elsewhere;
///
/// fn reads<T, S: tensor_layout_cuda::Memory<T>>(_: &S) {}
/// reads::<u8, Elsewhere>(&Elsewhere);
/// ```
pub trait Memory<T>: DevicePtr<T> + sealed::Sealed {}

/// Device memory that is written: a slice or a mutable view of cudarc's whose elements may hold any bytes. No
/// other type implements this trait.
///
/// ```compile_fail,E0277
/// use cudarc::driver::CudaSlice;
///
/// // The bytes of another tensor are no `bool`.
/// fn writes<T, D: tensor_layout_cuda::MemoryMut<T>>(_: &mut D) {}
/// fn flags(memory: &mut CudaSlice<bool>) {
///     writes(memory);
/// }
/// ```
pub trait MemoryMut<T>: DevicePtrMut<T> + sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

/// A line for each type: its lifetime, if it has one, and whether it can be written.
macro_rules! memory {
    ($($type:ident $(<$lifetime:lifetime>)? $($written:ident)?;)*) => {$(
        impl<T> sealed::Sealed for $type<$($lifetime,)? T> {}
        impl<T> Memory<T> for $type<$($lifetime,)? T> {}
        memory!(@ $type $(<$lifetime>)? $($written)?);
    )*};
    (@ $type:ident $(<$lifetime:lifetime>)?) => {};
    (@ $type:ident $(<$lifetime:lifetime>)? written) => {
        impl<T: AnyBitPattern> MemoryMut<T> for $type<$($lifetime,)? T> {}
    };
}

memory! {
    CudaSlice written;
    CudaView<'_>;
    CudaViewMut<'_> written;
    UnifiedSlice written;
    UnifiedView<'_>;
    UnifiedViewMut<'_> written;
}
