//! Copies channels, some units of every group, by the tables that `crate::channels` explains.

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
/// * All source bytes between the first and the last channel of an iteration are readable. If `walk.readable`
///   is set, so are the destination bytes between them.
#[inline(never)]
pub(super) unsafe fn pick_channels<V: Vector>(walk: &Walk<'_>, channels: &Channels) {
    let picks = channels.picks();
    // Without stores under a mask, bytes between channels are read and stored again, so they must be
    // readable.
    let may_store = picks.written().is_empty() || V::WINDOW == V::BYTES || walk.readable;
    let streams = streams::<V>(walk, picks);
    let rows = if V::WINDOW < V::BYTES { four_rows(channels) } else { None };
    // SAFETY: CPU and memory are in the contract of this function. Each arm is compiled for the number of
    // source windows that the tables have, or uses no windows.
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

/// Whether each window of the destination is a whole register. Otherwise it is a lane of a register.
#[inline(always)]
fn is_in_registers<V: Vector>(picks: &Picks) -> bool {
    picks.destination == Side::Rows || V::WINDOW == V::BYTES
}

/// Whether the steps of a copy use non-temporal stores: if the copy streams, writes every byte of the
/// destination, and stores whole registers.
#[inline(always)]
fn streams<V: Vector>(walk: &Walk<'_>, picks: &Picks) -> bool {
    walk.streaming && picks.written().is_empty() && is_in_registers::<V>(picks)
}

/// If one side has groups of four units and the other side has rows: returns the offset of the row of each of
/// the four units, or `None` for a unit that is not copied. Returns `None` for all other copies, and if all
/// four units of a destination group are written, and if a unit is copied twice.
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
/// * Group 0 begins at `from` on the source and at `to` on the destination. The channels of `groups` are
///   readable on the source and writable on the destination.
#[inline(never)]
unsafe fn units(from: *const u8, to: *mut u8, channels: &Channels, groups: Range<usize>) {
    let steps = channels.steps();
    for group in groups {
        for &(source, destination) in channels.channels().iter() {
            // SAFETY: this is a channel of `groups`, which the contract covers. A unit has 1, 2 or 4 bytes.
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

/// Where, on one side, the windows are that the first step of an iteration loads or stores.
struct Windows {
    /// The offsets of the windows, in bytes from the start of the iteration. If windows are lanes, these are
    /// the windows that go into the first lanes of registers.
    offsets: [usize; MOST_CHANNELS],
    /// The distance, in bytes, from the window in one lane of a register to the window in the next lane.
    apart: usize,
}

impl Windows {
    fn new(side: Side, window: usize, offset: impl Fn(usize) -> usize) -> Windows {
        match side {
            // The windows of one lane's groups follow each other in memory.
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
    /// * A register is readable at `from`. Or, if windows are lanes, a window is readable for each of the
    ///   `LANES` lanes: at `from`, and at every `apart` bytes after it.
    #[inline(always)]
    unsafe fn load<V: Vector, const LANES: usize>(&self, from: *const u8) -> V {
        // SAFETY: a register or a window for each lane is readable, by the contract.
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
    /// * A window is writable for each of the `LANES` lanes: at `to`, and at every `apart` bytes after it.
    #[inline(always)]
    unsafe fn store<V: Vector, const LANES: usize>(&self, bytes: V, to: *mut u8) {
        // SAFETY: a window for each lane is writable, by the contract.
        unsafe { bytes.store_lanes::<LANES>(std::array::from_fn(|lane| to.wrapping_add(lane * self.apart))) }
    }
}

/// The most registers in a cache line, if a register has 16 bytes or more.
const MOST_IN_LINE: usize = LINE / 16;

/// The values of `STORE`: how the windows of the destination are stored.
mod store {
    /// Each window is a whole register.
    pub(super) const REGISTERS: u8 = 0;
    /// Each window is a whole register. The registers of a line are stored right after each other. The stores
    /// are non-temporal if the row starts at a line.
    pub(super) const STREAMED: u8 = 1;
    /// Each lane of a register is a window, and the lanes are stored to different addresses.
    pub(super) const LANES: u8 = 2;
    /// Bytes between channels keep their value.
    pub(super) const CHOSEN: u8 = 3;
}

/// The values of `BY`: how the groups of a step are copied. There is one compiled loop for each value, so
/// that the variables of each loop stay in registers.
mod by {
    /// By shuffles of source windows, with tables that say which bytes go into each destination window.
    pub(super) const WINDOWS: u8 = 0;
    /// By a single shuffle that moves all groups in a register, with ordinary stores.
    pub(super) const GROUPS: u8 = 1;
    /// By transposing groups of four units inside lanes, with ordinary stores.
    pub(super) const ROWS: u8 = 2;
}

/// Copies channels in the way that `BY` names. If that is `WINDOWS`, a step has `INPUTS` source windows.
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
    /// * If destination bytes between channels are not written, vectors have stores under a mask, or
    ///   `walk.readable` is set.
    ///
    /// # Panics
    ///
    /// If `BY` is `WINDOWS`, and the tables were made for another number of windows than `INPUTS`, or for
    /// windows of another size than `V::WINDOW`.
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
        // A step loads and stores whole groups. The last units of an iteration's last group may be outside of
        // the buffers. Then this group is copied unit by unit.
        let ends = |step: usize, last: Option<usize>| step == unit || last.is_some_and(|last| last + unit == step);
        let is_whole = ends(steps.0, list.iter().map(|c| c.0).max()) && ends(steps.1, list.iter().map(|c| c.1).max());
        let whole = groups - usize::from(!is_whole);
        for iteration in walk.iterations() {
            if whole < of_step {
                // SAFETY: all channels of an iteration are in the contract of this function.
                unsafe { units(iteration.from, iteration.to, channels, 0..groups) };
                continue;
            }
            // Steps with non-temporal stores begin and end at lines of the destination. The steps before and
            // after have ordinary stores, and may copy some groups a second time.
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
            // buffers. The contract says which bytes between channels are readable.
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

/// What all steps share: the windows that a step loads and stores, and the tables for picking their bytes.
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
    /// Runs `count` steps with ordinary stores. The first one loads at `at.0` and stores at `at.1`.
    ///
    /// # Safety
    ///
    /// * All windows of the `count` steps are readable on the source and writable on the destination. If some
    ///   bytes of the destination windows are not written, these windows are readable, or vectors have stores
    ///   under a mask.
    #[inline(always)]
    unsafe fn through_cache<const LANES: usize>(&self, at: (*const u8, *mut u8), count: usize) {
        let (written, rows) = (self.picks.written(), self.rows.unwrap_or_default());
        // SAFETY: the called functions need CPU and windows as in the contract of this function. The arm
        // matches the unit, and whether windows are registers, lanes or written in part.
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

    /// Runs `count` steps. The first step loads at `from` and stores at `to`.
    ///
    /// # Safety
    ///
    /// * The CPU has the vectors `V`.
    /// * All windows of the `count` steps are readable on the source and writable on the destination.
    /// * `STORE` fits the windows of the destination: `REGISTERS` and `STREAMED` need windows of whole
    ///   registers, and `CHOSEN` needs readable destination windows, or vectors with stores under a mask.
    /// * With `STREAMED`, `count` steps write whole lines of each row.
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
        // `lines` collects the registers of one line of each row. So the halves of a line are stored
        // together, and not with stores to other rows between them. SAFETY: the CPU has the vectors `V`, by
        // the contract of this function.
        let zero = unsafe { V::zero() };
        let mut lines = [[zero; MOST_IN_LINE]; MOST_CHANNELS];
        for step in 0..count {
            let mut windows = [zero; INPUTS];
            for (window, offset) in windows.iter_mut().zip(sources.offsets) {
                // SAFETY: the source windows of this step are readable, by the contract of this function.
                *window = unsafe { sources.load::<V, LANES>(from.add(offset)) };
            }
            let mut table = indices.as_ptr();
            for (output, &offset) in destinations.offsets.iter().enumerate().take(outputs) {
                let mut bytes = zero;
                if as_array {
                    // SAFETY: there is a table of indices for each of `outputs` windows, as asserted above.
                    bytes = unsafe { V::shuffle(windows, load_table::<V>(table)) };
                } else {
                    for (input, &window) in windows.iter().enumerate() {
                        // SAFETY: there are `INPUTS` tables for each of `outputs` windows, as asserted above.
                        bytes = unsafe { bytes.pick(window, load_table::<V>(table.add(input))) };
                    }
                }
                table = table.wrapping_add(of_window);
                let to = to.wrapping_add(offset);
                // A non-temporal store needs an aligned address. If `streamed` is set, `to` was aligned in
                // the first step. Later it is aligned if the length of a step is a multiple of `V::BYTES`.
                let past_the_cache = is_aligned && streamed[output];
                match STORE {
                    // SAFETY: the destination window is a register, and writable by the contract.
                    store::REGISTERS => unsafe { bytes.store(to) },
                    store::STREAMED if in_line > 1 => {
                        let (place, line) = (step % in_line, &mut lines[output]);
                        line[place] = bytes;
                        if place + 1 == in_line {
                            for (&bytes, later) in line.iter().zip((0..in_line).rev()) {
                                let to = to.wrapping_sub(later * V::BYTES);
                                // SAFETY: the window of an earlier step, `later` steps ago in the same row,
                                // is as long as a register, and writable by the contract.
                                unsafe { store_streamed(bytes, to, past_the_cache) };
                            }
                        }
                    }
                    // SAFETY: the destination window is a register, and writable by the contract.
                    store::STREAMED => unsafe { store_streamed(bytes, to, past_the_cache) },
                    // SAFETY: a destination window for each lane is writable, by the contract.
                    store::LANES => unsafe { destinations.store::<V, LANES>(bytes, to) },
                    _ => {
                        // SAFETY: there is a mask for each of `outputs` windows, as asserted above.
                        let written = unsafe { load_table::<V>(written.as_ptr().add(output)) };
                        if V::WINDOW == V::BYTES {
                            // SAFETY: the destination window of this step is writable. A vector whose windows
                            // are registers has stores under a mask.
                            unsafe { bytes.store_chosen(to, written) };
                        } else {
                            // SAFETY: without stores under a mask, the destination window is readable and
                            // writable, by the contract. Bytes that no channel writes are zero in `bytes`.
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
    /// The register is stored whole. Its bytes after the last group are overwritten by the next store.
    ///
    /// # Safety
    ///
    /// * The groups of `count` steps are readable at `at.0` and writable at `at.1`, to the end of the last
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
        // SAFETY: the table of indices is a line, which has at least the bytes of a vector.
        let indices = unsafe { load_table::<V>(indices) };
        let fitting = |all: usize, length: usize| if all < V::BYTES { 0 } else { (all - V::BYTES) / length + 1 };
        let whole = fitting(all.0, length.0).min(fitting(all.1, length.1));
        let (mut from, mut to) = at;
        for _ in 0..whole {
            // SAFETY: `whole` registers, `length` bytes apart, end inside the groups, on both sides.
            unsafe { V::shuffle([V::load(from)], indices).store(to) };
            (from, to) = (from.wrapping_add(length.0), to.wrapping_add(length.1));
        }
        let mut left = (all.0 - whole * length.0, all.1 - whole * length.1);
        while left.1 > 0 {
            let (read, written) = (length.0.min(left.0), length.1.min(left.1));
            // SAFETY: `read` source bytes and `written` destination bytes of the groups are left.
            unsafe { V::shuffle([V::load_partial(from, read)], indices).store_partial(to, written) };
            (from, to, left) = (from.wrapping_add(read), to.wrapping_add(written), (left.0 - read, left.1 - written));
        }
    }
}

/// # Safety
///
/// * A vector is writable at `to`. If `past_the_cache` is set, `to` is a multiple of the vector's length.
#[inline(always)]
unsafe fn store_streamed<V: Vector>(bytes: V, to: *mut u8, past_the_cache: bool) {
    // SAFETY: a vector is writable at `to`, which is aligned for `stream`, by the contract.
    unsafe { if past_the_cache { bytes.stream(to) } else { bytes.store(to) } }
}
