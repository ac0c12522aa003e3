//! The terminal: how wide it is, and whether it gets colours.

use std::io::{IsTerminal, stderr, stdout};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use clap::ValueEnum;

/// When words are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colours {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    Always,
    Never,
}

/// The style of a word.
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

/// Returns the text in this style, or as it is if standard output has no colours.
pub(crate) fn painted(text: &str, ink: Ink) -> String {
    if COLOURED_OUTPUT.load(Relaxed) { in_ink(text, ink) } else { text.to_owned() }
}

/// Returns the text in this style, or as it is if standard error has no colours.
pub(crate) fn painted_error(text: &str, ink: Ink) -> String {
    if COLOURED_ERRORS.load(Relaxed) { in_ink(text, ink) } else { text.to_owned() }
}

fn in_ink(text: &str, ink: Ink) -> String {
    format!("\x1b[{}m{text}\x1b[0m", ink as u8)
}

/// Returns the width of the terminal that standard output is, in columns. `None` for a file or a pipe, where
/// lines may be long.
pub(crate) fn width() -> Option<usize> {
    if !IS_ATTACHED.load(Relaxed) || !stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)).filter(|&columns| columns > 0)
}
