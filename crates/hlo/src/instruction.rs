//! `Instruction`: one line of a computation.

use std::sync::Arc;

use tensor_layout::cursor::Cursor;
use tensor_layout::{Error, Shape, checked};

use super::attributes::{self, Attributes};
use super::header::{InputOutputAlias, aliases};
use super::operation::{read_head, read_opcode};
use super::sources::{SourceLine, Sources};

/// One instruction of an HLO dump.
///
/// ```
/// use tensor_layout_hlo::{Instruction, Reader, Record};
///
/// let dump = r#"ENTRY %main (p: f32[6]) -> f32[2,3] {
///   %p = f32[6]{0} parameter(0)
///   ROOT %b = f32[2,3]{1,0} bitcast(%p), metadata={op_name="jit(f)/reshape" source_file="f.py" source_line=7}
/// }"#;
/// let mut records = Reader::new(dump.as_bytes());
/// records.next();
/// let Some(Ok(Record::Instruction(bitcast))) = records.next() else { panic!("no instruction") };
/// let Instruction { name, opcode, is_root, .. } = &*bitcast;
/// assert_eq!((name.as_str(), opcode.as_str(), is_root), ("b", "bitcast", &true));
/// // Its result is the memory of its operand; a `get-tuple-element` would be an element of it.
/// assert!(bitcast.is_alias() && bitcast.aliased_element().is_none());
/// assert!(bitcast.operand_aliases.is_empty());
/// let source = bitcast.source.as_ref().unwrap();
/// assert_eq!((&*source.file, source.line), ("f.py", 7));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Instruction {
    /// The name of the instruction, without the `%`.
    pub name: String,
    /// The name of the operation: `add`, `fusion`, `get-tuple-element`.
    pub opcode: String,
    /// The names of the operands, without the `%`. A parameter and a constant have none.
    pub operands: Vec<String>,
    /// The shape of the result: an array or a tuple, with its layout.
    pub shape: Shape,
    /// The name of the computation that the instruction belongs to, without the `%`.
    pub computation: Arc<str>,
    /// Whether the computation of the instruction is the entry of the module.
    pub in_entry: bool,
    /// Whether the result of the instruction is the result of the computation.
    pub is_root: bool,
    /// The names of the computations that the instruction calls, without the `%`.
    pub calls: Vec<String>,
    /// The operation of the source program that the instruction comes from, from `op_name` of the metadata.
    pub op_name: Option<String>,
    /// The line of the source program that the instruction comes from, if the dump names it.
    pub source: Option<SourceLine>,
    /// For a `parameter` its number, and for a `get-tuple-element` the element that it takes. Both count from
    /// 0.
    pub number: Option<u64>,
    /// The kind of a `fusion`: `kLoop`, `kInput`, `kOutput`, `kCustom`.
    pub fusion_kind: Option<String>,
    /// The target of a `custom-call`.
    pub custom_call_target: Option<String>,
    /// The parts of the result that are written over an operand (`output_to_operand_aliasing`).
    pub operand_aliases: Vec<OperandAlias>,
    /// The line of the dump that the instruction starts in. The first line is 1.
    pub line: u64,
}

/// An array of a result that shares the memory of an operand: one entry of `output_to_operand_aliasing`.
///
/// ```
/// use tensor_layout_hlo::{OperandAlias, Reader, Record};
///
/// let line = r#"  %c = f32[4]{0} custom-call(%a, %b), custom_call_target="k", output_to_operand_aliasing={{}: (1, {})}"#;
/// let dump = format!("ENTRY %main {{\n{line}\n}}");
/// let Some(Ok(Record::Instruction(call))) = Reader::new(dump.as_bytes()).next() else { panic!("no instruction") };
/// let alias: &OperandAlias = &call.operand_aliases[0];
/// assert_eq!((alias.operand, alias.output.len()), (1, 0));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperandAlias {
    /// The index of the array in the tuple of results. It is empty if the result is not a tuple.
    pub output: Vec<usize>,
    /// The position of the operand in the list of operands, counted from 0.
    pub operand: usize,
    /// The index of the array in the operand. It is empty if the operand is not a tuple.
    pub operand_index: Vec<usize>,
}

impl Instruction {
    /// Reads an instruction. `cut` says that its line was too long and lost its end. Attributes and the
    /// values of a constant may then be missing, but the operands of any other instruction must be complete.
    pub(super) fn read(
        text: &str,
        cut: bool,
        line: u64,
        computation: &Arc<str>,
        in_entry: bool,
        sources: &mut Sources,
    ) -> Result<Instruction, Error> {
        let mut cursor = Cursor::new(text);
        let (is_root, name) = read_head(&mut cursor)?;
        let name = name.to_owned();
        let shape = Shape::read(&mut cursor)?;
        let opcode = read_opcode(&mut cursor)?.to_owned();
        cursor.expect("(", "`(` and the operands")?;

        let start = cursor.position();
        let tail = cursor.rest();
        let (inside, tail) = match attributes::closing_bracket(tail) {
            Some(end) => tail.split_at_checked(end).unwrap_or((tail, "")),
            None if cut && opcode == "constant" => ("", ""),
            None => return Err(cursor.error_at(start.saturating_add(tail.len()), "`)` after the operands")),
        };
        let attributes = Attributes::read(tail.strip_prefix(')').unwrap_or(tail));
        if attributes.is_open && !cut {
            return Err(cursor.error_at(text.len(), "the rest of the attributes"));
        }
        let named = !matches!(opcode.as_str(), "parameter" | "constant");
        let operands =
            attributes::split_at_commas(inside).filter(|_| named).filter_map(operand_name).map(str::to_owned).collect();
        let source = match (attributes.stack_frame, attributes.source_file, attributes.source_line) {
            (_, Some(file), Some(line)) => Some(sources.named(file, line)),
            (Some(frame), ..) => sources.frame(frame),
            _ => None,
        };
        Ok(Instruction {
            operands,
            source,
            number: if opcode == "parameter" { inside.trim().parse().ok() } else { attributes.index },
            calls: attributes.calls.into_iter().map(str::to_owned).collect(),
            op_name: attributes.op_name.map(attributes::unescaped),
            fusion_kind: attributes.kind.map(str::to_owned),
            custom_call_target: attributes.target.map(str::to_owned),
            operand_aliases: attributes.aliasing.and_then(|text| operand_aliases(text).ok()).unwrap_or_default(),
            computation: Arc::clone(computation),
            name,
            opcode,
            shape,
            in_entry,
            is_root,
            line,
        })
    }

    /// Whether the result has no buffer of its own, because it shares a buffer of an operand or of the
    /// calling instruction.
    ///
    /// The operations are a parameter outside the entry computation, `bitcast`, `get-tuple-element`, `tuple`,
    /// `while`, `conditional`, `call`, `optimization-barrier`, `add-dependency`, `domain`, and the `-update`
    /// and `-done` parts of an asynchronous operation. XLA shares the memory of other results too, but its
    /// buffer assignment decides that, not the text.
    #[must_use]
    pub fn is_alias(&self) -> bool {
        is_alias(&self.opcode, self.in_entry)
    }

    /// The element of the result's tuple that has no buffer of its own, because it only names the operands. A
    /// `send` and the start of an asynchronous operation return their operands in this way, beside their
    /// results.
    #[must_use]
    pub fn aliased_element(&self) -> Option<usize> {
        aliased_element(&self.opcode)
    }
}

/// The facts of an instruction that a [`BufferTable`](crate::BufferTable) needs.
pub(super) struct Owner<'a> {
    pub(super) name: &'a str,
    pub(super) opcode: &'a str,
    pub(super) op_name: Option<&'a str>,
    pub(super) shape: &'a Shape,
    pub(super) line: u64,
}

/// Answers [`Instruction::is_alias`] from the name of the operation.
pub(super) fn is_alias(opcode: &str, in_entry: bool) -> bool {
    const ALIASES: &str =
        "bitcast get-tuple-element tuple while conditional call optimization-barrier add-dependency domain";
    ALIASES.split(' ').any(|alias| alias == opcode)
        || opcode.ends_with("-done")
        || opcode.ends_with("-update")
        || (opcode == "parameter" && !in_entry)
}

/// Answers [`Instruction::aliased_element`] from the name of the operation.
pub(super) fn aliased_element(opcode: &str) -> Option<usize> {
    match opcode {
        "copy-start" => Some(1),
        "all-reduce-start" => None,
        opcode => (opcode == "send" || opcode.ends_with("-start")).then_some(0),
    }
}

/// Returns the name in the text of an operand: `x` in `f32[3]{0} %x` and in `/*index=5*/%x`.
fn operand_name(operand: &str) -> Option<&str> {
    let name = operand.rsplit(|c: char| c.is_whitespace() || c == '/').next()?;
    Some(name.trim_start_matches('%')).filter(|name| !name.is_empty())
}

/// Reads the value of `output_to_operand_aliasing`: `{{0}: (1, {}), {1}: (2, {0})}`.
fn operand_aliases(text: &str) -> Result<Vec<OperandAlias>, Error> {
    let alias = |InputOutputAlias { output, parameter, parameter_index }| {
        let operand = checked::narrow(parameter, "the position of an operand")?;
        Ok(OperandAlias { output, operand, operand_index: parameter_index })
    };
    aliases(text)?.into_iter().map(alias).collect()
}

#[cfg(test)]
mod tests;
