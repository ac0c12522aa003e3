//! Panels: the order in which the blocks of a large plane are transposed, and the staging buffer on the way.
//!
//! A plane that no cache holds is transposed in *panels* of `height` rows by `width` columns: the lines of
//! a panel are read once and used up while they are in the cache.
//!
//! ```text
//!            width                       kept
//!         |---------|                 |-----------------|
//! height  | panel 0 | panel 1 |       | panel 0 panel 1 | panel 4 ...
//!         | panel 2 | panel 3 |       | panel 2 panel 3 | ...
//! ```
//!
//! Panels go from left to right, then down, through `kept` columns; then the next `kept` columns follow.
//!
//! Two things make a detour through a *staging buffer* worth it. If destination rows are a multiple of a page
//! apart, all lines of a block compete for the same sets of the L1 cache: the buffer has rows that are one
//! line further apart ([`Stage::Lines`]; [`Stage::Gather`] where that is true of the source rows). And if
//! destination rows begin inside cache lines, stores past the cache would write every line in two parts: the
//! last partial line of a row is kept until the row continues ([`Stage::Continue`]).

use super::plane::Plane;
use super::{LONGEST_UNIT, RUN_COLUMNS};
use crate::line::LINE;

/// How a plane is cut into panels, and what a panel goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panels {
    /// Rows of a panel.
    pub height: u32,
    /// Columns of a panel.
    pub width: u32,
    /// Columns that are transposed through all rows before the next columns.
    pub kept: u32,
    /// How many panels ahead the source is prefetched; 0: it is not.
    pub ahead: u32,
    /// The staging buffer, if there is one.
    pub stage: Stage,
    /// Whole lines of the destination are stored past the cache. All destination rows begin at multiples of a
    /// line from each other.
    pub whole_lines: bool,
    /// Panels are prefetched into the L1 cache, not the L2 cache.
    pub near: bool,
    /// Blocks go in an order that hardware prefetchers do not follow.
    pub scattered: bool,
}

/// The staging buffer of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// There is none.
    None,
    /// It collects this many lines of each destination row.
    Lines(u8),
    /// It collects this many lines of each source row, as many rows as fill a line of the destination. For
    /// copies through the cache.
    Gather(u8),
    /// As [`Lines`](Stage::Lines), for destination rows that begin inside lines: the partial line at the end
    /// of a row is kept until the row continues. For copies past the cache.
    Continue {
        /// Lines of each row.
        lines: u8,
        /// The destination rows follow each other without a gap, so that all of them are one row.
        joined: bool,
    },
}

/// Destination rows whose partial lines are kept at a time: 64 KiB of lines.
pub const KEPT_COLUMNS: usize = 1 << 10;

/// The most columns of a staging buffer, each of which has a row of it.
const MOST_COLUMNS: usize = 64;

/// The most rows whose offsets are listed at a time: as many as a staging buffer of single bytes has.
pub(crate) const MOST_ROWS: usize = 512;

/// Bytes of a staging buffer: 64 rows of eight lines, or 32 of sixteen, and a line more in each row.
pub(crate) const STAGE: usize = MOST_COLUMNS * 9 * LINE;

// The columns that are kept are whole stages, of whatever unit.
const _: () = assert!(KEPT_COLUMNS.is_multiple_of(MOST_COLUMNS) && KEPT_COLUMNS.is_multiple_of(RUN_COLUMNS));

impl Stage {
    /// The columns that a stage takes at a time: for units of a register a line of them, as a block writes
    /// as many; else a fixed number of runs.
    pub(crate) fn columns_at_once(unit: usize) -> usize {
        if is_in_register(unit) { LINE / unit } else { RUN_COLUMNS }
    }
}

/// Whether registers hold units of this many bytes: 1, 2, 4, 8 or 16.
#[must_use]
pub fn is_in_register(unit: usize) -> bool {
    unit.is_power_of_two() && unit <= 16
}

impl Panels {
    /// Whether the panels may be run on this plane: the root that all unsafe code of panels rests on.
    ///
    /// The plane is well formed: it has rows and columns, and units of 1 to [`LONGEST_UNIT`] bytes. The code
    /// of panels (`simd/panels`) accesses four kinds of memory, and every condition below is there for one.
    ///
    /// 1. **The plane itself.** Panels are cut from its rows and columns, so they are inside it whatever the
    ///    numbers are. `height`, `width` and `kept` are above 0, as a panel without rows would never end.
    /// 2. **The staging buffer** has [`STAGE`] bytes. A stage of `n` lines holds `columns_at_once` rows of
    ///    `n + 1` lines ([`Gather`](Stage::Gather): as many rows as fill a line): that product is at most
    ///    `STAGE`. The code writes at most `n` lines of a row, as a step of a panel has at most
    ///    `n * LINE / unit` rows ([`Panels::step`]): for [`Continue`](Stage::Continue) the step is the whole
    ///    height, so the height is bounded here.
    /// 3. **The lists of offsets** have [`MOST_ROWS`] entries. A step lists its rows: `n * LINE / unit`
    ///    entries, which is bounded here; without a stage a step is cut to `MOST_ROWS`.
    /// 4. **Kept partial lines**: [`KEPT_COLUMNS`] of them. Two columns that are kept at a time never share
    ///    one, as they are either all columns and at most that many, or `kept` is exactly that many. A run
    ///    that continues is at least a line, or its partial line would be kept before it is complete.
    ///
    /// Stores past the cache go to aligned addresses: `whole_lines` requires that destination rows, and the
    /// rows of a panel, are multiples of a line apart; the code asks where the first row begins. They are
    /// allowed only if the copy streams, as only then a fence follows.
    #[must_use]
    pub(crate) fn fit(&self, plane: &Plane, streaming: bool) -> bool {
        let (unit, rows) = (plane.unit, plane.rows.extent);
        let [height, width, kept] = [self.height, self.width, self.kept].map(count);
        // 1.
        if height == 0 || width == 0 || kept == 0 || unit > LONGEST_UNIT {
            return false;
        }
        if self.stage == Stage::None && !self.whole_lines {
            return is_in_register(unit);
        }
        let in_register = is_in_register(unit);
        let at_once = Stage::columns_at_once(unit);
        // 2 and 3: a stage of this many lines, with this many rows.
        let has_room = |lines: u8, staged: usize| {
            let lines = usize::from(lines);
            (1..=16).contains(&lines) && staged * (lines + 1) * LINE <= STAGE && lines * LINE / unit <= MOST_ROWS
        };
        let whole_lines = || {
            let rows_fit = height >= rows || (height * unit).is_multiple_of(LINE);
            in_register && streaming && plane.columns.are_multiples_of(LINE) && rows_fit
        };
        if self.whole_lines && !whole_lines() {
            return false;
        }
        match self.stage {
            Stage::None => true,
            Stage::Lines(lines) => in_register && has_room(lines, at_once),
            Stage::Gather(lines) => in_register && !self.whole_lines && has_room(lines, LINE / unit),
            Stage::Continue { lines, joined } => {
                let row = rows * unit;
                // 4.
                let continued = if joined {
                    let follow = plane.columns.stride() == Some(row) && height >= rows;
                    follow && at_once * row >= LINE
                } else {
                    height >= rows || height * unit >= LINE
                };
                let whole_stages = width.is_multiple_of(at_once);
                let apart = kept >= plane.columns.extent && kept <= KEPT_COLUMNS || kept == KEPT_COLUMNS;
                streaming
                    && has_room(lines, at_once)
                    && !self.whole_lines
                    && height.min(rows) * unit <= usize::from(lines) * LINE
                    && whole_stages
                    && apart
                    && continued
            }
        }
    }

    /// The rows of a panel that are transposed before the next rows: as many as a stage takes.
    #[inline(always)]
    pub(crate) fn step(&self, unit: usize) -> usize {
        match self.stage {
            Stage::None => MOST_ROWS,
            Stage::Lines(lines) => usize::from(lines) * LINE / unit,
            Stage::Gather(_) => LINE / unit,
            Stage::Continue { .. } => count(self.height),
        }
    }
}

/// A number of a kernel as a count.
#[inline(always)]
pub(crate) fn count(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
