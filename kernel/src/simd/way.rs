//! Which way planes go: in which panels, by which stage, stored how.

use super::vector::Vector;
use super::walk::Walk;
use crate::cost::{
    DRAINED_LINES, FEW_DRAINED_LINES, KEPT_COLUMNS, LARGEST_STAGED_RUN, LINE, MORE_STAGED_LINES, PAGE, PANEL_PREFETCH,
    STAGED_LINES, TLB_PITCH, TLB_ROWS,
};
use crate::knobs::{FEW_WAYS, Knobs};
use crate::nest::{Axis, Plane};

/// How the planes of a walk are transposed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    /// Rows and columns of a panel.
    pub(super) height: usize,
    pub(super) width: usize,
    /// Columns that are transposed through all rows before the next ones.
    pub(super) kept: usize,
    pub(super) stage: Stage,
    /// Destination rows that begin lines, or any, are stored past the cache.
    pub(super) lines_fit: bool,
    /// How many panels ahead is prefetched; into the L1 cache; row by row; and whether a plane is one run of the source.
    pub(super) distance: usize,
    pub(super) near: bool,
    pub(super) one_tlb_set: bool,
    pub(super) whole_source: bool,
    /// See [`How`](super::block::How).
    pub(super) in_order: bool,
    pub(super) in_groups: bool,
    pub(super) in_cache: bool,
    pub(super) permuted: bool,
    pub(super) next_near: bool,
}

/// What a plane goes by way of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nothing.
    None,
    /// So many lines of each row of the source.
    Gather(usize),
    /// So many lines of each row of the destination, and through the cache from there.
    Scatter(usize),
    /// The same, and past the cache.
    Stream(usize),
    /// The same of rows that begin inside lines: what does not fill a line is kept until the row goes on. With `joined`, all rows of a plane follow
    /// each other.
    Continue { lines: usize, joined: bool },
}

/// How many of so many rows with the pitch of an axis share a set of the L1 cache?
fn rows_in_set(axis: &Axis, rows: usize, knobs: &Knobs) -> usize {
    let way = knobs.l1_way.trailing_zeros();
    (rows << axis.stride().map_or(0, usize::trailing_zeros).min(way)) >> way
}

/// Of a page, if a pitch is whole pages; else of the width that the machine wants.
fn width(knobs: &Knobs, plane: &Plane, height: usize, times: usize) -> usize {
    if plane.rows.are_multiples_of(PAGE) {
        (times * knobs.panel / (height * plane.unit)).min(PAGE)
    } else {
        knobs.panel_width
    }
}

impl Way {
    /// For planes of a walk, of whose columns a vector has `units`; 0 if their unit is none of a vector.
    pub(super) fn of<V: Vector>(walk: &Walk<'_>, plane: &Plane, units: usize) -> Way {
        let (knobs, unit) = (walk.knobs, plane.unit);
        let (columns, rows) = (plane.columns.extent, plane.rows.extent);
        let lines_fit = walk.streaming && plane.columns.are_multiples_of(LINE);
        let in_source_set = rows_in_set(&plane.rows, LINE / unit.min(LINE), knobs);
        // Rows that evict each other from the cache can only be read once. Past the cache, few ways read them once too (by trial, Z4).
        let stay = !walk.streaming || knobs.l1_ways > FEW_WAYS;
        let pages = plane.rows.are_multiples_of(PAGE);
        let in_groups = stay && in_source_set <= knobs.l1_ways / 2 && !pages;
        let plain = Way {
            height: rows,
            width: columns,
            kept: columns,
            stage: Stage::None,
            lines_fit: false,
            distance: 1,
            near: false,
            one_tlb_set: false,
            whole_source: false,
            in_order: true,
            in_groups,
            in_cache: true,
            permuted: walk.permutes_blocks::<V>(),
            next_near: false,
        };
        if walk.streaming && !lines_fit || units == 0 {
            return Way { in_cache: false, permuted: false, ..plain }.continued(knobs, plane, units);
        }
        plain.panels::<V>(walk, plane, lines_fit)
    }

    /// Rows that begin anywhere in a line, past the cache.
    fn continued(self, knobs: &Knobs, plane: &Plane, units: usize) -> Way {
        let (unit, columns, rows) = (plane.unit, plane.columns.extent, plane.rows.extent);
        let (at_once, lines) = match units {
            0 => (RUN_COLUMNS, DRAINED_LINES),
            _ if unit < 4 => (units, FEW_DRAINED_LINES),
            _ => (units, DRAINED_LINES),
        };
        let row_bytes = rows * unit;
        // A run that is continued is at least a line: of all rows that a stage takes, or of as many as a panel is high.
        let joined = plane.columns.stride() == Some(row_bytes)
            && (LINE..=at_once * lines * LINE).contains(&(at_once * row_bytes));
        let one_tlb_set = plane.rows.are_multiples_of(TLB_PITCH);
        let most = lines * LINE / unit;
        let height = if one_tlb_set && !joined { most.min(TLB_ROWS.max(LINE.div_ceil(unit))) } else { most }.min(rows);
        let width = (width(knobs, plane, height, 1).min(PAGE) / unit).max(at_once);
        let width = width - width % at_once;
        const { assert!(KEPT_COLUMNS.is_multiple_of(LINE)) };
        // What is left of a run is less than a line, and no two columns that are kept share a place.
        assert!(joined || height == rows || height * unit >= LINE, "a stage of less than a line");
        assert!(KEPT_COLUMNS.is_multiple_of(at_once), "columns that are kept end inside a stage");
        let distance = (PANEL_PREFETCH / (height * width * unit)).max(1);
        let (kept, stage) = (KEPT_COLUMNS.min(columns), Stage::Continue { lines, joined });
        Way { height, width, kept, stage, distance, one_tlb_set, ..self }
    }

    /// Rows that are stored through the cache, or begin lines.
    fn panels<V: Vector>(self, walk: &Walk<'_>, plane: &Plane, lines_fit: bool) -> Way {
        let (knobs, unit) = (walk.knobs, plane.unit);
        let (columns, rows) = (plane.columns.extent, plane.rows.extent);
        let in_source_set = rows_in_set(&plane.rows, LINE / unit, knobs);
        let in_destination_set = rows_in_set(&plane.columns, LINE / unit, knobs);
        // Blocks of registers as long as a line read each line once and write it once.
        let may_stage = !walk.streaming && (knobs.staged_blocks > 1 || V::BYTES < LINE);
        let conflicts = may_stage && in_destination_set > knobs.l1_ways;
        // A plane of one line of rows is read once whatever is in the way: gathering pays where they exceed the ways twice.
        let twice = rows <= LINE / unit && !self.permuted || knobs.staged_blocks == 1;
        let most_in_set = if twice { 2 * knobs.l1_ways - 1 } else { knobs.l1_ways };
        let permuted = self.permuted && unit >= 4;
        let gather = may_stage && !conflicts && in_source_set > most_in_set && rows >= LINE / unit;
        let in_cache = !walk.streaming && !walk.prefetch && !conflicts && !gather;
        if in_cache && plane.micro_tile.is_none() && (rows <= knobs.panel_rows || permuted) {
            return self;
        }
        let one_tlb_set = plane.rows.are_multiples_of(TLB_PITCH)
            && (plane.columns.stride().is_some() || plane.rows.stride().is_none());
        let staged_run = plane.staged_run(knobs, V::BYTES / unit);
        // Bytes that are not staged, in panels of twice as many rows: destination runs of 256 bytes are short (Z5).
        let times = if unit == 1 && V::BYTES == LINE && staged_run == 0 { 2 } else { 1 };
        let most_rows = times * (knobs.panel_rows - knobs.panel_rows % LINE).max(LINE);
        // Destination rows that follow each other are drained whole: all of them are one run then.
        let whole_rows = staged_run > 0
            && plane.columns.stride() == Some(rows * unit)
            && (rows * unit).is_power_of_two()
            && (2 * LINE..=LARGEST_STAGED_RUN).contains(&(rows * unit));
        let staged_run = if whole_rows { rows * unit } else { staged_run };
        let staged_run = if unit == 1 { staged_run.min(LARGEST_STAGED_RUN / 2) } else { staged_run };
        let staged_rows = if lines_fit { staged_run / unit } else { 0 };
        let most_rows = if permuted { usize::MAX } else { most_rows };
        let most_rows = if one_tlb_set { TLB_ROWS.max(LINE / unit) } else { most_rows };
        // A multiple of a line of rows, as both are: powers of two.
        let height = rows.min(most_rows.max(staged_rows));
        let width = width(knobs, plane, height, times);
        let width = (width - width % LINE).max(LINE) / unit;
        let panels = columns.div_ceil(width);
        // Not past the next row of panels, or the next plane.
        let distance = (PANEL_PREFETCH / (height * width * unit)).clamp(1, panels);
        // A plane that is one panel, and dense on the source: its lines are those of one run, whatever the order of its rows.
        let whole_source = panels == 1 && height == rows && plane.span().0 == columns * rows * unit;
        // Rows in one page are read nearly as one run, which the L2 cache has in time.
        let apart = rows > 1 && plane.rows.offset(0).abs_diff(plane.rows.offset(1)) >= PAGE;
        // A plane that is less than half an L1 cache is still there when it is transposed (Z5).
        let short = 2 * columns * rows * unit <= knobs.l1_way * knobs.l1_ways;
        let stage = match (lines_fit, conflicts) {
            (true, _) if staged_run >= 2 * LINE && height >= staged_run / unit => Stage::Stream(staged_run / LINE),
            (false, true) if height >= MORE_STAGED_LINES * (LINE / unit) => Stage::Scatter(MORE_STAGED_LINES),
            (false, true) if height >= STAGED_LINES * (LINE / unit) => Stage::Scatter(STAGED_LINES),
            _ if gather && unit == 1 => Stage::Gather(STAGED_LINES),
            _ if gather => Stage::Gather(MORE_STAGED_LINES),
            _ => Stage::None,
        };
        Way {
            height,
            width,
            stage,
            lines_fit,
            distance,
            near: (unit >= 4 || staged_rows > 0) && apart && (knobs.panel_cache == 1 || short),
            one_tlb_set,
            whole_source,
            in_order: columns == 1 || plane.columns.offset(1) < PAGE,
            in_groups: gather || self.in_groups,
            in_cache: gather,
            // Two blocks stay in the L1 cache, into which the L2 cache gives what it was given (Z5).
            next_near: walk.streaming
                && walk.prefetch
                && knobs.panel_cache > 1
                && knobs.l1_ways > FEW_WAYS
                && plane.rows.stride().is_some()
                && in_source_set <= knobs.l1_ways / 2
                && !whole_source,
            ..self
        }
    }
}

/// Columns of runs that are staged together. Not tuned.
pub(super) const RUN_COLUMNS: usize = 16;
