//! Textures in buffers, by the numbers of each API's own rules.

use tensor_layout_text::texture::{Format, Texture, TextureApi, TextureCopy, TexturePlane};

fn api(name: &str) -> TextureApi {
    name.parse().unwrap()
}

fn texture(format: &str, width: u64, height: u64) -> Texture {
    Texture::new(format.parse::<Format>().unwrap().planes, width, height)
}

fn total(texture: &Texture, api: &str) -> u64 {
    texture.in_buffer(api.parse().unwrap()).unwrap().total_bytes
}

fn offsets(copy: &TextureCopy) -> Vec<u64> {
    copy.subresources.iter().map(|sub| sub.offset).collect()
}

/// GetCopyableFootprints: rows are at multiples of 256, subresources at multiples of 512, and the last row is
/// not padded.
#[test]
fn direct3d_12() {
    let layers = Texture { layers: 2, ..texture("r8", 100, 3) };
    let copy = layers.in_buffer(api("d3d12")).unwrap();
    assert_eq!(
        (offsets(&copy), copy.total_bytes, copy.offset_multiple, copy.row_multiple),
        (vec![0, 1024], 1636, 512, 256)
    );
    // A BC1 mip chain of 8 x 8 has 2 x 2 blocks of 8 bytes, and then one block.
    let blocks = Texture { mip_levels: 3, ..texture("bc1", 8, 8) }.in_buffer(api("d3d12")).unwrap();
    let rows: Vec<_> =
        blocks.subresources.iter().map(|sub| (sub.offset, sub.rows, sub.row_bytes, sub.row_pitch)).collect();
    assert_eq!(rows, [(0, 2, 16, 256), (512, 1, 8, 256), (1024, 1, 8, 256)]);
    assert_eq!(blocks.total_bytes, 1032);
    // NV12 has a plane of brightness, and a plane of half the size with two colours.
    let video = texture("nv12", 64, 64).in_buffer(api("d3d12")).unwrap();
    assert_eq!(
        (offsets(&video), video.subresources[1].rows, video.subresources[1].row_bytes),
        (vec![0, 16_384], 32, 64)
    );
    // The first plane has 63 rows and the last row: 16192 bytes. The second plane is at the next multiple of
    // 512.
    assert_eq!((video.subresources[0].size_in_bytes(), video.total_bytes), (16_192, 16_384 + 31 * 256 + 64));
    // The images of a volume follow each other at the pitch of their rows.
    let volume = Texture { depth: 3, ..texture("r32", 4, 2) }.in_buffer(api("d3d12")).unwrap();
    assert_eq!((volume.subresources[0].image_pitch, volume.total_bytes), (512, 2 * 512 + 256 + 16));
}

/// Validating linear texture data: if there are several rows, bytesPerRow is a multiple of 256. The offset is
/// a multiple of the block.
#[test]
fn webgpu() {
    assert_eq!(total(&texture("r32", 10, 10), "webgpu"), 9 * 256 + 40);
    assert_eq!(total(&texture("r32", 10, 1), "webgpu"), 40);
    let copy = texture("rgba16", 10, 10).in_buffer(api("webgpu")).unwrap();
    assert_eq!((copy.offset_multiple, copy.row_multiple, copy.total_bytes), (8, 256, 9 * 256 + 80));
    // One row of several layers has a pitch as well.
    let layers = Texture { layers: 3, ..texture("r8", 10, 1) }.in_buffer(api("webgpu")).unwrap();
    assert_eq!((layers.subresources[0].row_pitch, layers.row_multiple), (256, 256));
    // The texture has 25 rows of blocks of 4 x 4.
    assert_eq!(total(&texture("bc7", 100, 100), "webgpu"), 24 * 512 + 400);
}

/// Buffer and image addressing: the row length counts texels, and the last row ends with its last texel.
#[test]
fn vulkan() {
    assert_eq!(total(&texture("r8", 2, 2), "vulkan:64"), 66);
    assert_eq!(total(&texture("r8", 2, 2), "vulkan"), 4);
    let blocks = texture("bc1", 10, 8).in_buffer(api("vulkan:16")).unwrap();
    assert_eq!((blocks.subresources[0].row_bytes, blocks.subresources[0].row_pitch, blocks.total_bytes), (24, 32, 56));
    assert_eq!(blocks.offset_multiple, 8);
    for row_length in [1, 9, 14] {
        let error = texture("bc1", 10, 8).in_buffer(api(&format!("vulkan:{row_length}"))).unwrap_err();
        assert_eq!((error.code(), error.to_string().contains("the row length in texels")), ("out_of_limits", true));
    }
}

/// The offset and the bytes per row are multiples of a texel, or of a block.
#[test]
fn metal() {
    let copy = texture("rgba8", 10, 10).in_buffer(api("metal")).unwrap();
    assert_eq!((copy.total_bytes, copy.offset_multiple, copy.row_multiple), (400, 4, 4));
    let chain = Texture { mip_levels: 2, layers: 2, ..texture("r8", 3, 3) }.in_buffer(api("metal")).unwrap();
    assert_eq!((offsets(&chain), chain.total_bytes), (vec![0, 9, 10, 19], 20));
}

#[test]
fn what_is_no_texture_is_refused() {
    let code = |texture: Texture| texture.in_buffer(api("metal")).unwrap_err();
    for (texture, says) in [
        (texture("r8", 0, 4), "the width of a texture is 0"),
        (Texture { layers: 0, ..texture("r8", 4, 4) }, "the number of layers of a texture is 0"),
        (Texture { layers: 2, depth: 2, ..texture("r8", 4, 4) }, "between 1 and 1"),
        (
            Texture { mip_levels: 4, ..texture("r8", 4, 4) },
            "the number of mip levels of a texture is 4, but must be between 1 and 3",
        ),
        (Texture::new(vec![], 4, 4), "the number of planes"),
        (Texture::new(vec![TexturePlane::texels(0)], 4, 4), "the bytes of a texel block is 0"),
    ] {
        let error = code(texture);
        assert!(error.code() == "out_of_limits" && error.to_string().contains(says), "{error}");
    }
    assert_eq!(code(texture("rgba32", u64::MAX, 1)).code(), "overflow");
    assert_eq!(code(texture("rgba8", 1 << 40, 1 << 40)).code(), "overflow");
    assert_eq!("rgb9".parse::<Format>().unwrap_err().code(), "unknown_texture_format");
    assert_eq!("opengl".parse::<TextureApi>().unwrap_err().code(), "unknown_texture_api");
}

/// What validation layers and drivers told: one row of WebGPU, whole blocks, depth and stencil, planes of
/// Vulkan.
#[test]
fn rules_that_were_run() {
    let copy = |format: &str, width, height, name: &str| texture(format, width, height).in_buffer(api(name));
    let row = copy("r8", 100, 1, "webgpu").unwrap();
    assert_eq!((row.subresources[0].row_pitch, row.total_bytes), (256, 100), "or left out, as nothing follows");
    for (format, multiple) in [("rgba8", 4), ("bc7", 16), ("nv12", 2)] {
        assert_eq!(copy(format, 8, 8, "vulkan").unwrap().row_multiple, multiple, "{format}");
    }
    for name in ["webgpu", "d3d12"] {
        assert_eq!(copy("bc1", 10, 10, name).unwrap_err().code(), "size_unaligned", "{name}");
    }
    assert!(copy("bc1", 10, 10, "vulkan").is_ok());
    for format in ["stencil8", "depth16unorm", "VK_FORMAT_D16_UNORM", "MTLPixelFormatStencil8"] {
        assert_eq!(copy(format, 8, 8, "webgpu").unwrap().offset_multiple, 4, "{format}");
    }
    assert_eq!(copy("r8", 100, 3, "d3d12-unrestricted").unwrap().total_bytes, 300);
    assert_eq!(copy("nv12", 64, 64, "d3d12-unrestricted").unwrap(), copy("nv12", 64, 64, "d3d12").unwrap());
    assert_eq!(copy("r8", 2050, 2, "metal-linear").unwrap().subresources[0].row_pitch, 2304);
    assert_eq!(copy("r8", 3, 3, "webgpu-write").unwrap().total_bytes, 9);
    for (name, bytes) in [
        ("rgba8unorm-srgb", 4),
        ("bgra8unorm", 4),
        ("rgb10a2uint", 4),
        ("rg11b10ufloat", 4),
        ("rgb9e5ufloat", 4),
        ("r16float", 2),
        ("VK_FORMAT_R8G8B8A8_SRGB", 4),
        ("VK_FORMAT_A2B10G10R10_UNORM_PACK32", 4),
        ("DXGI_FORMAT_R32G32B32A32_FLOAT", 16),
        ("DXGI_FORMAT_B5G6R5_UNORM", 2),
        ("MTLPixelFormatRGBA16Float", 8),
        ("DXGI_FORMAT_R8G8_B8G8_UNORM", 4),
        ("BC7_UNORM_SRGB", 16),
        ("VK_FORMAT_BC1_RGB_UNORM_BLOCK", 8),
        ("astc-5x4-unorm", 16),
        ("etc2-rgb8unorm", 8),
        ("eac-rg11snorm", 16),
    ] {
        assert_eq!(name.parse::<Format>().unwrap().planes[0].block_bytes, bytes, "{name}");
    }
    for name in ["", "unorm", "rgba", "8", "q8", "r3", "depth24plus", "depth24plus-stencil8"] {
        assert_eq!(name.parse::<Format>().unwrap_err().code(), "unknown_texture_format", "{name}");
    }
}

/// The extent of a level, and the one that a copy names: blocks on WebGPU (*physical miplevel-specific
/// texture extent*) and Direct3D 12 (the footprint), texels on Vulkan and Metal (a region ends at the edge of
/// the level).
#[test]
fn small_levels_are_copied_in_blocks_or_texels() {
    for (name, copied) in [("webgpu", 4), ("webgpu-write", 4), ("d3d12", 4), ("vulkan", 2), ("metal", 2)] {
        let copy = Texture { mip_levels: 2, ..texture("bc7", 4, 4) }.in_buffer(api(name)).unwrap();
        let small = copy.subresources[1];
        assert_eq!((small.extent, small.copied, small.row_bytes), ([2, 2, 1], [copied, copied, 1], 16), "{name}");
    }
    let colours = texture("nv12", 64, 64).in_buffer(api("vulkan")).unwrap().subresources[1];
    assert_eq!(colours.extent, [32, 32, 1]);
}

#[test]
fn limits_of_the_device_at_hand() {
    let pitch = |name: &str| texture("r8", 100, 2).in_buffer(api(name)).map(|copy| copy.subresources[0].row_pitch);
    assert_eq!(pitch("metal-linear:minimumLinearTextureAlignmentForPixelFormat=16").unwrap(), 112);
    assert_eq!(pitch("vulkan:optimalBufferCopyRowPitchAlignment=128").unwrap(), 128);
    assert_eq!(pitch("d3d12:D3D12_TEXTURE_DATA_PITCH_ALIGNMENT=1,row_length=104").unwrap(), 104);
    assert_eq!(pitch("webgpu:maxTextureDimension2D=64").unwrap_err().code(), "size_limit");
    assert_eq!(pitch("webgpu:max_buffer=355").unwrap_err().code(), "buffer_limit");
    assert_eq!(pitch("webgpu:max_buffer=356").unwrap(), 256);
    assert_eq!("webgpu:width=3".parse::<TextureApi>().unwrap_err().code(), "unknown_limits");
}

/// Depth and stencil are copied apart, each from its own texels; two pixels share the colours of a 4:2:2
/// format.
#[test]
fn formats_of_several_planes_and_pixels() {
    let planes = |name: &str| {
        let planes = name.parse::<Format>().unwrap().planes;
        planes.iter().map(|plane| (plane.block_bytes, plane.block_width, plane.divisor)).collect::<Vec<_>>()
    };
    for name in ["depth32float-stencil8", "VK_FORMAT_D24_UNORM_S8_UINT", "DXGI_FORMAT_R24G8_TYPELESS"] {
        assert_eq!(planes(name), [(4, 1, 1), (1, 1, 1)], "{name}");
        let copy = texture(name, 8, 8).in_buffer(api("vulkan")).unwrap();
        assert_eq!((offsets(&copy), copy.total_bytes, copy.offset_multiple), (vec![0, 256], 320, 4));
    }
    assert_eq!(planes("VK_FORMAT_G8_B8R8_2PLANE_420_UNORM"), planes("nv12"));
    assert_eq!(planes("DXGI_FORMAT_YUY2"), [(4, 2, 1)]);
    assert_eq!(total(&texture("DXGI_FORMAT_G8R8_G8B8_UNORM", 8, 2), "d3d12"), 256 + 16);
    assert_eq!(texture("yuy2", 7, 2).in_buffer(api("d3d12")).unwrap_err().code(), "size_unaligned");
}
