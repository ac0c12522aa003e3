//! Checks before an upload.

use std::ffi::c_char;

use tensor_layout::upload::{DeviceLimits, Role, UploadBuffer, validate};

use crate::error::{TlError, TlStatus, guarded};
use crate::input::{answer, reference, text};
use crate::layout::TlLayout;

/// The numbers of a check, in bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct TlReport {
    /// Where the binding begins in the buffer, and one past its last byte.
    pub bound_start: u64,
    /// See `bound_start`.
    pub bound_end: u64,
    /// What the source of an upload must hold.
    pub cpu_bytes: u64,
    /// What the start of the binding must be a multiple of.
    pub alignment: u64,
    /// How many rules are broken: the `TlError` has the first.
    pub errors: usize,
}

/// Would a device take this tensor at byte `offset` of a buffer of `length` bytes? `limits` names the device:
/// `directml`, `directml:5.0`, `d3d12`, `webgpu`, `vulkan`, `webnn`, `none` and others. The report is written
/// in either case; it may be null. `role` is 0 for a tensor that the device reads, 1 for one that it writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_validate(
    layout: *const TlLayout,
    limits: *const c_char,
    limits_length: usize,
    length: u64,
    offset: u64,
    role: u32,
    report: *mut TlReport,
    error: *mut TlError,
) -> TlStatus {
    // SAFETY: the pointers are those of the caller, whose contract is that of the header.
    unsafe {
        guarded(error, || {
            let layout = reference("layout", layout)?;
            let limits: DeviceLimits = text("limits", limits, limits_length)?.parse()?;
            let role = match role {
                0 => Role::Input,
                1 => Role::Output,
                value => {
                    let (what, value) = ("`role`", value.into());
                    return Err(tensor_layout::Error::OutOfLimits { what, value, min: 0, max: 1 }.into());
                }
            };
            let checked = validate(&layout.notated, &UploadBuffer::new(length, offset, role), &limits);
            let (numbers, errors) = match &checked {
                Ok(numbers) => (numbers, 0),
                Err(errors) => (&*errors.report, errors.len()),
            };
            if !report.is_null() {
                let said = TlReport {
                    bound_start: numbers.bound.start,
                    bound_end: numbers.bound.end,
                    cpu_bytes: numbers.cpu_bytes,
                    alignment: numbers.alignment_required,
                    errors,
                };
                answer("report", report, said)?;
            }
            checked.map(drop).map_err(|errors| tensor_layout::Error::from(errors).into())
        })
    }
}
