//! Lists of numbers as they are typed: `[2,3]`, `2,3`, `[]`.

use tensor_layout::Error;

pub(crate) use tensor_layout_text::read_list;

/// Reads a number of at least 0. `what` says in an error what the number stands for.
pub(crate) fn read_number(text: &str, what: &str) -> Result<u64, Error> {
    match read_list(text, what)?.as_slice() {
        [number] if !text.contains('[') => Ok(*number),
        _ => Err(Error::parse(text.to_owned(), 1, what.to_owned(), "a list")),
    }
}

/// Writes numbers as `[2,3]`.
pub(crate) fn write_list(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    format!("[{}]", numbers.join(","))
}
