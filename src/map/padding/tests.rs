use super::*;
use crate::{BufferTensorDesc, DataType, ToIndexMap};

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
        let boxes = super::super::tests::map(&format!("u8[{a},{b},{c}]{{2,0,1:T{tiles}}}")).buffer_boxes().unwrap();
        for part in boxes.elements.iter().chain(&boxes.padding) {
            assert!(part.loops().iter().all(|&(extent, _)| extent > 1), "{part:?}");
            let runs: Vec<_> = part.runs().collect();
            assert!(runs.windows(2).all(|pair| pair[0].0 + pair[0].1 < pair[1].0), "{part:?}");
        }
    }
}
