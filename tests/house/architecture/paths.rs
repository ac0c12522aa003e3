//! The paths that code writes: `a::b` in expressions and types, and the trees of `use`.

use std::collections::BTreeSet;

use super::source::is_word;

/// A path as it is in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    /// `["super", "digits", "Chain"]`; the last is `*` for a glob import.
    pub(crate) segments: Vec<String>,
    /// The inline modules around it.
    pub(crate) inside: Vec<String>,
    /// For an import.
    pub(crate) import: Option<Import>,
}

/// What `use` does with a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Import {
    /// The name that it has from now on.
    pub(crate) name: String,
    /// `pub`, in any of its forms.
    pub(crate) public: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Name(&'a str),
    /// `::`
    Colons,
    Mark(char),
}

use Token::{Colons, Mark, Name};

fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(match token {
            "::" => Colons,
            _ if is_word(first) => Name(token),
            _ => Mark(first),
        });
        rest = after.trim_start();
    }
    tokens
}

/// All paths of two segments and more, and all imports.
pub(crate) fn written(code: &str) -> Vec<Written> {
    let mut reader = Reader { tokens: tokens(code), at: 0, found: Vec::new(), braces: Vec::new() };
    while reader.at < reader.tokens.len() {
        reader.step();
    }
    reader.found
}

/// The names of all items that code defines, at whatever depth.
pub(crate) fn defined(code: &str) -> BTreeSet<String> {
    const KINDS: &[&str] = &["fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod"];
    let tokens = tokens(code);
    let plain = tokens.windows(2).filter_map(|pair| match *pair {
        // `const fn` defines no `fn`.
        [Name(kind), Name(name)] if KINDS.contains(&kind) && !KINDS.contains(&name) => Some(name.to_owned()),
        _ => None,
    });
    let macros = tokens.windows(3).filter_map(|three| match *three {
        [Name("macro_rules"), Mark('!'), Name(name)] => Some(name.to_owned()),
        _ => None,
    });
    plain.chain(macros).collect()
}

struct Reader<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    found: Vec<Written>,
    /// The open braces, each with the name of the module it belongs to.
    braces: Vec<Option<&'a str>>,
}

impl<'a> Reader<'a> {
    fn token(&self, at: usize) -> Option<Token<'a>> {
        self.tokens.get(at).copied()
    }

    /// The token `back` places before the current one.
    fn before(&self, back: usize) -> Option<Token<'a>> {
        self.token(self.at.checked_sub(back)?)
    }

    fn step(&mut self) {
        match (self.tokens[self.at], self.token(self.at + 1), self.token(self.at + 2)) {
            (Name("mod"), Some(Name(name)), Some(Mark('{'))) => {
                self.braces.push(Some(name));
                self.at += 3;
            }
            // `impl Trait + use<'a>` imports nothing.
            (Name("use"), Some(next), _) if next != Mark('<') => {
                let public = matches!(self.before(1), Some(Name("pub") | Mark(')')));
                self.at += 1;
                self.tree(&mut Vec::new(), public);
            }
            // After `::` or `.` is not a first segment; `pub(in a::b)` says who may see, and uses nothing.
            (Name(_), Some(Colons), _)
                if !matches!(self.before(1), Some(Colons | Mark('.')))
                    && (self.before(1), self.before(2)) != (Some(Name("in")), Some(Mark('('))) =>
            {
                let mut segments = Vec::new();
                self.segments(&mut segments);
                self.push(segments, None);
            }
            (Mark('{'), ..) => {
                self.braces.push(None);
                self.at += 1;
            }
            (Mark('}'), ..) => {
                self.braces.pop();
                self.at += 1;
            }
            _ => self.at += 1,
        }
    }

    /// Reads `a::b::c` as far as it goes; with it a `::` at the end.
    fn segments(&mut self, segments: &mut Vec<String>) {
        while let Some(Name(name)) = self.token(self.at) {
            segments.push(name.to_owned());
            self.at += 1;
            if self.token(self.at) != Some(Colons) {
                return;
            }
            self.at += 1;
        }
    }

    /// Reads a tree of imports that begins after the segments of `stem`.
    fn tree(&mut self, stem: &mut Vec<String>, public: bool) {
        let length = stem.len();
        if self.token(self.at) == Some(Colons) {
            // Another crate, which has no file here.
            stem.push("::".to_owned());
            self.at += 1;
        }
        self.segments(stem);
        match self.token(self.at) {
            Some(Mark('{')) => {
                self.at += 1;
                while !matches!(self.token(self.at), None | Some(Mark('}'))) {
                    self.tree(stem, public);
                    if self.token(self.at) == Some(Mark(',')) {
                        self.at += 1;
                    }
                }
                self.at += 1;
            }
            Some(Mark('*')) => {
                self.at += 1;
                let segments = [stem.as_slice(), &["*".to_owned()]].concat();
                self.push(segments, Some(Import { name: "*".to_owned(), public }));
            }
            _ => {
                let mut segments = stem.clone();
                // `{self}` names what is before it.
                if segments.len() > 1 && segments.last().is_some_and(|last| last == "self") {
                    segments.pop();
                }
                let mut name = segments.last().cloned().unwrap_or_default();
                if let (Some(Name("as")), Some(Name(other))) = (self.token(self.at), self.token(self.at + 1)) {
                    name = other.to_owned();
                    self.at += 2;
                }
                self.push(segments, Some(Import { name, public }));
                if stem.len() == length && !matches!(self.token(self.at), Some(Mark(',' | '}' | ';'))) {
                    // Nothing that is known here; go on.
                    self.at += 1;
                }
            }
        }
        stem.truncate(length);
    }

    fn push(&mut self, segments: Vec<String>, import: Option<Import>) {
        let inside = self.braces.iter().flatten().map(|&name| name.to_owned()).collect();
        self.found.push(Written { segments, inside, import });
    }
}

#[cfg(test)]
fn texts(code: &str) -> Vec<String> {
    written(code).iter().map(|path| path.segments.join("::")).collect()
}

#[test]
fn imports_are_found_in_every_spelling() {
    let code = "use crate::a::{b, c as d}; pub(crate) use super::{self, e::{f::*, g}, h::{self}}; use std::fmt;";
    let paths = written(code);
    let read: Vec<_> = paths.iter().map(|path| path.segments.join("::")).collect();
    assert_eq!(read, ["crate::a::b", "crate::a::c", "super", "super::e::f::*", "super::e::g", "super::h", "std::fmt"]);
    let names: Vec<_> = paths.iter().map(|path| path.import.clone().unwrap()).collect();
    assert_eq!(
        names.iter().map(|import| import.name.as_str()).collect::<Vec<_>>(),
        ["b", "d", "super", "*", "g", "h", "fmt"]
    );
    assert_eq!(
        names.iter().map(|import| import.public).collect::<Vec<_>>(),
        [false, false, true, true, true, true, false]
    );
}

#[test]
fn paths_in_code_are_found() {
    assert_eq!(
        texts("let x: super::super::a::B<crate::c::D> = self::e::f::<G>(h.i::<j::K>());"),
        ["super::super::a::B", "crate::c::D", "self::e::f", "j::K"]
    );
    assert_eq!(
        texts("pub(in crate::a) fn f() -> impl Sized + use<'a> { for x in b::c() {} } ::d::e(); $crate::f::g"),
        ["b::c", "crate::f::g"]
    );
    assert_eq!(written("mod a { mod b { use super::c; } } d::e")[0].inside, ["a", "b"]);
    assert_eq!(written("mod a { mod b { use super::c; } } d::e")[1].inside, [""; 0]);
}

#[test]
fn definitions_are_found() {
    let expected = ["a", "b", "C", "d", "E"].map(str::to_owned);
    let code = "pub(crate) fn a() {} const fn b() {} struct C<T>(T); macro_rules! d {} pub enum E {} use f::g;";
    assert_eq!(defined(code), expected.into());
}
