//! `Fault`: what running a shader reports.

use std::fmt;

/// What must not happen in a shader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A read or a write past the end.
    OutOfRange { memory: String, index: u32, words: usize },
    /// A number that does not fit 32 bits where no one said that it may wrap round, or a division by zero.
    Arithmetic { expression: String, a: u32, b: u32 },
    /// A number above its declared bound.
    AboveBound { name: String, value: u32, most: u32 },
    /// Two invocations touch the same word, one of them writes it, and no barrier is between.
    Race { memory: String, index: u32, invocation: u64 },
    /// A word of workgroup memory that no one has written.
    NotWritten { array: String, index: u32 },
    /// A write to a buffer that is bound for reading.
    ReadOnly { buffer: String },
    /// A barrier that some invocations of the workgroup do not reach.
    BarrierInBranch { reached: usize, invocations: usize },
    /// A dispatch with another number of buffers or uniforms, or more workgroups than there can be.
    Dispatch(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::OutOfRange { memory, index, words } => {
                write!(f, "word {index} of `{memory}` is touched, which has {words} words")
            }
            Fault::Arithmetic { expression, a, b } => {
                write!(f, "`{expression}` with {a} and {b} does not fit 32 bits")
            }
            Fault::AboveBound { name, value, most } => {
                write!(f, "`{name}` is {value}, and at most {most} was promised")
            }
            Fault::Race { memory, index, invocation } => {
                write!(
                    f,
                    "word {index} of `{memory}` is touched by invocation {invocation} and by another one, and written"
                )
            }
            Fault::NotWritten { array, index } => write!(f, "word {index} of `{array}` is read before it is written"),
            Fault::ReadOnly { buffer } => write!(f, "`{buffer}` is written, which is bound for reading"),
            Fault::BarrierInBranch { reached, invocations } => {
                write!(f, "{reached} of {invocations} invocations reach a barrier")
            }
            Fault::Dispatch(sentence) => f.write_str(sentence),
        }
    }
}

/// Boxed, so that a value is not larger for it.
pub(super) type Outcome<T> = Result<T, Box<Fault>>;

#[cfg(test)]
mod tests;
