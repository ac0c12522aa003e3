//! Layouts: made from text, from sizes and strides, or from PJRT's structures, and queried.

use std::ffi::c_char;

use tensor_layout::AnyLayout;
use tensor_layout::bridge::Lowering;
use tensor_layout::interop::pjrt::PjrtFields;
use tensor_layout::map::Fingerprint;
use tensor_layout::{BufferTensorDesc, Error, calc_buffer_tensor_size, lower};
use tensor_layout_text::Layout;

use crate::data_type::data_type;
use crate::error::{Refusal, TlError, TlStatus, guarded, guarded_answer};
use crate::input::{answer, answers, list, reference, text};

/// The layout of a tensor, which gives the offset of every element. It never changes.
pub struct TlLayout(pub(crate) Layout);

/// Returns the sizes of a tensor in the form of PJRT.
unsafe fn dims(start: *const i64, rank: usize) -> Result<Vec<u64>, Refusal> {
    // SAFETY: the caller of this function promises the contract of `list`.
    let dims = unsafe { list("dims", start, rank)? };
    let size =
        |(axis, &size): (usize, &i64)| u64::try_from(size).map_err(|_| Refusal::from(Error::negative("sizes", axis)));
    dims.iter().enumerate().map(size).collect()
}

/// Writes the smallest size of a buffer in bytes, by DirectML's rule (`DMLCalcBufferTensorSize`): up to the
/// last element, rounded up to a multiple of 4. `strides` are in elements, or null for packed row-major.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_calc_buffer_tensor_size(
    data_type_number: u32,
    sizes: *const u64,
    strides: *const u64,
    rank: usize,
    bytes: *mut u64,
    error: *mut TlError,
) -> TlStatus {
    // SAFETY: the caller promises the contract in the header for these pointers.
    unsafe {
        guarded(error, || {
            let (data_type, sizes) = (data_type(data_type_number)?, list("sizes", sizes, rank)?);
            let strides = if strides.is_null() { None } else { Some(list("strides", strides, rank)?) };
            answer("bytes", bytes, calc_buffer_tensor_size(data_type, sizes, strides)?)
        })
    }
}

/// Reads a layout in any notation: `f32[3,5]{1,0:T(2,2)}`, `f16[8,64,56,56]:NHWC`, `f32[2,3]:[5,1]`, a oneDNN
/// tag, CuTe, NumPy, DirectML's JSON, a device layout's name, a cache with a block table, values with scales
/// or a tuple. `length` is the length of the text in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_layout_parse(
    text_start: *const c_char,
    length: usize,
    layout: *mut *mut TlLayout,
    error: *mut TlError,
) -> TlStatus {
    // SAFETY: the caller promises the contract in the header for these pointers.
    unsafe { guarded(error, || give(layout, "layout", TlLayout(text("text", text_start, length)?.parse()?))) }
}

/// Makes a layout from sizes and strides, in elements. `strides` may be null for packed row-major. The tensor
/// begins `base_offset` elements into its buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_layout_strided(
    data_type_number: u32,
    sizes: *const u64,
    strides: *const u64,
    rank: usize,
    base_offset: u64,
    layout: *mut *mut TlLayout,
    error: *mut TlError,
) -> TlStatus {
    // SAFETY: the caller promises the contract in the header for these pointers.
    unsafe {
        guarded(error, || {
            let (data_type, sizes) = (data_type(data_type_number)?, list("sizes", sizes, rank)?);
            let strides = if strides.is_null() { None } else { Some(list("strides", strides, rank)?) };
            let desc = BufferTensorDesc::new(data_type, sizes, strides)?;
            let desc = if base_offset == 0 { desc } else { desc.with_base_offset(base_offset)? };
            give(layout, "layout", TlLayout(desc.into()))
        })
    }
}

/// Makes a copy of `layout` that is a part of a larger buffer. The bytes between its elements may belong to
/// other tensors, so no copy fills them. A layout with a base offset always is such a part. Returns
/// `TL_STATUS_NOT_EXPRESSIBLE` for tiles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_layout_as_part(
    layout: *const TlLayout,
    part: *mut *mut TlLayout,
    error: *mut TlError,
) -> TlStatus {
    // SAFETY: the caller promises the contract in the header for these pointers.
    unsafe {
        guarded(error, || {
            let whole = &reference("layout", layout)?.0;
            let ([plane], Some(AnyLayout::Strided(desc))) = (whole.planes(), whole.values().any()) else {
                let reason = "only sizes and strides have gaps that may belong to other tensors";
                return Err(Error::not_expressible("part of a larger buffer", reason).into());
            };
            give(part, "part", TlLayout(Layout::turned(desc.as_part().into(), plane.reversed().to_vec())))
        })
    }
}

/// Makes a layout from the arguments of `PJRT_Client_BufferFromHostBuffer`: dims, and byte strides that may
/// be negative. Without byte strides (`num_byte_strides` 0) the layout is packed row-major. A pointer to
/// index 0 is `tl_layout_first_byte` bytes into the buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_layout_byte_strides(
    data_type_number: u32,
    dims_start: *const i64,
    rank: usize,
    byte_strides: *const i64,
    num_byte_strides: usize,
    layout: *mut *mut TlLayout,
    error: *mut TlError,
) -> TlStatus {
    // SAFETY: the caller promises the contract in the header for these pointers.
    unsafe {
        guarded(error, || {
            let (data_type, sizes) = (data_type(data_type_number)?, dims(dims_start, rank)?);
            let byte_strides = list("byte_strides", byte_strides, num_byte_strides)?;
            if num_byte_strides == 0 {
                let packed = BufferTensorDesc::packed(data_type, &sizes)?;
                return give(layout, "layout", TlLayout(packed.into()));
            }
            let signed = PjrtFields::Strides(byte_strides).to_signed(data_type, &sizes)?;
            give(layout, "layout", TlLayout(Layout::turned(signed.desc.into(), signed.reversed)))
        })
    }
}

/// Makes a layout from the fields of `PJRT_Buffer_MemoryLayout_Tiled`: the order of the dimensions, the
/// fastest first, and the tiles one after the other. `INT64_MIN` in a tile joins a dimension to the next.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_layout_tiled(
    data_type_number: u32,
    dims_start: *const i64,
    rank: usize,
    minor_to_major: *const i64,
    minor_to_major_size: usize,
    tile_dims: *const i64,
    tile_dim_sizes: *const usize,
    num_tiles: usize,
    layout: *mut *mut TlLayout,
    error: *mut TlError,
) -> TlStatus {
    // SAFETY: the caller promises the contract in the header for these pointers. `tile_dims` has as many
    // numbers as the sum of `tile_dim_sizes`.
    unsafe {
        guarded(error, || {
            let (data_type, sizes) = (data_type(data_type_number)?, dims(dims_start, rank)?);
            let minor_to_major = list("minor_to_major", minor_to_major, minor_to_major_size)?;
            let tile_dim_sizes = list("tile_dim_sizes", tile_dim_sizes, num_tiles)?;
            let entries = tile_dim_sizes.iter().fold(0_usize, |sum, &length| sum.saturating_add(length));
            let tile_dims = list("tile_dims", tile_dims, entries)?;
            let fields = PjrtFields::Tiled { minor_to_major, tile_dims, tile_dim_sizes };
            give(layout, "layout", TlLayout(fields.to_layout(data_type, &sizes)?.into()))
        })
    }
}

/// Returns the number of axes, or 0 for a null layout.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_layout_rank(layout: *const TlLayout) -> usize {
    // SAFETY: the caller promises the contract in the header for this pointer.
    guarded_answer(|| Ok(unsafe { reference("layout", layout) }?.0.sizes().len()))
}

/// Returns the size of the buffer in bytes, padding and all planes included, or 0 for a null layout and for a
/// tuple, whose elements have buffers of their own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_layout_bytes(layout: *const TlLayout) -> u64 {
    // SAFETY: the caller promises the contract in the header for this pointer.
    guarded_answer(|| Ok(unsafe { reference("layout", layout) }?.0.size_in_bytes()?))
}

/// Returns the number of bytes from the start of the buffer to index 0 of all axes. It is above 0 if a byte
/// stride is negative, or if the tensor begins inside its buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_layout_first_byte(layout: *const TlLayout) -> u64 {
    guarded_answer(|| {
        // SAFETY: the caller promises the contract in the header for this pointer.
        let values = unsafe { reference("layout", layout) }?.0.values();
        let bits = values.parts().first().map_or(8, |part| part.map.element_bits());
        let first = u128::from(values.first().unwrap_or(0)).saturating_mul(bits.into());
        Ok(u64::try_from(first.div_euclid(8)).unwrap_or(u64::MAX))
    })
}

/// Writes the sizes, in elements. `rank` must be the rank of the layout.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_layout_sizes(
    layout: *const TlLayout,
    sizes: *mut u64,
    rank: usize,
    error: *mut TlError,
) -> TlStatus {
    // SAFETY: the caller promises the contract in the header for these pointers.
    unsafe { guarded(error, || answers("sizes", sizes, rank, reference("layout", layout)?.0.sizes())) }
}

/// Writes the strides, in elements and without a sign. Returns `TL_STATUS_NOT_EXPRESSIBLE` for a layout
/// without strides (tiles, several parts or planes).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_layout_strides(
    layout: *const TlLayout,
    strides: *mut u64,
    rank: usize,
    error: *mut TlError,
) -> TlStatus {
    // SAFETY: the caller promises the contract in the header for these pointers.
    unsafe {
        guarded(error, || {
            let layout = &reference("layout", layout)?.0;
            match (layout.planes(), layout.values().any(), layout.values().parts()) {
                ([_], Some(AnyLayout::Strided(desc)), _) => answers("strides", strides, rank, desc.strides()),
                ([_], Some(_), [part]) => {
                    let none = || Error::not_expressible("list of strides", "it is made of tiles");
                    answers("strides", strides, rank, &part.map.strides().ok_or_else(none)?)
                }
                _ => Err(Error::not_expressible(
                    "list of strides",
                    layout.whole().err().map(|error| error.found().to_owned()).unwrap_or_default(),
                )
                .into()),
            }
        })
    }
}

/// Writes the offset of an index, in elements from the start of the buffer; of a tensor of blocks in bytes,
/// and of values with scales that of the value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_layout_offset(
    layout: *const TlLayout,
    index: *const u64,
    rank: usize,
    offset: *mut u64,
    error: *mut TlError,
) -> TlStatus {
    // SAFETY: the caller promises the contract in the header for these pointers.
    unsafe {
        guarded(error, || {
            let values = reference("layout", layout)?.0.values();
            answer("offset", offset, values.place(list("index", index, rank)?)?.offset)
        })
    }
}

/// Writes the 16 bytes of the fingerprint, which is equal for layouts with one type, sizes and normal form,
/// in any program. Returns `TL_STATUS_NOT_EXPRESSIBLE` for a layout without a normal form.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_layout_fingerprint(
    layout: *const TlLayout,
    bytes: *mut u8,
    length: usize,
    error: *mut TlError,
) -> TlStatus {
    // SAFETY: the caller promises the contract in the header for these pointers.
    unsafe {
        guarded(error, || {
            let layout = &reference("layout", layout)?.0;
            answers("bytes", bytes, length, &Fingerprint::of(layout)?.0)
        })
    }
}

/// Writes the text of a layout and a zero byte into `room` bytes, and cuts off a longer text. Returns the
/// length of the whole text without the zero byte, or 0 for a null layout.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_layout_text(layout: *const TlLayout, start: *mut c_char, room: usize) -> usize {
    // SAFETY: the caller promises the contract in the header for this pointer.
    let text = guarded_answer(|| Ok(unsafe { reference("layout", layout) }?.0.to_string()));
    // SAFETY: the caller promises that `start` is null or has space for `room` bytes.
    unsafe { write_text(&text, start, room) }
}

/// Writes as much of a text as fits, and a zero byte. Returns the length of the whole text.
///
/// # Safety
///
/// `start` must be null or valid for writes of `room` bytes.
pub(crate) unsafe fn write_text(text: &str, start: *mut c_char, room: usize) -> usize {
    if !start.is_null() && room > 0 {
        let bytes = text.as_bytes().iter().take(room.saturating_sub(1)).chain([&0]);
        for (place, &byte) in bytes.enumerate() {
            // SAFETY: `place` is below `room`.
            unsafe { start.add(place).write(c_char::from_ne_bytes([byte])) };
        }
    }
    text.len()
}

/// The form that a layout has in sizes and strides.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlLowering {
    /// Strides for the axes of the tensor.
    Strided = 0,
    /// Strides for more axes than the tensor has, padding included.
    Split = 1,
    /// No strides express the layout.
    IndexMap = 2,
}

/// Lowers a layout to sizes and strides. For `TL_LOWERING_INDEX_MAP` no layout is made, and `lowered` is set
/// to null. Use `tl_layout_offset` then, or copy the tensor to a packed layout.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_lower(
    layout: *const TlLayout,
    lowering: *mut TlLowering,
    lowered: *mut *mut TlLayout,
    error: *mut TlError,
) -> TlStatus {
    // SAFETY: the caller promises the contract in the header for these pointers.
    unsafe {
        guarded(error, || {
            let (kind, desc) = match lower(&reference("layout", layout)?.0)? {
                Lowering::Strided(desc) => (TlLowering::Strided, Some(desc)),
                Lowering::Split(split) => (TlLowering::Split, Some(split.desc)),
                _ => (TlLowering::IndexMap, None),
            };
            answer("lowering", lowering, kind)?;
            match desc {
                Some(desc) => give(lowered, "lowered", TlLayout(desc.into())),
                None => answer("lowered", lowered, std::ptr::null_mut()),
            }
        })
    }
}

/// Frees a layout, which may be null. Plans that were made from it stay valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tl_layout_free(layout: *mut TlLayout) {
    if !layout.is_null() {
        // SAFETY: the caller got the layout from this library, and frees it once.
        drop(unsafe { Box::from_raw(layout) });
    }
}

/// Passes a value to C: stores it on the heap and writes its address to `place`, if `place` is valid.
///
/// # Safety
///
/// The contract of [`answer`].
pub(crate) unsafe fn give<T>(place: *mut *mut T, what: &'static str, value: T) -> Result<(), Refusal> {
    if place.is_null() || !place.is_aligned() {
        return Err(Refusal::Pointer(what));
    }
    // SAFETY: the contract of `answer`.
    unsafe { answer(what, place, Box::into_raw(Box::new(value))) }
}
