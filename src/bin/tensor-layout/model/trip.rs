//! `Trip`: a tensor's way into its new layout and back, piece by piece, and `Answer`: what came of it.

use indicatif::ProgressBar;
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::{Error, ToIndexMap};

use crate::output::Stop;
use crate::pieces::Pieces;

/// What came of converting a tensor there and back.
#[derive(Debug)]
pub(super) enum Answer {
    /// There was no plan, or it would have taken too much, namely so much.
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

/// Both copies, cut into pieces.
pub(super) struct Trip {
    there: Pieces,
    back: Pieces,
}

impl Trip {
    /// Pieces are of about `length` bytes where the layouts can be cut.
    pub(super) fn new(packed: &impl ToIndexMap, new: &impl ToIndexMap, length: u64) -> Result<Trip, Error> {
        let cut = |plan: Relayout| Pieces::of(&plan.with_padding(Padding::Zero)?, length);
        Ok(Trip { there: cut(Relayout::new(packed, new)?)?, back: cut(Relayout::new(new, packed)?)? })
    }

    /// The bytes of memory that it takes: a piece of each way, and a packed buffer between the passes of a layout that cannot
    /// be cut.
    pub(super) fn memory(&self) -> u64 {
        self.back.longest().saturating_mul(2).saturating_add(self.there.longest())
    }

    /// Hands the bytes of the new layout to `append`, in their order.
    pub(super) fn lay_out(
        &self,
        packed: &[u8],
        bar: &ProgressBar,
        append: impl FnMut(&[u8]) -> Result<(), Stop>,
    ) -> Result<Result<(), Error>, Stop> {
        self.there.run(packed, bar, append)
    }

    /// Converts back what was laid out: is it the same, byte by byte?
    pub(super) fn compare(&self, laid_out: &[u8], packed: &[u8], bar: &ProgressBar) -> Result<Answer, Stop> {
        let mut same = Some(packed);
        let done = self.back.run(laid_out, bar, |bytes| {
            same = same.and_then(|rest| rest.strip_prefix(bytes));
            Ok(())
        })?;
        Ok(match done {
            Ok(()) => Answer::Tried { identical: same.is_some_and(<[u8]>::is_empty) },
            Err(error) => Answer::Refused(error),
        })
    }
}

#[cfg(test)]
mod tests {
    use tensor_layout::notation::Notated;

    use super::*;

    #[test]
    fn one_wrong_byte_of_an_element_is_found_and_padding_is_zero() {
        let layout = |text: &str| text.parse::<Notated>().unwrap();
        let (packed, tiled) = (layout("u16[70,90]"), layout("u16[70,90]{1,0:T(8,128)(2,1)}"));
        let trip = Trip::new(&packed, &tiled, 1000).unwrap();
        assert!(trip.memory() < 4 * 1000 + 1000, "{}", trip.memory());

        let source = vec![0xa5; 70 * 90 * 2];
        let bar = ProgressBar::hidden();
        let mut laid_out = Vec::new();
        let append = |bytes: &[u8]| {
            laid_out.extend_from_slice(bytes);
            Ok(())
        };
        trip.lay_out(&source, &bar, append).unwrap().unwrap();
        assert_eq!(laid_out.len(), 72 * 128 * 2);
        assert_eq!(laid_out.iter().filter(|&&byte| byte == 0xa5).count(), source.len());
        assert_eq!(laid_out.iter().filter(|&&byte| byte == 0).count(), laid_out.len() - source.len());

        let word = |laid_out: &[u8], source: &[u8]| trip.compare(laid_out, source, &bar).unwrap().word();
        assert_eq!(word(&laid_out, &source), "identical");
        assert_eq!(word(&laid_out, &source[1..]), "DIFFERS");
        assert_eq!(word(&laid_out, &[&source[..], &[0]].concat()), "DIFFERS");
        for place in (0..laid_out.len()).step_by(101) {
            let held = std::mem::replace(&mut laid_out[place], 0xff);
            let expected = if held == 0 { "identical" } else { "DIFFERS" };
            assert_eq!(word(&laid_out, &source), expected, "byte {place}");
            laid_out[place] = held;
        }
        assert_eq!(word(&laid_out[..laid_out.len() / 2], &source), "refused");
    }
}
