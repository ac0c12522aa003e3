//! Finds a device.

use std::sync::Arc;

use cudarc::driver::CudaContext;

/// Returns the primary context of a device, or `None` if there is no such device, no driver, or no NVRTC.
///
/// ```
/// // Where there is no GPU nothing panics.
/// if let Some(context) = tensor_layout_cuda::device(0) {
///     println!("{}", context.name().unwrap());
/// }
/// ```
#[must_use]
#[expect(unsafe_code, reason = "cudarc looks for libraries")]
pub fn device(ordinal: usize) -> Option<Arc<CudaContext>> {
    // SAFETY: Loading a library runs its initialisers. The initialisers of NVIDIA's driver and NVRTC may run
    // at any time.
    let present = unsafe { cudarc::driver::sys::is_culib_present() && cudarc::nvrtc::sys::is_culib_present() };
    if present { CudaContext::new(ordinal).ok() } else { None }
}
