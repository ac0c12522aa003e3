//! Shader code for the last step of a swizzled layout, in which higher bits of an offset flip lower bits.
//!
//! Neighbouring bits that are flipped by bits the same distance above them are one expression:
//! `(o >> 7 & 7) << 4 ^ o`.

use tensor_layout::map::{Flip, Swizzle};

use crate::code::{Code, Expr};

/// Returns an offset after the step. Offsets after it are at most `most`.
pub(crate) fn swizzled(code: &mut Code, swizzle: Option<&Swizzle>, offset: Expr, most: u32) -> Expr {
    let Some(swizzle) = swizzle else { return offset };
    let plain = code.bind("plain", offset);
    let moved = runs(swizzle.flips()).into_iter().fold(plain.clone(), |moved, run| moved ^ run.flipping(&plain));
    moved.at_most(most)
}

/// Returns the offset before the step.
pub(crate) fn unswizzled(code: &mut Code, swizzle: Option<&Swizzle>, offset: Expr) -> Expr {
    let Some(swizzle) = swizzle else { return offset };
    let flips = swizzle.flips();
    let bits = flips.iter().fold(0, |bits, flip| bits | 1_u64.checked_shl(flip.bit).unwrap_or(0));
    if flips.iter().all(|flip| flip.by & bits == 0) {
        // No bit that flips others is flipped itself, so the step undoes itself.
        return swizzled(code, Some(swizzle), offset, u32::MAX);
    }
    // From the highest bit on, each bit is recovered from those above it.
    flips.iter().rev().fold(offset, |offset, flip| {
        let offset = code.bind("above", offset);
        offset.clone() ^ Run { first: *flip, length: 1 }.flipping(&offset)
    })
}

/// A run of neighbouring flipped bits, from the bit of `first` on. The bits that flip a bit of the run are
/// one bit above those that flip the bit below it.
struct Run {
    first: Flip,
    length: u32,
}

impl Run {
    /// The flipped bits of an offset, as a mask.
    fn flipping(&self, offset: &Expr) -> Expr {
        let sources = (0..32_u32).filter(|&bit| self.first.by.checked_shr(bit).is_some_and(|by| by & 1 == 1));
        let shifted = sources.map(|bit| offset.clone() >> bit);
        let sum = shifted.reduce(|sum, bits| sum ^ bits).unwrap_or_else(|| Expr::from(0));
        let mask = 1_u32.checked_shl(self.length).map_or(u32::MAX, |above| above.wrapping_sub(1));
        (sum & mask) << self.first.bit
    }
}

fn runs(flips: &[Flip]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for &flip in flips {
        match runs.last_mut() {
            Some(Run { first, length })
                if first.bit.checked_add(*length) == Some(flip.bit)
                    && first.by.checked_shl(*length) == Some(flip.by) =>
            {
                *length = length.saturating_add(1);
            }
            _ => runs.push(Run { first: flip, length: 1 }),
        }
    }
    runs
}
