//! The notations of oneDNN and CuTe, and any order of digits, as tiles.

use crate::literal::blocked::onednn_offsets;
use crate::literal::{any_shape, cases, indices};
use proptest::prelude::*;
use tensor_layout::AnyLayout;
use tensor_layout::map::same_layout;
use tensor_layout::{ArrayShape, DataType, IndexMap, LayoutClass, ToIndexMap};
use tensor_layout_text::to_xla_exact;
use tensor_layout_text::{Layout, Notation, to_notation};

/// The abstract tag of an order and blocks.
fn tag_of(outer: &[usize], blocks: &[(u64, usize)]) -> String {
    let letter = |dim: usize| char::from(b'a' + dim as u8);
    let outer = outer.iter().map(|&dim| {
        let blocked = blocks.iter().any(|&(_, block)| block == dim);
        if blocked { letter(dim).to_ascii_uppercase() } else { letter(dim) }
    });
    outer.collect::<String>() + &blocks.iter().map(|&(size, dim)| format!("{size}{}", letter(dim))).collect::<String>()
}

/// Reads a text in CuTe's notation, for elements of a type.
fn cute(data_type: DataType, text: &str) -> Result<IndexMap, tensor_layout::Error> {
    format!("{data_type}{text}").parse::<Layout>()?.to_index_map()
}

/// Writes a layout in CuTe's notation without the type.
fn cute_text(layout: impl Into<AnyLayout>) -> Result<String, tensor_layout::Error> {
    to_notation(layout, Notation::CuTe).map(|text| text.trim_start_matches(|c| c != '(').to_owned())
}

/// Reads a oneDNN tag.
fn tagged(data_type: DataType, sizes: &[u64], tag: &str) -> Layout {
    format!("{data_type}{sizes:?}:{tag}").parse().unwrap_or_else(|error| panic!("{sizes:?}:{tag}: {error}"))
}

fn onednn_tag(layout: impl Into<AnyLayout>) -> Result<String, tensor_layout::Error> {
    to_notation(layout, Notation::OneDnn).map(|text| text.split_once(':').unwrap().1.to_owned())
}

type Format = (Vec<u64>, Vec<usize>, Vec<(u64, usize)>);

fn any_format() -> impl Strategy<Value = Format> {
    (1..=4_usize).prop_flat_map(|rank| {
        let outer = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
        (prop::collection::vec(1..=20_u64, rank), outer, prop::collection::vec((2..=5_u64, 0..rank), 0..=4))
    })
}

fn offsets(map: &IndexMap) -> Vec<u64> {
    indices(map.sizes()).map(|index| map.offset(&index).unwrap()).collect()
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn every_blocked_format_has_an_xla_spelling((sizes, outer, blocks) in any_format()) {
        let tag = tag_of(&outer, &blocks);
        let (expected, elements) = onednn_offsets(&sizes, &outer, &blocks);
        let map = tagged(DataType::F32, &sizes, &tag).to_index_map().unwrap();
        prop_assert_eq!(map.physical_elements(), elements, "{}", tag);
        prop_assert_eq!(offsets(&map), expected, "{}", tag);

        // A tag for the same places and size is found again.
        let back = onednn_tag(&map).unwrap();
        prop_assert_eq!(&tagged(DataType::F32, &sizes, &back).to_index_map().unwrap(), &map, "{} {}", tag, back);
        // The radix sort reaches the layout as well.
        prop_assert_eq!(&to_xla_exact(&map).unwrap().to_index_map().unwrap(), &map, "{}", tag);
    }

    #[test]
    fn views_of_tiled_arrays_are_spelled_or_refused_with_a_reason(shape in any_shape(1500), turn in 0..4_usize, cut in 1..=6_u64) {
        let mut map = shape.to_index_map().unwrap();
        let mut order: Vec<usize> = (0..shape.rank()).collect();
        order.rotate_left(turn % shape.rank().max(1));
        map = map.permute(&order).unwrap();
        let split: Vec<u64> = map.sizes().iter().flat_map(|&size| {
            if size.is_multiple_of(cut) && size > 0 { vec![size / cut, cut] } else { vec![size] }
        }).collect();
        let reshaped = split != map.sizes();
        if let Ok(view) = map.reshape(&split) {
            map = view;
        }
        match to_xla_exact(&map) {
            Ok(spelled) => prop_assert_eq!(spelled.to_index_map().unwrap(), map),
            Err(error) => {
                prop_assert_eq!(error.code(), "not_expressible");
                let text = shape.to_string();
                let exact = matches!(map.class(), LayoutClass::Affine | LayoutClass::Split);
                // A permutation of one level of tiles can always be expressed.
                let simple = shape.layout().tiles().len() <= 1 && !text.contains('*') && !text.contains("L(");
                prop_assert!(!exact || !simple || reshaped, "{} as {:?}: {}", text, map.sizes(), error);
            }
        }
    }

    #[test]
    fn cute_text_reads_back_as_the_same_places(shape in any_shape(2000)) {
        match cute_text(&shape) {
            Ok(text) => {
                let map = cute(DataType::F32, &text).unwrap();
                prop_assert!(same_layout(&map, &shape).unwrap(), "{}", text);
                prop_assert_eq!(cute_text(&map).unwrap(), text);
            }
            Err(error) => prop_assert_eq!(error.code(), "not_expressible"),
        }
    }

    #[test]
    fn tags_of_tiled_arrays_say_the_same_places_and_size(shape in any_shape(2000)) {
        let map = shape.to_index_map().unwrap();
        match onednn_tag(&shape) {
            Ok(tag) => {
                let read = tagged(DataType::F32, shape.sizes(), &tag);
                prop_assert_eq!(read.to_index_map().unwrap(), map, "{}", tag);
            }
            Err(error) => prop_assert_eq!(error.code(), "not_expressible"),
        }
    }
}

#[test]
fn tags_both_ways() {
    for (tag, sizes) in [
        ("a", &[7][..]),
        ("acdb", &[2, 3, 5, 7]),
        ("aBcd16b", &[2, 33, 3, 5]),
        ("aBcd16b", &[1, 33, 3, 5]),
        ("ABcd16a16b", &[20, 33, 3, 5]),
        ("ABcd4b16a4b", &[20, 33, 3, 3]),
        ("ABcd8b16a2b", &[20, 33, 3, 3]),
        ("AB4a128b2a", &[50, 300]),
    ] {
        let shape = tagged(DataType::BF16, sizes, tag);
        assert_eq!(onednn_tag(shape.any().unwrap()).unwrap(), tag);
    }
    let tag = |text: &str| onednn_tag(text.parse::<ArrayShape>().unwrap());
    // If the outer rows continue to count after the block of 16, one block of 48 is the same layout.
    let shape = tagged(DataType::BF16, &[133, 130], "BA16a64b4a");
    assert_eq!(shape.to_notation(Notation::Xla).unwrap(), "bf16[133,130]{0,1:T(64,64)(64,4)}");
    assert_eq!(onednn_tag(shape.any().unwrap()).unwrap(), "AB48a64b4a");
    // A row pitch is a block that one row does not fill.
    assert_eq!(tag("f32[3,100]{1,0:T(8,128)}").unwrap(), "AB8a128b");
    assert_eq!(tag("bf16[50,300]{1,0:T(8,128)(2,1)}").unwrap(), "AB4a128b2a");
    assert_eq!(tag("f32[]").unwrap_err().code(), "not_expressible");
    for (text, reason) in [
        ("f32[12]{0:T(4)(3,1)}", "top"),
        ("f32[12,4]{1,0:T(6,2)(4,1)}", "divide"),
        ("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", "join"),
        ("f32[5]{0:T(1)(3)}", "3"),
        ("f32[30,100]{1,0:L(1024)}", "padded after the last block"),
        ("f32[0]", "no elements"),
        ("s4[4,4]{1,0}", "bits"),
    ] {
        let error = tag(text).unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn cute_text_of_known_layouts() {
    let text = |shape: &str| cute_text(shape.parse::<ArrayShape>().unwrap());
    assert_eq!(text("f32[16,256]{1,0:T(8,128)}").unwrap(), "((8,2),(128,2)):((128,2048),(1,1024))");
    assert_eq!(text("f32[16,256]{1,0:T(8,128)(2,1)}").unwrap(), "((2,4,2),(128,2)):((1,256,2048),(2,1024))");
    assert_eq!(text("f32[3,1]").unwrap(), "(3,1):(1,1)");
    assert_eq!(text("f32[]").unwrap(), "():()");
    for (shape, reason) in [
        ("f32[16,300]{1,0:T(8,128)}", "partial blocks"),
        ("f32[12,4]{1,0:T(6,2)(4,1)}", "do not divide"),
        ("f32[7,5,2]{2,1,0:T(*,4,1)}", "joins dimensions"),
        ("f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}", "do not line up"),
    ] {
        let error = text(shape).unwrap_err().to_string();
        assert!(error.contains(reason), "{shape}: {error}");
    }
    for (input, column) in [
        ("(8,2):(1)", 7),
        ("(8,2):8", 7),
        ("((8,2)):((1,8),1)", 9),
        ("(8,2:(1,8)", 5),
        ("(8,2):(1,8)x", 12),
        ("(8,-2):(1,8)", 4),
    ] {
        let error = cute(DataType::F32, input).unwrap_err();
        assert_eq!((error.code(), error.column()), ("parse", Some(column + 3)), "{input}: {error}");
    }
    let deep = "(".repeat(100_000);
    assert_eq!(cute(DataType::F32, &deep).unwrap_err().code(), "parse");
    assert_eq!(cute(DataType::F32, "(0,3):(1,1)").unwrap().physical_elements(), 0);
    assert_eq!(cute(DataType::F32, "(9):(18446744073709551615)").unwrap_err().code(), "overflow");
}

#[test]
fn every_notation_reads_what_it_writes() {
    use tensor_layout_text::{Layout, Notation};
    for (text, notation) in [
        ("f32[3,5]{1,0:T(2,2)}", Notation::Xla),
        ("f32[2,3]:[5,1]+10", Notation::Strides),
        ("f16[8,64,56,56]:NHWC", Notation::AxisOrder),
        ("f32[2,35,9,9]:nChw16c", Notation::OneDnn),
        ("f32((8,2),128):((1,1024),8)", Notation::CuTe),
    ] {
        let read: Layout = text.parse().unwrap();
        assert_eq!((read.to_string().as_str(), read.notation()), (text, notation));
    }
    let same: Layout = "f32[16,128]{1,0:T(8,128)(8,1)}".parse().unwrap();
    let digits: Layout = "f32((8,2),128):((1,1024),8)".parse().unwrap();
    assert!(same.to_index_map().unwrap().same_places(&digits.to_index_map().unwrap()).unwrap());
}
