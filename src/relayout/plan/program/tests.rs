#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a test may panic")]

use super::super::passes::Passes;
use super::super::tests::{z3, z5};
use super::*;
use crate::map::{IndexMap, ToIndexMap};
use crate::notation::Notated;

fn map(text: &str) -> IndexMap {
    text.parse::<Notated>().unwrap().to_index_map().unwrap()
}

fn program(from: &str, to: &str, knobs: &Knobs) -> Program {
    let passes = Passes::new(&map(from), &map(to), &[], knobs).unwrap();
    assert!(passes.before.is_empty(), "{from} to {to} takes several passes");
    passes.last
}

/// A tensor whose `rank` dimensions of 3 are cut into blocks of 2: a box for each choice of the whole block
/// or the rest.
fn ragged(rank: usize, data_type: &str, end: &str) -> (String, String) {
    let (sizes, order, tile) =
        (vec!["3"; rank], (0..rank).rev().map(|dim| dim.to_string()).collect::<Vec<_>>(), vec!["2"; rank]);
    let plain = format!("{data_type}[{}]{{{}", sizes.join(","), order.join(","));
    (format!("{plain}:{end}}}"), format!("{plain}:T({}){end}}}", tile.join(",")))
}

/// With this many bytes read and written.
fn moving(read: u64, written: u64, knobs: &Knobs) -> Program {
    let side = map("u8[64]");
    let boxes = BoxGroups::new(&side, &side, &[]).unwrap();
    Program::new(boxes, Widths::same(8), Traffic { read, written }, knobs).unwrap()
}

#[test]
fn stores_and_prefetches_depend_on_what_is_read_and_written() {
    let knobs = z3();
    let (streams, prefetches) = (knobs.streaming_from, knobs.prefetch_above);
    for (read, written, streaming, prefetch) in [
        (streams / 2, streams / 2, true, true),
        (streams - 1, 1, true, true),
        (streams / 2, streams / 2 - 1, false, true),
        (u64::MAX, u64::MAX, true, true),
        (prefetches - 5, 6, false, true),
        (prefetches - 5, 5, false, false),
        (0, 0, false, false),
    ] {
        let program = moving(read, written, &knobs);
        assert_eq!((program.streaming, program.prefetch), (streaming, prefetch), "{read} and {written}");
        // Only streamed runs are joined, and no box of them is in the cache; that is all that is changed of
        // the knobs.
        let rules = Rules { joins_tiles: streaming, ..knobs.rules };
        let in_l2 = if streaming { 0 } else { knobs.in_l2 };
        assert_eq!(program.knobs, Knobs { rules, in_l2, ..knobs });
    }
}

#[test]
fn what_a_pass_moves_is_each_element_once() {
    for (from, to, read, written) in [
        ("f32[32,64]{1,0}", "f32[32,64]{0,1}", 8192, 8192),
        // Repeated elements are read once; gaps are not counted.
        ("f32[32,64]:[1,0]", "f32[32,64]{1,0}", 128, 8192),
        ("f32[32,64]{1,0}", "f32[32,64]:[100,1]", 8192, 8192),
        ("s4[32,63]{1,0:E(4)}", "s4[32,63]{1,0}", 1008, 2016),
        ("s4[3]{0}", "s4[3]{0:E(4)}", 3, 2),
    ] {
        let traffic = program(from, to, &z5()).traffic;
        assert_eq!((traffic.read, traffic.written, traffic.moved()), (read, written, read + written), "{from} to {to}");
    }
}

#[test]
fn a_few_boxes_are_planned_ahead_and_more_are_cut() {
    let boxes = |rank| {
        let (from, to) = ragged(rank, "u8", "");
        let (from, to) = (from.replace(':', ""), to);
        let program = program(&from, &to, &z5());
        (program.boxes.count(), program.prepared.len(), program.cut_boxes().map(|boxes| boxes.len()))
    };
    assert_eq!(boxes(2), (4, 4, Some(4)));
    assert_eq!((PREPARED_BOXES, boxes(6)), (64, (64, 64, Some(64))));
    assert_eq!(boxes(7), (128, 0, Some(128)));
    assert_eq!((MOST_CUT_BOXES, boxes(12)), (4096, (4096, 0, Some(4096))));
    assert_eq!(boxes(13), (8192, 0, None));
}

/// Such a copy changes bytes in part, which a destination that is not read cannot.
#[test]
fn elements_that_share_bytes_with_others_are_known() {
    let (later_from, later_to) = ragged(7, "s4", "E(4)");
    for (from, to, shared) in [
        ("f32[32,64]{1,0}", "f32[32,64]{0,1}", false),
        ("s4[32,64]{1,0:E(4)}", "s4[32,64]{1,0:E(4)}", false),
        // Rows that are interleaved are whole bytes; in a plane that begins anywhere, and in rows of 5
        // elements, they are not.
        ("s4[4,64]{1,0:E(4)}", "s4[4,64]{0,1:E(4)}", false),
        ("s4[33,65]{1,0:E(4)}", "s4[33,65]{0,1:E(4)}", true),
        ("s4[33,5]:[5,1]", "s4[33,5]:[7,1]", true),
        // Unpacked they have bytes of their own.
        ("s4[33,65]{1,0:E(4)}", "s4[33,65]{0,1}", false),
        ("s4[33,65]{1,0}", "s4[33,65]{0,1:E(4)}", true),
        ("s4[128,64]{1,0}", "s4[128,64]{1,0:E(4)}", false),
        ("s4[0]{0:E(4)}", "s4[0]{0:E(4)}", false),
        // Boxes that are planned as they run.
        (&later_from, &later_to, true),
        (
            &later_from.replace("s4", "u8").replace(":E(4)", ""),
            &later_to.replace("s4", "u8").replace("E(4)", ""),
            false,
        ),
    ] {
        assert_eq!(program(from, to, &z5()).has_sub_byte_boxes(), shared, "{from} to {to}");
    }
}

#[test]
fn boxes_of_a_piece_are_planned_as_those_of_the_whole() {
    let whole = program("f32[4096,4096]{1,0}", "f32[4096,4096]{0,1}", &z5());
    let piece = whole.of_boxes(whole.boxes.iter().take(1).collect()).unwrap();
    assert_eq!((piece.prepared.len(), piece.boxes.count()), (1, 0));
    assert!(piece.streaming && piece.prefetch && piece.knobs == whole.knobs && piece.widths == whole.widths);
}
