//! Swizzled layouts: what CuTe, Mojo, tilelang and Triton answer, and offsets, inverses, views, equality and
//! boxes beside literal ones.

use std::collections::HashMap;

use crate::literal::pairs::{flips, side};
use crate::literal::{Tiles, cases, indices, sizes};
use crate::read::map;
use proptest::prelude::*;
use serde_json::Value;
use tensor_layout::bridge::{Lowering, lower};
use tensor_layout::map::Swizzle;
use tensor_layout::strided::Slice;
use tensor_layout::{BufferTensorDesc, DataType, LayoutClass, ToIndexMap};

/// Bits of the byte, each flipped by the bit `by` above it.
fn modes(bits: std::ops::Range<u32>, by: u32) -> Vec<(u32, u64)> {
    bits.map(|bit| (bit, 1 << (bit + by))).collect()
}

#[test]
fn recorded_layouts_of_shared_memory() {
    // The layout before the swizzle, and the bits of the element that are flipped by bits `by` above them.
    let cases = HashMap::from([
        ("cute0", ("f16[8,64]:[64,1]", 4..7, 3)),
        ("cute1", ("f16[8,32]:[32,1]", 3..5, 3)),
        ("cute3", ("f16[8,64]:[64,1]", 3..6, 3)),
        ("cute4", ("f16[8,8]:[8,1]", 0..2, 3)),
        ("tilelang_make_half_bank_swizzled_layout", ("f16[64,32]:[32,1]", 3..5, 3)),
        ("tilelang_make_quarter_bank_swizzled_layout", ("f16[64,16]:[16,1]", 3..4, 3)),
        ("mojo_rows8", ("f16[8,64]:[64,1]", 3..6, 3)),
        ("triton_swizzled_4_2_4", ("f16[16,32]:[32,1]", 2..4, 4)),
        ("tma_sw128_f16", ("f16[8,64]:[64,1]", 3..6, 3)),
        ("tma_sw64_f16", ("f16[8,32]:[32,1]", 3..5, 3)),
        ("tma_sw128_f32", ("f32[8,32]:[32,1]", 2..5, 3)),
        ("tma_sw64_f32", ("f32[8,16]:[16,1]", 2..4, 3)),
        ("tma_sw128_s8", ("s8[8,128]:[128,1]", 4..7, 3)),
        ("tma_sw64_s8", ("s8[8,64]:[64,1]", 4..6, 3)),
        ("tma_sw128_f16_two_spans", ("f16(16,(64,2)):(64,(1,1024))", 3..6, 3)),
        ("l_sw_8_1_8", ("f16[16,64]:[64,1]", 3..6, 3)),
        ("l_sw_8_2_4", ("f16[16,32]:[32,1]", 3..5, 3)),
        ("l_nv_128_t", ("f16[64,16]:[1,64]", 3..6, 3)),
        ("l_nv_0", ("f16[16,32]:[32,1]", 0..0, 3)),
    ]);
    let mut met = 0;
    for line in include_str!("../../data/swizzles.jsonl").lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let id = record["id"].as_str().unwrap();
        let Some((text, bits, by)) = cases.get(id).cloned() else { continue };
        let map = map(text).with_swizzle(&Swizzle::new(&modes(bits.clone(), by)).unwrap()).unwrap();
        assert_eq!(map.swizzle().is_none(), bits.is_empty(), "{id}");
        for pair in record["offsets"].as_array().unwrap() {
            let index: Vec<u64> = pair[0].as_array().unwrap().iter().map(|i| i.as_u64().unwrap()).collect();
            let offset = pair[1].as_u64().unwrap();
            assert_eq!(map.offset(&index), Ok(offset), "{id} at {index:?}");
            assert_eq!(map.inverse(offset).unwrap().as_deref(), Some(&index[..]), "{id}");
        }
        met += 1;
    }
    assert_eq!(met, cases.len());
}

#[test]
fn the_unit_is_part_of_a_swizzle() {
    // The same three bits of the byte and of the element are two layouts of f16, and one of s8.
    for (element_bits, same) in [(8, true), (16, false), (32, false)] {
        let bytes = Swizzle::from_bytes(&modes(4..7, 3), element_bits).unwrap();
        assert_eq!(bytes == Swizzle::new(&modes(4..7, 3)).unwrap(), same);
    }
    let bytes = Swizzle::from_bytes(&modes(4..7, 3), 16).unwrap();
    assert_eq!(
        (bytes.text(16), bytes.in_words(16)),
        ("bytes 4-6 ^= 7-9".into(), "bits 4 to 6 of the byte ^= bits 7 to 9".into())
    );
    let sums = Swizzle::new(&[(2, 0b1001_0000), (3, 0b10_0000)]).unwrap();
    assert_eq!(
        (sums.text(4), sums.in_words(4)),
        (
            "elements 2 ^= 4+7, 3 ^= 5".into(),
            "bit 2 of the element offset ^= bits 4 + 7, bit 3 of the element offset ^= bit 5".into(),
        )
    );
    // A flip that changes no offset is dropped: a bit that is flipped twice, and bits that no index sets.
    assert!(Swizzle::new(&[(1, 4), (1, 4), (2, 0)]).unwrap().flips().is_empty());
    let one_row = map("f16[1,64]:[64,1]").with_swizzle(&bytes).unwrap();
    assert_eq!((one_row.swizzle(), one_row.class()), (None, LayoutClass::Affine));
    let two_rows =
        map("f16[8,64]:[64,1]").with_swizzle(&bytes).unwrap().slice(&[Slice::from(0..2), Slice::ALL]).unwrap();
    assert_eq!(two_rows.swizzle().unwrap().text(16), "bytes 4 ^= 7");
    // The strides of one row of a pair are those of no swizzle, but its base has bit 7.
    let second = map("f16[8,64]:[64,1]").with_swizzle(&bytes).unwrap().slice(&[Slice::from(1..2), Slice::ALL]).unwrap();
    assert_eq!((second.offset(&[0, 0]), second.offset(&[0, 8])), (Ok(72), Ok(64)));
}

#[test]
fn what_is_no_swizzle_is_refused() {
    for (flips, bit, by) in
        [(&[(4_u32, 1_u64 << 4)][..], 4, 4), (&[(4, 1 << 3)], 4, 3), (&[(3, 1 << 62)], 3, 62), (&[(70, 1 << 5)], 70, 5)]
    {
        let error = Swizzle::new(flips).unwrap_err();
        assert_eq!((error.code(), error.value(), error.limit()), ("swizzle_bit", Some(bit), Some(by)), "{error}");
    }
    // Bit 0 of the byte is inside an element of 2 bytes, and 6 or 24 bits are no power of two of a byte.
    for (bits, flip) in [(16, (0, 1 << 7)), (16, (4, 0b1_0000_0001)), (6, (4, 1 << 7)), (24, (4, 1 << 7))] {
        let error = Swizzle::from_bytes(&[flip], bits).unwrap_err();
        assert!(["not_expressible", "swizzle_bit"].contains(&error.code()), "{error}");
    }
    let swizzle = Swizzle::from_bytes(&modes(4..7, 3), 16).unwrap();
    let swizzled = map("f16[8,64]:[64,1]").with_swizzle(&swizzle).unwrap();
    for map in [swizzled.clone(), map("f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}")] {
        assert_eq!(map.with_swizzle(&swizzle).unwrap_err().code(), "not_expressible");
    }
    // A swizzled tensor moves by whole spans.
    assert_eq!(swizzled.clone().with_base(1024).unwrap().offset(&[1, 0]), Ok(1024 + 72));
    assert_eq!(swizzled.clone().with_base(64).unwrap_err().code(), "not_expressible");
    assert_eq!((swizzled.class().to_string(), swizzled.strides()), ("swizzled".into(), None));
    let Lowering::IndexMap { reason, .. } = lower(&swizzled).unwrap() else { panic!("it has no strides") };
    assert_eq!(reason, "bits 4 to 6 of the byte ^= bits 7 to 9");
    assert_eq!(swizzled.normal_form().unwrap(), "f16/16[8,64]+0 0=(1,64) 1=(1,1) xor<bytes 4-6 ^= 7-9>");
}

#[test]
fn huge_swizzled_tensors_are_checked() {
    let swizzle = Swizzle::new(&[(60, 1 << 61)]).unwrap();
    let wide = BufferTensorDesc::new(DataType::U8, &[2, 2], Some(&[1_u64 << 61, 1])).unwrap().to_index_map().unwrap();
    let moved = wide.with_swizzle(&swizzle).unwrap();
    assert_eq!(moved.offset(&[1, 1]), Ok((1 << 61) + (1 << 60) + 1));
    assert_eq!(moved.inverse((1 << 61) + (1 << 60) + 1).unwrap(), Some(vec![1, 1]));
    let end = BufferTensorDesc::new(DataType::U8, &[2], Some(&[u64::MAX - 100])).unwrap().to_index_map().unwrap();
    assert_eq!(end.with_swizzle(&swizzle).unwrap_err().code(), "overflow");
}

#[test]
fn a_column_of_swizzled_rows_has_strides() {
    // CuTe of CUTLASS 4.2 says ((_2,_2,_2)):((72,144,288)) for column 2, and ((_2,_2,_2)):((56,144,288)) for
    // column 10, which would be three digits of a dimension that has one.
    let rows = map("f16[8,64]:[64,1] xor<elements 3-5 ^= 6-8>");
    for (column, text) in [(2, Some("f16[8,1]:[72,1]+2")), (10, None)] {
        let view = rows.slice(&[Slice::ALL, (column..column + 1).into()]).unwrap();
        assert_eq!((view.swizzle().is_none(), view.physical_elements()), (text.is_some(), 512));
        for row in 0..8 {
            assert_eq!(view.offset(&[row, 0]), rows.offset(&[row, column]), "row {row} of column {column}");
            assert!(text.is_none_or(|text| map(text).offset(&[row, 0]) == view.offset(&[row, 0])));
        }
    }
    // A flip of a bit that the base sets takes away: row 1 begins 8 behind row 0.
    let view = map("u8[2,16]:[16,1] xor<elements 3 ^= 4>").slice(&[Slice::ALL, (8..9).into()]).unwrap();
    assert_eq!((view.class(), view.base(), view.offset(&[1, 0])), (LayoutClass::Affine, 8, Ok(16)));
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn a_swizzle_and_its_inverse(offset in 0..1_u64 << 62, masks in prop::collection::vec((0..61_u32, any::<u64>()), 0..8)) {
        let flips: Vec<(u32, u64)> = masks.iter().map(|&(bit, by)| (bit, by >> 2 >> (bit + 1) << (bit + 1))).collect();
        let swizzle = Swizzle::new(&flips).unwrap();
        prop_assert_eq!(swizzle.undo(swizzle.apply(offset)), offset);
        prop_assert_eq!(swizzle.apply(swizzle.undo(offset)), offset);
    }

    #[test]
    fn offsets_inverses_and_boxes_are_literal(
        side in sizes(4, 7).prop_flat_map(|sizes| side(sizes, Tiles::PowersOfTwo, DataType::U8, 8)), flips in flips(),
    ) {
        let side = if side.map.swizzle().is_some() { side } else { side.swizzled(&flips) };
        let mut places = vec![None; side.elements];
        for (index, &offset) in indices(side.map.sizes()).zip(&side.offsets) {
            prop_assert_eq!(side.map.offset(&index), Ok(offset as u64));
            places[offset] = Some(index);
        }
        if !side.overlaps() {
            for (offset, index) in places.iter().enumerate() {
                prop_assert_eq!(&side.map.inverse(offset as u64).unwrap(), index);
            }
        }
        let boxes = side.map.buffer_boxes().unwrap();
        let mut seen = vec![0; side.elements];
        for (list, is_element) in [(&boxes.elements, true), (&boxes.padding, false)] {
            for (start, length) in list.iter().flat_map(|part| part.runs()) {
                for offset in start..start + length {
                    seen[offset as usize] += 1;
                    prop_assert_eq!(places[offset as usize].is_some(), is_element);
                }
            }
        }
        prop_assert!(seen.iter().all(|&times| times == 1), "every offset is in one box");
    }

    #[test]
    fn views_and_comparisons_are_those_of_a_walk(
        (first, second) in sizes(3, 6).prop_flat_map(|sizes| {
            let side = || side(sizes.clone(), Tiles::PowersOfTwo, DataType::U8, 8);
            (side(), side())
        }),
        (a, b) in (flips(), flips()), same: bool, keep: u64,
    ) {
        let (first, second) = (first.swizzled_once(&a), if same { first.clone().swizzled_once(&b) } else { second.swizzled_once(&b) });
        let differs = indices(first.map.sizes()).zip(first.offsets.iter().zip(&second.offsets)).find(|(_, (a, b))| a != b);
        prop_assert_eq!(first.map.same_places(&second.map), Ok(differs.is_none()));
        prop_assert_eq!(first.map.first_difference(&second.map), Ok(differs.as_ref().map(|(index, _)| index.clone())));
        if first.map == second.map {
            prop_assert!(differs.is_none());
        }
        let rank = first.map.sizes().len();
        if rank > 0 {
            let axis = keep as usize % rank;
            let size = first.map.sizes()[axis];
            let mut slices = vec![Slice::ALL; rank];
            slices[axis] = (keep % (size + 1)..size).into();
            if let Ok(view) = first.map.slice(&slices) {
                for index in indices(view.sizes()) {
                    let mut whole = index.clone();
                    whole[axis] += keep % (size + 1);
                    prop_assert_eq!(view.offset(&index), first.map.offset(&whole));
                }
            }
            let mut order: Vec<usize> = (0..rank).collect();
            order.rotate_left(axis);
            let view = first.map.permute(&order).unwrap();
            for index in indices(view.sizes()) {
                let mut whole = vec![0; rank];
                order.iter().zip(&index).for_each(|(&axis, &i)| whole[axis] = i);
                prop_assert_eq!(view.offset(&index), first.map.offset(&whole));
            }
        }
    }
}
