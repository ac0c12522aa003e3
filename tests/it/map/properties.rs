//! The index map against the literal pad, reshape and transpose: offsets, inverse, size, class, equality.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use crate::literal::{Tiles, any_shape, bounded, cases, indices, offsets, physical, shape_of, sizes};
use proptest::prelude::*;
use tensor_layout::bridge::{Lowering, lower};
use tensor_layout::tiled::TileSize;
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, IndexMap, LayoutClass, ToIndexMap};
use tensor_layout_text::to_xla;

fn hash(map: &IndexMap) -> u64 {
    let mut hasher = DefaultHasher::new();
    map.hash(&mut hasher);
    hasher.finish()
}

/// Whether the offset function is a sum of one function for each dimension. All indices are tried.
fn is_separable(shape: &ArrayShape, offsets: &[usize]) -> bool {
    let strides = row_major(shape.sizes());
    indices(shape.sizes()).zip(offsets).all(|(index, &offset)| {
        let parts = index.iter().zip(&strides).map(|(&i, &stride)| offsets[(i * stride) as usize]);
        parts.sum::<usize>() == offset
    })
}

fn row_major(sizes: &[u64]) -> Vec<u64> {
    (0..sizes.len()).map(|axis| sizes[axis + 1..].iter().product()).collect()
}

/// Whether each function of one dimension is a multiple of the index.
fn is_affine(shape: &ArrayShape, offsets: &[usize]) -> bool {
    let strides = row_major(shape.sizes());
    shape.sizes().iter().zip(&strides).all(|(&size, &stride)| {
        (0..size).all(|i| {
            offsets[(i * stride) as usize] == i as usize * offsets[(stride * size.min(2).saturating_sub(1)) as usize]
        })
    }) && is_separable(shape, offsets)
}

proptest! {
    #![proptest_config(cases(2500))]

    #[test]
    fn offsets_inverse_and_size_are_the_literal_ones(shape in any_shape(4000)) {
        let map = shape.to_index_map().unwrap();
        let places = physical(&shape);
        prop_assert_eq!(map.physical_elements(), places.len() as u64);
        for (index, offset) in indices(shape.sizes()).zip(offsets(&shape)) {
            prop_assert_eq!(map.offset(&index), Ok(offset as u64));
        }
        let all: Vec<_> = indices(shape.sizes()).collect();
        for (offset, element) in places.iter().enumerate() {
            let found = map.inverse(offset as u64).unwrap();
            prop_assert_eq!(found.as_ref(), element.map(|number| &all[number]), "at {}", offset);
        }
        prop_assert!(map.inverse(places.len() as u64).is_err());
        let last = offsets(&shape).into_iter().max().map_or(0, |last| last as u64 + 1);
        let min = map.span_elements();
        let exact = map.class() != LayoutClass::Irreducible;
        prop_assert!(min == last || !exact && min > last);
    }

    #[test]
    fn the_class_is_the_one_a_search_over_all_indices_finds(shape in any_shape(1500)) {
        let map = shape.to_index_map().unwrap();
        let table = offsets(&shape);
        if table.is_empty() {
            prop_assert_eq!(map.class(), LayoutClass::Affine);
            return Ok(());
        }
        // An Irreducible layout may turn out to be of any class, because the digits that `*` joined may
        // recombine.
        if map.class() != LayoutClass::Irreducible {
            prop_assert_eq!(map.class() == LayoutClass::Affine, is_affine(&shape, &table));
        }
        let separable = is_separable(&shape, &table);
        match map.class() {
            LayoutClass::Affine | LayoutClass::Split | LayoutClass::RaggedSplit => prop_assert!(separable),
            LayoutClass::Fused => prop_assert!(!separable),
            // Other classes come only from `*` in a later tile, which joins digits that do not line up.
            _ => prop_assert!(shape.layout().tiles().iter().skip(1).any(|tile| tile.entries().contains(&TileSize::Combine))),
        }
    }

    #[test]
    fn maps_are_equal_exactly_when_all_offsets_are(
        (a, b) in (sizes(3, 6), prop::sample::select(vec![Tiles::PowersOfTwo, Tiles::Ragged, Tiles::Combined]))
            .prop_flat_map(|(sizes, kind)| (shape_of(sizes.clone(), kind, DataType::F32), shape_of(sizes, kind, DataType::F32)))
            .prop_filter("too large", |(a, b)| bounded(a, 2000) && bounded(b, 2000)),
    ) {
        let (first, second) = (a.to_index_map().unwrap(), b.to_index_map().unwrap());
        let same = offsets(&a) == offsets(&b);
        prop_assert_eq!(first.same_places(&second), Ok(same));
        let same_size = physical(&a).len() == physical(&b).len();
        // `==` compares normal forms. A layout that is not Affine or Split may have several normal forms.
        let unique = [&first, &second].iter().all(|map| matches!(map.class(), LayoutClass::Affine | LayoutClass::Split));
        prop_assert!(first != second || same && same_size);
        prop_assert!(first == second || !unique || !(same && same_size));
        if first == second {
            prop_assert_eq!(hash(&first), hash(&second));
        }
        let difference = indices(a.sizes()).find(|index| first.offset(index) != second.offset(index));
        prop_assert_eq!(first.first_difference(&second), Ok(difference));
    }

    #[test]
    fn lowering_keeps_every_offset(shape in any_shape(2000)) {
        match lower(&shape).unwrap() {
            Lowering::Strided(desc) => {
                for (index, offset) in indices(shape.sizes()).zip(offsets(&shape)) {
                    prop_assert_eq!(desc.offset(&index), Ok(offset as u64));
                }
                prop_assert_eq!(desc.total_tensor_size_in_bytes(), physical(&shape).len() as u64 * 4);
            }
            Lowering::Split(split) => {
                let table = offsets(&shape);
                let numbers = row_major(shape.sizes());
                for index in indices(split.desc.sizes()) {
                    let mut logical = vec![0; shape.rank()];
                    for ((&dim, &i), &size) in split.dims.iter().zip(&index).zip(split.desc.sizes()) {
                        logical[dim] = logical[dim] * size + i;
                    }
                    if logical.iter().zip(shape.sizes()).all(|(i, size)| i < size) {
                        let number: u64 = logical.iter().zip(&numbers).map(|(i, n)| i * n).sum();
                        prop_assert_eq!(split.desc.offset(&index), Ok(table[number as usize] as u64));
                    }
                }
            }
            Lowering::IndexMap { map, reason } => {
                prop_assert!(!matches!(map.class(), LayoutClass::Affine | LayoutClass::Split));
                prop_assert!(!reason.is_empty());
            }
            other => prop_assert!(false, "unexpected {:?}", other),
        }
    }

    #[test]
    fn raising_keeps_every_offset(sizes in sizes(4, 6), strides in prop::collection::vec(0..40_u64, 4)) {
        let desc = BufferTensorDesc::new(DataType::F32, &sizes, Some(&strides[..sizes.len()])).unwrap();
        if let Ok(raised) = to_xla(&desc) {
            let map = raised.shape.to_index_map().unwrap();
            prop_assert!(map.same_places(&desc.to_index_map().unwrap()).unwrap());
            prop_assert_eq!(map.physical_size_in_bytes(), desc.min_size_in_bytes() + raised.bytes_past_minimum);
        }
    }

    #[test]
    fn raising_undoes_lowering(shape in any_shape(2000)) {
        if let Lowering::Strided(desc) = lower(&shape).unwrap() {
            match to_xla(&desc) {
                Ok(raised) => prop_assert!(raised.shape.to_index_map().unwrap().same_places(&shape.to_index_map().unwrap()).unwrap()),
                // Without `*`, every affine layout has nested strides.
                Err(_) => prop_assert!(shape.layout().tiles().iter().any(|tile| tile.entries().contains(&TileSize::Combine))),
            }
        }
    }
}
