//! Builds expressions: constants are folded, and every result gets an upper bound of its values.

use std::ops;

use super::expression::{Comparison, Condition, Expr, Node, Op};

impl Op {
    /// Returns the result, or `None` if the result is undefined or does not fit in 32 bits.
    pub(super) fn apply(self, a: u32, b: u32) -> Option<u32> {
        match self {
            Op::Add => a.checked_add(b),
            Op::Sub => a.checked_sub(b),
            Op::Mul => a.checked_mul(b),
            Op::Div => a.checked_div(b),
            Op::Rem => a.checked_rem(b),
            Op::And => Some(a & b),
            Op::Or => Some(a | b),
            Op::Xor => Some(a ^ b),
            Op::Shl => a.checked_shl(b).filter(|shifted| shifted.checked_shr(b) == Some(a)),
            Op::Shr => a.checked_shr(b),
            Op::Min => Some(a.min(b)),
            Op::HighMul => Some(high_product(a, b)),
            Op::WrappingAdd => Some(a.wrapping_add(b)),
            Op::WrappingSub => Some(a.wrapping_sub(b)),
            Op::WrappingShl => a.checked_shl(b),
        }
    }

    /// Returns an upper bound of the result for operands of at most `a` and `b`. `constant` is the value of
    /// the second operand if it is a constant.
    fn most(self, a: u32, b: u32, constant: Option<u32>) -> u32 {
        let ones = |value: u32| u32::MAX.checked_shr(value.leading_zeros()).unwrap_or(0);
        match self {
            Op::Add => a.saturating_add(b),
            Op::Sub => a,
            Op::Mul => a.saturating_mul(b),
            Op::Div => constant.and_then(|c| a.checked_div(c)).unwrap_or(a),
            Op::Rem => a.min(b.saturating_sub(1)),
            Op::And | Op::Min => a.min(b),
            Op::HighMul => high_product(a, b),
            Op::Or | Op::Xor => ones(a | b),
            Op::Shl => constant.and_then(|c| Op::Shl.apply(a, c)).unwrap_or(u32::MAX),
            Op::Shr => constant.and_then(|c| a.checked_shr(c)).unwrap_or(a),
            Op::WrappingAdd | Op::WrappingSub | Op::WrappingShl => u32::MAX,
        }
    }

    /// Whether the operation returns its first operand if the second operand is the constant `b`.
    fn keeps(self, b: u32) -> bool {
        match self {
            Op::Add | Op::Sub | Op::Or | Op::Xor | Op::Shl | Op::Shr => b == 0,
            Op::WrappingAdd | Op::WrappingSub | Op::WrappingShl => b == 0,
            Op::Mul | Op::Div => b == 1,
            Op::Rem | Op::And | Op::Min | Op::HighMul => false,
        }
    }

    fn commutes(self) -> bool {
        use Op::*;
        matches!(self, Add | Mul | And | Or | Xor | Min | WrappingAdd)
    }
}

fn high_product(a: u32, b: u32) -> u32 {
    u32::try_from(u64::from(a).saturating_mul(b.into()) >> 32).unwrap_or(u32::MAX)
}

pub(super) fn binary(op: Op, a: Expr, b: Expr) -> Expr {
    // A constant operand of a commutative operation is moved to the right.
    let (a, b) = if op.commutes() && a.constant().is_some() { (b, a) } else { (a, b) };
    if let (Some(x), Some(y)) = (a.constant(), b.constant())
        && let Some(result) = op.apply(x, y)
    {
        return Expr::from(result);
    }
    let Some(constant) = b.constant() else {
        return Expr::new(Node::Binary(op, a.clone(), b.clone()), op.most(a.most, b.most, None));
    };
    if op.keeps(constant) {
        return a;
    }
    let power = constant.is_power_of_two().then(|| constant.trailing_zeros());
    match (op, power) {
        (Op::Mul | Op::And | Op::Min, _) if constant == 0 => return Expr::from(0),
        (Op::Rem, _) if constant == 1 => return Expr::from(0),
        // The dividend is always below the divisor, or the mask keeps all bits of the operand, so the
        // operation is not needed.
        (Op::Div, _) if a.most < constant => return Expr::from(0),
        (Op::Rem, _) if a.most < constant => return a,
        (Op::Shr, _) if a.most.checked_shr(constant) == Some(0) => return Expr::from(0),
        (Op::And, _) if constant.wrapping_add(1).is_power_of_two() && a.most <= constant => return a,
        (Op::And, _) if constant == u32::MAX => return a,
        (Op::Min, _) if a.most <= constant => return a,
        (Op::Div, Some(shift)) => return binary(Op::Shr, a, Expr::from(shift)),
        (Op::Rem, Some(_)) => return binary(Op::And, a, Expr::from(constant.wrapping_sub(1))),
        (Op::Mul, Some(shift)) => return binary(Op::Shl, a, Expr::from(shift)),
        _ => {}
    }
    if let Node::Binary(inner, x, y) = &*a.node
        && let Some(first) = y.constant()
    {
        // Two operations with constants become one: (x + 3) + 4, (x >> 2) >> 3, (x & 15) & 7, (x / 3) / 5.
        let joined = match (*inner, op) {
            (Op::Add, Op::Add) | (Op::Shr, Op::Shr) | (Op::Shl, Op::Shl) => first.checked_add(constant),
            (Op::Mul, Op::Mul) | (Op::Div, Op::Div) => first.checked_mul(constant),
            (Op::And, Op::And) => Some(first & constant),
            _ => None,
        };
        if let Some(joined) = joined.filter(|&joined| !matches!(op, Op::Shr | Op::Shl) || joined < 32) {
            return binary(op, x.clone(), Expr::from(joined));
        }
    }
    let most = op.most(a.most, constant, Some(constant));
    Expr::new(Node::Binary(op, a, b), most)
}

macro_rules! operators {
    ($($trait:ident, $method:ident, $op:expr;)*) => {$(
        impl<R: Into<Expr>> ops::$trait<R> for Expr {
            type Output = Expr;
            fn $method(self, other: R) -> Expr {
                binary($op, self, other.into())
            }
        }
        impl<R: Into<Expr>> ops::$trait<R> for &Expr {
            type Output = Expr;
            fn $method(self, other: R) -> Expr {
                binary($op, self.clone(), other.into())
            }
        }
    )*};
}

operators! {
    Add, add, Op::Add;
    Sub, sub, Op::Sub;
    Mul, mul, Op::Mul;
    Div, div, Op::Div;
    Rem, rem, Op::Rem;
    BitAnd, bitand, Op::And;
    BitOr, bitor, Op::Or;
    BitXor, bitxor, Op::Xor;
    Shl, shl, Op::Shl;
    Shr, shr, Op::Shr;
}

impl Expr {
    pub(crate) fn min(self, other: impl Into<Expr>) -> Expr {
        binary(Op::Min, self, other.into())
    }

    pub(crate) fn wrapping_add(self, other: impl Into<Expr>) -> Expr {
        binary(Op::WrappingAdd, self, other.into())
    }

    /// Returns the upper 32 bits of the 64-bit product.
    pub(crate) fn high_mul(self, other: impl Into<Expr>) -> Expr {
        binary(Op::HighMul, self, other.into())
    }

    pub(crate) fn wrapping_sub(self, other: impl Into<Expr>) -> Expr {
        binary(Op::WrappingSub, self, other.into())
    }

    /// Shifts left. Bits that are moved out of the word are dropped.
    pub(crate) fn wrapping_shl(self, bits: impl Into<Expr>) -> Expr {
        binary(Op::WrappingShl, self, bits.into())
    }

    pub(crate) fn less(&self, other: impl Into<Expr>) -> Condition {
        compare(Comparison::Less, self.clone(), other.into())
    }

    pub(crate) fn not_less(&self, other: impl Into<Expr>) -> Condition {
        compare(Comparison::NotLess, self.clone(), other.into())
    }

    pub(crate) fn equal(&self, other: impl Into<Expr>) -> Condition {
        compare(Comparison::Equal, self.clone(), other.into())
    }

    pub(crate) fn not_equal(&self, other: impl Into<Expr>) -> Condition {
        compare(Comparison::NotEqual, self.clone(), other.into())
    }

    /// Returns `yes` if the condition holds, and otherwise `no`. WGSL evaluates both operands, so both must
    /// be legal.
    pub(crate) fn select(condition: Condition, yes: impl Into<Expr>, no: impl Into<Expr>) -> Expr {
        let (yes, no) = (yes.into(), no.into());
        match condition {
            Condition::True => yes,
            Condition::False => no,
            _ if yes == no => yes,
            condition => {
                let most = yes.most.max(no.most);
                Expr::new(Node::Select { condition, yes, no }, most)
            }
        }
    }
}

impl Comparison {
    pub(super) fn holds(self, a: u32, b: u32) -> bool {
        match self {
            Comparison::Less => a < b,
            Comparison::NotLess => a >= b,
            Comparison::Equal => a == b,
            Comparison::NotEqual => a != b,
        }
    }
}

fn compare(comparison: Comparison, a: Expr, b: Expr) -> Condition {
    let known = match (a.constant(), b.constant()) {
        (Some(x), Some(y)) => Some(comparison.holds(x, y)),
        (_, Some(y)) if a.most < y => Some(matches!(comparison, Comparison::Less | Comparison::NotEqual)),
        (_, Some(0)) if comparison == Comparison::Less => Some(false),
        (_, Some(0)) if comparison == Comparison::NotLess => Some(true),
        _ => None,
    };
    match known {
        Some(true) => Condition::True,
        Some(false) => Condition::False,
        None => Condition::Compare(comparison, a, b),
    }
}

#[cfg(test)]
mod tests;
