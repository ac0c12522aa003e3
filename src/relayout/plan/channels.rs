//! Finds the channels of a nest: some units of every group of up to 8 units. A [`strided_copy::Channels`]
//! copies them.

use strided_copy::kernel::{MOST_INTERLEAVED, Stride, has_shuffle};
use strided_copy::{Channels, MOST_CHANNELS};

use super::machine::Knobs;
use super::nest::{NestLoops, take};

/// The least length of a row of one channel, in registers. If rows are shorter, units are copied one by one.
/// Not tuned.
const LEAST_REGISTERS: usize = 4;

/// The longest run that is divided into units of channels, in bytes. Runs of 8 and of 16 bytes are copied as
/// they are, by one load and one store.
const LONGEST_RUN: usize = 12;

/// The longest group with channels, in bytes: 8 units of 4 bytes.
const LONGEST_GROUP: isize = 32;

/// In a nest around runs of `run` bytes, takes out the loop from group to group, and the loop over the
/// channels of a group if there is one. `start` moves to the lowest channel. `None` for other nests, and for
/// groups that a kernel interleaves or deinterleaves as a whole.
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
    // Whether `count` units, `apart` bytes from each other, are channels of one side: units of a group of
    // `step` bytes, or one in each of several rows.
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
    // If groups have no units besides the channels, an interleave or a block permutation copies the nest.
    let is_dense = |step: usize| step == unit || step == count.saturating_mul(unit);
    let has_kernel = count > MOST_INTERLEAVED || has_shuffle(unit, count) || from > unit && to > unit;
    if is_dense(from) && is_dense(to) && has_kernel {
        return None;
    }
    // Two to four runs that make a whole group of the destination are copied as a permutation of blocks. As
    // channels, `combine_dims_f32` takes 1.5 to 1.7 times as long (a Xeon).
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
            // The units of a run are the channels, and follow each other on both sides.
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

/// The length of a unit in bytes: the largest of 1, 2 and 4 of which the run and both strides are multiples.
fn unit_of(run: usize, Stride { source, destination, .. }: Stride) -> usize {
    let together = run | source.unsigned_abs() | destination.unsigned_abs();
    1 << together.trailing_zeros().min(2)
}
