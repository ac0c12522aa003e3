//! Walking the boxes of a plan.

use crate::error::Error;
use crate::map::{BoxGroups, CopyBox, Loop};

#[cfg(all(feature = "rayon", target_arch = "x86_64"))]
use super::kernel::threads;
use super::kernel::{Job, KernelLevel};
use super::schedule::{Nest, Step, Stride};
use super::small::{self, Small};

/// Boxes that are scheduled when the copy is planned. More are scheduled as they are run.
const PREPARED: u64 = 64;

/// From this many bytes on, read and written, a copy stores round the cache: a store that is cached reads its line first, and
/// below this size that is cheaper than memory.
pub(super) const STREAM_FROM: u64 = 8 << 20;

/// From this many bytes on a box reports its progress between the steps of its outermost loop.
const REPORT_FROM: u64 = 1 << 24;

/// About so many bytes lie between two reports.
const REPORT_EACH: u64 = 1 << 21;

/// From this many bytes on, read and written, a copy asks for what it will read: less is in the level-2 cache as it is.
const FETCH_FROM: u64 = 1 << 20;

/// The boxes of one pass, ready to run.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) boxes: BoxGroups,
    bits: u32,
    pub(super) stream: bool,
    fetch: bool,
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
    Small(Small),
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
        let (stream, fetch) = (traffic.stores_round_the_cache(), traffic.buffers >= FETCH_FROM);
        Ok(Program { boxes, bits, stream, fetch, traffic, prepared })
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
        let mut job = Job { source, destination, stream: self.stream, fetch: self.fetch, level };
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

#[cfg(all(feature = "rayon", target_arch = "x86_64"))]
impl Program {
    /// Copies all boxes on the threads of rayon's pool, which all write the one destination. `false`, and nothing is
    /// done, if some box is not long enough for them.
    pub(super) fn run_shared(&self, level: KernelLevel, source: &[u8], destination: &mut [u8]) -> bool {
        let threads = rayon::current_num_threads();
        let nests = || {
            self.prepared.iter().map(|work| match work {
                Work::Nest(nest) => Some(nest),
                Work::Small(_) => None,
            })
        };
        let can_run = |nest: Option<&Nest>| nest.is_some_and(|nest| threads::can_run(nest, level, threads));
        if self.prepared.is_empty() || !nests().all(can_run) {
            return false;
        }
        for nest in nests().flatten() {
            threads::run(nest, level, (self.stream, self.fetch), source, destination);
        }
        true
    }
}

impl Work {
    pub(super) fn new(copy: CopyBox, bits: u32) -> Result<Work, Error> {
        if bits.is_multiple_of(8) {
            Nest::new(&copy, u64::from(bits / 8)).map(Work::Nest)
        } else if let Some(whole) = small::in_whole_bytes(&copy, bits) {
            Nest::new(&whole, 1).map(Work::Nest)
        } else if let Some(nest) = small::in_turns(&copy, bits) {
            Ok(Work::Nest(nest))
        } else {
            Ok(Work::Small(Small::new(copy, bits)))
        }
    }

    pub(super) fn run(&self, bits: u32, job: &mut Job<'_>, written: &mut u64, progress: &mut dyn FnMut(u64)) {
        let before = *written;
        let bytes = match self {
            Work::Small(small) => small.run(bits, job),
            Work::Nest(nest) => {
                walk(nest, job, &mut |done| progress(before.saturating_add(done)));
                nest.bytes
            }
        };
        *written = before.saturating_add(bytes);
        progress(*written);
    }
}

/// Runs a nest, a large one in parts of its outermost loop, after each of which `progress` hears how many bytes that makes.
fn walk(nest: &Nest, job: &mut Job<'_>, progress: &mut dyn FnMut(u64)) {
    let bytes = nest.bytes;
    let Some((Step::Strided(outermost), _)) = nest.loops.split_first().filter(|_| bytes >= REPORT_FROM) else {
        return job.run(&nest.kernel, &nest.loops, (nest.source, nest.destination));
    };
    let steps = u64::try_from(outermost.extent).unwrap_or(u64::MAX).max(1);
    let each = bytes.div_ceil(steps).max(1);
    let part = usize::try_from(REPORT_EACH.div_ceil(each)).unwrap_or(usize::MAX);
    let mut loops = nest.loops.clone();
    let mut done = 0_usize;
    while done < outermost.extent {
        let extent = part.min(outermost.extent.saturating_sub(done));
        if let Some(first) = loops.first_mut() {
            *first = Step::Strided(Stride { extent, ..*outermost });
        }
        // Nothing here can saturate: all offsets lie inside the buffers.
        let from = nest.source.saturating_add(done.saturating_mul(outermost.source));
        let to = nest.destination.saturating_add(done.saturating_mul(outermost.destination));
        job.run(&nest.kernel, &loops, (from, to));
        done = done.saturating_add(extent);
        progress(each.saturating_mul(u64::try_from(done).unwrap_or(u64::MAX)).min(bytes));
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
