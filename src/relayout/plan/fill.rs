//! How the padding of a destination is written: with the elements, not in a sweep of its own.

use std::ops::Range;

use crate::map::{CopyBox, IndexMap, Loop, Loops, OffsetBox};

use super::clip::{self, Room, Spanned};
use super::cost::{LEAST_PADDING_RUN, MOST_PADDING_BOXES};

/// What is written besides the elements.
#[derive(Debug, Clone)]
pub(crate) enum Fill {
    /// Nothing: there is no padding, or it is kept.
    Nothing,
    /// The whole destination is filled before elements are copied over it, block by block if it is large. This is for elements that
    /// share bytes with their neighbours, for padding in runs shorter than a line or in very many boxes, and for copies of
    /// several passes, which copy the padding too.
    Whole { elements: u64, bits: u32, pattern: u128 },
    /// The padding alone, after the elements.
    Boxes { boxes: Vec<CopyBox>, bytes: usize, pattern: u128 },
}

impl Fill {
    /// `direct`: the copy takes one pass.
    pub(crate) fn new(map: &IndexMap, pattern: Option<u128>, direct: bool) -> Fill {
        let Some(pattern) = pattern.filter(|_| has_padding(map)) else { return Fill::Nothing };
        let bits = map.element_bits();
        let whole_bytes = bits.is_multiple_of(8).then(|| usize::try_from(bits / 8).ok()).flatten();
        if let Some(bytes) = whole_bytes.filter(|_| direct)
            && let Some(boxes) = map.padding_boxes(MOST_PADDING_BOXES)
            && !has_short_runs(&boxes, bytes)
        {
            return Fill::Boxes { boxes: boxes.iter().map(destination_box).collect(), bytes, pattern };
        }
        Fill::Whole { elements: map.physical_elements(), bits, pattern }
    }

    /// The boxes of padding, to be clipped.
    pub(crate) fn spanned(&self) -> Vec<Spanned> {
        match self {
            Fill::Boxes { boxes, .. } => boxes.iter().map(Spanned::new).collect(),
            Fill::Nothing | Fill::Whole { .. } => Vec::new(),
        }
    }

    /// What of it lies in `range` (elements of the destination), given its [boxes](Self::spanned); `None` if there is no room for them.
    pub(crate) fn clipped(&self, own: &[Spanned], range: &Range<u64>, room: &mut Room) -> Option<Fill> {
        Some(match self {
            Fill::Nothing => Fill::Nothing,
            Fill::Whole { bits, pattern, .. } => {
                let elements = range.end.saturating_sub(range.start);
                Fill::Whole { elements, bits: *bits, pattern: *pattern }
            }
            Fill::Boxes { bytes, pattern, .. } => {
                Fill::Boxes { boxes: clip::clipped(own, range, room)?, bytes: *bytes, pattern: *pattern }
            }
        })
    }

    /// Is the destination filled before elements are copied?
    pub(crate) fn is_first(&self) -> bool {
        matches!(self, Fill::Whole { .. })
    }
}

/// Does padding come in runs of less than [`LEAST_PADDING_RUN`] bytes on average?
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

/// Does the buffer have places without an element, or bits after the last?
pub(crate) fn has_padding(map: &IndexMap) -> bool {
    let bits = u128::from(map.physical_elements()).saturating_mul(map.element_bits().into());
    map.physical_elements() != map.logical_elements() || !bits.is_multiple_of(8)
}

/// A box of padding as one that can be clipped like the others: nothing moves on its source side.
fn destination_box(padding: &OffsetBox) -> CopyBox {
    let steps = padding.loops().iter();
    let loops: Loops =
        steps.map(|&(extent, stride)| Loop::Strided { extent, source: 0, destination: stride }).collect();
    CopyBox { source: 0, destination: padding.base(), loops }
}

#[cfg(test)]
mod tests;
