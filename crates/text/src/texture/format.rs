//! The names of texture formats, in WebGPU, Vulkan, DXGI and Metal, and the planes of blocks that they stand
//! for.

use std::str::FromStr;

use tensor_layout::Error;
use tensor_layout::checked;
use tensor_layout::plan::Code;

/// One plane of a format: the size of its blocks, and the divisor of the texture's width and height.
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
        if let Some(planes) = in_table(lower) {
            return Ok(Format { planes });
        }
        if let Some(rest) = lower.strip_prefix("depth24plus") {
            let reason = match rest {
                "" => "has no size in memory, so it is never copied: depth32float is",
                _ => "has a depth of no size in memory, which is never copied: copy its stencil as stencil8",
            };
            return Err(Code::UnknownTextureFormat.because(name.to_owned(), reason));
        }
        if let Some(sides) = lower.strip_prefix("astc") {
            let (width, rest) = sides.split_once('x').unwrap_or_default();
            let height = rest.trim_end_matches(|c: char| !c.is_ascii_digit());
            if let (Ok(width), Ok(height)) = (width.parse(), height.parse()) {
                let plane = TexturePlane { block_width: width, block_height: height, ..TexturePlane::texels(16) };
                return Ok(Format { planes: vec![plane] });
            }
        }
        match component_bits(lower) {
            Some(bits) if bits > 0 && bits.is_multiple_of(8) => {
                Ok(Format { planes: vec![TexturePlane::texels(bits.div_euclid(8))] })
            }
            _ => Err(Code::UnknownTextureFormat.because(
                name.to_owned(),
                "names no texture format: expected components such as rgba8, rg16, r32, bc1 to bc7, nv12 or p010, a name of WebGPU, \
                 Vulkan, DXGI or Metal, or give the bytes of a block",
            )),
        }
    }
}

/// Returns the planes of a format in the table `crates/text/src/texture/formats.txt`.
fn in_table(name: &str) -> Option<Vec<TexturePlane>> {
    let rows = include_str!("formats.txt").lines().filter_map(|row| row.split_once(" | "));
    let is_it = |known: &str| known.strip_suffix('*').map_or(known == name, |beginning| name.starts_with(beginning));
    let (_, planes) = rows.into_iter().find(|(known, _)| is_it(known))?;
    planes.split(", ").map(plane).collect()
}

/// Reads a plane of the table: `depth 4`, `2 /2` or `8 4x4`.
fn plane(text: &str) -> Option<TexturePlane> {
    let mut plane = TexturePlane::texels(0);
    for word in text.split(' ') {
        if let Some((width, height)) = word.split_once('x') {
            (plane.block_width, plane.block_height) = (width.parse().ok()?, height.parse().ok()?);
        } else if let Some(divisor) = word.strip_prefix('/') {
            plane.divisor = divisor.parse().ok()?;
        } else if word == "depth" {
            plane.is_depth = true;
        } else {
            plane.block_bytes = word.parse().ok()?;
        }
    }
    Some(plane)
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
