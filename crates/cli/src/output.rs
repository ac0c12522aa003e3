//! What the commands print: lines for people or JSON objects, errors as sentences, in colours and in the
//! width of a terminal. A verdict says how a command ended.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write, stderr, stdout};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use clap::ValueEnum;
use serde_json::{Value, json};
use tensor_layout::Error;
use tensor_layout_files::is_unseen;
use tensor_layout_text::lacks_type;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All checks passed and every input was accepted: exit status 0.
    Well,
    /// A check failed or an input was refused: exit status 1.
    Failed,
}

impl Verdict {
    pub(crate) fn and(self, other: Verdict) -> Verdict {
        if self == Verdict::Well { other } else { self }
    }

    pub(crate) fn well_if(holds: bool) -> Verdict {
        if holds { Verdict::Well } else { Verdict::Failed }
    }
}

/// The reason why a command stopped before its end.
#[derive(Debug)]
pub(crate) enum Stop {
    /// An input, and the reason why it was refused: exit status 1. A command goes on with its next input.
    Refused(String, Error),
    /// A check failed: exit status 1. The sentence says which.
    Failed(String),
    /// Wrong usage or an unreadable file: exit status 2. The sentence says what is wrong.
    Unusable(String),
    /// The program that reads standard output has closed the pipe.
    ClosedPipe,
}

/// Returns what makes a [`Stop`] of the reason why this input is refused.
pub(crate) fn refused(input: &str) -> impl FnOnce(Error) -> Stop {
    move |error| Stop::Refused(input.to_owned(), error)
}

impl From<tensor_layout_files::Error> for Stop {
    fn from(error: tensor_layout_files::Error) -> Stop {
        Stop::Unusable(error.to_string())
    }
}

/// Only errors of standard output are converted. All other errors get a sentence where they occur.
impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Stop::ClosedPipe,
            _ => Stop::Unusable(format!("the output cannot be written: {error}")),
        }
    }
}

pub(crate) fn joined(mut object: Value, more: Value) -> Value {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
}

pub(crate) fn error_value(error: &Error) -> Value {
    json!({ "code": error.code(), "message": error.to_string(), "column": error.column() })
}

/// The streams for answers and refusals. In the program these are standard output and standard error.
pub(crate) struct Output<'w> {
    json: bool,
    /// The number of the line of standard input that is being answered, counted from 1. It is 0 if a command
    /// does not read lines.
    input_line: u64,
    /// The type of layouts that are printed without one.
    data_type: Option<String>,
    out: &'w mut dyn Write,
    err: &'w mut dyn Write,
}

impl<'w> Output<'w> {
    pub(crate) fn new(out: &'w mut dyn Write, err: &'w mut dyn Write) -> Output<'w> {
        Output { json: false, input_line: 0, data_type: None, out, err }
    }

    pub(crate) fn set_json(&mut self, json: bool) {
        self.json = json;
    }

    pub(crate) fn set_type(&mut self, data_type: Option<String>) {
        self.data_type = data_type;
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    pub(crate) fn line(&mut self, line: impl fmt::Display) -> Result<(), Stop> {
        let line = line.to_string();
        Ok(writeln!(self.out, "{}", if self.json { escaped(&line) } else { shown(&line, &COLOURED_OUTPUT) })?)
    }

    /// Prints an answer: the object with `--json`, and otherwise the text.
    pub(crate) fn answer<T: fmt::Display>(
        &mut self,
        object: impl FnOnce() -> Value,
        text: impl FnOnce() -> T,
    ) -> Result<Verdict, Stop> {
        if self.json { self.line(object()) } else { self.line(text()) }.map(|()| Verdict::Well)
    }

    pub(crate) fn lines(&mut self, lines: impl IntoIterator<Item = String>) -> Result<(), Stop> {
        lines.into_iter().try_for_each(|line| self.line(line))
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        Ok(self.out.write_all(bytes)?)
    }

    /// Prints why an input was refused or a check failed, and returns the verdict. The caller may go on with
    /// the next input.
    pub(crate) fn settle(&mut self, result: Result<Verdict, Stop>) -> Result<Verdict, Stop> {
        match result {
            Err(Stop::Refused(input, error)) => self.refuse(&input, &error)?,
            Err(Stop::Failed(sentence)) => self.complain(&sentence)?,
            other => return other,
        }
        Ok(Verdict::Failed)
    }

    pub(crate) fn refuse(&mut self, input: &str, error: &Error) -> Result<(), Stop> {
        if self.json {
            let mut object = json!({ "type": "error", "input": input, "error": error_value(error) });
            if self.input_line > 0 {
                object["line"] = self.input_line.into();
            }
            self.line(object)?;
        } else {
            let mut text = error.to_string();
            if let Some(pointer) = error.pointer() {
                for line in pointer.lines() {
                    text.push_str("\n    ");
                    text.push_str(line);
                }
            } else if !input.is_empty() {
                text = format!("{}: {text}", bounded(input, MOST_INPUT_SHOWN));
            }
            if self.input_line > 0 {
                text = format!("line {}: {text}", self.input_line);
            }
            self.complain(&text)?;
        }
        Ok(())
    }

    /// Prints a line of words. A line that is too long for the terminal is broken at blanks.
    pub(crate) fn sentence(&mut self, words: impl fmt::Display) -> Result<(), Stop> {
        match width() {
            Some(columns) => self.line(wrapped(&words.to_string(), columns)),
            None => self.line(words),
        }
    }

    /// Prints an error on standard error, after everything that was printed before.
    pub(crate) fn complain(&mut self, sentence: &str) -> Result<(), Stop> {
        self.flush()?;
        self.error(sentence);
        Ok(())
    }

    pub(crate) fn error(&mut self, sentence: &str) {
        self.error_line(&format!("{} {}", painted_error("error:", Ink::Red), bounded(sentence, MOST_SENTENCE)));
    }

    pub(crate) fn warn(&mut self, sentence: &str) {
        self.error_line(&format!("{} {}", painted_error("warning:", Ink::Yellow), bounded(sentence, MOST_SENTENCE)));
    }

    pub(crate) fn error_line(&mut self, line: &str) {
        // If standard error is closed, there is no place to report that.
        let _ = writeln!(self.err, "{}", shown(line, &COLOURED_ERRORS));
    }

    pub(crate) fn flush(&mut self) -> Result<(), Stop> {
        Ok(self.out.flush()?)
    }
}

/// Calls `handle` for every line of standard input. The output is flushed whenever the next line has not
/// arrived yet.
pub(crate) fn each_line(
    output: &mut Output,
    handle: impl FnMut(&str, &mut Output) -> Result<Verdict, Stop>,
) -> Result<Verdict, Stop> {
    each_text(output, &(|_| false, |_, _| false), handle)
}

/// Says which lines begin a text that may have several lines, and whether such a text goes on in a line.
pub(crate) type Texts = (fn(&str) -> bool, fn(&str, &str) -> bool);

/// Calls `handle` for every text of standard input: a line, or the several lines of a text.
pub(crate) fn each_text(
    output: &mut Output,
    (begins, goes_on): &Texts,
    mut handle: impl FnMut(&str, &mut Output) -> Result<Verdict, Stop>,
) -> Result<Verdict, Stop> {
    let mut input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut verdict = Verdict::Well;
    let (mut read, mut ahead) = (0, None);
    loop {
        let Some(mut text) = ahead.take().map_or_else(|| next_line(&mut input), |line| Ok(Some(line)))? else {
            output.input_line = 0;
            return Ok(verdict);
        };
        read += 1;
        output.input_line = read;
        if begins(&text) {
            ahead = next_line(&mut input)?;
            while let Some(line) = ahead.take_if(|line| goes_on(&text, line)) {
                read += 1;
                if text.len().saturating_add(line.len()) > MOST_INPUT {
                    return Err(too_long());
                }
                text.push('\n');
                text.push_str(&line);
                ahead = next_line(&mut input)?;
            }
        }
        let text = match &output.data_type {
            Some(data_type) => with_type(&text, data_type),
            None => text.into(),
        };
        let answer = handle(&text, output);
        verdict = verdict.and(output.settle(answer)?);
        if input.buffer().is_empty() && ahead.is_none() {
            output.flush()?;
        }
    }
}

/// The most bytes of a line of standard input, and of a text of several lines.
const MOST_INPUT: usize = 1 << 20;

/// Returns the next line without its end, or `None` at the end of the input.
fn next_line(input: &mut impl BufRead) -> Result<Option<String>, Stop> {
    let mut line = Vec::new();
    let most = u64::try_from(MOST_INPUT).unwrap_or(u64::MAX);
    match input.by_ref().take(most.saturating_add(1)).read_until(b'\n', &mut line) {
        Ok(0) => return Ok(None),
        Ok(length) if length > MOST_INPUT => return Err(too_long()),
        Ok(_) => {}
        Err(error) => return Err(Stop::Unusable(format!("standard input cannot be read: {error}"))),
    }
    line.pop_if(|byte| *byte == b'\n');
    line.pop_if(|byte| *byte == b'\r');
    Ok(Some(String::from_utf8_lossy(&line).into_owned()))
}

fn too_long() -> Stop {
    Stop::Unusable(format!("standard input has a text of more than {MOST_INPUT} bytes, which is no layout"))
}

pub(crate) fn each_layout(
    layout: &str,
    output: &mut Output,
    mut handle: impl FnMut(&str, &mut Output) -> Result<Verdict, Stop>,
) -> Result<Verdict, Stop> {
    if layout == "-" { each_line(output, handle) } else { handle(layout, output) }
}

pub(crate) fn with_type<'a>(text: &'a str, data_type: &str) -> Cow<'a, str> {
    if lacks_type(text) { format!("{data_type} {text}").into() } else { text.into() }
}

/// Splits a line at its tab. `second` says in an error what is missing after the tab.
pub(crate) fn two_columns<'a>(line: &'a str, second: &str) -> Result<(&'a str, &'a str), Stop> {
    line.split_once('\t').ok_or_else(|| {
        let (column, expected) = (line.len().saturating_add(1), format!("a tab and {second}"));
        refused(line)(Error::parse(line.to_owned(), column, expected, "the end of the line"))
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colours {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    Always,
    Never,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Ink {
    Bold = 1,
    Red = 31,
    Green = 32,
    Yellow = 33,
}

static COLOURED_OUTPUT: AtomicBool = AtomicBool::new(false);
static COLOURED_ERRORS: AtomicBool = AtomicBool::new(false);

/// Whether lines are printed to the standard output of this process. If a command is called as a function,
/// they are not.
static IS_ATTACHED: AtomicBool = AtomicBool::new(false);

/// Says that lines are printed to the standard output and standard error of this process, and sets when words
/// are coloured.
pub(crate) fn attach(colours: Colours) {
    IS_ATTACHED.store(true, Relaxed);
    let variable = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let wanted = !variable("NO_COLOR") && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb");
    let decide = |is_terminal: bool| match colours {
        Colours::Always => true,
        Colours::Never => false,
        Colours::Auto => is_terminal && wanted,
    };
    COLOURED_OUTPUT.store(decide(stdout().is_terminal()), Relaxed);
    COLOURED_ERRORS.store(decide(stderr().is_terminal()), Relaxed);
}

pub(crate) fn painted(text: &str, ink: Ink) -> String {
    if COLOURED_OUTPUT.load(Relaxed) { in_ink(text, ink) } else { text.to_owned() }
}

fn painted_error(text: &str, ink: Ink) -> String {
    if COLOURED_ERRORS.load(Relaxed) { in_ink(text, ink) } else { text.to_owned() }
}

fn in_ink(text: &str, ink: Ink) -> String {
    format!("\x1b[{}m{text}{PLAIN}", ink as u8)
}

/// What ends coloured words.
const PLAIN: &str = "\x1b[0m";

/// Returns a line with `?` for each character that a terminal obeys or that turns text around, except for
/// colours and ends of lines. Names in files may have such characters, and this is the one place that every
/// line passes.
fn shown<'a>(line: &'a str, has_colours: &AtomicBool) -> Cow<'a, str> {
    if !line.chars().any(is_unseen) {
        return line.into();
    }
    let mut text = String::with_capacity(line.len());
    for (place, c) in line.char_indices() {
        let rest = line.get(place..).unwrap_or_default();
        let is_ink = || rest.starts_with(PLAIN) || INKS.iter().any(|ink| rest.starts_with(*ink));
        let is_colour = || has_colours.load(Relaxed) && is_ink();
        text.push(if matches!(c, '\n' | '\t') || !is_unseen(c) || is_colour() { c } else { '?' });
    }
    text.into()
}

/// The colours that this program prints.
const INKS: [&str; 4] = ["\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m"];

/// Returns a line of JSON in which the characters that [`shown`] replaces are escaped. They stand in strings
/// only, so the value is the same.
fn escaped(line: &str) -> Cow<'_, str> {
    if !line.chars().any(is_unseen) {
        return line.into();
    }
    let escape = |c: char| if is_unseen(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    line.chars().map(escape).collect::<String>().into()
}

/// The most characters of an input that are printed in front of a sentence. An input may be as long as a
/// file.
const MOST_INPUT_SHOWN: usize = 400;
/// The most characters of a sentence that are printed. A sentence may quote an input.
const MOST_SENTENCE: usize = 4000;

/// Returns the first characters of a text, with `…` if more are left out.
fn bounded(sentence: &str, most: usize) -> Cow<'_, str> {
    match sentence.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", sentence.get(..end).unwrap_or_default()).into(),
        None => sentence.into(),
    }
}

/// Returns the width of the terminal that standard output is, in columns. `None` for a file or a pipe, where
/// lines may be long.
pub(crate) fn width() -> Option<usize> {
    if !IS_ATTACHED.load(Relaxed) || !stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)).filter(|&columns| columns > 0)
}

/// Breaks long lines of a text at blanks, so that lines have at most `columns` characters. A longer word
/// stays whole. Lines that continue another line are indented by four more blanks.
pub(crate) fn wrapped(text: &str, columns: usize) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let (mut current, mut length) = (" ".repeat(indent), indent);
        for (position, word) in line.trim_start().split(' ').enumerate() {
            let letters = word.chars().count();
            if position > 0 && length + 1 + letters > columns {
                lines.push(std::mem::replace(&mut current, " ".repeat(indent + 4)));
                length = indent + 4;
            } else if position > 0 {
                current.push(' ');
                length += 1;
            }
            current.push_str(word);
            length += letters;
        }
        lines.push(current);
    }
    if text.ends_with('\n') {
        lines.push(String::new());
    }
    lines.join("\n")
}
