//! Copies and transposes of whole bytes.

use super::Places;
use super::block_permutation::permute_blocks;
use super::interleave_bits::interleave_bits;
use super::width::{change_width, change_words};
use crate::destination::Destination;
use crate::kernel::{Kernel, MicroTile, Plane, Stride};

/// Runs one iteration of a kernel, which begins at these bytes of the source and of the destination.
///
/// # Panics
///
/// If the iteration leaves a buffer: this is the code that the kernels over vectors are tested against, and
/// it fails where they would be wrong.
pub(crate) fn run(kernel: &Kernel, source: &[u8], destination: &mut Destination<'_>, (from, to): (usize, usize)) {
    let places = &Places { source: &source[from..], to };
    match kernel {
        Kernel::Runs { run, count, .. } => copy_runs(places, destination, *run, *count),
        Kernel::Table { run, offsets, count } => {
            for i in 0..count.extent {
                let (source, moved) = at(*count, i);
                for &(from, to) in offsets {
                    places.copy(source + from, destination, moved + to, *run);
                }
            }
        }
        Kernel::Transpose { plane, .. } => match plane.micro_tile {
            Some(tile) => transpose_micro_tiles(places, destination, plane, tile),
            None => transpose(places, destination, plane),
        },
        Kernel::InterleaveBits { rows, .. } => interleave_bits(places, destination, rows),
        Kernel::Reverse { unit, extent, count, .. } => {
            for i in 0..count.extent {
                let (from, to) = at(*count, i);
                for place in 0..*extent {
                    places.copy(from + (extent - 1 - place) * unit, destination, to + place * unit, *unit);
                }
            }
        }
        Kernel::PermuteBlocks(permutation) => permute_blocks(places, destination, permutation),
        Kernel::ChangeWidth(row) => change_width(places, destination, row),
        Kernel::ChangeWords { words, .. } => change_words(places, destination, words),
    }
}

/// Where iteration `i` of a loop inside a kernel begins, source and destination: its strides are at least 0.
fn at(count: Stride, i: usize) -> (usize, usize) {
    (i * count.source.unsigned_abs(), i * count.destination.unsigned_abs())
}

impl Places<'_> {
    /// Copies one run.
    #[inline(always)]
    fn copy(&self, from: usize, destination: &mut Destination<'_>, to: usize, run: usize) {
        destination.write(self.to + to, &self.source[from..from + run]);
    }
}

/// Copies runs of `run` bytes, of a constant length where that is a common one.
fn copy_runs(places: &Places<'_>, destination: &mut Destination<'_>, run: usize, count: Stride) {
    match run {
        1 => copy_runs_of::<1>(places, destination, count),
        2 => copy_runs_of::<2>(places, destination, count),
        4 => copy_runs_of::<4>(places, destination, count),
        8 => copy_runs_of::<8>(places, destination, count),
        12 => copy_runs_of::<12>(places, destination, count),
        16 => copy_runs_of::<16>(places, destination, count),
        _ => {
            for i in 0..count.extent {
                let (from, to) = at(count, i);
                places.copy(from, destination, to, run);
            }
        }
    }
}

fn copy_runs_of<const RUN: usize>(places: &Places<'_>, destination: &mut Destination<'_>, count: Stride) {
    for i in 0..count.extent {
        let (from, to) = at(count, i);
        places.copy(from, destination, to, RUN);
    }
}

/// Transposes a plane.
fn transpose(places: &Places<'_>, destination: &mut Destination<'_>, plane: &Plane) {
    match plane.unit {
        1 => transpose_blocks::<1>(places, destination, plane),
        2 => transpose_blocks::<2>(places, destination, plane),
        4 => transpose_blocks::<4>(places, destination, plane),
        8 => transpose_blocks::<8>(places, destination, plane),
        16 => transpose_blocks::<16>(places, destination, plane),
        unit => {
            let Plane { columns, rows, .. } = plane;
            for column in 0..columns.extent {
                for row in 0..rows.extent {
                    let (from, to) = (column * unit + rows.offset(row), columns.offset(column) + row * unit);
                    places.copy(from, destination, to, unit);
                }
            }
        }
    }
}

/// Transposes square blocks of units: a cache line of the source and of the destination is used up while it
/// is in the cache.
fn transpose_blocks<const UNIT: usize>(places: &Places<'_>, destination: &mut Destination<'_>, plane: &Plane) {
    let Plane { columns, rows, .. } = plane;
    let side = (64 / UNIT).max(8);
    for first_column in (0..columns.extent).step_by(side) {
        for first_row in (0..rows.extent).step_by(side) {
            for column in first_column..(first_column + side).min(columns.extent) {
                for row in first_row..(first_row + side).min(rows.extent) {
                    let (from, to) = (column * UNIT + rows.offset(row), columns.offset(column) + row * UNIT);
                    places.copy(from, destination, to, UNIT);
                }
            }
        }
    }
}

/// Transposes a plane whose units are transposed themselves, byte by byte.
fn transpose_micro_tiles(places: &Places<'_>, destination: &mut Destination<'_>, plane: &Plane, tile: MicroTile) {
    let Plane { unit, columns, rows, .. } = plane;
    let shuffle = tile.shuffle();
    for column in 0..columns.extent {
        for row in 0..rows.extent {
            for (i, &byte) in shuffle.iter().enumerate().take(*unit) {
                let from = column * unit + rows.offset(row) + usize::from(byte);
                places.copy(from, destination, columns.offset(column) + row * unit + i, 1);
            }
        }
    }
}
