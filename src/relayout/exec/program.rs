//! Running the boxes of a program.

use std::mem::MaybeUninit;

use crate::error::Error;
use crate::map::CopyBox;

use super::super::plan::cost::{REPORT_EACH, REPORT_FROM};
use super::super::plan::fill::Fill;
use super::super::plan::machine::Knobs;
use super::super::plan::program::{PlannedBox, Program};
use super::super::plan::schedule::{Memory, Scheduled};
use super::super::plan::together::Together;
use super::super::plan::width::Widths;
use super::call::Call;
use super::elements::each_element;
use super::{fill, subbyte, width};
use strided_copy::nest::{MicroKernel, NestLoop, Stride};
use strided_copy::{Destination, StreamFence};

/// Copies all boxes, and says how many bytes of elements that were. The buffers were measured: every element
/// of both layouts is stored inside them. A destination that cannot be read is for programs without
/// [sub-byte boxes](Program::has_sub_byte_boxes).
///
/// # Errors
///
/// [`Error::Overflow`] as for planning, if the program has more boxes than were planned ahead.
// Always inlined: a destination is three words, which a function would be handed in memory and copy two at a
// time, and such a load waits for both stores.
#[inline(always)]
pub(crate) fn run(
    program: &Program,
    source: &[u8],
    destination: Destination<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, Error> {
    let Program { boxes, widths, streaming, prefetch, knobs, prepared, .. } = program;
    let past_the_cache = *streaming || destination.is_write_only();
    let as_planned = past_the_cache == *streaming;
    StreamFence::scope(past_the_cache, knobs.level, |streaming| {
        let mut call = Call { source, destination, streaming, prefetch: *prefetch, knobs, as_planned };
        let mut written = 0_u64;
        for planned in prepared {
            run_box(planned, *widths, &mut call, &mut written, progress);
        }
        if prepared.is_empty() {
            for copy in boxes.iter() {
                let planned = PlannedBox::new(copy, *widths, program.memory(), knobs)?;
                run_box(&planned, *widths, &mut call, &mut written, progress);
            }
        }
        Ok(written)
    })
}

/// Copies the one box that a program may be into memory without contents; hands the memory back, and has
/// copied nothing, if it is not certain that every byte of it is written.
pub(crate) fn run_uninit<'m>(
    program: &Program,
    source: &[u8],
    memory: &'m mut [MaybeUninit<u8>],
) -> Result<&'m mut [u8], &'m mut [MaybeUninit<u8>]> {
    let [PlannedBox::Nest(Scheduled { nest, schedule })] = &program.prepared[..] else { return Err(memory) };
    let level = program.knobs.level;
    StreamFence::scope(program.streaming, level, |streaming| {
        strided_copy::run_uninit((nest, schedule), source, memory, (streaming, level))
    })
}

/// Copies all boxes, and sets the padding that is set with them. The buffers were measured.
///
/// # Errors
///
/// [`Error::Overflow`] as for [`run`].
pub(crate) fn run_filled(program: &Program, fill: &Fill, source: &[u8], destination: &mut [u8]) -> Result<(), Error> {
    fill::before(fill, destination);
    run(program, source, (&mut *destination).into(), &mut |_| {})?;
    fill::after(fill, destination.into());
    Ok(())
}

/// Copies all boxes on the threads of rayon's pool, which share the iterations of their loops. `false`, and
/// nothing is done, if some box cannot be shared.
#[cfg(all(feature = "rayon", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn run_shared(program: &Program, source: &[u8], destination: Destination<'_>) -> bool {
    use rayon::prelude::*;
    use strided_copy::threads::{Part, loop_to_share, parts};

    use super::super::plan::cost::PARTS_PER_THREAD;

    let threads = rayon::current_num_threads();
    let nests = || {
        program.prepared.iter().map(|planned| match planned {
            PlannedBox::Nest(planned) => Some(planned),
            PlannedBox::SubByte(_) | PlannedBox::Width(_) | PlannedBox::Together(_) => None,
        })
    };
    let level = program.knobs.level;
    let can_share = |planned: Option<&Scheduled>| {
        planned.is_some_and(|planned| loop_to_share(&planned.nest, level, threads, PARTS_PER_THREAD).is_some())
    };
    if program.prepared.is_empty() || !nests().all(can_share) {
        return false;
    }
    let (prefetch, knobs) = (program.prefetch, &program.knobs);
    StreamFence::scope(program.streaming, level, |streaming| {
        let mut call = Call { source, destination, streaming, prefetch, knobs, as_planned: true };
        for Scheduled { nest, schedule } in nests().flatten() {
            let mut kernels = call.kernels();
            parts(nest, schedule, &mut kernels, (threads, PARTS_PER_THREAD)).into_par_iter().for_each(Part::run);
        }
    });
    true
}

/// Writes bytes as they are, and stores them as a program does.
pub(crate) fn write(program: &Program, bytes: &[u8], destination: Destination<'_>) {
    if bytes.is_empty() {
        return;
    }
    let knobs = &program.knobs;
    let kernel = MicroKernel::Copy { run: bytes.len(), count: Stride::ONCE };
    StreamFence::scope(program.streaming || destination.is_write_only(), knobs.level, |streaming| {
        let mut call = Call { source: bytes, destination, streaming, prefetch: false, knobs, as_planned: false };
        call.run_at(&kernel, &[], (0, 0));
    });
}

/// Copies one box that belongs to no program, through the cache.
///
/// # Errors
///
/// [`Error::Overflow`] as for planning.
pub(crate) fn run_alone(
    copy: CopyBox,
    bits: u32,
    knobs: &Knobs,
    source: &[u8],
    destination: &mut [u8],
) -> Result<(), Error> {
    let destination = Destination::from(destination);
    let mut call = Call { source, destination, streaming: None, prefetch: false, knobs, as_planned: true };
    let memory = Memory { streaming: false, prefetch: false };
    let widths = Widths::same(bits);
    run_box(&PlannedBox::new(copy, widths, memory, knobs)?, widths, &mut call, &mut 0, &mut |_| {});
    Ok(())
}

/// Copies one box; `progress` hears how many bytes that makes in all.
#[inline]
fn run_box(
    planned: &PlannedBox,
    widths: Widths,
    call: &mut Call<'_>,
    written: &mut u64,
    progress: &mut dyn FnMut(u64),
) {
    let before = *written;
    let bytes = match planned {
        PlannedBox::Nest(planned) => {
            let bytes = planned.nest.bytes();
            if bytes < REPORT_FROM {
                call.run(planned);
            } else {
                run_in_parts(planned, call, &mut |done| progress(before.saturating_add(done)));
            }
            bytes
        }
        PlannedBox::Together(boxes) => run_together(boxes, call, &mut |done| progress(before.saturating_add(done))),
        PlannedBox::SubByte(copy) => subbyte::run(copy, widths.source, call),
        PlannedBox::Width(copy) => width::run(copy, call),
    };
    *written = before.saturating_add(bytes);
    progress(*written);
}

/// Runs a large nest in parts of its outermost loop, after each of which `progress` hears how many bytes that
/// makes.
#[inline(never)]
fn run_in_parts(planned: &Scheduled, call: &mut Call<'_>, progress: &mut dyn FnMut(u64)) {
    let Scheduled { nest, schedule } = planned;
    let bytes = nest.bytes();
    let Some(step @ (NestLoop::Strided(outermost) | NestLoop::Reversed(outermost))) = nest.loops().first() else {
        return call.run(planned);
    };
    let iterations = u64::try_from(outermost.extent).unwrap_or(u64::MAX).max(1);
    let each = bytes.div_ceil(iterations).max(1);
    let part = usize::try_from(REPORT_EACH.div_ceil(each)).unwrap_or(usize::MAX);
    let backwards = matches!(step, NestLoop::Reversed(_));
    let mut loops = nest.loops().to_vec();
    let (source, destination) = nest.start();
    let mut done = 0_usize;
    while done < outermost.extent {
        let extent = part.min(outermost.extent.saturating_sub(done));
        if let Some(first) = loops.first_mut() {
            let part = Stride { extent, ..*outermost };
            *first = if backwards { NestLoop::Reversed(part) } else { NestLoop::Strided(part) };
        }
        // Nothing here can saturate: all offsets are inside the buffers.
        let from = source.saturating_add(done.saturating_mul(outermost.source));
        let moved = done.saturating_mul(outermost.destination);
        let to = if backwards { destination.saturating_sub(moved) } else { destination.saturating_add(moved) };
        // How many iterations are joined depends on the extent of the innermost loop.
        if call.as_planned && loops.len() > 1 {
            call.kernels().run_at(nest.kernel(), &loops, (from, to), schedule);
        } else {
            call.run_at(nest.kernel(), &loops, (from, to));
        }
        done = done.saturating_add(extent);
        progress(each.saturating_mul(u64::try_from(done).unwrap_or(u64::MAX)).min(bytes));
    }
}

/// Runs boxes part by part, and says how many bytes that makes.
#[inline(never)]
fn run_together(boxes: &Together, call: &mut Call<'_>, progress: &mut dyn FnMut(u64)) -> u64 {
    let Some((last, outer)) = boxes.parts.split_last() else { return 0 };
    let (mut done, mut reported) = (0_u64, 0);
    each_element(outer, 0, 0, &mut |from, to| {
        let mut run = |nests: &[Scheduled], from: u64, to: u64| {
            // Nothing here can saturate: all offsets are inside the buffers.
            let after = |start: usize, more: u64| start.saturating_add(usize::try_from(more).unwrap_or(usize::MAX));
            for planned in nests {
                let start = planned.nest.start();
                call.run_from(planned, (after(start.0, from), after(start.1, to)));
                done = done.saturating_add(planned.nest.bytes());
            }
            if done.saturating_sub(reported) >= REPORT_EACH {
                reported = done;
                progress(done);
            }
        };
        each_element(std::slice::from_ref(last), from, to, &mut |from, to| run(&boxes.nests, from, to));
        run(&boxes.rest, from, to);
    });
    done
}

#[cfg(test)]
mod tests;
