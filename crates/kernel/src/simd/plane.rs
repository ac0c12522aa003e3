//! Planes that are long both ways, transposed panel by panel.
//!
//! Every block reads whole vectors and writes whole lines once, so only the order matters. Found by measuring
//! (Z5):
//!
//! * Neighbouring lines are best written soon after each other: some 48 lines at one offset of different
//!   pages conflict. So the blocks of one strip, one line of the source wide, come first, which leaves runs
//!   in its destination rows.
//! * Reads are fastest in long runs of few rows, which is the opposite. So while a panel is transposed, the
//!   lines of the next one are prefetched row by row, one for every line that is read.
//!
//! Where rows share sets of the cache, or begin inside lines, a panel goes by way of a stage ([`Stage`]).

use std::mem::MaybeUninit;
use std::ops::Range;

use super::block::{How, Panel, TransposePanel};
use super::leftover::Leftover;
use super::offsets::{Offsets, Places};
use super::prefetch::PanelPrefetch;
use super::vector::{Operation, Vector};
use super::walk::{Iteration, Walk, bytes_of};
use crate::cost::{KEPT_COLUMNS, LINE, PAGE};
use crate::nest::{MicroTile, Plane};
use crate::schedule::{self, STAGE, Stage};
use panels::{Later, Panels};

mod panels;
mod staged;

/// Planes whose units `transpose` is for, whose stages take `at_once` columns.
pub(super) struct TransposePlanes<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) plane: &'a Plane,
    pub(super) transpose: TransposePanel,
    pub(super) at_once: usize,
}

impl TransposePlanes<'_> {
    /// Runs it, one panel without vectors: `transpose` is a function of its own.
    ///
    /// # Safety
    ///
    /// `transpose` is for the unit of the plane. The [schedule is for it](schedule::Schedule::is_for). In
    /// every iteration, the plane's span is readable on the source and writable on the destination.
    pub(super) unsafe fn run<V: Vector>(&self) {
        // SAFETY: the same planes.
        unsafe {
            match self.walk.schedule.panels.stage {
                Stage::None if self.is_one_panel() => self.one_panel(),
                Stage::None => direct::<V>(self),
                _ => staged::<V>(self),
            }
        }
    }
}

/// [`TransposePlanes`] of several panels without a stage.
///
/// # Safety
///
/// As for [`TransposePlanes::run`].
#[inline(never)]
unsafe fn direct<V: Vector>(planes: &TransposePlanes<'_>) {
    // SAFETY: the same planes.
    unsafe { planes.planes::<V, Direct>(&mut Direct) }
}

/// [`TransposePlanes`] by way of a stage: a function of its own, whose stack is some pages.
///
/// # Safety
///
/// As for [`TransposePlanes::run`].
#[inline(never)]
unsafe fn staged<V: Vector>(planes: &TransposePlanes<'_>) {
    // SAFETY: the same planes.
    unsafe { V::vectorize(Staged(planes)) }
}

/// The same.
struct Staged<'a, 'p>(&'a TransposePlanes<'p>);

impl Operation for Staged<'_, '_> {
    /// # Safety
    ///
    /// As for [`TransposePlanes::run`].
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let mut rows = Rows(MaybeUninit::uninit());
        let mut leftovers = [const { Leftover::NOTHING }; KEPT_COLUMNS];
        let mut places = Places::uninit();
        let columns = Offsets::new(&mut places);
        let mut staged = Buffers { rows: rows.0.as_mut_ptr().cast(), leftovers: &mut leftovers, columns };
        // SAFETY: the same planes.
        unsafe { self.0.planes::<V, Buffers<'_>>(&mut staged) }
    }
}

/// Rows of a stage, with a line in front of the first and one at the end.
#[repr(align(64))]
struct Rows(MaybeUninit<[u8; STAGE + 2 * LINE]>);

/// What panels go by way of.
struct Buffers<'a> {
    rows: *mut u8,
    leftovers: &'a mut [Leftover; KEPT_COLUMNS],
    /// Where the staged rows begin.
    columns: Offsets<'a>,
}

/// No way around.
struct Direct;

/// One panel: the plane that it is one of, its columns and rows, and what to prefetch.
struct PlanePanel<'a, 'p, 'o> {
    planes: &'a TransposePlanes<'p>,
    iteration: Iteration,
    columns: Range<usize>,
    rows: Range<usize>,
    row_offsets: &'a Offsets<'o>,
    column_offsets: &'a mut Offsets<'o>,
    how: How,
}

/// How panels are transposed.
trait Transposes {
    /// # Safety
    ///
    /// The rows and columns are in the plane, of rows at most [a step](step); `row_offsets` are those of the
    /// rows; `how` is true of them.
    unsafe fn panel<V: Vector>(&mut self, part: PlanePanel<'_, '_, '_>, prefetch: &mut PanelPrefetch<'_>);
}

impl TransposePlanes<'_> {
    /// Is each plane one panel, in a cache and stored through it? Then one call of the blocks is all.
    #[inline(always)]
    fn is_one_panel(&self) -> bool {
        let TransposePlanes { walk, plane, .. } = self;
        let (way, columns, rows) = (&walk.schedule.panels, plane.columns.extent, plane.rows.extent);
        let whole = columns <= bytes_of(way.width).min(bytes_of(way.kept)) && rows <= bytes_of(way.height);
        whole && columns.max(rows) <= Offsets::MOST && !walk.schedule.prefetch && !way.lines_fit
    }

    /// # Safety
    ///
    /// As for [`run`](TransposePlanes::run).
    unsafe fn one_panel(&self) {
        let &TransposePlanes { walk, plane, transpose, .. } = self;
        let (mut row_places, mut column_places) = (Places::uninit(), Places::uninit());
        let (mut rows, mut columns) = (Offsets::new(&mut row_places), Offsets::new(&mut column_places));
        rows.fill(&plane.rows, 0..plane.rows.extent);
        columns.fill(&plane.columns, 0..plane.columns.extent);
        let how = self.how();
        for iteration in walk.iterations(plane.columns.extent * plane.rows.extent * plane.unit) {
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
            // SAFETY: all rows and columns of the plane, `Offsets::MOST` at most.
            unsafe { transpose(&mut panel) };
        }
    }

    /// How panels are stored through the cache.
    #[inline(always)]
    fn how(&self) -> How {
        let way = &self.walk.schedule.panels;
        How {
            streaming: false,
            staged: false,
            in_order: way.lines_fit && (self.plane.columns.extent == 1 || self.plane.columns.offset(1) < PAGE),
            in_cache: !way.lines_fit && !self.walk.schedule.prefetch,
            permuted: self.walk.schedule.permuted && !self.walk.streaming,
            micro_tile: self.plane.micro_tile.map(MicroTile::shuffle),
        }
    }

    /// # Safety
    ///
    /// As for [`run`](TransposePlanes::run).
    #[inline(always)]
    unsafe fn planes<V: Vector, T: Transposes>(&self, by: &mut T) {
        let &TransposePlanes { walk, plane, .. } = self;
        let way = &walk.schedule.panels;
        let (unit, columns, rows) = (plane.unit, plane.columns.extent, plane.rows.extent);
        let how = self.how();
        let (mut row_places, mut column_places) = (Places::uninit(), Places::uninit());
        let mut row_offsets = Offsets::new(&mut row_places);
        let mut column_offsets = Offsets::new(&mut column_places);
        for iteration in walk.iterations(columns * rows * unit) {
            // Whole lines can only be streamed if every destination row has them at the same places: the
            // schedule is for a plane whose columns, and rows of a panel, are whole lines apart.
            let to_line = iteration.to.align_offset(LINE);
            let streaming = way.lines_fit && to_line.is_multiple_of(unit);
            let head = if streaming { (to_line / unit).min(rows) } else { 0 };
            let nothing = PanelPrefetch::nothing(&plane.rows);
            if head > 0 {
                row_offsets.fill(&plane.rows, 0..head);
                let (row_offsets, column_offsets) = (&row_offsets, &mut column_offsets);
                let (rows, columns) = (0..head, 0..columns);
                let part = PlanePanel { planes: self, iteration, columns, rows, row_offsets, column_offsets, how };
                // SAFETY: some rows of the plane, less than a line of them.
                unsafe { Direct.panel::<V>(part, &mut { nothing }) };
            }
            let how = How { streaming, ..how };
            let all = Panels { way, columns, rows, head, kept_from: 0, column: 0, row: head };
            let mut later = Later { panels: all.clone(), planes: [Some(iteration.from), iteration.later], all: &all };
            if walk.schedule.prefetch {
                later.by_ref().take(bytes_of(way.distance)).for_each(drop);
            }
            for (columns, rows) in all.clone() {
                let mut next = match walk.schedule.prefetch.then(|| later.next()).flatten() {
                    Some((from, (columns, rows))) => {
                        let lines = (columns.len() * unit).div_ceil(LINE);
                        PanelPrefetch::new(from.wrapping_add(columns.start * unit), &plane.rows, rows, lines)
                    }
                    None => nothing,
                }
                .near(way.near);
                let step = step(way, plane);
                for first in rows.clone().step_by(step) {
                    let rows = first..(first + step).min(rows.end);
                    row_offsets.fill(&plane.rows, rows.clone());
                    let (row_offsets, column_offsets) = (&row_offsets, &mut column_offsets);
                    let columns = columns.clone();
                    let part = PlanePanel { planes: self, iteration, columns, rows, row_offsets, column_offsets, how };
                    // SAFETY: a panel of the plane, or a step of its rows.
                    unsafe { by.panel::<V>(part, &mut next) };
                }
                // SAFETY: a prefetch may go anywhere.
                unsafe { next.issue::<V>(usize::MAX) };
            }
        }
    }
}

/// Rows of a panel that are transposed before the next of them: as many as a stage takes.
#[inline(always)]
fn step(way: &schedule::Panels, plane: &Plane) -> usize {
    match way.stage {
        Stage::None => Offsets::MOST,
        Stage::Lines(lines) => usize::from(lines) * LINE / plane.unit,
        Stage::Gather(_) => LINE / plane.unit,
        Stage::Continue { .. } => bytes_of(way.height),
    }
}

impl Transposes for Direct {
    #[inline(always)]
    unsafe fn panel<V: Vector>(&mut self, part: PlanePanel<'_, '_, '_>, prefetch: &mut PanelPrefetch<'_>) {
        let PlanePanel { planes, iteration, columns, rows, row_offsets, column_offsets, how } = part;
        let &TransposePlanes { plane, transpose, .. } = planes;
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
