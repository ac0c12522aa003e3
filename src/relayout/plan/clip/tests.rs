#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a test may panic")]

use crate::map::{CopyBox, Loop};

use super::*;

/// Both offsets of every element of some boxes, in the order of the destination.
fn elements(boxes: &[CopyBox]) -> Vec<(u64, u64)> {
    let mut all = Vec::new();
    for copy in boxes {
        let mut found = vec![(copy.source, copy.destination)];
        for step in &copy.loops {
            let next = |(a, b): (u64, u64)| -> Vec<(u64, u64)> {
                match step {
                    Loop::Strided { extent, source, destination } => {
                        (0..*extent).map(|i| (a + i * source, b + i * destination)).collect()
                    }
                    Loop::Reversed { extent, source, destination } => {
                        (0..*extent).map(|i| (a - i * source, b + i * destination)).collect()
                    }
                    Loop::Table(entries) => entries.iter().map(|&(c, d)| (a + c, b + d)).collect(),
                }
            };
            found = found.into_iter().flat_map(next).collect();
        }
        all.extend(found);
    }
    all.sort_unstable_by_key(|&(source, destination)| (destination, source));
    all
}

/// Boxes of a few shapes: rows that nest, columns, rows that interleave, reversed rows, and tables.
fn boxes() -> Vec<CopyBox> {
    let mut table = copy_box(&[(3, 1, 1)]);
    table.loops.insert(0, Loop::Table(vec![(0, 20), (40, 0), (7, 10)]));
    let mut below = copy_box(&[(3, 50, 40)]);
    below.loops.push(Loop::Table(vec![(0, 5), (3, 0), (9, 11)]));
    let moved = CopyBox { source: 5, destination: 9, ..copy_box(&[(2, 3, 12), (3, 1, 1)]) };
    vec![
        copy_box(&[(4, 8, 6), (5, 1, 1)]),
        copy_box(&[(5, 1, 6), (4, 8, 1)]),
        copy_box(&[(3, 10, 2), (2, 1, 3)]),
        copy_box(&[(4, -8, 6), (5, 1, 1)]),
        copy_box(&[(3, -9, 20), (3, -3, 6), (4, 1, 1)]),
        copy_box(&[(3, 0, 5), (2, 4, 1)]),
        copy_box(&[(4, 3, 0), (2, 1, 1)]),
        copy_box(&[]),
        table,
        below,
        moved,
    ]
}

/// A loop of a box: its extent and its strides. If the stride on the source is negative, the loop goes
/// backwards.
fn step((extent, source, destination): (u64, i64, u64)) -> Loop {
    Loop::of_strides(extent, source.unsigned_abs(), destination, source < 0)
}

/// A box that begins at the front of both buffers. If a loop goes backwards, the source begins at the end of
/// the loop.
fn copy_box(loops: &[(u64, i64, u64)]) -> CopyBox {
    let backwards = loops.iter().filter(|&&(_, source, _)| source < 0);
    let source = backwards.map(|&(extent, source, _)| (extent - 1) * source.unsigned_abs()).sum();
    CopyBox { source, destination: 0, loops: loops.iter().copied().map(step).collect() }
}

#[test]
fn clipped_boxes_hold_just_what_lands_in_the_range() {
    let boxes = boxes();
    let spanned: Vec<Spanned> = boxes.iter().map(Spanned::new).collect();
    let last = elements(&boxes).last().unwrap().1;
    for start in 0..=last + 1 {
        for end in start..=last + 2 {
            let within = |copy: &CopyBox| -> Vec<(u64, u64)> {
                let all = elements(std::slice::from_ref(copy)).into_iter();
                all.filter(|&(_, to)| (start..end).contains(&to)).map(|(from, to)| (from, to - start)).collect()
            };
            for (copy, own) in boxes.iter().zip(&spanned) {
                let found = clipped(std::slice::from_ref(own), &(start..end), &mut Room::new()).unwrap();
                assert_eq!(elements(&found), within(copy), "{copy:?} in {start}..{end}");
            }
            let found = clipped(&spanned, &(start..end), &mut Room::new()).unwrap();
            let mut expected: Vec<_> = boxes.iter().flat_map(within).collect();
            expected.sort_unstable_by_key(|&(source, destination)| (destination, source));
            assert_eq!(elements(&found), expected);
        }
    }
}

/// Whole rows stay one loop. A part of a row before them and a part after them are boxes of their own.
#[test]
fn loops_that_nest_are_clipped_into_few_boxes() {
    let rows = [Spanned::new(&copy_box(&[(10, 100, 100), (80, 1, 1)]))];
    let clip = |range| clipped(&rows, &range, &mut Room::new()).unwrap();
    let at = |source, destination, loops: &[(u64, i64, u64)]| CopyBox { source, destination, ..copy_box(loops) };
    assert_eq!(clip(0..1000), [copy_box(&[(10, 100, 100), (80, 1, 1)])]);
    assert_eq!(clip(0..980), [copy_box(&[(10, 100, 100), (80, 1, 1)])]);
    assert_eq!(
        clip(150..650),
        [at(150, 0, &[(30, 1, 1)]), at(200, 50, &[(4, 100, 100), (80, 1, 1)]), at(600, 450, &[(50, 1, 1)])]
    );
    // The ranges are two whole rows, a single row (which is no loop), a single element, and the gap after a
    // row.
    assert_eq!(clip(200..400), [at(200, 0, &[(2, 100, 100), (80, 1, 1)])]);
    assert_eq!(clip(200..300), [at(200, 0, &[(80, 1, 1)])]);
    assert_eq!(clip(230..231), [at(230, 0, &[])]);
    assert_eq!(clip(180..200), []);
    assert_eq!(clip(1000..2000), []);
}

#[test]
fn one_entry_of_a_table_is_no_table() {
    let mut copy = copy_box(&[(4, 1, 1)]);
    copy.loops.insert(0, Loop::Table(vec![(0, 20), (40, 0), (7, 10)]));
    let table = [Spanned::new(&copy)];
    let clip = |range| clipped(&table, &range, &mut Room::new()).unwrap();
    assert_eq!(clip(0..4), [CopyBox { source: 40, ..copy_box(&[(4, 1, 1)]) }]);
    // The box begins at the lowest destination offset of its table, which is 0 there.
    let two =
        CopyBox { loops: [Loop::Table(vec![(0, 10), (7, 0)]), step((4, 1, 1))].into_iter().collect(), ..copy_box(&[]) };
    assert_eq!(clip(10..24), [two]);
    assert_eq!(clip(4..10), []);
}

/// The loop with the larger stride comes first. For a table, the mean distance of its entries counts as the
/// stride.
#[test]
fn loops_are_taken_by_falling_stride_of_the_destination() {
    let mut copy = copy_box(&[(4, 1, 30), (3, 50, 10), (2, 7, 1)]);
    copy.loops.insert(0, Loop::Table(vec![(0, 0), (1, 40), (2, 50)]));
    let spanned = Spanned::new(&copy);
    let strides: Vec<u64> = spanned.loops.iter().map(mean_stride).collect();
    assert_eq!(strides, [30, 25, 10, 1]);
    let largests: Vec<u64> = spanned.loops.iter().map(largest).collect();
    assert_eq!(largests, [90, 50, 20, 1]);
    assert_eq!(spanned.lasts.to_vec(), [161, 71, 21, 1, 0]);
    assert_eq!(mean_stride(&Loop::Table(vec![(5, 7)])), 7);
    assert_eq!(mean_stride(&step((4, -1, 30))), 30);
    assert_eq!(largest(&step((4, -1, 30))), 90);
}

#[test]
fn there_is_room_for_so_many_boxes_entries_and_steps() {
    let rows = [Spanned::new(&copy_box(&[(10, 100, 100), (80, 1, 1)]))];
    let clip = |boxes, entries, steps| {
        let mut room = Room { boxes, entries, steps };
        let found = clipped(&rows, &(150..650), &mut room).map(|found| found.len());
        (found, room.boxes, room.entries, room.steps)
    };
    // The result is three boxes with four loops, and each loop counts as two entries. Clipping takes three
    // steps: one for the box, and one for each end.
    assert_eq!(clip(3, 8, 3), (Some(3), 0, 0, 0));
    assert_eq!(clip(2, 8, 3).0, None);
    assert_eq!(clip(3, 7, 3).0, None);
    assert_eq!(clip(3, 8, 2).0, None);
    // A table is visited entry by entry.
    let mut copy = copy_box(&[]);
    copy.loops.push(Loop::Table(vec![(0, 20), (40, 0), (7, 10)]));
    let table = [Spanned::new(&copy)];
    let clip = |boxes, entries, steps| {
        clipped(&table, &(0..15), &mut Room { boxes, entries, steps }).map(|found| elements(&found))
    };
    assert_eq!(clip(1, 2, 4), Some(vec![(40, 0), (7, 10)]));
    assert_eq!((clip(0, 2, 4), clip(1, 1, 4), clip(1, 2, 3)), (None, None, None));
    let room = Room::new();
    assert_eq!((room.boxes, room.entries, room.steps), (MOST_CLIPPED, MOST_ENTRIES, MOST_CLIP_STEPS));
}
