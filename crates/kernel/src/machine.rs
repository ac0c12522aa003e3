//! The units of memory that all kernels work in, and the data caches of a CPU.

/// Size of a cache line in bytes, on every x86-64 CPU and on most ARM CPUs.
pub const LINE: usize = 64;

/// The size of a page of memory, in bytes, that kernels and plans assume.
pub const PAGE: usize = 1 << 12;

/// The data caches of a core. Speed depends on them, and no result does.
///
/// ```
/// use strided_copy::Caches;
///
/// let caches = Caches::of_this_cpu();
/// println!("{} KiB in {} ways, {} KiB behind them", caches.l1 >> 10, caches.l1_ways, caches.l2 >> 10);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Caches {
    /// Size of the L1 data cache, in bytes.
    pub l1: usize,
    /// Associativity of the L1 data cache: how many lines a set holds.
    pub l1_ways: usize,
    /// Size of the L2 cache, in bytes.
    pub l2: usize,
}

impl Caches {
    /// The caches assumed of a CPU that reports nothing. They are the smallest caches of a 64-bit CPU of the
    /// last ten years (Intel's client cores up to 2018). ARM's large cores have caches of this size or
    /// larger.
    pub const ASSUMED: Caches = Caches { l1: 32 << 10, l1_ways: 8, l2: 256 << 10 };

    /// The caches of the CPU that this code runs on: those that the CPUID instruction reports, or else Linux.
    #[must_use]
    pub fn of_this_cpu() -> Caches {
        #[cfg(target_arch = "x86_64")]
        let caches = crate::x86_64::cpuid::caches_of_this_cpu();
        #[cfg(not(target_arch = "x86_64"))]
        let caches = None;
        let caches = caches.or_else(|| {
            let folder = std::path::Path::new("/sys/devices/system/cpu/cpu0/cache");
            cfg!(target_os = "linux").then(|| Self::in_folder(folder))?
        });
        caches.unwrap_or(Caches::ASSUMED)
    }

    /// Reads the caches that Linux describes in a folder for each cache. `None` if an L1 data cache or an L2
    /// cache is missing or not described.
    #[must_use]
    pub fn in_folder(folder: &std::path::Path) -> Option<Caches> {
        let read = |index: usize, name: &str| {
            let text = std::fs::read_to_string(folder.join(format!("index{index}")).join(name)).ok()?;
            Some(text.trim().to_owned())
        };
        let find = |level: &str| {
            let holds_data = |&index: &usize| read(index, "type").is_some_and(|kind| kind != "Instruction");
            (0..8).filter(holds_data).find(|&index| read(index, "level").as_deref() == Some(level))
        };
        let size = |index| read(index, "size")?.strip_suffix('K')?.parse::<usize>().ok()?.checked_mul(1 << 10);
        let (first, second) = (find("1")?, find("2")?);
        let l1_ways = read(first, "ways_of_associativity")?.parse().ok().filter(|&ways| ways > 0)?;
        Some(Caches { l1: size(first)?, l1_ways, l2: size(second)? })
    }
}
