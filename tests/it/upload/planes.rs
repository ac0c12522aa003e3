//! Planes beside the values of a tensor, by the rules of each set of limits for their role.

use tensor_layout::upload::{DeviceLimits, PlaneRole, validate_description};
use tensor_layout::{AnyLayout, ToIndexMap};
use tensor_layout_text::Layout;
use tensor_layout_text::layout::Role;

/// The codes of a tensor with scales: those of its values, then those of its scales.
fn codes(limits: &str, text: &str) -> Vec<&'static str> {
    let (limits, layout): (DeviceLimits, Layout) = (limits.parse().unwrap(), text.parse().unwrap());
    let values = layout.values().to_index_map().unwrap();
    let mut codes = Vec::new();
    for plane in layout.planes() {
        let (limits, errors) = match plane.role() {
            Role::Scales { per } => limits.for_plane(PlaneRole::Scales, &values, per),
            _ => (limits.clone(), Vec::new()),
        };
        codes.extend(validate_description(plane, &limits).err().map(|errors| errors.codes()).unwrap_or_default());
        codes.extend(errors.iter().map(|error| error.code()));
    }
    codes
}

/// What Apple's pages of MTLTensorAuxiliaryPlaneDescriptor (macOS 27) say, and sets of limits without rules
/// for planes.
#[test]
fn planes_keep_the_rules_of_their_role() {
    let others = [
        "s8[128,320] with f32[128,10] per 32",
        "f4e2m1fn[128,320] with f8e8m0fnu per 32",
        "f4e2m1fn[128,256] with f8e4m3fn per 16",
        "s8[128,512] with f16[4,16] per [32,32]",
        "f8e4m3fn[128,256] with f32 per tensor",
    ];
    for row in include_str!("planes.txt").lines().skip(1) {
        let [limits, text, expected] = row.split(" | ").collect::<Vec<_>>()[..] else { panic!("{row}") };
        let codes = codes(limits, text);
        assert_eq!(if codes.is_empty() { "ok".to_owned() } else { codes.join(" ") }, expected, "{row}");
    }
    for limits in ["none", "webgpu", "vulkan", "d3d12", "metal", "opencl"] {
        for text in others {
            assert_eq!(codes(limits, text), [""; 0], "{limits} {text}");
        }
    }
}

#[test]
fn a_scalar_has_no_planes_and_zero_points_have_a_role() {
    let metal: DeviceLimits = "metal-tensor".parse().unwrap();
    let scalar = "s8[]:[]".parse::<AnyLayout>().unwrap().to_index_map().unwrap();
    let (_, errors) = metal.for_plane(PlaneRole::Scales, &scalar, &[]);
    assert_eq!(errors.iter().map(|error| error.code()).collect::<Vec<_>>(), ["rank_limit"]);
    let rows = "s8[4,64]:[64,1]".parse::<AnyLayout>().unwrap().to_index_map().unwrap();
    let (_, errors) = metal.for_plane(PlaneRole::ZeroPoints, &rows, &[1, 32]);
    assert_eq!(errors[0].to_string(), "Metal tensor takes no plane of zero points beside the values");
    let own: DeviceLimits = "none:planes=zero_points:s8+u8:64:8".parse().unwrap();
    assert!(own.for_plane(PlaneRole::ZeroPoints, &rows, &[1, 64]).1.is_empty());
    for text in ["none:planes=bias:s8:1:8", "none:planes=scales", "none:planes=scales:s8:x:8"] {
        assert_eq!(
            text.parse::<DeviceLimits>().unwrap_err().code(),
            if text.ends_with("scales") { "unknown_data_type" } else { "parse" },
            "{text}"
        );
    }
}
