//! The statements of shader code.

use std::sync::Arc;

use super::binding::Memory;
use super::expression::{Condition, Expr, Variable};

pub(crate) type Block = Vec<Statement>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Statement {
    /// `let`: the declaration of a name whose value never changes.
    Let(Variable, Expr),
    /// `var`: the declaration of a variable that may be assigned.
    Var(Variable, Expr),
    Assign(Variable, Expr),
    Store {
        to: Memory,
        index: Expr,
        value: Expr,
    },
    /// A load of a group of words by one access. The variables are `name.x` and so on.
    LoadGroup {
        name: Arc<str>,
        words: Vec<Variable>,
        from: Memory,
        index: Expr,
    },
    /// A store of a group of words by one access.
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
    /// A loop whose counter begins at `start` and grows by `step` while it is less than `end`.
    For {
        counter: Variable,
        start: Expr,
        end: Expr,
        step: u32,
        body: Block,
    },
    /// A barrier, which all invocations of the workgroup must reach. After it, each invocation sees what the
    /// others wrote to workgroup memory before it.
    Barrier,
}
