//! Recipes: the language, what it refuses, and the files that it writes.

use std::sync::Arc;

use serde_json::{Map, json};
use tensor_layout_files::recipe::{Recipe, Settings, Target};
use tensor_layout_files::{File, Writer, open, read};
use tensor_layout_text::Layout;

/// A model in memory: the name, the type, the sizes and the bytes of each tensor.
pub(crate) fn model(tensors: &[(&str, &str, &[u64], Vec<u8>)]) -> File {
    let (mut header, mut data) = (Map::new(), Vec::<u8>::new());
    for (name, dtype, sizes, bytes) in tensors {
        let start = data.len();
        data.extend(bytes);
        header
            .insert((*name).to_owned(), json!({ "dtype": dtype, "shape": sizes, "data_offsets": [start, data.len()] }));
    }
    let header = json!(header).to_string();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(data);
    read("memory.safetensors", file).unwrap()
}

fn bytes(count: usize, from: u8) -> Vec<u8> {
    (0..count).map(|place| from.wrapping_add(place as u8)).collect()
}

/// A tensor of numbered bytes.
fn numbered<'n>(name: &'n str, sizes: &'n [u64], from: u8) -> (&'n str, &'static str, &'n [u64], Vec<u8>) {
    (name, "U8", sizes, bytes(sizes.iter().product::<u64>() as usize, from))
}

/// The name, the layout and the bytes of every output.
pub(crate) fn cooked(file: &File, text: &str, settings: &Settings) -> Vec<(String, String, Vec<u8>)> {
    let plan = Recipe::parse(text).unwrap().plan(file, settings).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let run = |output: &tensor_layout_files::recipe::Output| {
        let mut memory = vec![0xee; output.size_in_bytes() as usize];
        plan.run(output, &mut memory, 2).unwrap();
        (output.name().to_owned(), output.layout().to_string(), memory)
    };
    plan.outputs().iter().map(run).collect()
}

fn layers() -> File {
    let mut tensors = Vec::new();
    let names: Vec<String> = (0..2)
        .flat_map(|layer| ["q", "k", "v"].map(|part| format!("model.layers.{layer}.attn.{part}_proj.weight")))
        .collect();
    for (place, name) in names.iter().enumerate() {
        tensors.push(numbered(name, &[2, 3], 10 * place as u8));
    }
    tensors.push(numbered("model.layers.1.attn.q_proj.bias", &[2], 100));
    tensors.push(numbered("model.layers.1.attn.k_proj.bias", &[2], 110));
    tensors.push(numbered("lm_head", &[4, 2], 120));
    model(&tensors)
}

#[test]
fn a_line_is_made_for_each_number_and_equal_forms_share_one_plan() {
    let file = layers();
    let text = "\
# Attention, a rank of two
layers.{i}.qk   = cat 0 (model.layers.{i}.attn.{q,k}_proj.weight # two of three
                          | shard 1) | permute 1,0
layers.{i}.bias ?= cat 0 (model.layers.{i}.attn.{q,k}_proj.bias)
nothing ?= none | packed
embed = lm_head
head  = lm_head | slice :,1:
*     = * | packed";
    let found = cooked(&file, text, &Settings::of_rank(0, 2));
    let names: Vec<&str> = found.iter().map(|(name, ..)| name.as_str()).collect();
    let rest = ["model.layers.0.attn.v_proj.weight", "model.layers.1.attn.v_proj.weight"];
    assert_eq!(names, [["layers.0.qk", "layers.1.qk", "layers.1.bias", "embed", "head"].as_slice(), &rest].concat());
    assert_eq!((found[0].1.as_str(), &found[0].2[..]), ("u8[2,4]:[4,1]", &[0, 3, 10, 13, 1, 4, 11, 14][..]));
    assert_eq!(found[1].2, [30, 33, 40, 43, 31, 34, 41, 44]);
    assert_eq!((found[2].2.as_slice(), found[4].2.as_slice()), (&[100, 101, 110, 111][..], &[121, 123, 125, 127][..]));
    let plan = Recipe::parse(text).unwrap().plan(&file, &Settings::of_rank(0, 2)).unwrap();
    assert_eq!((plan.forms(), plan.warning(), plan.bytes()), (5, None, [44, 44]));
    let of = |place: usize| plan.outputs()[place].copies().next().unwrap();
    assert!(Arc::ptr_eq(&of(0).plan, &of(1).plan));
    assert!(
        plan.explain(&plan.outputs()[0]).contains("copy from byte 0 of model.layers.0.attn.k_proj.weight to byte 2")
    );
}

#[test]
fn words_turn_from_the_right_and_stacks_take_all_numbers() {
    let names: Vec<String> =
        (0..3).flat_map(|e| ["up", "gate"].map(|part| format!("experts.{e}.{part}"))).chain(["x y".into()]).collect();
    let tensors: Vec<_> =
        names.iter().enumerate().map(|(place, name)| numbered(name, &[1, 2], 2 * place as u8)).collect();
    let file = model(&tensors);
    let run = |text: &str| cooked(&file, text, &Settings::default()).remove(0);
    let (_, layout, stacked) = run("w13 = stack 0 over {e} (cat 0 (experts.{e}.{gate,up}))");
    assert_eq!((layout.as_str(), stacked), ("u8[3,2,2]:[4,2,1]", vec![2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9]));
    let (_, _, all) = run("all = cat 1 (experts.{2,0}.{up,gate} | slice :,:1, \"x y\")");
    assert_eq!(all, [8, 10, 0, 2, 12, 13]);
    let (name, _, turned) = run("\"a, b\" = cat 0 (experts.{0,1}.up | permute 1,0, \"x y\" | permute 1,0)");
    assert_eq!((name.as_str(), turned), ("a, b", vec![0, 1, 4, 5, 12, 13]));
}

/// `shard` gives the shares of `torch.chunk`, of `torch.tensor_split`, and of neighbouring ranks.
#[test]
fn a_rank_has_its_share_of_an_axis() {
    let file = model(&[numbered("w", &[7], 0)]);
    let share = |step: &str, rank, ranks| {
        cooked(&file, &format!("w = w | {step}"), &Settings::of_rank(rank, ranks)).remove(0).2
    };
    let all = |step: &str, ranks| (0..ranks).map(|rank| share(step, rank, ranks).len()).collect::<Vec<_>>();
    assert_eq!((all("shard 0", 3), all("shard 0 even", 3)), (vec![3, 3, 1], vec![3, 2, 2]));
    assert_eq!((all("shard 0", 5), all("shard 0 even", 9)), (vec![2, 2, 2, 1, 0], vec![1, 1, 1, 1, 1, 1, 1, 0, 0]));
    assert_eq!((all("shard 0/2", 4), share("shard 0/2", 3, 4)), (vec![4, 4, 3, 3], vec![4, 5, 6]));
    for rank in 0..5 {
        let shards = tensor_layout_transfers::Shards::of(&[7]).unwrap().split(0, 5).unwrap();
        assert_eq!(share("shard 0", rank, 5).len() as u64, shards.sizes(rank as usize)[0]);
    }
}

/// MXFP4 as a checkpoint of gpt-oss has it, as the blocks of GGUF, and back.
#[test]
fn words_are_read_as_blocks_and_back() {
    let blocks: Vec<u8> = (0..4 * 16).map(|byte| byte * 3).collect();
    let file = model(&[("w_blocks", "U8", &[2, 2, 16], blocks.clone()), numbered("w_scales", &[2, 2], 200)]);
    let text = "\
w = cat 2 (w_scales | reshape 2,2,1 | as u4, # the scale of a block is before its values
           w_blocks | as u4 | reshape 2,2,2,16 | permute 0,1,3,2 | reshape 2,2,32) | as mxfp4 | reshape 2,64";
    let (_, layout, found) = cooked(&file, text, &Settings::default()).remove(0);
    assert_eq!(layout, "mxfp4[2,64]:[34,17]");
    let mut expected = Vec::new();
    for (scale, block) in (200..204).zip(blocks.chunks(16)) {
        let value = |place: usize| (block[place / 2] >> (4 * (place % 2))) & 15;
        expected.push(scale);
        expected.extend((0..16).map(|byte| value(byte) | value(byte + 16) << 4));
    }
    assert_eq!(found, expected);

    let path = std::env::temp_dir().join(format!("recipe-{}-mxfp4.safetensors", std::process::id()));
    let layout: Layout = layout.parse().unwrap();
    Writer::create(&path).unwrap().tensor("w", &layout, &found).unwrap().finish().unwrap();
    let file = open(&path).unwrap();
    let back = "\
w_blocks = w | as u4 | reshape 2,2,34 | slice :,:,2: | reshape 2,2,16,2 | permute 0,1,3,2 | reshape 2,2,32 | as u8
w_scales = w | as u8 | reshape 2,2,17 | slice :,:,0 | reshape 2,2";
    let found = cooked(&file, back, &Settings::default());
    assert_eq!((found[0].2.as_slice(), found[1].2.as_slice()), (&blocks[..], &[200, 201, 202, 203][..]));
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn scales_follow_their_values() {
    let file = model(&[
        ("w", "F8_E4M3", &[4, 256], bytes(1024, 0)),
        ("s", "U8", &[4, 2], bytes(8, 100)),
        ("v", "F8_E4M3", &[2, 256], bytes(512, 7)),
        ("t", "U8", &[2, 2], bytes(4, 50)),
    ]);
    let (_, layout, found) = cooked(
        &file,
        "w = cat 0 (w with s per 128, v with t per 128) | slice 1:5,128: | permute 1,0",
        &Settings::default(),
    )
    .remove(0);
    assert_eq!(layout, "f8e4m3fn[128,4]:[4,1] with u8[1,4]:[4,1] per [128,1]");
    assert_eq!(found.len(), 516);
    assert_eq!((&found[..4], &found[512..]), (&[128, 128, 128, 135][..], &[103, 105, 107, 51][..]));
    let error = Recipe::parse("w = w with s per 128 | slice :,64:192").unwrap().plan(&file, &Settings::default());
    let sentence = error.unwrap_err().to_string();
    assert!(sentence.starts_with("line 1, column 24: `w`: "), "{sentence}");
    assert!(sentence.contains("128"), "{sentence}");
}

/// The rows of this kind in refusals.txt: a recipe, and the words that refuse it.
fn refusals(kind: &str) -> impl Iterator<Item = (String, &'static str)> {
    let rows = include_str!("refusals.txt").lines().skip(1).map(|row| row.split(" || ").collect::<Vec<_>>());
    rows.filter(move |row| row[0] == kind).map(|row| (row[1].replace("\\n", "\n"), row[2]))
}

#[test]
fn a_text_that_is_no_recipe_is_refused_at_its_place() {
    let deep = format!("a = {}b{}", "cat 0 (".repeat(33), ")".repeat(33));
    let many = format!("a = cat 0 ({})", "{a,b}".repeat(30));
    let long = "#".repeat((1 << 20) + 1);
    let cases = refusals("text").chain([
        (deep, "expected at most 32 parentheses inside each other"),
        (many, "line 1, column 12: the words stand for more than 16777216 bytes of names"),
        (long, "line 1, column 1: a recipe has at most 1048576 bytes, and this one has 1048577"),
    ]);
    for (text, expected) in cases {
        let sentence = Recipe::parse(&text).unwrap_err().to_string();
        assert!(sentence.contains(expected), "{}\n{sentence}\n{expected}", &text[..text.len().min(80)]);
    }
}

#[test]
fn a_recipe_that_does_not_fit_is_refused_with_its_names_and_sizes() {
    let mut tensors = vec![numbered("a", &[4, 6], 0), numbered("b", &[4, 5], 0), numbered("half", &[2], 0)];
    tensors.extend([numbered("e.0", &[1], 0), numbered("e.2", &[1], 0), numbered("l.0.x", &[1], 0)]);
    tensors.extend([numbered("l.1.x", &[1], 0), numbered("l.1.y", &[1], 0), numbered("l.01.z", &[1], 0)]);
    tensors.push(("f", "F32", &[6], bytes(24, 0)));
    let file = model(&tensors);
    for (text, expected) in refusals("model") {
        let error = Recipe::parse(&text).unwrap().plan(&file, &Settings::default()).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{text}\n{error}\n{expected}");
    }
    let shares = Recipe::parse("x = a | shard 0/3").unwrap().plan(&file, &Settings::of_rank(0, 4)).unwrap_err();
    assert_eq!(shares.to_string().split(": ").nth(2), Some("4 ranks cannot hold 3 shares"));
    assert_eq!(shares.code(), "shard_rank");
    let beyond = Recipe::parse("x = a").unwrap().plan(&file, &Settings::of_rank(4, 4)).unwrap_err();
    assert!(beyond.to_string().ends_with("there is no rank 4 of 4: ranks count from 0"));
    let error = Recipe::parse("x = cat 0 (a, b)").unwrap().plan(&file, &Settings::default()).unwrap_err();
    assert_eq!((error.code(), error.name()), ("size_mismatch", Some("x")));
    let rest = Recipe::parse("x = a").unwrap();
    let warning = rest.plan(&file, &Settings::default()).unwrap().warning();
    assert_eq!(warning.as_deref(), Some("no line of the recipe uses `b` (and 8 more)"));
}

/// The words of GPTQ hold values of four bits, which are cut like any others.
#[test]
fn words_are_read_by_the_name_of_their_layout() {
    let file = model(&[("w", "I32", &[2, 3], bytes(24, 0))]);
    let (_, layout, found) =
        cooked(&file, "w = w | as gptq.qweight_u4 | permute 1,0 | slice 1:,:", &Settings::default()).remove(0);
    assert_eq!(layout, "u4[2,16]:[16,1]");
    // The words of a column, each with the values of 8 rows.
    assert_eq!(found, [4, 5, 6, 7, 16, 17, 18, 19, 8, 9, 10, 11, 20, 21, 22, 23]);
}

/// Blocks are cut between blocks, and a cut inside one names it.
#[test]
fn blocks_are_cut_between_blocks() {
    let path = std::env::temp_dir().join(format!("recipe-{}-blocks.safetensors", std::process::id()));
    let (layout, held): (Layout, _) = ("q8_0[4,96]".parse().unwrap(), bytes(4 * 3 * 34, 0));
    Writer::create(&path).unwrap().tensor("w", &layout, &held).unwrap().finish().unwrap();
    let file = open(&path).unwrap();
    let (_, layout, found) = cooked(&file, "w = w | shard 1", &Settings::of_rank(1, 3)).remove(0);
    let expected: Vec<u8> = (0..4).flat_map(|row| held[row * 102 + 34..row * 102 + 68].to_vec()).collect();
    assert_eq!((layout.as_str(), found), ("q8_0[4,32]:[34,34]", expected));
    let (_, layout, found) = cooked(&file, "w = w | ggml.q8_0x4<8>", &Settings::default()).remove(0);
    assert_eq!(
        (layout.as_str(), &found[..10]),
        ("ggml.q8_0x4<8>:q8_0[4,96]", &[0, 1, 102, 103, 204, 205, 50, 51, 2, 3][..])
    );
    let error = Recipe::parse("w = w | shard 1").unwrap().plan(&file, &Settings::of_rank(0, 2)).unwrap_err();
    assert!(error.to_string().starts_with("line 1, column 9: `w`: "), "{error}");
    assert!(error.to_string().contains("32"), "{error}");
    std::fs::remove_file(&path).unwrap();
}

/// Written files are read with their layouts, in whole and in shares, at any alignment.
#[test]
fn outputs_are_written_in_whole_and_in_shares() {
    let file = layers();
    let folder = std::env::temp_dir().join(format!("recipe-{}-written", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let text = "layers.{i}.qkv = cat 0 (model.layers.{i}.attn.{q,k,v}_proj.weight) | T(4,2)\n* = *";
    let plan = Recipe::parse(text).unwrap().plan(&file, &Settings::default()).unwrap();
    let expected = cooked(&file, text, &Settings::default());
    let check = |found: &File| {
        for (name, layout, bytes) in &expected {
            let tensor = found.tensor(name).unwrap();
            assert_eq!((tensor.layout().unwrap().to_string(), tensor.bytes()), (layout.clone(), bytes.as_slice()));
        }
        assert_eq!(found.tensors().count(), expected.len());
        found.made_from(&file).unwrap();
    };
    for align in [None, Some(64), Some(4096)] {
        let mut target = Target::new(folder.join("one.safetensors"));
        target.align = align;
        plan.write(&target, &|_| ()).unwrap();
        let found = open(&target.path).unwrap();
        check(&found);
        let starts: Vec<usize> = found.tensors().map(|tensor| tensor.range().start).collect();
        assert!(starts[0].is_multiple_of(64));
        assert!(
            align.is_none_or(|align| starts.iter().all(|start| start.is_multiple_of(align as usize))),
            "{starts:?}"
        );
    }
    for number in [3, 1, 2] {
        let mut target = Target::new(folder.join("shares"));
        target.share = Some(format!("{number}/3").parse().unwrap());
        plan.write(&target, &|_| ()).unwrap();
    }
    check(&open(folder.join("shares/model.safetensors.index.json")).unwrap());
    std::fs::remove_dir_all(&folder).unwrap();
}
