//! Recorded answers of the CPUID instruction. The crate does not export its reader, so its file is compiled
//! into the tests.

#[path = "../../src/x86_64/cpuid.rs"]
#[allow(dead_code, reason = "the tests ask no CPU")]
mod reader;

use std::arch::x86_64::CpuidResult;

use reader::{caches, model};
use strided_copy::{Model, Traits, Vendor};

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
        assert_eq!(caches(at), Some(Traits { model: None, l1, l1_ways, l2, line: 64 }));
    }
    assert_eq!(caches(|_| nothing), None);
    // A CPU that repeats its L1 cache without end has no L2 cache.
    assert_eq!(caches(|_| zen5[0]), None);
}

/// Recorded answers of a Zen 3, a Zen 5 and a Sapphire Rapids. The last answer is of a Hygon CPU, which has
/// another vendor name.
#[test]
fn recorded_models() {
    let named = |name: &[u8; 12], eax| {
        let [ebx, edx, ecx] = [0, 4, 8].map(|at| u32::from_le_bytes(name[at..at + 4].try_into().unwrap()));
        model(&CpuidResult { eax: 16, ebx, ecx, edx }, &CpuidResult { eax, ebx: 0, ecx: 0, edx: 0 })
    };
    let amd = |family, number| Some(Model { vendor: Vendor::Amd, family, number });
    assert_eq!(named(b"AuthenticAMD", 0xa0_0f11), amd(0x19, 1));
    assert_eq!(named(b"AuthenticAMD", 0xb0_0f21), amd(0x1a, 2));
    let intel = Model { vendor: Vendor::Intel, family: 6, number: 0x8f };
    assert_eq!(named(b"GenuineIntel", 0x8_06f8), Some(intel));
    assert_eq!(named(b"HygonGenuine", 0x90_0f11), None);
}
