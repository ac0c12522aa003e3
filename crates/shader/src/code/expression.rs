//! Expressions of `u32`, and conditions.

use std::sync::Arc;

use super::binding::Memory;

/// A name with a value: a `let`, a `var`, a parameter or the counter of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    /// The name in the text.
    pub(crate) name: Arc<str>,
    /// Where the interpreter keeps its value.
    pub(super) slot: usize,
    /// Its largest value.
    pub(super) most: u32,
}

/// What the device tells an invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuiltIn {
    /// Which workgroup, along an axis (0 to 2).
    WorkgroupId(usize),
    /// Which invocation of the workgroup, x fastest.
    LocalInvocationIndex,
}

/// An operation on two numbers. The result of `Add`, `Sub`, `Mul` and `Shl` must fit 32 bits; `Wrapping...`
/// is for those that need not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Min,
    /// The upper 32 bits of the product.
    HighMul,
    WrappingAdd,
    WrappingSub,
    /// Bits that leave at the top are dropped.
    WrappingShl,
}

/// How two numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    NotLess,
    Equal,
    NotEqual,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Node {
    Constant(u32),
    Variable(Variable),
    /// A word of the uniform block, by its place.
    Uniform(usize, Arc<str>),
    BuiltIn(BuiltIn),
    Binary(Op, Expr, Expr),
    Select {
        condition: Condition,
        yes: Expr,
        no: Expr,
    },
    /// A word.
    Load(Memory, Expr),
}

impl Node {
    pub(super) fn variable(&self) -> Option<&Variable> {
        match self {
            Node::Variable(variable) => Some(variable),
            _ => None,
        }
    }
}

/// A number, and the largest that it can be. Cheap to clone.
///
/// Operators build expressions: `(i.clone() + 3) * 8`. Constants are folded, powers of two become shifts and
/// masks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expr {
    pub(super) node: Arc<Node>,
    pub(super) most: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Condition {
    True,
    False,
    Compare(Comparison, Expr, Expr),
    And(Arc<(Condition, Condition)>),
    Or(Arc<(Condition, Condition)>),
}

impl From<u32> for Expr {
    fn from(value: u32) -> Expr {
        Expr { node: Arc::new(Node::Constant(value)), most: value }
    }
}

impl From<&Expr> for Expr {
    fn from(expr: &Expr) -> Expr {
        expr.clone()
    }
}

impl From<&Variable> for Expr {
    fn from(variable: &Variable) -> Expr {
        Expr { most: variable.most, node: Arc::new(Node::Variable(variable.clone())) }
    }
}

impl Memory {
    /// The word at `index`, read where the expression is. Bind it where it must be read
    /// once.
    pub(crate) fn at(&self, index: impl Into<Expr>) -> Expr {
        Expr::new(Node::Load(self.clone(), index.into()), u32::MAX)
    }
}

impl Expr {
    pub(super) fn new(node: Node, most: u32) -> Expr {
        Expr { node: Arc::new(node), most }
    }

    pub(super) fn built_in(built_in: BuiltIn, most: u32) -> Expr {
        Expr::new(Node::BuiltIn(built_in), most)
    }

    /// The largest value that it can take, or more.
    pub(crate) fn most(&self) -> u32 {
        self.most
    }

    /// Returns this expression with an upper bound that the caller knows. The interpreter does not check the
    /// bound, unless the expression is bound to a variable.
    pub(crate) fn at_most(mut self, most: u32) -> Expr {
        self.most = self.most.min(most);
        self
    }

    pub(crate) fn constant(&self) -> Option<u32> {
        match *self.node {
            Node::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// A constant or a name: nothing is computed twice where it is twice.
    pub(crate) fn is_simple(&self) -> bool {
        matches!(*self.node, Node::Constant(_) | Node::Variable(_) | Node::BuiltIn(_) | Node::Uniform(..))
    }
}

impl Condition {
    pub(crate) fn and(self, other: Condition) -> Condition {
        match (self, other) {
            (Condition::True, other) | (other, Condition::True) => other,
            (Condition::False, _) | (_, Condition::False) => Condition::False,
            pair => Condition::And(Arc::new(pair)),
        }
    }

    pub(crate) fn or(self, other: Condition) -> Condition {
        match (self, other) {
            (Condition::False, other) | (other, Condition::False) => other,
            (Condition::True, _) | (_, Condition::True) => Condition::True,
            pair => Condition::Or(Arc::new(pair)),
        }
    }
}
