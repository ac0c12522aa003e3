//! `ModelFault`: the mistakes in a model file or in the index of a sharded model.

use alloc::string::String;
use core::fmt;

/// A mistake in a model: see [`Error::Model`](super::Error::Model).
///
/// Names from the file are printed with their control characters escaped, and texts are cut after 400
/// characters.
///
/// ```
/// # #[cfg(feature = "safetensors")] {
/// use tensor_layout::interop::safetensors::Model;
/// use tensor_layout::{Error, ModelFault};
///
/// let Err(Error::Model(fault)) = Model::read(b"no model") else { panic!("read it") };
/// assert!(matches!(fault, ModelFault::Header { .. }));
/// assert_eq!(Error::Model(fault.clone()).code(), "model_header");
/// println!("{fault}");
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelFault {
    /// The header is missing, too long, not JSON, or contradicts itself. Examples are gaps, overlapping
    /// tensors, or a number of bytes that does not fit the shape.
    Header {
        /// The mistake that was found, as the end of a sentence.
        reason: String,
    },
    /// The file ends before its header or its last tensor does.
    Truncated {
        /// The part that is too long for the file.
        what: &'static str,
        /// The length that the file states for this part, in bytes.
        needed: u64,
        /// The number of bytes that are left in the file for this part.
        found: u64,
    },
    /// The file goes on after its last tensor.
    TrailingBytes {
        /// The number of bytes after the last tensor.
        bytes: u64,
    },
    /// A name occurs twice in a header, in its metadata or in an index.
    RepeatedName {
        /// The name.
        name: String,
        /// The part of the file where the name occurs twice.
        place: &'static str,
    },
    /// The layout of a tensor does not fit the tensor. Examples are a text that is no layout, another number
    /// of bytes, another data type, or elements that share one offset.
    Layout {
        /// The name of the tensor.
        tensor: String,
        /// The layout, as the file names it.
        layout: String,
        /// The reason why the layout is refused.
        reason: String,
    },
    /// The index of a sharded model is not JSON or has no `weight_map` of names.
    Index {
        /// The mistake that was found, as the end of a sentence.
        reason: String,
    },
    /// An index names a part that is not a plain file name in the folder of the index: a path, a drive, or
    /// the index itself.
    PartName {
        /// The name of the part, as the index gives it.
        part: String,
    },
    /// A part does not hold a tensor that the index says it holds.
    MissingTensor {
        /// The name of the tensor.
        tensor: String,
        /// The name of the part.
        part: String,
    },
    /// Two parts hold a tensor of the same name.
    DuplicateTensor {
        /// The name of the tensor.
        tensor: String,
        /// The part that was read first.
        first: String,
        /// The part that was read second.
        second: String,
    },
}

impl ModelFault {
    /// A stable word, which is the [`code`](super::Error::code) of the error.
    pub(super) fn code(&self) -> &'static str {
        match self {
            ModelFault::Header { .. } => "model_header",
            ModelFault::Truncated { .. } => "model_truncated",
            ModelFault::TrailingBytes { .. } => "model_trailing_bytes",
            ModelFault::RepeatedName { .. } => "model_repeated_name",
            ModelFault::Layout { .. } => "model_layout",
            ModelFault::Index { .. } => "model_index",
            ModelFault::PartName { .. } => "model_part_name",
            ModelFault::MissingTensor { .. } => "model_missing_tensor",
            ModelFault::DuplicateTensor { .. } => "model_duplicate_tensor",
        }
    }
}

impl fmt::Display for ModelFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelFault::Header { reason } => write!(f, "the model {}", Quoted(reason)),
            ModelFault::Truncated { what, needed, found } => write!(
                f,
                "the model is truncated or is not a safetensors file: {what} would be {needed} bytes long, but only {found} follow"
            ),
            ModelFault::TrailingBytes { bytes } => {
                write!(f, "the model has {bytes} bytes after its last tensor that belong to no tensor")
            }
            ModelFault::RepeatedName { name, place } => {
                write!(f, "`{}` is twice in {place}", Quoted(name))
            }
            ModelFault::Layout { tensor, layout, reason } => write!(
                f,
                "`{}` cannot be the layout of tensor `{}`: {}",
                Quoted(layout),
                Quoted(tensor),
                Quoted(reason)
            ),
            ModelFault::Index { reason } => write!(f, "the index of the model {}", Quoted(reason)),
            ModelFault::PartName { part } => write!(
                f,
                "`{}` is not the name of a part: parts are files of other names in the folder of the index",
                Quoted(part)
            ),
            ModelFault::MissingTensor { tensor, part } => {
                write!(
                    f,
                    "the index says that part `{}` holds tensor `{}`, which it does not",
                    Quoted(part),
                    Quoted(tensor)
                )
            }
            ModelFault::DuplicateTensor { tensor, first, second } => {
                write!(f, "tensor `{}` is in two parts: `{}` and `{}`", Quoted(tensor), Quoted(first), Quoted(second))
            }
        }
    }
}

/// Prints a text from a file by somebody else. Characters that would move a cursor are escaped, and the text
/// is cut to the length of a sentence.
struct Quoted<'a>(&'a str);

/// The most characters that are printed of a text from a file.
const LONGEST: usize = 400;

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        for (position, character) in self.0.chars().enumerate() {
            if position == LONGEST {
                return f.write_str("...");
            }
            if character.is_control() { write!(f, "{}", character.escape_debug())? } else { f.write_char(character)? }
        }
        Ok(())
    }
}
