//! What is read front to back, and what is not.

use super::super::super::cpu_family::CpuFamily;
use strided_copy::nest::{
    Axis, BitInterleave, Direction, MicroKernel, NestLoop, PackedWords, Plane, Stride, WidthChange, WidthRow,
};

use super::*;

fn by(extent: usize, source: usize) -> Stride {
    Stride { extent, source, destination: 7 }
}

fn plane(columns: usize, rows: usize, pitch: usize) -> MicroKernel {
    let (columns, rows) = (Axis::new(columns, 4096), Axis::new(rows, pitch));
    MicroKernel::Transpose(Plane { unit: 4, columns, rows, micro_tile: None })
}

fn bits(direction: Direction) -> MicroKernel {
    MicroKernel::InterleaveBits(BitInterleave { bits: 4, rows: 8, row: 32, pitch: 100, direction })
}

fn words(change: WidthChange) -> MicroKernel {
    MicroKernel::ChangeWords(PackedWords { bits: 4, change, words: 10, pitch: 300 })
}

#[test]
fn a_kernel_reads_in_sequence_what_lies_behind_each_other() {
    let unpack = WidthChange::Unpack { signed: true };
    for (kernel, bytes) in [
        (MicroKernel::Copy { run: 100, count: by(1, 0) }, 100),
        (MicroKernel::Copy { run: 100, count: by(1, 1 << 20) }, 100),
        (MicroKernel::Copy { run: 100, count: by(3, 100) }, 300),
        // A gap of less than a line, and of a line; runs that are repeated.
        (MicroKernel::Copy { run: 100, count: by(3, 163) }, 489),
        (MicroKernel::Copy { run: 100, count: by(3, 164) }, 0),
        (MicroKernel::Copy { run: 100, count: by(3, 99) }, 0),
        (MicroKernel::Copy { run: 100, count: by(3, 0) }, 0),
        (MicroKernel::CopyTable { run: 100, offsets: vec![(0, 0), (100, 100)], count: by(1, 0) }, 0),
        (MicroKernel::Reverse { unit: 4, extent: 10, count: by(5, 40) }, 200),
        (MicroKernel::Reverse { unit: 4, extent: 10, count: by(5, 104) }, 0),
        (plane(16, 9, 64), 576),
        (plane(16, 9, 70), 630),
        (plane(16, 9, 128), 0),
        // Its rows are read in panels.
        (plane(17, 9, 68), 0),
        (bits(Direction::Deinterleave), 256),
        (bits(Direction::Interleave), 0),
        (words(unpack), 40),
        (words(WidthChange::Pack), 0),
        (MicroKernel::ChangeWidth(WidthRow { bits: 4, change: unpack, packed: 50 }), 50),
        (MicroKernel::ChangeWidth(WidthRow { bits: 4, change: WidthChange::Pack, packed: 50 }), 100),
    ] {
        assert_eq!(sequence_in(&kernel, &[]), bytes, "{kernel:?}");
    }
}

#[test]
fn loops_continue_a_sequence_from_the_innermost_on() {
    let kernel = MicroKernel::Copy { run: 100, count: by(3, 100) };
    let (outer, middle, inner) =
        (NestLoop::Strided(by(5, 3000)), NestLoop::Reversed(by(2, 1500)), NestLoop::Strided(by(4, 320)));
    let table = NestLoop::Table(vec![(0, 0), (300, 1)]);
    for (loops, bytes) in [
        (vec![inner.clone()], 1280),
        (vec![middle.clone(), inner.clone()], 1280),
        (vec![outer.clone(), NestLoop::Reversed(by(2, 1300)), inner.clone()], 2600),
        (vec![inner.clone(), table], 300),
        (vec![inner, outer], 300),
        (vec![NestLoop::Strided(by(usize::MAX, 300))], usize::MAX),
    ] {
        assert_eq!(sequence_in(&kernel, &loops), bytes, "{loops:?}");
    }
    assert_eq!(sequence_in(&plane(17, 9, 68), &[NestLoop::Strided(by(9, 612))]), 0);
}

#[test]
fn a_sequence_is_followed_where_the_hardware_does() {
    let copy = |run| MicroKernel::Copy { run, count: Stride::ONCE };
    let (z3, z5) = (CpuFamily::Zen3, CpuFamily::Zen5);
    for (run, family, followed) in [(FOLLOWED, z3, true), (FOLLOWED, z5, false), (FOLLOWED - 1, z3, false)] {
        assert_eq!(is_followed(&copy(run), &[], &Knobs::of_family(family)), followed, "{run} {family}");
    }
}
