//! `model --recipe`: what is shown, written and refused.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::command_line::{folder, run, text};

/// A model of two layers, and a recipe.
fn kitchen(name: &str, recipe: &str) -> (PathBuf, PathBuf, PathBuf) {
    let folder = folder(name);
    let [model, file] = ["model.safetensors", "recipe"].map(|name| folder.join(name));
    let names: Vec<String> = (0..2).flat_map(|layer| ["q", "k"].map(|word| format!("l.{layer}.{word}"))).collect();
    let rows: Vec<_> = names.iter().map(|name| (name.as_str(), "U8", [4, 6].as_slice(), 24)).collect();
    crate::safetensors_file::write(&model, &rows, None, 0);
    fs::write(&file, recipe).unwrap();
    (folder, model, file)
}

#[test]
fn outputs_are_shown_and_written() {
    let (folder, model, recipe) =
        kitchen("recipes", "l.{i}.qk = cat 0 (l.{i}.{q,k} | shard 0) | T(2,2)\nqs = stack 0 over {i} (l.{i}.q)");
    let out = folder.join("out.safetensors");
    let arguments = ["model", text(&model), "--recipe", text(&recipe), "--rank", "1/2"];
    let shown = run(&arguments);
    assert!(
        shown.status == 0 && shown.stdout.contains("3 outputs of 2 forms: 96 B read, 96 B written once"),
        "{shown:?}"
    );
    assert!(!out.exists());
    let run_out = run(&[&arguments[..], &["--json", "--align", "256", "--out", text(&out)]].concat());
    let objects = run_out.objects();
    let expected = json!({
        "type": "output", "name": "l.0.qk", "sources": ["l.0.q", "l.0.k"], "layout": "u8[4,6]{1,0:T(2,2)}",
        "bytes": 24, "copies": 2,
    });
    assert_eq!(objects[0], expected);
    let last = objects.last().unwrap();
    assert_eq!((&last["type"], &last["outputs"], &last["written"]), (&json!("recipe"), &json!(3), &json!(text(&out))));
    let tensors = run(&["model", text(&out), "--json", "--limits", "none"]);
    let names: Vec<_> =
        tensors.objects().iter().filter_map(|object| object["name"].as_str().map(str::to_owned)).collect();
    assert_eq!(names, ["qs", "l.0.qk", "l.1.qk"], "padding is not listed, and 48 bytes are a larger multiple than 24");
    let explained = run(&[&arguments[..], &["--explain"]].concat());
    assert!(explained.stdout.contains("copy from byte 12 of l.0.q to byte 0"), "{}", explained.stdout);
}

#[test]
fn what_does_not_fit_is_refused() {
    let (folder, model, recipe) = kitchen("recipes_refused", "x = l.0.q | shard 0");
    let out = folder.join("out.safetensors");
    let base = ["model", text(&model), "--recipe", text(&recipe), "--out", text(&out)];
    let refused = |more: &[&str], status, complaint: &str| {
        let run = run(&[&base[..], more].concat());
        assert!(run.status == status && run.stderr.contains(complaint), "{more:?}: {run:?}");
        assert!(!out.exists());
    };
    refused(&[], 1, "line 1, column 13: `x`: `shard` needs a rank");
    refused(&["--rank", "2/2"], 2, "expected RANK/OF, such as 0/8");
    refused(&["--rank", "two"], 2, "expected RANK/OF");
    refused(&["--align", "100"], 2, "64, 256, 4096, 16384");
    refused(&["--to-for", "a=nhwc"], 2, "cannot be used with");
    refused(&["--rank", "0/2", "--limits", "webgpu:max_binding=8"], 1, "refuses `x`");
    let error = run(&[&base[..], &["--json"]].concat());
    let object = &error.objects()[0];
    assert_eq!((error.status, &object["error"]["line"], &object["name"]), (1, &json!(1), &json!("x")));
    fs::write(&recipe, "x = ").unwrap();
    refused(&[], 1, "line 1, column 5: expected a source");
    fs::write(&recipe, "x = l.0.q").unwrap();
    let over = run(&["model", text(&model), "--recipe", text(&recipe), "--out", text(&model)]);
    assert!(over.status == 2 && over.stderr.contains("is the model that is read"), "{over:?}");
    let warned = run(&["model", text(&model), "--recipe", text(&recipe)]);
    assert!(warned.status == 0 && warned.stderr.contains("uses `l.0.k` (and 2 more)"), "{warned:?}");
}
