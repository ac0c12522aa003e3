//! What the programs of the suite, and of NVIDIA's own cases, cost on a device, counted from the addresses of
//! their accesses.
//!
//! counted.txt has a row for each case, and this test prints it. Its columns are the case, the form, the
//! number of passes, the sectors that warps read over the least that such accesses could do with, the most
//! bytes that an invocation reads at once, the same two of writes, the most words of one bank that one access
//! touches, and the bytes of all sectors that workgroups touch on the source over the bytes that they write.
//! The profile is `Profile::cuda()`. A GPU serves the 32 loads of a warp in sectors of 32 bytes, and
//! workgroup memory in 32 banks. The least number of sectors is counted at the density with which a workgroup
//! uses them: rows that begin inside sectors, and gaps, are the layout's.

use std::fmt::Write;

use tensor_layout::relayout::{Relayout, Settings};
use tensor_layout_shader::{AccessCount, Form, Profile, Program};
use tensor_layout_text::Layout;

/// The workgroups of each pass that are run.
const WORKGROUPS: u64 = 6;

const SUITES: [&str; 2] =
    [include_str!("../../../../benches/relayout_suite.tsv"), include_str!("../../../../benches/device/nvidia.tsv")];

/// A case of a suite: its size and name, and the copy.
pub(crate) fn cases() -> impl Iterator<Item = (String, Relayout)> {
    let lines = SUITES.into_iter().flat_map(str::lines);
    lines.filter(|line| !line.starts_with('#') && !line.trim().is_empty()).map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [size, name, from, to, ref axes @ ..] = fields[..] else { panic!("a line of four fields or more: {line}") };
        let [from, to]: [Layout; 2] = [from, to].map(|text| text.parse().unwrap());
        let axes: Vec<usize> = axes.iter().map(|axis| axis.parse().unwrap()).collect();
        (
            format!("{size}/{name}"),
            Relayout::with_settings(&from, &to, &Settings { reversed: axes, ..Settings::default() }).unwrap(),
        )
    })
}

fn row(name: &str, program: &Program, count: &AccessCount) -> String {
    let (source, destination) = (count.source, count.destination);
    format!(
        "| {name} | {} | {} | {:.2} | {} | {:.2} | {} | {} | {:.2} |",
        program.form(),
        program.passes().len(),
        source.ratio(),
        source.width * 4,
        destination.ratio(),
        destination.width * 4,
        count.bank,
        count.fetched(),
    )
}

/// How long the text of a pass may be.
fn most_bytes(name: &str) -> usize {
    match name {
        // 8 rows of 8 elements a word, and squares whose rows begin inside words.
        "large/tile_s4" | "large/untile_s4" | "unaligned/vocabulary_back_f16" => 9 << 10,
        _ => 6 << 10,
    }
}

#[test]
fn warps_touch_few_sectors_more_than_they_must_and_banks_at_most_twice() {
    let (mut table, mut wrong, mut long) = (String::new(), Vec::new(), Vec::new());
    for (name, relayout) in cases() {
        let program = Program::new(&relayout, &Profile::cuda()).unwrap();
        let count = program.count_accesses(WORKGROUPS).unwrap();
        let longest = program.passes().iter().map(|pass| pass.cuda().len().max(pass.wgsl().len())).max();
        if program.form() != Form::General && longest > Some(most_bytes(&name)) {
            long.push(format!("{name}: {longest:?}"));
        }
        let row = row(&name, &program, &count);
        let worst = count.source.ratio().max(count.destination.ratio());
        // The source of flatten_one has no run at all: single words are read, whatever reads them.
        let gathers = name == "nvidia/flatten_one";
        if program.form() != Form::General && !gathers && (worst > 1.1 || count.bank > 2) {
            wrong.push(row.clone());
        }
        let _ = writeln!(table, "{row}");
    }
    println!("{table}");
    assert!(long.is_empty(), "texts that are too long: {long:?}");
    assert!(wrong.is_empty(), "more than 1.1 of the sectors, or 2 of a bank:\n{}", wrong.join("\n"));
    let recorded = include_str!("counted.txt");
    let other: Vec<&str> = table.lines().filter(|row| !recorded.contains(row)).collect();
    assert!(table == recorded, "counted.txt has other rows than these:\n{}", other.join("\n"));
}
