//! Arithmetic that cannot fail, because an invariant bounds it.

use num_traits::PrimInt;

/// Arithmetic that an invariant bounds: on the sizes, strides and offsets of values whose constructor has
/// checked them. Every build panics if the invariant is broken, as no number would be right then. Where steps
/// are counted (tests/house/work_limits), an operation is one: its checks are not work.
#[allow(clippy::arithmetic_side_effects, reason = "where steps are counted only: see above")]
pub(crate) trait Exact: PrimInt {
    #[track_caller]
    fn plus(self, other: Self) -> Self {
        if cfg!(count_steps) { self + other } else { exact(self.checked_add(&other)) }
    }

    #[track_caller]
    fn minus(self, other: Self) -> Self {
        if cfg!(count_steps) { self - other } else { exact(self.checked_sub(&other)) }
    }

    #[track_caller]
    fn times(self, other: Self) -> Self {
        if cfg!(count_steps) { self * other } else { exact(self.checked_mul(&other)) }
    }

    /// The quotient, rounded towards zero; `divisor` is not 0.
    #[track_caller]
    fn divided_by(self, divisor: Self) -> Self {
        if cfg!(count_steps) { self / divisor } else { exact(self.checked_div(&divisor)) }
    }

    /// The remainder; `divisor` is not 0.
    #[track_caller]
    fn modulo(self, divisor: Self) -> Self {
        if cfg!(count_steps) {
            return self % divisor;
        }
        exact((!divisor.is_zero()).then(|| self % divisor))
    }
}

impl<T: PrimInt> Exact for T {}

/// A value that an invariant says there is.
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

/// The number at `position` of a list that is known to have one.
#[track_caller]
pub(crate) fn at<T: PrimInt>(list: &[T], position: usize) -> T {
    exact(list.get(position).copied())
}

/// A length as a size.
pub fn count(length: usize) -> u64 {
    exact(u64::try_from(length).ok())
}
