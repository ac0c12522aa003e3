//! Statements.

use std::sync::Arc;

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
    /// A word.
    Store {
        to: Memory,
        index: Expr,
        value: Expr,
    },
    /// A group of words that are read together. The variables are `name.x` and so on.
    LoadGroup {
        name: Arc<str>,
        words: Vec<Variable>,
        from: Memory,
        index: Expr,
    },
    /// A group of words that are written together.
    StoreGroup {
        to: Memory,
        index: Expr,
        words: Vec<Expr>,
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
