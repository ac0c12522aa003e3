//! Finds the first difference of two chains from their digits. The time does not depend on the extent.
//!
//! Extend the top digit of a chain without end. A chain whose top digit has divisor p then repeats: `f(u + p)
//! = f(u) + s`. The differences `f(u + 1) - f(u)` form a word of period p, and the theorem of Fine and Wilf
//! applies: words of periods p and q that agree in their first `p + q - gcd(p, q)` letters agree everywhere.
//! So it is enough to look at one block of the larger divisor p and at the beginning of the next block.
//! There, the chain of period p repeats its first values, which are also the first values of the other chain.
//! The other chain is therefore compared with itself, shifted by p. Such a comparison splits into two
//! comparisons of the digits below the top digit.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "invariant 1: values of chains fit 64 bits, and their sums and differences 128; divisors are not zero"
)]

use crate::checked;
use crate::error::Error;

use super::digits::{Chain, Digit, below};

/// The most steps of a comparison of two layouts. Past this limit, the comparison returns
/// `undecided`.
///
/// A chain of k digits takes at most `2^k` steps, whatever its divisors and the extent are; two to four
/// digits are usual. An Irreducible layout is compared index by index, and each index takes a step for each
/// of its tiles.
pub const EQUALITY_WORK_LIMIT: u64 = 1 << 22;

pub(super) fn undecided() -> Error {
    Error::undecided("whether two layouts put every element at the same place", EQUALITY_WORK_LIMIT)
}

/// Returns the smallest number below `extent` at which two chains differ, or `None` if they agree.
///
/// # Errors
///
/// `undecided` after [`EQUALITY_WORK_LIMIT`] steps. A chain of k digits takes at most `2^k` steps,
/// and chains in use have two to four digits.
pub(super) fn first_deviation(a: &Chain, b: &Chain, extent: u64) -> Result<Option<u64>, Error> {
    Search { left: EQUALITY_WORK_LIMIT }.deviation(a.digits(), b.digits(), extent)
}

struct Search {
    left: u64,
}

impl Search {
    fn step(&mut self) -> Result<(), Error> {
        self.left = self.left.checked_sub(1).ok_or_else(undecided)?;
        Ok(())
    }

    fn deviation(&mut self, a: &[Digit], b: &[Digit], extent: u64) -> Result<Option<u64>, Error> {
        self.step()?;
        let (a, b) = (below(a, extent), below(b, extent));
        let (Some((high, a_below)), Some((low, b_below))) = (a.split_first(), b.split_first()) else {
            // Chains whose extent is above 1 end with divisor 1, so the extent is at most 1 here.
            return Ok(None);
        };
        let (p, q) = (high.divisor.get(), low.divisor.get());
        if p < q {
            return self.deviation(b, a, extent);
        }
        if p == q {
            let inside = self.deviation(a_below, b_below, p)?;
            return Ok(inside.or((high.stride != low.stride).then_some(p)));
        }
        if let Some(inside) = self.deviation(a_below, b, p)? {
            return Ok(Some(inside));
        }
        // The chains agree on the first block. The values of `a` in the second block are therefore the first
        // values of `b`, increased by the stride.
        let past_block = extent.min(p.saturating_add(q - checked::gcd(p, q)).saturating_add(1)) - p;
        Ok(self.shift(b, p, past_block, high.stride.into())?.map(|number| p + number))
    }

    /// Returns the smallest `u < length` with `f(shift + u) != f(u) + rise`, where `f` is the chain of
    /// `digits`.
    fn shift(&mut self, digits: &[Digit], shift: u64, length: u64, rise: i128) -> Result<Option<u64>, Error> {
        self.step()?;
        let Some((digit, low)) = digits.split_first().filter(|_| length > 0) else { return Ok(None) };
        let (period, stride) = (digit.divisor.get(), i128::from(digit.stride));
        let (blocks, inside) = (shift / period, shift % period);
        let rise = rise - i128::from(blocks) * stride;
        if inside == 0 {
            return Ok((rise != 0).then_some(0));
        }
        // Both sides repeat with the period, so one period is enough.
        let length = length.min(period);
        let to_edge = period - inside;
        if let Some(found) = self.shift(low, inside, length.min(to_edge), rise)? {
            return Ok(Some(found));
        }
        // Past the edge of the block, let `v = u - to_edge`. There, `f(shift + u)` is `low(v)` in the next
        // block and `f(u)` is `low(v + to_edge)`, so the two sides change places.
        let found = self.shift(low, to_edge, length.saturating_sub(to_edge), stride - rise)?;
        Ok(found.map(|number| to_edge + number))
    }
}
