//! The text of a view: its meaning, what it keeps of the operand, and its length.

use std::fs;
use std::path::Path;

use crate::literal::{any_shape, bounded, cases, offsets, physical};
use crate::read::shape;
use proptest::prelude::*;
use serde_json::Value;
use tensor_layout::bridge::{Lowering, lower};
use tensor_layout::map::same_layout;
use tensor_layout::strided::Slice;
use tensor_layout::tiled::{Layout, Tile};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, IndexMap, Shape, ToIndexMap};
use tensor_layout_text::{to_xla, to_xla_exact, view_to_xla};

fn reshaped(text: &str, sizes: &[u64]) -> String {
    let operand = shape(text);
    let view = operand.to_index_map().unwrap().reshape(sizes).unwrap();
    view_to_xla(&view, &operand).unwrap().to_string()
}

/// Checks that the text reads back, with the same places, the same width and the same size of the buffer.
fn assert_says(spelled: &ArrayShape, map: &IndexMap) {
    let read: ArrayShape = spelled.to_string().parse().unwrap();
    assert_eq!(&read, spelled);
    let own = read.to_index_map().unwrap();
    // XLA has no notation for a part of a larger buffer, so the places of slices are compared.
    assert!(own == *map || same_layout(&own, map).unwrap(), "{spelled}: {own:?}, {map:?}");
    assert_eq!(own.physical_size_in_bytes(), map.physical_size_in_bytes(), "{spelled}");
}

#[test]
fn reshaping_to_its_own_sizes_gives_back_the_text_of_every_recorded_layout() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/xla_layouts.jsonl");
    let mut seen = 0;
    for line in fs::read_to_string(path).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let Ok(whole) = record["input"].as_str().unwrap().parse::<Shape>() else { continue };
        for (_, array) in whole.arrays() {
            let Ok(map) = array.to_index_map() else { continue };
            let view = map.reshape(array.sizes()).unwrap();
            assert_eq!(view_to_xla(&view, array).unwrap().to_string(), array.to_string());
            seen += 1;
        }
    }
    assert!(seen > 150, "{seen}");
}

#[test]
fn a_scalar_keeps_its_padding_under_other_sizes() {
    assert_eq!(reshaped("f32[]{:T(128)}", &[1]), "f32[1]{0:T(128)}");
    assert_eq!(reshaped("f32[1]{0:T(128)}", &[]), "f32[]{:T(128)}");
    assert_eq!(reshaped("bf16[]{:T(256)}", &[1]), "bf16[1]{0:T(256)(128)(2,1)}");
}

#[test]
fn what_a_layout_says_besides_places_is_kept() {
    for (operand, sizes, expected) in [
        ("f32[16,128]{1,0:T(8,128)S(1)}", &[2048][..], "f32[2048]{0:T(1024)S(1)}"),
        ("s4[64,256]{1,0:T(8,128)(8,1)E(4)S(3)}", &[64, 256, 1], "s4[64,256,1]{1,0,2:T(8,128)(8,1)E(4)S(3)}"),
        ("f32[30,100]{1,0:L(1024)}", &[3000], "f32[3000]{0:L(1024)}"),
        ("f32[30,100]{1,0:#(u32)S(5)M(16)}", &[3000], "f32[3000]{0:#(u32)S(5)M(16)}"),
        ("f32[16,<=256]{1,0:T(8,128)}", &[16, 1, 256], "f32[16,1,<=256]{2,0,1:T(8,128)}"),
        // A width that the operand's text has stays in the text.
        ("f32[16,128]{1,0:T(8,128)E(32)}", &[2048], "f32[2048]{0:T(1024)E(32)}"),
        // If a size with a bound is joined with another size, the bound is dropped.
        ("f32[16,<=256]{1,0}", &[4096], "f32[4096]{0}"),
    ] {
        assert_eq!(reshaped(operand, sizes), expected, "{operand} as {sizes:?}");
    }
    let permuted = shape("f32[3,<=5,1]{1,2,0:T(2,1,2)L(7)S(1)}").permute(&[1, 0, 2]).unwrap();
    assert_eq!(permuted.to_string(), "f32[<=5,3,1]{0,2,1:T(2,1,2)L(7)S(1)}");
    assert_eq!(permuted.permute(&[0, 0, 1]).unwrap_err().code(), "not_a_permutation");
    assert_eq!(permuted.permute(&[0, 3, 1]).unwrap_err().code(), "axis_out_of_range");
    assert_eq!(permuted.permute(&[0]).unwrap_err().code(), "rank_mismatch");
}

#[test]
fn views_of_tiled_arrays_have_few_tiles() {
    for (operand, sizes, expected) in [
        ("f32[16,256]{1,0:T(8,128)}", &[16, 2, 128][..], "f32[16,2,128]{2,1,0:T(8,1,128)}"),
        ("f32[16,256]{1,0:T(8,128)}", &[4, 4, 256], "f32[4,4,256]{2,1,0:T(2,4,128)}"),
        ("f32[16,256]{1,0:T(8,128)}", &[2, 8, 256], "f32[2,8,256]{2,1,0:T(8,128)}"),
        ("bf16[16,256]{1,0:T(8,128)(2,1)}", &[16, 2, 128], "bf16[16,2,128]{2,1,0:T(8,1,128)(2,1,1)}"),
        ("f32[2,35,9,9]{3,2,1,0:T(16,1,1)}", &[2, 35, 81], "f32[2,35,81]{2,1,0:T(16,1)}"),
        ("f32[6,4]{0,1}", &[2, 3, 4], "f32[2,3,4]{1,0,2}"),
        ("f32[8,100]", &[8, 100, 1], "f32[8,100,1]{2,1,0}"),
        // Tiles that no TPU would choose are kept, although a TPU would have other tiles.
        ("f32[16,512]{1,0:T(4,256)}", &[4, 4, 512], "f32[4,4,512]{2,1,0:T(4,256)}"),
    ] {
        assert_eq!(reshaped(operand, sizes), expected, "{operand} as {sizes:?}");
    }
}

#[test]
fn a_slice_at_the_start_keeps_the_tiles_and_the_buffer() {
    let operand = shape("f32[16,256]{1,0:T(8,128)S(1)}");
    let view = operand.to_index_map().unwrap().slice(&[Slice::from(0..8), Slice::ALL]).unwrap();
    assert_eq!(view_to_xla(&view, &operand).unwrap().to_string(), "f32[8,256]{1,0:T(8,128)L(4096)S(1)}");
    let later = operand.to_index_map().unwrap().slice(&[Slice::from(8..16), Slice::ALL]).unwrap();
    assert_eq!(view_to_xla(&later, &operand).unwrap_err().code(), "not_expressible");
    let first_half = |text: &str| {
        let operand = shape(text);
        let view = operand.to_index_map().unwrap().slice(&[Slice::from(0..8), Slice::ALL]).unwrap();
        view_to_xla(&view, &operand).unwrap()
    };
    // The operand's tiles stay, although a tile as large as the buffer would need no other padding.
    assert_eq!(first_half("f32[16,256]{1,0:T(8,256)}").to_string(), "f32[8,256]{1,0:T(8,256)L(4096)}");
    // An untiled operand has no tiles to keep, and XLA ignores a tail alignment.
    let spelled = first_half("f32[16,256]{1,0}");
    assert_eq!(spelled.to_string(), "f32[8,256]{1,0:T(16,256)}");
    assert_eq!(offsets(&spelled), (0..8 * 256).collect::<Vec<_>>());
    assert_eq!(physical(&spelled).len(), 16 * 256);
    assert_eq!(
        to_xla_exact(&shape("f32[8,128]{1,0:T(8,128)}").to_index_map().unwrap()).unwrap().to_string(),
        "f32[8,128]{1,0}"
    );
}

#[test]
fn raising_finds_the_shortest_tiles_and_keeps_the_size_of_the_buffer() {
    let raised = |sizes: &[u64], strides: &[u64]| {
        let desc = BufferTensorDesc::new(DataType::F32, sizes, Some(strides)).unwrap();
        to_xla(&desc).unwrap().shape.to_string()
    };
    assert_eq!(raised(&[4, 3, 100], &[384, 128, 1]), "f32[4,3,100]{2,1,0:T(128)}");
    assert_eq!(raised(&[4, 3, 100], &[512, 128, 1]), "f32[4,3,100]{2,1,0:T(4,128)}");
    assert_eq!(raised(&[5], &[3]), "f32[5]{0:T(3,1)}");
    assert_eq!(raised(&[4, 1, 3], &[3, 77, 1]), "f32[4,1,3]{2,1,0}");
    for text in [
        "f32[3,100]{1,0:T(8,128)}",
        "f32[300]{0:T(512)}",
        "bf16[5,64]{0,1:T(64)}",
        "f32[2,3,100]{2,1,0:T(3,128)L(4096)}",
    ] {
        let Lowering::Strided(desc) = lower(&shape(text)).unwrap() else { panic!("{text}") };
        let back = to_xla(&desc).unwrap().shape;
        assert_eq!(back.to_index_map().unwrap(), shape(text).to_index_map().unwrap(), "{text}: {back}");
        assert!(back.to_string().len() <= text.len(), "{text}: {back}");
    }
}

/// Makes the view of a line of tests/data/tpu_bitcasts.tsv, such as `reshape 2,3; permute 1,0`, with maps.
fn view(operand: &ArrayShape, steps: &str) -> IndexMap {
    steps.split("; ").fold(operand.to_index_map().unwrap(), |map, step| {
        let (operation, numbers) = step.split_once(' ').unwrap();
        let numbers = numbers.trim_matches(['[', ']']).split(',').filter(|number| !number.is_empty());
        let numbers: Vec<usize> = numbers.map(|number| number.parse().unwrap()).collect();
        match operation {
            "permute" => map.permute(&numbers).unwrap(),
            _ => map.reshape(&numbers.iter().map(|&size| size as u64).collect::<Vec<_>>()).unwrap(),
        }
    })
}

/// Returns a shape without its memory space. A bitcast stays in its memory, and the memory space of a result
/// inside a fusion is not printed.
fn but_memory_space(shape: &ArrayShape) -> String {
    let mut layout = shape.layout().clone();
    layout.memory_space = 0;
    ArrayShape::new(shape.data_type(), shape.sizes(), layout).unwrap().to_string()
}

#[test]
fn views_are_spelled_as_the_tpu_compiler_spells_them() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/tpu_bitcasts.tsv");
    let (mut same, mut all) = (0, 0);
    for line in fs::read_to_string(path).unwrap().lines().filter(|line| !line.starts_with('#')) {
        let [_, _, steps, operand, result] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let (operand, result) = (shape(operand), shape(result));
        let view = view(&operand, steps);
        assert_eq!(view, result.to_index_map().unwrap(), "{line}");
        let spelled = view_to_xla(&view, &operand).unwrap();
        assert_eq!(spelled.layout().memory_space, operand.layout().memory_space);
        let (ours, compilers) = (but_memory_space(&spelled), but_memory_space(&result));
        assert!(ours.len() <= compilers.len(), "{ours}: {line}");
        (same, all) = (same + usize::from(ours == compilers), all + 1);
        // Without the operand, the compiler's spelling is not known, but it has no fewer tiles than the
        // shortest spelling.
        let fewest = to_xla_exact(&view).unwrap();
        assert!(fewest.layout().tiles().len() <= result.layout().tiles().len(), "{fewest}: {line}");
    }
    assert!(all >= 500 && same * 100 >= all * 95, "{same} of {all}");
}

/// Splits and joins neighbouring sizes.
fn regrouped(sizes: &[u64], choice: &[u8]) -> Vec<u64> {
    let mut result: Vec<u64> = Vec::new();
    for (&size, &choice) in sizes.iter().zip(choice) {
        match choice % 5 {
            0 => match result.last_mut() {
                Some(last) => *last *= size,
                None => result.push(size),
            },
            1 => match (2..size).find(|divisor| size % divisor == 0) {
                Some(divisor) => result.extend([size / divisor, divisor]),
                None => result.push(size),
            },
            2 => match (2..size).rev().find(|divisor| size % divisor == 0) {
                Some(divisor) => result.extend([size / divisor, divisor]),
                None => result.push(size),
            },
            3 => result.extend([1, size]),
            _ => result.push(size),
        }
    }
    result
}

/// A shape with the tiles that a TPU gives it, or with other tiles.
fn tpu_shape() -> impl Strategy<Value = ArrayShape> {
    let size = prop::sample::select(vec![1_u64, 2, 3, 4, 8, 12, 16, 32]);
    let tiles = prop::sample::select(vec![
        vec![vec![2, 4]],
        vec![vec![2, 4], vec![2, 1]],
        vec![vec![4, 8], vec![4, 1]],
        vec![vec![8], vec![4], vec![2, 1]],
        vec![vec![4, 2], vec![2, 1]],
    ]);
    (prop::collection::vec(size, 1..=4), tiles)
        .prop_flat_map(|(sizes, tiles)| {
            let order = Just((0..sizes.len()).collect::<Vec<_>>()).prop_shuffle();
            (Just(sizes), Just(tiles), order)
        })
        .prop_map(|(sizes, tiles, order)| {
            let tiles: Vec<Tile> = tiles.iter().map(|tile| Tile::new(tile).unwrap()).collect();
            ArrayShape::new(DataType::F32, &sizes, Layout::new(&order).unwrap().with_tiles(&tiles)).unwrap()
        })
        .prop_filter("too large", |shape| bounded(shape, 4000))
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn every_spelling_of_a_view_says_the_view(operand in prop_oneof![any_shape(2000), tpu_shape()], choice in prop::collection::vec(0..255_u8, 4), turn in 0..4_usize, cut in 0..4_u64) {
        let own = operand.to_index_map().unwrap();
        if let Ok(view) = own.reshape(&regrouped(operand.sizes(), &choice)) {
            // In row-major order, the elements are at the operand's places.
            if let Ok(spelled) = view_to_xla(&view, &operand) {
                assert_says(&spelled, &view);
                prop_assert_eq!(offsets(&spelled), offsets(&operand), "{} as {}", operand, spelled);
                prop_assert_eq!(physical(&spelled).len(), physical(&operand).len());
            }
            if let Ok(spelled) = to_xla_exact(&view) {
                assert_says(&spelled, &view);
                prop_assert_eq!(offsets(&spelled), offsets(&operand), "{} as {}", operand, spelled);
            }
        }
        let mut order: Vec<usize> = (0..operand.rank()).collect();
        order.rotate_left(turn % operand.rank().max(1));
        let view = own.permute(&order).unwrap();
        let permuted = operand.permute(&order).unwrap();
        assert_says(&permuted, &view);
        if let Ok(spelled) = view_to_xla(&view, &operand) {
            assert_says(&spelled, &view);
        }
        let range = |&size: &u64| Slice::from(0..size.saturating_sub(cut));
        if let Ok(view) = own.slice(&operand.sizes().iter().map(range).collect::<Vec<_>>())
            && let Ok(spelled) = view_to_xla(&view, &operand)
        {
            assert_says(&spelled, &view);
        }
        prop_assert_eq!(view_to_xla(&own.reshape(operand.sizes()).unwrap(), &operand).unwrap(), operand);
    }

    #[test]
    fn raising_what_was_lowered_gives_a_shape_of_the_same_size(operand in prop_oneof![any_shape(2000), tpu_shape()]) {
        if let Lowering::Strided(desc) = lower(&operand).unwrap()
            && operand.element_count() > 0
        {
            match to_xla(&desc) {
                Ok(raised) => {
                    prop_assert_eq!(offsets(&raised.shape), offsets(&operand), "{} as {}", operand, raised.shape);
                    prop_assert_eq!(physical(&raised.shape).len(), physical(&operand).len(), "{} as {}", operand, raised.shape);
                }
                // `*`, and tiles that do not divide each other, reach strides that do not divide each other.
                Err(error) => prop_assert!(error.to_string().contains("is not a multiple of"), "{}: {}", operand, error),
            }
        }
    }
}
