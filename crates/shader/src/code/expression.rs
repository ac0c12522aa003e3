//! Expressions of `u32`, and conditions.

use std::sync::Arc;

use super::binding::Memory;

/// A named value: a `let`, a `var`, a parameter or the counter of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: Arc<str>,
    /// The slot in which the interpreter keeps the value.
    pub(super) slot: usize,
    /// The largest value that the variable may have.
    pub(super) most: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuiltIn {
    /// The number of the workgroup along an axis (0 to 2).
    WorkgroupId(usize),
    /// The number of the invocation in its workgroup, where x varies fastest.
    LocalInvocationIndex,
}

/// An operation on two numbers. The results of `Add`, `Sub`, `Mul` and `Shl` must fit 32 bits. The results of
/// the `Wrapping..` operations are taken modulo 2^32.
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
    /// The upper 32 bits of the 64-bit product.
    HighMul,
    WrappingAdd,
    WrappingSub,
    /// A left shift that drops the bits above the word.
    WrappingShl,
}

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
    /// A word of the uniform block, with its index in the block.
    Uniform(usize, Arc<str>),
    BuiltIn(BuiltIn),
    Binary(Op, Expr, Expr),
    Select {
        condition: Condition,
        yes: Expr,
        no: Expr,
    },
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

/// A number, with an upper bound of its values. A clone is cheap.
///
/// Operators build expressions: `(i.clone() + 3) * 8`. Constants are folded, and multiplications and
/// divisions by powers of two become shifts and masks.
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
    /// The word at `index`, which is loaded wherever the expression is used. Bind the expression to load the
    /// word once.
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

    /// An upper bound of the values of the expression.
    pub(crate) fn most(&self) -> u32 {
        self.most
    }

    /// Returns this expression with an upper bound that the caller knows. The interpreter checks the bound
    /// only if the expression is bound to a variable.
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

    /// Whether the expression is a constant or a name, which can be used twice without computing anything
    /// twice.
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
