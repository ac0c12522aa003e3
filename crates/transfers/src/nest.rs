//! `Nest`: a loop nest in bytes, whose innermost loop is the contiguous run.

use tensor_layout::checked::{BYTES, mul, narrow, next_index};
use tensor_layout::plan::{CopyBox, Loop as ElementLoop};
use tensor_layout::relayout::Relayout;
use tensor_layout::{Error, IndexMap};

use super::join;

/// One loop of a transfer, which takes the same steps on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Loop {
    /// The number of steps.
    pub count: u64,
    /// The distance between two steps in the source, in bytes. It is 0 if the source is repeated, and
    /// negative if the source is walked backwards.
    pub source_stride: i64,
    /// The distance between two steps in the destination, in bytes, which is above 0.
    pub destination_stride: i64,
}

/// The most loop nests that a copy may come to, and the most nests that are unrolled to visit the destination
/// in order. Nearly every copy has one nest.
pub const NEST_LIMIT: usize = 1 << 16;

/// The most table entries and single indices that are read for a copy without loops.
const ENTRY_LIMIT: u64 = 1 << 18;

const QUESTION: &str = "the least transfers of layouts whose blocks do not divide each other";

/// Some bytes of a copy: the offsets where it begins, and its loops by descending stride of the destination.
///
/// The last loop is the run, with a stride of 1 on both sides. No loop but the run has a count of 1, and no
/// two loops form one loop on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Nest {
    pub(crate) source: u64,
    pub(crate) destination: u64,
    pub(crate) loops: Vec<Loop>,
}

impl Loop {
    pub(crate) fn of(count: u64, source_stride: i64, destination_stride: i64) -> Loop {
        Loop { count, source_stride, destination_stride }
    }

    /// The distance that all steps of the loop go together.
    pub(crate) fn whole(&self) -> (i64, i64) {
        let count = self.count.cast_signed();
        (count.wrapping_mul(self.source_stride), count.wrapping_mul(self.destination_stride))
    }

    pub(crate) fn strides(&self) -> (i64, i64) {
        (self.source_stride, self.destination_stride)
    }
}

impl Nest {
    /// Returns the nest with its loops in order and merged.
    pub(crate) fn new(source: u64, destination: u64, mut loops: Vec<Loop>) -> Nest {
        while let Some((outer, inner, count)) = merging(&loops) {
            let strides = loops.get(inner).map_or((1, 1), Loop::strides);
            if let Some(merged) = loops.get_mut(outer) {
                *merged = Loop::of(count, strides.0, strides.1);
            }
            loops.remove(inner);
        }
        // Where an element is one byte, another loop may have the stride of the run in the destination.
        loops.sort_unstable_by_key(|step| (step.strides() == (1, 1), -step.destination_stride));
        Nest { source, destination, loops }
    }

    /// The length of the contiguous run.
    pub(crate) fn run(&self) -> u64 {
        self.loops.last().map_or(1, |run| run.count)
    }

    /// The loops around the run.
    pub(crate) fn outer(&self) -> &[Loop] {
        self.loops.split_last().map_or(&[], |(_, outer)| outer)
    }

    /// The ends of the last runs on both sides.
    pub(crate) fn reach(&self) -> (u64, u64) {
        let end = |start: u64, stride: fn(&Loop) -> i64| {
            let ahead = self.outer().iter().filter(|step| stride(step) > 0);
            let ahead = ahead.map(|step| (step.count - 1) * stride(step).unsigned_abs());
            start + ahead.sum::<u64>() + self.run()
        };
        (end(self.source, |step| step.source_stride), end(self.destination, |step| step.destination_stride))
    }

    pub(crate) fn runs(&self) -> u64 {
        self.outer().iter().map(|step| step.count).product()
    }

    /// Turns units into bytes, which all offsets, strides and runs are multiples of.
    pub(crate) fn divide(&mut self, byte: u64) {
        (self.source, self.destination) = (self.source / byte, self.destination / byte);
        let signed = byte.cast_signed();
        let Some((run, outer)) = self.loops.split_last_mut() else { return };
        run.count /= byte;
        for step in outer {
            *step = Loop::of(step.count, step.source_stride / signed, step.destination_stride / signed);
        }
    }
}

/// Returns the places of two loops that form one loop, and its count.
fn merging(loops: &[Loop]) -> Option<(usize, usize, u64)> {
    let inner = |outer: &Loop| loops.iter().position(|inner| inner != outer && inner.whole() == outer.strides());
    loops.iter().enumerate().find_map(|(place, outer)| {
        let inner = inner(outer)?;
        Some((place, inner, outer.count * loops.get(inner)?.count))
    })
}

/// The nests of a planned copy, whose elements take `width` units.
pub(crate) fn nests(plan: &Relayout, width: u64, nests: &mut Vec<Nest>) -> Result<(), Error> {
    let passes: Vec<_> = plan.passes().collect();
    let mut work = 0;
    match passes.as_slice() {
        [pass] => pass.boxes().try_for_each(|part| from_box(&part, width, &mut work, nests)),
        // Several passes would keep the elements in between. The offsets of each index are taken instead.
        _ => by_index(plan, width, nests),
    }
}

pub(crate) fn push(nest: Nest, nests: &mut Vec<Nest>) -> Result<(), Error> {
    nests.push(nest);
    join::last(nests);
    if nests.len() > NEST_LIMIT { Err(Error::undecided(QUESTION, ENTRY_LIMIT)) } else { Ok(()) }
}

fn from_box(part: &CopyBox, width: u64, work: &mut u64, nests: &mut Vec<Nest>) -> Result<(), Error> {
    let mut loops = vec![Loop::of(width, 1, 1)];
    let (mut tables, mut lengths) = (Vec::new(), Vec::new());
    let signed = narrow::<i64>(width, BYTES)?;
    for step in part.loops() {
        match *step {
            ElementLoop::Strided(step) if step.extent == 1 => {}
            ElementLoop::Strided(step) => {
                let source = step.source.checked_mul(signed).ok_or_else(|| Error::overflow(BYTES, 64))?;
                let destination = narrow(mul(step.destination, width, BYTES)?, BYTES)?;
                loops.push(Loop::of(step.extent, source, destination));
            }
            ElementLoop::Table(ref entries) => {
                lengths.push(entries.len());
                tables.push(entries);
            }
        }
    }
    let Nest { loops, .. } = Nest::new(0, 0, loops);
    let mut index = vec![0; tables.len()];
    loop {
        let (mut source, mut destination) = (part.source, part.destination);
        for (entries, &place) in tables.iter().zip(&index) {
            let entry = entries.get(place).copied().unwrap_or_default();
            (source, destination) = (source + entry.0, destination + entry.1);
        }
        let (source, destination) = (mul(source, width, BYTES)?, mul(destination, width, BYTES)?);
        push(Nest { source, destination, loops: loops.clone() }, nests)?;
        *work += 1;
        if *work > ENTRY_LIMIT {
            return Err(Error::undecided(QUESTION, ENTRY_LIMIT));
        }
        if !next_index(&mut index, &lengths) {
            return Ok(());
        }
    }
}

fn by_index(plan: &Relayout, width: u64, nests: &mut Vec<Nest>) -> Result<(), Error> {
    let (source, destination): (&IndexMap, &IndexMap) = (plan.source(), plan.destination());
    if source.element_count() > ENTRY_LIMIT {
        return Err(Error::undecided(QUESTION, ENTRY_LIMIT));
    }
    let sizes = source.sizes();
    let mut index = vec![0; sizes.len()];
    loop {
        let mut mirrored = index.clone();
        for &axis in plan.reversed_axes() {
            if let (Some(slot), Some(size)) = (mirrored.get_mut(axis), sizes.get(axis)) {
                *slot = size - 1 - *slot;
            }
        }
        let (from, to) =
            (mul(source.offset(&mirrored)?, width, BYTES)?, mul(destination.offset(&index)?, width, BYTES)?);
        push(Nest::new(from, to, vec![Loop::of(width, 1, 1)]), nests)?;
        if !next_index(&mut index, sizes) {
            return Ok(());
        }
    }
}
