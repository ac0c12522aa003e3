//! Boxes that are copied together: whole tiles, and the ragged tiles at the end of the same rows.
//!
//! If all whole tiles were copied before the ragged tiles, the ragged tiles would load and store lines again
//! that were in the cache with the whole tiles. So both boxes are copied part by part. A part is some
//! iterations of the outermost loops, which both boxes have.

use std::cmp::Reverse;

use strided_copy::Copy;

use crate::error::Error;
use crate::map::{CopyBox, Loop, Loops};
use crate::short_sort::sort_by_key;

use super::step::StepBox;

/// The length of a part, in elements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts {
    /// The most elements that the largest box copies in a part.
    pub(crate) most: u64,
    /// The least distance between the starts of two parts, in elements, on either side.
    pub(crate) apart: u64,
}

/// The outermost loops that several boxes have in common.
struct Cut {
    outer: Loops,
    last: Loop,
    /// The last of these loops: its extent, its strides on either side, and the number of iterations of a
    /// part.
    extent: u64,
    source: u64,
    destination: u64,
    part: u64,
}

// No saturating operation below saturates, because every number is an offset or a stride of elements that are
// in a buffer.
impl Cut {
    /// Returns the outermost loops of the source, if they go forwards and parts are far enough apart.
    fn new(copy: &CopyBox, parts: Parts) -> Option<Cut> {
        let mut loops = copy.loops.clone();
        sort_by_key(&mut loops, |step| match step {
            Loop::Strided { source, .. } | Loop::Reversed { source, .. } => Reverse(*source),
            Loop::Table(_) => Reverse(u64::MAX),
        });
        let (mut outer, mut inside) = (Loops::new(), copy.elements());
        for last in loops {
            let Loop::Strided { extent, source, destination } = last else { return None };
            inside = inside.checked_div(extent)?;
            let part = parts.most.checked_div(inside)?.max(1);
            if source.min(destination).saturating_mul(part) < parts.apart.max(1) {
                return None;
            }
            if inside <= parts.most {
                return (part < extent).then_some(Cut { outer, last, extent, source, destination, part });
            }
            outer.push(last);
        }
        None
    }

    fn loops(&self) -> impl Iterator<Item = &Loop> {
        self.outer.iter().chain([&self.last])
    }

    /// Whether `other` has these loops as well, and begins inside the first part of `first` on the source or
    /// on the destination.
    fn fits(&self, first: &CopyBox, other: &CopyBox) -> bool {
        let near = |a: u64, b: u64, stride: u64| a.abs_diff(b) < stride.saturating_mul(self.part);
        (near(first.source, other.source, self.source) || near(first.destination, other.destination, self.destination))
            && self.loops().all(|own| other.loops.contains(own))
    }

    /// Returns a box without these loops, except for `extent` iterations of the last loop from iteration
    /// `first` on.
    fn inside(&self, copy: &CopyBox, first: u64, extent: u64) -> CopyBox {
        let mut copy = copy.clone();
        copy.loops.retain(|step| !self.loops().any(|own| own == step));
        if extent > 1 {
            copy.loops.push(Loop::Strided { extent, source: self.source, destination: self.destination });
        }
        copy.source = copy.source.saturating_add(first.saturating_mul(self.source));
        copy.destination = copy.destination.saturating_add(first.saturating_mul(self.destination));
        copy.in_order()
    }

    /// Plans boxes with elements of `bytes` bytes, part by part. Iterations of the last loop that do not fill
    /// a part are planned as a part of their own.
    fn together(&self, boxes: &[CopyBox], bytes: u64, plan: Plan<'_>, groups: &mut Vec<StepBox>) -> Result<(), Error> {
        let parts = self.extent.checked_div(self.part).unwrap_or(0);
        let first = parts.saturating_mul(self.part);
        let copies = |first: u64, extent: u64| -> Result<Vec<Copy>, Error> {
            boxes.iter().map(|copy| plan(self.inside(copy, first, extent))).collect()
        };
        let scaled = |factor: u64| move |(a, b): (u64, u64)| Some((a.saturating_mul(factor), b.saturating_mul(factor)));
        let outer = || self.outer.iter().filter_map(|step| step.with_sides(scaled(bytes)));
        let last = Loop::Strided { extent: parts, source: self.source, destination: self.destination };
        let last = last.with_sides(scaled(self.part.saturating_mul(bytes)));
        let loops = outer().chain(last).collect();
        groups.push(StepBox::of_copies(loops, copies(0, self.part)?));
        let rest = self.extent.saturating_sub(first);
        if rest > 0 {
            groups.push(StepBox::of_copies(outer().collect(), copies(first, rest)?));
        }
        Ok(())
    }
}

/// A function that plans a box of whole bytes.
type Plan<'a> = &'a dyn Fn(CopyBox) -> Result<Copy, Error>;

/// Groups boxes with elements of `bytes` bytes. Each group is the largest remaining box and the boxes that
/// fit it. The second result is the boxes that are in no group.
pub(crate) fn grouped(
    mut boxes: Vec<CopyBox>,
    bytes: u64,
    parts: Parts,
    plan: Plan<'_>,
) -> Result<(Vec<StepBox>, Vec<CopyBox>), Error> {
    boxes.sort_by_key(|copy| Reverse(copy.elements()));
    let (mut groups, mut alone) = (Vec::new(), Vec::new());
    while !boxes.is_empty() {
        let first = boxes.remove(0);
        if let Some(cut) = Cut::new(&first, parts) {
            let (mut group, others): (Vec<_>, _) = boxes.into_iter().partition(|other| cut.fits(&first, other));
            boxes = others;
            if !group.is_empty() {
                group.insert(0, first);
                cut.together(&group, bytes, plan, &mut groups)?;
                continue;
            }
        }
        alone.push(first);
    }
    Ok((groups, alone))
}
