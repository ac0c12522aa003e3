use super::super::super::cpu_family::CpuFamily;
use super::*;
use crate::bridge::AnyLayout;
use crate::map::ToIndexMap;

fn map(text: &str) -> IndexMap {
    text.parse::<AnyLayout>().unwrap().to_index_map().unwrap()
}

/// The number of elements of the intermediate buffer, if there is one, and the number of boxes of each pass.
fn passes(from: &str, to: &str, reversed: &[usize]) -> (Option<u64>, Vec<u64>) {
    let passes = Passes::new(&map(from), &map(to), reversed, &Knobs::of_family(CpuFamily::Zen5)).unwrap();
    let boxes = passes.programs().map(|program| program.boxes.count()).collect();
    (passes.before.map(|pass| pass.elements), boxes)
}

const IRREDUCIBLE: &str = "f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}";

#[test]
fn one_pass_is_the_rule() {
    for (from, to) in [
        ("f32[60,90]{1,0}", "f32[60,90]{0,1}"),
        ("f32[60,90]{1,0:T(8,128)}", "f32[60,90]{0,1:T(4,4)}"),
        ("s4[60,90]{1,0:E(4)}", "s4[60,90]{0,1}"),
    ] {
        assert_eq!(passes(from, to, &[]).0, None, "{from} to {to}");
    }
}

#[test]
fn elements_of_irreducible_layouts_are_copied_one_by_one() {
    let large = "f32[60,90,2]{2,1,0:T(2,3,2)(*,2,1)}";
    for (from, to) in [(large, "f32[60,90,2]{2,1,0}"), ("f32[60,90,2]{2,1,0}", large)] {
        assert_eq!(passes(from, to, &[]), (None, vec![10800_u64.div_ceil(4096)]));
    }
}

#[test]
fn layouts_that_contradict_each_other_meet_in_a_packed_buffer() {
    let staged = |from, to, reversed: &[usize]| passes(from, to, reversed).0;
    let packed = "f32[6,5,7]{2,1,0}";
    // Both layouts fuse the first two dimensions, in different orders.
    let (fused, turned) = ("f32[6,5,7]{2,1,0:T(*,4,3)}", "f32[6,5,7]{2,0,1:T(*,4,3)}");
    assert_eq!(staged(fused, turned, &[]), Some(210));
    // Both sides cut a reversed dimension into ragged blocks.
    let (a, b) = ("f32[35,10]{1,0:T(8,4)}", "f32[35,10]{1,0:T(4,8)}");
    assert_eq!(staged(a, b, &[0]), Some(350));
    assert_eq!(staged(a, b, &[]), None);
    // One of two fused dimensions is reversed.
    assert_eq!(staged(fused, packed, &[0]), Some(210));
    assert_eq!(staged(packed, fused, &[0]), Some(210));
    assert_eq!(staged(packed, packed, &[0]), None);
    // On both sides: the elements are copied one by one.
    assert_eq!(passes(fused, turned, &[0]), (None, vec![1]));
}

#[test]
fn streaming_is_planned_for_every_pass() {
    for (streaming, streaming_from) in [(true, 0), (false, u64::MAX)] {
        let knobs =
            Knobs { streaming_from, long_rows_streaming_from: streaming_from, ..Knobs::of_family(CpuFamily::Zen5) };
        for (from, to) in [("f32[6,9,2]{2,1,0}", IRREDUCIBLE), ("u8[9]", "u8[9]")] {
            let passes = Passes::new(&map(from), &map(to), &[], &knobs).unwrap();
            assert!(passes.programs().all(|program| program.streaming == streaming));
        }
    }
}
