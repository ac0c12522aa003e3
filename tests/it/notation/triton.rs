//! Triton's layouts of shared memory beside what Triton answers: each text with the index that each bit of an
//! offset sets.

use crate::read::map;
use serde_json::Value;
use tensor_layout_text::Layout;

/// Some indices and their offsets, literally: those of each bit, and of every so many offsets.
fn offsets(bases: &[Vec<u64>], padding: &[(u64, u64)]) -> impl Iterator<Item = (Vec<u64>, u64)> {
    let is_padding = |bit: usize| bases[bit].iter().all(|&value| value == 0);
    let all = 1_u64 << bases.len();
    let some = (0..all).step_by(all.div_ceil(1024) as usize | 1).chain((0..bases.len()).map(|bit| 1 << bit));
    let used = some.filter(move |offset| (0..bases.len()).all(|bit| offset >> bit & 1 == 0 || !is_padding(bit)));
    used.map(|offset| {
        let mut index = vec![0; bases[0].len()];
        for (_, basis) in bases.iter().enumerate().filter(|(bit, _)| offset >> bit & 1 == 1) {
            index.iter_mut().zip(basis).for_each(|(index, value)| *index ^= value);
        }
        (index, offset + padding.iter().map(|(interval, pad)| offset / interval * pad).sum::<u64>())
    })
}

#[test]
fn recorded_encodings_of_shared_memory() {
    let (mut met, mut refused) = (0, 0);
    for line in include_str!("../../data/triton_shared.tsv").lines().filter(|line| !line.starts_with('#')) {
        let [text, bases, padding, gluon] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let list = |list: &str| list.split(',').map(|number| number.parse().unwrap()).collect::<Vec<u64>>();
        let bases: Vec<Vec<u64>> = bases.split(';').map(list).collect();
        let pair = |pair: &str| pair.split_once(':').map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap())).unwrap();
        let padding: Vec<(u64, u64)> = padding.split(',').filter(|pair| !pair.is_empty()).map(pair).collect();
        if text.contains("transposed = true") && bases[0].len() > 2 {
            let error = text.parse::<Layout>().unwrap_err();
            assert!(error.to_string().contains("write shared_linear"), "{error}");
            refused += 1;
            continue;
        }
        let map = map(text);
        for (index, offset) in offsets(&bases, &padding) {
            assert_eq!(map.offset(&index), Ok(offset), "{text} at {index:?}");
            assert_eq!(map.inverse(offset).unwrap(), Some(index), "{text}");
        }
        let layout: Layout = format!("{}{:?} {gluon}", map.data_type(), map.sizes()).parse().unwrap();
        assert_eq!(layout.whole().unwrap(), &map, "{gluon}");
        // The canonical text is read back.
        let layout: Layout = text.parse().unwrap();
        assert_eq!(self::map(&layout.to_string()).same_places(&map), Ok(true), "{layout}");
        met += 1;
    }
    assert_eq!((met, refused), (221, 12));
}

#[test]
fn recorded_buffers_of_a_pipeline() {
    let lines = include_str!("../../data/triton_buffers.tsv").lines().filter(|line| !line.starts_with('#'));
    let mut met = 0;
    for (text, bytes) in lines.filter_map(|line| line.split_once('\t')) {
        let (head, tail) = text.split_once('x').unwrap();
        let (buffers, one) = (head.trim_start_matches("!ttg.memdesc<"), map(&format!("!ttg.memdesc<{tail}")));
        let (all, distance) = (map(text), bytes.parse::<u64>().unwrap() / 2);
        let buffers: u64 = buffers.parse().unwrap();
        assert_eq!(all.sizes(), [&[buffers], one.sizes()].concat(), "{text}");
        assert_eq!(all.physical_size_in_bytes(), buffers * distance * 2, "{text}");
        for number in 0..buffers {
            for index in [[0, 0], [1, 9], [5, 33], [63, 63]] {
                let [row, column] = index;
                let offset = one.offset(&index).unwrap() + number * distance;
                assert_eq!(all.offset(&[number, row, column]), Ok(offset), "{text} at {number}, {index:?}");
            }
        }
        met += 1;
    }
    assert_eq!(met, 4);
    let padded = "f16[3,8,64] #ttg.padded_shared<[64:+8] {order = [1, 0], shape = [8, 64]}>";
    let error = padded.parse::<Layout>().unwrap_err().to_string();
    assert!(error.contains("write one buffer"), "{error}");
}

#[test]
fn recorded_padding() {
    let mut met = 0;
    for line in include_str!("../../data/swizzles.jsonl").lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        if record["kind"] != "padded" {
            continue;
        }
        let sizes = record["sizes"].to_string();
        let map = map(&format!("f16{sizes} {}", record["text"].as_str().unwrap()));
        for pair in record["offsets"].as_array().unwrap() {
            let index: Vec<u64> = pair[0].as_array().unwrap().iter().map(|i| i.as_u64().unwrap()).collect();
            assert_eq!(map.offset(&index).ok(), pair[1].as_u64(), "{record}");
        }
        // Triton allocates nothing behind the last element.
        assert_eq!(Some(map.physical_size_in_bytes()), record["allocated_bytes"].as_u64());
        met += 1;
    }
    assert_eq!(met, 7);
}

#[test]
fn texts_of_triton_that_are_read() {
    for (given, same) in [
        (
            "f16[16,32] #ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [1, 0]}>",
            "f16[16,32]:[32,1] xor<bytes 3-4 ^= 7-8>",
        ),
        (
            "!ttg.memdesc<8x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>, #smem>",
            "f16[8,64]:[64,1] xor<bytes 4-6 ^= 7-9>",
        ),
        ("f16[16,64] #ttg.padded_shared<[64:+8] {order = [1, 0], shape = [16, 64]}>", "f16[16,64]:[72,1]"),
        (
            "!ttg.memdesc<2x4xf16, #ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 2]]}, alignment = 16>, #ttg.shared_memory, mutable, 2x4>",
            "f16[2,4]:[4,1] xor<bytes 2 ^= 3>",
        ),
    ] {
        assert_eq!(map(given), map(same), "{given}");
    }
}

#[test]
fn texts_of_triton_that_are_refused() {
    const SHARED: &str = "#ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [1, 0]";
    for (given, sentence) in [
        ("f16[16,32] #ttg.blocked<{sizePerThread = [1, 8]}>".to_owned(), "registers of threads"),
        ("f16[16,32] #ttg.nvidia_mma<{versionMajor = 3}>".into(), "registers of threads"),
        ("!ttg.memdesc<16x32xf16, #shared, #smem>".into(), "an alias"),
        ("f16[128,64] #ttng.tensor_memory_encoding<blockM = 128>".into(), "rows and columns"),
        (format!("f16[16,32] {SHARED}, CGALayout = [[0, 1]]}}>"), "blocks of a cluster"),
        (format!("f16[16,33] {SHARED}}}>"), "33 is not"),
        (format!("f16[2,16,32,2] {SHARED}}}>"), "each of the 4 axes"),
        (format!("f16[16,32] {SHARED}, colour = 1}}>"), "one of the fields"),
        (format!("f16[16,32] {SHARED}}}"), "`>`"),
        (format!("!ttg.memdesc<16x32xf16, {SHARED}}}>, #ttg.shared_memory, mutable, 3x16x32>"), "a larger allocation"),
        (format!("!ttg.memdesc<16x32xf16, {SHARED}}}>, #ttg.global>"), "#ttg.shared_memory"),
        ("f16[16,32] #ttg.swizzled_shared<{vec = 3, perPhase = 2, maxPhase = 4, order = [1, 0]}>".into(), "`vec`"),
        (
            "f16[4,64] #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>".into(),
            "8 rows",
        ),
        (
            "f32[8,64] #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>".into(),
            "16 bits",
        ),
        ("f16[8,64] #ttg.padded_shared<[63:+8] {order = [1, 0], shape = [8, 64]}>".into(), "63 is not"),
        ("f16[8,64] #ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 8]}>".into(), "for sizes [64,8]"),
        ("f16[2,2] #ttg.padded_shared<[2:+1] {offset = [[0, 1], [1, 1]], block = []}>".into(), "behind flipped bits"),
        ("f16[2,4] #ttg.shared_linear<{offset = [[0, 1], [0, 2]]}, alignment = 16>".into(), "no basis reaches"),
        ("f16[2,4] #ttg.shared_linear<{offset = [[1, 1], [0, 2], [1, 0]]}, alignment = 16>".into(), "one new bit"),
        ("f16[2,4] #ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 3]]}, alignment = 16>".into(), "one new bit"),
        ("f16[2,4] #ttg.shared_linear<{offset = [[0, 4], [0, 2], [1, 0]]}, alignment = 16>".into(), "outside of [2,4]"),
        ("f16[2,4] #ttg.shared_linear<{offset = [[1]]}, alignment = 16>".into(), "a list of 2 numbers"),
    ] {
        let error = given.parse::<Layout>().unwrap_err().to_string();
        assert!(error.contains(sentence), "{given}: {error}");
    }
}
