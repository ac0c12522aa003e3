//! `Rules`: by which rule each tensor is laid out: one for all, and exceptions by patterns of names.

use std::fmt;
use std::str::FromStr;

use glob::Pattern;
use tensor_layout::Error;
use tensor_layout_text::named::full_name;
use tensor_layout_text::rule::Rule;
use tensor_layout_text::{Layout, words_as};

use crate::{File, Tensor};

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
        Ok(Exception { pattern: read_pattern(pattern)?, rule: rule.parse()? })
    }
}

/// `PATTERN=CONTENT`: what the words of the tensors hold whose names match a pattern, as
/// [`words_as`](tensor_layout_text::words_as) reads it: a name, a data type or a whole layout.
///
/// ```
/// use tensor_layout_files::lay_out::Words;
///
/// assert!("*.qweight=gptq.qweight_u4".parse::<Words>().is_ok());
/// assert!("*.qweight=gptq.qwight_u4".parse::<Words>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    pattern: Pattern,
    content: String,
}

impl FromStr for Words {
    type Err = String;

    fn from_str(text: &str) -> Result<Words, String> {
        let (pattern, content) =
            text.rsplit_once('=').ok_or("expected PATTERN=NAME, such as '*.qweight=gptq.qweight_u4'")?;
        let is_known = content.contains('[') || content.parse::<tensor_layout::DataType>().is_ok();
        if !is_known {
            full_name(content).map_err(|error| error.to_string())?;
        }
        Ok(Words { pattern: read_pattern(pattern)?, content: content.to_owned() })
    }
}

fn read_pattern(pattern: &str) -> Result<Pattern, String> {
    if pattern.is_empty() {
        return Err("an empty pattern matches nothing".into());
    }
    pattern.parse::<Pattern>().map_err(|error| {
        // The library calls a `[` without its `]` an "invalid range pattern". That does not say what to
        // do, so the message is replaced.
        let cause = if error.msg.contains("range") { "opens a [ that it does not close" } else { error.msg };
        format!("`{pattern}` {cause}")
    })
}

/// A rule for all tensors, and exceptions to it. If several exceptions match a tensor, the last one of the
/// list is used. So a general pattern can come first, and a special pattern after it.
///
/// ```
/// use tensor_layout_files::lay_out::Rules;
///
/// let rules = Rules { all: "packed".parse()?, exceptions: vec!["conv*.weight=nhwc".parse()?], words: vec![] };
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
    /// What the words of some tensors hold.
    pub words: Vec<Words>,
}

impl Rules {
    /// The rule of the tensor with this name.
    #[must_use]
    pub fn of(&self, tensor: &str) -> &Rule {
        let matching = self.exceptions.iter().rev().find(|exception| exception.pattern.matches(tensor));
        matching.map_or(&self.all, |exception| &exception.rule)
    }

    /// Returns the layout of a tensor. If the rules say what its words hold, it is the layout of these
    /// contents.
    ///
    /// # Errors
    ///
    /// The errors of [`Tensor::layout`] and of [`words_as`](tensor_layout_text::words_as).
    pub fn layout_of(&self, tensor: &Tensor<'_>) -> Result<Layout, Error> {
        let stored = tensor.layout()?;
        let said = self.words.iter().rev().find(|words| words.pattern.matches(tensor.name()));
        said.map_or(Ok(stored.clone()), |words| words_as(&words.content, &stored))
    }

    /// Returns a pattern that no tensor of the model matches.
    #[must_use]
    pub fn unused(&self, file: &File) -> Option<String> {
        let all = self
            .exceptions
            .iter()
            .map(|exception| &exception.pattern)
            .chain(self.words.iter().map(|words| &words.pattern));
        let unused = |pattern: &&Pattern| !file.tensors().any(|tensor| pattern.matches(tensor.name()));
        all.into_iter().find(unused).map(ToString::to_string)
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.all.fmt(f)?;
        self.exceptions.iter().try_for_each(|exception| write!(f, ", {}={}", exception.pattern, exception.rule))
    }
}
