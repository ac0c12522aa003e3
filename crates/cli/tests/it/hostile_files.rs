//! Files and texts that nobody writes in good faith: no abort, at most 100 MB of memory beside the file, and
//! nothing of them moves the cursor of a terminal.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command_line::{Run, folder, run, run_after, run_with_input, text};

fn write(test: &str, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder(test).join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// A safetensors file with this header and this many bytes of data.
fn safetensors(header: &str, data: usize) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![0; data]].concat()
}

/// A tensor in the list of a GGUF file: its name, sizes (innermost first), type and offset.
type Listed<'a> = (&'a [u8], &'a [u64], u32, u64);

/// A GGUF file without keys.
fn gguf(tensors: &[Listed<'_>], data: usize) -> Vec<u8> {
    let mut file = b"GGUF\x03\0\0\0".to_vec();
    file.extend((tensors.len() as u64).to_le_bytes());
    file.extend([0; 8]);
    for (name, sizes, kind, offset) in tensors {
        file.extend((name.len() as u64).to_le_bytes());
        file.extend(*name);
        file.extend((sizes.len() as u32).to_le_bytes());
        sizes.iter().for_each(|size| file.extend(size.to_le_bytes()));
        file.extend(kind.to_le_bytes());
        file.extend(offset.to_le_bytes());
    }
    file.resize(file.len().next_multiple_of(32) + data, 0);
    file
}

/// The system counts private memory only, not mapped files. The threads' stacks and the program count too.
const LITTLE_MEMORY: &str = "ulimit -d 102400";

#[track_caller]
fn in_little_memory(words: &[&str]) -> Run {
    let run = run_after(LITTLE_MEMORY, words);
    assert!((0..=2).contains(&run.status) && !run.stderr.contains("panicked"), "{}: {}", run.status, run.stderr);
    run
}

#[test]
fn names_of_65536_characters_are_shortened() {
    let name = "n".repeat(65_536);
    let header = format!(r#"{{"{name}":{{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}}}"#);
    let model = write("long_names", "long.safetensors", &safetensors(&header, 4));
    let index = model.with_file_name("long.safetensors.index.json");
    fs::write(&index, format!(r#"{{"metadata":{{"total_size":4}},"weight_map":{{"{name}":"long.safetensors"}}}}"#))
        .unwrap();
    let blocks = model.with_file_name("long.gguf");
    fs::write(&blocks, gguf(&[(name.as_bytes(), &[1], 0, 0)], 32)).unwrap();
    for path in [&model, &index, &blocks] {
        for more in [&[][..], &["--summary"], &["--json"]] {
            let run = in_little_memory(&[&["model", text(path)], more].concat());
            assert_eq!(run.status, 0, "{run:?}");
            let longest = run.stdout.lines().map(str::len).max().unwrap();
            assert!(more.contains(&"--json") || longest < 400, "{longest}");
        }
    }
    let dump = model.with_file_name("long.hlo");
    let root = format!("ROOT {name} = f32[4,4]{{1,0}} add(p, p)");
    let dumped =
        format!("HloModule m, is_scheduled=true\n\nENTRY main {{\n  p = f32[4,4]{{1,0}} parameter(0)\n  {root}\n}}\n");
    fs::write(&dump, dumped).unwrap();
    assert_eq!(in_little_memory(&["hlo", text(&dump)]).status, 0);
}

#[test]
fn names_that_are_equal_when_they_are_written_are_refused() {
    let path = write("lossy", "m.gguf", &gguf(&[(b"a\xff", &[1], 0, 0), (b"a\xfe", &[1], 0, 32)], 64));
    let run = run(&["model", text(&path)]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("twice (what is not UTF-8 in a name is written as U+FFFD)"), "{run:?}");
    let twice =
        r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}"#;
    let path = write("twice", "m.safetensors", &safetensors(twice, 2));
    let run = crate::command_line::run(&["model", text(&path)]);
    assert!(run.status == 2 && run.stderr.contains("has the tensor `a` twice"), "{run:?}");
}

#[test]
fn tensors_that_lie_over_each_other_do_not_multiply_the_output() {
    let all: Vec<Vec<u8>> = (0..4000).map(|number| format!("t{number}").into_bytes()).collect();
    let tensors: Vec<Listed<'_>> = all.iter().map(|name| (&name[..], &[262_144][..], 0, 0)).collect();
    let path = write("overlapping", "m.gguf", &gguf(&tensors, 1 << 20));
    let out = path.with_file_name("out.safetensors");
    let run = in_little_memory(&["model", text(&path), "--out", text(&out)]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("lie over each other: they would take 4194304000 bytes"), "{}", run.stderr);
    assert!(!out.exists());
}

#[test]
fn many_tensors_and_axes_take_little_memory() {
    let all: Vec<Vec<u8>> = (0..65_536).map(|number| format!("t{number}").into_bytes()).collect();
    for (rank, is_read, more) in [(64, false, &[][..]), (16, true, &[]), (4, true, &["--json"])] {
        let sizes = vec![1; rank];
        // Each tensor is 4 bytes at a multiple of 32, and half of them have other sizes.
        let tensors: Vec<Listed<'_>> = all
            .iter()
            .zip(0..)
            .map(|(name, number)| (&name[..], &sizes[..rank - number % 2], 0, 32 * number as u64))
            .collect();
        let path = write(&format!("many_{rank}"), "m.gguf", &gguf(&tensors, 32 * 65_536));
        let run = in_little_memory(&[&["model", text(&path)], more].concat());
        assert_eq!(run.status < 2, is_read, "{rank} {more:?}: {}", run.stderr);
        assert!(is_read || run.stderr.contains("more than 1048576 axes"), "{}", run.stderr);
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn headers_of_many_words_take_little_memory() {
    let entry =
        |number: usize| format!(r#""{number}":{{"dtype":"U8","shape":[],"data_offsets":[{number},{}]}}"#, number + 1);
    let many = |count: usize| format!("{{{}}}", (0..count).map(entry).collect::<Vec<_>>().join(","));
    let words = |count: usize| {
        let words: Vec<String> = (0..count).map(|number| format!(r#""{number}":"""#)).collect();
        format!(r#"{{"__metadata__":{{{}}}}}"#, words.join(","))
    };
    let axes = format!(r#"{{"a":{{"dtype":"U8","shape":[{}1],"data_offsets":[0,1]}}}}"#, "1,".repeat(5_000_000));
    let long = format!(r#"{{"{}":{{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}}}"#, "n".repeat(17 << 20));
    for (name, header, data, complaint) in [
        ("tensors", many(140_000), 140_000, "more than 131072 tensors"),
        ("words", words(900_000), 0, "more than 131072 words of metadata"),
        ("axes", axes, 1, "a tensor of more than 1024 axes"),
        ("name", long, 1, "more than 16777216 bytes of names"),
        ("header", " ".repeat(26_000_000), 0, "at most 25000000 are read"),
    ] {
        let path = write(&format!("many_words_{name}"), "m.safetensors", &safetensors(&header, data));
        let run = in_little_memory(&["model", text(&path)]);
        assert!(run.status == 2 && run.stderr.contains(complaint), "{name}: {}", run.stderr);
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_long_line_is_refused_and_a_long_error_is_cut() {
    let long = "f32[".to_owned() + &"1,".repeat(2_000_000);
    let run = run_with_input(&["describe", "-"], &long);
    assert!(run.status == 2 && run.stderr.contains("a text of more than 1048576 bytes"), "{run:?}");
    let wrong = format!("f32[{}x,2]", "1,".repeat(20_000));
    let run = crate::command_line::run(&["describe", &wrong]);
    assert!(run.status == 1 && run.stderr.len() < 2000, "{}", run.stderr.len());
    assert!(
        run.stderr.contains("column 40005 of `…1,1,") && run.stderr.contains(",1,x,2]`: expected"),
        "{}",
        run.stderr
    );
    let caret = run.stderr.lines().rev().take(2).map(|line| line.chars().count()).collect::<Vec<_>>();
    assert_eq!(run.stderr.lines().rev().nth(1).unwrap().chars().nth(caret[0] - 1), Some('x'), "{}", run.stderr);
}

#[test]
fn sums_that_do_not_fit_are_not_shown_as_facts() {
    let path =
        write("sums", "m.gguf", &gguf(&[(b"a", &[0, 1 << 62], 0, u64::MAX - 7), (b"b", &[1], 0, u64::MAX - 31)], 0));
    let run = run(&["model", text(&path)]);
    assert!(run.status == 2 && !run.stderr.contains("18446744073709551615 bytes"), "{run:?}");
}

#[test]
#[cfg(unix)]
fn a_new_file_keeps_the_mode_of_the_old_one_and_a_read_only_one_stays() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("modes");
    let (raw, model) = (folder.join("raw"), folder.join("m.safetensors"));
    fs::write(&raw, [1; 24]).unwrap();
    fs::write(&model, safetensors(r#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}"#, 4)).unwrap();
    let (index, parts) = (folder.join("in/m.safetensors.index.json"), folder.join("out"));
    fs::create_dir_all(folder.join("in")).unwrap();
    fs::create_dir_all(&parts).unwrap();
    fs::copy(&model, folder.join("in/p.safetensors")).unwrap();
    fs::write(&index, r#"{"weight_map":{"a":"p.safetensors"}}"#).unwrap();
    let (new_index, shader) = (parts.join("m.safetensors.index.json"), folder.join("shader"));
    let convert = ["convert", "--from", "f32[2,3]", "--to", "f32[2,3]{0,1}"];
    let [raw_out, laid_out, svg] = ["out.bin", "out.safetensors", "p.svg"].map(|name| folder.join(name));
    let ways: [(&[&str], PathBuf); 6] = [
        (&[&convert[..], &[text(&raw), text(&raw_out)]].concat(), raw_out.clone()),
        (&[&convert[..], &["--overwrite", text(&raw), text(&raw)]].concat(), raw.clone()),
        (&["model", text(&model), "--out", text(&laid_out)], laid_out.clone()),
        (&["model", text(&index), "--out", text(&parts)], parts.join("p.safetensors")),
        (&["model", text(&index), "--out", text(&parts)], new_index.clone()),
        (&["draw", "f32[2,3]", "--svg", text(&svg)], svg.clone()),
    ];
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for (words, target) in ways {
        if !target.exists() {
            fs::write(&target, "old").unwrap();
        }
        set(&target, 0o600);
        let done = run(words);
        assert_eq!((done.status, mode(&target)), (0, 0o600), "{words:?}: {done:?}");
        set(&target, 0o400);
        let held = fs::read(&target).unwrap();
        let refused = run(words);
        assert!(refused.status == 2 && refused.stderr.contains("is read-only"), "{words:?}: {refused:?}");
        assert_eq!((mode(&target), fs::read(&target).unwrap()), (0o400, held), "{words:?}");
        set(&target, 0o600);
    }
    let words = ["shader", "--from", "f32[2,3]", "--to", "f32[2,3]{0,1}", "--out", text(&shader)];
    assert_eq!(run(&words).status, 0);
    for file in fs::read_dir(&shader).unwrap() {
        set(&file.unwrap().path(), 0o600);
    }
    assert_eq!(run(&words).status, 0);
    assert!(fs::read_dir(&shader).unwrap().all(|file| mode(&file.unwrap().path()) == 0o600));
}

/// Escape sequences and U+202E, in names of tensors and of parts, in words of metadata and types, in tables,
/// warnings and errors.
#[test]
fn nothing_in_a_file_moves_the_cursor() {
    let evil = "x\\u001b[31m\\u001b[2J\\u202e\\u0085\\u200by";
    let entry = |name: &str, more: &str| format!(r#""{name}":{{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}{more}"#);
    let folder = folder("evil_names");
    let named = format!(r#"{{"__metadata__":{{"layout.{evil}":"u8[1]:[{evil}]"}},{}}}"#, entry(evil, ""));
    let raw: String = serde_json::from_str(&format!("\"{evil}\"")).unwrap();
    let descr = format!("{{'descr': '{raw}', 'fortran_order': False, 'shape': (1,)}}");
    let npy = [b"\x93NUMPY\x01\0", &[descr.len() as u8, 0][..], descr.as_bytes(), &[0]].concat();
    let files: [(&str, Vec<u8>); 7] = [
        ("a.safetensors", safetensors(&format!("{{{}}}", entry(evil, "")), 1)),
        ("b.safetensors", safetensors(&named, 1)),
        ("c.safetensors", safetensors(&format!("{{{}}}", entry(evil, "").replace("[0,1]", "[1,2]")), 2)),
        ("d.safetensors", safetensors(&format!("{{{}}}", entry("d", "").replace("U8", evil)), 1)),
        ("e.gguf", gguf(&[(raw.as_bytes(), &[1], 0, 64)], 96)),
        ("f.safetensors.index.json", format!(r#"{{"weight_map":{{"{evil}":"{evil}"}}}}"#).into_bytes()),
        ("g.npy", npy),
    ];
    for (name, bytes) in files {
        fs::write(folder.join(name), bytes).unwrap();
        let path = folder.join(name);
        let out = folder.join("out");
        let convert = ["convert", "--to", "packed", text(&path), text(&out)];
        let words: &[&[&str]] = match name {
            "g.npy" => &[&convert, &["model", text(&path)]],
            _ => &[
                &["model", text(&path)],
                &["model", text(&path), "--limits", "webgpu"],
                &["model", text(&path), "--json"],
            ],
        };
        for words in words {
            let run = run(words);
            assert!((0..=2).contains(&run.status), "{words:?}");
            for c in run.stdout.chars().chain(run.stderr.chars()) {
                let is_seen =
                    c == '\n' || !c.is_control() && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}');
                assert!(is_seen, "{words:?} prints {c:?}: {}{}", run.stdout, run.stderr);
            }
        }
    }
}

/// What the limits refuse is refused before anything is written.
#[test]
fn a_model_that_a_device_refuses_is_not_written() {
    let header = r#"{"a":{"dtype":"F32","shape":[0,4],"data_offsets":[0,0]}}"#;
    let path = write("refused_model", "m.safetensors", &safetensors(header, 0));
    let out = path.with_file_name("out.safetensors");
    let run = run(&["model", text(&path), "--limits", "webgpu", "--out", text(&out)]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.stderr.contains("nothing was written, because WebGPU defaults refuses `a`: "), "{run:?}");
    assert!(!out.exists());
}
