//! A loop nest that belongs to no program: the kernel for it, and how it is stored.

use smallvec::SmallVec;
use strided_copy::nest::{NestLoop, NestLoops, Stride};
use strided_copy::{Call, Destination, Machine, PlainLoop, PlainNest, StreamFence};

use crate::map::Loop;

use super::super::level::KernelLevel;
use super::program::{Program, Traffic};
use super::select;

/// Is it faster to copy the runs one by one, up to `most` of them, than to choose a kernel first?
pub(crate) fn is_plain(nest: &PlainNest<'_>, most: usize) -> bool {
    nest.runs() <= most && nest.bytes_of_run().saturating_mul(nest.runs()) <= MOST_PLAIN_BYTES
}

/// Bytes up to which that is so: past them, prefetch and non-temporal stores are to be decided. Not tuned.
const MOST_PLAIN_BYTES: usize = 1 << 18;

/// Runs up to which that is so of a copy that is run once, and of one whose kernel was chosen when it was planned. By trial (Z3).
pub(crate) const MOST_PLAIN_RUNS: usize = 512;
pub(crate) const MOST_PLANNED_RUNS: usize = 64;

/// A whole copy that is small, as a plain nest that is made again for each run.
#[derive(Debug, Clone)]
pub(crate) struct Plain {
    run: usize,
    start: (usize, usize),
    loops: SmallVec<[PlainLoop; 4]>,
}

impl Plain {
    /// The one box of a program, if it is small and of whole bytes.
    pub(crate) fn new(program: &Program) -> Option<Plain> {
        let bits = program.widths.source;
        let other = program.widths.change().is_some() || !bits.is_multiple_of(8) || program.streaming;
        if other || program.boxes.count() != 1 {
            return None;
        }
        let element = usize::try_from(bits.div_euclid(8)).ok()?;
        let bytes = |elements: u64| usize::try_from(elements).ok()?.checked_mul(element);
        let copy = program.boxes.iter().next()?;
        let (mut run, mut loops) = (element, SmallVec::new());
        for step in copy.loops().iter().rev() {
            let (extent, source, destination, sign) = match *step {
                Loop::Strided { extent, source, destination } => (extent, source, destination, 1),
                Loop::Reversed { extent, source, destination } => (extent, source, destination, -1),
                Loop::Table(_) => return None,
            };
            let extent = usize::try_from(extent).ok()?;
            let source = isize::try_from(bytes(source)?).ok()?.checked_mul(sign)?;
            let destination = bytes(destination)?;
            // The loops are in order of the destination: only the last can be packed on both sides.
            if loops.is_empty() && destination == run && source == isize::try_from(run).ok()? {
                run = run.checked_mul(extent)?;
            } else {
                loops.insert(0, PlainLoop { extent, source, destination });
            }
        }
        let plain = Plain { run, start: (bytes(copy.source())?, bytes(copy.destination())?), loops };
        plain.nest().is_some_and(|nest| is_plain(&nest, MOST_PLANNED_RUNS)).then_some(plain)
    }

    #[inline]
    pub(crate) fn nest(&self) -> Option<PlainNest<'_>> {
        PlainNest::new(self.run, self.start, &self.loops)
    }
}

/// Copies with the kernel that a plan would choose.
#[inline(never)]
pub(crate) fn run(nest: &PlainNest<'_>, machine: &Machine, source: &[u8], destination: Destination<'_>) {
    let mut loops = NestLoops::new();
    let mut once = 1_u64;
    for step in nest.loops() {
        let stride = Stride { extent: step.extent, source: step.source.unsigned_abs(), destination: step.destination };
        loops.push(if step.source < 0 { NestLoop::Reversed(stride) } else { NestLoop::Strided(stride) });
        // What is repeated stays in the cache.
        if step.source != 0 {
            once = once.saturating_mul(u64::try_from(step.extent).unwrap_or(u64::MAX));
        }
    }
    let bytes = |runs: u64| runs.saturating_mul(u64::try_from(nest.bytes_of_run()).unwrap_or(u64::MAX));
    let runs = u64::try_from(nest.runs()).unwrap_or(u64::MAX);
    let (streaming, prefetch, knobs) = Traffic { read: bytes(once), written: bytes(runs) }.settings(&machine.knobs);
    let planned = select::nest_of(loops, nest.bytes_of_run(), nest.start(), &knobs);
    let level = KernelLevel::available_in_use();
    let fence = (streaming || destination.is_write_only()).then(|| StreamFence::new(level));
    Call { source, destination, streaming: fence.as_ref(), prefetch, level, knobs: &knobs }.run(&planned);
}
