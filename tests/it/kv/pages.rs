//! Pages of several kinds of state: where their fields lie, against what engines document and against a
//! literal model, and the texts that are refused.

use tensor_layout::relayout::Settings;
use tensor_layout_text::Layout;
use tensor_layout_text::layout::{Role, copies};

fn read(text: &str) -> Layout {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn planes(text: &str) -> Vec<String> {
    read(text).planes().iter().map(ToString::to_string).collect()
}

/// Strides and places that engines say of their pages.
#[test]
fn pages_of_engines() {
    // vllm-ascend, the design of non-contiguous caches (issue of September 2026): a page is the bytes of the
    // convolution, those of the recurrence, and padding. The strides are (page / 2, C, 1) and
    // (page / 4, V * K, K, 1), and the second begins behind the first.
    assert_eq!(
        planes("kv page B=7 { conv: bf16[3,3072], ssm: f32[8,128,128] } to 557056"),
        ["bf16[7,3,3072]:[278528,3072,1]+0", "f32[7,8,128,128]:[139264,16384,128,1]+4608"]
    );
    // Qwen3.5 35B over 8 ranks, by the calculation of unified-cache-management 0.4: 12,288 and 262,144 bytes.
    let ascend = read("kv page B=2 { conv: bf16[3,2048], ssm: bf16[8,128,128] }");
    let pages = ascend.pages().unwrap();
    let bytes: Vec<u64> = pages.fields().iter().map(|field| field.bytes).collect();
    assert_eq!((bytes.as_slice(), pages.distance(), pages.padding()), (&[12_288, 262_144][..], 274_432, 0));
    // vLLM 0.33.0, NVFP4: data and then scales of K, then both of V. K and V are 2304 bytes apart with 2
    // heads of 128 and 16 tokens, and the tokens of the data 64 bytes.
    let nvfp4 = "kv page B=7 { k: f4e2m1fn[2,16,128], ks: f8e4m3fn[2,16,8], v: f4e2m1fn[2,16,128], vs: f8e4m3fn[2,16,8] } to 4608";
    let layout = read(nvfp4);
    let byte = |name: &str, index: &[u64]| {
        let plane = layout.component(name).unwrap();
        plane.place(index).unwrap().offset * u64::from(plane.parts()[0].map.element_bits()) / 8
    };
    assert_eq!((byte("k", &[1, 0, 0, 0]), byte("v", &[1, 0, 0, 0]) - byte("k", &[1, 0, 0, 0])), (4608, 2304));
    assert_eq!((byte("k", &[0, 0, 1, 0]), byte("ks", &[0, 0, 1, 0]), byte("ks", &[0, 0, 0, 0])), (64, 2056, 2048));
    assert_eq!(layout.size_in_bytes(), Ok(7 * 4608));
}

/// Every element of some pages is where a model of nested rows has it, also in the pages of a table.
#[test]
fn elements_are_where_a_model_has_them() {
    type Field = (&'static str, &'static [u64], u64, u64);
    // The fields: type, sizes, bits of an element, byte of the page.
    let fields: [(&str, Field); 4] = [
        ("a", ("u8", &[3], 8, 0)),
        ("b", ("f32", &[2, 3], 32, 4)),
        ("c", ("u3", &[8, 2], 3, 30)),
        ("d", ("bf16", &[5], 16, 40)),
    ];
    for (blocks, numbers, total) in
        [("B=3", vec![0, 1, 2], 3), ("B=1:3/4", vec![1, 2], 4), ("B=[4,0,1,3]/5", vec![4, 0, 1, 3], 5)]
    {
        let text = format!("kv page {blocks} {{ a: u8[3], b: f32[2,3], c: u3[8,2] at 30, d: bf16[5] at 40 }} to 60");
        let layout = read(&text);
        assert_eq!(layout.size_in_bytes(), Ok(total * 60), "{text}");
        for (name, (data_type, sizes, bits, at)) in fields {
            let plane = layout.component(name).unwrap();
            assert_eq!(plane.type_name(), data_type);
            assert_eq!(plane.role(), &Role::Field { name: name.to_owned() });
            let count: u64 = sizes.iter().product();
            for (place, page) in numbers.iter().enumerate() {
                for number in 0..count {
                    let last = sizes[sizes.len() - 1];
                    let mut index = vec![place as u64];
                    index.extend((sizes.len() == 2).then_some(number / last));
                    index.push(number % last);
                    let bit = (page * 60 + at) * 8 + number * bits;
                    assert_eq!(plane.place(&index).unwrap().offset * bits, bit, "{text}: {name} at {index:?}");
                    assert_eq!(plane.index_at(bit / bits).unwrap(), Some(index), "{text}: {name}");
                }
            }
            assert_eq!(plane.index_at((59 * 8) / bits).unwrap_or(None), None, "padding of {text}");
        }
    }
}

#[test]
fn texts_of_pages() {
    let cases = [
        ("kv page B=4 { a: u8[3], b: f32[2] }", "kv page B=4 { a: u8[3], b: f32[2] } to 12"),
        ("kv  page  B=4{a:u8[3],b:f32[2]}to 12", "kv page B=4 { a: u8[3], b: f32[2] } to 12"),
        ("kv page B=4 { a: u8[3] at 0, b: f32[2] at 4 } to 16", "kv page B=4 { a: u8[3], b: f32[2] } to 16"),
        ("kv page B=4 { a: u8[3] at 1, b: f32[2] at 8 } to 16", "kv page B=4 { a: u8[3] at 1, b: f32[2] at 8 } to 16"),
        ("kv page B=2 { a: u3[8], b: u6[4], c: f32[1] }", "kv page B=2 { a: u3[8], b: u6[4], c: f32[1] } to 12"),
        ("kv page B=0 { a: u8[0] }", "kv page B=0 { a: u8[0] } to 1"),
        ("kv page B=[3,0]/8 { s: f32[] } to 4", "kv page B=[3,0]/8 { s: f32[] } to 4"),
    ];
    for (text, canonical) in cases {
        assert_eq!(read(text).to_string(), canonical);
        assert_eq!(read(canonical), read(text));
        // A field alone is a layout, which says where it is.
        for plane in read(text).planes() {
            let (alone, zeros) = (read(&plane.to_string()), vec![0; plane.sizes().len()]);
            assert_eq!(alone.values().sizes(), plane.sizes(), "{text}");
            assert_eq!(alone.values().place(&zeros).ok(), plane.place(&zeros).ok(), "{text}");
        }
    }
    let refused = [
        ("kv page", 8, "a size such as L=32"),
        ("kv pages B=4 { a: u8[3] }", 4, "`page`"),
        ("kv page N=4 { a: u8[3] }", 9, "the number of pages"),
        ("kv page B=4@64 { a: u8[3] }", 9, "the number of pages"),
        ("kv page B=4", 12, "`{` and the fields"),
        ("kv page B=4 { a u8[3] }", 17, "`:` and the type"),
        ("kv page B=4 { a: u8[3], a: u8[3] }", 25, "each once"),
        ("kv page B=4 { a: f33[3] }", 18, "a data type"),
        ("kv page B=4 { a: f32[3] at 2 }", 28, "a multiple of the bytes of an element"),
        ("kv page B=4 { a: f32[3], b: u8[1] at 11 }", 38, "at least 12, where the field before it ends"),
        ("kv page B=4 { a: f32[3] } to 11", 30, "at least 12, the bytes that the fields of a page take, found `11`"),
        ("kv page B=4 { a: f32[3] } to 13", 30, "a multiple of the bytes of a's elements"),
        ("kv page B=4 { a: f32[3] } from 12", 27, "`to` and the distance"),
        ("kv page B=4 { a: f32[3] } to 12 x", 33, "nothing more"),
    ];
    for (text, column, expected) in refused {
        let error = text.parse::<Layout>().unwrap_err();
        assert_eq!((error.code(), error.column()), ("parse", Some(column)), "{text}: {error}");
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
    let others = [
        ("kv page B=4 { }", "not_expressible"),
        ("kv page B=4 { a: u8[3] } with f32 per 3", "not_expressible"),
        ("kv page B=[8]/8 { a: u8[3] }", "index_out_of_range"),
        ("kv page B=3:9/8 { a: u8[3] }", "index_out_of_range"),
        ("kv page B=18446744073709551615 { a: u8[3] }", "overflow"),
        ("kv page B=4 { a: u8[3] at 18446744073709551615 }", "overflow"),
        ("kv page B=1 { a: u8[4294967296,2147483648], b: u8[4294967296,2147483648], c: u8[1] }", "overflow"),
    ];
    for (text, code) in others {
        assert_eq!(text.parse::<Layout>().unwrap_err().code(), code, "{text}");
    }
}

/// Fields are copied by their names, and pages by their number.
#[test]
fn pages_are_copied() {
    let run = |from: &str, to: &str, source: &[u8]| {
        let to = read(to);
        let mut bytes = vec![0; to.size_in_bytes().unwrap() as usize];
        copies(&read(from), &to, &Settings::default()).unwrap().run(source, &mut bytes).unwrap();
        bytes
    };
    let source: Vec<u8> = (0..48).collect();
    let small = "kv page B=[2,0]/3 { a: u8[3], b: u16[2] } to 16";
    // Page 2 begins at byte 32: a is 32..35 and b is 36..40.
    assert_eq!(
        run(small, "kv page B=2 { a: u8[3], b: u16[2] }", &source),
        [32, 33, 34, 0, 36, 37, 38, 39, 0, 1, 2, 0, 4, 5, 6, 7]
    );
    assert_eq!(
        run(small, "kv page B=[1,0]/2 { b: u16[2], a: u8[3] } to 8", &source),
        [4, 5, 6, 7, 0, 1, 2, 0, 36, 37, 38, 39, 32, 33, 34, 0]
    );
    let refusal = |from: &str, to: &str| copies(&read(from), &read(to), &Settings::default()).unwrap_err();
    let error = refusal(small, "kv page B=2 { a: u8[3], c: u16[2] }");
    assert!(error.to_string().contains("one side has the planes a, b, and the other a, c"), "{error}");
    assert_eq!(refusal(small, "kv page B=[1,1]/2 { a: u8[3], b: u16[2] }").code(), "overlapping_destination");
    assert_eq!(refusal(small, "kv page B=3 { a: u8[3], b: u16[2] }").code(), "size_mismatch");
    assert!(refusal(small, "u8[2,3]:[3,1]").to_string().contains("the other none with a name"));
}

/// Whether a pool is padded, and whose blocks it has.
#[test]
fn pages_and_blocks_of_caches() {
    // The text, bytes from page to page and bytes stored, tokens of the manager's and of the kernel's block.
    type Facts = (Option<(u64, u64)>, Option<(u64, u64)>);
    let cases: [(&str, Facts); 7] = [
        ("kv:BNHC:u8[B=4,H=1,N=64,C=584,page=37440]", (Some((37_440, 37_376)), Some((64, 64)))),
        ("kv:LBNHC:bf16[L=2,B=4,H=2,N=128,C=256,kernel=16]", (Some((131_072, 131_072)), Some((128, 16)))),
        ("kv:BLNHC:bf16[L=3,B=4,H=2,N=4,C=8,page=256]", (Some((256, 128)), Some((4, 4)))),
        ("kv:LBNHC:bf16[L=2,B=4@300,H=2,N=4,C=8]", (Some((300, 128)), Some((4, 4)))),
        ("kv:BHL2ND:bf16[L=2,B=4,H=2,N=4,D=8]", (None, Some((4, 4)))),
        ("kv:BHLNC:bf16[L=2,B=4,H=1,N=4,C=8]", (Some((64, 64)), Some((4, 4)))),
        ("kv:HL2ND:bf16[L=1,H=2,N=4,D=8]", (None, None)),
    ];
    for (text, facts) in cases {
        let cache = read(text).cache().unwrap_or_else(|| panic!("{text}")).clone();
        assert_eq!((cache.page_bytes(), cache.block_tokens()), facts, "{text}");
    }
    assert!(read("u8[4,4]:[4,1]").cache().is_none() && read("kv page B=1 { a: u8[1] }").cache().is_none());
}
