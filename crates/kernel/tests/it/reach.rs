//! How far copies reach, in which order their iterations come, and which kernels have no form.

use strided_copy::kernel::{
    Axis, BitInterleave, Direction, Kernel, LONGEST_UNIT, Loop, Offsets, Plane, Rows, Runs, Stride, Transpose,
    WidthChange, WidthRow,
};
use strided_copy::{Access, Available, Copy, Destination, Level, Misfit, SMALL_PROGRAM};

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
fn bits(bits: usize, direction: Direction) -> Kernel {
    Kernel::InterleaveBits { rows: BitInterleave { bits, row: 16, pitch: 100, direction }, by: Rows::Direct }
}

fn width(bits: usize, change: WidthChange, packed: usize) -> Kernel {
    Kernel::ChangeWidth(WidthRow { bits, change, packed })
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
        (bits(4, Direction::Interleave), 128, (716, 128)),
        (bits(2, Direction::Deinterleave), 256, (256, 1516)),
        (bits(1, Direction::Pack), 64, (3116, 64)),
        (width(4, unpack, 10), 20, (10, 20)),
        (width(2, unpack, 10), 40, (10, 40)),
        (width(1, WidthChange::Pack, 10), 10, (80, 10)),
    ]
}

fn portable(kernel: &Kernel, loops: &[Loop], start: (usize, usize)) -> Result<Copy, Misfit> {
    Copy::new(kernel.clone(), loops.to_vec(), start, Access::PLAIN, Available::up_to(Level::Portable))
}

#[test]
fn a_kernel_spans_what_it_reads_and_writes() {
    for (kernel, bytes, span) in kernels() {
        let copy = portable(&kernel, &[], (0, 0));
        if SMALL_PROGRAM && matches!(kernel, Kernel::InterleaveBits { .. }) {
            assert_eq!(copy.unwrap_err(), Misfit::Form);
            continue;
        }
        let copy = copy.unwrap();
        assert_eq!((copy.reach(), copy.bytes()), (span, bytes), "{kernel:?}");
    }
    // With addresses of 32 bits, the bytes of 2^32 runs fit 64 bits.
    let many = if usize::BITS < 64 { by(usize::MAX, 1, 0) } else { by(usize::MAX, 0, 0) };
    for overflowing in [by(3, isize::MAX, 1), many] {
        assert_eq!(portable(&runs(7, overflowing), &[], (0, 0)).unwrap_err(), Misfit::Reach);
    }
}

#[test]
fn a_copy_reaches_as_far_as_its_last_iteration() {
    let (up, down, table) =
        (Loop::Strided(by(3, 10, 100)), Loop::Strided(by(3, 10, -100)), Loop::Table(Offsets(vec![(0, 50), (40, 0)])));
    let kernel = runs(7, Stride::ONCE);
    let reach = |loops: &[Loop], start| portable(&kernel, loops, start).map(|copy| copy.reach());
    assert_eq!(reach(&[], (0, 0)), Ok((7, 7)));
    let loops = [up, down, table];
    assert_eq!(reach(&loops, (1, 200)), Ok((1 + 20 + 20 + 40 + 7, 200 + 200 + 50 + 7)));
    assert_eq!(reach(&loops, (1, 199)), Err(Misfit::Reach));
}

/// A wrong form, such as an empty run, does not show in the span of a kernel. It is checked on its own.
#[test]
fn kernels_without_code_or_iterations_are_not_well_formed() {
    let axis = |extent| Axis::new(extent, 100);
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
        bits(8, Direction::Interleave),
        bits(3, Direction::Deinterleave),
        bits(64, Direction::Interleave),
        width(0, WidthChange::Pack, 10),
        width(8, WidthChange::Pack, 10),
        width(4, WidthChange::Pack, 0),
    ] {
        assert_eq!(portable(&kernel, &[], (0, 0)).unwrap_err(), Misfit::Form, "{kernel:?}");
    }
}

/// Three loops, one of them a table: a byte is copied in each iteration, and nothing else is touched.
#[test]
fn iterations_are_those_of_nested_loops() {
    let strided = |extent, source, destination| Loop::Strided(by(extent, source, destination));
    let table = Loop::Table(Offsets(vec![(7, 70), (0, 20), (9, 0)]));
    let source: Vec<u8> = (0..=255).collect();
    for level in Level::ALL.into_iter().filter(|level| level.is_available()).map(Available::up_to) {
        // The innermost loop goes backwards on both sides.
        let loops = vec![strided(2, 100, 1000), table.clone(), strided(2, -1, -2)];
        let copy = Copy::new(runs(1, Stride::ONCE), loops, (5, 3), Access::PLAIN, level).unwrap();
        let (mut found, mut expected) = (vec![0xa5; 1200], vec![0xa5; 1200]);
        for a in 0..2 {
            for (from, to) in [(7, 70), (0, 20), (9, 0)] {
                for c in 0..2 {
                    expected[3 + 1000 * a + to - 2 * c] = source[5 + 100 * a + from - c];
                }
            }
        }
        copy.run(&source, Destination::from(&mut found[..]));
        assert_eq!(found, expected);
    }
}
