//! Unpacking and packing elements that are otherwise on the other side, or begin inside bytes.
#![allow(clippy::arithmetic_side_effects, reason = "offsets of elements that are inside two buffers")]

use super::super::plan::cost::WIDTH_STAGE;
use super::super::plan::width::{Change, WidthBox, WidthPart, WidthRows};
use super::call::Call;
use super::elements::each_element;
use strided_copy::Destination;
use strided_copy::nest::{MicroKernel, Nest};

/// Bytes of the stage.
#[allow(clippy::as_conversions, reason = "a constant of 16 bits; `try_from` is not const")]
const STAGE: usize = WIDTH_STAGE as usize;

/// Copies the box, and says how many bytes of the destination that were.
// In line, its stage would be a part of the stack of every copy.
#[inline(never)]
pub(super) fn run(copy: &WidthBox, call: &mut Call<'_>) -> u64 {
    let WidthBox { parts, change, bytes } = copy;
    let mut stage = [0; STAGE];
    for WidthPart { outer, rows, staged } in parts {
        each_element(&outer.loops, outer.source, outer.destination, &mut |from, to| {
            let Some(nest) = staged else { return run_rows(rows, change, call, (from, to)) };
            let Call { source, streaming, prefetch, knobs, .. } = *call;
            let destination = Destination::from(&mut stage[..]);
            let mut into = Call { source, destination, streaming: None, prefetch, knobs, as_planned: false };
            if change.unpacks() {
                run_rows(rows, change, &mut into, (from, 0));
            } else {
                run_nest(nest, &mut into, (from, 0));
            }
            let destination = call.destination.reborrow();
            let mut out = Call { source: &stage, destination, streaming, prefetch: false, knobs, as_planned: false };
            if change.unpacks() {
                run_nest(nest, &mut out, (0, to));
            } else {
                run_rows(rows, change, &mut out, (0, to));
            }
        });
    }
    *bytes
}

fn number(number: u64) -> usize {
    // Nothing saturates: it counts elements of a buffer.
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Runs a nest that begins this many bytes into the buffers.
fn run_nest(nest: &Nest, call: &mut Call<'_>, (from, to): (u64, u64)) {
    call.run_at(nest.kernel(), nest.loops(), (number(from), number(to)));
}

/// Unpacks or packs rows, the first element of which has these offsets, in elements.
fn run_rows(rows: &WidthRows, change: &Change, call: &mut Call<'_>, start: (u64, u64)) {
    match rows {
        WidthRows::Whole(nest) => {
            let (packed, unpacked) = change.sides(start);
            run_nest(nest, call, change.sides((packed / change.in_byte, unpacked)));
        }
        WidthRows::Anywhere { loops, row } => {
            each_element(loops, start.0, start.1, &mut |from, to| run_row(*row, change, call, (from, to)));
        }
    }
}

/// Unpacks or packs a row: elements up to the first whole byte, whole bytes, and what is left.
fn run_row(row: u64, change: &Change, call: &mut Call<'_>, (from, to): (u64, u64)) {
    let (packed, _) = change.sides((from, to));
    let head = (packed.next_multiple_of(change.in_byte) - packed).min(row);
    let whole = (row - head) / change.in_byte;
    let mut elements = |range: std::ops::Range<u64>| {
        for i in range {
            let (from, to) = (number(from + i), number(to + i));
            strided_copy::width::change_element(call.source, from, &mut call.destination, to, &change.row(1));
        }
    };
    elements(0..head);
    elements(head + whole * change.in_byte..row);
    if whole > 0 {
        let (packed, unpacked) = change.sides((from + head, to + head));
        let (from, to) = change.sides((packed / change.in_byte, unpacked));
        let kernel = MicroKernel::ChangeWidth(change.row(number(whole)));
        call.run_at(&kernel, &[], (number(from), number(to)));
    }
}
