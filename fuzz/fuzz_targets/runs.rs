//! Whole runs of `convert` and `model`, which print into memory: any layouts, rules and files end with a
//! status and a sentence, and what is written is a whole file or none.
#![no_main]

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use tensor_layout_files::open;
use tensor_layout_fuzz::layouts::{AnySide, Tensor};
use tensor_layout_fuzz::texts::of_bytes;

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    kind: u8,
    tensor: Tensor,
    from: AnySide,
    to: AnySide,
    options: u16,
    /// How many bytes the file has too many or too few.
    off: i8,
    text: &'a [u8],
}

const RULES: [&str; 8] =
    ["packed", "nhwc", "tpu:v5e", "tpu:v4:row-major", "T(8,128)(2,1)", "OIhw16i16o", "tensorrt.kCHW32", "ggml.q4_0x8"];
const FILLS: [&str; 4] = ["zero", "0x1", "0xffff", "0x"];

fuzz_target!(|data: &[u8]| {
    let Ok(input) = Input::arbitrary(&mut Unstructured::new(data)) else { return };
    let folder = std::env::temp_dir().join(format!("tensor-layout-runs-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let [source, out] = ["in.safetensors", "out.safetensors"].map(|name| folder.join(name));
    let _ = fs::remove_file(&out);
    match input.kind % 2 {
        0 => convert(&input, &source, &out),
        _ => model(&input, &source, &out),
    }
});

/// Runs a command line. Its status is 0, 1 or 2, and a failure has a sentence.
fn run(words: Vec<OsString>) -> u8 {
    let (mut printed, mut sentence) = (Vec::new(), Vec::new());
    let words: Vec<OsString> = [OsString::from("tensor-layout")].into_iter().chain(words).collect();
    let status = tensor_layout_cli::run(words.clone(), &mut printed, &mut sentence);
    assert!(status == 0 || status <= 2 && printed.len() + sentence.len() > 0, "{words:?}: {status}");
    // Nothing of a file moves the cursor of a terminal.
    assert!(!printed.contains(&0x1b) && !sentence.contains(&0x1b), "{words:?}");
    status
}

fn convert(input: &Input<'_>, source: &PathBuf, out: &PathBuf) {
    let sizes = input.tensor.sizes(400);
    let [from, to] = [&input.from, &input.to].map(|side| side.side(input.tensor.data_type(), &sizes, 2000));
    let text = of_bytes(input.text).to_owned();
    let to = if input.options & 1 == 0 { to.text } else { text };
    let length = (from.map.physical_size_in_bytes() as i64 + i64::from(input.off / 16)).max(0);
    fs::write(source, vec![0x5a; length as usize]).unwrap();
    let mut words: Vec<OsString> = ["convert", "--from", &from.text, "--to", &to].map(OsString::from).into();
    if input.options & 2 != 0 {
        words.push(format!("--fill={}", FILLS[usize::from(input.options >> 8) % 4]).into());
    }
    let flags = ["--explain", "--json", "--transfers", "--upper-bits=zero"];
    let chosen = flags.iter().enumerate().filter(|(bit, _)| input.options >> (4 + bit) & 1 == 1);
    words.extend(chosen.map(|(_, flag)| OsString::from(*flag)));
    let has_files = input.options & 4 == 0;
    if has_files {
        words.extend([source.into(), out.into()]);
    }
    let is_list = input.options >> 6 & 1 == 1;
    let status = run(words);
    assert_eq!(out.exists(), status == 0 && has_files && !is_list, "{to}");
}

fn model(input: &Input<'_>, source: &PathBuf, out: &PathBuf) {
    // A header of any bytes, as long as it says or not, or a GGUF file of any bytes.
    let header = input.text;
    let file = match input.options % 4 {
        0 => [b"GGUF", header].concat(),
        _ => {
            let tail = vec![3; usize::from(input.options >> 4)];
            [&(header.len() as u64).wrapping_add(input.off as u64 & 1).to_le_bytes(), header, &tail].concat()
        }
    };
    fs::write(source, file).unwrap();
    let rule = RULES[usize::from(input.from.model) % RULES.len()];
    let mut words: Vec<OsString> = ["model", "--to", rule].map(OsString::from).into();
    if input.options & 8 != 0 {
        words.push(format!("--to-for={}", of_bytes(header)).into());
    }
    let flags = ["--json", "--summary", "--limits=webgpu", "--limits=directml"];
    words.push(flags[usize::from(input.to.model) % flags.len()].into());
    words.extend([source.into(), "--out".into(), out.into()]);
    if run(words) == 0 {
        // What was written is a model, whole.
        let _ = open(out).unwrap().tensors().map(|tensor| tensor.bytes().len()).sum::<usize>();
    }
}
