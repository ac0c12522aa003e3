//! `Swizzle`: the last step of an index map, in which higher bits of an offset flip lower bits.
//!
//! Shared memory of a GPU has banks, and rows that begin in one bank are read one after the other. So a row
//! is stored with its 16-byte units in another order, which depends on the number of the row. CUDA's tensor
//! maps, CuTe, Triton and Mojo write the order as an exclusive or: bits 4 to 6 of the byte are flipped by
//! bits 7 to 9, the number of the row.
//!
//! ```text
//! row 0   0 1 2 3 4 5 6 7        unit u of row r is stored at place u ^ r
//! row 1   1 0 3 2 5 4 7 6
//! row 2   2 3 0 1 6 7 4 5
//! ```
//!
//! A swizzle is a list of flips: a bit, and the higher bits whose sum modulo 2 is added to it. All sums are
//! taken from the offset before the step. This is a triangular matrix over the field of two elements, with
//! ones on the diagonal, so the step has an inverse: from the highest bit on, each bit is recovered from the
//! bits above it, which are known by then. Every swizzle has exactly one list, so equal steps have equal
//! lists.
//!
//! The step is applied to the whole offset, base included. A tensor therefore moves by multiples of
//! [`Swizzle::span`] elements only.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::checked::Proven;
use crate::error::{Code, Error};
use crate::short_sort::sort_by_key;

/// One bit of an offset, and the higher bits that flip it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Flip {
    /// The number of the bit of the offset in elements, counted from 0.
    pub bit: u32,
    /// The bits that flip it, as a mask. The bit is flipped if an odd number of them are 1.
    pub by: u64,
}

impl Flip {
    pub(super) fn flips(self, offset: u64) -> bool {
        !(offset & self.by).count_ones().is_multiple_of(2)
    }

    pub(super) fn mask(self) -> u64 {
        1_u64.checked_shl(self.bit).unwrap_or(0)
    }
}

/// Single bits of an offset that are flipped by sums of higher bits, in elements.
///
/// ```
/// use tensor_layout::map::{Flip, Swizzle};
///
/// // The 128 byte mode of CUDA's tensor maps for f16: bits 4 to 6 of the byte are flipped by bits 7 to 9.
/// let swizzle = Swizzle::from_bytes(&[(4, 1 << 7), (5, 1 << 8), (6, 1 << 9)], 16)?;
/// assert_eq!((swizzle.apply(64), swizzle.undo(72), swizzle.span()), (72, 64, 512));
/// let lowest: Flip = swizzle.flips()[0];
/// assert_eq!((lowest.bit, lowest.by), (3, 1 << 6));
/// assert_eq!(swizzle.in_words(16), "bits 4 to 6 of the byte ^= bits 7 to 9");
/// assert_eq!(Swizzle::from_bytes(&[(4, 1 << 3)], 16).unwrap_err().code(), "swizzle_bit");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Swizzle {
    /// The flips, the lowest bit first. No mask is 0.
    flips: Vec<Flip>,
}

impl Swizzle {
    /// The highest bit of an offset that a swizzle may name.
    const HIGHEST: u32 = 61;

    /// Returns the swizzle of these flips of bits of an offset in elements: a bit, and the mask of the bits
    /// that flip it. A bit that is listed twice is flipped by the sum of both.
    ///
    /// # Errors
    ///
    /// `swizzle_bit` if a bit is flipped by itself or by a lower bit, or if a bit is above 61.
    pub fn new(flips: &[(u32, u64)]) -> Result<Swizzle, Error> {
        let mut list: Vec<Flip> = Vec::new();
        for &(bit, by) in flips {
            // The lowest source decides, because all others are above it.
            let (lowest, highest) = (by.trailing_zeros(), 63_u32.saturating_sub(by.leading_zeros()));
            if by != 0 && (lowest <= bit || highest > Self::HIGHEST) {
                let wrong = if highest > Self::HIGHEST { highest } else { lowest };
                return Err(Code::SwizzleBit.for_value(bit.into(), wrong.into()));
            }
            match list.iter_mut().find(|flip| flip.bit == bit) {
                Some(flip) => flip.by ^= by,
                None => list.push(Flip { bit, by }),
            }
        }
        list.retain(|flip| flip.by != 0);
        sort_by_key(&mut list, |flip| flip.bit);
        Ok(Swizzle { flips: list })
    }

    /// Returns the swizzle of these flips of bits of an offset in bytes, for elements of `element_bits` bits.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new). `not_expressible` if the bits of an element are no power of two, or
    /// if a flip takes or changes a bit of the offset inside an element.
    pub fn from_bytes(flips: &[(u32, u64)], element_bits: u32) -> Result<Swizzle, Error> {
        if !element_bits.is_power_of_two() || element_bits > 128 {
            let reason = format!("an element of {element_bits} bits is no power of two of a byte");
            return Err(Error::not_expressible("swizzle of bytes", reason));
        }
        Swizzle::new(flips)?;
        // A byte holds `8 / element_bits` elements, or an element that many bytes.
        let (up, down) = (3_u32.saturating_sub(element_bits.trailing_zeros()), byte_shift(element_bits).unwrap_or(0));
        let low = 1_u64.checked_shl(down).unwrap_or(0).minus(1);
        let shifted = |&(bit, by): &(u32, u64)| {
            let torn = bit < down || by & low != 0;
            let moved = bit.saturating_add(up).checked_sub(down).filter(|_| !torn);
            let by = by.checked_shr(down).and_then(|by| by.checked_mul(1_u64.checked_shl(up)?));
            moved.zip(by).ok_or_else(|| {
                let reason = format!("bit {bit} of the byte is inside an element of {element_bits} bits");
                Error::not_expressible("swizzle of elements", reason)
            })
        };
        Swizzle::new(&flips.iter().map(shifted).collect::<Result<Vec<_>, _>>()?)
    }

    /// The flips, the lowest bit first.
    #[must_use]
    pub fn flips(&self) -> &[Flip] {
        &self.flips
    }

    /// Returns the offset after the step.
    #[must_use]
    pub fn apply(&self, offset: u64) -> u64 {
        let flipped = self.flips.iter().filter(|flip| flip.flips(offset));
        flipped.fold(offset, |offset, flip| offset ^ flip.mask())
    }

    /// Returns the offset before the step: the inverse of [`apply`](Self::apply).
    #[must_use]
    pub fn undo(&self, offset: u64) -> u64 {
        // The bits above a flip are those of the offset before the step, because they were recovered first.
        self.flips.iter().rev().fold(
            offset,
            |offset, flip| {
                if flip.flips(offset) { offset ^ flip.mask() } else { offset }
            },
        )
    }

    /// The number of elements after which the step begins anew: offsets that are a multiple of it apart are
    /// moved alike.
    #[must_use]
    pub fn span(&self) -> u64 {
        let bits = self.flips.iter().map(|flip| 64_u32.saturating_sub(flip.by.leading_zeros())).max().unwrap_or(0);
        1_u64.checked_shl(bits).unwrap_or(u64::MAX)
    }

    /// The number of elements of the smallest aligned piece of a buffer that the step permutes in itself.
    pub(super) fn block(&self) -> u64 {
        let bits = self.flips.last().map_or(0, |flip| flip.bit.saturating_add(1));
        1_u64.checked_shl(bits).unwrap_or(u64::MAX)
    }

    /// Returns this swizzle without the sources outside of `bits`, which are 0 in every offset.
    pub(super) fn of_set_bits(&self, bits: u64) -> Swizzle {
        let kept = self.flips.iter().map(|flip| Flip { by: flip.by & bits, ..*flip });
        Swizzle { flips: kept.filter(|flip| flip.by != 0).collect() }
    }

    /// The flips of the text `xor<..>`: `bytes 4-6 ^= 7-9` where an element of `element_bits` bits is a whole
    /// number of bytes, and otherwise `elements 3 ^= 6+8`.
    #[must_use]
    pub fn text(&self, element_bits: u32) -> String {
        let unit = if byte_shift(element_bits).is_some() { "bytes" } else { "elements" };
        let run = |run: &Run| format!("{} ^= {}", run.targets.text(), run.sources.text());
        let runs: Vec<String> = self.runs(element_bits).iter().map(run).collect();
        format!("{unit} {}", runs.join(", "))
    }

    /// Says in words which bits are flipped: `bits 4 to 6 of the byte ^= bits 7 to 9`.
    #[must_use]
    pub fn in_words(&self, element_bits: u32) -> String {
        let unit = if byte_shift(element_bits).is_some() { "byte" } else { "element offset" };
        let run = |run: &Run| format!("{} of the {unit} ^= {}", run.targets.in_words(), run.sources.in_words());
        let runs: Vec<String> = self.runs(element_bits).iter().map(run).collect();
        runs.join(", ")
    }

    /// The flips in runs of neighbouring bits, each flipped by one bit the same distance above it.
    fn runs(&self, element_bits: u32) -> Vec<Run> {
        let shift = byte_shift(element_bits).unwrap_or(0);
        let mut runs: Vec<Run> = Vec::new();
        for flip in &self.flips {
            let sources = (0..=Self::HIGHEST).filter(|&bit| flip.by.checked_shr(bit).is_some_and(|by| by & 1 == 1));
            let next = Run {
                targets: core::iter::once(flip.bit.saturating_add(shift)).collect(),
                sources: sources.map(|bit| bit.saturating_add(shift)).collect(),
            };
            match runs.last_mut() {
                Some(run) if run.targets.goes_on(&next.targets) && run.sources.goes_on(&next.sources) => {
                    run.targets.last = next.targets.last;
                    run.sources.last = next.sources.last;
                }
                _ => runs.push(next),
            }
        }
        runs
    }
}

/// A run of neighbouring bits, and the bits that flip them.
struct Run {
    targets: Bits,
    sources: Bits,
}

/// Bits of an offset: all from the first to the last, or a sum of several.
struct Bits {
    first: u32,
    last: u32,
    /// The bits of a sum after the first one.
    rest: Vec<u32>,
}

impl FromIterator<u32> for Bits {
    fn from_iter<I: IntoIterator<Item = u32>>(bits: I) -> Bits {
        let mut bits = bits.into_iter();
        let first = bits.next().unwrap_or(0);
        Bits { first, last: first, rest: bits.collect() }
    }
}

impl Bits {
    fn goes_on(&self, next: &Bits) -> bool {
        self.rest.is_empty() && next.rest.is_empty() && self.last.checked_add(1) == Some(next.first)
    }

    fn written(&self, to: &str, and: &str) -> String {
        let sum = self.rest.iter().fold(self.first.to_string(), |sum, bit| format!("{sum}{and}{bit}"));
        if self.last == self.first { sum } else { format!("{}{to}{}", self.first, self.last) }
    }

    fn text(&self) -> String {
        self.written("-", "+")
    }

    fn in_words(&self) -> String {
        let is_one = self.last == self.first && self.rest.is_empty();
        format!("{} {}", if is_one { "bit" } else { "bits" }, self.written(" to ", " + "))
    }
}

/// The power of two of the bytes of an element. `None` if an element is not a whole number of bytes, or the
/// number is no power of two.
fn byte_shift(element_bits: u32) -> Option<u32> {
    let bytes = element_bits.checked_div(8).filter(|_| element_bits.is_multiple_of(8))?;
    bytes.is_power_of_two().then(|| bytes.trailing_zeros())
}
