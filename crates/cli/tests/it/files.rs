//! The commands that read and write files: `convert`, `model`, `hlo`.

use std::fs;

use crate::command_line::{folder, in_repository, run, run_with_input, text};
use serde_json::json;

const MODEL: &str = "examples/data/digits.safetensors";

fn floats(values: impl IntoIterator<Item = u8>) -> Vec<u8> {
    values.into_iter().flat_map(|value| f32::from(value).to_le_bytes()).collect()
}

/// A .npy file as NumPy writes it.
fn npy(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

#[test]
fn raw_bytes_go_there_and_back() {
    let folder = folder("raw");
    let (packed, tiled, back) = (folder.join("packed"), folder.join("tiled"), folder.join("back"));
    fs::write(&packed, floats(1..=15)).unwrap();
    let convert = |from, to, input, output| run(&["convert", "--from", from, "--to", to, text(input), text(output)]);
    assert_eq!(convert("f32[3,5]", "f32[3,5]{1,0:T(2,2)}", &packed, &tiled).status, 0);
    let expected = [1, 2, 6, 7, 3, 4, 8, 9, 5, 0, 10, 0, 11, 12, 0, 0, 13, 14, 0, 0, 15, 0, 0, 0];
    assert_eq!(fs::read(&tiled).unwrap(), floats(expected));
    assert_eq!(convert("f32[3,5]{1,0:T(2,2)}", "f32[3,5]", &tiled, &back).status, 0);
    assert_eq!(fs::read(&back).unwrap(), fs::read(&packed).unwrap());
    // No temporary file is left.
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
}

#[test]
fn padding_is_filled_as_the_options_say() {
    let folder = folder("fill");
    let (packed, padded) = (folder.join("packed"), folder.join("padded"));
    fs::write(&packed, [1, 2, 3, 4]).unwrap();
    let layouts = ["convert", "--from", "u8[2,2]", "--to", "u8[2,2]:[3,1]", text(&packed), text(&padded)];
    for (fill, filled) in [("zero", 0), ("0xAb", 0xab)] {
        assert_eq!(run(&[&layouts[..], &["--fill", fill]].concat()).status, 0);
        assert_eq!(fs::read(&padded).unwrap(), [1, 2, filled, 3, 4]);
    }
    assert_eq!(run(&[&layouts[..], &["--fill", "0x100"]].concat()).status, 1);
    for bad in ["keep", "0x", "0x+1", "7"] {
        assert_eq!(run(&[&layouts[..], &["--fill", bad]].concat()).status, 2, "{bad}");
    }
}

#[test]
fn npy_files_say_their_own_order() {
    let folder = folder("npy");
    let (c, f, out) = (folder.join("c.npy"), folder.join("f.npy"), folder.join("out.npy"));
    let column_major: Vec<u8> = floats([1, 4, 2, 5, 3, 6]);
    fs::write(&c, npy("'<f4'", "False", "(2, 3)", &floats(1..=6))).unwrap();
    fs::write(&f, npy("'<f4'", "True", "(2, 3)", &column_major)).unwrap();
    let convert = |from, to, input| run(&["convert", "--from", from, "--to", to, text(input), text(&out)]);
    assert_eq!(convert("f32[2,3]", "f32[2,3]{0,1}", &c).status, 0);
    let written = fs::read(&out).unwrap();
    assert!(written.ends_with(&column_major) && written.len() % 64 == column_major.len());
    assert!(written.windows(23).any(|text| text == b"'fortran_order': True, "));
    assert_eq!(convert("f32[2,3]{0,1}", "f32[2,3]", &f).status, 0);
    assert!(fs::read(&out).unwrap().ends_with(&floats(1..=6)));
    for (from, to, input, complaint) in [
        ("f32[2,3]", "f32[2,3]", &f, "first index as the fastest"),
        ("f32[3,2]", "f32[3,2]", &c, "other sizes"),
        ("s32[2,3]", "s32[2,3]", &c, "holds f32"),
        ("f32[2,3]", "f32[2,3]{1,0:T(2,2)}", &c, "neither packed row-major nor packed column-major"),
    ] {
        let run = convert(from, to, input);
        assert_eq!(run.status, 1, "{from} {to}");
        assert!(run.stderr.contains(complaint), "{}", run.stderr);
    }
}

#[test]
fn types_that_numpy_does_not_know_are_said_by_from() {
    let folder = folder("npy_types");
    let (input, out) = (folder.join("in.npy"), folder.join("out.npy"));
    let convert = |from: &[&str], to| run(&[&["convert", "--to", to, text(&input), text(&out)], from].concat());
    let twelve: Vec<u8> = (0..12).collect();
    for (descr, from, bytes) in [("<V2", "bf16[2,3]", 12), ("<V1", "f8e4m3fn[2,3]", 6), ("<f1", "f8e5m2[2,3]", 6)] {
        fs::write(&input, npy(&format!("'{descr}'"), "False", "(2, 3)", &twelve[..bytes])).unwrap();
        let unsaid = convert(&[], "packed");
        assert_eq!(unsaid.status, 2, "{unsaid:?}");
        assert!(unsaid.stderr.contains("say with --from what they are"), "{unsaid:?}");
        let raw = folder.join("raw");
        let said = run(&["convert", "--from", from, "--to", "packed", text(&input), text(&raw)]);
        assert_eq!((said.status, fs::read(&raw).unwrap()), (0, twelve[..bytes].to_vec()), "{said:?}");
        assert!(convert(&["--from", "f32[2,3]"], "packed").stderr.contains("have 32 bits"));
    }
}

/// The rows of an image bottom up: strides of NumPy that run backwards, on either side of a copy.
#[test]
fn arrays_that_run_backwards_are_copied_in_their_order() {
    let folder = folder("backwards_rows");
    let (input, out) = (folder.join("in"), folder.join("out"));
    fs::write(&input, [1, 2, 3, 4, 5, 6]).unwrap();
    let (backwards, forwards) = ("ndarray(shape=(2,3), dtype=uint8, strides=(-3,1))", "u8[2,3]:[3,1]");
    for (from, to, bytes) in [
        (backwards, "packed", [4, 5, 6, 1, 2, 3]),
        (forwards, backwards, [4, 5, 6, 1, 2, 3]),
        (backwards, backwards, [1, 2, 3, 4, 5, 6]),
        (backwards, "u8[2,3]{0,1}", [4, 1, 5, 2, 6, 3]),
    ] {
        let run = run(&["convert", "--from", from, "--to", to, text(&input), text(&out)]);
        assert_eq!((run.status, fs::read(&out).unwrap()), (0, bytes.to_vec()), "{from} {to}: {run:?}");
    }
}

/// An engine that maps a model reads tensors where they are, if they begin at a multiple of their elements.
#[test]
fn tensors_off_their_alignment_are_said() {
    let path = folder("unaligned").join("model.safetensors");
    for (blanks, unaligned, bytes) in [(0, 0, 0), (1, 2, 14)] {
        let header = r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"BF16","shape":[3],"data_offsets":[8,14]},"c":{"dtype":"U8","shape":[1],"data_offsets":[14,15]}}"#;
        let length = header.len().next_multiple_of(8) + blanks;
        let data = [&(length as u64).to_le_bytes()[..], format!("{header:<length$}").as_bytes(), &[7; 15]].concat();
        fs::write(&path, data).unwrap();
        let objects = run(&["model", text(&path), "--limits", "none", "--json"]).objects();
        let total = objects.last().unwrap();
        assert_eq!((&total["unaligned"], &total["unaligned_bytes"]), (&json!(unaligned), &json!(bytes)));
        assert_eq!(objects[0]["aligned"], json!(unaligned == 0));
        let table = run(&["model", text(&path), "--limits", "none"]).stdout;
        assert_eq!(
            table.contains("2 of 3 (14 bytes) begin at no multiple of their elements"),
            unaligned > 0,
            "{table}"
        );
    }
}

/// -1 of s4 in a byte is ff, or 0f as JAX, ONNX and ml_dtypes write it.
#[test]
fn upper_bits_are_signs_or_zeros() {
    let folder = folder("upper_bits");
    let (packed, wide) = (folder.join("packed"), folder.join("wide"));
    fs::write(&packed, [0x10, 0xef, 0x3f]).unwrap();
    let layouts = ["--from", "s4[2,3]{1,0:E(4)}", "--to", "s4[2,3]{0,1}", text(&packed), text(&wide)];
    for (options, bytes) in [
        (&[][..], [0x00, 0xfe, 0x01, 0xff, 0xff, 0x03]),
        (&["--upper-bits", "zero"], [0x00, 0x0e, 0x01, 0x0f, 0x0f, 0x03]),
    ] {
        assert_eq!(run(&[&["convert"], options, &layouts].concat()).status, 0);
        assert_eq!(fs::read(&wide).unwrap(), bytes, "{options:?}");
        // Both are the same numbers.
        let back = ["convert", "--from", "s4[2,3]{0,1}", "--to", "s4[2,3]{1,0:E(4)}", text(&wide), text(&packed)];
        assert_eq!((run(&back).status, fs::read(&packed).unwrap()), (0, vec![0x10, 0xef, 0x3f]));
    }
}

#[test]
fn strange_npy_files_are_refused_in_words() {
    let folder = folder("strange_npy");
    let (input, out) = (folder.join("in.npy"), folder.join("out"));
    for (bytes, complaint) in [
        (npy("'<f4'", "False", "(2,)", &[0; 7]), "its shape takes 8 bytes"),
        (npy("'<f4'", "Perhaps", "(2,)", &[0; 8]), "is not a .npy file that can be read"),
        (b"PK".to_vec(), "is not a .npy file"),
    ] {
        fs::write(&input, bytes).unwrap();
        let run = run(&["convert", "--from", "f32[2]", "--to", "f32[2]", text(&input), text(&out)]);
        assert_eq!(run.status, 1);
        assert!(run.stderr.contains(complaint), "{}", run.stderr);
        assert!(!out.exists());
    }
}

#[test]
fn files_that_do_not_fit_are_refused() {
    let folder = folder("unfit");
    let (input, out) = (folder.join("in"), folder.join("out"));
    fs::write(&input, [0; 12]).unwrap();
    let convert = |from, to| run(&["convert", "--from", from, "--to", to, text(&input), text(&out)]);
    assert_eq!(convert("f32[4]", "f32[4]").status, 1, "too short");
    assert_eq!(convert("f32[2]", "f32[2]").status, 1, "too long");
    assert_eq!(convert("u8[11]", "u8[11]").status, 0, "rounded up to 4 as DirectML's buffers are");
    fs::remove_file(&out).unwrap();
    assert_eq!(convert("f32[3]", "f32[3]:[0]").status, 1, "the destination overlaps");
    assert_eq!(convert("f32[3]", "s32[3]").status, 1, "other types");
    assert_eq!(convert("f32[3]", "f32[3]:[4000000000000000]").status, 2, "no memory");
    assert!(!out.exists());
    assert_eq!(run(&["convert", "--from", "f32[3]", "--to", "f32[3]", "no such file", text(&out)]).status, 2);
    assert_eq!(run(&["convert", "--from", "f32[3]", "--to", "f32[3]", text(&input), text(&folder)]).status, 2);
    let plan = run(&["convert", "--explain", "--from", "f32[2,3]", "--to", "f32[2,3]{0,1}"]);
    assert!(plan.status == 0 && plan.stdout.contains("box"), "{plan:?}");
}

#[test]
fn the_digits_model_survives_every_rule() {
    let tensors = 8;
    for rule in ["packed", "nhwc", "tpu:v2", "tpu:v5e", "tpu:v7x", "T(8,128)", "T(3,5)(2,1)", "T(*,7)", "T(6,2)(4,1)"] {
        let run = run(&["model", MODEL, "--to", rule, "--json", "--limits", "none"]);
        assert_eq!(run.status, 0, "{rule}: {run:?}");
        let objects = run.objects();
        assert_eq!(objects.len(), tensors + 1);
        assert!(objects[..tensors].iter().all(|object| object["identical"] == json!(true)), "{rule}");
        assert_eq!((&objects[tensors]["tensors"], &objects[tensors]["identical"]), (&json!(tensors), &json!(tensors)));
    }
    let table = run(&["model", MODEL, "--to", "tpu:v5e"]);
    assert_eq!(table.status, 0);
    assert!(table.stdout.contains("round trip: 8 of 8 identical; 8 of 8 accepted by DirectML 6.4"), "{}", table.stdout);
    assert_eq!(run(&["model", MODEL, "--to", "tpu:v1"]).status, 2);
    assert_eq!(run(&["model", MODEL, "--to", "T(0)"]).status, 2);
}

#[test]
fn a_written_model_names_its_layouts() {
    let out = folder("model").join("tiled.safetensors");
    assert_eq!(run(&["model", MODEL, "--to", "tpu:v5e", "--out", text(&out)]).status, 0);
    let bytes = fs::read(&out).unwrap();
    let (_, metadata) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    let words = metadata.metadata().as_ref().unwrap();
    assert_eq!(words["layout.test.images"], "u8[360,1,8,8]{0,3,2,1:T(8,128)(4,1)}");
    assert_eq!(words["correct"], "355", "what the model said itself is kept");
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(tensors.tensor("test.images").unwrap().shape(), [8 * 8 * 384]);

    // A tensor of it goes back with `convert`.
    let folder = out.parent().unwrap();
    let (tiled, packed) = (folder.join("images.bin"), folder.join("packed.bin"));
    fs::write(&tiled, tensors.tensor("test.images").unwrap().data()).unwrap();
    let from = words["layout.test.images"].as_str();
    assert_eq!(run(&["convert", "--from", from, "--to", "u8[360,1,8,8]", text(&tiled), text(&packed)]).status, 0);
    let original = fs::read(in_repository(MODEL)).unwrap();
    let original = safetensors::SafeTensors::deserialize(&original).unwrap();
    assert_eq!(fs::read(&packed).unwrap(), original.tensor("test.images").unwrap().data());
}

#[test]
fn dumps_become_tables() {
    let dump = "crates/hlo/tests/data/tpu_sum.hlo";
    let table = run(&["hlo", dump]);
    assert_eq!(table.status, 0);
    assert!(table.stdout.contains("f32[40,200]{1,0:T(8,128)}"), "{}", table.stdout);
    let objects = run(&["hlo", dump, "--json", "--rows", "1"]).objects();
    assert_eq!((&objects[0]["padded_bytes"], &objects[0]["wasted_bytes"]), (&json!(40_960), &json!(8_960)));
    assert_eq!(objects.iter().find(|object| object["unreadable"].is_number()).unwrap()["unreadable"], 0);
    let total = &objects.last().unwrap()["total"];
    assert_eq!((&total["argument_bytes"], &total["output_bytes"]), (&json!(40_960), &json!(1536)));
    assert_eq!(run(&["hlo", "no such file"]).status, 2);
    let garbled = folder("hlo").join("garbled.txt");
    fs::write(&garbled, "ENTRY %main () -> f32[] {\n  %a = f32[] constant(0)\n  what is this\n}\n").unwrap();
    assert_eq!(run(&["hlo", text(&garbled)]).status, 1);
    // A file that is not a dump at all says so, and how to get one.
    for not_a_dump in ["README.md", "Cargo.toml"] {
        let run = run(&["hlo", not_a_dump]);
        assert_eq!((run.status, run.stdout.as_str(), run.stderr.lines().count()), (2, "", 1), "{run:?}");
        assert!(
            run.stderr.contains(&format!("{not_a_dump} is not an HLO dump")) && run.stderr.contains("--xla_dump_to")
        );
    }
}

/// The figures of the compiler are in hlo/tests/data/memory.tsv.
#[test]
fn the_peak_of_a_program_and_what_is_alive_there() {
    let dump = "crates/hlo/tests/data/memory_tpu_mlp_step.hlo";
    let found = run(&["hlo", dump, "--rows", "3"]);
    assert_eq!(found.status, 0, "{}", found.stderr);
    let memory = found.stdout.strip_prefix("HBM: ").unwrap();
    assert!(memory.starts_with(
        "at least 704734208 bytes (672.1 MiB) at the peak, instruction 21 of 36: fusion.22 (fusion, line "
    ));
    for line in ["parameters   218140672 bytes (208.0 MiB)  31.0%", "results      117477888 bytes (112.0 MiB)  16.7%"] {
        assert!(memory.contains(line), "{memory}");
    }
    assert!(!memory.contains("aliased"), "{memory}");
    // Equal arrays are one row, with their share of the peak.
    let row = "256.0 MiB  38.1%  2 x 128.0 MiB  temporary  fusion*";
    assert!(
        memory.contains(row) && memory.contains("jit(mlp_step)/jvp()/dot_general  ./compare_memory.py:"),
        "{memory}"
    );
    assert!(memory.contains("\nVMEM: at least 117440512 bytes") && memory.contains("\nOther memories: SFLAG 8 B.\n"));
    assert!(memory.contains("\npeak_memory_in_bytes of JAX is about 672.1 MiB, "), "{memory}");
    assert!(memory.contains("\nNot in the text: scratch memory of single operations"), "{memory}");
    // Padding comes last, and only where there is some.
    assert!(
        memory.contains("Padding is 0.0% of all buffers: not the problem here.\n229 instructions read\n"),
        "{memory}"
    );
    let padded = run(&["hlo", "crates/hlo/tests/data/tpu_sum.hlo"]).stdout;
    assert!(padded.find("HBM: ").unwrap() < padded.find("Most of it is in:").unwrap(), "{padded}");
    // Names keep their quotes, without the backslashes of the dump.
    let names = run(&["hlo", dump]).stdout;
    assert!(names.contains("parameters[1]['w']") && !names.contains("\\'"), "{names}");

    let objects = run(&["hlo", dump, "--rows", "2", "--json"]).objects();
    assert_eq!(
        objects.last().unwrap(),
        &json!({ "type": "total", "total": {
            "from": "text", "argument_bytes": 218_140_672, "output_bytes": 117_477_888, "alias_bytes": 0,
            "temp_bytes": 369_115_648, "constant_bytes": 0, "peak_bytes": 704_734_208,
            "reported_peak_bytes": 704_734_208, "at_least": true, "complete": true,
        } })
    );
    let peak = objects.iter().find(|object| object["peak_of"] == 0).unwrap();
    assert_eq!(
        (&peak["memory"], &peak["scheduled"], &peak["peak"]["instruction"]),
        (&json!("HBM"), &json!(true), &json!("fusion.22"))
    );
    let live: Vec<_> = objects.iter().filter(|object| object["live_in"] == 0).collect();
    assert_eq!((live.len(), &live[0]["instruction"], &live[0]["opcode"]), (2, &json!("fusion.1"), &json!("fusion")));
    assert!(live[0]["source"].as_str().unwrap().starts_with("./compare_memory.py:"));
}

/// Arrays that differ in the numbers of their names only are one row.
#[test]
fn equal_arrays_are_one_row() {
    let shape = "bf16[8,2048,1024]{2,1,0:T(8,128)(2,1)}";
    let cache = |i: usize| {
        format!("  %c.{i} = {shape} parameter({i}), metadata={{op_name=\"cache[{}]['k{}']\"}}\n", i / 2, i % 2)
    };
    let parameters: String = (0..16).map(cache).collect();
    let dump = format!(
        "HloModule m, is_scheduled=true\n\nENTRY %e () -> f32[] {{\n{parameters}  %x = f32[8,128]{{1,0:T(8,128)}} \
         parameter(16), metadata={{op_name=\"x\"}}\n  ROOT %r = f32[8,128]{{1,0:T(8,128)}} negate(%x)\n}}\n"
    );
    let table = run_with_input(&["hlo", "-"], &dump.replace('\'', "\\'")).stdout;
    let row: Vec<&str> = table.lines().find(|line| line.contains("cache")).unwrap().split_whitespace().collect();
    let expected = ["512.0", "MiB", "100.0%", "16", "x", "32.0", "MiB", "argument", "c*", shape, "cache[*]['k*']"];
    assert_eq!(row, expected, "{table}");
    // In JSON each array is an object of its own.
    let objects = run_with_input(&["hlo", "-", "--json"], &dump).objects();
    assert_eq!(objects.iter().filter(|object| object["live_in"] == 0).count(), 18);
}

#[test]
fn a_pipe_says_what_the_file_says() {
    let dump = "crates/hlo/tests/data/memory_cpu_mlp_donated.hlo";
    let text = fs::read_to_string(in_repository(dump)).unwrap();
    let piped = run_with_input(&["hlo", "-", "--json"], &text);
    assert_eq!((piped.status, &piped.stdout), (0, &run(&["hlo", dump, "--json"]).stdout));
    // CRLF, as a dump that went through Windows has it.
    let windows = run_with_input(&["hlo", "-", "--json"], &text.replace('\n', "\r\n"));
    assert_eq!((windows.status, windows.stdout), (0, piped.stdout));
    // Half of it: no entry computation, which is said.
    let half = run_with_input(&["hlo", "-"], &text[..text.len() / 2]);
    assert_eq!(half.status, 1);
    assert!(half.stdout.contains("no peak: the text has no entry computation"), "{}", half.stdout);
    let half = run_with_input(&["hlo", "-", "--json"], &text[..text.len() / 2]);
    assert_eq!(half.objects().last().unwrap(), &json!({ "type": "total", "total": null }));
    assert_eq!(run_with_input(&["hlo", "-"], "").status, 2);
}

#[test]
fn the_buffer_assignment_beside_a_dump_is_exact() {
    let dump = "crates/hlo/tests/data/memory_tpu_cond_big.hlo";
    let total = |arguments: &[&str]| run(arguments).objects().last().unwrap()["total"].clone();
    let exact = total(&["hlo", dump, "--json"]);
    assert_eq!((&exact["from"], &exact["temp_bytes"]), (&json!("buffer assignment"), &json!(536_936_448)));
    let table = run(&["hlo", dump, "--rows", "1"]).stdout;
    let separator = std::path::MAIN_SEPARATOR;
    let named = format!("by crates/hlo/tests/data{separator}memory_tpu_cond_big-buffer-assignment.txt");
    assert!(table.contains(&named), "{table}");
    // One table of a memory: the totals of the assignment, the arrays of the text.
    assert_eq!(
        (table.matches("HBM: ").count(), table.matches("used as").count()),
        (1, table.matches(" at the peak").count())
    );
    // Under another name it has to be named.
    let moved = folder("hlo-assignment").join("other.txt");
    fs::copy(in_repository(dump), &moved).unwrap();
    assert_eq!(total(&["hlo", text(&moved), "--json"])["from"], "text");
    let beside = "crates/hlo/tests/data/memory_tpu_cond_big-buffer-assignment.txt";
    assert_eq!(total(&["hlo", text(&moved), "--json", "--buffer-assignment", beside]), exact);
    assert_eq!(run(&["hlo", dump, "--buffer-assignment", "Cargo.toml"]).status, 2);
}

#[test]
fn live_memory_is_drawn() {
    let svg = folder("hlo-svg").join("live.svg");
    let dump = "crates/hlo/tests/data/memory_tpu_mlp_step.hlo";
    assert_eq!(run(&["hlo", dump, "--svg", text(&svg)]).status, 0);
    let picture = fs::read_to_string(&svg).unwrap();
    assert!(picture.starts_with("<svg ") && picture.contains("HBM: 672.1 MiB at the peak"), "{picture}");
    assert!(picture.contains("fusion.22{1}, 64.0 MiB"));
    assert_eq!(run(&["hlo", dump, "--svg", text(&svg), "--space", "1"]).status, 0);
    assert!(fs::read_to_string(&svg).unwrap().contains("VMEM: 112.0 MiB at the peak"));
}

#[test]
fn lines_may_end_as_windows_ends_them() {
    let text = fs::read_to_string(in_repository("crates/hlo/tests/data/tpu_sum.hlo")).unwrap();
    let [unix, windows] = [text.clone(), text.replace('\n', "\r\n")].map(|text| run_with_input(&["hlo", "-"], &text));
    assert_eq!((unix.status, &unix.stdout), (windows.status, &windows.stdout));
    let layouts = "f32[3,5]{1,0:T(2,2)}\nf32[2,3]:[5,1]\n";
    let [unix, windows] =
        [layouts.to_owned(), layouts.replace('\n', "\r\n")].map(|text| run_with_input(&["describe", "-"], &text));
    assert_eq!((unix.status, &unix.stdout), (windows.status, &windows.stdout));
    // An assignment that was saved by an editor there.
    let folder = folder("windows-lines");
    let assignment = folder.join("assignment.txt");
    let beside = "crates/hlo/tests/data/memory_tpu_cond_big-buffer-assignment.txt";
    fs::write(&assignment, fs::read_to_string(in_repository(beside)).unwrap().replace('\n', "\r\n")).unwrap();
    let total = |arguments: &[&str]| run(arguments).objects().last().unwrap()["total"].clone();
    let dump = ["hlo", "--json", "crates/hlo/tests/data/memory_tpu_cond_big.hlo", "--buffer-assignment"];
    assert_eq!(total(&[&dump[..], &[assignment.to_str().unwrap()]].concat()), total(&[&dump[..], &[beside]].concat()));
}
