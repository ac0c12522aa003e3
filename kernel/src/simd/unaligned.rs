//! Planes past the cache whose destination rows begin anywhere in a line: their lines are stored once and whole all the same.
//!
//! Some columns of a panel are transposed into a stage, in which every row begins a line. Each staged row is drained line by line of the
//! destination; what is left, less than a line, is kept until the panel below continues it. Short rows that follow each other
//! in the destination are staged as they follow, and drained as one run.

use std::ops::Range;

use super::block::Transposition;
use super::edge::StagedEdge;
use super::leftover::{Leftover, drain};
use super::pitch::Pitch;
use super::prefetch::PanelPrefetch;
use super::stage::Stage;
use super::vector::{Operation, Vector};
use super::walk::{Iteration, Walk};
use crate::cost::{DRAINED_LINES, FEW_DRAINED_LINES, KEPT_COLUMNS, LINE, PAGE, PANEL_PREFETCH, TLB_PITCH, TLB_ROWS};
use crate::nest::{MicroTile, Plane};

/// Columns and rows of a panel.
pub(super) type Panel = (Range<usize>, Range<usize>);

/// How some columns of some rows get into a stage.
pub(super) trait Fill<P>: Copy {
    /// How many columns a stage takes.
    fn columns<const LANES: usize>() -> usize;

    /// Transposes columns and rows of the plane at `from` into rows `pitch` bytes apart at `to`.
    ///
    /// # Safety
    ///
    /// The columns, at most as many as `columns` says, and the rows lie inside the plane, and the plane inside the source. As many staged rows as `columns`
    /// says are writable at `to`, and a line behind each, which may be the next row.
    unsafe fn fill<V: Vector, const LANES: usize>(
        self,
        from: *const u8,
        panel: Panel,
        to: (*mut u8, usize),
        prefetch: &mut PanelPrefetch<P>,
    );
}

/// Units of `UNIT` bytes are transposed in blocks of registers.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'a, P, const UNIT: usize, const IN_LANE: usize>(pub(super) &'a Transposition<P>);

impl<P: Pitch, const UNIT: usize, const IN_LANE: usize> Fill<P> for Blocks<'_, P, UNIT, IN_LANE> {
    #[inline(always)]
    fn columns<const LANES: usize>() -> usize {
        IN_LANE * LANES
    }

    #[inline(always)]
    unsafe fn fill<V: Vector, const LANES: usize>(
        self,
        from: *const u8,
        (columns, rows): Panel,
        (to, pitch): (*mut u8, usize),
        prefetch: &mut PanelPrefetch<P>,
    ) {
        let (units, in_line) = (IN_LANE * LANES, LINE / UNIT);
        let own = Transposition { streaming: false, ..*self.0 };
        debug_assert!(columns.len() <= units && columns.end <= own.columns && rows.end <= own.rows);
        // From the last line up: what a vector writes behind the end of a row, the row behind it writes over.
        for line in (0..rows.len().div_ceil(in_line)).rev() {
            let row = rows.start + line * in_line;
            let high = (rows.end - row).min(in_line);
            // SAFETY: a line of rows of the plane or fewer, and as many columns; so they are in the stage.
            unsafe {
                let to = to.add(line * LINE);
                if columns.len() == units && high == in_line {
                    let from = (from.add(columns.start * UNIT), own.source_pitch, row);
                    own.block::<V, UNIT, IN_LANE, LANES, P, usize>(from, (to, pitch, 0), prefetch);
                } else {
                    prefetch.issue::<V>(units);
                    let (plane, in_panel) = (self.0, row - rows.start);
                    let (columns, rows, to) = (columns.clone(), row..row + high, (to, pitch));
                    V::vectorize(StagedEdge::<P, UNIT, IN_LANE> { plane, from, columns, rows, in_panel, to });
                }
            }
        }
    }
}

/// Transposes planes of units.
pub(super) struct Unaligned<'a, P, const UNIT: usize, const IN_LANE: usize> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) plane: &'a Plane,
    pub(super) pitches: (P, P),
    /// See [`Transposition`].
    pub(super) in_groups: bool,
}

impl<P: Pitch, const UNIT: usize, const IN_LANE: usize> Operation for Unaligned<'_, P, UNIT, IN_LANE> {
    /// # Safety
    ///
    /// The unit of the plane is `UNIT`, and the pitches are those of its axes, source and destination. In every iteration, the plane's span is readable on
    /// the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let Unaligned { walk, plane, pitches, in_groups } = self;
        let micro_tile = plane.micro_tile.map(MicroTile::shuffle);
        let shared = Transposition { in_groups, micro_tile, ..Transposition::new(walk.start, plane, pitches) };
        let fill = Blocks::<P, UNIT, IN_LANE>(&shared);
        // SAFETY: the same planes.
        unsafe {
            if UNIT < 4 {
                unaligned_panels::<V, LANES, FEW_DRAINED_LINES, IN_LANE, P, _>(walk, plane, pitches, fill);
            } else {
                unaligned_panels::<V, LANES, DRAINED_LINES, IN_LANE, P, _>(walk, plane, pitches, fill);
            }
        }
    }
}

/// Transposes planes, in runs of `LINES` lines, as many columns at a time as `fill` takes: at most four times `IN_LANE`.
///
/// # Safety
///
/// `fill` is for the unit of the plane, and the pitches are those of its axes, source and destination. In every iteration, the plane's span is readable on
/// the source and writable on the destination.
#[inline(always)]
pub(super) unsafe fn unaligned_panels<
    V: Vector,
    const LANES: usize,
    const LINES: usize,
    const IN_LANE: usize,
    P: Pitch,
    F: Fill<P>,
>(
    walk: &Walk<'_>,
    plane: &Plane,
    pitches: (P, P),
    fill: F,
) {
    let (unit, columns, rows) = (plane.unit, plane.columns.extent, plane.rows.extent);
    let (at_once, row_bytes) = (F::columns::<LANES>(), rows * unit);
    // A run that is continued is at least a line: of all rows that a stage takes, or of as many as a panel is high.
    let joined =
        plane.columns.stride() == Some(row_bytes) && (LINE..=at_once * LINES * LINE).contains(&(at_once * row_bytes));
    let one_tlb_set = plane.rows.are_multiples_of(TLB_PITCH);
    let most_rows = LINES * LINE / unit;
    let height = if one_tlb_set && !joined { most_rows.min(TLB_ROWS.max(LINE.div_ceil(unit))) } else { most_rows };
    let height = height.min(rows);
    let row =
        if plane.rows.are_multiples_of(PAGE) { walk.knobs.panel / (height * unit) } else { walk.knobs.panel_width };
    let width = (row.min(PAGE) / unit).max(at_once);
    let width = width - width % at_once;
    let distance = (PANEL_PREFETCH / (height * width * unit)).max(1);
    let all = Panels { columns, rows, width, height, kept_from: 0, column: 0, row: 0 };
    let mut kept = [const { Leftover::NOTHING }; KEPT_COLUMNS];
    for iteration in walk.iterations(columns * rows * unit) {
        let mut later = Later { panels: all.clone(), planes: [Some(iteration.from), iteration.later], all: &all };
        later.by_ref().take(distance).for_each(drop);
        for (columns, rows) in all.clone() {
            let mut next = match later.next().filter(|_| walk.prefetch) {
                Some((from, (columns, rows))) => {
                    let lines = (columns.len() * unit).div_ceil(LINE);
                    PanelPrefetch::new(from.wrapping_add(columns.start * unit), pitches.0, rows, lines)
                }
                None => PanelPrefetch::nothing(pitches.0),
            }
            .paced(false, one_tlb_set);
            for column in columns.clone().step_by(at_once) {
                let part = Part::<P, F, LINES, IN_LANE> {
                    plane,
                    iteration,
                    destination: pitches.1,
                    columns: column..(column + at_once).min(columns.end),
                    rows: rows.clone(),
                    joined,
                    kept: &mut kept[if joined { 0 } else { column % KEPT_COLUMNS }..],
                    prefetch: &mut next,
                    fill,
                };
                // SAFETY: columns and rows of the plane; the leftovers of `KEPT_COLUMNS` columns from a multiple of as many on.
                unsafe { V::vectorize(part) };
            }
            // SAFETY: a prefetch may go anywhere.
            unsafe { next.issue::<V>(usize::MAX) };
        }
    }
}

/// The panels of a plane: from left to right, then down, through as many columns as leftovers are kept of; then the next columns.
#[derive(Clone)]
struct Panels {
    columns: usize,
    rows: usize,
    width: usize,
    height: usize,
    /// The first column of those whose leftovers are kept, and of the next panel, and its first row.
    kept_from: usize,
    column: usize,
    row: usize,
}

impl Iterator for Panels {
    type Item = Panel;

    #[inline(always)]
    fn next(&mut self) -> Option<Panel> {
        if self.kept_from >= self.columns {
            return None;
        }
        let kept_to = (self.kept_from + KEPT_COLUMNS).min(self.columns);
        let columns = self.column..(self.column + self.width).min(kept_to);
        let rows = self.row..(self.row + self.height).min(self.rows);
        self.column = columns.end;
        if columns.end == kept_to {
            (self.column, self.row) = (self.kept_from, rows.end);
            if rows.end == self.rows {
                (self.kept_from, self.column, self.row) = (kept_to, kept_to, 0);
            }
        }
        Some((columns, rows))
    }
}

/// The panels of a plane, then those of the next, with where these planes begin on the source.
struct Later<'a> {
    panels: Panels,
    planes: [Option<*const u8>; 2],
    all: &'a Panels,
}

impl Iterator for Later<'_> {
    type Item = (*const u8, Panel);

    #[inline(always)]
    fn next(&mut self) -> Option<(*const u8, Panel)> {
        loop {
            let plane = self.planes[0]?;
            if let Some(panel) = self.panels.next() {
                return Some((plane, panel));
            }
            (self.planes, self.panels) = ([self.planes[1], None], self.all.clone());
        }
    }
}

/// As many columns of a panel as a stage takes.
struct Part<'a, P, F, const LINES: usize, const IN_LANE: usize> {
    plane: &'a Plane,
    iteration: Iteration,
    /// Where the destination rows begin.
    destination: P,
    columns: Range<usize>,
    rows: Range<usize>,
    /// All rows, which follow each other in the destination.
    joined: bool,
    /// Of the first column and those after it; of all columns before if they are `joined`.
    kept: &'a mut [Leftover],
    prefetch: &'a mut PanelPrefetch<P>,
    fill: F,
}

impl<P: Pitch, F: Fill<P>, const LINES: usize, const IN_LANE: usize> Operation for Part<'_, P, F, LINES, IN_LANE> {
    /// # Safety
    ///
    /// The columns and rows lie inside the plane, the plane inside both sides. Rows that do not begin with the plane, and columns that do not if
    /// they are `joined`, continue what this function has left of those before.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let Part { plane, iteration, destination, columns, rows, joined, kept, prefetch, fill } = self;
        let (wide, row_bytes) = (columns.len(), rows.len() * plane.unit);
        debug_assert!(wide <= F::columns::<LANES>() && row_bytes <= LINES * LINE);
        let mut stage = Stage::<LINES, IN_LANE>::new();
        // A line in front of each row is for what was left before; the last vectors of rows side by side reach into the line behind them all.
        let pitch = if joined { row_bytes } else { Stage::<LINES, IN_LANE>::ROW };
        let first = stage.bytes().wrapping_add(LINE);
        // A copy that nothing else points to: stores cannot change it, so it stays in registers.
        let mut issued = *prefetch;
        // SAFETY: the caller's columns and rows; the stage has room for them.
        unsafe {
            fill.fill::<V, LANES>(iteration.from, (columns.clone(), rows.clone()), (first, pitch), &mut issued);
        }
        *prefetch = issued;
        let (runs, bytes) = if joined { (1, wide * row_bytes) } else { (wide, row_bytes) };
        let ends = if joined { columns.end == plane.columns.extent } else { rows.end == plane.rows.extent };
        let begins = if joined { columns.start == 0 } else { rows.start == 0 };
        for (i, kept) in kept.iter_mut().enumerate().take(runs) {
            // SAFETY: the staged run was written, `bytes` of it, behind a line for what `kept` has; its place on the destination is the plane's.
            unsafe {
                let to = iteration.to.add(destination.row(columns.start + i) + rows.start * plane.unit);
                drain::<V>(first.add(i * pitch), to, bytes, (begins, ends), kept);
            }
        }
    }
}
