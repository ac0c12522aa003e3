use super::*;

#[test]
fn knobs_follow_the_traits() {
    let z3 = Traits { l1: 32 << 10, l1_ways: 8, l2: 512 << 10, line: 64, source: TraitSource::Cpuid };
    let z5 = Traits { l1: 48 << 10, l1_ways: 12, l2: 1 << 20, ..z3 };
    let (z3, z5, assumed) = (Knobs::new(&z3), Knobs::new(&z5), Knobs::new(&Traits::ASSUMED));
    assert_eq!((z3.l1_ways, z3.l1_way, z3.panel), (8, 4096, 1 << 17));
    assert_eq!((z5.l1_ways, z5.l1_way, z5.in_l2), (12, 4096, 1 << 19));
    assert_eq!((assumed.panel, assumed.prefetch_from), (1 << 16, 1 << 18));
    // Nonsense of a CPU, or of an emulator, leaves knobs that kernels can work with.
    let nothing = Knobs::new(&Traits { l1: 0, l1_ways: 0, l2: 0, line: 0, source: TraitSource::Cpuid });
    assert_eq!((nothing.l1_ways, nothing.l1_way, nothing.panel), (1, LINE, PAGE));
}
