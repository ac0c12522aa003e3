//! The tables of one period: which windows of the source each destination vector loads, and how it shuffles
//! them.

use super::Atom;

/// Bytes of a lane, and of a window where lanes are shuffled for themselves.
const LANE: usize = 16;

/// Registers that one shuffle of whole registers reads, at most.
pub(crate) const MOST_REGISTERS: usize = 4;

/// Windows of a lane, at most: with more, the loads take longer than element by element. By trial (Z3).
const MOST_ROUNDS: usize = 16;

/// Bytes of a period, at least, if there are as many blocks: a shorter one begins too often. By trial (Z3).
const LEAST_PERIOD: usize = 256;

/// Bytes of a period on the destination, at most: those of the staging buffer in front of non-temporal
/// stores.
pub(crate) const LONGEST_PERIOD: usize = 1 << 12;

/// Bytes of the indices of a period, at most: half an L1 cache of 32 KiB.
const LARGEST_TABLE: usize = 1 << 14;

/// An index that chooses no byte of a lane.
const NOTHING: u8 = 0x80;

/// A cache line of a table: no vector of it is in two lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
struct Line([u8; 64]);

/// Vectors that are put together in the same number of rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) rounds: usize,
    /// How many vectors.
    pub(crate) vectors: usize,
}

/// The tables of one period: for each destination vector, those with few rounds first, which windows of the
/// source it loads and how it shuffles them. Vectors of nibbles are shuffled twice, for the low halves of
/// their bytes and then for the high halves.
///
/// # Invariants
///
/// 1. Every window of `window` bytes, from its offset on, is inside the source bytes of a period, which are
///    `(blocks - 1) * source_step + span`.
/// 2. Every place is at least a vector in front of the end of a period on the destination.
/// 3. There are as many places as the groups have vectors, and the other tables have entries for each of
///    them: `rounds` offsets for each lane and time, a vector of indices for each time (and in lanes for each
///    round), and of nibbles a vector of bits. [`tables`](Self::tables) asserts it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gathers {
    register: usize,
    window: usize,
    /// Blocks of a period.
    blocks: usize,
    /// How often a vector is shuffled: once, or twice if it is of nibbles.
    times: usize,
    groups: Vec<Group>,
    /// Where each vector begins on the destination.
    places: Vec<u32>,
    /// Offsets of windows, for each vector, time, round and lane.
    windows: Vec<u32>,
    /// For each vector and time: in lanes, indices for each round; of whole registers, indices for all.
    indices: Vec<Line>,
    /// For each vector of nibbles, the bits that are taken from the high half of what was shuffled.
    high: Vec<Line>,
}

/// The tables of a [`Gathers`], as pointers to the entries of the next vector.
#[derive(Clone, Copy)]
pub(crate) struct Tables {
    pub(crate) places: *const u32,
    pub(crate) windows: *const u32,
    pub(crate) indices: *const u8,
    pub(crate) high: *const u8,
}

impl Gathers {
    /// The tables for blocks whose atoms come from these atoms of a source block. `block` bytes follow each
    /// other on the destination, blocks begin `step` bytes after each other on the source, and span `span`
    /// bytes there.
    pub(super) fn new(
        atom: Atom,
        sources: &[u32],
        [block, step, span]: [usize; 3],
        blocks: usize,
        register: usize,
    ) -> Option<Gathers> {
        let blocks = period(block, blocks, register)?;
        let source = Source { atom, sources, block, step, span: (blocks - 1).checked_mul(step)?.checked_add(span)? };
        u32::try_from(source.span).ok()?;
        // Whole registers need no more than a few shuffles for any order of their bytes.
        let whole = (register == 64).then(|| Gathers::of(&source, blocks, register, register)).flatten();
        whole.or_else(|| Gathers::of(&source, blocks, register, LANE))
    }

    /// The tables with windows of this many bytes.
    fn of(source: &Source<'_>, blocks: usize, register: usize, window: usize) -> Option<Gathers> {
        let period = blocks * source.block;
        if source.span < window || period < register {
            return None;
        }
        let times = source.atom.per_byte();
        let whole = window != LANE;
        let mut vectors = Vec::new();
        let mut bytes = 0;
        for first in (0..period).step_by(register) {
            // The last vector ends where the period ends.
            let vector = Vector::new(source, first.min(period - register), [register, window])?;
            bytes += times * if whole { 1 } else { vector.rounds } * register;
            if bytes > LARGEST_TABLE {
                return None;
            }
            vectors.push(vector);
        }
        vectors.sort_by_key(|vector| vector.rounds);
        let mut gathers = Gathers {
            register,
            window,
            blocks,
            times,
            groups: Vec::new(),
            places: Vec::new(),
            windows: Vec::new(),
            indices: vec![Line([NOTHING; 64]); bytes.div_ceil(64)],
            high: vec![Line([0; 64]); if times == 2 { (vectors.len() * register).div_ceil(64) } else { 0 }],
        };
        let mut place = 0;
        for vector in &vectors {
            gathers.push(vector, &mut place)?;
        }
        Some(gathers)
    }

    /// Adds a vector; `place` is where its indices begin.
    fn push(&mut self, vector: &Vector, place: &mut usize) -> Option<()> {
        let rounds = vector.rounds;
        let whole = self.of_registers();
        match self.groups.last_mut() {
            Some(group) if group.rounds == rounds => group.vectors += 1,
            _ => self.groups.push(Group { rounds, vectors: 1 }),
        }
        let number = self.places.len();
        self.places.push(u32::try_from(vector.first).ok()?);
        for (time, lanes) in vector.lanes.chunks_exact(self.register / self.window).enumerate() {
            for round in 0..rounds {
                // Lanes that need fewer windows load one again.
                self.windows.extend(lanes.iter().map(|lane| lane.windows[round.min(lane.windows.len() - 1)]));
            }
            for (i, byte) in lanes.iter().flat_map(|lane| &lane.bytes).enumerate() {
                let (round, index) =
                    if whole { (0, byte.round * self.window + byte.index) } else { (byte.round, byte.index) };
                let at = *place + round * self.register + i;
                self.indices[at / 64].0[at % 64] = u8::try_from(index).ok()?;
                if byte.high {
                    let at = number * self.register + i;
                    self.high[at / 64].0[at % 64] |= if time == 0 { 0x0f } else { 0xf0 };
                }
            }
            *place += if whole { 1 } else { rounds } * self.register;
        }
        Some(())
    }

    /// The length of the vectors that it is for.
    pub(crate) fn register(&self) -> usize {
        self.register
    }

    /// Are windows as long as vectors?
    pub(crate) fn of_registers(&self) -> bool {
        self.window != LANE
    }

    /// Blocks of a period.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks
    }

    /// Is a vector shuffled twice, for each half of its bytes?
    pub(crate) fn of_nibbles(&self) -> bool {
        self.times == 2
    }

    /// The vectors of a period, in the order of the tables.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The tables, with the entries that invariant 3 names.
    ///
    /// # Panics
    ///
    /// If there are not as many: that would be an error of this module.
    pub(crate) fn tables(&self) -> Tables {
        let all = |entries: fn(&Group) -> usize| self.groups.iter().map(entries).sum::<usize>();
        let (vectors, rounds) = (all(|group| group.vectors), all(|group| group.vectors * group.rounds));
        let shuffles = self.times * if self.of_registers() { vectors } else { rounds };
        assert!(self.places.len() == vectors, "a place for each vector");
        assert!(self.windows.len() == rounds * self.times * (self.register / self.window), "a window for each lane");
        assert!(self.indices.len() * 64 >= shuffles * self.register, "a vector of indices for each shuffle");
        assert!(self.times == 1 || self.high.len() * 64 >= vectors * self.register, "a vector of bits for each");
        Tables {
            places: self.places.as_ptr(),
            windows: self.windows.as_ptr(),
            indices: self.indices.as_ptr().cast(),
            high: self.high.as_ptr().cast(),
        }
    }
}

/// Where the bytes of one destination vector come from.
struct Vector {
    /// Where it begins in a period.
    first: usize,
    /// The most windows of a lane, or as many as there is code for.
    rounds: usize,
    /// The lanes for each time.
    lanes: Vec<Lane>,
}

impl Vector {
    /// `None` if a lane needs more windows than there is code for.
    fn new(source: &Source<'_>, first: usize, [register, window]: [usize; 2]) -> Option<Vector> {
        let whole = window != LANE;
        let most = if whole { MOST_REGISTERS } else { MOST_ROUNDS };
        let mut lanes = Vec::new();
        let times = source.atom.per_byte();
        for time in 0..times {
            for lane in (first..first + register).step_by(window) {
                lanes.push(Lane::new(source, lane, time, window, most)?);
            }
        }
        let rounds = lanes.iter().map(|lane| lane.windows.len()).max()?;
        // Of whole registers of nibbles, there is code for four alone.
        Some(Vector { first, rounds: if whole && times == 2 { MOST_REGISTERS } else { rounds }, lanes })
    }
}

/// How many of `blocks` blocks make a period: as few as waste little of the last vector, or else as few as
/// waste none. `None` if all of them together are less than a vector.
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

/// The source of a period.
struct Source<'a> {
    atom: Atom,
    sources: &'a [u32],
    /// Bytes of a block on the destination, and from one to the next on the source.
    block: usize,
    step: usize,
    /// Bytes of a period.
    span: usize,
}

impl Source<'_> {
    /// The byte that holds an atom of destination byte `at` of a period, and whether it is the high half.
    fn byte(&self, at: usize, time: usize) -> Option<(usize, bool)> {
        let per_byte = self.atom.per_byte();
        let (block, inside) = (at / self.block, at % self.block);
        let atom = usize::try_from(*self.sources.get(inside * per_byte + time)?).ok()?;
        Some((block * self.step + atom / per_byte, atom % per_byte == 1))
    }
}

/// Where the bytes of one lane come from, one time.
struct Lane {
    windows: Vec<u32>,
    bytes: Vec<LaneByte>,
}

#[derive(Clone, Copy)]
struct LaneByte {
    /// Which window, and which byte of it.
    round: usize,
    index: usize,
    high: bool,
}

impl Lane {
    /// The lane that begins at destination byte `first` of a period. `None` if it needs more than `most`
    /// windows.
    fn new(source: &Source<'_>, first: usize, time: usize, window: usize, most: usize) -> Option<Lane> {
        let bytes = (first..first + window).map(|at| source.byte(at, time)).collect::<Option<Vec<_>>>()?;
        let mut lane = Lane { windows: Vec::new(), bytes: vec![LaneByte { round: 0, index: 0, high: false }; window] };
        let mut sorted: Vec<usize> = (0..window).collect();
        sorted.sort_unstable_by_key(|&i| bytes[i].0);
        let mut begins = 0;
        for i in sorted {
            let (byte, high) = bytes[i];
            if lane.windows.is_empty() || byte >= begins + window {
                if lane.windows.len() == most {
                    return None;
                }
                // A window that would end after the period begins earlier.
                begins = byte.min(source.span - window);
                lane.windows.push(u32::try_from(begins).ok()?);
            }
            lane.bytes[i] = LaneByte { round: lane.windows.len() - 1, index: byte - begins, high };
        }
        Some(lane)
    }
}
