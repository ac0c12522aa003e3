//! Copies and transposes of whole bytes.

use std::mem::MaybeUninit;

use super::super::destination::written;
use super::interleave_bits::interleave_bits;
use super::width::{change_width, change_words};
use crate::nest::{MicroKernel, MicroTile, Plane, Stride};

/// Runs one iteration of a kernel, whose span both slices hold.
pub(crate) fn run(kernel: &MicroKernel, source: &[u8], destination: &mut [MaybeUninit<u8>]) {
    match kernel {
        MicroKernel::Copy { run, count } => copy_runs(source, destination, *run, *count),
        MicroKernel::CopyTable { run, offsets, count } => {
            for i in 0..count.extent {
                for &(from, to) in offsets {
                    copy(source, from + i * count.source, destination, to + i * count.destination, *run);
                }
            }
        }
        MicroKernel::Transpose(plane) => match plane.micro_tile {
            Some(tile) => transpose_micro_tiles(source, destination, plane, tile),
            None => transpose(source, destination, plane),
        },
        MicroKernel::InterleaveBits(rows) => interleave_bits(source, destination, rows),
        MicroKernel::Reverse { unit, extent, count } => reverse(source, destination, (*unit, *extent), *count),
        MicroKernel::ChangeWidth(row) => change_width(source, destination, row),
        MicroKernel::ChangeWords(words) => change_words(source, destination, words),
    }
}

/// Copies runs of `run` bytes, of a constant length where that is a common one.
fn copy_runs(source: &[u8], destination: &mut [MaybeUninit<u8>], run: usize, count: Stride) {
    match run {
        1 => copy_runs_of::<1>(source, destination, count),
        2 => copy_runs_of::<2>(source, destination, count),
        4 => copy_runs_of::<4>(source, destination, count),
        8 => copy_runs_of::<8>(source, destination, count),
        12 => copy_runs_of::<12>(source, destination, count),
        16 => copy_runs_of::<16>(source, destination, count),
        _ => {
            for i in 0..count.extent {
                copy(source, i * count.source, destination, i * count.destination, run);
            }
        }
    }
}

fn copy_runs_of<const RUN: usize>(source: &[u8], destination: &mut [MaybeUninit<u8>], count: Stride) {
    for i in 0..count.extent {
        copy(source, i * count.source, destination, i * count.destination, RUN);
    }
}

/// Reverses runs of `extent` units of `unit` bytes.
fn reverse(source: &[u8], destination: &mut [MaybeUninit<u8>], (unit, extent): (usize, usize), count: Stride) {
    match unit {
        1 => reverse_units::<1>(source, destination, extent, count),
        2 => reverse_units::<2>(source, destination, extent, count),
        3 => reverse_units::<3>(source, destination, extent, count),
        4 => reverse_units::<4>(source, destination, extent, count),
        8 => reverse_units::<8>(source, destination, extent, count),
        16 => reverse_units::<16>(source, destination, extent, count),
        _ => {
            for i in 0..count.extent {
                for place in 0..extent {
                    let from = i * count.source + (extent - 1 - place) * unit;
                    copy(source, from, destination, i * count.destination + place * unit, unit);
                }
            }
        }
    }
}

fn reverse_units<const UNIT: usize>(source: &[u8], destination: &mut [MaybeUninit<u8>], extent: usize, count: Stride) {
    for i in 0..count.extent {
        let (from, _) = source[i * count.source..][..extent * UNIT].as_chunks::<UNIT>();
        let (to, _) = destination[i * count.destination..][..extent * UNIT].as_chunks_mut::<UNIT>();
        to.iter_mut().zip(from.iter().rev()).for_each(|(to, from)| *to = from.map(MaybeUninit::new));
    }
}

/// Copies one run. Outside the buffers it does nothing; that does not happen.
#[inline(always)]
fn copy(source: &[u8], from: usize, destination: &mut [MaybeUninit<u8>], to: usize, run: usize) {
    if let (Some(source), Some(destination)) = (source.get(from..from + run), destination.get_mut(to..to + run)) {
        destination.copy_from_slice(written(source));
    }
}

/// Transposes a plane.
fn transpose(source: &[u8], destination: &mut [MaybeUninit<u8>], plane: &Plane) {
    match plane.unit {
        1 => transpose_blocks::<1>(source, destination, plane),
        2 => transpose_blocks::<2>(source, destination, plane),
        4 => transpose_blocks::<4>(source, destination, plane),
        8 => transpose_blocks::<8>(source, destination, plane),
        16 => transpose_blocks::<16>(source, destination, plane),
        unit => {
            let Plane { columns, rows, .. } = plane;
            for column in 0..columns.extent {
                for row in 0..rows.extent {
                    let (from, to) = (column * unit + rows.offset(row), columns.offset(column) + row * unit);
                    copy(source, from, destination, to, unit);
                }
            }
        }
    }
}

/// Square blocks of units: a cache line of the source and of the destination is used up while it is in the
/// cache.
fn transpose_blocks<const UNIT: usize>(source: &[u8], destination: &mut [MaybeUninit<u8>], plane: &Plane) {
    let Plane { columns, rows, .. } = plane;
    let side = (64 / UNIT).max(8);
    for first_column in (0..columns.extent).step_by(side) {
        for first_row in (0..rows.extent).step_by(side) {
            for column in first_column..(first_column + side).min(columns.extent) {
                for row in first_row..(first_row + side).min(rows.extent) {
                    let (from, to) = (column * UNIT + rows.offset(row), columns.offset(column) + row * UNIT);
                    copy(source, from, destination, to, UNIT);
                }
            }
        }
    }
}

/// A plane whose units are transposed themselves, byte by byte.
fn transpose_micro_tiles(source: &[u8], destination: &mut [MaybeUninit<u8>], plane: &Plane, tile: MicroTile) {
    let Plane { unit, columns, rows, .. } = plane;
    let shuffle = tile.shuffle();
    for column in 0..columns.extent {
        for row in 0..rows.extent {
            for (i, &byte) in shuffle.iter().enumerate().take(*unit) {
                let from = column * unit + rows.offset(row) + usize::from(byte);
                copy(source, from, destination, columns.offset(column) + row * unit + i, 1);
            }
        }
    }
}
