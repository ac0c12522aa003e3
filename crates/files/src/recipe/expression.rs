//! `Line` and `Value`: a recipe as it is written.

use super::pattern::Name;

/// `OUTPUT = VALUE` or `OUTPUT ?= VALUE`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    /// `None` for the line `* = *`.
    pub(super) output: Option<Name>,
    pub(super) at: usize,
    pub(super) is_optional: bool,
    pub(super) value: Value,
    /// The rule or the layout at the end.
    pub(super) to: Option<(usize, String)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Value {
    pub(super) at: usize,
    pub(super) kind: Kind,
    pub(super) steps: Vec<(usize, Step)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// The source of the line `* = *`.
    Any,
    Name(Name),
    Join {
        axis: usize,
        is_stack: bool,
        over: Option<char>,
        values: Vec<Value>,
    },
    With {
        both: Box<[Value; 2]>,
        per: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// A view: its name, such as `permute`, and the text of its argument.
    View(&'static str, String),
    Shard(usize, Shares),
    As(String),
}

/// Which indices of an axis a rank holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shares {
    /// Each rank holds the same number of indices, rounded up. The last ranks hold what is left, which may be
    /// none.
    Chunks,
    /// The numbers of indices of two ranks differ by at most one. The first ranks hold the larger number.
    Even,
    /// The axis is divided into this many shares. If there are more ranks than shares, neighbouring ranks
    /// hold the same share.
    Of(u64),
}

/// Returns the sources of a value, without those in the lists of `cat` and `stack`.
pub(super) fn names(value: &Value) -> Box<dyn Iterator<Item = &Name> + '_> {
    match &value.kind {
        Kind::Name(name) => Box::new(std::iter::once(name)),
        Kind::With { both, .. } => Box::new(both.iter().flat_map(names)),
        _ => Box::new(std::iter::empty()),
    }
}

/// The leftmost source of a value.
pub(super) fn first_name(value: &Value) -> Option<&Name> {
    match &value.kind {
        Kind::Any => None,
        Kind::Name(name) => Some(name),
        Kind::With { both, .. } => both.iter().find_map(first_name),
        Kind::Join { values, .. } => values.iter().find_map(first_name),
    }
}

/// Returns the value with each `{q,k,v}` in its names replaced by the word of this choice.
pub(super) fn chosen(value: &Value, choice: usize) -> Value {
    let kind = match &value.kind {
        Kind::Name(name) => Kind::Name(name.chosen(choice)),
        Kind::With { both, per } => {
            Kind::With { both: Box::new(both.each_ref().map(|value| chosen(value, choice))), per: per.clone() }
        }
        other => other.clone(),
    };
    Value { kind, ..value.clone() }
}

/// Estimates how many bytes of memory a value takes.
pub(super) fn weight(value: &Value) -> usize {
    let inner: usize = match &value.kind {
        Kind::Any => 0,
        Kind::Name(name) => name.longest(),
        Kind::With { both, .. } => both.iter().map(weight).fold(0, usize::saturating_add),
        Kind::Join { values, .. } => values.iter().map(weight).fold(0, usize::saturating_add),
    };
    inner.saturating_add(64).saturating_add(value.steps.len().saturating_mul(64))
}
