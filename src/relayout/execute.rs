//! Walking the boxes of a plan.

use crate::error::Error;
use crate::map::{BoxGroups, CopyBox, Loop};

use super::kernel::{Job, KernelLevel};
use super::schedule::{Nest, Step};
use super::small;

/// Boxes that are scheduled when the copy is planned. More are scheduled as they are run.
const PREPARED: u64 = 64;

/// From this many bytes on, read and written, a copy stores round the cache: a store that is cached reads its line first, and
/// below this size that is cheaper than memory.
pub(super) const STREAM_FROM: u64 = 24 << 20;

/// Above this many bytes a copy reports its progress between the steps of its outermost loops.
const REPORT_FROM: u64 = 1 << 24;

/// The boxes of one pass, ready to run.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) boxes: BoxGroups,
    bits: u32,
    pub(super) stream: bool,
    pub(super) traffic: Traffic,
    prepared: Vec<Work>,
}

/// What a pass moves, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Traffic {
    /// Elements read: those that are repeated once, as they stay in the cache.
    pub(super) read: u64,
    /// Elements written.
    pub(super) written: u64,
    /// Both buffers.
    pub(super) buffers: u64,
}

impl Traffic {
    pub(super) fn stores_round_the_cache(&self) -> bool {
        self.buffers >= STREAM_FROM
    }
}

/// One box, scheduled.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "nearly every box is a nest; a box of its own would cost an allocation")]
pub(super) enum Work {
    /// Whole bytes.
    Nest(Nest),
    /// Elements that are not whole bytes, and begin anywhere.
    Small(CopyBox),
}

impl Program {
    pub(super) fn new(boxes: BoxGroups, bits: u32, traffic: Traffic) -> Result<Program, Error> {
        let mut prepared = Vec::new();
        if boxes.count() <= PREPARED {
            prepared.reserve_exact(usize::try_from(boxes.count()).unwrap_or(0));
            for copy in boxes.iter() {
                prepared.push(Work::new(copy, bits)?);
            }
        }
        Ok(Program { boxes, bits, stream: traffic.stores_round_the_cache(), traffic, prepared })
    }

    /// Some boxes of another program, or parts of them.
    pub(super) fn of_parts(&self, parts: Vec<CopyBox>) -> Result<Program, Error> {
        let prepared = parts.into_iter().map(|part| Work::new(part, self.bits)).collect::<Result<_, _>>()?;
        Ok(Program { boxes: BoxGroups::none(), prepared, ..*self })
    }

    /// Copies all boxes. The buffers were measured: every element of both layouts lies inside them.
    pub(super) fn run(
        &self,
        level: KernelLevel,
        source: &[u8],
        destination: &mut [u8],
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), Error> {
        let mut job = Job { source, destination, stream: self.stream, level };
        let mut written = 0_u64;
        for work in &self.prepared {
            work.run(self.bits, &mut job, &mut written, progress);
        }
        if self.prepared.is_empty() {
            for copy in self.boxes.iter() {
                Work::new(copy, self.bits)?.run(self.bits, &mut job, &mut written, progress);
            }
        }
        job.finish();
        Ok(())
    }
}

impl Work {
    pub(super) fn new(copy: CopyBox, bits: u32) -> Result<Work, Error> {
        if bits.is_multiple_of(8) {
            Nest::new(&copy, u64::from(bits / 8)).map(Work::Nest)
        } else if let Some(whole) = small::in_whole_bytes(&copy, bits) {
            Nest::new(&whole, 1).map(Work::Nest)
        } else if let Some(nest) = Nest::of_nibbles(&copy).filter(|_| bits == 4) {
            Ok(Work::Nest(nest))
        } else {
            Ok(Work::Small(copy))
        }
    }

    pub(super) fn run(&self, bits: u32, job: &mut Job<'_>, written: &mut u64, progress: &mut dyn FnMut(u64)) {
        let before = *written;
        let bytes = match self {
            Work::Small(copy) => small::run(copy, bits, job.source, job.destination),
            Work::Nest(nest) => {
                walk(nest, job, &mut |done| progress(before.saturating_add(done)));
                nest.bytes
            }
        };
        *written = before.saturating_add(bytes);
        progress(*written);
    }
}

fn walk(nest: &Nest, job: &mut Job<'_>, progress: &mut dyn FnMut(u64)) {
    let bytes = nest.bytes;
    let Some((outermost, rest)) = nest.loops.split_first().filter(|_| bytes >= REPORT_FROM) else {
        return descend(nest, &nest.loops, job, nest.source, nest.destination);
    };
    let steps = outermost.extent();
    let mut done = 0_u64;
    each(outermost, nest.source, nest.destination, &mut |from, to| {
        descend(nest, rest, job, from, to);
        done = done.saturating_add(1);
        let share = u128::from(bytes).saturating_mul(done.into()).checked_div(steps.into());
        progress(share.and_then(|share| u64::try_from(share).ok()).unwrap_or(bytes));
    });
}

/// Runs the loops from outer to inner, and the kernel inside the last.
fn descend(nest: &Nest, loops: &[Step], job: &mut Job<'_>, from: usize, to: usize) {
    match loops.split_first() {
        None => job.run(&nest.kernel, from, to),
        Some((Step::Strided(steps), [])) => job.repeat(&nest.kernel, *steps, from, to),
        Some((step, rest)) => each(step, from, to, &mut |from, to| descend(nest, rest, job, from, to)),
    }
}

/// The offsets of a loop's steps.
fn each(step: &Step, from: usize, to: usize, visit: &mut dyn FnMut(usize, usize)) {
    // Nothing here can saturate: all offsets lie inside the buffers.
    match step {
        Step::Strided(stride) => {
            let (mut from, mut to) = (from, to);
            for _ in 0..stride.extent {
                visit(from, to);
                from = from.saturating_add(stride.source);
                to = to.saturating_add(stride.destination);
            }
        }
        Step::Table(entries) => {
            for &(a, b) in entries {
                visit(from.saturating_add(a), to.saturating_add(b));
            }
        }
    }
}

/// Every pair of offsets of a box, one element at a time.
pub(super) fn each_element(loops: &[Loop], from: u64, to: u64, visit: &mut dyn FnMut(u64, u64)) {
    match loops.split_first() {
        None => visit(from, to),
        Some((Loop::Strided { extent, source, destination }, rest)) => {
            let (mut from, mut to) = (from, to);
            for _ in 0..*extent {
                each_element(rest, from, to, visit);
                from = from.saturating_add(*source);
                to = to.saturating_add(*destination);
            }
        }
        Some((Loop::Table(entries), rest)) => {
            for &(a, b) in entries {
                each_element(rest, from.saturating_add(a), to.saturating_add(b), visit);
            }
        }
    }
}
