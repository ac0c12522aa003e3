//! Tensors of caches are recognised as a list of what they may be: what LMCache 0.5.6 read wrongly without a
//! word is never answered with one wrong cache.

use serde_json::Value;
use tensor_layout::BufferTensorDesc;
use tensor_layout::ToIndexMap;
use tensor_layout_text::kv::{Recognised, orders, recognise};

use super::recorded::{answers, number};
use super::{cache, map};

fn found(tensor: &str, known: &[(&str, u64)]) -> Recognised {
    recognise(&tensor.parse::<BufferTensorDesc>().unwrap(), known).unwrap()
}

fn texts(tensor: &str, known: &[(&str, u64)]) -> Vec<String> {
    found(tensor, known).caches.iter().map(ToString::to_string).collect()
}

fn list(value: &Value) -> String {
    let numbers: Vec<String> = value.as_array().unwrap().iter().map(Value::to_string).collect();
    numbers.join(",")
}

/// The true order of each recorded tensor, by the words with which the case begins.
fn truth(case: &str) -> &'static str {
    let orders = [
        ("kv-first HND", "2BHND"),
        ("kv-first", "2BNHD"),
        ("blocks-first", "B2NHD"),
        ("fused HND", "BHNC"),
        ("fused one head, HND", "BHNC"),
        ("fused", "BNHC"),
        ("BLHNC, a layer", "BHNC"),
        ("BLNHC, a layer", "BNHC"),
        ("BHLNC, a layer", "BHLNC"),
        ("LHBNC", "HBNC"),
        ("LBNHC", "BNHC"),
        ("block padded", "BNHC"),
        ("last token", "BNHC"),
        ("MLA latent", "BNC"),
        ("fp8 indexer", "BNC"),
        ("all layers in one tensor, HND", "BL2HND"),
        ("all layers", "BL2NHD"),
        ("K and V tensors", "BNHD"),
        ("SGLang", "BNHD"),
        ("TensorRT-LLM pool of MLA", "BLNHC"),
        ("TensorRT-LLM", "BL2HND"),
    ];
    orders.iter().find(|(words, _)| case.starts_with(words)).unwrap_or_else(|| panic!("{case}")).1
}

#[test]
fn every_recorded_tensor_has_its_true_order_in_the_list() {
    let answers = answers("lmcache");
    assert_eq!(answers.len(), 33);
    let (mut wrong, mut refused) = (0, 0);
    for answer in answers {
        let (case, sizes) = (answer["case"].as_str().unwrap(), &answer["sizes"]);
        let tensor = format!(
            "f{}[{}]:[{}]",
            8 * number(&answer["bytes_per_element"]),
            list(&answer["given_shape"]),
            list(&answer["given_strides"])
        );
        let tensor = tensor.replace("f8", "u8");
        if case.starts_with("token row") || case.starts_with("head axis") {
            assert_eq!(texts(&tensor, &[]), [""; 0], "{case}: a gap inside a page");
            refused += 1;
            continue;
        }
        let order = truth(case);
        // What the engine that wrote the cache knows: its heads, tokens, blocks and layers.
        let size = |axis: &str| number(&sizes[axis]);
        let content = if order.ends_with('C') { ("C", size("D")) } else { ("D", size("D")) };
        let known = [("L", size("L")), ("B", size("B")), ("H", size("H")), ("N", size("N")), content];
        let caches = found(&tensor, &known);
        let of_truth: Vec<_> = caches.caches.iter().filter(|cache| cache.order() == order).collect();
        assert!(!of_truth.is_empty(), "{case}: {tensor} {:?}", caches.caches);
        if answer["right"] == Value::Bool(true) {
            let last: Vec<u64> = map(&of_truth[0].to_string()).sizes().iter().map(|size| size - 1).collect();
            let offset =
                of_truth[0].to_index_map().unwrap().offset(&last).unwrap() * number(&answer["bytes_per_element"]);
            assert_eq!(offset, number(&answer["offset_bytes"]), "{case}: the last element");
        } else if answer["right"] == Value::Bool(false) {
            // What was read wrongly: with nothing known, the truth is one of several.
            let all = found(&tensor, &[("N", size("N")), ("H", size("H")), content]);
            let alone = all.caches.len() == 1;
            assert!(
                all.caches.iter().any(|cache| cache.order() == order) && (alone || !all.apart.is_empty()),
                "{case}: {all:?}"
            );
            wrong += 1;
        }
    }
    assert_eq!((wrong, refused), (9, 2));
}

#[test]
fn what_engines_guess_is_a_list_here() {
    // Blocks in front, of 2 blocks: K and V or the blocks. No size tells them apart, only the data.
    let known = [("H", 3), ("N", 4), ("D", 6), ("B", 2)];
    let two = found("bf16[2,2,4,3,6]:[144,72,18,6,1]", &known);
    let orders: Vec<&str> = two.caches.iter().map(|cache| cache.order()).collect();
    assert_eq!(orders, ["2BNHD", "B2NHD"]);
    assert_eq!(two.apart, ["B=0,H=0,N=0,C=6 is at element 144 in 2BNHD and 72 in B2NHD"]);
    // Heads and tokens: either.
    assert_eq!(texts("bf16[5,4,3,12]:[144,36,12,1]", &[("B", 5), ("C", 12)]).len(), 2);
    assert_eq!(found("bf16[5,4,3,12]:[144,36,12,1]", &[("B", 5), ("C", 12)]).apart, ["H is 3 or 4", "N is 3 or 4"]);
    assert_eq!(
        texts("bf16[5,4,3,12]:[144,36,12,1]", &[("H", 3), ("B", 5), ("C", 12)]),
        ["kv:BNHC:bf16[B=5,H=3,N=4,C=12]"]
    );
    // A layer of LHBNC: its heads are outside the blocks.
    let layer = texts("bf16[5,3,4,12]:[48,240,12,1]", &[("H", 3), ("B", 5), ("C", 12)]);
    assert_eq!(layer, ["kv:HBNC:bf16[B=5,H=3,N=4,C=12]"]);
    // A layer of BHLNC has a gap where the other layers are; a padded page is told by the size of the buffer.
    assert_eq!(
        texts("bf16[5,3,4,12]:[288,96,12,1]", &[("H", 3), ("C", 12)]),
        ["kv:BHLNC:bf16[L=0:1/2,B=5,H=3,N=4,C=12]"]
    );
    assert_eq!(
        texts("bf16[5,3,4,12]:[152,48,12,1]", &[("H", 3), ("N", 4), ("C", 12)]),
        ["kv:BHNC:bf16[B=5@304,H=3,N=4,C=12]"]
    );
    assert_eq!(
        texts("bf16[5,3,4,12]:[152,48,12,1]", &[("H", 3), ("N", 4), ("C", 12), ("bytes", 1520)]),
        ["kv:BHNC:bf16[B=5,H=3,N=4,C=12,page=304]"]
    );
    // One axis of all tokens, and one of a whole page.
    assert_eq!(texts("bf16[20,3,6]:[18,6,1]", &[("N", 4), ("D", 6), ("H", 3)]), ["kv:BNHD:bf16[B=5,H=3,N=4,D=6]"]);
    let page = texts("bf16[5,2,2,72]:[288,144,72,1]", &[("H", 3), ("N", 4), ("D", 6), ("B", 5)]);
    assert_eq!(page, ["kv:BL2NHD:bf16[L=2,B=5,H=3,N=4,D=6]", "kv:BL2HND:bf16[L=2,B=5,H=3,N=4,D=6]"]);
    let tiles = "f32[3,5]{1,0:T(2,2)}".parse::<tensor_layout::ArrayShape>().unwrap();
    assert_eq!(recognise(&tiles, &[]).unwrap_err().code(), "not_expressible");
}

#[test]
fn caches_are_recognised_as_themselves() {
    for (text, content) in [
        ("kv:LBNHC:bf16[L=2,B=7,H=3,N=5,C=10]", ("C", 10)),
        ("kv:LHBNC:bf16[L=2,B=7,H=3,N=5,C=10]", ("C", 10)),
        ("kv:HL2ND:f32[L=3,H=5,N=4,D=6]", ("D", 6)),
    ] {
        let axes = cache(text).axes().replace('C', "");
        let axes: Vec<&str> = axes.split_inclusive(|_| true).collect();
        let sizes = map(text).sizes().to_vec();
        let mut known: Vec<(&str, u64)> = axes.into_iter().zip(sizes).collect();
        known.push(content);
        let found = recognise(&cache(text), &known).unwrap();
        assert!(found.caches.iter().any(|other| other.to_string() == text), "{text}: {found:?}");
    }
}

/// Every order of the table is recognised from its own strides, also with blocks and as K alone.
#[test]
fn every_row_is_recognised() {
    for row in orders().iter().filter(|row| !row.letters.starts_with('-')) {
        let bits = row.bits.split(' ').next().unwrap().parse().unwrap_or(16);
        let sizes = [("L", 2), ("B", 7), ("H", 8), ("N", 32), ("D", 128), ("C", 256)];
        let has = |name: &str| row.letters.contains(name);
        let known: Vec<(&str, u64)> = sizes.into_iter().filter(|size| has(size.0)).collect();
        let fields: Vec<String> = known.iter().map(|(name, size)| format!("{name}={size}")).collect();
        let text = format!("kv:{}:u{bits}[{}]", row.name, fields.join(","));
        let found = recognise(&cache(&text), &known).unwrap();
        assert!(found.caches.iter().any(|found| found.order() == row.letters), "{text}: {found:?}");
    }
}

#[test]
fn tensors_of_engines_have_their_own_order() {
    let first = |tensor: &str, known: &[(&str, u64)]| texts(tensor, known);
    // SGLang's K buffer with SGLANG_USE_HND_KVCACHE, and Transformers' StaticCache.
    let hnd = first("bf16[26,8,4,128]:[4096,512,128,1]", &[("H", 8), ("N", 4), ("D", 128), ("B", 26)]);
    assert_eq!(hnd, ["kv:BHND:bf16[B=26,H=8,N=4,D=128]"]);
    let all = first("bf16[26,8,4,128]:[4096,512,128,1]", &[("H", 8), ("N", 4), ("D", 128)]);
    assert!(all.contains(&hnd[0]), "{all:?}");
    let fixed = first("bf16[1,8,512,64]:[262144,32768,64,1]", &[("H", 8), ("D", 64), ("N", 512), ("B", 1)]);
    assert!(fixed.contains(&"kv:BHND:bf16[B=1,H=8,N=512,D=64]".to_owned()), "{fixed:?}");
    // Pools of SGLang's host.
    let pool =
        first("bf16[2,16,3,4,8,128]:[196608,12288,4096,1024,128,1]", &[("L", 3), ("N", 4), ("H", 8), ("D", 128)]);
    assert!(pool.contains(&"kv:2BLNHD:bf16[L=3,B=16,H=8,N=4,D=128]".to_owned()), "{pool:?}");
    let slots = first(
        "bf16[16,4,3,2,8,128]:[24576,6144,2048,1024,128,1]",
        &[("B", 16), ("N", 4), ("L", 3), ("H", 8), ("D", 128)],
    );
    assert_eq!(slots.iter().filter(|text| text.starts_with("kv:BNL2HD:")).count(), 1, "{slots:?}");
    // The half of the content that an attention back end of vLLM holds.
    for known in [
        &[("B", 7), ("H", 8), ("N", 16), ("D", 128)][..],
        &[("B", 7), ("H", 8), ("N", 16), ("C", 256)],
        &[("H", 8), ("N", 16)],
    ] {
        let half = first("bf16[7,8,16,128]:[32768,256,2048,1]", known);
        assert!(half.contains(&"kv:BNHC:bf16[B=7,H=8,N=16,C=0:128/256]".to_owned()), "{known:?}: {half:?}");
    }
    assert_eq!(first("bf16[7,8,16,128]:[32768,256,2048,1]", &[("H", 8), ("C", 64)]), [""; 0]);
    // ROCm's LHBNC: H = 2 is K and V.
    let rocm = first("bf16[7,2,16,1024]:[32768,16384,1024,1]", &[("B", 7), ("N", 16), ("H", 8), ("D", 128)]);
    assert!(rocm.contains(&"kv:B2NHD:bf16[B=7,H=8,N=16,D=128]".to_owned()), "{rocm:?}");
    // A head group that is cut around the layers, and a block without its axis.
    assert_eq!(
        map("kv:BHL2N4hD:f32[B=3,H=8,L=2,N=5,D=6]").offset(&[1, 1, 5, 3, 7]).unwrap(),
        960 + 480 + 240 + 120 + 72 + 6 + 1
    );
    for refused in ["kv:BNC16h:f32[B=3,N=5,C=6]", "kv:4hBHND:f32[B=3,H=8,N=5,D=6]"] {
        assert!(refused.parse::<tensor_layout_text::Layout>().is_err(), "{refused}");
    }
    assert_eq!(cache("kv:vllm.HND:bf16[L=1,B=2,H=3,N=4,C=10]").order(), "LBHNC");
}
