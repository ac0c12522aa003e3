//! What plans look like, in short words, and how the conversions of the bench suite are done.
//!
//! Everything is in bytes, but loops of a box in elements. `4 of 100>200` is a loop of 4 iterations, 100
//! apart on the source and 200 on the destination; one of `-100>200` reads backwards.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a test may panic")]

use crate::map::{CopyBox, Loop};

use super::super::cpu_family::CpuFamily;
use super::super::plan::machine::Knobs;
use strided_copy::nest::{Axis, Direction, MicroKernel, Nest, NestLoop, Plane, RowPitch, Stride, WidthChange};

mod suite {
    mod tests;
}

/// The machine that most numbers were found on: 12 ways, half an L2 cache is 512 KiB.
pub(super) fn z5() -> Knobs {
    Knobs::of_family(CpuFamily::Zen5)
}

/// The other one: runs of neighbouring tiles are joined.
pub(super) fn z3() -> Knobs {
    Knobs::of_family(CpuFamily::Zen3)
}

/// A loop of a box: how many steps, and how far apart on either side; a source below zero goes backwards.
pub(super) fn step((extent, source, destination): (u64, i64, u64)) -> Loop {
    let far = source.unsigned_abs();
    if source < 0 {
        Loop::Reversed { extent, source: far, destination }
    } else {
        Loop::Strided { extent, source: far, destination }
    }
}

/// A box that begins at the front of both buffers: where a loop goes backwards, the source begins at its end.
pub(super) fn copy_box(loops: &[(u64, i64, u64)]) -> CopyBox {
    let backwards = loops.iter().filter(|&&(_, source, _)| source < 0);
    let source = backwards.map(|&(extent, source, _)| (extent - 1) * source.unsigned_abs()).sum();
    CopyBox { source, destination: 0, loops: loops.iter().copied().map(step).collect() }
}

/// A nest in a line: where it begins unless that is the front, its loops outer to inner, its kernel.
pub(super) fn words(nest: &Nest) -> String {
    let mut words = Vec::new();
    if nest.start() != (0, 0) {
        words.push(format!("from {}>{}", nest.start().0, nest.start().1));
    }
    words.extend(nest.loops().iter().map(loop_in_words));
    words.push(kernel_in_words(nest.kernel()));
    words.join(" / ")
}

fn loop_in_words(step: &NestLoop) -> String {
    match step {
        NestLoop::Strided(stride) => stride_in_words(stride),
        NestLoop::Reversed(Stride { extent, source, destination }) => format!("{extent} of {source}>-{destination}"),
        NestLoop::Table(entries) => format!("{} places", entries.len()),
    }
}

fn stride_in_words(Stride { extent, source, destination }: &Stride) -> String {
    format!("{extent} of {source}>{destination}")
}

/// Loops inside a kernel, if there are any.
fn times(count: &Stride) -> String {
    if *count == Stride::ONCE { String::new() } else { format!(", {}", stride_in_words(count)) }
}

fn kernel_in_words(kernel: &MicroKernel) -> String {
    match kernel {
        MicroKernel::Copy { run, count } => format!("copy {run}{}", times(count)),
        MicroKernel::CopyTable { run, offsets, count } => {
            format!("copy {run} at {} places{}", offsets.len(), times(count))
        }
        MicroKernel::Transpose(plane) => plane_in_words(plane),
        MicroKernel::InterleaveBits(rows) => {
            let verb = if rows.direction == Direction::Interleave { "interleave" } else { "deinterleave" };
            format!("{verb} {} rows of {} bytes by {} bits, {} apart", rows.rows, rows.row, rows.bits, rows.pitch)
        }
        MicroKernel::Reverse { unit, extent, count } => format!("reverse {extent} of {unit}{}", times(count)),
        MicroKernel::ChangeWidth(row) => {
            let verb = match row.change {
                WidthChange::Unpack { signed: true } => "unpack signed",
                WidthChange::Unpack { signed: false } => "unpack",
                WidthChange::Pack => "pack",
            };
            format!("{verb} {} bytes of {} bits", row.packed, row.bits)
        }
        MicroKernel::ChangeWords(words) => {
            let verb = match words.change {
                WidthChange::Unpack { signed: true } => "unpack signed",
                WidthChange::Unpack { signed: false } => "unpack",
                WidthChange::Pack => "pack",
            };
            format!("{verb} {} words of {} bits, {} apart", words.words, words.bits, words.pitch)
        }
    }
}

/// Rows by columns of units, and how far apart rows are on the source and columns on the destination.
fn plane_in_words(plane: &Plane) -> String {
    let Plane { unit, columns, rows, micro_tile } = plane;
    let tile =
        micro_tile.map_or(String::new(), |tile| format!(" ({}x{} of {})", tile.rows, tile.columns, tile.element));
    format!("transpose {}x{} of {unit}{tile}: {}>{}", rows.extent, columns.extent, pitch(rows), pitch(columns))
}

fn pitch(axis: &Axis) -> String {
    match axis.pitch() {
        Some(RowPitch { bytes, reversed: false }) => bytes.to_string(),
        Some(RowPitch { bytes, reversed: true }) => format!("-{bytes}"),
        // The loops that were fused, inner to outer.
        None => axis.loops().map(|(stride, extent)| format!("{extent}*{stride}")).collect::<Vec<_>>().join("+"),
    }
}
