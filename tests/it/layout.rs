//! `tensor_layout_text::Layout`: every kind of layout is one value, which answers for each of its elements.

use tensor_layout::{BufferTensorDesc, DataType, ToIndexMap};
use tensor_layout_text::Layout;
use tensor_layout_text::layout::Role;

/// A layout of each kind, with the bytes of its planes.
const KINDS: [(&str, &[u64]); 12] = [
    ("f32[2,3]:[5,1]", &[32]),
    ("f32[3,5]{1,0:T(2,2)}", &[96]),
    ("tensorrt.kCHW32:s8[2,33,3,2]", &[768]),
    ("q4_0[4,64]", &[144]),
    ("ndarray(shape=(2,3), dtype=float32, strides=(-12,4))", &[24]),
    ("sglang.packed_vnni2:bf16[48,32]", &[3072]),
    ("kv:LBNHC:bf16[L=2,B=4,H=2,N=4,C=8]", &[1024]),
    ("kv:LBNHC:bf16[L=2,B=[3,0]/4,H=2,N=4,C=8]", &[1024]),
    ("kv:BNHC:u8[B=[3,4,0]/5,T=11,H=1,N=4,C=2]", &[40]),
    ("f4e2m1fn[128,320] with f8e8m0fnu per 32", &[20480, 1280]),
    ("tenstorrent.bfp8_b.values:u8[32,32] with tenstorrent.bfp8_b.exponents:u8 per 16", &[1088, 1088]),
    ("(f32[2]{0}, (s8[3]{0}, token[]))", &[8, 3, 0]),
];

fn read(text: &str) -> Layout {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn every_kind_is_read_and_written() {
    for (text, bytes) in KINDS {
        let layout = read(text);
        assert_eq!(read(&layout.to_string()), read(&read(&layout.to_string()).to_string()), "{text}");
        assert_eq!(layout.difference(&read(&layout.to_string())), Ok(None), "{text}");
        let sizes: Vec<u64> = layout.planes().iter().map(|plane| plane.size_in_bytes().unwrap()).collect();
        assert_eq!(sizes, bytes, "{text}");
    }
}

/// Each index of a plane has one place, no two have the same, and the index at the place is the index.
#[test]
fn every_element_has_one_place() {
    for (text, _) in KINDS {
        for plane in read(text).planes().iter().filter(|plane| !plane.parts().is_empty()) {
            let values = plane.blocks().map_or(1, |blocks| blocks.block_type().values());
            let rows = BufferTensorDesc::packed(DataType::U8, plane.sizes()).unwrap().to_index_map().unwrap();
            let mut seen = std::collections::BTreeSet::new();
            for number in 0..rows.element_count() {
                let index = rows.inverse(number).unwrap().unwrap();
                let holders = plane.parts().iter().filter(|part| part.inside(&index).is_some()).count();
                let place = plane.place(&index).unwrap();
                let found = plane.index_at(place.offset).unwrap().unwrap();
                if let Some((value, _)) = place.in_block {
                    let [outer @ .., block, byte] = found.as_slice() else { panic!() };
                    assert_eq!([outer, &[block * values + value]].concat(), index, "{text}");
                    assert!(plane.numbers_in_byte(*byte)[0].2.contains(&value), "{text}");
                } else {
                    assert_eq!((holders, &found), (1, &index), "{text}");
                    assert!(seen.insert(place.offset), "{text}: {index:?}");
                }
            }
            let outside: Vec<u64> = plane.sizes().to_vec();
            assert_eq!(plane.place(&outside).unwrap_err().code(), "index_out_of_range", "{text}");
            assert_eq!(plane.place(&[]).unwrap_err().code(), "rank_mismatch", "{text}");
        }
    }
}

#[test]
fn another_place_is_a_difference() {
    for (one, other, index) in [
        ("f32[2,3]:[5,1]", "f32[2,3]:[3,1]", Some(vec![1, 0])),
        ("q4_0[4,64]", "q4_0[4,64]:[40,18]", Some(vec![1, 0, 0])),
        ("q4_0[4,64]", "q4_1[4,64]", None),
        ("sglang.packed_vnni2:bf16[48,32]", "bf16[48,32]:[32,1]", Some(vec![0, 2])),
        ("kv:BNHC:u8[B=[3,0]/4,H=1,N=4,C=2]", "kv:BNHC:u8[B=[3,1]/4,H=1,N=4,C=2]", Some(vec![1, 0, 0, 0])),
        ("ndarray(shape=(2,3), dtype=float32, strides=(-12,4))", "f32[2,3]:[3,1]", Some(vec![0, 0])),
        ("f32(2,3):(-3,1)", "f32(2,3):(3,-1)", Some(vec![0, 0])),
        ("f4e2m1fn[4,64] with u8 per 32", "f4e2m1fn[4,64] with u8[4,2]:[1,4] per 32", Some(vec![0, 1])),
        ("f4e2m1fn[4,64] with u8 per 32", "f4e2m1fn[4,64] with u8 per 16", None),
        ("f4e2m1fn[4,64] with u8 per 32", "f4e2m1fn[4,64]", None),
        ("(f32[2]{0}, s8[3]{0})", "(f32[2]{0}, s8[4]{0})", None),
        ("(f32[2]{0}, token[])", "(f32[2]{0}, opaque[])", None),
        ("(f32[2]{0})", "f32[2]{0}", None),
    ] {
        for (one, other) in [(one, other), (other, one)] {
            let difference = read(one).difference(&read(other)).unwrap().unwrap_or_else(|| panic!("{one} {other}"));
            assert_eq!(difference.index, index, "{one} {other}: {}", difference.reason);
        }
    }
}

#[test]
fn what_has_no_single_map_says_so_once() {
    let reason = |text: &str| read(text).whole().unwrap_err().to_string();
    for (text, said) in [
        ("sglang.packed_vnni2:bf16[48,32]", "it lies in 2 parts"),
        ("ndarray(shape=(2,3), dtype=float32, strides=(-12,4))", "axis 0 runs backwards"),
        ("f4e2m1fn[128,320] with f8e8m0fnu per 32", "it has 2 planes"),
        ("(f32[2]{0}, s8[3]{0})", "it has 2 elements"),
    ] {
        let said = format!("no single index map describes this layout: {said}");
        assert!(reason(text).starts_with(&said), "{}", reason(text));
        assert!(reason(text).ends_with("which describe, offset, check, same, view, draw and convert take"), "{text}");
        assert!(read(text).to_index_map().is_err() && read(text).as_descriptor().is_none(), "{text}");
    }
    assert!(read("()").planes().is_empty() && read("()").whole().is_err() && read("()").sizes().is_empty());
}

#[test]
fn scales_say_what_they_are_for() {
    let weights = read("f4e2m1fn[4,64] with f8e4m3fn per 16 with f32 per tensor");
    let roles: Vec<&Role> = weights.planes().iter().map(|plane| plane.role()).collect();
    assert_eq!(roles, [&Role::Values, &Role::Scales { per: vec![1, 16] }, &Role::Scales { per: vec![4, 64] }]);
    for (text, said) in [
        ("f4e2m1fn[4,64] with f8e4m3fn", "expected the layout of scales, ` per ` and a number of values"),
        (
            "f4e2m1fn[4,64] with f8e4m3fn per x",
            "expected a number such as 32, [1,32], `tensor`, `channel`, `token` or `row`",
        ),
        ("f4e2m1fn[4,64] with f8e4m3fn per 0", "the block of a scale is 0"),
        ("f4e2m1fn[4,64] with f8e4m3fn[4,5] per 16", "axis 1 has size 5, but size 4 was expected"),
        ("f4e2m1fn[4,64] with f8e4m3fn[4] per 16", "the values have 2 axes, and the scales or their block 1"),
        ("f4e2m1fn[4,64] with f8e4m3fn per [16]", "the values have 2 axes, and the scales or their block 1"),
        ("q4_0[4,64] with f8e4m3fn per 16", "has its scales in its blocks"),
        ("(f32[2]{0}) with f8e4m3fn per 16", "(f32[2]{0}) is a tuple"),
        ("f32[2]{0} with (f32[2]{0}) per 1", "(f32[2]{0}) is a tuple"),
        ("(f32[2]{0}", "expected"),
    ] {
        let error = text.parse::<Layout>().unwrap_err().to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
}
