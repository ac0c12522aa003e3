use super::*;

/// What CPUs answer: a Zen 5 (leaf 0x8000001D) and a Skylake client core (leaf 4), recorded.
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
    let nothing = cache(0, 0, 0);
    for (answers, l1, l1_ways, l2) in [(&zen5[..], 48 << 10, 12, 1 << 20), (&skylake[..], 32 << 10, 8, 256 << 10)] {
        let at = |i: u32| answers.get(usize::try_from(i).unwrap()).copied().unwrap_or(nothing);
        assert_eq!(described(at), Some(Traits { l1, l1_ways, l2, line: 64, source: TraitSource::Cpuid }));
    }
    assert_eq!(described(|_| nothing), None);
    // One that repeats its L1 for ever has no L2.
    assert_eq!(described(|_| zen5[0]), None);
}
