//! Planes of long units, transposed run by run. A run is a unit of such a plane: several elements that follow
//! each other, often whole cache lines or half a line.

use std::ops::Range;

use super::copy::copy_run;
use super::plane::panels;
use super::vector::{Operation, Vector};
use super::walk::{Iteration, Walk};
use crate::kernel::{Plane, PlaneRuns, RunOrder, count};
use crate::machine::LINE;

pub(super) struct TransposeRuns<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) plane: &'a Plane,
    pub(super) runs: PlaneRuns,
}

impl Operation for TransposeRuns<'_> {
    /// # Safety
    ///
    /// * `runs` fits the plane (`Kernel::fit`).
    /// * In every iteration, the plane's span is readable on the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let TransposeRuns { walk, plane, runs: PlaneRuns { order, ahead, unaligned } } = self;
        let ahead = count(ahead);
        let pitches = || match (plane.rows.stride(), plane.columns.stride()) {
            (Some(source), Some(destination)) => (source, destination),
            _ => unreachable!("`Kernel::fit` asks for constant pitches"),
        };
        if let Some(cut) = unaligned
            && walk.start.1.align_offset(LINE) != 0
        {
            // SAFETY: `panels` has this function's contract. `Kernel::fit` checked that `cut` fits the plane.
            return unsafe { panels::<V>(walk, plane, &cut) };
        }
        match order {
            // SAFETY: the pitches are those of the plane. The first destination row starts at a line, because
            // `unaligned` panels run otherwise. So all destination rows start at lines (`Kernel::fit`).
            RunOrder::Source => unsafe { lines_in_source_order::<V>(walk, plane, pitches(), ahead) },
            RunOrder::FewColumns(few) => {
                let (pitches, few) = (pitches(), usize::from(few));
                for iteration in walk.iterations() {
                    // SAFETY: the pitches are those of the plane. `Kernel::fit` checked that its unit has 32,
                    // 64 or 128 bytes, and each arm is for one of these lengths.
                    unsafe {
                        match plane.unit {
                            32 => few_columns::<32>(&iteration, plane, pitches, few),
                            64 => few_columns::<64>(&iteration, plane, pitches, few),
                            _ => few_columns::<128>(&iteration, plane, pitches, few),
                        }
                    }
                }
            }
            // SAFETY: `in_pieces` needs the plane's span, which the contract covers.
            RunOrder::Pieces(piece) => unsafe { in_pieces::<V>(walk, plane, usize::from(piece), ahead) },
        }
    }
}

/// Transposes planes with ordinary stores, a few columns at a time. The source rows of these columns are read
/// front to back, and each run of a source row goes to another destination row.
///
/// # Safety
///
/// * `plane.unit` is `RUN`. The pair of numbers is the pitch of the plane's source rows and the pitch of its
///   destination rows.
/// * The plane's span is readable on the source and writable on the destination.
#[inline(always)]
unsafe fn few_columns<const RUN: usize>(
    iteration: &Iteration,
    plane: &Plane,
    (source, destination): (usize, usize),
    few: usize,
) {
    assert!(plane.unit == RUN);
    let (columns, rows) = (plane.columns.extent, plane.rows.extent);
    for first in (0..columns).step_by(few) {
        let last = (first + few).min(columns);
        for row in 0..rows {
            for column in first..last {
                // SAFETY: `row` and `column` are inside the plane, so `from` and `to` are the addresses of a
                // run of `RUN` bytes in the plane's span.
                unsafe {
                    let from = iteration.from.add(column * RUN + row * source);
                    let to = iteration.to.add(column * destination + row * RUN);
                    to.cast::<[u8; RUN]>().write(from.cast::<[u8; RUN]>().read());
                }
            }
        }
    }
}

/// Transposes planes of whole lines or half lines with non-temporal stores. The source is read front to back,
/// and the destination rows get one line each, in turns.
///
/// # Safety
///
/// * The unit is a multiple of a line, or half a line.
/// * The pair of numbers is the pitch of the plane's source rows and the pitch of its destination rows. The
///   latter is a multiple of a line, and every iteration starts at a line of the destination.
/// * In every iteration, the plane's span is readable on the source and writable on the destination.
#[inline(always)]
unsafe fn lines_in_source_order<V: Vector>(
    walk: &Walk<'_>,
    plane: &Plane,
    (source, destination): (usize, usize),
    distance: usize,
) {
    let Plane { unit: run, columns, rows, .. } = plane;
    let (run, columns, rows) = (*run, columns.extent, rows.extent);
    let row_bytes = run * columns;
    // `half` is how many bytes apart the two halves of a destination line are on the source. If a run is half
    // a line, the halves are the runs of two rows. `at_once` is how many rows are copied together.
    let (half, at_once) = if run < LINE { (source, 2) } else { (LINE / 2, 1) };
    for Iteration { from, to, later, .. } in walk.iterations() {
        for row in (0..rows - rows % at_once).step_by(at_once) {
            let ahead = match (row + distance).checked_sub(rows) {
                None => Some(from.wrapping_add((row + distance) * source)),
                Some(row) => later.map(|later| later.wrapping_add(row * source)),
            };
            let ahead = ahead.filter(|_| distance > 0);
            // SAFETY: `row` is below the number of rows, so all runs are inside the plane. `to` is at a line,
            // because it is the sum of multiples of a line: of `destination`, `at` and `row * run` (`row` is
            // even if a run is half a line).
            unsafe {
                let (from, to) = (from.add(row * source), to.add(row * run));
                for column in 0..columns {
                    for at in (0..run).step_by(LINE) {
                        let to = to.add(column * destination + at);
                        if let Some(ahead) = ahead {
                            let line = column * (run * at_once) + at;
                            let next_row = if line < row_bytes { 0 } else { source - row_bytes };
                            V::prefetch(ahead.wrapping_add(line + next_row));
                        }
                        let at = column * run + at;
                        stream_line::<V>(from.add(at), from.add(at + half), to);
                    }
                }
            }
        }
        if !rows.is_multiple_of(at_once) {
            let row = rows - 1;
            for column in 0..columns {
                // SAFETY: `from` and `to` are the addresses of a run of the last row, which has half a line:
                // only then may a row be left over.
                unsafe {
                    let (from, to) = (from.add(column * run + row * source), to.add(column * destination + row * run));
                    std::ptr::copy_nonoverlapping(from, to, LINE / 2);
                }
            }
        }
    }
}

/// Transposes planes, `piece` runs of a destination row at a time: the runs of some source rows in one
/// column, then in the next column, which goes to the next destination row.
///
/// # Safety
///
/// * In every iteration, the plane's span is readable on the source and writable on the destination.
#[inline(always)]
unsafe fn in_pieces<V: Vector>(walk: &Walk<'_>, plane: &Plane, piece: usize, distance: usize) {
    let Plane { unit: run, columns, rows, .. } = plane;
    let run = *run;
    let whole_lines = walk.streaming && columns.are_multiples_of(LINE);
    for iteration in walk.iterations() {
        let Iteration { from, to, later, .. } = iteration;
        let streaming = whole_lines && to.align_offset(LINE) == 0;
        for first in (0..rows.extent).step_by(piece) {
            let last = (first + piece).min(rows.extent);
            for column in 0..columns.extent {
                if distance > 0 {
                    // While a column is copied, a share of the rows is prefetched, so that prefetches are
                    // spread over all columns.
                    let share = |column: usize| first + distance + (last - first) * column / columns.extent;
                    // SAFETY: a prefetch may be given any address.
                    unsafe { prefetch_rows::<V>(plane, (from, later), share(column)..share(column + 1)) };
                }
                // SAFETY: `column` is a column of the plane, so its first run is in the plane's span.
                let (from, to) = unsafe { (from.add(column * run), to.add(columns.offset(column))) };
                let mut row = first;
                if streaming && run * 2 == LINE {
                    // Runs are halves of a line. Two of them make a line, which is stored as a whole.
                    while row + 2 <= last {
                        // SAFETY: both runs are in rows below `last`. The line that they make is aligned:
                        // destination rows start at lines, and `row` is even, as `first` is.
                        unsafe {
                            let (low, high) = (from.add(rows.offset(row)), from.add(rows.offset(row + 1)));
                            stream_line::<V>(low, high, to.add(row * run));
                        }
                        row += 2;
                    }
                }
                for row in row..last {
                    // SAFETY: `row` is a row of the plane, so its run is in the plane's span.
                    let (from, to) = unsafe { (from.add(rows.offset(row)), to.add(row * run)) };
                    if streaming && run.is_multiple_of(LINE) {
                        for at in (0..run).step_by(LINE) {
                            // SAFETY: the run is whole lines, so the line from byte `at` on is inside the
                            // run. The destination row starts at a line.
                            unsafe { stream_line::<V>(from.add(at), from.add(at + LINE / 2), to.add(at)) };
                        }
                    } else {
                        // SAFETY: `from` and `to` are the addresses of a run of the plane, of `run` bytes.
                        unsafe { copy_run::<V>(from, to, run, None) };
                    }
                }
            }
        }
    }
}

/// Prefetches some source rows of a plane. Numbers after its last row mean rows of the plane at `later`.
///
/// # Safety
///
/// The CPU has the features of `V`; there is no other condition.
#[inline(always)]
unsafe fn prefetch_rows<V: Vector>(plane: &Plane, (from, later): (*const u8, Option<*const u8>), rows: Range<usize>) {
    let extent = plane.rows.extent;
    for row in rows {
        let row = match row.checked_sub(extent) {
            None => from.wrapping_add(plane.rows.offset(row)),
            Some(row) => match later {
                Some(later) if row < extent => later.wrapping_add(plane.rows.offset(row)),
                _ => break,
            },
        };
        for at in (0..plane.source_row()).step_by(LINE) {
            // SAFETY: a prefetch may be given any address.
            unsafe { V::prefetch(row.wrapping_add(at)) };
        }
    }
}

/// Stores a line with non-temporal stores. The line is loaded as two halves.
///
/// # Safety
///
/// * Half a line is readable at `low` and at `high`.
/// * A line is writable at `to`, which is a multiple of a line.
#[inline(always)]
unsafe fn stream_line<V: Vector>(low: *const u8, high: *const u8, to: *mut u8) {
    const { assert!(V::BYTES == LINE || V::BYTES * 2 == LINE) };
    debug_assert!(to.align_offset(LINE) == 0);
    // SAFETY: a line is one vector or two, so the stores are inside the line at `to`, and aligned.
    unsafe {
        if V::BYTES == LINE {
            V::load_halves(low, high).stream(to);
        } else {
            let (low, high) = (V::load(low), V::load(high));
            low.stream(to);
            high.stream(to.add(LINE / 2));
        }
    }
}
