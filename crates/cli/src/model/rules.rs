//! `Rules`: which rule each tensor is laid out by: the rule of `--to`, or an exception of `--to-for`.

use std::fmt;
use std::str::FromStr;

use glob::Pattern;

use crate::rule::Rule;

use super::file::Model;

/// `PATTERN=RULE`: a rule for the tensors whose names match a pattern of a shell: `*`, `?`, `[a-z]`,
/// `[!a-z]`. Dots and slashes are ordinary characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Exception {
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

/// A rule for all tensors, and exceptions to it. If several exceptions match a tensor, the last one on the
/// command line is used. So a general pattern can come first, and a special pattern after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rules {
    all: Rule,
    exceptions: Vec<Exception>,
}

impl Rules {
    pub(super) fn new(all: Rule, exceptions: Vec<Exception>) -> Rules {
        Rules { all, exceptions }
    }

    pub(super) fn of(&self, tensor: &str) -> &Rule {
        let matching = self.exceptions.iter().rev().find(|exception| exception.pattern.matches(tensor));
        matching.map_or(&self.all, |exception| &exception.rule)
    }

    /// Returns the first pattern that matches no tensor, which is a mistake of the user.
    pub(super) fn unused(&self, models: &[Model<'_>]) -> Option<String> {
        let tensors = || models.iter().flat_map(|model| &model.tensors);
        let unused = |exception: &&Exception| !tensors().any(|tensor| exception.pattern.matches(&tensor.name));
        self.exceptions.iter().find(unused).map(|exception| exception.pattern.to_string())
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.all.fmt(f)?;
        self.exceptions.iter().try_for_each(|exception| write!(f, ", {}={}", exception.pattern, exception.rule))
    }
}
