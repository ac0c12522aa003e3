//! Numbers as sums of digits. If a divisor divides the weights, the sum is divided without a division in the
//! shader.

use super::super::code::{Code, Expr};
use tensor_layout::checked;

/// A sum of expressions times constant weights. Each expression is a name or a constant.
#[derive(Debug, Clone, Default)]
pub(super) struct Sum {
    terms: Vec<(Expr, u64)>,
}

impl Sum {
    /// Returns a sum with the single term `expr`. It should be a name, because it may be printed several
    /// times.
    pub(super) fn of(expr: Expr) -> Sum {
        Sum::default().plus(expr, 1)
    }

    pub(super) fn plus(mut self, expr: Expr, weight: u64) -> Sum {
        if weight > 0 && expr.constant() != Some(0) {
            self.terms.push((expr, weight));
        }
        self
    }

    pub(super) fn plus_sum(self, other: &Sum, weight: u64) -> Sum {
        other.terms.iter().fold(self, |sum, (expr, own)| sum.plus(expr.clone(), own.saturating_mul(weight)))
    }

    pub(super) fn most(&self) -> u64 {
        let parts = self.terms.iter().map(|(expr, weight)| u64::from(expr.most()).saturating_mul(*weight));
        parts.fold(0, u64::saturating_add)
    }

    /// Returns the sum as one expression. Its value must fit in 32 bits. A digit whose weight does not fit
    /// can only be 0, so its term is left out.
    pub(super) fn expr(&self) -> Expr {
        self.terms.iter().fold(Expr::from(0), |sum, (expr, weight)| match u32::try_from(*weight) {
            Ok(weight) => sum + expr * weight,
            Err(_) => sum,
        })
    }

    pub(super) fn bound(&self, code: &mut Code, name: &str) -> Expr {
        code.bind(name, self.expr())
    }

    /// Returns the quotient and the remainder of a division by a constant above 0.
    ///
    /// Terms whose weight is a multiple of the divisor go to the quotient with a smaller weight. The sum of
    /// the other terms is divided in the shader, unless it is always below the divisor.
    pub(super) fn divide(&self, code: &mut Code, by: u64) -> (Sum, Sum) {
        let (mut high, mut low) = (Sum::default(), Sum::default());
        for (expr, weight) in &self.terms {
            match weight.checked_rem(by) {
                Some(0) => high = high.plus(expr.clone(), weight.checked_div(by).unwrap_or(0)),
                _ => low = low.plus(expr.clone(), *weight),
            }
        }
        if low.most() < by {
            return (high, low);
        }
        // A common factor of the divisor and all weights is divided out first, which makes the numbers
        // smaller.
        let common = low.terms.iter().fold(by, |common, (_, weight)| checked::gcd(common, *weight));
        let reduced = Sum {
            terms: low
                .terms
                .iter()
                .map(|(expr, weight)| (expr.clone(), weight.checked_div(common).unwrap_or(0)))
                .collect(),
        };
        let number = reduced.bound(code, "number");
        let Some(by) = by.checked_div(common).and_then(|by| u32::try_from(by).ok()) else { return (high, low) };
        let quotient = code.bind("quotient", &number / by);
        let remainder = code.bind("remainder", &number % by);
        (high.plus(quotient, 1), Sum::default().plus(remainder, common))
    }
}
