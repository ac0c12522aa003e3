//! A sharded checkpoint is one model for `model`: read, converted part by part by any number of jobs, its
//! index written last.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use crate::command_line::{Run, folder, names, program, run, text};
use serde_json::{Value, json};

const INDEX: &str = "model.safetensors.index.json";

fn part(number: usize) -> String {
    format!("model-{number:05}-of-00004.safetensors")
}

/// A checkpoint of four parts, each of three tensors, and an empty folder.
fn checkpoint(test: &str) -> (PathBuf, PathBuf) {
    let folder = folder(test);
    let (input, out) = (folder.join("in"), folder.join("out"));
    fs::create_dir_all(&input).unwrap();
    let mut weights = serde_json::Map::new();
    for number in 1..=4 {
        let names = ["a", "w", "z"].map(|name| format!("layers.{number}.{name}"));
        let tensors: [crate::safetensors_file::Row<'_>; 3] = [
            (&names[0], "F32", &[16, 8, 3, 3], 4608),
            (&names[1], "BF16", &[33, 70], 4620),
            (&names[2], "U8", &[5], 5),
        ];
        crate::safetensors_file::write(&input.join(part(number)), &tensors, Some(json!({ "format": "pt" })), number);
        weights.extend(names.map(|name| (name, Value::from(part(number)))));
    }
    let index = json!({ "metadata": { "total_size": 4 * 9233, "extra": 0.5 }, "weight_map": weights });
    fs::write(input.join(INDEX), format!("{index:#}\n")).unwrap();
    (input.join(INDEX), out)
}

fn model(index: &Path, out: &Path, more: &[&str]) -> Run {
    run(&[&["model", text(index), "--to", "tpu:v5e", "--limits", "none", "--out", text(out)], more].concat())
}

/// The files of a folder and their bytes.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    names(folder).into_iter().map(|name| (name.clone(), fs::read(folder.join(name)).unwrap())).collect()
}

fn whole_names() -> Vec<String> {
    (1..=4).map(part).chain([INDEX.to_owned()]).collect()
}

/// How many bytes the tensors of a part take, by its own header.
fn data_bytes(path: &Path) -> u64 {
    let bytes = fs::read(path).unwrap();
    let header = u64::from_le_bytes(bytes[..8].try_into().unwrap());
    bytes.len() as u64 - 8 - header
}

#[test]
fn a_sharded_checkpoint_is_one_model() {
    let (index, out) = checkpoint("sharded");
    let tried = run(&["model", text(&index), "--to", "tpu:v5e", "--limits", "none"]);
    assert!(tried.status == 0 && tried.stdout.contains("round trip: 12 of 12 identical"), "{tried:?}");
    let written = model(&index, &out, &["--json", "--jobs", "3"]);
    assert_eq!(written.status, 0, "{written:?}");
    let objects = written.objects();
    assert_eq!(objects.len(), 13);
    assert_eq!((&objects[0]["part"], &objects[11]["part"]), (&json!(part(1)), &json!(part(4))));
    assert_eq!(objects[12]["written"], json!(text(&out.join(INDEX))));
    assert_eq!(names(&out), whole_names());
    let new: Value = serde_json::from_slice(&fs::read(out.join(INDEX)).unwrap()).unwrap();
    let old: Value = serde_json::from_slice(&fs::read(&index).unwrap()).unwrap();
    assert_eq!((&new["weight_map"], &new["metadata"]["extra"]), (&old["weight_map"], &json!(0.5)));
    let total: u64 = (1..=4).map(|number| data_bytes(&out.join(part(number)))).sum();
    assert_eq!(new["metadata"]["total_size"], json!(total));

    // And back: the parts and the index are the first ones, byte for byte in their tensors and metadata.
    let restored = out.with_file_name("restored");
    let back = run(&["model", text(&out.join(INDEX)), "--limits", "none", "--out", text(&restored)]);
    assert!(back.status == 0 && back.stdout.contains("12 of 12 identical"), "{back:?}");
    assert_eq!(fs::read(restored.join(INDEX)).unwrap(), fs::read(&index).unwrap());
    for number in 1..=4 {
        let [first, last] =
            [&index, &restored.join(INDEX)].map(|index| fs::read(index.with_file_name(part(number))).unwrap());
        let [first, last] = [&first, &last].map(|bytes| safetensors::SafeTensors::deserialize(bytes).unwrap());
        for name in first.names() {
            assert_eq!(first.tensor(name).unwrap(), last.tensor(name).unwrap());
        }
        assert_eq!(first.len(), last.len());
    }
}

#[test]
fn any_split_into_jobs_makes_the_same_files() {
    let (index, out) = checkpoint("jobs");
    assert_eq!(model(&index, &out, &[]).status, 0);
    let whole = files(&out);
    for (jobs, order) in [(1, vec![1]), (2, vec![2, 1]), (3, vec![3, 1, 2]), (6, vec![6, 5, 1, 2, 3, 4])] {
        let split = out.with_file_name(format!("split{jobs}"));
        for (turn, number) in order.iter().enumerate() {
            let share = format!("{number}/{jobs}");
            let done = model(&index, &split, &["--part", &share]);
            assert_eq!(done.status, 0, "{share}: {done:?}");
            // The last one writes the index.
            let last = turn + 1 == order.len();
            assert_eq!(split.join(INDEX).exists(), last, "{share}: {done:?}");
            assert_eq!(done.stdout.contains("was not written"), !last, "{}", done.stdout);
        }
        assert!(files(&split) == whole, "{jobs} jobs");
        // A job that is run again finds the model complete and touches nothing.
        let again = model(&index, &split, &["--part", "1/2", "--json"]);
        assert_eq!((again.status, &again.object()["written"]), (0, &json!(text(&split.join(INDEX)))), "{again:?}");
        assert!(files(&split) == whole);
    }
}

#[test]
fn jobs_at_the_same_time_write_one_index() {
    let (index, out) = checkpoint("at_once");
    assert_eq!(model(&index, &out, &[]).status, 0);
    let whole = files(&out);
    for round in 0..6 {
        let split = out.with_file_name(format!("round{round}"));
        let start = |share: &str| {
            let mut command = program();
            command.args(["model", text(&index), "--to", "tpu:v5e", "--limits", "none", "--out", text(&split)]);
            command.args(["--part", share]).stdout(Stdio::null()).spawn().unwrap()
        };
        // One of them twice, as a runner does that has lost a machine.
        let jobs = ["1/4", "2/4", "3/4", "4/4", "2/4"].map(start);
        for mut job in jobs {
            assert!(job.wait().unwrap().success());
        }
        assert!(files(&split) == whole, "round {round}: {:?}", names(&split));
    }
}

#[test]
fn the_index_is_written_only_for_parts_of_this_model() {
    let (index, out) = checkpoint("only_these");
    // A job of another part looks for all parts, and converts none of those that are there.
    let refused = |complaint: &str| {
        let run = model(&index, &out, &["--part", "1/2"]);
        assert_eq!(run.status, 0, "{run:?}");
        assert!(run.stdout.contains("was not written: ") && run.stdout.contains(complaint), "{}", run.stdout);
        assert!(!out.join(INDEX).exists());
    };
    refused("2 parts written; 2 of 4 exist");
    refused(&format!("{} does not exist", part(2)));
    refused("0 parts written; 2 of 4 exist");
    assert_eq!(model(&index, &out, &["--part", "2/2"]).status, 0);
    fs::remove_file(out.join(INDEX)).unwrap();
    let second = out.join(part(2));
    let good = fs::read(&second).unwrap();

    // Cut short by something that does not rename.
    fs::write(&second, &good[..good.len() - 1]).unwrap();
    refused("is too short");
    // Of another rule.
    let other = out.with_file_name("other");
    assert_eq!(model(&index, &other, &["--to-for", "*.z=T(64)"]).status, 0);
    fs::copy(other.join(part(2)), &second).unwrap();
    refused("has other tensors, other layouts");
    // Older than what it was made of.
    fs::write(&second, &good).unwrap();
    let source = File::options().append(true).open(index.with_file_name(part(2))).unwrap();
    source.set_modified(SystemTime::now() + Duration::from_secs(60)).unwrap();
    refused("is older than");
    source.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    // All is well, and the step may be done twice.
    for _ in 0..2 {
        assert_eq!(model(&index, &out, &["--part", "1/2"]).status, 0);
        assert_eq!(names(&out), whole_names());
    }
}

#[test]
fn jobs_do_not_touch_a_model_with_an_index() {
    let (index, out) = checkpoint("complete");
    assert_eq!(model(&index, &out, &["--to-for", "*.z=T(64)"]).status, 0);
    let before = files(&out);
    let run = model(&index, &out, &["--part", "1/4"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("exists already, and the index is written last"), "{}", run.stderr);
    assert!(files(&out) == before);
    // A whole conversion replaces it whole.
    assert_eq!(model(&index, &out, &[]).status, 0);
    assert!(files(&out) != before && names(&out) == whole_names());
}

#[test]
fn a_part_that_cannot_be_laid_out_leaves_the_old_model() {
    let (index, out) = checkpoint("old_model");
    assert_eq!(model(&index, &out, &[]).status, 0);
    let before = files(&out);
    // Tebibytes of padding for one tensor of the last part.
    let run = model(&index, &out, &["--to-for", "layers.4.z=T(8796093022208)", "--jobs", "1"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("`layers.4.z` could not be laid out"), "{}", run.stderr);
    assert!(files(&out) == before);
}

#[test]
fn killed_at_any_time_there_is_no_index_without_its_parts() {
    let (index, out) = checkpoint("killed_shards");
    for (number, more) in [(0, &[][..]), (1, &["--part", "1/1"])] {
        for delay in 0..8 {
            let out = out.with_file_name(format!("killed{number}-{delay}"));
            let mut command = program();
            command.args(["model", text(&index), "--to", "tpu:v5e", "--limits", "none", "--out", text(&out)]);
            let mut child = command.args(more).stdout(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(delay * 4));
            let _ = child.kill();
            child.wait().unwrap();
            if out.join(INDEX).exists() {
                let read = run(&["model", text(&out.join(INDEX)), "--limits", "none"]);
                assert!(read.status == 0 && read.stdout.contains("12 of 12 identical"), "{read:?}");
            }
            // Whatever it left, the next run makes the model.
            assert_eq!(model(&index, &out, more).status, 0);
            assert!(whole_names().iter().all(|name| out.join(name).exists()));
        }
    }
}

#[test]
fn an_inconsistent_index_is_refused_by_name() {
    let (index, out) = checkpoint("lying_index");
    let good: Value = serde_json::from_slice(&fs::read(&index).unwrap()).unwrap();
    let refused = |index_text: &str, complaint: &str| {
        fs::write(&index, index_text).unwrap();
        for more in [&[][..], &["--json"], &["--out", text(&out)], &["--out", text(&out), "--part", "1/1"]] {
            let run = run(&[&["model", text(&index)], more].concat());
            assert_eq!(run.status, 2, "{run:?}");
            assert!(run.stderr.contains(complaint) && run.stderr.starts_with("error: "), "{complaint}: {}", run.stderr);
            assert!(!run.stderr.contains("panicked") && run.stdout.is_empty() && !run.stderr.contains('\u{1b}'));
        }
    };
    let with = |tensor: &str, part: &str| {
        let mut index = good.clone();
        index["weight_map"][tensor] = json!(part);
        index.to_string()
    };
    refused("", "is not JSON");
    refused("[1]", "weight_map");
    refused(r#"{"weight_map":{"a":1}}"#, "weight_map");
    refused(&"[".repeat(1 << 20), "is not JSON");
    refused(&with("layers.1.a", "gone.safetensors"), "gone.safetensors cannot be read");
    refused(&with("layers.1.a", "."), "is not the name of a part");
    refused(&with("layers.1.a", "/etc/passwd"), "is not the name of a part");
    refused(&with("layers.1.a", "../in/model-00001-of-00004.safetensors"), "is not the name of a part");
    refused(&with("layers.1.a", "\u{1b}[2J"), "is not the name of a part");
    refused(&with("layers.1.a", INDEX), "is not the name of a part");
    refused(&with("layers.1.a", &part(2)), "`layers.1.a`");
    refused(&with("layers.9.a", &part(2)), "holds tensor `layers.9.a`, which it does not");
    // A tensor of no index in two parts.
    let tensors: [crate::safetensors_file::Row<'_>; 1] = [("twice", "U8", &[5], 5)];
    for name in ["p1", "p2"] {
        crate::safetensors_file::write(&index.with_file_name(name), &tensors, None, 0);
        fs::copy(index.with_file_name(name), index.with_file_name(format!("{name}.safetensors"))).unwrap();
    }
    refused(&with("twice", "p1").replace(&part(4), "p2"), "`");
    // A part that is damaged.
    let first = index.with_file_name(part(1));
    let bytes = fs::read(&first).unwrap();
    fs::write(&first, &bytes[..bytes.len() - 1]).unwrap();
    refused(&good.to_string(), "is truncated");
}

#[test]
fn options_of_shards_need_shards() {
    let (index, out) = checkpoint("options");
    let refused = |arguments: &[&str], complaint: &str| {
        let run = run(&[&["model"], arguments].concat());
        assert_eq!(run.status, 2, "{run:?}");
        assert!(run.stderr.contains(complaint), "{}", run.stderr);
    };
    let single = index.with_file_name(part(1));
    refused(&[text(&single), "--part", "1/2", "--out", text(&out)], "has no parts");
    refused(&[text(&index), "--part", "3/2"], "NUMBER/OF");
    refused(&[text(&index), "--jobs", "0"], "0");
    refused(&[text(&index), "--out", text(index.parent().unwrap())], "choose another folder");
    refused(&[text(&index), "--to-for", "layers.5.*=nhwc"], "no tensor matches");
    // A pattern may match in another part than that of the job.
    assert_eq!(
        run(&["model", text(&index), "--part", "1/4", "--limits", "none", "--to-for", "layers.4.w=T(4)"]).status,
        0
    );
}
