//! The texts in other languages. SPIRV_VAL names Khronos' validator, which then checks every SPIR-V module.

use std::collections::HashSet;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex};

use tensor_layout_shader::{Access, IndexFunctions, PipelineKey, Profile, Program, Sizes, Target};

/// Translates every pass to every language. Each text is looked at once.
pub(crate) fn translate(program: &Program) {
    static SEEN: LazyLock<Mutex<HashSet<PipelineKey>>> = LazyLock::new(Mutex::default);
    for pass in program.passes() {
        if SEEN.lock().unwrap().insert(pass.key()) {
            for target in Target::ALL {
                let text = pass.translated(target).unwrap_or_else(|error| panic!("{error}\n{}", pass.wgsl()));
                if target == Target::Spirv {
                    validate(&text, pass.wgsl());
                }
            }
        }
    }
}

/// The words of a SPIR-V text.
fn words(text: &str) -> Vec<u32> {
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
    words.map(|word| u32::from_str_radix(word.strip_prefix("0x").unwrap(), 16).unwrap()).collect()
}

fn validate(text: &str, wgsl: &str) {
    let Some(validator) = std::env::var_os("SPIRV_VAL") else { return };
    let mut command = Command::new(validator);
    command
        .args(["--target-env", "vulkan1.3", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut running = command.spawn().unwrap();
    let bytes: Vec<u8> = words(text).into_iter().flat_map(u32::to_le_bytes).collect();
    running.stdin.take().unwrap().write_all(&bytes).unwrap();
    let output = running.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}\n{wgsl}", String::from_utf8_lossy(&said));
}

#[test]
fn every_text_of_the_suite_is_translated() {
    for (_, relayout) in crate::counted::cases() {
        for sizes in [Sizes::Constants, Sizes::Uniforms] {
            let mut profile = Profile::webgpu();
            profile.sizes = sizes;
            translate(&Program::new(&relayout, &profile).unwrap());
        }
    }
}

/// Workgroup memory has no layout in Vulkan; bindings have one.
#[test]
fn only_types_of_bindings_have_a_stride_in_spirv() {
    let [from, to]: [tensor_layout::ArrayShape; 2] =
        ["f32[64,64]{1,0}", "f32[64,64]{0,1}"].map(|text| text.parse().unwrap());
    let copy = tensor_layout::relayout::Relayout::new(&from, &to).unwrap();
    let program = Program::new(&copy, &Profile::webgpu()).unwrap();
    let pass = &program.passes()[0];
    assert!(pass.workgroup_memory() > 0);
    let words = words(&pass.translated(Target::Spirv).unwrap());
    let (mut strides, mut arrays, mut at) = (HashSet::new(), HashSet::new(), 5);
    while at < words.len() {
        match words[at..(at + (words[at] >> 16) as usize)] {
            [first, id, 6, ..] if first & 0xffff == 71 => drop(strides.insert(id)),
            [first, id, ..] if first & 0xffff == 29 => drop(arrays.insert(id)),
            _ => {}
        }
        at += (words[at] >> 16) as usize;
    }
    assert!(!arrays.is_empty() && strides == arrays, "{strides:?} instead of {arrays:?}");
}

/// A module of several kinds of memory, with index functions in it.
#[test]
fn structures_and_arrays_of_functions_have_no_layout_in_spirv() {
    let shape: tensor_layout::ArrayShape = "f16[5,7]{1,0:T(4,4)}".parse().unwrap();
    let functions = IndexFunctions::new(&shape).unwrap().named("x").unwrap().with_inverse().unwrap();
    let functions = functions.with_walk(1).unwrap().with_access("words", Access::ReadWrite).unwrap();
    let wgsl = format!(
        "@group(0) @binding(0) var<storage, read_write> words: array<u32>;
        struct Pair {{ a: u32, b: array<u32, 4> }}
        var<workgroup> shared_words: array<array<u32, 8>, 4>;
        var<private> own: Pair;
        {}
        @compute @workgroup_size(32) fn all(@builtin(local_invocation_index) i: u32) {{
            var local: array<u32, 3>;
            local[i % 3u] = i;
            own.b[i % 4u] = local[0];
            shared_words[i / 8u][i % 8u] = own.b[1];
            workgroupBarrier();
            var walk = x_walk_1(2u, 0u);
            for (var j = 0u; j < i % 7u; j++) {{ walk = x_step_1(walk); }}
            let index = x_index(walk.offset);
            if (index.exists) {{ x_store_at(index.i0, index.i1, f32(shared_words[0][0])); }}
        }}",
        functions.wgsl()
    );
    validate(&tensor_layout_shader::translate(&wgsl, "all", Target::Spirv).unwrap(), &wgsl);
}

#[test]
fn what_naga_refuses_is_refused_for_every_language() {
    let text = "@compute @workgroup_size(64) fn twice() {}";
    let names = ["WGSL", "CUDA", "HLSL", "MSL", "SPIR-V", "GLSL"];
    assert_eq!(names.len(), Target::ALL.len());
    for (target, name) in Target::ALL.into_iter().zip(names) {
        assert_eq!(format!("{target:>6}"), format!("{:>6}", target.name()));
        // Naga translates to every language but CUDA, and it names CUDA when it refuses.
        let translated = tensor_layout_shader::translate(text, "twice", target).map_err(|error| error.to_string());
        assert_eq!(translated.is_err(), target == Target::Cuda, "{translated:?}");
        assert!(translated.err().is_none_or(|error| error.starts_with("no CUDA describes this layout: naga has no")));
        let error = tensor_layout_shader::translate(text, "thrice", target).unwrap_err();
        assert_eq!(error.to_string(), format!("no {name} describes this layout: there is no entry point `thrice`"));
        let error = tensor_layout_shader::translate("fn twice( {}", "twice", target).unwrap_err();
        assert!(error.code() == "not_expressible" && error.to_string().starts_with(&format!("no {name} ")), "{error}");
    }
}
