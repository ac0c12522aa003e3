//! Clips boxes: makes boxes of those elements that are in a range of the destination.
//!
//! The loops of most boxes nest on the destination: an iteration of a loop ends before its next iteration
//! begins. Then the iterations in a range are a run of whole iterations of the outermost loop, and, at either
//! end, one iteration of which the inner loops are clipped. Loops that do not nest are clipped as exactly,
//! but into more boxes.

use std::cmp::Reverse;
use std::ops::Range;

use smallvec::SmallVec;

use crate::map::{CopyBox, Loop, Loops, Stride};
use crate::short_sort::sort_by_key;

use super::cost::{MOST_CLIP_STEPS, MOST_CLIPPED, MOST_ENTRIES};

/// A box that is prepared for clipping: its loops are sorted by falling destination stride.
#[derive(Debug)]
pub(crate) struct Spanned {
    source: u64,
    destination: u64,
    loops: Loops,
    /// For each loop, the largest destination offset that this loop and the loops after it reach together.
    lasts: SmallVec<[u64; 5]>,
}

impl Spanned {
    pub(crate) fn new(copy: &CopyBox) -> Spanned {
        let mut loops = copy.loops.clone();
        sort_by_key(&mut loops, |step| Reverse(mean_stride(step)));
        let mut lasts: SmallVec<[u64; 5]> = SmallVec::from_elem(0, loops.len().saturating_add(1));
        let mut last = 0_u64;
        for (step, slot) in loops.iter().zip(&mut lasts).rev() {
            last = last.saturating_add(largest(step));
            *slot = last;
        }
        Spanned { source: copy.source, destination: copy.destination, loops, lasts }
    }
}

/// How many boxes and entries clipping may still make, and how many it may still visit. When one of these
/// numbers is used up, clipping returns `None`.
#[derive(Debug)]
pub(crate) struct Room {
    /// How many more boxes there may be.
    boxes: usize,
    /// How many more entries the tables of clipped boxes may have. A strided loop counts as two entries.
    entries: u64,
    /// How many more loops and entries may be visited.
    steps: u64,
}

impl Room {
    pub(crate) fn new() -> Room {
        Room { boxes: MOST_CLIPPED, entries: MOST_ENTRIES, steps: MOST_CLIP_STEPS }
    }

    fn step(&mut self, steps: usize) -> Option<()> {
        self.steps = self.steps.checked_sub(u64::try_from(steps).unwrap_or(u64::MAX))?;
        Some(())
    }
}

/// Boxes that together hold exactly the elements of `boxes` in `range` (elements of the destination).
/// Destination offsets of the result count from the start of the range. `None` if `room` allows fewer boxes.
pub(crate) fn clipped(boxes: &[Spanned], range: &Range<u64>, room: &mut Room) -> Option<Vec<CopyBox>> {
    let mut clip = Clip { range, room, boxes: Vec::new() };
    for copy in boxes {
        if let Relation::Outside = clip.relation(copy.destination, copy.lasts.first().copied().unwrap_or(0)) {
            continue;
        }
        clip.descend(copy.source, copy.destination, &copy.loops, &copy.lasts)?;
    }
    Some(clip.boxes)
}

struct Clip<'a> {
    range: &'a Range<u64>,
    room: &'a mut Room,
    boxes: Vec<CopyBox>,
}

// Nothing below saturates: every sum is the offset of an element, or the offset after it.
impl Clip<'_> {
    fn descend(&mut self, source: u64, destination: u64, loops: &[Loop], lasts: &[u64]) -> Option<()> {
        self.room.step(1)?;
        match self.relation(destination, lasts.first().copied().unwrap_or(0)) {
            Relation::Outside => return Some(()),
            Relation::Inside => return self.push(source, destination, Loops::from(loops)),
            Relation::Straddles => {}
        }
        // The box is on both sides of an end of the range, so it has several elements, and at least one loop.
        let ((first, rest), (_, lasts)) = (loops.split_first()?, lasts.split_first()?);
        let last = lasts.first().copied().unwrap_or(0);
        if let Loop::Table(entries) = first {
            return self.descend_table(entries, (source, destination), rest, lasts);
        }
        let stride = first.stride()?;
        // How many iterations come before `bound`, an end of the range, with the element that is `last` after
        // the first element of the iteration.
        let before = |bound: u64, last: u64| {
            let distance = bound.saturating_sub(destination.saturating_add(last));
            distance.div_ceil(stride.destination.max(1)).min(stride.extent)
        };
        let touching = before(self.range.start, last)..before(self.range.end, 0);
        let whole = before(self.range.start, 0)..before(self.range.end, last);
        let at = |i: u64| stride.at(i, (source, destination));
        let (left, right) = if whole.is_empty() {
            (touching.clone(), touching.end..touching.end)
        } else {
            (touching.start..whole.start, whole.end..touching.end)
        };
        for (source, destination) in left.map(at) {
            self.descend(source, destination, rest, lasts)?;
        }
        if !whole.is_empty() {
            let extent = whole.end.saturating_sub(whole.start);
            let some = (extent > 1).then_some(Loop::Strided(Stride { extent, ..stride }));
            let (source, destination) = at(whole.start);
            self.push(source, destination, some.into_iter().chain(rest.iter().cloned()).collect())?;
        }
        for (source, destination) in right.map(at) {
            self.descend(source, destination, rest, lasts)?;
        }
        Some(())
    }

    fn descend_table(
        &mut self,
        entries: &[(u64, u64)],
        (source, destination): (u64, u64),
        rest: &[Loop],
        lasts: &[u64],
    ) -> Option<()> {
        let last = lasts.first().copied().unwrap_or(0);
        self.room.step(entries.len())?;
        let mut whole = Vec::new();
        for &(from, to) in entries {
            match self.relation(destination.saturating_add(to), last) {
                Relation::Outside => {}
                Relation::Inside => whole.push((from, to)),
                Relation::Straddles => {
                    self.descend(source.saturating_add(from), destination.saturating_add(to), rest, lasts)?;
                }
            }
        }
        match whole.as_slice() {
            [] => Some(()),
            [(from, to)] => self.push(source.saturating_add(*from), destination.saturating_add(*to), Loops::from(rest)),
            _ => {
                // The start of the box must be inside the range, so it moves to the lowest offset of the
                // table.
                let least = whole.iter().map(|&(_, to)| to).min().unwrap_or(0);
                whole.iter_mut().for_each(|(_, to)| *to = to.saturating_sub(least));
                let mut loops = Loops::from(rest);
                loops.push(Loop::Table(whole));
                self.push(source, destination.saturating_add(least), loops)
            }
        }
    }

    fn push(&mut self, source: u64, destination: u64, loops: Loops) -> Option<()> {
        self.room.boxes = self.room.boxes.checked_sub(1)?;
        for step in &loops {
            let entries = step.stride().map_or(step.extent(), |_| 2);
            self.room.entries = self.room.entries.checked_sub(entries)?;
        }
        let destination = destination.saturating_sub(self.range.start);
        self.boxes.push(CopyBox { source, destination, loops }.in_order());
        Some(())
    }

    /// Whether elements from offset `first` to `first + last` are all inside the range, all outside, or
    /// mixed.
    fn relation(&self, first: u64, last: u64) -> Relation {
        let last = first.saturating_add(last);
        if last < self.range.start || first >= self.range.end {
            Relation::Outside
        } else if first >= self.range.start && last < self.range.end {
            Relation::Inside
        } else {
            Relation::Straddles
        }
    }
}

enum Relation {
    Outside,
    Inside,
    Straddles,
}

/// The stride of a loop on the destination, in elements. For a table, this is the mean stride.
fn mean_stride(step: &Loop) -> u64 {
    match step {
        Loop::Strided(stride) => stride.destination,
        Loop::Table(entries) => {
            let gaps = u64::try_from(entries.len()).unwrap_or(u64::MAX).saturating_sub(1).max(1);
            largest(step).div_euclid(gaps)
        }
    }
}

/// The largest offset of a loop on the destination, in elements.
fn largest(step: &Loop) -> u64 {
    match step {
        Loop::Strided(stride) => stride.at(stride.extent.saturating_sub(1), (0, 0)).1,
        Loop::Table(entries) => entries.iter().map(|&(_, to)| to).max().unwrap_or(0),
    }
}
