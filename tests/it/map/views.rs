//! Views, padding boxes and contiguous parts, against the literal pad, reshape and transpose.

use crate::literal::{any_shape, cases, indices, offsets, physical, strided_offsets};
use crate::read::map;
use proptest::prelude::*;
use tensor_layout::map::same_layout;
use tensor_layout::plan::OffsetBox;
use tensor_layout::relayout::Relayout;
use tensor_layout::strided::Slice;
use tensor_layout::tiled::Layout;
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, IndexMap, LayoutClass, ToIndexMap};

/// The offset of every index of a map, in row-major order.
fn all_offsets(map: &IndexMap) -> Vec<usize> {
    indices(map.sizes()).map(|index| map.offset(&index).unwrap() as usize).collect()
}

/// Sizes with the same product, chosen by `seed`.
fn refactored(elements: u64, seed: u64) -> Vec<u64> {
    let (mut rest, mut seed, mut sizes) = (elements, seed, Vec::new());
    while sizes.len() < 4 {
        let divisors: Vec<u64> = (1..=rest).filter(|d| rest.is_multiple_of(*d)).collect();
        let chosen = divisors[(seed % divisors.len() as u64) as usize];
        seed /= divisors.len() as u64;
        sizes.push(chosen);
        rest /= chosen;
    }
    sizes.push(rest);
    sizes
}

/// Whether the list of offsets, under these sizes, is a sum of one function for each dimension.
fn separates(sizes: &[u64], offsets: &[usize]) -> bool {
    let strides: Vec<u64> = (0..sizes.len()).map(|axis| sizes[axis + 1..].iter().product()).collect();
    let first = offsets[0];
    indices(sizes).zip(offsets).all(|(index, &offset)| {
        let parts = index.iter().zip(&strides).map(|(&i, &stride)| offsets[(i * stride) as usize] - first);
        index.iter().zip(&strides).all(|(&i, &stride)| offsets[(i * stride) as usize] >= first)
            && first + parts.sum::<usize>() == offset
    })
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn a_reshape_is_a_view_exactly_where_the_offsets_separate(shape in any_shape(3000), seed in any::<u64>()) {
        let map = shape.to_index_map().unwrap();
        if shape.element_count() == 0 {
            return Ok(());
        }
        let sizes = refactored(shape.element_count(), seed);
        let expected = offsets(&shape);
        match map.reshape(&sizes) {
            Ok(view) => {
                prop_assert_eq!(view.sizes(), &sizes[..]);
                prop_assert_eq!(view.physical_elements(), map.physical_elements());
                prop_assert_eq!(all_offsets(&view), expected);
            }
            Err(error) => {
                prop_assert_eq!(error.code(), "not_a_view");
                if matches!(map.class(), LayoutClass::Affine | LayoutClass::Split | LayoutClass::RaggedSplit) {
                    // Not even arbitrary functions, one for each dimension, give these offsets.
                    prop_assert!(!separates(&sizes, &expected), "{} as {:?}: {}", shape, sizes, error);
                }
            }
        }
    }

    #[test]
    fn strided_reshapes_are_views_exactly_where_numpy_says_so(
        dims in prop::collection::vec((1..=4_u64, 0..=2_u64), 1..=3),
        order in any::<u64>(),
        seed in any::<u64>(),
    ) {
        let sizes: Vec<u64> = dims.iter().map(|&(size, _)| size).collect();
        let (mut strides, mut next) = (vec![0; sizes.len()], 1);
        let mut left: Vec<usize> = (0..sizes.len()).collect();
        let mut order = order;
        while !left.is_empty() {
            let axis = left.remove((order % left.len() as u64) as usize);
            order /= 7;
            strides[axis] = next;
            next *= sizes[axis] + dims[axis].1;
        }
        let desc = BufferTensorDesc::new(DataType::F32, &sizes, Some(&strides)).unwrap();
        let new = refactored(sizes.iter().product(), seed);
        let view = desc.to_index_map().unwrap().reshape(&new);
        let expected = strided_offsets(&desc);
        if let Ok(view) = &view {
            prop_assert_eq!(all_offsets(view), expected);
        } else {
            prop_assert!(!separates(&new, &expected));
        }
    }

    #[test]
    fn slices_permutations_and_broadcasts_keep_every_offset(
        shape in any_shape(2000),
        cuts in prop::collection::vec((0..=9_u64, 0..=9_u64, 1..=3_u64), 4),
        seed in any::<u64>(),
    ) {
        let map = shape.to_index_map().unwrap();
        let ranges: Vec<Slice> = shape.sizes().iter().zip(&cuts).map(|(&size, &(a, b, step))| {
            let (start, end) = (a.min(b).min(size), a.max(b).min(size));
            Slice::from(start..end).step_by(step)
        }).collect();
        match map.slice(&ranges) {
            Ok(view) => {
                for index in indices(view.sizes()) {
                    let source: Vec<u64> = index.iter().zip(&ranges).map(|(i, r)| r.start + i * r.step).collect();
                    prop_assert_eq!(view.offset(&index), map.offset(&source), "{} {:?}", shape, ranges);
                }
            }
            Err(error) => prop_assert_eq!(error.code(), "not_a_view"),
        }

        let rank = shape.rank();
        let mut order: Vec<usize> = (0..rank).collect();
        order.rotate_left((seed % rank.max(1) as u64) as usize);
        if seed & 64 != 0 {
            order.reverse();
        }
        let permuted = map.permute(&order).unwrap();
        for index in indices(permuted.sizes()) {
            let mut source = vec![0; rank];
            for (&axis, &i) in order.iter().zip(&index) {
                source[axis] = i;
            }
            prop_assert_eq!(permuted.offset(&index), map.offset(&source));
        }
        let back: Vec<usize> = (0..rank).map(|axis| order.iter().position(|&o| o == axis).unwrap()).collect();
        prop_assert!(same_layout(&permuted.permute(&back).unwrap(), &map).unwrap());

        let mut wide = vec![2];
        wide.extend(shape.sizes().iter().map(|&size| if size == 1 { 3 } else { size }));
        match map.broadcast_to(&wide) {
            Ok(view) => {
                for index in indices(&wide) {
                    let source: Vec<u64> =
                        index[1..].iter().zip(shape.sizes()).map(|(&i, &size)| if size == 1 { 0 } else { i }).collect();
                    prop_assert_eq!(view.offset(&index), map.offset(&source));
                }
            }
            Err(error) => prop_assert_eq!((error.code(), map.class()), ("not_a_view", LayoutClass::Irreducible)),
        }
    }

    #[test]
    fn element_and_padding_boxes_partition_the_buffer(shape in any_shape(3000)) {
        let boxes = shape.to_index_map().unwrap().buffer_boxes().unwrap();
        let holds_element: Vec<bool> = physical(&shape).iter().map(Option::is_some).collect();
        check_partition(&boxes.elements, &boxes.padding, &holds_element)?;
    }

    #[test]
    fn boxes_of_strided_tensors_partition_the_buffer_as_well(
        dims in prop::collection::vec((1..=5_u64, 0..=9_u64), 0..=3),
        base in 0..=4_u64,
    ) {
        let (sizes, strides): (Vec<u64>, Vec<u64>) = dims.into_iter().unzip();
        let desc = BufferTensorDesc::new(DataType::U8, &sizes, Some(&strides)).unwrap().with_base_offset(base).unwrap();
        let map = desc.to_index_map().unwrap();
        let boxes = map.buffer_boxes().unwrap();
        let mut holds_element = vec![false; map.physical_elements() as usize];
        for offset in strided_offsets(&desc) {
            holds_element[offset] = true;
        }
        check_partition(&boxes.elements, &boxes.padding, &holds_element)?;
    }

    #[test]
    fn the_first_difference_is_that_of_a_walk(shape in any_shape(2000), other in any_shape(2000), turn in 1..4_usize) {
        // These sizes have the other layout if its rank allows that, and a rotated order otherwise.
        let mut order = shape.layout().minor_to_major().to_vec();
        let rank = order.len().max(1);
        order.rotate_left(turn % rank);
        let layout = if other.rank() == shape.rank() { other.layout().clone() } else {
            Layout::new(&order).unwrap().with_tiles(shape.layout().tiles())
        };
        let changed = ArrayShape::new(shape.data_type(), shape.sizes(), layout).unwrap();
        if !crate::literal::bounded(&changed, 20_000) {
            return Ok(());
        }
        let (a, b) = (shape.to_index_map().unwrap(), changed.to_index_map().unwrap());
        let walked = indices(shape.sizes()).find(|index| a.offset(index) != b.offset(index));
        prop_assert_eq!(a.first_difference(&b), Ok(walked.clone()), "{} {}", shape, changed);
        prop_assert_eq!(a.same_places(&b), Ok(walked.is_none()));
    }
}

fn check_partition(elements: &[OffsetBox], padding: &[OffsetBox], holds: &[bool]) -> Result<(), TestCaseError> {
    let mut found = vec![None; holds.len()];
    for (boxes, kind) in [(elements, true), (padding, false)] {
        for part in boxes {
            let mut count = 0;
            for (start, length) in part.runs() {
                for offset in start..start + length {
                    prop_assert!(found[offset as usize].is_none(), "{} is in two boxes", offset);
                    found[offset as usize] = Some(kind);
                }
                count += length;
            }
            prop_assert_eq!(count, part.elements());
        }
    }
    let expected: Vec<Option<bool>> = holds.iter().copied().map(Some).collect();
    prop_assert_eq!(found, expected);
    Ok(())
}

#[test]
fn a_tile_is_a_view_and_a_reshape_of_whole_tiles_too() {
    let tiled = map("bf16[16,256]{1,0:T(8,128)(2,1)}");
    let view = tiled.reshape(&[2, 4, 2, 2, 128]).unwrap();
    assert_eq!(view.strides().as_deref(), Some(&[2048, 256, 1, 1024, 2][..]));
    // 300 columns do not fill their tiles. So rows cannot be joined with columns, but can still be split.
    let ragged = map("f32[50,300]{1,0:T(8,128)}");
    assert_eq!(ragged.reshape(&[25, 2, 300]).unwrap().class(), LayoutClass::Split);
    let error = ragged.reshape(&[50, 3, 100]).unwrap_err();
    assert_eq!(error.code(), "not_a_view");
    assert!(error.to_string().contains("axis 1"), "{error}");
}

#[test]
fn a_large_buffer_has_few_boxes() {
    let boxes = map("s32[2048,1,128,128,4]{4,3,2,0,1:T(8,128)}").buffer_boxes().unwrap();
    assert_eq!((boxes.elements.len(), boxes.padding.len()), (1, 1));
    assert_eq!(boxes.padding[0].elements(), (16 << 28) - (1 << 27));
    let figure = map("f32[3,5]{1,0:T(2,2)}").buffer_boxes().unwrap();
    assert_eq!(figure.padding.iter().map(OffsetBox::elements).sum::<u64>(), 9);
}

#[test]
fn one_row_of_a_combined_layout_is_no_longer_fused() {
    let whole = map("f32[3,5]{1,0:T(*,4)(2,1)}");
    let row = whole.slice(&[0..1, 0..5]).unwrap();
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

/// A dimension of size 1 that a tile pads is always 0, but the number that `*` makes of it counts its
/// padding. `f32[7,5,1]` with `T(2)` is at 2 (5 i + j), and the next tile takes digits of this number.
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

#[test]
fn refusals_say_why() {
    let tiled = map("f32[16,256]{1,0:T(8,128)}");
    let code = |result: Result<IndexMap, tensor_layout::Error>| result.unwrap_err().code();
    assert_eq!(code(tiled.slice(&[Slice::from(0..16)])), "rank_mismatch");
    assert_eq!(code(tiled.slice(&[0..17, 0..1])), "index_out_of_range");
    assert_eq!(code(tiled.slice(&[Slice::from(0..1).step_by(0), Slice::from(0..1)])), "out_of_limits");
    assert_eq!(code(tiled.slice(&[Slice::from(0..16).step_by(3), Slice::from(0..1)])), "not_a_view");
    assert_eq!(code(tiled.permute(&[0, 0])), "not_a_permutation");
    assert_eq!(code(tiled.permute(&[0, 2])), "axis_out_of_range");
    assert_eq!(code(tiled.broadcast_to(&[16])), "rank_mismatch");
    assert_eq!(code(tiled.broadcast_to(&[16, 512])), "size_mismatch");
    assert_eq!(code(tiled.reshape(&[u64::MAX, 2])), "overflow");
    assert_eq!(code(map("f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}").reshape(&[54, 2])), "not_a_view");
}

#[test]
fn the_first_difference_of_large_layouts_is_found_at_once() {
    let (a, b) = (map("f32[65536,65536]{1,0:T(8,128)}"), map("f32[65536,65536]{1,0:T(8,128)(4096,256,8,128)}"));
    assert_eq!(a.first_difference(&b), Ok(Some(vec![0, 32768])));
}

#[test]
fn two_spellings_of_one_layout_are_the_same() {
    let same = |a: &str, b: &str| same_layout(&map(a), &map(b)).unwrap();
    assert!(same("f32[3,100]{1,0:T(8,128)}", "f32[3,100]{1,0:T(128)}"));
    assert!(same("f32[8,1,3]{2,1,0}", "f32[8,1,3]{1,2,0}"));
    assert!(!same("f32[16,256]{1,0:T(8,128)}", "f32[16,256]{1,0}"));
    // The type and the sizes matter.
    assert!(same("f32[16,256]{1,0}", "f32[16,256]{1,0:T(1,256)}"));
    assert!(!same("f32[16,256]{1,0}", "s32[16,256]{1,0}"));
    assert!(!same("f32[16,256]{1,0}", "f32[256,16]{0,1}"));
    // These are ragged chains and Irreducible layouts.
    assert!(same("f32[12,4]{1,0:T(6,2)(4,1)}", "f32[12,4]{1,0:T(6,2)(4,1)L(7)}"));
    assert!(same("f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}", "f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)(1)}"));
}

/// Checks, index by index, that the view holds the elements that the slices keep.
fn check_slice(map: &IndexMap, view: &IndexMap, slices: &[Slice]) {
    if !view.sizes().contains(&0) {
        for index in indices(view.sizes()) {
            let source: Vec<u64> = index.iter().zip(slices).map(|(i, slice)| slice.start + i * slice.step).collect();
            assert_eq!(view.offset(&index), map.offset(&source), "{map:?} {slices:?}");
        }
    }
}

/// Returns every start and end of a slice of a dimension.
fn ranges(size: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..=size).flat_map(move |start| (start..=size).map(move |end| (start, end)))
}

/// In blocks of 2 to 6, a part is a view if it stays inside one block or begins at the start of a block.
#[test]
fn a_part_of_blocks_is_a_view_exactly_where_it_stays_inside_one_or_begins_one() {
    for (count, block) in (2..5).flat_map(|count| (2..7).map(move |block| (count, block))) {
        let digits = vec![(count, 100), (block, 1)];
        let map = IndexMap::from_digits(DataType::U8, 8, &[digits]).unwrap();
        for (start, end) in ranges(count * block) {
            let is_view = start == end || start % block == 0 || start / block == (end - 1) / block;
            let view = map.slice(&[Slice::from(start..end)]);
            assert_eq!(view.is_ok(), is_view, "{start}..{end} in blocks of {block}");
            view.iter().for_each(|view| check_slice(&map, view, &[(start..end).into()]));
        }
    }
}

/// Slices the rows of Fused layouts, and of some other layouts, with every step from 1 to 3.
#[test]
fn rows_that_are_joined_are_not_sliced_in_steps() {
    let tiles = ["(1)", "(*,7)(5)", "(*,9)(2)", "(*,4)(3)"];
    for (a, b, tiles) in (2..8).flat_map(|a| (2..6).flat_map(move |b| tiles.map(|tiles| (a, b, tiles)))) {
        let map = map(&format!("u8[{a},{b}]{{1,0:T{tiles}}}"));
        for ((start, end), step) in ranges(a).flat_map(|range| (1..4).map(move |step| (range, step))) {
            let slices = [Slice::from(start..end).step_by(step), (0..b).into()];
            let view = map.slice(&slices);
            view.iter().for_each(|view| check_slice(&map, view, &slices));
            let is_view = match (end - start).div_ceil(step) {
                0 => true,
                1 => map.slice(&[start..start + 1, 0..b]).is_ok(),
                _ if step == 1 && start == 0 => true,
                _ if step > 1 && map.class() == LayoutClass::Fused => false,
                _ if map.class() == LayoutClass::Affine => true,
                _ => continue,
            };
            assert_eq!(view.is_ok(), is_view, "{map:?} {slices:?}");
        }
    }
}

#[test]
fn an_irreducible_layout_is_permuted_by_its_tiles() {
    let map = map("u8[6,4,5]{2,1,0:T(2,3,2)(*,2,1)}");
    let table = all_offsets(&map);
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let permuted = map.permute(&order).unwrap();
        for (index, offset) in indices(map.sizes()).zip(&table) {
            assert_eq!(permuted.offset(&order.map(|axis| index[axis])), Ok(*offset as u64), "{order:?}");
        }
    }
    let axis = |slices: [u64; 3]| match map.slice(&slices.map(|end| 0..end)) {
        Err(error) if error.code() == "not_a_view" => error.axis(),
        other => other.map(|_| None).unwrap(),
    };
    let refused = [axis([5, 4, 5]), axis([6, 3, 4]), axis([6, 4, 4]), axis([6, 4, 5])];
    assert_eq!(refused, [Some(0), Some(1), Some(2), None], "the first dimension that is not whole");
}

#[test]
fn a_tensor_without_elements_has_no_base() {
    let map = map("u8[3,1]{1,0}").with_base(5).unwrap();
    assert_eq!(map.broadcast_to(&[3, 4]).unwrap().base(), 5);
    let empty = map.broadcast_to(&[3, 0]).unwrap();
    assert_eq!((empty.base(), empty.span_elements()), (0, 0));
}

/// A copy to a part of a tensor leaves the rest as it is, also where the padding of the whole holds zeros.
#[test]
fn a_view_promises_nothing_of_its_buffer() {
    let whole = map("f32[2,1,3]:[5,5,1]").with_alignment(64).with_zero_padding();
    assert_eq!((whole.alignment(), whole.has_zero_padding()), (64, true));
    let views = [
        whole.slice(&[0..1, 0..1, 0..3]),
        whole.permute(&[2, 1, 0]),
        whole.reshape(&[2, 3]),
        whole.broadcast_to(&[4, 2, 1, 3]),
    ];
    for view in views.map(Result::unwrap) {
        assert_eq!((view.alignment(), view.has_zero_padding()), (1, false), "{view:?}");
    }
}
