use super::*;

/// What CPUs answer: a Zen 5 (leaf 0x8000001D), a Skylake client core and a Xeon with an L2 cache of 2 MiB
/// (leaf 4), recorded.
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
    let (amd, intel) = (true, false);
    for (answers, l1, l1_ways, l2, l2_inclusive) in [
        (&zen5[..], 48 << 10, 12, 1 << 20, amd),
        (&skylake[..], 32 << 10, 8, 256 << 10, intel),
        (&xeon[..], 48 << 10, 12, 2 << 20, intel),
    ] {
        let at = |i: u32| answers.get(usize::try_from(i).unwrap()).copied().unwrap_or(nothing);
        let traits = Traits { l1, l1_ways, l2, l2_inclusive, line: 64, source: TraitSource::Cpuid };
        assert_eq!(described(at, l2_inclusive), Some(traits));
        // What a leaf says itself.
        let inclusive = |i: u32| CpuidResult { edx: 2, ..at(i) };
        assert_eq!(described(inclusive, false), Some(Traits { l2_inclusive: true, ..traits }));
    }
    assert_eq!(described(|_| nothing, false), None);
    // One that repeats its L1 for ever has no L2.
    assert_eq!(described(|_| zen5[0], false), None);
}
