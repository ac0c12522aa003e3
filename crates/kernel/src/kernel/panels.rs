//! Panels: the order in which the blocks of a large plane are transposed, and the staging buffer that blocks
//! go through.
//!
//! The problem: a plane is too large for the caches. A block reads a few bytes of many source rows. When the
//! neighbouring block needs the other bytes of the same source lines, these lines have been evicted from the
//! cache, and are fetched again.
//!
//! The cure is to finish one *panel* before the next panel. A panel is a part of the plane, `height` rows by
//! `width` columns, whose source lines fit a cache together. Each line is fetched once, and used up while it
//! is in the cache.
//!
//! ```text
//!            width                       kept
//!         |---------|                 |-----------------|
//! height  | panel 0 | panel 1 |       | panel 0 panel 1 | panel 4 ...
//!         | panel 2 | panel 3 |       | panel 2 panel 3 | ...
//! ```
//!
//! ```text
//! for each range of kept columns:
//!     for each range of height rows:
//!         for each range of width columns:
//!             prefetch the panel that is `ahead` panels further on
//!             transpose this panel, block by block
//! ```
//!
//! Some panels do not go straight to the destination, but through a *staging buffer* (`stage`), for one of
//! two reasons:
//!
//! * Destination rows are a multiple of a page apart. All lines that a block writes then compete for a few
//!   sets of the L1 cache, and evict each other. In the staging buffer, rows have one line more than their
//!   contents, so that the lines of a block fall into different sets ([`Stage::Lines`]).
//! * Destination rows start inside cache lines, and the copy uses non-temporal stores, which are fast only
//!   for whole lines. The staging buffer holds back the last, partial line of each row until the row
//!   continues in the panel below ([`Stage::Continue`]). Each row keeps such a line, so only `kept` columns
//!   are in progress at a time.

use super::plane::Plane;
use super::{LONGEST_UNIT, RUN_COLUMNS};
use crate::machine::LINE;

/// How a plane is cut into panels, and how the panels are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panels {
    /// The number of rows of a panel.
    pub height: u32,
    /// The number of columns of a panel.
    pub width: u32,
    /// How many columns are transposed through all rows of the plane before the next columns.
    pub kept: u32,
    /// How many panels ahead the source is prefetched; 0 for no prefetch.
    pub ahead: u32,
    /// The staging buffer, if there is one.
    pub stage: Stage,
    /// Whether whole lines of the destination are written with non-temporal stores. For this, the pitch of
    /// the destination rows must be a multiple of a line.
    pub whole_lines: bool,
    /// Whether panels are prefetched into the L1 cache, and not only into the L2 cache.
    pub near: bool,
    /// Whether blocks are transposed in an order that hardware prefetchers do not follow.
    pub scattered: bool,
}

/// The staging buffer that panels go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// There is no staging buffer.
    None,
    /// The buffer collects this many lines of each destination row. This is for copies with ordinary stores.
    Lines(u8),
    /// The buffer collects lines of destination rows that start inside cache lines. The partial line at the
    /// end of each row is kept until the row continues. This is for copies with non-temporal stores.
    Continue {
        /// How many lines of each destination row the buffer collects.
        lines: u8,
        /// Whether the destination rows follow each other without a gap, so that they are treated as one row.
        joined: bool,
    },
}

/// How many destination rows keep a partial cache line at a time, until the row continues. These lines have
/// 64 KiB together.
pub const KEPT_COLUMNS: usize = 1 << 10;

/// The most columns that a staging buffer takes. Each column becomes a row of the buffer.
const MOST_COLUMNS: usize = 64;

/// The most source rows whose offsets are listed at a time. That many units of 1 byte fill eight lines of a
/// destination row, which is what a staging buffer of 64 rows takes.
pub(crate) const MOST_ROWS: usize = 512;

/// Size of a staging buffer in bytes: 64 rows of eight lines, or 32 rows of sixteen lines, and one more line
/// in each row.
pub(crate) const STAGE: usize = MOST_COLUMNS * STAGED_PITCH;

/// The pitch of the rows of a staging buffer, in bytes, unless rows are longer than eight lines: nine lines,
/// of which one stays free.
const STAGED_PITCH: usize = 9 * LINE;

// As many columns as are kept fill the staging buffer a whole number of times, for every length of a unit.
const _: () = assert!(KEPT_COLUMNS.is_multiple_of(MOST_COLUMNS) && KEPT_COLUMNS.is_multiple_of(RUN_COLUMNS));

impl Stage {
    /// The pitch of the rows of a staging buffer that collects this many lines, in bytes.
    // Proved for every input (proofs/lemmas.py):
    // * panels.rows: a row of 1 to 16 lines has a line more than its contents.
    pub(crate) fn pitch(lines: u8) -> usize {
        ((usize::from(lines) + 1) * LINE).max(STAGED_PITCH)
    }

    /// How many columns go into the staging buffer at a time. If registers hold the units, as many columns as
    /// a line has units; if units are longer, a fixed number.
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
    /// Whether the panels may run on this plane. All unsafe code of panels relies on this check.
    ///
    /// The plane is well formed: it has rows and columns, and units of 1 to [`LONGEST_UNIT`] bytes. The code
    /// of panels (`simd/plane`) accesses four kinds of memory, and each condition below bounds one of them.
    ///
    /// 1. **The plane itself.** Panels are cut from its rows and columns, so they are inside the plane for
    ///    all numbers. `height`, `width` and `kept` are above 0; otherwise the loop over panels would never
    ///    end.
    /// 2. **The staging buffer** has [`STAGE`] bytes. If it collects `n` lines of a row, it holds
    ///    `columns_at_once` rows. The rows are [`Stage::pitch`] bytes apart, which is at least `n + 1` lines.
    ///    The product is at most `STAGE`. The code writes at most `n` lines of a row, because a *step* (rows
    ///    that are transposed at a time) has at most `n * LINE / unit` rows ([`Panels::step`]). With
    ///    [`Continue`](Stage::Continue), a step is the whole height of a panel, so the height is bounded
    ///    here.
    /// 3. **The lists of offsets** have [`MOST_ROWS`] entries. A step lists the offsets of its rows. With a
    ///    staging buffer these are `n * LINE / unit` entries, which this check bounds. Without a staging
    ///    buffer, a step has at most `MOST_ROWS` rows.
    /// 4. **Kept partial lines**: there is memory for [`KEPT_COLUMNS`] lines. Two columns that are kept at a
    ///    time never share a line: either all columns are kept and are at most `KEPT_COLUMNS`, or `kept` is
    ///    exactly `KEPT_COLUMNS`. A run that continues is at least a line long, because a shorter run might
    ///    not complete its partial line.
    ///
    /// Non-temporal stores need aligned addresses. `whole_lines` requires that the pitch of the destination
    /// rows, and the rows of a panel, are multiples of a line; the code of panels checks where the first row
    /// starts. Non-temporal stores are allowed only if the copy streams, because only then does a fence
    /// follow.
    #[must_use]
    // Proved for every input (proofs/lemmas.py):
    // * panels.stage: every byte of every row is inside the staging buffer.
    pub(crate) fn fit(&self, plane: &Plane, streaming: bool) -> bool {
        let (unit, rows) = (plane.unit, plane.rows.extent);
        let [height, width, kept] = [self.height, self.width, self.kept].map(count);
        // Condition 1: the loop over panels ends, and units have a length for which there is code.
        if height == 0 || width == 0 || kept == 0 || unit > LONGEST_UNIT {
            return false;
        }
        if self.stage == Stage::None && !self.whole_lines {
            return is_in_register(unit);
        }
        let in_register = is_in_register(unit);
        let at_once = Stage::columns_at_once(unit);
        // Checks conditions 2 and 3 for a staging buffer that collects `lines` lines of each row.
        let has_room = |lines: u8| {
            let has_rows = at_once * Stage::pitch(lines) <= STAGE;
            (1..=16).contains(&lines) && has_rows && usize::from(lines) * LINE / unit <= MOST_ROWS
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
            Stage::Lines(lines) => in_register && has_room(lines) && !self.whole_lines,
            Stage::Continue { lines, joined } => {
                let row = rows * unit;
                // Condition 4: kept partial lines have room, and no two kept columns share such a line.
                let continued = if joined {
                    let follow = plane.columns.stride() == Some(row) && height >= rows;
                    follow && at_once * row >= LINE
                } else {
                    height >= rows || height * unit >= LINE
                };
                let whole_stages = width.is_multiple_of(at_once);
                let apart = kept >= plane.columns.extent && kept <= KEPT_COLUMNS || kept == KEPT_COLUMNS;
                streaming
                    && has_room(lines)
                    && !self.whole_lines
                    && height.min(rows) * unit <= usize::from(lines) * LINE
                    && whole_stages
                    && apart
                    && continued
            }
        }
    }

    /// The length of a step: how many rows of a panel are transposed before the next ones. With a staging
    /// buffer, these are as many rows as the buffer takes.
    #[inline(always)]
    pub(crate) fn step(&self, unit: usize) -> usize {
        match self.stage {
            Stage::None => MOST_ROWS,
            Stage::Lines(lines) => usize::from(lines) * LINE / unit,
            Stage::Continue { .. } => count(self.height),
        }
    }
}

/// Converts a number in a kernel, such as the height of a panel, to a `usize`.
#[inline(always)]
pub(crate) fn count(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
