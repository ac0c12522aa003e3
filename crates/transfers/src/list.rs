//! `Transfers`: the list of transfers of a copy.

use tensor_layout::checked::{BYTES, Proven, add, mul};
use tensor_layout::relayout::Relayout;
use tensor_layout::{Error, ToIndexMap};

use super::boxes::{nests, push};
use super::fault::Fault;
use super::nest::{Loop, Nest, count};
use super::ranges::{Ranges, Run, Starts, in_order, is_even};
use super::transfer_limits::TransferLimits;

/// One entry of a list: a contiguous run of bytes, repeated by loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Transfer<'a> {
    /// The offset of the first run in the source, in bytes.
    pub source: u64,
    /// The offset of the first run in the destination, in bytes.
    pub destination: u64,
    /// The length of a run, in bytes.
    pub bytes: u64,
    /// The loops around the run, from outer to inner. None for a plain range.
    pub loops: &'a [Loop],
}

/// The totals of a list of transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Summary {
    /// The number of bytes that all transfers move.
    pub bytes: u64,
    /// The number of transfers.
    pub count: u64,
    /// The length of the shortest contiguous run, in bytes.
    pub shortest_bytes: u64,
    /// The length of the longest contiguous run, in bytes.
    pub longest_bytes: u64,
}

/// The transfers of a copy. The list is held as loop nests, so that a list of millions takes no memory.
///
/// The transfers never overlap in the destination, and leave padding out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfers {
    nests: Vec<Listed>,
    /// For plain ranges, the longest run and the units of a byte. `None` for transfers with loops.
    ranges: Option<(u64, u64)>,
}

/// A nest whose outer loops list transfers. The other loops are inside each transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Listed {
    nest: Nest,
    outside: usize,
}

/// Lists the transfers that copy every element from one layout to another.
///
/// # Errors
///
/// The errors of [`Relayout::new`]. `element_bits_mismatch` if the two sides store an element in different
/// numbers of bits. `run_inside_byte` for elements below a byte whose runs do not begin and end at whole
/// bytes. `transfer_unaligned`, `run_unaligned` and `transfer_limit` for a limit of the executor,
/// `out_of_limits` for limits that contradict each other. `undecided` for layouts whose blocks do not divide
/// each other, if they come to more than [`NEST_LIMIT`](crate::NEST_LIMIT) nests.
pub fn transfers(from: &impl ToIndexMap, to: &impl ToIndexMap, limits: &TransferLimits) -> Result<Transfers, Error> {
    Transfers::of(&[&Relayout::new(from, to)?], limits)
}

impl Transfers {
    /// Lists the transfers of some planned copies together, between the same two buffers. The copies write
    /// different elements.
    ///
    /// # Errors
    ///
    /// The errors of [`transfers`], but those of [`Relayout::new`].
    pub fn of(plans: &[&Relayout], limits: &TransferLimits) -> Result<Transfers, Error> {
        let placed: Vec<(&Relayout, [u64; 2])> = plans.iter().map(|plan| (*plan, [0, 0])).collect();
        Self::placed(&placed, limits)
    }

    /// Lists the transfers of some planned copies together, like [`of`](Self::of). Each copy comes with the
    /// bytes that are added to its offsets on the source and on the destination, such as those of a block in
    /// a block table. Neighbouring copies may share a plan.
    ///
    /// # Errors
    ///
    /// The errors of [`of`](Self::of).
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, Relayout};
    /// use tensor_layout_transfers::{TransferLimits, Transfers};
    ///
    /// // Blocks 7, 8 and 3 of a cache, each of 4 rows of 64 bytes, one behind another.
    /// let block: BufferTensorDesc = "u8[4,64]:[64,1]".parse()?;
    /// let plan = Relayout::new(&block, &block)?;
    /// let table: Vec<_> = [7, 8, 3].iter().zip(0..).map(|(&page, place)| (&plan, [page * 256, place * 256])).collect();
    /// let list = Transfers::placed(&table, &TransferLimits::ranges())?;
    /// let runs: Vec<_> = list.iter().map(|one| (one.source, one.destination, one.bytes)).collect();
    /// assert_eq!(runs, [(7 * 256, 0, 512), (3 * 256, 512, 256)]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn placed(copies: &[(&Relayout, [u64; 2])], limits: &TransferLimits) -> Result<Transfers, Error> {
        let plans: Vec<&Relayout> = copies.iter().map(|(plan, _)| *plan).collect();
        let fault = Fault::of(&plans)?;
        let (mut known, mut once, mut all) = (None, Vec::with_capacity(1), Vec::with_capacity(1));
        for &(plan, at) in copies {
            // Neighbouring copies often share a plan, whose nests are then made only once.
            if known.is_none_or(|known| !core::ptr::eq(known, plan)) {
                once.clear();
                nests(plan, fault.width(plan.source()), &mut once)?;
                known = Some(plan);
            }
            once.iter().try_for_each(|nest| push(nest.moved(at, fault.byte)?, &mut all))?;
        }
        Self::arranged(all, limits, &fault)
    }

    fn arranged(nests: Vec<Nest>, limits: &TransferLimits, fault: &Fault<'_>) -> Result<Transfers, Error> {
        let piece = mul(limits.piece()?, fault.byte, BYTES).unwrap_or(u64::MAX);
        // Every sum of lengths in this list fits 64 bits.
        nests.iter().try_fold(0, |sum, nest| add(sum, nest.check()?, BYTES))?;
        let mut list = if limits.loops == Some(0) {
            let nests = in_order(nests).into_iter().map(|nest| Listed { outside: nest.outer().len(), nest });
            Transfers { nests: nests.collect(), ranges: Some((piece, fault.byte)) }
        } else {
            let nests = nests.into_iter().flat_map(|nest| cut(nest, piece));
            Transfers { nests: nests.map(|nest| Listed::new(nest, limits)).collect(), ranges: None }
        };
        list.check(limits, fault)?;
        if list.ranges.is_none() && fault.byte > 1 {
            list.nests.iter_mut().for_each(|listed| listed.nest.divide(fault.byte));
        }
        Ok(list)
    }

    /// Refuses the list if the executor does not take it.
    fn check(&self, limits: &TransferLimits, fault: &Fault<'_>) -> Result<(), Error> {
        let offset = mul(limits.offset_alignment, fault.byte, BYTES)?;
        let length = mul(limits.run_multiple, fault.byte, BYTES)?;
        let is_wrong = |&(source, destination, run): &Run| {
            !source.is_multiple_of(offset) || !destination.is_multiple_of(offset) || !run.is_multiple_of(length)
        };
        let starts = |nest: &Nest| {
            let strides: Vec<_> = std::iter::once((0, 0)).chain(nest.outer().iter().map(Loop::strides)).collect();
            let run = (nest.source, nest.destination, nest.run());
            strides.into_iter().map(move |(a, b)| (run.0.wrapping_add_signed(a), run.1.wrapping_add_signed(b), run.2))
        };
        let mut wrong = self.nests.iter().flat_map(|listed| starts(&listed.nest)).find(is_wrong);
        if let (Some(_), Some((piece, _))) = (wrong, self.ranges) {
            // A run of a nest that is too short or unaligned may be a part of a longer run, so the merged
            // runs are searched.
            wrong = Ranges::new(self.nests(), piece).find(is_wrong);
        }
        if let Some((source, destination, run)) = wrong {
            return Err(match [source, destination].iter().position(|at| !at.is_multiple_of(offset)) {
                Some(0) => fault.unaligned(0, source, run, limits.offset_alignment),
                Some(_) => fault.unaligned(1, destination, run, limits.offset_alignment),
                None => fault.run(destination, run, limits.run_multiple),
            });
        }
        if limits.max_transfers < u64::MAX {
            let count = self.summary().count;
            if count > limits.max_transfers {
                let longest = self.nests().max_by_key(|nest| nest.runs());
                let (at, run) = longest.map_or((0, 0), |nest| (nest.destination, nest.run()));
                return Err(fault.count(at, run, count, limits.max_transfers));
            }
        }
        Ok(())
    }

    /// The bytes of both buffers up to the end of the last run.
    pub fn reach(&self) -> (u64, u64) {
        let byte = self.ranges.map_or(1, |(_, byte)| byte);
        self.nests().fold((0, 0), |most, nest| {
            let (source, destination) = nest.reach();
            (most.0.max(source.div_ceil(byte)), most.1.max(destination.div_ceil(byte)))
        })
    }

    pub(crate) fn is_in_bytes(&self) -> bool {
        self.ranges.is_none_or(|(_, byte)| byte == 1)
    }

    pub(crate) fn nests(&self) -> impl Iterator<Item = &Nest> {
        self.nests.iter().map(|listed| &listed.nest)
    }

    /// Iterates over the transfers. Plain ranges come in the order of the destination.
    pub fn iter(&self) -> impl Iterator<Item = Transfer<'_>> {
        let ranges = self.ranges.iter().flat_map(|&(piece, byte)| {
            Ranges::new(self.nests(), piece).map(move |(source, destination, run)| Transfer {
                source: source.divided_by(byte),
                destination: destination.divided_by(byte),
                bytes: run.divided_by(byte),
                loops: &[],
            })
        });
        let listed = self.nests.iter().filter(|_| self.ranges.is_none()).flat_map(|Listed { nest, outside }| {
            let (outside, inside) = nest.outer().split_at_checked(*outside).unwrap_or_default();
            let starts = Starts::new(nest.source, nest.destination, outside);
            let bytes = nest.run();
            starts.map(move |(source, destination)| Transfer { source, destination, bytes, loops: inside })
        });
        ranges.chain(listed)
    }

    /// The number of transfers.
    ///
    /// Plain ranges are counted without a visit to each if one nest lists them all. Otherwise the call takes
    /// as long as listing them.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.summary().count
    }

    /// Returns the totals of the list, or `None` if counting them takes a visit to more than `runs` runs.
    #[must_use]
    pub fn summary_within(&self, runs: u64) -> Option<Summary> {
        let is_short = || self.nests().map(Nest::runs).fold(0, u64::saturating_add) <= runs;
        let is_quick = match (self.ranges, self.nests.as_slice()) {
            (Some((piece, _)), [Listed { nest, .. }]) => is_even(nest, piece) || is_short(),
            (ranges, _) => ranges.is_none() || is_short(),
        };
        is_quick.then(|| self.summary())
    }

    /// Returns a bound on the number of transfers, which takes no visit: neighbours may still be merged.
    #[must_use]
    pub fn count_at_most(&self) -> u64 {
        let Some((piece, _)) = self.ranges else { return self.count() };
        let pieces = |nest: &Nest| nest.runs().saturating_mul(nest.run().div_ceil(piece));
        self.nests().map(pieces).fold(0, u64::saturating_add)
    }

    /// Returns the totals of the list. This takes as long as [`count`](Self::count).
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut runs = Vec::with_capacity(self.nests.len());
        match self.ranges {
            Some((piece, byte)) => match self.nests.as_slice() {
                [Listed { nest, .. }] if is_even(nest, piece) => {
                    runs.push((nest.runs(), 1, nest.run().divided_by(byte)))
                }
                _ => {
                    let visit = |sum: Summary, run: Run| sum.with((1, 1, run.2.divided_by(byte)));
                    return Ranges::new(self.nests(), piece).fold(Summary::default(), visit);
                }
            },
            None => runs.extend(self.nests.iter().map(|Listed { nest, outside }| {
                let (outside, inside) = nest.outer().split_at_checked(*outside).unwrap_or_default();
                (count(outside), count(inside), nest.run())
            })),
        }
        runs.into_iter().fold(Summary::default(), Summary::with)
    }
}

impl Summary {
    /// Adds `transfers` transfers, each of `runs` runs of `bytes` bytes.
    fn with(self, (transfers, runs, bytes): (u64, u64, u64)) -> Summary {
        Summary {
            bytes: self.bytes.plus(transfers.times(runs).times(bytes)),
            count: self.count.plus(transfers),
            shortest_bytes: if self.count == 0 { bytes } else { self.shortest_bytes.min(bytes) },
            longest_bytes: self.longest_bytes.max(bytes),
        }
    }
}

impl Listed {
    /// Puts the loops with the most steps inside, as many as the executor takes.
    fn new(mut nest: Nest, limits: &TransferLimits) -> Listed {
        let run = i64::try_from(nest.run()).unwrap_or(i64::MAX);
        let fits = |step: &Loop| !limits.pitched || (step.source_stride >= run && step.destination_stride >= run);
        let mut most: Vec<Loop> = nest.outer().iter().copied().filter(fits).collect();
        most.sort_by_key(|step| std::cmp::Reverse(step.count));
        most.truncate(limits.loops.unwrap_or(usize::MAX));
        let outside = nest.outer().len().minus(most.len());
        // The run stays last, and the others keep their order outside and inside.
        let run = nest.loops.pop();
        nest.loops.sort_by_key(|step| most.contains(step));
        nest.loops.extend(run);
        Listed { nest, outside }
    }
}

/// Returns a nest with its runs cut to at most `piece` units: the whole pieces, and the rest.
fn cut(nest: Nest, piece: u64) -> impl Iterator<Item = Nest> {
    let (whole, rest) = (nest.run().divided_by(piece), nest.run().modulo(piece));
    let part = move |(pieces, length): (u64, u64)| {
        let before = if length == piece { 0 } else { whole.times(piece) };
        let stride = piece.cast_signed();
        let mut loops = nest.outer().to_vec();
        loops.extend((pieces > 1).then(|| Loop::of(pieces, stride, stride)));
        loops.push(Loop::of(length, 1, 1));
        let (source, destination) = (nest.source.plus(before), nest.destination.plus(before));
        Nest { source, destination, loops }
    };
    [(whole, piece), (1, rest)].into_iter().filter(|&(pieces, length)| pieces > 0 && length > 0).map(part)
}
