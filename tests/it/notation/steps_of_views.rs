//! The common parts of the notations: lists, names, views of layouts that are typed, the steps of an offset,
//! and the spelling of any order of digits.

use std::collections::BTreeSet;

use crate::literal::{cases, indices};
use proptest::prelude::*;
use tensor_layout::AnyLayout;
use tensor_layout::{ArrayShape, BufferTensorDesc, ToIndexMap};
use tensor_layout_text::to_xla_exact;
use tensor_layout_text::{Layout, Notation, ViewStep, read_list, to_notation};

#[test]
fn lists_are_read_with_brackets_and_without() {
    for (text, numbers) in [
        ("[2,3]", &[2, 3][..]),
        ("2,3", &[2, 3]),
        ("  [ 2 , 3 ]  ", &[2, 3]),
        ("7", &[7]),
        ("[]", &[]),
        (" [ ] ", &[]),
        ("18446744073709551615", &[u64::MAX]),
    ] {
        assert_eq!(read_list(text, "a size").as_deref(), Ok(numbers), "{text}");
    }
    for (text, column, expected) in [
        ("", 1, "a size, or `[]` for none"),
        ("  ", 3, "a size, or `[]` for none"),
        ("[2,3", 5, "`,` or `]`"),
        ("[", 2, "a size"),
        ("2,3]", 4, "`,` and another number, or nothing more"),
        ("2,,3", 3, "a size"),
        ("2, x", 4, "a size"),
        ("2x,3", 2, "`,` and another number, or nothing more"),
        ("-1", 1, "a size"),
        ("1,18446744073709551616", 3, "a size below 2^64"),
    ] {
        let error = read_list(text, "a size").unwrap_err();
        assert_eq!((error.code(), error.column()), ("parse", Some(column)), "{text}: {error}");
        assert!(error.to_string().contains(&format!("expected {expected}, found ")), "{text}: {error}");
    }
}

/// Every layout of 4 x 6 elements is viewed by each view, and compared with the arithmetic of indices.
#[test]
fn a_view_has_the_elements_that_its_text_says() {
    let layouts = [
        AnyLayout::from("u16[4,6]:[7,1]".parse::<BufferTensorDesc>().unwrap()),
        AnyLayout::from("u16[4,6]{1,0:T(2,3)}".parse::<ArrayShape>().unwrap()),
        AnyLayout::from("u16[4,6]{0,1}".parse::<ArrayShape>().unwrap()),
        "u16(4,(2,3)):(2,(1,8))".parse::<Layout>().unwrap().any().unwrap().clone(),
    ];
    type From = fn(&[u64]) -> [u64; 2];
    let views: [(&str, &str, &[u64], From); 5] = [
        ("permute", "1,0", &[6, 4], |index| [index[1], index[0]]),
        ("slice", "1:4:2,2:6", &[2, 4], |index| [1 + 2 * index[0], 2 + index[1]]),
        ("slice", "[:,3]", &[4, 1], |index| [index[0], 3]),
        ("broadcast", "[5,4,6]", &[5, 4, 6], |index| [index[1], index[2]]),
        ("reshape", "4,2,3", &[4, 2, 3], |index| [index[0], 3 * index[1] + index[2]]),
    ];
    let mut refused = Vec::new();
    for layout in &layouts {
        let map = layout.to_index_map().unwrap();
        for (name, argument, sizes, from) in views {
            let view = match ViewStep::read(name, argument).unwrap().apply(layout) {
                Ok(view) => view,
                // A slice across the blocks of a tile, or a reshape that joins axes with a gap, is not a
                // view.
                Err(error) => {
                    assert_eq!(error.code(), "not_a_view", "{name} {argument}: {error}");
                    refused.push((tensor_layout_text::to_text(layout).unwrap(), name));
                    continue;
                }
            };
            let found = view.to_index_map().unwrap();
            assert_eq!(found.sizes(), sizes, "{name} {argument}");
            for index in indices(sizes) {
                assert_eq!(found.offset(&index), map.offset(&from(&index)), "{name} {argument} at {index:?}");
            }
            // If the view has a text, the text has the same places.
            if let Ok(text) = tensor_layout_text::to_text(&view) {
                let read: Layout = text.parse().unwrap();
                assert!(read.to_index_map().unwrap().same_places(&found).unwrap(), "{name} {argument}: {text}");
            }
        }
        for (name, argument, code) in [
            ("permute", "1,1", "not_a_permutation"),
            ("slice", "0:5,:", "index_out_of_range"),
            ("reshape", "5,5", "element_count_mismatch"),
            ("broadcast", "4,7", "size_mismatch"),
        ] {
            let error = ViewStep::read(name, argument).unwrap().apply(layout).unwrap_err();
            assert_eq!(error.code(), code, "{name} {argument}: {error}");
        }
    }
    // Strides take every step. Other layouts take most steps.
    assert!(refused.len() <= 4 && refused.iter().all(|(text, _)| !text.contains(":[")), "{refused:?}");
    let error = ViewStep::read("turn", "1,0").unwrap_err();
    assert_eq!(
        error.to_string(),
        "column 1 of `turn`: expected a view: reshape, permute, slice or broadcast, found `turn`"
    );
}

/// A dimension of size 1 has no place of its own from which its position could be found again.
#[test]
fn a_permuted_layout_has_the_order_it_had() {
    let view = |text: &str, axes: &str| {
        let layout = AnyLayout::from(text.parse::<ArrayShape>().unwrap());
        tensor_layout_text::to_text(ViewStep::read("permute", axes).unwrap().apply(&layout).unwrap()).unwrap()
    };
    assert_eq!(view("f32[2,1,3]{2,1,0}", "2,1,0"), "f32[3,1,2]{0,1,2}");
    assert_eq!(view("f32[2,1,3]{2,0,1}", "2,1,0"), "f32[3,1,2]{0,2,1}");
}

/// Digits express places. Tiles also have padding after the last row.
#[test]
fn digits_whose_end_no_tiles_have_are_spelled_by_their_places() {
    let layout: Layout = "f32(2,3):(5,1)".parse().unwrap();
    assert_eq!(layout.to_index_map().unwrap().physical_elements(), 8);
    assert_eq!(to_notation(layout.any().unwrap().clone(), Notation::Xla).unwrap(), "f32[2,3]{1,0:T(5)}");
}

#[test]
fn the_steps_of_an_offset_end_at_it() {
    for text in [
        "f32[4,6]:[7,1]+3",
        "f32[4,6]{1,0:T(2,3)}",
        "s4[4,6]{1,0:E(4)}",
        "f32[4,6]{1,0:T(*,4)(2,1)}",
        "f32[4,6]{1,0:T(2,2)(*,3,1)}",
    ] {
        let layout: Layout = text.parse().unwrap();
        let map = layout.to_index_map().unwrap();
        for index in indices(map.sizes()) {
            let (offset, steps) =
                (map.offset(&index).unwrap(), tensor_layout_text::offset_steps(layout.any().unwrap(), &index).unwrap());
            let bit = offset * u64::from(map.element_bits());
            let place = if bit % 8 == 0 { String::new() } else { format!("bit {} of ", bit % 8) };
            let last = format!("element {offset} of the buffer, at {place}byte {}", bit / 8);
            assert_eq!(steps.last(), Some(&last), "{text} at {index:?}: {steps:?}");
        }
        assert_eq!(
            tensor_layout_text::offset_steps(layout.any().unwrap(), &[4, 0]).unwrap_err().code(),
            "index_out_of_range"
        );
    }
}

#[test]
fn a_notation_is_read_by_its_name() {
    let (mut names, mut titles) = (BTreeSet::new(), BTreeSet::new());
    for text in ["xla", "strides", "order", "onednn", "cute", "numpy", "directml"] {
        let notation: Notation = text.parse().unwrap();
        assert!(names.insert(notation.to_string()) && titles.insert(notation.title()), "{text}");
    }
    assert_eq!("latin".parse::<Notation>().unwrap_err().kind(), tensor_layout::ErrorKind::Parse);
}

/// Digits of 2 and 3 in any order. There are more digits than the search for the shortest spelling visits.
fn digits() -> impl Strategy<Value = (Vec<usize>, Vec<u64>, usize)> {
    (4..=11_usize, 1..=3_usize).prop_flat_map(|(count, dims)| {
        let order = Just((0..count).collect::<Vec<_>>()).prop_shuffle();
        (order, prop::collection::vec(2..=3_u64, count), Just(dims))
    })
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn any_order_of_digits_is_spelled((order, extents, dims) in digits()) {
        let mut strides = vec![0; order.len()];
        let mut next = 1;
        for &digit in &order {
            strides[digit] = next;
            next *= extents[digit];
        }
        let groups = |numbers: &[u64]| {
            let length = numbers.len().div_ceil(dims);
            let groups = numbers.chunks(length).map(|group| {
                format!("({})", group.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
            });
            format!("({})", groups.collect::<Vec<_>>().join(","))
        };
        let text = format!("{}:{}", groups(&extents), groups(&strides));
        let map = format!("u8{text}").parse::<Layout>().unwrap().to_index_map().unwrap();
        let shape = to_xla_exact(&map).unwrap();
        let spelled = shape.to_index_map().unwrap();
        prop_assert_eq!((spelled.sizes(), spelled.physical_elements()), (map.sizes(), map.physical_elements()));
        for index in indices(map.sizes()).step_by(7) {
            prop_assert_eq!(spelled.offset(&index), map.offset(&index), "{} as {}", text, shape);
        }
        prop_assert_eq!(shape.to_string().parse::<ArrayShape>(), Ok(shape));
    }
}
