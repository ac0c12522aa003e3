//! The form of comments: how wide their lines may be, and how many lines a comment inside code may have.

use super::source::files;

const FOLDERS: &[&str] = &["src", "crates", "explorer", "fuzz", "python", "docs", "tests", "benches", "examples"];

/// The most columns of a line of a comment, its indentation included.
const COLUMNS: usize = 110;

/// The most lines of a comment that is not documentation.
const LINES: usize = 3;

/// What is wrong with the comments of a file. Examples and tables of the documentation may be wider.
fn faults(path: &str, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let (mut in_example, mut plain) = (false, 0);
    for (number, line) in (1..).zip(text.lines()) {
        let comment = line.trim_start();
        let documentation = comment.strip_prefix("///").or_else(|| comment.strip_prefix("//!"));
        plain = if documentation.is_none() && comment.starts_with("//") { plain + 1 } else { 0 };
        if plain == LINES + 1 {
            wrong.push(format!("{path}:{number}: a comment of more than {LINES} lines"));
        }
        let is_fence = documentation.is_some_and(|words| words.trim_start().starts_with("```"));
        in_example = documentation.is_some() && in_example != is_fence;
        let is_table = documentation.is_some_and(|words| words.trim_start().starts_with('|'));
        if comment.starts_with("//") && !in_example && !is_table && line.chars().count() > COLUMNS {
            wrong.push(format!("{path}:{number}: a comment of more than {COLUMNS} columns"));
        }
    }
    wrong
}

#[test]
fn comments_are_narrow_and_short() {
    let wrong: Vec<_> =
        FOLDERS.iter().flat_map(|folder| files(folder)).flat_map(|(path, text)| faults(&path, &text)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn wide_and_long_comments_are_found() {
    let wide = "x".repeat(COLUMNS);
    let found = |text: &str| faults("f", text).len();
    assert_eq!(found(&format!("//! {wide}\n/// {wide}\n    // {wide}\n{wide}")), 3);
    assert_eq!(found(&format!("/// | {wide}\n/// ```\n/// {wide}\n/// ```\n/// {wide}")), 1);
    assert_eq!(found(&format!("/// ```\n/// {wide}\nfn f() {{}}\n/// {wide}")), 1, "an example ends with its comment");
    assert_eq!(found(&"// x\n".repeat(LINES)), 0);
    assert_eq!(found(&"// x\n".repeat(LINES + 3)), 1);
    assert_eq!(found(&"/// x\n".repeat(LINES + 1)), 0);
}
