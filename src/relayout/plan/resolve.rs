//! Chooses which kernel runs: in which panels, through which staging buffer, and how far ahead it prefetches.
//! No other file makes these choices.
//!
//! [`select`](super::select) takes loops out of a box until one iteration of the remaining loops is a
//! [`Kernel`]: runs of bytes, a plane to be transposed, blocks to be permuted, rows of bits. The numbers of
//! this kernel say *what* is copied. [`resolve`] considers these numbers, the loops around the kernel, the
//! size of the whole copy ([`Site`]) and the machine, and sets *by* which code the kernel runs. Nothing is
//! decided after that. The kernel crate dispatches on the kernel once, and `explain` prints it.
//!
//! ```text
//! kernel     code, the first that fits
//! runs       one run repeated; words; scattered lines (in L2); halves (in a cache); memcpy; line by line
//! blocks     permuted in registers
//! channels   picked in registers
//! plane      16-byte blocks; interleave or deinterleave in registers; unit by unit; one panel; panels
//!   of runs  blocks permuted in registers; panels (lines that do not fit); lines in source order; few columns; pieces
//! bits       interleaved in registers; unpacked or packed in registers
//! ```
//!
//! The thresholds are in [`cost`](super::cost), each with the CPU on which it was found.
//! [`panels`](super::panels) cuts planes into panels.
#![allow(clippy::arithmetic_side_effects, reason = "extents and pitches of a shape that is inside two buffers")]

use strided_copy::kernel::{
    Axis, Direction, Kernel, Loop, MOST_INTERLEAVED, Plane, Rows, Runs, Stride, Transpose, WidthChange, has_shuffle,
    is_in_register,
};
use strided_copy::{Access, Prefetch, SMALL_PROGRAM};

use super::cost::{
    FEW_LANES, FEW_RUNS, JOINED_RUN, LINE, LONG_RUN, LONGEST_SCATTERED, MEMCPY_FROM, NARROW, PAGE, PREFETCH_DISTANCE,
    PREFETCH_IN_RUN, SMALL, SMALL_PLANE, SQUARES,
};
use super::machine::{Knobs, Site, iterations_ahead, number};
use super::panels;
use super::permutation;

/// Chooses by which code a kernel runs, and writes the choice into the kernel. Returns how the copy loads and
/// stores.
pub(crate) fn resolve(kernel: &mut Kernel, loops: &[Loop], site: Site<'_>) -> Access {
    let prefetch;
    match kernel {
        Kernel::Runs { run, count, by } => (*by, prefetch) = runs(*run, *count, site),
        Kernel::Transpose { plane, by } => match permutation::interleaved(plane, site) {
            Some(blocks) => {
                // The hardware prefetcher follows the long rows of large planes. If the plane is small, or
                // its rows are short, the next plane is prefetched.
                let bytes = plane.source_row() * plane.rows.extent;
                let short = site.prefetch && (bytes < SMALL_PLANE || plane.source_row() < LONG_RUN);
                prefetch = if short { iterations_ahead(bytes) } else { Prefetch::None };
                *kernel = Kernel::PermuteBlocks(blocks);
            }
            None => (*by, prefetch) = transpose(plane, loops, site),
        },
        Kernel::PermuteBlocks(_) if site.prefetch => prefetch = Prefetch::InRow(number(PREFETCH_IN_RUN)),
        Kernel::Table { .. } | Kernel::PermuteBlocks(_) | Kernel::Channels(_) => prefetch = Prefetch::None,
        Kernel::InterleaveBits { rows, by } => {
            let deinterleaves = rows.direction == Direction::Deinterleave;
            *by = match deinterleaves {
                true => collected(rows.row, rows.pitch.cast_signed(), loops, site),
                false => Rows::Direct,
            };
            prefetch = rows_ahead(rows.row, rows.rows(), !deinterleaves, site);
        }
        Kernel::ChangeWidth(row) => {
            let length = if row.change == WidthChange::Pack { row.unpacked() } else { row.packed };
            prefetch = rows_ahead(length, 1, false, site);
        }
    }
    Access { streaming: site.streaming, prefetch }
}

fn runs(run: usize, count: Stride, site: Site<'_>) -> (Runs, Prefetch) {
    let Site { streaming, prefetch, .. } = site;
    let repeats = count.source == 0
        && usize::try_from(count.destination) == Ok(run)
        && run.is_power_of_two()
        && run <= site.register();
    // Stores across two lines are slow in a scattered order, so this order is for runs that begin at lines.
    let in_lines = usize::try_from(count.destination).is_ok_and(|pitch| pitch.is_multiple_of(LINE));
    let scattered = site.knobs.scattered && !streaming && in_lines && (4 * LINE + 1..LONGEST_SCATTERED).contains(&run);
    match run {
        _ if repeats => (Runs::Repeat, Prefetch::None),
        1 | 2 | 4 | 8 | 12 | 16 => {
            // Only few runs are prefetched: many prefetches would fill the queue of outstanding misses.
            let few = prefetch && count.extent <= FEW_RUNS;
            (Runs::Words, if few { iterations_ahead(run * count.extent) } else { Prefetch::None })
        }
        _ if scattered => (Runs::Scattered, Prefetch::None),
        17..=256 if !streaming && !prefetch => (Runs::Halves, Prefetch::None),
        MEMCPY_FROM.. if !streaming => (Runs::Memcpy, Prefetch::None),
        // The hardware prefetcher follows long runs.
        _ if !prefetch || run >= LONG_RUN => (Runs::Lines { ahead: 0 }, Prefetch::None),
        _ => {
            let ahead = (PREFETCH_DISTANCE / run).clamp(1, count.extent.max(1));
            (Runs::Lines { ahead: number(ahead) }, iterations_ahead(run.saturating_mul(count.extent)))
        }
    }
}

fn transpose(plane: &Plane, loops: &[Loop], site: Site<'_>) -> (Transpose, Prefetch) {
    let Plane { unit, columns, rows, micro_tile } = plane;
    let (unit, columns, rows) = (*unit, columns.extent, rows.extent);
    let register = site.register();
    if !is_in_register(unit) {
        return panels::of_runs(plane, loops, site);
    }
    if unit == 16
        && !site.streaming
        && micro_tile.is_none()
        && columns * rows <= FEW_LANES
        && plane.has_constant_pitches()
    {
        return (Transpose::Squares, Prefetch::None);
    }
    if matches!(unit, 4 | 8) && micro_tile.is_none() && is_square(plane, loops, site) {
        return (Transpose::Squares, Prefetch::None);
    }
    if micro_tile.is_some() || columns.min(rows) > MOST_INTERLEAVED {
        return panels::of_units(plane, site);
    }
    // The number of units in a register.
    let units = register / unit;
    let fills_registers = site.knobs.fills_registers.unwrap_or(site.streaming);
    let small = columns * rows <= if unit < 4 { SMALL / 2 } else { SMALL };
    // If there are as many rows as a register has units, or twice as many, `fills_registers` decides: such
    // rows may also be transposed in blocks, which avoid cache-set conflicts. If the rows of a small plane do
    // not fill a register, interleaving takes longer than copying unit by unit.
    let few = |count: usize, row: usize| match count {
        _ if small && row * unit < register => false,
        2..=4 => units > count,
        8 => units > 8 || units == 8 && fills_registers,
        16 => units > 16 || units >= 8 && fills_registers,
        _ => false,
    };
    if plane.interleaves().is_some() && few(rows, columns) && has_shuffle(unit, rows) {
        let prefetch = rows_ahead(columns * unit, rows, true, site);
        return (Transpose::Interleave(Rows::Direct), prefetch);
    }
    if let Some(pitch) = plane.deinterleaves()
        && few(columns, rows)
        && has_shuffle(unit, columns)
    {
        let by = collected(rows * unit, pitch, loops, site);
        return (Transpose::Deinterleave(by), rows_ahead(rows * unit, columns, false, site));
    }
    let narrow = small || columns.min(rows) * NARROW <= units && unit <= 2;
    if narrow && unit < 16 {
        return (Transpose::Units, Prefetch::None);
    }
    panels::of_units(plane, site)
}

/// Whether a plane consists of whole squares that fill registers, or is one square with rows of half a line,
/// and all of its rows, on either side, stay in the L1 cache. Either planes follow each other without a gap,
/// so that the hardware prefetcher follows them, or the copy must be in the L2 cache.
fn is_square(plane: &Plane, loops: &[Loop], site: Site<'_>) -> bool {
    let bytes = (plane.columns.extent * plane.rows.extent * plane.unit).cast_signed();
    let follow = |step: Stride| (step.source, step.destination) == (bytes, bytes);
    let near_l2 = !site.prefetch || loops.last().and_then(Loop::stride).is_some_and(follow);
    let units = site.register() / plane.unit;
    let (columns, rows) = (plane.columns.extent, plane.rows.extent);
    let is_half = columns == rows && columns * plane.unit == LINE / 2;
    let whole = is_half || columns.is_multiple_of(units) && rows.is_multiple_of(units);
    let near = |axis: &Axis| axis.stride().is_some_and(|pitch| pitch * axis.extent <= SQUARES);
    whole && !site.streaming && near_l2 && near(&plane.columns) && near(&plane.rows)
}

/// Whether destination rows of `row` bytes go through a staging buffer, and in which of the two ways.
fn collected(row: usize, pitch: isize, loops: &[Loop], site: Site<'_>) -> Rows {
    if !site.streaming || SMALL_PROGRAM {
        return Rows::Direct;
    }
    match joined_iterations(row, pitch, loops, site.knobs) {
        0 if pitch.unsigned_abs().is_multiple_of(LINE) && site.register() < LINE => Rows::Staged,
        0 => Rows::Direct,
        runs => Rows::Joined(runs),
    }
}

/// How many neighbouring iterations are joined in a staging buffer: iterations that write short runs side by
/// side, in rows that are whole pages apart. 0 if no iterations are joined.
fn joined_iterations(row: usize, pitch: isize, loops: &[Loop], knobs: &Knobs) -> u16 {
    let whole_pages = usize::try_from(pitch).is_ok_and(|pitch| pitch.is_multiple_of(PAGE));
    if row > knobs.joined_up_to() || row == 0 || !whole_pages {
        return 0;
    }
    let Some(Stride { extent, destination, .. }) = loops.last().and_then(Loop::stride) else { return 0 };
    let runs = (2..=JOINED_RUN / row).rev().find(|&runs| extent.is_multiple_of(runs)).unwrap_or(0);
    let side_by_side = usize::try_from(destination) == Ok(row);
    if side_by_side && runs * row >= 2 * LINE { u16::try_from(runs).unwrap_or(0) } else { 0 }
}

/// Returns the prefetch for a kernel that reads `rows` source rows of `row` bytes in each iteration. If the
/// rows are not `apart`, they are one long row.
fn rows_ahead(row: usize, rows: usize, apart: bool, site: Site<'_>) -> Prefetch {
    match row * rows {
        _ if !site.prefetch => Prefetch::None,
        // The hardware prefetcher follows a few long rows, so nothing has to be prefetched.
        _ if apart && rows > 1 && row >= LONG_RUN => Prefetch::None,
        LONG_RUN.. if !apart || rows == 1 => Prefetch::InRow(number(PREFETCH_IN_RUN)),
        bytes => iterations_ahead(bytes),
    }
}
