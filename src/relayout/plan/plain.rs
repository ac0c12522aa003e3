//! Small copies that run before a kernel is chosen, as a loop nest that copies one run after the other.

use smallvec::SmallVec;
use strided_copy::PlainNest;
use strided_copy::kernel::{Kernel, Stride};

use super::program::{PlannedBox, Program};

/// Whether the runs are copied faster one by one than by choosing a kernel first. There may be at most `most`
/// runs.
pub(crate) fn is_plain(nest: &PlainNest<'_>, most: usize) -> bool {
    nest.runs() <= most && nest.bytes_of_run().saturating_mul(nest.runs()) <= MOST_PLAIN_BYTES
}

/// The largest copy, in bytes, that runs as a plain loop nest. Larger copies may want prefetching or
/// non-temporal stores, which a plan decides. Not tuned.
const MOST_PLAIN_BYTES: usize = 1 << 18;

/// The most runs that a plain loop nest copies in two cases: a kernel has not been chosen yet, or the chosen
/// kernel would copy runs too. By trial (Zen 3).
pub(crate) const MOST_PLAIN_RUNS: usize = 512;

/// The most runs that a plain loop nest copies, if planning has chosen a kernel that transposes. By trial
/// (Zen 3).
pub(crate) const MOST_PLANNED_RUNS: usize = 64;

/// A whole copy that is small. Its plain loop nest is built again each time it runs.
#[derive(Debug, Clone)]
pub(crate) struct Plain {
    run: usize,
    start: (usize, usize),
    loops: SmallVec<[Stride; 4]>,
}

impl Plain {
    /// Returns the copy of a program that has one box, if the box is small and its elements are whole bytes.
    pub(crate) fn new(program: &Program) -> Option<Plain> {
        let bits = program.widths.source;
        let other = program.widths.change().is_some() || !bits.is_multiple_of(8) || program.streaming;
        let large = program.traffic.written > u64::try_from(MOST_PLAIN_BYTES).unwrap_or(u64::MAX);
        if other || large || program.boxes.count() != 1 {
            return None;
        }
        let element = usize::try_from(bits.div_euclid(8)).ok()?;
        let bytes = |elements: u64| usize::try_from(elements).ok()?.checked_mul(element);
        let copy = program.boxes.iter().next()?;
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
                loops.insert(0, Stride { extent, source, destination });
            }
        }
        let plain = Plain { run, start: (bytes(copy.source)?, bytes(copy.destination)?), loops };
        // A kernel that transposes is faster than plain loops. A kernel that copies a few runs is not faster.
        let copies = program.prepared.iter().all(|planned| match planned {
            PlannedBox::Copy(copy) => matches!(copy.kernel(), Kernel::Runs { .. }),
            PlannedBox::Steps(_) => false,
        });
        let most = if copies { MOST_PLAIN_RUNS } else { MOST_PLANNED_RUNS };
        plain.nest().is_some_and(|nest| is_plain(&nest, most)).then_some(plain)
    }

    #[inline]
    pub(crate) fn nest(&self) -> Option<PlainNest<'_>> {
        PlainNest::new(self.run, self.start, &self.loops)
    }
}
