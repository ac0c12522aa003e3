//! Running a plan: the passes of a copy, the boxes of a program, and the padding. Kernels copy the elements.

use crate::checked;
use crate::element::write_bits;
use crate::error::Error;
use crate::map::{CopyBox, Loop, Stride, each_element};

use super::Destination;
use super::plan::fill::Fill;
use super::plan::passes::Passes;
use super::plan::planned::{PlannedBox, PlannedBoxes};
use super::plan::program::{Program, plan_box};

mod steps;

/// Runs all passes. The caller has checked the lengths of both buffers. The error is `overflow` if an
/// intermediate buffer would have more bytes than memory has addresses.
pub(crate) fn run_passes(passes: &Passes, source: &[u8], destination: Destination<'_>) -> Result<(), Error> {
    let Some(pass) = &passes.before else { return run_program(&passes.last, source, destination) };
    let length: usize = checked::narrow(checked::bytes_for(pass.elements, pass.bits)?, checked::BYTES)?;
    let mut buffer = vec![0; length];
    run_program(&pass.program, source, (&mut buffer).into())?;
    run_program(&passes.last, &buffer, destination)
}

/// Whether a program or its padding changes bytes in part, so that it reads them.
pub(crate) fn reads(program: &Program, fill: &Fill) -> bool {
    let shares = |bits: u32, pattern: u128| pattern != 0 && !bits.is_multiple_of(8);
    program.has_sub_byte_boxes() || matches!(fill, Fill::Whole { bits, pattern, .. } if shares(*bits, *pattern))
}

/// Copies all boxes. The caller has checked that both buffers hold every element of their layouts. A
/// destination that must not be read is only for programs without [sub-byte
/// boxes](Program::has_sub_byte_boxes). The error is `overflow` if planning a box fails. Only programs with
/// more boxes than were planned ahead plan boxes here.
// This function is always inlined. A destination is three words, which a call would pass in memory. The
// callee would load two of these words at once, and such a load has to wait for both stores.
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
/// `overflow` under the conditions of [`run_program`].
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
        PlannedBox::Steps(boxed) => steps::run(boxed, source, destination),
    }
}

#[inline]
pub(crate) fn fill_before(fill: &Fill, destination: Destination<'_>) {
    match fill {
        Fill::Whole { elements, bits, pattern } => fill_whole(destination, *elements, *bits, *pattern),
        Fill::Boxes { boxes: filled, bytes, pattern, first: true } => {
            fill_boxes(filled, (*bytes, *pattern), destination);
        }
        Fill::Nothing | Fill::Boxes { .. } => {}
    }
}

/// Writes the padding that must be written after the elements. The caller has checked that all padding is
/// inside the buffer.
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

/// Sets `elements` elements of `bits` bits to `pattern`, and the bits after the last element to zero.
fn fill_whole(mut destination: Destination<'_>, elements: u64, bits: u32, pattern: u128) {
    let end = destination.len();
    if pattern == 0 {
        return destination.fill(0..end, 1, 0);
    }
    if bits.is_multiple_of(8) {
        return destination.fill(0..end, usize::try_from(bits / 8).unwrap_or(usize::MAX), pattern);
    }
    let buffer = destination.bytes_to_change();
    buffer.fill(0);
    for start in (0..elements).map(|element| element.saturating_mul(bits.into())) {
        // `write_bits` returns `None` only past the end of the buffer, and the buffer holds these elements.
        let _ = write_bits(buffer, start, bits, pattern);
    }
}
