//! The text after the operands of an instruction: `calls=%body, metadata={op_name="..."}`.

/// Splits a text at the commas outside brackets and strings. Each part is returned without surrounding
/// blanks.
pub(super) fn split_at_commas(text: &str) -> CommaSplit<'_> {
    CommaSplit { rest: Some(text), is_open: false }
}

pub(super) struct CommaSplit<'a> {
    rest: Option<&'a str>,
    /// Whether the text ends inside a bracket or a string. This is known, and set, only when the last part is
    /// taken.
    is_open: bool,
}

impl CommaSplit<'_> {
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }
}

impl<'a> Iterator for CommaSplit<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.rest?;
        let mut scan = Scan::new(text);
        let comma = scan.find(|&(_, byte, depth)| byte == b',' && depth == 0).map(|(at, ..)| at);
        let (part, after) = match comma.and_then(|at| text.split_at_checked(at)) {
            Some((part, after)) => (part, after.get(1..)),
            None => (text, None),
        };
        self.is_open = after.is_none() && scan.open.is_inside();
        self.rest = after;
        Some(part.trim())
    }
}

/// Returns the byte offset of the first closing bracket whose opening bracket is in front of `text`.
pub(super) fn closing_bracket(text: &str) -> Option<usize> {
    Scan::new(text).find(|&(_, _, depth)| depth < 0).map(|(at, ..)| at)
}

/// The attributes of an instruction that matter for memory.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Attributes<'a> {
    /// The names of the computations that the instruction calls, without `%`.
    pub(super) calls: Vec<&'a str>,
    /// The value of `op_name="..."` in the metadata. Backslashes that escape a character are still in it.
    pub(super) op_name: Option<&'a str>,
    pub(super) source_file: Option<&'a str>,
    pub(super) source_line: Option<u64>,
    /// The value of `stack_frame_id` in the metadata.
    pub(super) stack_frame: Option<u64>,
    /// The element that a `get-tuple-element` takes, from `index=1`.
    pub(super) index: Option<u64>,
    /// The kind of a fusion, from `kind=kLoop`.
    pub(super) kind: Option<&'a str>,
    /// The target of a custom call, from `custom_call_target="..."`.
    pub(super) target: Option<&'a str>,
    /// The text in `output_to_operand_aliasing={...}`, braces included.
    pub(super) aliasing: Option<&'a str>,
    /// Whether the text ends inside an attribute or after a comma. The next line then continues it.
    pub(super) is_open: bool,
}

/// The attributes whose values are names of called computations.
const CALLS: [&str; 10] = [
    "calls",
    "to_apply",
    "body",
    "condition",
    "true_computation",
    "false_computation",
    "branch_computations",
    "called_computations",
    "select",
    "scatter",
];

impl<'a> Attributes<'a> {
    /// Reads the attributes from the text after the operands. Unknown attributes are skipped.
    pub(super) fn read(text: &'a str) -> Attributes<'a> {
        let mut found = Attributes::default();
        let mut parts = split_at_commas(text);
        for (key, value) in parts.by_ref().filter_map(|part| part.split_once('=')) {
            match key {
                "metadata" => found.metadata(value),
                "index" => found.index = value.parse().ok(),
                "kind" => found.kind = Some(value),
                "custom_call_target" => found.target = Some(value.trim_matches('"')),
                "output_to_operand_aliasing" => found.aliasing = Some(value),
                _ if CALLS.contains(&key) => found.calls.extend(
                    split_at_commas(value.trim_start_matches('{').trim_end_matches('}'))
                        .map(|name| name.trim_start_matches('%'))
                        .filter(|name| !name.is_empty()),
                ),
                _ => {}
            }
        }
        found.is_open = parts.is_open() || text.trim_end().ends_with(',');
        found
    }

    /// Reads the fields of a metadata attribute such as `{op_name="jit(f)/add" stack_frame_id=5}`.
    fn metadata(&mut self, text: &'a str) {
        let mut rest = text.trim_start_matches('{');
        while let Some((key, value)) = rest.split_once('=') {
            let Some((value, after)) = field_value(value) else { return };
            rest = after;
            match key.trim() {
                "op_name" => self.op_name = Some(value),
                "source_file" => self.source_file = Some(value),
                "source_line" => self.source_line = value.parse().ok(),
                "stack_frame_id" => self.stack_frame = value.parse().ok(),
                _ => {}
            }
        }
    }
}

/// Returns the string without the backslashes that escape quotes and backslashes. Other backslashes stay.
pub(super) fn unescaped(text: &str) -> String {
    let (mut plain, mut escaped) = (String::with_capacity(text.len()), false);
    for letter in text.chars() {
        if escaped && !matches!(letter, '"' | '\'' | '\\') {
            plain.push('\\');
        }
        escaped = letter == '\\' && !escaped;
        if !escaped {
            plain.push(letter);
        }
    }
    if escaped {
        plain.push('\\');
    }
    plain
}

/// Splits a text behind `key=` into the value and the rest. Quotes and braces around a value are dropped.
/// Returns `None` if a string or a brace is not closed.
fn field_value(text: &str) -> Option<(&str, &str)> {
    if let Some(string) = text.strip_prefix('"') {
        let mut escaped = false;
        let end = string.bytes().position(|byte| {
            let quote = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            quote
        })?;
        return Some((string.get(..end)?, string.get(end.saturating_add(1)..)?));
    }
    if text.starts_with('{') {
        let inside = text.get(1..)?;
        let end = closing_bracket(inside)?;
        return Some((inside.get(..end)?, inside.get(end.saturating_add(1)..)?));
    }
    let end = text.find([' ', '}']).unwrap_or(text.len());
    text.split_at_checked(end)
}

/// Counts the brackets and strings that are open at the end of a text. The text may arrive in pieces.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Open {
    depth: i64,
    in_string: bool,
    escaped: bool,
}

impl Open {
    /// Whether a bracket or a string is still open.
    pub(super) fn is_inside(self) -> bool {
        self.depth > 0 || self.in_string
    }

    /// Adds the next piece of the text. Returns whether all brackets and strings were closed at some byte of
    /// this piece.
    pub(super) fn add(&mut self, piece: &str) -> bool {
        let mut scan = Scan { bytes: piece.bytes().enumerate(), open: *self };
        let mut closed = false;
        for (_, _, depth) in scan.by_ref() {
            closed |= depth <= 0;
        }
        *self = scan.open;
        closed
    }
}

/// An iterator over the bytes outside strings. It yields the offset of a byte, the byte itself, and how many
/// brackets are open after that byte.
struct Scan<'a> {
    bytes: std::iter::Enumerate<std::str::Bytes<'a>>,
    open: Open,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Scan<'a> {
        Scan { bytes: text.bytes().enumerate(), open: Open::default() }
    }
}

impl Iterator for Scan<'_> {
    type Item = (usize, u8, i64);

    fn next(&mut self) -> Option<Self::Item> {
        let open = &mut self.open;
        for (at, byte) in self.bytes.by_ref() {
            if open.in_string {
                open.in_string = byte != b'"' || open.escaped;
                open.escaped = byte == b'\\' && !open.escaped;
                continue;
            }
            match byte {
                b'"' => {
                    open.in_string = true;
                    open.escaped = false;
                    continue;
                }
                b'(' | b'[' | b'{' => open.depth = open.depth.saturating_add(1),
                b')' | b']' | b'}' => open.depth = open.depth.saturating_sub(1),
                _ => {}
            }
            return Some((at, byte, open.depth));
        }
        None
    }
}

#[cfg(test)]
mod tests;
