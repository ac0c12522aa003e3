//! Swizzled layouts on devices: refused where strides are given, and cut between spans.

use crate::literal::indices;
use tensor_layout::map::Swizzle;
use tensor_layout::upload::{DeviceLimits, Role, UploadBuffer, split_binding, validate};
use tensor_layout::{IndexMap, ToIndexMap};
use tensor_layout_text::Layout;

fn swizzled(text: &str) -> IndexMap {
    let swizzle = Swizzle::from_bytes(&[(4, 1 << 7), (5, 1 << 8), (6, 1 << 9)], 16).unwrap();
    text.parse::<Layout>().unwrap().to_index_map().unwrap().with_swizzle(&swizzle).unwrap()
}

#[test]
fn devices_that_take_strides_refuse_a_swizzle_in_words() {
    let map = swizzled("f16[64,64]:[64,1]");
    let buffer = UploadBuffer::new(8192, 0, Role::Input);
    for name in ["directml", "metal-tensor", "onednn", "cuda-tensor-map"] {
        let errors = validate(&map, &buffer, &name.parse().unwrap()).unwrap_err();
        let found = errors.iter().map(ToString::to_string).find(|error| error.contains("^="));
        assert!(
            found.is_some_and(|error| error.contains("bits 4 to 6 of the byte ^= bits 7 to 9")),
            "{name}: {errors}"
        );
    }
    // For these, a shader computes the offsets.
    for limits in [DeviceLimits::none(), DeviceLimits::webgpu()] {
        assert_eq!(validate(&map, &buffer, &limits).unwrap().bound, 0..8192);
    }
}

#[test]
fn a_swizzled_tensor_is_cut_between_spans() {
    for text in ["f16[100,64]:[64,1]", "f16[64,100]:[1,64]", "f16(96,(64,2)):(64,(1,6144))", "f16[3,40,64]:[4096,64,1]"]
    {
        let map = swizzled(text);
        let mut limits = DeviceLimits::none();
        limits.max_binding = 4096;
        let pieces = split_binding(&map, &limits).unwrap();
        assert!(pieces.len() > 1, "{text}");
        let mut met = 0;
        for piece in &pieces {
            let layout = piece.layout.to_index_map().unwrap();
            for index in indices(layout.sizes()) {
                let whole: Vec<u64> = index.iter().zip(&piece.indices).map(|(i, range)| i + range.start).collect();
                let offset = layout.offset(&index).unwrap() + piece.bound.start / 2;
                assert_eq!(map.offset(&whole), Ok(offset), "{text} at {whole:?}");
                met += 1;
            }
            assert!(piece.bound.end - piece.bound.start <= 4096);
        }
        assert_eq!(met, map.element_count());
    }
}
