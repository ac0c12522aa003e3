//! Statements.

use super::binding::Memory;
use super::expression::{Condition, Expr, Variable};

pub(crate) type Block = Vec<Statement>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Statement {
    /// `let`.
    Let(Variable, Expr),
    /// `var`, which may be assigned.
    Var(Variable, Expr),
    Assign(Variable, Expr),
    /// A word, or a group of four: that of another memory of groups, or one word four times.
    Store {
        to: Memory,
        index: Expr,
        value: Expr,
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
