//! The CUDA texts as g++ compiles them: run on the CPU, and compared with `Relayout::run`, bit for bit.
//! Without g++ one line says so.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};
use tensor_layout::element::DataType;
use tensor_layout::relayout::Relayout;
use tensor_layout::{BufferTensorDesc, ToIndexMap};
use tensor_layout_shader::{Access, BoundBuffer, Form, IndexFunctions, Profile, Program, Sizes};

use crate::literal::pairs::{noise, padding, pair_of_any_widths, within};
use crate::planes::planes;

/// The random pairs.
const PAIRS: usize = 500;

fn has_compiler() -> bool {
    let found = Command::new("g++").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        println!("skipped: the CUDA texts on the CPU (g++ is not installed)");
    }
    found
}

/// Compiles and runs a file of C++ in a folder of its own, and gives what it printed.
fn run(name: &str, text: &str, data: &[u8]) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("cuda.h"), include_str!("cuda.h")).unwrap();
    std::fs::write(folder.join("main.cpp"), text).unwrap();
    std::fs::write(folder.join("data"), data).unwrap();
    let compiled = Command::new("g++")
        .args([
            "-std=c++17",
            "-O0",
            "-Wall",
            "-Wno-unused-function",
            "-Wno-unused-variable",
            "-Werror",
            "main.cpp",
            "-o",
            "main",
        ])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(folder.join("main")).current_dir(&folder).output().unwrap();
    assert!(ran.status.success(), "{:?} {}", ran.status, String::from_utf8_lossy(&ran.stderr));
    ran.stdout
}

#[test]
fn cuda_texts_copy_as_the_cpu_does() {
    if !has_compiler() {
        return;
    }
    let mut runner = TestRunner::new(Config::default());
    let mut text = "#include \"cuda.h\"\n".to_owned();
    let mut calls = String::new();
    let (mut data, mut expected, mut forms) = (Vec::new(), Vec::new(), Vec::new());
    let mut number = 0;
    while number < PAIRS {
        let (from, to) = match number % 3 {
            0 => pair_of_any_widths().new_tree(&mut runner).unwrap().current(),
            _ => planes().new_tree(&mut runner).unwrap().current(),
        };
        let padding = within(padding().new_tree(&mut runner).unwrap().current(), to.map.element_bits());
        let Ok(relayout) = Relayout::new(&from.map, &to.map) else { continue };
        let relayout = relayout.with_padding_of_whole_buffer(padding).unwrap();
        let mut profile = Profile::cuda();
        profile.sizes = if number % 2 == 0 { Sizes::Constants } else { Sizes::Uniforms };
        let program = match Program::new(&relayout, &profile) {
            // Elements of 3, 5 or 6 bits.
            Err(error) if error.code() == "unsupported_data_type" => continue,
            program => program.unwrap(),
        };
        forms.push(program.form());
        let source = noise(relayout.source_size_in_bytes().next_multiple_of(4) as usize, 1);
        let before = noise(relayout.destination_size_in_bytes().next_multiple_of(4) as usize, 2);
        let mut after = before.clone();
        relayout.run(&source, &mut after).unwrap();

        let module = program.cuda();
        let _ = writeln!(text, "namespace pair{number} {{\n{}}}\n", module.text.replace("extern \"C\" ", "static "));
        for (pass, entry) in program.passes().iter().zip(&module.entry_points) {
            let [x, y, z] = pass.workgroups();
            let threads = pass.workgroup_size()[0];
            let mut arguments = Vec::new();
            for window in pass.bindings() {
                let start = match window.buffer {
                    BoundBuffer::Source => data.len(),
                    _ => data.len() + source.len(),
                };
                if window.buffer != BoundBuffer::Uniforms {
                    arguments.push(format!("Pointer{{data.data() + {}}}", start as u64 + window.bytes.start));
                }
            }
            let words: Vec<String> = pass.named_uniforms().map(|(_, value)| format!("{value}u")).collect();
            arguments.push(format!("{{{}}}", words.join(", ")));
            let _ = writeln!(
                calls,
                "    launch({{{x}, {y}, {z}}}, {threads}, [&] {{ pair{number}::{entry}({}); }});",
                arguments.join(", ")
            );
        }
        let start = data.len() + source.len();
        let _ = writeln!(calls, "    fwrite(data.data() + {start}, 1, {}, stdout);", before.len());
        data.extend(source);
        data.extend(before);
        // Vectors are aligned as device memory is.
        data.resize(data.len().next_multiple_of(16), 0);
        expected.push((relayout.explain(), program.explain(), after));
        number += 1;
    }
    let _ = writeln!(
        text,
        "int main() {{\n    std::vector<unsigned char> data = file(\"data\");\n{calls}    return 0;\n}}"
    );
    let written = run("cuda-pairs", &text, &data);
    let mut rest = written.as_slice();
    for (number, (relayout, program, expected)) in expected.iter().enumerate() {
        let (own, after) = rest.split_at(expected.len());
        rest = after;
        assert!(own == expected, "pair {number}:\n{relayout}\n{program}");
    }
    let of = |form: Form| forms.iter().filter(|own| **own == form).count();
    println!("{PAIRS} pairs: {:?}", Form::ALL.map(|form| (form.name(), of(form))));
    assert!(Form::ALL.into_iter().all(|form| of(form) > 0));
}

/// Offsets, indices, and elements of every kind, as the functions say on the CPU.
#[test]
fn index_functions_are_the_same_in_cuda() {
    if !has_compiler() {
        return;
    }
    let tensor: tensor_layout::ArrayShape = "f16[5,7]{1,0:T(4,4)}".parse().unwrap();
    let functions = IndexFunctions::new(&tensor).unwrap().named("x").unwrap().with_inverse().unwrap();
    let functions = functions.with_walk(1).unwrap().with_access("words", Access::ReadWrite).unwrap();
    let mut text = format!("#include \"cuda.h\"\n{}", functions.cuda());
    for (number, kind) in
        [DataType::BF16, DataType::S4, DataType::U8, DataType::S32, DataType::F32].into_iter().enumerate()
    {
        let desc = BufferTensorDesc::packed(kind, &[3, 5]).unwrap().to_index_map().unwrap();
        let other = IndexFunctions::with_base_argument(&desc).unwrap().named(&format!("t{number}")).unwrap();
        text.push_str(&other.with_access("words", Access::ReadWrite).unwrap().cuda());
    }
    text.push_str(
        "int main() {
    for (unsigned i = 0; i < 5; i++) for (unsigned j = 0; j < 7; j++) printf(\"%u \", x_offset(i, j));
    for (unsigned at = 0; at < 64; at++) { const XIndex x = x_index(at); printf(\"%d %u %u \", x.exists, x.i0, x.i1); }
    XWalk1 walk = x_walk_1(2, 0);
    for (unsigned j = 0; j < 7; j++) { printf(\"%u \", walk.offset); walk = x_step_1(walk); }
    // Every f16 comes back as it was, NaNs as NaNs.
    unsigned words[32] = {0}, wrong = 0;
    for (unsigned bits = 0; bits < 65536; bits++) {
        x_store_bits(words, 3, bits);
        const float value = x_load(words, 3);
        x_store(words, 5, value);
        const unsigned back = x_load_bits(words, 5);
        if (value != value ? (back & 0x7fff) <= 0x7c00 : back != bits) wrong++;
    }
    const float values[] = {65504.0f, 65519.0f, 65520.0f, 1.0f + 1.0f / 2048, 1.0f + 3.0f / 2048, 5.9604645e-8f, 2.9802322e-8f, 1e-30f};
    for (float value : values) { x_store(words, 0, value); printf(\"%x \", x_load_bits(words, 0)); }
    t1_store(words, 9, -3); t0_store(words, 1, -1.5f); t4_store_at(words, 2, 1, 0, 2.5f);
    printf(\"%u %d %g %g\", wrong, t1_load(words, 9), t0_load(words, 1), t4_load(words, 7));
    return 0;
}
",
    );
    let printed = String::from_utf8(run("cuda-functions", &text, &[])).unwrap();
    let mut expected = String::new();
    for i in 0..5 {
        for j in 0..7 {
            let _ = write!(expected, "{} ", functions.offset(&[i, j]).unwrap());
        }
    }
    for at in 0..64 {
        // Where nothing is stored the index is some legal one, which the text alone says.
        match functions.index(at).unwrap() {
            Some(index) => {
                let _ = write!(expected, "1 {} {} ", index[0], index[1]);
            }
            None => expected.push_str("0 ? ? "),
        }
    }
    for offset in functions.walk(1, &[2, 0]).unwrap() {
        let _ = write!(expected, "{offset} ");
    }
    expected.push_str("7bff 7bff 7c00 3c00 3c02 1 0 0 0 -3 -1.5 2.5");
    let (own, expected): (Vec<&str>, Vec<&str>) = (printed.split(' ').collect(), expected.split(' ').collect());
    assert_eq!(own.len(), expected.len(), "{printed}");
    for (own, expected) in own.iter().zip(&expected) {
        assert!(own == expected || *expected == "?", "{own} instead of {expected} in {printed}");
    }
}
