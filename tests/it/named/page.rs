//! docs/DEVICE_LAYOUTS.md and its pictures are the page and the pictures that the table makes.
//!
//! `DEVICE_LAYOUTS=write cargo test -p tensor-layout-tests named::page` writes them.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use tensor_layout::ToIndexMap;
use tensor_layout_text::draw::Picture;
use tensor_layout_text::named::{NamedLayout, Row, rows};

/// The line after which generated lines begin.
const MARK: &str = "tests named::page -->\n";

/// The pictures of the page.
const PICTURES: &[(&str, &str)] = &[
    ("sf_8x4", "nvidia.sf_8x4:f8e4m3fn[13,9]"),
    ("COL4_4R2_8C", "cublaslt.COL4_4R2_8C:s8[8,32]"),
    ("kCHW4", "tensorrt.kCHW4:s8[1,6,2,3]"),
    ("kHWC8", "tensorrt.kHWC8:f16[1,3,2,3]"),
    ("shuffle_weight_16x16", "aiter.shuffle_weight_16x16:bf16[16,32]"),
    ("elempack4", "ncnn.elempack4:f16[8,3,1]"),
    ("weights", "xnnpack.f32_gemm_goi.weights<4,2>:f32[6,5]"),
    ("gptq", "gptq.qweight_u4:u4[16,4]"),
    ("awq", "awq.qweight_u4:u4[2,16]"),
    ("key_cache_x", "vllm.key_cache_x:f32[1,2,3,8]"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Compares a file with its wanted contents, or writes them.
fn held(path: &str, wanted: &str) {
    let path = root().join(path);
    if std::env::var_os("DEVICE_LAYOUTS").is_some_and(|word| word == "write") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, wanted).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    let line = found.lines().zip(wanted.lines()).position(|(found, wanted)| found != wanted);
    assert!(found == wanted, "{} is not current (line {line:?}): see the head of this test", path.display());
}

#[test]
fn the_page_is_current() {
    let page = std::fs::read_to_string(root().join("docs/DEVICE_LAYOUTS.md")).unwrap().replace("\r\n", "\n");
    let (written, _) = page.split_once(MARK).expect("the mark");
    held("docs/DEVICE_LAYOUTS.md", &format!("{written}{MARK}{}", table()));
}

#[test]
fn the_pictures_are_current() {
    for (file, text) in PICTURES {
        let layout: NamedLayout = text.parse().unwrap();
        let picture = Picture::new(&layout.to_index_map().unwrap(), text).unwrap();
        held(&format!("docs/pictures/named/{file}.svg"), &picture.to_svg());
    }
}

fn table() -> String {
    let mut page = String::new();
    let system = |row: &Row| (row.name.split('.').next().unwrap().to_owned(), row.about);
    for section in rows().chunk_by(|a, b| system(a) == system(b)) {
        let (name, about) = system(&section[0]);
        let mut about = about.to_owned();
        about[..1].make_ascii_uppercase();
        write!(page, "\n### {name}\n\n{about}.\n\n").unwrap();
        page += "| layout | types | memory | sizes |\n|---|---|---|---|\n";
        for row in section {
            page += &line(row);
        }
        page.push('\n');
        let mut every: Vec<String> = section.iter().flat_map(notes).collect();
        every.sort_by_key(|note| ORDER.iter().position(|word| note.starts_with(word)));
        // Notes of the same rows are one paragraph.
        let mut paragraphs: Vec<(String, String)> = Vec::new();
        for note in distinct(&every) {
            let rows: Vec<&Row> = section.iter().filter(|row| notes(row).contains(&note)).collect();
            let is_fixed = |row: &Row| row.numbers.iter().any(|(word, _)| word.is_empty());
            let name = |row: &&Row| if is_fixed(row) { row.to_string() } else { row.name.clone() };
            let names: Vec<String> = rows.iter().map(|row| format!("`{}`", short(&name(row)))).collect();
            let whose = if rows.len() == section.len() { "All".to_owned() } else { distinct(&names).join(", ") };
            match paragraphs.iter_mut().find(|(of, _)| *of == whose) {
                Some((_, notes)) => *notes += &format!(" {note}"),
                None => paragraphs.push((whose, note)),
            }
        }
        for (whose, notes) in paragraphs {
            writeln!(page, "* {whose}: {notes}").unwrap();
        }
        for (file, text) in PICTURES.iter().filter(|(_, text)| {
            section
                .iter()
                .any(|row| text.starts_with(&format!("{}:", row.name)) || text.starts_with(&format!("{}<", row.name)))
        }) {
            write!(page, "\n![The memory of {text}](pictures/named/{file}.svg)\n\n*`{text}`*\n").unwrap();
        }
    }
    page
}

/// The first words of the notes of a section, in their order.
const ORDER: &[&str] = &["Known", "Padding", "No padding", "Bits", "Open"];

/// Removes repeated texts.
fn distinct(texts: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    texts.iter().for_each(|text| {
        if !found.contains(text) {
            found.push(text.clone())
        }
    });
    found
}

fn short(name: &str) -> &str {
    name.split_once('.').unwrap().1
}

/// The notes that hold for several rows: how the rule is known, padding, alignment, and what is open.
/// The command `names` prints the source of a rule too.
fn notes(row: &Row) -> Vec<String> {
    let mut notes = vec![format!("Known: {}.", row.known)];
    let align = match row.align {
        0 => " The buffer starts at a multiple of an element.".into(),
        1 => String::new(),
        bytes => format!(" The buffer starts at a multiple of {bytes} bytes."),
    };
    notes.push(match row.padding {
        "none" => format!("No padding.{align}"),
        padding => format!("Padding: {padding}.{align}"),
    });
    if row.flip != 0 {
        notes.push(format!("Bits: a copy flips {:#04x} in every byte of the last field.", row.flip));
    }
    if !row.open.is_empty() {
        notes.push(format!("Open: {}.", row.open));
    }
    notes
}

fn line(row: &Row) -> String {
    let other = if row.other.is_empty() { String::new() } else { format!(" ({})", row.other) };
    let types = if row.types == "any" { String::new() } else { row.types.replace(' ', ", ") };
    let (axes, memory, needs) = (row.axes, row.memory, row.needs.replace(',', " or "));
    let name = row.to_string();
    let (_, name) = name.split_once('.').unwrap();
    format!("| `{name}[{axes}]`{other} | {types} | `{memory}` | {needs} |\n")
}
