//! `Operation`: one operation of HLO as people paste it, with the shapes of its result and of its operands.

use tensor_layout::cursor::Cursor;
use tensor_layout::{DataType, Error, Shape};

use super::attributes::{self, Open};
use super::lines::MAX_LINE_BYTES;

/// The most lines that an operation takes. Without a limit, a text that is no operation would be read once
/// for each of its lines.
const MOST_LINES: usize = 64;

/// An operation of HLO outside any module: `%add.1 = f32[8,128]{1,0:T(8,128)} add(%a, %b)`.
///
/// The `%` of names may be missing. The text may take several lines, as on XLA's pages.
///
/// ```
/// use tensor_layout_hlo::{Operand, Operation};
///
/// let text = "%fusion = f32[2,3]{1,0:S(1)}
///     fusion(f32[3,2]{0,1} %p, %q), kind=kLoop, calls=%body";
/// assert!(Operation::begins(text));
/// let Operation { name, opcode, shape, operands, attributes, is_root } = Operation::read(text)?;
/// assert_eq!((name, opcode, shape, is_root), ("fusion", "fusion", "f32[2,3]{1,0:S(1)}", false));
/// let Operand { name, shape } = operands[0];
/// assert_eq!((name, shape), ("p", Some("f32[3,2]{0,1}")));
/// assert_eq!((operands[1].name, operands[1].shape), ("q", None));
/// assert_eq!(attributes, ["kind=kLoop", "calls=%body"]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation<'a> {
    /// The name of the operation, without the `%`.
    pub name: &'a str,
    /// What the operation does: `add`, `fusion`.
    pub opcode: &'a str,
    /// The shape of the result as it is written. [`Shape`] reads it.
    pub shape: &'a str,
    /// The operands. A parameter and a constant have none.
    pub operands: Vec<Operand<'a>>,
    /// The attributes behind the operands, as they are written: `kind=kLoop`.
    pub attributes: Vec<&'a str>,
    /// Whether `ROOT` is written in front, so that the result is that of the computation.
    pub is_root: bool,
}

/// An operand of an [`Operation`].
///
/// ```
/// use tensor_layout_hlo::{Operand, Operation};
///
/// let add = Operation::read("add = f32[4] add(f32[4]{0} x, y)")?;
/// assert_eq!(add.operands[0], Operand { name: "x", shape: Some("f32[4]{0}") });
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operand<'a> {
    /// The name of the instruction whose result this is, without the `%`. It is empty if only a shape is
    /// written.
    pub name: &'a str,
    /// The shape as it is written, or `None` if only a name is written.
    pub shape: Option<&'a str>,
}

impl<'a> Operation<'a> {
    /// Whether a text begins as an operation does: a name, `=`, and the type of an array or a tuple.
    ///
    /// ```
    /// use tensor_layout_hlo::Operation;
    ///
    /// assert!(Operation::begins("ROOT %t = (f32[2]{0}, s32[]) tuple(%a, %b)"));
    /// assert!(!Operation::begins("f32[2,3]{1,0}") && !Operation::begins("shape=(2, 3), strides=(12, 4)"));
    /// ```
    #[must_use]
    pub fn begins(text: &str) -> bool {
        let mut cursor = Cursor::new(text);
        read_head(&mut cursor).is_ok() && begins_shape(cursor)
    }

    /// Whether the operation that `text` begins goes on in the line `next`: a bracket is open, the
    /// operation is not complete, or the line is indented and begins no other operation.
    ///
    /// ```
    /// use tensor_layout_hlo::Operation;
    ///
    /// let text = "a = f32[2]{0} fusion(f32[2]{0} b),";
    /// assert!(Operation::goes_on(text, "kind=kLoop") && Operation::goes_on("a = f32[2]{0} neg(b)", "  , calls=c"));
    /// assert!(!Operation::goes_on("a = f32[2]{0} neg(b)", "  c = f32[2]{0} neg(a)"));
    /// ```
    #[must_use]
    pub fn goes_on(text: &str, next: &str) -> bool {
        let room = MAX_LINE_BYTES.saturating_sub(text.len());
        let lines = text.bytes().filter(|&byte| byte == b'\n').count();
        if next.trim().is_empty() || next.len() > room || lines >= MOST_LINES || Operation::begins(next) {
            return false;
        }
        let mut open = Open::default();
        open.add(text);
        open.is_inside() || next.starts_with([' ', '\t']) || is_incomplete(text)
    }

    /// Reads an operation.
    ///
    /// # Errors
    ///
    /// `parse` with the place where the text is no operation, and the errors of its shapes.
    pub fn read(text: &'a str) -> Result<Operation<'a>, Error> {
        let mut cursor = Cursor::new(text);
        let (is_root, name) = read_head(&mut cursor)?;
        let (shape, opcode) = (read_shape(&mut cursor, text)?, read_opcode(&mut cursor)?);
        cursor.expect("(", "`(` and the operands")?;
        let operands = if matches!(opcode, "parameter" | "constant") {
            let inside = cursor.rest();
            let Some(end) = attributes::closing_bracket(inside) else {
                return Err(cursor.error_at(text.len(), "`)` after the operands"));
            };
            let end = cursor.position().saturating_add(end).saturating_add(1);
            cursor.move_to(end);
            Vec::new()
        } else {
            cursor.list(")", |cursor| read_operand(cursor, text))?
        };
        if !cursor.rest().is_empty() {
            cursor.expect(",", "`,` and attributes")?;
        }
        let mut parts = attributes::split_at_commas(cursor.rest());
        let attributes: Vec<&str> = parts.by_ref().filter(|part| !part.is_empty()).collect();
        if parts.is_open() || text.trim_end().ends_with(',') {
            return Err(cursor.error_at(text.len(), "the rest of the attributes"));
        }
        Ok(Operation { name, opcode, shape, operands, attributes, is_root })
    }
}

/// Whether the text ends before its operands, or with a comma.
fn is_incomplete(text: &str) -> bool {
    let error = Operation::read(text).err();
    error.and_then(|error| error.column()).is_some_and(|column| column > text.trim_end().len())
}

/// Reads `ROOT %name =`. Returns whether `ROOT` is there, and the name.
pub(super) fn read_head<'a>(cursor: &mut Cursor<'a>) -> Result<(bool, &'a str), Error> {
    let is_root = cursor.rest().starts_with("ROOT ") && cursor.eat("ROOT");
    let name = read_name(cursor)?;
    cursor.expect("=", "`=`")?;
    Ok((is_root, name))
}

/// Whether a shape follows: the name of a type and `[`, or a tuple of shapes.
fn begins_shape(mut cursor: Cursor<'_>) -> bool {
    let mut in_tuple = false;
    while cursor.eat("(") {
        in_tuple = true;
    }
    let word = cursor.word();
    let is_type = matches!(word, "token" | "opaque" | "b") || word.parse::<DataType>().is_ok();
    (is_type && matches!(cursor.peek(), Some(b'[' | b'('))) || (in_tuple && word.is_empty() && cursor.eat(")"))
}

fn read_shape<'a>(cursor: &mut Cursor<'a>, text: &'a str) -> Result<&'a str, Error> {
    cursor.peek();
    let start = cursor.position();
    Shape::read(cursor)?;
    Ok(text.get(start..cursor.position()).unwrap_or("").trim())
}

fn read_operand<'a>(cursor: &mut Cursor<'a>, text: &'a str) -> Result<Operand<'a>, Error> {
    let shape = if begins_shape(cursor.clone()) { Some(read_shape(cursor, text)?) } else { None };
    let name = match (shape, cursor.peek()) {
        (Some(_), Some(b',' | b')')) => "",
        _ => read_name(cursor)?,
    };
    Ok(Operand { name, shape })
}

/// Reads the name of an instruction or a computation, with or without `%`.
pub(super) fn read_name<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str, Error> {
    cursor.eat("%");
    read_while(cursor, |c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'), "a name")
}

fn read_while<'a>(cursor: &mut Cursor<'a>, accept: fn(char) -> bool, expected: &str) -> Result<&'a str, Error> {
    let start = cursor.position();
    let rest = cursor.rest();
    let end = rest.find(|c: char| !accept(c)).unwrap_or(rest.len());
    if end == 0 {
        return Err(cursor.error(expected));
    }
    cursor.move_to(start.saturating_add(end));
    Ok(rest.get(..end).unwrap_or(""))
}

pub(super) fn read_opcode<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str, Error> {
    read_while(cursor, |c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'), "the name of an operation")
}
