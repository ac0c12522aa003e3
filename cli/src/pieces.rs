//! A copy in pieces, one after the other: only one of them is stored in memory at a time.

use std::ops::Range;

use indicatif::ProgressBar;
use tensor_layout::Error;
use tensor_layout::relayout::{Piece, Relayout};

use crate::input_file::zeroed;
use crate::output::Stop;

/// Why a copy in pieces ended early.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The program ends.
    Stop(Stop),
    /// This copy is refused; others go on.
    Refused(Error),
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Halt {
        Halt::Stop(stop)
    }
}

/// How many bytes of its output a copy has in memory at once, if it can be cut.
pub(crate) const PIECE: u64 = 64 << 20;

/// A copy that was cut, in the order of its output.
pub(crate) struct Pieces {
    pieces: Vec<Piece>,
    longest: u64,
}

impl Pieces {
    /// Cuts a copy into pieces of about `length` bytes. They are longer if the layouts cannot be cut as
    /// often. A copy that keeps its padding is for [`run_over`](Self::run_over): otherwise there is in it
    /// what the piece before left in memory.
    pub(crate) fn of(plan: &Relayout, length: u64) -> Result<Pieces, Error> {
        let wanted = plan.destination_size_in_bytes().div_ceil(length);
        let pieces = plan.partition(usize::try_from(wanted).unwrap_or(1))?;
        let longest = pieces.iter().map(|piece| piece.destination_range().len() as u64).max().unwrap_or(0);
        Ok(Pieces { pieces, longest })
    }

    /// The bytes of the longest piece.
    pub(crate) fn longest(&self) -> u64 {
        self.longest
    }

    /// Runs one piece after the other, hands its bytes to `take` and counts them on the bar.
    pub(crate) fn run(
        &self,
        source: &[u8],
        bar: &ProgressBar,
        mut take: impl FnMut(&[u8]) -> Result<(), Stop>,
    ) -> Result<(), Halt> {
        self.run_over(source, bar, |_, _| (), |_, bytes| take(bytes))
    }

    /// As [`run`](Self::run), each piece over what `prepare` leaves in its buffer. Both get the range of
    /// bytes in the whole output they are given.
    pub(crate) fn run_over(
        &self,
        source: &[u8],
        bar: &ProgressBar,
        mut prepare: impl FnMut(Range<usize>, &mut [u8]),
        mut take: impl FnMut(Range<usize>, &[u8]) -> Result<(), Stop>,
    ) -> Result<(), Halt> {
        let mut buffer = zeroed(self.longest)?;
        for piece in &self.pieces {
            let range = piece.destination_range();
            let bytes = buffer.get_mut(..range.len()).unwrap_or_default();
            prepare(range.clone(), bytes);
            piece.run(source, bytes).map_err(Halt::Refused)?;
            take(range, bytes)?;
            bar.inc(bytes.len() as u64);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tensor_layout::notation::Notated;
    use tensor_layout::relayout::Padding;

    use super::*;

    #[test]
    fn many_pieces_make_the_output_of_one() {
        let source: Vec<u8> = (0..30_000_u32).flat_map(u32::to_le_bytes).collect();
        for (from, to) in [
            ("f32[100,300]", "f32[100,300]{0,1}"),
            ("f32[100,300]", "f32[100,300]{1,0:T(8,128)}"),
            ("f32[100,300]", "f32[100,300]:[400,1]"),
            ("s4[101,301]{1,0:E(4)}", "s4[101,301]{0,1:T(8,128)E(4)}"),
            // Cannot be cut.
            ("f32[60,25,20]", "f32[60,25,20]{2,1,0:T(2,3,2)(*,2,1)}"),
        ] {
            let layout = |text: &str| text.parse::<Notated>().unwrap();
            let plan = Relayout::new(&layout(from), &layout(to)).unwrap().with_padding(Padding::Zero).unwrap();
            let mut whole = vec![0xff; plan.destination_size_in_bytes().try_into().unwrap()];
            plan.run(&source, &mut whole).unwrap();

            let pieces = Pieces::of(&plan, 1000).unwrap();
            let (mut joined, mut longest) = (Vec::new(), 0);
            let take = |bytes: &[u8]| {
                longest = longest.max(bytes.len() as u64);
                joined.extend_from_slice(bytes);
                Ok(())
            };
            pieces.run(&source, &ProgressBar::hidden(), take).unwrap();
            assert!(joined == whole, "{from} -> {to}");
            assert_eq!(longest, pieces.longest());
            let cut = pieces.pieces.len() > 8;
            assert_eq!(cut, !to.contains('*'), "{from} -> {to}: {} pieces", pieces.pieces.len());
        }
    }
}
