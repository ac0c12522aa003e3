//! Writes the padding of a destination.

use crate::element::write_bits;
use crate::map::{CopyBox, Loop};

use super::super::plan::fill::Fill;
use super::elements::each_element;
use strided_copy::Destination;

/// Writes the padding that must be written before the elements are copied.
#[inline]
pub(crate) fn before(fill: &Fill, buffer: &mut [u8]) {
    match fill {
        Fill::Whole { elements, bits, pattern } => whole(buffer, *elements, *bits, *pattern),
        Fill::Boxes { boxes: filled, bytes, pattern, first: true } => {
            boxes(filled, (*bytes, *pattern), buffer.into());
        }
        Fill::Nothing | Fill::Boxes { .. } => {}
    }
}

/// Writes the padding that must be written after the elements. The caller has checked that all padding is
/// inside the buffer.
pub(crate) fn after(fill: &Fill, destination: Destination<'_>) {
    if let Fill::Boxes { boxes: filled, bytes, pattern, first: false } = fill {
        boxes(filled, (*bytes, *pattern), destination);
    }
}

/// Sets all elements of `bytes` bytes in some boxes to `pattern`.
fn boxes(boxes: &[CopyBox], (bytes, pattern): (usize, u128), mut destination: Destination<'_>) {
    for padding in boxes {
        let (outer, run) = match padding.loops.split_last() {
            Some((Loop::Strided { extent, destination: 1, .. }, outer)) => (outer, *extent),
            _ => (padding.loops.as_slice(), 1),
        };
        let length = usize::try_from(run).unwrap_or(usize::MAX).saturating_mul(bytes);
        each_element(outer, 0, padding.destination, &mut |_, to| {
            let start = usize::try_from(to).unwrap_or(usize::MAX).saturating_mul(bytes);
            destination.fill(start..start.saturating_add(length), bytes, pattern);
        });
    }
}

/// Sets `elements` elements of `bits` bits to `pattern`, and the bits after the last element to zero.
pub(crate) fn whole(buffer: &mut [u8], elements: u64, bits: u32, pattern: u128) {
    if pattern == 0 {
        buffer.fill(0);
        return;
    }
    if bits.is_multiple_of(8) {
        let (width, end) = (usize::try_from(bits / 8).unwrap_or(usize::MAX), buffer.len());
        return Destination::from(buffer).fill(0..end, width, pattern);
    }
    buffer.fill(0);
    for start in (0..elements).map(|element| element.saturating_mul(bits.into())) {
        // `write_bits` returns `None` only past the end of the buffer, and the buffer holds these elements.
        let _ = write_bits(buffer, start, bits, pattern);
    }
}
