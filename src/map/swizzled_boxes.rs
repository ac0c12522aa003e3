//! Divides the boxes of a pair of layouts further, where a side has a [swizzle](super::swizzle).
//!
//! The boxes of the pair without its swizzles are loop nests, and each loop adds a stride to an offset. Where
//! no sums carry, a loop of `1 << n` steps with a stride of `1 << b` counts through the bits `b..b + n` of
//! the offset, so it is `n` loops of two steps, one for each bit. A swizzle is then simple: if a bit is
//! flipped, its loop of two steps runs backwards.
//!
//! ```text
//! offset   a a a b b b c c c     a: rows, b: units of 16 bytes, c: bytes of a unit and more
//! swizzle        ^ ^ ^           each b is flipped by the a above it
//! boxes    0 0 0 + + + + + +     one box for each value of the three bits of a
//!          0 0 1 + + - + + +     + a loop that runs forwards, - a loop that runs backwards
//!          1 1 1 - - - + + +     neighbours that run alike are one loop again
//! ```
//!
//! So the loops of the bits that flip others are fixed, one box for each of their values. Three steps lead
//! there for each box:
//!
//! 1. A loop whose numbers, with the start of the box, are no aligned power of two is cut into pieces that
//!    are: the numbers 8 to 63 are 8 to 15, 16 to 31 and 32 to 63. Loops are cut from the smallest stride on,
//!    because the start of a piece may carry into the bits of the loops above it.
//! 2. Loops are cut into bits. Loops that add multiples of the swizzle's span, or that stay below its lowest
//!    bit, remain whole.
//! 3. Each value of the bits that flip others becomes a box.
//!
//! Strides that are no powers of two inside the span, and sums that carry, do not decompose. The pair is then
//! copied index by index.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "invariant 1: offsets stay below the physical sizes, which are below 2^63 where a box has strides; bits are below 62"
)]

use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::short_sort::sort_by_key;

use super::offset_box::OffsetBox;
use super::refine::{CopyBox, Loop, Loops, Stride};
use super::swizzle::Swizzle;

/// The most boxes of a pair with a swizzle. A pair that needs more is copied index by index.
const MAX_SWIZZLED: usize = 1 << 10;

/// A box whose loops have signed strides on two sides. The sides are source and destination. For a set of
/// offsets, the first side is all zeros.
#[derive(Debug, Clone)]
struct Nest {
    offsets: [i64; 2],
    loops: SmallVec<[Step; 8]>,
    /// The loops over tables, which the swizzle moves as a whole.
    tables: Loops,
}

#[derive(Debug, Clone, Copy)]
struct Step {
    extent: i64,
    strides: [i64; 2],
}

impl Step {
    fn last(self, side: usize) -> i64 {
        (self.extent - 1) * stride(self, side)
    }
}

fn stride(step: Step, side: usize) -> i64 {
    step.strides.get(side).copied().unwrap_or(0)
}

/// Returns the boxes of a pair whose source and destination have these swizzles, from the boxes of the pair
/// without them. `None` if a box does not decompose, or there would be too many.
pub(super) fn swizzled<'a>(
    boxes: impl Iterator<Item = Cow<'a, CopyBox>>,
    swizzles: [Option<&Swizzle>; 2],
) -> Option<Vec<CopyBox>> {
    let mut done = Vec::new();
    for copy in boxes {
        let mut nests = vec![Nest::of(&copy)?];
        for (side, swizzle) in swizzles.into_iter().enumerate() {
            let Some(swizzle) = swizzle else { continue };
            let mut moved = Vec::new();
            for nest in nests {
                nest.forwards(side).swizzle(&Side::new(swizzle, side)?, &mut moved)?;
            }
            nests = moved;
        }
        for nest in nests {
            done.push(nest.into_box()?);
        }
        if done.len() > MAX_SWIZZLED {
            return None;
        }
    }
    Some(done)
}

/// Returns the sets of offsets into which a swizzle moves a set of offsets. `None` if the set does not
/// decompose, or there would be too many.
pub(super) fn swizzled_offsets(offsets: &OffsetBox, swizzle: &Swizzle) -> Option<Vec<OffsetBox>> {
    let loops = offsets.loops().iter().map(|&(extent, stride)| {
        Some(Step { extent: i64::try_from(extent).ok()?, strides: [0, i64::try_from(stride).ok()?] })
    });
    let start = i64::try_from(offsets.base).ok()?;
    let nest = Nest { offsets: [0, start], loops: loops.collect::<Option<_>>()?, tables: Loops::new() };
    let mut moved = Vec::new();
    nest.swizzle(&Side::new(swizzle, 1)?, &mut moved)?;
    let offsets = moved.into_iter().map(|nest| {
        let copy = nest.into_box()?;
        let loops = copy.loops.iter().filter_map(Loop::stride).map(|step| (step.extent, step.destination));
        Some(OffsetBox { base: copy.destination, loops: loops.collect() })
    });
    offsets.collect()
}

/// A swizzle, with the side of the nests that it moves.
struct Side<'a> {
    swizzle: &'a Swizzle,
    side: usize,
    /// Offsets that are a multiple of the span apart are moved alike.
    span: i64,
    /// The value of the lowest bit that is flipped. The bits below it are neither flipped nor flip others.
    low: i64,
    /// The bits that are flipped or flip others.
    involved: i64,
}

impl<'a> Side<'a> {
    fn new(swizzle: &'a Swizzle, side: usize) -> Option<Side<'a>> {
        let involved = swizzle.flips().iter().fold(0, |bits, flip| bits | flip.by | flip.mask());
        let low = swizzle.flips().first()?.mask();
        let [span, low, involved] = [swizzle.span(), low, involved].map(|bits| i64::try_from(bits).ok());
        Some(Side { swizzle, side, span: span?, low: low?, involved: involved? })
    }

    fn stride(&self, step: Step) -> i64 {
        stride(step, self.side)
    }

    /// Whether the swizzle moves all iterations of a loop alike.
    fn moves_alike(&self, step: Step) -> bool {
        self.stride(step) % self.span == 0
    }
}

impl Nest {
    fn of(copy: &CopyBox) -> Option<Nest> {
        let offsets = [i64::try_from(copy.source).ok()?, i64::try_from(copy.destination).ok()?];
        let mut nest = Nest { offsets, loops: SmallVec::new(), tables: Loops::new() };
        for step in &copy.loops {
            match step.stride() {
                Some(Stride { extent, source, destination }) => {
                    let strides = [source, i64::try_from(destination).ok()?];
                    nest.loops.push(Step { extent: i64::try_from(extent).ok()?, strides });
                }
                None => nest.tables.push(step.clone()),
            }
        }
        Some(nest)
    }

    fn into_box(self) -> Option<CopyBox> {
        let nest = self.forwards(1);
        let [source, destination] = nest.offsets;
        let mut copy = CopyBox::at(u64::try_from(source).ok()?, u64::try_from(destination).ok()?);
        copy.loops = nest.tables;
        for Step { extent, strides: [source, destination] } in nest.loops {
            let [extent, destination] = [u64::try_from(extent).ok()?, u64::try_from(destination).ok()?];
            copy.loops.push(Loop::Strided(Stride { extent, source, destination }));
        }
        Some(copy.in_order())
    }

    /// Returns the same box with its loops walked forwards on a side.
    fn forwards(mut self, side: usize) -> Nest {
        for step in &mut self.loops {
            if stride(*step, side) < 0 {
                let last = [step.last(0), step.last(1)];
                self.offsets.iter_mut().zip(last).for_each(|(offset, last)| *offset += last);
                step.strides = step.strides.map(|stride| -stride);
            }
        }
        self
    }

    fn offset(&self, side: &Side) -> i64 {
        self.offsets.get(side.side).copied().unwrap_or(0)
    }

    /// Appends the boxes into which the swizzle moves this box.
    fn swizzle(mut self, side: &Side, moved: &mut Vec<Nest>) -> Option<()> {
        let tables = self.tables.iter().all(|table| match table {
            Loop::Table(entries) => entries.iter().all(|&(source, destination)| {
                let offset = if side.side == 0 { source } else { destination };
                offset.is_multiple_of(side.span.unsigned_abs())
            }),
            Loop::Strided(_) => false,
        });
        if !tables {
            return None;
        }
        sort_by_key(&mut self.loops, |&step| side.stride(step));
        // Loops that stay below the lowest bit together are not cut.
        let mut reach = self.offset(side) % side.low;
        let mut below = 0;
        for &step in &self.loops {
            if side.stride(step) >= side.low || reach + step.last(side.side) >= side.low {
                break;
            }
            reach += step.last(side.side);
            below += 1;
        }
        self.align(below, side, moved)
    }

    /// Cuts the loops from `place` on into pieces whose numbers are an aligned power of two, and then each
    /// piece into bits.
    fn align(self, place: usize, side: &Side, moved: &mut Vec<Nest>) -> Option<()> {
        let Some(&step) = self.loops.get(place) else { return self.flip(side, moved) };
        if side.moves_alike(step) {
            return self.align(place + 1, side, moved);
        }
        let stride = side.stride(step);
        if stride.count_ones() != 1 {
            return None;
        }
        // The numbers that the loop runs through, with the bits of the start above its stride.
        let most = side.span / stride;
        let first = self.offset(side) % side.span / stride;
        let (mut number, end) = (first, first + step.extent);
        while number < end {
            let aligned = if number == 0 { most } else { (number & -number).min(most) };
            let size =
                core::iter::successors(Some(aligned), |size| Some(size / 2)).find(|&size| number + size <= end)?;
            // Whole spans follow each other in a loop of their own.
            let count = if size == most { (end - number) / most } else { 1 };
            let mut piece = self.clone();
            let skipped = number - first;
            piece.offsets.iter_mut().zip(step.strides).for_each(|(offset, stride)| *offset += skipped * stride);
            let mut cut: SmallVec<[Step; 8]> = SmallVec::new();
            if count > 1 {
                cut.push(Step { extent: count, strides: step.strides.map(|stride| stride * size) });
            }
            let mut bit = 1;
            while bit < size {
                // Neighbouring bits that the swizzle does not name stay together.
                let is_idle = |bit: i64| (bit * stride) & side.involved == 0;
                let mut width = 2;
                while is_idle(bit) && bit * width < size && is_idle(bit * width) {
                    width *= 2;
                }
                cut.push(Step { extent: width, strides: step.strides.map(|stride| stride * bit) });
                bit *= width;
            }
            let next = place + cut.len();
            piece.loops.remove(place);
            piece.loops.insert_many(place, cut);
            piece.align(next, side, moved)?;
            if moved.len() > MAX_SWIZZLED {
                return None;
            }
            number += size * count;
        }
        Some(())
    }

    /// Appends a box for each value of the bits that flip others. Each loop counts through bits of its own.
    fn flip(self, side: &Side, moved: &mut Vec<Nest>) -> Option<()> {
        let start = self.offset(side);
        let (mut seen, mut reach) = (start & -side.low, start % side.low);
        let mut varying = 0;
        for &step in self.loops.iter().filter(|step| !side.moves_alike(**step)) {
            let (stride, bits) = (side.stride(step), step.last(side.side));
            if stride < side.low {
                reach += bits;
                continue;
            }
            // An aligned power of two of steps: the largest offset has all bits of the loop.
            if seen & bits != 0 {
                return None;
            }
            seen |= bits;
            varying |= stride;
        }
        if reach >= side.low {
            return None;
        }
        let flipping = side.swizzle.flips().iter().fold(0, |bits, flip| bits | flip.by);
        let flipping = varying & i64::try_from(flipping).ok()?;
        // The loop visits all subsets of the bits `flipping`, the smallest number first.
        let mut chosen = 0;
        while moved.len() <= MAX_SWIZZLED {
            moved.push(self.with_bits(flipping, chosen, side));
            chosen = (chosen - flipping) & flipping;
            if chosen == 0 {
                return Some(());
            }
        }
        None
    }

    /// Returns the part of this box in which the bits `fixed` of the offset have the values `chosen`, moved
    /// by the swizzle.
    fn with_bits(&self, fixed: i64, chosen: i64, side: &Side) -> Nest {
        let mut part = self.clone();
        let is_fixed = |step: &Step| step.extent == 2 && side.stride(*step) & fixed != 0;
        for step in self.loops.iter().filter(|step| is_fixed(step) && side.stride(**step) & chosen != 0) {
            part.offsets.iter_mut().zip(step.strides).for_each(|(offset, stride)| *offset += stride);
        }
        part.loops.retain(|step| !is_fixed(step));
        let before = part.offset(side);
        for flip in side.swizzle.flips().iter().filter(|flip| flip.flips(before.unsigned_abs())) {
            let mask = i64::try_from(flip.mask()).unwrap_or(0);
            let Some(offset) = part.offsets.get_mut(side.side) else { continue };
            let walked = part.loops.iter_mut().find(|step| step.extent == 2 && side.stride(**step) == mask);
            match walked {
                Some(step) => {
                    *offset += mask;
                    step.strides.get_mut(side.side).into_iter().for_each(|stride| *stride = -mask);
                }
                None => *offset ^= mask,
            }
        }
        part
    }
}
