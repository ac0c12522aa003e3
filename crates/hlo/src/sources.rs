//! `SourceLine`: the line of the source program that an instruction comes from.

use std::collections::HashMap;
use std::sync::Arc;

/// A line of the source program that the metadata of an instruction names.
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
    /// The path of the source file, as the dump names it.
    pub file: Arc<str>,
    /// The number of the line. The first line is 1.
    pub line: u64,
}

/// One of the tables of source locations that XLA prints before the computations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceTable {
    /// `FileNames` has lines such as `1 "train.py"`.
    Files,
    /// `FunctionNames` has lines such as `1 "main"`. This table is skipped.
    Functions,
    /// `FileLocations` has lines such as `3 {file_name_id=1 function_name_id=2 line=12 ..}`.
    Locations,
    /// `StackFrames` has lines such as `5 {file_location_id=3 parent_frame_id=4}`.
    Frames,
}

impl SourceTable {
    /// Returns the table that begins with this line, its title.
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

/// The tables that a `stack_frame_id=5` in the metadata refers to, and the file that the metadata named last.
#[derive(Debug, Clone, Default)]
pub(super) struct Sources {
    files: HashMap<u64, Arc<str>>,
    /// For the number of a location, the number of its file and its line.
    locations: HashMap<u64, (u64, u64)>,
    /// For the number of a stack frame, the number of its location.
    frames: HashMap<u64, u64>,
    /// The file that the last `source_file=".."` named. Most instructions name the same file again, so its
    /// text is shared.
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

    /// Returns the source line of a stack frame. `None` if the tables do not have the frame.
    pub(super) fn frame(&self, id: u64) -> Option<SourceLine> {
        let &(file, line) = self.locations.get(self.frames.get(&id)?)?;
        Some(SourceLine { file: Arc::clone(self.files.get(&file)?), line })
    }

    /// Returns the source line of an instruction whose metadata has `source_file` and `source_line`.
    pub(super) fn named(&mut self, file: &str, line: u64) -> SourceLine {
        let file = match &self.last {
            Some(last) if **last == *file => Arc::clone(last),
            _ => Arc::from(file),
        };
        self.last = Some(Arc::clone(&file));
        SourceLine { file, line }
    }
}

/// Returns the number in the field `key=`. Blanks and braces separate the fields.
fn number(fields: &str, key: &str) -> Option<u64> {
    fields
        .split([' ', '{', '}'])
        .find_map(|field| field.strip_prefix(key)?.strip_prefix('='))
        .and_then(|value| value.parse().ok())
}

#[cfg(test)]
mod tests;
