//! The index functions of shaders, evaluated on the CPU, against the literal layouts and against the index
//! map.

use crate::literal::Tiles;
use crate::literal::bits::{read_bits, write_bits};
use crate::literal::pairs::{flips, side};
use crate::literal::{any_shape, cases, indices, offsets, physical, shape_of, sizes};
use proptest::prelude::*;
use tensor_layout::map::Swizzle;
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, IndexMap, LayoutClass, ToIndexMap};
use tensor_layout_shader::{Access, IndexFunctions};

/// All offsets along every axis, each walk from its first index.
fn check_walks(functions: &IndexFunctions, map: &IndexMap) -> Result<(), TestCaseError> {
    for axis in 0..map.sizes().len() {
        for index in indices(map.sizes()).filter(|index| index[axis] == 0) {
            match functions.walk(axis, &index) {
                Ok(walked) => {
                    let mut index = index;
                    for (i, offset) in walked.iter().enumerate() {
                        index[axis] = i as u64;
                        prop_assert_eq!(map.offset(&index), Ok(*offset), "axis {} at {:?}", axis, index);
                    }
                    prop_assert_eq!(walked.len() as u64, map.sizes()[axis]);
                }
                // No strides along the axis.
                Err(error) => {
                    prop_assert_eq!(error.code(), "not_expressible");
                    prop_assert!(map.class() >= LayoutClass::Fused);
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn tiled_layouts_are_the_literal_ones(shape in any_shape(1500)) {
        let map = shape.to_index_map().unwrap();
        let functions = IndexFunctions::new(&shape).unwrap().with_inverse().unwrap();
        for (index, offset) in indices(shape.sizes()).zip(offsets(&shape)) {
            prop_assert_eq!(functions.offset(&index), Ok(offset as u64));
        }
        let all: Vec<_> = indices(shape.sizes()).collect();
        for (offset, element) in physical(&shape).iter().enumerate() {
            let found = functions.index(offset as u64).unwrap();
            prop_assert_eq!(found.as_ref(), element.map(|number| &all[number]), "at {} in\n{}", offset, functions.wgsl());
        }
        check_walks(&functions, &map)?;
    }

    #[test]
    fn strided_layouts_are_those_of_the_map(
        sizes in sizes(4, 6),
        strides in prop::collection::vec(prop_oneof![2 => 0..12_u64, 1 => 0..200_u64], 4),
        base in prop_oneof![Just(0_u64), 1..50_u64],
    ) {
        let desc = BufferTensorDesc::new(DataType::F32, &sizes, Some(&strides[..sizes.len()])).unwrap();
        let desc = desc.with_base_offset(base).unwrap();
        let map = desc.to_index_map().unwrap();
        let functions = IndexFunctions::new(&desc).unwrap();
        for index in indices(map.sizes()) {
            prop_assert_eq!(functions.offset(&index), map.offset(&index));
        }
        check_walks(&functions, &map)?;
        match functions.with_inverse() {
            Ok(functions) => for offset in 0..map.physical_elements() {
                prop_assert_eq!(functions.index(offset), map.inverse(offset), "at {} in\n{}", offset, functions.wgsl());
            },
            Err(error) => prop_assert_eq!(error.code(), "undecided"),
        }
    }

    #[test]
    fn swizzled_layouts_are_those_of_the_map(side in sizes(4, 7).prop_flat_map(|sizes| side(sizes, Tiles::PowersOfTwo, DataType::U8, 8)), flips in flips()) {
        let map = side.swizzled_once(&flips).map;
        let functions = IndexFunctions::new(&map).unwrap();
        for index in indices(map.sizes()) {
            prop_assert_eq!(functions.offset(&index), map.offset(&index), "{}", functions.wgsl());
        }
        check_walks(&functions, &map)?;
        if let Ok(functions) = functions.with_inverse() {
            for offset in 0..map.physical_elements() {
                prop_assert_eq!(functions.index(offset), map.inverse(offset), "at {} in\n{}", offset, functions.wgsl());
            }
        }
    }

    /// Offsets up to 2^32, at a few indices: no number on the way wraps round (the evaluation would refuse
    /// it).
    #[test]
    fn large_layouts_are_those_of_the_map(
        (shape, picks) in prop::collection::vec(prop_oneof![1..20_u64, 1..5000_u64, 60_000..70_000_u64], 1..=4)
            .prop_filter("too large", |sizes| sizes.iter().map(|&size| size as f64).product::<f64>() <= 4e9)
            .prop_flat_map(|sizes| {
                let kind = prop::sample::select(vec![crate::literal::Tiles::PowersOfTwo, crate::literal::Tiles::Ragged, crate::literal::Tiles::Combined]);
                (kind.prop_flat_map(move |kind| shape_of(sizes.clone(), kind, DataType::U8)), prop::collection::vec(any::<u64>(), 40))
            }),
    ) {
        let map = shape.to_index_map().unwrap();
        let functions = match IndexFunctions::new(&shape).and_then(IndexFunctions::with_inverse) {
            Ok(functions) => functions,
            Err(error) => {
                prop_assert!(map.physical_elements() > 1 << 32, "{error}");
                return Ok(());
            }
        };
        for pick in picks {
            let mut rest = pick;
            let index: Vec<u64> = shape.sizes().iter().map(|&size| {
                let i = rest % size;
                rest /= size;
                // The corners more often than chance would.
                if pick % 3 == 0 { size - 1 } else { i }
            }).collect();
            let offset = map.offset(&index).unwrap();
            prop_assert_eq!(functions.offset(&index), Ok(offset));
            let found = functions.index(offset).unwrap();
            prop_assert_eq!(found, Some(index));
            let anywhere = pick % map.physical_elements();
            prop_assert_eq!(functions.index(anywhere), map.inverse(anywhere), "at {} in\n{}", anywhere, functions.wgsl());
        }
    }

    #[test]
    fn elements_are_the_bit_fields_of_the_buffer(
        bytes in prop::collection::vec(any::<u8>(), 64),
        stores in prop::collection::vec((any::<u32>(), any::<u32>()), 20),
    ) {
        // A shader refuses elements that cross words, by name.
        let fits = |data_type: &DataType| data_type.bits() <= 32 && !data_type.is_stream();
        for &data_type in DataType::ALL.iter().filter(|data_type| fits(data_type)) {
            let bits = data_type.bits();
            let desc = BufferTensorDesc::new(data_type, &[512 / u64::from(bits)], None).unwrap();
            let functions = IndexFunctions::new(&desc).unwrap();
            let functions = functions.with_access("words", Access::ReadWrite).unwrap();
            let mut words: Vec<u32> = bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
            let mut expected = bytes.clone();
            for &(place, value) in &stores {
                let offset = u64::from(place) % desc.sizes()[0];
                let start = offset * u64::from(bits);
                prop_assert_eq!(functions.load_bits(&words, offset).map(u128::from).ok(), read_bits(&expected, start, bits));
                write_bits(&mut expected, start, bits, value.into()).unwrap();
                functions.store_bits(&mut words, offset, value).unwrap();
                let written: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                prop_assert_eq!(&written, &expected, "{} at {}", data_type, offset);
            }
            prop_assert_eq!(functions.load_bits(&words, desc.sizes()[0]).unwrap_err().code(), "offset_out_of_range");
        }
        let wide = IndexFunctions::new(&BufferTensorDesc::new(DataType::F64, &[4], None).unwrap()).unwrap();
        prop_assert_eq!(wide.with_access("words", Access::Read).unwrap_err().code(), "unsupported_element_bits");
    }
}

fn shape(text: &str) -> ArrayShape {
    text.parse().unwrap()
}

/// The step of a swizzle is one expression for neighbouring bits.
#[test]
fn a_swizzle_is_shifts_and_xors() {
    let rows: BufferTensorDesc = "f16[8,64]:[64,1]".parse().unwrap();
    let swizzle = Swizzle::from_bytes(&[(4, 1 << 7), (5, 1 << 8), (6, 1 << 9)], 16).unwrap();
    let map = rows.to_index_map().unwrap().with_swizzle(&swizzle).unwrap();
    let text = IndexFunctions::new(&map).unwrap().with_inverse().unwrap().wgsl();
    assert!(text.contains("let plain = (i0 << 6u) + i1;\n    return plain ^ ((plain >> 6u) << 3u);"), "{text}");
}

#[test]
fn every_class_has_its_form() {
    for (text, class, lines) in [
        ("f32[4,6]{1,0}", LayoutClass::Affine, &["return i0 * 6u + i1;", "i1: u32) -> u32 {"][..]),
        ("f32[4,6]{0,1}", LayoutClass::Affine, &["return i0 + (i1 << 2u);"]),
        ("f32[16,300]{1,0:T(8,128)}", LayoutClass::Split, &["let part1 = ((i1 >> 7u) << 10u) + (i1 & 0x7fu);"]),
        ("f32[12,10]{1,0:T(3,5)}", LayoutClass::Split, &["let part0 = i0 / 3u * 30u + i0 % 3u * 5u;"]),
        ("f32[12,4]{1,0:T(6,2)(4,1)}", LayoutClass::RaggedSplit, &["let rest = i0 % 6u;"]),
        ("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", LayoutClass::Fused, &["let joined = i3 * 10u + i4;"]),
        ("f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}", LayoutClass::Irreducible, &["let joined = "]),
    ] {
        let functions = IndexFunctions::new(&shape(text)).unwrap();
        println!("{text}: {}\n{}", functions.map().class(), functions.wgsl());
        assert_eq!(functions.map().class(), class, "{text}");
        for line in lines {
            assert!(functions.wgsl().contains(line), "{line} in\n{}", functions.wgsl());
        }
    }
}

#[test]
fn names_are_in_front_of_everything() {
    let functions = IndexFunctions::new(&shape("bf16[4,6]{1,0:T(2,4)}")).unwrap();
    let functions = functions.named("first_weights").unwrap().with_inverse().unwrap().with_walk(1).unwrap();
    let text = functions.with_access("buffer", Access::ReadWrite).unwrap().wgsl();
    println!("{text}");
    for line in [
        "fn first_weights_offset(i0: u32, i1: u32) -> u32 {",
        "struct FirstWeightsIndex {",
        "fn first_weights_index(offset: u32) -> FirstWeightsIndex {",
        "fn first_weights_walk_1(i0: u32, i1: u32) -> FirstWeightsWalk1 {",
        "fn first_weights_step_1(at: FirstWeightsWalk1) -> FirstWeightsWalk1 {",
        "fn first_weights_load_bits(offset: u32) -> u32 {",
        "fn first_weights_load_at(i0: u32, i1: u32) -> f32 {",
        "fn first_weights_store_at(i0: u32, i1: u32, value: f32) {",
    ] {
        assert!(text.contains(line), "{line}");
    }
    // What is a name, and means something else in WGSL.
    for name in ["var", "from", "array"] {
        let functions = IndexFunctions::new(&shape("f32[4]{0}")).unwrap();
        assert_eq!(functions.with_access(name, Access::Read).unwrap_err().code(), "parse", "{name}");
    }
    for name in ["", "9", "_x", "a__b", "a-b", "größe"] {
        let functions = IndexFunctions::new(&shape("f32[4]{0}")).unwrap();
        assert_eq!(functions.clone().named(name).unwrap_err().code(), "parse", "{name}");
        assert_eq!(functions.with_access(name, Access::Read).unwrap_err().code(), "parse", "{name}");
    }
}

#[test]
fn more_than_32_bits_are_refused_or_counted_from_a_base() {
    let largest = shape("u8[65536,65536]{1,0:T(8,128)}");
    let functions = IndexFunctions::new(&largest).unwrap().with_inverse().unwrap();
    assert_eq!(functions.offset(&[65_535, 65_535]), Ok(u32::MAX.into()));
    assert_eq!(functions.index(u32::MAX.into()).unwrap().as_deref(), Some(&[65_535, 65_535][..]));

    let error = IndexFunctions::new(&shape("u8[65536,65537]{1,0}")).unwrap_err();
    assert_eq!(error, tensor_layout::plan::Code::ElementLimit.for_value(65_536 * 65_537, 1 << 32));
    let broadcast = BufferTensorDesc::new(DataType::U8, &[(1_u64 << 32) + 1], Some(&[0])).unwrap();
    assert_eq!(IndexFunctions::new(&broadcast).unwrap_err().code(), "size_limit");

    let far =
        BufferTensorDesc::new(DataType::F32, &[4, 6], Some(&[8, 1])).unwrap().with_base_offset(1_u64 << 40).unwrap();
    assert_eq!(IndexFunctions::new(&far).unwrap_err().code(), "element_limit");
    let functions = IndexFunctions::with_base_argument(&far).unwrap().with_inverse().unwrap();
    assert_eq!(functions.offset(&[2, 3]), Ok(19));
    assert!(functions.wgsl().contains("return base + (i0 << 3u) + i1;"), "{}", functions.wgsl());
    assert!(functions.wgsl().contains("fn index(base: u32, offset: u32) -> Index {"), "{}", functions.wgsl());
    assert_eq!(functions.index(19).unwrap().as_deref(), Some(&[2, 3][..]));
}

#[test]
fn indices_outside_are_refused() {
    let functions = IndexFunctions::new(&shape("f32[4,6]{1,0}")).unwrap();
    assert_eq!(functions.offset(&[4, 0]).unwrap_err().code(), "index_out_of_range");
    assert_eq!(functions.offset(&[4]).unwrap_err().code(), "rank_mismatch");
    assert_eq!(functions.index(24).unwrap_err().code(), "offset_out_of_range");
    assert_eq!(functions.clone().with_walk(2).unwrap_err().code(), "axis_out_of_range");
    let empty = IndexFunctions::new(&shape("f32[4,0]{1,0}")).unwrap().with_inverse().unwrap();
    assert_eq!(empty.offset(&[0, 0]).unwrap_err().code(), "index_out_of_range");
    assert!(empty.wgsl().contains("return Index(false, 0u, 0u);"));
    let scalar = IndexFunctions::new(&shape("f32[]")).unwrap().with_inverse().unwrap();
    assert_eq!((scalar.offset(&[]), scalar.index(0).unwrap().is_some()), (Ok(0), true));
}

/// Every array of the recorded texts (XLA's parser, libtpu's layouts): at some indices and offsets, and along
/// every axis.
#[test]
fn recorded_layouts_are_those_of_the_map() {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
    let mut checked = 0;
    for name in ["xla_layouts.jsonl", "xla_differential.tsv", "tpu_tiles.tsv", "tpu_orders.tsv", "tpu_bitcasts.tsv"] {
        let text = std::fs::read_to_string(data.join(name)).unwrap();
        let arrays = text.split(['\t', '\n', '"']).filter_map(|word| word.parse::<ArrayShape>().ok());
        for map in arrays.filter_map(|array| array.to_index_map().ok()).filter(|map| map.element_count() > 0) {
            let functions = match IndexFunctions::new(&map) {
                Ok(functions) => functions.with_inverse().unwrap(),
                Err(error) => {
                    assert!(map.span_elements() > 1 << 32, "{error}");
                    continue;
                }
            };
            checked += 1;
            for pick in 0..12_u64 {
                // The first index, the last one, and some between.
                let index: Vec<u64> = map
                    .sizes()
                    .iter()
                    .map(|&size| match pick {
                        0 => 0,
                        1 => size - 1,
                        _ => pick.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) % size,
                    })
                    .collect();
                let offset = map.offset(&index).unwrap();
                assert_eq!(functions.offset(&index), Ok(offset), "{index:?} in\n{}", functions.wgsl());
                for offset in [offset, (offset + pick * 97) % map.physical_elements()] {
                    assert_eq!(functions.index(offset), map.inverse(offset), "{offset} in\n{}", functions.wgsl());
                }
                let axis = pick as usize % map.sizes().len().max(1);
                let Some(&size) = map.sizes().get(axis).filter(|_| pick < 4) else { continue };
                let mut index = index;
                index[axis] = size.saturating_sub(300);
                if let Ok(walked) = functions.walk(axis, &index) {
                    for offset in walked {
                        assert_eq!(map.offset(&index), Ok(offset), "{index:?} in\n{}", functions.wgsl());
                        index[axis] += 1;
                    }
                    assert_eq!(index[axis], size);
                }
            }
        }
    }
    assert!(checked > 3000, "{checked} layouts");
}
