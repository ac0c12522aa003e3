//! Large planes, transposed by blocks in registers: as one panel, or panel by panel.
//!
//! A block loads whole vectors and stores whole lines, each once (`block.rs`). For the order of the blocks,
//! two requirements contradict each other (measured on a Zen 5):
//!
//! * Lines that are neighbours in memory should be stored soon after each other. About 48 lines at the same
//!   offset in different pages evict each other from the cache. So all blocks of one strip, one line of the
//!   source wide, come first, and write several lines of each destination row.
//! * Long runs of few source rows should be loaded, for which blocks would go along the rows. So while a
//!   panel is transposed, the lines of the next panel are prefetched row by row, one line for every line that
//!   is loaded.
//!
//! ```text
//! source panel, 3 rows shown              order of the blocks
//! | b0 | b3 | b6 |                        b0 b1 b2, then b3 b4 b5, then b6 b7 b8
//! | b1 | b4 | b7 |                        order of the prefetches in the next panel
//! | b2 | b5 | b8 |                        all of its first row, all of its second row, ..
//! ```
//!
//! ```text
//! for each iteration of the loops:
//!     transpose the rows before the first destination line      // non-temporal stores of whole lines only
//!     for each panel, left to right, then down:
//!         for each step of its rows, as many as the staging buffer takes:
//!             transpose to the destination, or to the staging buffer and from there
//!         prefetch what is left of the next panel
//! ```
//!
//! `kernel/panels.rs` explains panels and staging buffers, and checks whether they fit a plane.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::block::of_unit;
use super::offsets::{List, Offsets};
use super::prefetch::PanelPrefetch;
use super::square::{How, Panel, TransposePanel};
use super::vector::{Operation, Vector};
use super::walk::{Iteration, Walk};
use crate::kernel::{KEPT_COLUMNS, MICRO_TILE, MicroTile, Panels, Plane, Stage, count};
use crate::machine::{LINE, PAGE};
use staged::{Buffers, Ends, Leftover, StageRows, drain, runs, staged_row};

mod staged;

/// Transposes planes panel by panel. Units that registers hold are transposed in blocks, and longer units one
/// by one.
///
/// # Safety
///
/// * The panels [fit](Panels::fit) the plane.
/// * In every iteration, the plane's span is readable on the source and writable on the destination.
#[inline(never)]
pub(super) unsafe fn panels<V: Vector>(walk: &Walk<'_>, plane: &Plane, panels: &Panels) {
    let transpose = of_unit::<V>(plane.unit).unwrap_or(runs::<V>);
    let (mut row_list, mut column_list) = (List::uninit(), List::uninit());
    let (rows, columns) = (Offsets::new(&mut row_list), Offsets::new(&mut column_list));
    let shuffle = plane.micro_tile.map(MicroTile::shuffle);
    let micro_tile = shuffle.as_ref();
    let mut planes = Planes { walk, plane, panels, transpose, micro_tile, rows, columns, stage: None };
    // SAFETY: `Planes::run` and `Staged` have the contract of this function. `Staged` sets `stage`.
    unsafe {
        match panels.stage {
            Stage::None => planes.run::<V, false>(),
            Stage::Lines(_) | Stage::Continue { .. } => V::vectorize(Staged(planes)),
        }
    }
}

/// Transposes planes that are one panel each. All blocks are transposed by one call, with ordinary stores,
/// because the plane is in a cache.
///
/// # Safety
///
/// * `transpose` is for the length of the plane's units. The plane has at most `MOST_ROWS` rows and columns.
/// * In every iteration, the plane's span is readable on the source and writable on the destination.
pub(super) unsafe fn one_panel(walk: &Walk<'_>, plane: &Plane, transpose: Option<TransposePanel>, scattered: bool) {
    let transpose = transpose.unwrap_or_else(|| unreachable!("`Kernel::fit` asks for units of a register"));
    let (mut row_list, mut column_list) = (List::uninit(), List::uninit());
    let (mut rows, mut columns) = (Offsets::new(&mut row_list), Offsets::new(&mut column_list));
    rows.fill(&plane.rows, 0..plane.rows.extent);
    columns.fill(&plane.columns, 0..plane.columns.extent);
    let shuffle = plane.micro_tile.map(MicroTile::shuffle);
    let micro_tile = shuffle.as_ref();
    let how = How { streaming: false, staged: false, in_order: false, in_cache: true, scattered, micro_tile };
    for iteration in walk.iterations() {
        let panel = Panel {
            from: iteration.from,
            to: iteration.to,
            rows: rows.as_ptr(),
            columns: columns.as_ptr(),
            row_count: plane.rows.extent,
            column_count: plane.columns.extent,
            left: 0,
            unit: plane.unit,
            how,
        };
        // SAFETY: the panel is the whole plane of the contract, and the lists have all its rows and columns.
        unsafe { transpose(&panel, &mut PanelPrefetch::nothing(&plane.rows)) };
    }
}

/// Transposes panels through a staging buffer. This is an operation of its own, because the buffer takes
/// several pages of the stack.
struct Staged<'a>(Planes<'a>);

impl Operation for Staged<'_> {
    /// # Safety
    ///
    /// The conditions of [`panels`].
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let mut rows = StageRows(MaybeUninit::uninit());
        let mut leftovers = [const { Leftover::NOTHING }; KEPT_COLUMNS];
        let mut list = List::uninit();
        let columns = Offsets::new(&mut list);
        let stage = Buffers { rows: rows.0.as_mut_ptr().cast(), leftovers: &mut leftovers, columns };
        // SAFETY: `Planes::run` has the contract of this function, and `stage` is set here.
        unsafe { Planes { stage: Some(stage), ..self.0 }.run::<V, true>() }
    }
}

struct Planes<'a> {
    walk: &'a Walk<'a>,
    plane: &'a Plane,
    panels: &'a Panels,
    transpose: TransposePanel,
    micro_tile: Option<&'a [u8; MICRO_TILE]>,
    /// The listed offsets of the rows and of the columns of the panel that is being transposed.
    rows: Offsets<'a>,
    columns: Offsets<'a>,
    /// The staging buffer, if the panels have one.
    stage: Option<Buffers<'a>>,
}

impl<'a> Planes<'a> {
    /// Returns how a panel is transposed if it is written with ordinary stores.
    #[inline(always)]
    fn how(&self) -> How<'a> {
        let panels = self.panels;
        How {
            streaming: false,
            staged: false,
            in_order: panels.whole_lines && (self.plane.columns.extent == 1 || self.plane.columns.offset(1) < PAGE),
            in_cache: !panels.whole_lines && panels.ahead == 0,
            scattered: panels.scattered,
            micro_tile: self.micro_tile,
        }
    }

    /// # Safety
    ///
    /// * The conditions of [`panels`].
    /// * If the panels have a staging buffer, `STAGED` is set, and `stage` is `Some`. Without a staging
    ///   buffer, this function may be compiled without the features of `V`, which the CPU has nevertheless.
    #[inline(always)]
    unsafe fn run<V: Vector, const STAGED: bool>(&mut self) {
        let &mut Planes { walk, plane, panels, .. } = self;
        let (unit, columns, rows) = (plane.unit, plane.columns.extent, plane.rows.extent);
        let how = self.how();
        for iteration in walk.iterations() {
            // Whole lines can be streamed only if a line starts at the same row in every column:
            // `Panels::fit` checked that the pitch of destination rows is whole lines. The height of a panel
            // is whole lines, too.
            let to_line = iteration.to.align_offset(LINE);
            let streaming = panels.whole_lines && to_line.is_multiple_of(unit);
            let head = if streaming { (to_line / unit).min(rows) } else { 0 };
            let nothing = PanelPrefetch::nothing(&plane.rows);
            if head > 0 {
                // SAFETY: all columns and the first `head` rows, less than a line, are inside the plane.
                unsafe { self.direct(&iteration, 0..columns, 0..head, how, &mut { nothing }) };
            }
            let how = How { streaming, ..how };
            let all = Order { panels, columns, rows, head, kept_from: 0, column: 0, row: head };
            let mut later = Later { panels: all.clone(), planes: [Some(iteration.from), iteration.later], all: &all };
            later.by_ref().take(count(panels.ahead)).for_each(drop);
            for (columns, rows) in all.clone() {
                let mut next = match (panels.ahead > 0).then(|| later.next()).flatten() {
                    Some((from, (columns, rows))) => {
                        let lines = (columns.len() * unit).div_ceil(LINE);
                        PanelPrefetch::new(from.wrapping_add(columns.start * unit), &plane.rows, rows, lines)
                    }
                    None => nothing,
                }
                .near(panels.near);
                let step = panels.step(unit);
                for first in rows.clone().step_by(step) {
                    let rows = first..(first + step).min(rows.end);
                    // SAFETY: `columns` and `rows` are inside a panel of the plane, with at most `step` rows.
                    // Panels come in order. With `streaming`, row `head` is at a line in every column. The
                    // height of a panel and `step` are whole lines, so `first` is at a line too.
                    unsafe {
                        match STAGED {
                            false => self.direct(&iteration, columns.clone(), rows, how, &mut next),
                            true => self.by_stage::<V>(&iteration, columns.clone(), rows, how, &mut next),
                        }
                    }
                }
                // SAFETY: a prefetch may be given any address.
                unsafe { next.issue::<V>(usize::MAX) };
            }
        }
    }

    /// Transposes some rows and columns of a plane, straight to the destination.
    ///
    /// # Safety
    ///
    /// * The rows and columns are inside the plane, with at most as many rows as [a step](Panels::step).
    /// * `how` is that of the plane ([`Planes::how`]). `how.staged` is not set, so no whole vectors are
    ///   stored past the end of a row.
    /// * If `how.streaming` is set, the first row is at the start of a line in every column.
    #[inline(always)]
    unsafe fn direct(
        &mut self,
        iteration: &Iteration,
        columns: Range<usize>,
        rows: Range<usize>,
        how: How<'_>,
        prefetch: &mut PanelPrefetch<'_>,
    ) {
        let &mut Planes { plane, transpose, .. } = self;
        self.rows.fill(&plane.rows, rows.clone());
        for first in columns.clone().step_by(Offsets::MOST) {
            let columns = first..(first + Offsets::MOST).min(columns.end);
            self.columns.fill(&plane.columns, columns.clone());
            let panel = Panel {
                from: iteration.from.wrapping_add(first * plane.unit),
                to: iteration.to.wrapping_add(rows.start * plane.unit),
                rows: self.rows.as_ptr(),
                columns: self.columns.as_ptr(),
                row_count: rows.len(),
                column_count: columns.len(),
                left: first,
                unit: plane.unit,
                how,
            };
            // SAFETY: the rows and columns are inside the plane, by the contract. The lists have their
            // offsets.
            unsafe { transpose(&panel, prefetch) };
        }
    }

    /// Transposes some rows and columns of a plane through the staging buffer, a few columns at a time.
    ///
    /// # Safety
    ///
    /// * The conditions of [`Planes::direct`].
    /// * There is a staging buffer, and the panels fit the plane. Calls follow the [`Order`] of panels.
    #[inline(always)]
    unsafe fn by_stage<V: Vector>(
        &mut self,
        iteration: &Iteration,
        columns: Range<usize>,
        rows: Range<usize>,
        how: How<'_>,
        prefetch: &mut PanelPrefetch<'_>,
    ) {
        let &mut Planes { plane, panels, .. } = self;
        let bytes = rows.len() * plane.unit;
        let pitch = match panels.stage {
            // The last rows of a plane do not fill the staging buffer, and go straight to the destination.
            Stage::Lines(lines) if bytes < usize::from(lines) * LINE => {
                // SAFETY: the contract of `direct` is a part of the contract of this function.
                return unsafe { self.direct(iteration, columns, rows, how, prefetch) };
            }
            Stage::Lines(lines) | Stage::Continue { lines, joined: false } => Stage::pitch(lines),
            Stage::Continue { joined: true, .. } => bytes,
            Stage::None => return,
        };
        self.rows.fill(&plane.rows, rows.clone());
        let at_once = Stage::columns_at_once(plane.unit);
        for first in columns.clone().step_by(at_once) {
            let columns = first..(first + at_once).min(columns.end);
            // SAFETY: `through` has this function's contract. At most `at_once` columns come at a time.
            unsafe { self.through::<V>(iteration, columns, rows.clone(), (pitch, how), prefetch) };
        }
    }

    /// Transposes a few columns into the staging buffer, in rows `pitch` bytes apart, and stores these rows
    /// to the destination.
    ///
    /// # Safety
    ///
    /// * The conditions of [`by_stage`](Planes::by_stage), and the offsets of the rows are listed.
    /// * There are at most [`Stage::columns_at_once`] columns.
    /// * The calls for a plane take its columns in ascending order. If the rows of a column are taken by
    ///   several calls, these take the rows in ascending order.
    #[inline(always)]
    unsafe fn through<V: Vector>(
        &mut self,
        iteration: &Iteration,
        columns: Range<usize>,
        rows: Range<usize>,
        (pitch, how): (usize, How<'_>),
        prefetch: &mut PanelPrefetch<'_>,
    ) {
        let &mut Planes { plane, panels, transpose, .. } = self;
        let Some(stage) = &mut self.stage else { return };
        let (unit, bytes) = (plane.unit, rows.len() * plane.unit);
        let first = stage.rows.wrapping_add(LINE);
        stage.columns.fill_strided(pitch, Stage::columns_at_once(unit));
        let panel = Panel {
            from: iteration.from.wrapping_add(columns.start * unit),
            to: first,
            rows: self.rows.as_ptr(),
            columns: stage.columns.as_ptr(),
            row_count: rows.len(),
            column_count: columns.len(),
            left: columns.start,
            unit,
            how: How { streaming: false, staged: true, ..how },
        };
        // SAFETY: the rows and columns are inside the plane. `Panels::fit` checked that the buffer has room
        // for a row of each column. One line is free in front of the rows.
        unsafe { transpose(&panel, prefetch) };
        let to = |column: usize| iteration.to.wrapping_add(plane.columns.offset(column) + rows.start * unit);
        let Stage::Continue { joined, .. } = panels.stage else {
            for (i, column) in columns.enumerate() {
                // SAFETY: row `i` of the buffer was written, and belongs to a destination row of the plane.
                unsafe { staged_row::<V>(first.add(i * pitch), to(column), bytes) };
            }
            return;
        };
        if joined {
            let ends = Ends { is_first: columns.start == 0, is_last: columns.end == plane.columns.extent };
            // SAFETY: in the buffer as on the destination, each row begins where the row before it ends, so
            // they are one run. `Panels::fit` checked that a full buffer has at least a line.
            return unsafe {
                drain::<V>(first, to(columns.start), columns.len() * bytes, ends, &mut stage.leftovers[0])
            };
        }
        let ends = Ends { is_first: rows.start == 0, is_last: rows.end == plane.rows.extent };
        for (i, column) in columns.enumerate() {
            // SAFETY: row `i` of the buffer was written, and has a free line in front. `bytes` bytes of its
            // destination row are in the plane. `Panels::fit` checked that a row which continues in the next
            // call has a line or more, and that no two kept columns have the same place in `leftovers`.
            unsafe {
                drain::<V>(first.add(i * pitch), to(column), bytes, ends, &mut stage.leftovers[column % KEPT_COLUMNS])
            };
        }
    }
}

type Bounds = (Range<usize>, Range<usize>);

/// The panels of a plane, in the order in which they are transposed: left to right and then down, first
/// through the `kept` columns that are kept at a time, then through the next ones.
#[derive(Clone)]
struct Order<'a> {
    panels: &'a Panels,
    columns: usize,
    rows: usize,
    /// The first row of the first panel. The rows above it come before the first line of a destination row.
    head: usize,
    /// The first of the columns that are kept now; then the first column and the first row of the next panel.
    kept_from: usize,
    column: usize,
    row: usize,
}

impl Iterator for Order<'_> {
    type Item = Bounds;

    #[inline(always)]
    fn next(&mut self) -> Option<Bounds> {
        if self.kept_from >= self.columns || self.row >= self.rows {
            return None;
        }
        let kept_to = (self.kept_from.saturating_add(count(self.panels.kept))).min(self.columns);
        let columns = self.column..self.column.saturating_add(count(self.panels.width)).min(kept_to);
        let rows = self.row..self.row.saturating_add(count(self.panels.height)).min(self.rows);
        self.column = columns.end;
        if columns.end == kept_to {
            (self.column, self.row) = (self.kept_from, rows.end);
            if rows.end == self.rows {
                (self.kept_from, self.column, self.row) = (kept_to, kept_to, self.head);
            }
        }
        Some((columns, rows))
    }
}

/// The panels of a plane and then the panels of the next plane, each with its plane's source address.
struct Later<'a> {
    panels: Order<'a>,
    planes: [Option<*const u8>; 2],
    all: &'a Order<'a>,
}

impl Iterator for Later<'_> {
    type Item = (*const u8, Bounds);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let plane = self.planes[0]?;
            if let Some(panel) = self.panels.next() {
                return Some((plane, panel));
            }
            (self.planes, self.panels) = ([self.planes[1], None], self.all.clone());
        }
    }
}
