//! What a machine is: its traits, and the knobs that follow from them.
//!
//! [`Traits`] are what the CPU says of itself. [`Knobs`] are the numbers of the cost model that may differ
//! from one machine to another, or from one plan to another: a plan carries those that it was made with.
//! Numbers that are the same everywhere are in [`cost`](super::cost).

use std::sync::OnceLock;

use strided_copy::{Available, TraitSource, Traits};

use super::super::level::KernelLevel;
use super::cost::{LEAST_STAGED_RUN, LINE, LONGEST_JOINED, PAGE};

/// The traits of a machine and the knobs made from them.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) traits: Traits,
    pub(crate) knobs: Knobs,
}

impl Machine {
    /// The one this runs on. CPUID is read once.
    pub(crate) fn this() -> &'static Machine {
        static MACHINE: OnceLock<Machine> = OnceLock::new();
        MACHINE.get_or_init(|| {
            let traits = Traits::of_this_cpu();
            Machine { traits, knobs: Knobs::new(&traits) }
        })
    }
}

/// The numbers of the cost model that depend on the machine. Bytes, unless the name says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Knobs {
    /// Whose vectors: schedules are made for them.
    pub(crate) level: Available,
    /// Rows that share a set of the L1 cache before a block goes by way of a staging buffer.
    pub(crate) l1_ways: usize,
    /// Addresses a multiple of this apart share a set of the L1 cache.
    pub(crate) l1_way: usize,
    /// One side of a copy up to which it stays in the L2 cache; 0 if all go past it.
    pub(crate) in_l2: usize,
    /// Bytes read and written from which on a copy uses non-temporal stores.
    pub(crate) streaming_from: u64,
    /// Bytes read and written from which on a copy prefetches.
    pub(crate) prefetch_from: u64,
    /// How far ahead a kernel prefetches where the hardware prefetcher does not follow.
    pub(crate) prefetch_distance: usize,
    /// How far ahead it prefetches in long rows that the hardware prefetcher follows, several of them or a
    /// copy's one; 0 for not at all.
    pub(crate) prefetch_in_row: usize,
    /// A panel of a transpose, at most.
    pub(crate) panel: usize,
    /// A row of a panel where the pitch is not a multiple of [`PAGE`]; such rows are read in runs of up to a
    /// page instead.
    pub(crate) panel_width: usize,
    /// Source rows of a panel, at most: whole lines of bytes ([`LINE`] of them).
    pub(crate) panel_rows: usize,
    /// The cache that the next panel of units of four bytes and more is prefetched into: 1 or 2.
    pub(crate) panel_cache: usize,
    /// Runs in which streamed panels are staged and drained; 0: they are streamed line by line.
    pub(crate) staged_run: usize,
    /// Units that a register holds, at least, where panels are staged in `staged_run`; or [`BY_PITCHES`].
    pub(crate) staged_units: usize,
    /// The same of planes whose rows have no constant pitch on one side.
    pub(crate) staged_table_run: usize,
    /// Through the cache, blocks of rows that share a set are staged: 2, all of them; 1, those of registers
    /// shorter than a line, which read and write each line in parts.
    pub(crate) staged_blocks: usize,
    /// In the L2 cache, an order that hardware prefetchers do not follow (where they cost: Z5).
    pub(crate) permuted: bool,
    /// Destination runs up to which neighbouring tiles are joined in the cache where the row pitch is a
    /// multiple of [`PAGE`].
    pub(crate) joined_up_to: usize,
}

/// A knob for people: its name, its value, and where that comes from.
pub(crate) type NamedKnob = (&'static str, u64, &'static str);

impl Knobs {
    /// The knobs of a machine.
    pub(crate) fn new(traits: &Traits) -> Knobs {
        let few_and_ample = traits.l1_ways <= FEW_WAYS && traits.l2 >= AMPLE_L2;
        Knobs {
            level: KernelLevel::available_in_use(),
            l1_ways: traits.l1_ways.max(1),
            l1_way: traits.l1.checked_div(traits.l1_ways).unwrap_or(0).max(LINE),
            in_l2: traits.l2.div_euclid(2),
            streaming_from: STREAMING_FROM,
            prefetch_from: u64::try_from(traits.l2).unwrap_or(u64::MAX),
            prefetch_distance: PREFETCH_DISTANCE,
            prefetch_in_row: 0,
            panel: traits.l2.div_euclid(4).clamp(PAGE, LARGEST_PANEL),
            panel_width: if traits.l2_inclusive { PANEL_WIDTH } else { WIDE_PANEL },
            panel_rows: PANEL_ROWS,
            panel_cache: if traits.l2_inclusive { INCLUSIVE_L2 } else { APART },
            staged_run: if traits.l2_inclusive && !few_and_ample { 0 } else { STAGED_RUN },
            staged_units: if traits.l2_inclusive { BY_PITCHES } else { STAGED_UNITS },
            staged_table_run: if traits.l2_inclusive { 0 } else { STAGED_TABLE_RUN },
            staged_blocks: if traits.l2_inclusive { ALL_BLOCKS } else { BLOCKS_OF_PARTS },
            permuted: traits.l2_inclusive && traits.l1_ways > FEW_WAYS,
            joined_up_to: if traits.l1_ways <= FEW_WAYS && traits.l2 < AMPLE_L2 { LONGEST_JOINED } else { 0 },
        }
    }

    /// Does the hardware prefetcher follow all rows of a tile, which are then read by turns? It does on Z4;
    /// on Z5 they are read two by two.
    pub(crate) fn follows_many_rows(&self) -> bool {
        self.l1_ways <= FEW_WAYS
    }

    /// Bytes of the L1 cache.
    pub(crate) fn l1(&self) -> u64 {
        u64::try_from(self.l1_way.saturating_mul(self.l1_ways)).unwrap_or(u64::MAX)
    }

    /// All of them for people, with their sources. "Trial" is explained in [`cost`](super::cost).
    pub(crate) fn named(&self, traits: &Traits) -> [NamedKnob; 17] {
        // Every field by name: a new knob cannot be forgotten here.
        let Knobs {
            level: _,
            l1_ways,
            l1_way,
            in_l2,
            streaming_from,
            prefetch_from,
            prefetch_distance,
            prefetch_in_row,
            panel,
            panel_width,
            panel_rows,
            panel_cache,
            staged_run,
            staged_units,
            staged_table_run,
            staged_blocks,
            permuted,
            joined_up_to,
        } = *self;
        let made = Knobs::new(traits);
        let from_traits = match traits.source {
            TraitSource::Cpuid => "CPUID",
            TraitSource::Assumed => "assumed",
        };
        let number = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        let source = |same: bool, source| if same { source } else { "as tuned" };
        [
            ("L1 ways", number(l1_ways), from_traits),
            ("L1 way", number(l1_way), from_traits),
            ("in L2 up to", number(in_l2), from_traits),
            ("non-temporal from", streaming_from, source(streaming_from == made.streaming_from, "trial")),
            ("prefetch from", prefetch_from, source(prefetch_from == made.prefetch_from, from_traits)),
            ("prefetch ahead", number(prefetch_distance), source(prefetch_distance == made.prefetch_distance, "trial")),
            ("in long rows", number(prefetch_in_row), source(prefetch_in_row == made.prefetch_in_row, "trial")),
            ("panel", number(panel), if panel == LARGEST_PANEL { "trial" } else { from_traits }),
            ("panel width", number(panel_width), from_traits),
            ("panel rows", number(panel_rows), "trial"),
            ("panels into", number(panel_cache), source(panel_cache == made.panel_cache, from_traits)),
            ("staged runs", number(staged_run), source(staged_run == made.staged_run, from_traits)),
            ("staged from", number(staged_units), source(staged_units == made.staged_units, "trial")),
            (
                "staged runs of tables",
                number(staged_table_run),
                source(staged_table_run == made.staged_table_run, from_traits),
            ),
            ("staged in the cache", number(staged_blocks), from_traits),
            ("order in L2", u64::from(permuted), source(permuted == made.permuted, from_traits)),
            ("joined runs", number(joined_up_to), source(joined_up_to == made.joined_up_to, from_traits)),
        ]
    }
}

/// Between what Z5 (2 MiB) and Z3 (9 to 12) want; what a smaller copy leaves in the cache, its reader finds
/// there.
pub(crate) const STREAMING_FROM: u64 = 8 << 20;

/// By trial; on Z3 2 KiB would be better.
const PREFETCH_DISTANCE: usize = 1 << 13;

/// Two panels fit half an L2 cache. By trial.
const LARGEST_PANEL: usize = 1 << 17;

/// By trial: lines at one offset of different pages are to be read in runs (Z5; longer ones on X5).
const PANEL_WIDTH: usize = 1 << 8;
const WIDE_PANEL: usize = 1 << 9;

/// By trial.
const PANEL_ROWS: usize = 256;

/// Where panels are prefetched into (APART: X6).
const INCLUSIVE_L2: usize = 2;
const APART: usize = 1;

/// Runs of planes with constant pitches, where the L2 cache is apart (X5; registers of fewer than 16 units
/// lose). On Z5 it costs.
const STAGED_RUN: usize = LEAST_STAGED_RUN;
const STAGED_UNITS: usize = 16;

/// The same where the L2 cache holds L1 (Z4): the pitches decide.
pub(crate) const BY_PITCHES: usize = 0;

/// The same of planes without a constant pitch (X6, X5). On Z5 it costs.
const STAGED_TABLE_RUN: usize = 1 << 9;

/// Which blocks are staged in the cache: on X5 not those of registers that are a line, which comes and goes
/// once.
const ALL_BLOCKS: usize = 2;
const BLOCKS_OF_PARTS: usize = 1;

/// Few ways of an L1 cache: rows of neighbouring tiles push each other out (Z3; on Z5, which has 12, joining
/// costs).
pub(crate) const FEW_WAYS: usize = 8;

/// An L2 cache from which on joining costs and staging pays (Z4). That its size is what tells Z4 from Z3 is a
/// guess.
const AMPLE_L2: usize = 1 << 20;

#[cfg(test)]
mod tests;
