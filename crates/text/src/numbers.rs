//! Lists of numbers, read and written.

use tensor_layout::Error;
use tensor_layout::checked::Proven;
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
    whole_list(text, what, |cursor| cursor.number(what))
}

/// Reads a text that is a list and nothing more.
pub(crate) fn whole_list<'a, T>(
    text: &'a str,
    what: &str,
    number: impl Fn(&mut Cursor<'a>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let mut cursor = Cursor::new(text);
    if cursor.peek().is_none() {
        return Err(cursor.error(&format!("{what}, or `[]` for none")));
    }
    let mut numbers = tuple(&mut cursor, &number)?;
    while !text.trim_start().starts_with(['[', '(']) && cursor.eat(",") {
        numbers.push(number(&mut cursor)?);
    }
    cursor.end("`,` and another number, or nothing more")?;
    Ok(numbers)
}

/// Reads `(2, 3)`, `(2,)`, `()`, `[2, 3]`, or a single number, which NumPy reads as one dimension.
pub(crate) fn tuple<'a, T>(
    cursor: &mut Cursor<'a>,
    number: impl Fn(&mut Cursor<'a>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let close = if cursor.eat("(") {
        ")"
    } else if cursor.eat("[") {
        "]"
    } else {
        return Ok(vec![number(cursor)?]);
    };
    let mut numbers = Vec::new();
    while !cursor.eat(close) {
        numbers.push(number(cursor)?);
        if !cursor.eat(",") {
            cursor.expect(close, &format!("`,` or `{close}`"))?;
            break;
        }
    }
    Ok(numbers)
}

/// Reads a whole number with or without a sign.
pub(crate) fn signed(cursor: &mut Cursor<'_>) -> Result<i128, Error> {
    let negative = cursor.eat("-");
    let number = i128::from(cursor.number("a whole number")?);
    Ok(if negative { 0_i128.minus(number) } else { number })
}

/// Writes `2,3`.
pub(crate) fn joined<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

/// Writes `[2,3]`.
pub(crate) fn list(numbers: &[u64]) -> String {
    format!("[{}]", joined(numbers))
}

/// Writes a tuple as Python does: `(2,3)`, `(2,)` and `()`.
pub(crate) fn python<T: ToString>(numbers: &[T]) -> String {
    format!("({}{})", joined(numbers), if numbers.len() == 1 { "," } else { "" })
}
