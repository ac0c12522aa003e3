//! The input of `hlo`: the text of a module or an out-of-memory report. Any other file is refused with a
//! sentence that says what to do instead.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use tensor_layout_files::printable;
use tensor_layout_hlo::{BufferAssignment, Module, OutOfMemoryReport};

use crate::input::{is_standard, unreadable};
use crate::output::Stop;
use crate::progress::progress_bar;
use crate::table::counted;

pub(super) enum Input {
    Module(Box<Module>),
    OutOfMemory(Box<OutOfMemoryReport>),
}

/// How many bytes at the beginning of a file are searched for words that say what the file is.
const HEAD: u64 = 1 << 18;

const COMPRESSED: [(&[u8], &str, &str); 4] = [
    (b"\xfd7zXZ\0", "xz", "xz -dc"),
    (b"\x1f\x8b", "gzip", "gzip -dc"),
    (b"\x28\xb5\x2f\xfd", "zstd", "zstd -dc"),
    (b"BZh", "bzip2", "bzip2 -dc"),
];

pub(super) fn read(path: &Path) -> Result<Input, Stop> {
    if path.is_dir() {
        return Err(Stop::Unusable(in_folder(path)));
    }
    let (input, length) = open(path)?;
    read_from(input, length, path)
}

/// Opens a file or standard input. Returns its length too, or 0 if that is not known.
fn open(path: &Path) -> Result<(Box<dyn BufRead>, u64), Stop> {
    if is_standard(path) {
        return Ok((Box::new(io::stdin().lock()), 0));
    }
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    Ok((Box::new(BufReader::with_capacity(1 << 18, file)), length))
}

fn read_from(mut input: impl BufRead, length: u64, path: &Path) -> Result<Input, Stop> {
    let stop = |reason: &dyn Display| unreadable(path, reason);
    let mut head = Vec::new();
    input.by_ref().take(HEAD).read_to_end(&mut head).map_err(|error| stop(&error))?;
    if let Some(sentence) = no_dump(&head, path) {
        return Err(Stop::Unusable(sentence));
    }
    let text = String::from_utf8_lossy(&head);
    let is_report = OutOfMemoryReport::is_in(&text) && !text.contains("HloModule ");
    drop(text);
    let input = Cursor::new(head).chain(input);
    if is_report {
        return OutOfMemoryReport::read(input)
            .map(|report| Input::OutOfMemory(Box::new(report)))
            .map_err(|error| stop(&error));
    }
    let bar = progress_bar(length);
    let module = Module::read(bar.wrap_read(input)).map_err(|error| stop(&error))?;
    bar.finish_and_clear();
    Ok(Input::Module(Box::new(module)))
}

fn no_dump(head: &[u8], path: &Path) -> Option<String> {
    if head.starts_with(b"Memory Space:") {
        let head = String::from_utf8_lossy(head);
        let total = head.lines().find_map(|line| line.strip_prefix("Total bytes: ")).unwrap_or("no total");
        let name = path.to_string_lossy().replace("-memory-usage-report", "");
        return Some(format!(
            "{} is XLA's list of allocations ({}): the program beside it has their names, read {name}",
            path.display(),
            printable(total)
        ));
    }
    let path = path.display();
    if let Some((_, name, command)) = COMPRESSED.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return Some(format!("{path} is compressed with {name}: `{command} {path} | tensor-layout hlo -` reads it"));
    }
    if head.starts_with(b"BufferAssignment:") {
        return Some(format!(
            "{path} is a buffer assignment, not a dump: name the file ...after_optimizations.txt beside it, and this one after \
             --buffer-assignment if it has another folder or name"
        ));
    }
    head.contains(&0).then(|| {
        format!(
            "{path} is binary, not the text of a module: XLA_FLAGS='--xla_dump_to=FOLDER --xla_dump_hlo_as_text' writes the text"
        )
    })
}

fn in_folder(path: &Path) -> String {
    let files = fs::read_dir(path).into_iter().flatten().flatten();
    let dumps = files.map(|file| (file.metadata().map_or(0, |metadata| metadata.len()), file.path()));
    let dumps = dumps.filter(|(_, path)| path.to_string_lossy().ends_with("after_optimizations.txt"));
    let dumps: Vec<_> = dumps.collect();
    match dumps.iter().max() {
        Some((_, largest)) => format!(
            "{} is a folder with {}: name one of the files ...after_optimizations.txt in it, the largest is {}",
            path.display(),
            counted(dumps.len(), "program"),
            largest.display()
        ),
        None => format!("{} is a folder without a file ...after_optimizations.txt, which hlo reads", path.display()),
    }
}

/// Reads XLA's buffer assignment from the file `named`, or else from the file beside the dump, if there is
/// one. Returns it with the path of the file.
pub(super) fn assignment(dump: &Path, named: Option<&Path>) -> Result<Option<(PathBuf, BufferAssignment)>, Stop> {
    let Some(path) = named.map(Path::to_owned).or_else(|| beside(dump)) else { return Ok(None) };
    match BufferAssignment::read(open(&path)?.0) {
        Ok(assignment) if assignment.allocations() == 0 => {
            Err(Stop::Unusable(format!("{} holds no buffer assignment", path.display())))
        }
        Ok(assignment) => Ok(Some((path, assignment))),
        Err(error) => Err(unreadable(&path, &error)),
    }
}

/// Returns the path of the buffer assignment that XLA wrote beside a dump, if it exists:
/// `module_0001.jit_f.after_optimizations-buffer-assignment.txt` beside
/// `module_0001.jit_f.after_optimizations.txt`.
fn beside(dump: &Path) -> Option<PathBuf> {
    let name = dump.file_name()?.to_str()?;
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let stem = stem.trim_end_matches("_after_buffer_assignment").trim_end_matches("_before_buffer_assignment");
    [format!("{stem}-buffer-assignment.txt"), format!("{stem}.buffer-assignment.txt")]
        .into_iter()
        .map(|name| dump.with_file_name(name))
        .find(|path| path.is_file())
}
