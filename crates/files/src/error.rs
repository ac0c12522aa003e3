//! `Error`: a file, and the sentence that says what is wrong with it.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why a file cannot be read or written.
///
/// It is printed as one sentence, which begins with the path and has nothing from the file that could move
/// the cursor of a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    path: PathBuf,
    sentence: String,
}

impl Error {
    /// Makes an error of a path and the rest of a sentence that begins with the path: `is truncated`.
    pub fn new(path: impl Into<PathBuf>, sentence: impl Into<String>) -> Error {
        Error { path: path.into(), sentence: sentence.into() }
    }

    pub(crate) fn unreadable(path: &Path, error: impl fmt::Display) -> Error {
        Error::new(path, format!("cannot be read: {error}"))
    }

    pub(crate) fn unwritable(path: &Path, error: impl fmt::Display) -> Error {
        Error::new(path, format!("cannot be written: {error}"))
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The sentence without the path in front.
    #[must_use]
    pub fn sentence(&self) -> &str {
        &self.sentence
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", printable_path(&self.path), visible(&self.sentence))
    }
}

impl std::error::Error for Error {}

/// The most characters of a name that a sentence or a table shows.
const MOST_SHOWN: usize = 120;

/// Returns a name from a file as it may be shown: `?` for each character that a terminal obeys or that turns
/// the direction of the text around, and `…` for the middle of a name of more than 120 characters.
///
/// ```
/// use tensor_layout_files::printable;
///
/// assert_eq!(printable("a\u{1b}[2J\u{202e}b"), "a?[2J?b");
/// assert_eq!(printable(&"n".repeat(70_000)).chars().count(), 120);
/// ```
#[must_use]
pub fn printable(name: &str) -> String {
    let mut letters = name.chars();
    if letters.by_ref().nth(MOST_SHOWN).is_none() {
        return visible(name);
    }
    let half = MOST_SHOWN / 2;
    let head = name.chars().take(half);
    let tail: Vec<char> = name.chars().rev().take(half.saturating_sub(1)).collect();
    visible(&head.chain(['…']).chain(tail.into_iter().rev()).collect::<String>())
}

/// Returns the text with `?` for each character that [`is_unseen`].
#[must_use]
pub fn visible(text: &str) -> String {
    text.chars().map(|c| if is_unseen(c) { '?' } else { c }).collect()
}

pub(crate) fn printable_path(path: &Path) -> String {
    visible(&path.to_string_lossy())
}

/// Whether a terminal obeys a character instead of showing it: control characters, marks and overrides of the
/// direction of writing, and separators of lines and paragraphs.
#[must_use]
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
