//! Wrong and unbounded answers of earlier versions, one test each.

mod literal;

use std::collections::BTreeSet;

use literal::{any_shape, bounded, indices, offsets};
use proptest::prelude::*;
use tensor_layout::map::same_layout;
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::strided::Side;
use tensor_layout::tiled::Tile;
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, IndexMap, LayoutClass, ToIndexMap};

fn map(text: &str) -> IndexMap {
    text.parse::<ArrayShape>().unwrap().to_index_map().unwrap()
}

fn strided(sizes: &[u64], strides: &[u64]) -> BufferTensorDesc {
    BufferTensorDesc::new(DataType::F32, sizes, Some(strides)).unwrap()
}

// Equality.

#[test]
fn equality_of_large_irreducible_layouts_is_decided() {
    let (tiled, same) = ("f32[480,480,480]{2,1,0:T(2,3,2)(*,2,1)}", "f32[480,480,480]{2,1,0:T(2,3,2)(*,2,1)(1)}");
    let other = "f32[480,480,480]{2,1,0:T(2,3,2)(*,3,1)}";
    assert_eq!(map(tiled).class(), LayoutClass::Irreducible);
    assert_eq!(map(tiled).same_places(&map(same)), Ok(true));
    assert_eq!(map(tiled), map(same));
    assert_eq!(map(tiled).first_difference(&map(same)), Ok(None));
    assert_eq!(map(tiled).same_places(&map(other)), Ok(false));
    let difference = map(tiled).first_difference(&map(other)).unwrap().unwrap();
    assert_eq!(difference, first_by_walking(&map(tiled), &map(other)));
}

fn first_by_walking(a: &IndexMap, b: &IndexMap) -> Vec<u64> {
    indices(&[a.sizes()[0].min(4), a.sizes()[1].min(8), a.sizes()[2].min(8)])
        .find(|index| a.offset(index) != b.offset(index))
        .unwrap()
}

#[test]
fn equal_layouts_that_do_not_separate_are_not_walked() {
    for (text, again) in [
        ("f32[480,480,480]{2,1,0:T(2,3,2)(*,2,1)}", "f32[480,480,480]{2,1,0:T(2,3,2)(*,2,1)}"),
        ("f32[6000,6000]{1,0:T(*,7)(5)}", "f32[6000,6000]{1,0:T(*,7)(5)}"),
        ("f32[6000,6000]{1,0:T(*,7)(5)}", "f32[6000,6000]{1,0:T(*,7)(5)(1)(1,1)}"),
        (
            "f32[1000000007]{0:T(500000003)(250000013)(125000003)}",
            "f32[1000000007]{0:T(500000003)(250000013)(125000003)(1)}",
        ),
        ("f32[6000,6000]{0,1:T(*,7)(5)}", "f32[6000,6000]{0,1:T(*,7)(5)(1)}"),
    ] {
        assert_eq!(map(text).same_places(&map(again)), Ok(true), "{text} {again}");
        assert_eq!(map(text).first_difference(&map(again)), Ok(None), "{text} {again}");
    }
}

#[test]
fn ragged_layouts_of_a_thousand_million_elements_differ_where_they_do() {
    let (a, b) = (map("f32[1000000007]{0:T(500000003)(250000013)}"), map("f32[1000000007]{0:T(500000004)(250000013)}"));
    assert_eq!(a.same_places(&b), Ok(false));
    let first = a.first_difference(&b).unwrap().unwrap()[0];
    assert_eq!(a.offset(&[first - 1]), b.offset(&[first - 1]));
    assert_ne!(a.offset(&[first]), b.offset(&[first]));
    // Both put a hole behind the first tile of 250000013 in the second half, one element apart.
    assert_eq!(first, 500_000_003);
}

#[test]
fn a_comparison_that_takes_too_long_says_so() {
    // Dividing by 7 and then by 5 is dividing by 35, of 6 million values in the first tile.
    let (first, second) = ("{1,0:T(2001,3001)(*,7)(5,1)}", "{1,0:T(2001,3001)(*,35)(7)(5,1)}");
    let compare = |sizes: &str| map(&format!("f32{sizes}{first}")).same_places(&map(&format!("f32{sizes}{second}")));
    assert_eq!(compare("[6000,6000]").unwrap_err().code(), "too_hard");
    let difference = map(&format!("f32[6000,6000]{first}")).first_difference(&map(&format!("f32[6000,6000]{second}")));
    assert_eq!(difference.unwrap_err().code(), "too_hard");
    // The forms differ: `==` says so at once, and promises no more.
    assert_ne!(map(&format!("f32[6000,6000]{first}")), map(&format!("f32[6000,6000]{second}")));
}

#[test]
fn what_a_star_joins_again_is_the_number_it_was() {
    let packed = map("f32[6007,6007]{1,0}");
    assert_eq!(map("f32[6007,6007]{1,0:T(*,7)(*,5)}").same_places(&packed), Ok(true));
}

proptest! {
    #![proptest_config(literal::cases(1500))]

    /// Equal spellings, and nearly equal ones, of any class.
    #[test]
    fn comparisons_are_those_of_a_walk(shape in any_shape(1500), entries in prop::collection::vec(1..=6_i64, 1..=3), join in any::<bool>()) {
        let mut entries = entries;
        if join && entries.len() > 1 {
            entries[0] = -1;
        }
        let mut tiles = shape.layout().tiles().to_vec();
        tiles.push(Tile::from_xla(&entries).unwrap());
        let changed = shape.clone().with_layout(shape.layout().clone().with_tiles(&tiles)).unwrap();
        if !bounded(&changed, 20_000) {
            return Ok(());
        }
        let (a, b) = (shape.to_index_map().unwrap(), changed.to_index_map().unwrap());
        let walked = indices(shape.sizes()).find(|index| a.offset(index) != b.offset(index));
        prop_assert_eq!(a.same_places(&b), Ok(walked.is_none()), "{} {}", shape, changed);
        prop_assert_eq!(same_layout(&a, &b), Ok(walked.is_none()));
        prop_assert_eq!(a.first_difference(&b), Ok(walked), "{} {}", shape, changed);
    }
}

// Index maps.

#[test]
fn one_row_of_a_combined_layout_is_no_longer_fused() {
    let whole = map("f32[3,5]{1,0:T(*,4)(2,1)}");
    let row = whole.slice(&[(0..1).into(), (0..5).into()]).unwrap();
    assert_eq!(row.class(), LayoutClass::Split);
    assert_eq!(row.components().iter().map(|component| component.dims().to_vec()).collect::<Vec<_>>(), [[1]]);
    for column in 0..5 {
        assert_eq!(row.offset(&[0, column]), whole.offset(&[0, column]));
    }
    let packed = map("f32[1,5]{1,0}");
    let source: Vec<u32> = (0..u32::try_from(row.physical_elements()).unwrap()).collect();
    let mut copied = [0_u32; 5];
    Relayout::new(&row, &packed)
        .unwrap()
        .run(bytemuck::cast_slice(&source), bytemuck::cast_slice_mut(&mut copied))
        .unwrap();
    let expected: Vec<u64> = (0..5).map(|column| row.offset(&[0, column]).unwrap()).collect();
    assert_eq!(copied.map(u64::from).to_vec(), expected);
}

/// A dimension of size 1 that a tile pads is always 0, but the number that `*` makes of it counts its padding: `f32[7,5,1]` with
/// `T(2)` lies at 2 (5 i + j), of which the next tile takes digits.
#[test]
fn padding_of_a_dimension_that_is_always_0_is_counted_where_a_star_joins_it() {
    for sizes in ["7,5,1", "7,1,5", "1,7,5", "4,5,1", "6,1,1", "2,3,2"] {
        for (pad, tile, last) in (1..=4).flat_map(|p| (1..=6).flat_map(move |t| (1..=5).map(move |l| (p, t, l)))) {
            for tiles in [
                format!("T({pad})(*,*,*,{tile})({last})"),
                format!("T({pad},1)(*,*,*,{tile},1)({last},1)"),
                format!("T({pad},1)(*,*,*,*,{tile})({last})"),
                format!("T(1,{pad},1)(*,*,{tile},*,*,1)({last},1)"),
            ] {
                let shape: ArrayShape = format!("f32[{sizes}]{{2,1,0:{tiles}}}").parse().unwrap();
                let map = shape.to_index_map().unwrap();
                for (index, offset) in indices(shape.sizes()).zip(offsets(&shape)) {
                    assert_eq!(map.offset(&index), Ok(offset as u64), "{shape} at {index:?}: {map:?}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(literal::cases(1500))]

    /// What is left of a fused component after a slice is in normal form: no dimension of size 1, no place to cut.
    #[test]
    fn slices_of_combined_layouts_are_in_normal_form(
        shape in any_shape(1500),
        cuts in prop::collection::vec((0..=9_u64, 1..=3_u64), 4),
    ) {
        let map = shape.to_index_map().unwrap();
        let ranges: Vec<std::ops::Range<u64>> = shape
            .sizes()
            .iter()
            .zip(&cuts)
            .map(|(&size, &(start, length))| {
                let start = start.min(size.saturating_sub(1));
                start..(start + length).min(size)
            })
            .collect();
        let slices: Vec<_> = ranges.iter().map(|range| range.clone().into()).collect();
        let Ok(part) = map.slice(&slices) else { return Ok(()) };
        for component in part.components() {
            prop_assert!(component.dims().iter().all(|&dim| part.sizes()[dim] > 1), "{:?}", part);
            if component.dims().len() > 1 {
                prop_assert_eq!(part.class(), LayoutClass::Fused);
            }
        }
        for index in indices(part.sizes()) {
            let outer: Vec<u64> = index.iter().zip(&ranges).map(|(i, range)| i + range.start).collect();
            prop_assert_eq!(part.offset(&index), map.offset(&outer));
        }
        // The same places, made from strides, have the same form.
        if let Some(strides) = part.strides() {
            let desc = BufferTensorDesc::new(DataType::F32, part.sizes(), Some(&strides)).unwrap();
            prop_assert!(desc.with_base_offset(part.base()).unwrap().to_index_map().unwrap().same_places(&part).unwrap());
        }
    }

    #[test]
    fn contiguous_parts_of_overlapping_maps_are_those_of_a_set(
        axes in prop::collection::vec((1..4_u64, 0..8_u64), 1..4),
        narrow in 0..4_usize,
    ) {
        let (sizes, strides): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        let map = strided(&sizes, &strides).to_index_map().unwrap();
        let mut ranges: Vec<_> = sizes.iter().map(|&size| 0..size).collect();
        if let Some(range) = ranges.get_mut(narrow) {
            *range = range.end - 1..range.end;
        }
        let offsets: Vec<u64> = indices(&sizes)
            .filter(|index| index.iter().zip(&ranges).all(|(i, range)| range.contains(i)))
            .map(|index| map.offset(&index).unwrap())
            .collect();
        let places: BTreeSet<u64> = offsets.iter().copied().collect();
        let (low, high) = (*places.first().unwrap(), *places.last().unwrap());
        let whole = places.len() == offsets.len() && high - low + 1 == offsets.len() as u64;
        prop_assert_eq!(map.contiguous_part(&ranges), Ok(whole.then_some(low..high + 1)));
    }
}

#[test]
fn overlapping_maps_have_no_contiguous_part_with_holes() {
    // Offsets 0 1 1 2 5 6 6 7: as many as from 0 to 7, but 3 and 4 are not among them.
    let map = strided(&[2, 2, 2], &[5, 1, 1]).to_index_map().unwrap();
    assert_eq!(map.contiguous_part(&[0..2, 0..2, 0..2]), Ok(None));
    assert_eq!(map.contiguous_part(&[0..1, 0..2, 0..1]), Ok(Some(0..2)));
    assert!(!map.row_access(0).unwrap().in_one_piece);
}

#[test]
fn a_chain_past_its_extent_does_not_wrap() {
    let map = strided(&[2], &[u64::MAX / 8]).to_index_map().unwrap();
    let chain = map.components()[0].chain();
    assert_eq!(chain.offset(1), Ok(u64::MAX / 8));
    assert_eq!(chain.offset(9).unwrap_err().code(), "overflow");
    assert_eq!(chain.offset(u64::MAX).unwrap_err().code(), "overflow");
}

#[test]
fn boxes_of_a_buffer_are_counted_before_they_are_made() {
    // A million elements apart from each other; and two boxes for each of 18 dimensions, multiplied.
    let apart = strided(&[100, 100, 100], &[10007, 10009, 10037]).to_index_map().unwrap();
    assert_eq!(apart.buffer_boxes().unwrap_err().code(), "too_hard");
    let order: Vec<String> = (0..18).rev().map(|dim| dim.to_string()).collect();
    let text = format!("f32[{}]{{{}:T({})}}", ["3"; 18].join(","), order.join(","), ["2"; 18].join(","));
    assert_eq!(map(&text).buffer_boxes().unwrap_err().code(), "too_hard");
    // What is found element by element, where strides do not nest and where one is 0.
    for (sizes, strides) in [(vec![4, 3], vec![3, 4]), (vec![3, 1 << 40, 3], vec![5, 0, 3])] {
        let map = strided(&sizes, &strides).to_index_map().unwrap();
        let boxes = map.buffer_boxes().unwrap();
        let places = |list: &[tensor_layout::plan::OffsetBox]| -> BTreeSet<u64> {
            list.iter().flat_map(|found| found.runs()).flat_map(|(start, length)| start..start + length).collect()
        };
        let (elements, padding) = (places(&boxes.elements), places(&boxes.padding));
        let all: BTreeSet<u64> = (0..map.physical_elements()).collect();
        assert_eq!(elements.union(&padding).copied().collect::<BTreeSet<_>>(), all);
        assert!(elements.iter().all(|&offset| map.inverse(offset).unwrap().is_some()));
        assert!(padding.iter().all(|&offset| map.inverse(offset).unwrap().is_none()));
    }
}

/// Each block was looked into twice for every digit: 2^30 times, and 2^40.
#[test]
fn the_largest_offset_of_many_digits_is_no_search() {
    let strides: Vec<u64> = (0..40).map(|axis| 3 << axis).collect();
    let line = strided(&[2; 40], &strides).to_index_map().unwrap().reshape(&[1 << 40]).unwrap();
    let last = strides.iter().sum::<u64>();
    assert_eq!((line.min_elements(), line.offset(&[(1 << 40) - 1])), (last + 1, Ok(last)));
    assert_eq!(line.contiguous_part(std::slice::from_ref(&(1 << 20..3 << 30))), Ok(None));
    let (size, tiles) = tiles_that_do_not_divide(29);
    let map = map(&format!("f32[{size}]{{0:T{tiles}}}"));
    assert!(map.min_elements() <= map.physical_elements() && map.min_elements() >= size);
    assert_eq!(map.contiguous_part(std::slice::from_ref(&(1..size - 1))), Ok(None));
}

/// The process ended.
#[cfg(feature = "ndarray")]
#[test]
fn offsets_of_more_elements_than_memory_holds_are_an_error() {
    use tensor_layout::interop::ndarray::offsets;
    assert_eq!(offsets(&map("u8[1152921504606846976]")).unwrap_err().code(), "overflow");
    assert_eq!(offsets(&map("u8[2,3]{0,1}")).unwrap().into_raw_vec_and_offset().0, [0, 2, 4, 1, 3, 5]);
}

/// Tiles in tiles, each by a factor of 1.6 smaller than the one around it, and a size that cuts every one of them.
fn tiles_that_do_not_divide(digits: usize) -> (u64, String) {
    let mut tiles = vec![2_u64];
    while tiles.len() <= digits {
        let last = *tiles.last().unwrap();
        let next = (last * 16).div_ceil(10);
        tiles.push(if next.is_multiple_of(last) { next + 1 } else { next });
    }
    let top = tiles.pop().unwrap();
    (top - 1, tiles.iter().rev().map(|tile| format!("({tile})")).collect())
}

/// Every such digit doubles the boxes of a copy, and those of a buffer.
#[test]
fn boxes_of_tiles_that_do_not_divide_each_other_are_bounded() {
    let shape = |digits: usize| {
        let (size, tiles) = tiles_that_do_not_divide(digits);
        (map(&format!("f32[{size}]{{0:T{tiles}}}")), map(&format!("f32[{size}]")))
    };
    let (tiled, packed) = shape(29);
    assert_eq!(Relayout::new(&packed, &tiled).unwrap_err().code(), "too_hard");
    assert_eq!(Relayout::new(&tiled, &tiled).unwrap_err().code(), "too_hard");
    assert_eq!(tiled.buffer_boxes().unwrap_err().code(), "too_hard");
    let (tiled, packed) = shape(12);
    let source: Vec<u32> = (1..).take(usize::try_from(packed.physical_elements()).unwrap()).collect();
    let mut there = vec![0_u32; usize::try_from(tiled.physical_elements()).unwrap()];
    let plan = Relayout::new(&packed, &tiled).unwrap();
    plan.run(bytemuck::cast_slice(&source), bytemuck::cast_slice_mut(&mut there)).unwrap();
    for (number, value) in (0..).zip(&source) {
        assert_eq!(there[usize::try_from(tiled.offset(&[number]).unwrap()).unwrap()], *value);
    }
}

/// Every piece looked at every loop of every box, and half as many pieces began from the start.
#[test]
fn copies_of_thousands_of_boxes_are_cut_into_pieces() {
    let order: Vec<String> = (0..12).rev().map(|dim| dim.to_string()).collect();
    let text = format!("u8[{}]{{{}:T({})}}", ["3"; 12].join(","), order.join(","), ["2"; 12].join(","));
    let (packed, tiled) = (map(&format!("u8[{}]", ["3"; 12].join(","))), map(&text));
    let plan = Relayout::new(&packed, &tiled).unwrap().with_padding(Padding::Zero).unwrap();
    let source: Vec<u8> = (0..packed.physical_elements()).map(|i| u8::try_from(i % 255 + 1).unwrap()).collect();
    let mut whole = vec![7_u8; usize::try_from(tiled.physical_elements()).unwrap()];
    plan.run(&source, &mut whole).unwrap();
    let pieces = plan.partition(4096).unwrap();
    assert!(pieces.len() > 1, "{} pieces", pieces.len());
    let mut pieced = vec![7_u8; whole.len()];
    for piece in &pieces {
        piece.run(&source, &mut pieced[piece.destination_range()]).unwrap();
    }
    assert!(pieced == whole);
}

#[test]
fn a_map_can_be_given_a_base() {
    for text in
        ["f32[16,256]{1,0:T(8,128)}", "f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}", "f32[3,5]{1,0:T(*,4)(2,1)}", "f32[7]"]
    {
        let plain = map(text);
        let moved = plain.clone().with_base(100).unwrap();
        assert_eq!((moved.base(), moved.physical_elements()), (100, 100 + plain.physical_elements()));
        for index in indices(plain.sizes()) {
            let offset = plain.offset(&index).unwrap();
            assert_eq!(moved.offset(&index), Ok(100 + offset), "{text}");
            assert_eq!(moved.inverse(100 + offset).unwrap().as_deref(), Some(index.as_slice()), "{text}");
        }
        assert_eq!(moved.inverse(99), Ok(None));
        assert_eq!(moved.same_places(&plain), Ok(false));
        assert_eq!(moved.clone().with_base(0).unwrap(), plain);

        // And data goes there and back.
        let packed = ArrayShape::row_major(DataType::F32, plain.sizes()).unwrap().to_index_map().unwrap();
        let source: Vec<u32> = (1..).take(usize::try_from(packed.physical_elements()).unwrap()).collect();
        let mut there = vec![0_u32; usize::try_from(moved.physical_elements()).unwrap()];
        let mut back = vec![0_u32; source.len()];
        let to = Relayout::new(&packed, &moved).unwrap();
        to.run(bytemuck::cast_slice(&source), bytemuck::cast_slice_mut(&mut there)).unwrap();
        for (index, value) in indices(plain.sizes()).zip(&source) {
            assert_eq!(there[usize::try_from(moved.offset(&index).unwrap()).unwrap()], *value, "{text}");
        }
        let from = Relayout::new(&moved, &packed).unwrap();
        from.run(bytemuck::cast_slice(&there), bytemuck::cast_slice_mut(&mut back)).unwrap();
        assert_eq!(back, source, "{text}");
    }
    assert_eq!(map("f32[7]").with_base(u64::MAX).unwrap_err().code(), "overflow");
}

// Descriptors.

#[test]
fn axes_that_do_not_ascend_are_called_so() {
    let error = BufferTensorDesc::packed(DataType::F32, &[2, 3]).unwrap().scatter_axes(4, &[3, 1]).unwrap_err();
    assert_eq!(error.code(), "not_ascending");
    assert_eq!(error.to_string(), "the list of axes must ascend, but names axis 1 at position 1, behind axis 3");
}

#[test]
fn ranks_change_without_changing_other_strides() {
    let packed = |sizes: &[u64]| BufferTensorDesc::packed(DataType::F32, sizes).unwrap();
    let parts = |desc: &BufferTensorDesc| (desc.sizes().to_vec(), desc.strides().to_vec());
    // Chromium makes `[1]:[1]` of a scalar, and fills in zeros.
    assert_eq!(parts(&packed(&[]).rank_at_least(1, Side::Front)), (vec![1], vec![1]));
    assert_eq!(parts(&packed(&[]).rank_at_least(3, Side::Front)), (vec![1, 1, 1], vec![0, 0, 1]));
    assert_eq!(parts(&packed(&[]).rank_at_least(3, Side::Back)), (vec![1, 1, 1], vec![1, 0, 0]));
    assert_eq!(parts(&strided(&[1, 3], &[77, 1]).rank_at_least(3, Side::Front)).1, [0, 77, 1]);
    // Kept axes keep what they were given.
    let desc = strided(&[2, 3, 1, 4], &[12, 4, 99, 1]);
    assert_eq!(parts(&desc.rank_at_most(3, Side::Front).unwrap()), (vec![6, 1, 4], vec![4, 99, 1]));
    let desc = strided(&[2, 1, 3, 4], &[12, 55, 4, 1]);
    assert_eq!(parts(&desc.rank_at_most(3, Side::Back).unwrap()), (vec![2, 1, 12], vec![12, 55, 1]));
    let desc = strided(&[1, 1, 5], &[7, 9, 1]);
    assert_eq!(parts(&desc.rank_at_most(2, Side::Front).unwrap()), (vec![1, 5], vec![9, 1]));
}

#[test]
fn one_element_broadcasts_to_a_scalar() {
    let one = strided(&[1], &[7]).with_base_offset(3).unwrap();
    let scalar = one.broadcast_to(&[]).unwrap();
    assert_eq!((scalar.rank(), scalar.offset(&[])), (0, Ok(3)));
    assert_eq!(one.to_index_map().unwrap().broadcast_to(&[]).unwrap().offset(&[]), Ok(3));
    assert_eq!(strided(&[2], &[1]).broadcast_to(&[]).unwrap_err().code(), "rank_mismatch");
    assert_eq!(strided(&[1, 1], &[1, 1]).broadcast_to(&[]).unwrap_err().code(), "rank_mismatch");
    assert_eq!(map("f32[1,1]").broadcast_to(&[]).unwrap_err().code(), "rank_mismatch");
}

// A place is a `usize`, and these are beyond 32 bits.
#[test]
#[cfg(target_pointer_width = "64")]
fn the_nth_offset_is_not_walked_to() {
    let desc = BufferTensorDesc::packed(DataType::U8, &[1 << 20, 1 << 20, 3]).unwrap();
    assert_eq!(desc.offsets().nth(1_000_000_000_000), Some(1_000_000_000_000));
    assert_eq!(desc.offsets().last(), Some(3 * (1 << 40) - 1));
    assert_eq!(desc.offsets().nth(3 << 40), None);
    for (sizes, strides) in
        [(vec![3, 4, 5], vec![1, 3, 12]), (vec![2, 1, 3], vec![5, 9, 0]), (vec![], vec![]), (vec![0, 3], vec![3, 1])]
    {
        let desc = strided(&sizes, &strides);
        let all: Vec<u64> = desc.offsets().collect();
        for first in 0..all.len() + 1 {
            for second in 0..all.len() + 1 {
                let mut offsets = desc.offsets();
                assert_eq!(offsets.nth(first), all.get(first).copied());
                assert_eq!(offsets.nth(second), all.get(first + 1 + second).copied());
                assert_eq!(offsets.count(), all.len().saturating_sub(first + second + 2));
            }
        }
        assert_eq!(desc.offsets().last(), all.last().copied());
    }
}

#[test]
fn offsets_in_memory_order_do_not_take_a_step_for_each_way_to_reach_one() {
    // 36 axes of size 2 and stride 1: offset k is reached in 36 over k ways.
    let desc = strided(&[2; 36], &[1; 36]);
    let mut offsets = desc.offsets_in_memory_order();
    let mut ways = 1_u64;
    for offset in 0..6_u64 {
        assert!(offsets.by_ref().take(usize::try_from(ways).unwrap()).all(|found| found == offset));
        ways = ways * (36 - offset) / (offset + 1);
    }
    assert_eq!(offsets.next(), Some(6));
    // A broadcast axis inside, and runs that begin together.
    for (sizes, strides) in
        [(vec![4, 3, 5], vec![3, 2, 0]), (vec![3, 3, 3], vec![2, 2, 3]), (vec![2, 2, 2, 2], vec![1, 1, 1, 5])]
    {
        let desc = strided(&sizes, &strides);
        let mut sorted: Vec<u64> = desc.offsets().collect();
        sorted.sort_unstable();
        assert_eq!(desc.offsets_in_memory_order().collect::<Vec<_>>(), sorted);
    }
}
