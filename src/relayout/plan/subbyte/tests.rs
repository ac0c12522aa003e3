#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a test may panic")]

use super::super::tests::{copy_box, words, z3, z5};
use super::*;
use strided_copy::nest::NestLoop;

#[test]
fn rows_of_whole_bytes_are_a_box_of_bytes() {
    let at = |source, destination, loops: &[(u64, i64, u64)]| CopyBox { source, destination, ..copy_box(loops) };
    for (bits, elements, bytes) in [
        (4, copy_box(&[(6, 1, 1)]), Some(copy_box(&[(3, 1, 1)]))),
        (4, copy_box(&[(5, 8, 10), (6, 1, 1)]), Some(copy_box(&[(5, 4, 5), (3, 1, 1)]))),
        (2, copy_box(&[(5, 8, 12), (4, 1, 1)]), Some(copy_box(&[(5, 2, 3), (1, 1, 1)]))),
        (3, copy_box(&[(5, 8, 16), (8, 1, 1)]), Some(copy_box(&[(5, 3, 6), (3, 1, 1)]))),
        (4, at(2, 4, &[(6, 1, 1)]), Some(at(1, 2, &[(3, 1, 1)]))),
        (4, copy_box(&[(5, -8, 10), (6, 1, 1)]), Some(copy_box(&[(5, -4, 5), (3, 1, 1)]))),
        // A row, a stride or a beginning inside a byte.
        (4, copy_box(&[(5, 1, 1)]), None),
        (4, copy_box(&[(5, 7, 10), (6, 1, 1)]), None),
        (4, copy_box(&[(5, 8, 9), (6, 1, 1)]), None),
        (4, copy_box(&[(5, -7, 10), (6, 1, 1)]), None),
        (4, at(1, 4, &[(6, 1, 1)]), None),
        (4, at(2, 3, &[(6, 1, 1)]), None),
        // No row that is packed on both sides.
        (4, copy_box(&[]), None),
        (4, copy_box(&[(6, 2, 1)]), None),
        (4, copy_box(&[(6, 1, 2)]), None),
        (4, copy_box(&[(6, -1, 1)]), None),
    ] {
        assert_eq!(in_whole_bytes(&elements, bits), bytes, "{elements:?}");
    }
    let table = |entries: &[(u64, u64)], row| {
        let mut copy = copy_box(&[(row, 1, 1)]);
        copy.loops.insert(0, Loop::Table(entries.to_vec()));
        copy
    };
    assert_eq!(in_whole_bytes(&table(&[(0, 4), (10, 0)], 4), 4), Some(table(&[(0, 2), (5, 0)], 2)));
    assert_eq!(in_whole_bytes(&table(&[(0, 4), (9, 0)], 4), 4), None);
}

fn planned(bits: u32, loops: &[(u64, i64, u64)]) -> Option<String> {
    interleaved(&copy_box(loops), bits, &z5()).map(|nest| words(&nest))
}

#[test]
fn a_few_rows_of_whole_bytes_are_interleaved() {
    for (bits, loops, plan) in [
        (4, &[(64, 1, 2), (2, 64, 1)][..], "interleave 2 rows of 32 bytes by 4 bits, 32 apart"),
        (4, &[(64, 1, 8), (8, 100, 1)], "interleave 8 rows of 32 bytes by 4 bits, 50 apart"),
        (2, &[(64, 1, 4), (4, 64, 1)], "interleave 4 rows of 16 bytes by 2 bits, 16 apart"),
        (1, &[(64, 1, 32), (32, 64, 1)], "interleave 32 rows of 8 bytes by 1 bits, 8 apart"),
        (4, &[(8, 64, 1), (64, 1, 8)], "interleave 8 rows of 32 bytes by 4 bits, 32 apart"),
        (4, &[(2, 1, 64), (64, 2, 1)], "deinterleave 2 rows of 32 bytes by 4 bits, 32 apart"),
        (4, &[(64, 8, 1), (8, 1, 100)], "deinterleave 8 rows of 32 bytes by 4 bits, 50 apart"),
        (1, &[(16, 1, 64), (64, 16, 1)], "deinterleave 16 rows of 8 bytes by 1 bits, 8 apart"),
        // Loops outside, forwards and backwards.
        (
            4,
            &[(3, 200, 300), (64, 1, 2), (2, 64, 1)],
            "3 of 100>150 / interleave 2 rows of 32 bytes by 4 bits, 32 apart",
        ),
        (
            4,
            &[(3, -200, 300), (64, 1, 2), (2, 64, 1)],
            "from 0>300 / 3 of 100>-150 / interleave 2 rows of 32 bytes by 4 bits, 32 apart",
        ),
    ] {
        assert_eq!(planned(bits, loops).as_deref(), Some(plan), "{loops:?}");
    }
    let mut table = copy_box(&[(64, 1, 2), (2, 64, 1)]);
    table.loops.insert(0, Loop::Table(vec![(0, 0), (200, 300)]));
    let nest = interleaved(&table, 4, &z5()).unwrap();
    assert_eq!(words(&nest), "2 places / interleave 2 rows of 32 bytes by 4 bits, 32 apart");
    let [NestLoop::Table(places)] = nest.loops() else { panic!("{nest:?}") };
    assert_eq!(places, &[(0, 0), (100, 150)]);
}

#[test]
fn other_planes_are_not_interleaved() {
    for (bits, loops) in [
        // Three rows; a gap after the interleaved row; rows, pitches and loops that end inside bytes; 3 bits.
        (4, &[(64, 1, 3), (3, 64, 1)][..]),
        (4, &[(64, 1, 10), (8, 64, 1)]),
        (4, &[(8, 1, 64), (64, 10, 1)]),
        (4, &[(63, 1, 8), (8, 64, 1)]),
        (4, &[(64, 1, 8), (8, 65, 1)]),
        (4, &[(3, 201, 300), (64, 1, 2), (2, 64, 1)]),
        (4, &[(3, 200, 301), (64, 1, 2), (2, 64, 1)]),
        (4, &[(3, -201, 300), (64, 1, 2), (2, 64, 1)]),
        (3, &[(64, 1, 8), (8, 64, 1)]),
        (8, &[(64, 1, 8), (8, 64, 1)]),
        // Packed on both sides, on one, counting down.
        (4, &[(64, 1, 1)]),
        (4, &[(64, 1, 2), (2, 64, 3)]),
        (4, &[(64, 2, 2), (2, 64, 1)]),
        (4, &[(64, -1, 2), (2, 64, 1)]),
        (4, &[(64, 1, 2), (2, -64, 1)]),
    ] {
        assert_eq!(planned(bits, loops), None, "{bits} bits, {loops:?}");
    }
}

/// As rows of bytes are: long runs come in the order of the source, and short ones of neighbouring tiles are
/// joined.
#[test]
fn loops_around_interleaved_bits_are_ordered_by_what_they_write() {
    let around = |row: u64| {
        let (i, rows) = (i64::try_from(row).unwrap(), 8);
        [(3, 100 * i, 4000 * row), (5, 1000 * i, 800 * row), (row, 1, rows), (8, i, 1)]
    };
    // 8 rows of 16 bytes are two lines: in the order of the destination. Longer: the larger stride of the
    // source outside.
    assert_eq!(
        planned(4, &around(32)).unwrap(),
        "3 of 1600>64000 / 5 of 16000>12800 / interleave 8 rows of 16 bytes by 4 bits, 16 apart"
    );
    assert_eq!(
        planned(4, &around(34)).unwrap(),
        "5 of 17000>13600 / 3 of 1700>68000 / interleave 8 rows of 17 bytes by 4 bits, 17 apart"
    );
    // Deinterleaved rows keep the order of the destination however long they are.
    assert_eq!(
        planned(4, &[(3, 10000, 400_000), (5, 100_000, 80000), (8, 1, 300), (300, 8, 1)]).unwrap(),
        "3 of 5000>200000 / 5 of 50000>40000 / deinterleave 8 rows of 150 bytes by 4 bits, 150 apart"
    );
    // Tiles of 8 rows of 64 bytes to rows of a page; only deinterleaved ones are joined.
    let tiles = copy_box(&[(16, 1024, 128), (8, 1, 8192), (128, 8, 1)]);
    let joined = "16 of 512>64 / deinterleave 8 rows of 64 bytes by 4 bits, 4096 apart";
    assert_eq!(words(&interleaved(&tiles, 4, &z3()).unwrap()), joined);
    let tiles = copy_box(&[(64, 1024, 128), (9, 1 << 17, 1 << 16), (8, 1, 8192), (128, 8, 1)]);
    let (apart, joined) = (
        "64 of 512>64 / 9 of 65536>32768 / deinterleave 8 rows of 64 bytes by 4 bits, 4096 apart",
        "4 of 8192>1024 / 9 of 65536>32768 / 16 of 512>64 / deinterleave 8 rows of 64 bytes by 4 bits, 4096 apart",
    );
    assert_eq!(words(&interleaved(&tiles, 4, &z5()).unwrap()), apart);
    assert_eq!(words(&interleaved(&tiles, 4, &z3()).unwrap()), joined);
    let tiles = copy_box(&[(64, 64, 1024), (9, 1 << 16, 1 << 17), (128, 1, 8), (8, 8192, 1)]);
    // Where the hardware follows eight rows, these too are written front to back.
    let (in_source_order, front_to_back) = (
        "9 of 32768>65536 / 64 of 32>512 / interleave 8 rows of 64 bytes by 4 bits, 4096 apart",
        "64 of 32>512 / 9 of 32768>65536 / interleave 8 rows of 64 bytes by 4 bits, 4096 apart",
    );
    assert_eq!(words(&interleaved(&tiles, 4, &z5()).unwrap()), in_source_order);
    assert_eq!(words(&interleaved(&tiles, 4, &z3()).unwrap()), front_to_back);
}

#[test]
fn elements_that_begin_anywhere_are_copied_in_rows_or_planes() {
    let inner = |bits, loops: &[(u64, i64, u64)]| {
        let SubByteBox { outer, elements, inner } = SubByteBox::new(copy_box(loops), bits);
        assert_eq!(elements, loops.iter().map(|&(extent, ..)| extent).product::<u64>());
        (outer.loops.len(), inner)
    };
    let rows = |bits, count, source, destination| BitRows { bits, count, source, destination };
    for (bits, loops, left, expected) in [
        (4, &[(5, 1, 1)][..], 0, rows(20, 1, 0, 0)),
        (4, &[(3, 7, 9), (5, 1, 1)], 0, rows(20, 3, 28, 36)),
        (3, &[(2, 100, 100), (3, 7, 9), (5, 1, 1)], 1, rows(15, 3, 21, 27)),
        (4, &[(3, -7, 9), (5, 1, 1)], 1, rows(20, 1, 0, 0)),
    ] {
        let (outside, Inner::Rows(found)) = inner(bits, loops) else { panic!("{loops:?}") };
        assert_eq!((outside, found), (left, expected));
    }
    // A plane from LEAST_BIT_PLANE elements on, of 1, 2 or 4 bits.
    for loops in [[(9, 100, 100), (8, 1, 16), (16, 8, 1)], [(9, 100, 100), (16, 8, 1), (8, 1, 16)]] {
        let (1, Inner::Plane(plane)) = inner(2, &loops) else { panic!("no plane") };
        let stride = |extent, source, destination| Stride { extent, source, destination };
        assert_eq!(plane, BitPlane { bits: 2, columns: stride(8, 1, 16), rows: stride(16, 8, 1) });
    }
    assert_eq!(LEAST_BIT_PLANE, 8 * 16);
    for (bits, loops) in [
        (4, [(127, 1, 2), (1, 127, 1)]),
        (3, [(64, 1, 16), (16, 64, 1)]),
        (4, [(64, 1, 16), (16, 64, 2)]),
        (4, [(64, 2, 16), (16, 128, 1)]),
        (4, [(64, -1, 16), (16, 64, 1)]),
    ] {
        assert!(matches!(inner(bits, &loops), (2, Inner::Element)), "{bits} bits, {loops:?}");
    }
}
