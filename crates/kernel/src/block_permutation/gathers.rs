//! The tables of one period: of which source windows, and by which shuffles, each destination vector is made.

use std::borrow::Cow;

/// The smallest unit that a permutation moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Atom {
    /// Half a byte. If two elements share a byte, the first of the two is its low half.
    Nibble,
    /// A whole byte.
    Byte,
}

impl Atom {
    pub(crate) fn per_byte(self) -> usize {
        match self {
            Atom::Nibble => 2,
            Atom::Byte => 1,
        }
    }
}

/// Bytes of a lane, the part of a register inside which most shuffles move bytes. A window of the source has
/// this length, unless windows are whole registers.
const LANE: usize = 16;

/// Length in bytes of a source window that is a whole AVX-512 register.
const LONGEST_WINDOW: usize = 64;

pub(crate) const MOST_REGISTERS: usize = 4;

/// The most source windows from which one lane of a destination vector is made. With more windows, the loads
/// take longer than copying element by element (found by trial on Zen 3).
pub(crate) const MOST_WINDOWS: usize = 16;

/// The least size of a period in bytes, if there are enough blocks for it. A period takes blocks until it has
/// this size, because starting a period costs as much as moving about 256 bytes (found by trial on Zen 3).
pub(super) const LEAST_PERIOD: usize = 256;

/// The largest size of a period on the destination, in bytes. Staging buffers have room for periods of this
/// size.
pub(crate) const LONGEST_PERIOD: usize = 1 << 12;

/// The most destination vectors of a period: the shortest vectors have 32 bytes.
const MOST_VECTORS: usize = LONGEST_PERIOD / 32;

/// The largest size, in bytes, of the shuffle indices of a period: half an L1 cache of 32 KiB.
const LARGEST_TABLE: usize = 1 << 14;

/// A shuffle index that selects no byte: the result has a zero byte there.
const NOTHING: u8 = 0x80;

/// A line of a table. Its alignment keeps every vector of a table inside one cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
struct Line([u8; 64]);

/// Vectors of a period that take equally many rounds of loads and shuffles, made by one unrolled loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) rounds: usize,
    pub(crate) vectors: usize,
}

/// The tables of one period. For each destination vector, they have the source windows that are loaded, and
/// the shuffles of these windows. The vectors are sorted by their number of rounds. If atoms are nibbles,
/// each vector takes two shuffles: one for the low halves of its bytes, and one for the high halves.
///
/// # Invariants
///
/// 1. Every window of `window` bytes is inside the source bytes of a period, whose number is
///    `(blocks - 1) * |source_step| + span`.
/// 2. Every entry of `offsets` is at least a vector in front of the end of a period on the destination.
/// 3. The number of entries of `offsets` is the number of vectors of all groups. For each of these vectors,
///    the other tables have: an offset for each shuffle, round and lane; a vector of indices for each shuffle
///    (for each round of each shuffle, if windows are lanes); and a vector of bits, if atoms are nibbles.
///    [`tables`](Self::tables) asserts this invariant.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gathers {
    register: usize,
    window: usize,
    blocks: usize,
    /// How many shuffles a vector takes: one, or two if atoms are nibbles.
    times: usize,
    /// How many vectors there are of each number of rounds. Only the first `group_count` entries are used.
    groups: [Group; MOST_WINDOWS],
    group_count: usize,
    /// The destination offset of each vector, in bytes from the start of a period.
    offsets: Vec<u32>,
    /// The source offset of each window in bytes, for each vector, shuffle, round and lane, in this order.
    windows: Vec<u32>,
    /// The shuffle indices, for each vector and shuffle. If windows are lanes, there is a vector of indices
    /// for each round. If windows are whole registers, there is one vector of indices for all rounds.
    indices: Vec<Line>,
    /// If atoms are nibbles: for each vector, a mask of the bits that come from high halves of shuffled
    /// bytes.
    high: Vec<Line>,
}

/// Pointers into the tables of a [`Gathers`], at the entries of the vector that is made next.
#[derive(Clone, Copy)]
pub(crate) struct Tables {
    pub(crate) offsets: *const u32,
    pub(crate) windows: *const u32,
    pub(crate) indices: *const u8,
    pub(crate) high: *const u8,
}

impl Gathers {
    /// Makes the tables for `blocks` blocks of `block` destination bytes. On the source, the blocks begin
    /// `step` bytes apart, which may be negative, and each spans `span` bytes. For each atom of a destination
    /// block, `sources` has its index on the source. Returns `None` if a lane needs more than `most_windows`
    /// windows, or the tables would be too large.
    pub(super) fn new(
        atom: Atom,
        sources: &[u32],
        [block, span]: [usize; 2],
        step: isize,
        blocks: usize,
        [register, most_windows]: [usize; 2],
    ) -> Option<Gathers> {
        let blocks = period(block, blocks, register)?;
        let source = Source::new(
            atom,
            sources,
            step,
            blocks,
            (blocks - 1).checked_mul(step.unsigned_abs())?.checked_add(span)?,
        )?;
        // Whole AVX-512 registers are tried first as windows: one shuffle puts the bytes of up to four
        // registers of 64 bytes in any order.
        let whole = [register, register, most_windows.min(MOST_REGISTERS)];
        let whole = (register == 64).then(|| Gathers::of(&source, blocks, whole)).flatten();
        whole.or_else(|| Gathers::of(&source, blocks, [register, LANE, most_windows.min(MOST_WINDOWS)]))
    }

    /// Makes the tables with windows of `window` bytes. Returns `None` if a lane needs more than `most`
    /// windows.
    ///
    /// The windows for all lanes are found before the tables are allocated, so a permutation with too many
    /// windows allocates no tables. The tables have exact lengths, and vectors are sorted by their number of
    /// rounds.
    fn of(source: &Source<'_>, blocks: usize, [register, window, most]: [usize; 3]) -> Option<Gathers> {
        let (period, times) = (source.bytes(), source.atom.per_byte());
        if source.span < window || period < register {
            return None;
        }
        let whole = window != LANE;
        let mut vectors = [(0, 0, 0); MOST_VECTORS];
        let vectors = vectors.get_mut(..period.div_ceil(register))?;
        let mut lanes = Vec::with_capacity(vectors.len() * times * (register / window));
        let (mut all_rounds, mut bytes) = (0, 0);
        for (vector, first) in vectors.iter_mut().zip((0..period).step_by(register)) {
            // The last vector ends at the end of the period, so it may overlap the vector in front of it.
            let first = first.min(period - register);
            let own = lanes.len();
            let rounds = source.rounds(first, [register, window, most], &mut lanes)?;
            all_rounds += times * rounds;
            bytes += times * if whole { 1 } else { rounds } * register;
            if bytes > LARGEST_TABLE {
                return None;
            }
            *vector = (rounds, first, own);
        }
        let mut gathers = Gathers {
            register,
            window,
            blocks,
            times,
            groups: [Group { rounds: 0, vectors: 0 }; MOST_WINDOWS],
            group_count: 0,
            offsets: Vec::with_capacity(vectors.len()),
            windows: Vec::with_capacity(all_rounds * (register / window)),
            indices: vec![Line([NOTHING; 64]); bytes.div_ceil(64)],
            high: vec![Line([0; 64]); if times == 2 { (vectors.len() * register).div_ceil(64) } else { 0 }],
        };
        let mut entry = 0;
        for count in 1..=MOST_WINDOWS {
            for &(rounds, first, own) in vectors.iter().filter(|&&(rounds, ..)| rounds == count) {
                gathers.push(source, rounds, first, &lanes[own..], &mut entry)?;
            }
        }
        Some(gathers)
    }

    /// Adds to the tables the vector that begins at destination byte `first` of a period. The first entries
    /// of `found` are what its lanes are made of. The vector's shuffle indices are written from byte `entry`
    /// of `indices` on, and `entry` moves to their end.
    fn push(
        &mut self,
        source: &Source<'_>,
        rounds: usize,
        first: usize,
        found: &[Lane],
        entry: &mut usize,
    ) -> Option<()> {
        let whole = self.of_registers();
        match self.groups[..self.group_count].last_mut() {
            Some(group) if group.rounds == rounds => group.vectors += 1,
            _ => {
                *self.groups.get_mut(self.group_count)? = Group { rounds, vectors: 1 };
                self.group_count += 1;
            }
        }
        let number = self.offsets.len();
        self.offsets.push(u32::try_from(first).ok()?);
        let lanes = self.register / self.window;
        for time in 0..self.times {
            let windows = self.windows.len();
            self.windows.resize(windows + rounds * lanes, 0);
            for lane in 0..lanes {
                let begins = first + lane * self.window;
                let found = &found[time * lanes + lane];
                for round in 0..rounds {
                    // In rounds after the last window of a lane, the lane loads this window again.
                    let last = found.count - 1;
                    self.windows[windows + round * lanes + lane] = found.begins[round.min(last)];
                }
                for (i, &(round, index)) in found.places[..self.window].iter().enumerate() {
                    let (round, index) = (usize::from(round), usize::from(index));
                    let (round, index) = if whole { (0, round * self.window + index) } else { (round, index) };
                    let (i, high) = (lane * self.window + i, source.is_high(begins + i, time));
                    let at = *entry + round * self.register + i;
                    self.indices[at / 64].0[at % 64] = u8::try_from(index).ok()?;
                    if high {
                        let at = number * self.register + i;
                        self.high[at / 64].0[at % 64] |= if time == 0 { 0x0f } else { 0xf0 };
                    }
                }
            }
            *entry += if whole { 1 } else { rounds } * self.register;
        }
        Some(())
    }

    /// The length of the vectors that the tables were made for, in bytes.
    pub(crate) fn register(&self) -> usize {
        self.register
    }

    pub(crate) fn window(&self) -> usize {
        self.window
    }

    /// Whether windows are whole registers. Otherwise windows are as long as lanes.
    pub(crate) fn of_registers(&self) -> bool {
        self.window != LANE
    }

    pub(crate) fn blocks(&self) -> usize {
        self.blocks
    }

    pub(crate) fn of_nibbles(&self) -> bool {
        self.times == 2
    }

    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups[..self.group_count]
    }

    pub(crate) fn windows(&self) -> &[u32] {
        &self.windows
    }

    /// Pointers to the tables.
    ///
    /// # Panics
    ///
    /// If a table has fewer entries than invariant 3 of [`Gathers`] requires: a defect of this module.
    pub(crate) fn tables(&self) -> Tables {
        let all = |entries: fn(&Group) -> usize| self.groups().iter().map(entries).sum::<usize>();
        let (vectors, rounds) = (all(|group| group.vectors), all(|group| group.vectors * group.rounds));
        let shuffles = self.times * if self.of_registers() { vectors } else { rounds };
        assert!(self.offsets.len() == vectors, "an entry for each vector");
        assert!(self.windows.len() == rounds * self.times * (self.register / self.window), "a window for each lane");
        assert!(self.indices.len() * 64 >= shuffles * self.register, "a vector of indices for each shuffle");
        assert!(self.times == 1 || self.high.len() * 64 >= vectors * self.register, "a vector of bits for each");
        Tables {
            offsets: self.offsets.as_ptr(),
            windows: self.windows.as_ptr(),
            indices: self.indices.as_ptr().cast(),
            high: self.high.as_ptr().cast(),
        }
    }
}

/// How many of `blocks` blocks make a period: the fewest that have 256 bytes together, and whose last vector
/// overlaps the vector in front of it by at most a sixteenth of the period. If there is no such number, the
/// largest number of blocks that a period may have. `None` if so many blocks are shorter than a vector.
fn period(block: usize, blocks: usize, register: usize) -> Option<usize> {
    let waste = |count: usize| (count * block).next_multiple_of(register) - count * block;
    let fits = |count: usize| count * block >= register;
    let most = blocks.min(register.max(LEAST_PERIOD.div_ceil(block))).min(LONGEST_PERIOD / block);
    let good = |&count: &usize| {
        let bytes = count * block;
        bytes >= LEAST_PERIOD && waste(count) * 16 <= bytes
    };
    (1..=most).find(good).or_else(|| fits(most).then_some(most))
}

struct Source<'a> {
    atom: Atom,
    /// For each atom of a period, in destination order: its index among the source atoms of the period.
    atoms: Cow<'a, [u32]>,
    /// How many source bytes a period spans.
    span: usize,
}

impl Source<'_> {
    /// What a period of `blocks` blocks reads: on the source, blocks begin `step` bytes apart and span `span`
    /// bytes together. `None` if the index of an atom does not fit 32 bits.
    fn new(atom: Atom, sources: &[u32], step: isize, blocks: usize, span: usize) -> Option<Source<'_>> {
        let per_byte = atom.per_byte();
        u32::try_from(span.checked_mul(per_byte)?).ok()?;
        if blocks == 1 {
            return Some(Source { atom, atoms: Cow::Borrowed(sources), span });
        }
        let mut atoms = Vec::with_capacity(blocks * sources.len());
        for block in 0..blocks {
            let before = if step < 0 { blocks - 1 - block } else { block };
            let begins = u32::try_from(before * step.unsigned_abs() * per_byte).ok()?;
            atoms.extend(sources.iter().map(|source| begins + source));
        }
        Some(Source { atom, atoms: Cow::Owned(atoms), span })
    }

    /// Size of a period on the destination, in bytes.
    fn bytes(&self) -> usize {
        self.atoms.len() / self.atom.per_byte()
    }

    /// The index of the source byte from which atom `time` of destination byte `at` of a period comes. A byte
    /// has one atom, or two if atoms are half bytes: `time` is 0 for the low half, and 1 for the high half.
    fn byte(&self, at: usize, time: usize) -> u32 {
        match self.atom {
            Atom::Byte => self.atoms[at],
            Atom::Nibble => self.atoms[2 * at + time] / 2,
        }
    }

    /// Whether atom `time` of destination byte `at` of a period comes from the high half of its source byte.
    fn is_high(&self, at: usize, time: usize) -> bool {
        self.atom == Atom::Nibble && self.atoms[2 * at + time] % 2 == 1
    }

    /// For each shuffle of the vector that begins at destination byte `first`, adds to `lanes` what its lanes
    /// are made of. Returns the number of rounds of the vector: the largest number of windows of a lane, or
    /// more. `None` if a lane needs more than `most` windows.
    fn rounds(&self, first: usize, [register, window, most]: [usize; 3], lanes: &mut Vec<Lane>) -> Option<usize> {
        let mut rounds = 0;
        for time in 0..self.atom.per_byte() {
            for first in (first..first + register).step_by(window) {
                let lane = match window {
                    LANE => self.lane::<LANE>(first, time, most),
                    _ => self.lane::<LONGEST_WINDOW>(first, time, most),
                }?;
                rounds = rounds.max(lane.count);
                lanes.push(lane);
            }
        }
        // If windows are whole registers and atoms are nibbles, there is code for four windows only.
        Some(if window != LANE && self.atom == Atom::Nibble { MOST_REGISTERS } else { rounds })
    }

    /// Finds the source windows for the lane that begins at destination byte `first`, in shuffle number
    /// `time`. `None` if the lane needs more than `most` windows.
    fn lane<const WINDOW: usize>(&self, first: usize, time: usize, most: usize) -> Option<Lane> {
        let length = u32::try_from(WINDOW).ok()?;
        let last = u32::try_from(self.span - WINDOW).ok()?;
        let bytes: [u32; WINDOW] = std::array::from_fn(|i| self.byte(first + i, time));
        // For each byte of the lane: how many windows end before its source byte, and so the number of its
        // own window; and the index of the source byte in that window.
        let (mut rounds, mut indices) = ([0; WINDOW], [0; WINDOW]);
        let mut lane = Lane { begins: [0; MOST_WINDOWS], count: 0, places: [(0, 0); LONGEST_WINDOW] };
        // The lowest source byte of the lane that is in no window yet.
        let mut next = bytes.iter().copied().min()?;
        while next != u32::MAX {
            if lane.count == most {
                return None;
            }
            // A window may not end after the source bytes of the period, so the last one may begin earlier.
            let (first, begins) = (next, next.min(last));
            lane.begins[lane.count] = begins;
            lane.count += 1;
            let end = begins + length;
            next = u32::MAX;
            for ((round, index), &byte) in rounds.iter_mut().zip(&mut indices).zip(&bytes) {
                let later = byte >= end;
                *round += u32::from(later);
                *index = if byte >= first { byte.wrapping_sub(begins) } else { *index };
                next = next.min(if later { byte } else { u32::MAX });
            }
        }
        for (place, (round, index)) in lane.places.iter_mut().zip(rounds.into_iter().zip(indices)) {
            *place = (u8::try_from(round).ok()?, u8::try_from(index).ok()?);
        }
        Some(lane)
    }
}

/// What one lane of a destination vector is made of, in one shuffle: its source windows.
struct Lane {
    /// Where the windows begin, in rising order.
    begins: [u32; MOST_WINDOWS],
    count: usize,
    /// Where the source byte of each byte of the lane is: in which window, and at which index of it.
    places: [(u8, u8); LONGEST_WINDOW],
}
