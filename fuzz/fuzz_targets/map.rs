//! The index map of a tiled layout against the literal one: every offset and its inverse, the padding, the
//! strides, the texts.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use tensor_layout::bridge::{Lowering, lower};
use tensor_layout::relayout::Relayout;
use tensor_layout::{IndexMap, LayoutClass, ToIndexMap};
use tensor_layout_fuzz::layouts::{Side, Tensor, Tiled};
use tensor_layout_fuzz::places::{for_each_index, strided_offsets};
use tensor_layout_text::Layout;
use tensor_layout_text::to_xla_exact;

#[derive(Debug, Arbitrary)]
struct Input {
    tensor: Tensor,
    tiled: Tiled,
    question: u8,
}

fuzz_target!(|data: &[u8]| {
    let Ok(input) = Input::arbitrary(&mut Unstructured::new(data)) else { return };
    let sizes = input.tensor.sizes(120);
    let side = input.tiled.side(input.tensor.data_type(), &sizes, 1000);
    let map = &side.map;
    assert_eq!(map.physical_elements(), side.places, "{}", side.text);
    offsets_are(map, &side.offsets, &side.text);
    match input.question % 8 {
        0 | 1 => inverse(&side),
        2 => boxes(&side),
        3 => lowering(&side),
        4 => spelling(&side),
        5 => written(&side),
        6 => {
            // A tiled layout gives every element a place of its own.
            assert!(Relayout::new(map, map).is_ok(), "{}", side.text);
            let last = side.offsets.iter().max().map_or(0, |last| last + 1);
            // An upper bound where digits do not line up.
            assert!(
                map.span_elements() == last || map.class() == LayoutClass::Irreducible && map.span_elements() > last
            );
        }
        _ => difference(&side, &input),
    }
});

fn offsets_are(map: &IndexMap, offsets: &[u64], text: &str) {
    let mut places = offsets.iter();
    for_each_index(map.sizes(), |index| {
        let place = places.next().copied();
        assert_eq!(map.offset(index).ok(), place, "{text} at {index:?}");
    });
    assert_eq!(places.next(), None);
}

fn inverse(side: &Side) {
    let mut expected = vec![None; side.places as usize];
    let mut places = side.offsets.iter();
    for_each_index(side.map.sizes(), |index| expected[*places.next().unwrap() as usize] = Some(index.to_vec()));
    for (place, expected) in (0..).zip(&expected) {
        let found = side.map.inverse(place).unwrap();
        assert_eq!(found.as_deref(), expected.as_deref(), "{} at {place}", side.text);
    }
}

fn boxes(side: &Side) {
    let boxes = side.map.buffer_boxes().unwrap();
    let mut expected = vec![1_u8; side.places as usize];
    side.offsets.iter().for_each(|&place| expected[place as usize] = 2);
    let mut found = vec![0_u8; side.places as usize];
    for (boxes, kind) in [(&boxes.elements, 2), (&boxes.padding, 1)] {
        for (start, length) in boxes.iter().flat_map(|found| found.runs()) {
            found[start as usize..][..length as usize].iter_mut().for_each(|place| *place += kind);
        }
    }
    assert!(found == expected, "{}", side.text);
}

fn lowering(side: &Side) {
    let lowering = lower(&side.map).unwrap();
    match (&lowering, side.map.class()) {
        (Lowering::Strided(desc), LayoutClass::Affine) => {
            assert_eq!(
                strided_offsets(desc.sizes(), desc.strides(), desc.base_offset()),
                side.offsets,
                "{}",
                side.text
            );
        }
        (Lowering::Split(split), _) => {
            // The digits of an index are those of a row-major number in the axes of its dimension.
            let (sizes, strides) = (split.desc.sizes(), split.desc.strides());
            let mut places = side.offsets.iter();
            for_each_index(side.map.sizes(), |index| {
                let mut rest = index.to_vec();
                let mut offset = split.desc.base_offset();
                for (axis, &dim) in split.dims.iter().enumerate().rev() {
                    offset += rest[dim] % sizes[axis] * strides[axis];
                    rest[dim] /= sizes[axis];
                }
                assert!(rest.iter().all(|&rest| rest == 0), "{}", side.text);
                assert_eq!(Some(&offset), places.next(), "{} at {index:?}", side.text);
            });
        }
        // Not every map of this class has a type that a descriptor can name in its width.
        (Lowering::IndexMap { map, reason }, _) => assert!(map == &side.map && !reason.is_empty()),
        other => panic!("{}: {other:?}", side.text),
    }
}

fn spelling(side: &Side) {
    match to_xla_exact(&side.map) {
        Ok(shape) => {
            let map = shape.to_index_map().unwrap();
            assert_eq!(map.physical_elements(), side.places, "{} as {shape}", side.text);
            offsets_are(&map, &side.offsets, &shape.to_string());
        }
        Err(error) => assert!(matches!(error.code(), "not_expressible" | "undecided"), "{}: {error}", side.text),
    }
}

fn written(side: &Side) {
    let Ok(text) = tensor_layout_text::to_text(&side.map) else { return };
    let back: Layout = text.parse().unwrap();
    let back = back.to_index_map().unwrap();
    assert_eq!((back.data_type(), back.element_bits()), (side.map.data_type(), side.map.element_bits()), "{text}");
    offsets_are(&back, &side.offsets, &text);
}

/// Against the same layout with another tile.
fn difference(side: &Side, input: &Input) {
    let mut tiled = input.tiled;
    let turn = usize::from(input.question / 8);
    let tile = &mut tiled.tiles[turn % 3];
    tile.length = (tile.length % 7).max(1);
    tile.entries[turn % 5] = tile.entries[turn % 5].wrapping_add(1 + input.question / 64);
    let other = tiled.side(side.map.data_type(), side.map.sizes(), 1000);
    let mut places = side.offsets.iter().zip(&other.offsets);
    let mut first = None;
    for_each_index(side.map.sizes(), |index| {
        if places.next().is_some_and(|(a, b)| a != b) && first.is_none() {
            first = Some(index.to_vec());
        }
    });
    assert_eq!(side.map.same_places(&other.map), Ok(first.is_none()), "{} {}", side.text, other.text);
    assert_eq!(side.map.first_difference(&other.map), Ok(first), "{} {}", side.text, other.text);
}
