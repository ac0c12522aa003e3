//! `Texture`: the offsets of a texture's texels in a buffer that is copied to it or from it.
//!
//! A texture has *subresources*: a plane (NV12 has two), an array layer, a mip level. In a buffer each
//! subresource is stored as rows of texel *blocks* (one texel, or 4 x 4 of a compressed format), image after
//! image. Each API has its own rules for the row pitch and for the offset of a subresource:
//!
//! | `TextureApi` | row pitches are multiples of | a subresource begins at a multiple of | depth and stencil |
//! |---|---|---|---|
//! | `webgpu` | 256 bytes | the bytes of a block | 4 bytes |
//! | `webgpu-write` (`writeTexture`) | the bytes of a block | any | |
//! | `d3d12` | 256 bytes | 512 bytes | |
//! | `d3d12-unrestricted` | the bytes of a block (256 for several planes) | the bytes of a block (512) | |
//! | `vulkan`, `vulkan:ROW_LENGTH` | the bytes of a block, or a row length in texels | the bytes of a block (4 on a queue that only transfers) | 4 bytes |
//! | `metal` | the bytes of a block | the bytes of a block | |
//! | `metal-linear` (a texture over a buffer) | 256 bytes | 256 bytes | |
//!
//! The last row is never padded. WebGPU and Direct3D 12 refuse textures whose sides are no multiples of a
//! block, and copy whole blocks: of a mip level of 2 x 2 texels in blocks of 4 x 4, a copy names 4 x 4 there
//! (the *physical* extent of WebGPU, the footprint of Direct3D 12) and 2 x 2 on Vulkan and Metal. Rows,
//! offsets, sides and buffers of the device at hand follow a colon, as in
//! `vulkan:optimalBufferCopyRowPitchAlignment=128`.
//!
//! ```text
//! two layers, r8 100 x 3, Direct3D 12:   0 ──100   256 ──356   512 ──612    | 1024 ──1124  1280 ──1380  1536 ──1636
//! ```
//!
//! Sources: WebGPU, *validating linear texture data* and *GPUTexelCopyBufferLayout*; Direct3D 12,
//! *GetCopyableFootprints*, `D3D12_TEXTURE_DATA_PITCH_ALIGNMENT` and `..._PLACEMENT_ALIGNMENT`; Vulkan,
//! *Buffer and Image Addressing* and the valid usage of *VkBufferImageCopy*; Metal, *MTLBlitCommandEncoder*,
//! `copy(from:sourceOffset:sourceBytesPerRow:...)`.

mod format;

pub use format::{Format, TexturePlane};

use std::str::FromStr;

use tensor_layout::Error;
use tensor_layout::checked::{self, BYTES};
use tensor_layout::plan::Code;
use tensor_layout::upload::read_size;

/// The rules of an API that copies between a buffer and a texture: a row of the table of this module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextureApi {
    name: &'static str,
    /// Row pitches are multiples of this number of bytes, and of a block.
    rows: u64,
    /// Subresources begin at multiples of this number of bytes, or of a block for 0, or anywhere for 1.
    begin: u64,
    /// `rows` and `begin` for formats of several planes.
    planar: (u64, u64),
    /// Depth and stencil begin at multiples of this number as well.
    depth: u64,
    /// Whether sides are whole blocks, and what is copied as well.
    whole_blocks: bool,
    /// The length of a row in texels, or 0 for the shortest.
    row_length: u64,
    max_side: u64,
    max_buffer: u64,
}

impl TextureApi {
    const fn new(name: &'static str, [rows, begin]: [u64; 2], planar: (u64, u64), depth: u64) -> TextureApi {
        let (whole_blocks, max) = (false, u64::MAX);
        TextureApi { name, rows, begin, planar, depth, whole_blocks, row_length: 0, max_side: max, max_buffer: max }
    }

    const fn of_whole_blocks(self) -> TextureApi {
        TextureApi { whole_blocks: true, ..self }
    }
}

const APIS: [TextureApi; 7] = [
    TextureApi::new("webgpu", [256, 0], (256, 0), 4).of_whole_blocks(),
    TextureApi::new("webgpu-write", [1, 1], (1, 1), 1).of_whole_blocks(),
    TextureApi::new("d3d12", [256, 512], (256, 512), 1).of_whole_blocks(),
    TextureApi::new("d3d12-unrestricted", [1, 0], (256, 512), 1).of_whole_blocks(),
    TextureApi::new("vulkan", [1, 0], (1, 0), 4),
    TextureApi::new("metal", [1, 0], (1, 0), 1),
    TextureApi::new("metal-linear", [256, 256], (256, 256), 1),
];

/// The limits of a device that can be set by name: their names here and in APIs, and what they change.
type Limit = (&'static [&'static str], fn(&mut TextureApi, u64));

const LIMITS: [Limit; 6] = [
    (&["row_multiple", "D3D12_TEXTURE_DATA_PITCH_ALIGNMENT", "optimalBufferCopyRowPitchAlignment"], |api, number| {
        (api.rows, api.planar.0) = (number.max(1), number.max(1));
    }),
    (
        &["offset_multiple", "D3D12_TEXTURE_DATA_PLACEMENT_ALIGNMENT", "optimalBufferCopyOffsetAlignment"],
        |api, number| {
            (api.begin, api.planar.1) = (number.max(1), number.max(1));
        },
    ),
    (&["minimumLinearTextureAlignmentForPixelFormat"], |api, number| {
        (api.rows, api.begin, api.planar) = (number.max(1), number.max(1), (number.max(1), number.max(1)));
    }),
    (&["row_length", "bufferRowLength"], |api, number| api.row_length = number),
    (&["max_side", "maxTextureDimension2D", "maxImageDimension2D"], |api, number| api.max_side = number),
    (&["max_buffer", "maxBufferSize", "maxBufferLength"], |api, number| api.max_buffer = number),
];

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
    /// The width, the height and the depth of the level in this plane, in texels.
    pub extent: [u64; 3],
    /// The width, the height and the depth that a copy names, in texels: whole blocks on WebGPU and Direct3D
    /// 12, the extent of the level on Vulkan and Metal.
    pub copied: [u64; 3],
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
    /// use tensor_layout_text::texture::{Subresource, Texture, TextureCopy, TexturePlane};
    ///
    /// // Two layers of 100 x 3 bytes: the second at 1024, 1636 bytes in all.
    /// let texture = Texture { layers: 2, ..Texture::new(vec![TexturePlane::texels(1)], 100, 3) };
    /// let copy: TextureCopy = texture.in_buffer("d3d12".parse()?)?;
    /// let second: Subresource = copy.subresources[1];
    /// assert_eq!((second.offset, second.row_pitch, second.size_in_bytes(), copy.total_bytes), (1024, 256, 612, 1636));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn in_buffer(&self, api: TextureApi) -> Result<TextureCopy, Error> {
        self.check(api)?;
        let mut found = TextureCopy { subresources: Vec::new(), total_bytes: 0, offset_multiple: 1, row_multiple: 1 };
        for (plane, number) in self.planes.iter().zip(0..) {
            let (rows_of, begins_at) = api.multiples(plane, self.planes.len() > 1);
            for (layer, mip_level) in
                (0..self.layers).flat_map(|layer| (0..self.mip_levels).map(move |mip| (layer, mip)))
            {
                let side = |texels: u64| (texels >> mip_level).max(1);
                let of_plane = |texels: u64| side(texels).div_ceil(plane.divisor);
                let (width, height, images) = (of_plane(self.width), of_plane(self.height), side(self.depth));
                let (columns, rows) = (width.div_ceil(plane.block_width), height.div_ceil(plane.block_height));
                let extent = [width, height, images];
                let blocks =
                    [columns.saturating_mul(plane.block_width), rows.saturating_mul(plane.block_height), images];
                let copied = if api.whole_blocks { blocks } else { extent };
                let row_bytes = checked::mul(columns, plane.block_bytes, BYTES)?;
                let least = match api.row_length {
                    0 => 0,
                    texels => row_length(plane, width, texels)?,
                };
                let row_pitch = round_up(row_bytes.max(least), rows_of)?;
                let image_pitch = checked::mul(row_pitch, rows, BYTES)?;
                let offset = round_up(found.total_bytes, begins_at)?;
                let own = Subresource {
                    plane: number,
                    layer,
                    mip_level,
                    offset,
                    extent,
                    copied,
                    rows,
                    images,
                    row_bytes,
                    row_pitch,
                    image_pitch,
                };
                checked::mul(image_pitch, images, BYTES)?;
                found.total_bytes = checked::add(offset, own.size_in_bytes(), BYTES)?;
                found.offset_multiple = common(found.offset_multiple, begins_at);
                found.row_multiple = common(found.row_multiple, rows_of);
                found.subresources.push(own);
            }
        }
        if found.total_bytes > api.max_buffer {
            return Err(Code::BufferLimit.by(found.total_bytes, api.max_buffer));
        }
        Ok(found)
    }

    fn check(&self, api: TextureApi) -> Result<(), Error> {
        let within = |what, value: u64, max: u64| {
            if value >= 1 && value <= max { Ok(()) } else { Err(Error::out_of_limits(what, value, 1, max)) }
        };
        let planes = checked::count(self.planes.len());
        let largest = self.width.max(self.height).max(self.depth);
        let most_levels = u64::from(u64::BITS.saturating_sub(largest.leading_zeros()));
        within("the number of planes of a texture", planes, 4)?;
        within("the width of a texture", self.width, u64::MAX)?;
        within("the height of a texture", self.height, u64::MAX)?;
        within("the depth of a texture", self.depth, u64::MAX)?;
        within("the number of layers of a texture", self.layers, if self.depth > 1 { 1 } else { MOST_SUBRESOURCES })?;
        within("the number of mip levels of a texture", self.mip_levels, most_levels)?;
        for (axis, side) in [(0, self.width), (1, self.height), (2, self.depth)] {
            if side > api.max_side {
                return Err(Code::SizeLimit.at(axis, side, api.max_side));
            }
        }
        let count = self.layers.saturating_mul(self.mip_levels).saturating_mul(planes);
        within("the number of subresources of a texture", count, MOST_SUBRESOURCES)?;
        for plane in &self.planes {
            within("the bytes of a texel block", plane.block_bytes, 64)?;
            within("the width of a texel block", plane.block_width, 64)?;
            within("the height of a texel block", plane.block_height, 64)?;
            within("the divisor of a plane", plane.divisor, 64)?;
            for (axis, side, block) in [(0, self.width, plane.block_width), (1, self.height, plane.block_height)] {
                if api.whole_blocks && !side.is_multiple_of(block.saturating_mul(plane.divisor)) {
                    return Err(Code::SizeUnaligned.at(axis, side, block.saturating_mul(plane.divisor)));
                }
            }
        }
        Ok(())
    }
}

impl TextureApi {
    /// The numbers that row pitches and offsets of subresources are multiples of, in bytes.
    fn multiples(&self, plane: &TexturePlane, is_planar: bool) -> (u64, u64) {
        let (rows, begin) = if is_planar { self.planar } else { (self.rows, self.begin) };
        let begin = if begin == 0 { plane.block_bytes } else { begin };
        (common(rows, plane.block_bytes), if plane.is_depth { common(begin, self.depth) } else { begin })
    }

    /// Returns these rules with a limit of the device at hand: `row_multiple`, `offset_multiple`,
    /// `row_length`, `max_side`, `max_buffer`, or its name in the API.
    ///
    /// # Errors
    ///
    /// `unknown_limits` for another name. `parse` if the value is no number.
    pub fn with(mut self, field: &str, value: &str) -> Result<TextureApi, Error> {
        let Some((_, set)) = LIMITS.iter().find(|(names, _)| names.contains(&field)) else {
            let names: Vec<&str> = LIMITS.iter().flat_map(|(names, _)| names.iter().copied()).collect();
            let reason = format!("is no limit of textures: expected one of {}", names.join(", "));
            return Err(Code::UnknownLimits.because(field.to_owned(), reason));
        };
        set(&mut self, read_size(value)?);
        Ok(self)
    }
}

fn common(a: u64, b: u64) -> u64 {
    a.checked_div(checked::gcd(a, b)).unwrap_or(1).saturating_mul(b)
}

fn round_up(value: u64, multiple: u64) -> Result<u64, Error> {
    value.checked_next_multiple_of(multiple).ok_or_else(|| Error::overflow(BYTES, 64))
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

    /// Reads a name of the table, `vulkan:64` with a row length in texels, or `metal-linear:row_multiple=16`
    /// with [limits](TextureApi::with) of the device at hand.
    fn from_str(text: &str) -> Result<TextureApi, Error> {
        if let Some((name, changes)) = text.split_once(':').filter(|(_, changes)| changes.contains('=')) {
            let changes = changes.split(',').map(|change| change.split_once('=').unwrap_or((change, "")));
            return changes.fold(name.parse(), |api, (field, value)| api?.with(field, value));
        }
        let (known, length) = match text.strip_prefix("vulkan:") {
            Some(length) => ("vulkan", length.parse().ok()),
            None => (text, Some(0)),
        };
        let row = APIS.iter().find(|row| row.name == known).zip(length);
        let (&row, row_length) = row.ok_or_else(|| {
            let names = APIS.map(|row| row.name).join(", ");
            let reason = format!("copies no textures: expected {names}, or vulkan:ROW_LENGTH in texels");
            Code::UnknownTextureApi.because(text.to_owned(), reason)
        })?;
        Ok(TextureApi { row_length, ..row })
    }
}
