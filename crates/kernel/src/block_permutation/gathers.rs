//! The tables of one period: which source windows each destination vector loads, and how it shuffles them.

use super::Atom;

/// Bytes of a lane, and of a window whose shuffle stays inside a lane.
const LANE: usize = 16;

/// The most registers that one shuffle of whole registers reads.
pub(crate) const MOST_REGISTERS: usize = 4;

/// The most windows of a lane. With more, the loads take longer than copying element by element (found by
/// trial on Zen 3).
const MOST_ROUNDS: usize = 16;

/// The least size of a period in bytes, if there are enough blocks. A shorter period pays too much for
/// starting (found by trial on Zen 3).
const LEAST_PERIOD: usize = 256;

/// The largest size of a period on the destination, in bytes. The staging buffer in front of non-temporal
/// stores has this size.
pub(crate) const LONGEST_PERIOD: usize = 1 << 12;

/// The largest table of indices of a period, in bytes: half an L1 cache of 32 KiB.
const LARGEST_TABLE: usize = 1 << 14;

/// An index that selects no byte of a lane and gives a zero.
const NOTHING: u8 = 0x80;

/// A cache line of a table. The alignment keeps every vector of a table inside one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
struct Line([u8; 64]);

/// Vectors that take the same number of rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) rounds: usize,
    /// How many vectors the group has.
    pub(crate) vectors: usize,
}

/// The tables of one period: for each destination vector, sorted by the number of rounds, which source
/// windows it loads and how it shuffles them. Vectors of nibbles are shuffled twice: for the low halves of
/// their bytes, and then for the high halves.
///
/// # Invariants
///
/// 1. Every window of `window` bytes is inside the source bytes of a period, which are `(blocks - 1) *
///    source_step + span`.
/// 2. Every entry of `offsets` is at least a vector in front of the end of a period on the destination.
/// 3. The number of entries of `offsets` is the number of vectors of all groups. For each of these vectors,
///    the other tables have: an offset for each shuffle, round and lane; a vector of indices for each shuffle
///    (for each round of each shuffle, if windows are lanes); and a vector of bits, if atoms are nibbles.
///    [`tables`](Self::tables) asserts this.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gathers {
    register: usize,
    window: usize,
    /// How many blocks a period has.
    blocks: usize,
    /// How many times a vector is shuffled: once, or twice if atoms are nibbles.
    times: usize,
    groups: Vec<Group>,
    /// The offset of each vector on the destination.
    offsets: Vec<u32>,
    /// The source offsets of windows, for each vector, shuffle, round and lane.
    windows: Vec<u32>,
    /// The indices, for each vector and shuffle. There is a vector of indices for each round if windows are
    /// lanes, and one for all rounds if windows are whole registers.
    indices: Vec<Line>,
    /// For each vector of nibbles, the bits that are taken from the high half of the shuffled byte.
    high: Vec<Line>,
}

/// Pointers into the tables of a [`Gathers`], to the entries of the next vector.
#[derive(Clone, Copy)]
pub(crate) struct Tables {
    pub(crate) offsets: *const u32,
    pub(crate) windows: *const u32,
    pub(crate) indices: *const u8,
    pub(crate) high: *const u8,
}

impl Gathers {
    /// The tables for blocks of `block` destination bytes, which begin `step` bytes apart on the source and
    /// span `span` bytes there. `sources` has the source index of each atom of a destination block. `None` if
    /// a lane needs more windows than there is code for, or the tables would be too large.
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
        // Any order of the bytes of four registers takes one shuffle of whole registers, so that is tried
        // first.
        let whole = (register == 64).then(|| Gathers::of(&source, blocks, register, register)).flatten();
        whole.or_else(|| Gathers::of(&source, blocks, register, LANE))
    }

    /// The tables with windows of `window` bytes.
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
            // The last vector ends with the period, so it may begin earlier.
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
            offsets: Vec::new(),
            windows: Vec::new(),
            indices: vec![Line([NOTHING; 64]); bytes.div_ceil(64)],
            high: vec![Line([0; 64]); if times == 2 { (vectors.len() * register).div_ceil(64) } else { 0 }],
        };
        let mut entry = 0;
        for vector in &vectors {
            gathers.push(vector, &mut entry)?;
        }
        Some(gathers)
    }

    /// Adds a vector to the tables. `entry` is where its indices begin, and is moved behind them.
    fn push(&mut self, vector: &Vector, entry: &mut usize) -> Option<()> {
        let rounds = vector.rounds;
        let whole = self.of_registers();
        match self.groups.last_mut() {
            Some(group) if group.rounds == rounds => group.vectors += 1,
            _ => self.groups.push(Group { rounds, vectors: 1 }),
        }
        let number = self.offsets.len();
        self.offsets.push(u32::try_from(vector.first).ok()?);
        for (time, lanes) in vector.lanes.chunks_exact(self.register / self.window).enumerate() {
            for round in 0..rounds {
                // A lane with fewer windows than rounds loads its last window again.
                self.windows.extend(lanes.iter().map(|lane| lane.windows[round.min(lane.windows.len() - 1)]));
            }
            for (i, byte) in lanes.iter().flat_map(|lane| &lane.bytes).enumerate() {
                let (round, index) =
                    if whole { (0, byte.round * self.window + byte.index) } else { (byte.round, byte.index) };
                let at = *entry + round * self.register + i;
                self.indices[at / 64].0[at % 64] = u8::try_from(index).ok()?;
                if byte.high {
                    let at = number * self.register + i;
                    self.high[at / 64].0[at % 64] |= if time == 0 { 0x0f } else { 0xf0 };
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

    /// Whether windows are as long as vectors, not as lanes.
    pub(crate) fn of_registers(&self) -> bool {
        self.window != LANE
    }

    /// How many blocks a period has.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks
    }

    /// Whether atoms are nibbles, so that each vector is shuffled twice.
    pub(crate) fn of_nibbles(&self) -> bool {
        self.times == 2
    }

    /// The groups of vectors of a period, in the order of the tables.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Pointers to the tables.
    ///
    /// # Panics
    ///
    /// If a table has fewer entries than invariant 3 says, which would be an error of this module.
    pub(crate) fn tables(&self) -> Tables {
        let all = |entries: fn(&Group) -> usize| self.groups.iter().map(entries).sum::<usize>();
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

/// Where the bytes of one destination vector come from.
struct Vector {
    /// The offset of the vector in a period.
    first: usize,
    /// The number of rounds: the most windows of any of its lanes, or more if there is code for more only.
    rounds: usize,
    /// The lanes of the first shuffle, then those of the second.
    lanes: Vec<Lane>,
}

impl Vector {
    /// The vector that begins at destination byte `first` of a period. `None` if a lane needs more windows
    /// than there is code for.
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
        // The code for whole registers of nibbles always takes four windows.
        Some(Vector { first, rounds: if whole && times == 2 { MOST_REGISTERS } else { rounds }, lanes })
    }
}

/// How many of `blocks` blocks make a period: as few as waste at most a sixteenth of their vectors, or else
/// as many as are allowed. `None` if all of these together are less than a vector.
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
    /// Size of a block on the destination, and how many bytes one begins after the other on the source.
    block: usize,
    step: usize,
    /// How many bytes a period spans.
    span: usize,
}

impl Source<'_> {
    /// The source byte that holds atom `time` of destination byte `at` of a period, and whether the atom is
    /// its high half.
    fn byte(&self, at: usize, time: usize) -> Option<(usize, bool)> {
        let per_byte = self.atom.per_byte();
        let (block, inside) = (at / self.block, at % self.block);
        let atom = usize::try_from(*self.sources.get(inside * per_byte + time)?).ok()?;
        Some((block * self.step + atom / per_byte, atom % per_byte == 1))
    }
}

/// Where the bytes of one lane come from, in one shuffle.
struct Lane {
    windows: Vec<u32>,
    bytes: Vec<LaneByte>,
}

#[derive(Clone, Copy)]
struct LaneByte {
    /// The window, and the byte of it.
    round: usize,
    index: usize,
    high: bool,
}

impl Lane {
    /// The lane that begins at destination byte `first` of a period. `None` if the lane needs more than
    /// `most` windows.
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
