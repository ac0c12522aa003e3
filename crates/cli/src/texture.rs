//! `texture`: where the rows of a texture are in a buffer that is copied to it or from it.

use clap::Args;
use serde_json::{Value, json};
use tensor_layout::Error;
use tensor_layout_text::texture::{Format, Subresource, Texture, TextureApi, TextureCopy, TexturePlane};

use crate::output::{Output, Stop, Verdict, refused};
use crate::table::{Table, long_bytes};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The width, the height and the depth of the texture in texels: 640x480, 64x64x64.
    extent: String,
    /// The format by its components (rgba8, rg16, bc7, nv12), by its name in WebGPU, Vulkan, DXGI or Metal,
    /// or the bytes of a texel or of a block (8@4x4).
    #[arg(long, value_name = "FORMAT")]
    format: String,
    /// Whose rules: webgpu, webgpu-write, d3d12, d3d12-unrestricted, metal, metal-linear, vulkan, or
    /// vulkan:64 with a row length in texels.
    #[arg(long, value_name = "API")]
    api: String,
    /// Array layers: 6 for a cube.
    #[arg(long, default_value = "1")]
    layers: u64,
    /// Mip levels.
    #[arg(long, default_value = "1")]
    mips: u64,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let copy = copy(arguments).map_err(refused(&arguments.extent))?;
    if output.is_json() {
        output.line(object(arguments, &copy))?;
        return Ok(Verdict::Well);
    }
    output.line(format_args!("{} {} texels for {}", arguments.format, arguments.extent, arguments.api))?;
    let mut table = Table::new("  plane|>layer|>mip|>offset|>rows|>row bytes|>row pitch|?>images|?>image pitch|>bytes");
    for sub in &copy.subresources {
        let numbers =
            [sub.layer, sub.mip_level, sub.offset, sub.rows, sub.row_bytes, sub.row_pitch, sub.images, sub.image_pitch];
        let all = numbers.into_iter().chain([sub.size_in_bytes()]).map(|number| number.to_string());
        table.row(std::iter::once(format!("  {}", sub.plane)).chain(all));
    }
    output.lines(table.lines())?;
    output.line(format_args!("  in all         {}", long_bytes(copy.total_bytes)))?;
    output.line(format_args!("  it begins at   a multiple of {}", long_bytes(copy.offset_multiple)))?;
    output.line(format_args!("  row pitches    multiples of {}", long_bytes(copy.row_multiple)))?;
    Ok(Verdict::Well)
}

fn copy(arguments: &Arguments) -> Result<TextureCopy, Error> {
    let api: TextureApi = arguments.api.parse()?;
    let wrong = |text: &str, expected: &str| Error::parse(text.to_owned(), 1, expected.to_owned(), format!("`{text}`"));
    let numbers = |text: &str| text.split('x').map(str::parse).collect::<Result<Vec<u64>, _>>().ok();
    let sides = numbers(&arguments.extent).filter(|sides| sides.len() <= 3);
    let sides = sides.ok_or_else(|| wrong(&arguments.extent, "up to three numbers of texels, such as 640x480"))?;
    let planes = match (arguments.format.split_once('@'), arguments.format.parse::<u64>()) {
        (_, Ok(bytes)) => vec![TexturePlane::texels(bytes)],
        (Some((bytes, block)), _) => match (bytes.parse(), numbers(block).as_deref()) {
            (Ok(bytes), Some(&[block_width, block_height])) => {
                vec![TexturePlane { block_width, block_height, ..TexturePlane::texels(bytes) }]
            }
            _ => return Err(wrong(&arguments.format, "the bytes of a block and its texels, such as 8@4x4")),
        },
        _ => arguments.format.parse::<Format>()?.planes,
    };
    let side = |place: usize| sides.get(place).copied().unwrap_or(1);
    let texture = Texture::new(planes, side(0), side(1));
    Texture { depth: side(2), layers: arguments.layers, mip_levels: arguments.mips, ..texture }.in_buffer(api)
}

fn object(arguments: &Arguments, copy: &TextureCopy) -> Value {
    let sub = |sub: &Subresource| {
        json!({
            "plane": sub.plane, "layer": sub.layer, "mip_level": sub.mip_level, "offset": sub.offset, "rows": sub.rows,
            "images": sub.images, "row_bytes": sub.row_bytes, "row_pitch": sub.row_pitch, "image_pitch": sub.image_pitch,
            "bytes": sub.size_in_bytes(),
        })
    };
    json!({
        "type": "texture", "extent": arguments.extent, "format": arguments.format,
        "api": arguments.api, "total_bytes": copy.total_bytes, "offset_multiple": copy.offset_multiple,
        "row_multiple": copy.row_multiple,
        "subresources": copy.subresources.iter().map(sub).collect::<Vec<_>>(),
    })
}
