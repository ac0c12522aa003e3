//! `Reader`: the instructions of a dump, one after the other.

use std::io::{self, BufRead};
use std::sync::Arc;

use crate::cursor::Cursor;
use crate::error::Error;

use super::instruction::{Instruction, read_name};
use super::lines::{Line, Lines, MAX_LINE_BYTES};

/// What one or more lines of a dump say.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Record {
    /// An instruction.
    Instruction(Box<Instruction>),
    /// A line that is no part of an HLO dump as this reader knows it, or the end of the file where
    /// a computation was still open.
    Unreadable(UnreadableLine),
}

/// A line that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnreadableLine {
    /// The number of the line; the first is 1.
    pub line: u64,
    /// How it begins: at most 200 characters.
    pub text: String,
    /// Why.
    pub error: Error,
}

/// Reads a dump instruction by instruction.
///
/// Besides instructions it knows, and passes over, the line of the module, the tables of source locations that
/// XLA prints in front, the heads and ends of computations, comments and empty lines. An instruction
/// may go over several lines.
///
/// ```
/// use tensor_layout::hlo::{Reader, Record};
///
/// let dump = "HloModule m\n\nENTRY %e (x: f32[2]) -> f32[2] {\n  ROOT %x = f32[2]{0} parameter(0)\n}\n";
/// let mut reader = Reader::new(dump.as_bytes());
/// let Some(Ok(Record::Instruction(parameter))) = reader.next() else { panic!() };
/// assert_eq!((parameter.name.as_str(), &*parameter.computation), ("x", "e"));
/// assert!(reader.next().is_none());
/// assert_eq!(reader.bytes_read(), 83);
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    lines: Lines<R>,
    place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Outside,
    /// In one of the tables in front of the computations.
    Table,
    Computation {
        name: Arc<str>,
        entry: bool,
    },
    Ended,
}

/// The tables XLA prints in front of the computations.
const TABLES: [&str; 4] = ["FileNames", "FunctionNames", "FileLocations", "StackFrames"];

impl<R: BufRead> Reader<R> {
    /// A reader at the beginning of a dump.
    pub fn new(input: R) -> Reader<R> {
        Reader { lines: Lines::new(input), place: Place::Outside }
    }

    /// The bytes of the dump that have been taken so far.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.lines.bytes()
    }

    fn read(&mut self) -> io::Result<Option<Record>> {
        while self.place != Place::Ended {
            let Some(line) = self.lines.next()? else {
                let open = matches!(self.place, Place::Computation { .. });
                self.place = Place::Ended;
                let error = || Cursor::new("").error("`}` at the end of the computation");
                let end = || {
                    Record::Unreadable(UnreadableLine {
                        line: self.lines.number(),
                        text: String::new(),
                        error: error(),
                    })
                };
                return Ok(open.then(end));
            };
            if Cursor::new(&line.text).rest().is_empty() {
                continue;
            }
            let record = match self.place.clone() {
                Place::Computation { name, entry } => self.in_computation(line, &name, entry)?,
                outside => self.outside(&line, outside == Place::Table),
            };
            if record.is_some() {
                return Ok(record);
            }
        }
        Ok(None)
    }

    fn outside(&mut self, line: &Line, in_table: bool) -> Option<Record> {
        let text = line.text.trim();
        if TABLES.contains(&text) {
            self.place = Place::Table;
            return None;
        }
        if (in_table && text.starts_with(|c: char| c.is_ascii_digit())) || text.starts_with("HloModule ") {
            return None;
        }
        self.place = Place::Outside;
        match computation_head(line) {
            Ok((name, entry)) => {
                self.place = Place::Computation { name, entry };
                None
            }
            Err(error) => Some(unreadable(line, error)),
        }
    }

    fn in_computation(&mut self, mut line: Line, name: &Arc<str>, entry: bool) -> io::Result<Option<Record>> {
        if line.text.trim_start().starts_with('}') {
            self.place = Place::Outside;
            return Ok(None);
        }
        loop {
            let error = match Instruction::read(line.text.trim_end(), line.cut, line.number, name, entry) {
                Ok(instruction) => return Ok(Some(Record::Instruction(Box::new(instruction)))),
                Err(error) => error,
            };
            // Where the text only ended too early, the next line may go on with it.
            let ended = error.column().is_some_and(|column| column > line.text.trim_end().len());
            if !ended || line.cut {
                return Ok(Some(unreadable(&line, error)));
            }
            match self.lines.next()? {
                Some(next) if !begins_anew(&next.text) && joined_length(&line, &next) <= MAX_LINE_BYTES => {
                    line.text.push('\n');
                    line.text.push_str(&next.text);
                    line.cut = next.cut;
                }
                Some(next) => {
                    self.lines.put_back(next);
                    return Ok(Some(unreadable(&line, error)));
                }
                None => return Ok(Some(unreadable(&line, error))),
            }
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = io::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.read();
        if record.is_err() {
            self.place = Place::Ended;
        }
        record.transpose()
    }
}

fn joined_length(line: &Line, next: &Line) -> usize {
    line.text.len().saturating_add(next.text.len())
}

/// Does this line end a computation, or begin an instruction or a computation of its own?
fn begins_anew(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    if cursor.rest().is_empty() || cursor.peek() == Some(b'}') {
        return true;
    }
    cursor.eat("ROOT ");
    read_name(&mut cursor).is_ok()
        && (cursor.eat("=") || (cursor.peek() == Some(b'(') && text.trim_end().ends_with('{')))
}

/// `ENTRY %main (x: f32[3]) -> f32[3] {`: the name, and whether it is the entry computation.
fn computation_head(line: &Line) -> Result<(Arc<str>, bool), Error> {
    let text = line.text.trim_end();
    let mut cursor = Cursor::new(text);
    let entry = cursor.rest().starts_with("ENTRY ") && cursor.eat("ENTRY");
    let name = read_name(&mut cursor)?;
    let next = cursor.peek();
    if !matches!(next, Some(b'(' | b'{')) {
        return Err(cursor.error("`(` and the parameters of a computation, or `{`"));
    }
    if !text.ends_with('{') && !line.cut {
        return Err(cursor.error_at(text.len(), "`{` at the end of the line"));
    }
    Ok((name.into(), entry))
}

fn unreadable(line: &Line, error: Error) -> Record {
    let text = line.text.trim().chars().take(200).collect();
    Record::Unreadable(UnreadableLine { line: line.number, text, error })
}
