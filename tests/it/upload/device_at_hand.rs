//! The limits of the current device, types of less than a byte and about a byte, and codes and reports for
//! programs.

use super::named;
use tensor_layout::upload::{DeviceLimits, read_size, suggest, validate_description};
use tensor_layout::{BufferTensorDesc, DataType};
use tensor_layout_text::Layout;

#[test]
fn names_take_limits_of_the_device() {
    let mine = named("webgpu:max_binding=2GiB,max_buffer=4_294_967_296,offset_alignment=32");
    assert_eq!((mine.max_binding, mine.max_buffer, mine.offset_alignment), (2 << 30, 4 << 30, 32));
    assert_eq!(mine.name, "webgpu:max_binding=2GiB,max_buffer=4_294_967_296,offset_alignment=32");
    assert!(!named("directml:5.0:writes_padding=false").writes_padding);
    assert_eq!(named("directml:2.1:max_rank=8").max_rank, 8);
    for wrong in [
        "webgpu:max_bindings=1",
        "webgpu:max_binding=",
        "webgpu:max_binding",
        "webgpu:one_usage=1",
        "opengl:max_rank=2",
    ] {
        assert!(wrong.parse::<DeviceLimits>().is_err(), "{wrong}");
    }
    for name in DeviceLimits::names() {
        named(name);
    }
    assert_eq!(named("webnn:chromium").max_rank, 8);
    assert_eq!((named("webgpu-uniform").max_binding, named("metal").max_buffer), (65_536, 256 << 20));
}

#[test]
fn sizes_are_read_as_people_write_them() {
    for (text, bytes) in
        [("4MiB", 4 << 20), ("4_194_304", 4 << 20), ("0", 0), ("2 GiB", 2 << 30), ("64kB", 64_000), ("7B", 7)]
    {
        assert_eq!(read_size(text), Ok(bytes), "{text}");
    }
    for (text, column) in [
        ("", 1),
        ("MiB", 1),
        ("4Mb", 2),
        ("4 MiBs", 3),
        ("_4", 1),
        ("-4", 1),
        ("99999999999999999999", 1),
        ("20000000TiB", 1),
    ] {
        assert_eq!(read_size(text).unwrap_err().column(), Some(column), "{text}");
    }
}

#[cfg(feature = "serde")]
#[test]
fn limits_errors_and_reports_are_data() {
    let mine = named("webgpu:max_binding=2GiB");
    let json = serde_json::to_string(&mine).unwrap();
    assert_eq!(serde_json::from_str::<DeviceLimits>(&json).unwrap(), mine);
    let desc: BufferTensorDesc = "f32[2,3]:[1,2]".parse().unwrap();
    let errors = validate_description(&desc, &named("metal-tensor")).unwrap_err();
    let json = serde_json::to_value(&errors).unwrap();
    assert_eq!(json["errors"][0]["code"], errors[0].code());
    assert_eq!(json["errors"][0]["message"], errors[0].to_string());
    assert_eq!((&json["errors"][0]["axis"], &json["errors"][0]["value"]), (&0.into(), &1.into()));
    assert_eq!((&json["report"]["bound"]["end"], &json["report"]["index_width"]), (&24.into(), &"i32".into()));
    let parse = serde_json::to_value("f32[2".parse::<BufferTensorDesc>().unwrap_err()).unwrap();
    assert_eq!((&parse["code"], parse.get("axis")), (&"parse".into(), None));
}

/// WebNN's `uint4` is packed. Sizes without strides follow XLA, which gives each element a byte.
#[test]
fn the_storage_of_types_below_a_byte_is_said() {
    let packed: BufferTensorDesc = "u4[3,5]:[5,1]".parse().unwrap();
    assert_eq!(validate_description(&packed, &named("webnn")).unwrap().total_bytes, 8);
    let bytes: Layout = "u4[3,5]".parse().unwrap();
    let errors = validate_description(&bytes, &named("webnn")).unwrap_err();
    assert_eq!(errors.codes(), ["unsupported_element_bits"]);
    let words = errors[0].to_string();
    assert!(
        words.contains("elements of 8 bits") && words.contains("u4[3,5]:[5,1]") && words.contains("E(4)"),
        "{words}"
    );
    assert_eq!(validate_description(&bytes, &named("webgpu")).unwrap().exact_bytes, 15);
}

#[test]
fn a_tensor_map_copies_fp8_as_bytes() {
    let weights: BufferTensorDesc = "f8e4m3fn[64,128]:[128,1]".parse().unwrap();
    let limits = named("cuda-tensor-map");
    let errors = validate_description(&weights, &limits).unwrap_err();
    assert_eq!(
        errors[0].to_string(),
        "CUDA tensor map takes u8 for it, as it copies the bits as they are, but has no data type for f8e4m3fn"
    );
    let found = suggest(&weights, &limits).unwrap().unwrap();
    assert_eq!(found.source.as_ref().unwrap().data_type(), DataType::U8);
    assert_eq!((found.desc.to_string().as_str(), found.moves_bytes()), ("u8[64,128]:[128,1]", false));
    // Rows that need padding are moved.
    let weights: BufferTensorDesc = "f8e5m2[64,100]:[100,1]".parse().unwrap();
    let found = suggest(&weights, &limits).unwrap().unwrap();
    assert_eq!((found.desc.to_string().as_str(), found.moves_bytes()), ("u8[64,100]:[112,1]", true));
    // DirectML computes with elements, so bf16 is not u16 there.
    let brain: BufferTensorDesc = "bf16[4]:[1]".parse().unwrap();
    assert!(suggest(&brain, &DeviceLimits::directml()).is_err());
    assert_eq!(
        validate_description(&brain, &DeviceLimits::directml()).unwrap_err()[0].to_string(),
        "DirectML 6.4 has no data type for bf16"
    );
}

#[test]
fn types_are_read_as_frameworks_call_them() {
    use DataType::{F8E4M3, F8E4M3FN, F8E5M2, F16, F32, F64, S1, S32, U1};
    for (name, data_type) in [
        ("F8_E4M3", F8E4M3FN),
        ("F8E4M3", F8E4M3),
        ("fp16", F16),
        ("half", F16),
        ("torch.float16", F16),
        ("torch.float8_e4m3fn", F8E4M3FN),
        ("np.int32", S32),
        ("fp8_e4m3", F8E4M3FN),
        ("fp8_e5m2", F8E5M2),
        ("fp32", F32),
        ("double", F64),
        ("int1", S1),
        ("uint1", U1),
    ] {
        assert_eq!(name.parse(), Ok(data_type), "{name}");
        let layout: Layout = format!("{name}[2,3]:[3,1]").parse().unwrap();
        assert_eq!(tensor_layout::ToIndexMap::to_index_map(&layout).unwrap().data_type(), data_type);
    }
    assert_eq!("torch.floaty".parse::<DataType>().unwrap_err().code(), "unknown_data_type");
    for big in ["'>f4'", "'>i2'"] {
        let error = format!("ndarray(shape=(2,), dtype={big})").parse::<Layout>().unwrap_err();
        assert!(error.to_string().contains("big-endian"), "{error}");
    }
}

#[test]
fn s4_to_a_byte_each_is_said_of_a_descriptor() {
    let (packed, bytes): (BufferTensorDesc, BufferTensorDesc) =
        ("s4[2,2]:[2,1]".parse().unwrap(), "s8[2,2]:[2,1]".parse().unwrap());
    let error = tensor_layout::relayout::copy(&packed, &bytes, &[0; 4], &mut [0; 4]).unwrap_err();
    assert!(error.to_string().contains("`with_byte_elements`"), "{error}");
    let (mut out, mut back) = ([0; 4], [0; 2]);
    let each = packed.with_byte_elements().unwrap();
    tensor_layout::relayout::copy(&packed, &each, &[0x7f, 0x18], &mut out).unwrap();
    assert_eq!(out, [0xff, 7, 0xf8, 1]);
    tensor_layout::relayout::copy(&each, &packed, &out, &mut back).unwrap();
    assert_eq!(back, [0x7f, 0x18]);
}
