use super::*;

const Z5: Traits =
    Traits { l1: 48 << 10, l1_ways: 12, l2: 1 << 20, l2_inclusive: true, line: 64, source: TraitSource::Cpuid };

#[test]
fn knobs_follow_the_traits() {
    let z3 =
        Traits { l1: 32 << 10, l1_ways: 8, l2: 512 << 10, l2_inclusive: true, line: 64, source: TraitSource::Cpuid };
    let z5 = Traits { l1: 48 << 10, l1_ways: 12, l2: 1 << 20, ..z3 };
    let (z3, z5, assumed) = (Knobs::new(&z3), Knobs::new(&z5), Knobs::new(&Traits::ASSUMED));
    assert_eq!((z3.l1_ways, z3.l1_way, z3.panel), (8, 4096, 1 << 17));
    assert_eq!((z5.l1_ways, z5.l1_way, z5.in_l2), (12, 4096, 1 << 19));
    assert_eq!((assumed.panel, assumed.prefetch_from), (1 << 16, 1 << 18));
    // Nonsense of a CPU, or of an emulator, leaves knobs that kernels can work with.
    let nothing =
        Knobs::new(&Traits { l1: 0, l1_ways: 0, l2: 0, l2_inclusive: true, line: 0, source: TraitSource::Cpuid });
    assert_eq!((nothing.l1_ways, nothing.l1_way, nothing.panel), (1, LINE, PAGE));
}

#[test]
fn each_knob_names_its_source() {
    let named = |knobs: &Knobs, traits: &Traits| knobs.named(traits).map(|(name, _, source)| (name, source));
    let sources = |from_traits, panel| {
        [
            ("L1 ways", from_traits),
            ("L1 way", from_traits),
            ("in L2 up to", from_traits),
            ("non-temporal from", "trial"),
            ("prefetch from", from_traits),
            ("prefetch ahead", "trial"),
            ("in long rows", "trial"),
            ("panel", panel),
            ("panel width", from_traits),
            ("panel rows", "trial"),
            ("panels into", from_traits),
            ("staged runs", from_traits),
            ("staged from", "trial"),
            ("staged runs of tables", from_traits),
            ("staged in the cache", from_traits),
            ("order in L2", from_traits),
            ("joined runs", from_traits),
        ]
    };
    let (z5, assumed) = (Z5, Traits::ASSUMED);
    assert_eq!(named(&Knobs::new(&z5), &z5), sources("CPUID", "trial"));
    assert_eq!(named(&Knobs::new(&assumed), &assumed), sources("assumed", "assumed"));
    // What a tuning replaces.
    let z5 = Traits { l1_ways: 8, ..z5 };
    let made = Knobs::new(&z5);
    for (tuned, name) in [
        (Knobs { streaming_from: 1, ..made }, "non-temporal from"),
        (Knobs { prefetch_from: 1, ..made }, "prefetch from"),
        (Knobs { prefetch_distance: 1, ..made }, "prefetch ahead"),
        (Knobs { prefetch_in_row: 1, ..made }, "in long rows"),
        (Knobs { panel_cache: 1, ..made }, "panels into"),
        (Knobs { staged_run: 1, ..made }, "staged runs"),
        (Knobs { staged_units: 1, ..made }, "staged from"),
        (Knobs { staged_table_run: 1, ..made }, "staged runs of tables"),
        (Knobs { permuted: true, ..made }, "order in L2"),
        (Knobs { joined_up_to: 1, ..made }, "joined runs"),
    ] {
        let changed: Vec<_> = tuned.named(&z5).into_iter().filter(|&(_, _, source)| source == "as tuned").collect();
        assert_eq!(changed, [(name, 1, "as tuned")]);
    }
}

#[test]
fn each_knob_names_its_value() {
    let knobs = Knobs {
        level: KernelLevel::Portable.available(),
        l1_ways: 1,
        l1_way: 2,
        in_l2: 3,
        streaming_from: 4,
        prefetch_from: 5,
        prefetch_distance: 6,
        prefetch_in_row: 7,
        panel: 8,
        panel_width: 9,
        panel_rows: 10,
        panel_cache: 11,
        staged_run: 12,
        staged_units: 13,
        staged_table_run: 14,
        staged_blocks: 15,
        permuted: true,
        joined_up_to: 17,
    };
    assert!(knobs.named(&Traits::ASSUMED).into_iter().map(|(_, value, _)| value).eq((1..=15).chain([1, 17])));
}

/// Where the L2 cache does not hold what the L1 cache holds.
#[test]
fn panels_are_prefetched_into_the_first_cache_where_the_second_is_apart() {
    let cache = |l2_inclusive| Knobs::new(&Traits { l2_inclusive, ..Traits::ASSUMED }).panel_cache;
    assert_eq!([true, false].map(cache), [2, 1]);
}

#[test]
fn fewer_blocks_more_tables_and_wider_panels_where_the_second_cache_is_apart() {
    let staged = |l2_inclusive| {
        let knobs = Knobs::new(&Traits { l2_inclusive, ..Traits::ASSUMED });
        (knobs.staged_blocks, knobs.staged_run, knobs.staged_table_run, knobs.panel_width)
    };
    assert_eq!([true, false].map(staged), [(2, 0, 0, 256), (1, 256, 512, 512)]);
}

/// On machines of 8 ways or fewer with an ample L2 cache, as the pitches are.
#[test]
fn panels_are_staged_by_their_pitches_where_the_cache_has_few_ways() {
    let staged = |l1_ways, l2| {
        let knobs = Knobs::new(&Traits { l1_ways, l2, ..Traits::ASSUMED });
        (knobs.staged_run, knobs.staged_units)
    };
    assert_eq!(
        [(8, 1 << 20), (8, (1 << 20) - 1), (9, 1 << 20)].map(|(ways, l2)| staged(ways, l2)),
        [(256, BY_PITCHES), (0, BY_PITCHES), (0, BY_PITCHES)]
    );
}

/// On machines of 8 ways or fewer.
#[test]
fn runs_are_joined_where_the_cache_has_few_ways() {
    let joined = |l1_ways| Knobs::new(&Traits { l1_ways, l2: (1 << 20) - 1, ..Traits::ASSUMED }).joined_up_to;
    assert_eq!([4, 8, 9, 12].map(joined), [LONGEST_JOINED, LONGEST_JOINED, 0, 0]);
    assert_eq!(Knobs::new(&Traits { l2: 1 << 20, ..Traits::ASSUMED }).joined_up_to, 0);
}

/// Where many ways of an L1 cache are before an L2 cache that holds what they hold (Z5).
#[test]
fn the_order_is_permuted_where_prefetchers_cost() {
    let permuted = |l1_ways, l2_inclusive| Knobs::new(&Traits { l1_ways, l2_inclusive, ..Traits::ASSUMED }).permuted;
    assert_eq!(
        [(8, true), (12, true), (8, false), (12, false)].map(|(ways, holds)| permuted(ways, holds)),
        [false, true, false, false]
    );
}
