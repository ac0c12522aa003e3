//! Texts of swizzled layouts: the suffix `xor<..>` behind any notation, and CuTe's composed layouts.

use crate::literal::pairs::flips;
use crate::literal::{cases, indices};
use crate::read::map;
use proptest::prelude::*;
use tensor_layout::IndexMap;
use tensor_layout::map::Swizzle;
use tensor_layout_text::{Layout, Notation, to_notation, to_text};

#[test]
fn texts_that_are_read_and_written() {
    for (given, canonical, cute) in [
        ("f16[8,64]:[64,1] xor<bytes 4-6 ^= 7-9>", None, "f16 S<3,4,3>b o 0 o (8,64):(64,1)"),
        (
            "f16[8,64]:[64,1] xor<elements 3-5 ^= 6-8>",
            Some("f16[8,64]:[64,1] xor<bytes 4-6 ^= 7-9>"),
            "f16 S<3,4,3>b o 0 o (8,64):(64,1)",
        ),
        ("f16[8,64]:[64,1]+512 xor<bytes 4-6 ^= 7-9>", None, "f16 S<3,4,3>b o 512 o (8,64):(64,1)"),
        ("s4[8,64]:[64,1] xor<elements 4 ^= 7>", None, "s4 S<1,4,3>e o 0 o (8,64):(64,1)"),
        ("u8[8,64]:[64,1] xor<bytes 4 ^= 7+8, 5 ^= 6>", None, ""),
    ] {
        let layout: Layout = given.parse().unwrap();
        assert_eq!(layout.to_string(), canonical.unwrap_or(given));
        let written = layout.to_notation(Notation::CuTe);
        assert_eq!(written.as_deref().unwrap_or_default(), cute, "{given}: {written:?}");
        if let Ok(written) = written {
            assert_eq!(map(&written), map(given), "{written}");
        }
        assert_eq!(layout.to_notation(Notation::Xla).unwrap_err().code(), "not_expressible");
    }
    // Behind other notations, and 8-bit types, for which both units say the same.
    for (given, same) in [
        ("f16[8,64]{1,0} xor<bytes 4-6 ^= 7-9>", "f16[8,64]:[64,1] xor<bytes 4-6 ^= 7-9>"),
        ("f16(8,64):(64,1) xor<bytes 4-6 ^= 7-9>", "f16[8,64]:[64,1] xor<bytes 4-6 ^= 7-9>"),
        (
            "torch.empty_strided((8,64), (64,1), dtype=torch.float16) xor<bytes 4-6 ^= 7-9>",
            "f16[8,64]:[64,1] xor<bytes 4-6 ^= 7-9>",
        ),
        ("s8 S<3,4,3> o 0 o (8,128):(128,1)", "s8[8,128]:[128,1] xor<bytes 4-6 ^= 7-9>"),
        ("f16 S<0,4,3> o 0 o (8,8):(8,1)", "f16[8,8]:[8,1]"),
        ("f16 S<3,4,3>e o 0 o (8,64):(64,1)", "f16[8,64]:[64,1] xor<elements 4-6 ^= 7-9>"),
        // CuTe in C++, tensor-layouts 0.3.2 (both forms), Mojo's layout.
        ("f16 Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)", "f16[8,64]:[64,1] xor<bytes 4-6 ^= 7-9>"),
        ("s8 Sw<3,4,3> o _0 o (_8,_128):(_128,_1)", "s8[8,128]:[128,1] xor<bytes 4-6 ^= 7-9>"),
        ("f16 Sw<3,3,3> o _0 o (_8,_64):(_64,_1)", "f16[8,64]:[64,1] xor<elements 3-5 ^= 6-8>"),
        // CuTe DSL: the swizzle of a pointer counts bytes.
        ("tensor<ptr<f16, smem, align<1024>, S<3,4,3>> o (8,64):(64,1)>", "f16[8,64]:[64,1] xor<bytes 4-6 ^= 7-9>"),
        ("!cute.memref<f16, smem, S<3,4,3>, \"(8,64):(64,1)\">", "f16[8,64]:[64,1] xor<bytes 4-6 ^= 7-9>"),
        (
            "raw_ptr(0x00007f0000000410: f16, smem, align<16>, S<3,4,3>) o (8,64):(64,1) =\n ( 2.2, ",
            "f16[8,64]:[64,1]+8 xor<bytes 4-6 ^= 7-9>",
        ),
        ("f16 (Swizzle(3, 3, 3)) o ((8, 64) : (64, 1))", "f16[8,64]:[64,1] xor<elements 3-5 ^= 6-8>"),
        ("f16 (Swizzle(3, 3, 3)) o {512} o ((8, 64) : (64, 1))", "f16[8,64]:[64,1]+512 xor<elements 3-5 ^= 6-8>"),
        (
            "f16 ComposedLayout(Swizzle(3, 3, 3), Layout(((8, 2), 64), ((64, 1024), 1)), offset=0)",
            "f16((8,2),64):((64,1024),1) xor<elements 3-5 ^= 6-8>",
        ),
        ("f16 Layout((8, 64), (64, 1))", "f16[8,64]:[64,1]"),
        ("f16 ((8, 64):(64, 1)) xor<elements 3-5 ^= 6-8>", "f16[8,64]:[64,1] xor<elements 3-5 ^= 6-8>"),
        ("f16[8,64]:[64,1] xor<bytes 4-5 ^= 7-8, 6 ^= 9>", "f16[8,64]:[64,1] xor<bytes 4-6 ^= 7-9>"),
    ] {
        assert_eq!(map(given), map(same), "{given}");
    }
    assert_eq!(map("f16[8,64]:[64,1] xor<bytes 4-6 ^= 7-9>").offset(&[1, 0]), Ok(72));
    assert_eq!(map("f16 S<3,4,3>e o 0 o (8,64):(64,1)").offset(&[1, 0]), Ok(64));
}

#[test]
fn recorded_compositions_of_cute() {
    let hashed = |map: &IndexMap| {
        let offsets = indices(map.sizes()).map(|index| map.offset(&index).unwrap());
        offsets
            .flat_map(u64::to_le_bytes)
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    };
    let mut met = 0;
    for line in include_str!("../../data/composed_layouts.tsv").lines().filter(|line| !line.starts_with('#')) {
        let [text, pairs, hash] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        // CuTe counts elements when it is asked for an offset.
        let map = map(&format!("f16 {}", text.replacen('>', ">e", 1)));
        for (index, offset) in pairs.split(' ').map(|pair| pair.split_once(':').unwrap()) {
            let index: Vec<u64> = index.split(',').map(|i| i.parse().unwrap()).collect();
            let offset: u64 = offset.parse().unwrap();
            assert_eq!(map.offset(&index), Ok(offset), "{text} at {index:?}");
            assert_eq!(map.inverse(offset).unwrap(), Some(index), "{text}");
        }
        assert_eq!(format!("{:016x}", hashed(&map)), hash, "{text}");
        met += 1;
    }
    assert_eq!(met, 1000);
}

#[test]
fn recorded_prints_of_cute() {
    let lines = include_str!("../../data/cute_prints.tsv").lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let [data_type, text, places] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let map = map(&format!("{data_type} {text}"));
        // CuTe counts a mode of several numbers from its first one, and so does the map.
        let offsets: Vec<String> = indices(map.sizes()).map(|index| map.offset(&index).unwrap().to_string()).collect();
        assert_eq!(offsets.join(" "), places, "{data_type} {text}");
    }
}

#[test]
fn texts_that_are_refused() {
    for (given, column, sentence) in [
        ("f16[8,64]:[64,1] xor<4-6 ^= 7-9>", 22, "`bytes` or `elements`"),
        ("f16[8,64]:[64,1] xor<bytes 4-6 ^= 7-8>", 28, "as many bits"),
        ("f16[8,64]:[64,1] xor<bytes 4-6 = 7-9>", 32, "`^=`"),
        ("f16[8,64]:[64,1] xor<bytes 6-4 ^= 7-9>", 29, "not below the first"),
        ("f16[8,64]:[64,1] xor<bytes 4 ^= 77>", 33, "a bit below 64"),
        ("f16[8,64]:[64,1] xor<bytes 4-6 ^= 7-9", 38, "`>`"),
        ("f16[8,64]:[64,1] xor<bytes 4-6 ^= 7-9> more", 40, "nothing more"),
        ("f16[8,64]:[64,1] xor<bytes 4-6 ^= 7-9> xor<bytes 4 ^= 7>", 40, "nothing more"),
        ("q4_0[4,64] xor<bytes 4 ^= 7>", 16, "a layout of one array"),
        ("ndarray(shape=(2,3), dtype=float32, strides=(-12,4)) xor<bytes 4 ^= 7>", 58, "runs forwards"),
        ("S<3,4,3>b o 0 o (8,64):(64,1)", 1, "a type in front"),
        ("f16 S<3,4>b o 0 o (8,64):(64,1)", 10, "`,`"),
        ("f16 S<3,4,3>x o 0 o (8,64):(64,1)", 13, "bits of bytes"),
        ("f16 S<3,4,3>b (8,64):(64,1)", 15, "an offset"),
        ("f16 S<3,4,3>b o 0 o (8,64):(-64,1)", 21, "strides of 0 or more"),
        ("f16 Sw<3,4,3> o smem_ptr[32b](unset) o (8,64):(64,1)", 26, "16, the bits of f16"),
        ("f16 S<3,4,3>e o smem_ptr o (8,64):(64,1)", 17, "an offset"),
        ("f16 Sw<3,4,3>_smem_ptr[16b](0x401) o (8,64):(64,1)", 23, "an address of whole elements"),
        ("f16 Sw<3,3,3> o M_0|(288&288) o (8,64):(64,1)", 29, "`)=`"),
        ("tensor<ptr<f16, smem, align<x>> o (8,64):(64,1)>", 29, "an alignment"),
        ("raw_ptr(0x7f01: f16, smem, S<3,4,3>) o (8,64):(64,1)", 22, "an address of whole elements"),
        ("raw_ptr(unset: f16, smem) o (8,64):(64,1)", 9, "an address"),
        ("tensor(raw_ptr(0x7f00: f16, smem) o (8,64):(64,1), junk", 50, "nothing more"),
        ("f16 (Swizzle(2, 1, -3)) o (64 : 1)", 20, "the bits, the lowest bit"),
        ("f16 ComposedLayout(Layout(4, 2), Layout((2, 2), (2, 1)), offset=0)", 20, "`Swizzle(`"),
        ("f16 ComposedLayout(Swizzle(3, 3, 3), Layout((8, 64), (64, 1)), base=0)", 64, "`offset=`"),
        ("(Swizzle(3, 3, 3)) o ((8, 64) : (64, 1))", 1, "a type in front"),
        ("f16 ((8, 64):(64, 1)", 21, "`)`"),
    ] {
        let error = given.parse::<Layout>().unwrap_err();
        assert_eq!(error.column(), Some(column), "{given}: {error}");
        assert!(error.to_string().contains(sentence), "{given}: {error}");
    }
    // CuTe prints no unit, and here the two differ: both texts are ready to paste.
    let error = "f16 S<3,4,3> o 0 o (8,64):(64,1)".parse::<Layout>().unwrap_err().to_string();
    for text in ["`f16 S<3,4,3>b o 0 o (8,64):(64,1)`", "`f16 S<3,4,3>e o 0 o (8,64):(64,1)`"] {
        assert!(error.contains(text), "{error}");
        text.trim_matches('`').parse::<Layout>().unwrap();
    }
    for (given, code) in [
        ("f16[8,64]:[64,1] xor<bytes 0 ^= 7>", "not_expressible"),
        ("f16[8,64]:[64,1] xor<bytes 7 ^= 4>", "swizzle_bit"),
        ("f6e2m3fn[8,64]:[64,1] xor<bytes 4 ^= 7>", "not_expressible"),
        ("f16 S<3,4,3>b o 8 o (8,64):(64,18446744073709551615)", "overflow"),
        ("f16 S<99,4,3>b o 0 o (8,64):(64,1)", "swizzle_bit"),
        ("tensor<ptr<f16, smem, S<3,4,3>> o S<3,4,3>e o 0 o (8,64):(64,1)>", "not_expressible"),
    ] {
        assert_eq!(given.parse::<Layout>().unwrap_err().code(), code, "{given}");
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn what_is_written_is_read_back(flips in flips(), rows in 1..40_u64, columns in 1..40_u64, pad in 0..9_u64, small: bool) {
        let plain = format!("{}[{rows},{columns}]:[{},1]", if small { "s4" } else { "f32" }, columns + pad);
        let swizzled = map(&plain).with_swizzle(&Swizzle::new(&flips).unwrap()).unwrap();
        let written = to_text(swizzled.clone()).unwrap();
        prop_assert!(map(&written).same_places(&swizzled).unwrap(), "{}", written);
        if let Ok(cute) = to_notation(swizzled.clone(), Notation::CuTe) {
            prop_assert!(map(&cute).same_places(&swizzled).unwrap(), "{}", cute);
        }
    }
}
