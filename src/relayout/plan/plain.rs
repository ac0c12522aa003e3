//! Small copies that run before a kernel is chosen, as a loop nest that copies one run after the other.

use smallvec::SmallVec;
use strided_copy::PlainNest;
use strided_copy::kernel::{Kernel, Stride};

use super::program::{PlannedBox, Program};
use crate::map::CopyBox;

/// Whether the runs are copied faster one by one than by choosing a kernel first. There may be at most `most`
/// runs.
pub(crate) fn is_plain(nest: &PlainNest<'_>, most: usize) -> bool {
    nest.runs() <= most && nest.bytes_of_run().saturating_mul(nest.runs()) <= MOST_PLAIN_BYTES
}

/// The largest copy, in bytes, that runs as a plain loop nest. Larger copies may want prefetching or
/// non-temporal stores, which a plan decides. Not tuned.
const MOST_PLAIN_BYTES: usize = 1 << 18;

/// The most runs that a plain loop nest copies, if a kernel has not been chosen yet, or if the chosen kernel
/// copies runs shorter than a [`PIECE`]. By trial (Zen 3).
pub(crate) const MOST_PLAIN_RUNS: usize = 512;

/// Whether a plain loop nest is faster than a kernel that was chosen already: if it moves few pieces of
/// [`PIECE`] bytes, or if the kernel copies runs too and the runs are shorter than a piece (300 runs of 5
/// bytes take 0.15 of the time of a kernel on a Zen 3, and 300 runs of 20 bytes 0.7). A long run costs little
/// more than a call of `memcpy`.
fn is_cheap(nest: &PlainNest<'_>, kernel_copies_runs: bool) -> bool {
    if kernel_copies_runs && nest.bytes_of_run() < PIECE {
        return is_plain(nest, MOST_PLAIN_RUNS);
    }
    let pieces = nest.bytes_of_run().div_ceil(PIECE).min(PIECES_OF_A_CALL);
    nest.runs().saturating_mul(pieces) <= MOST_PIECES && is_plain(nest, MOST_PIECES)
}

/// How many bytes a plain loop nest moves at once. (A kernel moves as many, and more runs at a time.)
const PIECE: usize = 32;

/// How many pieces take as long as a call of `memcpy`. By trial (Zen 3).
const PIECES_OF_A_CALL: usize = 8;

/// The most pieces that a plain loop nest moves. By trial (Zen 3): 10 runs of 40 bytes take 0.8 of the time
/// of a kernel, 32 runs of 124 bytes 1.5 of it.
const MOST_PIECES: usize = 64;

/// A whole copy that is small. Its plain loop nest is built again each time it runs.
#[derive(Debug, Clone)]
pub(crate) struct Plain {
    run: usize,
    start: (usize, usize),
    loops: SmallVec<[Stride; 4]>,
}

impl Plain {
    /// The only box of a program, if it is small and its elements are whole bytes.
    pub(crate) fn new(copy: &CopyBox, program: &Program) -> Option<Plain> {
        let bits = program.widths.source;
        let other = program.widths.change().is_some() || !bits.is_multiple_of(8) || program.streaming;
        let large = program.traffic.written > u64::try_from(MOST_PLAIN_BYTES).unwrap_or(u64::MAX);
        if other || large {
            return None;
        }
        let element = usize::try_from(bits.div_euclid(8)).ok()?;
        let bytes = |elements: u64| usize::try_from(elements).ok()?.checked_mul(element);
        let (mut run, mut loops) = (element, SmallVec::new());
        for step in copy.loops().iter().rev() {
            let (extent, source, destination, backwards) = step.strides()?;
            let extent = usize::try_from(extent).ok()?;
            let source = isize::try_from(bytes(source)?).ok()?.checked_mul(if backwards { -1 } else { 1 })?;
            let destination = isize::try_from(bytes(destination)?).ok()?;
            // Loops are in the order of the destination, so only the last loop can be packed on both sides.
            let packed = isize::try_from(run).ok()?;
            if loops.is_empty() && destination == packed && source == packed {
                run = run.checked_mul(extent)?;
            } else {
                loops.push(Stride { extent, source, destination });
            }
        }
        loops.reverse();
        let plain = Plain { run, start: (bytes(copy.source)?, bytes(copy.destination)?), loops };
        let copies_runs = program.prepared.iter().all(|planned| match planned {
            PlannedBox::Copy(copy) => matches!(copy.kernel(), Kernel::Runs { .. }),
            PlannedBox::Steps(_) => false,
        });
        plain.nest().is_some_and(|nest| is_cheap(&nest, copies_runs)).then_some(plain)
    }

    #[inline]
    pub(crate) fn nest(&self) -> Option<PlainNest<'_>> {
        PlainNest::new(self.run, self.start, &self.loops)
    }
}
