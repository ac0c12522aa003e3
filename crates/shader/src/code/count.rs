//! Counts the memory transactions of a warp's accesses from their addresses.
//!
//! A GPU runs 32 invocations together, as a warp, and serves a load or store of a warp in sectors of 32
//! bytes. Workgroup memory has 32 banks that are one word wide. Words of the same bank are served one after
//! the other.
//!
//! ```text
//! 32 words from word 0 on           |--------|--------|--------|--------|        4 sectors, at least 4
//! 32 words from word 3 on           |   -----|--------|--------|--------|---   | 5 sectors, at least 5
//! every third word, 32 of them      |-  -  - | -  -  -|  -  -  |-  -  - | ...  12 sectors, at least 4
//! ```
//!
//! For each access, the least number of sectors is estimated from its workgroup: the words of the access,
//! divided by the words that the workgroup needs of an average sector, rounded up. The layout decides about
//! rows that begin inside sectors and about gaps between rows. Both lower the average, so they do not count
//! against a program.

use std::collections::{HashMap, HashSet};

/// The size of a sector, in words.
const SECTOR: u64 = 8;
/// The number of invocations of a warp. It is also the number of banks of workgroup memory.
const WARP: usize = 32;

/// Counts of the accesses of warps to one side of a copy, the source or the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SideCount {
    /// The number of loads and stores, each counted once for a warp.
    pub accesses: u64,
    /// The number of sectors of 32 bytes that the accesses touch.
    pub sectors: u64,
    /// The sum of the least numbers of sectors that the accesses could touch, as the head of this file
    /// estimates them.
    pub least_sectors: u64,
    /// The number of sectors that each workgroup touches, summed over the workgroups. A workgroup counts a
    /// sector once.
    pub workgroup_sectors: u64,
    /// The number of words that each workgroup touches in these sectors, summed over the workgroups.
    pub workgroup_words: u64,
    /// The most words of one access of an invocation: 4 words are 16 bytes.
    pub width: u32,
}

impl SideCount {
    /// The ratio of the touched sectors to the least possible sectors: 1 if accesses are coalesced, up to 8
    /// if each word is in a sector of its own.
    #[must_use]
    #[expect(clippy::as_conversions, reason = "a ratio of counts below 2^53")]
    pub fn ratio(&self) -> f64 {
        if self.least_sectors == 0 { 1.0 } else { self.sectors as f64 / self.least_sectors as f64 }
    }
}

/// Counts of the accesses of some workgroups, by [`Program::count_accesses`](crate::Program::count_accesses).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct AccessCount {
    /// The number of workgroups that were run.
    pub workgroups: u64,
    /// The reads of the source.
    pub source: SideCount,
    /// The writes to the destination, and the reads of destination words that are written in part.
    pub destination: SideCount,
    /// The largest number of words that one access of a warp touches in the same bank of workgroup memory. It
    /// is 1 without bank conflicts, and 0 if the program uses no workgroup memory.
    pub bank: u32,
}

impl AccessCount {
    /// The ratio of the bytes that workgroups fetch from the source, in whole sectors, to the bytes that they
    /// write. The ratio is 1 if everything fetched is moved, less if elements are repeated, and more if only
    /// parts of sectors are needed.
    #[must_use]
    #[expect(clippy::as_conversions, reason = "a ratio of counts below 2^53")]
    pub fn fetched(&self) -> f64 {
        let sectors = self.source.workgroup_sectors.saturating_mul(SECTOR);
        sectors as f64 / self.destination.workgroup_words.max(1) as f64
    }

    pub(crate) fn and(&mut self, other: &AccessCount) {
        self.workgroups = self.workgroups.saturating_add(other.workgroups);
        for (own, other) in [(&mut self.source, &other.source), (&mut self.destination, &other.destination)] {
            own.accesses = own.accesses.saturating_add(other.accesses);
            own.sectors = own.sectors.saturating_add(other.sectors);
            own.least_sectors = own.least_sectors.saturating_add(other.least_sectors);
            own.workgroup_sectors = own.workgroup_sectors.saturating_add(other.workgroup_sectors);
            own.workgroup_words = own.workgroup_words.saturating_add(other.workgroup_words);
            own.width = own.width.max(other.width);
        }
        self.bank = self.bank.max(other.bank);
    }
}

/// The indices of all words that one load or store of a warp touches in a memory.
type Access = HashSet<u64>;

/// Collects the accesses of a workgroup.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    /// For each storage buffer, the offset of its binding in the buffer, in words, and whether it is the
    /// source of the copy.
    buffers: Vec<(u64, bool)>,
    /// The number of accesses that the current lane has made in the current statement so far.
    order: usize,
    /// The accesses of the current statement. The key is the position of the access in the statement, the
    /// number of the warp, and the number of the memory.
    open: HashMap<(usize, usize, usize), Access>,
    /// For each storage buffer, the finished accesses of the workgroup.
    done: Vec<Vec<Access>>,
    pub(crate) count: AccessCount,
}

impl Counter {
    pub(crate) fn new(buffers: Vec<(u64, bool)>) -> Counter {
        let done = vec![Vec::new(); buffers.len()];
        Counter { buffers, done, ..Counter::default() }
    }

    /// Tells the counter that another lane evaluates the statement, whose accesses are then counted from 0
    /// again.
    pub(super) fn next_lane(&mut self) {
        self.order = 0;
    }

    /// Records that a lane accesses neighbouring words of a memory.
    pub(super) fn touch(&mut self, memory: usize, lane: usize, first: u32, width: u32) {
        let key = (self.order, lane.div_euclid(WARP), memory);
        self.order = self.order.saturating_add(1);
        let start = self.buffers.get(memory).map_or(0, |buffer| buffer.0).saturating_add(first.into());
        self.open.entry(key).or_default().extend((0..u64::from(width)).map(|part| start.saturating_add(part)));
        if let Some(&(_, is_source)) = self.buffers.get(memory) {
            let side = if is_source { &mut self.count.source } else { &mut self.count.destination };
            side.width = side.width.max(width);
        }
    }

    /// Finishes the accesses of a statement, after all lanes have evaluated it.
    pub(super) fn end_statement(&mut self) {
        for ((_, _, memory), words) in self.open.drain() {
            match self.done.get_mut(memory) {
                Some(done) => done.push(words),
                None => {
                    let mut banks = [0_u32; WARP];
                    for word in words {
                        let bank = usize::try_from(word).unwrap_or(0).checked_rem(WARP).unwrap_or(0);
                        if let Some(bank) = banks.get_mut(bank) {
                            *bank = bank.saturating_add(1);
                        }
                    }
                    self.count.bank = self.count.bank.max(banks.into_iter().max().unwrap_or(0));
                }
            }
        }
    }

    /// Adds the accesses of a finished workgroup to the counts.
    pub(super) fn end_workgroup(&mut self) {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        self.count.workgroups = self.count.workgroups.saturating_add(1);
        for (&(_, is_source), done) in self.buffers.iter().zip(&mut self.done) {
            let words: HashSet<u64> = done.iter().flatten().copied().collect();
            let sectors =
                |words: &Access| count(words.iter().map(|word| word.div_euclid(SECTOR)).collect::<HashSet<_>>().len());
            let all = sectors(&words);
            let side = if is_source { &mut self.count.source } else { &mut self.count.destination };
            side.workgroup_sectors = side.workgroup_sectors.saturating_add(all);
            side.workgroup_words = side.workgroup_words.saturating_add(count(words.len()));
            for access in done.drain(..) {
                // An average sector has `words / all` words that the workgroup needs. At this density, the
                // words of the access are in at least this many sectors.
                let least = count(access.len()).saturating_mul(all).div_ceil(count(words.len()).max(1));
                side.accesses = side.accesses.saturating_add(1);
                side.sectors = side.sectors.saturating_add(sectors(&access).max(least));
                side.least_sectors = side.least_sectors.saturating_add(least);
            }
        }
    }
}
