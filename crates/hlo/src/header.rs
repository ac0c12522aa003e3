//! `ModuleHeader`: the first line of a dump.

use tensor_layout::Error;
use tensor_layout::cursor::Cursor;

use super::attributes;

/// The contents of the line `HloModule name, is_scheduled=true, input_output_alias={..}, ..`.
///
/// ```
/// use tensor_layout_hlo::{InputOutputAlias, Module};
///
/// let dump = "HloModule step, is_scheduled=true, input_output_alias={ {0}: (1, {}, may-alias) }
///
/// ENTRY %main (p: f32[4], q: f32[4]) -> (f32[4]) {
///   %p = f32[4]{0} parameter(0)
///   %q = f32[4]{0} parameter(1)
///   %sum = f32[4]{0} add(%p, %q)
///   ROOT %out = (f32[4]{0}) tuple(%sum)
/// }";
/// let module = Module::read(dump.as_bytes())?;
/// let header = module.header();
/// assert_eq!((header.name.as_str(), header.is_scheduled), ("step", true));
/// let alias: &InputOutputAlias = &header.aliases[0];
/// assert_eq!((&alias.output[..], alias.parameter), (&[0][..], 1));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModuleHeader {
    /// The name of the module, `step` in `HloModule step`.
    pub name: String,
    /// Whether the instructions of each computation are in the order in which they run.
    pub is_scheduled: bool,
    /// The results that share the memory of a donated parameter (`input_output_alias`).
    pub aliases: Vec<InputOutputAlias>,
    /// Whether the line has an `entry_computation_layout`.
    pub(crate) has_entry_layout: bool,
}

/// A result of the program that is written over a donated parameter: one entry of `input_output_alias`.
///
/// ```
/// use tensor_layout_hlo::{InputOutputAlias, Reader};
///
/// let mut reader = Reader::new(&b"HloModule step, input_output_alias={ {0}: (1, {}, may-alias) }\n"[..]);
/// assert!(reader.next().is_none());
/// let alias: &InputOutputAlias = &reader.header().unwrap().aliases[0];
/// assert_eq!((&alias.output[..], alias.parameter), (&[0][..], 1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputOutputAlias {
    /// The index of the array in the tuple of results. It is empty if the program returns a single array.
    pub output: Vec<usize>,
    /// The number of the donated parameter, counted from 0.
    pub parameter: u64,
    /// The index of the array in the parameter. It is empty if the parameter is not a tuple.
    pub parameter_index: Vec<usize>,
}

impl ModuleHeader {
    /// Reads the text after `HloModule `. An attribute that cannot be read is treated as missing.
    pub(super) fn read(text: &str) -> ModuleHeader {
        let mut header = ModuleHeader::default();
        for (position, part) in attributes::split_at_commas(text).enumerate() {
            match part.split_once('=') {
                _ if position == 0 => header.name = part.to_owned(),
                Some(("is_scheduled", value)) => header.is_scheduled = value == "true",
                Some(("input_output_alias", value)) => header.aliases = aliases(value).unwrap_or_default(),
                Some(("entry_computation_layout", _)) => header.has_entry_layout = true,
                _ => {}
            }
        }
        header
    }
}

/// Reads `{ {0}: (0, {}, may-alias), {1}: (2, {0}, must-alias) }`. `may-alias` and `must-alias` are optional.
pub(super) fn aliases(text: &str) -> Result<Vec<InputOutputAlias>, Error> {
    let mut cursor = Cursor::new(text);
    cursor.expect("{", "`{`")?;
    cursor.list("}", |cursor| {
        let output = tuple_index(cursor)?;
        cursor.expect(":", "`:` and the parameter")?;
        cursor.expect("(", "`(` and the number of the parameter")?;
        let parameter = cursor.number("the number of a parameter")?;
        cursor.expect(",", "`,` and the place in the parameter")?;
        let parameter_index = tuple_index(cursor)?;
        if cursor.eat(",") && !cursor.eat("may-alias") {
            cursor.expect("must-alias", "`may-alias` or `must-alias`")?;
        }
        cursor.expect(")", "`)`")?;
        Ok(InputOutputAlias { output, parameter, parameter_index })
    })
}

/// Reads an index into nested tuples: `{}`, `{0}` or `{1,2}`.
fn tuple_index(cursor: &mut Cursor) -> Result<Vec<usize>, Error> {
    cursor.expect("{", "`{` and a place in a tuple")?;
    cursor
        .list("}", |cursor| tensor_layout::checked::narrow(cursor.number("a place in a tuple")?, "a place in a tuple"))
}

#[cfg(test)]
mod tests;
