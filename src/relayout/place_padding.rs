//! Where the pattern of a destination's padding is written: with the elements, not in a sweep of its own.

use std::ops::Range;

use crate::map::{CopyBox, IndexMap, Loop, Loops, OffsetBox};

use super::cut;
use super::execute::each_element;
use super::padding;

/// Padding in more boxes than this is written the other way.
const MOST_BOXES: usize = 1 << 10;

/// Runs of padding below this many bytes take longer to visit than to be written twice.
const LINE: u64 = 64;

/// What is written besides the elements.
#[derive(Debug, Clone)]
pub(super) enum Blank {
    /// Nothing: there is no padding, or it is kept.
    Nothing,
    /// Everything is set before elements are copied over it, block by block if there is much of it. This is for elements that
    /// share bytes with their neighbours, for padding in runs shorter than a line or in very many boxes, and for copies of
    /// several passes, which carry the padding along.
    Everything { elements: u64, bits: u32, pattern: u128 },
    /// The padding alone.
    Boxes { boxes: Vec<CopyBox>, bytes: usize, pattern: u128 },
}

impl Blank {
    /// `direct`: the copy takes one pass.
    pub(super) fn new(map: &IndexMap, pattern: Option<u128>, direct: bool) -> Blank {
        let Some(pattern) = pattern.filter(|_| has_padding(map)) else { return Blank::Nothing };
        let bits = map.element_bits();
        let whole_bytes = bits.is_multiple_of(8).then(|| usize::try_from(bits / 8).ok()).flatten();
        if let Some(bytes) = whole_bytes.filter(|_| direct)
            && let Some(boxes) = map.padding_boxes(MOST_BOXES)
            && !is_fine(&boxes, bytes)
        {
            return Blank::Boxes { boxes: boxes.iter().map(destination_alone).collect(), bytes, pattern };
        }
        Blank::Everything { elements: map.physical_elements(), bits, pattern }
    }

    /// What of it lies in `range` (elements of the destination); `None` if that takes more than `most` boxes.
    pub(super) fn inside(&self, range: &Range<u64>, most: usize) -> Option<Blank> {
        Some(match self {
            Blank::Nothing => Blank::Nothing,
            Blank::Everything { bits, pattern, .. } => {
                let elements = range.end.saturating_sub(range.start);
                Blank::Everything { elements, bits: *bits, pattern: *pattern }
            }
            Blank::Boxes { boxes, bytes, pattern } => {
                let mut parts = Vec::new();
                for padding in boxes {
                    parts.extend(cut::inside(padding, range, most.saturating_sub(parts.len()))?);
                }
                Blank::Boxes { boxes: parts, bytes: *bytes, pattern: *pattern }
            }
        })
    }

    /// Is everything set before elements are copied?
    pub(super) fn is_first(&self) -> bool {
        matches!(self, Blank::Everything { .. })
    }

    /// What must be done before the elements are copied.
    pub(super) fn before(&self, buffer: &mut [u8]) {
        if let Blank::Everything { elements, bits, pattern } = self {
            padding::fill(buffer, *elements, *bits, *pattern);
        }
    }

    /// What is left to do behind them. The buffer was measured: all padding lies inside it.
    pub(super) fn after(&self, buffer: &mut [u8]) {
        let Blank::Boxes { boxes, bytes, pattern } = self else { return };
        for padding in boxes {
            let (outer, run) = match padding.loops.split_last() {
                Some((Loop::Strided { extent, destination: 1, .. }, outer)) => (outer, *extent),
                _ => (padding.loops.as_slice(), 1),
            };
            let length = usize::try_from(run).unwrap_or(usize::MAX).saturating_mul(*bytes);
            each_element(outer, 0, padding.destination, &mut |_, to| {
                let start = usize::try_from(to).unwrap_or(usize::MAX).saturating_mul(*bytes);
                if let Some(run) = buffer.get_mut(start..start.saturating_add(length)) {
                    padding::fill_run(run, *bytes, *pattern);
                }
            });
        }
    }
}

/// Does padding come in runs of less than a line on average?
fn is_fine(boxes: &[OffsetBox], bytes: usize) -> bool {
    let (mut elements, mut runs) = (0_u64, 0_u64);
    for padding in boxes {
        let run = padding.loops().last().filter(|&&(_, stride)| stride == 1).map_or(1, |&(extent, _)| extent);
        elements = elements.saturating_add(padding.elements());
        runs = runs.saturating_add(padding.elements().checked_div(run).unwrap_or(0));
    }
    let line = LINE.div_ceil(u64::try_from(bytes).unwrap_or(u64::MAX).max(1));
    elements < runs.saturating_mul(line)
}

/// Does the buffer have places without an element, or bits after the last?
fn has_padding(map: &IndexMap) -> bool {
    let bits = u128::from(map.physical_elements()).saturating_mul(map.element_bits().into());
    map.physical_elements() != map.logical_elements() || !bits.is_multiple_of(8)
}

/// A box of padding as one that can be cut like the others: nothing moves on its source side.
fn destination_alone(padding: &OffsetBox) -> CopyBox {
    let steps = padding.loops().iter();
    let loops: Loops =
        steps.map(|&(extent, stride)| Loop::Strided { extent, source: 0, destination: stride }).collect();
    CopyBox { source: 0, destination: padding.base(), loops }
}
