//! A laid-out model is a model: `model` reads what `model --out` wrote, and brings the first file back.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use crate::command_line::{folder, in_repository, run, text};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use serde_json::json;

const DIGITS: &str = "examples/data/digits.safetensors";

/// The tensors of a safetensors file by name, each with its type, shape and bytes, and the file's metadata.
type Contents = (BTreeMap<String, (String, Vec<usize>, Vec<u8>)>, BTreeMap<String, String>);

fn contents(path: &Path) -> Contents {
    let bytes = fs::read(path).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
    let tensors = tensors
        .tensors()
        .into_iter()
        .map(|(name, view)| (name, (view.dtype().to_string(), view.shape().to_vec(), view.data().to_vec())));
    (tensors.collect(), metadata.metadata().clone().unwrap_or_default().into_iter().collect())
}

/// The bytes of a file without the spaces that align the first tensor at 64 bytes.
fn unpadded(path: &Path) -> (String, Vec<u8>) {
    let bytes = fs::read(path).unwrap();
    let (length, rest) = bytes.split_first_chunk().unwrap();
    let (header, data) = rest.split_at(u64::from_le_bytes(*length) as usize);
    (String::from_utf8(header.to_vec()).unwrap().trim_end().to_owned(), data.to_vec())
}

/// The name and layout of every tensor, as the table's JSON has them.
fn layouts(run: &crate::command_line::Run) -> BTreeMap<String, String> {
    let of = |key: &str, object: &serde_json::Value| object[key].as_str().map(str::to_owned);
    run.objects().iter().filter_map(|object| Some((of("name", object)?, of("layout", object)?))).collect()
}

#[test]
fn packed_restores_every_tensor_byte_for_byte() {
    let folder = folder("restored");
    let [input, laid_out, again, restored] =
        ["in", "laid_out", "again", "restored"].map(|name| folder.join(format!("{name}.safetensors")));
    // Not in the order the safetensors libraries write.
    let tensors: &[crate::safetensors_file::Row<'_>] = &[
        ("bytes", "U8", &[37, 129], 4773),
        ("scalar", "F32", &[], 4),
        ("empty", "F32", &[0, 3], 0),
        ("halves", "BF16", &[3, 5, 7], 210),
        ("nibbles", "F4", &[6, 7], 21),
        ("images", "F16", &[2, 3, 5, 7], 420),
        ("wide", "I64", &[3, 200], 4800),
        ("odd name \" \u{e9}\n", "F64", &[2, 2], 32),
    ];
    let metadata = json!({ "format": "pt", "layout.of nobody": "kept", "note": "\u{1b}" });
    crate::safetensors_file::write(&input, tensors, Some(metadata), 0);
    let original = contents(&input);
    for rule in ["nhwc", "T(8,128)", "T(3,5)(2,1)", "T(*,7)", "T(6,2)(4,1)"] {
        let to = |from: &Path, rule: &str, out: &Path| {
            let run = run(&["model", text(from), "--to", rule, "--limits", "none", "--json", "--out", text(out)]);
            assert_eq!(run.status, 0, "{rule}: {run:?}");
            run
        };
        let first = layouts(&to(&input, rule, &laid_out));
        // Through another layout as well, without packing in between.
        let other = to(&laid_out, "T(4)", &again);
        for object in other.objects().iter().filter(|object| object["name"].is_string()) {
            assert_eq!(object["from"], json!(first[object["name"].as_str().unwrap()]), "{rule}");
            assert_eq!((&object["identical"], object["sizes"].is_array()), (&json!(true), true));
        }
        to(&again, "packed", &restored);
        assert!(contents(&restored) == original, "{rule}");
    }
}

#[test]
fn a_file_of_the_safetensors_libraries_comes_back_whole() {
    let folder = folder("whole");
    let [input, laid_out, restored] = ["in", "laid_out", "restored"].map(|name| folder.join(name));
    let data: Vec<u8> = (1..=255).cycle().take(1 << 16).collect();
    let rows: [(&str, Dtype, &[usize]); 5] = [
        ("b", Dtype::F32, &[32, 7, 3, 3]),
        ("a", Dtype::F32, &[5]),
        ("i", Dtype::I64, &[]),
        ("h", Dtype::BF16, &[9, 200]),
        ("e", Dtype::U8, &[0, 9]),
    ];
    for metadata in [None, Some(HashMap::from([("format".to_owned(), "pt".to_owned())]))] {
        let views = rows.iter().map(|&(name, dtype, shape)| {
            let bytes = shape.iter().product::<usize>() * dtype.bitsize() / 8;
            (name, TensorView::new(dtype, shape.to_vec(), &data[..bytes]).unwrap())
        });
        fs::write(&input, safetensors::serialize(views, metadata).unwrap()).unwrap();
        for rule in ["tpu:v5e", "nhwc", "packed"] {
            let out = ["model", text(&input), "--to", rule, "--limits", "none", "--out", text(&laid_out)];
            assert_eq!(run(&out).status, 0, "{rule}");
            let back = run(&["model", text(&laid_out), "--limits", "none", "--out", text(&restored)]);
            assert_eq!(back.status, 0, "{back:?}");
            assert!(unpadded(&restored) == unpadded(&input), "{rule}");
        }
    }
    // The model of the examples, which was written by them, is laid out and brought back as well.
    let out = ["model", DIGITS, "--to", "tpu:v5e", "--limits", "none", "--out", text(&laid_out)];
    assert_eq!(run(&out).status, 0);
    let shown = run(&["model", text(&laid_out), "--limits", "none", "--out", text(&restored)]);
    assert!(shown.stdout.contains("  from  ") && shown.stdout.contains("f32[32,16,3,3]{"), "{}", shown.stdout);
    assert!(unpadded(&restored) == unpadded(&in_repository(DIGITS)));
}

#[test]
fn a_rule_for_some_tensors_only() {
    let folder = folder("to_for");
    let [laid_out, restored] = ["laid_out", "restored"].map(|name| folder.join(name));
    let arguments = [
        "model",
        DIGITS,
        "--to",
        "tpu:v5e",
        "--to-for",
        "conv*.weight=OIhw16i16o",
        "--to-for",
        "*.bias=packed",
        "--to-for",
        "conv1.*=T(2,2)",
        "--to-for",
        "test.images=NHWC",
        "--limits",
        "none",
        "--json",
    ];
    let run_out = run(&[&arguments[..], &["--out", text(&laid_out)]].concat());
    assert_eq!(run_out.status, 0, "{run_out:?}");
    let layouts = layouts(&run_out);
    // The last that matches holds.
    assert!(
        layouts["conv1.weight"].ends_with(":T(2,2)}") && layouts["conv1.bias"].ends_with(":T(2,2)}"),
        "{layouts:?}"
    );
    assert_eq!(layouts["conv2.weight"], "f32[32,16,3,3]:OIhw16i16o");
    assert!(layouts["conv2.bias"].ends_with(":[1]") && layouts["test.images"].ends_with(":NHWC"), "{layouts:?}");
    assert!(layouts.iter().any(|(name, layout)| name == "dense.weight" && layout.contains("T(")), "{layouts:?}");
    let rules = "tpu:v5e, conv*.weight=OIhw16i16o, *.bias=packed, conv1.*=T(2,2), test.images=nhwc";
    assert_eq!(run_out.objects().last().unwrap()["to"], json!(rules));
    assert_eq!(run(&["model", text(&laid_out), "--limits", "none", "--out", text(&restored)]).status, 0);
    assert!(unpadded(&restored) == unpadded(&in_repository(DIGITS)));
}

#[test]
fn rules_that_cannot_hold_are_refused_by_name() {
    let folder = folder("to_for_refused");
    let out = folder.join("out");
    let refused = |rule: &str, status: i32, complaint: &str| {
        let run = run(&["model", DIGITS, "--to-for", rule, "--out", text(&out)]);
        assert_eq!(run.status, status, "{rule}: {run:?}");
        assert!(run.stderr.contains(complaint), "{rule}: {}", run.stderr);
        assert!(fs::read_dir(&folder).unwrap().next().is_none());
    };
    refused("cnv*=nhwc", 2, "no tensor matches the pattern `cnv*`");
    refused("conv*", 2, "PATTERN=RULE");
    refused("conv*=sideways", 2, "expected");
    refused("conv*=OIhw16i16", 2, "expected");
    refused("[=nhwc", 2, "does not close");
    // A tag of four axes for a row.
    refused("conv*=OIhw16i16o", 1, "not every tensor can be laid out");
}

#[test]
fn padding_that_another_program_left_is_not_a_difference() {
    let folder = folder("foreign_padding");
    let [input, restored] = ["in", "restored"].map(|name| folder.join(name));
    let layout = json!({ "layout.a": "u16[3,5]{1,0:T(2,4)}", "layout.b": "u8[2,3]:[4,1]+1" });
    crate::safetensors_file::write(&input, &[("a", "U16", &[32], 64), ("b", "U8", &[8], 8)], Some(layout), 0);
    for rule in ["packed", "T(8)", "T(2,2)"] {
        let run = run(&["model", text(&input), "--to", rule, "--limits", "none", "--out", text(&restored)]);
        assert!(run.status == 0 && run.stdout.contains("2 of 2 identical"), "{rule}: {run:?}");
    }
    assert_eq!(run(&["model", text(&input), "--limits", "none", "--out", text(&restored)]).status, 0);
    let (tensors, metadata) = contents(&restored);
    assert_eq!((&tensors["a"].1, &tensors["b"].1, metadata.len()), (&vec![3, 5], &vec![2, 3], 0));
    // Bytes 64 to 71 of the data; the first row begins after one of them.
    assert_eq!(tensors["b"].2, [66, 67, 68, 70, 71, 72]);
}

#[test]
fn layouts_that_lie_are_refused() {
    let folder = folder("lying_layouts");
    let path = folder.join("model.safetensors");
    for (layout, complaint) in [
        ("f32[2,3]{1,0:T(2,2)}", "it takes 32 bytes, but there are 24"),
        ("f32[2,3]:[0,1]+3", "are both stored at element 3"),
        ("f32[2,3]:[1,2", "column"),
        ("s32[2,3]:[1,2]", "its elements are F32"),
        ("f32[4294967296,4294967296,4294967296]:[1,1,1]", "tensor `a`"),
        ("\u{1b}[2J", "tensor `a`"),
    ] {
        crate::safetensors_file::write(&path, &[("a", "F32", &[6], 24)], Some(json!({ "layout.a": layout })), 0);
        for arguments in [&[][..], &["--json"], &["--to", "tpu:v5e"]] {
            let run = run(&[&["model", text(&path)], arguments].concat());
            assert_eq!(run.status, 2, "{layout}: {run:?}");
            assert!(run.stderr.contains(complaint) && run.stderr.contains("cannot be the layout"), "{}", run.stderr);
            assert!(run.stdout.is_empty() && !run.stderr.contains(['\u{1b}']) && !run.stderr.contains("panicked"));
        }
    }
}

/// The file says which name each tensor has, and the same layout for readers without the table; another text
/// beside the name is refused.
#[test]
fn names_stay_with_their_tensors() {
    let folder = folder("named");
    let [input, laid_out, restored] =
        ["in", "laid_out", "restored"].map(|name| folder.join(format!("{name}.safetensors")));
    let tensors: &[crate::safetensors_file::Row<'_>] =
        &[("up.weight", "BF16", &[32, 64], 4096), ("up.scale", "F8_E4M3", &[200, 10], 2000), ("bias", "F32", &[5], 20)];
    crate::safetensors_file::write(&input, tensors, None, 0);
    let out = ["model", text(&input), "--limits", "none", "--to-for", "*.weight=aiter.shuffle_weight_16x16", "--json"];
    let run_out = run(&[&out[..], &["--to-for", "*.scale=swizzled", "--out", text(&laid_out)]].concat());
    assert_eq!(run_out.status, 0, "{run_out:?}");
    let (tensors, metadata) = contents(&laid_out);
    assert_eq!(metadata["layout.up.weight"], "aiter.shuffle_weight_16x16:bf16[32,64] = bf16[32,64]{1,0:T(16,8)}");
    assert_eq!(
        metadata["layout.up.scale"],
        "nvidia.sf_128x4:f8e4m3fn[200,10] = f8e4m3fn[200,10]{1,0:T(32,4)(4,1,1,1)(4,1,*,*,1)}"
    );
    assert_eq!(tensors["up.scale"].2.len(), 3072);
    let back = run(&["model", text(&laid_out), "--limits", "none", "--to", "packed", "--out", text(&restored)]);
    assert_eq!(back.status, 0, "{back:?}");
    assert!(contents(&restored) == contents(&input));

    // A file whose name and text differ.
    let bytes = fs::read(&laid_out).unwrap();
    let at = bytes.windows(7).position(|window| window == b"T(16,8)").unwrap();
    let mut other = bytes.clone();
    other[at..at + 7].copy_from_slice(b"T(8,16)");
    fs::write(&laid_out, other).unwrap();
    let refused = run(&["model", text(&laid_out), "--limits", "none"]);
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(refused.stderr.contains("is another layout than `bf16[32,64]{1,0:T(8,16)}`"), "{}", refused.stderr);

    // What a name does not take is refused, as is a name that is misspelt.
    let refused =
        run(&["model", text(&input), "--limits", "none", "--to", "ascend.FRACTAL_NZ", "--out", text(&laid_out)]);
    assert_eq!(refused.status, 1, "{refused:?}");
    assert!(
        refused.stderr.contains("ascend.FRACTAL_NZ has the axes ..,M,N, and there are 1 sizes"),
        "{}",
        refused.stderr
    );
    let refused = run(&["model", text(&input), "--to", "tenstorent.tile"]);
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("the nearest is tenstorrent.tile"), "{}", refused.stderr);
}
