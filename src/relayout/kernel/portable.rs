//! Safe Rust kernels: right anywhere, and the twins that the others are tested against.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "offsets of a nest lie inside its buffers: `Nest::new` has computed the ends with checked arithmetic"
)]

use super::super::schedule::{Kernel, Stride};

/// Runs a kernel.
pub(super) fn run(kernel: &Kernel, source: &[u8], destination: &mut [u8]) {
    match *kernel {
        Kernel::Rows { chunk, count } => rows(source, destination, chunk, count),
        Kernel::Transpose { chunk, across, along } => transpose(source, destination, chunk, across, along),
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

/// Copies a plane of chunks, `across` packed on the source and `along` on the destination.
fn transpose(source: &[u8], destination: &mut [u8], chunk: usize, across: Stride, along: Stride) {
    match chunk {
        1 => blocks::<1>(source, destination, across, along),
        2 => blocks::<2>(source, destination, across, along),
        4 => blocks::<4>(source, destination, across, along),
        8 => blocks::<8>(source, destination, across, along),
        16 => blocks::<16>(source, destination, across, along),
        _ => {
            for a in 0..across.extent {
                for b in 0..along.extent {
                    let from = a * across.source + b * along.source;
                    copy(source, from, destination, a * across.destination + b * along.destination, chunk);
                }
            }
        }
    }
}

/// Square blocks of chunks: a cache line of the source and of the destination is used up while it is near.
fn blocks<const N: usize>(source: &[u8], destination: &mut [u8], across: Stride, along: Stride) {
    let side = (64 / N).max(8);
    for first_a in (0..across.extent).step_by(side) {
        for first_b in (0..along.extent).step_by(side) {
            for a in first_a..(first_a + side).min(across.extent) {
                for b in first_b..(first_b + side).min(along.extent) {
                    let from = a * across.source + b * along.source;
                    copy(source, from, destination, a * across.destination + b * along.destination, N);
                }
            }
        }
    }
}
