#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a test may panic")]

use super::*;
use crate::cost::{LONGEST_JOINED, LONGEST_REVERSED, MOST_INTERLEAVED, PAGE};

const fn by(extent: usize, source: usize, destination: usize) -> Stride {
    Stride { extent, source, destination }
}

fn plane(unit: usize, rows: Axis, columns: Axis) -> MicroKernel {
    MicroKernel::Transpose(Plane { unit, columns, rows, micro_tile: None })
}

/// Rows of 16 bytes, 100 apart.
fn bits(rows: usize, direction: Direction) -> MicroKernel {
    MicroKernel::InterleaveBits(BitInterleave { bits: 4, rows, row: 16, pitch: 100, direction })
}

fn width(bits: usize, change: WidthChange, packed: usize) -> MicroKernel {
    MicroKernel::ChangeWidth(WidthRow { bits, change, packed })
}

fn words(bits: usize, change: WidthChange, words: usize) -> MicroKernel {
    MicroKernel::ChangeWords(PackedWords { bits, change, words, pitch: 100 })
}

/// Each kernel, the bytes that one iteration writes, and those it spans on either side.
fn kernels() -> Vec<(MicroKernel, u64, (usize, usize))> {
    let unpack = WidthChange::Unpack { signed: true };
    vec![
        (MicroKernel::Copy { run: 10, count: Stride::ONCE }, 10, (10, 10)),
        (MicroKernel::Copy { run: 10, count: by(3, 100, 20) }, 30, (210, 50)),
        (MicroKernel::Copy { run: 10, count: by(3, 0, 20) }, 30, (10, 50)),
        (
            MicroKernel::CopyTable { run: 10, offsets: vec![(0, 40), (70, 0), (30, 20)], count: by(2, 100, 200) },
            60,
            (100 + 70 + 10, 200 + 40 + 10),
        ),
        (plane(4, Axis::new(3, 100), Axis::new(5, 40)), 60, (220, 172)),
        (bits(2, Direction::Interleave), 32, (116, 32)),
        (bits(4, Direction::Deinterleave), 64, (64, 316)),
        (width(4, unpack, 10), 20, (10, 20)),
        (width(2, unpack, 10), 40, (10, 40)),
        (width(1, WidthChange::Pack, 10), 10, (80, 10)),
        (words(4, unpack, 10), 80, (40, 710)),
        (words(2, unpack, 10), 160, (40, 1510)),
        (words(1, WidthChange::Pack, 10), 40, (3110, 40)),
        (MicroKernel::Reverse { unit: 4, extent: 6, count: by(3, 100, 50) }, 72, (224, 124)),
    ]
}

#[test]
fn a_kernel_spans_what_it_reads_and_writes() {
    for (kernel, bytes, span) in kernels() {
        assert_eq!(kernel.span(), span, "{kernel:?}");
        assert_eq!(Nest::new(kernel.clone(), Vec::new(), 0, 0).bytes, bytes, "{kernel:?}");
        assert!(kernel.is_well_formed(), "{kernel:?}");
    }
}

#[test]
fn loops_say_where_each_iteration_begins() {
    let strided = NestLoop::Strided(by(3, 10, 100));
    let reversed = NestLoop::Reversed(by(3, 10, 100));
    let table = NestLoop::Table(vec![(0, 50), (40, 0)]);
    let places = |step: &NestLoop| (0..step.extent()).map(|i| step.at(i)).collect::<Vec<_>>();
    assert_eq!(places(&strided), [(0, 0), (10, 100), (20, 200)]);
    assert_eq!(places(&reversed), [(0, 0), (10, 100_usize.wrapping_neg()), (20, 200_usize.wrapping_neg())]);
    assert_eq!(places(&table), [(0, 50), (40, 0)]);
    assert_eq!([&strided, &reversed, &table].map(NestLoop::backwards), [0, 200, 0]);
    assert_eq!([&strided, &reversed, &table].map(NestLoop::largest), [(20, 200), (20, 0), (40, 50)]);
    let kernel = MicroKernel::Copy { run: 7, count: Stride::ONCE };
    assert_eq!(kernel.span_in(&[]), (7, 7));
    assert_eq!(kernel.span_in(&[strided, reversed, table]), (20 + 20 + 40 + 7, 200 + 50 + 7));
    let nest = Nest::new(
        kernel,
        [NestLoop::Strided(by(3, 0, 0)), NestLoop::Table(vec![(0, 0); 5])].into_iter().collect(),
        0,
        0,
    );
    assert_eq!(nest.bytes, 3 * 5 * 7);
    // What does not fit saturates, and so is past the end of any buffer.
    let far = MicroKernel::Copy { run: 7, count: by(3, usize::MAX, 1) };
    assert_eq!(far.span(), (usize::MAX, 9));
    assert_eq!(Nest::new(far, [NestLoop::Strided(by(usize::MAX, 0, 0))].into_iter().collect(), 0, 0).bytes, u64::MAX);
}

#[test]
fn the_first_strided_loop_that_passes_a_test_is_found() {
    let loops = [
        NestLoop::Reversed(by(1, 0, 0)),
        NestLoop::Strided(by(2, 0, 0)),
        NestLoop::Strided(by(3, 0, 0)),
        NestLoop::Strided(by(4, 0, 0)),
    ];
    assert_eq!(position(&loops, |stride| stride.extent > 2), Some(2));
    assert_eq!(position(&loops, |stride| stride.extent > 0), Some(1));
    assert_eq!(position(&loops, |stride| stride.extent == 1), None);
    assert_eq!(position(&loops[1..], |stride| stride.extent == 2), Some(0));
}

/// What kernels rest on, whatever the span is.
#[test]
fn kernels_without_code_or_iterations_are_not_well_formed() {
    let axis = |extent| Axis::new(extent, 100);
    let reverse = |unit, extent| MicroKernel::Reverse { unit, extent, count: Stride::ONCE };
    for kernel in [
        MicroKernel::Copy { run: 0, count: Stride::ONCE },
        MicroKernel::CopyTable { run: 0, offsets: vec![(0, 0)], count: Stride::ONCE },
        plane(0, axis(2), axis(2)),
        plane(4, axis(0), axis(2)),
        plane(4, axis(2), axis(0)),
        bits(0, Direction::Interleave),
        bits(1, Direction::Interleave),
        bits(3, Direction::Deinterleave),
        bits(64, Direction::Interleave),
        MicroKernel::InterleaveBits(BitInterleave {
            bits: 3,
            rows: 2,
            row: 16,
            pitch: 100,
            direction: Direction::Interleave,
        }),
        width(0, WidthChange::Pack, 10),
        width(8, WidthChange::Pack, 10),
        width(4, WidthChange::Pack, 0),
        words(3, WidthChange::Pack, 10),
        words(8, WidthChange::Pack, 10),
        words(4, WidthChange::Pack, 0),
        reverse(0, 2),
        reverse(LONGEST_REVERSED + 1, 2),
        reverse(4, 0),
    ] {
        assert!(!kernel.is_well_formed(), "{kernel:?}");
    }
    for kernel in [
        MicroKernel::Copy { run: 1, count: Stride::ONCE },
        plane(1, axis(1), axis(1)),
        bits(32, Direction::Interleave),
        width(1, WidthChange::Pack, 1),
        reverse(1, 1),
        reverse(LONGEST_REVERSED, 1),
    ] {
        assert!(kernel.is_well_formed(), "{kernel:?}");
    }
}

/// Those are joined with the runs of neighbouring tiles.
#[test]
fn short_runs_are_of_few_rows_that_lie_pages_apart() {
    let columns = |rows: usize, columns, pitch| plane(4, Axis::new(rows, 4 * columns), Axis::new(columns, pitch));
    let deinterleaved =
        |row, pitch, direction| MicroKernel::InterleaveBits(BitInterleave { bits: 4, rows: 8, row, pitch, direction });
    let unpacked = |words, pitch, change| MicroKernel::ChangeWords(PackedWords { bits: 4, change, words, pitch });
    let (longest, rows) = (LONGEST_JOINED / 4, MOST_INTERLEAVED);
    for (kernel, short) in [
        (columns(longest, rows, PAGE), true),
        (columns(longest, 1, 3 * PAGE), true),
        (columns(longest + 1, rows, PAGE), false),
        (columns(longest, rows + 1, PAGE), false),
        (columns(longest, rows, PAGE + 64), false),
        // The source is not dense.
        (plane(4, Axis::new(longest, 100), Axis::new(8, PAGE)), false),
        (deinterleaved(LONGEST_JOINED, PAGE, Direction::Deinterleave), true),
        (deinterleaved(LONGEST_JOINED + 1, PAGE, Direction::Deinterleave), false),
        (deinterleaved(LONGEST_JOINED, PAGE / 2, Direction::Deinterleave), false),
        (deinterleaved(LONGEST_JOINED, PAGE, Direction::Interleave), false),
        (unpacked(LONGEST_JOINED, PAGE, WidthChange::Unpack { signed: false }), true),
        (unpacked(LONGEST_JOINED + 1, PAGE, WidthChange::Unpack { signed: true }), false),
        (unpacked(LONGEST_JOINED, PAGE / 2, WidthChange::Unpack { signed: true }), false),
        (unpacked(LONGEST_JOINED, PAGE, WidthChange::Pack), false),
        (MicroKernel::Copy { run: 64, count: by(8, 64, PAGE) }, false),
    ] {
        let short_runs =
            kernel.separated_rows().is_some_and(|(run, pitch)| run <= LONGEST_JOINED && pitch.is_multiple_of(PAGE));
        assert_eq!(short_runs, short, "{kernel:?}");
    }
}

/// As every kernel writes a part of its span, twice the span is far enough, and half of it not.
#[test]
fn every_kernel_says_what_it_writes() {
    for (kernel, _, (_, span)) in kernels() {
        let apart = |destination| {
            let loops = [NestLoop::Strided(by(2, 0, destination))].into_iter().collect();
            Nest::new(kernel.clone(), loops, 0, 0).writes_are_disjoint()
        };
        assert!(apart(span) && apart(2 * span), "{kernel:?}");
        assert!(!apart(0) && !apart(1), "{kernel:?}");
    }
}

/// A loop of one iteration meets nothing, wherever it would go.
#[test]
fn single_iterations_never_meet() {
    assert!(nest(4, &[(0, 1), (4, 3)]).writes_are_disjoint());
    assert!(nest(4, &[(1, 1), (4, 3), (12, 2)]).writes_are_disjoint());
    assert!(!nest(4, &[(0, 2), (4, 3)]).writes_are_disjoint());
    assert!(nest(4, &[(12, 2), (4, 3)]).writes_are_disjoint());
    assert!(!nest(4, &[(11, 2), (4, 3)]).writes_are_disjoint());
    assert!(!nest(4, &[(3, 3)]).writes_are_disjoint());
}

fn nest(run: usize, destinations: &[(usize, usize)]) -> Nest {
    let loops =
        destinations.iter().map(|&(destination, extent)| NestLoop::Strided(Stride { extent, source: 0, destination }));
    Nest::new(MicroKernel::Copy { run, count: Stride::ONCE }, loops.collect(), 0, 0)
}

#[test]
fn tables_nest_like_strides() {
    let table = |offsets: &[usize], stride| {
        let offsets = offsets.iter().map(|&to| (0, to)).collect();
        let kernel = MicroKernel::CopyTable { run: 2, offsets, count: Stride::ONCE };
        let loops = [NestLoop::Strided(Stride { extent: 3, source: 0, destination: stride })];
        Nest::new(kernel, loops.into_iter().collect(), 0, 0).writes_are_disjoint()
    };
    assert!(table(&[4, 0, 2], 6) && table(&[0, 9, 4], 11));
    assert!(!table(&[4, 0, 2], 5) && !table(&[0, 1, 4], 20) && !table(&[0, 0], 20));
    let long: Vec<usize> = (0..65).map(|i| 2 * i).collect();
    assert!(!table(&long, 1000) && table(&long[..64], 1000));
}

/// Against every byte that is written.
#[test]
fn disjoint_is_never_said_of_iterations_that_meet() {
    let (mut yes, mut filled) = (0, 0);
    for run in 1..4 {
        for first in 0..9 {
            for second in 0..9 {
                for (n, m) in [(1, 3), (2, 2), (2, 3), (3, 2), (4, 3)] {
                    let nest = nest(run, &[(first, n), (second, m)]);
                    let mut written = vec![0; 128];
                    for i in 0..n {
                        for j in 0..m {
                            written[i * first + j * second..][..run].iter_mut().for_each(|count| *count += 1);
                        }
                    }
                    let disjoint = written.iter().all(|&count| count <= 1);
                    yes += usize::from(nest.writes_are_disjoint());
                    assert!(disjoint || !nest.writes_are_disjoint(), "run {run}, {first} x {n}, {second} x {m}");
                    for length in 0..128 {
                        let all = written[..length].iter().all(|&count| count == 1)
                            && written[length..] == [0; 128][length..];
                        filled += usize::from(nest.fills(length));
                        assert!(all || !nest.fills(length), "run {run}, {first} x {n}, {second} x {m}: {length}");
                    }
                }
            }
        }
    }
    assert!(yes > 100 && filled > 10, "the test knows {yes} nests as disjoint, {filled} without gaps");
}
