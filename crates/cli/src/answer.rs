//! `Answer`: what a command says of one thing. Each fact is listed once, with its key for programs and its
//! words for people.

use std::fmt::Display;

use serde::Serialize;
use serde_json::{Value, json};

use crate::terminal::fitted;

/// The object of an answer for `--json`, or its lines for people. Only what is wanted is written: words are
/// given as `format_args!`, and keys that take work in a closure.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The object, or `None` for people.
    object: Option<Value>,
    lines: Vec<String>,
    /// How many columns a label has.
    column: usize,
}

impl Answer {
    pub(crate) fn new(is_json: bool, kind: &str) -> Answer {
        Answer { object: is_json.then(|| json!({ "type": kind })), lines: Vec::new(), column: 10 }
    }

    pub(crate) fn with_column(self, column: usize) -> Answer {
        Answer { column, ..self }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.object.is_some()
    }

    /// Adds a key that only programs read.
    pub(crate) fn key(&mut self, key: &str, value: impl Serialize) {
        if let Some(object) = &mut self.object {
            object[key] = json!(value);
        }
    }

    /// Adds the entries of an object, which only programs read.
    pub(crate) fn keys(&mut self, more: impl FnOnce() -> Value) {
        if let Some(Value::Object(object)) = &mut self.object
            && let Value::Object(more) = more()
        {
            object.extend(more);
        }
    }

    /// Adds a line that only people read.
    pub(crate) fn line(&mut self, line: impl Display) {
        if self.object.is_none() {
            self.lines.push(line.to_string());
        }
    }

    /// Adds lines that only people read.
    pub(crate) fn lines<T: Display>(&mut self, lines: impl IntoIterator<Item = T>) {
        if self.object.is_none() {
            self.lines.extend(lines.into_iter().map(|line| line.to_string()));
        }
    }

    /// Adds words that only people read. They are broken at blanks where they are too long for the terminal.
    pub(crate) fn sentence(&mut self, words: impl Display) {
        if self.object.is_none() {
            self.lines.push(fitted(words));
        }
    }

    /// Adds words with a label in front, which only people read: `  memory     24 bytes`.
    pub(crate) fn says(&mut self, label: &str, words: impl Display) {
        let column = self.column;
        self.line(format_args!("  {label:<column$} {words}"));
    }

    /// Adds a fact: its key for programs, and for people its label and words. A fact that does not apply has
    /// the value `null`, and no line.
    pub(crate) fn fact<V: Serialize>(
        &mut self,
        key: &str,
        value: Option<V>,
        label: &str,
        words: impl Fn(&V) -> String,
    ) {
        if let (None, Some(value)) = (&self.object, &value) {
            self.says(label, words(value));
        }
        self.key(key, value);
    }

    /// Returns the object. `Null` for people.
    pub(crate) fn into_object(self) -> Value {
        self.object.unwrap_or_default()
    }

    /// The lines for people.
    pub(crate) fn words(&self) -> &[String] {
        &self.lines
    }
}

impl Display for Answer {
    /// Writes the object in one line, or the lines.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.object {
            Some(object) => object.fmt(f),
            None => f.write_str(&self.lines.join("\n")),
        }
    }
}
