//! Mistakes that people make at a terminal, and what they read then.

use std::fs;

use crate::command_line::{folder, in_repository, program, run, run_with_input};
use serde_json::{Value, json};

/// What a mistake prints, and that it is one.
#[track_caller]
fn refused(arguments: &[&str], status: i32, says: &str) {
    let run = run(arguments);
    assert_eq!(run.status, status, "{run:?}");
    assert!(run.stderr.starts_with("error: ") && run.stderr.contains(says), "{run:?}");
}

#[test]
fn layouts_that_the_shell_took_apart() {
    let says = "the shell expanded the braces of f32[2,3]{1,0}: quote the layout, 'f32[2,3]{1,0}'";
    refused(&["describe", "f32[2,3]1", "f32[2,3]0"], 2, says);
    refused(&["offset", "f32[2,3]1", "f32[2,3]0", "1,1"], 2, says);
}

#[test]
fn options_that_are_wrong() {
    refused(&["check", "f32[2]"], 2, "required arguments were not provided:\n  --limits <NAME>");
    refused(&["check", "f32[2]", "--limts", "webgpu"], 2, "a similar argument exists: '--limits'");
    refused(&["descibe", "f32[2]"], 2, "a similar subcommand exists: 'describe'");
    refused(&["check", "f32[2]", "--limits", "none", "--role", "both"], 2, "possible values: input, output");
    refused(&["check", "f32[2]", "--limits"], 2, "a value is required for '--limits <NAME>'");
    refused(&["describe", "f32[2]", "--as", "latex"], 2, "expected a notation: xla, strides,");
    refused(&["hlo", "m", "--tpu", "v9"], 2, "expected a TPU generation: v2, v3,");
    refused(&["completions", "bsh"], 2, "a similar value exists: 'bash'");
    refused(&["draw", "f32[2]", "--svg", "x.png"], 2, "name a file that ends in .svg");
    refused(&["model", "m", "--to", "v9"], 2, "invalid value 'v9' for '--to <RULE>': expected tpu:v5e");
    refused(&["view", "f32[2]"], 2, "<--reshape <SIZES>|--permute <AXES>");
    refused(&["convert", "a", "b", "--to", "NHWC"], 2, "only a .npy file says itself which layout it has");
}

#[test]
fn capitals_and_short_names_do() {
    assert_eq!(run(&["check", "f32[2]", "--limits", "WebGPU"]).status, 0);
    assert_eq!(run(&["describe", "f32[2]", "--as", "XLA"]).stdout, "f32[2]{0}\n");
    assert_eq!(run(&["describe", "f32[13,1]", "--tpu", "V5E"]).status, 0);
    let explained = |to: &str| run(&["convert", "--explain", "--from", "f32[1,3,4,4]:NCHW", "--to", to]).stdout;
    assert!(explained("NHWC").contains("to   f32[1,3,4,4]:NHWC"));
    assert!(explained("v5e").contains("to   f32[1,3,4,4]{3,2,1,0:T(4,128)}") || explained("v5e").contains(":T("));
    let digits = "examples/data/digits.safetensors";
    assert_eq!(run(&["model", digits, "--to", "v5e"]).stdout, run(&["model", digits, "--to", "tpu:v5e"]).stdout);
    assert_eq!(run(&["offset", "f32[2,3]", "(1,2)"]).stdout, "5\n");
    for name in
        ["cutlass.TensorNCxHWx<32>:s8[1,32,2,2]", "TensorNCxHWx<x=32>:s8[1,32,2,2]", "TensorNCxHWx32:s8[1,32,2,2]"]
    {
        assert_eq!(run(&["offset", name, "0,5,0,1"]).stdout, "37\n", "{name}");
    }
}

#[test]
fn views_in_the_words_of_numpy() {
    let view = |arguments: &[&str]| run(&[&["view"], arguments].concat());
    assert_eq!(view(&["f32[4,6]:[6,1]", "--reshape", "2,-1"]).stdout, "f32[2,12]:[12,1]\n");
    assert_eq!(view(&["f32[10]:[1]", "--slice", "-3:"]).stdout, "f32[3]:[1]+7\n");
    assert_eq!(view(&["f32[4,6]:[6,1]", "--slice", ":-1,-2:-1"]).stdout, "f32[3,1]:[6,1]+4\n");
    assert_eq!(view(&["f32[4,6]:[6,1]", "--permute", "-1,0"]).stdout, "f32[6,4]:[1,6]\n");
    refused(&["view", "f32[4,6]", "--reshape", "5,-1"], 1, "expected sizes whose product divides 24 elements");
    refused(&["view", "f32[10]", "--slice", "0:20"], 1, "expected a slice of axis 0, whose size is 10, found `0:20`");
    let backwards = |arguments: &[&str]| view(arguments).stdout;
    let says = "  reversed   axes [0]: index [0] is stored at element 9\n";
    assert_eq!(backwards(&["f32[10]", "--slice", "::-1"]), format!("f32[10]{{0}}\n{says}"));
    // b[:, :6][3:0:-2, 5:1:-3] of zeros((4, 8), 'f4') in NumPy.
    assert!(
        backwards(&["f32[4,6]:[8,1]", "--slice", "3:0:-2,5:1:-3", "--as", "numpy"])
            .starts_with("ndarray(shape=(2,2), dtype=float32, strides=(-64,-12), offset=116)\n")
    );
    let columns = "ndarray(shape=(2,3), dtype=int32, strides=(-12,4))";
    for permutation in ["1,0", "-1,-2"] {
        let permuted = backwards(&[columns, "--permute", permutation]);
        assert_eq!(permuted, "s32[3,2]:[1,3]\n  reversed   axes [1]: index [0,0] is stored at element 3\n");
    }
    assert_eq!(backwards(&["u8[9]", "--slice", "0:5:-1"]), "u8[0]{0}\n");
    refused(&["view", "f32[9]", "--slice", "::-1", "--reshape", "3,3"], 1, "an axis runs backwards");
    let before = "ndarray(shape=(2,3), dtype=float32, strides=(-12,4), offset=8)";
    refused(&["describe", before], 1, "an element would be stored 4 bytes before its buffer");
    refused(&["view", "f32[10]", "--slice", "-11:"], 1, "a number down to -10");
}

/// Point 8: half of the channels of a blocked layout is that layout, from another element on.
#[test]
fn views_without_a_notation_are_described() {
    let half = |slice: &str, json: &[&str]| {
        let words = ["view", "f32[1,160,8,8]:nChw16c", "--slice", slice];
        run(&[&words, json].concat())
    };
    assert_eq!(half(":,0:80,:,:", &[]).stdout, "f32[1,80,8,8]:nChw16c\n");
    let second = half(":,80:160,:,:", &[]);
    assert!(second.stdout.starts_with("f32[1,80,8,8]:nChw16c from element 5120\n"), "{second:?}");
    let object = half(":,80:160,:,:", &["--json"]).object();
    assert_eq!(
        (&object["like"], &object["base_offset"], &object["layout"]),
        (&json!("f32[1,80,8,8]:nChw16c"), &json!(5120), &Value::Null)
    );
    assert_eq!(object["digits"], json!(["1 x 0", "5 x 1024 + 16 x 1", "8 x 128", "8 x 16"]));
}

#[test]
fn sizes_in_the_order_of_the_memory_are_noticed() {
    let swapped = run(&["describe", "f32[1,480,640,3]:NHWC"]);
    assert!(swapped.stdout.contains("\n  axes       N=1 C=480 H=640 W=3\n"), "{swapped:?}");
    assert!(swapped.stdout.contains("write f32[1,3,480,640]:NHWC"), "{swapped:?}");
    let right = run(&["describe", "f32[1,3,480,640]:NHWC"]);
    assert!(right.stdout.contains("N=1 C=3 H=480 W=640") && !right.stdout.contains("note"), "{right:?}");
    let tag = run(&["describe", "f32[2,35,9,9]:nChw16c"]);
    assert!(tag.stdout.contains("\n  axes       N=2 C=35 H=9 W=9\n"), "{tag:?}");
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
    refused(&["model", "examples/data/digits.safetensors", "--out", "-"], 2, "--out must be a file");
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

/// Point 9: `check` says each number once, and of nobody that it accepts a tensor.
#[test]
fn checks_say_no_more_than_they_know() {
    let none = run(&["check", "f32[2,3]", "--limits", "none"]).stdout;
    assert!(!none.contains("CPU slice") && !none.contains("rounded") && !none.ends_with("\nok\n"), "{none}");
    assert!(run(&["check", "u8[3]", "--limits", "none"]).stdout.contains("bound            0..3 (3 bytes)"));
    let model = run(&["model", "examples/data/digits.safetensors", "--limits", "none"]).stdout;
    assert!(model.contains("8 of 8 identical\n") && !model.contains("accepted"), "{model}");
    // Two offsets of 2^31 bytes and more, and the first that needs 2^32 elements.
    let wide = run(&["check", "f32[1,288,2048,1536]", "--limits", "none"]).stdout;
    assert!(wide.contains("2^31 bytes are first reached at index [0,170,1365,512], offset 2147483648\n"), "{wide}");
    let wide = run(&["check", "u8[70000,70000]:[70000,1]", "--limits", "none", "--json"]).object();
    let first = json!({ "unit": "elements", "bits": 32, "index": [61356, 47296], "offset": 4_294_967_296_u64 });
    assert_eq!(wide["first_wide_index"][0], first, "{wide}");
    let web = run(&["check", "f32[2,3]:[12,2]", "--limits", "webnn"]).stdout;
    assert!(web.contains("f32[2,3]:[3,1]") && web.contains("all axes change at once"), "{web}");
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
fn a_batch_names_the_line_of_an_error() {
    let run = run_with_input(&["describe", "-", "--as", "xla"], "f32[2]\nf32[\nf32[3]\n");
    assert!(run.stderr.starts_with("error: line 2: column 5"), "{run:?}");
    let objects = run_with_input(&["describe", "-", "--json"], "f32[2]\nf32[\n").objects();
    assert_eq!((&objects[0]["type"], &objects[0]["known_as"]), (&json!("layout"), &Value::Null));
    assert_eq!((&objects[1]["type"], &objects[1]["line"]), (&json!("error"), &json!(2)));
    assert_eq!(objects[1]["error"]["column"], json!(5));
}

#[test]
fn colours_completions_manual_and_version() {
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

/// A layout that a library stores in parts, each with a map of its own, has offsets too.
#[test]
fn offsets_of_layouts_in_parts() {
    for (layout, last) in
        [("packed_vnni2:bf16[48,64]", "47,63"), ("xnnpack.f32_gemm_goi_s4.weights<4>:f32[8,16]", "7,15")]
    {
        let there = run(&["offset", layout, last]);
        assert_eq!(there.status, 0, "{there:?}");
        let back = run(&["offset", "--inverse", layout, there.stdout.trim()]);
        assert_eq!(back.stdout, format!("[{last}]\n"), "{layout}");
        assert!(run(&["offset", "--explain", layout, last]).stdout.contains("\n  part "), "{layout}");
        refused(&["offset", layout, "99999,0"], 1, "is out of range");
    }
    // The last element of [N/32][K/2][n%32][k%2], then a block of 16 rows: all 48 * 64 places are taken.
    assert_eq!(run(&["offset", "packed_vnni2:bf16[48,64]", "47,63"]).stdout, "3071\n");
}

/// docs/JSON.md promises the keys of every object, so it must list every type.
#[test]
fn every_type_of_object_is_documented() {
    let page = include_str!("../../../../docs/JSON.md");
    let (mut folders, mut found) = (vec![in_repository("crates/cli/src")], 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            for kind in text.split("\"type\": \"").skip(1).filter_map(|rest| rest.split('"').next()) {
                let is_listed =
                    [format!("| `{kind}` |"), format!("{{\"type\":\"{kind}\"")].iter().any(|row| page.contains(row));
                assert!(is_listed, "{}: docs/JSON.md does not list `{kind}`", path.display());
                found += 1;
            }
        }
    }
    assert!(found > 25, "{found}");
}
