//! `Instruction`: one line of a computation.

use std::sync::Arc;

use crate::cursor::Cursor;
use crate::error::Error;
use crate::tiled::{Shape, read_shape};

use super::attributes;

/// One instruction of an HLO dump.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Instruction {
    /// Its name, without the `%`.
    pub name: String,
    /// What it does: `add`, `fusion`, `get-tuple-element`.
    pub opcode: String,
    /// The names of the instructions it reads, without the `%`; none for a parameter and a constant.
    pub operands: Vec<String>,
    /// The shape of its result.
    pub shape: Shape,
    /// The name of the computation it belongs to, without the `%`.
    pub computation: Arc<str>,
    /// Does it belong to the module's entry computation?
    pub in_entry: bool,
    /// Is its result the result of the computation?
    pub is_root: bool,
    /// The computations it calls, without the `%`.
    pub calls: Vec<String>,
    /// The operation of the source program it comes from (`op_name` of its metadata).
    pub op_name: Option<String>,
    /// The line of the dump it starts in; the first is 1.
    pub line: u64,
}

impl Instruction {
    /// Reads one line. `cut` says that the end of the line is missing, which only a constant survives.
    pub(super) fn read(
        text: &str,
        cut: bool,
        line: u64,
        computation: &Arc<str>,
        in_entry: bool,
    ) -> Result<Instruction, Error> {
        let mut cursor = Cursor::new(text);
        let is_root = cursor.rest().starts_with("ROOT ") && cursor.eat("ROOT");
        let name = read_name(&mut cursor)?.to_owned();
        cursor.expect("=", "`=`")?;
        let shape = read_shape(&mut cursor)?;
        let opcode = read_opcode(&mut cursor)?.to_owned();
        cursor.expect("(", "`(` and the operands")?;

        let start = cursor.position();
        let behind = cursor.rest();
        let Some(end) = attributes::closing_bracket(behind) else {
            if cut && opcode == "constant" {
                let (operands, calls, computation) = (Vec::new(), Vec::new(), Arc::clone(computation));
                let op_name = None;
                return Ok(Instruction {
                    name,
                    opcode,
                    operands,
                    shape,
                    computation,
                    in_entry,
                    is_root,
                    calls,
                    op_name,
                    line,
                });
            }
            return Err(cursor.error_at(start.saturating_add(behind.len()), "`)` behind the operands"));
        };
        let (inside, behind) = behind.split_at_checked(end).unwrap_or((behind, ""));
        let behind = behind.strip_prefix(')').unwrap_or(behind);
        let named = !matches!(opcode.as_str(), "parameter" | "constant");
        let operands =
            attributes::split_at_commas(inside).filter(|_| named).filter_map(operand_name).map(str::to_owned).collect();
        Ok(Instruction {
            operands,
            calls: attributes::called_computations(behind).map(str::to_owned).collect(),
            op_name: attributes::op_name(behind).map(str::to_owned),
            computation: Arc::clone(computation),
            name,
            opcode,
            shape,
            in_entry,
            is_root,
            line,
        })
    }

    /// Is the result no buffer of its own, but one of its operands or of the computation around it?
    ///
    /// True for a parameter outside the entry computation and for `bitcast`, `get-tuple-element`, `tuple`,
    /// `while`, `conditional`, `call`, `optimization-barrier`, `add-dependency`, `domain` and the `-update`
    /// and `-done` parts of an asynchronous operation. Which other results share memory is up to XLA's
    /// buffer assignment and not in this text.
    #[must_use]
    pub fn is_alias(&self) -> bool {
        const ALIASES: [&str; 9] = [
            "bitcast",
            "get-tuple-element",
            "tuple",
            "while",
            "conditional",
            "call",
            "optimization-barrier",
            "add-dependency",
            "domain",
        ];
        ALIASES.contains(&self.opcode.as_str())
            || self.opcode.ends_with("-done")
            || self.opcode.ends_with("-update")
            || (self.opcode == "parameter" && !self.in_entry)
    }

    /// The element of the result's tuple that is only another name for the operands: the start of
    /// an asynchronous operation returns them beside its results, and so does a `send`.
    #[must_use]
    pub fn aliased_element(&self) -> Option<usize> {
        match self.opcode.as_str() {
            "copy-start" => Some(1),
            "all-reduce-start" => None,
            opcode => (opcode == "send" || opcode.ends_with("-start")).then_some(0),
        }
    }
}

/// A name with or without `%`, as instructions and computations have it.
pub(super) fn read_name<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str, Error> {
    cursor.eat("%");
    read_while(cursor, |c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'), "a name")
}

fn read_opcode<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str, Error> {
    read_while(cursor, |c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'), "the name of an operation")
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

/// `%x` of `f32[3]{0} %x` or `/*index=5*/%x`.
fn operand_name(operand: &str) -> Option<&str> {
    let name = operand.rsplit(|c: char| c.is_whitespace() || c == '/').next()?;
    Some(name.trim_start_matches('%')).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Instruction, Error> {
        Instruction::read(text, false, 1, &"main".into(), true)
    }

    #[test]
    fn lines_of_many_kinds() {
        for (text, name, opcode, operands) in [
            ("%p.1 = f32[3]{0} parameter(0), metadata={op_name=\"x\"}", "p.1", "parameter", &[][..]),
            ("ROOT %a = f32[3]{0:T(128)} add(f32[3]{0:T(128)} %b, %c)", "a", "add", &["b", "c"]),
            ("t = (f32[], /*index=1*/s8[2]) tuple(x, /*index=1*/y)", "t", "tuple", &["x", "y"]),
            ("c = s32[2]{0} constant({1, 2})", "c", "constant", &[]),
            ("c = s32[] constant(\")\")", "c", "constant", &[]),
            ("%after-all.1 = token[] after-all()", "after-all.1", "after-all", &[]),
            (
                "%copy-start = (bf16[8,128]{1,0:T(8,128)(2,1)S(1)}, bf16[8,128]{1,0:T(8,128)(2,1)}, u32[]{:S(2)}) copy-start(%p)",
                "copy-start",
                "copy-start",
                &["p"],
            ),
            ("%g = f32[2]{0} get-tuple-element((f32[2]{0}, f32[]) %t), index=0", "g", "get-tuple-element", &["t"]),
        ] {
            let found = read(text).unwrap();
            assert_eq!((found.name.as_str(), found.opcode.as_str()), (name, opcode), "{text}");
            assert_eq!(found.operands, operands, "{text}");
            assert_eq!(found.is_root, text.starts_with("ROOT"));
        }
    }

    #[test]
    fn refused_lines_point_at_the_byte() {
        for (text, column) in [
            ("%a f32[3]", 4),
            ("%a = f33[3]{0} add(%b)", 6),
            ("%a = f32[3]{0} (%b)", 16),
            ("%a = f32[3]{0} add %b", 20),
            ("%a = f32[3]{0} add(%b", 22),
            ("= f32[]", 1),
        ] {
            assert_eq!(read(text).unwrap_err().column(), Some(column), "{text}");
        }
        assert!(Instruction::read("c = s8[9] constant({1, 2", true, 1, &"main".into(), true).is_ok());
    }
}
