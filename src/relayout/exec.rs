//! Running a plan: the passes of a copy, the boxes of a program, and the padding. Kernels copy the elements.

use std::ops::Range;

use strided_copy::{Copies, Destination, LINE, SMALL_PROGRAM, bit_rows, width};

use crate::checked;
use crate::element::write_bits;
use crate::error::Error;
use crate::map::{CopyBox, Loop, Stride, each_element};

use super::plan::cost::BUFFER;
use super::plan::fill::Fill;
use super::plan::planned::{PlannedBox, PlannedBoxes, Rows, Staged, Step, StepBox, WidthRows};
use super::plan::program::{Passes, Program, plan_box};

/// Runs all passes of a copy. The caller has checked the lengths of source and destination. The error is
/// `overflow` if an intermediate buffer would have more bytes than memory has addresses.
pub(crate) fn run_passes(passes: &Passes, source: &[u8], destination: Destination<'_>) -> Result<(), Error> {
    let Some(pass) = &passes.before else { return run_program(&passes.last, source, destination) };
    let length: usize = checked::narrow(checked::bytes_for(pass.elements, pass.bits)?, checked::BYTES)?;
    let mut buffer = vec![0; length];
    run_program(&pass.program, source, (&mut buffer).into())?;
    run_program(&passes.last, &buffer, destination)
}

/// Whether a program, or writing its padding, changes bytes in part, so that it reads the destination.
pub(crate) fn reads(program: &Program, fill: &Fill) -> bool {
    let shares = |bits: u32, pattern: u128| pattern != 0 && !bits.is_multiple_of(8);
    program.has_sub_byte_boxes() || matches!(fill, Fill::Whole { bits, pattern } if shares(*bits, *pattern))
}

/// Copies all boxes. The caller has checked that source and destination hold every element of their layouts.
/// A destination that must not be read is only for programs without [sub-byte
/// boxes](Program::has_sub_byte_boxes). The error is `overflow` if planning a box fails. Only programs with
/// more boxes than were planned ahead plan boxes here.
// Always inlined: a call would pass the three words of a destination in memory, and a load of two of them
// would wait for two stores.
#[inline(always)]
pub(crate) fn run_program(program: &Program, source: &[u8], mut destination: Destination<'_>) -> Result<(), Error> {
    for planned in &program.prepared {
        run_box(planned, source, destination.reborrow());
    }
    if program.prepared.is_empty() {
        run_unprepared(program, source, destination)?;
    }
    Ok(())
}

/// Copies the boxes of a program that has too many boxes to plan ahead. Each box is planned just before it
/// runs.
#[cold]
fn run_unprepared(program: &Program, source: &[u8], mut destination: Destination<'_>) -> Result<(), Error> {
    let mut planned = PlannedBoxes::new();
    for copy in program.boxes.iter() {
        plan_box(&copy, program.widths, program.site(), false, &mut planned)?;
        for planned in planned.drain(..) {
            run_box(&planned, source, destination.reborrow());
        }
    }
    Ok(())
}

/// Copies all boxes and sets the padding. The caller has checked the lengths of both buffers. The error is
/// `overflow` as in [`run_program`].
pub(crate) fn run_filled(
    program: &Program,
    fill: &Fill,
    source: &[u8],
    mut destination: Destination<'_>,
) -> Result<(), Error> {
    fill_before(fill, destination.reborrow());
    run_program(program, source, destination.reborrow())?;
    fill_after(fill, destination);
    Ok(())
}

#[inline]
fn run_box(planned: &PlannedBox, source: &[u8], destination: Destination<'_>) {
    match planned {
        PlannedBox::Plain(nest) => nest.run(source, destination),
        PlannedBox::Copy(copy) => copy.run(source, destination),
        PlannedBox::Steps(boxed) => run_steps(boxed, source, destination),
    }
}

#[inline]
pub(crate) fn fill_before(fill: &Fill, destination: Destination<'_>) {
    match fill {
        Fill::Whole { bits, pattern } => fill_whole(destination, *bits, *pattern),
        Fill::Boxes { boxes: filled, bytes, pattern, first: true } => {
            fill_boxes(filled, (*bytes, *pattern), destination);
        }
        Fill::Nothing | Fill::Boxes { .. } => {}
    }
}

/// Writes the padding that is written after the elements. The caller has checked that all padding is inside
/// the destination.
pub(crate) fn fill_after(fill: &Fill, destination: Destination<'_>) {
    if let Fill::Boxes { boxes: filled, bytes, pattern, first: false } = fill {
        fill_boxes(filled, (*bytes, *pattern), destination);
    }
}

fn fill_boxes(boxes: &[CopyBox], (bytes, pattern): (usize, u128), mut destination: Destination<'_>) {
    for padding in boxes {
        let (outer, run) = match padding.loops.split_last() {
            Some((Loop::Strided(Stride { extent, destination: 1, .. }), outer)) => (outer, *extent),
            _ => (padding.loops.as_slice(), 1),
        };
        let length = usize::try_from(run).unwrap_or(usize::MAX).saturating_mul(bytes);
        each_element(outer, 0, padding.destination, &mut |_, to| {
            let start = usize::try_from(to).unwrap_or(usize::MAX).saturating_mul(bytes);
            destination.fill(start..start.saturating_add(length), bytes, pattern);
        });
    }
}

/// Fills the bytes with elements of `bits` bits, all equal to `pattern`. The bits after the last element
/// become zero.
fn fill_whole(mut destination: Destination<'_>, bits: u32, pattern: u128) {
    let end = destination.len();
    if pattern == 0 {
        return destination.fill(0..end, 1, 0);
    }
    if bits.is_multiple_of(8) {
        return destination.fill(0..end, usize::try_from(bits / 8).unwrap_or(usize::MAX), pattern);
    }
    let buffer = destination.bytes_to_change();
    buffer.fill(0);
    let mut start = 0;
    // `write_bits` returns `None` past the end of the buffer.
    while write_bits(buffer, start, bits, pattern).is_some() {
        start = start.saturating_add(bits.into());
    }
}

// --- Boxes of sub-byte elements, which take several steps, as plan/bits.rs explains ------------------------

/// The staging buffers: elements that were unpacked, and elements to be packed. Each buffer has more bytes
/// than are used, so that equal offsets in both are in different sets of the L1 cache.
#[repr(align(64))]
struct Buffers<const LENGTH: usize>([[u8; LENGTH]; 2]);

/// Where a step begins, in bits: on the source, and on the destination.
type Bits = (u64, u64);

fn run_steps(steps: &StepBox, source: &[u8], destination: Destination<'_>) {
    if !SMALL_PROGRAM && let Step::Staged(_) = steps.step {
        run_in::<{ BUFFER + 4 * LINE }>(steps, source, destination);
    } else {
        run_in::<0>(steps, source, destination);
    }
}

/// Runs a box in buffers of `LENGTH` bytes.
// Not inlined, so that the buffers are not on the stack of every copy.
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
    // All offsets count elements. On one side, an element is a byte; on the other side, elements are packed.
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
        // A row consists of its elements up to the first whole byte of the packed side, whole bytes, and the
        // remaining elements.
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
