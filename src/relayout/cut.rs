//! The part of a box that lands in a range of the destination.
//!
//! The loops of most boxes nest on the destination: what lies inside one step of a loop ends before the next step begins. The
//! iterations that land in a range are then a run of whole steps of the outermost loop, and at either end one step that
//! is cut further inside. Loops that do not nest are cut as exactly, only into more parts.

use std::cmp::Reverse;
use std::ops::Range;

use crate::map::{CopyBox, Loop, Loops};

/// Parts of `copy` that together hold just those of its elements that land in `range` (elements of the
/// destination), counted from its start. `None` if they would be more than `most`.
pub(super) fn inside(copy: &CopyBox, range: &Range<u64>, most: usize) -> Option<Vec<CopyBox>> {
    let mut loops = copy.loops.clone();
    loops.sort_by_key(|step| Reverse(pace(step)));
    let mut cut = Cut { range, most, parts: Vec::new() };
    cut.descend(copy.source, copy.destination, &loops)?;
    Some(cut.parts)
}

struct Cut<'a> {
    range: &'a Range<u64>,
    most: usize,
    parts: Vec<CopyBox>,
}

// Nothing below saturates: every sum is the offset of an element, or one past it.
impl Cut<'_> {
    fn descend(&mut self, source: u64, destination: u64, loops: &[Loop]) -> Option<()> {
        match self.place(destination, reach(loops)) {
            Place::Outside => return Some(()),
            Place::Inside => return self.push(source, destination, Loops::from(loops)),
            Place::Across => {}
        }
        // A single element is never across.
        let (first, rest) = loops.split_first()?;
        match first {
            Loop::Strided { extent, source: from, destination: to } => {
                let behind = reach(rest);
                // Steps before these begin, or end, in front of the bounds of the range.
                let before = |bound: u64, behind: u64| {
                    let distance = bound.saturating_sub(destination.saturating_add(behind));
                    distance.div_ceil((*to).max(1)).min(*extent)
                };
                let touching = before(self.range.start, behind)..before(self.range.end, 0);
                let whole = before(self.range.start, 0)..before(self.range.end, behind);
                let at = |step: u64| {
                    (
                        source.saturating_add(step.saturating_mul(*from)),
                        destination.saturating_add(step.saturating_mul(*to)),
                    )
                };
                let (left, right) = if whole.is_empty() {
                    (touching.clone(), touching.end..touching.end)
                } else {
                    (touching.start..whole.start, whole.end..touching.end)
                };
                if left.end.saturating_sub(left.start) > u64::try_from(self.most).unwrap_or(u64::MAX) {
                    return None;
                }
                for (source, destination) in left.map(at) {
                    self.descend(source, destination, rest)?;
                }
                if !whole.is_empty() {
                    let mut loops = Loops::new();
                    let steps = whole.end.saturating_sub(whole.start);
                    if steps > 1 {
                        loops.push(Loop::Strided { extent: steps, source: *from, destination: *to });
                    }
                    loops.extend(rest.iter().cloned());
                    let (source, destination) = at(whole.start);
                    self.push(source, destination, loops)?;
                }
                for (source, destination) in right.map(at) {
                    self.descend(source, destination, rest)?;
                }
                Some(())
            }
            Loop::Table(entries) => {
                let behind = reach(rest);
                let mut whole = Vec::new();
                for &(from, to) in entries {
                    match self.place(destination.saturating_add(to), behind) {
                        Place::Outside => {}
                        Place::Inside => whole.push((from, to)),
                        Place::Across => {
                            self.descend(source.saturating_add(from), destination.saturating_add(to), rest)?;
                        }
                    }
                }
                match whole.as_slice() {
                    [] => Some(()),
                    [(from, to)] => {
                        self.push(source.saturating_add(*from), destination.saturating_add(*to), Loops::from(rest))
                    }
                    _ => {
                        // The box must begin inside the range even if the table did not.
                        let least = whole.iter().map(|&(_, to)| to).min().unwrap_or(0);
                        whole.iter_mut().for_each(|(_, to)| *to = to.saturating_sub(least));
                        let mut loops = Loops::from(rest);
                        loops.push(Loop::Table(whole));
                        self.push(source, destination.saturating_add(least), loops)
                    }
                }
            }
        }
    }

    fn push(&mut self, source: u64, destination: u64, loops: Loops) -> Option<()> {
        if self.parts.len() >= self.most {
            return None;
        }
        let destination = destination.saturating_sub(self.range.start);
        self.parts.push(CopyBox { source, destination, loops }.in_order());
        Some(())
    }

    fn place(&self, first: u64, behind: u64) -> Place {
        let last = first.saturating_add(behind);
        if last < self.range.start || first >= self.range.end {
            Place::Outside
        } else if first >= self.range.start && last < self.range.end {
            Place::Inside
        } else {
            Place::Across
        }
    }
}

/// Where the elements between two offsets lie: in the range, not in it, or on both sides of a bound.
enum Place {
    Outside,
    Inside,
    Across,
}

/// How far apart the steps of a loop are on the destination, in elements.
fn pace(step: &Loop) -> u64 {
    match step {
        Loop::Strided { destination, .. } => *destination,
        Loop::Table(entries) => {
            let gaps = u64::try_from(entries.len()).unwrap_or(u64::MAX).saturating_sub(1).max(1);
            reach(std::slice::from_ref(step)).div_euclid(gaps)
        }
    }
}

/// How far the last element of some loops lies behind the first place they start from, in elements.
fn reach(loops: &[Loop]) -> u64 {
    let each = loops.iter().map(|step| match step {
        Loop::Strided { extent, destination, .. } => extent.saturating_sub(1).saturating_mul(*destination),
        Loop::Table(entries) => entries.iter().map(|&(_, to)| to).max().unwrap_or(0),
    });
    each.fold(0, u64::saturating_add)
}
