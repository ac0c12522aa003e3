//! `SourceLine`: the line of the user's program an instruction comes from.

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

/// One of the tables XLA prints in front of the computations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceTable {
    /// `1 "train.py"`
    Files,
    /// `1 "main"`: not kept.
    Functions,
    /// `3 {file_name_id=1 function_name_id=2 line=12 ..}`
    Locations,
    /// `5 {file_location_id=3 parent_frame_id=4}`
    Frames,
}

impl SourceTable {
    /// The table whose title this line is.
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

/// The tables, to find the line that `stack_frame_id=5` or `source_file=".." source_line=7` means.
#[derive(Debug, Clone, Default)]
pub(super) struct Sources {
    files: HashMap<u64, Arc<str>>,
    /// The number of the file, and the line.
    locations: HashMap<u64, (u64, u64)>,
    /// The number of the location.
    frames: HashMap<u64, u64>,
    /// The file that was named last; the next instruction most likely names the same.
    last: Option<Arc<str>>,
}

impl Sources {
    /// Takes one line of a table; what it cannot read it leaves out.
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

    /// The line of a file that is named in the instruction itself.
    pub(super) fn named(&mut self, file: &str, line: u64) -> SourceLine {
        let file = match &self.last {
            Some(last) if **last == *file => Arc::clone(last),
            _ => Arc::from(file),
        };
        self.last = Some(Arc::clone(&file));
        SourceLine { file, line }
    }
}

/// The number after `key=` among fields between blanks and braces.
fn number(fields: &str, key: &str) -> Option<u64> {
    fields
        .split([' ', '{', '}'])
        .find_map(|field| field.strip_prefix(key)?.strip_prefix('='))
        .and_then(|value| value.parse().ok())
}

#[cfg(test)]
mod tests;
