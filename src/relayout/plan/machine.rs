//! What the choice of a kernel depends on besides the shape of what is copied: the numbers of the machine
//! ([`Knobs`]), and how the whole copy loads and stores ([`Site`]).

use std::sync::OnceLock;

use strided_copy::{Available, Caches, Prefetch};

use super::super::level::available_in_use;
use super::cost::{
    FEW_WAYS, LARGEST_PANEL, LINE, LONG_ROWS_STREAMING_FROM, LONGEST_JOINED, PAGE, PANEL_WIDTH, PREFETCH_DISTANCE,
    PREFETCH_ITERATIONS, STREAMING_FROM,
};

/// The numbers of the cost model that depend on the machine, in bytes unless the name says otherwise. A plan
/// keeps the numbers that it was made with. [`cost`](super::cost) has the numbers that are equal everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Knobs {
    pub(crate) level: Available,
    /// The associativity of the L1 cache. If a block writes more rows of one set than this, it goes through a
    /// staging buffer.
    pub(crate) l1_ways: usize,
    /// The size of a way of the L1 cache, in bytes. Addresses that are a multiple of it apart share a set.
    pub(crate) l1_way: usize,
    /// A copy whose sides have fewer bytes than this stays in the L2 cache. This is half of the cache, or 0
    /// if no copy stays there.
    pub(crate) in_l2: usize,
    /// The size of a copy, in bytes read and written, from which on it uses non-temporal stores.
    pub(crate) streaming_from: u64,
    /// The size of a copy of long rows, in bytes read and written, from which on it uses non-temporal stores.
    pub(crate) long_rows_streaming_from: u64,
    /// The size of a copy, in bytes read and written, up to which nothing is prefetched. The L2 cache holds
    /// copies of this size.
    pub(crate) prefetch_above: u64,
    pub(crate) panel: usize,
    pub(crate) panel_width: usize,
    /// Whether the next panel is prefetched into the L1 cache, for units of four bytes and more. `None`
    /// stands for: only panels whose rows are spread over the sets of the L1 cache; and all panels if
    /// registers have half a line, because such registers read each source line twice.
    pub(crate) panels_in_l1: Option<bool>,
    /// Whether short runs of neighbouring tiles are joined before they are streamed, because rows of tiles
    /// evict each other from a cache of few ways.
    pub(crate) joins_tiles: bool,
    /// Whether copies that stay in the L2 cache go through their lines or blocks in a scattered order.
    pub(crate) scattered: bool,
    /// Whether 8 or 16 rows are interleaved in registers even if a register holds no more units than that.
    /// Otherwise such rows are transposed in panels. `None` means: only with non-temporal stores.
    pub(crate) fills_registers: Option<bool>,
    /// Whether small copies may run as plain loops, without a kernel.
    pub(crate) plain_loops: bool,
}

impl Knobs {
    /// The numbers for the CPU that this code runs on. The sizes of its caches are read once.
    pub(crate) fn of_this_cpu() -> &'static Knobs {
        static KNOBS: OnceLock<Knobs> = OnceLock::new();
        KNOBS.get_or_init(|| Knobs::new(available_in_use(), Caches::of_this_cpu()))
    }

    pub(crate) fn new(level: Available, caches: Caches) -> Knobs {
        let Caches { l1, l1_ways, l2 } = caches;
        let knobs = Knobs {
            level,
            l1_ways: l1_ways.max(1),
            l1_way: l1.checked_div(l1_ways).unwrap_or(0).max(LINE),
            in_l2: l2.div_euclid(2),
            streaming_from: STREAMING_FROM,
            long_rows_streaming_from: LONG_ROWS_STREAMING_FROM,
            prefetch_above: u64::try_from(l2).unwrap_or(u64::MAX),
            panel: l2.div_euclid(4).clamp(PAGE, LARGEST_PANEL),
            panel_width: PANEL_WIDTH,
            panels_in_l1: None,
            joins_tiles: false,
            scattered: true,
            fills_registers: None,
            plain_loops: true,
        };
        knobs.at_level(level)
    }

    pub(crate) fn at_level(self, level: Available) -> Knobs {
        Knobs { level, joins_tiles: level.register() < LINE && self.l1_ways <= FEW_WAYS, ..self }
    }

    /// The longest destination run, in bytes, for which runs of neighbouring tiles are joined.
    pub(crate) fn joined_up_to(&self) -> usize {
        if self.joins_tiles { LONGEST_JOINED } else { 0 }
    }

    pub(crate) fn l1(&self) -> u64 {
        u64::try_from(self.l1_way.saturating_mul(self.l1_ways)).unwrap_or(u64::MAX)
    }
}

/// How the whole copy loads and stores, and on which machine: what is the same for all its boxes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site<'a> {
    pub(crate) streaming: bool,
    /// Whether the source is prefetched where the hardware prefetcher does not follow.
    pub(crate) prefetch: bool,
    /// Whether small blocks may be permuted in registers, which takes tables of up to 30 KB for each box.
    pub(crate) permutes: bool,
    pub(crate) knobs: &'a Knobs,
}

impl Site<'_> {
    pub(super) fn register(&self) -> usize {
        self.knobs.level.register()
    }
}

/// Returns the prefetch, as a number of iterations ahead, if each iteration reads `bytes` bytes.
pub(super) fn iterations_ahead(bytes: usize) -> Prefetch {
    let ahead = PREFETCH_DISTANCE.checked_div(bytes).unwrap_or(PREFETCH_ITERATIONS).clamp(1, PREFETCH_ITERATIONS);
    Prefetch::Iterations(number(ahead))
}

pub(super) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
