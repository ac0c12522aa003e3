#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a test may panic")]

use super::*;

const fn by(extent: usize, source: isize, destination: isize) -> Stride {
    Stride { extent, source, destination }
}

fn runs(run: usize, count: Stride) -> Kernel {
    Kernel::Runs { run, count, by: Runs::Lines { ahead: 0 } }
}

fn plane(unit: usize, rows: Axis, columns: Axis) -> Kernel {
    Kernel::Transpose {
        plane: Plane { unit, columns, rows, micro_tile: None },
        by: Transpose::Panel { scattered: false },
    }
}

/// Rows of 16 bytes, 100 bytes apart.
fn bits(rows: usize, direction: Direction) -> Kernel {
    Kernel::InterleaveBits { rows: BitInterleave { bits: 4, rows, row: 16, pitch: 100, direction }, by: Rows::Direct }
}

fn width(bits: usize, change: WidthChange, packed: usize) -> Kernel {
    Kernel::ChangeWidth(WidthRow { bits, change, packed })
}

fn words(bits: usize, change: WidthChange, words: usize) -> Kernel {
    Kernel::ChangeWords { words: PackedWords { bits, change, words, pitch: 100 }, by: Rows::Direct }
}

fn reverse(unit: usize, extent: usize, count: Stride) -> Kernel {
    Kernel::Reverse { unit, extent, count, by: Reverse::Runs }
}

/// Each kernel, with the number of bytes that one iteration writes, and the bytes that it spans on either
/// side.
fn kernels() -> Vec<(Kernel, u64, (usize, usize))> {
    let unpack = WidthChange::Unpack { signed: true };
    vec![
        (runs(10, Stride::ONCE), 10, (10, 10)),
        (runs(10, by(3, 100, 20)), 30, (210, 50)),
        (runs(10, by(3, 0, 20)), 30, (10, 50)),
        (
            Kernel::Table { run: 10, offsets: Offsets(vec![(0, 40), (70, 0), (30, 20)]), count: by(2, 100, 200) },
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
        (reverse(4, 6, by(3, 100, 50)), 72, (224, 124)),
    ]
}

const SAFE: Context<'static> = Context { loops: &[], streaming: false, register: None };

#[test]
fn a_kernel_spans_what_it_reads_and_writes() {
    for (kernel, bytes, (source, destination)) in kernels() {
        assert_eq!(kernel.span(), (Some(source), Some(destination)), "{kernel:?}");
        assert_eq!(kernel.bytes(), Some(bytes), "{kernel:?}");
        assert_eq!(kernel.fit(SAFE), Ok(()), "{kernel:?}");
    }
    // A number that overflows is `None`.
    assert_eq!(runs(7, by(3, isize::MAX, 1)).span(), (None, Some(9)));
    assert_eq!(runs(7, by(usize::MAX, 0, 0)).bytes(), None);
}

#[test]
fn a_copy_reaches_as_far_as_its_last_iteration() {
    let (up, down, table) =
        (Loop::Strided(by(3, 10, 100)), Loop::Strided(by(3, 10, -100)), Loop::Table(Offsets(vec![(0, 50), (40, 0)])));
    let offsets = |step: &Loop| (0..step.extent()).map(|i| step.at(i)).collect::<Vec<_>>();
    assert_eq!(offsets(&up), [(0, 0), (10, 100), (20, 200)]);
    assert_eq!(offsets(&down), [(0, 0), (10, 100_usize.wrapping_neg()), (20, 200_usize.wrapping_neg())]);
    assert_eq!(offsets(&table), [(0, 50), (40, 0)]);
    let kernel = runs(7, Stride::ONCE);
    let reach = |loops: &[Loop], start| Reach::new(&kernel, loops, start).map(Reach::ends);
    assert_eq!(reach(&[], (0, 0)), Ok((7, 7)));
    let loops = [up, down, table];
    assert_eq!(reach(&loops, (1, 200)), Ok((1 + 20 + 20 + 40 + 7, 200 + 200 + 50 + 7)));
    assert_eq!(reach(&loops, (1, 199)), Err(Misfit::Reach));
}

/// A wrong form, such as an empty run, does not show in the span of a kernel. It is checked on its own.
#[test]
fn kernels_without_code_or_iterations_are_not_well_formed() {
    let axis = |extent| Axis::new(extent, 100);
    let three = BitInterleave { bits: 3, rows: 2, row: 16, pitch: 100, direction: Direction::Interleave };
    for kernel in [
        runs(0, Stride::ONCE),
        runs(4, by(2, -8, 8)),
        runs(4, by(2, 8, -8)),
        Kernel::Table { run: 0, offsets: Offsets(vec![(0, 0)]), count: Stride::ONCE },
        plane(0, axis(2), axis(2)),
        plane(LONGEST_UNIT + 1, axis(2), axis(2)),
        plane(4, axis(0), axis(2)),
        plane(4, axis(2), axis(0)),
        bits(0, Direction::Interleave),
        bits(1, Direction::Interleave),
        bits(3, Direction::Deinterleave),
        bits(64, Direction::Interleave),
        Kernel::InterleaveBits { rows: three, by: Rows::Direct },
        width(0, WidthChange::Pack, 10),
        width(8, WidthChange::Pack, 10),
        width(4, WidthChange::Pack, 0),
        words(3, WidthChange::Pack, 10),
        words(8, WidthChange::Pack, 10),
        words(4, WidthChange::Pack, 0),
        reverse(0, 2, Stride::ONCE),
        reverse(LONGEST_REVERSED + 1, 2, Stride::ONCE),
        reverse(4, 0, Stride::ONCE),
    ] {
        assert_eq!(kernel.fit(SAFE), Err(Misfit::Form), "{kernel:?}");
    }
}

/// Every kernel writes a part of its span. So iterations that are twice the span apart are disjoint, and
/// iterations that are half the span apart are too near.
#[test]
fn every_kernel_says_what_it_writes() {
    for (kernel, _, (_, span)) in kernels() {
        let apart = |destination: usize| {
            let destination = destination.cast_signed();
            [destination, -destination]
                .map(|destination| writes_are_disjoint(&kernel, &[Loop::Strided(by(2, 0, destination))]))
        };
        assert!(apart(span) == [true; 2] && apart(2 * span) == [true; 2], "{kernel:?}");
        assert!(apart(0) == [false; 2] && apart(1) == [false; 2], "{kernel:?}");
    }
}

fn are_disjoint(run: usize, destinations: &[(isize, usize)]) -> bool {
    let loops = destinations.iter().map(|&(destination, extent)| Loop::Strided(by(extent, 0, destination)));
    writes_are_disjoint(&runs(run, Stride::ONCE), &loops.collect::<Vec<_>>())
}

/// A loop of one iteration has no second iteration to meet, so its stride has no effect.
#[test]
fn single_iterations_never_meet() {
    assert!(are_disjoint(4, &[(0, 1), (4, 3)]) && are_disjoint(4, &[(1, 1), (4, 3), (12, 2)]));
    assert!(!are_disjoint(4, &[(0, 2), (4, 3)]) && are_disjoint(4, &[(12, 2), (4, 3)]));
    assert!(!are_disjoint(4, &[(11, 2), (4, 3)]) && !are_disjoint(4, &[(3, 3)]));
}

#[test]
fn tables_nest_like_strides() {
    let table = |offsets: &[usize], stride| {
        let offsets = Offsets(offsets.iter().map(|&to| (0, to)).collect());
        let kernel = Kernel::Table { run: 2, offsets, count: Stride::ONCE };
        writes_are_disjoint(&kernel, &[Loop::Strided(by(3, 0, stride))])
    };
    assert!(table(&[4, 0, 2], 6) && table(&[0, 9, 4], 11));
    assert!(!table(&[4, 0, 2], 5) && !table(&[0, 1, 4], 20) && !table(&[0, 0], 20));
    let long: Vec<usize> = (0..65).map(|i| 2 * i).collect();
    assert!(!table(&long, 1000) && table(&long[..64], 1000));
}

/// The result is compared with a set of all bytes that are written.
#[test]
fn disjoint_is_never_said_of_iterations_that_meet() {
    let mut yes = 0;
    for run in 1..4 {
        for first in 0..9 {
            for second in 0..9 {
                for (n, m) in [(1, 3), (2, 2), (2, 3), (3, 2), (4, 3)] {
                    let mut written = [0; 128];
                    for i in 0..n {
                        for j in 0..m {
                            written[i * first + j * second..][..run].iter_mut().for_each(|count| *count += 1);
                        }
                    }
                    let disjoint = written.iter().all(|&count| count <= 1);
                    let said = are_disjoint(run, &[(first.cast_signed(), n), (second.cast_signed(), m)]);
                    yes += usize::from(said);
                    assert!(disjoint || !said, "run {run}, {first} x {n}, {second} x {m}");
                }
            }
        }
    }
    assert!(yes > 100, "the test knows {yes} nests as disjoint");
}
