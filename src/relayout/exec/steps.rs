//! Runs boxes that take several steps. `plan/bits.rs` explains steps.

use std::ops::Range;

use strided_copy::{Copies, Destination, LINE, SMALL_PROGRAM, bit_rows, width};

use crate::map::each_element;

use super::super::plan::cost::BUFFER;
use super::super::plan::planned::{Rows, Staged, Step, StepBox, WidthRows};

/// The staging buffers: elements that were unpacked, and elements to be packed. The buffers are further apart
/// than their length, so that equal offsets in them are in different sets of the L1 cache.
#[repr(align(64))]
struct Buffers<const LENGTH: usize>([[u8; LENGTH]; 2]);

/// The index of a bit of the source, and of a bit of the destination.
type Bits = (u64, u64);

pub(super) fn run(steps: &StepBox, source: &[u8], destination: Destination<'_>) {
    if !SMALL_PROGRAM && let Step::Staged(_) = steps.step {
        run_in::<{ BUFFER + 4 * LINE }>(steps, source, destination);
    } else {
        run_in::<0>(steps, source, destination);
    }
}

/// Runs a box in buffers of `LENGTH` bytes.
// If this function were inlined, its buffers would be on the stack of every copy.
#[inline(never)]
fn run_in<const LENGTH: usize>(steps: &StepBox, source: &[u8], destination: Destination<'_>) {
    let StepBox { outer, bits, step } = steps;
    let mut buffers = Buffers([[0; LENGTH]; 2]);
    destination.with_copies(|copies| {
        each_element(&outer.loops, outer.source, outer.destination, &mut |from, to| {
            let at = (in_bits(from, bits.0), in_bits(to, bits.1));
            match step {
                Step::Bits(bits) => {
                    bit_rows::copy_row(source, at.0, copies.destination().bytes_to_change(), at.1, *bits);
                }
                Step::Rows(rows) => change_width(rows, source, copies, at),
                Step::Staged(_) if SMALL_PROGRAM => unreachable!("no staging buffers in a small program"),
                Step::Staged(staged) => run_staged(staged, source, copies, at, &mut buffers),
            }
        });
    });
}

fn in_bits(elements: u64, bits: u32) -> u64 {
    elements.checked_mul(bits.into()).unwrap_or_else(|| unreachable!("an element is stored inside a buffer"))
}

fn byte(bit: u64) -> usize {
    usize::try_from(bit.div_euclid(8)).unwrap_or_else(|_| unreachable!("a byte is stored inside a buffer"))
}

/// Copies elements from the source to the first buffer, to the second buffer and to the destination.
fn run_staged<const LENGTH: usize>(
    staged: &Staged,
    source: &[u8],
    copies: &mut Copies<'_>,
    at: Bits,
    buffers: &mut Buffers<LENGTH>,
) {
    let Staged { first, copy, last } = staged;
    let Buffers([unpacked, to_pack]) = buffers;
    let (mut from, mut start) = (source, (byte(at.0), byte(at.1)));
    if let Some(rows) = first {
        Destination::from(&mut unpacked[..]).with_copies(|copies| run_rows(rows, source, copies, (at.0, 0)));
        (from, start.0) = (unpacked, 0);
    }
    match last {
        None => copies.run(copy, start, from),
        Some(rows) => {
            Destination::from(&mut to_pack[..]).with_copies(|copies| copies.run(copy, (start.0, 0), from));
            run_rows(rows, to_pack, copies, (0, at.1));
        }
    }
}

fn run_rows(rows: &Rows, source: &[u8], copies: &mut Copies<'_>, at: Bits) {
    match rows {
        Rows::Whole(copy) => copies.run(copy, (byte(at.0), byte(at.1)), source),
        Rows::Anywhere(rows) => change_width(rows, source, copies, at),
    }
}

fn change_width(rows: &WidthRows, source: &[u8], copies: &mut Copies<'_>, at: Bits) {
    let WidthRows { loops, row, change, wholes } = rows;
    // All offsets count elements. One side has a byte for each element, and the other side packs them.
    let packed = u64::from(change.bits);
    let sides = change.sides((packed, 8));
    let start = (at.0.div_euclid(sides.0), at.1.div_euclid(sides.1));
    each_element(loops, start.0, start.1, &mut |from, to| {
        let in_memory = |count: Option<u64>| {
            let count = count.and_then(|count| usize::try_from(count).ok());
            count.unwrap_or_else(|| unreachable!("an element is stored inside a buffer"))
        };
        let element = |i: u64| (in_memory(from.checked_add(i)), in_memory(to.checked_add(i)));
        let change_elements = |copies: &mut Copies<'_>, elements: Range<u64>| {
            let ((from, to), count) = (element(elements.start), elements.end.checked_sub(elements.start));
            let mut destination = copies.destination();
            width::change_elements(source, from, &mut destination, to, &change.row(1), in_memory(count));
        };
        if !change.has_kernels() {
            return change_elements(copies, 0..*row);
        }
        let (first, _) = change.sides((from, to));
        // A row consists of the elements up to the first whole byte, the whole bytes, and the remaining
        // elements.
        let head = first.next_multiple_of(change.group).saturating_sub(first).min(*row);
        let whole = row.saturating_sub(head).div_euclid(change.group);
        let tail = head.saturating_add(whole.saturating_mul(change.group));
        change_elements(copies, 0..head);
        change_elements(copies, tail..*row);
        if let Some((_, copy)) = wholes.iter().find(|(bytes, _)| *bytes == whole) {
            let (from, to) = element(head);
            let in_byte = usize::try_from(change.group).unwrap_or(1);
            let (packed, unpacked) = change.sides((from, to));
            let moved = change.sides((packed.div_euclid(in_byte), unpacked));
            copies.run(copy, moved, source);
        }
    });
}
