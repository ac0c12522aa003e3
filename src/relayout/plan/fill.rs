//! The padding of a destination. Where padding is scattered between elements, it is not written in a second
//! sweep over the destination.

use std::ops::Range;

use smallvec::SmallVec;

use crate::checked::wide_product;
use crate::map::{CopyBox, IndexMap, Loop, Loops, OffsetBox, Stride};
use crate::strided::GapOwner;

use super::clip::{self, Room, Spanned};
use super::cost::{FILL_AROUND, LEAST_PADDING_RUN, MOST_PADDING_BOXES};

#[derive(Debug, Clone)]
pub(crate) enum Fill {
    /// Nothing is written: there is no padding, or it is kept.
    Nothing,
    /// The whole destination is filled before elements are copied over it. If it is large, it is filled piece
    /// by piece. This is for elements that share bytes with their neighbours, for padding in short runs
    /// everywhere or in very many boxes, and for copies of several passes, which copy the padding too.
    Whole { bits: u32, pattern: u128 },
    /// Boxes of padding are filled after the elements. If `first` is set, the boxes are filled before the
    /// elements, together with the gaps between short runs of padding, and elements are then copied over the
    /// gaps. If the destination is large, this is done piece by piece.
    Boxes { boxes: Vec<CopyBox>, bytes: usize, pattern: u128, first: bool },
}

impl Fill {
    /// Decides how `pattern` is written to the padding of a layout. `direct` is whether the copy takes one
    /// pass.
    pub(crate) fn new(map: &IndexMap, pattern: Option<u128>, direct: bool) -> Fill {
        let Some(pattern) = pattern.filter(|_| has_padding(map)) else { return Fill::Nothing };
        let bits = map.element_bits();
        let whole_bytes = bits.is_multiple_of(8).then(|| usize::try_from(bits / 8).ok()).flatten();
        if let Some(bytes) = whole_bytes.filter(|_| direct)
            && let Some(boxes) = map.padding_boxes(MOST_PADDING_BOXES)
        {
            if !has_short_runs(&boxes, bytes) {
                let boxes = boxes.iter().map(|padding| destination_box(padding, padding.loops())).collect();
                return Fill::Boxes { boxes, bytes, pattern, first: false };
            }
            let joined: Vec<CopyBox> = boxes.iter().map(|padding| joined_box(padding, bytes)).collect();
            if cost(&joined, bytes) < map.physical_elements() {
                return Fill::Boxes { boxes: joined, bytes, pattern, first: true };
            }
        }
        Fill::Whole { bits, pattern }
    }

    /// Decides how `pattern` is written to the padding that the tensor owns. `None` if it does not own its
    /// gaps, or owns a part of the buffer whose gaps cannot be written alone. Gaps that are no short list of
    /// boxes are filled together with the places of the elements, before these are copied.
    pub(crate) fn owned(map: &IndexMap, pattern: u128, direct: bool) -> Option<Fill> {
        if map.gap_owner() == GapOwner::All || !has_padding(map) {
            return Some(Self::new(map, Some(pattern), direct));
        }
        let bits = map.element_bits();
        // A swizzle may move elements to any place of its span, so the part has no range of its own.
        if map.gap_owner() != GapOwner::Inside || !bits.is_multiple_of(8) || map.swizzle().is_some() {
            return None;
        }
        let (bytes, base, range) = (usize::try_from(bits / 8).ok()?, map.base(), map.own_range());
        let Some(mut gaps) = range.padding_boxes(MOST_PADDING_BOXES) else {
            let run = Loop::run(range.physical_elements(), 0);
            let boxes = vec![CopyBox { source: 0, destination: base, loops: Loops::from_iter([run]) }];
            return Some(Fill::Boxes { boxes, bytes, pattern, first: true });
        };
        gaps.iter_mut().for_each(|gap| gap.base = gap.base.saturating_add(base));
        let boxes: Vec<CopyBox> = gaps.iter().map(|gap| destination_box(gap, gap.loops())).collect();
        Some(if boxes.is_empty() { Fill::Nothing } else { Fill::Boxes { boxes, bytes, pattern, first: false } })
    }

    pub(crate) fn spanned(&self) -> Vec<Spanned> {
        match self {
            Fill::Boxes { boxes, .. } => boxes.iter().map(Spanned::new).collect(),
            Fill::Nothing | Fill::Whole { .. } => Vec::new(),
        }
    }

    /// The part of the padding that is in `range` (elements of the destination). `own` has the
    /// [boxes](Self::spanned) of the padding. `None` if the clipped boxes are more than `room` allows.
    pub(crate) fn clipped(&self, own: &[Spanned], range: &Range<u64>, room: &mut Room) -> Option<Fill> {
        Some(match self {
            Fill::Nothing => Fill::Nothing,
            Fill::Whole { bits, pattern } => Fill::Whole { bits: *bits, pattern: *pattern },
            Fill::Boxes { bytes, pattern, first, .. } => {
                Fill::Boxes { boxes: clip::clipped(own, range, room)?, bytes: *bytes, pattern: *pattern, first: *first }
            }
        })
    }

    pub(crate) fn is_first(&self) -> bool {
        matches!(self, Fill::Whole { .. } | Fill::Boxes { first: true, .. })
    }
}

/// Whether padding comes in runs of less than [`LEAST_PADDING_RUN`] bytes on average.
fn has_short_runs(boxes: &[OffsetBox], bytes: usize) -> bool {
    let (mut elements, mut runs) = (0_u64, 0_u64);
    for padding in boxes {
        let run = padding.loops().last().filter(|&&(_, stride)| stride == 1).map_or(1, |&(extent, _)| extent);
        elements = elements.saturating_add(padding.elements());
        runs = runs.saturating_add(padding.elements().checked_div(run).unwrap_or(0));
    }
    let least = LEAST_PADDING_RUN.div_ceil(u64::try_from(bytes).unwrap_or(u64::MAX).max(1));
    elements < runs.saturating_mul(least)
}

/// Whether the buffer has room for more elements than the tensor has, or ends inside a byte.
pub(crate) fn has_padding(map: &IndexMap) -> bool {
    let bits = wide_product(map.physical_elements(), map.element_bits());
    map.physical_elements() != map.element_count() || !bits.is_multiple_of(8)
}

/// Makes a copy box for a box of padding, with the given loops. The strides on the source are 0.
fn destination_box(padding: &OffsetBox, loops: &[(u64, u64)]) -> CopyBox {
    let loops: Loops =
        loops.iter().map(|&(extent, destination)| Loop::Strided(Stride { extent, source: 0, destination })).collect();
    CopyBox { source: 0, destination: padding.base, loops }
}

/// A box of padding whose runs are joined over gaps of up to [`FILL_AROUND`] bytes. The box ends with its
/// last run, so it holds only padding and elements.
fn joined_box(padding: &OffsetBox, bytes: usize) -> CopyBox {
    let most = FILL_AROUND.checked_div(u64::try_from(bytes).unwrap_or(u64::MAX)).unwrap_or(0);
    let (mut outer, mut run) = (padding.loops(), 1_u64);
    while let Some((&(extent, stride), before)) = outer.split_last()
        && stride.saturating_sub(run) <= most
    {
        // The length of the run cannot saturate, because its last element is in the buffer.
        run = run.saturating_add(stride.saturating_mul(extent.saturating_sub(1)));
        outer = before;
    }
    let mut loops: SmallVec<[(u64, u64); 8]> = SmallVec::from_slice(outer);
    loops.push((run, 1));
    destination_box(padding, &loops)
}

/// The cost of filling some boxes, in elements. Starting a run takes time, too: as much as filling some
/// elements, which are added for each run.
fn cost(boxes: &[CopyBox], bytes: usize) -> u64 {
    let around = FILL_AROUND.checked_div(u64::try_from(bytes).unwrap_or(u64::MAX)).unwrap_or(0);
    boxes.iter().fold(0, |sum: u64, joined| {
        let run = joined.loops.last().map_or(1, Loop::extent).max(1);
        let runs = joined.elements().checked_div(run).unwrap_or(0);
        sum.saturating_add(joined.elements()).saturating_add(runs.saturating_mul(around))
    })
}
