use super::*;

#[test]
fn knobs_follow_the_caches() {
    let [z3, z5, neutral] = [CpuFamily::Zen3, CpuFamily::Zen5, CpuFamily::Neutral].map(Knobs::of_family);
    assert_eq!((z3.l1_ways, z3.l1_way, z3.panel), (8, 4096, 1 << 17));
    assert_eq!((z5.l1_ways, z5.l1_way, z5.in_l2), (12, 4096, 1 << 19));
    assert_eq!((neutral.panel, neutral.prefetch_above), (1 << 16, 1 << 18));
    // A CPU or an emulator that reports useless numbers still gets numbers that kernels can work with.
    let nothing = Traits { l1: 0, l1_ways: 0, l2: 0, line: 0, model: None };
    let nothing = Knobs::new(CpuFamily::Neutral, &nothing);
    assert_eq!((nothing.l1_ways, nothing.l1_way, nothing.panel), (1, LINE, PAGE));
}

#[test]
fn this_cpu_is_one_that_can_be() {
    let knobs = Knobs::of_this_cpu();
    assert!((8 << 10..=1 << 20).contains(&knobs.l1()) && (2..=64).contains(&knobs.l1_ways), "{knobs:?}");
    assert!(knobs.prefetch_above >= knobs.l1(), "{knobs:?}");
}
