//! Runs boxes that take several steps. `plan/step.rs` explains steps.

use std::ops::Range;

use strided_copy::{Destination, bit_rows, width};

use crate::element::{read_bits, write_bits};
use crate::map::each_element;

use super::super::plan::cost::BUFFER;
use super::super::plan::step::{RowsOfBits, Step, StepBox, Through, WidthRows};

/// A staging buffer between two steps.
type Buffer = [u8; BUFFER];

/// The index of a bit of the source, and of a bit of the destination.
type Bits = (u64, u64);

/// Runs a box.
// If this function were inlined, its buffers would be on the stack of every copy.
#[inline(never)]
pub(super) fn run(steps: &StepBox, source: &[u8], destination: Destination<'_>) {
    match steps.depth() {
        0 => run_through(steps, source, destination, &mut []),
        1 => run_through(steps, source, destination, &mut [[0; BUFFER]; 1]),
        _ => run_in_three_buffers(steps, source, destination),
    }
}

#[inline(never)]
fn run_in_three_buffers(steps: &StepBox, source: &[u8], destination: Destination<'_>) {
    run_through(steps, source, destination, &mut [[0; BUFFER]; 3]);
}

fn run_through(steps: &StepBox, source: &[u8], mut destination: Destination<'_>, buffers: &mut [Buffer]) {
    let StepBox { outer, bits, steps } = steps;
    each_element(&outer.loops, outer.source, outer.destination, &mut |from, to| {
        run_all(steps, source, destination.reborrow(), (in_bits(from, bits.0), in_bits(to, bits.1)), buffers);
    });
}

fn in_bits(elements: u64, bits: u32) -> u64 {
    elements.checked_mul(bits.into()).unwrap_or_else(|| unreachable!("an element is stored inside a buffer"))
}

/// Returns the index of the byte that begins at a bit. The bit is a multiple of 8.
fn byte(bit: u64) -> usize {
    usize::try_from(bit.div_euclid(8)).unwrap_or_else(|_| unreachable!("a byte is stored inside a buffer"))
}

/// Runs some steps that begin at the bits `at` of the source and of the destination.
fn run_all(steps: &[Step], source: &[u8], mut destination: Destination<'_>, at: Bits, buffers: &mut [Buffer]) {
    for step in steps {
        match step {
            Step::Copy(copy) => copy.run_moved((byte(at.0), byte(at.1)), source, destination.reborrow()),
            Step::Bits(rows) => run_bits(rows, source, &mut destination, at),
            Step::Element(bits) => copy_element(*bits, source, destination.bytes_to_change(), at),
            Step::Width(rows) => run_width(rows, source, &mut destination, at),
            Step::Through(through) => run_detour(through, source, destination.reborrow(), at, buffers),
        }
    }
}

/// Runs the steps into a buffer, and then the steps out of the buffer.
fn run_detour(through: &Through, source: &[u8], destination: Destination<'_>, at: Bits, buffers: &mut [Buffer]) {
    let Some((buffer, others)) = buffers.split_first_mut() else { unreachable!("a buffer for every detour") };
    run_all(&through.into, source, Destination::from(&mut buffer[..]), (at.0, 0), others);
    run_all(&through.out, buffer, destination, (0, at.1), others);
}

/// Copies rows of bits. The bits around the rows keep their values.
fn run_bits(rows: &RowsOfBits, source: &[u8], destination: &mut Destination<'_>, at: Bits) {
    match &rows.whole {
        Some(copy) if at.0.is_multiple_of(8) && at.1.is_multiple_of(8) => {
            copy.run_moved((byte(at.0), byte(at.1)), source, destination.reborrow());
        }
        _ => bit_rows::copy(&rows.rows, source, destination.bytes_to_change(), at),
    }
}

fn copy_element(bits: u32, source: &[u8], destination: &mut [u8], at: Bits) {
    if 8_u32.is_multiple_of(bits) {
        return bit_rows::copy_element(source, at.0, destination, at.1, bits.into());
    }
    let value = read_bits(source, at.0, bits);
    let written = value.and_then(|value| write_bits(destination, at.1, bits, value));
    assert!(written.is_some(), "an element is stored inside both buffers");
}

fn run_width(rows: &WidthRows, source: &[u8], destination: &mut Destination<'_>, at: Bits) {
    let WidthRows { loops, row, change, wholes } = rows;
    // All offsets count elements. One side has a byte for each element, and the other side packs them.
    let packed = u64::try_from(change.bits).unwrap_or(8);
    let sides = change.sides((packed, 8));
    let start = (at.0.div_euclid(sides.0), at.1.div_euclid(sides.1));
    each_element(loops, start.0, start.1, &mut |from, to| {
        let in_memory = |count: Option<u64>| {
            let count = count.and_then(|count| usize::try_from(count).ok());
            count.unwrap_or_else(|| unreachable!("an element is stored inside a buffer"))
        };
        let element = |i: u64| (in_memory(from.checked_add(i)), in_memory(to.checked_add(i)));
        let mut change_elements = |elements: Range<u64>| {
            let ((from, to), count) = (element(elements.start), elements.end.checked_sub(elements.start));
            width::change_elements(source, from, destination, to, &change.row(1), in_memory(count));
        };
        if !change.has_kernels() {
            return change_elements(0..*row);
        }
        let (first, _) = change.sides((from, to));
        // A row consists of the elements up to the first whole byte, the whole bytes, and the remaining
        // elements.
        let head = first.next_multiple_of(change.group).saturating_sub(first).min(*row);
        let whole = row.saturating_sub(head).div_euclid(change.group);
        let tail = head.saturating_add(whole.saturating_mul(change.group));
        change_elements(0..head);
        change_elements(tail..*row);
        if let Some((_, copy)) = wholes.iter().find(|(bytes, _)| *bytes == whole) {
            let (from, to) = element(head);
            let in_byte = usize::try_from(change.group).unwrap_or(1);
            let (packed, unpacked) = change.sides((from, to));
            let moved = change.sides((packed.div_euclid(in_byte), unpacked));
            copy.run_moved(moved, source, destination.reborrow());
        }
    });
}
