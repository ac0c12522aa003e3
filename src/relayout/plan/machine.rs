//! What a plan knows of the machine that it is made for.

use std::sync::OnceLock;

use strided_copy::{Available, Traits};

use super::super::cpu_family::{CpuFamily, Rules};
use super::super::level::KernelLevel;
use super::cost::{LARGEST_PANEL, LINE, LONG_ROWS_STREAMING_FROM, LONGEST_JOINED, PAGE, STREAMING_FROM};

/// The numbers of the cost model that depend on the machine. Bytes, unless the name says otherwise. A plan
/// carries those that it was made with; what is the same everywhere is in [`cost`](super::cost).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Knobs {
    /// Whose vectors: schedules are made for them.
    pub(crate) level: Available,
    pub(crate) family: CpuFamily,
    pub(crate) rules: Rules,
    /// Rows that share a set of the L1 cache before a block goes by way of a staging buffer.
    pub(crate) l1_ways: usize,
    /// Addresses a multiple of this apart share a set of the L1 cache.
    pub(crate) l1_way: usize,
    /// One side of a copy up to which it stays in the L2 cache; 0 if all go past it.
    pub(crate) in_l2: usize,
    /// Bytes read and written from which on a copy uses non-temporal stores.
    pub(crate) streaming_from: u64,
    /// The same number for copies of long rows.
    pub(crate) long_rows_streaming_from: u64,
    /// Bytes read and written up to which a copy prefetches nothing: what the L2 cache holds.
    pub(crate) prefetch_above: u64,
    /// A panel of a transpose, at most.
    pub(crate) panel: usize,
}

impl Knobs {
    /// Those of the CPU that this runs on, which is read once.
    pub(crate) fn of_this_cpu() -> &'static Knobs {
        static KNOBS: OnceLock<Knobs> = OnceLock::new();
        KNOBS.get_or_init(|| {
            let traits = Traits::of_this_cpu();
            Knobs::new(CpuFamily::of(traits.model), &traits)
        })
    }

    /// Those of a family with the caches of its server CPUs.
    pub(crate) fn of_family(family: CpuFamily) -> Knobs {
        Knobs::new(family, &family.traits())
    }

    pub(crate) fn new(family: CpuFamily, traits: &Traits) -> Knobs {
        Knobs {
            level: KernelLevel::available_in_use(),
            family,
            rules: family.rules(),
            l1_ways: traits.l1_ways.max(1),
            l1_way: traits.l1.checked_div(traits.l1_ways).unwrap_or(0).max(LINE),
            in_l2: traits.l2.div_euclid(2),
            streaming_from: STREAMING_FROM,
            long_rows_streaming_from: LONG_ROWS_STREAMING_FROM,
            prefetch_above: u64::try_from(traits.l2).unwrap_or(u64::MAX),
            panel: traits.l2.div_euclid(4).clamp(PAGE, LARGEST_PANEL),
        }
    }

    /// Bytes of a destination run up to which neighbouring tiles are joined.
    pub(crate) fn joined_up_to(&self) -> usize {
        if self.rules.joins_tiles { LONGEST_JOINED } else { 0 }
    }

    /// Bytes of the L1 cache.
    pub(crate) fn l1(&self) -> u64 {
        u64::try_from(self.l1_way.saturating_mul(self.l1_ways)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests;
