//! The data caches that the CPUID instruction reports.

use std::arch::x86_64::{__cpuid_count, CpuidResult};

use crate::machine::Caches;

/// Returns the caches of this CPU. `None` if the CPU does not describe an L1 data cache and an L2 cache.
///
/// Two leaves describe caches, and they have one format: Intel SDM vol. 2, CPUID leaf 04H, and AMD APM vol.
/// 3, function 8000_001Dh, which exists on CPUs with the feature TopologyExtensions.
pub(crate) fn caches_of_this_cpu() -> Option<Caches> {
    let has_intel = leaf(0, 0).eax >= 4;
    let has_amd = leaf(0x8000_0000, 0).eax >= 0x8000_001d && leaf(0x8000_0001, 0).ecx & 1 << 22 != 0;
    let leaves = [(4, has_intel), (0x8000_001d, has_amd)];
    leaves.into_iter().filter(|&(_, exists)| exists).find_map(|(number, _)| caches(|i| leaf(number, i)))
}

pub(crate) fn caches(subleaf: impl Fn(u32) -> CpuidResult) -> Option<Caches> {
    /// The most subleaves that are read. A real CPU has four or five caches, but an emulator may repeat a
    /// cache without end.
    const MOST_CACHES: u32 = 16;
    let caches = (0..MOST_CACHES).map(subleaf).take_while(|cache| kind(cache) != 0);
    let (mut first, mut second) = (None, None);
    for cache in caches.filter(|cache| matches!(kind(cache), DATA | UNIFIED)) {
        match cache.eax >> 5 & 7 {
            1 => first = Some(cache),
            2 => second = Some(cache),
            _ => {}
        }
    }
    let (l1, l1_ways) = geometry(&first?)?;
    let (l2, _) = geometry(&second?)?;
    Some(Caches { l1, l1_ways, l2 })
}

/// The kinds of caches, in the lowest bits of a description.
const DATA: u32 = 1;
const UNIFIED: u32 = 3;

fn kind(cache: &CpuidResult) -> u32 {
    cache.eax & 31
}

/// Returns the size of a cache in bytes, and its number of ways.
fn geometry(cache: &CpuidResult) -> Option<(usize, usize)> {
    // Each field holds a number less one.
    let field = |bits: u32| usize::try_from(bits).ok()?.checked_add(1);
    let (line, partitions) = (field(cache.ebx & 0xfff)?, field(cache.ebx >> 12 & 0x3ff)?);
    let (ways, sets) = (field(cache.ebx >> 22)?, field(cache.ecx)?);
    let bytes = line.checked_mul(partitions)?.checked_mul(ways)?.checked_mul(sets)?;
    Some((bytes, ways))
}

fn leaf(number: u32, subleaf: u32) -> CpuidResult {
    #[allow(unused_unsafe, reason = "a safe function in newer versions of Rust")]
    // SAFETY: every x86-64 CPU has the instruction. A leaf that does not exist gives meaningless numbers and
    // no fault.
    unsafe {
        __cpuid_count(number, subleaf)
    }
}
