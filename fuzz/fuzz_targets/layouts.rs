//! A layout in any notation, and what is done with one that was read: its map, its strides, its picture, its
//! text in every other notation, its sizes and facts. Nothing of it panics, or takes long.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tensor_layout::AnyLayout;
use tensor_layout::bridge::lower;
use tensor_layout::map::same_layout;
use tensor_layout::relayout::{Relayout, Settings};
use tensor_layout::upload::{DeviceLimits, suggest, validate_description};
use tensor_layout::{BufferTensorDesc, IndexMap, ToIndexMap};
use tensor_layout_fuzz::texts::{of_bytes, read};
use tensor_layout_text::draw::Picture;
use tensor_layout_text::layout::copies;
use tensor_layout_text::{Layout, all_notations, to_xla_exact};

fuzz_target!(|data: &[u8]| {
    let text = of_bytes(data);
    let Some(layout) = read::<Layout>(text) else { return };
    let one = layout.any();
    match one {
        Ok(AnyLayout::Strided(desc)) => strided(desc),
        Ok(AnyLayout::Tiled(shape)) => {
            let _ = (shape.physical_size_in_bytes(), shape.logical_size_in_bytes());
            let _ = lower(shape).map(|lowering| lowering.reason());
        }
        _ => {}
    }
    questions(&layout);
    let (Ok(one), Ok(map)) = (one, layout.to_index_map()) else { return };
    mapped(&map);
    let elements = map.element_count();
    let long = elements > 5000;
    for line in all_notations(one) {
        let Ok(text) = line.text else { continue };
        let back: Layout = text.parse().unwrap();
        let back = back.to_index_map().unwrap();
        assert_eq!((back.data_type(), back.sizes()), (map.data_type(), map.sizes()), "{text}");
        match same_layout(&back, &map) {
            Ok(same) => assert!(same, "{text}"),
            Err(error) => assert!(long && error.code() == "undecided", "{text}: {error}"),
        }
    }
});

/// Asks what every kind of layout answers.
fn questions(layout: &Layout) {
    assert!(layout.difference(layout).is_ok_and(|found| found.is_none()) || layout.whole().is_err(), "{layout}");
    let _ = (layout.size_in_bytes(), layout.to_string());
    for plane in layout.planes() {
        let _ = (plane.bound(), plane.size_in_bytes(), plane.type_name());
        if !plane.sizes().contains(&0)
            && let Ok(place) = plane.place(&vec![0; plane.sizes().len()])
        {
            assert!(
                plane.index_at(place.offset).is_ok_and(|index| index.is_some()) || plane.whole().is_err(),
                "{layout}"
            );
        }
    }
    if layout.values().parts().len() <= 64 {
        let _ = copies(layout, layout, &Settings::default());
    }
}

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
    if let Ok(spelled) = to_xla_exact(map)
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
