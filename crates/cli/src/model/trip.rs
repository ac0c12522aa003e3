//! `Trip`: converts a tensor to its new layout and back, piece by piece. `Answer`: whether it came back
//! identical.

use std::ops::Range;

use indicatif::ProgressBar;
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::{Error, IndexMap};

use crate::output::Stop;
use crate::pieces::{Outcome, Pieces};

/// The result of converting a tensor and converting it back.
#[derive(Debug)]
pub(super) enum Answer {
    /// The tensor has no plan, or its conversion would take too much. The text says how much memory or
    /// padding it would take.
    NotTried(String),
    Tried {
        identical: bool,
    },
    Refused(Error),
}

impl Answer {
    pub(super) fn identical(&self) -> Option<bool> {
        match self {
            Answer::Tried { identical } => Some(*identical),
            _ => None,
        }
    }

    pub(super) fn word(&self) -> &'static str {
        match self {
            Answer::NotTried(_) => "not tried",
            Answer::Tried { identical: true } => "identical",
            Answer::Tried { identical: false } => "DIFFERS",
            Answer::Refused(_) => "refused",
        }
    }
}

/// The copy to the new layout and the copy back, both cut into pieces.
pub(super) struct Trip {
    there: Pieces,
    back: Pieces,
    /// The number of bits of the stored layout that belong to no element.
    padding_bits: u128,
}

impl Trip {
    /// Plans both copies. Pieces have about `length` bytes, if the layouts can be divided into such pieces.
    pub(super) fn new(stored: &IndexMap, new: &IndexMap, length: u64) -> Result<Trip, Error> {
        let there = Relayout::new(stored, new)?.with_padding(Padding::Zero)?;
        let back = Relayout::new(new, stored)?.with_padding(Padding::Keep)?;
        let elements = u128::from(stored.element_count()).saturating_mul(stored.element_bits().into());
        let bits = u128::from(stored.physical_size_in_bytes()).saturating_mul(8);
        let padding_bits = bits.saturating_sub(elements);
        Ok(Trip { there: Pieces::of(&there, length)?, back: Pieces::of(&back, length)?, padding_bits })
    }

    /// Returns how many bytes of memory the two copies take: a piece in each direction, and a packed buffer
    /// between the passes of a layout that cannot be divided.
    pub(super) fn memory(&self) -> u64 {
        self.back.longest().saturating_mul(2).saturating_add(self.there.longest())
    }

    /// Converts the tensor, and passes the bytes of the new layout to `append`, in their order.
    pub(super) fn lay_out(
        &self,
        stored: &[u8],
        bar: &ProgressBar,
        append: impl FnMut(&[u8]) -> Result<(), Stop>,
    ) -> Result<Outcome, Stop> {
        self.there.run(stored, bar, append)
    }

    /// Converts `laid_out` back and compares every element with `stored`, bit by bit.
    ///
    /// The padding of the stored layout may hold any bits, so it cannot be compared. Before a piece is
    /// written, its bytes are set to the inverse of the stored bytes. Each bit of an element must then be
    /// changed back by the copy. So the bits that still differ are the padding, and their number must be the
    /// number of bits of padding. A layout without padding needs no such fill, because every byte is written.
    pub(super) fn compare(&self, laid_out: &[u8], stored: &[u8], bar: &ProgressBar) -> Result<Answer, Stop> {
        let (mut compared, mut different) = (0_usize, 0_u128);
        let held = |range: Range<usize>| stored.get(range).unwrap_or_default();
        let oppose = |range, bytes: &mut [u8]| {
            if self.padding_bits > 0 {
                bytes.iter_mut().zip(held(range)).for_each(|(byte, held)| *byte = !held);
            }
        };
        let done = self.back.run_over(laid_out, bar, oppose, |range, bytes| {
            let held = held(range);
            compared = compared.saturating_add(held.len());
            if bytes != held {
                let differing = |(byte, held): (&u8, &u8)| u64::from((byte ^ held).count_ones());
                let bits: u64 = bytes.iter().zip(held).map(differing).sum();
                different = different.saturating_add(bits.into());
            }
            Ok(())
        })?;
        Ok(match done {
            Outcome::Done => Answer::Tried { identical: compared == stored.len() && different == self.padding_bits },
            Outcome::Refused(error) => Answer::Refused(error),
        })
    }
}

#[cfg(test)]
mod tests;
