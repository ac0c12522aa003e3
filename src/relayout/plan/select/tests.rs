#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a test may panic")]

use super::super::tests::{copy_box, words, z3, z5};
use super::*;
use crate::map::Loop;

/// The nest of a box of elements of this many bytes on Z5.
fn planned(bytes: u64, loops: &[(u64, i64, u64)]) -> String {
    words(&nest(&copy_box(loops), bytes, &z5()).unwrap())
}

#[test]
fn what_is_packed_on_both_sides_is_one_run() {
    for (bytes, loops, plan) in [
        (4, &[][..], "copy 4"),
        (4, &[(8, 1, 1)], "copy 32"),
        (4, &[(5, 8, 8), (8, 1, 1)], "copy 160"),
        // Packed on one side only, or on neither.
        (4, &[(5, 8, 9), (8, 1, 1)], "copy 32, 5 of 32>36"),
        (4, &[(5, 9, 8), (8, 1, 1)], "copy 32, 5 of 36>32"),
        (4, &[(3, 90, 90), (5, 9, 9), (8, 1, 1)], "3 of 360>360 / copy 32, 5 of 36>36"),
    ] {
        assert_eq!(planned(bytes, loops), plan);
    }
}

#[test]
fn short_runs_are_transposed_and_longer_ones_copied() {
    for (bytes, loops, plan) in [
        (4, &[(200, 1, 100), (100, 200, 1)][..], "transpose 100x200 of 4: 800>400"),
        (4, &[(100, 200, 1), (200, 1, 100)], "transpose 100x200 of 4: 800>400"),
        // A run of two elements is the unit.
        (4, &[(50, 2, 80), (40, 100, 2), (2, 1, 1)], "transpose 40x50 of 8: 400>320"),
        (128, &[(40, 1, 50), (50, 40, 1)], "transpose 50x40 of 128: 5120>6400"),
        // In the order of the source.
        (129, &[(40, 1, 50), (50, 40, 1)], "50 of 5160>129 / copy 129, 40 of 129>6450"),
        // Not packed on one of the sides: in the order of the destination.
        (4, &[(200, 2, 100), (100, 400, 1)], "200 of 8>400 / copy 4, 100 of 1600>4"),
        (4, &[(200, 1, 200), (100, 200, 2)], "200 of 4>800 / copy 4, 100 of 800>8"),
        (128, &[(40, 2, 50), (50, 80, 1)], "40 of 256>6400 / copy 128, 50 of 10240>128"),
        (129, &[(40, 2, 50), (50, 80, 1)], "50 of 10320>129 / copy 129, 40 of 258>6450"),
    ] {
        assert_eq!(planned(bytes, loops), plan);
    }
}

#[test]
fn what_counts_down() {
    for (bytes, loops, plan) in [
        (4, &[(8, -1, 1)][..], "reverse 8 of 4"),
        (4, &[(3, 8, 8), (8, -1, 1)], "reverse 8 of 4, 3 of 32>32"),
        (4, &[(2, 90, 90), (3, 8, 8), (8, -1, 1)], "2 of 360>360 / reverse 8 of 4, 3 of 32>32"),
        (16, &[(8, -1, 1)], "reverse 8 of 16"),
        // Units of more than half the narrowest vector are copied one by one.
        (17, &[(8, -1, 1)], "from 0>119 / 8 of 17>-17 / copy 17"),
        (4, &[(8, -2, 1)], "from 0>28 / 8 of 8>-4 / copy 4"),
        (4, &[(8, -1, 2)], "from 0>56 / 8 of 4>-8 / copy 4"),
        // Rows in the opposite order, and columns.
        (4, &[(200, 1, 100), (100, -200, 1)], "transpose 100x200 of 4: -800>400"),
        (4, &[(200, -1, 100), (100, 200, 1)], "transpose 100x200 of 4: 800>-400"),
        (4, &[(100, -200, 1), (200, -1, 100)], "transpose 100x200 of 4: -800>-400"),
        // An outer loop counts down for itself.
        (
            4,
            &[(9, -20000, 20000), (200, 1, 100), (100, 200, 1)],
            "from 0>640000 / 9 of 80000>-80000 / transpose 100x200 of 4: 800>400",
        ),
    ] {
        assert_eq!(planned(bytes, loops), plan);
    }
}

#[test]
fn a_source_that_is_repeated_keeps_the_order_of_the_destination() {
    for (bytes, loops, plan) in [
        // Unit by unit: no transpose.
        (4, &[(7, 1, 5), (5, 0, 1)][..], "7 of 4>20 / copy 4, 5 of 0>4"),
        (256, &[(3, 0, 300), (10, 1, 20), (20, 10, 1)], "3 of 0>76800 / 10 of 256>5120 / copy 256, 20 of 2560>256"),
        (256, &[(10, 1, 20), (20, 10, 1)], "20 of 2560>256 / copy 256, 10 of 256>5120"),
        (256, &[(10, -1, 20), (20, 10, 1)], "from 0>46080 / 20 of 2560>256 / 10 of 256>-5120 / copy 256"),
    ] {
        assert_eq!(planned(bytes, loops), plan);
    }
}

#[test]
fn runs_at_no_stride_are_copied_from_a_table() {
    let places = Loop::Table(vec![(0, 0), (5, 9), (7, 30)]);
    let mut copy = copy_box(&[(6, 40, 50), (2, 1, 1)]);
    copy.loops.insert(0, places.clone());
    assert_eq!(words(&nest(&copy, 4, &z5()).unwrap()), "copy 8 at 3 places, 6 of 160>200");
    copy.loops = [places].into_iter().collect();
    assert_eq!(words(&nest(&copy, 4, &z5()).unwrap()), "copy 4 at 3 places");
    // Outside a transpose it is a loop.
    let mut copy = copy_box(&[(200, 1, 100), (100, 200, 1)]);
    copy.loops.insert(0, Loop::Table(vec![(0, 0), (50000, 70000)]));
    assert_eq!(words(&nest(&copy, 4, &z5()).unwrap()), "2 places / transpose 100x200 of 4: 800>400");
}

/// The remedy is for copies inside the L2 cache of lines that would come to one set of the L1 cache, more of
/// them than it has ways.
#[test]
fn lines_that_meet_in_one_set_are_copied_in_the_order_of_the_destination() {
    for (bytes, loops, plan) in [
        (96, &[(13, 1, 128), (128, 13, 1)][..], "13 of 96>12288 / copy 96, 128 of 1248>96"),
        // As many as there are ways; at another pitch; in memory.
        (96, &[(12, 1, 128), (128, 12, 1)], "transpose 128x12 of 96: 1152>12288"),
        (96, &[(13, 1, 129), (129, 13, 1)], "transpose 129x13 of 96: 1248>12384"),
        (96, &[(13, 1, 1024), (1024, 13, 1)], "transpose 1024x13 of 96: 1248>98304"),
        // Of a line and of two, there is a kernel that writes a few columns at a time; of less, lines are put
        // together.
        (63, &[(13, 1, 4096), (64, 13, 1)], "transpose 64x13 of 63: 819>258048"),
        (64, &[(13, 1, 64), (64, 13, 1)], "transpose 64x13 of 64: 832>4096"),
        (128, &[(13, 1, 32), (32, 13, 1)], "transpose 32x13 of 128: 1664>4096"),
        // Longer runs are never transposed, but come in the order of the source otherwise.
        (256, &[(13, 1, 16), (16, 13, 1)], "13 of 256>4096 / copy 256, 16 of 3328>256"),
        (256, &[(12, 1, 16), (16, 12, 1)], "16 of 3072>256 / copy 256, 12 of 256>4096"),
        (256, &[(13, 1, 17), (17, 13, 1)], "17 of 3328>256 / copy 256, 13 of 256>4352"),
        (256, &[(200, 1, 16), (16, 200, 1)], "16 of 51200>256 / copy 256, 200 of 256>4096"),
    ] {
        assert_eq!(planned(bytes, loops), plan);
    }
}

fn strided(loops: &[(usize, usize, usize)]) -> NestLoops {
    let stride = |&(extent, source, destination)| NestLoop::Strided(Stride { extent, source, destination });
    loops.iter().map(stride).collect()
}

#[test]
fn one_set_is_written_by_the_innermost_loop_of_the_source() {
    let knobs = z5();
    let (ways, way) = (knobs.l1_ways, knobs.l1_way);
    for (loops, run, expected) in [
        (vec![(ways + 1, 64, way)], 64, true),
        (vec![(ways + 1, 64, 3 * way)], 64, true),
        (vec![(ways, 64, way)], 64, false),
        (vec![(ways + 1, 64, way + 64)], 64, false),
        (vec![(ways + 1, 64, way / 2)], 64, false),
        // The one with the smallest stride counts, wherever it is; a source that stays does not.
        (vec![(ways + 1, 64, way), (4, 2048, 64)], 64, true),
        (vec![(4, 2048, 64), (ways + 1, 64, way)], 64, true),
        (vec![(ways + 1, 2048, way), (4, 64, 64)], 64, false),
        (vec![(4, 0, 64), (ways + 1, 64, way)], 64, true),
        (vec![(ways + 1, 0, way)], 64, false),
        (vec![], 64, false),
        // Half the L2 cache.
        (vec![(knobs.in_l2 / 64, 64, way)], 64, false),
        (vec![(knobs.in_l2 / 64 - 1, 64, way)], 64, true),
        (vec![(knobs.in_l2 / 128, 64, way), (2, 1 << 20, 64)], 64, false),
    ] {
        assert_eq!(writes_one_set(&strided(&loops), run, &knobs), expected, "{loops:?}");
    }
    let mut backwards = strided(&[]);
    backwards.push(NestLoop::Reversed(Stride { extent: ways + 1, source: 64, destination: way }));
    assert!(!writes_one_set(&backwards, 64, &knobs));
}

/// Rows by columns of units of 4 bytes, and pitches.
fn plain(rows: (usize, usize), columns: (usize, usize)) -> Plane {
    Plane { unit: 4, columns: Axis::new(columns.0, columns.1), rows: Axis::new(rows.0, rows.1), micro_tile: None }
}

/// Planes of a few rows or columns that leave two lines in each place are read front to back; interleaved
/// ones only from memory.
#[test]
fn a_few_rows_that_leave_long_runs_are_written_in_the_order_of_the_source() {
    let knobs = z5();
    let in_memory = knobs.in_l2;
    for (what, plane, iterations, expected) in [
        ("interleaves 4 rows of 32", plain((4, 999), (32, 16)), in_memory / 512, true),
        ("in the cache", plain((4, 999), (32, 16)), in_memory / 512 - 1, false),
        ("16 rows", plain((16, 999), (32, 64)), in_memory / 2048, true),
        ("17 rows", plain((17, 999), (32, 68)), in_memory, false),
        ("not dense", plain((4, 999), (32, 20)), in_memory, false),
        ("runs of two lines", plain((4, 999), (8, 16)), in_memory, true),
        ("shorter runs", plain((4, 999), (7, 16)), in_memory, false),
        ("deinterleaves 4 columns of 32", plain((32, 16), (4, 999)), 1, true),
        ("16 columns", plain((32, 64), (16, 999)), 1, true),
        ("17 columns", plain((32, 68), (17, 999)), 1, false),
        ("rows not dense", plain((32, 20), (4, 999)), 1, false),
        ("shorter columns", plain((31, 16), (4, 999)), 1, false),
        ("neither", plain((100, 800), (200, 400)), in_memory, false),
    ] {
        let loops = strided(&[(iterations, 1, 1)]);
        assert_eq!(writes_long_runs(&plane, &loops, &knobs), expected, "{what}");
    }
}

#[test]
fn loops_are_put_in_the_order_of_the_source() {
    let order = |loops: &[(usize, usize, usize)]| {
        let mut loops = strided(loops);
        in_source_order(&mut loops);
        let strides = loops.iter().map(|step| if let NestLoop::Strided(stride) = step { stride.source } else { 0 });
        strides.collect::<Vec<_>>()
    };
    assert_eq!(order(&[(2, 10, 1000), (2, 1000, 100), (2, 100, 10)]), [1000, 100, 10]);
    assert_eq!(order(&[(2, 10, 1000), (2, 1, 100), (2, 100, 10)]), [100, 10, 1]);
    // Not with a source that is repeated.
    assert_eq!(order(&[(2, 0, 1000), (2, 10, 100), (2, 100, 10)]), [0, 10, 100]);
}

/// The loops of a plane of rows of `run` bytes, so far apart, after a loop of `extent` that continues them.
fn neighbours(run: usize, pitch: usize, extent: usize, knobs: &Knobs) -> Vec<(usize, usize, usize)> {
    let mut loops = strided(&[(extent, 1000, run), (7, 10, 1 << 20)]);
    neighbours_last(&mut loops, run, pitch, knobs);
    let stride = |step: &NestLoop| match step {
        NestLoop::Strided(stride) => (stride.extent, stride.source, stride.destination),
        other => panic!("{other:?}"),
    };
    loops.iter().map(stride).collect()
}

#[test]
fn short_runs_of_neighbouring_tiles_are_joined_innermost() {
    let (knobs, few) = (z3(), 1 << 20);
    // As many as make a run of JOINED_RUN, 1024 bytes.
    assert_eq!(neighbours(128, PAGE, 8, &knobs), [(7, 10, few), (8, 1000, 128)]);
    assert_eq!(neighbours(128, PAGE, 32, &knobs), [(4, 8000, 1024), (7, 10, few), (8, 1000, 128)]);
    assert_eq!(neighbours(64, 3 * PAGE, 32, &knobs), [(2, 16000, 1024), (7, 10, few), (16, 1000, 64)]);
    // The most of them that divide the loop, or all.
    assert_eq!(neighbours(128, PAGE, 12, &knobs), [(2, 6000, 768), (7, 10, few), (6, 1000, 128)]);
    assert_eq!(neighbours(128, PAGE, 11, &knobs), [(7, 10, few), (11, 1000, 128)]);
    // Runs that are too long, rows that are not pages apart, a machine of more ways, nothing to join.
    let as_it_was = |run| [(8, 1000, run), (7, 10, few)];
    assert_eq!(neighbours(129, PAGE, 8, &knobs), as_it_was(129));
    assert_eq!(neighbours(128, PAGE + 64, 8, &knobs), as_it_was(128));
    assert_eq!(neighbours(128, PAGE, 8, &z5()), as_it_was(128));
    assert_eq!(neighbours(0, PAGE, 8, &knobs), as_it_was(0));
    let mut loops = strided(&[(8, 1000, 256)]);
    neighbours_last(&mut loops, 128, PAGE, &knobs);
    assert_eq!(loops.len(), 1);
}

/// Two loops that make a tile, and two around it.
fn tiled(tile: [(u64, i64, u64); 2], around: &[(u64, i64, u64)]) -> String {
    planned(1, &[around, &tile].concat())
}

#[test]
fn tiles_of_up_to_16_bytes_are_units_of_a_larger_plane() {
    for (tile, around, plan) in [
        ([(4, 1, 4), (4, 4, 1)], &[(50, 16, 320), (20, 800, 16)][..], "transpose 20x50 of 16 (4x4 of 1): 800>320"),
        ([(4, 1, 4), (4, 4, 1)], &[(20, 800, 16), (50, 16, 320)], "transpose 20x50 of 16 (4x4 of 1): 800>320"),
        ([(4, 1, 2), (2, 4, 1)], &[(50, 8, 160), (20, 400, 8)], "transpose 20x50 of 8 (2x4 of 1): 400>160"),
        // 32 bytes, 12 bytes, tiles that follow each other on both sides, no tiles that follow each other on
        // one.
        (
            [(8, 1, 4), (4, 8, 1)],
            &[(50, 32, 640), (20, 1600, 32)],
            "50 of 32>640 / 20 of 1600>32 / transpose 4x8 of 1: 8>4",
        ),
        (
            [(4, 1, 3), (3, 4, 1)],
            &[(50, 12, 240), (20, 600, 12)],
            "50 of 12>240 / 20 of 600>12 / transpose 3x4 of 1: 4>3",
        ),
        ([(4, 1, 4), (4, 4, 1)], &[(50, 16, 16)], "50 of 16>16 / transpose 4x4 of 1: 4>4"),
        ([(4, 1, 4), (4, 4, 1)], &[(50, 16, 320)], "50 of 16>320 / transpose 4x4 of 1: 4>4"),
        ([(4, 1, 4), (4, 4, 1)], &[(20, 800, 16)], "20 of 800>16 / transpose 4x4 of 1: 4>4"),
        // Tiles that count down.
        (
            [(4, -1, 4), (4, 4, 1)],
            &[(50, 16, 320), (20, 800, 16)],
            "50 of 16>320 / 20 of 800>16 / transpose 4x4 of 1: 4>-4",
        ),
        (
            [(4, 1, 4), (4, -4, 1)],
            &[(50, 16, 320), (20, 800, 16)],
            "50 of 16>320 / 20 of 800>16 / transpose 4x4 of 1: -4>4",
        ),
    ] {
        assert_eq!(tiled(tile, around), plan);
    }
}

#[test]
fn a_short_axis_goes_on_in_the_next_loop_unless_few_rows_are_dense() {
    for (loops, plan) in [
        // 16 rows into a dense one, and 17.
        ([(10, 4, 200), (4, 1, 16), (16, 400, 1)], "10 of 16>800 / transpose 16x4 of 4: 1600>64"),
        ([(10, 4, 200), (4, 1, 17), (17, 400, 1)], "transpose 17x40 of 4: 1600>4*68+10*800"),
        ([(10, 4, 200), (4, 1, 20), (16, 400, 1)], "transpose 16x40 of 4: 1600>4*80+10*800"),
        // Out of one.
        ([(10, 200, 4), (4, 16, 1), (16, 1, 400)], "10 of 800>16 / transpose 4x16 of 4: 64>1600"),
        ([(10, 200, 4), (4, 17, 1), (17, 1, 400)], "transpose 40x17 of 4: 4*68+10*800>1600"),
        ([(10, 200, 4), (4, 20, 1), (16, 1, 400)], "transpose 40x16 of 4: 4*80+10*800>1600"),
    ] {
        assert_eq!(planned(4, &loops), plan);
    }
}

#[test]
fn axes_are_fused_until_they_are_long_enough() {
    let on_source: Sides = |stride| (stride.source, stride.destination);
    let on_destination: Sides = |stride| (stride.destination, stride.source);
    let lengths = |loops: &[(usize, usize, usize)], least, sides| {
        let mut loops = strided(loops);
        let axis = lengthened(&mut loops, 4, Axis::new(4, 1000), least, sides);
        (axis.loops().collect::<Vec<_>>(), loops.len())
    };
    // An axis of 16 bytes, and loops that continue it.
    let loops = [(4, 64, 3000), (4, 16, 2000)];
    assert_eq!(lengths(&loops, 16, on_source), (vec![(1000, 4)], 2));
    assert_eq!(lengths(&loops, 17, on_source), (vec![(1000, 4), (2000, 4)], 1));
    assert_eq!(lengths(&loops, 64, on_source), (vec![(1000, 4), (2000, 4)], 1));
    assert_eq!(lengths(&loops, 65, on_source), (vec![(1000, 4), (2000, 4), (3000, 4)], 0));
    assert_eq!(lengths(&loops, 9999, on_source), (vec![(1000, 4), (2000, 4), (3000, 4)], 0));
    assert_eq!(lengths(&loops, 9999, on_destination), (vec![(1000, 4)], 2));
    assert_eq!(lengths(&[(4, 2000, 16)], 9999, on_destination), (vec![(1000, 4), (2000, 4)], 0));
    // The table of offsets stays in the cache.
    let most = LARGEST_TABLE / 4;
    assert_eq!(lengths(&[(most, 16, 2000)], 9999, on_source).1, 0);
    assert_eq!(lengths(&[(most + 1, 16, 2000)], 9999, on_source).1, 1);
}

/// First a line of the source, then long rows of the destination, and what is left goes to the source.
#[test]
fn axes_take_turns_at_the_loops_that_continue_both() {
    // 32 columns of 4 bytes are more than a line, so the loop goes to the rows, which are shorter than
    // MIN_AXIS.
    let both = |columns: u64| {
        let extent = i64::try_from(columns).unwrap();
        planned(4, &[(10, extent, 40), (columns, 1, 1000), (40, 5000, 1)])
    };
    assert_eq!(both(32), "transpose 400x32 of 4: 40*20000+10*128>4000");
    assert_eq!(both(16), "transpose 400x16 of 4: 40*20000+10*64>4000");
    assert_eq!(both(15), "transpose 40x150 of 4: 20000>15*4000+10*160");
}

/// Tiles of 8 rows to rows of pages, on a machine of few ways.
#[test]
fn short_rows_of_tiles_are_joined_in_the_cache() {
    let tiles = copy_box(&[(64, 1024, 128), (9, 1 << 16, 1 << 18), (128, 8, 1), (8, 1, 8192)]);
    let plan = |knobs| words(&nest(&tiles, 1, &knobs).unwrap());
    let in_order = "9 of 65536>262144 / 64 of 1024>128 / transpose 128x8 of 1: 8>8192";
    assert_eq!(plan(z5()), in_order);
    assert_eq!(plan(z3()), "9 of 65536>262144 / 8 of 8192>1024 / 8 of 1024>128 / transpose 128x8 of 1: 8>8192");
}
