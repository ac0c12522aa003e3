#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a test may panic")]

use super::super::tests::{copy_box, words, z3, z5};
use super::*;
use crate::map::ToIndexMap;
use crate::notation::Notated;
use strided_copy::nest::NestLoop;

fn change(source: u32, destination: u32) -> Change {
    Widths { source, destination, signed: false }.change().unwrap()
}

#[test]
fn an_element_is_extended_by_its_sign_if_it_has_one() {
    for (data_type, signed) in [("s4", true), ("u4", false), ("pred", false), ("s2", true)] {
        let side = |end: &str| format!("{data_type}[8]{{0{end}}}").parse::<Notated>().unwrap().to_index_map().unwrap();
        let widths = Widths::between(&side(":E(4)"), &side(""));
        assert_eq!(widths, Widths { source: 4, destination: 8, signed }, "{data_type}");
    }
    assert_eq!(Widths::same(3), Widths { source: 3, destination: 3, signed: false });
}

#[test]
fn elements_of_1_2_and_4_bits_are_packed_from_bytes_and_unpacked() {
    let can = |data_type, source, destination| Widths { source, destination, signed: false }.can_hold(data_type);
    for (data_type, packed, holds) in [
        (DataType::S4, 4, true),
        (DataType::U2, 2, true),
        (DataType::U2, 4, true),
        (DataType::S4, 2, false),
        (DataType::U8, 4, false),
        (DataType::Pred, 1, true),
        (DataType::Pred, 2, true),
        (DataType::U2, 3, false),
    ] {
        assert_eq!((can(data_type, packed, 8), can(data_type, 8, packed)), (holds, holds), "{data_type:?} {packed}");
    }
    // To 16 bits, or from 1 to 4, nothing can; without a change everything.
    assert!(!can(DataType::S4, 4, 16) && !can(DataType::Pred, 1, 4));
    assert!(
        can(DataType::F32, 32, 32) && can(DataType::S4, 8, 8) && can(DataType::S4, 4, 4) && can(DataType::S4, 3, 3)
    );
}

#[test]
fn a_change_is_unpacking_or_packing() {
    assert_eq!(Widths::same(8).change(), None);
    assert_eq!(Widths::same(4).change(), None);
    let unpack = |signed| Widths { source: 4, destination: 8, signed }.change().unwrap();
    assert_eq!(unpack(true), Change { bits: 4, in_byte: 2, change: WidthChange::Unpack { signed: true } });
    assert_eq!(unpack(false), Change { bits: 4, in_byte: 2, change: WidthChange::Unpack { signed: false } });
    assert_eq!(change(8, 1), Change { bits: 1, in_byte: 8, change: WidthChange::Pack });
    assert!(change(2, 8).unpacks() && !change(8, 2).unpacks());
    // The packed side first.
    assert_eq!((change(2, 8).sides((1, 5)), change(8, 2).sides((1, 5))), ((1, 5), (5, 1)));
    assert_eq!(change(2, 8).row(7), WidthRow { bits: 2, change: WidthChange::Unpack { signed: false }, packed: 7 });
    // Four elements a byte on the packed side.
    assert_eq!(([0, 4, 6, 8]).map(|elements| change(2, 8).whole_bytes(elements)), [Some(0), Some(1), None, Some(2)]);
    assert_eq!((change(2, 8).in_bytes((12, 7)), change(8, 2).in_bytes((7, 12))), (Some((3, 7)), Some((7, 3))));
    assert_eq!((change(2, 8).in_bytes((7, 12)), change(8, 2).in_bytes((12, 7))), (None, None));
}

#[test]
fn long_rows_are_unpacked_without_a_stage() {
    let least = LEAST_UNPACKED_ROW;
    let long = i64::try_from(least).unwrap();
    for (loops, plan) in [
        (vec![(least, 1, 1)], Some("unpack 32 bytes of 4 bits")),
        (vec![(3, long, 100), (least, 1, 1)], Some("3 of 32>100 / unpack 32 bytes of 4 bits")),
        (vec![(3, -100, 100), (least, 1, 1)], Some("from 0>200 / 3 of 50>-100 / unpack 32 bytes of 4 bits")),
        // The whole box, however short it is.
        (vec![(2, 1, 1)], Some("unpack 1 bytes of 4 bits")),
        (vec![(3, long, 100), (least - 2, 1, 1)], None),
        // Inside bytes: a row, or a stride of the packed side.
        (vec![(3, long, 100), (least + 1, 1, 1)], None),
        (vec![(3, long + 1, 100), (least, 1, 1)], None),
        (vec![(3, -long - 1, 100), (least, 1, 1)], None),
        (vec![(least, 1, 2)], None),
        (vec![(least, 2, 1)], None),
        (vec![(least, -1, 1)], None),
        (vec![], None),
    ] {
        let nest = nest(&copy_box(&loops), &change(4, 8));
        assert_eq!(nest.map(|nest| words(&nest)).as_deref(), plan, "{loops:?}");
    }
    let packed = |loops: &[_]| nest(&copy_box(loops), &change(8, 4)).map(|nest| words(&nest));
    assert_eq!(packed(&[(3, 101, 80), (64, 1, 1)]).unwrap(), "3 of 101>40 / pack 32 bytes of 4 bits");
    assert_eq!(packed(&[(3, 101, 81), (64, 1, 1)]), None);
    // A table, and places of the first element.
    let mut copy = copy_box(&[(64, 1, 1)]);
    (copy.source, copy.destination) = (6, 7);
    copy.loops.insert(0, Loop::Table(vec![(0, 70), (90, 0)]));
    let table = nest(&copy, &change(4, 8)).unwrap();
    assert_eq!(words(&table), "from 3>7 / 2 places / unpack 32 bytes of 4 bits");
    let [NestLoop::Table(places)] = table.loops() else { panic!("{table:?}") };
    assert_eq!(places, &[(0, 70), (45, 0)]);
    copy.source = 5;
    assert!(nest(&copy, &change(4, 8)).is_none());
}

/// A word has an element of each row: eight of 4 bits.
#[test]
fn words_are_unpacked_and_packed_without_a_stage() {
    let unpacked =
        |loops: &[_]| super::words(&copy_box(loops), &change(4, 8), &z5()).map(|nest| words(&nest)).unwrap_or_default();
    for (loops, plan) in [
        (&[(100, 8, 1), (8, 1, 300)][..], "unpack 100 words of 4 bits, 300 apart"),
        (&[(8, 1, 300), (100, 8, 1)], "unpack 100 words of 4 bits, 300 apart"),
        (&[(3, -800, 7), (100, 8, 1), (8, 1, 300)], "from 0>14 / 3 of 400>-7 / unpack 100 words of 4 bits, 300 apart"),
        (&[(3, 800, 7), (100, 8, 1), (8, 1, 300)], "3 of 400>7 / unpack 100 words of 4 bits, 300 apart"),
        // In the order of the destination.
        (
            &[(2, 800, 9), (3, 1600, 2), (9, 8, 1), (8, 1, 90)],
            "2 of 400>9 / 3 of 800>2 / unpack 9 words of 4 bits, 90 apart",
        ),
        // Other numbers of rows; a gap between words; an offset inside a byte.
        (&[(100, 4, 1), (4, 1, 300)], ""),
        (&[(100, 16, 1), (16, 1, 300)], ""),
        (&[(100, 9, 1), (8, 1, 300)], ""),
        (&[(3, 801, 7), (100, 8, 1), (8, 1, 300)], ""),
        (&[(100, 8, 2), (8, 1, 300)], ""),
        (&[(100, 1, 1)], ""),
        (&[(100, -8, 1), (8, 1, 300)], ""),
    ] {
        assert_eq!(unpacked(loops), plan, "{loops:?}");
    }
    let packed = |bits, loops: &[_]| {
        super::words(&copy_box(loops), &change(8, bits), &z5()).map(|nest| words(&nest)).unwrap_or_default()
    };
    // The source in front-to-back order where a place takes more than two lines.
    assert_eq!(
        packed(2, &[(2, 5, 1600), (3, 4000, 3200), (100, 1, 16), (16, 500, 1)]),
        "3 of 4000>800 / 2 of 5>400 / pack 100 words of 2 bits, 500 apart"
    );
    assert_eq!(packed(1, &[(7, 1, 32), (32, 90, 1)]), "pack 7 words of 1 bits, 90 apart");
    assert_eq!((packed(1, &[(7, 1, 16), (16, 90, 1)]), packed(1, &[(7, 1, 33), (32, 90, 1)])), ("".into(), "".into()));
    // Short neighbours are joined, where the machine joins any.
    let knobs = z3();
    let joined = super::words(&copy_box(&[(8, 512, 64), (64, 8, 1), (8, 1, 8192)]), &change(4, 8), &knobs).unwrap();
    assert_eq!(words(&joined), "8 of 256>64 / unpack 64 words of 4 bits, 8192 apart");
    // Where the first element is stored.
    let mut copy = copy_box(&[(100, 8, 1), (8, 1, 300)]);
    (copy.source, copy.destination) = (6, 7);
    assert_eq!(
        words(&super::words(&copy, &change(4, 8), &z5()).unwrap()),
        "from 3>7 / unpack 100 words of 4 bits, 300 apart"
    );
}

/// First runs on either side, then as much as there is room for, in whole bytes.
#[test]
fn the_stage_is_filled_with_runs_of_both_sides() {
    for (what, from, to, loops, staged) in [
        (
            "128 packed elements, and as many rows as there is room for",
            4,
            8,
            vec![(2000, 1, 1000), (1000, 2000, 1)],
            vec![128, 128],
        ),
        (
            "all 100 rows, and columns of whole bytes: 162, not 163",
            4,
            8,
            vec![(2000, 1, 100), (100, 2000, 1)],
            vec![162, 100],
        ),
        ("both loops whole", 4, 8, vec![(127, 1, 100), (100, 127, 1)], vec![127, 100]),
        ("no room for all rows of 127", 4, 8, vec![(127, 1, 1000), (1000, 127, 1)], vec![127, 128]),
        ("runs that go on in a second loop", 4, 8, vec![(100, 30, 20), (20, 3000, 1), (30, 1, 2000)], vec![26, 20, 30]),
        ("long runs of what is read: 128 rows of 128", 8, 4, vec![(1000, 1, 2000), (2000, 1000, 1)], vec![128, 128]),
        ("8 bits a byte, a row of 60 and 272 of them", 1, 8, vec![(1000, 60, 1), (60, 1, 1000)], vec![272, 60]),
        ("one iteration is passed over", 4, 8, vec![(2000, 1, 1000), (1, 1, 1), (1000, 2000, 1)], vec![128, 1, 128]),
        ("nothing is packed", 4, 8, vec![(2000, 2, 1000), (1000, 4000, 2)], vec![1, 1]),
        ("what counts down stays outside", 4, 8, vec![(2000, -1, 1000), (1000, 2000, 1)], vec![1, 1000]),
    ] {
        let found = staged_iterations(&copy_box(&loops), &change(from, to));
        assert_eq!(found.to_vec(), staged, "{what}");
        assert!(staged.iter().product::<u64>() <= WIDTH_STAGE, "{what}");
    }
}

#[test]
fn a_box_is_cut_where_a_stage_is_not_filled() {
    let copy = copy_box(&[(10, 1, 100), (7, 20, 1)]);
    let at = |source, destination, loops: &[_]| CopyBox { source, destination, ..copy_box(loops) };
    assert_eq!(cut(&copy, &[5, 7]), None);
    assert_eq!(cut(&copy, &[1, 1]), None);
    // What is left over, and the whole stages.
    assert_eq!(
        cut(&copy, &[4, 7]).unwrap(),
        [at(8, 800, &[(2, 1, 100), (7, 20, 1)]), copy_box(&[(8, 1, 100), (7, 20, 1)])]
    );
    // A loop of one iteration is none.
    assert_eq!(cut(&copy, &[3, 7]).unwrap(), [at(9, 900, &[(7, 20, 1)]), copy_box(&[(9, 1, 100), (7, 20, 1)])]);
    assert_eq!(
        cut(&copy, &[10, 4]).unwrap(),
        [at(80, 4, &[(10, 1, 100), (3, 20, 1)]), copy_box(&[(10, 1, 100), (4, 20, 1)])]
    );
    let once = copy_box(&[(10, 1, 100), (1, 9, 9), (7, 20, 1)]);
    assert_eq!(cut(&once, &[4, 1, 7]), cut(&copy, &[4, 7]));
    let two = copy_box(&[(2, 1, 100), (3, 20, 1)]);
    assert_eq!(cut(&two, &[2, 2]).unwrap(), [at(40, 2, &[(2, 1, 100)]), copy_box(&[(2, 1, 100), (2, 20, 1)])]);
}

/// The parts of a box: the loops outside in elements; the rows between the packed side and the stage; the
/// copy of bytes.
fn parts(from: u32, to: u32, loops: &[(u64, i64, u64)]) -> Vec<String> {
    let planned = WidthBox::new(copy_box(loops), change(from, to), &z5()).unwrap();
    let in_words = |part: &WidthPart| {
        let outer: Vec<String> = part.outer.loops.iter().map(loop_in_words).collect();
        let rows = match &part.rows {
            WidthRows::Whole(nest) => words(nest),
            WidthRows::Anywhere { loops, row } => {
                let loops: Vec<String> = loops.iter().map(loop_in_words).collect();
                format!("[{}] rows of {row}", loops.join(", "))
            }
        };
        let staged = part.staged.as_ref().map_or("no stage".to_owned(), words);
        format!("{}>{} [{}] | {rows} | {staged}", part.outer.source, part.outer.destination, outer.join(", "))
    };
    planned.parts.iter().map(in_words).collect()
}

fn loop_in_words(step: &Loop) -> String {
    match step {
        Loop::Strided { extent, source, destination } => format!("{extent} of {source}>{destination}"),
        Loop::Reversed { extent, source, destination } => format!("{extent} of -{source}>{destination}"),
        Loop::Table(entries) => format!("{} places", entries.len()),
    }
}

#[test]
fn boxes_go_by_way_of_a_stage_of_bytes() {
    let plane = [(128, 1, 100), (100, 128, 1)];
    assert_eq!(parts(4, 8, &plane), ["0>0 [] | unpack 6400 bytes of 4 bits | transpose 100x128 of 1: 128>100"]);
    assert_eq!(parts(8, 4, &plane), ["0>0 [] | pack 6400 bytes of 4 bits | transpose 100x128 of 1: 128>100"]);
    // Whole stages, the rows that are left, and the columns.
    assert_eq!(
        parts(4, 8, &[(130, 1, 1000), (1000, 130, 1)]),
        [
            "0>0 [7 of 16640>128] | 128 of 65>128 / unpack 64 bytes of 4 bits | transpose 128x128 of 1: 128>1000",
            "116480>896 [] | 104 of 65>128 / unpack 64 bytes of 4 bits | transpose 104x128 of 1: 128>1000",
            "128>128000 [] | 1000 of 65>2 / unpack 1 bytes of 4 bits | transpose 1000x2 of 1: 2>1000",
        ]
    );
    let interleaved = "transpose 2x50 of 1: 50>2";
    for (loops, part) in [
        // A source that is repeated comes last in the stage; one that goes backwards stays outside.
        (vec![(6, 0, 100)], format!("0>0 [] | 6 of 0>100 / unpack 50 bytes of 4 bits | 6 of 100>100 / {interleaved}")),
        (vec![(6, -100, 100)], format!("500>0 [6 of -100>100] | unpack 50 bytes of 4 bits | {interleaved}")),
        // Rows that begin inside bytes, in the stage or outside.
        (vec![(3, 101, 100)], format!("0>0 [] | [3 of 101>100] rows of 100 | 3 of 100>100 / {interleaved}")),
        (vec![(3, -101, 100)], format!("202>0 [3 of -101>100] | [] rows of 100 | {interleaved}")),
    ] {
        assert_eq!(parts(4, 8, &[loops, vec![(50, 1, 2), (2, 50, 1)]].concat()), [part]);
    }
}

#[test]
fn long_rows_inside_bytes_and_single_elements_have_no_stage() {
    for (loops, part) in [
        (&[(3, 101, 100), (65, 1, 1)][..], "0>0 [3 of 101>100] | [] rows of 65 | no stage"),
        (&[(5, 1, 1)], "0>0 [] | [] rows of 5 | no stage"),
        (&[(6, 2, 3)], "0>0 [6 of 2>3] | [] rows of 1 | no stage"),
        (&[], "0>0 [] | [] rows of 1 | no stage"),
        // Short rows have.
        (&[(3, 100, 100), (5, 1, 1)], "0>0 [3 of 100>100] | [] rows of 5 | copy 5"),
    ] {
        assert_eq!(parts(4, 8, loops), [part]);
    }
}

#[test]
fn a_box_says_how_many_bytes_it_writes() {
    let bytes = |from, to, loops: &[_]| WidthBox::new(copy_box(loops), change(from, to), &z5()).unwrap().bytes;
    assert_eq!(bytes(4, 8, &[(7, 1, 5), (5, 7, 1)]), 35);
    assert_eq!(bytes(8, 4, &[(7, 1, 5), (5, 7, 1)]), 18);
    assert_eq!(bytes(8, 1, &[(7, 1, 5), (5, 7, 1)]), 5);
    assert_eq!(bytes(8, 1, &[]), 1);
}
