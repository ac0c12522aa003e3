//! What a CPU says of itself: which one it is, and its data caches.

use crate::line::LINE;

/// A CPU and its data caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traits {
    /// Which CPU it is, if it says so.
    pub model: Option<Model>,
    /// Bytes of the L1 data cache of a core.
    pub l1: usize,
    /// How many lines a set of the L1 data cache holds.
    pub l1_ways: usize,
    /// Bytes of the L2 cache.
    pub l2: usize,
    /// Bytes of a cache line. Kernels work in lines of [`LINE`](crate::line::LINE) bytes whatever it is.
    pub line: usize,
}

/// The name of a CPU in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// Who made it.
    pub vendor: Vendor,
    /// The family, the extended family added (CPUID leaf 1).
    pub family: u32,
    /// The model, the extended model before it (CPUID leaf 1).
    pub number: u32,
}

/// The maker of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vendor {
    /// `AuthenticAMD`.
    Amd,
    /// `GenuineIntel`.
    Intel,
}

impl Traits {
    /// What is assumed of a CPU that says nothing: the least that a 64-bit CPU of the last ten years has
    /// (Intel's client cores up to 2018; ARM's large cores have as much or more).
    pub const ASSUMED: Traits = Traits { model: None, l1: 32 << 10, l1_ways: 8, l2: 256 << 10, line: LINE };

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
