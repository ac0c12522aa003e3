//! Checks of a tensor before an upload.

use std::ffi::c_char;

use tensor_layout::upload::{DeviceLimits, Role, UploadBuffer, validate};

use crate::error::{TlError, TlStatus, guarded};
use crate::input::{answer, reference, text};
use crate::layout::TlLayout;

/// The numbers of a check, in bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct TlReport {
    /// The offset of the binding's first byte in the buffer.
    pub bound_start: u64,
    /// The offset of the end of the binding in the buffer.
    pub bound_end: u64,
    /// The number of bytes that the source of an upload must have.
    pub cpu_bytes: u64,
    /// The start of the binding must be a multiple of this number.
    pub alignment: u64,
    /// The number of broken rules. The `TlError` has the first.
    pub errors: usize,
}

/// Checks whether a device accepts this tensor at byte `offset` of a buffer of `length` bytes. `limits` is
/// the name of the device, as `tensor-layout check --limits list` prints it: `webgpu`, `directml:5.0`. The
/// report is written whether rules are broken or not, and it may be null. `role` is 0 for a tensor that the
/// device reads, and 1 for a tensor that it writes.
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
    let check = || {
        // SAFETY: the caller promises the contract in the header for this pointer.
        let layout = unsafe { reference("layout", layout) }?;
        // SAFETY: the caller promises that `limits` has `limits_length` bytes.
        let limits: DeviceLimits = unsafe { text("limits", limits, limits_length) }?.parse()?;
        let role = match role {
            0 => Role::Input,
            1 => Role::Output,
            value => {
                let (what, value) = ("`role`", value.into());
                return Err(tensor_layout::Error::out_of_limits(what, value, 0, 1).into());
            }
        };
        let buffer = UploadBuffer::new(length, offset, role);
        let checked = match (layout.0.planes(), layout.0.whole()) {
            ([plane], Err(_)) => validate(&plane.bound()?.desc, &buffer, &limits),
            (_, Err(several)) => return Err(several.into()),
            _ => validate(&layout.0, &buffer, &limits),
        };
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
            // SAFETY: the caller promises that `report` may be written, and it is not null.
            unsafe { answer("report", report, said) }?;
        }
        checked.map(drop).map_err(|errors| tensor_layout::Error::from(errors).into())
    };
    // SAFETY: the caller promises that `error` is null or may be written.
    unsafe { guarded(error, check) }
}
