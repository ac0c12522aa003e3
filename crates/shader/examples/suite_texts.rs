//! Writes the CUDA text of every case of the suite and of NVIDIA's own cases into a folder, a file a case,
//! and `cases.json`: what each is launched with, and a checksum of the bytes that the CPU makes.
//!
//! ```text
//! cargo run --release -p tensor-layout-shader --example suite_texts -- DIR [--checksums] [--uniforms] [--times]
//! ```
//!
//! `--times` prints how long `Program::new` takes, and how long the texts are: the median and the worst case.
//!
//! Word `i` of a source is `i * 2654435761` modulo 2^32, the destination is zero before, and the checksum is
//! the sum of `word(i) * (2 i + 1)` modulo 2^64 over the words of the destination, the last one filled up
//! with zeros.

use std::path::Path;
use std::time::{Duration, Instant};

use tensor_layout::relayout::{Relayout, Settings};
use tensor_layout_shader::{BoundBuffer, Pass, Profile, Program, Sizes};
use tensor_layout_text::Layout;

const SUITES: [&str; 2] =
    [include_str!("../../../benches/relayout_suite.tsv"), include_str!("../../../benches/device/nvidia.tsv")];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(folder) = arguments.first().filter(|first| !first.starts_with("--")) else {
        return Err("which folder? suite_texts DIR [--checksums] [--uniforms] [--times]".into());
    };
    let has = |option: &str| arguments.iter().any(|argument| argument == option);
    let folder = Path::new(folder);
    std::fs::create_dir_all(folder)?;
    let mut profile = Profile::cuda();
    if has("--uniforms") {
        profile.sizes = Sizes::Uniforms;
    }
    let (mut cases, mut times, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
    let lines = SUITES.into_iter().flat_map(str::lines);
    for line in lines.filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [size, name, from, to, ref axes @ ..] = fields[..] else { return Err(line.into()) };
        let [from, to]: [Layout; 2] = [from.parse()?, to.parse()?];
        let axes: Vec<usize> = axes.iter().map(|axis| axis.parse()).collect::<Result<_, _>>()?;
        let relayout = Relayout::with_settings(&from, &to, &Settings { reversed: axes, ..Settings::default() })?;
        let program = Program::new(&relayout, &profile)?;
        let module = program.cuda();
        let longest = program.passes().iter().map(|pass| pass.cuda().len().max(pass.wgsl().len())).max();
        lengths.push((longest.unwrap_or(0), name));
        if has("--times") {
            times.push((shortest_time(&relayout, &profile)?, name));
        }
        let file = format!("{size}-{name}.cu");
        std::fs::write(folder.join(&file), &module.text)?;
        let passes: Vec<String> =
            program.passes().iter().zip(&module.entry_points).map(|(pass, entry)| launch(pass, entry)).collect();
        let checksum = if has("--checksums") { format!("\"{:016x}\"", checksum(&relayout)?) } else { "null".into() };
        cases.push(format!(
            "{{\"size\":\"{size}\",\"name\":\"{name}\",\"from\":\"{from}\",\"to\":\"{to}\",\"form\":\"{}\",\"file\":\"{file}\",\
             \"source_bytes\":{},\"destination_bytes\":{},\"moved_bytes\":{},\"checksum\":{checksum},\"box\":{},\"passes\":[{}]}}",
            program.form(),
            relayout.source_size_in_bytes(),
            relayout.destination_size_in_bytes(),
            moved_bytes(&relayout),
            strided(&relayout),
            passes.join(",")
        ));
    }
    std::fs::write(folder.join("cases.json"), format!("[\n{}\n]\n", cases.join(",\n")))?;
    println!("{} cases in {}", cases.len(), folder.display());
    if has("--times") {
        times.sort_unstable();
        lengths.sort_unstable();
        let [middle, last] = [times.len() / 2, times.len() - 1];
        println!("Program::new: median {:?}, worst {:?} ({})", times[middle].0, times[last].0, times[last].1);
        println!("text of a pass: median {} bytes, worst {} ({})", lengths[middle].0, lengths[last].0, lengths[last].1);
    }
    Ok(())
}

/// The shortest of a few calls of `Program::new`.
fn shortest_time(relayout: &Relayout, profile: &Profile) -> Result<Duration, Box<dyn std::error::Error>> {
    let mut shortest = Duration::MAX;
    for _ in 0..20 {
        let begin = Instant::now();
        std::hint::black_box(Program::new(relayout, profile)?);
        shortest = shortest.min(begin.elapsed());
    }
    Ok(shortest)
}

/// The bytes of all elements, as they are written.
fn moved_bytes(relayout: &Relayout) -> u64 {
    let map = relayout.destination();
    (map.element_count() * u64::from(map.element_bits())).div_ceil(8)
}

fn launch(pass: &Pass, entry: &str) -> String {
    let window = |buffer: BoundBuffer| {
        let bound = pass.bindings().into_iter().find(|window| window.buffer == buffer);
        bound.map_or("null".to_owned(), |window| format!("[{},{}]", window.bytes.start, window.bytes.end))
    };
    let numbers: Vec<String> = pass.named_uniforms().map(|(_, value)| value.to_string()).collect();
    format!(
        "{{\"entry\":\"{entry}\",\"blocks\":{:?},\"threads\":{:?},\"source\":{},\"destination\":{},\"uniforms\":[{}]}}",
        pass.workgroups(),
        pass.workgroup_size(),
        window(BoundBuffer::Source),
        window(BoundBuffer::Destination),
        numbers.join(",")
    )
}

/// The copy as one strided copy of whole bytes, if it is one: what other libraries can be asked for.
fn strided(relayout: &Relayout) -> String {
    let bits = relayout.destination().element_bits();
    let mut passes = relayout.passes();
    let (Some(pass), None) = (passes.next(), passes.next()) else { return "null".into() };
    let boxes: Vec<_> = pass.boxes().collect();
    let [only] = boxes.as_slice() else { return "null".into() };
    if relayout.changes_width() || !matches!(bits, 8 | 16 | 32 | 64 | 128) {
        return "null".into();
    }
    let (mut sizes, mut source, mut destination) = (Vec::new(), Vec::new(), Vec::new());
    for step in only.loops() {
        let Some(stride) = step.stride() else { return "null".into() };
        sizes.push(stride.extent);
        source.push(stride.source);
        destination.push(stride.destination);
    }
    format!(
        "{{\"bytes\":{},\"sizes\":{sizes:?},\"source\":{source:?},\"destination\":{destination:?},\"source_offset\":{},\"destination_offset\":{}}}",
        bits / 8,
        only.source,
        only.destination
    )
}

fn checksum(relayout: &Relayout) -> Result<u64, Box<dyn std::error::Error>> {
    let words = relayout.source_size_in_bytes().div_ceil(4) as u32;
    let source: Vec<u8> = (0..words).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let mut destination = vec![0; relayout.destination_size_in_bytes() as usize];
    relayout.run(&source, &mut destination)?;
    destination.resize(destination.len().next_multiple_of(4), 0);
    let words = destination.as_chunks::<4>().0.iter().map(|&bytes| u64::from(u32::from_le_bytes(bytes)));
    Ok(words.zip(0_u64..).fold(0, |sum: u64, (word, i)| sum.wrapping_add(word.wrapping_mul(2 * i + 1))))
}
