//! Plans: made and checked once, run from any thread.

use std::ffi::c_char;
use std::slice;

use tensor_layout::Error;
use tensor_layout::relayout::{Padding, Relayout, Settings};
use tensor_layout_text::Layout;
use tensor_layout_text::layout::{Copies, copies};

use crate::error::{Refusal, TlError, TlStatus, guarded, guarded_answer};
use crate::input::reference;
use crate::layout::{TlLayout, give};

/// A planned copy of every element from one layout to another. It never changes, so threads may share it.
pub struct TlPlan(Plan);

enum Plan {
    One(Box<Relayout>),
    /// The copies of layouts of several planes or parts.
    Several(Box<Copies>),
}

impl Plan {
    fn new(from: &Layout, to: &Layout, padding: Padding) -> Result<Plan, Error> {
        let ([one], [other]) = (from.planes(), to.planes()) else { return Plan::several(from, to, padding) };
        let (Some(source), Some(destination)) = (one.any(), other.any()) else {
            return Plan::several(from, to, padding);
        };
        // If both sides have a negative stride for an axis, the axis is copied forwards.
        let only = |a: &[usize], b: &[usize]| a.iter().copied().filter(|axis| !b.contains(axis)).collect::<Vec<_>>();
        let reversed = [only(one.reversed(), other.reversed()), only(other.reversed(), one.reversed())].concat();
        let settings = Settings { reversed, padding, ..Settings::default() };
        Ok(Plan::One(Box::new(Relayout::with_settings(source, destination, &settings)?)))
    }

    fn several(from: &Layout, to: &Layout, padding: Padding) -> Result<Plan, Error> {
        if padding == Padding::Zero {
            let reason = "a side lies in several planes or parts: set the destination to zero before the copy";
            return Err(Error::not_expressible("copy that writes padding", reason));
        }
        Ok(Plan::Several(Box::new(copies(from, to, &Settings::default())?)))
    }
}

/// The treatment of the bytes of the destination that belong to no element.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlPadding {
    /// The bytes are not written.
    Keep = 0,
    /// The bytes are set to zero.
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
    // SAFETY: the caller promises the contract in the header for these pointers.
    unsafe {
        guarded(error, || {
            let (from, to) = (reference("source", source)?, reference("destination", destination)?);
            let padding = match padding {
                0 => Padding::Keep,
                1 => Padding::Zero,
                value => return Err(Error::out_of_limits("`padding`", value.into(), 0, 1).into()),
            };
            give(plan, "plan", TlPlan(Plan::new(&from.0, &to.0, padding)?))
        })
    }
}

/// Returns the size of the whole source in bytes, or 0 for a null plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_plan_source_bytes(plan: *const TlPlan) -> u64 {
    guarded_answer(|| {
        // SAFETY: the caller promises the contract in the header for this pointer.
        Ok(match &unsafe { reference("plan", plan) }?.0 {
            Plan::One(plan) => plan.source_size_in_bytes(),
            Plan::Several(copies) => copies.source_size_in_bytes(),
        })
    })
}

/// Returns the size by which the destination is allocated, in bytes, padding included, or 0 for a null plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_plan_destination_bytes(plan: *const TlPlan) -> u64 {
    guarded_answer(|| {
        // SAFETY: the caller promises the contract in the header for this pointer.
        Ok(match &unsafe { reference("plan", plan) }?.0 {
            Plan::One(plan) => plan.destination_size_in_bytes(),
            Plan::Several(copies) => copies.destination_size_in_bytes(),
        })
    })
}

/// Copies every element. Both pointers are the lowest addresses of their buffers. Buffers that are too short,
/// or that share bytes, are refused before a byte is written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_run(
    plan: *const TlPlan,
    source: *const u8,
    source_bytes: usize,
    destination: *mut u8,
    destination_bytes: usize,
    error: *mut TlError,
) -> TlStatus {
    let run = || {
        // SAFETY: the caller promises the contract in the header for this pointer.
        let plan = unsafe { reference("plan", plan) }?;
        let ends = |start: *const u8, bytes: usize| start.addr().checked_add(bytes);
        let whole = |bytes: usize| isize::try_from(bytes).is_ok();
        if source_bytes > 0 && (source.is_null() || !whole(source_bytes)) {
            return Err(Refusal::Pointer("source"));
        }
        if destination_bytes > 0 && (destination.is_null() || !whole(destination_bytes)) {
            return Err(Refusal::Pointer("destination"));
        }
        let (Some(source_end), Some(end)) = (ends(source, source_bytes), ends(destination, destination_bytes)) else {
            return Err(Refusal::Pointer("source"));
        };
        if source_bytes > 0 && destination_bytes > 0 && source.addr() < end && destination.addr() < source_end {
            return Err(Refusal::SharedMemory);
        }
        let from = match source_bytes {
            0 => &[][..],
            // SAFETY: the pointer is not null, and the length fits `isize`. The caller promises that so many
            // bytes can be read, and that nothing writes them during the call.
            bytes => unsafe { slice::from_raw_parts(source, bytes) },
        };
        let to = match destination_bytes {
            0 => &mut [][..],
            // SAFETY: the pointer is not null, and the length fits `isize`. The caller promises that so many
            // bytes can be written, and that nothing else accesses them. The source has none of them.
            bytes => unsafe { slice::from_raw_parts_mut(destination, bytes) },
        };
        match &plan.0 {
            Plan::One(plan) => plan.run(from, to)?,
            Plan::Several(copies) => copies.run(from, to)?,
        }
        Ok(())
    };
    // SAFETY: the caller promises that `error` is null or may be written.
    unsafe { guarded(error, run) }
}

/// Writes a description of the plan as lines of text, in the way of `tl_layout_text`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_plan_explain(plan: *const TlPlan, start: *mut c_char, room: usize) -> usize {
    let text = guarded_answer(|| {
        // SAFETY: the caller promises the contract in the header for this pointer.
        Ok(match &unsafe { reference("plan", plan) }?.0 {
            Plan::One(plan) => plan.explain(),
            Plan::Several(copies) => copies.list().iter().map(|copy| copy.plan.explain()).collect(),
        })
    });
    // SAFETY: the caller promises that `start` is null or has space for `room` bytes.
    unsafe { crate::layout::write_text(&text, start, room) }
}

/// Frees a plan, which may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_plan_free(plan: *mut TlPlan) {
    if !plan.is_null() {
        // SAFETY: the caller got the plan from this library, frees it once, and no thread is running it.
        drop(unsafe { Box::from_raw(plan) });
    }
}
