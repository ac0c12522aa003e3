//! Cuts large planes into panels, and decides which panels go through a staging buffer.
//!
//! `strided_copy::kernel::Panels` explains panels and staging buffers. This module chooses their sizes, by
//! three observations:
//!
//! * A panel and the next panel, which is prefetched meanwhile, fit half of the L2 cache together. If a row
//!   pitch is whole pages, the panel is as high as this allows and at most a page wide, because every row
//!   takes an entry of the TLB. Otherwise the rules of the machine give the width.
//! * If more destination rows share a set of the L1 cache than the cache has ways, the lines of a block would
//!   evict each other. A staging buffer then collects the lines.
//! * Non-temporal stores must write whole lines. If destination rows start inside lines, the partial line at
//!   the end of a row is kept until the row continues.
#![allow(clippy::arithmetic_side_effects, reason = "extents and pitches of a plane that is inside two buffers")]

use strided_copy::Prefetch;
use strided_copy::kernel::{
    Axis, KEPT_COLUMNS, Loop, Panels, Plane, PlaneRuns, RUN_COLUMNS, RunOrder, Stage, Transpose, fills_lines,
    is_in_register,
};

use super::super::cpu_family::Staged;
use super::cost::{
    DRAINED_LINES, FEW_COLUMNS, FEW_DRAINED_LINES, FEW_ROWS, LARGEST_STAGED_RUN, LINE, LONG_PIECE, LONG_RUN, LOW_PANEL,
    MORE_STAGED_LINES, MOST_LISTED, MOST_STREAMS, PAGE, PAIRED_ROW, PANEL_PREFETCH, PANEL_ROWS, PREFETCH_DISTANCE,
    RUN_PIECE, STAGED_LINES, STAGED_RUN, STAGED_TABLE_RUN, STAGED_UNITS, TLB_PITCH, TLB_ROWS,
};
use super::machine::{Knobs, Site, iterations_ahead, number};

/// A whole plane as one panel without a staging buffer.
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
    // Units of half a line are read from two source rows in turns. The hardware prefetcher follows only short
    // rows then.
    let followed = *unit >= LINE || plane.source_row() < PAIRED_ROW;
    let source_order = followed && columns.extent <= MOST_STREAMS && knobs.rules.follows_rows;
    // Rows that share a set of the cache are written in longer pieces. With non-temporal stores, longer
    // pieces are also written if source rows are long and the hardware prefetcher follows them.
    let long = if streaming { columns.extent * unit >= LONG_RUN && knobs.rules.follows_rows } else { conflicts };
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
        // The hardware prefetcher follows rows that are almost one run.
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
    // A run that continues in the next panel has at least a line. If destination rows are joined, the run is
    // all rows that a staging buffer takes together, and otherwise the height of a panel.
    let joined =
        plane.columns.stride() == Some(row_bytes) && (LINE..=at_once * lines * LINE).contains(&(at_once * row_bytes));
    let one_tlb_set = plane.rows.are_multiples_of(TLB_PITCH);
    let most = lines * LINE / unit;
    let height = if one_tlb_set && !joined { most.min(TLB_ROWS.max(LINE.div_ceil(unit))) } else { most }.min(rows);
    let width = (width(site.knobs, plane, height).min(PAGE) / unit).max(at_once);
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

/// Returns the panels for ordinary stores, or for rows that start at cache lines.
fn in_lines(plane: &Plane, whole_lines: bool, site: Site<'_>) -> Panels {
    let Site { streaming, prefetch, knobs, .. } = site;
    let (unit, register) = (plane.unit, knobs.level.register());
    let own_order = knobs.rules.scattered && !streaming && register == LINE;
    let (columns, rows) = (plane.columns.extent, plane.rows.extent);
    let conflict = |axis| !streaming && rows_in_set(axis, LINE / unit, knobs) > knobs.l1_ways;
    let conflicts = conflict(&plane.columns);
    let scattered = own_order && unit >= 4;
    let in_cache = !streaming && !prefetch && !conflicts;
    let lines = |lines: usize| u8::try_from(lines).unwrap_or(0);
    let plain = Panels { height: number(rows), scattered: knobs.rules.scattered && !streaming, ..WHOLE };
    if in_cache && plane.micro_tile.is_none() && (rows <= PANEL_ROWS || scattered) {
        return plain;
    }
    let one_tlb_set =
        plane.rows.are_multiples_of(TLB_PITCH) && (plane.columns.stride().is_some() || plane.rows.stride().is_none());
    let staged_run = staged_run(plane, knobs, register / unit);
    // Destination rows that follow each other are drained whole, because together they are one run.
    let whole_rows = staged_run > 0
        && plane.columns.stride() == Some(rows * unit)
        && (rows * unit).is_power_of_two()
        && (2 * LINE..=LARGEST_STAGED_RUN).contains(&(rows * unit));
    let staged_run = if whole_rows { rows * unit } else { staged_run };
    let staged_run = if unit == 1 { staged_run.min(LARGEST_STAGED_RUN / 2) } else { staged_run };
    let staged_rows = if whole_lines { staged_run / unit } else { 0 };
    let most_rows = if scattered { usize::MAX } else { PANEL_ROWS };
    let most_rows = if one_tlb_set { TLB_ROWS.max(LINE / unit) } else { most_rows };
    // Registers of half a line stream faster from few rows, whose pages the TLB holds.
    let low = whole_lines && register < LINE && unit >= 4 && staged_rows == 0 && plane.rows.are_multiples_of(PAGE);
    let most_rows = if low { LOW_PANEL.0.min(most_rows) } else { most_rows };
    // Both numbers are powers of two, so this is a multiple of a line of rows.
    let height = rows.min(most_rows.max(staged_rows));
    let width = if low { (LOW_PANEL.1 * unit).min(PAGE) } else { width(knobs, plane, height) };
    let width = (width - width % LINE).max(LINE) / unit;
    let panels = columns.div_ceil(width);
    // The prefetched panel is at most in the next row of panels, or in the next plane.
    let ahead = (PANEL_PREFETCH / (height * width * unit)).clamp(1, panels);
    // If all rows are in one page, they are read almost as one run. Prefetches into the L2 cache are soon
    // enough then.
    let apart = rows > 1 && plane.rows.offset(0).abs_diff(plane.rows.offset(1)) >= PAGE;
    let stage = match (whole_lines, conflicts) {
        (true, _) if staged_run >= 2 * LINE && height >= staged_run / unit => Stage::Lines(lines(staged_run / LINE)),
        (false, true) if height >= MORE_STAGED_LINES * (LINE / unit) => Stage::Lines(lines(MORE_STAGED_LINES)),
        (false, true) if height >= STAGED_LINES * (LINE / unit) => Stage::Lines(lines(STAGED_LINES)),
        _ => Stage::None,
    };
    Panels {
        height: number(height),
        width: number(width),
        stage,
        whole_lines,
        ahead: if prefetch { number(ahead) } else { 0 },
        near: (unit >= 4 || staged_rows > 0) && apart && knobs.rules.panels_in_l1,
        ..plain
    }
}

/// How many of `rows` rows with the pitch of an axis share a set of the L1 cache.
fn rows_in_set(axis: &Axis, rows: usize, knobs: &Knobs) -> usize {
    let way = knobs.l1_way.trailing_zeros();
    (rows << axis.stride().map_or(0, usize::trailing_zeros).min(way)) >> way
}

/// The length of a panel's row in bytes. It is at most a page if the row pitch is whole pages. Otherwise the
/// rules of the machine give it.
fn width(knobs: &Knobs, plane: &Plane, height: usize) -> usize {
    if plane.rows.are_multiples_of(PAGE) {
        (knobs.panel / (height * plane.unit)).min(PAGE)
    } else {
        knobs.rules.panel_width
    }
}

/// The length of the runs that a staging buffer collects, in bytes. `units` is the number of units in a
/// register. 0 stands for no staging buffer.
fn staged_run(plane: &Plane, knobs: &Knobs, units: usize) -> usize {
    match (knobs.rules.staged, plane.has_constant_pitches()) {
        (Staged::ByPitches, true) if pitches_want_a_stage(plane, units) => STAGED_RUN,
        (Staged::InLongRegisters, true) if units >= STAGED_UNITS => STAGED_RUN,
        (Staged::InLongRegisters, false) => STAGED_TABLE_RUN,
        _ => 0,
    }
}

/// Whether a staging buffer is worth its cost. `units` is the number of units in a register. By trial (Zen
/// 4).
///
/// A register as long as a cache line writes lines one by one, which is as fast as a staging buffer. There
/// are two exceptions: both pitches are whole pages, or units of 1 or 2 bytes go to rows that are half pages
/// apart. Shorter registers gain from a staging buffer if the pitches are not whole pages. If the pitches are
/// whole pages, they gain only for units of one byte.
fn pitches_want_a_stage(plane: &Plane, units: usize) -> bool {
    let whole_pages = plane.rows.are_multiples_of(PAGE) && plane.columns.are_multiples_of(PAGE);
    let long = plane.destination_row() >= STAGED_RUN;
    if units.saturating_mul(plane.unit) >= LINE {
        whole_pages || plane.unit <= 2 && long && plane.columns.are_multiples_of(PAGE / 2)
    } else if whole_pages {
        plane.unit == 1
    } else {
        plane.unit <= 4 && long
    }
}
