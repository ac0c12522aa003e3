//! What kernels may assume: the conditions under which a copy is sound.
//!
//! The code over vectors (`simd/`) reads and writes through pointers, without bounds checks. The conditions
//! on which that code relies are checked here and in `reach.rs`, once, when a [`Copy`](crate::Copy) is made:
//!
//! 1. **Reach.** In every iteration of the loops, all source bytes and all destination bytes of the kernel
//!    are inside `0..reach`, which each side has for itself. [`Copy::run`](crate::Copy::run) asserts that
//!    each buffer is at least as long as its reach.
//! 2. **Form.** Runs, rows and columns are not empty, units are short enough for registers, and strides
//!    inside a kernel are not negative. So a kernel may compute `extent - 1`, divide by a unit, and read
//!    whole runs.
//! 3. **Code.** There is code for the kernel's choices: a shuffle for the number of rows, or a staging buffer
//!    with room for the panels ([`Panels::fit`](super::Panels::fit) has the argument for panels).
//! 4. **Non-temporal stores** are made only by a copy that streams, because a fence runs after such a copy.
//!
//! [`Kernel::fit`] checks conditions 2, 3 and 4, with an arm of a `match` for each kind of kernel. The
//! kernels in safe Rust (`portable/`) need only condition 2.

use std::fmt;

use super::panels::is_in_register;
use super::plane::MICRO_TILE;
use super::{
    Direction, JOINED_RUN, Kernel, LONGEST_UNIT, Loop, MOST_ROWS, Plane, PlaneRuns, Rows, RunOrder, Runs, Stride,
    Transpose,
};
use crate::level::SMALL_PROGRAM;
use crate::machine::LINE;

/// Why a copy cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misfit {
    /// An iteration begins before byte 0 of a buffer, or ends after the last address.
    Reach,
    /// An axis is empty, a unit is too long, or a stride inside the kernel is negative.
    Form,
    /// There is no code that runs the kernel as it is: for example, no shuffle for its number of rows, or too
    /// little room in the staging buffer.
    Code,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Misfit::Reach => "an iteration of the copy begins before its buffer, or ends after the last address",
            Misfit::Form => "an axis of the kernel is empty, a unit too long, or a stride negative",
            Misfit::Code => "there is no code for how the kernel is to run",
        })
    }
}

impl std::error::Error for Misfit {}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) loops: &'a [Loop],
    pub(crate) streaming: bool,
    /// Size of a vector register in bytes; `None` for safe Rust.
    pub(crate) register: Option<usize>,
}

impl Kernel {
    /// Checks conditions 2 to 4 of the [module](self). The reach of the kernel was computed before this call,
    /// so products of its numbers do not overflow.
    pub(crate) fn fit(&self, context: Context<'_>) -> Result<(), Misfit> {
        if !self.is_well_formed() {
            return Err(Misfit::Form);
        }
        match context.register {
            Some(register) if !self.has_code(context, register) => Err(Misfit::Code),
            _ => Ok(()),
        }
    }

    /// Checks condition 2.
    fn is_well_formed(&self) -> bool {
        match self {
            Kernel::Runs { run, count, .. } | Kernel::Table { run, count, .. } => *run > 0 && count.ascends(),
            Kernel::Transpose { plane, .. } => {
                let Plane { unit, columns, rows, micro_tile } = plane;
                let tile = micro_tile.is_none_or(|tile| tile.bytes() == *unit && tile.has_shuffle());
                (1..=LONGEST_UNIT).contains(unit)
                    && columns.extent > 0
                    && rows.extent > 0
                    && columns.is_whole()
                    && rows.is_whole()
                    && tile
            }
            Kernel::InterleaveBits { rows, .. } => !SMALL_PROGRAM && matches!(rows.bits, 1 | 2 | 4),
            // Block permutations and channels have private fields, which their constructors checked.
            Kernel::PermuteBlocks(_) | Kernel::Channels(_) => true,
            Kernel::ChangeWidth(row) => matches!(row.bits, 1 | 2 | 4) && row.packed > 0,
        }
    }

    /// Checks conditions 3 and 4 of the [module](self), for registers of `register` bytes.
    fn has_code(&self, context: Context<'_>, register: usize) -> bool {
        match self {
            &Kernel::Runs { run, count, by } => match by {
                Runs::Repeat => repeats(run, count) && run <= register,
                Runs::Words => matches!(run, 1 | 2 | 4 | 8 | 12 | 16),
                Runs::Halves => (17..=256).contains(&run),
                Runs::Scattered => run >= LINE,
                Runs::Lines { .. } | Runs::Memcpy => true,
            },
            Kernel::Table { .. } | Kernel::PermuteBlocks(_) | Kernel::Channels(_) | Kernel::ChangeWidth(_) => true,
            Kernel::Transpose { plane, by } => by.has_code(plane, context),
            Kernel::InterleaveBits { rows, by } if rows.direction == Direction::Deinterleave => {
                by.has_code(rows.row, rows.pitch.cast_signed(), context)
            }
            Kernel::InterleaveBits { by, .. } => *by == Rows::Direct,
        }
    }
}

/// Whether one run is repeated on the destination without a gap, and registers hold a whole number of runs.
fn repeats(run: usize, count: Stride) -> bool {
    count.source == 0 && usize::try_from(count.destination) == Ok(run) && run.is_power_of_two()
}

impl Transpose {
    fn has_code(&self, plane: &Plane, context: Context<'_>) -> bool {
        let Plane { unit, columns, rows, micro_tile } = plane;
        let whole_units = micro_tile.is_none();
        match self {
            Transpose::Units => whole_units && matches!(unit, 1 | 2 | 4 | 8),
            Transpose::Squares => whole_units && matches!(unit, 4 | 8 | 16) && plane.has_constant_pitches(),
            Transpose::Interleave(by) => {
                let one = whole_units && has_shuffle(*unit, rows.extent);
                // The destination is one dense row, for which there is no code with a staging buffer.
                one && plane.interleaves().is_some() && *by == Rows::Direct
            }
            Transpose::Deinterleave(by) => {
                let pitch = plane.deinterleaves().filter(|_| whole_units && has_shuffle(*unit, columns.extent));
                pitch.is_some_and(|pitch| by.has_code(plane.destination_row(), pitch, context))
            }
            Transpose::Panel { .. } => is_in_register(*unit) && rows.extent.max(columns.extent) <= MOST_ROWS,
            Transpose::Panels(panels) => panels.fit(plane, context.streaming),
            Transpose::Runs(runs) => whole_units && runs.has_code(plane, context),
        }
    }
}

/// Whether there is a shuffle that interleaves this many rows of units of this many bytes.
#[must_use]
pub fn has_shuffle(unit: usize, rows: usize) -> bool {
    match rows {
        2..=4 => matches!(unit, 1 | 2 | 4) || unit == 8 && !SMALL_PROGRAM,
        8 => matches!(unit, 1 | 2 | 4),
        16 => !SMALL_PROGRAM && matches!(unit, 1 | 2 | 4),
        _ => false,
    }
}

impl PlaneRuns {
    fn has_code(&self, plane: &Plane, context: Context<'_>) -> bool {
        let ordered = match self.order {
            RunOrder::Source => self.unaligned.is_some() && fills_lines(plane) && plane.has_constant_pitches(),
            RunOrder::FewColumns(few) => few > 0 && matches!(plane.unit, 32 | 64 | 128) && plane.has_constant_pitches(),
            // Two runs of half a line are stored together, so an even number of runs is copied at a time.
            RunOrder::Pieces(piece) => piece > 0 && piece % 2 == 0,
        };
        // Whether all destination rows of all iterations start at a line, if the first one does.
        let aligned =
            || plane.columns.are_multiples_of(LINE) && context.loops.iter().all(|step| step.moves_destination_by(LINE));
        let unaligned = self.unaligned.is_none_or(|panels| aligned() && panels.fit(plane, context.streaming));
        ordered && unaligned && (context.streaming || self.unaligned.is_none())
    }
}

/// Whether the units of a plane are whole cache lines, or halves of a line.
#[must_use]
pub fn fills_lines(plane: &Plane) -> bool {
    plane.unit.is_multiple_of(LINE) || plane.unit == LINE / 2
}

impl Rows {
    // Proved for every input (proofs/lemmas.py):
    // * joined.stage: all joined runs end inside a row of the staging buffer.
    // * joined.accepts: two or more runs that fit a row of the staging buffer are accepted.
    fn has_code(self, row: usize, pitch: isize, context: Context<'_>) -> bool {
        match self {
            Rows::Direct => true,
            Rows::Staged | Rows::Joined(_) if SMALL_PROGRAM => false,
            Rows::Staged => context.streaming && pitch.unsigned_abs().is_multiple_of(LINE),
            Rows::Joined(runs) => {
                let runs = usize::from(runs);
                let innermost = context.loops.last().and_then(Loop::stride);
                let continues = innermost.is_some_and(|stride| {
                    usize::try_from(stride.destination) == Ok(row) && stride.extent.is_multiple_of(runs.max(1))
                });
                let fits = runs >= 2 && row <= JOINED_RUN && runs * row <= JOINED_RUN;
                context.streaming && pitch >= 0 && continues && fits
            }
        }
    }
}

// A micro-tile is a unit, so it may not be longer than the longest unit.
const _: () = assert!(MICRO_TILE <= LONGEST_UNIT);
