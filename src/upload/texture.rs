//! `Texture`: the offsets of a texture's texels in a buffer that is copied to it or from it.
//!
//! A texture has *subresources*: a plane (NV12 has two), an array layer, a mip level. In a buffer each
//! subresource is stored as rows of texel *blocks* (one texel, or 4 x 4 of a compressed format), image after
//! image. Each API has its own rules for the row pitch and for the offset of a subresource:
//!
//! | | rows | a subresource begins at a multiple of | after the last row |
//! |---|---|---|---|
//! | WebGPU | 256 bytes, where there is more than one row or image | the bytes of a block | not padded |
//! | Direct3D 12 | 256 bytes | 512 bytes | not padded |
//! | Vulkan | a row length in texels, or tight | the bytes of a block (4 on a queue that only transfers) | not padded |
//! | Metal | the bytes of a block | the bytes of a block | not padded |
//!
//! ```text
//! two layers, r8 100 x 3, Direct3D 12:   0 ──100   256 ──356   512 ──612    | 1024 ──1124  1280 ──1380  1536 ──1636
//! ```
//!
//! Sources: WebGPU, *validating linear texture data* and *GPUTexelCopyBufferLayout*; Direct3D 12,
//! *GetCopyableFootprints*, `D3D12_TEXTURE_DATA_PITCH_ALIGNMENT` and `..._PLACEMENT_ALIGNMENT`; Vulkan,
//! *Buffer and Image Addressing* and the valid usage of *VkBufferImageCopy*; Metal, *MTLBlitCommandEncoder*,
//! `copy(from:sourceOffset:sourceBytesPerRow:...)`.

use alloc::borrow::ToOwned;
use alloc::vec;
use alloc::vec::Vec;
use core::str::FromStr;

use crate::checked::{self, BYTES, Exact};
use crate::error::{Code, Error};

/// The API that copies between a buffer and a texture. Its rules are in the [table](Texture::in_buffer).
///
/// ```
/// use tensor_layout::upload::{Texture, TextureApi, TexturePlane};
///
/// let texture = Texture::new(vec![TexturePlane::texels(4)], 10, 10);
/// assert_eq!(texture.in_buffer(TextureApi::WebGpu)?.total_bytes, 9 * 256 + 40);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TextureApi {
    /// WebGPU: `copyBufferToTexture` and `copyTextureToBuffer`. (`writeTexture` has no rule for rows and
    /// offsets.)
    WebGpu,
    /// Direct3D 12: `CopyTextureRegion` with placed footprints.
    D3d12,
    /// Vulkan: `vkCmdCopyBufferToImage`.
    Vulkan {
        /// `bufferRowLength`, in texels, or 0 for rows without a gap.
        row_length: u64,
    },
    /// Metal: `MTLBlitCommandEncoder`.
    Metal,
}

/// One plane of a format: the size of its blocks, and the divisor of the texture's width and height.
///
/// ```
/// use tensor_layout::upload::TexturePlane;
///
/// let formats: Vec<TexturePlane> = TexturePlane::of_format("nv12")?;
/// assert_eq!((formats[1].block_bytes, formats[1].divisor), (2, 2));
/// assert_eq!(TexturePlane::of_format("rgba16")?, [TexturePlane::texels(8)]);
/// assert_eq!(TexturePlane::of_format("bc1")?, [TexturePlane { block_bytes: 8, block_width: 4, block_height: 4, divisor: 1 }]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TexturePlane {
    /// The size of a block, in bytes.
    pub block_bytes: u64,
    /// The width of a block, in texels.
    pub block_width: u64,
    /// The height of a block, in texels.
    pub block_height: u64,
    /// The divisor of the texture's width and height in this plane: 2 for the colours of NV12.
    pub divisor: u64,
}

/// The formats: the name, the bytes of a block, and the side of a block in texels.
const BLOCKS: &[(&str, u64, u64)] = &[
    ("r8", 1, 1),
    ("rg8", 2, 1),
    ("rgba8", 4, 1),
    ("r16", 2, 1),
    ("rg16", 4, 1),
    ("rgba16", 8, 1),
    ("r32", 4, 1),
    ("rg32", 8, 1),
    ("rgba32", 16, 1),
    ("bc1", 8, 4),
    ("bc2", 16, 4),
    ("bc3", 16, 4),
    ("bc4", 8, 4),
    ("bc5", 16, 4),
    ("bc6h", 16, 4),
    ("bc7", 16, 4),
];

impl TexturePlane {
    /// Returns a plane whose blocks are single texels of `bytes` bytes.
    #[must_use]
    pub const fn texels(bytes: u64) -> TexturePlane {
        TexturePlane { block_bytes: bytes, block_width: 1, block_height: 1, divisor: 1 }
    }

    /// Returns the planes of a format by its components: `r8` to `rgba32`, `bc1` to `bc7`, `nv12`, `p010`.
    ///
    /// # Errors
    ///
    /// `unknown_texture_format` for any other name.
    pub fn of_format(name: &str) -> Result<Vec<TexturePlane>, Error> {
        let two = |bytes| vec![Self::texels(bytes), TexturePlane { divisor: 2, ..Self::texels(bytes.times(2)) }];
        match name {
            "nv12" => return Ok(two(1)),
            "p010" => return Ok(two(2)),
            _ => {}
        }
        let found = BLOCKS.iter().find(|&&(known, ..)| known == name);
        let &(_, block_bytes, side) = found.ok_or_else(|| Code::UnknownTextureFormat.because(name.to_owned(), "names no texture format: expected r8, rg8, rgba8, r16 to rgba16, r32 to rgba32, bc1 to bc7, nv12 or p010, or \
                     give the bytes of a block"))?;
        Ok(vec![TexturePlane { block_bytes, block_width: side, block_height: side, divisor: 1 }])
    }
}

/// A texture, in texels. Start from [`Texture::new`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Texture {
    /// The planes of the format, nearly always one.
    pub planes: Vec<TexturePlane>,
    /// The width of mip level 0, in texels.
    pub width: u64,
    /// The height of mip level 0, in texels. The height of a 1D texture is 1.
    pub height: u64,
    /// The depth of mip level 0 of a 3D texture, in texels. The depth of any other texture is 1.
    pub depth: u64,
    /// The number of array layers: 6 for a cube, 1 for a 3D texture.
    pub layers: u64,
    /// The number of mip levels. Each side of a level is half the side of the previous level, rounded down,
    /// and at least 1 texel.
    pub mip_levels: u64,
}

/// The position of one subresource in the buffer. Offsets and pitches are in bytes.
///
/// ```
/// use tensor_layout::upload::{Subresource, Texture, TextureApi, TexturePlane};
///
/// let copy = Texture::new(vec![TexturePlane::texels(1)], 100, 3).in_buffer(TextureApi::D3d12)?;
/// let only: Subresource = copy.subresources[0];
/// assert_eq!((only.row_bytes, only.row_pitch, only.size_in_bytes()), (100, 256, 2 * 256 + 100));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Subresource {
    /// The number of the plane in the format, counted from 0.
    pub plane: u64,
    /// The number of the array layer, counted from 0.
    pub layer: u64,
    /// The number of the mip level, counted from 0.
    pub mip_level: u64,
    /// The offset of the subresource in the buffer, in bytes.
    pub offset: u64,
    /// The number of rows of blocks in one image.
    pub rows: u64,
    /// The number of images: the depth of the mip level.
    pub images: u64,
    /// The number of bytes of a row that hold blocks.
    pub row_bytes: u64,
    /// The distance from one row to the next, in bytes.
    pub row_pitch: u64,
    /// The distance from one image to the next, in bytes.
    pub image_pitch: u64,
}

impl Subresource {
    /// The number of bytes from the first byte of the subresource to its last. The last row has no padding.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        let rows = self.images.saturating_sub(1).saturating_mul(self.image_pitch);
        rows.saturating_add(self.rows.saturating_sub(1).saturating_mul(self.row_pitch)).saturating_add(self.row_bytes)
    }
}

/// The offsets of a texture's subresources in a buffer, and the rules for them, from [`Texture::in_buffer`].
///
/// ```
/// use tensor_layout::upload::{Texture, TextureApi, TextureCopy, TexturePlane};
///
/// let texture = Texture::new(vec![TexturePlane::texels(1)], 100, 3);
/// let copy: TextureCopy = texture.in_buffer(TextureApi::D3d12)?;
/// assert_eq!((copy.total_bytes, copy.offset_multiple, copy.row_multiple), (612, 512, 256));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextureCopy {
    /// The subresources, ordered by plane, then by layer, then by mip level, as Direct3D numbers them.
    pub subresources: Vec<Subresource>,
    /// The number of bytes that the buffer must have.
    pub total_bytes: u64,
    /// The offset of the whole texture in a larger buffer must be a multiple of this number, in bytes.
    pub offset_multiple: u64,
    /// A row pitch must be a multiple of this number, in bytes. The number is 1 if there is only one row.
    pub row_multiple: u64,
}

/// The most subresources that a copy may have. A texture with more subresources is refused.
const MOST_SUBRESOURCES: u64 = 1 << 20;

impl Texture {
    /// Returns a 2D texture with one layer and one mip level.
    #[must_use]
    pub fn new(planes: Vec<TexturePlane>, width: u64, height: u64) -> Texture {
        Texture { planes, width, height, depth: 1, layers: 1, mip_levels: 1 }
    }

    /// Returns the rows, pitches and offsets of every subresource in a buffer, by the rules of an API (see
    /// the table of this module).
    ///
    /// # Errors
    ///
    /// `out_of_limits` for a number that is 0, more mip levels than the largest side allows, layers of
    /// a 3D texture, a row length that is below the width or not a whole number of blocks, or more than 2²⁰
    /// subresources. `overflow` if a number of bytes passes 64 bits.
    ///
    /// ```
    /// use tensor_layout::upload::{Subresource, Texture, TextureApi, TextureCopy, TexturePlane};
    ///
    /// // Two layers of 100 x 3 bytes: the second at 1024, 1636 bytes in all.
    /// let texture = Texture { layers: 2, ..Texture::new(vec![TexturePlane::texels(1)], 100, 3) };
    /// let copy: TextureCopy = texture.in_buffer(TextureApi::D3d12)?;
    /// let second: Subresource = copy.subresources[1];
    /// assert_eq!((second.offset, second.row_pitch, second.size_in_bytes(), copy.total_bytes), (1024, 256, 612, 1636));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn in_buffer(&self, api: TextureApi) -> Result<TextureCopy, Error> {
        self.check()?;
        let mut found = TextureCopy { subresources: Vec::new(), total_bytes: 0, offset_multiple: 1, row_multiple: 1 };
        for (plane, number) in self.planes.iter().zip(0..) {
            for (layer, mip_level) in
                (0..self.layers).flat_map(|layer| (0..self.mip_levels).map(move |mip| (layer, mip)))
            {
                let side = |texels: u64| (texels >> mip_level).max(1);
                let blocks = |texels: u64, block: u64| side(texels).div_ceil(plane.divisor).div_ceil(block);
                let (rows, images) = (blocks(self.height, plane.block_height), side(self.depth));
                let row_bytes = checked::mul(blocks(self.width, plane.block_width), plane.block_bytes, BYTES)?;
                let Rule { rows_of, begins_at, least } = api.rule(plane, rows.max(images).max(self.layers) > 1);
                let least =
                    if least == 0 { 0 } else { row_length(plane, side(self.width).div_ceil(plane.divisor), least)? };
                let row_pitch = checked::round_up(row_bytes.max(least), rows_of, BYTES)?;
                let image_pitch = checked::mul(row_pitch, rows, BYTES)?;
                let offset = checked::round_up(found.total_bytes, begins_at, BYTES)?;
                let own = Subresource {
                    plane: number,
                    layer,
                    mip_level,
                    offset,
                    rows,
                    images,
                    row_bytes,
                    row_pitch,
                    image_pitch,
                };
                checked::mul(image_pitch, images, BYTES)?;
                found.total_bytes = checked::add(offset, own.size_in_bytes(), BYTES)?;
                found.offset_multiple = checked::lcm(found.offset_multiple, begins_at).unwrap_or(begins_at);
                found.row_multiple = found.row_multiple.max(rows_of);
                found.subresources.push(own);
            }
        }
        Ok(found)
    }

    fn check(&self) -> Result<(), Error> {
        let within = |what, value: u64, max: u64| {
            if value >= 1 && value <= max { Ok(()) } else { Err(Error::out_of_limits(what, value, 1, max)) }
        };
        within("the number of planes of a texture", checked::count(self.planes.len()), 4)?;
        within("the width of a texture", self.width, u64::MAX)?;
        within("the height of a texture", self.height, u64::MAX)?;
        within("the depth of a texture", self.depth, u64::MAX)?;
        within("the number of layers of a texture", self.layers, if self.depth > 1 { 1 } else { MOST_SUBRESOURCES })?;
        let largest = self.width.max(self.height).max(self.depth);
        within(
            "the number of mip levels of a texture",
            self.mip_levels,
            u64::from(u64::BITS.minus(largest.leading_zeros())),
        )?;
        let count = self.layers.saturating_mul(self.mip_levels).saturating_mul(checked::count(self.planes.len()));
        within("the number of subresources of a texture", count, MOST_SUBRESOURCES)?;
        for plane in &self.planes {
            within("the bytes of a texel block", plane.block_bytes, 64)?;
            within("the width of a texel block", plane.block_width, 64)?;
            within("the height of a texel block", plane.block_height, 64)?;
            within("the divisor of a plane", plane.divisor, 64)?;
        }
        Ok(())
    }
}

/// The rule of an API for one plane. Row pitches are multiples of `rows_of` bytes, subresources begin at
/// multiples of `begins_at` bytes, and rows have at least `least` texels.
struct Rule {
    rows_of: u64,
    begins_at: u64,
    least: u64,
}

impl TextureApi {
    fn rule(self, plane: &TexturePlane, several_rows: bool) -> Rule {
        let block = plane.block_bytes;
        match self {
            TextureApi::WebGpu if several_rows => Rule { rows_of: 256, begins_at: block, least: 0 },
            TextureApi::D3d12 => Rule { rows_of: 256, begins_at: 512, least: 0 },
            TextureApi::Vulkan { row_length } => Rule { rows_of: 1, begins_at: block, least: row_length },
            TextureApi::WebGpu | TextureApi::Metal => Rule { rows_of: block, begins_at: block, least: 0 },
        }
    }
}

/// Returns the bytes of a row of `texels` texels. The row must hold `width` texels and consist of whole
/// blocks.
fn row_length(plane: &TexturePlane, width: u64, texels: u64) -> Result<u64, Error> {
    let (what, min) = ("the row length in texels", width.next_multiple_of(plane.block_width));
    if texels < width || !texels.is_multiple_of(plane.block_width) {
        return Err(Error::out_of_limits(what, texels, min, u64::MAX));
    }
    checked::mul(texels.div_ceil(plane.block_width), plane.block_bytes, BYTES)
}

impl FromStr for TextureApi {
    type Err = Error;

    /// Reads `webgpu`, `d3d12`, `metal`, `vulkan`, or `vulkan:64` with a row length in texels.
    fn from_str(name: &str) -> Result<TextureApi, Error> {
        let row_length = name.strip_prefix("vulkan:").map(str::parse);
        match (name, row_length) {
            ("webgpu", _) => Ok(TextureApi::WebGpu),
            ("d3d12", _) => Ok(TextureApi::D3d12),
            ("metal", _) => Ok(TextureApi::Metal),
            ("vulkan", _) => Ok(TextureApi::Vulkan { row_length: 0 }),
            (_, Some(Ok(row_length))) => Ok(TextureApi::Vulkan { row_length }),
            _ => Err(Code::UnknownTextureApi.because(
                name.to_owned(),
                "copies no textures: expected webgpu, d3d12, metal, vulkan or vulkan:ROW_LENGTH in texels",
            )),
        }
    }
}
