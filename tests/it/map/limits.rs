//! Limits of work and memory, and numbers that do not wrap.

use std::collections::BTreeSet;

use crate::literal::replanned::Replanned;
use crate::read::{map, strided};

use tensor_layout::plan::PADDING_SEARCH_LIMIT;
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::{BufferTensorDesc, DataType, ToIndexMap};

#[test]
fn a_chain_past_its_extent_does_not_wrap() {
    let map = strided(&[2], &[u64::MAX / 8]).to_index_map().unwrap();
    let chain = &map.components()[0].chain;
    assert_eq!(chain.offset(1), Ok(u64::MAX / 8));
    assert_eq!(chain.offset(9).unwrap_err().code(), "overflow");
    assert_eq!(chain.offset(u64::MAX).unwrap_err().code(), "overflow");
}

#[test]
fn boxes_of_a_buffer_are_counted_before_they_are_made() {
    // The first buffer has a million elements that are apart from each other. The second has two boxes for
    // each of 18 dimensions, multiplied.
    let apart = strided(&[100, 100, 100], &[10007, 10009, 10037]).to_index_map().unwrap();
    assert_eq!(apart.buffer_boxes().unwrap_err().code(), "undecided");
    let order: Vec<String> = (0..18).rev().map(|dim| dim.to_string()).collect();
    let text = format!("f32[{}]{{{}:T({})}}", ["3"; 18].join(","), order.join(","), ["2"; 18].join(","));
    assert_eq!(map(&text).buffer_boxes().unwrap_err().code(), "undecided");
    // Boxes are found element by element if strides do not nest, or if a stride is 0.
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

/// Each block was once searched twice for every digit: 2^30 times, and 2^40 times.
#[test]
fn the_largest_offset_of_many_digits_needs_no_search() {
    let strides: Vec<u64> = (0..40).map(|axis| 3 << axis).collect();
    let line = strided(&[2; 40], &strides).to_index_map().unwrap().reshape(&[1_u64 << 40]).unwrap();
    let last = strides.iter().sum::<u64>();
    assert_eq!((line.span_elements(), line.offset(&[(1_u64 << 40) - 1])), (last + 1, Ok(last)));
    let (size, tiles) = tiles_that_do_not_divide(29);
    let map = map(&format!("f32[{size}]{{0:T{tiles}}}"));
    assert!(map.span_elements() <= map.physical_elements() && map.span_elements() >= size);
}

/// Tiles in tiles. Each tile is smaller than the tile around it by a factor of 1.6, and the size cuts every
/// tile.
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

/// Each digit of this kind doubles the boxes of a copy and the boxes of a buffer.
#[test]
fn boxes_of_tiles_that_do_not_divide_each_other_are_bounded() {
    let shape = |digits: usize| {
        let (size, tiles) = tiles_that_do_not_divide(digits);
        (map(&format!("f32[{size}]{{0:T{tiles}}}")), map(&format!("f32[{size}]")))
    };
    let (tiled, packed) = shape(29);
    // Such a copy goes index by index, 4096 indices in a box.
    for (from, to) in [(&packed, &tiled), (&tiled, &packed), (&tiled, &tiled)] {
        let boxes = Relayout::new(from, to).unwrap().passes().next().unwrap().box_count;
        assert_eq!(boxes, packed.element_count().div_ceil(4096));
    }
    assert_eq!(tiled.buffer_boxes().unwrap_err().code(), "undecided");
    let (tiled, packed) = shape(12);
    let source: Vec<u32> = (1..).take(usize::try_from(packed.physical_elements()).unwrap()).collect();
    let mut there = vec![0_u32; usize::try_from(tiled.physical_elements()).unwrap()];
    let plan = Relayout::new(&packed, &tiled).unwrap();
    plan.run(bytemuck::cast_slice(&source), bytemuck::cast_slice_mut(&mut there)).unwrap();
    for (number, value) in (0..).zip(&source) {
        assert_eq!(there[usize::try_from(tiled.offset(&[number]).unwrap()).unwrap()], *value);
    }
}

/// Each piece once looked at every loop of every box, and a try with half as many pieces began from the
/// start.
#[test]
fn copies_of_thousands_of_boxes_are_cut_into_pieces() {
    let order: Vec<String> = (0..12).rev().map(|dim| dim.to_string()).collect();
    let text = format!("u8[{}]{{{}:T({})}}", ["3"; 12].join(","), order.join(","), ["2"; 12].join(","));
    let (packed, tiled) = (map(&format!("u8[{}]", ["3"; 12].join(","))), map(&text));
    let plan = Relayout::new(&packed, &tiled).unwrap().with_padding(Padding::Zero).unwrap();
    let source: Vec<u8> = (0..packed.physical_elements()).map(|i| u8::try_from(i % 255 + 1).unwrap()).collect();
    let mut whole = vec![7_u8; usize::try_from(tiled.physical_elements()).unwrap()];
    plan.run(&source, &mut whole).unwrap();
    let pieces = plan.cut(4096, 1);
    assert!(pieces.len() > 1, "{} pieces", pieces.len());
    let mut pieced = vec![7_u8; whole.len()];
    for piece in &pieces {
        piece.run(&source, &mut pieced[piece.destination_range()]).unwrap();
    }
    assert!(pieced == whole);
}

/// Pieces of a copy index by index come from tables of all offsets. Two tiles count as four more entries of
/// each index, and 1,048,576 entries are the most.
#[test]
fn a_copy_index_by_index_is_cut_only_if_it_is_small() {
    let pieces = |rows: u64| {
        let [packed, tiled] = ["", "{2,1,0:T(2,3,2)(*,2,1)}"].map(|layout| map(&format!("u8[{rows},512,2]{layout}")));
        Relayout::new(&packed, &tiled).unwrap().cut(4, 1).len()
    };
    assert_eq!([4, 205].map(pieces), [4, 1]);
}

/// Whether the boxes of a strided buffer are found. Otherwise the result must be the error `undecided`.
fn is_known(sizes: &[u64], strides: &[u64], base: u64) -> bool {
    let desc = BufferTensorDesc::new(DataType::U8, sizes, Some(strides)).unwrap();
    let boxes = desc.with_base_offset(base).unwrap().to_index_map().unwrap().buffer_boxes();
    boxes.inspect_err(|error| assert_eq!(error.code(), "undecided")).is_ok()
}

/// The strides 2 and 3 do not nest, so the buffer is searched. Its size is the third stride plus the 11
/// offsets that the first two axes span.
#[test]
fn a_buffer_is_searched_up_to_its_limit() {
    assert!(is_known(&[3, 3, 2], &[2, 3, PADDING_SEARCH_LIMIT - 11], 0));
    assert!(!is_known(&[3, 3, 2], &[2, 3, PADDING_SEARCH_LIMIT - 10], 0));
}

#[test]
fn elements_are_walked_up_to_the_same_limit() {
    assert!(is_known(&[2048, PADDING_SEARCH_LIMIT / 2048], &[1, 1], 0));
    assert!(!is_known(&[2048, PADDING_SEARCH_LIMIT / 2048 + 1], &[1, 1], 0));
}

/// After one offset of padding, every second offset holds an element. Each element and each gap is a box.
#[test]
fn there_are_at_most_65536_boxes() {
    assert!(is_known(&[32_766, 3], &[2, 2], 1));
    assert!(!is_known(&[32_767, 3], &[2, 2], 1));
}

/// Tests that every loop of a box has at least two steps, and that no two runs of a box touch.
#[test]
fn runs_are_as_long_as_they_can_be() {
    let sizes = |number: u64| [1 + number / 36, 1 + number / 6 % 6, 1 + number % 6];
    for (number, tiles) in
        (0..216).flat_map(|number| ["(1)", "(2,4)", "(4,2)(2,1)", "(3,2,2)"].map(|tiles| (number, tiles)))
    {
        let [a, b, c] = sizes(number);
        let boxes = map(&format!("u8[{a},{b},{c}]{{2,0,1:T{tiles}}}")).buffer_boxes().unwrap();
        for part in boxes.elements.iter().chain(&boxes.padding) {
            assert!(part.loops().iter().all(|&(extent, _)| extent > 1), "{part:?}");
            let runs: Vec<_> = part.runs().collect();
            assert!(runs.windows(2).all(|pair| pair[0].0 + pair[0].1 < pair[1].0), "{part:?}");
        }
    }
}
