//! Planes that are transposed by blocks in registers: as one panel, or panel by panel.
//!
//! Every block reads whole vectors and writes whole lines once, so only the order of the blocks matters. Two
//! wishes contradict each other (measured on a Zen 5):
//!
//! * Neighbouring lines are best written soon after each other: some 48 lines at one offset of different
//!   pages conflict. So the blocks of one strip, one line of the source wide, come first, which leaves runs
//!   in its destination rows.
//! * Reads are fastest in long runs of few rows, which is the opposite. So while a panel is transposed, the
//!   lines of the next panel are prefetched row by row, one for every line that is read.
//!
//! ```text
//! for each iteration of the loops:
//!     rows up to the first line of the destination, if whole lines are stored past the cache
//!     for each panel, left to right, then down:
//!         for each step of its rows, as many as the staging buffer takes:
//!             transpose to the destination, or to the staging buffer and from there
//!         prefetch what is left of the next panel
//! ```
//!
//! What panels and staging buffers are, and which of them fit a plane, is in `kernel/panels.rs`.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::block::{How, Panel, TransposePanel, of_unit};
use super::leftover::Leftover;
use super::offsets::{Offsets, Places};
use super::prefetch::PanelPrefetch;
use super::run_panel::runs;
use super::vector::{Operation, Vector};
use super::walk::{Iteration, Walk};
use crate::kernel::{KEPT_COLUMNS, MicroTile, Panels, Plane, STAGE, Stage, count};
use crate::line::{LINE, PAGE};
use order::{Later, Order};

mod order;
mod staged;

/// Planes, their panels, and the code that transposes a panel.
pub(super) struct StagedPlanes<'a> {
    walk: &'a Walk<'a>,
    plane: &'a Plane,
    way: &'a Panels,
    transpose: TransposePanel,
    /// Columns that go into a stage at a time.
    at_once: usize,
}

impl<'a> StagedPlanes<'a> {
    /// The panels of a plane, in blocks of registers where its units fill them, else run by run.
    pub(super) fn of<V: Vector>(walk: &'a Walk<'a>, plane: &'a Plane, way: &'a Panels) -> StagedPlanes<'a> {
        let transpose = of_unit::<V>(plane.unit).unwrap_or(runs::<V>);
        StagedPlanes { walk, plane, way, transpose, at_once: Stage::columns_at_once(plane.unit) }
    }
}

/// Transposes planes panel by panel.
///
/// # Safety
///
/// The panels [fit](Panels::fit) the plane, and `transpose` is for its unit. In every iteration, the plane's
/// span is readable on the source and writable on the destination.
pub(super) unsafe fn panels<V: Vector>(planes: StagedPlanes<'_>) {
    #[cfg(feature = "software")]
    crate::observed::ran("register blocks in panels");
    // SAFETY: the caller's promise.
    unsafe {
        match planes.way.stage {
            Stage::None => direct::<V>(&planes),
            _ => staged::<V>(&planes),
        }
    }
}

/// Transposes planes that are one panel each, in a cache and stored through it: one call of the blocks is
/// all.
///
/// # Safety
///
/// `transpose` is for the unit of the plane, which has at most `MOST_ROWS` rows and columns. In every
/// iteration, its span is readable on the source and writable on the destination.
pub(super) unsafe fn one_panel(walk: &Walk<'_>, plane: &Plane, transpose: Option<TransposePanel>, scattered: bool) {
    #[cfg(feature = "software")]
    crate::observed::ran("register blocks in one panel");
    let transpose = transpose.unwrap_or_else(|| unreachable!("`Kernel::fit` asks for units of a register"));
    let (mut row_places, mut column_places) = (Places::uninit(), Places::uninit());
    let (mut rows, mut columns) = (Offsets::new(&mut row_places), Offsets::new(&mut column_places));
    rows.fill(&plane.rows, 0..plane.rows.extent);
    columns.fill(&plane.columns, 0..plane.columns.extent);
    let micro_tile = plane.micro_tile.map(MicroTile::shuffle);
    let how = How { streaming: false, staged: false, in_order: false, in_cache: true, scattered, micro_tile };
    for iteration in walk.iterations() {
        let mut panel = Panel {
            from: iteration.from,
            to: iteration.to,
            rows: rows.as_ptr(),
            columns: columns.as_ptr(),
            row_count: plane.rows.extent,
            column_count: plane.columns.extent,
            left: 0,
            unit: plane.unit,
            how,
            prefetch: PanelPrefetch::nothing(&plane.rows),
        };
        // SAFETY: all rows and columns of the plane.
        unsafe { transpose(&mut panel) };
    }
}

/// Transposes panels without a stage.
///
/// # Safety
///
/// As for [`panels`].
#[inline(never)]
unsafe fn direct<V: Vector>(planes: &StagedPlanes<'_>) {
    // SAFETY: the same planes.
    unsafe { planes.planes::<V>(None) }
}

/// Transposes panels by way of a stage: a function of its own, whose stack is some pages.
///
/// # Safety
///
/// As for [`panels`].
#[inline(never)]
unsafe fn staged<V: Vector>(planes: &StagedPlanes<'_>) {
    // SAFETY: the same planes.
    unsafe { V::vectorize(Staged(planes)) }
}

/// Panels that go by way of a stage.
struct Staged<'a, 'p>(&'a StagedPlanes<'p>);

impl Operation for Staged<'_, '_> {
    /// # Safety
    ///
    /// As for [`panels`].
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let mut rows = StageRows(MaybeUninit::uninit());
        let mut leftovers = [const { Leftover::NOTHING }; KEPT_COLUMNS];
        let mut places = Places::uninit();
        let columns = Offsets::new(&mut places);
        let mut staged = Buffers { rows: rows.0.as_mut_ptr().cast(), leftovers: &mut leftovers, columns };
        // SAFETY: the same planes.
        unsafe { self.0.planes::<V>(Some(&mut staged)) }
    }
}

/// Rows of a stage, with a line in front of the first and one at the end.
#[repr(align(64))]
struct StageRows(MaybeUninit<[u8; STAGE + 2 * LINE]>);

/// What panels go by way of.
struct Buffers<'a> {
    rows: *mut u8,
    leftovers: &'a mut [Leftover; KEPT_COLUMNS],
    /// Where the staged rows begin.
    columns: Offsets<'a>,
}

/// One panel: the plane that it is one of, its columns and rows, and what to prefetch.
struct PlanePanel<'a, 'p, 'o> {
    planes: &'a StagedPlanes<'p>,
    iteration: Iteration,
    columns: Range<usize>,
    rows: Range<usize>,
    row_offsets: &'a Offsets<'o>,
    column_offsets: &'a mut Offsets<'o>,
    how: How,
}

impl StagedPlanes<'_> {
    /// How panels are stored through the cache.
    #[inline(always)]
    fn how(&self) -> How {
        let way = self.way;
        How {
            streaming: false,
            staged: false,
            in_order: way.whole_lines && (self.plane.columns.extent == 1 || self.plane.columns.offset(1) < PAGE),
            in_cache: !way.whole_lines && way.ahead == 0,
            scattered: way.scattered,
            micro_tile: self.plane.micro_tile.map(MicroTile::shuffle),
        }
    }

    /// # Safety
    ///
    /// As for [`panels`]; there are buffers if there is a stage.
    #[inline(always)]
    unsafe fn planes<V: Vector>(&self, mut stage: Option<&mut Buffers<'_>>) {
        let &StagedPlanes { walk, plane, way, .. } = self;
        let (unit, columns, rows) = (plane.unit, plane.columns.extent, plane.rows.extent);
        let how = self.how();
        let (mut row_places, mut column_places) = (Places::uninit(), Places::uninit());
        let mut row_offsets = Offsets::new(&mut row_places);
        let mut column_offsets = Offsets::new(&mut column_places);
        for iteration in walk.iterations() {
            // Whole lines can only be streamed if every destination row has them at the same places: the
            // destination rows, and the rows of a panel, are whole lines apart (`Panels::fit`).
            let to_line = iteration.to.align_offset(LINE);
            let streaming = way.whole_lines && to_line.is_multiple_of(unit);
            let head = if streaming { (to_line / unit).min(rows) } else { 0 };
            let nothing = PanelPrefetch::nothing(&plane.rows);
            if head > 0 {
                row_offsets.fill(&plane.rows, 0..head);
                let (row_offsets, column_offsets) = (&row_offsets, &mut column_offsets);
                let (rows, columns) = (0..head, 0..columns);
                let part = PlanePanel { planes: self, iteration, columns, rows, row_offsets, column_offsets, how };
                // SAFETY: some rows of the plane, less than a line of them.
                unsafe { part.direct(&mut { nothing }) };
            }
            let how = How { streaming, ..how };
            let all = Order { way, columns, rows, head, kept_from: 0, column: 0, row: head };
            let mut later = Later { panels: all.clone(), planes: [Some(iteration.from), iteration.later], all: &all };
            later.by_ref().take(count(way.ahead)).for_each(drop);
            for (columns, rows) in all.clone() {
                let mut next = match (way.ahead > 0).then(|| later.next()).flatten() {
                    Some((from, (columns, rows))) => {
                        let lines = (columns.len() * unit).div_ceil(LINE);
                        PanelPrefetch::new(from.wrapping_add(columns.start * unit), &plane.rows, rows, lines)
                    }
                    None => nothing,
                }
                .near(way.near);
                let step = way.step(unit);
                for first in rows.clone().step_by(step) {
                    let rows = first..(first + step).min(rows.end);
                    row_offsets.fill(&plane.rows, rows.clone());
                    let (row_offsets, column_offsets) = (&row_offsets, &mut column_offsets);
                    let columns = columns.clone();
                    let part = PlanePanel { planes: self, iteration, columns, rows, row_offsets, column_offsets, how };
                    // SAFETY: a panel of the plane, or a step of its rows.
                    unsafe {
                        match &mut stage {
                            Some(stage) => stage.panel::<V>(part, &mut next),
                            None => part.direct(&mut next),
                        }
                    }
                }
                // SAFETY: a prefetch may go anywhere.
                unsafe { next.issue::<V>(usize::MAX) };
            }
        }
    }
}

impl PlanePanel<'_, '_, '_> {
    /// Transposes the panel to the destination.
    ///
    /// # Safety
    ///
    /// The rows and columns are in the plane, and of rows there are at most [a step](Panels::step);
    /// `row_offsets` are those of the rows; `how` is true of them.
    #[inline(always)]
    unsafe fn direct(self, prefetch: &mut PanelPrefetch<'_>) {
        let PlanePanel { planes, iteration, columns, rows, row_offsets, column_offsets, how } = self;
        let &StagedPlanes { plane, transpose, .. } = planes;
        for first in columns.clone().step_by(Offsets::MOST) {
            let columns = first..(first + Offsets::MOST).min(columns.end);
            column_offsets.fill(&plane.columns, columns.clone());
            let mut panel = Panel {
                from: iteration.from.wrapping_add(first * plane.unit),
                to: iteration.to.wrapping_add(rows.start * plane.unit),
                rows: row_offsets.as_ptr(),
                columns: column_offsets.as_ptr(),
                row_count: rows.len(),
                column_count: columns.len(),
                left: first,
                unit: plane.unit,
                how,
                prefetch: *prefetch,
            };
            // SAFETY: rows and columns of the plane.
            unsafe { transpose(&mut panel) };
            *prefetch = panel.prefetch;
        }
    }
}
