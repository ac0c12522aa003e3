//! Planes of long units, transposed run by run. Runs are rows of several elements, whole cache lines, or
//! halves of a line.

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
            // SAFETY: the conditions of `panels` are those of this function.
            return unsafe { panels::<V>(walk, plane, &cut) };
        }
        match order {
            // SAFETY: the pitches are those of the plane. The first destination row starts at a line, because
            // `unaligned` runs otherwise. So all destination rows start at lines (`Kernel::fit`).
            RunOrder::Source => unsafe { lines_in_source_order::<V>(walk, plane, pitches(), ahead) },
            RunOrder::FewColumns(few) => {
                let (pitches, few) = (pitches(), usize::from(few));
                for iteration in walk.iterations() {
                    // SAFETY: the pitches are those of the plane, and the unit of each arm is the plane's:
                    // `Kernel::fit` asks for 32, 64 or 128 bytes.
                    unsafe {
                        match plane.unit {
                            32 => few_columns::<32>(&iteration, plane, pitches, few),
                            64 => few_columns::<64>(&iteration, plane, pitches, few),
                            _ => few_columns::<128>(&iteration, plane, pitches, few),
                        }
                    }
                }
            }
            // SAFETY: the plane's span is in the contract. The function checks the alignment itself.
            RunOrder::Pieces(piece) => unsafe { in_pieces::<V>(walk, plane, usize::from(piece), ahead) },
        }
    }
}

/// Transposes planes with ordinary stores, a few columns at a time. The source rows of these columns are read
/// front to back, and one run of each source row goes to each destination row.
///
/// # Safety
///
/// * `plane.unit` is `RUN`. The pitches are the pitch of the source rows and the pitch of the destination
///   rows.
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
                // SAFETY: `row` and `column` are inside the plane, so `from` and `to` are the addresses of
                // one of its runs of `RUN` bytes.
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
/// and each destination row gets a line in turn.
///
/// # Safety
///
/// * The unit is a multiple of a line, or half a line.
/// * The pitches are the pitch of the source rows and the pitch of the destination rows. The destination
///   pitch is a multiple of a line, and every iteration starts at a line of the destination.
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
    // The distance on the source between the two halves of a destination line, and the number of rows that
    // are copied together.
    let (half, at_once) = if run < LINE { (source, 2) } else { (LINE / 2, 1) };
    for Iteration { from, to, later, .. } in walk.iterations() {
        for row in (0..rows - rows % at_once).step_by(at_once) {
            let ahead = match (row + distance).checked_sub(rows) {
                None => Some(from.wrapping_add((row + distance) * source)),
                Some(row) => later.map(|later| later.wrapping_add(row * source)),
            };
            let ahead = ahead.filter(|_| distance > 0);
            // SAFETY: `row` is below the number of rows, so all runs are inside the plane. `to` is aligned to
            // a line: `destination` and `at` are multiples of a line. `row * run` is also a multiple of a
            // line, because `row` is even if a run is half a line.
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
                // SAFETY: `from` and `to` are the addresses of a run of the last row. It is left over only if
                // a run is half a line.
                unsafe {
                    let (from, to) = (from.add(column * run + row * source), to.add(column * destination + row * run));
                    std::ptr::copy_nonoverlapping(from, to, LINE / 2);
                }
            }
        }
    }
}

/// Transposes planes in pieces. A piece is some runs of a destination row. The next piece is the runs in the
/// same source rows of the next destination row.
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
                    // Each column prefetches a share of the rows, so that the prefetches are spread over all
                    // columns.
                    let share = |column: usize| first + distance + (last - first) * column / columns.extent;
                    // SAFETY: a prefetch may be given any address.
                    unsafe { prefetch_rows::<V>(plane, (from, later), share(column)..share(column + 1)) };
                }
                // SAFETY: `column` is a column of the plane.
                let (from, to) = unsafe { (from.add(column * run), to.add(columns.offset(column))) };
                let mut row = first;
                if streaming && run * 2 == LINE {
                    // Two halves of a line are joined before the line is stored.
                    while row + 2 <= last {
                        // SAFETY: both rows are below `last`. The line is aligned: destination rows start at
                        // lines, and `row` is even, as `first` is.
                        unsafe {
                            let (low, high) = (from.add(rows.offset(row)), from.add(rows.offset(row + 1)));
                            stream_line::<V>(low, high, to.add(row * run));
                        }
                        row += 2;
                    }
                }
                for row in row..last {
                    // SAFETY: the row is a row of the plane.
                    let (from, to) = unsafe { (from.add(rows.offset(row)), to.add(row * run)) };
                    if streaming && run.is_multiple_of(LINE) {
                        for at in (0..run).step_by(LINE) {
                            // SAFETY: the run is whole lines, so the line from `at` on is inside it. The
                            // destination row starts at a line.
                            unsafe { stream_line::<V>(from.add(at), from.add(at + LINE / 2), to.add(at)) };
                        }
                    } else {
                        // SAFETY: `run` bytes are one run of the plane.
                        unsafe { copy_run::<V>(from, to, run, None) };
                    }
                }
            }
        }
    }
}

/// Prefetches some source rows of a plane. Rows after the last row are rows of the plane at `later`.
///
/// # Safety
///
/// There is no condition besides the features of `V`.
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
    // SAFETY: a vector is a line or half a line, so each store is inside the line at `to`, and aligned.
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
