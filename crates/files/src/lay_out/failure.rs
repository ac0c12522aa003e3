//! `Failure`: why a model could not be laid out.

use std::fmt;

use crate::Error;
use crate::error::printable;

/// Why [`lay_out`](super::lay_out) stopped before its end. Nothing was written.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// A sentence: a file cannot be read or written, or the settings do not fit the model.
    Unusable(String),
    /// A tensor cannot be laid out: its name, and why.
    Tensor(String, tensor_layout::Error),
    /// A sentence: the limits refuse a tensor, and all must fit.
    Limits(String),
}

impl Failure {
    pub(crate) fn memory(bytes: u64) -> Failure {
        Failure::Unusable(format!("there is not enough memory for a buffer of {bytes} bytes"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Unusable(sentence) | Failure::Limits(sentence) => f.write_str(sentence),
            Failure::Tensor(name, error) => write!(f, "{}: {error}", printable(name)),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Unusable(error.to_string())
    }
}
