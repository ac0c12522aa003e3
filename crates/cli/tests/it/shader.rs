//! The command `shader`.

use crate::command_line::run;

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
    assert_eq!(blocks, 1);
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
