//! How the kernels execute a nest: which schedule it gets.
//!
//! Everything that depends on the machine is decided here, before a kernel runs: kernels read the
//! [`Schedule`] and nothing else.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "extents and pitches of a plane that is well formed and inside two buffers"
)]

use strided_copy::nest::{Axis, MicroKernel, Nest, NestLoop, Plane, Stride};
use strided_copy::{Panels, RUN_COLUMNS, Schedule, Stage};

use super::super::cpu_family::Staged;
use super::cost::{
    DRAINED_LINES, FEW_COLUMNS, FEW_DRAINED_LINES, FEW_ROWS, JOINED_RUN, KEPT_COLUMNS, LARGEST_STAGED_RUN, LINE,
    LONG_PIECE, LONG_RUN, MORE_STAGED_LINES, MOST_STREAMS, PAGE, PAIRED_ROW, PANEL_PREFETCH, PANEL_ROWS,
    PREFETCH_DISTANCE, RUN_PIECE, STAGED_LINES, STAGED_RUN, STAGED_TABLE_RUN, STAGED_UNITS, TLB_PITCH, TLB_ROWS,
};
use super::machine::Knobs;
use super::sequence::is_followed;

/// How a copy reads and stores: with non-temporal stores, with prefetches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) streaming: bool,
    pub(crate) prefetch: bool,
}

/// A nest of whole bytes, and how it is executed.
#[derive(Debug, Clone)]
pub(crate) struct Scheduled {
    pub(crate) nest: Nest,
    pub(crate) schedule: Schedule,
}

impl Scheduled {
    pub(crate) fn new(nest: Nest, memory: Memory, knobs: &Knobs) -> Scheduled {
        let schedule = schedule(nest.kernel(), nest.loops(), memory, knobs);
        Scheduled { nest, schedule }
    }
}

/// The schedule of a kernel in all iterations of some loops.
pub(crate) fn schedule(kernel: &MicroKernel, loops: &[NestLoop], memory: Memory, knobs: &Knobs) -> Schedule {
    let register = knobs.level.register();
    let prefetch = memory.prefetch && !is_followed(kernel, loops, knobs);
    let mut schedule =
        Schedule { prefetch, permuted: knobs.rules.permuted, prefetch_distance: PREFETCH_DISTANCE, ..Schedule::PLAIN };
    if memory.streaming {
        schedule.joined_iterations = joined_iterations(kernel, loops, knobs);
    }
    if let MicroKernel::Transpose(plane) = kernel {
        let situation = Situation { plane, memory: Memory { prefetch, ..memory }, knobs, register };
        let in_register = plane.unit.is_power_of_two() && plane.unit <= 16;
        if !in_register {
            situation.runs(&mut schedule);
        }
        schedule.panels = situation.panels(in_register);
    }
    schedule
}

/// How many neighbouring iterations are joined: those that write short runs side by side in rows that are
/// whole pages apart.
fn joined_iterations(kernel: &MicroKernel, loops: &[NestLoop], knobs: &Knobs) -> u16 {
    let Some((row, pitch)) = kernel.separated_rows() else { return 0 };
    if row > knobs.joined_up_to() || row == 0 || !pitch.is_multiple_of(PAGE) {
        return 0;
    }
    let Some(&NestLoop::Strided(Stride { extent, destination, .. })) = loops.last() else { return 0 };
    let runs = (2..=JOINED_RUN / row).rev().find(|&runs| extent.is_multiple_of(runs)).unwrap_or(0);
    if destination == row && runs * row >= 2 * LINE { u16::try_from(runs).unwrap_or(0) } else { 0 }
}

/// How many of `rows` rows with the pitch of an axis share a set of the L1 cache?
fn rows_in_set(axis: &Axis, rows: usize, knobs: &Knobs) -> usize {
    let way = knobs.l1_way.trailing_zeros();
    (rows << axis.stride().map_or(0, usize::trailing_zeros).min(way)) >> way
}

/// Of a page, if a pitch is whole pages; else of the width that the machine wants.
fn width(knobs: &Knobs, plane: &Plane, height: usize) -> usize {
    if plane.rows.are_multiples_of(PAGE) {
        (knobs.panel / (height * plane.unit)).min(PAGE)
    } else {
        knobs.rules.panel_width
    }
}

/// A plane, and where it is transposed.
struct Situation<'a> {
    plane: &'a Plane,
    memory: Memory,
    knobs: &'a Knobs,
    /// Bytes of a register.
    register: usize,
}

impl Situation<'_> {
    /// Planes of runs that are not a unit of a register.
    fn runs(&self, schedule: &mut Schedule) {
        let &Situation { plane, memory, knobs, .. } = self;
        let Plane { unit, columns, .. } = plane;
        let conflicts = columns.extent > knobs.l1_ways && columns.are_multiples_of(knobs.l1_way);
        // Two halves of a line are read from two rows in turns.
        let followed = *unit >= LINE || plane.source_row() < PAIRED_ROW;
        schedule.lines_in_source_order = followed && columns.extent <= MOST_STREAMS && knobs.rules.follows_rows;
        // Rows that share a set of the cache are written in longer pieces; past the cache, those of source
        // rows that the hardware prefetcher follows.
        let long =
            if memory.streaming { columns.extent * unit >= LONG_RUN && knobs.rules.follows_rows } else { conflicts };
        let few = match conflicts {
            true => FEW_COLUMNS,
            false if columns.extent <= FEW_ROWS => FEW_ROWS,
            false => 0,
        };
        schedule.few_columns = u8::try_from(few).unwrap_or(0);
        schedule.run_piece = u16::try_from(if long { LONG_PIECE } else { RUN_PIECE }).unwrap_or(u16::MAX);
    }

    /// The panels of a plane, whose unit is one of a register or not.
    fn panels(&self, in_register: bool) -> Panels {
        let &Situation { plane, memory, .. } = self;
        let lines_fit = memory.streaming && plane.columns.are_multiples_of(LINE);
        let plain = Panels { height: number(plane.rows.extent), ..Schedule::PLAIN.panels };
        if !in_register || memory.streaming && !lines_fit {
            return self.continued(plain, in_register);
        }
        self.in_lines(plain, lines_fit)
    }

    /// Rows that begin anywhere in a line, past the cache.
    fn continued(&self, plain: Panels, in_register: bool) -> Panels {
        let &Situation { plane, knobs, .. } = self;
        let (unit, columns, rows) = (plane.unit, plane.columns.extent, plane.rows.extent);
        let at_once = if in_register { LINE / unit } else { RUN_COLUMNS };
        let lines = if in_register && unit < 4 { FEW_DRAINED_LINES } else { DRAINED_LINES };
        let row_bytes = rows * unit;
        // A run that is continued is at least a line: of all rows that a stage takes, or of as many as a
        // panel is high.
        let joined = plane.columns.stride() == Some(row_bytes)
            && (LINE..=at_once * lines * LINE).contains(&(at_once * row_bytes));
        let one_tlb_set = plane.rows.are_multiples_of(TLB_PITCH);
        let most = lines * LINE / unit;
        let height = if one_tlb_set && !joined { most.min(TLB_ROWS.max(LINE.div_ceil(unit))) } else { most }.min(rows);
        let width = (width(knobs, plane, height).min(PAGE) / unit).max(at_once);
        let width = width - width % at_once;
        let distance = (PANEL_PREFETCH / (height * width * unit)).max(1);
        Panels {
            height: number(height),
            width: number(width),
            kept: number(KEPT_COLUMNS.min(columns)),
            distance: number(distance),
            stage: Stage::Continue { lines: u8::try_from(lines).unwrap_or(0), joined },
            ..plain
        }
    }

    /// Rows that are stored through the cache, or begin lines.
    fn in_lines(&self, plain: Panels, lines_fit: bool) -> Panels {
        let &Situation { plane, memory, knobs, register } = self;
        let unit = plane.unit;
        let own_order = knobs.rules.permuted && !memory.streaming && register == LINE;
        let (columns, rows) = (plane.columns.extent, plane.rows.extent);
        let conflict = |axis| !memory.streaming && rows_in_set(axis, LINE / unit, knobs) > knobs.l1_ways;
        let (conflicts, source_conflicts) = (conflict(&plane.columns), conflict(&plane.rows));
        let permuted = own_order && unit >= 4;
        let in_cache = !memory.streaming && !memory.prefetch && !conflicts;
        let lines = |lines: usize| u8::try_from(lines).unwrap_or(0);
        let gather = || match rows >= LINE / unit {
            true if source_conflicts && !permuted => Stage::Gather(lines(MORE_STAGED_LINES)),
            _ => Stage::None,
        };
        if in_cache && plane.micro_tile.is_none() && (rows <= PANEL_ROWS || permuted) {
            let stage = gather();
            let width = if stage == Stage::None { plain.width } else { 512 };
            return Panels { stage, width, ..plain };
        }
        let one_tlb_set = plane.rows.are_multiples_of(TLB_PITCH)
            && (plane.columns.stride().is_some() || plane.rows.stride().is_none());
        let staged_run = staged_run(plane, knobs, register / unit);
        // Destination rows that follow each other are drained whole: all of them are one run then.
        let whole_rows = staged_run > 0
            && plane.columns.stride() == Some(rows * unit)
            && (rows * unit).is_power_of_two()
            && (2 * LINE..=LARGEST_STAGED_RUN).contains(&(rows * unit));
        let staged_run = if whole_rows { rows * unit } else { staged_run };
        let staged_run = if unit == 1 { staged_run.min(LARGEST_STAGED_RUN / 2) } else { staged_run };
        let staged_rows = if lines_fit { staged_run / unit } else { 0 };
        let most_rows = if permuted { usize::MAX } else { PANEL_ROWS };
        let most_rows = if one_tlb_set { TLB_ROWS.max(LINE / unit) } else { most_rows };
        // A multiple of a line of rows, as both are: powers of two.
        let height = rows.min(most_rows.max(staged_rows));
        let width = width(knobs, plane, height);
        let width = (width - width % LINE).max(LINE) / unit;
        let panels = columns.div_ceil(width);
        // Not past the next row of panels, or the next plane.
        let distance = (PANEL_PREFETCH / (height * width * unit)).clamp(1, panels);
        // Rows in one page are read nearly as one run, which the L2 cache has in time.
        let apart = rows > 1 && plane.rows.offset(0).abs_diff(plane.rows.offset(1)) >= PAGE;
        let stage = match (lines_fit, conflicts) {
            (true, _) if staged_run >= 2 * LINE && height >= staged_run / unit => {
                Stage::Lines(lines(staged_run / LINE))
            }
            (false, true) if height >= MORE_STAGED_LINES * (LINE / unit) => Stage::Lines(lines(MORE_STAGED_LINES)),
            (false, true) if height >= STAGED_LINES * (LINE / unit) => Stage::Lines(lines(STAGED_LINES)),
            _ => gather(),
        };
        Panels {
            height: number(height),
            width: number(width),
            stage,
            lines_fit,
            distance: number(distance),
            near: (unit >= 4 || staged_rows > 0) && apart && knobs.rules.panels_in_l1,
            ..plain
        }
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The runs in which panels are staged, if a register holds `units` units; 0: they are not.
fn staged_run(plane: &Plane, knobs: &Knobs, units: usize) -> usize {
    match (knobs.rules.staged, plane.has_constant_pitches()) {
        (Staged::ByPitches, true) if pitches_want_a_stage(plane, units) => STAGED_RUN,
        (Staged::InLongRegisters, true) if units >= STAGED_UNITS => STAGED_RUN,
        (Staged::InLongRegisters, false) => STAGED_TABLE_RUN,
        _ => 0,
    }
}

/// Does a stage pay, if a register holds `units` units? By trial (Z4): a register of a line writes
/// lines one by one as fast unless both pitches are whole pages, or narrow units go to rows that are half
/// pages apart; shorter ones, which hold both halves of a line at once, gain from a stage elsewhere, and in
/// whole pages with bytes alone.
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

#[cfg(test)]
mod tests;
