//! PJRT's `PJRT_Buffer_MemoryLayout`, field for field, and conversions to it and back.
//! PJRT has two forms of a layout: a dimension order with tiles, and byte strides. Neither form can express
//! the element width `E(n)`, the memory space, tail padding or divided dimensions. The tiled form writes `*`
//! as `i64::MIN`. Source: pjrt_c_api.h of openxla/xla.
//!
//! ```
//! use tensor_layout::interop::Lent;
//! use tensor_layout::interop::pjrt::{PjrtLayout, PjrtLayoutUnion, PjrtMemoryLayout, PjrtStridesLayout};
//! use tensor_layout::interop::pjrt::{PjrtTiledLayout, PJRT_LAYOUT_STRIDES, PJRT_LAYOUT_TILED};
//! use tensor_layout::{AnyLayout, ArrayShape, BufferTensorDesc, DataType};
//!
//! let shape: ArrayShape = "bf16[300,500]{1,0:T(8,128)(2,1)}".parse()?;
//! let layout = PjrtLayout::try_from(&shape)?;
//! let borrowed: Lent<'_, PjrtMemoryLayout> = layout.raw();
//! let raw: &PjrtMemoryLayout = &borrowed;
//! assert_eq!(raw.layout_type, PJRT_LAYOUT_TILED);
//! let parts: PjrtLayoutUnion = raw.layout;
//! // SAFETY: the type of the layout says which part of the union is meant, and `layout` owns what it points to.
//! let (tiled, back): (PjrtTiledLayout, AnyLayout) = unsafe { (parts.tiled, raw.fields()?.to_layout(DataType::BF16, &[300, 500])?) };
//! assert_eq!((tiled.num_tiles, back), (2, AnyLayout::Tiled(shape)));
//!
//! // Strides, which are in bytes here.
//! let layout = PjrtLayout::try_from(&"f32[2,3]:[5,1]".parse::<BufferTensorDesc>()?)?;
//! assert_eq!(layout.raw().layout_type, PJRT_LAYOUT_STRIDES);
//! # fn part(_: PjrtStridesLayout) {}
//! # Ok::<(), tensor_layout::Error>(())
//! ```
#![allow(unsafe_code, reason = "the C structures point to their lists")]

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::bridge::AnyLayout;
use crate::checked::{self, OFFSET};
use crate::element::DataType;
use crate::error::{Error, counted};
use crate::strided::{BufferTensorDesc, SignedDesc};
use crate::tiled::{ArrayShape, Layout, Tile, TileSize};

use super::foreign::{Lent, list};
use raw::{LAYOUT_SIZE, STRIDES_SIZE, TILED_SIZE};

mod raw;

pub use raw::{
    PJRT_LAYOUT_STRIDES, PJRT_LAYOUT_TILED, PjrtLayoutUnion, PjrtMemoryLayout, PjrtStridesLayout, PjrtTiledLayout,
};

const LIST: &str = "a list of a PJRT layout";

/// The lists of a PJRT layout as safe values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PjrtFields<'a> {
    /// A dimension order with tiles.
    Tiled {
        /// The dimensions, the fastest first.
        minor_to_major: &'a [i64],
        /// The entries of all tiles, one tile after the other, where `i64::MIN` is `*`.
        tile_dims: &'a [i64],
        /// The number of entries of each tile.
        tile_dim_sizes: &'a [usize],
    },
    /// The strides of all dimensions, in bytes.
    Strides(&'a [i64]),
}

impl PjrtFields<'_> {
    /// Returns the layout of an array of this type and these sizes, with every field checked against the
    /// others.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` if a list has the wrong length. `axis_out_of_range` or `not_a_permutation` if the
    /// dimension order does not name every dimension once. `zero_tile` and `trailing_combine` for tiles.
    /// `negative` for a byte stride ([`to_signed`](Self::to_signed) takes it), `not_expressible` for one that
    /// is not a whole number of elements. `overflow` for other negative numbers and past 64 bits.
    ///
    /// ```
    /// use tensor_layout::{interop::pjrt::PjrtFields, AnyLayout, DataType};
    ///
    /// let fields = PjrtFields::Tiled { minor_to_major: &[1, 0], tile_dims: &[8, 128, 2, 1], tile_dim_sizes: &[2, 2] };
    /// let AnyLayout::Tiled(shape) = fields.to_layout(DataType::BF16, &[300, 500])? else { panic!() };
    /// assert_eq!(shape.to_string(), "bf16[300,500]{1,0:T(8,128)(2,1)}");
    /// let fields = PjrtFields::Strides(&[20, 4]);
    /// let AnyLayout::Strided(desc) = fields.to_layout(DataType::F32, &[2, 3])? else { panic!() };
    /// assert_eq!(desc.to_string(), "f32[2,3]:[5,1]");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn to_layout(&self, data_type: DataType, sizes: &[u64]) -> Result<AnyLayout, Error> {
        match *self {
            PjrtFields::Tiled { minor_to_major, tile_dims, tile_dim_sizes } => {
                let dimension = |&number: &i64| checked::narrow::<usize>(number, "a dimension in minor_to_major");
                let order = minor_to_major.iter().map(dimension).collect::<Result<Vec<_>, _>>()?;
                let (mut tiles, mut rest) = (Vec::new(), tile_dims);
                for &length in tile_dim_sizes {
                    let (tile, tail) = rest
                        .split_at_checked(length)
                        .ok_or_else(|| Error::rank_mismatch("tile entries", length, rest.len()))?;
                    tiles.push(Tile::try_from(tile)?);
                    rest = tail;
                }
                let layout = Layout::new(&order)?.with_tiles(&tiles);
                ArrayShape::new(data_type, sizes, layout).map(AnyLayout::Tiled)
            }
            PjrtFields::Strides(_) => self.to_signed(data_type, sizes)?.forwards().map(AnyLayout::Strided),
        }
    }

    /// Returns the descriptor of byte strides that may be negative, and the axes whose strides are negative.
    ///
    /// # Errors
    ///
    /// The errors of [`to_layout`](Self::to_layout), and `not_expressible` for a tiled layout.
    pub fn to_signed(&self, data_type: DataType, sizes: &[u64]) -> Result<SignedDesc, Error> {
        let refuse = |reason: String| Error::not_expressible("strided descriptor", reason);
        let PjrtFields::Strides(byte_strides) = *self else { return Err(refuse("the layout is tiled".into())) };
        let bits = data_type.bits();
        let element_stride = |(axis, &bytes): (usize, &i64)| {
            let stride_bits = i128::from(bytes).saturating_mul(8);
            let whole = stride_bits.checked_rem(bits.into()) == Some(0);
            // The stride of an axis of size 1 is never used, so it may be any number.
            if !whole && !sizes.contains(&0) && sizes.get(axis).is_none_or(|&size| size > 1) {
                return Err(refuse(format!(
                    "axis {axis} has a byte stride of {bytes}, which is not a multiple of the {bits} bits of an element"
                )));
            }
            Ok(if whole { stride_bits.checked_div(bits.into()).unwrap_or(0) } else { 0 })
        };
        let strides: SmallVec<[i128; 8]> =
            byte_strides.iter().enumerate().map(element_stride).collect::<Result<_, _>>()?;
        BufferTensorDesc::from_signed(data_type, sizes, &strides)
    }
}

impl PjrtMemoryLayout {
    /// Returns the lists of a raw structure.
    ///
    /// # Errors
    ///
    /// `out_of_limits` for an unknown type, for a `struct_size` that leaves fields out, and for lists of more
    /// than 65,536 numbers; `bad_pointer` for a list that is null or not aligned.
    ///
    /// # Safety
    ///
    /// If `layout_type` is [`PJRT_LAYOUT_TILED`] or [`PJRT_LAYOUT_STRIDES`], the matching member of the union
    /// must be initialised. Each list of that member must be valid for reads of its length, unless the length
    /// is 0, and must not change for `'a`. The length of `tile_dims` is the sum of `tile_dim_sizes`.
    pub unsafe fn fields<'a>(&self) -> Result<PjrtFields<'a>, Error> {
        check_size("the struct_size of a PJRT layout", self.struct_size, LAYOUT_SIZE)?;
        match self.layout_type {
            PJRT_LAYOUT_TILED => {
                // SAFETY: the caller promises that this member is initialised, because `layout_type` names
                // it.
                let tiled = unsafe { self.layout.tiled };
                check_size("the struct_size of a tiled PJRT layout", tiled.struct_size, TILED_SIZE)?;
                // SAFETY: the caller promises that both lists can be read to these lengths and do not change.
                let (minor_to_major, tile_dim_sizes) = unsafe {
                    (
                        list(LIST, tiled.minor_to_major, tiled.minor_to_major_size)?,
                        list(LIST, tiled.tile_dim_sizes, tiled.num_tiles)?,
                    )
                };
                let entries = tile_dim_sizes.iter().fold(0_usize, |sum, &length| sum.saturating_add(length));
                // SAFETY: the caller promises that the list can be read to the sum of `tile_dim_sizes` and
                // does not change. A sum that saturates exceeds the limit of `list`, which then reads
                // nothing.
                let tile_dims = unsafe { list(LIST, tiled.tile_dims, entries)? };
                Ok(PjrtFields::Tiled { minor_to_major, tile_dims, tile_dim_sizes })
            }
            PJRT_LAYOUT_STRIDES => {
                // SAFETY: the caller promises that this member is initialised, because `layout_type` names
                // it.
                let strides = unsafe { self.layout.strides };
                check_size("the struct_size of a strided PJRT layout", strides.struct_size, STRIDES_SIZE)?;
                // SAFETY: the caller promises that the list can be read to this length and does not change.
                let byte_strides = unsafe { list(LIST, strides.byte_strides, strides.num_byte_strides)? };
                Ok(PjrtFields::Strides(byte_strides))
            }
            other => {
                let value = u64::from(other.cast_unsigned());
                Err(Error::out_of_limits("the type of a PJRT layout", value, 0, 1))
            }
        }
    }
}

fn check_size(what: &'static str, found: usize, needed: usize) -> Result<(), Error> {
    if found >= needed {
        return Ok(());
    }
    let (value, min) = (checked::narrow(found, what)?, checked::narrow(needed, what)?);
    Err(Error::out_of_limits(what, value, min, u64::MAX))
}

/// A PJRT layout, together with the lists that its structure points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PjrtLayout {
    lists: Lists,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Lists {
    Tiled { minor_to_major: Vec<i64>, tile_dims: Vec<i64>, tile_dim_sizes: Vec<usize> },
    Strides(Vec<i64>),
}

/// Errors: `not_expressible` for a part that PJRT cannot express: L, E, S, SC, M, `#` or `*` of a sparse
/// array; `overflow` for a tile size above `i64`.
impl TryFrom<&ArrayShape> for PjrtLayout {
    type Error = Error;

    fn try_from(shape: &ArrayShape) -> Result<PjrtLayout, Error> {
        let layout = shape.layout();
        let said = Layout::new(layout.minor_to_major())?.with_tiles(layout.tiles());
        if said != *layout {
            let reason = format!("it has no words for the parts of {layout} besides order and tiles");
            return Err(Error::not_expressible("PJRT layout", reason));
        }
        let number = |&dimension: &usize| checked::narrow(dimension, "a dimension");
        let minor_to_major = layout.minor_to_major().iter().map(number).collect::<Result<_, _>>()?;
        let entry = |entry: &TileSize| match entry {
            TileSize::Size(size) => checked::narrow(size.get(), "a tile size"),
            TileSize::Combine => Ok(i64::MIN),
        };
        let tile_dims = layout.tiles().iter().flat_map(Tile::entries).map(entry).collect::<Result<_, _>>()?;
        let tile_dim_sizes = layout.tiles().iter().map(|tile| tile.entries().len()).collect();
        Ok(PjrtLayout { lists: Lists::Tiled { minor_to_major, tile_dims, tile_dim_sizes } })
    }
}

/// Unused strides are [canonical](BufferTensorDesc::with_canonical_strides). Errors: `not_expressible` for a
/// base offset, and for a stride that is not a whole number of bytes; `overflow` for a stride above `i64`.
impl TryFrom<&BufferTensorDesc> for PjrtLayout {
    type Error = Error;

    fn try_from(desc: &BufferTensorDesc) -> Result<PjrtLayout, Error> {
        let refuse = |reason| Err(Error::not_expressible("PJRT layout", reason));
        let base = desc.base_offset();
        if base != 0 {
            return refuse(format!("it begins {} into its buffer; move the pointer instead", counted(base, "element")));
        }
        let mut byte_strides = Vec::with_capacity(desc.rank());
        for (axis, &stride) in desc.clone().with_canonical_strides().strides().iter().enumerate() {
            let bits = checked::mul(stride, desc.data_type().bits().into(), OFFSET)?;
            if !bits.is_multiple_of(8) {
                return refuse(format!(
                    "the stride of {} of axis {axis} is not a whole number of bytes",
                    counted(bits, "bit")
                ));
            }
            byte_strides.push(checked::narrow(bits / 8, OFFSET)?);
        }
        Ok(PjrtLayout { lists: Lists::Strides(byte_strides) })
    }
}

impl PjrtLayout {
    /// Returns the lists as safe values.
    #[must_use]
    pub fn fields(&self) -> PjrtFields<'_> {
        match &self.lists {
            Lists::Tiled { minor_to_major, tile_dims, tile_dim_sizes } => {
                PjrtFields::Tiled { minor_to_major, tile_dims, tile_dim_sizes }
            }
            Lists::Strides(byte_strides) => PjrtFields::Strides(byte_strides),
        }
    }

    /// Returns the raw structure, which points to the lists of this layout.
    #[must_use]
    pub fn raw(&self) -> Lent<'_, PjrtMemoryLayout> {
        let extension_start = core::ptr::null_mut();
        let (layout, layout_type) = match &self.lists {
            Lists::Tiled { minor_to_major, tile_dims, tile_dim_sizes } => {
                let tiled = PjrtTiledLayout {
                    struct_size: TILED_SIZE,
                    extension_start,
                    minor_to_major: minor_to_major.as_ptr(),
                    minor_to_major_size: minor_to_major.len(),
                    tile_dims: tile_dims.as_ptr(),
                    tile_dim_sizes: tile_dim_sizes.as_ptr(),
                    num_tiles: tile_dim_sizes.len(),
                };
                (PjrtLayoutUnion { tiled }, PJRT_LAYOUT_TILED)
            }
            Lists::Strides(byte_strides) => {
                let strides = PjrtStridesLayout {
                    struct_size: STRIDES_SIZE,
                    extension_start,
                    byte_strides: byte_strides.as_ptr(),
                    num_byte_strides: byte_strides.len(),
                };
                (PjrtLayoutUnion { strides }, PJRT_LAYOUT_STRIDES)
            }
        };
        Lent::new(PjrtMemoryLayout { struct_size: LAYOUT_SIZE, extension_start, layout, layout_type })
    }
}
