//! Reads lists of numbers that a person typed.

use tensor_layout::Error;
use tensor_layout::checked::Exact;
use tensor_layout::cursor::Cursor;

/// Reads a list of natural numbers, in brackets or without: `[2,3]`, `(2,3)`, `2,3`, `[]`. `what` names one
/// number of the list in errors: "a size".
///
/// # Errors
///
/// `parse` with the column if the text is not a list of numbers, or a number exceeds 64 bits.
///
/// ```
/// use tensor_layout_text::read_list;
///
/// assert_eq!(read_list("[2, 3]", "a size")?, [2, 3]);
/// assert_eq!(read_list("2,x", "a size").unwrap_err().to_string(), "column 3 of `2,x`: expected a size, found `x`");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn read_list(text: &str, what: &str) -> Result<Vec<u64>, Error> {
    let refuse = |at: usize, expected: String| {
        let found = text.get(at..).and_then(|rest| rest.chars().next());
        let found = found.map_or_else(|| "the end of the text".into(), |c| format!("`{c}`"));
        Err(Error::parse(text.to_owned(), at.plus(1), expected, found))
    };
    let end = text.trim_end().len();
    let mut at = text.len().minus(text.trim_start().len());
    let closing = match text.get(at..).and_then(|rest| rest.chars().next()) {
        Some('[') => Some(']'),
        Some('(') => Some(')'),
        _ => None,
    };
    let bracketed = closing.is_some();
    let mut end = end;
    if let Some(closing) = closing {
        at = at.plus(1);
        match text.get(..end).and_then(|text| text.strip_suffix(closing)) {
            Some(inner) => end = inner.len(),
            None => return refuse(end, format!("`{closing}`")),
        }
    }
    let mut numbers = Vec::new();
    let inner = text.get(at..end).unwrap_or("");
    if inner.trim().is_empty() {
        return if bracketed { Ok(numbers) } else { refuse(at, format!("{what}, or `[]` for none")) };
    }
    for part in inner.split(',') {
        let number = part.trim();
        let blank = part.len().minus(part.trim_start().len());
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 || digits < number.len() {
            return refuse(at.plus(blank).plus(digits), what.to_owned());
        }
        match number.parse() {
            Ok(number) => numbers.push(number),
            Err(_) => return refuse(at.plus(blank), format!("{what} below 2^64")),
        }
        at = at.plus(part.len()).plus(1);
    }
    Ok(numbers)
}

/// Reads a whole number with or without a sign.
pub(super) fn signed(cursor: &mut Cursor<'_>) -> Result<i128, Error> {
    let negative = cursor.eat("-");
    let number = i128::from(cursor.number("a whole number")?);
    Ok(if negative { 0_i128.minus(number) } else { number })
}
