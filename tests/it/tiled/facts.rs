//! Facts about shapes, the default tiles of TPUs, and properties of the text form.

use std::fs;
use std::path::Path;

use crate::literal::{any_shape, cases, physical};
use proptest::prelude::*;
use tensor_layout::element::DataType;
use tensor_layout::tiled::{Extent, Layout, SplitConfig, Tile, UnboundedArray};
use tensor_layout::{ArrayShape, Error, Shape, ToIndexMap};

fn array(text: &str) -> ArrayShape {
    text.parse().unwrap()
}

/// The shape after a change of its layout.
fn changed(text: &str, set: &dyn Fn(&mut Layout)) -> Result<String, Error> {
    let mut layout = array(text).layout().clone();
    set(&mut layout);
    ArrayShape::new(array(text).data_type(), array(text).sizes(), layout).map(|shape| shape.to_string())
}

/// A layout in which any part may be set.
fn any_layout(rank: usize) -> impl Strategy<Value = Layout> {
    let order = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
    let entry = prop_oneof![4 => 1..=300_i64, 1 => Just(-1_i64)];
    let tile = (prop::collection::vec(entry, 0..=3), 1..=300_i64).prop_map(|(mut entries, last)| {
        entries.push(last);
        Tile::try_from(&entries[..]).unwrap()
    });
    let split = (0..4_u64, prop::collection::btree_set(0..500_u64, 1..4))
        .prop_map(|(dimension, indices)| SplitConfig { dimension, indices: indices.into_iter().collect() });
    let unsigned = || prop::sample::select(vec![None, Some(DataType::U8), Some(DataType::U32), Some(DataType::U64)]);
    let numbers = (1..2000_u64, 0..65_u32, 0..9_u64, 0..200_u64);
    let parts =
        (prop::collection::vec(tile, 0..=3), prop::collection::vec(split, 0..=2), unsigned(), unsigned(), numbers);
    (order, parts).prop_map(|(order, (tiles, splits, index, pointer, (tail, bits, space, prefix)))| {
        let mut layout = Layout::new(&order).unwrap().with_tiles(&tiles);
        layout.element_bits = Some(bits).filter(|&bits| bits != 0);
        (layout.tail_padding_alignment, layout.memory_space, layout.metadata_prefix_bytes) = (tail, space, prefix);
        (layout.split_configs, layout.index_type, layout.pointer_type) = (splits, index, pointer);
        layout
    })
}

fn any_leaf() -> impl Strategy<Value = Shape> {
    let extent = prop_oneof![
        6 => (0..2000_u64).prop_map(Extent::Static),
        2 => (0..2000_u64).prop_map(Extent::Bounded),
        1 => Just(Extent::Unbounded),
    ];
    let array = prop::collection::vec(extent, 0..=5).prop_flat_map(|extents| {
        let rank = extents.len();
        (Just(extents), any_layout(rank), prop::sample::select(DataType::ALL))
    });
    let array = array.prop_map(|(extents, layout, data_type)| {
        if extents.contains(&Extent::Unbounded) {
            return Shape::Unbounded(UnboundedArray { data_type, extents, layout });
        }
        let size = |extent: &Extent| match *extent {
            Extent::Static(size) | Extent::Bounded(size) => size,
            Extent::Unbounded => unreachable!(),
        };
        let sizes: Vec<u64> = extents.iter().map(size).collect();
        let dynamic: Vec<bool> = extents.iter().map(|extent| matches!(extent, Extent::Bounded(_))).collect();
        let array = ArrayShape::new(data_type, &sizes, layout).unwrap().with_dynamic(&dynamic).unwrap();
        if sizes.len() == 1 { Shape::Buffer(array) } else { Shape::Array(array) }
    });
    prop_oneof![8 => array, 1 => Just(Shape::Token), 1 => Just(Shape::Opaque)]
}

fn any_xla_shape() -> impl Strategy<Value = Shape> {
    any_leaf().prop_recursive(4, 30, 8, |inner| prop::collection::vec(inner, 0..=7).prop_map(Shape::Tuple))
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn what_is_printed_reads_back_as_the_same_shape(shape in any_xla_shape()) {
        let text = shape.to_string();
        let read = text.parse::<Shape>();
        prop_assert_eq!(read.as_ref(), Ok(&shape), "{}", text);
        if let Shape::Array(array) = &shape {
            prop_assert_eq!(&text.parse::<ArrayShape>().unwrap(), array);
            prop_assert_eq!(&array.layout().to_string().parse::<Layout>().unwrap(), array.layout());
        }
        // Blanks between tokens change nothing.
        let spaced: String = text.replace(',', " ,\t").replace('[', " [ ").replace(':', " : /* parts */ ");
        prop_assert_eq!(spaced.parse::<Shape>().unwrap(), shape);
    }

    #[test]
    fn damaged_text_is_read_or_refused_at_a_column(shape in any_xla_shape(), at in any::<prop::sample::Index>(), byte in "[ -~]") {
        let mut text = shape.to_string();
        let place = at.index(text.len());
        text.replace_range(place..=place, &byte);
        if let Err(error) = text.parse::<Shape>() {
            let column = error.column();
            prop_assert!(column.is_some_and(|column| (1..=text.len() + 1).contains(&column)), "{}", error);
        }
    }

    #[test]
    fn the_physical_size_is_the_literal_one(shape in any_shape(4000)) {
        let elements = physical(&shape).len() as u64;
        prop_assert_eq!(shape.physical_elements(), Ok(elements));
        prop_assert_eq!(shape.physical_size_in_bytes(), Ok(elements * 4));
        prop_assert_eq!(shape.to_index_map().unwrap().physical_elements(), elements);
    }
}

#[test]
fn index_and_pointer_types_of_sparse_arrays_are_unsigned() {
    let with = |set: &dyn Fn(&mut Layout)| changed("f32[2]", set).map_err(|error| error.code());
    assert_eq!(with(&|layout| layout.index_type = Some(DataType::U64)), Ok("f32[2]{0:#(u64)}".to_owned()));
    for data_type in [DataType::S32, DataType::F32, DataType::Pred] {
        assert_eq!(with(&|layout| layout.index_type = Some(data_type)), Err("unsupported_data_type"));
        assert_eq!(with(&|layout| layout.pointer_type = Some(data_type)), Err("unsupported_data_type"));
    }
}

#[test]
fn a_divided_array_has_a_size_but_no_single_buffer() {
    let shape = array("pred[123,456]{1,0:SC(1:50,200)}");
    assert_eq!(shape.physical_size_in_bytes(), Ok(123 * 256));
    assert_eq!(shape.to_index_map().unwrap_err().code(), "not_expressible");
}

/// The rule is compared with the compiler's own choice, for arrays that the rule was not made from.
#[test]
fn tpu_tiles_are_those_the_compiler_chooses() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/tpu_tiles.tsv");
    let (mut rows, mut wrong) = (0, Vec::new());
    for line in fs::read_to_string(path).unwrap().lines().filter(|line| !line.starts_with('#')) {
        let (generation, text) = line.split_once('\t').unwrap();
        let chosen = array(text);
        let order = Layout::new(chosen.layout().minor_to_major()).unwrap();
        let packed = ArrayShape::new(chosen.data_type(), chosen.sizes(), order).unwrap();
        let ours = packed.with_tpu_tiles(generation.parse().unwrap()).unwrap();
        rows += 1;
        if ours != chosen {
            wrong.push(format!("{generation}: {chosen}, not {ours}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {rows}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(rows > 700);
}

/// The order and the tiles are compared with the compiler's own choice, and the size of the buffer with the
/// size that the compiler reports.
#[test]
fn tpu_orders_are_those_the_compiler_chooses() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/tpu_orders.tsv");
    let (mut rows, mut moved, mut ranks, mut wrong) = (0, 0, [0; 9], Vec::new());
    for line in fs::read_to_string(path).unwrap().lines().filter(|line| !line.starts_with('#')) {
        let [generation, text, bytes] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let chosen = array(text);
        let bare = ArrayShape::row_major(chosen.data_type(), chosen.sizes()).unwrap();
        let ours = bare.with_tpu_layout(generation.parse().unwrap()).unwrap();
        rows += 1;
        ranks[chosen.rank()] += 1;
        moved += u32::from(chosen.layout().minor_to_major() != Layout::row_major(chosen.rank()).minor_to_major());
        if ours != chosen || ours.physical_size_in_bytes() != bytes.parse().map_err(|_| unreachable!()) {
            wrong.push(format!("{generation}: {chosen} of {bytes} bytes, not {ours}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {rows}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(rows >= 500 && moved > 200 && ranks.iter().all(|&of_rank| of_rank > 10), "{rows} {moved} {ranks:?}");
}

#[test]
fn parts_of_a_layout_are_those_xla_has() {
    let with = |set: &dyn Fn(&mut Layout)| changed("f32[2,3]", set).map_err(|error| error.code());
    assert_eq!(with(&|layout| layout.memory_space = 127), Ok("f32[2,3]{1,0:S(127)}".to_owned()));
    for space in [128, 256, u64::MAX] {
        assert_eq!(with(&|layout| layout.memory_space = space), Err("out_of_limits"));
    }
    assert_eq!(with(&|layout| layout.tail_padding_alignment = 0), Err("zero_tail_alignment"));
    assert_eq!(with(&|layout| layout.element_bits = Some(0)), Err("out_of_limits"));
}

/// `ShapeUtil::ByteSizeOf` counts tables of pointers, and arrays without their padding.
#[test]
fn arrays_of_a_shape_have_paths_in_the_order_of_the_text() {
    let paths = |text: &str| -> Vec<(Vec<usize>, String)> {
        let shape: Shape = text.parse().unwrap();
        shape.arrays().into_iter().map(|(path, array)| (path, array.to_string())).collect()
    };
    let named = |path: &[usize], array: &str| (path.to_vec(), array.to_owned());
    assert_eq!(
        paths("(f32[3], (token[], (s8[4], opaque[], b(u8[2]{0})), f32[?]), s8[5])"),
        [
            named(&[0], "f32[3]{0}"),
            named(&[1, 1, 0], "s8[4]{0}"),
            named(&[1, 1, 2], "u8[2]{0}"),
            named(&[2], "s8[5]{0}")
        ]
    );
    assert_eq!(paths("f32[3]"), [named(&[], "f32[3]{0}")]);
    assert_eq!(paths("b(f32[3]{0})"), [named(&[], "f32[3]{0}")]);
    for text in ["()", "token[]", "opaque[]", "f32[?]"] {
        assert_eq!(paths(text), []);
    }
    assert_eq!(Shape::from(array("f32[3]")), "f32[3]".parse().unwrap());
}

#[test]
fn arrays_without_a_bound_keep_their_parts() {
    let extents = [Extent::Unbounded, Extent::Bounded(16), Extent::Static(3)];
    let layout = Layout::new(&[0, 2, 1]).unwrap();
    let shape = UnboundedArray { data_type: DataType::BF16, extents: extents.to_vec(), layout };
    assert_eq!(shape.to_string(), "bf16[?,<=16,3]{0,2,1}");
    assert_eq!("bf16[?,<=16,3]{0,2,1}".parse(), Ok(shape.clone()));
    assert_eq!("bf16[?,<=16,3]{1,0}".parse::<UnboundedArray>().unwrap_err().code(), "parse");
    assert_ne!(Shape::Unbounded(shape), "bf16[?,<=16,4]{0,2,1}".parse().unwrap());
}
