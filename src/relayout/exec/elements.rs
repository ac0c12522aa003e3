//! Visits the elements of a box, one at a time.

use crate::map::Loop;

/// Calls `each` with the offsets of every element of a box, source and destination.
pub(crate) fn each_element(loops: &[Loop], from: u64, to: u64, each: &mut dyn FnMut(u64, u64)) {
    let Some((step, rest)) = loops.split_first() else { return each(from, to) };
    if let Loop::Table(entries) = step {
        for &(a, b) in entries {
            each_element(rest, from.saturating_add(a), to.saturating_add(b), each);
        }
    }
    let Some((extent, source, destination, backwards)) = step.strides() else { return };
    let (mut from, mut to) = (from, to);
    for _ in 0..extent {
        each_element(rest, from, to, each);
        // The source offset is in front of the buffer only after the last step, where the subtraction
        // saturates.
        from = if backwards { from.saturating_sub(source) } else { from.saturating_add(source) };
        to = to.saturating_add(destination);
    }
}
