//! Copies of some units of every group, by the tables that `crate::channels` explains.

use std::marker::PhantomData;
use std::ops::Range;

use super::four_channels::{join_four, load_table, split_four};
use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::channels::{Channels, MOST_CHANNELS, Picks, Side, is_array};
use crate::machine::LINE;

/// # Safety
///
/// * In every iteration, the channels are readable on the source and writable on the destination.
/// * All bytes between the first and the last channel of an iteration are readable on the source. If
///   `walk.readable` is set, they are readable on the destination too.
#[inline(never)]
pub(super) unsafe fn pick_channels<V: Vector>(walk: &Walk<'_>, channels: &Channels) {
    let picks = channels.picks();
    // Without stores under a mask, bytes between channels are read and stored again, and must be readable.
    let may_store = picks.written().is_empty() || V::WINDOW == V::BYTES || walk.readable;
    let streams = streams::<V>(walk, picks);
    let rows = if V::WINDOW < V::BYTES { four_rows(channels) } else { None };
    // SAFETY: the caller upholds the contract of this function. Each arm is compiled for the number of source
    // windows that the tables have, or uses no windows.
    unsafe {
        match picks.windows.0 {
            _ if !may_store || picks.window != V::WINDOW => {
                for iteration in walk.iterations() {
                    units(iteration.from, iteration.to, channels, 0..channels.groups());
                }
            }
            _ if !streams && picks.shuffle.is_some() => {
                V::vectorize(PickChannels::<1, { by::GROUPS }> { walk, channels, rows })
            }
            _ if !streams && rows.is_some() => V::vectorize(PickChannels::<4, { by::ROWS }> { walk, channels, rows }),
            1 => V::vectorize(PickChannels::<1, { by::WINDOWS }> { walk, channels, rows }),
            2 => V::vectorize(PickChannels::<2, { by::WINDOWS }> { walk, channels, rows }),
            3 => V::vectorize(PickChannels::<3, { by::WINDOWS }> { walk, channels, rows }),
            4 => V::vectorize(PickChannels::<4, { by::WINDOWS }> { walk, channels, rows }),
            _ => V::vectorize(PickChannels::<MOST_CHANNELS, { by::WINDOWS }> { walk, channels, rows }),
        }
    }
}

/// Whether each window of the destination is a whole register, and not a lane of one.
#[inline(always)]
fn is_in_registers<V: Vector>(picks: &Picks) -> bool {
    picks.destination == Side::Rows || V::WINDOW == V::BYTES
}

/// Whether steps use non-temporal stores. They do so only if every byte of the destination is written,
/// register by register.
#[inline(always)]
fn streams<V: Vector>(walk: &Walk<'_>, picks: &Picks) -> bool {
    walk.streaming && picks.written().is_empty() && is_in_registers::<V>(picks)
}

/// If one side has groups of four units and the other side has rows: for each unit of a group, the offset of
/// its row, or `None` for a unit that is not copied. Returns `None` for all other copies, if all four units
/// of a destination group are written, and if a unit is copied twice.
fn four_rows(channels: &Channels) -> Option<[Option<usize>; 4]> {
    let joins = match (channels.picks().source, channels.picks().destination) {
        (Side::Rows, Side::Groups(4)) if !channels.picks().written().is_empty() => true,
        (Side::Groups(4), Side::Rows) => false,
        _ => return None,
    };
    let mut rows = [None; 4];
    for &(source, destination) in channels.channels().iter() {
        let (unit, row) = if joins { (destination, source) } else { (source, destination) };
        if rows.get_mut(unit / channels.unit())?.replace(row).is_some() {
            return None;
        }
    }
    Some(rows)
}

/// Copies the channels of some groups unit by unit.
///
/// # Safety
///
/// * The channels of `groups` are readable at `from`, where group 0 begins, and writable at `to`.
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
    /// The offsets in bytes, from the start of the iteration, of the windows that the first lane holds. If
    /// windows are whole registers, the offsets of all windows.
    offsets: [usize; MOST_CHANNELS],
    /// The distance from the window of one lane to the window of the next lane, in bytes. A window fills a
    /// lane of a register.
    apart: usize,
}

impl Windows {
    fn new(side: Side, window: usize, offset: impl Fn(usize) -> usize) -> Windows {
        match side {
            // All windows of the groups in one lane follow each other in memory.
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
    /// * A register is readable at `from`, or a window for each of the `LANES` lanes: the first at `from`,
    ///   each next one `apart` bytes after the one before.
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
    /// * A window for each of the `LANES` lanes is writable: the first at `to`, each next one `apart` bytes
    ///   after the one before.
    #[inline(always)]
    unsafe fn store<V: Vector, const LANES: usize>(&self, bytes: V, to: *mut u8) {
        // SAFETY: the caller upholds the contract of this function.
        unsafe { bytes.store_lanes::<LANES>(std::array::from_fn(|lane| to.wrapping_add(lane * self.apart))) }
    }
}

/// The most registers in a cache line, if a register has 16 bytes or more.
const MOST_IN_LINE: usize = LINE / 16;

/// The values of `STORE`: how the windows of the destination are stored.
mod store {
    /// Each window is a whole register.
    pub(super) const REGISTERS: u8 = 0;
    /// Each window is a whole register. The registers of a line are stored one after the other, with
    /// non-temporal stores if the row is aligned.
    pub(super) const STREAMED: u8 = 1;
    /// Each lane of a register is a window, and is stored to an address of its own.
    pub(super) const LANES: u8 = 2;
    /// Bytes between channels keep their value.
    pub(super) const CHOSEN: u8 = 3;
}

/// The values of `BY`: how steps are copied. Each value is compiled to a loop of its own, so that the
/// variables of the loop stay in registers.
mod by {
    /// By tables of indices, which say what bytes of the source windows go into each destination window.
    pub(super) const WINDOWS: u8 = 0;
    /// By one shuffle of all groups in a register, with ordinary stores.
    pub(super) const GROUPS: u8 = 1;
    /// By transposing groups of four units inside lanes, with ordinary stores.
    pub(super) const ROWS: u8 = 2;
}

/// Copies channels in the way that `BY` names. `INPUTS` is the number of source windows of a step, if `BY` is
/// `WINDOWS`.
struct PickChannels<'a, const INPUTS: usize, const BY: u8> {
    walk: &'a Walk<'a>,
    channels: &'a Channels,
    /// What [`four_rows`] returns.
    rows: Option<[Option<usize>; 4]>,
}

impl<const INPUTS: usize, const BY: u8> Operation for PickChannels<'_, INPUTS, BY> {
    /// # Safety
    ///
    /// * The conditions of [`pick_channels`].
    /// * If some bytes between channels are not written, vectors have stores under a mask, or `walk.readable`
    ///   is set.
    ///
    /// # Panics
    ///
    /// If the tables are for another number of windows, or for windows of another size.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let PickChannels { walk, channels, rows } = self;
        let (picks, unit, groups, steps) = (channels.picks(), channels.unit(), channels.groups(), channels.steps());
        assert!(BY != by::WINDOWS || picks.windows.0 == INPUTS && picks.window == V::WINDOW, "tables of other windows");
        let list = channels.channels();
        let of_step = V::BYTES / unit;
        let bytes = (of_step * steps.0, of_step * steps.1);
        let step = Step::<'_, V, INPUTS, BY> {
            picks,
            unit,
            steps,
            rows,
            sources: Windows::new(picks.source, V::WINDOW, |i| list.get(i).or(list.first()).map_or(0, |c| c.0)),
            destinations: Windows::new(picks.destination, V::WINDOW, |i| list.get(i).map_or(0, |c| c.1)),
            bytes,
            vector: PhantomData,
        };
        // A step spans whole groups. The last group of an iteration may end with units outside of the
        // buffers, and then it is copied unit by unit.
        let ends = |step: usize, last: Option<usize>| step == unit || last.is_some_and(|last| last + unit == step);
        let is_whole = ends(steps.0, list.iter().map(|c| c.0).max()) && ends(steps.1, list.iter().map(|c| c.1).max());
        let whole = groups - usize::from(!is_whole);
        for iteration in walk.iterations() {
            if whole < of_step {
                // SAFETY: the caller upholds the contract of this function.
                unsafe { units(iteration.from, iteration.to, channels, 0..groups) };
                continue;
            }
            // Steps with non-temporal stores begin and end at lines of the destination. The steps before and
            // after them have ordinary stores, and may copy some groups a second time.
            let aligned = |group: usize| iteration.to.addr().wrapping_add(group * steps.1).is_multiple_of(LINE);
            let head = if BY == by::WINDOWS && streams::<V>(walk, picks) {
                (0..=whole - of_step).take(LINE).find(|&group| aligned(group))
            } else {
                None
            };
            let (head, count) = head.map_or((0, 0), |head| (head, (whole - head) / of_step));
            let count = count - count % (LINE / V::BYTES);
            let rest = if count == 0 { 0 } else { head + count * of_step };
            let at = |group: usize| {
                (iteration.from.wrapping_add(group * steps.0), iteration.to.wrapping_add(group * steps.1))
            };
            // SAFETY: each step begins at one of the groups 0 to `whole - of_step`, so its groups are among
            // the first `whole`. All bytes of these groups, from the first channel on, are inside the
            // buffers. The bytes between channels are in the contract.
            unsafe {
                if BY == by::WINDOWS && count > 0 {
                    step.run::<LANES, { store::STREAMED }>(at(head), count);
                }
                let before = if count > 0 { head.div_ceil(of_step) } else { 0 };
                let last = usize::from(!(whole - rest).is_multiple_of(of_step));
                for (group, count) in [(0, before), (rest, (whole - rest) / of_step), (whole - of_step, last)] {
                    step.through_cache::<LANES>(at(group), count);
                }
                units(iteration.from, iteration.to, channels, whole..groups);
            }
        }
    }
}

/// The windows that each step loads and stores, and the tables by which it picks bytes of them.
struct Step<'a, V, const INPUTS: usize, const BY: u8> {
    picks: &'a Picks,
    unit: usize,
    /// The length of a group, source and destination, in bytes.
    steps: (usize, usize),
    /// What [`four_rows`] returns.
    rows: Option<[Option<usize>; 4]>,
    sources: Windows,
    destinations: Windows,
    /// The length of a step, source and destination, in bytes.
    bytes: (usize, usize),
    vector: PhantomData<V>,
}

impl<V: Vector, const INPUTS: usize, const BY: u8> Step<'_, V, INPUTS, BY> {
    /// Runs `count` steps with ordinary stores, the first at the source and destination addresses `at`.
    ///
    /// # Safety
    ///
    /// * All windows of the `count` steps are readable on the source and writable on the destination. If some
    ///   bytes of the destination are not written, they are readable, or vectors have stores under a mask.
    #[inline(always)]
    unsafe fn through_cache<const LANES: usize>(&self, at: (*const u8, *mut u8), count: usize) {
        let (written, rows) = (self.picks.written(), self.rows.unwrap_or_default());
        // SAFETY: the caller upholds the contract of this function. The arm matches the unit, and whether
        // windows are registers, lanes or written in part.
        unsafe {
            match (BY, written.first(), self.unit) {
                (by::GROUPS, ..) => self.by_groups(at, count),
                (by::ROWS, Some(written), 1) => join_four::<V, 1, 2>(rows, written, at, count),
                (by::ROWS, Some(written), 2) => join_four::<V, 2, 4>(rows, written, at, count),
                (by::ROWS, Some(written), _) => join_four::<V, 4, 8>(rows, written, at, count),
                (by::ROWS, None, 1) => split_four::<V, 1, LANES>(rows, at, count),
                (by::ROWS, None, 2) => split_four::<V, 2, LANES>(rows, at, count),
                (by::ROWS, None, _) => split_four::<V, 4, LANES>(rows, at, count),
                (_, Some(_), _) => self.run::<LANES, { store::CHOSEN }>(at, count),
                _ if is_in_registers::<V>(self.picks) => self.run::<LANES, { store::REGISTERS }>(at, count),
                _ => self.run::<LANES, { store::LANES }>(at, count),
            }
        }
    }

    /// Runs `count` steps, the first at `from` and `to`.
    ///
    /// # Safety
    ///
    /// * The CPU has the vectors `V`.
    /// * All windows of the `count` steps are readable on the source and writable on the destination.
    /// * `STORE` fits the windows of the destination: `REGISTERS` and `STREAMED` need windows of whole
    ///   registers, and `CHOSEN` needs readable windows, or vectors with stores under a mask.
    /// * With `STREAMED`, `count` steps are whole lines of each row.
    #[inline(always)]
    unsafe fn run<const LANES: usize, const STORE: u8>(&self, (mut from, mut to): (*const u8, *mut u8), count: usize) {
        let Step { picks, sources, destinations, bytes, .. } = self;
        let (outputs, indices, written) = (picks.windows.1, picks.indices(), picks.written());
        let as_array = V::WINDOW == V::BYTES && is_array(INPUTS);
        let of_window = if as_array { 1 } else { INPUTS };
        assert!(outputs <= MOST_CHANNELS && indices.len() == of_window * outputs, "a table for each pair of windows");
        assert!(STORE != store::CHOSEN || written.len() == outputs, "a table for each window");
        let streamed: [bool; MOST_CHANNELS] =
            std::array::from_fn(|output| to.wrapping_add(destinations.offsets[output]).align_offset(LINE) == 0);
        let is_aligned = bytes.1.is_multiple_of(V::BYTES);
        let in_line = const { LINE / V::BYTES };
        // `lines` has the registers of an unfinished line of each row. So a line is stored whole, and not in
        // halves with other rows between them.
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
                if as_array {
                    // SAFETY: there is a table for each of `outputs` windows, as asserted above.
                    bytes = unsafe { V::shuffle(windows, load_table::<V>(table)) };
                } else {
                    for (input, &window) in windows.iter().enumerate() {
                        // SAFETY: there are `INPUTS` tables for each of `outputs` windows, as asserted above.
                        bytes = unsafe { bytes.pick(window, load_table::<V>(table.add(input))) };
                    }
                }
                table = table.wrapping_add(of_window);
                let to = to.wrapping_add(offset);
                // A non-temporal store needs an aligned address. If `streamed`, `to` was aligned in the first
                // step. It stays aligned if a step is a multiple of `V::BYTES`.
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
                            // SAFETY: without stores under a mask, the window is readable and writable, by
                            // the contract. Bytes that no channel writes are zero in `bytes`.
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

    /// Runs `count` steps, the first at the addresses `at`. One shuffle permutes all groups in a register.
    /// The register is stored whole, and the next store overwrites the bytes after the groups.
    ///
    /// # Safety
    ///
    /// * The groups of `count` steps are readable and writable at the addresses `at`, to the end of the last
    ///   group.
    ///
    /// # Panics
    ///
    /// If the groups that one shuffle permutes do not fit a register on both sides.
    #[inline(always)]
    unsafe fn by_groups(&self, at: (*const u8, *mut u8), count: usize) {
        let Some((groups, indices)) = &self.picks.shuffle else { return };
        let length = (groups * self.steps.0, groups * self.steps.1);
        let all = (count * self.bytes.0, count * self.bytes.1);
        assert!(length.1 > 0 && length.0.max(length.1) <= V::BYTES, "groups of another register");
        // SAFETY: a table of indices has a line, which is at least a vector.
        let indices = unsafe { load_table::<V>(indices) };
        let fitting = |all: usize, length: usize| if all < V::BYTES { 0 } else { (all - V::BYTES) / length + 1 };
        let whole = fitting(all.0, length.0).min(fitting(all.1, length.1));
        let (mut from, mut to) = at;
        for _ in 0..whole {
            // SAFETY: `whole` registers, `length` bytes apart, end inside the bytes of either side.
            unsafe { V::shuffle([V::load(from)], indices).store(to) };
            (from, to) = (from.wrapping_add(length.0), to.wrapping_add(length.1));
        }
        let mut left = (all.0 - whole * length.0, all.1 - whole * length.1);
        while left.1 > 0 {
            let (read, written) = (length.0.min(left.0), length.1.min(left.1));
            // SAFETY: `read` and `written` are at most the bytes that are left on their side.
            unsafe { V::shuffle([V::load_partial(from, read)], indices).store_partial(to, written) };
            (from, to, left) = (from.wrapping_add(read), to.wrapping_add(written), (left.0 - read, left.1 - written));
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
