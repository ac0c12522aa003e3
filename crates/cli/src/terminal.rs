//! Text as a terminal shows it: in colours, in its width, and without characters that it obeys; the progress
//! bar of long work.

use std::borrow::Cow;
use std::fmt;
use std::io::{IsTerminal, stderr, stdout};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tensor_layout_files::{PIECE, is_unseen};

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

pub(crate) static COLOURED_OUTPUT: AtomicBool = AtomicBool::new(false);
pub(crate) static COLOURED_ERRORS: AtomicBool = AtomicBool::new(false);

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

pub(crate) fn painted_error(text: &str, ink: Ink) -> String {
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
pub(crate) fn shown<'a>(line: &'a str, has_colours: &AtomicBool) -> Cow<'a, str> {
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
pub(crate) fn escaped(line: &str) -> Cow<'_, str> {
    if !line.chars().any(is_unseen) {
        return line.into();
    }
    let escape = |c: char| if is_unseen(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    line.chars().map(escape).collect::<String>().into()
}

/// The most characters of an input that are printed in front of a sentence. An input may be as long as a
/// file.
pub(crate) const MOST_INPUT_SHOWN: usize = 400;
/// The most characters of a sentence that are printed. A sentence may quote an input.
pub(crate) const MOST_SENTENCE: usize = 4000;

/// Returns the first characters of a text, with `…` if more are left out.
pub(crate) fn bounded(sentence: &str, most: usize) -> Cow<'_, str> {
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

/// Returns words in lines that fit in the terminal.
pub(crate) fn fitted(words: impl fmt::Display) -> String {
    let words = words.to_string();
    width().map_or_else(|| words.clone(), |columns| wrapped(&words, columns))
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

/// Returns a progress bar on standard error for work of this many bytes. Short work, and work whose standard
/// error is no terminal, has none.
pub(crate) fn progress_bar(bytes: u64) -> ProgressBar {
    if bytes < PIECE {
        return ProgressBar::hidden();
    }
    let template = "{bar:40} {binary_bytes} of {binary_total_bytes}, {eta} left  {wide_msg}";
    let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr_with_hz(8));
    bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}
