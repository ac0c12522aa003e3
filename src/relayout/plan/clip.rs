//! A box clipped to a range of the destination.
//!
//! The loops of most boxes nest on the destination: one iteration ends before the next begins. The iterations that land in a
//! range are then a run of whole iterations of the outermost loop, and at either end one that is clipped further
//! inside. Loops that do not nest are clipped as exactly, only into more boxes.

use std::cmp::Reverse;
use std::ops::Range;

use crate::map::{CopyBox, Loop, Loops};

/// Boxes that together hold just those elements of `copy` that land in `range` (elements of the destination), counted from
/// its start. `None` if they would be more than `most`.
pub(crate) fn clipped(copy: &CopyBox, range: &Range<u64>, most: usize) -> Option<Vec<CopyBox>> {
    let mut loops = copy.loops.clone();
    loops.sort_by_key(|step| Reverse(mean_stride(step)));
    let mut clip = Clip { range, most, boxes: Vec::new() };
    clip.descend(copy.source, copy.destination, &loops)?;
    Some(clip.boxes)
}

struct Clip<'a> {
    range: &'a Range<u64>,
    most: usize,
    boxes: Vec<CopyBox>,
}

// Nothing below saturates: every sum is the offset of an element, or one past it.
impl Clip<'_> {
    fn descend(&mut self, source: u64, destination: u64, loops: &[Loop]) -> Option<()> {
        match self.relation(destination, last_offset(loops)) {
            Relation::Outside => return Some(()),
            Relation::Inside => return self.push(source, destination, Loops::from(loops)),
            Relation::Straddles => {}
        }
        // A single element never straddles a bound.
        let (first, rest) = loops.split_first()?;
        match first {
            Loop::Strided { extent, source: from, destination: to }
            | Loop::Reversed { extent, source: from, destination: to } => {
                let backwards = matches!(first, Loop::Reversed { .. });
                let last = last_offset(rest);
                // How many iterations begin, or end, in front of a bound of the range.
                let before = |bound: u64, last: u64| {
                    let distance = bound.saturating_sub(destination.saturating_add(last));
                    distance.div_ceil((*to).max(1)).min(*extent)
                };
                let touching = before(self.range.start, last)..before(self.range.end, 0);
                let whole = before(self.range.start, 0)..before(self.range.end, last);
                let at = |i: u64| {
                    let moved = i.saturating_mul(*from);
                    let source = if backwards { source.saturating_sub(moved) } else { source.saturating_add(moved) };
                    (source, destination.saturating_add(i.saturating_mul(*to)))
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
                    let extent = whole.end.saturating_sub(whole.start);
                    if extent > 1 {
                        let (source, destination) = (*from, *to);
                        loops.push(if backwards {
                            Loop::Reversed { extent, source, destination }
                        } else {
                            Loop::Strided { extent, source, destination }
                        });
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
                let last = last_offset(rest);
                let mut whole = Vec::new();
                for &(from, to) in entries {
                    match self.relation(destination.saturating_add(to), last) {
                        Relation::Outside => {}
                        Relation::Inside => whole.push((from, to)),
                        Relation::Straddles => {
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
        if self.boxes.len() >= self.most {
            return None;
        }
        let destination = destination.saturating_sub(self.range.start);
        self.boxes.push(CopyBox { source, destination, loops }.in_order());
        Some(())
    }

    /// How elements from offset `first` to `first + last` lie to the range.
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

/// How elements lie to a range.
enum Relation {
    Outside,
    Inside,
    Straddles,
}

/// The stride of a loop on the destination; of a table, the mean one. In elements.
fn mean_stride(step: &Loop) -> u64 {
    match step {
        Loop::Strided { destination, .. } | Loop::Reversed { destination, .. } => *destination,
        Loop::Table(entries) => {
            let gaps = u64::try_from(entries.len()).unwrap_or(u64::MAX).saturating_sub(1).max(1);
            last_offset(std::slice::from_ref(step)).div_euclid(gaps)
        }
    }
}

/// The largest offset of some loops on the destination, in elements.
fn last_offset(loops: &[Loop]) -> u64 {
    let each = loops.iter().map(|step| match step {
        Loop::Strided { extent, destination, .. } | Loop::Reversed { extent, destination, .. } => {
            extent.saturating_sub(1).saturating_mul(*destination)
        }
        Loop::Table(entries) => entries.iter().map(|&(_, to)| to).max().unwrap_or(0),
    });
    each.fold(0, u64::saturating_add)
}
