//! Copies some units of every group, such as three of the four bytes of a pixel, or every second byte.
//!
//! On one side or on both, *groups* of up to 8 units follow each other, such as the four bytes of a pixel. A
//! copy takes some units of each group, its *channels*, in any order. The other side has groups, too, or a
//! row for each channel:
//!
//! ```text
//! groups of 4     b0 g0 r0 __ b1 g1 r1 __ b2 ..    the fourth unit is not read, or keeps its value
//! rows            r0 r1 r2 ..    g0 g1 g2 ..    b0 b1 b2 ..
//! groups of 3     r0 g0 b0 r1 g1 b1 r2 ..
//! ```
//!
//! One mechanism copies between any two of these sides. Both sides are cut into *windows*, the bytes that are
//! shuffled together: whole registers with AVX-512, lanes of 16 bytes elsewhere. As many groups as a register
//! holds units are a *step*. In a step, a side of groups of `n` units has `n` windows, and a side of rows has
//! a window of each row. Each destination window is put together from source windows. For each pair of
//! windows, there is a table of shuffle indices, which is made with the copy:
//!
//! ```text
//! for each step:
//!     load the windows of the source
//!     for each window of the destination:
//!         store the union of pick(window, table) over all windows of the source
//! ```
//!
//! AVX-512 shuffles three or four windows of the source by one table. Two kinds of copies need no such
//! tables. If both sides have groups, and all bytes of the destination are written, each register is shuffled
//! once, and stored whole: the next store overwrites what follows its groups. With registers of 32 bytes,
//! groups of four units become rows, and rows become groups of four units, by transposing in registers.

use std::fmt;
use std::sync::Arc;

use crate::loops::Offsets;
use crate::machine::LINE;

/// The most units of a group, and the most channels.
pub const MOST_CHANNELS: usize = 8;

/// Bytes of a window with registers of 32 bytes: a lane, inside which a shuffle of AVX2 or NEON stays.
const LANE: usize = 16;

/// The highest bit of a shuffle index. In a window of 16 bytes, an index with this bit selects nothing. In a
/// window of 64 bytes that is shuffled on its own, only an index with this bit selects a byte, because the
/// AVX-512 shuffle takes its mask from these bits.
const HIGHEST: u8 = 0x80;

/// Some units of every group. The unit of channel `c` in group `g` moves from `channels[c].0 + g * steps.0`
/// on the source to `channels[c].1 + g * steps.1` on the destination, in bytes.
///
/// The fields are private, so that the tables of shuffle indices fit them.
#[derive(Clone, PartialEq, Eq)]
pub struct Channels {
    unit: usize,
    groups: usize,
    steps: (usize, usize),
    channels: Offsets,
    picks: Arc<Picks>,
}

/// The numbers, without the tables.
impl fmt::Debug for Channels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Channels { unit, groups, steps, channels, .. } = self;
        write!(f, "{groups} groups x {steps:?}, units of {unit} bytes at {:?}", channels.0)
    }
}

/// A side of a copy of channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Groups of this many units follow each other. The lowest channel is the first unit of its group.
    Groups(usize),
    /// A row for each channel.
    Rows,
}

impl Side {
    /// How a side is laid out on which groups are `step` bytes apart: as rows if that is the length of a
    /// unit, else as groups. `None` if a channel is outside of its group, or if the first unit of a group is
    /// no channel.
    fn of(unit: usize, step: usize, mut offsets: impl Iterator<Item = usize>) -> Option<Side> {
        if step == unit {
            return Some(Side::Rows);
        }
        let units = step / unit;
        let mut begins = false;
        let inside = offsets.all(|offset| {
            begins |= offset == 0;
            offset.is_multiple_of(unit) && offset < step
        });
        (step.is_multiple_of(unit) && (2..=MOST_CHANNELS).contains(&units) && inside && begins)
            .then_some(Side::Groups(units))
    }

    /// The number of windows of a step.
    fn windows(self, channels: usize) -> usize {
        match self {
            Side::Groups(units) => units,
            Side::Rows => channels,
        }
    }
}

/// A vector of shuffle indices, aligned so that it does not cross the end of a cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Line(pub(crate) [u8; LINE]);

/// The tables of shuffle indices of a step, for windows of `window` bytes. For windows of 16 bytes, every
/// lane of a line has the same indices.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Picks {
    pub(crate) window: usize,
    pub(crate) source: Side,
    pub(crate) destination: Side,
    /// How many windows the source and the destination have in a step. There is code for 1 to 4 and for 8
    /// source windows. So 5 to 7 source windows are counted as 8, of which the last ones give no bytes.
    pub(crate) windows: (usize, usize),
    /// The shuffle indices, and then the masks of written bytes. They are one list, because the allocation of
    /// a second list takes as long as filling it.
    tables: Vec<Line>,
    /// If both sides have groups, and every unit of the destination is a channel: how many groups a register
    /// holds, and the indices that shuffle all these groups at once.
    pub(crate) shuffle: Option<(usize, Line)>,
}

impl Channels {
    /// Returns the copy of some units of `groups` groups, for vectors of `register` bytes: 32 or 64. Groups
    /// are `steps` bytes apart, source and destination, and `channels` has the offsets of each channel in the
    /// first group.
    ///
    /// Returns `None` if a unit does not have 1, 2 or 4 bytes, if there are no groups, or if there are no
    /// channels or more than [`MOST_CHANNELS`]. Also returns `None` if a side has neither a row for each
    /// channel nor groups: a group has at most [`MOST_CHANNELS`] units, and its first unit is a channel.
    ///
    /// ```
    /// use strided_copy::{Access, Available, Channels, Copy, Destination, Level, kernel::Kernel};
    ///
    /// // The first three bytes of each four, in reverse order.
    /// let level = Available::up_to(Level::Avx512);
    /// let pixels = Channels::new(1, 2, (4, 3), vec![(2, 0), (1, 1), (0, 2)], level.register()).unwrap();
    /// let copy = Copy::new(Kernel::Channels(pixels), Vec::new(), (0, 0), Access::PLAIN, level)?;
    /// let mut turned = [0; 6];
    /// copy.run(b"bgr_BGR", Destination::from(&mut turned));
    /// assert_eq!(&turned, b"rgbRGB");
    /// # Ok::<(), strided_copy::Misfit>(())
    /// ```
    #[must_use]
    pub fn new(
        unit: usize,
        groups: usize,
        steps: (usize, usize),
        channels: Vec<(usize, usize)>,
        register: usize,
    ) -> Option<Channels> {
        if !matches!(unit, 1 | 2 | 4) || groups == 0 || !(1..=MOST_CHANNELS).contains(&channels.len()) {
            return None;
        }
        let source = Side::of(unit, steps.0, channels.iter().map(|channel| channel.0))?;
        let destination = Side::of(unit, steps.1, channels.iter().map(|channel| channel.1))?;
        let window = match register {
            64 => 64,
            32 => LANE,
            _ => return None,
        };
        let picks = Arc::new(Picks::new(unit, [register, window], steps, &channels, (source, destination)));
        Some(Channels { unit, groups, steps, channels: Offsets(channels), picks })
    }

    /// The length of a unit in bytes.
    #[must_use]
    pub fn unit(&self) -> usize {
        self.unit
    }

    /// The number of groups.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// The distance from one group to the next, source and destination, in bytes.
    #[must_use]
    pub fn steps(&self) -> (usize, usize) {
        self.steps
    }

    /// The offsets of each channel in the first group, source and destination, in bytes.
    #[must_use]
    pub fn channels(&self) -> &Offsets {
        &self.channels
    }

    pub(crate) fn picks(&self) -> &Picks {
        &self.picks
    }
}

impl Picks {
    /// The shuffle indices that take bytes of source windows into a destination window. If the source windows
    /// are shuffled as [one array](is_array), there is a line of indices for each destination window.
    /// Otherwise there is a line for each pair of windows: those of a destination window follow each other,
    /// in the order of the source windows.
    pub(crate) fn indices(&self) -> &[Line] {
        &self.tables[..self.index_lines()]
    }

    fn index_lines(&self) -> usize {
        self.windows.1 * lines_of(self.window, self.windows.0)
    }

    /// For each destination window, a mask with ones at the bytes that channels write. Empty if channels
    /// write all bytes.
    pub(crate) fn written(&self) -> &[Line] {
        &self.tables[self.index_lines()..]
    }

    fn new(
        unit: usize,
        [register, window]: [usize; 2],
        steps: (usize, usize),
        channels: &[(usize, usize)],
        (source, destination): (Side, Side),
    ) -> Picks {
        let outputs = destination.windows(channels.len());
        let inputs = match source.windows(channels.len()) {
            few @ 1..=4 => few,
            _ => MOST_CHANNELS,
        };
        let of_window = lines_of(window, inputs);
        let (picked, nothing) = match window {
            LINE => (if of_window < inputs { 0 } else { HIGHEST }, 0),
            _ => (0, HIGHEST),
        };
        let pairs = of_window * outputs;
        let mut tables = Vec::with_capacity(pairs + outputs);
        tables.resize(pairs, Line([nothing; LINE]));
        // Rows, and groups whose units are all channels, need no mask on the destination: every byte is
        // written.
        let units = channels.iter().fold(0_u8, |units, &(_, to)| units | 1 << (to / unit).min(MOST_CHANNELS - 1));
        let is_whole = match destination {
            Side::Rows => true,
            Side::Groups(count) => usize::try_from(units.count_ones()) == Ok(count),
        };
        if !is_whole {
            tables.resize(pairs + outputs, Line([0; LINE]));
        }
        let (indices, written) = tables.split_at_mut(pairs);
        // A window has 16 or 64 bytes, so offsets are shifted: divisions would take most of the time here.
        let shift = window.trailing_zeros();
        // Where a channel's unit begins, if the windows of a step follow each other: at its offset in the
        // group, or at the start of its row's window.
        // No unit crosses the end of a window, because offsets are multiples of the unit's length.
        let start = |side: Side, offset: usize, channel: usize| match side {
            Side::Groups(_) => offset,
            Side::Rows => channel * window,
        };
        for (channel, &(from, to)) in channels.iter().enumerate() {
            let (mut from, mut to) = (start(source, from, channel), start(destination, to, channel));
            for _ in 0..window / unit {
                let (output, at) = (to >> shift, to & (window - 1));
                let (line, index) = if of_window < inputs { (0, from) } else { (from >> shift, from & (window - 1)) };
                let slots = &mut indices[output * of_window + line].0[at..at + unit];
                let places = slots.iter_mut().zip(index..);
                places.for_each(|(slot, index)| *slot = picked | u8::try_from(index).unwrap_or(0));
                if let Some(line) = written.get_mut(output) {
                    line.0[at..at + unit].fill(0xff);
                }
                (from, to) = (from + steps.0, to + steps.1);
            }
        }
        if window < LINE {
            for Line(line) in &mut tables {
                let (lanes, _) = line.as_chunks_mut::<LANE>();
                lanes.fill(lanes[0]);
            }
        }
        let are_groups = matches!((source, destination), (Side::Groups(_), Side::Groups(_)));
        let shuffle = (are_groups && is_whole).then(|| {
            let (held, mut line) = (register / steps.0.max(steps.1), Line([0; LINE]));
            for group in 0..held {
                for &(from, to) in channels {
                    let slots = line.0.iter_mut().skip(group * steps.1 + to).take(unit);
                    slots.zip(group * steps.0 + from..).for_each(|(slot, i)| *slot = u8::try_from(i).unwrap_or(0));
                }
            }
            (held, line)
        });
        Picks { window, source, destination, windows: (inputs, outputs), tables, shuffle }
    }
}

/// How many lines of shuffle indices there are for a destination window.
fn lines_of(window: usize, inputs: usize) -> usize {
    if window == LINE && is_array(inputs) { 1 } else { inputs }
}

/// Whether one shuffle takes all source windows, if these are whole registers: three or four. Two windows are
/// shuffled one after the other, in 0.8 of the time of a shuffle that takes both (Zen 5).
pub(crate) const fn is_array(inputs: usize) -> bool {
    matches!(inputs, 3 | 4)
}
