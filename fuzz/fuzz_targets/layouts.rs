//! A layout in any notation, and what is done with one that was read: its map, its strides, its picture, its
//! text in every other notation, its sizes and facts. Nothing of it panics, or takes long.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tensor_layout::AnyLayout;
use tensor_layout::bridge::lower;
use tensor_layout::map::same_layout;
use tensor_layout::relayout::Relayout;
use tensor_layout::upload::{DeviceLimits, suggest, validate_description};
use tensor_layout::{BufferTensorDesc, IndexMap, ToIndexMap};
use tensor_layout_fuzz::texts::{of_bytes, read};
use tensor_layout_text::draw::Picture;
use tensor_layout_text::spell;
use tensor_layout_text::{Notated, lines};

fuzz_target!(|data: &[u8]| {
    let text = of_bytes(data);
    let Some(layout) = read::<Notated>(text) else { return };
    match layout.layout() {
        AnyLayout::Strided(desc) => strided(desc),
        AnyLayout::Tiled(shape) => {
            let _ = (shape.physical_size_in_bytes(), shape.logical_size_in_bytes());
            let _ = lower(shape).map(|lowering| lowering.reason());
        }
        _ => {}
    }
    let Ok(map) = layout.to_index_map() else { return };
    mapped(&map);
    let elements = map.element_count();
    let long = elements > 5000;
    for line in lines(layout.layout()) {
        let Ok(text) = line.text else { continue };
        let back: Notated = text.parse().unwrap();
        let back = back.to_index_map().unwrap();
        assert_eq!((back.data_type(), back.sizes()), (map.data_type(), map.sizes()), "{text}");
        match same_layout(&back, &map) {
            Ok(same) => assert!(same, "{text}"),
            Err(error) => assert!(long && error.code() == "undecided", "{text}: {error}"),
        }
    }
});

fn strided(desc: &BufferTensorDesc) {
    let _ = (desc.facts(), desc.is_packed(), desc.overlap(), desc.explicit_strides());
    let _ = desc.index_width();
    let small = desc.coalesce();
    assert!(small.element_count() == desc.element_count());
    if desc.element_count() > 0 {
        let last: Vec<u64> = desc.sizes().iter().map(|size| size - 1).collect();
        assert_eq!(desc.offset(&last), Ok(desc.span_elements() - 1));
        assert_eq!(desc.offsets().last(), Some(desc.span_elements() - 1));
    }
    for limits in ["directml", "webgpu", "metal-tensor", "webnn"] {
        let limits = limits.parse::<DeviceLimits>().unwrap();
        if let Ok(Some(suggestion)) = suggest(desc, &limits) {
            assert!(validate_description(&suggestion.desc, &limits).is_ok(), "{desc}");
        }
    }
}

fn mapped(map: &IndexMap) {
    let elements = map.element_count();
    if elements > 0 {
        let last: Vec<u64> = map.sizes().iter().map(|size| size - 1).collect();
        for index in [vec![0; last.len()], last] {
            let offset = map.offset(&index).unwrap();
            assert!(offset < map.physical_elements());
            match map.inverse(offset) {
                Ok(found) => {
                    // Another index where elements share a place.
                    let found = found.expect("an element is stored there");
                    assert_eq!(map.offset(&found), Ok(offset));
                }
                Err(error) => assert_eq!(error.code(), "undecided"),
            }
        }
    }
    let _ = (map.strides(), map.class(), map.span_elements());
    let _ = map.digit_places();
    if let Ok(spelled) = spell(map)
        && let Ok(same) = same_layout(&spelled, map)
    {
        assert!(same, "{spelled}");
    }
    let _ = lower(map).map(|lowering| lowering.reason());
    if map.physical_elements() <= 3000 {
        let _ = Picture::new(map, "a layout").map(|picture| picture.to_string());
        let _ = map.buffer_boxes();
        let _ = Relayout::new(map, map).map(|relayout| relayout.explain());
    }
    let _ = Picture::corner(map, "a layout");
}
