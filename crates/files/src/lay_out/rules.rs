//! `Rules`: by which rule each tensor is laid out: one for all, and exceptions by patterns of names.

use std::fmt;
use std::str::FromStr;

use glob::Pattern;
use tensor_layout_text::rule::Rule;

use crate::File;

/// `PATTERN=RULE`: a rule for the tensors whose names match a pattern of a shell: `*`, `?`, `[a-z]`,
/// `[!a-z]`. Dots and slashes are ordinary characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exception {
    pattern: Pattern,
    rule: Rule,
}

impl FromStr for Exception {
    type Err = String;

    fn from_str(text: &str) -> Result<Exception, String> {
        // The text is split at its last `=`, because a pattern may contain `=` and a rule never does.
        let (pattern, rule) =
            text.rsplit_once('=').ok_or("expected PATTERN=RULE, such as 'conv*.weight=OIhw16i16o'")?;
        if pattern.is_empty() {
            return Err("an empty pattern matches nothing".into());
        }
        let pattern = pattern.parse::<Pattern>().map_err(|error| {
            // The library calls a `[` without its `]` an "invalid range pattern". That does not say what to
            // do, so the message is replaced.
            let cause = if error.msg.contains("range") { "opens a [ that it does not close" } else { error.msg };
            format!("`{pattern}` {cause}")
        })?;
        Ok(Exception { pattern, rule: rule.parse()? })
    }
}

/// A rule for all tensors, and exceptions to it. If several exceptions match a tensor, the last one of the
/// list is used. So a general pattern can come first, and a special pattern after it.
///
/// ```
/// use tensor_layout_files::lay_out::Rules;
///
/// let rules = Rules { all: "packed".parse()?, exceptions: vec!["conv*.weight=nhwc".parse()?] };
/// assert_eq!(rules.of("conv1.weight").to_string(), "nhwc");
/// assert_eq!(rules.to_string(), "packed, conv*.weight=nhwc");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// The rule of every tensor that no exception matches.
    pub all: Rule,
    /// The exceptions.
    pub exceptions: Vec<Exception>,
}

impl Rules {
    /// The rule of the tensor with this name.
    #[must_use]
    pub fn of(&self, tensor: &str) -> &Rule {
        let matching = self.exceptions.iter().rev().find(|exception| exception.pattern.matches(tensor));
        matching.map_or(&self.all, |exception| &exception.rule)
    }

    /// Returns a pattern that no tensor of the model matches.
    #[must_use]
    pub fn unused(&self, file: &File) -> Option<String> {
        let unused = |exception: &&Exception| !file.tensors().any(|tensor| exception.pattern.matches(tensor.name()));
        self.exceptions.iter().find(unused).map(|exception| exception.pattern.to_string())
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.all.fmt(f)?;
        self.exceptions.iter().try_for_each(|exception| write!(f, ", {}={}", exception.pattern, exception.rule))
    }
}
