//! `Row`: what stays of a tensor after it was laid out and compared.

use std::sync::Arc;

use tensor_layout::Error;
use tensor_layout::map::LayoutClass;

use crate::Tensor;

/// A tensor, the layout that its rule gives it, and what came of the conversion.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Row {
    /// The place of its file among the parts.
    pub part: usize,
    /// Its name in the file.
    pub name: Arc<str>,
    /// Its logical sizes, outermost first.
    pub sizes: Arc<[u64]>,
    /// The name of the type of its elements or blocks.
    pub type_name: String,
    /// The layout that the metadata of the file names. `None` for a packed tensor.
    pub from: Option<String>,
    /// Whether the file has it at a multiple of the size of its elements.
    pub is_aligned: bool,
    /// The bytes in the file.
    pub held_bytes: u64,
    /// The new layout, or why there is none.
    pub outcome: Result<LaidOut, Error>,
}

/// The new layout of a tensor, and what came of the conversion.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LaidOut {
    /// The text of the layout.
    pub layout: String,
    /// The bytes without padding.
    pub packed_bytes: u64,
    /// The bytes in the new layout.
    pub bytes: u64,
    /// The form of the layout.
    pub class: LayoutClass,
    /// What the layout lowers to.
    pub lowering: &'static str,
    /// Why it does not lower to strides.
    pub reason: Option<String>,
    /// The rules of the limits that it breaks.
    pub refusals: Vec<Refusal>,
    /// Why the rule left the tensor as it is.
    pub remark: Option<&'static str>,
    /// What came of the conversion.
    pub answer: Answer,
}

/// A rule of the limits that a layout breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The code of the error.
    pub code: &'static str,
    /// The data type that the device does not have; of other codes the whole sentence, for the first tensor
    /// of a part that breaks the rule.
    pub what: Option<String>,
}

/// What came of a conversion and its way back.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// The tensor was not converted, because that would take this many bytes of memory, or of padding.
    TooLarge {
        /// Whether it is the padding that is too large.
        padding: bool,
        /// The bytes.
        bytes: u64,
    },
    /// The tensor was converted and converted back.
    Tried {
        /// Whether every element came back bit by bit.
        identical: bool,
    },
    /// The copy was refused.
    Refused(Error),
}

impl Row {
    pub(super) fn new(tensor: Tensor<'_>, part: usize, outcome: Result<LaidOut, Error>) -> Row {
        Row {
            part,
            name: tensor.shared_name(),
            sizes: tensor.shared_sizes(),
            type_name: tensor.type_name(),
            from: tensor.layout().ok().filter(|_| tensor.has_named_layout()).map(|layout| layout.to_string()),
            is_aligned: tensor.is_aligned(),
            held_bytes: u64::try_from(tensor.bytes().len()).unwrap_or(u64::MAX),
            outcome,
        }
    }

    /// Whether every element came back. `None` if the tensor was not converted.
    #[must_use]
    pub fn identical(&self) -> Option<bool> {
        self.outcome.as_ref().ok()?.answer.identical()
    }
}

impl Answer {
    /// Whether every element came back. `None` if the tensor was not converted.
    #[must_use]
    pub fn identical(&self) -> Option<bool> {
        match self {
            Answer::Tried { identical } => Some(*identical),
            _ => None,
        }
    }

    /// The end of a sentence that says why the tensor could not be laid out.
    pub(super) fn why(&self) -> Option<String> {
        match self {
            Answer::TooLarge { padding, bytes } => {
                let what = if *padding { "padding" } else { "memory" };
                Some(format!(", which would take {bytes} bytes of {what}"))
            }
            Answer::Refused(error) => Some(format!(": {error}")),
            Answer::Tried { .. } => None,
        }
    }
}
