//! Writing the padding of a destination.

use crate::element::write_bits;
use crate::map::Loop;

use super::super::plan::fill::Fill;
use super::elements::each_element;

/// What must be written before the elements are copied.
pub(crate) fn before(fill: &Fill, buffer: &mut [u8]) {
    if let Fill::Whole { elements, bits, pattern } = fill {
        whole(buffer, *elements, *bits, *pattern);
    }
}

/// What is left to write after them. The buffer was measured: all padding lies inside it.
pub(crate) fn after(fill: &Fill, buffer: &mut [u8]) {
    let Fill::Boxes { boxes, bytes, pattern } = fill else { return };
    for padding in boxes {
        let (outer, run) = match padding.loops.split_last() {
            Some((Loop::Strided { extent, destination: 1, .. }, outer)) => (outer, *extent),
            _ => (padding.loops.as_slice(), 1),
        };
        let length = usize::try_from(run).unwrap_or(usize::MAX).saturating_mul(*bytes);
        each_element(outer, 0, padding.destination, &mut |_, to| {
            let start = usize::try_from(to).unwrap_or(usize::MAX).saturating_mul(*bytes);
            if let Some(run) = buffer.get_mut(start..start.saturating_add(length)) {
                repeat(run, *bytes, *pattern);
            }
        });
    }
}

/// Sets `elements` elements of `bits` bits to `pattern`, and the bits after the last to zero.
pub(crate) fn whole(buffer: &mut [u8], elements: u64, bits: u32, pattern: u128) {
    if pattern == 0 {
        buffer.fill(0);
        return;
    }
    if bits.is_multiple_of(8) {
        return repeat(buffer, usize::try_from(bits / 8).unwrap_or(usize::MAX), pattern);
    }
    buffer.fill(0);
    for start in (0..elements).map(|element| element.saturating_mul(bits.into())) {
        // `None` only past the end of the buffer, which was measured for these elements.
        let _ = write_bits(buffer, start, bits, pattern);
    }
}

/// Sets elements of `width` whole bytes, one after the other, to `pattern`.
fn repeat(run: &mut [u8], width: usize, pattern: u128) {
    let bytes = pattern.to_le_bytes();
    let first = bytes.first().copied().unwrap_or(0);
    if bytes.iter().take(width).all(|&byte| byte == first) && (width <= bytes.len() || first == 0) {
        return run.fill(first);
    }
    for element in run.chunks_mut(width.max(1)) {
        element.fill(0);
        for (byte, &value) in element.iter_mut().zip(&bytes) {
            *byte = value;
        }
    }
}
