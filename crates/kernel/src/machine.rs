//! The sizes of a cache line and of a page, which all kernels share, and the data caches of a CPU.

/// Size of a cache line in bytes, on every x86-64 CPU and on most ARM CPUs.
pub const LINE: usize = 64;

/// Size of a page of memory in bytes, as kernels and plans assume it.
pub const PAGE: usize = 1 << 12;

/// The data caches of a core. The speed of copies depends on them, and no result does.
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

    /// The caches of the CPU that this code runs on: as the C library or the CPUID instruction reports them,
    /// or else Linux.
    #[must_use]
    pub fn of_this_cpu() -> Caches {
        #[cfg(target_arch = "x86_64")]
        let caches = of_c_library().or_else(cpuid::caches_of_this_cpu);
        #[cfg(not(target_arch = "x86_64"))]
        let caches = None;
        let caches = caches.or_else(|| {
            let folder = std::path::Path::new("/sys/devices/system/cpu/cpu0/cache");
            // Nearly every x86-64 CPU describes its caches itself, so a program with the feature `small`
            // reads no files of Linux.
            let enough = cfg!(all(feature = "small", target_arch = "x86_64"));
            if cfg!(target_os = "linux") && !enough { Self::in_folder(folder) } else { None }
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

/// The caches that glibc found when the program started. glibc is asked first, because a CPUID instruction
/// takes 4 to 8 us in a virtual machine. (Versions before 2.33 execute CPUID again.) `None` if glibc does not
/// know the caches, and for other C libraries.
#[cfg(target_arch = "x86_64")]
fn of_c_library() -> Option<Caches> {
    // Miri knows no caches.
    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
    {
        use std::ffi::{c_int, c_long};
        /// `_SC_LEVEL1_DCACHE_SIZE`, `_SC_LEVEL1_DCACHE_ASSOC` and `_SC_LEVEL2_CACHE_SIZE`.
        const NAMES: [c_int; 3] = [188, 189, 191];
        unsafe extern "C" {
            safe fn sysconf(name: c_int) -> c_long;
        }
        let [l1, l1_ways, l2] = NAMES.map(|name| usize::try_from(sysconf(name)).unwrap_or(0));
        return (l1 > 0 && l1_ways > 0 && l2 > 0).then_some(Caches { l1, l1_ways, l2 });
    }
    #[allow(unreachable_code, reason = "for other C libraries")]
    None
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod cpuid {
    //! The data caches that the CPUID instruction reports.

    use std::arch::x86_64::{__cpuid_count, CpuidResult};

    use super::Caches;

    /// Returns the caches of this CPU. `None` if the CPU does not describe an L1 data cache and an L2 cache.
    ///
    /// CPUID describes caches in either of two leaves of the same format: Intel SDM vol. 2, CPUID leaf 04H,
    /// and AMD APM vol. 3, function 8000_001Dh, which exists on CPUs with the feature TopologyExtensions.
    pub(crate) fn caches_of_this_cpu() -> Option<Caches> {
        let has_intel = || leaf(0, 0).eax >= 4;
        let has_amd = || leaf(0x8000_0000, 0).eax >= 0x8000_001d && leaf(0x8000_0001, 0).ecx & 1 << 22 != 0;
        let intel = || has_intel().then(|| caches(|i| leaf(4, i))).flatten();
        intel().or_else(|| has_amd().then(|| caches(|i| leaf(0x8000_001d, i))).flatten())
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
            if first.is_some() && second.is_some() {
                break;
            }
        }
        let (l1, l1_ways) = geometry(&first?)?;
        let (l2, _) = geometry(&second?)?;
        Some(Caches { l1, l1_ways, l2 })
    }

    /// The kinds of caches that hold data. CPUID returns the kind in the lowest five bits of EAX.
    const DATA: u32 = 1;
    const UNIFIED: u32 = 3;

    fn kind(cache: &CpuidResult) -> u32 {
        cache.eax & 31
    }

    /// Returns the size of a cache in bytes, and its number of ways.
    fn geometry(cache: &CpuidResult) -> Option<(usize, usize)> {
        // In EBX and ECX, CPUID stores every number of a cache reduced by one.
        let field = |bits: u32| usize::try_from(bits).ok()?.checked_add(1);
        let (line, partitions) = (field(cache.ebx & 0xfff)?, field(cache.ebx >> 12 & 0x3ff)?);
        let (ways, sets) = (field(cache.ebx >> 22)?, field(cache.ecx)?);
        let bytes = line.checked_mul(partitions)?.checked_mul(ways)?.checked_mul(sets)?;
        Some((bytes, ways))
    }

    pub(crate) fn leaf(number: u32, subleaf: u32) -> CpuidResult {
        // Miri cannot run CPUID. With zeros in every leaf, the CPU has no caches that are known.
        if cfg!(miri) {
            return CpuidResult { eax: 0, ebx: 0, ecx: 0, edx: 0 };
        }
        #[allow(unused_unsafe, reason = "a safe function in newer versions of Rust")]
        // SAFETY: every x86-64 CPU has the instruction. A leaf that does not exist gives meaningless numbers
        // and no fault.
        unsafe {
            __cpuid_count(number, subleaf)
        }
    }
}
