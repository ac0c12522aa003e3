//! Copies of some units of every group, by the tables that `crate::channels` explains.

use std::marker::PhantomData;
use std::ops::Range;

use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::channels::{Channels, Line, MOST_CHANNELS, Picks, Side};
use crate::machine::LINE;

/// # Safety
///
/// * In every iteration, the channels are readable on the source and writable on the destination.
/// * All bytes between the first and the last channel of an iteration are readable on the source, and if the
///   walk is readable, on the destination.
#[inline(never)]
pub(super) unsafe fn pick_channels<V: Vector>(walk: &Walk<'_>, channels: &Channels) {
    let picks = channels.picks();
    // Without stores under a mask, the bytes between channels would be read and stored again.
    let may_store = picks.written().is_empty() || V::WINDOW == V::BYTES || walk.readable;
    // SAFETY: the caller upholds the contract of this function. Each arm has the number of windows of its
    // tables.
    unsafe {
        match picks.windows.0 {
            _ if !may_store || picks.window != V::WINDOW => {
                for iteration in walk.iterations() {
                    units(iteration.from, iteration.to, channels, 0..channels.groups());
                }
            }
            1 => V::vectorize(PickChannels::<1> { walk, channels }),
            2 => V::vectorize(PickChannels::<2> { walk, channels }),
            3 => V::vectorize(PickChannels::<3> { walk, channels }),
            4 => V::vectorize(PickChannels::<4> { walk, channels }),
            _ => V::vectorize(PickChannels::<MOST_CHANNELS> { walk, channels }),
        }
    }
}

/// Copies the channels of some groups unit by unit.
///
/// # Safety
///
/// * The channels of these groups are readable at `from`, where group 0 begins, and writable at `to`.
#[inline(never)]
unsafe fn units(from: *const u8, to: *mut u8, channels: &Channels, groups: Range<usize>) {
    let steps = channels.steps();
    for group in groups {
        for &(source, destination) in channels.channels().iter() {
            // SAFETY: the caller upholds the contract of this function. A unit has 1, 2 or 4 bytes.
            unsafe {
                let from = from.add(group * steps.0 + source);
                let to = to.add(group * steps.1 + destination);
                match channels.unit() {
                    1 => to.write(from.read()),
                    2 => to.cast::<[u8; 2]>().write(from.cast::<[u8; 2]>().read()),
                    _ => to.cast::<[u8; 4]>().write(from.cast::<[u8; 4]>().read()),
                }
            }
        }
    }
}

/// Where the windows of a step are on one side, in the first step of an iteration.
struct Windows {
    /// The offset of the first window of each kind from the start of the iteration.
    offsets: [usize; MOST_CHANNELS],
    /// The distance from the window of one lane to the window of the next lane, in bytes. A window fills a
    /// lane of a register.
    apart: usize,
}

impl Windows {
    fn new(side: Side, window: usize, offset: impl Fn(usize) -> usize) -> Windows {
        match side {
            // The windows of a lane's groups follow each other.
            Side::Groups(units) => Windows {
                offsets: std::array::from_fn(|i| if i < units { i * window } else { 0 }),
                apart: units * window,
            },
            Side::Rows => Windows { offsets: std::array::from_fn(offset), apart: window },
        }
    }

    /// Loads a window into each lane, or one window into the whole register.
    ///
    /// # Safety
    ///
    /// * The windows are readable at `from`, and further ones each `apart` bytes later.
    #[inline(always)]
    unsafe fn load<V: Vector, const LANES: usize>(&self, from: *const u8) -> V {
        // SAFETY: the caller upholds the contract of this function.
        unsafe {
            match V::WINDOW == V::BYTES {
                true => V::load(from),
                false => V::load_lanes::<LANES>(std::array::from_fn(|lane| from.wrapping_add(lane * self.apart))),
            }
        }
    }

    /// Stores the window of each lane.
    ///
    /// # Safety
    ///
    /// * The windows are writable at `to`, and further ones each `apart` bytes later.
    #[inline(always)]
    unsafe fn store<V: Vector, const LANES: usize>(&self, bytes: V, to: *mut u8) {
        // SAFETY: the caller upholds the contract of this function.
        unsafe { bytes.store_lanes::<LANES>(std::array::from_fn(|lane| to.wrapping_add(lane * self.apart))) }
    }
}

/// The most registers of a line: the shortest have 16 bytes.
const MOST_IN_LINE: usize = LINE / 16;

/// The values of `STORE`: how the windows of the destination are stored.
mod store {
    /// Each window is a whole register.
    pub(super) const REGISTERS: u8 = 0;
    /// Each window is a whole register. The registers of a line are stored one after the other, with
    /// non-temporal stores if the row is aligned.
    pub(super) const STREAMED: u8 = 1;
    /// A register holds a window of each lane.
    pub(super) const LANES: u8 = 2;
    /// Bytes between channels keep their value.
    pub(super) const CHOSEN: u8 = 3;
}

/// Picks channels from the `INPUTS` source windows of a step.
struct PickChannels<'a, const INPUTS: usize> {
    walk: &'a Walk<'a>,
    channels: &'a Channels,
}

impl<const INPUTS: usize> Operation for PickChannels<'_, INPUTS> {
    /// # Safety
    ///
    /// * The conditions of [`pick_channels`].
    /// * If some bytes between channels are not written, vectors have stores under a mask, or the walk is
    ///   readable.
    ///
    /// # Panics
    ///
    /// If the tables are for another number of windows, or for windows of another size.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let PickChannels { walk, channels } = self;
        let (picks, unit, groups, steps) = (channels.picks(), channels.unit(), channels.groups(), channels.steps());
        assert!(picks.windows.0 == INPUTS && picks.window == V::WINDOW, "tables of other windows");
        let list = channels.channels();
        let of_step = V::BYTES / unit;
        let bytes = (of_step * steps.0, of_step * steps.1);
        let joins = V::WINDOW < V::BYTES && (picks.source, picks.destination) == (Side::Rows, Side::Groups(4));
        let rows = joins.then(|| {
            let mut rows = [list.first().map_or(0, |c| c.0); 4];
            list.iter().for_each(|c| rows[c.1 / unit] = c.0);
            rows
        });
        let step = Step::<'_, V, INPUTS> {
            picks,
            unit,
            rows,
            sources: Windows::new(picks.source, V::WINDOW, |i| list.get(i).or(list.first()).map_or(0, |c| c.0)),
            destinations: Windows::new(picks.destination, V::WINDOW, |i| list.get(i).map_or(0, |c| c.1)),
            bytes,
            vector: PhantomData,
        };
        // A step spans whole groups. The last group may end with units that are not inside the buffers.
        let ends = |step: usize, last: Option<usize>| step == unit || last.is_some_and(|last| last + unit == step);
        let is_whole = ends(steps.0, list.iter().map(|c| c.0).max()) && ends(steps.1, list.iter().map(|c| c.1).max());
        let whole = groups - usize::from(!is_whole);
        for iteration in walk.iterations() {
            if whole < of_step {
                // SAFETY: the caller upholds the contract of this function.
                unsafe { units(iteration.from, iteration.to, channels, 0..groups) };
                continue;
            }
            // Steps that stream begin and end at lines. Steps before and after them go through the cache, and
            // may overlap them, as the last step may overlap the one before it.
            let aligned = |group: usize| iteration.to.addr().wrapping_add(group * steps.1).is_multiple_of(LINE);
            let may_stream = walk.streaming && picks.written().is_empty() && step.is_in_registers();
            let head = if may_stream { (0..=whole - of_step).take(LINE).find(|&group| aligned(group)) } else { None };
            let (head, count) = head.map_or((0, 0), |head| (head, (whole - head) / of_step));
            let count = count - count % (LINE / V::BYTES);
            let rest = if count == 0 { 0 } else { head + count * of_step };
            let at = |group: usize| {
                (iteration.from.wrapping_add(group * steps.0), iteration.to.wrapping_add(group * steps.1))
            };
            // SAFETY: each step begins at one of the groups 0 to `whole - of_step`, so its groups are among
            // the first `whole`. All bytes from the first channel of one of these groups to the end of the
            // group are inside the buffers, by the contract for those between channels.
            unsafe {
                if count > 0 {
                    step.through_cache::<LANES>(at(0), head.div_ceil(of_step));
                    step.run::<LANES, { store::STREAMED }>(at(head), count);
                }
                step.through_cache::<LANES>(at(rest), (whole - rest) / of_step);
                if !(whole - rest).is_multiple_of(of_step) {
                    step.through_cache::<LANES>(at(whole - of_step), 1);
                }
                units(iteration.from, iteration.to, channels, whole..groups);
            }
        }
    }
}

/// The windows that each step loads and stores, and the tables by which it picks bytes of them.
struct Step<'a, V, const INPUTS: usize> {
    picks: &'a Picks,
    unit: usize,
    /// The offset of the row of each unit of a group, if the source has rows, the destination has groups of
    /// four and windows are lanes. A unit that is not written has the row of another one.
    rows: Option<[usize; 4]>,
    sources: Windows,
    destinations: Windows,
    /// The length of a step, source and destination, in bytes.
    bytes: (usize, usize),
    vector: PhantomData<V>,
}

impl<V: Vector, const INPUTS: usize> Step<'_, V, INPUTS> {
    /// Whether each window of the destination is a register.
    #[inline(always)]
    fn is_in_registers(&self) -> bool {
        self.picks.destination == Side::Rows || V::WINDOW == V::BYTES
    }

    /// Runs `count` steps with ordinary stores, the first at two addresses.
    ///
    /// # Safety
    ///
    /// * All windows of these steps are readable on the source and writable on the destination. If bytes of
    ///   the latter are not written, it is readable, or vectors have stores under a mask.
    #[inline(always)]
    unsafe fn through_cache<const LANES: usize>(&self, at: (*const u8, *mut u8), count: usize) {
        // SAFETY: the caller upholds the contract of this function. Each arm stores windows of its kind.
        unsafe {
            match (self.picks.written().first(), self.is_in_registers()) {
                (Some(written), _) => match (self.rows, self.unit) {
                    (Some(rows), 1) => join_four::<V, 1, 2>(rows, written, at, count),
                    (Some(rows), 2) => join_four::<V, 2, 4>(rows, written, at, count),
                    (Some(rows), _) => join_four::<V, 4, 8>(rows, written, at, count),
                    _ => self.run::<LANES, { store::CHOSEN }>(at, count),
                },
                (None, true) => self.run::<LANES, { store::REGISTERS }>(at, count),
                (None, false) => self.run::<LANES, { store::LANES }>(at, count),
            }
        }
    }

    /// Runs `count` steps, the first at `from` and `to`.
    ///
    /// # Safety
    ///
    /// * The CPU has the vectors `V`.
    /// * All windows of these steps are readable on the source and writable on the destination.
    /// * `STORE` is how the destination's windows are stored: as registers if each of them is one; as chosen
    ///   bytes if some are not written, and the windows are readable unless vectors have stores under a mask.
    /// * If registers are streamed, `count` steps are whole lines of each row.
    #[inline(always)]
    unsafe fn run<const LANES: usize, const STORE: u8>(&self, (mut from, mut to): (*const u8, *mut u8), count: usize) {
        let Step { picks, sources, destinations, bytes, .. } = self;
        let (outputs, indices, written) = (picks.windows.1, picks.indices(), picks.written());
        assert!(outputs <= MOST_CHANNELS && indices.len() == INPUTS * outputs, "a table for each pair of windows");
        assert!(STORE != store::CHOSEN || written.len() == outputs, "a table for each window");
        let streamed: [bool; MOST_CHANNELS] =
            std::array::from_fn(|output| to.wrapping_add(destinations.offsets[output]).align_offset(LINE) == 0);
        let is_aligned = bytes.1.is_multiple_of(V::BYTES);
        let in_line = const { LINE / V::BYTES };
        // The registers of an unfinished line of each row: rows are not stored in turns, half a line each.
        // SAFETY: the CPU has the vectors `V`, by the contract of this function.
        let zero = unsafe { V::zero() };
        let mut lines = [[zero; MOST_IN_LINE]; MOST_CHANNELS];
        for step in 0..count {
            let mut windows = [zero; INPUTS];
            for (window, offset) in windows.iter_mut().zip(sources.offsets) {
                // SAFETY: the windows of this step are readable, by the contract of this function.
                *window = unsafe { sources.load::<V, LANES>(from.add(offset)) };
            }
            let mut table = indices.as_ptr();
            for (output, &offset) in destinations.offsets.iter().enumerate().take(outputs) {
                let mut bytes = zero;
                for (input, &window) in windows.iter().enumerate() {
                    // SAFETY: there are `INPUTS` tables for each of `outputs` windows, as asserted above.
                    bytes = unsafe { bytes.pick(window, load_table::<V>(table.add(input))) };
                }
                table = table.wrapping_add(INPUTS);
                let to = to.wrapping_add(offset);
                // Where `streamed`, `to` was aligned in the first step, and is again if a step is a multiple
                // of `V::BYTES`.
                let past_the_cache = is_aligned && streamed[output];
                match STORE {
                    // SAFETY: the window of this step is a register, and writable, by the contract.
                    store::REGISTERS => unsafe { bytes.store(to) },
                    store::STREAMED if in_line > 1 => {
                        let (place, line) = (step % in_line, &mut lines[output]);
                        line[place] = bytes;
                        if place + 1 == in_line {
                            for (&bytes, later) in line.iter().zip((0..in_line).rev()) {
                                let to = to.wrapping_sub(later * V::BYTES);
                                // SAFETY: the window of the step `later` steps before this one, which is in
                                // the same row and as long as a register, is writable, by the contract.
                                unsafe { store_streamed(bytes, to, past_the_cache) };
                            }
                        }
                    }
                    // SAFETY: the window of this step is a register, and writable, by the contract.
                    store::STREAMED => unsafe { store_streamed(bytes, to, past_the_cache) },
                    // SAFETY: the lanes of the window of this step are writable, by the contract.
                    store::LANES => unsafe { destinations.store::<V, LANES>(bytes, to) },
                    _ => {
                        // SAFETY: there is a table for each of `outputs` windows, as asserted above.
                        let written = unsafe { load_table::<V>(written.as_ptr().add(output)) };
                        if V::WINDOW == V::BYTES {
                            // SAFETY: the window of this step is writable. A vector whose windows are whole
                            // registers has stores under a mask.
                            unsafe { bytes.store_chosen(to, written) };
                        } else {
                            // SAFETY: without such stores the window is readable too, by the contract. What
                            // is not written is zero in `bytes`.
                            unsafe {
                                let old = V::zero().choose_bits(destinations.load::<V, LANES>(to), written);
                                destinations.store::<V, LANES>(bytes.or(old), to);
                            }
                        }
                    }
                }
            }
            (from, to) = (from.wrapping_add(bytes.0), to.wrapping_add(bytes.1));
        }
    }
}

/// Interleaves the units of four rows, `UNIT` bytes each, and stores those that `written` chooses. The others
/// keep their value. `PAIR` is two units. Tables take three shuffles for each half of a register, and store
/// halves: `planes_to_bgra_224` takes 0.4 of their time (a Xeon with AVX2).
///
/// ```text
/// rows           a0 a1 ..    b0 b1 ..    c0 c1 ..    d0 d1 ..    in each lane
/// units          a0 b0 a1 b1 ..          c0 d0 c1 d1 ..
/// pairs          a0 b0 c0 d0 a1 b1 c1 d1 ..
/// lanes          the first lane of all registers, then the second
/// ```
///
/// # Safety
///
/// * The CPU has the vectors `V`, of two lanes.
/// * `count` vectors are readable at each of `rows` from the first address on, and four times as many are
///   readable and writable at the second address.
#[inline(always)]
unsafe fn join_four<V: Vector, const UNIT: usize, const PAIR: usize>(
    rows: [usize; 4],
    written: &Line,
    (mut from, mut to): (*const u8, *mut u8),
    count: usize,
) {
    // SAFETY: a line is as long as two vectors. Vector `i` of each row and vectors `4 * i` to `4 * i + 3` of
    // the destination are accessed for each `i < count`, by the contract of this function.
    unsafe {
        let written = load_table::<V>(written);
        for _ in 0..count {
            let [a, b, c, d] = rows.map(|row| from.wrapping_add(row));
            let (low, high) = V::load(a).unpack::<UNIT>(V::load(b));
            let (other_low, other_high) = V::load(c).unpack::<UNIT>(V::load(d));
            let (first, second) = low.unpack::<PAIR>(other_low);
            let (third, fourth) = high.unpack::<PAIR>(other_high);
            let (line_0, line_2) = first.interleave::<16>(second);
            let (line_1, line_3) = third.interleave::<16>(fourth);
            for line in [line_0, line_1, line_2, line_3] {
                line.choose_bits(V::load(to), written).store(to);
                to = to.wrapping_add(V::BYTES);
            }
            from = from.wrapping_add(V::BYTES);
        }
    }
}

/// # Safety
///
/// * A vector is writable at `to`. If it goes past the cache, `to` is a multiple of its length.
#[inline(always)]
unsafe fn store_streamed<V: Vector>(bytes: V, to: *mut u8, past_the_cache: bool) {
    // SAFETY: the caller upholds the contract of this function.
    unsafe { if past_the_cache { bytes.stream(to) } else { bytes.store(to) } }
}

/// # Safety
///
/// * The table is readable.
#[inline(always)]
unsafe fn load_table<V: Vector>(table: *const Line) -> V {
    const { assert!(V::BYTES <= LINE) };
    // SAFETY: a line of a table has at least the bytes of a vector.
    unsafe { V::load(table.cast()) }
}
