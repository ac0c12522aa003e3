//! Walking the boxes of a plan.

use crate::error::Error;
use crate::map::{BoxGroups, CopyBox, Loop};

use super::kernel;
use super::schedule::{Nest, Step};
use super::small;

/// Copies all boxes. The buffers were measured: every element of both layouts lies inside them.
pub(super) fn run_boxes(
    boxes: &BoxGroups,
    bits: u32,
    source: &[u8],
    destination: &mut [u8],
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    let mut written = 0_u64;
    for copy in boxes.iter() {
        let before = written;
        let mut tell = |bytes: u64| progress(before.saturating_add(bytes));
        written = written.saturating_add(run_box(&copy, bits, source, destination, &mut tell)?);
        progress(written);
    }
    Ok(())
}

/// Copies one box, and says how many bytes it wrote.
fn run_box(
    copy: &CopyBox,
    bits: u32,
    source: &[u8],
    destination: &mut [u8],
    progress: &mut dyn FnMut(u64),
) -> Result<u64, Error> {
    let nest = if bits.is_multiple_of(8) {
        Nest::new(copy, u64::from(bits / 8))?
    } else if let Some(whole) = small::in_whole_bytes(copy, bits) {
        Nest::new(&whole, 1)?
    } else {
        return Ok(small::run(copy, bits, source, destination));
    };
    let bytes = nest.bytes();
    walk(&nest, source, destination, bytes, progress);
    Ok(bytes)
}

/// Above this many bytes a copy reports its progress between the steps of its outermost loop.
const REPORT_FROM: u64 = 1 << 24;

fn walk(nest: &Nest, source: &[u8], destination: &mut [u8], bytes: u64, progress: &mut dyn FnMut(u64)) {
    if nest.source_end > source.len() || nest.destination_end > destination.len() {
        // The lengths were compared with the layouts before; a nest never reaches past its layouts.
        return;
    }
    let outermost = match nest.loops.first() {
        Some(Step::Strided(stride)) => stride.extent,
        Some(Step::Table(entries)) => entries.len(),
        None => 1,
    };
    let mut done = 0_u64;
    let mut report = |steps: u64| {
        done = done.saturating_add(steps);
        if bytes >= REPORT_FROM {
            let all = u64::try_from(outermost).unwrap_or(u64::MAX);
            let share = u128::from(bytes).saturating_mul(done.into()).checked_div(all.into());
            progress(share.and_then(|share| u64::try_from(share).ok()).unwrap_or(bytes));
        }
    };
    match nest.loops.split_first() {
        None => kernel::run(nest.kernel, source, nest.source, destination, nest.destination),
        Some((step, rest)) => each(step, nest.source, nest.destination, &mut |from, to| {
            descend(nest, rest, source, from, destination, to);
            report(1);
        }),
    }
}

/// Runs the loops from outer to inner, and the kernel inside the last.
fn descend(nest: &Nest, loops: &[Step], source: &[u8], from: usize, destination: &mut [u8], to: usize) {
    match loops.split_first() {
        None => kernel::run(nest.kernel, source, from, destination, to),
        Some((step, rest)) => each(step, from, to, &mut |from, to| descend(nest, rest, source, from, destination, to)),
    }
}

/// The offsets of a loop's steps.
fn each(step: &Step, from: usize, to: usize, visit: &mut dyn FnMut(usize, usize)) {
    // Nothing here can saturate: all offsets lie inside the buffers.
    match step {
        Step::Strided(stride) => {
            let (mut from, mut to) = (from, to);
            for _ in 0..stride.extent {
                visit(from, to);
                from = from.saturating_add(stride.source);
                to = to.saturating_add(stride.destination);
            }
        }
        Step::Table(entries) => {
            for &(a, b) in entries {
                visit(from.saturating_add(a), to.saturating_add(b));
            }
        }
    }
}

/// Every pair of offsets of a box, one element at a time.
pub(super) fn each_element(loops: &[Loop], from: u64, to: u64, visit: &mut dyn FnMut(u64, u64)) {
    match loops.split_first() {
        None => visit(from, to),
        Some((Loop::Strided { extent, source, destination }, rest)) => {
            let (mut from, mut to) = (from, to);
            for _ in 0..*extent {
                each_element(rest, from, to, visit);
                from = from.saturating_add(*source);
                to = to.saturating_add(*destination);
            }
        }
        Some((Loop::Table(entries), rest)) => {
            for &(a, b) in entries {
                each_element(rest, from.saturating_add(a), to.saturating_add(b), visit);
            }
        }
    }
}
