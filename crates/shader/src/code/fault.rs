//! `Fault`: the errors that the interpreter finds in a shader.

use std::fmt;

/// An operation that a shader must not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A read or a write past the end of a memory.
    OutOfRange { memory: String, index: u32, words: usize },
    /// A result that does not fit 32 bits in an operation that must not wrap, or a division by zero.
    Arithmetic { expression: String, a: u32, b: u32 },
    /// A value above the declared bound of its variable.
    AboveBound { name: String, value: u32, most: u32 },
    /// Two invocations access the same word without a barrier between them, and at least one access is a
    /// write.
    Race { memory: String, index: u32, invocation: u64 },
    /// A read of a word of workgroup memory that no invocation has written.
    NotWritten { array: String, index: u32 },
    /// A write to a buffer that is bound for reading only.
    ReadOnly { buffer: String },
    /// A barrier that some invocations of the workgroup do not reach.
    BarrierInBranch { reached: usize, invocations: usize },
    /// A dispatch with the wrong number of buffers or uniforms, or with more workgroups than the limit.
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

/// The result of an evaluation. The fault is boxed, so that the `Result` stays small.
pub(super) type Outcome<T> = Result<T, Box<Fault>>;
