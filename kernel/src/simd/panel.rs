//! Planes that are long both ways: in which order their blocks are transposed.
//!
//! Every block reads whole vectors and writes whole lines once, so only the order matters. Found by measuring (Z5):
//!
//! * Neighbouring lines are best written soon after each other: some 48 lines at one offset of different pages conflict. So the blocks of one strip, one line
//!   of the source wide, come first, which leaves runs in its destination rows.
//! * Reads are fastest in long runs of few rows, which is the opposite. So while a panel is transposed, the lines of the
//!   next one are prefetched row by row, one for every line that is read.

use std::ops::Range;

use super::block::{Level, Transposition};
use super::pitch::Pitch;
use super::prefetch::PanelPrefetch;
use super::stage::{Gather, Scatter};
use super::strips::{Strip, Strips};
use super::unaligned::Unaligned;
use super::vector::Vector;
use super::walk::Walk;
use crate::cost::{
    LARGEST_STAGED_RUN, LINE, MORE_STAGED_LINES, PAGE, PANEL_PREFETCH, STAGED_LINES, TLB_PITCH, TLB_ROWS,
};
use crate::knobs::{FEW_WAYS, Knobs};
use crate::nest::{Axis, MicroTile, Plane};

/// How many of so many rows with the pitch of an axis share a set of the L1 cache?
fn rows_in_set(axis: &Axis, rows: usize, knobs: &Knobs) -> usize {
    let way = knobs.l1_way.trailing_zeros();
    (rows << axis.stride().map_or(0, usize::trailing_zeros).min(way)) >> way
}

/// Transposes planes whose axes are constant pitches, or any.
///
/// # Safety
///
/// In every iteration, the plane's span is readable on the source and writable on the destination.
#[inline(always)]
pub(super) unsafe fn transpose_panels<V: Vector, const UNIT: usize, const IN_LANE: usize, const LANES: usize>(
    walk: &Walk<'_>,
    plane: &Plane,
) {
    let Plane { columns, rows, .. } = plane;
    // SAFETY: the same planes; the pitches are those of its axes.
    unsafe {
        match (rows.stride(), columns.stride()) {
            (Some(source), Some(destination)) => {
                panels::<V, UNIT, IN_LANE, LANES, usize>(walk, plane, (source, destination));
            }
            _ => panels::<V, UNIT, IN_LANE, LANES, &Axis>(walk, plane, (rows, columns)),
        }
    }
}

/// Transposes planes, panel by panel.
///
/// # Safety
///
/// The pitches are those of the plane's axes, source and destination. In every iteration, the plane's span is readable on the source and
/// writable on the destination.
#[inline(always)]
unsafe fn panels<V: Vector, const UNIT: usize, const IN_LANE: usize, const LANES: usize, P: Pitch>(
    walk: &Walk<'_>,
    plane: &Plane,
    pitches: (P, P),
) {
    let (source_pitch, destination_pitch) = pitches;
    // Panels are whole lines of rows, so that each begins as aligned as the first.
    const { assert!(TLB_ROWS.is_power_of_two() && LINE.is_power_of_two()) };
    debug_assert!(plane.unit == UNIT);
    let knobs = walk.knobs;
    let (columns, rows) = (plane.columns.extent, plane.rows.extent);
    let in_source_set = rows_in_set(&plane.rows, LINE / UNIT, knobs);
    let in_destination_set = rows_in_set(&plane.columns, LINE / UNIT, knobs);
    // Blocks of registers as long as a line read each line once and write it once.
    let may_stage = !walk.streaming && (knobs.staged_blocks > 1 || V::BYTES < LINE);
    let conflicts = may_stage && in_destination_set > knobs.l1_ways;
    // A plane of one line of rows is read once whatever is in the way: gathering pays where they exceed the ways twice.
    let twice = rows <= LINE / UNIT && !walk.permutes_blocks::<V>() || knobs.staged_blocks == 1;
    let most_in_set = if twice { 2 * knobs.l1_ways - 1 } else { knobs.l1_ways };
    let permuted = walk.permutes_blocks::<V>() && UNIT >= 4;
    let gather = may_stage && in_source_set > most_in_set && rows >= LINE / UNIT;
    let pages = plane.rows.are_multiples_of(PAGE);
    // Rows that evict each other from the cache can only be read once. Past the cache, few ways read them once too (by trial, Z4).
    let stay = !walk.streaming || knobs.l1_ways > FEW_WAYS;
    let in_groups = gather || stay && in_source_set <= knobs.l1_ways / 2 && !pages;
    let in_cache = !walk.streaming && !walk.prefetch && !conflicts && !gather;
    if in_cache && plane.micro_tile.is_none() && (rows <= knobs.panel_rows || permuted) {
        let in_l1 = 2 * columns * rows * UNIT <= knobs.l1_way * knobs.l1_ways;
        // SAFETY: the same planes.
        return unsafe {
            if in_l1 {
                V::vectorize(Strips::<UNIT, IN_LANE, true> { walk, plane, in_groups });
            } else {
                V::vectorize(Strips::<UNIT, IN_LANE, false> { walk, plane, in_groups });
            }
        };
    }
    let lines_fit = walk.streaming && plane.columns.are_multiples_of(LINE);
    if walk.streaming && !lines_fit {
        // SAFETY: the same planes. A function of its own, as its stages and what it keeps are some pages of the stack.
        return unsafe { V::vectorize(Unaligned::<P, UNIT, IN_LANE> { walk, plane, pitches, in_groups }) };
    }
    let micro_tile = plane.micro_tile.map(MicroTile::shuffle);
    let one_tlb_set =
        plane.rows.are_multiples_of(TLB_PITCH) && (plane.columns.stride().is_some() || plane.rows.stride().is_none());
    let staged_run = plane.staged_run(knobs, V::BYTES / UNIT);
    // Bytes that are not staged, in panels of twice as many rows: destination runs of 256 bytes are short (Z5).
    let times = if UNIT == 1 && V::BYTES == LINE && staged_run == 0 { 2 } else { 1 };
    let most_rows = times * (knobs.panel_rows - knobs.panel_rows % LINE).max(LINE);
    // Destination rows that follow each other are drained whole, if there is a kernel for their length: all of them are one run then.
    let whole_rows = staged_run > 0
        && plane.columns.stride() == Some(rows * UNIT)
        && (rows * UNIT).is_power_of_two()
        && (2 * LINE..=LARGEST_STAGED_RUN).contains(&(rows * UNIT));
    let staged_run = if whole_rows { rows * UNIT } else { staged_run };
    let staged_rows = if lines_fit { staged_run / UNIT } else { 0 };
    let most_rows = if permuted { usize::MAX } else { most_rows };
    let most_rows = if one_tlb_set { TLB_ROWS.max(LINE / UNIT) } else { most_rows };
    // A multiple of a line of rows, as both are: powers of two.
    let panel_rows = rows.min(most_rows.max(staged_rows));
    let width = if pages { (times * knobs.panel / panel_rows).min(PAGE) } else { knobs.panel_width };
    let width = (width - width % LINE).max(LINE) / UNIT;
    let panels = columns.div_ceil(width);
    // Not past the next row of panels, or the next plane.
    let distance = (PANEL_PREFETCH / (panel_rows * width * UNIT)).clamp(1, panels);
    // A plane that is one panel, and dense on the source: its lines are those of one run, whatever the order of its rows.
    let whole_source = panels == 1 && panel_rows == rows && plane.span().0 == columns * rows * UNIT;
    // Rows in one page are read nearly as one run, which the L2 cache has in time.
    let apart = rows > 1 && plane.rows.offset(0).abs_diff(plane.rows.offset(1)) >= PAGE;
    // A plane that is less than half an L1 cache is still there when it is transposed (Z5).
    let short = 2 * columns * rows * UNIT <= knobs.l1_way * knobs.l1_ways;
    let near = (UNIT >= 4 || staged_rows > 0) && apart && (knobs.panel_cache == 1 || short);
    // Two blocks stay in the L1 cache, into which the L2 cache gives what it was given (Z5).
    let next_near = walk.prefetch
        && knobs.panel_cache > 1
        && knobs.l1_ways > FEW_WAYS
        && plane.rows.stride().is_some()
        && in_source_set <= knobs.l1_ways / 2
        && !whole_source;
    for iteration in walk.iterations(columns * rows * UNIT) {
        let (from, to) = (iteration.from, iteration.to);
        // Whole lines can only be streamed if every destination row has them at the same places.
        let to_line = to.align_offset(LINE);
        let streaming = lines_fit && to_line.is_multiple_of(UNIT);
        let head = if streaming { (to_line / UNIT).min(rows) } else { 0 };
        let prefetch = walk.prefetch;
        let scatter = match (streaming, conflicts) {
            (true, _) => staged_run / LINE,
            (false, true) if panel_rows >= MORE_STAGED_LINES * (LINE / UNIT) => MORE_STAGED_LINES,
            (false, true) => STAGED_LINES,
            (false, false) => 0,
        };
        let transposition = Transposition {
            from,
            to,
            columns,
            rows,
            source_pitch,
            destination_pitch,
            streaming,
            in_order: columns == 1 || plane.columns.offset(1) < PAGE,
            prefetch,
            in_groups,
            source_in: Level::Memory,
            gather,
            permuted: walk.permutes_blocks::<V>(),
            next_near,
            scatter,
            micro_tile,
        };
        let lines_of = |from: *const u8, column: usize, row: usize| {
            if whole_source {
                return PanelPrefetch::run(from, source_pitch, (columns * rows * UNIT).div_ceil(LINE));
            }
            let lines = ((columns - column).min(width) * UNIT).div_ceil(LINE);
            let rows = row..(row + panel_rows).min(rows);
            PanelPrefetch::new(from.wrapping_add(column * UNIT), source_pitch, rows, lines)
        };
        // SAFETY: all columns and rows are of the plane, which is readable and writable by the caller's promise. With `streaming`, rows of a
        // panel begin `head` rows behind the first or a multiple of a line further on, where every destination row is aligned;
        // the rows before `head` are fewer than a line, and go to `Edge`, which streams no less than lines.
        unsafe {
            if head > 0 {
                let nothing = &mut PanelPrefetch::nothing(source_pitch);
                panel::<V, UNIT, IN_LANE, LANES, P>(&transposition, 0..columns, 0..head, nothing);
            }
            for row in (head..rows).step_by(panel_rows) {
                for column in (0..columns).step_by(width) {
                    // Some panels on: in this row of panels, in the next, or in the next plane.
                    let later = column / width + distance;
                    let next = match (prefetch, later < panels, row + panel_rows < rows, iteration.later) {
                        (true, true, ..) => lines_of(from, later * width, row),
                        (true, _, true, _) => {
                            lines_of(from, ((later - panels) * width).min(columns - 1), row + panel_rows)
                        }
                        (true, _, _, Some(later_plane)) => {
                            lines_of(later_plane, ((later - panels) * width).min(columns - 1), 0)
                        }
                        _ => PanelPrefetch::nothing(source_pitch),
                    };
                    let mut next = next.paced(near, one_tlb_set);
                    let (columns, rows) = (column..(column + width).min(columns), row..(row + panel_rows).min(rows));
                    panel::<V, UNIT, IN_LANE, LANES, P>(&transposition, columns, rows, &mut next);
                }
            }
        }
    }
}

/// Some columns of some rows.
///
/// # Safety
///
/// They lie inside the plane, the plane inside both sides; if `plane.streaming` is set, the destination rows are aligned to
/// a line where `rows` begins.
#[inline(always)]
unsafe fn panel<V: Vector, const UNIT: usize, const IN_LANE: usize, const LANES: usize, P: Pitch>(
    plane: &Transposition<P>,
    columns: Range<usize>,
    mut rows: Range<usize>,
    prefetch: &mut PanelPrefetch<P>,
) {
    let in_line = LINE / UNIT;
    // SAFETY: parts of the columns and of the rows; what is staged is a whole number of lines long, so that the rows behind it
    // begin aligned if the first did. `gather` is never set with `streaming`.
    unsafe {
        let lines = match plane.scatter {
            0 => 0,
            1..4 => 2,
            4..8 => STAGED_LINES,
            8..16 => 8,
            _ => 16,
        };
        let staged = if lines == 0 { 0 } else { rows.len() - rows.len() % (lines * in_line) };
        if staged > 0 {
            for column in columns.clone().step_by(IN_LANE * LANES) {
                let rows = rows.start..rows.start + staged;
                match lines {
                    2 => V::vectorize(Scatter::<P, UNIT, IN_LANE, 2> { plane, column, rows, prefetch }),
                    8 => V::vectorize(Scatter::<P, UNIT, IN_LANE, 8> { plane, column, rows, prefetch }),
                    16 => V::vectorize(Scatter::<P, UNIT, IN_LANE, 16> { plane, column, rows, prefetch }),
                    _ => V::vectorize(Scatter::<P, UNIT, IN_LANE, STAGED_LINES> { plane, column, rows, prefetch }),
                }
            }
            rows.start += staged;
        } else if plane.gather {
            let staged = rows.len() - rows.len() % in_line;
            // A line of rows of bytes is 64 of them: more lines of each would fill the L1 cache.
            let wide = if UNIT == 1 { STAGED_LINES } else { MORE_STAGED_LINES } * in_line;
            for row in (rows.start..rows.start + staged).step_by(in_line) {
                for column in columns.clone().step_by(wide) {
                    let columns = column..(column + wide).min(columns.end);
                    if UNIT == 1 {
                        V::vectorize(Gather::<P, UNIT, IN_LANE, STAGED_LINES> { plane, columns, row });
                    } else {
                        V::vectorize(Gather::<P, UNIT, IN_LANE, MORE_STAGED_LINES> { plane, columns, row });
                    }
                }
            }
            rows.start += staged;
        }
        let columns = if rows.is_empty() { 0..0 } else { columns };
        for column in columns.step_by(in_line) {
            let rows = rows.clone();
            if plane.streaming {
                V::vectorize(Strip::<P, UNIT, IN_LANE, true, false> { plane, column, rows, prefetch });
            } else {
                V::vectorize(Strip::<P, UNIT, IN_LANE, false, false> { plane, column, rows, prefetch });
            }
        }
        prefetch.issue::<V>(usize::MAX);
    }
}
