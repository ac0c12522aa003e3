//! `model --out`: what is written, read back and kept, and what is left when that fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

#[cfg(unix)]
use crate::command_line::run_after;
use crate::command_line::{folder, in_repository, names, program, run, text};
use safetensors::SafeTensors;
use serde_json::json;

const DIGITS: &str = "examples/data/digits.safetensors";

/// A model of these tensors.
fn model(path: &Path, tensors: &[crate::safetensors_file::Row<'_>]) {
    crate::safetensors_file::write(path, tensors, None, 0);
}

/// A model that is longer than a piece: 150 MB in one tensor.
fn long_model(test: &str) -> (PathBuf, PathBuf) {
    let folder = folder(test);
    let (input, out) = (folder.join("long.safetensors"), folder.join("out.safetensors"));
    model(&input, &[("long", "U8", &[6, 5000, 5000], 150_000_000)]);
    (input, out)
}

#[test]
fn every_kind_of_tensor_is_read_back() {
    let folder = folder("every_kind");
    let (input, out) = (folder.join("in.safetensors"), folder.join("out.safetensors"));
    let tensors: &[(&str, &str, &[usize], usize)] = &[
        ("scalar", "F32", &[], 4),
        ("empty", "F32", &[0, 3], 0),
        ("one", "F32", &[1, 1, 1, 1], 4),
        ("halves", "BF16", &[3, 5, 7], 210),
        ("images", "F16", &[2, 3, 5, 7], 420),
        ("wide", "I64", &[3, 200], 4800),
        ("bytes", "U8", &[37, 129], 4773),
        ("truths", "BOOL", &[9], 9),
        ("nibbles", "F4", &[6, 7], 21),
        ("odd name \" \u{e9}\n", "F64", &[2, 2], 32),
    ];
    for rule in ["packed", "nhwc", "tpu:v2", "tpu:v5e", "tpu:v7x", "T(8,128)", "T(3,5)(2,1)", "T(*,7)", "T(6,2)(4,1)"] {
        // The tiles of a TPU hold half bytes in whole ones.
        let tensors: Vec<_> = tensors.iter().copied().filter(|t| t.1 != "F4" || !rule.starts_with("tpu")).collect();
        model(&input, &tensors);
        let source = fs::read(&input).unwrap();
        let source = SafeTensors::deserialize(&source).unwrap();
        let run = run(&["model", text(&input), "--to", rule, "--limits", "none", "--json", "--out", text(&out)]);
        assert_eq!(run.status, 0, "{rule}: {run:?}");
        let bytes = fs::read(&out).unwrap();
        let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
        let words = metadata.metadata().clone().unwrap_or_default();
        let written = SafeTensors::deserialize(&bytes).unwrap();
        // A model of packed tensors is an ordinary one. Any other names all layouts.
        let named = if rule == "packed" { 0 } else { tensors.len() };
        let layouts = words.keys().filter(|key| key.starts_with("layout.")).count();
        let prints = words.keys().filter(|key| key.starts_with("fingerprint.")).count();
        assert_eq!((written.len(), layouts, prints), (tensors.len(), named, named), "{rule}");
        assert_eq!(words.len(), if rule == "packed" { 0 } else { 2 * named + 1 }, "{rule}: and the source");
        for object in run.objects().iter().filter(|object| object["name"].is_string()) {
            let name = object["name"].as_str().unwrap();
            assert_eq!(object["identical"], json!(true));
            if rule != "packed" {
                assert_eq!(object["layout"], json!(words[&format!("layout.{name}")]));
            }
            // Half bytes are one byte each, or two to a byte: count bytes elsewhere only.
            if name != "nibbles" {
                let elements =
                    |file: &SafeTensors| file.tensor(name).unwrap().data().iter().filter(|&&b| b != 0).count();
                assert_eq!(
                    elements(&written),
                    elements(&source),
                    "{rule}: something besides zeros is in the padding of {name}"
                );
            }
        }
    }
    assert_eq!(names(&folder), ["in.safetensors", "out.safetensors"]);
}

#[test]
fn a_model_replaces_itself_only_when_asked() {
    let folder = folder("itself");
    let path = folder.join("model.safetensors");
    fs::copy(in_repository(DIGITS), &path).unwrap();
    let old = fs::read(&path).unwrap();
    let words = ["model", text(&path), "--to", "tpu:v5e", "--out", text(&path)];
    let refused = run(&words);
    assert_eq!((refused.status, fs::read(&path).unwrap()), (2, old), "{refused:?}");
    assert!(refused.stderr.contains("replace it with --overwrite"), "{refused:?}");
    let run = run(&[&words[..], &["--overwrite"]].concat());
    assert_eq!(run.status, 0, "{run:?}");
    assert!(SafeTensors::deserialize(&fs::read(&path).unwrap()).unwrap().tensor("test.images").is_ok());
    assert_eq!(names(&folder), ["model.safetensors"]);
}

#[test]
fn what_cannot_be_laid_out_leaves_the_old_file() {
    let folder = folder("not_laid_out");
    let (input, out) = (folder.join("in.safetensors"), folder.join("out.safetensors"));
    model(&input, &[("a", "U8", &[300], 300), ("b", "F32", &[2, 3], 24)]);
    fs::write(&out, "old").unwrap();
    let run = run(&["model", text(&input), "--to", "T(1048576,1048576)", "--out", text(&out)]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(
        run.stderr.contains("`b` could not be laid out, which would take 4398046511080 bytes of padding"),
        "{}",
        run.stderr
    );
    assert_eq!(fs::read(&out).unwrap(), b"old");
    assert_eq!(names(&folder), ["in.safetensors", "out.safetensors"]);
}

/// The system counts private memory only, not mapped files: twice the tensor would be too much.
#[cfg(target_os = "linux")]
const LITTLE_MEMORY: &str = "ulimit -d 262144";

#[test]
#[cfg(target_os = "linux")]
fn long_tensors_take_little_memory() {
    let (input, out) = long_model("long");
    let folder = out.parent().unwrap();
    let arguments = ["model", text(&input), "--to", "tpu:v5e", "--limits", "none"];
    let aside = run_after(LITTLE_MEMORY, &arguments);
    assert!(aside.status == 0 && aside.stdout.contains("round trip: 1 of 1 identical"), "{aside:?}");
    let kept = run_after(LITTLE_MEMORY, &[&arguments[..], &["--out", text(&out)]].concat());
    assert!(kept.status == 0 && kept.stdout.contains("round trip: 1 of 1 identical"), "{kept:?}");

    // Another command reads the same bytes out of it, within the same memory.
    let (tiled, back) = (folder.join("tiled"), folder.join("back"));
    let bytes = fs::read(&out).unwrap();
    let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
    let layout = &metadata.metadata().as_ref().unwrap()["layout.long"];
    fs::write(&tiled, SafeTensors::deserialize(&bytes).unwrap().tensor("long").unwrap().data()).unwrap();
    let convert = ["convert", "--from", layout, "--to", "u8[6,5000,5000]", text(&tiled), text(&back)];
    assert_eq!(run_after(LITTLE_MEMORY, &convert).status, 0);
    let source = fs::read(&input).unwrap();
    assert!(source.ends_with(&fs::read(&back).unwrap()));

    // `model` brings the whole model back, within the same memory.
    let back = folder.join("back.safetensors");
    let restored = run_after(LITTLE_MEMORY, &["model", text(&out), "--limits", "none", "--out", text(&back)]);
    assert!(restored.status == 0 && restored.stdout.contains("round trip: 1 of 1 identical"), "{restored:?}");
    let back = fs::read(&back).unwrap();
    let [source, back] = [&source, &back].map(|bytes| SafeTensors::deserialize(bytes).unwrap());
    assert!(source.tensor("long").unwrap() == back.tensor("long").unwrap());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn long_tensors_that_are_not_kept_need_a_folder() {
    let (input, out) = long_model("no_folder");
    let arguments = ["model", text(&input), "--to", "tpu:v5e", "--limits", "none"];
    let run = run_after("TMPDIR=/no/such/folder; export TMPDIR", &arguments);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("in /no/such/folder cannot be used"), "{}", run.stderr);
    // A short tensor needs none, nor does one that is written to a file.
    assert_eq!(run_after("TMPDIR=/no/such/folder; export TMPDIR", &["model", DIGITS]).status, 0);
    let kept = run_after("TMPDIR=/no/such/folder; export TMPDIR", &[&arguments[..], &["--out", text(&out)]].concat());
    assert_eq!(kept.status, 0, "{kept:?}");
    fs::remove_dir_all(out.parent().unwrap()).unwrap();
}

#[test]
#[cfg(unix)]
fn a_file_that_cannot_be_written_to_its_end_leaves_the_old_one() {
    let folder = folder("cut_short");
    let (raw, out) = (folder.join("raw"), folder.join("out"));
    fs::write(&raw, vec![7; 1 << 20]).unwrap();
    let convert = ["convert", "--from", "u8[1024,1024]", "--to", "u8[1024,1024]{0,1}", text(&raw), text(&out)];
    let model = ["model", DIGITS, "--to", "tpu:v5e", "--out", text(&out)];
    for arguments in [&convert[..], &model] {
        for old in [None, Some("old")] {
            let _ = fs::remove_file(&out);
            if let Some(old) = old {
                fs::write(&out, old).unwrap();
            }
            // Files of at most 64 or 128 KiB, depending on the shell.
            let run = run_after("ulimit -f 128", arguments);
            // A write past that limit raises SIGXFSZ, which ends the program.
            assert!(run.status >= 128 && run.stdout.is_empty(), "{run:?}");
            assert_eq!(fs::read(&out).ok().as_deref(), old.map(str::as_bytes));
            assert_eq!(names(&folder).len(), 1 + usize::from(old.is_some()), "a temporary file is left");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_leaves_the_old_file() {
    // A disk of 64 KiB that only the program's own shell sees. Not every system lets every user mount one.
    let disk = folder("full_disk");
    let mount = format!("mount -t tmpfs -o size=64k none '{}' && echo old > '{0}/out' && cd '{0}'", disk.display());
    let digits = fs::canonicalize(in_repository(DIGITS)).unwrap();
    let program = env!("CARGO_BIN_EXE_tensor-layout");
    let script = format!(
        "{mount} || exit 77; '{program}' model '{}' --to tpu:v5e --out out; echo status $?; ls; cat out",
        digits.display()
    );
    let Ok(run) = Command::new("unshare").args(["-rm", "sh", "-c", &script]).output() else { return };
    let (said, complaint) = (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap());
    if !said.contains("status") {
        eprintln!("skipped, because no disk could be mounted: {complaint}");
        return;
    }
    assert_eq!(said, "status 2\nout\nold\n", "{complaint}");
    assert!(complaint.contains("out cannot be written: No space left on device"), "{complaint}");
}

#[test]
fn a_killed_program_leaves_the_old_file_or_the_whole_new_one() {
    let (input, out) = long_model("killed");
    let folder = out.parent().unwrap();
    fs::write(&out, "old").unwrap();
    for delay in [1, 30, 100, 200, 400] {
        let mut command = program();
        command.args(["model", text(&input), "--to", "tpu:v5e", "--limits", "none", "--out", text(&out)]);
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(delay));
        let _ = child.kill();
        if child.wait().unwrap().success() {
            break;
        }
        assert_eq!(fs::read(&out).unwrap(), b"old");
        assert!(cfg!(not(target_os = "linux")) || names(folder).len() == 2, "{:?}", names(folder));
    }
    fs::remove_dir_all(folder).unwrap();
}

/// `tpu:GEN` is the order and the tiles, `tpu:GEN:row-major` the tiles alone.
#[test]
fn a_tpu_picks_the_order_as_well() {
    let bytes_of = |rule: &str| {
        let run = run(&["model", DIGITS, "--to", rule, "--json"]);
        assert_eq!(run.status, 0, "{rule}: {run:?}");
        let object = run.objects().into_iter().find(|object| object["name"] == json!("conv2.weight")).unwrap();
        (object["layout"].clone(), object["laid_out_bytes"].clone())
    };
    assert_eq!(bytes_of("tpu:v5e"), (json!("f32[32,16,3,3]{0,1,3,2:T(8,128)}"), json!(72 << 10)));
    assert_eq!(bytes_of("tpu:v5e:row-major"), (json!("f32[32,16,3,3]{3,2,1,0:T(4,128)}"), json!(1 << 20)));
    let refused = run(&["model", DIGITS, "--to", "tpu:v5e:sideways"]);
    assert!(
        refused.status == 2 && refused.stderr.contains("expected nothing or `:row-major` after the generation"),
        "{refused:?}"
    );
}

/// The nibbles of GPTQ's words are written in AWQ's order: `--from-for` says what the words hold.
#[test]
fn words_of_a_checkpoint_are_read_as_what_they_hold() {
    let folder = folder("words");
    let (input, out) = (folder.join("in.safetensors"), folder.join("out.safetensors"));
    model(&input, &[("a.qweight", "I32", &[4, 16], 256), ("a.scales", "F16", &[2, 16], 64)]);
    let to = ["--to-for", "*.qweight=awq.qweight_u4", "--out", text(&out)];
    let arguments = [&["model", text(&input), "--from-for", "*.qweight=gptq.qweight_u4"], &to[..]].concat();
    let found = run(&arguments);
    assert_eq!(found.status, 0, "{}", found.stderr);
    let (source, written) = (fs::read(&input).unwrap(), fs::read(&out).unwrap());
    let (source, written) = (SafeTensors::deserialize(&source).unwrap(), SafeTensors::deserialize(&written).unwrap());
    let nibble = |bytes: &[u8], place: usize| bytes[place / 2] >> (place % 2 * 4) & 15;
    let (source, written) = (source.tensor("a.qweight").unwrap(), written.tensor("a.qweight").unwrap());
    for (k, n) in (0..32).flat_map(|k| (0..16).map(move |n| (k, n))) {
        let (gptq, awq) = ((k / 8 * 16 + n) * 8 + k % 8, k * 16 + n / 8 * 8 + n % 2 * 4 + n % 8 / 2);
        assert_eq!(nibble(written.data(), awq), nibble(source.data(), gptq), "{k},{n}");
    }
    // Each refusal, with its status and some of its words.
    let refused = [
        ("*.qweight=gptq.qweight_u5", 2, "gptq.qweight_u4"),
        ("*.qweigth=gptq.qweight_u4", 2, "no tensor matches the pattern `*.qweigth`"),
        ("*.qweight", 2, "expected PATTERN=NAME"),
        ("*.qweight=marlin.qweight_u4:u4[32,32]", 1, "needs N % 64 = 0"),
        ("*.qweight=u4[3,3]:[3,1]", 1, "takes 5 bytes, and the words 256"),
    ];
    for (content, status, words) in refused {
        let found = run(&["model", text(&input), "--from-for", content]);
        assert_eq!(found.status, status, "{content}: {}{}", found.stdout, found.stderr);
        assert!((found.stdout.clone() + &found.stderr).contains(words), "{content}: {}{}", found.stdout, found.stderr);
    }
}
