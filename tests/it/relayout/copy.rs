//! Copies without a kept plan, against the literal copy of every element.
#![allow(unsafe_code, reason = "counting allocations takes a global allocator")]

use crate::literal::replanned::write_only;
use proptest::prelude::*;
use tensor_layout::relayout::{Relayout, Strided, copy, copy_strided};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};
use tensor_layout_text::Layout;

const TYPES: [DataType; 6] = [DataType::U8, DataType::BF16, DataType::F32, DataType::F64, DataType::C128, DataType::S4];

/// Reads a descriptor. Sizes without strides are packed.
fn desc(text: &str) -> BufferTensorDesc {
    let packed = |shape: ArrayShape| BufferTensorDesc::packed(shape.data_type(), shape.sizes()).unwrap();
    text.parse().unwrap_or_else(|_| packed(text.parse().unwrap()))
}

/// The sizes, the strides of both sides, and the place of index 0 on both sides.
#[derive(Debug, Clone)]
struct Case {
    data_type: DataType,
    sizes: Vec<usize>,
    source: (Vec<isize>, usize),
    destination: (Vec<isize>, usize),
}

/// The places of all elements, in the order of the indices.
fn places(sizes: &[usize], strides: &[isize], offset: usize) -> Vec<usize> {
    let mut places = vec![offset as isize];
    for (&size, &stride) in sizes.iter().zip(strides) {
        places = places.iter().flat_map(|place| (0..size as isize).map(move |i| place + i * stride)).collect();
    }
    places.into_iter().map(|place| usize::try_from(place).unwrap()).collect()
}

/// Strides of sizes in some order with gaps, some of them negative, and the place of index 0.
fn strides(sizes: &[usize], order: &[usize], gaps: &[usize], signs: u8, base: usize) -> (Vec<isize>, usize) {
    let (mut strides, mut next, mut offset) = (vec![0; sizes.len()], 1, base);
    for &axis in order {
        strides[axis] = next as isize;
        next = next * sizes[axis].max(1) + gaps[axis];
        if signs >> axis & 1 == 1 {
            offset += strides[axis] as usize * sizes[axis].saturating_sub(1);
            strides[axis] = -strides[axis];
        }
    }
    (strides, offset)
}

fn case() -> impl Strategy<Value = Case> {
    (0..=8_usize).prop_flat_map(|rank| {
        let most = [1_usize, 700, 40, 14, 8, 5, 4, 3, 3][rank];
        let order = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
        let gaps = || prop::collection::vec(prop_oneof![4 => Just(0_usize), 1 => 0..3_usize], rank);
        let lists = (prop::collection::vec(prop_oneof![8 => 1..=most, 1 => Just(0_usize)], rank), order.clone(), order);
        let signs = prop_oneof![2 => Just(0_u8), 1 => any::<u8>()];
        let repeated = prop_oneof![3 => Just(0_u8), 1 => any::<u8>()];
        (lists, gaps(), gaps(), signs.clone(), signs, repeated, 0..5_usize, 0..6_usize).prop_map(
            |((sizes, first, second), gaps, others, sign, other_sign, repeated, base, kind)| {
                let data_type = TYPES[kind];
                let (mut from, start) = strides(&sizes, &first, &gaps, sign & !repeated, base);
                (0..sizes.len()).filter(|axis| repeated >> axis & 1 == 1).for_each(|axis| from[axis] = 0);
                let destination = strides(&sizes, &second, &others, other_sign, base);
                Case { data_type, sizes, source: (from, start), destination }
            },
        )
    })
}

/// The bytes of a buffer for places in elements.
fn bytes(places: &[usize], bits: usize) -> usize {
    (places.iter().max().map_or(0, |most| most + 1) * bits).div_ceil(8) + 3
}

fn literal(case: &Case, from: &[u8], to: &mut [u8]) {
    let bits = case.data_type.bits() as usize;
    let sides = [&case.source, &case.destination].map(|(strides, offset)| places(&case.sizes, strides, *offset));
    for (&a, &b) in sides[0].iter().zip(&sides[1]) {
        if bits == 4 {
            let nibble = from[a / 2] >> (a % 2 * 4) & 15;
            to[b / 2] = to[b / 2] & !(15 << (b % 2 * 4)) | nibble << (b % 2 * 4);
        } else {
            let width = bits / 8;
            to[b * width..][..width].copy_from_slice(&from[a * width..][..width]);
        }
    }
}

proptest! {
    #[test]
    fn copies_once_what_is_written_element_by_element(case in case()) {
        let bits = case.data_type.bits() as usize;
        let needs = |(strides, offset): &(Vec<isize>, usize)| bytes(&places(&case.sizes, strides, *offset), bits);
        let source: Vec<u8> = (0..needs(&case.source)).map(|i| (i * 29 + i / 256 + 1) as u8).collect();
        let mut expected = vec![0xa5; needs(&case.destination)];
        let mut found = expected.clone();
        literal(&case, &source, &mut expected);
        let side = |(strides, offset): &'_ (Vec<isize>, usize)| (strides.clone(), *offset);
        let ((from, first), (to, second)) = (side(&case.source), side(&case.destination));
        let sides = (Strided { strides: &from[..], offset: first }, Strided { strides: &to[..], offset: second });
        copy_strided(case.data_type, &case.sizes, sides.0, sides.1, &source, &mut found[..]).unwrap();
        prop_assert!(found == expected, "copy_strided: {case:?}");

        // Descriptors give equal bytes, if no axis runs backwards.
        let described = |(strides, offset): &(Vec<isize>, usize)| {
            let read = BufferTensorDesc::from_signed(case.data_type, &case.sizes, strides).unwrap();
            read.reversed.is_empty().then(|| read.desc.with_base_offset(*offset as u64).unwrap())
        };
        let (Some(from), Some(to)) = (described(&case.source), described(&case.destination)) else { return Ok(()) };
        let mut found = vec![0xa5; expected.len()];
        copy(&from, &to, &source, &mut found[..]).unwrap();
        prop_assert!(found == expected, "copy: {case:?}");
        let mut planned = vec![0xa5; expected.len()];
        Relayout::new(&from, &to).unwrap().run(&source, &mut planned).unwrap();
        prop_assert!(planned == expected, "a kept plan: {case:?}");

        // Elements are written to memory that is only written, and the bytes between them are not.
        let mut found = vec![0xa5; expected.len()];
        match copy(&from, &to, &source, write_only(&mut found)) {
            Ok(()) => prop_assert!(found == expected, "copy into memory that is only written: {case:?}"),
            Err(error) => prop_assert_eq!((error.code(), case.data_type), ("destination_read", DataType::S4)),
        }
    }
}

#[test]
fn errors_are_those_of_a_kept_plan() {
    let pairs = [
        ("f32[2,3]", "f32[2,3]:[1,1]"),
        ("f32[2,3]", "f32[3,2]"),
        ("f32[2,3]", "f32[2]"),
        ("f32[2,3]", "u32[2,3]"),
        ("f32[2,3]:[100,1]", "f32[2,3]"),
        ("f32[2,3]", "f32[2,3]:[100,1]+7"),
        ("u8[2,3]:[9223372036854775807,1]", "u8[2,3]"),
    ];
    for (from, to) in pairs {
        let (from, to) = (desc(from), desc(to));
        let (source, mut destination) = ([0; 24], [0; 24]);
        let planned = Relayout::new(&from, &to).and_then(|plan| plan.run(&source, &mut [0; 24]));
        let error = copy(&from, &to, &source, &mut destination[..]).unwrap_err();
        assert_eq!(Err(error), planned);
        assert_eq!(destination, [0; 24]);
    }
    let run = |sizes: &[usize], strides: &[isize], offset| {
        let (side, packed) = (Strided { strides, offset }, Strided { strides: &[3_isize, 1], offset: 0 });
        copy_strided(DataType::U8, sizes, side, packed, &[0; 6], &mut [0; 6][..]).map_err(|error| error.code())
    };
    assert_eq!(run(&[2, 3], &[-3, 1], 3), Ok(()));
    assert_eq!(run(&[2, 3], &[-3, 1], 2), Err("negative"));
    assert_eq!(run(&[2, 3], &[-3, 1], 4), Err("buffer_too_short"));
    assert_eq!(run(&[2, 3], &[-3], 3), Err("rank_mismatch"));
    assert_eq!(run(&[0, 3], &[isize::MIN, 1], usize::MAX), Ok(()), "no element, no place");
}

#[test]
fn copies_up_to_rank_8_allocate_nothing() {
    // The first transpose of a process looks for the level and the caches of the CPU, which may be files.
    copy(&desc("u8[64,96]"), &desc("u8[64,96]:[1,64]"), &[0; 6144], &mut [0; 6144][..]).unwrap();
    let pairs = [
        ("u8[1000]", "u8[1000]"),
        ("f32[3]:[2]", "f32[3]"),
        ("f32[40,30]:[37,1]", "f32[40,30]"),
        ("f32[64,96]", "f32[64,96]:[1,64]"),
        ("u8[300,300]:[1,300]", "u8[300,300]"),
        ("f32[3,2,3,2,3,2,3,2]", "f32[3,2,3,2,3,2,3,2]:[1,3,6,18,36,108,216,648]"),
        ("bf16[5,4,3,4,5,4,3,4]:[1,5,20,60,240,1200,4800,14400]", "bf16[5,4,3,4,5,4,3,4]"),
        ("f32[1,64,60,60]:[230400,3600,60,1]", "f32[1,64,60,60]:[230400,1,3840,64]"),
    ];
    for (from, to) in pairs {
        let (from, to) = (desc(from), desc(to));
        // If short axes are fused, a plan has lists of loops and offsets.
        let tables = if from.rank() == 8 { 4 } else { 0 };
        let source = vec![1; usize::try_from(from.min_size_in_bytes()).unwrap()];
        let mut destination = vec![0; usize::try_from(to.min_size_in_bytes()).unwrap()];
        let (result, allocations) = crate::counting::count(|| copy(&from, &to, &source, &mut destination[..]));
        result.unwrap();
        assert!(allocations <= tables, "{allocations} for {from} to {to}");
        let strides = |desc: &BufferTensorDesc| desc.strides().to_vec();
        let (a, b) = (strides(&from), strides(&to));
        let (a, b) = (Strided { strides: &a[..], offset: 0 }, Strided { strides: &b[..], offset: 0 });
        let run = || copy_strided(from.data_type(), from.sizes(), a, b, &source, &mut destination[..]);
        let (result, allocations) = crate::counting::count(run);
        result.unwrap();
        assert!(allocations <= tables, "{allocations} for {from} to {to}");
    }
}

#[test]
fn layouts_of_all_kinds_are_copied_once() {
    let pairs = [
        ("f32[9,300]", "f32[9,300]{1,0:T(8,128)}"),
        ("s4[35]", "s4[35]"),
        ("s4[5,7]", "s4[5,7]{0,1:E(4)}"),
        ("f32[2,35,9,9]:nChw16c", "f32[2,35,9,9]:NHWC"),
    ];
    for (from, to) in pairs {
        let (from, to): (Layout, Layout) = (from.parse().unwrap(), to.parse().unwrap());
        let plan = Relayout::new(&from, &to).unwrap();
        let source: Vec<u8> = (0..plan.source_size_in_bytes()).map(|i| (i * 31 + 1) as u8).collect();
        let length = usize::try_from(plan.destination_size_in_bytes()).unwrap();
        let (mut expected, mut found) = (vec![0x5a; length], vec![0x5a; length]);
        plan.run(&source, &mut expected).unwrap();
        copy(&from, &to, &source, &mut found[..]).unwrap();
        assert_eq!(found, expected, "{from:?} to {to:?}");
    }
}
