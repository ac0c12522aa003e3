//! `Nest`: a loop nest in bytes, whose innermost loop is the contiguous run. Nests that continue each other
//! become one nest.
//!
//! The copy planner gives the ragged edge of a tile a nest of its own, and a table one nest for each entry.
//! `B` *continues* `A` along a loop if it begins where the next step of the loop would, and has the same
//! other loops. Two equal nests at a distance become a loop of two steps, which a third one continues.

use std::cmp::Reverse;

use tensor_layout::Error;
use tensor_layout::checked::{BYTES, Proven, add, mul};

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
pub const NEST_LIMIT: usize = 1 << 15;

/// Some bytes of a copy: the offsets where it begins, and its loops by descending stride of the destination.
///
/// The last loop is the run, with a stride of 1 on both sides. No loop but the run has a count of 1, and no
/// two loops form one loop on both sides.
///
/// [`check`](Self::check) holds for every nest of a list: each of its offsets fits 64 bits. So the arithmetic
/// on the offsets of its iterations is exact.
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

    /// The count times the stride on each side: where the loop would go on after its last step. `None` if it
    /// does not fit 64 bits.
    fn whole(&self) -> Option<(i64, i64)> {
        let count = i64::try_from(self.count).ok()?;
        Some((count.checked_mul(self.source_stride)?, count.checked_mul(self.destination_stride)?))
    }

    /// Returns the place of the loop that goes on where this one ends, and the count of both as one loop. The
    /// others are outside of this loop, by descending stride of the destination.
    fn outer(&self, others: &[Loop]) -> Option<(usize, u64)> {
        let end = self.whole()?;
        let first = others.partition_point(|step| step.destination_stride > end.1);
        let mut near = others.iter().enumerate().skip(first).take_while(|(_, step)| step.destination_stride == end.1);
        let (place, outer) = near.find(|(_, step)| step.strides() == end)?;
        Some((place, self.count.checked_mul(outer.count)?))
    }

    /// The distance from the first step to the last one.
    pub(crate) fn last(&self) -> (i128, i128) {
        let last = i128::from(self.count.saturating_sub(1));
        (last.times(self.source_stride.into()), last.times(self.destination_stride.into()))
    }

    pub(crate) fn strides(&self) -> (i64, i64) {
        (self.source_stride, self.destination_stride)
    }
}

impl Nest {
    /// Returns the nest with these bytes added to its offsets. Offsets count units, `byte` of them in a byte.
    pub(crate) fn moved(&self, at: [u64; 2], byte: u64) -> Result<Nest, Error> {
        let moved = |offset: u64, by: u64| add(offset, mul(by, byte, BYTES)?, BYTES);
        let (source, destination) = (moved(self.source, at[0])?, moved(self.destination, at[1])?);
        Ok(Nest { source, destination, loops: self.loops.clone() })
    }

    /// Returns the nest with its loops in order and merged.
    pub(crate) fn new(source: u64, destination: u64, mut loops: Vec<Loop>) -> Nest {
        // Where an element is one byte, another loop may have the stride of the run in the destination.
        loops.sort_unstable_by_key(|step| {
            (step.strides() == (1, 1), Reverse(step.destination_stride), Reverse(step.count))
        });
        let mut merged = Vec::with_capacity(loops.len());
        while let Some(mut inner) = loops.pop() {
            while let Some((place, count)) = inner.outer(&loops) {
                loops.remove(place);
                inner.count = count;
            }
            merged.push(inner);
        }
        merged.reverse();
        Nest { source, destination, loops: merged }
    }

    /// The length of the contiguous run.
    pub(crate) fn run(&self) -> u64 {
        self.loops.last().map_or(1, |run| run.count)
    }

    /// The loops around the run.
    pub(crate) fn outer(&self) -> &[Loop] {
        self.loops.split_last().map_or(&[], |(_, outer)| outer)
    }

    /// The ends of the last runs on both sides. `None` if an offset of a run is below 0, or does not fit 64
    /// bits.
    // Proved for every input (proofs/lemmas.py):
    // * nest_reach.inside: every run of an answer is at or above 0, and ends at or before the reach.
    // * nest_reach.reached: one run ends at the reach.
    // * nest_reach.error: without an answer, a run begins below 0 or ends after 64 bits.
    fn checked_reach(&self) -> Option<(u64, u64)> {
        let end = |start: u64, stride: fn(&Loop) -> i64| {
            let (mut least, mut most) = (start, start.checked_add(self.run())?);
            for step in self.outer() {
                let last = step.count.checked_sub(1)?.checked_mul(stride(step).unsigned_abs())?;
                if stride(step) < 0 {
                    least = least.checked_sub(last)?;
                } else {
                    most = most.checked_add(last)?;
                }
            }
            Some(most)
        };
        Some((end(self.source, |step| step.source_stride)?, end(self.destination, |step| step.destination_stride)?))
    }

    /// The ends of the last runs on both sides.
    pub(crate) fn reach(&self) -> (u64, u64) {
        self.checked_reach().unwrap_or_else(|| unreachable!("a list checks its nests"))
    }

    /// Returns the length of all runs together.
    ///
    /// # Errors
    ///
    /// `overflow` if that length or an offset of a run does not fit 64 bits, or an offset is below 0.
    pub(crate) fn check(&self) -> Result<u64, Error> {
        let bytes = || self.loops.iter().try_fold(1, |product: u64, step| product.checked_mul(step.count));
        self.checked_reach().and_then(|_| bytes()).ok_or_else(|| Error::overflow(BYTES, 64))
    }

    pub(crate) fn runs(&self) -> u64 {
        count(self.outer())
    }

    /// Converts offsets, strides and runs from units to bytes. `byte` is the number of units in a byte, and
    /// divides all of them.
    pub(crate) fn divide(&mut self, byte: u64) {
        (self.source, self.destination) = (self.source.divided_by(byte), self.destination.divided_by(byte));
        let signed = byte.cast_signed();
        let Some((run, outer)) = self.loops.split_last_mut() else { return };
        run.count = run.count.divided_by(byte);
        for step in outer {
            let strides = (step.source_stride.divided_by(signed), step.destination_stride.divided_by(signed));
            *step = Loop::of(step.count, strides.0, strides.1);
        }
    }
}

/// How often the body of some loops of a nest runs.
pub(crate) fn count(loops: &[Loop]) -> u64 {
    loops.iter().fold(1, |count, step| count.times(step.count))
}

/// Joins the last nest of a list with the one before it, as often as possible.
pub(crate) fn join_last(nests: &mut Vec<Nest>) {
    while let [.., first, second] = nests.as_slice() {
        let joined = continued(first, second).or_else(|| repeated(first, second));
        let Some(joined) = joined.filter(|joined| joined.check().is_ok()) else { return };
        nests.truncate(nests.len().saturating_sub(2));
        nests.push(joined);
    }
}

/// Returns `first` and `second` as one nest, if the second continues the first along one of its loops.
fn continued(first: &Nest, second: &Nest) -> Option<Nest> {
    let distance = distance(first, second)?;
    let (place, along) = first.loops.iter().enumerate().find(|(_, step)| step.whole() == Some(distance))?;
    let mut loops = second.loops.clone();
    let more = match loops.iter().position(|step| step.strides() == along.strides()) {
        Some(place) => loops.remove(place).count,
        None => 1,
    };
    let others = first.loops.iter().enumerate().filter(|&(other, _)| other != place).map(|(_, step)| step);
    if !others.eq(&loops) {
        return None;
    }
    loops.push(Loop { count: along.count.checked_add(more)?, ..*along });
    Some(Nest::new(first.source, first.destination, loops))
}

/// Returns two equal nests as one nest with a loop of two steps.
fn repeated(first: &Nest, second: &Nest) -> Option<Nest> {
    let distance = distance(first, second)?;
    if first.loops != second.loops || distance.1 <= 0 {
        return None;
    }
    let mut loops = first.loops.clone();
    loops.push(Loop::of(2, distance.0, distance.1));
    Some(Nest::new(first.source, first.destination, loops))
}

/// The distance between the first runs of two nests. `None` if it does not fit 64 bits.
fn distance(first: &Nest, second: &Nest) -> Option<(i64, i64)> {
    let between = |from: u64, to: u64| i64::try_from(i128::from(to).minus(from.into())).ok();
    Some((between(first.source, second.source)?, between(first.destination, second.destination)?))
}
