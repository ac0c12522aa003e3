//! The allocations of a copy: planning allocates a few times, and running allocates nothing.
#![allow(unsafe_code, reason = "counting allocations takes a global allocator")]

use crate::literal::replanned::{Replanned, levels};
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout_text::Layout;

/// The most allocations of planning a copy of the suite. Most take 3: the components of both layouts, and the
/// program with its box. Fused dimensions, tables of offsets, ragged tiles, ranks above 4 and boxes that
/// share rows take a few more, and so do the tables of small blocks that are permuted in registers.
const PLANNING: u64 = 24;

/// The lines of the suite: size class, name, and the two layouts.
fn suite() -> impl Iterator<Item = (&'static str, &'static str, Layout, Layout)> {
    let lines = include_str!("../../benches/relayout_suite.tsv").lines();
    lines.filter(|line| !line.starts_with('#') && !line.trim().is_empty()).map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [size, name, from, to] = fields[..] else { panic!("a line of four fields: {line}") };
        (size, name, from.parse().unwrap(), to.parse().unwrap())
    })
}

#[test]
fn planning_allocates_a_few_times() {
    // The level is decided once, from the environment.
    let _ = tensor_layout::relayout::level_in_use();
    for (size, name, from, to) in suite() {
        let (_, allocations) = crate::counting::count(|| Relayout::new(&from, &to).unwrap());
        assert!(allocations <= PLANNING, "planning {size}/{name} takes {allocations} allocations");
    }
}

#[test]
fn running_allocates_nothing() {
    let cases: Vec<_> = suite().filter(|(size, ..)| ["small", "tiny"].contains(size)).collect();
    assert!(cases.len() >= 20, "the suite has lost its small cases");
    for (size, name, from, to) in cases {
        for level in levels() {
            for padding in [Padding::Keep, Padding::Zero, Padding::Fill(1)] {
                let relayout = Relayout::new(&from, &to).unwrap().with_kernel_level(level);
                let relayout = relayout.with_padding_of_whole_buffer(padding).unwrap();
                let source = vec![1; usize::try_from(relayout.source_size_in_bytes()).unwrap()];
                let mut destination = vec![0; usize::try_from(relayout.destination_size_in_bytes()).unwrap()];
                let (result, allocations) = crate::counting::count(|| relayout.run(&source, &mut destination));
                result.unwrap();
                assert_eq!(allocations, 0, "{size}/{name} at {level} with {padding:?} allocates");
            }
        }
    }
}
