//! The command `shader`.

use crate::command_line::run;

#[test]
fn index_functions_are_printed_ready_for_a_shader() {
    let text = run(&["shader", "bf16[4,300]{1,0:T(8,128)(2,1)}", "--name", "x", "--walk", "1", "--buffer", "weights"]);
    println!("{}", text.stdout);
    assert_eq!(text.status, 0, "{text:?}");
    for line in [
        "fn x_offset(i0: u32, i1: u32) -> u32 {",
        "fn x_index(offset: u32) -> XIndex {",
        "fn x_step_1(at: XWalk1) -> XWalk1 {",
        "    return (weights[offset >> 1u] >> shift) & 0xffffu;",
        "fn x_store_at(i0: u32, i1: u32, value: f32) {",
    ] {
        assert!(text.stdout.lines().any(|printed| printed == line), "{line} in\n{}", text.stdout);
    }
    let read_only = run(&["shader", "bf16[4]", "--buffer", "weights", "--read-only"]).stdout;
    assert!(read_only.contains("fn load(") && !read_only.contains("fn store("));
    let object = run(&["--json", "shader", "f32[4,6]", "--base-argument"]).object();
    assert!(object["wgsl"].as_str().unwrap().contains("fn offset(base: u32, i0: u32, i1: u32) -> u32 {"));
}

#[test]
fn what_no_shader_can_say_is_refused_in_a_sentence() {
    for (arguments, status, sentence) in [
        (
            &["shader", "u8[65536,65537]"][..],
            1,
            "spans 4295032832 elements, but the device addresses at most 4294967296",
        ),
        (&["shader", "f64[4]", "--buffer", "b"], 1, "64 bits"),
        (&["shader", "f32[4]", "--walk", "1"], 1, "axis 1"),
        (&["shader", "f32[4]", "--name", "9"], 1, "a name of letters"),
        (&["shader", "f32[4", "--walk", "1"], 1, "expected"),
    ] {
        let run = run(arguments);
        assert!(run.status == status && run.stderr.contains(sentence), "{run:?}");
    }
    // Overlapping strides that do not nest: everything but the way back.
    let run = run(&["shader", "f32[300,300,300,300]:[7,5,3,2]"]);
    assert!(run.status == 0 && run.stdout.starts_with("// No function from offsets to indices:"), "{run:?}");
    assert!(run.stdout.contains("return i0 * 7u + i1 * 5u + i2 * 3u + (i3 << 1u);"), "{run:?}");
}

#[test]
fn programs_are_printed_pass_by_pass() {
    let call = ["shader", "--from", "bf16[30,200]{1,0}", "--to", "bf16[30,200]{1,0:T(8,128)(2,1)}"];
    let text = run(&call).stdout;
    for part in [
        "// form: interleave, because it makes one row of 2 rows, elements of 16 bits\n",
        "\n// Pass 1: relayout1, ",
        " x 1 x 1 workgroups; binding 0: the source's bytes 0..",
        "@compute @workgroup_size(256)\n",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let general = run(&[&call[..], &["--form", "general", "--fill", "0x7fc0"]].concat()).stdout;
    assert!(
        general.contains("// form: general, which was requested")
            && (general.contains("0x7fc07fc0u") || general.contains("2143322048u")),
        "{general}"
    );
    let object = run(&[&["--json"], &call[..]].concat()).object();
    assert_eq!((object["form"].as_str(), object["target"].as_str()), (Some("interleave"), Some("wgsl")));
    for (arguments, status, sentence) in [
        (&["shader", "--from", "f32[4]", "--to", "f32[5]"][..], 1, "axis 0"),
        (&["shader", "--from", "f32[4]:[1]", "--to", "f32[4]:[2]", "--form", "transpose"], 1, "transpose"),
        (&["shader", "--from", "f32[4]", "--to", "f32[4]", "--form", "fast"], 2, "linear, rows"),
        (&["shader", "--from", "f32[4]", "--to", "f32[4]", "--target", "glow"], 2, "wgsl, cuda, hlsl"),
        (&["shader", "--from", "f32[4]"], 2, "--to"),
        (&["shader"], 2, "LAYOUT"),
    ] {
        let run = run(arguments);
        assert!(run.status == status && run.stderr.contains(sentence), "{run:?}");
    }
}

/// What docs/GPU.md says of the bindings of an engine that takes another language.
#[cfg(feature = "naga")]
#[test]
fn programs_are_printed_in_every_language() {
    let text = |target: &str| {
        let layouts = ["--from", "bf16[64,64]{1,0}", "--to", "bf16[64,64]{0,1}"];
        let run = run(&[&["shader", "--target", target], &layouts[..]].concat());
        assert_eq!(run.status, 0, "{run:?}");
        run.stdout
    };
    for (target, parts) in [
        ("wgsl", &["@group(0) @binding(0) var<storage, read> source", "workgroupBarrier();"][..]),
        (
            "hlsl",
            &[
                "ByteAddressBuffer source : register(t0)",
                "RWByteAddressBuffer destination : register(u1)",
                "register(b2)",
                "GroupMemoryBarrierWithGroupSync",
            ],
        ),
        ("msl", &["[[buffer(0)]]", "[[buffer(1)]]", "[[buffer(2)]]", "threadgroup_barrier"]),
        ("glsl", &["#version 450 core", "binding = 0", "binding = 1", "binding = 2", "barrier();"]),
        ("spirv", &["0x07230203, "]),
    ] {
        let text = text(target);
        for part in parts {
            assert!(text.contains(part), "{target}: {part} in\n{text}");
        }
    }
}

/// The blocks of docs/GPU.md that begin with a call of this command: what it prints, or the end of that.
#[test]
fn the_page_shows_what_is_printed() {
    let page = include_str!("../../../../docs/GPU.md");
    let mut blocks = 0;
    for block in page.split("```text\n$ tensor-layout shader ").skip(1) {
        let (block, _) = block.split_once("\n```").unwrap();
        let (call, expected) = block.split_once('\n').unwrap();
        if !call.contains("--to") {
            let arguments = call.split('#').next().unwrap().split_whitespace().map(|word| word.trim_matches('\''));
            let printed = run(&["shader"].into_iter().chain(arguments).collect::<Vec<_>>());
            assert!(printed.stdout.trim_end().ends_with(expected), "{call}\n{}", printed.stdout);
            blocks += 1;
        }
    }
    assert_eq!(blocks, 2);
}

/// CUDA needs no naga: a file with a kernel for each pass, whose names do not clash, or a file a pass.
#[test]
fn cuda_is_printed_as_one_file_or_as_one_for_each_pass() {
    let call = ["shader", "--target", "cuda", "--from", "f32[30,300]{1,0}", "--to", "f32[30,300]{1,0:T(8,128)}"];
    let text = run(&call).stdout;
    for part in ["// Pass 2: relayout2, ", "__launch_bounds__(256) relayout1(", "struct Uniforms2 {"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert_eq!(text.matches("struct Uniforms2 {").count(), 1);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("kernels");
    let written = run(&[&call[..], &["--out", out.to_str().unwrap(), "--uniforms"]].concat());
    assert_eq!(written.status, 0, "{written:?}");
    let dispatches: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("dispatches.json")).unwrap()).unwrap();
    let passes = dispatches["passes"].as_array().unwrap();
    assert!(passes.len() > 1);
    for pass in passes {
        let file = std::fs::read_to_string(out.join(pass["file"].as_str().unwrap())).unwrap();
        assert!(file.contains(&format!("{}(", pass["entry_point"].as_str().unwrap())));
        assert_eq!(pass["bindings"].as_array().unwrap().len(), 3);
        assert_eq!(pass["uniforms"][0]["name"], "groups_x");
    }
    let functions = run(&["shader", "bf16[4,300]{1,0:T(8,128)(2,1)}", "--target", "cuda", "--buffer", "words"]).stdout;
    assert!(functions.contains("static __device__ float load(const unsigned* words, const unsigned offset) {"));
}

/// A build without naga says how to get one with it.
#[cfg(not(feature = "naga"))]
#[test]
fn another_language_needs_a_build_with_naga() {
    let layouts = ["shader", "--from", "f32[64,64]{1,0}", "--to", "f32[64,64]{0,1}"];
    for option in ["--target", "--language"] {
        let run = run(&[&layouts[..], &[option, "hlsl"]].concat());
        assert_eq!(run.status, 2, "{run:?}");
        assert_eq!(
            run.stderr,
            "error: this build cannot translate WGSL to hlsl; install one that can: `cargo install --path crates/cli --features naga`\n"
        );
    }
    assert_eq!(run(&[&layouts[..], &["--language", "wgsl"]].concat()).status, 0);
}

#[test]
fn index_functions_are_in_wgsl() {
    let run = run(&["shader", "f32[64,64]", "--target", "hlsl"]);
    let expected =
        "error: index functions are written in WGSL and CUDA alone; --target hlsl requires --from and --to\n";
    assert_eq!((run.status, run.stderr.as_str()), (2, expected));
}
