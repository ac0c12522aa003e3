//! Runs the boxes of a program.

use std::mem::MaybeUninit;

use strided_copy::Destination;
use strided_copy::kernel::Stride;

use crate::error::Error;

use super::super::plan::fill::Fill;
use super::super::plan::nest_loops::NestLoops;
use super::super::plan::program::{PlannedBox, PlannedBoxes, Program};
use super::super::plan::resolve::Shape;
use super::super::plan::select;
use super::super::plan::site::Site;
use super::{fill, steps};

/// Copies all boxes. The caller has checked that both buffers hold every element of their layouts. A
/// destination that must not be read is only for programs without [sub-byte
/// boxes](Program::has_sub_byte_boxes).
///
/// # Errors
///
/// [`Error::Overflow`] under the conditions of planning, if the program has more boxes than were planned
/// ahead.
// This function is always inlined. A destination is three words, which a call would pass in memory. The
// callee would load two of these words at once, and such a load has to wait for both stores.
#[inline(always)]
pub(crate) fn run(program: &Program, source: &[u8], mut destination: Destination<'_>) -> Result<(), Error> {
    let program = if destination.is_write_only() { program.for_write_only()? } else { program };
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
        PlannedBox::plan(&copy, program.widths, program.site(), &mut planned)?;
        for planned in planned.drain(..) {
            run_box(&planned, source, destination.reborrow());
        }
    }
    Ok(())
}

/// Runs a program that is a single copy into uninitialised memory. Returns the memory unchanged, as an error,
/// if it is not certain that the copy writes every byte.
pub(crate) fn run_uninit<'m>(
    program: &Program,
    source: &[u8],
    memory: &'m mut [MaybeUninit<u8>],
) -> Result<&'m mut [u8], &'m mut [MaybeUninit<u8>]> {
    let [PlannedBox::Copy(copy)] = &program.prepared[..] else { return Err(memory) };
    copy.run_uninit(source, memory)
}

/// Copies all boxes and sets the padding. The caller has checked the lengths of both buffers.
///
/// # Errors
///
/// [`Error::Overflow`] under the conditions of [`run`].
pub(crate) fn run_filled(program: &Program, fill: &Fill, source: &[u8], destination: &mut [u8]) -> Result<(), Error> {
    fill::before(fill, destination);
    run(program, source, (&mut *destination).into())?;
    fill::after(fill, destination.into());
    Ok(())
}

/// Copies `bytes` to a destination, with the kind of stores that the program uses.
///
/// # Errors
///
/// This never fails, because the bytes fit in memory.
pub(crate) fn write(program: &Program, bytes: &[u8], destination: Destination<'_>) -> Result<(), Error> {
    if bytes.is_empty() {
        return Ok(());
    }
    let streaming = program.streaming || destination.is_write_only();
    let site = Site { streaming, prefetch: false, ..program.site() };
    let shape = Shape::Runs { run: bytes.len(), count: Stride::ONCE };
    select::resolved(shape, &mut NestLoops::new(), (0, 0), site)?.run(bytes, destination);
    Ok(())
}

/// Copies one box.
#[inline]
fn run_box(planned: &PlannedBox, source: &[u8], destination: Destination<'_>) {
    match planned {
        PlannedBox::Copy(copy) => copy.run(source, destination),
        PlannedBox::Steps(boxed) => steps::run(boxed, source, destination),
    }
}
