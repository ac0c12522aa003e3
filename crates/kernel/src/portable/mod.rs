//! Kernels in safe Rust, which run on any CPU. The kernels over vectors are tested against these kernels.
//!
//! The kernels write through [`Destination::write`](crate::Destination::write), which also works if the
//! destination must not be read. Only [`bit_rows`] and the kernels of packed elements read the destination,
//! because their elements share bytes with neighbours.

pub mod bit_rows;
mod interleave_bits;
pub mod width;

use self::interleave_bits::interleave_bits;
use self::width::change_width;
use crate::block_permutation::{Atom, BlockPermutation};
use crate::channels::Channels;
use crate::destination::Destination;
use crate::kernel::{Kernel, MicroTile, Plane, Stride};
use crate::level::SMALL_PROGRAM;

/// Whether common lengths of runs and units have code of their own, with constant lengths. A small program
/// for x86-64 leaves this code out, because it runs only rare kernels in safe Rust if the CPU has vectors.
const FAST: bool = !(SMALL_PROGRAM && cfg!(target_arch = "x86_64"));

/// Runs one iteration of a kernel. The iteration begins at the start of `source` and of `destination`.
///
/// # Panics
///
/// If the iteration is not inside a buffer. This code checks every access, because tests compare the kernels
/// over vectors with it.
pub(crate) fn run(kernel: &Kernel, source: &[u8], destination: &mut Destination<'_>) {
    match kernel {
        Kernel::Runs { run, count, .. } => copy_runs(source, destination, *run, *count),
        Kernel::Table { run, offsets, count } => {
            for i in 0..count.extent {
                let (read, written) = at(*count, i);
                for &(from, to) in offsets.iter() {
                    destination.write(written + to, &source[read + from..][..*run]);
                }
            }
        }
        Kernel::Transpose { plane, .. } => match plane.micro_tile {
            Some(tile) => transpose_micro_tiles(source, destination, plane, tile),
            None => transpose(source, destination, plane),
        },
        Kernel::InterleaveBits { .. } if SMALL_PROGRAM => unreachable!("`Kernel::fit` has no code for it"),
        Kernel::InterleaveBits { rows, .. } => interleave_bits(source, destination, rows),
        Kernel::PermuteBlocks(permutation) => permute_blocks(source, destination, permutation),
        Kernel::Channels(channels) => copy_channels(source, destination, channels),
        Kernel::ChangeWidth(row) => change_width(source, destination, row),
    }
}

/// The offsets of iteration `i` of a loop inside a kernel, source and destination. The strides are at least
/// 0.
fn at(count: Stride, i: usize) -> (usize, usize) {
    (i * count.source.unsigned_abs(), i * count.destination.unsigned_abs())
}

/// Copies runs of `run` bytes. Common lengths are constants, so that such a run takes one load and one store.
fn copy_runs(source: &[u8], destination: &mut Destination<'_>, run: usize, count: Stride) {
    match run {
        1 if FAST => copy_runs_of::<1>(source, destination, count),
        2 if FAST => copy_runs_of::<2>(source, destination, count),
        4 if FAST => copy_runs_of::<4>(source, destination, count),
        8 if FAST => copy_runs_of::<8>(source, destination, count),
        12 if FAST => copy_runs_of::<12>(source, destination, count),
        16 if FAST => copy_runs_of::<16>(source, destination, count),
        _ => {
            for i in 0..count.extent {
                let (from, to) = at(count, i);
                destination.write(to, &source[from..from + run]);
            }
        }
    }
}

fn copy_runs_of<const RUN: usize>(source: &[u8], destination: &mut Destination<'_>, count: Stride) {
    for i in 0..count.extent {
        let (from, to) = at(count, i);
        destination.write(to, &source[from..from + RUN]);
    }
}

fn transpose(source: &[u8], destination: &mut Destination<'_>, plane: &Plane) {
    match plane.unit {
        1 if FAST => transpose_blocks::<1>(source, destination, plane),
        2 if FAST => transpose_blocks::<2>(source, destination, plane),
        4 if FAST => transpose_blocks::<4>(source, destination, plane),
        8 if FAST => transpose_blocks::<8>(source, destination, plane),
        16 if FAST => transpose_blocks::<16>(source, destination, plane),
        unit => {
            let Plane { columns, rows, .. } = plane;
            for column in 0..columns.extent {
                for row in 0..rows.extent {
                    let (from, to) = (column * unit + rows.offset(row), columns.offset(column) + row * unit);
                    destination.write(to, &source[from..from + unit]);
                }
            }
        }
    }
}

/// Transposes square parts of a plane, so that each cache line is used up while it is in the cache.
fn transpose_blocks<const UNIT: usize>(source: &[u8], destination: &mut Destination<'_>, plane: &Plane) {
    let Plane { columns, rows, .. } = plane;
    let side = (64 / UNIT).max(8);
    for first_column in (0..columns.extent).step_by(side) {
        for first_row in (0..rows.extent).step_by(side) {
            let few = first_row..(first_row + side).min(rows.extent);
            // The row offsets are listed first. Otherwise the compiler would make an inner loop for every
            // kind of axis.
            let mut offsets = [0; 64];
            few.clone().zip(&mut offsets).for_each(|(row, offset)| *offset = rows.offset(row));
            for column in first_column..(first_column + side).min(columns.extent) {
                let (from, to) = (column * UNIT, columns.offset(column));
                for (row, offset) in few.clone().zip(offsets) {
                    let from = from + offset;
                    destination.write(to + row * UNIT, &source[from..from + UNIT]);
                }
            }
        }
    }
}

fn transpose_micro_tiles(source: &[u8], destination: &mut Destination<'_>, plane: &Plane, tile: MicroTile) {
    let Plane { unit, columns, rows, .. } = plane;
    let shuffle = tile.shuffle();
    for column in 0..columns.extent {
        for row in 0..rows.extent {
            for (i, &byte) in shuffle.iter().enumerate().take(*unit) {
                let from = column * unit + rows.offset(row) + usize::from(byte);
                destination.write(columns.offset(column) + row * unit + i, &source[from..from + 1]);
            }
        }
    }
}

fn permute_blocks(source: &[u8], destination: &mut Destination<'_>, permutation: &BlockPermutation) {
    let (atoms, block) = (permutation.sources(), permutation.block());
    for number in 0..permutation.blocks() {
        let from = &source[permutation.source_of(number..number + 1)..];
        let to = number * block;
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

fn copy_channels(source: &[u8], destination: &mut Destination<'_>, channels: &Channels) {
    let (steps, unit) = (channels.steps(), channels.unit());
    for group in 0..channels.groups() {
        for &(from, to) in channels.channels().iter() {
            let (from, to) = (group * steps.0 + from, group * steps.1 + to);
            destination.write(to, &source[from..from + unit]);
        }
    }
}

fn index(offset: u32) -> usize {
    usize::try_from(offset).unwrap_or_else(|_| unreachable!("an offset inside a block"))
}
