//! `ModelFault`: what is wrong with a model file or the index of a sharded one.

use alloc::string::String;
use core::fmt;

/// What is wrong with a model: see [`Error::Model`](super::Error::Model).
///
/// Names from the file are printed with their control characters escaped, and long texts are cut.
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
    /// The header is missing, too long, not JSON, or contradicts itself: gaps, overlapping tensors, bytes
    /// that do not fit a shape.
    Header {
        /// What was found, as the end of a sentence.
        reason: String,
    },
    /// The file ends before its header or its last tensor does.
    Truncated {
        /// What is too long for the file.
        what: &'static str,
        /// How long it says it is, in bytes.
        needed: u64,
        /// The bytes that are there for it.
        found: u64,
    },
    /// The file goes on after its last tensor.
    TrailingBytes {
        /// By how many bytes.
        bytes: u64,
    },
    /// One name is twice in a header, its metadata or an index.
    RepeatedName {
        /// The name.
        name: String,
        /// Where it is twice.
        place: &'static str,
    },
    /// A layout that cannot be that of the tensor it is given for: no layout, other bytes, another type, or
    /// elements that share their place.
    Layout {
        /// The tensor.
        tensor: String,
        /// The layout as the file names it.
        layout: String,
        /// Why it is refused.
        reason: String,
    },
    /// The index of a sharded model is not JSON or has no `weight_map` of names.
    Index {
        /// What was found, as the end of a sentence.
        reason: String,
    },
    /// An index names a part that is not a plain file name beside it: a path, a drive, or the index itself.
    PartName {
        /// The part as the index names it.
        part: String,
    },
    /// A part does not hold a tensor that the index says it holds.
    MissingTensor {
        /// The tensor.
        tensor: String,
        /// The part.
        part: String,
    },
    /// Two parts hold a tensor of the same name.
    DuplicateTensor {
        /// The tensor.
        tensor: String,
        /// One part.
        first: String,
        /// The other.
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

/// Text of a file someone else made: without characters that would move a cursor, and not longer than a
/// sentence.
struct Quoted<'a>(&'a str);

/// The most characters of such a text.
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
