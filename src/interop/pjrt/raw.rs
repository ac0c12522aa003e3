//! The structures of pjrt_c_api.h, field for field.

use core::ffi::c_void;
use core::mem::{offset_of, size_of};

/// `PJRT_Buffer_MemoryLayout_Tiled`: a dimension order with tiles.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct PjrtTiledLayout {
    /// `struct_size`, in bytes.
    pub struct_size: usize,
    /// `extension_start`: null without extensions.
    pub extension_start: *mut c_void,
    /// `minor_to_major`: the dimensions, the fastest first.
    pub minor_to_major: *const i64,
    /// `minor_to_major_size`: the length of `minor_to_major`.
    pub minor_to_major_size: usize,
    /// `tile_dims`: the entries of all tiles, one tile after the other.
    pub tile_dims: *const i64,
    /// `tile_dim_sizes`: the number of entries of each tile.
    pub tile_dim_sizes: *const usize,
    /// `num_tiles`: the number of tiles.
    pub num_tiles: usize,
}

/// `PJRT_Buffer_MemoryLayout_Strides`: a stride for each dimension.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct PjrtStridesLayout {
    /// `struct_size`, in bytes.
    pub struct_size: usize,
    /// `extension_start`: null without extensions.
    pub extension_start: *mut c_void,
    /// `byte_strides`: the stride of each dimension, in bytes. Strides may be negative.
    pub byte_strides: *const i64,
    /// `num_byte_strides`: the length of `byte_strides`.
    pub num_byte_strides: usize,
}

/// The unnamed union of `PJRT_Buffer_MemoryLayout`: one of the two forms of a layout.
#[repr(C)]
#[derive(Clone, Copy)]
pub union PjrtLayoutUnion {
    /// `tiled`: the form with tiles.
    pub tiled: PjrtTiledLayout,
    /// `strides`: the form with byte strides.
    pub strides: PjrtStridesLayout,
}

/// `PJRT_Buffer_MemoryLayout`: a layout in one of two forms.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PjrtMemoryLayout {
    /// `struct_size`, in bytes.
    pub struct_size: usize,
    /// `extension_start`: null without extensions.
    pub extension_start: *mut c_void,
    /// The layout. `layout_type` says which member of the union is used.
    pub layout: PjrtLayoutUnion,
    /// `type`: [`PJRT_LAYOUT_TILED`] or [`PJRT_LAYOUT_STRIDES`].
    pub layout_type: i32,
}

/// `PJRT_Buffer_MemoryLayout_Type_Tiled`.
pub const PJRT_LAYOUT_TILED: i32 = 0;
/// `PJRT_Buffer_MemoryLayout_Type_Strides`.
pub const PJRT_LAYOUT_STRIDES: i32 = 1;

/// `PJRT_Buffer_MemoryLayout_STRUCT_SIZE` and the sizes of the other structures: each reaches to the end of
/// the last field.
pub(super) const TILED_SIZE: usize = offset_of!(PjrtTiledLayout, num_tiles) + size_of::<usize>();
pub(super) const STRIDES_SIZE: usize = offset_of!(PjrtStridesLayout, num_byte_strides) + size_of::<usize>();
pub(super) const LAYOUT_SIZE: usize = offset_of!(PjrtMemoryLayout, layout_type) + size_of::<i32>();

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<PjrtTiledLayout>() == 56 && TILED_SIZE == 56);
    assert!(offset_of!(PjrtTiledLayout, extension_start) == 8 && offset_of!(PjrtTiledLayout, minor_to_major) == 16);
    assert!(offset_of!(PjrtTiledLayout, minor_to_major_size) == 24 && offset_of!(PjrtTiledLayout, tile_dims) == 32);
    assert!(offset_of!(PjrtTiledLayout, tile_dim_sizes) == 40 && offset_of!(PjrtTiledLayout, num_tiles) == 48);
    assert!(size_of::<PjrtStridesLayout>() == 32 && STRIDES_SIZE == 32);
    assert!(offset_of!(PjrtStridesLayout, byte_strides) == 16);
    assert!(offset_of!(PjrtStridesLayout, num_byte_strides) == 24);
    assert!(size_of::<PjrtMemoryLayout>() == 80 && LAYOUT_SIZE == 76);
    assert!(offset_of!(PjrtMemoryLayout, layout) == 16 && offset_of!(PjrtMemoryLayout, layout_type) == 72);
};
