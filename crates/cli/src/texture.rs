//! `texture`: where the rows of a texture are in a buffer that is copied to it or from it.

use clap::Args;
use serde_json::{Value, json};
use tensor_layout::Error;
use tensor_layout_text::texture::{Format, Subresource, Texture, TextureApi, TextureCopy, TexturePlane};

use crate::input::{read_text, unreadable};
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
    #[arg(long, value_name = "API", required_unless_present = "limits")]
    api: Option<String>,
    /// Limits of the device at hand: row_multiple, offset_multiple, max_side and max_buffer, or their names
    /// in an API, as in max_buffer=1GiB, perhaps after the name of an API (metal-linear:row_multiple=16), or
    /// the numbers of `adapter.limits` in a JSON file, by its name.
    #[arg(long, value_name = "NAME")]
    limits: Option<String>,
    /// Array layers: 6 for a cube.
    #[arg(long, default_value = "1")]
    layers: u64,
    /// Mip levels.
    #[arg(long, default_value = "1")]
    mips: u64,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let (name, api) = api(arguments)?;
    let copy = copy(arguments, api).map_err(refused(&arguments.extent))?;
    if output.is_json() {
        output.line(object(arguments, &name, &copy))?;
        return Ok(Verdict::Well);
    }
    output.line(format_args!("{} {} texels for {name}", arguments.format, arguments.extent))?;
    let columns =
        "  plane|>layer|>mip|>extent|>copied as|>offset|>rows|>row bytes|>row pitch|?>images|?>image pitch|>bytes";
    let mut table = Table::new(columns);
    for sub in &copy.subresources {
        let text = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>();
        // The only subresource has the extent of the texture.
        let extent = if copy.subresources.len() > 1 { sides(sub.extent) } else { String::new() };
        let copied = if sub.copied == sub.extent { String::new() } else { sides(sub.copied) };
        let sizes =
            [sub.offset, sub.rows, sub.row_bytes, sub.row_pitch, sub.images, sub.image_pitch, sub.size_in_bytes()];
        let first = vec![format!("  {}", sub.plane)];
        table.row([first, text(&[sub.layer, sub.mip_level]), vec![extent, copied], text(&sizes)].concat());
    }
    output.lines(table.lines())?;
    output.line(format_args!("  in all         {}", long_bytes(copy.total_bytes)))?;
    output.line(format_args!("  it begins at   a multiple of {}", long_bytes(copy.offset_multiple)))?;
    output.line(format_args!("  row pitches    multiples of {}", long_bytes(copy.row_multiple)))?;
    let is_one_row = |sub: &Subresource| sub.rows == 1 && sub.images == 1;
    if name.starts_with("webgpu") && copy.subresources.iter().any(is_one_row) {
        output.line("                 of one row the pitch may be left out")?;
    }
    Ok(Verdict::Well)
}

fn sides([width, height, depth]: [u64; 3]) -> String {
    let depth = if depth > 1 { format!("x{depth}") } else { String::new() };
    format!("{width}x{height}{depth}")
}

/// The rules, with their name, from both options. Of a JSON file, the numbers that mean something here are
/// used.
fn api(arguments: &Arguments) -> Result<(String, TextureApi), Stop> {
    let unusable = |error: Error| Stop::Unusable(error.to_string());
    let limits = arguments.limits.as_deref().unwrap_or_default();
    let is_file = limits.ends_with(".json");
    let (named, fields) = match limits.split_once(':') {
        _ if is_file => ("", ""),
        Some((name, fields)) => (name, fields),
        None if limits.contains('=') => ("", limits),
        None => (limits, ""),
    };
    let name = arguments.api.clone().unwrap_or_else(|| if is_file { "webgpu".into() } else { named.to_owned() });
    let mut api: TextureApi = name.parse().map_err(unusable)?;
    if !named.is_empty() {
        named.parse::<TextureApi>().map_err(unusable)?;
    }
    for field in fields.split(',').filter(|field| !field.is_empty()) {
        let (field, value) = field.split_once('=').unwrap_or((field, ""));
        api = api.with(field, value).map_err(unusable)?;
    }
    if is_file {
        let numbers = serde_json::from_str::<serde_json::Map<String, Value>>(&read_text(limits.as_ref())?);
        let numbers = numbers.map_err(|error| unreadable(limits.as_ref(), &error))?;
        for (field, number) in numbers {
            api = api.with(&field, &number.to_string()).unwrap_or(api);
        }
    }
    let name = match limits {
        "" => name,
        _ if named == name => limits.to_owned(),
        _ => format!("{name}, {limits}"),
    };
    Ok((name, api))
}

fn copy(arguments: &Arguments, api: TextureApi) -> Result<TextureCopy, Error> {
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

fn object(arguments: &Arguments, api: &str, copy: &TextureCopy) -> Value {
    let sub = |sub: &Subresource| {
        json!({
            "plane": sub.plane, "layer": sub.layer, "mip_level": sub.mip_level, "offset": sub.offset, "rows": sub.rows,
            "extent": sub.extent, "copied": sub.copied,
            "images": sub.images, "row_bytes": sub.row_bytes, "row_pitch": sub.row_pitch, "image_pitch": sub.image_pitch,
            "bytes": sub.size_in_bytes(),
        })
    };
    json!({
        "type": "texture", "extent": arguments.extent, "format": arguments.format,
        "api": api, "total_bytes": copy.total_bytes, "offset_multiple": copy.offset_multiple,
        "row_multiple": copy.row_multiple,
        "subresources": copy.subresources.iter().map(sub).collect::<Vec<_>>(),
    })
}
