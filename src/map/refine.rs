//! Refines two chains over the same numbers into loops, in which each step adds a constant stride on both
//! sides.
//!
//! The copy planner gets its loop nests from this module. Where the boundaries of both chains divide each
//! other, the largest boundary becomes a loop, and the digits below are refined inside it. The rest after the
//! last whole block becomes a segment of its own. Other boundaries clash (blocks of 48 against blocks of 32).
//! Clashing boundaries have a greatest common divisor g and a least common multiple L. Below g and above L,
//! both chains are strided. Between g and L, a table of L/g pairs of offsets replaces a loop.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "invariant 1: offsets stay below the physical sizes; divisors are not zero; what can pass 64 bits (the least common multiple) is checked"
)]

use crate::checked::{self, Proven, len_u64};
use crate::short_sort::sort_by_key;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Range;
use smallvec::{SmallVec, smallvec};

use super::digits::{Digit, below, evaluate};

/// The most entries of a table. A copy that needs a longer table goes through a packed buffer instead.
const MAX_TABLE: u64 = 1 << 16;

/// The most entries of all tables of a pair of layouts, where each segment counts as [`SEGMENT`] entries. A
/// pair that needs more goes through a packed buffer. If the digits do not divide each other, each digit
/// doubles the number of segments.
const MAX_REFINED: u64 = 1 << 20;

/// The number of table entries that a segment counts for in [`MAX_REFINED`].
const SEGMENT: u64 = 16;

/// One loop of a copy, which walks over the same indices on both sides.
///
/// ```
/// use tensor_layout::plan::{Loop, Stride};
///
/// // Three steps; the source is walked backwards.
/// let step = Loop::Strided(Stride { extent: 3, source: -1, destination: 4 });
/// assert_eq!((step.at(0, (10, 0)), step.at(2, (10, 0))), ((10, 0), (8, 8)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loop {
    /// The steps are a constant stride apart on either side.
    Strided(Stride),
    /// The offsets of each step in the source and in the destination, in elements.
    Table(Vec<(u64, u64)>),
}

/// A loop whose steps are a constant stride apart, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stride {
    /// The number of steps.
    pub extent: u64,
    /// The stride of the source. It is 0 if the source is repeated, and negative if the source is walked
    /// backwards.
    pub source: i64,
    /// The stride of the destination, which is never walked backwards.
    pub destination: u64,
}

impl Stride {
    pub(crate) fn ascends(&self) -> bool {
        self.source >= 0
    }

    /// Returns this loop and the loop outside it as one loop, if it goes on where this loop ends.
    pub(crate) fn joined(self, outer: Stride) -> Option<Stride> {
        let goes_on = i64::try_from(self.extent).ok()?.checked_mul(self.source) == Some(outer.source)
            && self.extent.checked_mul(self.destination) == Some(outer.destination);
        goes_on.then_some(Stride { extent: outer.extent * self.extent, ..self })
    }

    /// Where step `i` of the loop is, if the loop begins at these offsets. Nothing saturates for the offsets
    /// of elements.
    #[must_use]
    pub fn at(&self, i: u64, (source, destination): (u64, u64)) -> (u64, u64) {
        let moved = i.saturating_mul(self.source.unsigned_abs());
        let source = if self.ascends() { source.saturating_add(moved) } else { source.saturating_sub(moved) };
        (source, destination.saturating_add(i.saturating_mul(self.destination)))
    }
}

impl Loop {
    /// Returns a strided loop that walks both sides forwards. `None` if a stride has more than 63 bits.
    pub(crate) fn strided(extent: u64, source: u64, destination: u64) -> Option<Loop> {
        Some(Loop::Strided(Stride { extent, source: i64::try_from(source).ok()?, destination }))
    }

    /// Returns a contiguous run of the destination. It is contiguous on the source too if `source` is 1.
    pub(crate) fn run(extent: u64, source: i64) -> Loop {
        Loop::Strided(Stride { extent, source, destination: 1 })
    }

    /// The strided loop; `None` for a table.
    #[must_use]
    pub fn stride(&self) -> Option<Stride> {
        match self {
            Loop::Strided(stride) => Some(*stride),
            Loop::Table(_) => None,
        }
    }

    /// Returns this loop with other strides, or with other offsets in its table. `other` gets them without a
    /// sign, and the sign is put back. `None` if `other` returns `None`.
    pub(crate) fn with_sides(&self, other: impl Fn((u64, u64)) -> Option<(u64, u64)>) -> Option<Loop> {
        match *self {
            Loop::Strided(Stride { extent, source, destination }) => {
                let (moved, destination) = other((source.unsigned_abs(), destination))?;
                let source = i64::try_from(moved).ok()? * source.signum();
                Some(Loop::Strided(Stride { extent, source, destination }))
            }
            Loop::Table(ref entries) => {
                entries.iter().map(|&entry| other(entry)).collect::<Option<_>>().map(Loop::Table)
            }
        }
    }

    pub(crate) fn is_packed(&self) -> bool {
        matches!(self, Loop::Strided(Stride { source: 1, destination: 1, .. }))
    }

    /// The number of steps of the loop.
    #[must_use]
    pub fn extent(&self) -> u64 {
        match self {
            Loop::Strided(stride) => stride.extent,
            // A table has at most `MAX_TABLE` entries.
            Loop::Table(entries) => len_u64(entries.len()),
        }
    }

    /// Where step `i` of the loop is, source and destination, if the loop begins at these offsets. A table
    /// has no step after its last one.
    #[must_use]
    pub fn at(&self, i: u64, (source, destination): (u64, u64)) -> (u64, u64) {
        match self {
            Loop::Strided(stride) => stride.at(i, (source, destination)),
            Loop::Table(entries) => {
                let (a, b) = usize::try_from(i).ok().and_then(|i| entries.get(i)).copied().unwrap_or((0, 0));
                (source.saturating_add(a), destination.saturating_add(b))
            }
        }
    }
}

pub(crate) type Loops = SmallVec<[Loop; 4]>;

/// One loop nest of a copy: the two offsets where it begins, and its loops from outer to inner. Offsets and
/// strides are in elements.
///
/// [`CopyPass::boxes`](crate::plan::CopyPass::boxes) returns the boxes of a copy. All boxes of a pass
/// together copy each element once.
///
/// ```
/// use tensor_layout::{plan::{CopyBox, Loop, Stride}, relayout::Relayout, BufferTensorDesc, DataType};
///
/// // Rows of three, packed and then four apart.
/// let packed = BufferTensorDesc::packed(DataType::F32, &[2, 3])?;
/// let rows = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[4, 1]))?;
/// let plan = Relayout::new(&packed, &rows)?;
/// let pass = plan.passes().next().expect("one pass");
/// assert_eq!((pass.source_elements, pass.destination_elements, pass.box_count), (6, 7, 1));
/// let copied: CopyBox = pass.boxes().next().expect("one box");
/// assert_eq!((copied.source, copied.destination, copied.elements()), (0, 0, 6));
/// assert_eq!(copied.loops()[0], Loop::Strided(Stride { extent: 2, source: 3, destination: 4 }));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyBox {
    /// The offset where the first element is read, in elements from the start of the source.
    pub source: u64,
    /// The offset where the first element is written, in elements from the start of the destination.
    pub destination: u64,
    pub(crate) loops: Loops,
}

impl CopyBox {
    /// The loops from outer to inner. Loops over a table of offsets come first, then the other loops by
    /// descending stride of the destination. A box without loops copies one element.
    #[must_use]
    pub fn loops(&self) -> &[Loop] {
        &self.loops
    }

    /// The number of elements that the box copies.
    #[must_use]
    pub fn elements(&self) -> u64 {
        // The product fits 64 bits, because every iteration copies another element of one tensor.
        self.loops.iter().fold(1, |product: u64, step| product.times(step.extent()))
    }

    /// Returns the range of source offsets that the box reads, in elements. The range of a box without
    /// iterations is empty.
    pub(crate) fn source_span(&self) -> Range<u64> {
        let mut span = self.source..self.source + 1;
        for step in &self.loops {
            match step {
                Loop::Strided(Stride { extent: 0, .. }) => return self.source..self.source,
                Loop::Strided(stride) => {
                    let last = (stride.extent - 1) * stride.source.unsigned_abs();
                    if stride.ascends() { span.end += last } else { span.start -= last }
                }
                Loop::Table(entries) => {
                    let offsets = || entries.iter().map(|&(source, _)| source);
                    span.start += offsets().min().unwrap_or(0);
                    span.end += offsets().max().unwrap_or(0);
                }
            }
        }
        span
    }

    pub(super) fn at(source: u64, destination: u64) -> CopyBox {
        CopyBox { source, destination, loops: Loops::new() }
    }

    /// Adds loops, which begin at an offset from the start of this box.
    pub(super) fn add(&mut self, inside: &CopyBox) {
        self.source += inside.source;
        self.destination += inside.destination;
        self.loops.extend(inside.loops.iter().cloned());
    }

    pub(crate) fn in_order(mut self) -> CopyBox {
        simplify(&mut self.loops);
        self
    }
}

/// Puts tables first, then the strided loops by descending stride. A loop that continues the loop outside it
/// is merged into that loop.
pub(super) fn simplify(loops: &mut Loops) {
    sort_by_key(loops, |step| match step {
        Loop::Table(_) => (false, Reverse((0, 0))),
        Loop::Strided(stride) => (true, Reverse((stride.destination, stride.source.unsigned_abs()))),
    });
    loops.dedup_by(|step, outside| match (step, outside) {
        (Loop::Strided(inner), Loop::Strided(outer)) => match inner.joined(*outer) {
            Some(both) => {
                *outer = both;
                true
            }
            None => false,
        },
        _ => false,
    });
}

/// The segments of numbers that no single loop nest describes, with a limit of their total cost.
#[derive(Default)]
pub(super) struct Segments {
    list: Vec<CopyBox>,
    /// The number of table entries that were added.
    entries: u64,
}

impl Segments {
    /// Refines a part, and adds its segments: at least one. What is outside of a segment is carried down to
    /// it, and copied once for each.
    pub(super) fn add(&mut self, part: Part<'_>) -> Option<()> {
        let Part { extent, source, destination, mut outside } = part;
        let Some(parts) = refine(extent, source, destination, &mut outside)? else {
            let tables = outside.loops.iter().filter(|step| matches!(step, Loop::Table(_)));
            self.entries += tables.fold(SEGMENT, |sum, table| sum.plus(table.extent()));
            self.list.push(outside);
            return (self.entries <= MAX_REFINED).then_some(());
        };
        parts.into_iter().try_for_each(|part| self.add(part.inside(&outside)))
    }

    pub(super) fn taken(&mut self) -> Option<Vec<CopyBox>> {
        (!self.list.is_empty()).then(|| core::mem::take(&mut self.list))
    }
}

/// Numbers that are walked by themselves: `0..extent`, inside the loops of `outside`.
pub(super) struct Part<'a> {
    pub(super) extent: u64,
    pub(super) source: &'a [Digit],
    pub(super) destination: &'a [Digit],
    pub(super) outside: CopyBox,
}

/// The parts of a cut block are two, and need no allocation.
type Parts<'a> = SmallVec<[Part<'a>; 2]>;

impl Part<'_> {
    fn inside(self, outside: &CopyBox) -> Self {
        let mut both = outside.clone();
        both.add(&self.outside);
        Part { outside: both, ..self }
    }
}

/// Refines the digits of two chains on `0..extent`. The loops that all numbers share are added to `common`.
/// Returns the parts inside these loops, or `Some(None)` if the loops visit every number.
///
/// Returns `None` if a table would have more than [`MAX_TABLE`] entries, or if a stride has 64 bits.
pub(super) fn refine<'a>(
    mut extent: u64,
    mut source: &'a [Digit],
    mut destination: &'a [Digit],
    common: &mut CopyBox,
) -> Option<Option<Parts<'a>>> {
    loop {
        (source, destination) = (below(source, extent), below(destination, extent));
        // No digits are left only if the extent is 1.
        let (Some(first), Some(second)) = (source.first(), destination.first()) else { return Some(None) };
        let boundary = first.divisor.get().max(second.divisor.get());
        if boundary == 1 {
            // Only the digits with divisor 1 are left in both chains, so one loop walks the extent.
            common.loops.push(Loop::strided(extent, first.stride, second.stride)?);
            return Some(None);
        }
        if !boundary.is_multiple_of(first.divisor.get()) || !boundary.is_multiple_of(second.divisor.get()) {
            return clash(extent, source, destination).map(Some);
        }
        let step = (first.stride * (boundary / first.divisor.get()), second.stride * (boundary / second.divisor.get()));
        let (whole, rest) = (extent / boundary, extent % boundary);
        let blocks = if whole > 1 { Some(Loop::strided(whole, step.0, step.1)?) } else { None };
        if rest > 0 {
            // The last block is cut, so its rest is a part of its own.
            let blocks = CopyBox { loops: blocks.into_iter().collect(), ..CopyBox::at(0, 0) };
            let cut = CopyBox::at(whole * step.0, whole * step.1);
            let part = |extent, outside| Part { extent, source, destination, outside };
            return Some(Some(smallvec![part(boundary, blocks), part(rest, cut)]));
        }
        common.loops.extend(blocks);
        extent = boundary;
    }
}

fn clash<'a>(extent: u64, source: &'a [Digit], destination: &'a [Digit]) -> Option<Parts<'a>> {
    let (block, common_multiple) = clashing(source, destination);
    let inside = |extent, outside| Part {
        extent,
        source: below(source, block),
        destination: below(destination, block),
        outside,
    };
    // The table holds one period, and a loop repeats it. If the extent is at most one period, one table holds
    // all numbers.
    let period = common_multiple.unwrap_or(extent).min(extent);
    let (repeats, rest) = (extent / period, extent % period);
    let value = |number: u64| (evaluate(source, number), evaluate(destination, number));
    let at = |number: u64, loops: Loops| {
        let (source, destination) = value(number);
        CopyBox { source, destination, loops }
    };
    let mut parts = Parts::new();
    // Whole periods come first, then the rest. Each of the two consists of whole blocks and at most one
    // partial block.
    for (start, numbers, repeats) in [(0, period, repeats), (period * repeats, rest, 1)] {
        let (blocks, partial) = (numbers / block, numbers % block);
        if blocks > MAX_TABLE {
            return None;
        }
        let mut repeat = Loops::new();
        if repeats > 1 {
            let (source, destination) = value(period);
            repeat.push(Loop::strided(repeats, source, destination)?);
        }
        if blocks > 0 {
            let mut loops = repeat.clone();
            loops.push(Loop::Table((0..blocks).map(|place| value(place * block)).collect()));
            parts.push(inside(block, at(start, loops)));
        }
        if partial > 0 {
            parts.push(inside(partial, at(start + blocks * block, repeat)));
        }
    }
    Some(parts)
}

/// Returns the greatest common divisor and the least common multiple of the boundaries that clash, the top
/// boundaries first. The multiple is `None` if it does not fit 64 bits.
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
