//! The names of texture formats, in WebGPU, Vulkan, DXGI and Metal, and the planes of blocks that they stand
//! for.

use std::str::FromStr;

use tensor_layout::Error;
use tensor_layout::checked;
use tensor_layout::plan::Code;

/// One plane of a format: the size of its blocks, and the divisor of the texture's width and height.
///
/// ```
/// use tensor_layout_text::texture::{Format, TexturePlane};
///
/// let planes: Vec<TexturePlane> = "nv12".parse::<Format>()?.planes;
/// assert_eq!((planes[1].block_bytes, planes[1].divisor), (2, 2));
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
    /// Whether the plane holds depth or stencil, which some APIs place at multiples of 4 bytes.
    pub is_depth: bool,
}

impl TexturePlane {
    /// Returns a plane whose blocks are single texels of `bytes` bytes.
    #[must_use]
    pub const fn texels(bytes: u64) -> TexturePlane {
        TexturePlane { block_bytes: bytes, block_width: 1, block_height: 1, divisor: 1, is_depth: false }
    }

    const fn blocks(bytes: u64, width: u64, height: u64) -> TexturePlane {
        TexturePlane { block_width: width, block_height: height, ..TexturePlane::texels(bytes) }
    }
}

/// A texture format, by its components (`rgba8`, `bc7`) or by its name in WebGPU (`rgba8unorm-srgb`), Vulkan
/// (`VK_FORMAT_R8G8B8A8_UNORM`), DXGI (`DXGI_FORMAT_R10G10B10A2_UNORM`) or Metal
/// (`MTLPixelFormatBGRA8Unorm`).
///
/// ```
/// use tensor_layout_text::texture::{Format, TexturePlane};
///
/// let planes = |name: &str| name.parse::<Format>().map(|format| format.planes);
/// assert_eq!(planes("VK_FORMAT_R16G16B16A16_SFLOAT")?, [TexturePlane::texels(8)]);
/// assert_eq!(planes("rgb10a2unorm")?, [TexturePlane::texels(4)]);
/// assert_eq!(planes("bc1-rgba-unorm")?[0].block_bytes, 8);
/// assert!(planes("stencil8")?[0].is_depth);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Format {
    /// The planes of the format, nearly always one.
    pub planes: Vec<TexturePlane>,
}

/// Formats whose names are not lists of components, by the start of their names: the bytes of a block, its
/// width and its height. Two pixels share their colours in the formats at the end.
const BLOCKS: &[(&str, u64, u64, u64)] = &[
    ("bc1", 8, 4, 4),
    ("bc2", 16, 4, 4),
    ("bc3", 16, 4, 4),
    ("bc4", 8, 4, 4),
    ("bc5", 16, 4, 4),
    ("bc6h", 16, 4, 4),
    ("bc7", 16, 4, 4),
    ("etc2rgba8", 16, 4, 4),
    ("etc2r8g8b8a8", 16, 4, 4),
    ("etc2r", 8, 4, 4),
    ("eacrg11", 16, 4, 4),
    ("eacr11g11", 16, 4, 4),
    ("eacr11", 8, 4, 4),
    ("yuy2", 4, 2, 1),
    ("r8g8b8g8", 4, 2, 1),
    ("g8r8g8b8", 4, 2, 1),
    ("g8b8g8r8422", 4, 2, 1),
    ("b8g8r8g8422", 4, 2, 1),
    ("gbgr422", 4, 2, 1),
    ("bgrg422", 4, 2, 1),
];

/// Formats of two planes, of which the second has a half of the width and the height, by the bytes of a texel
/// of the first plane.
const HALVED: &[(&str, u64)] = &[
    ("nv12", 1),
    ("p010", 2),
    ("g8b8r82plane420unorm", 1),
    ("g10x6b10x6r10x62plane420unorm3pack16", 2),
    ("r8bg8biplanar420unorm", 1),
    ("r10x6bg10x6biplanar420unorm", 2),
];

/// Depth and stencil, and the bytes of a texel of each plane. APIs copy one of both planes at a time.
const DEPTHS: &[(&str, &[u64])] = &[
    ("depth16unorm", &[2]),
    ("d16unorm", &[2]),
    ("x8d24unormpack32", &[4]),
    ("depth32float", &[4]),
    ("d32float", &[4]),
    ("d32sfloat", &[4]),
    ("stencil8", &[1]),
    ("s8uint", &[1]),
    ("d16unorms8uint", &[2, 1]),
    ("d24unorms8uint", &[4, 1]),
    ("depth24unormstencil8", &[4, 1]),
    ("r24g8typeless", &[4, 1]),
    ("depth32floatstencil8", &[4, 1]),
    ("d32sfloats8uint", &[4, 1]),
    ("d32floats8x24uint", &[4, 1]),
    ("r32g8x24typeless", &[4, 1]),
];

/// Words of names that do not change where a texel is.
const WORDS: &[&str] =
    &["unorm", "snorm", "uint", "sint", "ufloat", "sfloat", "float", "srgb", "typeless", "pack16", "pack32"];

impl FromStr for Format {
    type Err = Error;

    /// # Errors
    ///
    /// `unknown_texture_format` for a name whose blocks are not known.
    fn from_str(name: &str) -> Result<Format, Error> {
        let lower: String = name.to_ascii_lowercase().chars().filter(|c| !matches!(c, '_' | '-')).collect();
        let prefixes = ["vkformat", "dxgiformat", "mtlpixelformat"];
        let lower = prefixes.iter().find_map(|prefix| lower.strip_prefix(prefix)).unwrap_or(&lower);
        let one = |plane| Ok(Format { planes: vec![plane] });
        if let Some(&(_, bytes)) = HALVED.iter().find(|(name, _)| *name == lower) {
            let colours = TexturePlane { divisor: 2, ..TexturePlane::texels(bytes.saturating_mul(2)) };
            return Ok(Format { planes: vec![TexturePlane::texels(bytes), colours] });
        }
        if let Some((_, planes)) = DEPTHS.iter().find(|(name, _)| *name == lower) {
            let plane = |&bytes: &u64| TexturePlane { is_depth: true, ..TexturePlane::texels(bytes) };
            return Ok(Format { planes: planes.iter().map(plane).collect() });
        }
        if let Some(rest) = lower.strip_prefix("depth24plus") {
            let reason = match rest {
                "" => "has no size in memory, so it is never copied: depth32float is",
                _ => "has a depth of no size in memory, which is never copied: copy its stencil as stencil8",
            };
            return Err(Code::UnknownTextureFormat.because(name.to_owned(), reason));
        }
        if let Some(&(_, bytes, width, height)) = BLOCKS.iter().find(|(start, ..)| lower.starts_with(start)) {
            return one(TexturePlane::blocks(bytes, width, height));
        }
        if let Some(sides) = lower.strip_prefix("astc") {
            let (width, rest) = sides.split_once('x').unwrap_or_default();
            let height = rest.trim_end_matches(|c: char| !c.is_ascii_digit());
            if let (Ok(width), Ok(height)) = (width.parse(), height.parse()) {
                return one(TexturePlane::blocks(16, width, height));
            }
        }
        match component_bits(lower) {
            Some(bits) if bits > 0 && bits.is_multiple_of(8) => one(TexturePlane::texels(bits.div_euclid(8))),
            _ => Err(Code::UnknownTextureFormat.because(
                name.to_owned(),
                "names no texture format: expected components such as rgba8, rg16, r32, bc1 to bc7, nv12 or p010, a name of WebGPU, \
                 Vulkan, DXGI or Metal, or give the bytes of a block",
            )),
        }
    }
}

/// Returns the bits of a texel whose name lists components: `rgba8`, `r5g6b5`, `rgb10a2unorm`.
fn component_bits(name: &str) -> Option<u64> {
    let (mut rest, mut bits) = (name, 0_u64);
    while let Some(word) = WORDS.iter().find(|word| rest.ends_with(**word)) {
        rest = rest.strip_suffix(word)?;
    }
    while !rest.is_empty() {
        let letters = rest.find(|c: char| c.is_ascii_digit())?;
        let (components, after) = rest.split_at_checked(letters)?;
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let (number, after) = after.split_at_checked(digits)?;
        if components.is_empty() || !components.chars().all(|c| "rgbaxe".contains(c)) {
            return None;
        }
        bits = bits.checked_add(number.parse::<u64>().ok()?.checked_mul(checked::count(components.len()))?)?;
        rest = after;
    }
    Some(bits)
}
