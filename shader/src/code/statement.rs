//! Statements.

use std::sync::Arc;

use super::binding::Buffer;
use super::expression::{Condition, Expr, Variable};

pub(crate) type Block = Vec<Statement>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Statement {
    /// `let`.
    Let(Variable, Expr),
    /// `var`, which may be assigned.
    Var(Variable, Expr),
    Assign(Variable, Expr),
    /// A word of a storage buffer, by the place of its binding.
    Store {
        buffer: usize,
        name: Arc<str>,
        index: Expr,
        value: Expr,
    },
    /// A word of an array in workgroup memory.
    StoreShared {
        array: usize,
        name: Arc<str>,
        index: Expr,
        value: Expr,
    },
    /// Four words of one buffer into another, both of them bound in groups of four.
    CopyFour {
        to: Buffer,
        at: Expr,
        from: Buffer,
        index: Expr,
    },
    /// The same word four times.
    FillFour {
        to: Buffer,
        at: Expr,
        word: u32,
    },
    If {
        condition: Condition,
        then: Block,
        otherwise: Block,
    },
    /// From `start`, as long as the counter is less than `end`.
    For {
        counter: Variable,
        start: Expr,
        end: Expr,
        step: u32,
        body: Block,
    },
    /// All invocations of the workgroup have got here, and see what the others wrote to workgroup memory.
    Barrier,
}
