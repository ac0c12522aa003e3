//! What stands behind an instruction's operands: `calls=%body, metadata={op_name="..."}`.

/// The parts of `text` between commas that stand in no bracket and in no string, trimmed.
pub(super) fn split_at_commas(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let comma = Scan::new(text).find(|&(_, byte, depth)| byte == b',' && depth == 0).map(|(at, ..)| at);
        let (part, behind) = match comma.and_then(|at| text.split_at_checked(at)) {
            Some((part, behind)) => (part, behind.get(1..)),
            None => (text, None),
        };
        rest = behind;
        Some(part.trim())
    })
}

/// The byte at which the bracket closes that `text` stands in.
pub(super) fn closing_bracket(text: &str) -> Option<usize> {
    Scan::new(text).find(|&(_, _, depth)| depth < 0).map(|(at, ..)| at)
}

/// The value of the attribute `key` among `attributes`.
pub(super) fn value_of<'a>(attributes: &'a str, key: &str) -> Option<&'a str> {
    split_at_commas(attributes).find_map(|part| part.strip_prefix(key)?.strip_prefix('='))
}

/// The string `op_name="..."` of the metadata, as written.
pub(super) fn op_name(attributes: &str) -> Option<&str> {
    let metadata = value_of(attributes, "metadata")?;
    let (_, behind) = metadata.split_once("op_name=\"")?;
    let (mut end, mut escaped) = (0_usize, false);
    for byte in behind.bytes() {
        match byte {
            b'"' if !escaped => return behind.get(..end),
            _ => escaped = byte == b'\\' && !escaped,
        }
        end = end.saturating_add(1);
    }
    None
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

/// The computations that the attributes name, without their `%`.
pub(super) fn called_computations(attributes: &str) -> impl Iterator<Item = &str> {
    split_at_commas(attributes)
        .filter_map(|part| part.split_once('='))
        .filter(|(key, _)| CALLS.contains(key))
        .flat_map(|(_, value)| split_at_commas(value.trim_start_matches('{').trim_end_matches('}')))
        .map(|name| name.trim_start_matches('%'))
        .filter(|name| !name.is_empty())
}

/// Every byte outside strings and comments, with its place and the brackets that are open behind it.
struct Scan<'a> {
    bytes: std::iter::Enumerate<std::str::Bytes<'a>>,
    depth: i64,
    in_string: bool,
    escaped: bool,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Scan<'a> {
        Scan { bytes: text.bytes().enumerate(), depth: 0, in_string: false, escaped: false }
    }
}

impl Iterator for Scan<'_> {
    type Item = (usize, u8, i64);

    fn next(&mut self) -> Option<Self::Item> {
        for (at, byte) in self.bytes.by_ref() {
            if self.in_string {
                self.in_string = byte != b'"' || self.escaped;
                self.escaped = byte == b'\\' && !self.escaped;
                continue;
            }
            match byte {
                b'"' => {
                    self.in_string = true;
                    self.escaped = false;
                    continue;
                }
                b'(' | b'[' | b'{' => self.depth = self.depth.saturating_add(1),
                b')' | b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            return Some((at, byte, self.depth));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_brackets_and_strings_separate_nothing() {
        let parts: Vec<_> = split_at_commas("a={1,2}, b=\"x,\\\",y\", c=[2,4]<=[8]T(1,0)").collect();
        assert_eq!(parts, ["a={1,2}", "b=\"x,\\\",y\"", "c=[2,4]<=[8]T(1,0)"]);
        assert_eq!(closing_bracket("%a, (f32[2], %b), %c), x=(1)"), Some(20));
        assert_eq!(closing_bracket("\")\", 1"), None);
    }

    #[test]
    fn computations_and_the_name_of_the_source_operation() {
        let attributes = "condition=%c.1, body=b, branch_computations={%x, %y}, select=%s, \
            metadata={op_type=\"calls=%no\" op_name=\"jit(f)/\\\"add\\\"\"}, calls=%f";
        assert_eq!(called_computations(attributes).collect::<Vec<_>>(), ["c.1", "b", "x", "y", "s", "f"]);
        assert_eq!(op_name(attributes), Some("jit(f)/\\\"add\\\""));
        assert_eq!(op_name("metadata={op_name=\"no end"), None);
        assert_eq!(called_computations("").count(), 0);
    }
}
