//! Rust files, and their code without comments, literals and tests.

use std::fs;
use std::path::{Path, PathBuf};

/// Every Rust file under a folder: its path from the root of the repository, and its text.
pub(crate) fn files(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut open = vec![root.join(folder)];
    while let Some(path) = open.pop() {
        if path.ends_with("target") {
            // What a build left there.
        } else if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name: PathBuf = path.strip_prefix(root).unwrap().to_owned();
            found.push((name.to_str().unwrap().replace('\\', "/"), fs::read_to_string(&path).unwrap()));
        }
    }
    found.sort();
    assert!(!found.is_empty(), "{folder} holds no Rust files");
    found
}

/// The files of a folder but those of tests, which are in a folder of the name of the file they test.
pub(crate) fn program_files(folder: &str) -> impl Iterator<Item = (String, String)> {
    files(folder).into_iter().filter(|(name, _)| !name.ends_with("/tests.rs") && !name.contains("/tests/"))
}

/// The text without comments and without what is in string and character literals. Line breaks stay.
pub(crate) fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let in_word = code.ends_with(is_word);
        match no_code(rest, in_word) {
            Some(length) => {
                let (skipped, after) = rest.split_at(length);
                code.push(' ');
                code.extend(skipped.chars().filter(|&c| c == '\n'));
                rest = after;
            }
            None => {
                code.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    code
}

/// A character of a name.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of the comment or literal that `text` begins with. `in_word`: after a character of a name,
/// where an `r` begins no raw string.
fn no_code(text: &str, in_word: bool) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(block_comment(text));
    }
    if !in_word && let Some(length) = raw_string(text) {
        return Some(length);
    }
    match text.as_bytes() {
        [b'"', ..] => Some(closed_by(text, '"')),
        [b'\'', b'\\', ..] => Some(closed_by(text, '\'')),
        [b'\'', ..] => {
            // One character and a quote; a lifetime has no second quote.
            let inside = text.chars().nth(1)?;
            let end = 1 + inside.len_utf8();
            text[end..].starts_with('\'').then_some(end + 1)
        }
        _ => None,
    }
}

/// Comments of this kind nest.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// `r"..."`, `br#"..."#`.
fn raw_string(text: &str) -> Option<usize> {
    let prefix = ["r", "br", "cr"].into_iter().find(|prefix| {
        let after = text.strip_prefix(prefix).map(|rest| rest.trim_start_matches('#'));
        after.is_some_and(|after| after.starts_with('"'))
    })?;
    let rest = &text[prefix.len()..];
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    let start = prefix.len() + hashes + 1;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(text[start..].find(&end).map_or(text.len(), |at| start + at + end.len()))
}

/// The length up to and with the closing quote, which a backslash in front makes an ordinary character.
fn closed_by(text: &str, quote: char) -> usize {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        if c == '\\' {
            characters.next();
        } else if c == quote {
            return at + 1;
        }
    }
    text.len()
}

/// Code without the items that are compiled for tests only.
pub(crate) fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut kept = String::new();
    let mut rest = code;
    while let Some(at) = rest.find(MARK) {
        kept.push_str(&rest[..at]);
        let item = &rest[at + MARK.len()..];
        rest = &item[item_length(item)..];
    }
    kept + rest
}

/// Up to the `;` or the closing brace of an item.
fn item_length(item: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in item.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ';' || c == '}') {
            return at + 1;
        }
    }
    item.len()
}

#[test]
fn comments_and_literals_are_not_code() {
    let words = |text: &str| code(text).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words("a // b\nc /* d /* e */ f */ g"), ["a", "c", "g"]);
    assert_eq!(words(r##"a "b \" // c" d r#"e " f"# g br"h" i"##), ["a", "d", "g", "i"]);
    assert_eq!(words(r"a '/' '\'' '\\' b: &'c d, 'é' e r#type"), ["a", "b:", "&'c", "d,", "e", "r#type"]);
    assert_eq!(code("\"a\nb\"").matches('\n').count(), 1);
}

#[test]
fn tests_are_left_out() {
    let code = "a #[cfg(test)] mod tests { use super::*; fn b() {} } c #[cfg(test)] use d::{e}; f";
    let kept: Vec<_> = without_tests(code).split_whitespace().map(str::to_owned).collect();
    assert_eq!(kept, ["a", "c", ";", "f"]);
}
