//! Rules of the whole interface: a mistake has the same code in both models, slices have one type and one
//! text, and errors are sorted into kinds.

use tensor_layout::map::same_layout;
use tensor_layout::strided::{Slice, Slices};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, Error, ErrorKind, ToIndexMap};

fn desc(text_sizes: &[u64], strides: &[u64]) -> BufferTensorDesc {
    BufferTensorDesc::new(DataType::F32, text_sizes, Some(strides)).unwrap()
}

#[test]
fn the_same_mistake_has_the_same_code_on_a_descriptor_and_on_a_map() {
    let desc = desc(&[4, 6], &[8, 1]);
    let map = desc.to_index_map().unwrap();
    let all = Slice::ALL;
    for slices in [
        vec![all],
        vec![Slice::from(0..5), all],
        vec![Slice::from(5..), all],
        vec![Slice::from(4..9), all],
        vec![Slice::from(5..5), all],
        vec![Slice { start: 3, end: Some(2), step: 1 }, all],
        vec![all.step_by(0), all],
        vec![all, Slice::from(..7)],
    ] {
        let (on_desc, on_map) = (desc.slice(&slices).unwrap_err(), map.slice(&slices).unwrap_err());
        assert_eq!(on_desc, on_map, "{slices:?}");
        assert_eq!(on_desc.to_string(), on_map.to_string());
    }
    for sizes in [&[23][..], &[25], &[4, 7], &[], &[u64::MAX, 2]] {
        assert_eq!(desc.reshape(sizes).unwrap_err(), map.reshape(sizes).unwrap_err(), "{sizes:?}");
    }
    for order in [&[0][..], &[0, 0], &[0, 2], &[0, 1, 2]] {
        assert_eq!(desc.permute(order).unwrap_err().code(), map.permute(order).unwrap_err().code(), "{order:?}");
    }
    for sizes in [&[6][..], &[4, 7], &[2, 5, 6]] {
        assert_eq!(desc.broadcast_to(sizes).unwrap_err().code(), map.broadcast_to(sizes).unwrap_err().code());
    }
    for index in [&[0][..], &[4, 0], &[0, 6]] {
        assert_eq!(desc.offset(index).unwrap_err(), map.offset(index).unwrap_err(), "{index:?}");
    }
    assert_eq!(map.slice(&[0..5, 0..6]).unwrap_err(), desc.slice_axis(0, 0..5).unwrap_err());
    // The range has its end before its start.
    let backwards = std::ops::Range { start: 3, end: 2 };
    assert_eq!(map.slice(&[backwards.clone(), 0..6]).unwrap_err(), desc.slice_axis(0, backwards).unwrap_err());
}

#[test]
fn a_refused_slice_names_an_index_that_does_not_exist() {
    let desc = desc(&[3], &[1]);
    for (slice, index) in [(4..9, 4), (0..5, 4), (4..4, 4), (3..5, 4)] {
        let error = desc.slice_axis(0, slice).unwrap_err();
        assert_eq!(error, tensor_layout::plan::Code::IndexOutOfRange.on_axis(0, index, 3));
    }
    assert_eq!(desc.slice_axis(0, 3..3).unwrap().sizes(), [0]);
}

#[test]
fn same_layout_compares_types_and_places_and_nothing_else() {
    let desc = desc(&[3, 1, 5], &[8, 99, 1]);
    let tiled: ArrayShape = "f32[3,1,5]{2,0,1:T(8,8)}".parse().unwrap();
    let map = desc.to_index_map().unwrap();
    assert!(same_layout(&desc, &tiled).unwrap());
    let flagged = desc.clone().with_total_size_in_bytes(4096).unwrap().with_base_offset_alignment(64).unwrap();
    assert!(same_layout(&desc, &flagged).unwrap() && desc != flagged);
    let other_type = desc.reinterpret(DataType::S32).unwrap();
    assert!(!same_layout(&desc, &other_type).unwrap());
    assert!(map.same_places(&other_type.to_index_map().unwrap()).unwrap());
    let moved = desc.clone().with_base_offset(1).unwrap();
    assert!(!same_layout(&desc, &moved).unwrap());
}

#[test]
fn slices_have_one_grammar() {
    let cases = [
        ("[8:16,0:128]", "[8:16,:128]"),
        ("8:16,0:128", "[8:16,:128]"),
        (" [ 8 : 16 , :: 2 ] ", "[8:16,::2]"),
        ("[]", "[]"),
        ("4", "[4:5]"),
        (":", "[:]"),
    ];
    for (text, canonical) in cases {
        let slices: Slices = text.parse().unwrap();
        assert_eq!(slices.to_string(), canonical);
        assert_eq!(canonical.parse(), Ok(slices));
    }
    for (text, column) in [
        ("", 1),
        ("[", 2),
        ("[8:16,0:128", 12),
        ("8:16,0:128]", 11),
        ("8:16,x", 6),
        ("8:16,4:x", 8),
        ("1:2:3:4", 6),
        ("0,,1", 3),
    ] {
        let error = text.parse::<Slices>().unwrap_err();
        assert_eq!((error.code(), error.column()), ("parse", Some(column)), "{text}: {error}");
    }
}

#[test]
fn a_kind_is_enough_to_act_on() {
    let desc = desc(&[4, 6], &[8, 1]);
    let cases = [
        (desc.reshape(&[24]).unwrap_err(), ErrorKind::NotExpressible),
        (desc.reshape(&[5]).unwrap_err(), ErrorKind::InvalidArgument),
        (desc.select(2, 0).unwrap_err(), ErrorKind::OutOfRange),
        ("f32[".parse::<ArrayShape>().unwrap_err(), ErrorKind::Parse),
        ("x32".parse::<DataType>().unwrap_err(), ErrorKind::Parse),
        (BufferTensorDesc::packed(DataType::F32, &[u64::MAX, 2]).unwrap_err(), ErrorKind::Overflow),
    ];
    for (error, kind) in cases {
        assert_eq!(error.kind(), kind, "{error}");
    }
}

#[test]
fn integers_of_any_type_convert_exactly_or_not_at_all() {
    let sizes = |result: Result<BufferTensorDesc, Error>| result.map(|desc| desc.sizes().to_vec());
    assert_eq!(sizes(BufferTensorDesc::new(DataType::U8, &[2_i8, 3], None)), Ok(vec![2, 3]));
    assert_eq!(sizes(BufferTensorDesc::new(DataType::U8, &[2_usize, 3], Some(&[3, 1]))), Ok(vec![2, 3]));
    let code = |result: Result<BufferTensorDesc, Error>| result.unwrap_err().code();
    assert_eq!(code(BufferTensorDesc::new(DataType::U8, &[2_i128, -1], None)), "negative");
    assert_eq!(code(BufferTensorDesc::new(DataType::U8, &[1_i128 << 64], None)), "overflow");
    assert_eq!(code(BufferTensorDesc::new(DataType::U8, &[u128::MAX], None)), "overflow");
    assert_eq!(code(BufferTensorDesc::new(DataType::U8, &[2_i64], Some(&[i64::MIN]))), "negative");
    // The stride of an axis of size 1 is free.
    assert_eq!(sizes(BufferTensorDesc::new(DataType::U8, &[1_i64], Some(&[i64::MIN]))), Ok(vec![1]));
    assert_eq!(sizes(BufferTensorDesc::new(DataType::U8, &[2_usize, 3], Some(&[3, 1]))), Ok(vec![2, 3]));
    assert_eq!(code(BufferTensorDesc::new(DataType::U8, &[2_usize, 3], Some(&[3]))), "rank_mismatch");
    let signed =
        |strides: &[i128]| BufferTensorDesc::from_signed(DataType::U8, &[2_u8, 3], strides).map(|read| read.desc);
    assert_eq!(sizes(signed(&[-3, 1])), Ok(vec![2, 3]));
    assert_eq!(code(signed(&[-3])), "rank_mismatch");
    assert_eq!(code(signed(&[i128::MIN, 1])), "overflow");
    assert_eq!(code(signed(&[-(1 << 63), -(1 << 62)])), "overflow");
    assert_eq!(code(BufferTensorDesc::from_signed(DataType::U8, &[-2], &[1]).map(|read| read.desc)), "negative");
}

/// The documentation of an operation names the test of its post-condition.
#[test]
fn every_post_condition_has_its_test() {
    fn files(folder: &std::path::Path, all: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, all);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                all.push_str(&std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    let [mut source, mut tests] = [String::new(), String::new()];
    for folder in ["/../src", "/../crates/text/src"] {
        files(std::path::Path::new(&format!("{}{folder}", env!("CARGO_MANIFEST_DIR"))), &mut source);
    }
    files(std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/it")), &mut tests);
    let names = source.split("**Post-condition** (`").skip(1).map(|rest| rest.split('`').next().unwrap());
    let names: Vec<&str> = names.collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        assert!(tests.contains(&format!("fn {name}(")), "{name}");
    }
}
