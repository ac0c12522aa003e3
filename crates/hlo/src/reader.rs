//! `Reader`: reads a dump instruction by instruction.

use std::io::{self, BufRead};
use std::sync::Arc;

use tensor_layout::Error;
use tensor_layout::cursor::Cursor;

use super::attributes::Open;
use super::header::ModuleHeader;
use super::instruction::Instruction;
use super::lines::{Line, Lines, MAX_LINE_BYTES};
use super::operation::{Operation, read_name};
use super::sources::{SourceTable, Sources};

/// What a [`Reader`] returns: an instruction, or lines that could not be read.
///
/// ```
/// use tensor_layout_hlo::{Reader, Record};
///
/// let dump = "HloModule m
///
/// ENTRY %main (p: f32[4]) -> f32[4] {
///   ROOT %p = f32[4]{0} parameter(0)
///   what is this?
/// }";
/// let mut reader = Reader::new(dump.as_bytes());
/// let records: Vec<Record> = reader.by_ref().collect::<Result<_, _>>()?;
/// assert!(matches!(&records[0], Record::Instruction(parameter) if parameter.opcode == "parameter"));
/// let Record::Unreadable(line) = &records[1] else { panic!("read it") };
/// assert_eq!((line.line, line.text.trim()), (5, "what is this?"));
/// assert_eq!(reader.header().map(|header| header.name.as_str()), Some("m"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Record {
    /// An instruction.
    Instruction(Box<Instruction>),
    /// A line that this reader does not know as a part of an HLO dump. The end of the file is also reported
    /// as such a line if a computation is still open there.
    Unreadable(UnreadableLine),
}

/// A line that could not be read.
///
/// ```
/// use tensor_layout_hlo::{Reader, Record, UnreadableLine};
///
/// let dump = "ENTRY %main {\n  %p = f32[4,{0} parameter(0)\n}";
/// let Some(Ok(Record::Unreadable(line))) = Reader::new(dump.as_bytes()).next() else { panic!("read it") };
/// let UnreadableLine { line, column, error, .. } = line;
/// println!("line {line}, column {column}: {error}");
/// assert_eq!(line, 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnreadableLine {
    /// The number of the line in the dump. The first line is 1.
    pub line: u64,
    /// The first 200 characters of the line.
    pub text: String,
    /// The position in the instruction's text where reading stopped, in bytes. The first byte is 1. It may be
    /// in a later line of the same instruction.
    pub column: usize,
    /// The error. Its text is an excerpt of at most 60 characters on each side of the byte where reading
    /// stopped, and its column counts from the start of the excerpt.
    pub error: Error,
}

/// Reads a dump instruction by instruction.
///
/// The reader also knows the line of the module, the tables of source locations that XLA prints first, the
/// heads and ends of computations, comments and empty lines, and skips them. An instruction may take several
/// lines.
///
/// ```
/// use tensor_layout_hlo::{Reader, Record};
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
    place: Section,
    header: Option<ModuleHeader>,
    sources: Sources,
    has_head: bool,
    /// The name of the computation of operations without a head. All of them share it.
    no_name: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Section {
    Outside,
    /// The reader is in one of the tables of source locations in front of the computations.
    Table(SourceTable),
    Computation {
        name: Arc<str>,
        entry: bool,
    },

    Ended,
}

/// The most attempts to read an instruction, each with one more line. A few are enough for an instruction
/// that an editor has wrapped. Without a limit, a text that is no dump would be read once for each of its
/// lines. An instruction that takes more attempts is returned as unreadable.
const MOST_READINGS: usize = 16;

/// The most characters of an error's excerpt, on each side of the byte where reading stopped.
const EXCERPT: usize = 60;

impl<R: BufRead> Reader<R> {
    /// Makes a reader of a dump, which is read from its beginning.
    pub fn new(input: R) -> Reader<R> {
        Reader {
            lines: Lines::new(input),
            place: Section::Outside,
            header: None,
            sources: Sources::default(),
            has_head: false,
            no_name: Arc::from(""),
        }
    }

    /// The number of bytes of the dump that were read so far.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.lines.bytes()
    }

    /// The header of the module. It is `None` until the line `HloModule ..` was read.
    ///
    /// ```
    /// let mut reader = tensor_layout_hlo::Reader::new(&b"HloModule step, is_scheduled=true\n"[..]);
    /// assert!(reader.header().is_none(), "nothing was read yet");
    /// reader.next();
    /// assert!(reader.header().is_some_and(|header| header.is_scheduled));
    /// ```
    #[must_use]
    pub fn header(&self) -> Option<&ModuleHeader> {
        self.header.as_ref()
    }

    fn read(&mut self) -> io::Result<Option<Record>> {
        while self.place != Section::Ended {
            let Some(line) = self.lines.next()? else {
                let open = matches!(self.place, Section::Computation { .. });
                self.place = Section::Ended;
                let error = || Cursor::new("").error("`}` at the end of the computation");
                let end = || {
                    Record::Unreadable(UnreadableLine {
                        line: self.lines.number(),
                        text: String::new(),
                        column: 1,
                        error: error(),
                    })
                };
                return Ok(open.then(end));
            };
            if Cursor::new(&line.text).rest().is_empty() {
                continue;
            }
            let record = match self.place.clone() {
                Section::Computation { name, entry } => self.in_computation(line, &name, entry)?,
                Section::Table(table) => self.outside(line, Some(table))?,
                Section::Outside | Section::Ended => self.outside(line, None)?,
            };
            if record.is_some() {
                return Ok(record);
            }
        }
        Ok(None)
    }

    fn outside(&mut self, mut line: Line, table: Option<SourceTable>) -> io::Result<Option<Record>> {
        let text = line.text.trim();
        if let Some(table) = SourceTable::titled(text) {
            self.place = Section::Table(table);
            return Ok(None);
        }
        if let Some(table) = table
            && text.starts_with(|c: char| c.is_ascii_digit())
        {
            self.sources.add(table, text);
            return Ok(None);
        }
        // Operations that were copied out of a computation have no head in front.
        if !self.has_head && (text == "}" || Operation::begins(text)) {
            self.place = Section::Outside;
            return self.in_computation(line, &Arc::clone(&self.no_name), false);
        }
        self.join_open_brackets(&mut line)?;
        if let Some(header) = line.text.trim().strip_prefix("HloModule ") {
            self.header.get_or_insert_with(|| ModuleHeader::read(header));
            return Ok(None);
        }
        self.place = Section::Outside;
        Ok(match computation_head(&line) {
            Ok((name, entry)) => {
                self.has_head = true;
                self.place = Section::Computation { name, entry };
                None
            }
            Err(error) => Some(unreadable(&line, &error)),
        })
    }

    /// Appends the next lines to the first line of a module or of a computation if its brackets are still
    /// open. An editor may have wrapped such a line.
    fn join_open_brackets(&mut self, line: &mut Line) -> io::Result<()> {
        let mut open = Open::default();
        // The `{` at the end of a head is not counted, because the computation is closed many lines later.
        open.add(line.text.trim_end().trim_end_matches('{'));
        let is_header = line.text.starts_with("HloModule ");
        for _ in 0..MOST_READINGS {
            if line.cut || !(open.is_inside() || (is_header && line.text.trim_end().ends_with(','))) {
                break;
            }
            let Some(next) = self.lines.next()? else { break };
            if next.cut || next.text.trim().is_empty() {
                self.lines.put_back(next);
                break;
            }
            open.add(next.text.trim_end().trim_end_matches('{'));
            line.append(&next);
        }
        Ok(())
    }

    fn in_computation(&mut self, mut line: Line, name: &Arc<str>, entry: bool) -> io::Result<Option<Record>> {
        if line.text.trim_start().starts_with('}') {
            self.place = Section::Outside;
            return Ok(None);
        }
        let error = match self.instruction(&line, name, entry) {
            Ok(record) if !self.join_continuations(&mut line)? => return Ok(Some(record)),
            // The next line continues nothing, so this call does not recurse further.
            Ok(_) => return self.in_computation(line, name, entry),
            Err(error) => error,
        };
        // Only an error at the end of the text can be cured by appending the next line.
        let ended = |error: &Error, line: &Line| error.column().is_some_and(|at| at > line.text.trim_end().len());
        if !ended(&error, &line) || line.cut {
            return Ok(Some(unreadable(&line, &error)));
        }
        let mut open = Open::default();
        open.add(&line.text);
        let mut readings = 1_usize;
        while let Some(next) = self.lines.next()? {
            let room = MAX_LINE_BYTES.saturating_sub(line.text.len());
            // A line that was cut is never appended, because it is longer than `MAX_LINE_BYTES`.
            if begins_anew(&next.text) || next.text.len() > room || readings >= MOST_READINGS {
                self.lines.put_back(next);
                break;
            }
            line.append(&next);
            // An instruction cannot be complete before its brackets are closed, so it is not read again yet.
            if !open.add(&next.text) {
                continue;
            }
            readings = readings.saturating_add(1);
            match self.instruction(&line, name, entry) {
                Ok(record) => return Ok(Some(record)),
                Err(error) if !ended(&error, &line) => return Ok(Some(unreadable(&line, &error))),
                Err(_) => {}
            }
        }
        // All attempts failed. The error of the first attempt points to the end of the first line, which is
        // the line to show.
        Ok(Some(unreadable(&line, &error)))
    }

    /// Appends the next lines that begin with a comma, or that are indented deeper and begin nothing: these
    /// are wrapped attributes. Returns whether there were any.
    fn join_continuations(&mut self, line: &mut Line) -> io::Result<bool> {
        let depth = indentation(&line.text);
        let mut joined = false;
        while let Some(next) = self.lines.next()? {
            let room = MAX_LINE_BYTES.saturating_sub(line.text.len());
            let continues = next.text.trim_start().starts_with(',')
                || (indentation(&next.text) > depth && !begins_anew(&next.text));
            if line.cut || next.text.len() > room || !continues {
                self.lines.put_back(next);
                break;
            }
            line.append(&next);
            joined = true;
        }
        Ok(joined)
    }

    fn instruction(&mut self, line: &Line, name: &Arc<str>, entry: bool) -> Result<Record, Error> {
        let text = line.text.trim_end();
        Instruction::read(text, line.cut, line.number, name, entry, &mut self.sources)
            .map(|instruction| Record::Instruction(Box::new(instruction)))
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = io::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.read();
        if record.is_err() {
            self.place = Section::Ended;
        }
        record.transpose()
    }
}

fn indentation(text: &str) -> usize {
    text.len().saturating_sub(text.trim_start_matches([' ', '\t']).len())
}

/// Whether this line ends a computation, or begins an instruction or a computation, so that it continues
/// nothing.
fn begins_anew(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    if cursor.rest().is_empty() || cursor.peek() == Some(b'}') {
        return true;
    }
    cursor.eat("ROOT ");
    let name = cursor.rest();
    // An attribute such as `condition=%c` continues an instruction. In an instruction, a blank is between the
    // name and the `=`.
    let is_attribute = name
        .split_once('=')
        .is_some_and(|(key, _)| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'));
    !is_attribute
        && read_name(&mut cursor).is_ok()
        && (cursor.eat("=") || (cursor.peek() == Some(b'(') && text.trim_end().ends_with('{')))
}

/// Reads `ENTRY %main (x: f32[3]) -> f32[3] {`. Returns the name, and whether it is the entry computation.
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

fn unreadable(line: &Line, error: &Error) -> Record {
    let text = line.text.trim().chars().take(200).collect();
    let (column, error) = excerpt(error);
    Record::Unreadable(UnreadableLine { line: line.number, text, column, error })
}

/// Returns the column of the error in the whole text, and the error with an excerpt that fits in a line of a
/// terminal.
fn excerpt(error: &Error) -> (usize, Error) {
    let Some(column) = error.column() else { return (1, error.clone()) };
    let text = error.what();
    let at = column.saturating_sub(1).min(text.len());
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let start = before.char_indices().rev().nth(EXCERPT.saturating_sub(1)).map_or(0, |(start, _)| start);
    let before = before.get(start..).unwrap_or("");
    // Line feeds become blanks, so that an instruction of several lines is shown as one line.
    let one_line = |text: &str| text.replace(char::is_control, " ");
    let mut shown = one_line(before);
    let column_shown = shown.len().saturating_add(1);
    shown.push_str(&one_line(&after.chars().take(EXCERPT).collect::<String>()));
    let found: String = error.found().chars().take(EXCERPT).collect();
    (column, Error::parse(shown, column_shown, error.expected().to_owned(), found))
}
