//! What the commands print: lines for people or JSON objects, and errors as sentences. A verdict says how a
//! command ended.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};

use serde_json::json;
use tensor_layout::Error;
use tensor_layout_files::lay_out::error_object;
use tensor_layout_text::lacks_type;

use crate::answer::Answer;
use crate::terminal::{
    COLOURED_ERRORS, COLOURED_OUTPUT, Ink, MOST_INPUT_SHOWN, MOST_SENTENCE, bounded, escaped, fitted, painted_error,
    shown,
};

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

    pub(crate) fn set(&mut self, json: bool, data_type: Option<String>) {
        (self.json, self.data_type) = (json, data_type);
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    pub(crate) fn line(&mut self, line: impl fmt::Display) -> Result<(), Stop> {
        let line = line.to_string();
        Ok(writeln!(self.out, "{}", if self.json { escaped(&line) } else { shown(&line, &COLOURED_OUTPUT) })?)
    }

    /// Returns an answer that is to be filled and then given to [`answer`](Output::answer).
    pub(crate) fn new_answer(&self, kind: &str) -> Answer {
        Answer::new(self.json, kind)
    }

    /// Prints an answer. An answer that has nothing for people prints nothing for them.
    pub(crate) fn answer(&mut self, answer: &Answer) -> Result<Verdict, Stop> {
        if self.json || !answer.words().is_empty() {
            self.line(answer)?
        };
        Ok(Verdict::Well)
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
            let mut object = json!({ "type": "error", "input": input, "error": error_object(error) });
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
        self.line(fitted(words))
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
