//! Kernels in safe Rust. They are correct on any CPU, and the kernels over vectors are tested against them.
//!
//! The kernels write through [`Destination::write`](crate::Destination::write), which also works for memory
//! that must not be read. Only [`bit_rows`] and the kernels of packed elements read the destination, because
//! their elements share bytes with neighbours.

pub mod bit_rows;
mod interleave_bits;
pub mod width;

use self::interleave_bits::interleave_bits;
use self::width::change_width;
use crate::block_permutation::{Atom, BlockPermutation};
use crate::destination::Destination;
use crate::kernel::{Kernel, MicroTile, Plane, Stride};
use crate::level::SMALL_PROGRAM;

struct Iteration<'a> {
    /// The source, from the start of the iteration on.
    source: &'a [u8],
    /// The destination offset of the start of the iteration, in bytes.
    to: usize,
}

/// Whether common lengths are constants. In a small program for a CPU that has vectors, this code is for rare
/// kernels.
const FAST: bool = !(SMALL_PROGRAM && cfg!(target_arch = "x86_64"));

/// Runs one iteration of a kernel that begins at offset `from` of the source and offset `to` of the
/// destination.
///
/// # Panics
///
/// If the iteration is not inside a buffer. The kernels over vectors are tested against this code, so this
/// code panics where they would be wrong.
pub(crate) fn run(kernel: &Kernel, source: &[u8], destination: &mut Destination<'_>, (from, to): (usize, usize)) {
    let iteration = &Iteration { source: &source[from..], to };
    match kernel {
        Kernel::Runs { run, count, .. } => copy_runs(iteration, destination, *run, *count),
        Kernel::Table { run, offsets, count } => {
            for i in 0..count.extent {
                let (source, moved) = at(*count, i);
                for &(from, to) in offsets.iter() {
                    iteration.copy(source + from, destination, moved + to, *run);
                }
            }
        }
        Kernel::Transpose { plane, .. } => match plane.micro_tile {
            Some(tile) => transpose_micro_tiles(iteration, destination, plane, tile),
            None => transpose(iteration, destination, plane),
        },
        Kernel::InterleaveBits { rows, .. } => interleave_bits(iteration, destination, rows),
        Kernel::PermuteBlocks(permutation) => permute_blocks(iteration, destination, permutation),
        Kernel::ChangeWidth(row) => change_width(iteration, destination, row),
    }
}

/// The offsets of iteration `i` of a loop inside a kernel, source and destination. The strides are at least
/// 0.
fn at(count: Stride, i: usize) -> (usize, usize) {
    (i * count.source.unsigned_abs(), i * count.destination.unsigned_abs())
}

impl Iteration<'_> {
    #[inline(always)]
    fn copy(&self, from: usize, destination: &mut Destination<'_>, to: usize, run: usize) {
        destination.write(self.to + to, &self.source[from..from + run]);
    }
}

/// Copies runs of `run` bytes. Common lengths are constants, so that a run takes one load and one store.
fn copy_runs(iteration: &Iteration<'_>, destination: &mut Destination<'_>, run: usize, count: Stride) {
    match run {
        1 if FAST => copy_runs_of::<1>(iteration, destination, count),
        2 if FAST => copy_runs_of::<2>(iteration, destination, count),
        4 if FAST => copy_runs_of::<4>(iteration, destination, count),
        8 if FAST => copy_runs_of::<8>(iteration, destination, count),
        12 if FAST => copy_runs_of::<12>(iteration, destination, count),
        16 if FAST => copy_runs_of::<16>(iteration, destination, count),
        _ => {
            for i in 0..count.extent {
                let (from, to) = at(count, i);
                iteration.copy(from, destination, to, run);
            }
        }
    }
}

fn copy_runs_of<const RUN: usize>(iteration: &Iteration<'_>, destination: &mut Destination<'_>, count: Stride) {
    for i in 0..count.extent {
        let (from, to) = at(count, i);
        iteration.copy(from, destination, to, RUN);
    }
}

fn transpose(iteration: &Iteration<'_>, destination: &mut Destination<'_>, plane: &Plane) {
    match plane.unit {
        1 if FAST => transpose_blocks::<1>(iteration, destination, plane),
        2 if FAST => transpose_blocks::<2>(iteration, destination, plane),
        4 if FAST => transpose_blocks::<4>(iteration, destination, plane),
        8 if FAST => transpose_blocks::<8>(iteration, destination, plane),
        16 if FAST => transpose_blocks::<16>(iteration, destination, plane),
        unit => {
            let Plane { columns, rows, .. } = plane;
            for column in 0..columns.extent {
                for row in 0..rows.extent {
                    let (from, to) = (column * unit + rows.offset(row), columns.offset(column) + row * unit);
                    iteration.copy(from, destination, to, unit);
                }
            }
        }
    }
}

/// Transposes square blocks of units. Every cache line of either side is used up while it is in the cache.
fn transpose_blocks<const UNIT: usize>(iteration: &Iteration<'_>, destination: &mut Destination<'_>, plane: &Plane) {
    let Plane { columns, rows, .. } = plane;
    let side = (64 / UNIT).max(8);
    for first_column in (0..columns.extent).step_by(side) {
        for first_row in (0..rows.extent).step_by(side) {
            for column in first_column..(first_column + side).min(columns.extent) {
                for row in first_row..(first_row + side).min(rows.extent) {
                    let (from, to) = (column * UNIT + rows.offset(row), columns.offset(column) + row * UNIT);
                    iteration.copy(from, destination, to, UNIT);
                }
            }
        }
    }
}

fn transpose_micro_tiles(iteration: &Iteration<'_>, destination: &mut Destination<'_>, plane: &Plane, tile: MicroTile) {
    let Plane { unit, columns, rows, .. } = plane;
    let shuffle = tile.shuffle();
    for column in 0..columns.extent {
        for row in 0..rows.extent {
            for (i, &byte) in shuffle.iter().enumerate().take(*unit) {
                let from = column * unit + rows.offset(row) + usize::from(byte);
                iteration.copy(from, destination, columns.offset(column) + row * unit + i, 1);
            }
        }
    }
}

fn permute_blocks(iteration: &Iteration<'_>, destination: &mut Destination<'_>, permutation: &BlockPermutation) {
    let (atoms, block) = (permutation.sources(), permutation.block());
    for number in 0..permutation.blocks() {
        let from = &iteration.source[permutation.source_of(number..number + 1)..];
        let to = iteration.to + number * block;
        match permutation.atom() {
            Atom::Byte => {
                for (i, &atom) in atoms.iter().enumerate() {
                    destination.write(to + i, &[from[index(atom)]]);
                }
            }
            Atom::Nibble => {
                let nibble = |atom: u32| (from[index(atom / 2)] >> (4 * (atom % 2))) & 0x0f;
                for (i, pair) in atoms.as_chunks::<2>().0.iter().enumerate() {
                    destination.write(to + i, &[nibble(pair[0]) | nibble(pair[1]) << 4]);
                }
            }
        }
    }
}

fn index(offset: u32) -> usize {
    usize::try_from(offset).unwrap_or_else(|_| unreachable!("an offset inside a block"))
}
