//! The text after the operands of an instruction: `calls=%body, metadata={op_name="..."}`.

/// Splits a text at the commas that are in no bracket and in no string. The parts are trimmed.
pub(super) fn split_at_commas(text: &str) -> CommaSplit<'_> {
    CommaSplit { rest: Some(text), is_open: false }
}

/// The iterator of [`split_at_commas`].
pub(super) struct CommaSplit<'a> {
    rest: Option<&'a str>,
    /// Whether the text ended inside a bracket or a string; false until the last part was taken.
    is_open: bool,
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

/// The place of the bracket that closes an enclosing bracket of `text`.
pub(super) fn closing_bracket(text: &str) -> Option<usize> {
    Scan::new(text).find(|&(_, _, depth)| depth < 0).map(|(at, ..)| at)
}

/// The attributes of an instruction that matter for memory.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Attributes<'a> {
    /// The computations that are called, without their `%`.
    pub(super) calls: Vec<&'a str>,
    /// `op_name="..."` of the metadata, with the backslashes of the text.
    pub(super) op_name: Option<&'a str>,
    /// `source_file` of the metadata.
    pub(super) source_file: Option<&'a str>,
    /// `source_line` of the metadata.
    pub(super) source_line: Option<u64>,
    /// `stack_frame_id` of the metadata.
    pub(super) stack_frame: Option<u64>,
    /// `index=1` of a `get-tuple-element`.
    pub(super) index: Option<u64>,
    /// `kind=kLoop` of a fusion.
    pub(super) kind: Option<&'a str>,
    /// `custom_call_target="..."`
    pub(super) target: Option<&'a str>,
    /// `output_to_operand_aliasing={...}`
    pub(super) aliasing: Option<&'a str>,
    /// Whether the text ends inside an attribute or after a comma. The next line then continues it.
    pub(super) is_open: bool,
}

/// The attributes that name computations.
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
    /// Reads the text after the operands. Unknown attributes are skipped.
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
        found.is_open = parts.is_open || text.trim_end().ends_with(',');
        found
    }

    /// Reads the fields of `{op_name="jit(f)/add" stack_frame_id=5}`.
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

/// The string without the backslashes that escape quotes and backslashes.
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

/// Splits the value of a field from the rest of the text. A string loses its quotes. `None` means that the
/// string does not end.
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
    // A value in braces ends with the closing brace.
    if text.starts_with('{') {
        let inside = text.get(1..)?;
        let end = closing_bracket(inside)?;
        return Some((inside.get(..end)?, inside.get(end.saturating_add(1)..)?));
    }
    let end = text.find([' ', '}']).unwrap_or(text.len());
    text.split_at_checked(end)
}

/// The brackets and strings that are open at the end of a text, which may arrive in pieces.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Open {
    depth: i64,
    in_string: bool,
    escaped: bool,
}

impl Open {
    /// Whether a bracket or a string is open.
    pub(super) fn is_inside(self) -> bool {
        self.depth > 0 || self.in_string
    }

    /// Adds the next piece. Returns whether there is a byte in it after which no bracket and no string is
    /// open.
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

/// An iterator over the bytes outside strings: the place of each, the byte, and how many brackets are open
/// after it.
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
