//! What a CPU says of its data caches.

use crate::cost::LINE;

/// The data caches of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traits {
    /// Bytes of the L1 data cache of a core, and how many lines of one set it holds.
    pub l1: usize,
    /// Bytes of the L1 data cache of a core.
    pub l1_ways: usize,
    /// Bytes of the L2 cache.
    pub l2: usize,
    /// Does the L2 cache hold all that the L1 cache holds?
    pub l2_inclusive: bool,
    /// Bytes of a cache line. Kernels work in lines of [`LINE`](crate::cost::LINE) bytes whatever it is.
    pub line: usize,
    /// Who said so.
    pub source: TraitSource,
}

/// Where traits come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraitSource {
    /// The CPU: CPUID leaf 4 (Intel), leaf 0x8000001D (AMD).
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only x86-64 has CPUID"))]
    Cpuid,
    /// Assumed, as the CPU does not say.
    Assumed,
}

impl Traits {
    /// What is assumed of a CPU that says nothing: the least that a 64-bit CPU of the last ten years has
    /// (Intel's client cores up to 2018; ARM's large cores have as much or more).
    pub const ASSUMED: Traits = Traits {
        l1: 32 << 10,
        l1_ways: 8,
        l2: 256 << 10,
        l2_inclusive: true,
        line: LINE,
        source: TraitSource::Assumed,
    };

    /// Those of the CPU that this runs on.
    #[must_use]
    pub fn of_this_cpu() -> Traits {
        #[cfg(target_arch = "x86_64")]
        let traits = crate::x86_64::cpuid::traits();
        #[cfg(not(target_arch = "x86_64"))]
        let traits = None;
        traits.unwrap_or(Traits::ASSUMED)
    }
}
