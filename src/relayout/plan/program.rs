//! Programs: the planned boxes of one pass.

use smallvec::SmallVec;
use strided_copy::kernel::{Kernel, Stride};
use strided_copy::{Copy, PlainNest};

use crate::error::Error;
use crate::map::{BoxGroups, CopyBox, Loop};

use super::super::cpu_family::Rules;
use super::bits::{self, StepBox};
use super::clip::Spanned;
use super::cost::{LONG_ROW, MOST_CUT_BOXES, MOST_ENTRIES, PREPARED_BOXES};
use super::machine::{Knobs, Site};
use super::permutation;
use super::select;

use super::widths::Widths;

/// The boxes of one pass, ready to run.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) boxes: BoxGroups,
    pub(crate) widths: Widths,
    pub(crate) streaming: bool,
    pub(crate) prefetch: bool,
    permutes: bool,
    pub(crate) traffic: Traffic,
    pub(crate) knobs: Knobs,
    /// The plain loops of a program whose only box is small. They run instead of the box.
    pub(crate) plain: Option<Plain>,
    /// All boxes, planned. The list is empty if there are more than [`PREPARED_BOXES`] or their tables are
    /// long. Each box is then planned just before it runs.
    pub(crate) prepared: PlannedBoxes,
}

/// Planned boxes. Most programs have a single box, which needs no allocation.
pub(crate) type PlannedBoxes = SmallVec<[PlannedBox; 1]>;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Traffic {
    /// The bytes of all elements that are read. Repeated elements count once, because they stay in the cache.
    pub(crate) read: u64,
    /// The bytes of all elements that are written.
    pub(crate) written: u64,
}

impl Traffic {
    /// Returns whether a copy of this size uses non-temporal stores, whether it prefetches, and the numbers
    /// with which its kernels are chosen. `row` is the least number of bytes that are contiguous on both
    /// sides.
    pub(crate) fn settings(self, row: usize, knobs: &Knobs) -> (bool, bool, Knobs) {
        let streaming = self.moved() >= self.streaming_from(row, knobs);
        let prefetch = self.moved() > knobs.prefetch_above;
        // Only copies with non-temporal stores join tiles, and only copies that the L2 cache holds are in a
        // scattered order.
        let rules = Rules {
            joins_tiles: knobs.rules.joins_tiles && streaming,
            scattered: knobs.rules.scattered && !streaming && !prefetch && self.moved() > knobs.l1(),
            ..knobs.rules
        };
        let in_l2 = if streaming { 0 } else { knobs.in_l2 };
        (streaming, prefetch, Knobs { rules, in_l2, ..*knobs })
    }

    /// The number of bytes read and written from which on a copy uses non-temporal stores. Its contiguous
    /// rows have `row` bytes.
    fn streaming_from(&self, row: usize, knobs: &Knobs) -> u64 {
        if row >= LONG_ROW { knobs.long_rows_streaming_from } else { knobs.streaming_from }
    }

    /// The sum of the bytes that are read and the bytes that are written. The buffers may be much larger, for
    /// example if the copy writes a slice of a cache.
    pub(crate) fn moved(&self) -> u64 {
        self.read.saturating_add(self.written)
    }
}

/// One box, planned.
#[derive(Debug, Clone)]
#[allow(
    clippy::large_enum_variant,
    reason = "nearly every box is a copy of whole bytes; a box of its own would cost an allocation"
)]
pub(crate) enum PlannedBox {
    /// A box of whole bytes, which is one copy.
    Copy(Copy),
    /// Any other box: its elements begin inside bytes, or are unpacked or packed, or it shares rows with
    /// other boxes.
    Steps(StepBox),
}

impl Program {
    pub(crate) fn new(
        boxes: BoxGroups,
        widths: Widths,
        traffic: Traffic,
        knobs: &Knobs,
    ) -> Result<Box<Program>, Error> {
        let ahead = boxes.count() <= PREPARED_BOXES && boxes.entries() <= MOST_ENTRIES;
        Self::planned(boxes, widths, traffic, knobs, ahead, true)
    }

    /// Plans some boxes: all of them `ahead`, or each just before it runs.
    fn planned(
        boxes: BoxGroups,
        widths: Widths,
        traffic: Traffic,
        knobs: &Knobs,
        ahead: bool,
        permutes: bool,
    ) -> Result<Box<Program>, Error> {
        let list = first_boxes(&boxes, if ahead { u64::MAX } else { FIRST_BOXES });
        let (streaming, prefetch, knobs) = traffic.settings(contiguous(&list, widths), knobs);
        let (plain, prepared) = (None, PlannedBoxes::new());
        // The program is filled in where it stays, because it is long.
        let mut program =
            Box::new(Program { boxes, widths, streaming, prefetch, permutes, traffic, knobs, plain, prepared });
        if ahead {
            let site = Site { streaming, prefetch, permutes, knobs: &knobs };
            program.prepared.reserve_exact(list.len());
            list.iter().try_for_each(|copy| PlannedBox::plan(copy, widths, site, &mut program.prepared))?;
        }
        if let [copy] = &list[..] {
            program.plain = Plain::new(copy, &program);
        }
        Ok(program)
    }

    #[inline]
    pub(crate) fn site(&self) -> Site<'_> {
        let &Program { streaming, prefetch, permutes, ref knobs, .. } = self;
        Site { streaming, prefetch, permutes, knobs }
    }

    #[inline]
    pub(crate) fn only_copy(&self) -> Option<&Copy> {
        match &self.prepared[..] {
            [PlannedBox::Copy(copy)] => Some(copy),
            _ => None,
        }
    }

    /// The boxes, to be cut into pieces. `None` if there are too many boxes, or their tables are too long.
    pub(crate) fn cut_boxes(&self) -> Option<Vec<Spanned>> {
        let few = self.boxes.count() <= MOST_CUT_BOXES && self.boxes.entries() <= MOST_ENTRIES;
        few.then(|| self.boxes.iter().map(|copy| Spanned::new(&copy)).collect())
    }

    /// Whether some elements share bytes with other elements or with padding, so that these bytes are changed
    /// in part. `true` may also mean that there are too many boxes to know.
    pub(crate) fn has_sub_byte_boxes(&self) -> bool {
        let sub_byte = |planned: &PlannedBox| match planned {
            PlannedBox::Copy(_) => false,
            PlannedBox::Steps(steps) => steps.changes_bytes(),
        };
        let planned_later = self.prepared.is_empty() && self.boxes.count() > 0;
        !self.widths.destination.is_multiple_of(8) && (planned_later || self.prepared.iter().any(sub_byte))
    }

    /// Plans the first boxes, for explanations.
    pub(crate) fn first(&self, count: usize) -> Result<PlannedBoxes, Error> {
        let mut planned = PlannedBoxes::new();
        for copy in self.boxes.iter().take(count) {
            PlannedBox::plan(&copy, self.widths, self.site(), &mut planned)?;
        }
        Ok(planned)
    }

    /// The number of bytes read and written from which on this copy uses non-temporal stores.
    pub(crate) fn streaming_from(&self) -> u64 {
        self.traffic.streaming_from(contiguous(&first_boxes(&self.boxes, FIRST_BOXES), self.widths), &self.knobs)
    }

    /// Plans clipped boxes of this program. `pieces` is how many pieces are kept at a time. If there are
    /// many, their boxes get no tables for permutations.
    pub(crate) fn of_boxes(&self, boxes: Vec<CopyBox>, pieces: usize) -> Result<Box<Program>, Error> {
        let (boxes, permutes) = (BoxGroups::of(boxes.into_iter()), pieces <= permutation::MOST_BOXES);
        Self::planned(boxes, self.widths, self.traffic, &self.knobs, true, permutes)
    }
}

/// The number of boxes that are looked at to choose between ordinary and non-temporal stores. Boxes of whole
/// tiles come first, and hold most elements.
const FIRST_BOXES: u64 = 2;

/// Some boxes of a copy. Most copies have one, which needs no allocation.
type Boxes = SmallVec<[CopyBox; 1]>;

fn first_boxes(boxes: &BoxGroups, most: u64) -> Boxes {
    let count = usize::try_from(boxes.count().min(most)).unwrap_or(0);
    let mut list = Boxes::new();
    list.reserve_exact(count);
    list.extend(boxes.iter().take(count));
    list
}

/// The least number of bytes that are contiguous on both sides of the first boxes.
fn contiguous(boxes: &[CopyBox], widths: Widths) -> usize {
    let bytes = |copy: &CopyBox| {
        let packed = copy.loops().iter().find(|step| step.is_packed()).map_or(1, Loop::extent);
        usize::try_from(packed.saturating_mul(widths.source.into()).div_euclid(8)).unwrap_or(usize::MAX)
    };
    let first = boxes.iter().zip(0..FIRST_BOXES).map(|(copy, _)| copy);
    first.map(bytes).min().unwrap_or(0)
}

impl PlannedBox {
    /// Plans a box, and adds the result to `planned`. Most boxes become one copy of whole bytes. The error is
    /// `overflow` if an offset in bytes does not fit a `usize`.
    pub(crate) fn plan(
        copy: &CopyBox,
        widths: Widths,
        site: Site<'_>,
        planned: &mut PlannedBoxes,
    ) -> Result<(), Error> {
        let bits = widths.source;
        let changes = widths.change().is_some();
        if !changes
            && site.permutes
            && planned.len() < permutation::MOST_BOXES
            && let Some(blocks) = permutation::blocks(copy, bits, site)
        {
            planned.push(PlannedBox::Copy(permutation::copy(blocks, site)?));
        } else if !changes && bits.is_multiple_of(8) {
            planned.push(PlannedBox::Copy(select::copy(copy, u64::from(bits / 8), site)?));
        } else {
            bits::plan(copy, widths, site, planned)?;
        }
        Ok(())
    }
}

/// Whether the runs are copied faster one by one than by choosing a kernel first. There may be at most `most`
/// runs.
pub(crate) fn is_plain(nest: &PlainNest<'_>, most: usize) -> bool {
    nest.runs() <= most && nest.bytes_of_run().saturating_mul(nest.runs()) <= MOST_PLAIN_BYTES
}

/// The largest copy, in bytes, that runs as a plain loop nest. Larger copies may want prefetching or
/// non-temporal stores, which a plan decides. Not tuned.
const MOST_PLAIN_BYTES: usize = 1 << 18;

/// The most runs that a plain loop nest copies, if a kernel has not been chosen yet, or if the chosen kernel
/// copies runs shorter than a [`PIECE`]. By trial (Zen 3).
pub(crate) const MOST_PLAIN_RUNS: usize = 512;

/// Whether a plain loop nest is faster than a kernel that was chosen already: if it moves few pieces of
/// [`PIECE`] bytes, or if the kernel copies runs too and the runs are shorter than a piece (300 runs of 5
/// bytes take 0.15 of the time of a kernel on a Zen 3, and 300 runs of 20 bytes 0.7). A long run costs little
/// more than a call of `memcpy`.
fn is_cheap(nest: &PlainNest<'_>, kernel_copies_runs: bool) -> bool {
    if kernel_copies_runs && nest.bytes_of_run() < PIECE {
        return is_plain(nest, MOST_PLAIN_RUNS);
    }
    let pieces = nest.bytes_of_run().div_ceil(PIECE).min(PIECES_OF_A_CALL);
    nest.runs().saturating_mul(pieces) <= MOST_PIECES && is_plain(nest, MOST_PIECES)
}

/// How many bytes a plain loop nest moves at once. (A kernel moves as many, and more runs at a time.)
const PIECE: usize = 32;

/// How many pieces take as long as a call of `memcpy`. By trial (Zen 3).
const PIECES_OF_A_CALL: usize = 8;

/// The most pieces that a plain loop nest moves. By trial (Zen 3): 10 runs of 40 bytes take 0.8 of the time
/// of a kernel, 32 runs of 124 bytes 1.5 of it.
const MOST_PIECES: usize = 64;

/// A whole copy that is small. Its plain loop nest is built again each time it runs.
#[derive(Debug, Clone)]
pub(crate) struct Plain {
    run: usize,
    start: (usize, usize),
    loops: SmallVec<[Stride; 4]>,
}

impl Plain {
    /// The only box of a program, if it is small and its elements are whole bytes.
    pub(crate) fn new(copy: &CopyBox, program: &Program) -> Option<Plain> {
        let bits = program.widths.source;
        let other = program.widths.change().is_some() || !bits.is_multiple_of(8) || program.streaming;
        let large = program.traffic.written > u64::try_from(MOST_PLAIN_BYTES).unwrap_or(u64::MAX);
        if other || large {
            return None;
        }
        let element = usize::try_from(bits.div_euclid(8)).ok()?;
        let bytes = |elements: u64| usize::try_from(elements).ok()?.checked_mul(element);
        let (mut run, mut loops) = (element, SmallVec::new());
        for step in copy.loops().iter().rev() {
            let (extent, source, destination, backwards) = step.strides()?;
            let extent = usize::try_from(extent).ok()?;
            let source = isize::try_from(bytes(source)?).ok()?.checked_mul(if backwards { -1 } else { 1 })?;
            let destination = isize::try_from(bytes(destination)?).ok()?;
            // Loops are in the order of the destination, so only the last loop can be packed on both sides.
            let packed = isize::try_from(run).ok()?;
            if loops.is_empty() && destination == packed && source == packed {
                run = run.checked_mul(extent)?;
            } else {
                loops.push(Stride { extent, source, destination });
            }
        }
        loops.reverse();
        let plain = Plain { run, start: (bytes(copy.source)?, bytes(copy.destination)?), loops };
        let copies_runs = program.prepared.iter().all(|planned| match planned {
            PlannedBox::Copy(copy) => matches!(copy.kernel(), Kernel::Runs { .. }),
            PlannedBox::Steps(_) => false,
        });
        plain.nest().is_some_and(|nest| is_cheap(&nest, copies_runs)).then_some(plain)
    }

    #[inline]
    pub(crate) fn nest(&self) -> Option<PlainNest<'_>> {
        PlainNest::new(self.run, self.start, &self.loops)
    }
}
