//! Runs the boxes of a program.

use std::mem::MaybeUninit;

use strided_copy::kernel::Stride;
use strided_copy::{Copy, Destination};

use crate::error::Error;

use super::super::plan::cost::{REPORT_EACH, REPORT_FROM};
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
pub(crate) fn run(
    program: &Program,
    source: &[u8],
    mut destination: Destination<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    let program = if destination.is_write_only() { program.for_write_only()? } else { program };
    let mut written = 0_u64;
    for planned in &program.prepared {
        run_box(planned, source, destination.reborrow(), &mut written, progress);
    }
    if program.prepared.is_empty() {
        run_unprepared(program, source, destination, progress)?;
    }
    Ok(())
}

/// Copies the boxes of a program that has too many boxes to plan ahead. Each box is planned just before it
/// runs.
#[cold]
fn run_unprepared(
    program: &Program,
    source: &[u8],
    mut destination: Destination<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    let (mut written, mut planned) = (0_u64, PlannedBoxes::new());
    for copy in program.boxes.iter() {
        PlannedBox::plan(&copy, program.widths, program.site(), &mut planned)?;
        for planned in planned.drain(..) {
            run_box(&planned, source, destination.reborrow(), &mut written, progress);
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
    run(program, source, (&mut *destination).into(), &mut |_| {})?;
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

/// Copies one box. `written` counts the bytes of all boxes so far, and `progress` is called with this count.
#[inline]
fn run_box(
    planned: &PlannedBox,
    source: &[u8],
    destination: Destination<'_>,
    written: &mut u64,
    progress: &mut dyn FnMut(u64),
) {
    let before = *written;
    let bytes = match planned {
        PlannedBox::Copy(copy) if copy.bytes() < REPORT_FROM => {
            copy.run(source, destination);
            copy.bytes()
        }
        PlannedBox::Copy(copy) => {
            run_in_parts(copy, source, destination, &mut |done| progress(before.saturating_add(done)));
            copy.bytes()
        }
        PlannedBox::Steps(boxed) => {
            steps::run(boxed, source, destination, &mut |done| progress(before.saturating_add(done)));
            boxed.bytes
        }
    };
    *written = before.saturating_add(bytes);
    progress(*written);
}

/// Runs a large copy in parts of its outermost loop. After each part `progress` is called with the number of
/// bytes written so far.
#[inline(never)]
fn run_in_parts(copy: &Copy, source: &[u8], mut destination: Destination<'_>, progress: &mut dyn FnMut(u64)) {
    let Some(part) = copy.iterations_for(REPORT_EACH) else { return copy.run(source, destination) };
    let outermost = copy.loops().first().map_or(0, |step| step.extent());
    let each = copy.bytes().div_ceil(crate::checked::count(outermost.max(1)));
    let mut done = 0;
    while done < outermost {
        let end = outermost.min(done.saturating_add(part));
        copy.run_iterations(done..end, source, destination.reborrow());
        done = end;
        progress(each.saturating_mul(crate::checked::count(done)).min(copy.bytes()));
    }
}
