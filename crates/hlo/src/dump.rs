//! `Dump`: what a file of XLA holds, and sentences that say what to do with files that are no dump.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};

use tensor_layout::plan::counted;

use crate::{BufferAssignment, Module, OutOfMemoryReport};

/// How many bytes at the beginning of a file are searched for words that say what the file is.
const HEAD: u64 = 1 << 18;

const COMPRESSED: [(&[u8], &str, &str); 4] = [
    (b"\xfd7zXZ\0", "xz", "xz -dc"),
    (b"\x1f\x8b", "gzip", "gzip -dc"),
    (b"\x28\xb5\x2f\xfd", "zstd", "zstd -dc"),
    (b"BZh", "bzip2", "bzip2 -dc"),
];

/// The text of a module, or the report of a program that ran out of memory.
///
/// ```
/// use tensor_layout_hlo::Dump;
///
/// let text = "ENTRY %e (p: f32[2]) -> f32[2] {\n  ROOT %p = f32[2]{0} parameter(0)\n}";
/// assert!(matches!(Dump::read(text.as_bytes(), "e.txt".as_ref())?, Dump::Module(module) if module.instructions() == 1));
/// let error = Dump::read(&b"\x1f\x8b\x08"[..], "e.gz".as_ref()).unwrap_err();
/// assert_eq!(error.to_string(), "e.gz is compressed with gzip: `gzip -dc e.gz | tensor-layout hlo -` reads it");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub enum Dump {
    /// The text of a module.
    Module(Box<Module>),
    /// The report of a program that ran out of memory.
    OutOfMemory(Box<OutOfMemoryReport>),
}

impl Dump {
    /// Reads the file at `path` through `wrap`, which may count the bytes.
    ///
    /// # Errors
    ///
    /// The errors of [`Dump::read`]. A folder is refused with the name of the largest dump in it.
    pub fn open<R: Read>(path: &Path, wrap: impl FnOnce(File) -> R) -> io::Result<Dump> {
        if path.is_dir() {
            return Err(io::Error::new(ErrorKind::IsADirectory, in_folder(path)));
        }
        let file = File::open(path).map_err(|error| unreadable(path, error))?;
        Dump::read(BufReader::with_capacity(1 << 18, wrap(file)), path)
    }

    /// Reads a dump. `path` names it in errors.
    ///
    /// # Errors
    ///
    /// The errors of reading the input. `InvalidData` for other files, with a sentence that says what to do.
    pub fn read(mut input: impl BufRead, path: &Path) -> io::Result<Dump> {
        let mut head = Vec::new();
        input.by_ref().take(HEAD).read_to_end(&mut head).map_err(|error| unreadable(path, error))?;
        if let Some(sentence) = no_dump(&head, path) {
            return Err(io::Error::new(ErrorKind::InvalidData, sentence));
        }
        let text = String::from_utf8_lossy(&head);
        let is_report = OutOfMemoryReport::is_in(&text) && !text.contains("HloModule ");
        drop(text);
        let input = Cursor::new(head).chain(input);
        let dump = match is_report {
            true => OutOfMemoryReport::read(input).map(|report| Dump::OutOfMemory(Box::new(report))),
            false => Module::read(input).map(|module| Dump::Module(Box::new(module))),
        };
        dump.map_err(|error| unreadable(path, error))
    }
}

impl BufferAssignment {
    /// Returns the path of the buffer assignment that XLA wrote beside a dump, if it exists:
    /// `module_0001.jit_f.after_optimizations-buffer-assignment.txt` beside
    /// `module_0001.jit_f.after_optimizations.txt`.
    #[must_use]
    pub fn beside(dump: &Path) -> Option<PathBuf> {
        let name = dump.file_name()?.to_str()?;
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let stem = stem.trim_end_matches("_after_buffer_assignment").trim_end_matches("_before_buffer_assignment");
        [format!("{stem}-buffer-assignment.txt"), format!("{stem}.buffer-assignment.txt")]
            .into_iter()
            .map(|name| dump.with_file_name(name))
            .find(|path| path.is_file())
    }
}

fn unreadable(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{} cannot be read: {error}", path.display()))
}

fn no_dump(head: &[u8], path: &Path) -> Option<String> {
    if head.starts_with(b"Memory Space:") {
        let head = String::from_utf8_lossy(head);
        let total = head.lines().find_map(|line| line.strip_prefix("Total bytes: ")).unwrap_or("no total");
        let total: String = total.chars().take(80).collect();
        let name = path.to_string_lossy().replace("-memory-usage-report", "");
        return Some(format!(
            "{} is XLA's list of allocations ({total}): the program beside it has their names, read {name}",
            path.display(),
        ));
    }
    let path = path.display();
    if let Some((_, name, command)) = COMPRESSED.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return Some(format!("{path} is compressed with {name}: `{command} {path} | tensor-layout hlo -` reads it"));
    }
    if head.starts_with(b"BufferAssignment:") {
        return Some(format!(
            "{path} is a buffer assignment, not a dump: name the file ...after_optimizations.txt beside it, and \
             this one after --buffer-assignment if it has another folder or name"
        ));
    }
    head.contains(&0).then(|| {
        format!(
            "{path} is binary, not the text of a module: XLA_FLAGS='--xla_dump_to=FOLDER --xla_dump_hlo_as_text' \
             writes the text"
        )
    })
}

fn in_folder(path: &Path) -> String {
    let files = fs::read_dir(path).into_iter().flatten().flatten();
    let dumps = files.map(|file| (file.metadata().map_or(0, |metadata| metadata.len()), file.path()));
    let dumps = dumps.filter(|(_, path)| path.to_string_lossy().ends_with("after_optimizations.txt"));
    let dumps: Vec<_> = dumps.collect();
    let path = path.display();
    match dumps.iter().max() {
        Some((_, largest)) => format!(
            "{path} is a folder with {}: name one of the files ...after_optimizations.txt in it, the largest is {}",
            counted(dumps.len(), "program"),
            largest.display()
        ),
        None => format!("{path} is a folder without a file ...after_optimizations.txt, which hlo reads"),
    }
}
