//! The ranks that hold a box, and the one among them that gives it next.
//!
//! Ranks that hold the same box stand in one heap, the one that has given the fewest elements first. The
//! boxes are sorted along the axis that cuts the tensor into the most pieces, so that a search looks at few
//! of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use tensor_layout::checked::Proven;

use super::shards::{Part, Rank};

/// The elements that a rank had given when it went into the heap, the rank, and the place of its box.
type Entry = Reverse<(u64, usize, usize)>;

/// A box, and the ranks that hold it.
#[derive(Debug)]
struct Group {
    whole: Vec<Range<u64>>,
    ranks: BinaryHeap<Entry>,
}

/// The boxes of the ranks that are read.
#[derive(Debug)]
pub(crate) struct Givers<'a> {
    ranks: &'a [Rank],
    /// The number of elements that each rank has given so far.
    given: Vec<u64>,
    /// The groups, sorted by where their boxes start along `axis`.
    groups: Vec<Group>,
    /// The largest end along `axis` of each group and the groups before it.
    ends: Vec<u64>,
    axis: usize,
}

impl<'a> Givers<'a> {
    pub(crate) fn of(ranks: &'a [Rank]) -> Givers<'a> {
        let mut boxes: BTreeMap<Vec<(u64, u64)>, Vec<Entry>> = BTreeMap::new();
        for (rank, own) in ranks.iter().enumerate() {
            for (place, part) in own.parts.iter().enumerate() {
                let whole = part.iter().map(|span| (span.whole.start, span.whole.end)).collect();
                boxes.entry(whole).or_default().push(Reverse((0, rank, place)));
            }
        }
        let axes = boxes.keys().next().map_or(0, Vec::len);
        let starts = |axis: usize| {
            let mut starts: Vec<u64> = boxes.keys().filter_map(|whole| whole.get(axis)).map(|range| range.0).collect();
            starts.sort_unstable();
            starts.dedup();
            starts.len()
        };
        let axis = (0..axes).max_by_key(|&axis| starts(axis)).unwrap_or(0);
        let mut groups: Vec<Group> = boxes
            .into_iter()
            .map(|(whole, ranks)| Group {
                whole: whole.into_iter().map(|(start, end)| start..end).collect(),
                ranks: ranks.into(),
            })
            .collect();
        groups.sort_by_key(|group| group.whole.get(axis).map(|range| range.start));
        let mut ends: Vec<u64> = Vec::with_capacity(groups.len());
        for group in &groups {
            let end = group.whole.get(axis).map_or(1, |range| range.end);
            ends.push(ends.last().copied().unwrap_or(0).max(end));
        }
        Givers { ranks, given: vec![0; ranks.len()], groups, ends, axis }
    }

    /// Returns a rank that gives some of a box, and its part. The elements that both have in common count as
    /// given. `None` if no rank holds any of them.
    pub(crate) fn next(&mut self, wanted: &[Range<u64>]) -> Option<(usize, &'a Part)> {
        // Only groups that overlap the first group found are compared. The rest of the box is asked for in
        // later calls.
        let one = self.overlapping(wanted).next()?;
        let shared = both(&self.groups.get(one)?.whole, wanted)?;
        let able: Vec<usize> = self.overlapping(&shared).collect();
        let (_, rank, place, group) = able
            .into_iter()
            .filter_map(|group| {
                let Reverse((given, rank, place)) = self.first(group)?;
                Some((given, rank, place, group))
            })
            .min()?;
        let part = self.ranks.get(rank)?.parts.get(place)?;
        let elements =
            common(part, wanted)?.iter().fold(1, |all: u64, range| all.saturating_mul(range.end.minus(range.start)));
        let given = self.given.get_mut(rank)?;
        *given = given.saturating_add(elements);
        let entry = Reverse((*given, rank, place));
        if let Some(mut first) = self.groups.get_mut(group)?.ranks.peek_mut() {
            *first = entry;
        }
        Some((rank, part))
    }

    /// The places of the groups that hold some of a box.
    fn overlapping(&self, wanted: &[Range<u64>]) -> impl Iterator<Item = usize> {
        let along = wanted.get(self.axis).cloned().unwrap_or(0..1);
        let behind =
            self.groups.partition_point(|group| group.whole.get(self.axis).is_none_or(|range| range.start < along.end));
        let reaches = move |&group: &usize| self.ends.get(group).is_some_and(|&end| end > along.start);
        let holds = |&group: &usize| self.groups.get(group).is_some_and(|group| both(&group.whole, wanted).is_some());
        (0..behind).rev().take_while(reaches).filter(holds)
    }

    /// The rank of a group that has given the fewest elements. A rank that has given elements of another box
    /// since it went into the heap goes back with its present number.
    fn first(&mut self, group: usize) -> Option<Entry> {
        loop {
            let mut first = self.groups.get_mut(group)?.ranks.peek_mut()?;
            let Reverse((given, rank, place)) = *first;
            let now = self.given.get(rank).copied()?;
            if now == given {
                return Some(*first);
            }
            *first = Reverse((now, rank, place));
        }
    }
}

/// Returns the box that two boxes have in common. `None` if they are apart.
fn both(a: &[Range<u64>], b: &[Range<u64>]) -> Option<Vec<Range<u64>>> {
    let ranges = a.iter().zip(b).map(|(a, b)| a.start.max(b.start)..a.end.min(b.end));
    ranges.map(|range| (range.start < range.end).then_some(range)).collect()
}

/// Returns the box that a part and a box have in common. `None` if they are apart.
pub(crate) fn common(part: &Part, wanted: &[Range<u64>]) -> Option<Vec<Range<u64>>> {
    both(&part.iter().map(|span| span.whole.clone()).collect::<Vec<_>>(), wanted)
}
