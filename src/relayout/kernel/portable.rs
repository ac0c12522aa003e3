//! Safe Rust kernels: right anywhere, and the twins that the others are tested against.

use super::super::schedule::{Kernel, Plane, Stride};
use super::portable_bits;

/// Runs a kernel.
pub(super) fn run(kernel: &Kernel, source: &[u8], destination: &mut [u8]) {
    match kernel {
        Kernel::Rows { chunk, count } => rows(source, destination, *chunk, *count),
        Kernel::Places { chunk, places, count } => {
            for step in 0..count.extent {
                for &(from, to) in places {
                    let (from, to) = (from + step * count.source, to + step * count.destination);
                    copy(source, from, destination, to, *chunk);
                }
            }
        }
        Kernel::Transpose(Plane { twist: Some(twist), .. }) => twisted(source, destination, kernel, twist.bytes()),
        Kernel::Transpose(plane) => transpose(source, destination, plane),
        Kernel::Turns(turns) => portable_bits::turns(source, destination, turns),
    }
}

/// A plane whose chunks are transposed themselves, byte by byte.
fn twisted(source: &[u8], destination: &mut [u8], kernel: &Kernel, bytes: [u8; 16]) {
    let Kernel::Transpose(Plane { chunk, across, along, .. }) = kernel else { return };
    for a in 0..across.extent {
        for b in 0..along.extent {
            for (i, &byte) in bytes.iter().enumerate().take(*chunk) {
                let from = a * chunk + along.at(b) + usize::from(byte);
                copy(source, from, destination, across.at(a) + b * chunk + i, 1);
            }
        }
    }
}

/// Copies chunks of `chunk` bytes, one step of `count` after the other.
fn rows(source: &[u8], destination: &mut [u8], chunk: usize, count: Stride) {
    match chunk {
        1 => small_rows::<1>(source, destination, count),
        2 => small_rows::<2>(source, destination, count),
        4 => small_rows::<4>(source, destination, count),
        8 => small_rows::<8>(source, destination, count),
        12 => small_rows::<12>(source, destination, count),
        16 => small_rows::<16>(source, destination, count),
        _ => {
            for step in 0..count.extent {
                copy(source, step * count.source, destination, step * count.destination, chunk);
            }
        }
    }
}

fn small_rows<const N: usize>(source: &[u8], destination: &mut [u8], count: Stride) {
    for step in 0..count.extent {
        copy(source, step * count.source, destination, step * count.destination, N);
    }
}

/// One chunk. Outside the buffers it does nothing; that does not happen.
#[inline(always)]
fn copy(source: &[u8], from: usize, destination: &mut [u8], to: usize, chunk: usize) {
    if let (Some(source), Some(destination)) = (source.get(from..from + chunk), destination.get_mut(to..to + chunk)) {
        destination.copy_from_slice(source);
    }
}

/// Copies a plane of chunks.
fn transpose(source: &[u8], destination: &mut [u8], plane: &Plane) {
    match plane.chunk {
        1 => blocks::<1>(source, destination, plane),
        2 => blocks::<2>(source, destination, plane),
        4 => blocks::<4>(source, destination, plane),
        8 => blocks::<8>(source, destination, plane),
        16 => blocks::<16>(source, destination, plane),
        chunk => {
            for a in 0..plane.across.extent {
                for b in 0..plane.along.extent {
                    copy(source, a * chunk + plane.along.at(b), destination, plane.across.at(a) + b * chunk, chunk);
                }
            }
        }
    }
}

/// Square blocks of chunks: a cache line of the source and of the destination is used up while it is near.
fn blocks<const N: usize>(source: &[u8], destination: &mut [u8], plane: &Plane) {
    let side = (64 / N).max(8);
    for first_a in (0..plane.across.extent).step_by(side) {
        for first_b in (0..plane.along.extent).step_by(side) {
            for a in first_a..(first_a + side).min(plane.across.extent) {
                for b in first_b..(first_b + side).min(plane.along.extent) {
                    copy(source, a * N + plane.along.at(b), destination, plane.across.at(a) + b * N, N);
                }
            }
        }
    }
}
