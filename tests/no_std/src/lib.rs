//! A program without the standard library that uses the library. It does not build if any of its dependencies
//! links `std`, because `std` has a panic handler too.
#![no_std]

extern crate alloc;

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;

use tensor_layout::bridge::{Lowering, lower};
use tensor_layout::upload::{DeviceLimits, Role, UploadBuffer, validate};
use tensor_layout::{AnyLayout, ArrayShape, BufferTensorDesc, Error, ToIndexMap};

/// An allocator without memory. This program is built and never run.
struct NoMemory;

// SAFETY: a null pointer means that there is no memory, and nothing was allocated that could be freed.
unsafe impl GlobalAlloc for NoMemory {
    unsafe fn alloc(&self, _layout: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _pointer: *mut u8, _layout: Layout) {}
}

#[global_allocator]
static MEMORY: NoMemory = NoMemory;

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    loop {}
}

fn sizes() -> Result<u64, Error> {
    let rows: BufferTensorDesc = "f32[2,3]:[5,1]".parse()?;
    let tiled: ArrayShape = "bf16[300,500]{1,0:T(8,128)(2,1)}".parse()?;
    let image: AnyLayout = "f16[8,64,56,56]:NHWC".parse()?;
    let lowered = matches!(lower(&tiled)?, Lowering::Split(_));
    let report = validate(&rows, &UploadBuffer::new(64, 0, Role::Input), &DeviceLimits::webgpu());
    Ok(rows.min_size_in_bytes()
        + tiled.physical_size_in_bytes()?
        + image.to_index_map()?.offset(&[1, 2, 3, 4])?
        + u64::from(lowered && report.is_ok()))
}

/// Returns the sum of some sizes and offsets, or 0 for an error.
#[unsafe(no_mangle)]
pub extern "C" fn tensor_layout_sizes() -> u64 {
    sizes().unwrap_or(0)
}
