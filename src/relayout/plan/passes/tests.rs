use super::super::super::cpu_family::CpuFamily;
use super::*;
use crate::map::ToIndexMap;
use crate::notation::Notated;

fn map(text: &str) -> IndexMap {
    text.parse::<Notated>().unwrap().to_index_map().unwrap()
}

/// For each intermediate buffer: the number of its elements, the bits of an element, and whether old padding
/// is copied back into it. The second result is the number of boxes of each pass.
fn passes(from: &str, to: &str, reversed: &[usize]) -> (Vec<(u64, u32, bool)>, Vec<u64>) {
    let passes = Passes::new(&map(from), &map(to), reversed, &Knobs::of_family(CpuFamily::Zen5)).unwrap();
    let boxes = passes.programs().map(|program| program.boxes.count()).collect();
    let buffers = passes.before.iter().map(|pass| (pass.elements, pass.bits, pass.recover.is_some()));
    assert_eq!(passes.recovers(), passes.before.iter().any(|pass| pass.recover.is_some()));
    (buffers.collect(), boxes)
}

const IRREDUCIBLE: &str = "f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}";

#[test]
fn one_pass_is_the_rule() {
    for (from, to) in [
        ("f32[60,90]{1,0}", "f32[60,90]{0,1}"),
        ("f32[60,90]{1,0:T(8,128)}", "f32[60,90]{0,1:T(4,4)}"),
        ("s4[60,90]{1,0:E(4)}", "s4[60,90]{0,1}"),
    ] {
        assert!(passes(from, to, &[]).0.is_empty(), "{from} to {to}");
    }
}

/// There is a pass for each of the two tile levels and a pass for the plain copy. The padding of the
/// destination is copied back into the last intermediate buffer.
#[test]
fn irreducible_layouts_take_a_pass_for_each_level() {
    let (into, out_of) = (passes("f32[6,9,2]{2,1,0}", IRREDUCIBLE, &[]), passes(IRREDUCIBLE, "f32[6,9,2]{2,1,0}", &[]));
    assert_eq!(into.0, [(108, 32, false), (108, 32, true)]);
    assert_eq!(into.1.len(), 3);
    assert_eq!(out_of.0, [(108, 32, false), (108, 32, false)]);
    assert_eq!(out_of.1.len(), 3);
}

#[test]
fn layouts_that_contradict_each_other_meet_in_a_packed_buffer() {
    let staged = |from, to, reversed: &[usize]| {
        let (buffers, boxes) = passes(from, to, reversed);
        assert!(boxes.is_empty() || boxes.len() == buffers.len() + 1);
        buffers
    };
    let packed = "f32[6,5,7]{2,1,0}";
    // Both layouts fuse the first two dimensions, in different orders.
    let (fused, turned) = ("f32[6,5,7]{2,1,0:T(*,4,3)}", "f32[6,5,7]{2,0,1:T(*,4,3)}");
    assert_eq!(staged(fused, turned, &[]), [(210, 32, false)]);
    // Both sides cut a reversed dimension into ragged blocks.
    let (a, b) = ("f32[35,10]{1,0:T(8,4)}", "f32[35,10]{1,0:T(4,8)}");
    assert_eq!(staged(a, b, &[0]), [(350, 32, false)]);
    assert_eq!(staged(a, b, &[]), []);
    // One of two fused dimensions is reversed.
    assert_eq!(staged(fused, packed, &[0]), [(210, 32, false)]);
    assert_eq!(staged(packed, fused, &[0]), [(210, 32, false), (210, 32, false)]);
    assert_eq!(staged(packed, packed, &[0]), []);
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
