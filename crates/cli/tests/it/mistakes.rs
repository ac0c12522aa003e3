//! Mistakes that people make at a terminal, and what they read then.

use std::fs;

use crate::command_line::{folder, in_repository, program, run, run_with_input};
use serde_json::json;

/// What a mistake prints, and that it is one.
#[track_caller]
fn refused(arguments: &[&str], status: i32, says: &str) {
    let run = run(arguments);
    assert_eq!(run.status, status, "{run:?}");
    assert!(run.stderr.starts_with("error: ") && run.stderr.contains(says), "{run:?}");
}

#[test]
fn files_of_other_formats_are_named() {
    let folder = folder("other_formats");
    for (bytes, says) in [
        (&b"PK\x03\x04rest of it"[..], "is a zip archive, as PyTorch writes"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer"),
    ] {
        let file = folder.join("model.bin");
        fs::write(&file, bytes).unwrap();
        refused(&["model", file.to_str().unwrap()], 2, says);
    }
    fs::remove_dir_all(folder).unwrap();
}

/// `-` is standard input and output; a .npy file says its layout itself.
#[test]
fn files_may_be_standard_input_and_output() {
    let folder = folder("standard_files");
    let swap = ["convert", "--from", "u8[2,2]", "--to", "u8[2,2]{0,1}", "-", "-"];
    assert_eq!(run_with_input(&swap, "abcd").stdout, "acbd");
    assert!(run(&["draw", "f32[2]", "--svg", "-"]).stdout.starts_with("<svg "));
    assert_eq!(run_with_input(&["draw", "-"], "f32[2,3]\n").stdout, run(&["draw", "f32[2,3]"]).stdout);
    let dump = "crates/hlo/tests/data/memory_tpu_cond_big.hlo";
    let assignment = include_str!("../../../hlo/tests/data/memory_tpu_cond_big-buffer-assignment.txt");
    let found = run_with_input(&["hlo", dump, "--buffer-assignment", "-"], assignment).stdout;
    assert!(found.starts_with("HBM: 1073807872 bytes"), "{found}");
    let (a, b) = (folder.join("a.npy"), folder.join("b.raw"));
    let mut npy = b"\x93NUMPY\x01\0\x76\0{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }".to_vec();
    npy.resize(127, b' ');
    npy.extend(b"\nabcdef");
    fs::write(&a, npy).unwrap();
    let run = run(&["convert", a.to_str().unwrap(), b.to_str().unwrap(), "--to", "ba"]);
    assert_eq!((run.status, fs::read(&b).unwrap()), (0, b"adbecf".to_vec()), "{run:?}");
    fs::remove_dir_all(folder).unwrap();
}

/// Point 2: nobody asked what DirectML has no type for, so that is no failure; asked, it is said in groups.
#[test]
fn limits_that_nobody_named_refuse_nothing() {
    let folder = folder("unasked_limits");
    let file = folder.join("m.safetensors");
    let rows: Vec<(String, &str)> = (0..4).map(|layer| (format!("layers.{layer}.w"), "BF16")).collect();
    let rows: Vec<crate::safetensors_file::Row<'_>> =
        rows.iter().map(|(name, data_type)| (name.as_str(), *data_type, &[2, 8][..], 32)).collect();
    crate::safetensors_file::write(&file, &rows, None, 0);
    let out = folder.join("out");
    let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
    let unasked = run(&["model", file, "--to", "tpu:v5e", "--out", out]);
    assert_eq!((unasked.status, unasked.stderr.as_str()), (0, ""), "{unasked:?}");
    assert!(unasked.stdout.contains("4 of 4 refused by DirectML 6.4: 4 bf16 have no type there"), "{unasked:?}");
    assert!(unasked.stdout.contains("layers.{0-3}.w  4 x"), "{unasked:?}");
    let asked = run(&["model", file, "--to", "tpu:v5e", "--limits", "directml"]);
    assert_eq!(asked.status, 1);
    assert_eq!(asked.stderr, "error: 4 of 4 refused by DirectML 6.4: 4 bf16 have no type there\n");
    let summary = run(&["model", file, "--summary"]).stdout;
    assert!(summary.starts_with("4 tensors to packed") && !summary.contains("layers"), "{summary}");
    fs::remove_dir_all(folder).unwrap();
}

/// Point 9: a fault of a model names the tensor and its bytes; an index that is only odd is a warning.
#[test]
fn faults_of_models_name_tensors_and_bytes() {
    let folder = folder("named_faults");
    let file = folder.join("m.safetensors");
    for (offsets, second, says) in [
        ([0, 4], "", "`t` needs 4000000 bytes, and its data_offsets hold 4"),
        (
            [0, 4_000_000],
            r#","u":{"dtype":"F32","shape":[1],"data_offsets":[4000004,4000008]}"#,
            "`u` begins at byte 4000004, not at 4000000",
        ),
    ] {
        let header = format!(r#"{{"t":{{"dtype":"F32","shape":[1000,1000],"data_offsets":{offsets:?}}}{second}}}"#);
        fs::write(&file, [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 4_000_008]].concat())
            .unwrap();
        refused(&["model", file.to_str().unwrap()], 2, says);
    }
    let rows: [crate::safetensors_file::Row<'_>; 2] = [("a", "F32", &[2], 8), ("b", "F32", &[3], 12)];
    crate::safetensors_file::write(&file, &rows, None, 0);
    let index = folder.join("model.safetensors.index.json");
    let text = json!({ "metadata": { "total_size": 7 }, "weight_map": { "a": "m.safetensors" } });
    fs::write(&index, text.to_string()).unwrap();
    let run = run(&["model", index.to_str().unwrap()]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stderr.contains("does not list `b`, which is in m.safetensors"), "{run:?}");
    assert!(run.stderr.contains("says a total_size of 7, but its tensors have 20 bytes"), "{run:?}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn colours_completions_manual_and_version() {
    assert_eq!(run(&["--help"]).status, 0);
    let coloured = run(&["same", "f32[2]", "f32[2]", "--color", "always"]);
    assert_eq!(coloured.stdout, "\x1b[32myes:\x1b[0m every element is stored at the same offset\n");
    assert!(!run(&["same", "f32[2]", "f32[2]"]).stdout.contains('\x1b'));
    for shell in ["bash", "zsh", "fish"] {
        assert!(run(&["completions", shell]).stdout.contains("describe"), "{shell}");
    }
    assert!(run(&["man", "describe"]).stdout.contains(".TH"));
    let version = run(&["--version"]).stdout;
    let (name, rest) = version.trim().split_once(' ').unwrap();
    assert_eq!((name, rest.starts_with(env!("CARGO_PKG_VERSION"))), ("tensor-layout", true), "{version}");
    let in_git = program().get_current_dir().is_some_and(|root| root.join(".git").exists());
    assert!(!in_git || rest.ends_with(')'), "{version}");
}

/// docs/JSON.md promises the keys of every object, so it must list every type.
#[test]
fn every_type_of_object_is_documented() {
    let page = include_str!("../../../../docs/JSON.md");
    let folders = ["crates/cli/src", "crates/files/src", "crates/hlo/src/report"];
    let (mut folders, mut found) = (folders.map(in_repository).to_vec(), 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let words = |mark: &'static str| text.split(mark).skip(1).filter_map(|rest| rest.split_once('"'));
            // The word of an answer is its second argument, if it stands there.
            let answers = words("Answer::new(").filter(|(before, _)| !before.contains(';'));
            let answers = answers.chain(words("new_answer("));
            let kinds = words("\"type\": ").chain(words("= answer(")).chain(answers);
            for (_, rest) in kinds.filter(|(before, _)| !before.contains("kind")) {
                let kind = rest.split('"').next().unwrap();
                let is_listed =
                    [format!("* `{kind}` ("), format!("{{\"type\":\"{kind}\"")].iter().any(|row| page.contains(row));
                assert!(is_listed, "{}: docs/JSON.md does not list `{kind}`", path.display());
                found += 1;
            }
        }
    }
    assert!(found > 30, "{found}");
}
