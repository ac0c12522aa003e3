//! The units of memory that all kernels work in, and what a CPU reports about itself: its model, and its data
//! caches.

/// Size of a cache line in bytes, on every x86-64 CPU and on most ARM CPUs.
pub const LINE: usize = 64;

/// The size of a page of memory, in bytes, that kernels and plans assume.
pub const PAGE: usize = 1 << 12;

/// A CPU and its data caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traits {
    /// The model, if the CPU reports one.
    pub model: Option<Model>,
    /// Size of the L1 data cache of a core, in bytes.
    pub l1: usize,
    /// Associativity of the L1 data cache: how many lines a set holds.
    pub l1_ways: usize,
    /// Size of the L2 cache, in bytes.
    pub l2: usize,
    /// Size of a cache line, in bytes. Kernels work in lines of [`LINE`] bytes even if the
    /// CPU has lines of another size.
    pub line: usize,
}

/// The model of a CPU, as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// The maker of the CPU.
    pub vendor: Vendor,
    /// The family, with the extended family added (CPUID leaf 1).
    pub family: u32,
    /// The model number, with the extended model in front (CPUID leaf 1).
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
    /// The traits assumed of a CPU that reports nothing. They are the smallest caches of a 64-bit CPU of the
    /// last ten years (Intel's client cores up to 2018). ARM's large cores have caches of this size or
    /// larger.
    pub const ASSUMED: Traits = Traits { model: None, l1: 32 << 10, l1_ways: 8, l2: 256 << 10, line: LINE };

    /// The traits of the CPU that this code runs on.
    #[must_use]
    pub fn of_this_cpu() -> Traits {
        #[cfg(target_arch = "x86_64")]
        let traits = crate::x86_64::cpuid::traits();
        #[cfg(not(target_arch = "x86_64"))]
        let traits = None;
        traits.unwrap_or(Traits::ASSUMED)
    }
}
