//! Recorded answers of the CPUID instruction. The crate does not export its reader, so its file is compiled
//! into the tests.

#[path = "../../src/machine.rs"]
#[allow(dead_code, unreachable_pub, reason = "the tests ask no CPU")]
mod machine;

#[path = "../../src/features.rs"]
#[allow(dead_code, unreachable_pub, reason = "the level of the tests is the crate's own")]
mod features;

use std::arch::x86_64::CpuidResult;

use features::Features;
use machine::{Caches, cpuid::caches};

/// Recorded answers of CPUs: a Zen 5 (leaf 0x8000001D), a Skylake client core and a Xeon with an L2 cache of
/// 2 MiB (leaf 4).
#[test]
fn recorded_answers() {
    let cache = |eax, ebx, ecx| CpuidResult { eax, ebx, ecx, edx: 0 };
    let zen5 = [
        cache(0x121, 0x2c0_003f, 0x3f),
        cache(0x122, 0x1c0_003f, 0x3f),
        cache(0x143, 0x3c0_003f, 0x3ff),
        cache(0x4163, 0x3c0_003f, 0x7fff),
    ];
    let skylake = [
        cache(0x1c00_4121, 0x1c0_003f, 0x3f),
        cache(0x1c00_4122, 0x1c0_003f, 0x3f),
        cache(0x1c00_4143, 0xc0_003f, 0x3ff),
    ];
    let xeon = [
        cache(0x400_0121, 0x2c0_003f, 0x3f),
        cache(0x400_0122, 0x3c0_003f, 0x3f),
        cache(0x400_0143, 0x3c0_003f, 0x7ff),
        cache(0x400_4163, 0x3c0_003f, 0x7_7fff),
    ];
    let nothing = cache(0, 0, 0);
    for (answers, l1, l1_ways, l2) in
        [(&zen5[..], 48 << 10, 12, 1 << 20), (&skylake[..], 32 << 10, 8, 256 << 10), (&xeon[..], 48 << 10, 12, 2 << 20)]
    {
        let at = |i: u32| answers.get(usize::try_from(i).unwrap()).copied().unwrap_or(nothing);
        assert_eq!(caches(at), Some(Caches { l1, l1_ways, l2 }));
    }
    assert_eq!(caches(|_| nothing), None);
    // Two partitions of a line: no CPU at hand has them.
    let partitions = [zen5[0], cache(0x143, 0x1c0_103f, 0x3f)];
    let sizes = caches(|i| partitions.get(usize::try_from(i).unwrap()).copied().unwrap_or(nothing));
    assert_eq!(sizes.map(|sizes| sizes.l2), Some(2 * 64 * 64 * 8));
    // A CPU that repeats its L1 cache without end has no L2 cache.
    assert_eq!(caches(|_| zen5[0]), None);
}

/// What Linux writes for a Neoverse V2, whose caches have no CPUID.
#[test]
fn folders_of_linux() {
    let folder = std::env::temp_dir().join(format!("strided-copy-caches-{}", std::process::id()));
    let caches = [
        [("level", "1"), ("type", "Data"), ("size", "64K"), ("ways_of_associativity", "4")],
        [("level", "1"), ("type", "Instruction"), ("size", "64K"), ("ways_of_associativity", "4")],
        [("level", "2"), ("type", "Unified"), ("size", "2048K"), ("ways_of_associativity", "8")],
    ];
    for (index, files) in caches.iter().enumerate() {
        let index = folder.join(format!("index{index}"));
        std::fs::create_dir_all(&index).unwrap();
        files.iter().for_each(|(name, text)| std::fs::write(index.join(name), format!("{text}\n")).unwrap());
    }
    let expected = Caches { l1: 64 << 10, l1_ways: 4, l2: 2 << 20 };
    assert_eq!(Caches::in_folder(&folder), Some(expected));
    std::fs::remove_dir_all(folder.join("index2")).unwrap();
    assert_eq!(Caches::in_folder(&folder), None);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The C library and the CPU list the vectors that the standard library detects.
#[test]
#[cfg_attr(miri, ignore = "it has no instruction CPUID")]
fn every_reader_finds_the_same_vectors() {
    use std::arch::is_x86_feature_detected as detected;
    let avx512 = detected!("avx512f") && detected!("avx512bw") && detected!("avx512vl") && detected!("avx512vbmi");
    let expected = Features { avx2: detected!("avx2"), avx512 };
    assert_eq!(Features::of_cpuid(), expected);
    // The C library may have been told to hide some.
    let masked = std::env::var_os("GLIBC_TUNABLES").is_some();
    assert_eq!(Features::of_c_library().filter(|_| !masked).unwrap_or(expected), expected);
}
