//! How a nest is to be executed. Whoever plans decides; kernels obey.

use crate::cost::{KEPT_COLUMNS, LINE};
use crate::nest::{MicroKernel, Plane};

/// How the kernels execute a nest: what is stored how, in which order, by way of what, and what is
/// prefetched.
///
/// No schedule changes the bytes that are written. One that no kernel is for is refused when it is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// What will be read is prefetched.
    pub prefetch: bool,
    /// Lines and blocks go through the L2 cache in an order that hardware prefetchers do not follow.
    pub permuted: bool,
    /// Past the cache, whole lines of the destination are stored in the order of the source.
    pub lines_in_source_order: bool,
    /// Through the cache, runs of this many columns of a plane are copied before the next ones; 0: pieces of
    /// rows are.
    pub few_columns: u8,
    /// Bytes of a destination row that are written before the next row is, where a plane of runs is
    /// transposed.
    pub run_piece: u16,
    /// The number of neighbouring iterations, whose runs follow each other in every row of the destination,
    /// are stored together; 0: each by itself.
    pub joined_iterations: u16,
    /// How far ahead is prefetched where the hardware prefetcher does not follow, in bytes.
    pub prefetch_distance: u32,
    /// How planes are transposed.
    pub panels: Panels,
}

/// How planes are transposed: in which panels, by which stage, stored how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panels {
    /// Rows of a panel.
    pub height: u32,
    /// Columns of a panel.
    pub width: u32,
    /// Columns that are transposed through all rows before the next ones.
    pub kept: u32,
    /// How many panels ahead is prefetched.
    pub distance: u32,
    /// What panels go by way of.
    pub stage: Stage,
    /// Whole lines of the destination are stored past the cache, all rows of which begin at multiples of a
    /// line from each other.
    pub lines_fit: bool,
    /// Panels are prefetched into the L1 cache.
    pub near: bool,
}

/// What panels of a plane go by way of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Nothing.
    None,
    /// The number of lines of each row of the destination, whole ones if they are stored past the cache.
    Lines(u8),
    /// Through the cache, the number of lines of each row of the source, as many rows as fill a line of the
    /// destination.
    Gather(u8),
    /// As [`Lines`](Stage::Lines), of rows that begin inside lines: what does not fill a line is kept until
    /// the row goes on.
    Continue {
        /// Lines of each row.
        lines: u8,
        /// All rows of a plane follow each other.
        joined: bool,
    },
}

/// Columns of a plane of runs that are staged together.
pub const RUN_COLUMNS: usize = 16;

/// The most columns of a stage, each of which has a row of it, and of rows of a stage.
pub(crate) const MOST_COLUMNS: usize = 64;
pub(crate) const MOST_ROWS: usize = 512;

/// Bytes of all rows of a stage: those of 64 columns of bytes with eight lines, of 32 with sixteen, and a
/// line more each.
pub(crate) const STAGE: usize = MOST_COLUMNS * 9 * LINE;

const _: () = assert!(size_of::<Schedule>() <= 64);

// Columns that are kept are whole vectors of them, of whatever width and unit, and whole stages of runs.
const _: () = assert!(KEPT_COLUMNS.is_multiple_of(MOST_COLUMNS) && KEPT_COLUMNS.is_multiple_of(RUN_COLUMNS));

impl Schedule {
    /// Through the cache, in the order of the destination, without a prefetch: right for what is in a cache.
    pub const PLAIN: Schedule = Schedule {
        prefetch: false,
        permuted: false,
        lines_in_source_order: false,
        few_columns: 0,
        run_piece: 256,
        joined_iterations: 0,
        prefetch_distance: 1 << 13,
        panels: Panels {
            height: 256,
            width: u32::MAX,
            kept: u32::MAX,
            distance: 1,
            stage: Stage::None,
            lines_fit: false,
            near: false,
        },
    };

    /// Are there kernels for it? One that stores past the cache is for nothing unless the call
    /// is `streaming`.
    #[must_use]
    #[inline]
    pub fn is_for(&self, kernel: &MicroKernel, streaming: bool) -> bool {
        match kernel {
            MicroKernel::Transpose(plane) => {
                self.run_piece > 0 && plane.unit > 0 && self.panels.are_for(plane, streaming)
            }
            _ => true,
        }
    }
}

impl Panels {
    /// Do panels fit the stages of the kernels, and are lines where they are said to be?
    #[inline(never)]
    fn are_for(&self, plane: &Plane, streaming: bool) -> bool {
        let (unit, rows) = (plane.unit, plane.rows.extent);
        let [height, width, kept] =
            [self.height, self.width, self.kept].map(|number| usize::try_from(number).unwrap_or(0));
        let in_register = unit.is_power_of_two() && unit <= 16;
        let at_once = if in_register { LINE / unit } else { RUN_COLUMNS };
        let fits = |lines: u8, staged: usize| {
            let lines = usize::from(lines);
            (1..=16).contains(&lines) && staged * (lines + 1) * LINE <= STAGE && lines * LINE / unit <= MOST_ROWS
        };
        let sized = height > 0 && width > 0 && kept > 0 && self.distance > 0;
        if self.stage == Stage::None && !self.lines_fit {
            return sized;
        }
        // Rows of a panel begin lines where the first does.
        let whole = height >= rows || (height.saturating_mul(unit)).is_multiple_of(LINE);
        let lines = !self.lines_fit || plane.columns.are_multiples_of(LINE) && whole;
        // Through the cache, planes of other units are not copied in panels.
        let streams = in_register && (self.lines_fit || matches!(self.stage, Stage::Continue { .. }));
        sized
            && (streaming || !streams)
            && lines
            && match self.stage {
                Stage::None => true,
                Stage::Lines(lines) => in_register && fits(lines, at_once),
                Stage::Gather(lines) => in_register && !self.lines_fit && fits(lines, LINE / unit),
                Stage::Continue { lines, joined } => {
                    let row = rows.saturating_mul(unit);
                    // What is left of a run is less than a line, and no two columns that are kept share a
                    // place.
                    let continued = if joined {
                        let follow = plane.columns.stride() == Some(row) && height >= rows;
                        follow && at_once.saturating_mul(row) >= LINE
                    } else {
                        height >= rows || height * unit >= LINE
                    };
                    fits(lines, at_once)
                        && !self.lines_fit
                        && height.min(rows).saturating_mul(unit) <= usize::from(lines) * LINE
                        && width.is_multiple_of(at_once)
                        && (kept >= plane.columns.extent && kept <= KEPT_COLUMNS || kept == KEPT_COLUMNS)
                        && continued
                }
            }
    }
}
