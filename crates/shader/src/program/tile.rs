//! Tiles: the part of a box that a workgroup moves through workgroup memory, the orders in which it reads and
//! writes, and the position of each word in workgroup memory.
//!
//! A tile is a box itself. It has enough steps of each loop that *both* sides have runs of 32 words or more,
//! if such runs exist. Loops that continue each other make one run: 3 channels and a row of pixels, 7 x 7
//! pixels and some channels, blocks of 16 channels and pixels.
//!
//! ```text
//! NCHW to NHWC, 3 channels          source: c . . . p p p p      run of p
//!   loops c (3; p, 1), p (n; 1, 3)  destination: p p p p c       run of c, then p: the tile is 3 x 256
//! ```
//!
//! Elements that are narrower than a word are moved in squares of `p` by `p`, where `p` elements fill a word.
//! The `p` rows of a square are one word each on the source. Its `p` columns are one word each on the
//! destination. An invocation transposes a square in registers.
//!
//! ```text
//! u8, p = 4      source             registers        destination
//!                row 0  a0 a1 a2 a3                   column 0  a0 b0 c0 d0
//!                row 1  b0 b1 b2 b3     turned        column 1  a1 b1 c1 d1
//!                row 2  c0 c1 c2 c3    ------->       column 2  a2 b2 c2 d2
//!                row 3  d0 d1 d2 d3                   column 3  a3 b3 c3 d3
//! ```
//!
//! Workgroup memory has the words in the order of the source, with some words of padding after the first
//! loops. Bank conflicts follow from the strides, so they are counted for several paddings, and the best is
//! taken.

use super::super::profile::{Profile, Sizes};
use super::strided_box::{StridedBox, StridedLoop};
use super::words::Width;

/// What a digit of a word's index in a tile counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counts {
    /// The digit counts the steps of the loop with this index.
    Loop(usize),
    /// The digit counts the rows of a square.
    Row,
    /// The digit counts the columns of a square.
    Column,
}

/// One digit of a word's index in a tile. In a list of digits, the digit that varies fastest is first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Digit {
    pub(super) counts: Counts,
    pub(super) extent: u64,
    /// The stride of the digit in workgroup memory, in words.
    pub(super) shared: u64,
}

/// A loop of the box. In the loop that is contiguous on a side, a step is a word of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TileLoop {
    /// The loop, with strides in words. If rows of the source begin inside words, the strides on the source
    /// are in elements.
    pub(super) step: StridedLoop,
    /// How many steps of the loop a tile has.
    pub(super) tile: u64,
    /// How many elements a step and the whole loop have.
    pub(super) per_step: u64,
    pub(super) elements: u64,
}

impl TileLoop {
    pub(super) fn tiles(&self) -> u64 {
        self.step.extent.div_ceil(self.tile.max(1))
    }

    /// Whether the last tile reaches past the end of the loop.
    pub(super) fn is_ragged(&self) -> bool {
        !self.elements.is_multiple_of(self.tile.saturating_mul(self.per_step).max(1))
    }
}

/// How a box is divided into tiles, and how a workgroup moves a tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tile {
    pub(super) width: Width,
    /// The rows and columns of a square: the elements in a word, or 1 if elements are whole words.
    pub(super) square: u64,
    /// The index of the first word of the box, on the source and on the destination.
    pub(super) starts: [u64; 2],
    /// Whether every row of the source begins at a word.
    pub(super) aligned: bool,
    pub(super) loops: Vec<TileLoop>,
    /// The indices of the loops that are contiguous on the source and on the destination.
    pub(super) along_source: usize,
    pub(super) along_destination: usize,
    /// The stride from row to row of a square on the source, and from column to column on the destination.
    pub(super) row: u64,
    pub(super) column: u64,
    /// The digits of a word's index, in the order in which words are read, and in which they are written.
    pub(super) read: Vec<Digit>,
    pub(super) write: Vec<Digit>,
    /// How many words one access reads from the source, and how many one access writes.
    pub(super) read_width: u64,
    pub(super) write_width: u64,
    /// Whether a square's columns are contiguous on the destination and written as one group.
    pub(super) writes_columns: bool,
    /// The size of the tile in workgroup memory, in words, with padding.
    pub(super) words: u64,
    /// The length of the contiguous runs of a tile, in words, on the source and on the destination.
    pub(super) runs: [u64; 2],
    /// The largest number of words in one bank that an access of a warp touches: 1 without bank conflicts.
    bank: u32,
}

/// Lengths of contiguous runs, in words. The first whose tile fits in workgroup memory is taken.
const RUNS: [u64; 4] = [64, 32, 16, 8];
/// A tile grows to this many words, so that each of 256 invocations has several loads in flight.
const WORDS: u64 = 2048;
/// The invocations of a warp, and also the banks of workgroup memory.
const WARP: usize = 32;
/// The most words of a tile. Larger tiles would leave too few workgroups on a multiprocessor.
const MOST_WORDS: u64 = 4096;

impl Tile {
    /// Returns `None` if a side has no contiguous loop, if rows of the destination begin inside words, or if
    /// no tile fits the profile. `starts` are the offsets of the tensors in their buffers, in words.
    pub(super) fn new(copy: &StridedBox, width: Width, profile: &Profile, starts: [u64; 2]) -> Option<Tile> {
        let plain = Tile::of_words(copy, width).or_else(|| Tile::of_squares(copy, width))?;
        RUNS.into_iter().find_map(|run| {
            let mut tile = plain.clone();
            tile.take(run, profile)?;
            tile.arrange(profile, starts)?;
            Some(tile)
        })
    }

    fn empty(width: Width, square: u64, loops: Vec<TileLoop>) -> Tile {
        Tile {
            width,
            square,
            starts: [0; 2],
            aligned: true,
            loops,
            along_source: 0,
            along_destination: 0,
            row: 0,
            column: 0,
            read: Vec::new(),
            write: Vec::new(),
            read_width: 1,
            write_width: 1,
            writes_columns: false,
            words: 0,
            runs: [1; 2],
            bank: 0,
        }
    }

    /// Returns the tile of a box whose elements are whole words, with one step in each loop.
    fn of_words(copy: &StridedBox, width: Width) -> Option<Tile> {
        let words = copy.in_words(width, true)?;
        let packed = |stride: fn(&StridedLoop) -> u64| words.steps.iter().position(|step| stride(step) == 1);
        let (along_source, along_destination) = (packed(|step| step.source)?, packed(|step| step.destination)?);
        let of = |step: &StridedLoop| TileLoop { step: *step, tile: 1, per_step: 1, elements: step.extent };
        let loops = words.steps.iter().map(of).collect();
        let starts = [words.source, words.destination];
        Some(Tile { starts, along_source, along_destination, ..Tile::empty(Width::new(32), 1, loops) })
    }

    /// Returns the tile of a box whose elements are narrower than a word, with one square in it.
    fn of_squares(copy: &StridedBox, width: Width) -> Option<Tile> {
        if width.period != 1 || width.in_period < 2 {
            return None;
        }
        let square = u64::from(width.in_period);
        let packed = |stride: fn(&StridedLoop) -> u64| {
            let packed = copy.steps.iter().enumerate().filter(|(_, step)| stride(step) == 1 && !step.reversed);
            packed.max_by_key(|(_, step)| step.extent).map(|(place, _)| place)
        };
        let (along_source, along_destination) = (packed(|step| step.source)?, packed(|step| step.destination)?);
        if along_source == along_destination {
            return None;
        }
        let whole = |value: u64| value.is_multiple_of(square);
        let others = |place: usize| copy.steps.iter().enumerate().filter(move |(at, _)| *at != place);
        if !whole(copy.destination) || !others(along_destination).all(|(_, step)| whole(step.destination)) {
            return None;
        }
        let aligned = whole(copy.source) && others(along_source).all(|(_, step)| whole(step.source));
        let words = |elements: u64| elements.checked_div(square).unwrap_or(0);
        let on_source = |elements: u64| if aligned { words(elements) } else { elements };
        let of = |(place, step): (usize, &StridedLoop)| {
            let (source, destination) = (on_source(step.source), words(step.destination));
            let elements = step.extent;
            let (source, destination, per_step) = if place == along_source {
                (if aligned { 1 } else { square }, step.destination, square)
            } else if place == along_destination {
                (on_source(step.source.saturating_mul(square)), 1, square)
            } else {
                (source, destination, 1)
            };
            let step = StridedLoop { extent: elements.div_ceil(per_step), source, destination, ..*step };
            TileLoop { step, tile: 1, per_step, elements }
        };
        let loops = copy.steps.iter().enumerate().map(of).collect();
        let row = on_source(copy.steps.get(along_destination)?.source);
        let column = words(copy.steps.get(along_source)?.destination);
        let starts = [words(copy.source), words(copy.destination)];
        let plain = Tile::empty(width, square, loops);
        Some(Tile { starts, aligned, along_source, along_destination, row, column, ..plain })
    }

    /// The distance of neighbouring words on the source: 1 in words, or the elements of a word in elements.
    fn unit(&self) -> u64 {
        if self.aligned { 1 } else { self.square }
    }

    /// Returns the digits of a tile with their strides on a side, the smallest stride first.
    fn digits(&self, destination: bool) -> Vec<(Digit, u64)> {
        let stride = |step: &StridedLoop| if destination { step.destination } else { step.source };
        let loops =
            self.loops.iter().enumerate().map(|(place, of)| {
                (Digit { counts: Counts::Loop(place), extent: of.tile, shared: 0 }, stride(&of.step))
            });
        let (counts, far) = if destination { (Counts::Column, self.column) } else { (Counts::Row, self.row) };
        let square = (self.square > 1).then_some((Digit { counts, extent: self.square, shared: 0 }, far));
        let mut digits: Vec<(Digit, u64)> = loops.chain(square).collect();
        // 0 - 1 wraps to the largest number, so digits with stride 0 come last.
        digits.sort_by_key(|(_, stride)| stride.wrapping_sub(1));
        digits
    }

    /// Returns how many contiguous words a tile has on a side, and the first loop that would make this run
    /// longer if the tile had more steps of it.
    fn run(&self, destination: bool) -> (u64, Option<usize>) {
        let unit = if destination { 1 } else { self.unit() };
        let mut run = 1_u64;
        for (digit, stride) in self.digits(destination) {
            let whole = match digit.counts {
                Counts::Loop(place) => self.loops.get(place).map_or(1, |of| of.step.extent),
                _ => digit.extent,
            };
            let reversed = matches!(digit.counts, Counts::Loop(place) if !destination
                && self.loops.get(place).is_some_and(|of| of.step.reversed));
            if whole <= 1 {
                continue;
            }
            if stride != run.saturating_mul(unit) || (reversed && run > 1) {
                return (run, None);
            }
            run = run.saturating_mul(digit.extent);
            if let Counts::Loop(place) = digit.counts
                && (digit.extent < whole || reversed)
            {
                return (run, (digit.extent < whole).then_some(place));
            }
        }
        (run, None)
    }

    fn all_words(&self) -> u64 {
        self.loops.iter().fold(self.square, |product, of| product.saturating_mul(of.tile))
    }

    /// Sets the steps of each loop in a tile, first for runs of `run` words on both sides, then for `WORDS`
    /// words in all. Returns `None` if the tile does not fit in workgroup memory.
    fn take(&mut self, run: u64, profile: &Profile) -> Option<()> {
        let most = u64::from(profile.max_workgroup_memory).div_euclid(4);
        // One word in 32 is reserved for padding against bank conflicts.
        let room = most.saturating_sub(most.div_euclid(32)).min(MOST_WORDS);
        for destination in [false, true] {
            while let (length, Some(place)) = self.run(destination) {
                let of = self.loops.get_mut(place)?;
                let before = length.checked_div(of.tile).unwrap_or(1).max(1);
                let wanted = run.div_ceil(before).next_power_of_two().min(of.step.extent);
                if wanted <= of.tile {
                    break;
                }
                of.tile = wanted;
            }
        }
        if self.all_words() > room {
            return None;
        }
        // The tile grows along the side with the shorter run.
        while self.all_words() < WORDS.min(room) {
            let [source, destination] = [false, true].map(|destination| self.run(destination));
            let order = if source.0 <= destination.0 { [source, destination] } else { [destination, source] };
            let Some(place) = order.into_iter().find_map(|(_, place)| place) else { break };
            let of = self.loops.get_mut(place)?;
            let before = of.tile;
            of.tile = before.saturating_mul(2).min(of.step.extent);
            if self.all_words() > room {
                self.loops.get_mut(place)?.tile = before;
                break;
            }
        }
        self.runs = [self.run(false).0, self.run(true).0];
        Some(())
    }

    /// Chooses the orders, the words of an access and the padding. `None` if workgroup memory is too small.
    fn arrange(&mut self, profile: &Profile, starts: [u64; 2]) -> Option<()> {
        let order = |destination: bool| {
            let digits = self.digits(destination).into_iter().map(|(digit, _)| digit);
            digits.filter(|digit| digit.extent > 1 && self.is_digit(*digit)).collect::<Vec<_>>()
        };
        let (read, write) = (order(false), order(true));
        (self.read, self.write) = (read, write);
        let few = self.loops.get(self.along_destination)?.step.extent == 1;
        self.writes_columns = few && self.column == 1 && self.square > 1 && self.square <= 4;
        let wide = profile.sizes == Sizes::Constants;
        let widths = |fits: &dyn Fn(u64) -> bool| -> Vec<u64> {
            [4, 2, 1].into_iter().filter(|&width| width == 1 || (wide && fits(width))).collect()
        };
        let reads = widths(&|width| self.may_read(width, profile, starts[0]));
        let writes = widths(&|width| self.may_write(width, profile, starts[1]));
        let (most_read, most_write) = (*reads.first()?, *writes.first()?);
        let memory = u64::from(profile.max_workgroup_memory).div_euclid(4);
        for widths in [[most_read, most_write], [most_read, 1], [1, most_write], [1, 1]] {
            [self.read_width, self.write_width] = widths;
            if self.writes_columns && self.write_width != self.square && self.write_width != 1 {
                continue;
            }
            if self.pad(memory) {
                return Some(());
            }
        }
        None
    }

    /// Whether an item's number has this digit. Columns have one only if a square exceeds the registers.
    fn is_digit(&self, digit: Digit) -> bool {
        digit.counts != Counts::Column || !self.in_registers()
    }

    /// Whether a square is small enough that an invocation transposes it in its registers.
    pub(super) fn in_registers(&self) -> bool {
        self.square <= 8
    }

    fn may_read(&self, width: u64, profile: &Profile, start: u64) -> bool {
        let whole = |value: u64| value.is_multiple_of(width);
        let Some(along) = self.loops.get(self.along_source) else { return false };
        let others = self.loops.iter().enumerate().filter(|(place, _)| *place != self.along_source);
        self.aligned
            && !along.step.reversed
            && whole(along.step.extent)
            && whole(along.tile)
            && (self.square == 1 || along.elements == along.step.extent.saturating_mul(self.square))
            && others.into_iter().all(|(_, of)| whole(of.step.source))
            && (self.square == 1 || whole(self.row))
            && whole(self.starts[0])
            && whole(start)
            && profile.offset_alignment.is_multiple_of(width.saturating_mul(4))
    }

    fn may_write(&self, width: u64, profile: &Profile, start: u64) -> bool {
        let whole = |value: u64| value.is_multiple_of(width);
        let Some(along) = self.loops.get(self.along_destination) else { return false };
        let begins =
            whole(self.starts[1]) && whole(start) && profile.offset_alignment.is_multiple_of(width.saturating_mul(4));
        let others = self.loops.iter().enumerate().filter(|(place, _)| *place != self.along_destination);
        let mut others = others.map(|(_, of)| of.step.destination);
        if self.writes_columns {
            return width == self.square && begins && others.all(whole) && self.is_whole();
        }
        begins
            && whole(along.step.extent)
            && whole(along.tile)
            && others.all(whole)
            && (self.square == 1
                || (whole(self.column) && along.elements == along.step.extent.saturating_mul(self.square)))
            && self.in_registers()
            && width.saturating_mul(self.square) <= 16
    }

    /// Whether all squares are complete, so that none has missing rows or columns.
    fn is_whole(&self) -> bool {
        self.loops.iter().all(|of| of.elements == of.step.extent.saturating_mul(of.per_step))
    }

    /// Finds the padding of the tile with the fewest bank conflicts. Returns false if no padding fits in
    /// `memory` words, or if an access of several words would touch more than 2 words in one bank.
    fn pad(&mut self, memory: u64) -> bool {
        let warps = [false, true].map(|writing| self.warps(writing));
        let digits = self.read.len();
        let mut best: Option<(u32, Vec<u64>, u64)> = None;
        let single = (0..digits.saturating_sub(1).min(6)).flat_map(|at| [1, 4, 2, 8].map(|pad| [(at, pad), (at, 0)]));
        let pairs = [1, 4, 2].into_iter().flat_map(|pad| [5, 1, 4, 2].map(|other| [(0, pad), (1, other)]));
        for pads in [[(0, 0), (0, 0)]].into_iter().chain(single).chain(pairs) {
            let (mut shared, mut words) = (Vec::with_capacity(digits), 1_u64);
            for (at, digit) in self.read.iter().enumerate() {
                shared.push(words);
                let pad = pads.iter().filter(|pad| pad.0 == at).map(|pad| pad.1).sum::<u64>();
                words = words.saturating_mul(digit.extent).saturating_add(pad);
            }
            if words > memory {
                continue;
            }
            // A candidate is given up as soon as it is no better than the best so far.
            let least = best.as_ref().map_or(u32::MAX, |best| best.0);
            let mut bank = 1;
            for warp in warps.iter().flatten() {
                bank = most_in_a_bank(warp, &shared).max(bank);
                if bank >= least {
                    break;
                }
            }
            if bank < least {
                best = Some((bank, shared, words));
            }
            if bank <= 1 {
                break;
            }
        }
        let Some((bank, shared, words)) = best else { return false };
        (self.words, self.bank) = (words, bank);
        for (digit, shared) in self.read.iter_mut().zip(shared) {
            digit.shared = shared;
        }
        for at in 0..self.write.len() {
            let shared = self.write.get(at).map(|digit| self.shared(digit.counts));
            if let (Some(digit), Some(shared)) = (self.write.get_mut(at), shared) {
                digit.shared = shared;
            }
        }
        bank <= 2 || (self.read_width == 1 && self.write_width == 1)
    }

    /// The stride of a digit in workgroup memory, in words.
    pub(super) fn shared(&self, counts: Counts) -> u64 {
        self.read.iter().find(|digit| digit.counts == counts).map_or(0, |digit| digit.shared)
    }

    /// Returns the extents of the digits of an item's number. An item is a word, a group of words or a square
    /// that an invocation moves at a time.
    pub(super) fn items(&self, writing: bool) -> Vec<u64> {
        let (digits, width) = if writing { (&self.write, self.write_width) } else { (&self.read, self.read_width) };
        let along = if writing { self.along_destination } else { self.along_source };
        let grouped = |digit: &Digit| digit.counts == Counts::Loop(along) && !(writing && self.writes_columns);
        let extent =
            |digit: &Digit| if grouped(digit) { digit.extent.checked_div(width).unwrap_or(1) } else { digit.extent };
        digits.iter().map(extent).collect()
    }

    /// Returns, for two warps, the digits of the first word of each of the warp's 32 items. The warps are the
    /// first one and one in the middle of the tile. The digits are in the order of reading.
    fn warps(&self, writing: bool) -> [Vec<u64>; 2] {
        let (digits, width) = if writing { (&self.write, self.write_width) } else { (&self.read, self.read_width) };
        let extents = self.items(writing);
        let along = if writing { self.along_destination } else { self.along_source };
        let all = extents.iter().fold(1_u64, |product, extent| product.saturating_mul(*extent));
        let places: Vec<Option<usize>> =
            digits.iter().map(|digit| self.read.iter().position(|read| read.counts == digit.counts)).collect();
        let lane = |number: u64, by_read: &mut [u64]| {
            let mut rest = number;
            for ((digit, extent), place) in digits.iter().zip(&extents).zip(&places) {
                let mut value = rest.checked_rem(*extent).unwrap_or(0);
                rest = rest.checked_div(*extent).unwrap_or(0);
                if digit.counts == Counts::Loop(along) && !(writing && self.writes_columns) {
                    value = value.saturating_mul(width);
                }
                if let Some(slot) = place.and_then(|place| by_read.get_mut(place)) {
                    *slot = value;
                }
            }
        };
        let (later, count) = (all.div_euclid(64).saturating_mul(32), self.read.len());
        [0, later].map(|first| {
            let mut warp = vec![0; count.saturating_mul(WARP)];
            let mut lanes = 0;
            for (number, by_read) in (first..all).zip(warp.chunks_exact_mut(count.max(1))) {
                lane(number, by_read);
                lanes += 1;
            }
            warp.truncate(lanes * count);
            warp
        })
    }
}

/// The largest number of words in one bank that a warp touches. `shared` has the stride of each digit in
/// workgroup memory, and `warp` has the digits of all items, one item after the other.
fn most_in_a_bank(warp: &[u64], shared: &[u64]) -> u32 {
    let mut words = [0; WARP];
    let mut lanes = 0;
    for (lane, word) in warp.chunks_exact(shared.len().max(1)).zip(&mut words) {
        let products = lane.iter().zip(shared).map(|(digit, words)| digit.saturating_mul(*words));
        *word = products.fold(0, u64::saturating_add);
        lanes += 1;
    }
    let words = words.get_mut(..lanes).unwrap_or_default();
    words.sort_unstable();
    let (mut banks, mut before, mut most) = ([0_u32; WARP], None, 0);
    for word in words {
        let bank = usize::try_from(*word % 32).ok().and_then(|bank| banks.get_mut(bank));
        if let Some(bank) = bank.filter(|_| before != Some(*word)) {
            *bank = bank.saturating_add(1);
            most = most.max(*bank);
        }
        before = Some(*word);
    }
    most
}
