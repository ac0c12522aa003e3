//! `model` of GGUF files: 62 files with what gguf 0.19.0 and ggml 0.26.0 say about them, damaged ones, and a
//! long one.

use std::fs::{self, File};
use std::io::Write;
use std::time::Instant;

use serde_json::{Value, json};

use crate::command_line::{folder, in_repository, run, run_after, text};

fn cases() -> Vec<Value> {
    let text = fs::read_to_string(in_repository("tests/data/ggml/gguf_cases.jsonl")).unwrap();
    text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn bytes_of(case: &Value) -> Vec<u8> {
    match case["hex"].as_str() {
        Some(hex) => {
            let byte = |at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap();
            let mut bytes: Vec<u8> = (0..hex.len() / 2).map(byte).collect();
            bytes.resize(usize::try_from(case["bytes"].as_u64().unwrap()).unwrap(), 0);
            bytes
        }
        None => {
            let name = case["case"].as_str().unwrap().trim_start_matches("file ");
            fs::read(in_repository(&format!("tests/data/ggml/{name}"))).unwrap()
        }
    }
}

/// What ggml says in the end, when it loads the data as well.
fn is_refused(case: &Value, reader: &str) -> bool {
    let refuses = |answer: &Value| answer.as_str().is_some();
    match reader {
        "gguf" => refuses(&case["gguf"]),
        _ => refuses(&case["ggml_list"]) || refuses(&case["ggml_load"]),
    }
}

#[test]
fn what_the_readers_accept_is_listed_and_what_one_refuses_is_said() {
    let path = folder("gguf_cases").join("model.gguf");
    let cases = cases();
    assert_eq!(cases.len(), 64, "62 files that were made for this, and two models");
    for case in &cases {
        let name = case["case"].as_str().unwrap();
        fs::write(&path, bytes_of(case)).unwrap();
        let run = run(&["model", text(&path), "--json", "--limits", "none"]);
        let (gguf, ggml) = (is_refused(case, "gguf"), is_refused(case, "ggml"));
        // gguf cuts a string that is longer than the file without a word.
        if gguf && ggml || name == "string longer than the file" {
            assert_eq!(run.status, 2, "{name}: {run:?}");
            assert!(run.stderr.starts_with("error: ") && run.stdout.is_empty(), "{name}: {}", run.stderr);
            continue;
        }
        assert_eq!(run.status, 0, "{name}: {run:?}");
        let objects = run.objects();
        let refused_by = &objects.last().unwrap()["refused_by"];
        assert_eq!(
            [refused_by["gguf"].is_string(), refused_by["ggml"].is_string()],
            [gguf, ggml],
            "{name}: {refused_by}"
        );
        assert_eq!(run.stderr.contains("refuses this file"), gguf || ggml, "{name}: {}", run.stderr);
        if !gguf {
            let listed: Vec<Value> = objects[..objects.len() - 1]
                .iter()
                .map(|tensor| {
                    let sizes: Vec<&Value> = tensor["sizes"].as_array().unwrap().iter().rev().collect();
                    json!([tensor["name"], tensor["data_type"], sizes, tensor["packed_bytes"]])
                })
                .collect();
            let read = case["gguf"]["tensors"].as_array().unwrap().iter().map(|tensor| {
                // gguf takes a block of q8_1 for 40 bytes, where ggml has 36.
                let bytes = if tensor[1] == "Q8_1" { json!(36) } else { tensor[4].clone() };
                let type_name = tensor[1].as_str().unwrap().to_lowercase().replace("_k", "_K");
                json!([tensor[0], type_name, tensor[2], bytes])
            });
            assert_eq!(listed, read.collect::<Vec<_>>(), "{name}");
        }
    }
}

#[test]
fn every_tensor_has_the_bytes_at_its_offset() {
    let (source, folder) = ("tests/data/ggml/tiny_align64.gguf", folder("gguf_bytes"));
    let new = folder.join("new.safetensors");
    let run = run(&["model", source, "--out", new.to_str().unwrap()]);
    assert_eq!(run.status, 0, "{run:?}");
    let (file, new) = (fs::read(in_repository(source)).unwrap(), fs::read(new).unwrap());
    let new = safetensors::SafeTensors::deserialize(&new).unwrap();
    let case = cases().into_iter().find(|case| case["case"] == "file tiny_align64.gguf").unwrap();
    let data = case["gguf"]["data"].as_u64().unwrap() as usize;
    for tensor in case["gguf"]["tensors"].as_array().unwrap() {
        let number = |place: usize| tensor[place].as_u64().unwrap() as usize;
        let held = new.tensor(tensor[0].as_str().unwrap()).unwrap();
        assert_eq!(held.data(), &file[data + number(3)..][..number(4)], "{tensor}");
    }
    // The new file names the blocks, and is read like the old one.
    let listed = |path: &str| {
        let objects = crate::command_line::run(&["model", path, "--json", "--limits", "webgpu"]).objects();
        let mut tensors: Vec<Value> = objects[..objects.len() - 1]
            .iter()
            .map(|tensor| {
                json!([tensor["name"], tensor["data_type"], tensor["sizes"], tensor["layout"], tensor["accepted"]])
            })
            .collect();
        tensors.sort_by_key(|tensor| tensor[0].to_string());
        tensors
    };
    assert_eq!(listed(source), listed(folder.join("new.safetensors").to_str().unwrap()));
}

#[test]
fn blocks_are_repacked_by_name_and_stay_packed_otherwise() {
    let answers = |rule: &str| {
        let run = run(&["model", "tests/data/ggml/tiny.gguf", "--json", "--limits", "none", "--to-for", rule]);
        (run.status, run.objects())
    };
    let (status, objects) = answers("blk.0.attn_q.weight=ggml.q8_0x4<8>");
    assert_eq!((status, &objects[1]["identical"]), (0, &json!(true)), "{}", objects[1]);
    assert_eq!(objects[1]["layout"], "ggml.q8_0x4<8>:q8_0[8,64]");
    let (status, objects) = answers("blk.0.attn_q.weight=tpu:v5e");
    assert_eq!((status, &objects[1]["layout"]), (0, &json!("q8_0[8,64]:[68,34]")));
    assert!(objects[1]["remark"].as_str().unwrap().contains("stored in blocks"));
    // Three rows are no group of four, and q4_0 is not q8_0.
    for rule in ["blk.0.ffn_up.weight=ggml.q4_0x4<8>", "blk.0.ffn_up.weight=ggml.q8_0x4<8>"] {
        assert_eq!(answers(rule).0, 1, "{rule}");
    }
}

/// Numbers that look random, the same in every run.
fn numbers(mut state: u64) -> impl FnMut(u64) -> usize {
    move |below| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) % below) as usize
    }
}

#[test]
fn two_hundred_damaged_files_are_listed_or_refused() {
    let path = folder("gguf_damaged").join("model.gguf");
    let whole = fs::read(in_repository("tests/data/ggml/tiny.gguf")).unwrap();
    // Damage to the header, which ends before byte 1000, is what a reader can see.
    let (mut number, mut refused) = (numbers(64), 0);
    for round in 0..200 {
        let mut bytes = whole.clone();
        if round % 4 == 0 {
            bytes.truncate(number(bytes.len() as u64));
        }
        for _ in 0..number(4) + 1 {
            if let Some(byte) = bytes.get_mut(number(1000)) {
                *byte ^= 1 << number(8);
            }
        }
        fs::write(&path, &bytes).unwrap();
        // 200 MB of memory are enough for a program whose buffers do not follow the numbers of the file.
        let limit = if cfg!(target_os = "linux") { "ulimit -d 200000" } else { "true" };
        let run = run_after(limit, &["model", text(&path)]);
        assert!(matches!(run.status, 0..=2), "round {round}: {run:?}");
        assert!(
            !run.stderr.contains("panicked") && !run.stderr.contains("memory allocation"),
            "round {round}: {run:?}"
        );
        refused += u32::from(run.status == 2);
    }
    assert!(refused > 60, "{refused} were refused");
}

/// Writes a GGUF file of these tensors, each with its type, its sizes (innermost first) and its bytes. The
/// data are a hole.
fn sparse(path: &std::path::Path, tensors: &[(String, u32, Vec<u64>, u64)]) {
    let mut header = b"GGUF\x03\0\0\0".to_vec();
    header.extend((tensors.len() as u64).to_le_bytes());
    header.extend(0_u64.to_le_bytes());
    let mut offset = 0_u64;
    for (name, kind, sizes, bytes) in tensors {
        header.extend((name.len() as u64).to_le_bytes());
        header.extend(name.as_bytes());
        header.extend((sizes.len() as u32).to_le_bytes());
        sizes.iter().for_each(|size| header.extend(size.to_le_bytes()));
        header.extend(kind.to_le_bytes());
        header.extend(offset.to_le_bytes());
        offset += bytes.next_multiple_of(32);
    }
    let mut file = File::create(path).unwrap();
    file.write_all(&header).unwrap();
    file.set_len((header.len() as u64).next_multiple_of(32) + offset).unwrap();
}

#[test]
fn a_type_that_is_not_known_is_named() {
    let path = folder("gguf_type").join("type.gguf");
    for (kind, sentence) in [
        (139, "of type 139, which is not known here (types up to 42); forks of ggml have types of their own"),
        (4, "of type 4, which ggml removed"),
    ] {
        sparse(&path, &[("m.weight".into(), kind, vec![256], 256)]);
        let run = run_after("true", &["model", text(&path)]);
        assert!(run.stderr.contains(sentence) && run.status == 2, "{run:?}");
    }
}

#[test]
fn four_gigabytes_are_listed_without_their_bytes() {
    let path = folder("gguf_long").join("long.gguf");
    let tensor = |layer: u32| (format!("blk.{layer}.ffn_up.weight"), 2, vec![4096, 14336], 4096 * 14336 / 32 * 18);
    sparse(&path, &(0..132).map(tensor).collect::<Vec<_>>());
    assert!(fs::metadata(&path).unwrap().len() > 4 << 30);
    let limit = if cfg!(target_os = "linux") { "ulimit -d 60000" } else { "true" };
    let begin = Instant::now();
    let run = run_after(limit, &["model", text(&path), "--limits", "webgpu"]);
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
    assert!(run.stdout.contains("132 x") && run.stdout.contains("blk.{0-131}.ffn_up.weight"), "{run:?}");
    fs::remove_file(path).unwrap();
}
