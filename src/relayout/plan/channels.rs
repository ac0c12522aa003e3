//! Finds the channels of a nest: some units of every group of up to 8, which a [`strided_copy::Channels`]
//! copies.

use strided_copy::kernel::{MOST_INTERLEAVED, Stride, has_shuffle};
use strided_copy::{Channels, MOST_CHANNELS};

use super::machine::Knobs;
use super::nest::{NestLoops, take};

/// The least length of a row of one channel, in registers. Shorter rows are copied unit by unit. Not tuned.
const LEAST_REGISTERS: usize = 4;

/// The longest run that is taken apart into units, in bytes. Runs of 8 and of 16 bytes are copied whole
/// instead, by one load and one store.
const LONGEST_RUN: usize = 12;

/// The longest group of channels, in bytes: 8 units of 4 bytes.
const LONGEST_GROUP: isize = 32;

/// Takes the loop from group to group out of a nest around runs of `run` bytes, and the loop over the
/// channels if there is one. `start` moves to the lowest channel. `None` for other nests, and for groups that
/// a kernel interleaves or deinterleaves as a whole.
pub(super) fn channels(
    loops: &mut NestLoops,
    run: usize,
    start: &mut (usize, usize),
    knobs: &Knobs,
) -> Option<Channels> {
    if !knobs.level.has_vectors() || run > LONGEST_RUN || run == 8 {
        return None;
    }
    let strides = || loops.iter().enumerate().filter_map(|(index, step)| Some((index, step.stride()?)));
    let steps =
        |stride: Stride| Some((usize::try_from(stride.source).ok()?, usize::try_from(stride.destination).ok()?));
    let is_group = |stride: Stride| {
        if stride.source.max(stride.destination) > LONGEST_GROUP {
            return false;
        }
        let unit = unit_of(run, stride);
        let fits = |step: usize| (run..=MOST_CHANNELS.saturating_mul(unit)).contains(&step);
        let long = stride.extent.saturating_mul(unit) >= LEAST_REGISTERS.saturating_mul(knobs.level.register());
        long && steps(stride).is_some_and(|(from, to)| fits(from) && fits(to))
    };
    let (group, stride) = strides().filter(|&(_, stride)| is_group(stride)).max_by_key(|(_, stride)| stride.extent)?;
    let (unit, (from, to)) = (unit_of(run, stride), steps(stride)?);
    // Whether a side takes `count` units that are `apart` bytes from each other: all of them fit in a group
    // of `step` bytes, or each is in a row of its own.
    let inside = |count: usize, apart: isize, step: usize| {
        let last = count.saturating_sub(1).saturating_mul(apart.unsigned_abs());
        step == unit || apart.unsigned_abs().is_multiple_of(unit) && last.saturating_add(unit) <= step
    };
    let is_channel = |index: usize, other: Stride| {
        let Stride { extent, source, destination } = other;
        let both = inside(extent, source, from) && inside(extent, destination, to);
        index != group && extent <= MOST_CHANNELS && source != 0 && both
    };
    let channel = strides().find(|&(index, other)| run == unit && is_channel(index, other));
    let count = channel.map_or(run.div_euclid(unit), |(_, channel)| channel.extent);
    // If both sides hold whole groups without gaps, an interleave or a permutation of blocks copies them.
    let is_dense = |step: usize| step == unit || step == count.saturating_mul(unit);
    let has_kernel = count > MOST_INTERLEAVED || has_shuffle(unit, count) || from > unit && to > unit;
    if is_dense(from) && is_dense(to) && has_kernel {
        return None;
    }
    // Two to four runs that make whole groups of the destination are permuted in registers. As channels,
    // `combine_dims_f32` takes 1.5 to 1.7 times as long (a Xeon).
    let joins = |other: Stride| {
        (2..=4).contains(&other.extent)
            && usize::try_from(other.destination) == Ok(run)
            && run.saturating_mul(other.extent) == to
    };
    if channel.is_none() && run > unit && strides().any(|(_, other)| joins(other)) {
        return None;
    }
    let along = channel.map_or(Stride { extent: count, source: 0, destination: 0 }, |(_, channel)| channel);
    let offsets = (0..count).map(|i| {
        let offset = |apart: isize| match apart {
            // The units of a run follow each other on both sides.
            _ if channel.is_none() => i.saturating_mul(unit),
            ..0 => count.saturating_sub(1).saturating_sub(i).saturating_mul(apart.unsigned_abs()),
            _ => i.saturating_mul(apart.unsigned_abs()),
        };
        (offset(along.source), offset(along.destination))
    });
    let channels = Channels::new(unit, stride.extent, (from, to), offsets.collect(), knobs.level.register())?;
    // The later loop is removed first, so that the index of the other loop does not change.
    let mut taken = [Some(group), channel.map(|(index, _)| index)];
    taken.sort_unstable();
    for index in taken.into_iter().rev().flatten() {
        take(loops, index, &mut start.0);
    }
    Some(channels)
}

/// The length of a unit in bytes: the run itself, or the longest part of it that both strides are multiples
/// of.
fn unit_of(run: usize, Stride { source, destination, .. }: Stride) -> usize {
    let together = run | source.unsigned_abs() | destination.unsigned_abs();
    1 << together.trailing_zeros().min(2)
}
