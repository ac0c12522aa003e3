//! Arithmetic that cannot fail, because an invariant bounds the results.

use num_traits::PrimInt;

/// Arithmetic for sizes, strides and offsets that a constructor has checked. An invariant bounds every
/// result, so every build panics if the invariant is broken: no number would be right then. Builds that count
/// steps (tests/house/work_limits) leave out the checks, so that each operation counts as one step.
#[allow(clippy::arithmetic_side_effects, reason = "where steps are counted only: see above")]
pub trait Proven: PrimInt {
    /// Returns the sum.
    #[track_caller]
    fn plus(self, other: Self) -> Self {
        if cfg!(count_steps) { self + other } else { exact(self.checked_add(&other)) }
    }

    /// Returns the difference.
    #[track_caller]
    fn minus(self, other: Self) -> Self {
        if cfg!(count_steps) { self - other } else { exact(self.checked_sub(&other)) }
    }

    /// Returns the product.
    #[track_caller]
    fn times(self, other: Self) -> Self {
        if cfg!(count_steps) { self * other } else { exact(self.checked_mul(&other)) }
    }

    /// Returns the quotient, rounded towards zero. `divisor` must not be 0.
    #[track_caller]
    fn divided_by(self, divisor: Self) -> Self {
        if cfg!(count_steps) { self / divisor } else { exact(self.checked_div(&divisor)) }
    }

    /// Returns the remainder. `divisor` must not be 0.
    #[track_caller]
    fn modulo(self, divisor: Self) -> Self {
        if cfg!(count_steps) {
            return self % divisor;
        }
        exact((!divisor.is_zero()).then(|| self % divisor))
    }
}

impl<T: PrimInt> Proven for T {}

/// Returns the value of an option that an invariant guarantees to be `Some`. Panics on `None`.
#[track_caller]
#[inline]
pub(crate) fn exact<T>(value: Option<T>) -> T {
    value.unwrap_or_else(|| broken())
}

#[cold]
#[track_caller]
fn broken() -> ! {
    unreachable!("a size or an offset that a constructor has checked")
}

/// Returns the number at `position` of a list. Panics if the list is shorter, which an invariant must
/// exclude.
#[track_caller]
pub fn nth_or_panic<T: PrimInt>(list: &[T], position: usize) -> T {
    exact(list.get(position).copied())
}

/// Converts the length of a list to a `u64`, the type of sizes and strides.
pub fn len_u64(length: usize) -> u64 {
    exact(u64::try_from(length).ok())
}
