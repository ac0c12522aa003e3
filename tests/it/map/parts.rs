//! Parts of combined and of overlapping layouts.

use crate::literal::{any_shape, indices, offsets};
use proptest::prelude::*;
use std::collections::BTreeSet;
use tensor_layout::relayout::Relayout;
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, IndexMap, LayoutClass, ToIndexMap};

fn map(text: &str) -> IndexMap {
    text.parse::<ArrayShape>().unwrap().to_index_map().unwrap()
}

fn strided(sizes: &[u64], strides: &[u64]) -> BufferTensorDesc {
    BufferTensorDesc::new(DataType::F32, sizes, Some(strides)).unwrap()
}

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

proptest! {
    #![proptest_config(crate::literal::cases(1500))]

    /// The fused component that remains after a slice is in normal form: it has no dimension of size 1, and
    /// cannot be cut.
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
        // A map of these offsets that is made from strides has an equal form.
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
    // The offsets are 0 1 1 2 5 6 6 7. They are as many as from 0 to 7, but 3 and 4 are not among them.
    let map = strided(&[2, 2, 2], &[5, 1, 1]).to_index_map().unwrap();
    assert_eq!(map.contiguous_part(&[0..2, 0..2, 0..2]), Ok(None));
    assert_eq!(map.contiguous_part(&[0..1, 0..2, 0..1]), Ok(Some(0..2)));
    assert_eq!(map.contiguous_part(&[1..2, 0..2, 0..2]), Ok(None));
}
