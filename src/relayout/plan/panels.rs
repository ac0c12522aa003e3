//! Cuts large planes into panels, and decides which panels go through a staging buffer.
//!
//! `strided_copy::kernel::Panels` explains panels and staging buffers. This module chooses the sizes of
//! panels, by three observations:
//!
//! * A panel and the next panel, which is prefetched meanwhile, together fit half of the L2 cache. If a row
//!   pitch is whole pages, the runs on both sides have 512 bytes, because every row takes an entry of the
//!   TLB, and the lines of a column take few sets of the cache. Otherwise there are more and shorter rows.
//! * If more destination rows share a set of the L1 cache than a set has ways, the lines that a block writes
//!   would evict each other. A staging buffer then collects the lines.
//! * Non-temporal stores must write whole lines. If destination rows start inside lines, the partial line at
//!   the end of a row is kept until the row continues.
#![allow(clippy::arithmetic_side_effects, reason = "extents and pitches of a plane that is inside two buffers")]

use strided_copy::Prefetch;
use strided_copy::kernel::{
    Axis, KEPT_COLUMNS, Loop, Panels, Plane, PlaneRuns, RUN_COLUMNS, RunOrder, Stage, Transpose, fills_lines,
    is_in_register,
};

use super::cost::{
    DRAINED_LINES, FEW_COLUMNS, FEW_DRAINED_LINES, FEW_ROWS, LINE, LONG_PIECE, LONG_RUN, MORE_STAGED_LINES,
    MOST_LISTED, MOST_STREAMS, PAGE, PAIRED_ROW, PANEL_PREFETCH, PANEL_ROWS, PANEL_RUN, PREFETCH_DISTANCE, RUN_PIECE,
    SMALL_PANEL, STAGED_LINES, TLB_PITCH, TLB_ROWS,
};
use super::machine::{Knobs, Site, iterations_ahead, number};

/// Panels that are as large as the plane, without a staging buffer.
const WHOLE: Panels = Panels {
    height: u32::MAX,
    width: u32::MAX,
    kept: u32::MAX,
    ahead: 0,
    stage: Stage::None,
    whole_lines: false,
    near: false,
    scattered: false,
};

pub(super) fn of_units(plane: &Plane, site: Site<'_>) -> (Transpose, Prefetch) {
    let whole_lines = site.streaming && plane.columns.are_multiples_of(LINE);
    let panels =
        if site.streaming && !whole_lines { continued(plane, site) } else { in_lines(plane, whole_lines, site) };
    let (columns, rows) = (number(plane.columns.extent), number(plane.rows.extent));
    let whole = columns <= panels.width.min(panels.kept) && rows <= panels.height && columns.max(rows) <= MOST_LISTED;
    if whole && panels.ahead == 0 && panels.stage == Stage::None && !panels.whole_lines {
        return (Transpose::Panel { scattered: panels.scattered }, Prefetch::None);
    }
    (Transpose::Panels(panels), later_planes(plane, site))
}

pub(super) fn of_runs(plane: &Plane, loops: &[Loop], site: Site<'_>) -> (Transpose, Prefetch) {
    let Plane { unit, columns, rows, .. } = plane;
    let Site { streaming, knobs, .. } = site;
    // Runs that fill whole lines of the destination are streamed without a staging buffer.
    let whole_lines = fills_lines(plane)
        && columns.are_multiples_of(LINE)
        && loops.iter().all(|step| step.moves_destination_by(LINE));
    if streaming && !whole_lines {
        return (Transpose::Panels(continued(plane, site)), later_planes(plane, site));
    }
    let conflicts = columns.extent > knobs.l1_ways && columns.are_multiples_of(knobs.l1_way);
    // Units of half a line are read from two source rows in turns. Then the hardware prefetcher follows the
    // rows only if they are short.
    let followed = *unit >= LINE || plane.source_row() < PAIRED_ROW;
    let source_order = followed && columns.extent <= MOST_STREAMS;
    // Of destination rows that share a set of the L1 cache, longer parts are written at a time.
    let long = !streaming && conflicts;
    let few = match conflicts {
        true => FEW_COLUMNS,
        false if columns.extent <= FEW_ROWS => FEW_ROWS,
        false => 0,
    };
    let constant = plane.has_constant_pitches();
    let order = if constant && streaming && source_order {
        RunOrder::Source
    } else if constant && !streaming && few > 0 && matches!(unit, 32 | 64 | 128) {
        RunOrder::FewColumns(u8::try_from(few).unwrap_or(u8::MAX))
    } else {
        let piece = (if long { LONG_PIECE } else { RUN_PIECE } / unit).max(2).next_multiple_of(2);
        RunOrder::Pieces(u16::try_from(piece).unwrap_or(2))
    };
    let source_row = plane.source_row();
    let ahead = match order {
        // Source rows less than a line apart are almost one run, which the hardware prefetcher follows.
        RunOrder::Source => {
            let apart = rows.stride().is_some_and(|pitch| pitch >= source_row + LINE);
            let at_once = if *unit < LINE { 2 } else { 1 };
            let ahead = PREFETCH_DISTANCE.div_ceil(source_row).next_multiple_of(at_once).min(rows.extent);
            if site.prefetch && apart { ahead } else { 0 }
        }
        RunOrder::Pieces(piece) if site.prefetch && source_row < LONG_RUN => {
            (PREFETCH_DISTANCE / source_row).max(1).next_multiple_of(usize::from(piece)).min(rows.extent)
        }
        RunOrder::Pieces(_) | RunOrder::FewColumns(_) => 0,
    };
    let unaligned = streaming.then(|| continued(plane, site));
    (Transpose::Runs(PlaneRuns { order, ahead: number(ahead), unaligned }), later_planes(plane, site))
}

fn later_planes(plane: &Plane, site: Site<'_>) -> Prefetch {
    if site.prefetch { iterations_ahead(plane.source_row() * plane.rows.extent) } else { Prefetch::None }
}

/// Returns the panels for non-temporal stores to rows that start inside cache lines.
fn continued(plane: &Plane, site: Site<'_>) -> Panels {
    let (unit, columns, rows) = (plane.unit, plane.columns.extent, plane.rows.extent);
    let in_register = is_in_register(unit);
    let at_once = if in_register { LINE / unit } else { RUN_COLUMNS };
    let lines = if in_register && unit < 4 { FEW_DRAINED_LINES } else { DRAINED_LINES };
    let row_bytes = rows * unit;
    // A run that a later panel continues must have at least a line. If destination rows are joined, such a
    // run is all rows in a staging buffer together. Otherwise it has the units of a panel's height.
    let joined =
        plane.columns.stride() == Some(row_bytes) && (LINE..=at_once * lines * LINE).contains(&(at_once * row_bytes));
    let one_tlb_set = plane.rows.are_multiples_of(TLB_PITCH);
    let most = lines * LINE / unit;
    let height =
        if one_tlb_set && !joined { most.min(tlb_rows(&plane.rows).max(LINE.div_ceil(unit))) } else { most }.min(rows);
    let width = (width(site.knobs, plane, height, 2 * site.knobs.panel_width, 2 * SMALL_PANEL) / unit).max(at_once);
    let width = width - width % at_once;
    let ahead = (PANEL_PREFETCH / (height * width * unit)).max(1);
    Panels {
        height: number(height),
        width: number(width),
        kept: number(KEPT_COLUMNS.min(columns)),
        ahead: if site.prefetch { number(ahead) } else { 0 },
        stage: Stage::Continue { lines: u8::try_from(lines).unwrap_or(0), joined },
        ..WHOLE
    }
}

/// Returns the panels for ordinary stores, or for non-temporal stores to rows that start at cache lines.
fn in_lines(plane: &Plane, whole_lines: bool, site: Site<'_>) -> Panels {
    let Site { streaming, prefetch, knobs, .. } = site;
    let (unit, register) = (plane.unit, knobs.level.register());
    let own_order = knobs.scattered && !streaming && register == LINE;
    let (columns, rows) = (plane.columns.extent, plane.rows.extent);
    let conflicts = !streaming && rows_in_set(&plane.columns, LINE / unit, knobs) > knobs.l1_ways;
    let scattered = own_order && unit >= 4;
    let in_cache = !streaming && !prefetch && !conflicts;
    let plain = Panels { height: number(rows), scattered: knobs.scattered && !streaming, ..WHOLE };
    if in_cache && plane.micro_tile.is_none() && (rows <= PANEL_ROWS || scattered) {
        return plain;
    }
    let one_tlb_set =
        plane.rows.are_multiples_of(TLB_PITCH) && (plane.columns.stride().is_some() || plane.rows.stride().is_none());
    // All limits are powers of two, so that the height of a panel fills whole lines of the destination.
    let most_rows = match plane.rows.are_multiples_of(PAGE) {
        _ if one_tlb_set => tlb_rows(&plane.rows).max(LINE / unit),
        _ if scattered => usize::MAX,
        true if whole_lines => (PANEL_RUN / unit).min(PANEL_ROWS),
        _ => PANEL_ROWS,
    };
    let height = rows.min(most_rows);
    let width = width(knobs, plane, height, knobs.panel_width, 4 * SMALL_PANEL);
    let width = (width - width % LINE).max(LINE) / unit;
    let panels = columns.div_ceil(width);
    // At most a row of panels ahead, so that the prefetched panel is in the next row of panels, or in the
    // next plane.
    let ahead = (PANEL_PREFETCH / (height * width * unit)).clamp(1, panels);
    // If source rows are less than a page apart, they are read almost as one run. Then it is enough to
    // prefetch into the L2 cache.
    let apart = rows > 1 && plane.rows.offset(0).abs_diff(plane.rows.offset(1)) >= PAGE;
    // If rows are spread over the sets of the L1 cache, their prefetched lines stay in the L1 cache until
    // they are read. If rows are whole pages apart, or begin inside lines, panels that are prefetched into
    // the L1 cache take 1.1 to 1.3 times as long (Zen 5).
    let spread = plane.rows.are_multiples_of(LINE) && !plane.rows.are_multiples_of(PAGE);
    let stage = match u8::try_from(height / (LINE / unit)).unwrap_or(u8::MAX) {
        MORE_STAGED_LINES.. if conflicts => Stage::Lines(MORE_STAGED_LINES),
        STAGED_LINES.. if conflicts => Stage::Lines(STAGED_LINES),
        _ => Stage::None,
    };
    Panels {
        height: number(height),
        width: number(width),
        stage,
        whole_lines,
        ahead: if prefetch { number(ahead) } else { 0 },
        near: unit >= 4 && apart && knobs.panels_in_l1.unwrap_or(spread || register < LINE),
        ..plain
    }
}

/// The most rows of a panel, if the pitch of its rows is a multiple of [`TLB_PITCH`].
fn tlb_rows(rows: &Axis) -> usize {
    if rows.are_multiples_of(8 * TLB_PITCH) { TLB_ROWS } else { 2 * TLB_ROWS }
}

/// How many of `rows` rows with the pitch of an axis share a set of the L1 cache.
fn rows_in_set(axis: &Axis, rows: usize, knobs: &Knobs) -> usize {
    let way = knobs.l1_way.trailing_zeros();
    (rows << axis.stride().map_or(0, usize::trailing_zeros).min(way)) >> way
}

/// The length of a source row of a panel, in bytes: the fewer rows, the longer. Rows have at least `least`
/// bytes; if the row pitch is whole pages, they are so long that the panel has `large` bytes.
fn width(knobs: &Knobs, plane: &Plane, height: usize, least: usize, large: usize) -> usize {
    if plane.rows.are_multiples_of(PAGE) {
        (large / height).clamp(2 * knobs.panel_width, PAGE).min(knobs.panel / height)
    } else {
        (SMALL_PANEL / height).clamp(least, 4 * knobs.panel_width)
    }
}
