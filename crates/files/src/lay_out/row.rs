//! `Row`: what stays of a tensor after it was laid out and compared.

use std::sync::Arc;

use tensor_layout::Error;
use tensor_layout::map::LayoutClass;

use crate::Tensor;

/// A tensor, the layout that its rule gives it, and what came of the conversion.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Row {
    /// The index of the tensor's file in the list of the parts.
    pub part: usize,
    /// The name of the tensor in the file.
    pub name: Arc<str>,
    /// The logical sizes, outermost first.
    pub sizes: Arc<[u64]>,
    /// The name of the type of the elements or of the blocks.
    pub type_name: String,
    /// The layout that the metadata of the file names. `None` for a packed tensor.
    pub from: Option<String>,
    /// Whether the tensor begins in the file at a multiple of the size of its elements.
    pub is_aligned: bool,
    /// The size of the tensor in the file, in bytes.
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
    /// The size of the elements without padding, in bytes.
    pub packed_bytes: u64,
    /// The size in the new layout, with padding, in bytes.
    pub bytes: u64,
    /// The class of the layout.
    pub class: LayoutClass,
    /// What the layout lowers to.
    pub lowering: &'static str,
    /// Why the layout does not lower to strides. `None` if it does.
    pub reason: Option<String>,
    /// The rules of the limits that the layout breaks.
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
    /// For a data type that the device does not have, the name of the type. For any other rule, the whole
    /// sentence, which only the first tensor of a part that breaks the rule has.
    pub what: Option<String>,
}

/// The result of a conversion to the new layout and back.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// The tensor was not converted, because that would take this many bytes of memory, or of padding.
    TooLarge {
        /// Whether `bytes` counts padding, and not memory.
        padding: bool,
        /// The number of bytes of memory or of padding.
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
        let (name, sizes) = tensor.shared();
        Row {
            part,
            name,
            sizes,
            type_name: tensor.type_name(),
            from: tensor.layout().ok().filter(|_| tensor.has_named_layout()).map(|layout| layout.to_string()),
            is_aligned: tensor.is_aligned(),
            held_bytes: u64::try_from(tensor.bytes().len()).unwrap_or(u64::MAX),
            outcome,
        }
    }

    /// The bytes without padding, or those in the file if there is no new layout.
    #[must_use]
    pub fn packed_bytes(&self) -> u64 {
        self.outcome.as_ref().map_or(self.held_bytes, |laid_out| laid_out.packed_bytes)
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
