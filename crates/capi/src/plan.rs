//! Plans: checked once, run from any thread.

use std::ffi::c_char;
use std::slice;

use tensor_layout::relayout::{Padding, Relayout};

use crate::error::{Refusal, TlError, TlStatus, guarded};
use crate::input::reference;
use crate::layout::{TlLayout, give};

/// A planned copy of every element from one layout to another. It never changes, so threads may share it.
pub struct TlPlan(Relayout);

/// What becomes of the bytes of the destination that belong to no element.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlPadding {
    /// Nothing is written there.
    Keep = 0,
    /// They are set to zero.
    Zero = 1,
}

/// Plans a copy. `padding` is a `TlPadding`. Both layouts may be freed afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_plan(
    source: *const TlLayout,
    destination: *const TlLayout,
    padding: u32,
    plan: *mut *mut TlPlan,
    error: *mut TlError,
) -> TlStatus {
    // SAFETY: the pointers are those of the caller, whose contract is that of the header.
    unsafe {
        guarded(error, || {
            let (from, to) = (reference("source", source)?, reference("destination", destination)?);
            // An axis that both sides walk backwards is walked forwards.
            let only = |a: &[usize], b: &[usize]| a.iter().copied().filter(|axis| !b.contains(axis)).collect();
            let mut reversed: Vec<usize> = only(&from.reversed, &to.reversed);
            reversed.extend::<Vec<usize>>(only(&to.reversed, &from.reversed));
            let made = Relayout::reversing(&from.notated, &to.notated, &reversed)?;
            let made = match padding {
                0 => made,
                1 => made.with_padding(Padding::Zero)?,
                value => {
                    let (what, value) = ("`padding`", value.into());
                    return Err(tensor_layout::Error::OutOfLimits { what, value, min: 0, max: 1 }.into());
                }
            };
            give(plan, "plan", TlPlan(made))
        })
    }
}

/// The bytes of the whole source; 0 for a null plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_plan_source_bytes(plan: *const TlPlan) -> u64 {
    // SAFETY: as above.
    unsafe { reference("plan", plan) }.map_or(0, |plan| plan.0.source_size_in_bytes())
}

/// The bytes of the whole destination, padding included; 0 for a null plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_plan_destination_bytes(plan: *const TlPlan) -> u64 {
    // SAFETY: as above.
    unsafe { reference("plan", plan) }.map_or(0, |plan| plan.0.destination_size_in_bytes())
}

/// Copies every element. Both pointers are those of the buffers, at their lowest address. Buffers that are
/// too short are refused before a byte is written, and so are buffers that share bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_run(
    plan: *const TlPlan,
    source: *const u8,
    source_bytes: usize,
    destination: *mut u8,
    destination_bytes: usize,
    error: *mut TlError,
) -> TlStatus {
    // SAFETY: as above: the buffers are as long as they are said to be, nobody writes the source during the
    // call, and nobody touches the destination.
    unsafe {
        guarded(error, || {
            let plan = reference("plan", plan)?;
            let ends = |start: *const u8, bytes: usize| start.addr().checked_add(bytes);
            let whole = |bytes: usize| isize::try_from(bytes).is_ok();
            if source_bytes > 0 && (source.is_null() || !whole(source_bytes)) {
                return Err(Refusal::Pointer("source"));
            }
            if destination_bytes > 0 && (destination.is_null() || !whole(destination_bytes)) {
                return Err(Refusal::Pointer("destination"));
            }
            let (Some(source_end), Some(end)) = (ends(source, source_bytes), ends(destination, destination_bytes))
            else {
                return Err(Refusal::Pointer("source"));
            };
            if source_bytes > 0 && destination_bytes > 0 && source.addr() < end && destination.addr() < source_end {
                return Err(Refusal::SharedMemory);
            }
            let from = if source_bytes == 0 { &[][..] } else { slice::from_raw_parts(source, source_bytes) };
            let to = match destination_bytes {
                0 => &mut [][..],
                bytes => slice::from_raw_parts_mut(destination, bytes),
            };
            Ok(plan.0.run(from, to)?)
        })
    }
}

/// Writes what the plan does, as lines of text: as `tl_layout_text` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_plan_explain(plan: *const TlPlan, start: *mut c_char, room: usize) -> usize {
    // SAFETY: as above.
    let text = unsafe { reference("plan", plan) }.map_or(String::new(), |plan| plan.0.explain());
    // SAFETY: the caller gives space for `room` bytes.
    unsafe { crate::layout::write_text(&text, start, room) }
}

/// Frees a plan; null is right.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_plan_free(plan: *mut TlPlan) {
    if !plan.is_null() {
        // SAFETY: the caller got it from this library, frees it once, and no thread is running it.
        drop(unsafe { Box::from_raw(plan) });
    }
}
