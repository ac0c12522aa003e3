use super::super::tests::{indices, map, offsets};
use super::*;
use crate::{DataType, LayoutClass};

/// Checks, index by index, that the view holds the elements that the slices keep.
fn check_slice(map: &IndexMap, view: &IndexMap, slices: &[Slice]) {
    if !view.sizes.contains(&0) {
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
        let map = IndexMap::from_pairs(DataType::U8, 8, &[vec![(count, 100), (block, 1)]]).unwrap();
        for (start, end) in ranges(count * block) {
            let is_view = start == end || start % block == 0 || start / block == (end - 1) / block;
            let view = map.slice(&[(start..end).into()]);
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
                1 => map.slice(&[(start..start + 1).into(), (0..b).into()]).is_ok(),
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
    let table = offsets(&map);
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let permuted = map.permute(&order).unwrap();
        for (index, offset) in indices(map.sizes()).iter().zip(&table) {
            assert_eq!(permuted.offset(&order.map(|axis| index[axis])), Ok(*offset), "{order:?}");
        }
    }
    let axis = |slices: [u64; 3]| match map.slice(&slices.map(|end| (0..end).into())) {
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
