//! `SourceLine`: the line of the source program that an instruction comes from.

use std::collections::HashMap;
use std::sync::Arc;

/// A line of the source program.
///
/// ```
/// use tensor_layout_hlo::{Reader, Record, SourceLine};
///
/// let line = r#"  %p = f32[4]{0} parameter(0), metadata={source_file="train.py" source_line=12}"#;
/// let dump = format!("ENTRY %main {{\n{line}\n}}");
/// let Some(Ok(Record::Instruction(parameter))) = Reader::new(dump.as_bytes()).next() else { panic!("no instruction") };
/// let source: SourceLine = parameter.source.unwrap();
/// assert_eq!((&*source.file, source.line), ("train.py", 12));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SourceLine {
    /// The file, as the dump names it.
    pub file: Arc<str>,
    /// The line; the first is 1.
    pub line: u64,
}

/// A table that XLA prints before the computations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceTable {
    /// `1 "train.py"`
    Files,
    /// `1 "main"`. This table is not kept.
    Functions,
    /// `3 {file_name_id=1 function_name_id=2 line=12 ..}`
    Locations,
    /// `5 {file_location_id=3 parent_frame_id=4}`
    Frames,
}

impl SourceTable {
    /// The table with this line as its title.
    pub(super) fn titled(line: &str) -> Option<SourceTable> {
        match line {
            "FileNames" => Some(SourceTable::Files),
            "FunctionNames" => Some(SourceTable::Functions),
            "FileLocations" => Some(SourceTable::Locations),
            "StackFrames" => Some(SourceTable::Frames),
            _ => None,
        }
    }
}

/// The tables that `stack_frame_id=5` refers to, and the last file of a `source_file=".." source_line=7`.
#[derive(Debug, Clone, Default)]
pub(super) struct Sources {
    files: HashMap<u64, Arc<str>>,
    /// The file number and the line of each location.
    locations: HashMap<u64, (u64, u64)>,
    /// The location number of each frame.
    frames: HashMap<u64, u64>,
    /// The file that was named last. The next instruction most likely names it too.
    last: Option<Arc<str>>,
}

impl Sources {
    /// Adds one line of a table. A line that cannot be read is skipped.
    pub(super) fn add(&mut self, table: SourceTable, line: &str) {
        let Some((id, rest)) = line.split_once(' ') else { return };
        let Ok(id) = id.parse() else { return };
        match table {
            SourceTable::Functions => {}
            SourceTable::Files => {
                self.files.insert(id, rest.trim().trim_matches('"').into());
            }
            SourceTable::Locations => {
                if let (Some(file), Some(line)) = (number(rest, "file_name_id"), number(rest, "line")) {
                    self.locations.insert(id, (file, line));
                }
            }
            SourceTable::Frames => {
                if let Some(location) = number(rest, "file_location_id") {
                    self.frames.insert(id, location);
                }
            }
        }
    }

    /// The innermost line of a stack frame.
    pub(super) fn frame(&self, id: u64) -> Option<SourceLine> {
        let &(file, line) = self.locations.get(self.frames.get(&id)?)?;
        Some(SourceLine { file: Arc::clone(self.files.get(&file)?), line })
    }

    /// The line of a file that the instruction itself names.
    pub(super) fn named(&mut self, file: &str, line: u64) -> SourceLine {
        let file = match &self.last {
            Some(last) if **last == *file => Arc::clone(last),
            _ => Arc::from(file),
        };
        self.last = Some(Arc::clone(&file));
        SourceLine { file, line }
    }
}

/// The number of the field `key=`. Fields are separated by blanks and braces.
fn number(fields: &str, key: &str) -> Option<u64> {
    fields
        .split([' ', '{', '}'])
        .find_map(|field| field.strip_prefix(key)?.strip_prefix('='))
        .and_then(|value| value.parse().ok())
}

#[cfg(test)]
mod tests;
