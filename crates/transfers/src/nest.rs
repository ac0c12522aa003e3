//! `Nest`: a loop nest in bytes, whose innermost loop is the contiguous run. Nests that continue each other
//! become one nest.
//!
//! The copy planner gives the ragged edge of a tile a nest of its own, and a table one nest for each entry.
//! `B` *continues* `A` along a loop if it begins where the next step of the loop would, and has the same
//! other loops. Two equal nests at a distance become a loop of two steps, which a third one continues.

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

/// Joins the last nest of a list with the one before it, as often as possible.
pub(crate) fn join_last(nests: &mut Vec<Nest>) {
    while let [.., first, second] = nests.as_slice() {
        let Some(joined) = continued(first, second).or_else(|| repeated(first, second)) else { return };
        nests.truncate(nests.len() - 2);
        nests.push(joined);
    }
}

/// Returns `first` and `second` as one nest, if the second continues the first along one of its loops.
fn continued(first: &Nest, second: &Nest) -> Option<Nest> {
    let distance = distance(first, second);
    let (place, along) = first.loops.iter().enumerate().find(|(_, step)| step.whole() == distance)?;
    let mut loops = second.loops.clone();
    let more = match loops.iter().position(|step| step.strides() == along.strides()) {
        Some(place) => loops.remove(place).count,
        None => 1,
    };
    let others = first.loops.iter().enumerate().filter(|&(other, _)| other != place).map(|(_, step)| step);
    if !others.eq(&loops) {
        return None;
    }
    loops.push(Loop { count: along.count + more, ..*along });
    Some(Nest::new(first.source, first.destination, loops))
}

/// Returns two equal nests as one nest with a loop of two steps.
fn repeated(first: &Nest, second: &Nest) -> Option<Nest> {
    let distance = distance(first, second);
    if first.loops != second.loops || distance.1 <= 0 {
        return None;
    }
    let mut loops = first.loops.clone();
    loops.push(Loop::of(2, distance.0, distance.1));
    Some(Nest::new(first.source, first.destination, loops))
}

fn distance(first: &Nest, second: &Nest) -> (i64, i64) {
    let between = |from: u64, to: u64| to.wrapping_sub(from).cast_signed();
    (between(first.source, second.source), between(first.destination, second.destination))
}
