#![allow(clippy::arithmetic_side_effects, reason = "a test may panic")]

use super::super::passes::Passes;
use super::super::program::{PlannedBox, Program};
use super::super::tests::z5;
use super::*;
use crate::map::ToIndexMap;
use crate::notation::Notated;

/// A large copy.
fn program(from: &str, to: &str) -> Program {
    let map = |text: &str| text.parse::<Notated>().unwrap().to_index_map().unwrap();
    let passes = Passes::new(&map(from), &map(to), &[], &z5()).unwrap();
    assert!(passes.before.is_empty(), "{from} to {to} takes several passes");
    passes.last
}

/// For each entry of the plan: how many boxes it has, over how many parts, and how many of them have
/// something left.
fn shape(from: &str, to: &str) -> Vec<(usize, u64, usize)> {
    let entry = |planned: &PlannedBox| match planned {
        PlannedBox::Together(boxes) => {
            (boxes.nests.len(), boxes.parts.iter().map(Loop::extent).product(), boxes.rest.len())
        }
        _ => (1, 1, 0),
    };
    program(from, to).prepared.iter().map(entry).collect()
}

#[test]
fn ragged_ends_of_rows_go_with_their_rows() {
    // The last tile of each row of tiles with the others of it, two rows of tiles at a time; the last row of
    // tiles is not a large box.
    assert_eq!(shape("f32[4095,4001]{1,0}", "f32[4095,4001]{1,0:T(8,128)}"), [(2, 255, 2), (1, 1, 0), (1, 1, 0)]);
    assert_eq!(shape("f32[4095,4001]{1,0:T(8,128)}", "f32[4095,4001]{1,0}"), [(2, 255, 2), (1, 1, 0), (1, 1, 0)]);
    // The last three channels of each pixel with the others: 12 times 1024 pixels of each image, and 256
    // more.
    assert_eq!(shape("f32[32,67,112,112]:NHWC", "f32[32,67,112,112]:nChw16c"), [(2, 32 * 12, 2)]);
    // A divisor leaves nothing.
    assert_eq!(shape("f32[32,67,128,128]:NHWC", "f32[32,67,128,128]:nChw16c"), [(2, 32 * 16, 0)]);
}

#[test]
fn boxes_that_share_no_rows_stay_apart() {
    // Channels are planes of their own: nothing is between those of one image and its next ones.
    assert_eq!(shape("f32[32,67,112,112]:NCHW", "f32[32,67,112,112]:nChw8c"), [(1, 1, 0), (1, 1, 0)]);
    // Parts would be a few units long in the destination.
    assert_eq!(shape("f32[4096,4090]{1,0}", "f32[4096,4090]:Ba16b"), [(1, 1, 0), (1, 1, 0)]);
    // In the cache.
    assert_eq!(shape("f32[95,401]{1,0}", "f32[95,401]{1,0:T(8,128)}").len(), 4);
    // One box.
    assert_eq!(shape("f32[4096,4096]{1,0}", "f32[4096,4096]{1,0:T(8,128)}"), [(1, 1, 0)]);
    // The source goes backwards, or is repeated: no loop that both boxes have steps forward.
    assert_eq!(shape("f32[4096,4001]:[0,1]", "f32[4096,4001]{1,0:T(8,128)}"), [(1, 1, 0), (1, 1, 0)]);
}

#[test]
fn what_is_planned_together_is_all_there_is() {
    for (from, to) in [
        ("f32[4095,4001]{1,0}", "f32[4095,4001]{1,0:T(8,128)}"),
        ("f32[32,67,112,112]:NHWC", "f32[32,67,112,112]:nChw16c"),
        ("f32[32,35,40,11,100]{4,3,2,1,0}", "f32[32,35,40,11,100]{4,3,2,1,0:T(*,*,2,*,3)}"),
    ] {
        let program = program(from, to);
        let bytes = |nests: &[Scheduled]| nests.iter().map(|planned| planned.nest.bytes()).sum::<u64>();
        let planned = program.prepared.iter().map(|planned| match planned {
            PlannedBox::Together(Together { parts, nests, rest }) => {
                let all: u64 = parts.iter().map(Loop::extent).product();
                let outer = parts.split_last().map_or(1, |(_, outer)| outer.iter().map(Loop::extent).product());
                all * bytes(nests) + outer * bytes(rest)
            }
            other => bytes(other.nests()),
        });
        assert_eq!(planned.sum::<u64>(), program.traffic.written, "{from} to {to}");
        assert!(program.prepared.iter().any(|planned| matches!(planned, PlannedBox::Together(_))), "{from} to {to}");
    }
}
