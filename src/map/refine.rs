//! Two chains over the same numbers -> loops in which both only ever add a stride.
//!
//! The copy planner's loop nests come from here. Where the boundaries of both chains divide each other, the
//! largest one becomes a loop and the rest follows below it; what is left of the last block becomes a segment
//! of its own. Where they do not (blocks of 48 against blocks of 32) the clashing boundaries have a greatest
//! common divisor g and a least common multiple L: below g and above L both chains are strided, and in
//! between a table of L/g pairs of offsets takes the place of a loop.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "invariant 1: offsets stay below the physical sizes; divisors are not zero; what can pass 64 bits (the least common multiple) is checked"
)]

use crate::checked::{self, Exact, count};
use alloc::vec::Vec;
use smallvec::{SmallVec, smallvec};

use super::digits::{Chain, Digit, below, evaluate};

/// The most entries a table may have. A copy that needs more goes through a packed buffer instead,
/// where no table is needed.
const MAX_TABLE: u64 = 1 << 16;

/// The most entries that all tables of a pair of layouts may have, where each segment counts as [`SEGMENT`]
/// of them: chains of many digits that do not divide each other have twice as many segments with every digit.
pub(crate) const MAX_REFINED: u64 = 1 << 20;

/// How many entries of a table a segment costs.
const SEGMENT: u64 = 16;

/// One loop of a copy, over the same indices on both sides.
///
/// ```
/// use tensor_layout::{plan::Loop, relayout::Relayout, BufferTensorDesc};
///
/// let (from, to): (BufferTensorDesc, BufferTensorDesc) = ("f32[3,4]:[4,1]".parse()?, "f32[3,4]:[1,3]".parse()?);
/// let plan = Relayout::new(&from, &to)?;
/// let copied = plan.passes().next().and_then(|pass| pass.boxes().next()).expect("a box");
/// let extents: Vec<u64> = copied.loops().iter().map(Loop::extent).collect();
/// assert_eq!(extents.iter().product::<u64>(), 12);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loop {
    /// Steps of one stride on each side.
    Strided {
        /// How many steps.
        extent: u64,
        /// The stride on the source, in elements: 0 where it is repeated.
        source: u64,
        /// The stride on the destination, in elements.
        destination: u64,
    },
    /// Steps of one stride on each side, with a source that is walked backwards: each step reads in front of
    /// the step before.
    Reversed {
        /// How many steps.
        extent: u64,
        /// How far the source goes back with each, in elements: above 0.
        source: u64,
        /// The stride on the destination, in elements.
        destination: u64,
    },
    /// The offsets of each step, source and destination, in elements.
    Table(Vec<(u64, u64)>),
}

impl Loop {
    /// A loop with constant strides, whose source may be walked backwards.
    pub(crate) fn of_strides(extent: u64, source: u64, destination: u64, backwards: bool) -> Loop {
        match backwards {
            false => Loop::Strided { extent, source, destination },
            true => Loop::Reversed { extent, source, destination },
        }
    }

    /// The extent, the strides, and whether the source is walked backwards; `None` for a table.
    pub(crate) fn strides(&self) -> Option<(u64, u64, u64, bool)> {
        match *self {
            Loop::Strided { extent, source, destination } => Some((extent, source, destination, false)),
            Loop::Reversed { extent, source, destination } => Some((extent, source, destination, true)),
            Loop::Table(_) => None,
        }
    }

    /// Returns this loop with other strides, or with other offsets in its table; `None` if `other` returns
    /// `None` for one of them.
    pub(crate) fn with_sides(&self, other: impl Fn((u64, u64)) -> Option<(u64, u64)>) -> Option<Loop> {
        if let Loop::Table(entries) = self {
            return entries.iter().map(|&entry| other(entry)).collect::<Option<_>>().map(Loop::Table);
        }
        let (extent, source, destination, backwards) = self.strides()?;
        let (source, destination) = other((source, destination))?;
        Some(Loop::of_strides(extent, source, destination, backwards))
    }

    /// Are its elements one after the other on both sides?
    pub(crate) fn is_packed(&self) -> bool {
        matches!(self, Loop::Strided { source: 1, destination: 1, .. })
    }

    /// How many steps the loop takes.
    #[must_use]
    pub fn extent(&self) -> u64 {
        match self {
            Loop::Strided { extent, .. } | Loop::Reversed { extent, .. } => *extent,
            // At most MAX_TABLE.
            Loop::Table(entries) => count(entries.len()),
        }
    }
}

pub(crate) type Loops = SmallVec<[Loop; 4]>;

/// Some of the numbers: where they begin on both sides, and loops from major to minor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) source: u64,
    pub(crate) destination: u64,
    pub(crate) loops: Loops,
}

/// Segments, as many as there is room for.
#[derive(Debug, Clone)]
pub(crate) struct Segments {
    pub(crate) list: Vec<Segment>,
    /// How many entries of tables there may be yet.
    room: u64,
}

impl Segments {
    pub(super) fn with_capacity(number: usize) -> Segments {
        Segments { list: Vec::with_capacity(number), room: MAX_REFINED }
    }

    fn push(&mut self, segment: Segment) -> Option<()> {
        let tables = segment.loops.iter().filter(|step| matches!(step, Loop::Table(_)));
        let entries = tables.fold(SEGMENT, |sum, table| sum.plus(table.extent()));
        self.room = self.room.checked_sub(entries)?;
        self.list.push(segment);
        Some(())
    }
}

/// Appends segments that cover `0..extent` once; `None` if a table would have more than [`MAX_TABLE`]
/// entries, or all together more than [`MAX_REFINED`].
pub(super) fn refine(extent: u64, source: &Chain, destination: &Chain, segments: &mut Segments) -> Option<()> {
    let outside = Segment { source: 0, destination: 0, loops: smallvec![] };
    refine_inside(extent, source.digits(), destination.digits(), outside, segments)
}

/// Refines what is inside the loops of `outside`, and appends the segments.
fn refine_inside(
    extent: u64,
    source: &[Digit],
    destination: &[Digit],
    outside: Segment,
    segments: &mut Segments,
) -> Option<()> {
    let (source, destination) = (below(source, extent), below(destination, extent));
    let (Some(first), Some(second)) = (source.first(), destination.first()) else {
        // Both are empty for an extent of 0 or 1 only.
        return if extent > 0 { segments.push(outside) } else { Some(()) };
    };
    let boundary = first.divisor.get().max(second.divisor.get());
    if !boundary.is_multiple_of(first.divisor.get()) || !boundary.is_multiple_of(second.divisor.get()) {
        return clash(extent, source, destination, outside, segments);
    }
    let step = (first.stride * (boundary / first.divisor.get()), second.stride * (boundary / second.divisor.get()));
    let (whole, rest) = (extent / boundary, extent % boundary);
    // What is left of the last block, if it is cut: its loops are those outside.
    let last = (rest > 0).then(|| Segment {
        source: outside.source + whole * step.0,
        destination: outside.destination + whole * step.1,
        loops: outside.loops.clone(),
    });
    let mut inside = outside;
    if whole > 1 {
        inside.loops.push(Loop::Strided { extent: whole, source: step.0, destination: step.1 });
    }
    refine_inside(boundary, source, destination, inside, segments)?;
    last.map_or(Some(()), |last| refine_inside(rest, source, destination, last, segments))
}

/// The top boundaries do not divide each other.
fn clash(
    extent: u64,
    source: &[Digit],
    destination: &[Digit],
    outside: Segment,
    segments: &mut Segments,
) -> Option<()> {
    let (block, common_multiple) = clashing(source, destination);
    let (low_source, low_destination) = (below(source, block), below(destination, block));
    // One period of the table, repeated; or a single table where the period does not fit.
    let period = common_multiple.filter(|&period| period < extent).unwrap_or(extent);
    let (repeats, rest) = if period < extent { (extent / period, extent % period) } else { (1, 0) };
    let value = |number: u64| (evaluate(source, number), evaluate(destination, number));
    let at = |number: u64, loops: Loops| {
        let (source, destination) = value(number);
        Segment { source: outside.source + source, destination: outside.destination + destination, loops }
    };
    // Whole periods, then what is left; each is a number of whole blocks and perhaps a partial one.
    for (start, numbers, repeats) in [(0, period, repeats), (period * repeats, rest, 1)] {
        let (blocks, partial) = (numbers / block, numbers % block);
        if blocks > MAX_TABLE {
            return None;
        }
        let mut repeat = outside.loops.clone();
        if repeats > 1 {
            let (source, destination) = value(period);
            repeat.push(Loop::Strided { extent: repeats, source, destination });
        }
        if blocks > 0 {
            let mut loops = repeat.clone();
            loops.push(Loop::Table((0..blocks).map(|place| value(place * block)).collect()));
            refine_inside(block, low_source, low_destination, at(start, loops), segments)?;
        }
        if partial > 0 {
            let last = at(start + blocks * block, repeat);
            refine_inside(partial, low_source, low_destination, last, segments)?;
        }
    }
    Some(())
}

/// The greatest common divisor of the boundaries that clash with each other, from the top down, and the least
/// common multiple; `None` if that does not fit 64 bits.
fn clashing(source: &[Digit], destination: &[Digit]) -> (u64, Option<u64>) {
    let mut chains = [source, destination];
    let tops = source.first().into_iter().chain(destination.first());
    let top = tops.map(|digit| digit.divisor.get()).max().unwrap_or(1);
    let (mut divisor, mut multiple) = (top, Some(top));
    let mut changed = true;
    while changed {
        changed = false;
        for chain in &mut chains {
            while let Some((digit, rest)) = chain.split_first() {
                let boundary = digit.divisor.get();
                if boundary < divisor && divisor.is_multiple_of(boundary) {
                    break;
                }
                divisor = checked::gcd(divisor, boundary);
                multiple = multiple.and_then(|multiple| checked::lcm(multiple, boundary));
                *chain = rest;
                changed = true;
            }
        }
    }
    (divisor, multiple)
}
