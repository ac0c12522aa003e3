//! Evaluates, normalises and cuts a chain of digits.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "invariant 1: every value of a chain is below the physical size, which fits 64 bits; divisors are not zero"
)]

use core::num::NonZeroU64;

use smallvec::{SmallVec, smallvec};

use crate::checked::Dims;
use crate::checked::{self, OFFSET, Proven};
use crate::error::Error;

/// One digit of a number, with its stride in memory. The value of the digit is the number of whole multiples
/// of `divisor`, after the digits with larger divisors are taken out.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Digit {
    /// The weight of one unit of this digit in the number. The last digit has divisor 1.
    pub divisor: NonZeroU64,
    /// The distance between neighbouring values of this digit in memory, in elements.
    pub stride: u64,
}

impl Digit {
    pub(super) fn new(divisor: NonZeroU64, stride: u64) -> Digit {
        Digit { divisor, stride }
    }
}

impl core::fmt::Debug for Digit {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "({},{})", self.divisor, self.stride)
    }
}

/// A function of one number: `f(u) = sum of stride * digit`. The digits are taken from the number one after
/// the other, the largest divisor first.
///
/// `[(12,64) (4,16) (1,1)]` sends 30 = 2·12 + 1·4 + 2·1 to 2·64 + 1·16 + 2·1 = 146. A chain is *exact* if
/// each divisor divides the divisor before it, as in an ordinary mixed-radix number. Otherwise the chain is
/// *ragged*. The empty chain is zero everywhere.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Chain(Digits);

type Digits = SmallVec<[Digit; 4]>;

impl Chain {
    pub(super) fn strided(stride: u64, extent: u64) -> Chain {
        if extent > 1 { Chain(smallvec![Digit::new(NonZeroU64::MIN, stride)]) } else { Chain::default() }
    }

    /// Returns the chain of these digits in normal form on `0..extent`. The divisors descend to 1.
    pub(super) fn normalised(digits: impl DoubleEndedIterator<Item = Digit>, extent: u64) -> Chain {
        if extent <= 1 {
            return Chain::default();
        }
        let mut minor_first = Digits::new();
        for digit in digits.rev().filter(|digit| digit.divisor.get() < extent) {
            if let Some(below) = minor_first.last() {
                let (ratio, rest) = (digit.divisor.get() / below.divisor, digit.divisor.get() % below.divisor);
                // The digit below continues over this boundary without a jump, so the boundary is left out.
                if rest == 0 && below.stride.checked_mul(ratio) == Some(digit.stride) {
                    continue;
                }
            }
            minor_first.push(digit);
        }
        if minor_first.first().is_none_or(|last| last.divisor.get() != 1) {
            minor_first.insert(0, Digit::new(NonZeroU64::MIN, 0));
        }
        minor_first.reverse();
        Chain(minor_first)
    }

    /// The digits of the chain, the largest divisor first.
    #[must_use]
    pub fn digits(&self) -> &[Digit] {
        &self.0
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.0.iter().zip(self.0.iter().skip(1)).all(|(high, low)| high.divisor.get() % low.divisor == 0)
    }

    /// Returns the offset of `number`, in elements. A number past the extent of the
    /// [`Component`](super::Component) does not wrap: its top digit grows, and no element is at its offset.
    ///
    /// # Errors
    ///
    /// `overflow` if the value passes 64 bits. This cannot happen for a number below the component's
    /// extent.
    pub fn offset(&self, number: u64) -> Result<u64, Error> {
        let (mut offset, mut rest) = (0, number);
        for digit in &self.0 {
            let moved = checked::mul(rest / digit.divisor, digit.stride, OFFSET)?;
            offset = checked::add(offset, moved, OFFSET)?;
            rest %= digit.divisor;
        }
        Ok(offset)
    }

    pub(super) fn at(&self, number: u64) -> u64 {
        evaluate(&self.0, number)
    }

    /// The largest value on `0..extent`, in elements.
    #[inline]
    pub(super) fn largest(&self, extent: u64) -> u64 {
        // The usual case: a stride. The divisor of the last digit is 1.
        if let [digit] = self.digits() {
            return extent.minus(1) * digit.stride;
        }
        reach(&self.0, &whole_blocks(&self.0), extent)
    }

    /// Splits the chain at a boundary: `f(x * width + y) = high(x) + low(y)` for every `y < width`.
    ///
    /// A split exists exactly if every divisor above `width` is a multiple of `width`, and the next divisor
    /// below divides `width`. This one rule undoes `*`, and decides whether a reshape is a view.
    pub(super) fn cut(&self, width: NonZeroU64) -> Option<(Digits, Digits)> {
        let place = self.0.iter().position(|digit| digit.divisor < width).unwrap_or(self.0.len());
        let (high, low) = self.0.split_at_checked(place)?;
        let mut above = Digits::with_capacity(place + 1);
        for digit in high {
            if digit.divisor.get() % width != 0 {
                return None;
            }
            above.push(Digit::new(NonZeroU64::new(digit.divisor.get() / width)?, digit.stride));
        }
        if above.last().is_none_or(|last| last.divisor.get() != 1)
            && let Some(next) = low.first()
        {
            if width.get() % next.divisor != 0 {
                return None;
            }
            above.push(Digit::new(NonZeroU64::MIN, next.stride * (width.get() / next.divisor)));
        }
        Some((above, low.into()))
    }
}

pub(super) fn evaluate(digits: &[Digit], number: u64) -> u64 {
    let (mut offset, mut rest) = (0, number);
    for digit in digits {
        offset += rest / digit.divisor * digit.stride;
        rest %= digit.divisor;
    }
    offset
}

/// Returns, for each digit, the largest value that the chain from this digit on takes on a whole block of the
/// digit above. The first entry is 0, because no digit is above the first digit. One more entry, after the
/// last digit, is 0.
///
/// A chain of k digits takes k^2 steps, because each block is computed from the smaller blocks.
pub(super) fn whole_blocks(digits: &[Digit]) -> Dims {
    let mut blocks = Dims::from_elem(0, digits.len() + 1);
    for place in (1..digits.len()).rev() {
        let (Some(above), Some(rest), Some(inner)) = (digits.get(place - 1), digits.get(place..), blocks.get(place..))
        else {
            break;
        };
        let largest = reach(rest, inner, above.divisor.get());
        blocks.iter_mut().skip(place).take(1).for_each(|block| *block = largest);
    }
    blocks
}

/// Returns the largest value of these digits on `0..extent`, which must not be empty. `blocks` are the
/// [`whole_blocks`] from the first of these digits on.
///
/// Each digit gives one candidate for the largest value: the digits above it are those of `extent - 1`, the
/// digit itself is one lower than in `extent - 1`, and the lower digits are free. The value at `extent - 1`
/// is the last candidate.
pub(super) fn reach(digits: &[Digit], blocks: &[u64], extent: u64) -> u64 {
    let (mut most, mut above, mut last) = (0, 0, extent.minus(1));
    for (digit, free) in digits.iter().zip(blocks.iter().skip(1)) {
        let top = last / digit.divisor;
        if top > 0 {
            most = most.max(above + (top - 1) * digit.stride + free);
        }
        above += top * digit.stride;
        last %= digit.divisor;
    }
    most.max(above)
}

/// Returns the digits whose divisor is below `extent`. The other digits are always zero.
pub(super) fn below(digits: &[Digit], extent: u64) -> &[Digit] {
    let place = digits.iter().position(|digit| digit.divisor.get() < extent).unwrap_or(digits.len());
    digits.get(place..).unwrap_or(&[])
}

impl core::fmt::Debug for Chain {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(&self.0).finish()
    }
}
