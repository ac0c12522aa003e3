//! The passes of a copy, and the program of each pass: its boxes, which are planned here.
//!
//! Nearly every pair of layouts takes one pass. If fused dimensions, tiles or the ragged edges of a reversed
//! dimension contradict each other, the copy goes through a packed buffer. An Irreducible layout has no
//! loops, so its elements are copied one by one. [`crate::map`] explains digits and levels.

use strided_copy::kernel::{Kernel, Loop as ByteLoop};

use crate::checked;
use crate::error::Error;
use crate::map::{BoxGroups, CopyBox, IndexMap, Loop};

use super::bits;
use super::clip::Spanned;
use super::cost::{LONG_ROW, MOST_CUT_BOXES, MOST_ENTRIES, PREPARED_BOXES};
use super::machine::{Knobs, Site};
use super::nest::{NestLoops, loops_of_box};
use super::permutation;
use super::planned::{MOST_PLAIN_BYTES, Plain, PlannedBox, PlannedBoxes, is_cheap};
use super::select;
use super::widths::Widths;

/// The passes of a copy. The last one fills the destination.
#[derive(Debug, Clone)]
pub(crate) struct Passes {
    /// If there are two passes, the first one, which fills an intermediate buffer.
    pub(crate) before: Option<Pass>,
    pub(crate) last: Box<Program>,
}

/// A pass that copies the source into a packed intermediate buffer.
#[derive(Debug, Clone)]
pub(crate) struct Pass {
    pub(crate) program: Box<Program>,
    /// How many elements the packed buffer has, and how many bits an element has.
    pub(crate) elements: u64,
    pub(crate) bits: u32,
}

impl Passes {
    pub(crate) fn new(
        source: &IndexMap,
        destination: &IndexMap,
        reversed: &[usize],
        widths: Widths,
        knobs: &Knobs,
    ) -> Result<Passes, Error> {
        let program = |from, boxes, widths| Program::new(boxes, widths, Traffic::of(from, widths)?, knobs, None);
        let direct = |boxes| Ok(Passes { before: None, last: program(source, boxes, widths)? });
        let boxes = BoxGroups::new(source, destination, reversed);
        if !boxes.as_ref().is_some_and(BoxGroups::writes_apart) {
            destination.check_injective()?;
        }
        if let Some(boxes) = boxes {
            return direct(boxes);
        }
        // A packed buffer fuses and cuts no dimension, so every layout can be copied to it and from it.
        // Dimensions are reversed in the pass in which that is possible.
        let (elements, bits) = (source.element_count(), source.element_bits());
        let packed = IndexMap::row_major(source.data_type(), bits, source.sizes())?;
        for (first, second) in [(reversed, &[][..]), (&[][..], reversed)] {
            if let Some(into) = BoxGroups::new(source, &packed, first)
                && let Some(out_of) = BoxGroups::new(&packed, destination, second)
            {
                let as_packed = Widths { destination: bits, ..widths };
                let before = Some(Pass { program: program(source, into, as_packed)?, elements, bits });
                return Ok(Passes { before, last: program(&packed, out_of, widths)? });
            }
        }
        direct(BoxGroups::by_index(source, destination, reversed))
    }

    /// The program of the only pass. `None` if there are several passes.
    pub(crate) fn direct(&self) -> Option<&Program> {
        self.before.is_none().then_some(&self.last)
    }
}

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
    /// All boxes, planned. If there are more than [`PREPARED_BOXES`] boxes, or their tables are long, the
    /// list is empty, and each box is planned just before it runs.
    pub(crate) prepared: PlannedBoxes,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Traffic {
    /// The bytes of all elements that are read. What the source repeats counts once: it stays in the cache.
    pub(crate) read: u64,
    pub(crate) written: u64,
}

impl Traffic {
    fn of(from: &IndexMap, widths: Widths) -> Result<Traffic, Error> {
        let elements = from.element_count();
        Ok(Traffic {
            read: checked::bytes_for(elements.min(from.physical_elements()), widths.source)?,
            written: checked::bytes_for(elements, widths.destination)?,
        })
    }

    /// Returns whether a copy of this size uses non-temporal stores, and whether it prefetches. Adapts
    /// `knobs` to these two answers, which must be known before kernels are chosen. `row` is the least number
    /// of bytes that are contiguous on both sides.
    pub(crate) fn settings(self, row: usize, knobs: &mut Knobs) -> (bool, bool) {
        let streaming = self.moved() >= self.streaming_from(row, knobs);
        let prefetch = self.moved() > knobs.prefetch_above;
        // Only copies with non-temporal stores join the runs of tiles. Only copies that the L2 cache holds
        // are in a scattered order.
        knobs.joins_tiles &= streaming;
        knobs.scattered &= !streaming && !prefetch && self.moved() > knobs.l1();
        knobs.in_l2 = if streaming { 0 } else { knobs.in_l2 };
        (streaming, prefetch)
    }

    /// The number of bytes, read and written, from which on a copy uses non-temporal stores, if its
    /// contiguous rows have `row` bytes.
    fn streaming_from(&self, row: usize, knobs: &Knobs) -> u64 {
        if row >= LONG_ROW { knobs.long_rows_streaming_from } else { knobs.streaming_from }
    }

    /// The sum of the bytes that are read and the bytes that are written. The buffers may be much larger, for
    /// example if the copy writes a slice of a KV cache.
    pub(crate) fn moved(&self) -> u64 {
        self.read.saturating_add(self.written)
    }
}

impl Program {
    /// Plans some boxes. For the clipped boxes of a piece, `pieces` is the number of pieces that are kept at
    /// a time. All boxes of a piece are planned ahead. If there are very many pieces, their boxes get no
    /// tables for permutations.
    pub(crate) fn new(
        boxes: BoxGroups,
        widths: Widths,
        traffic: Traffic,
        knobs: &Knobs,
        pieces: Option<usize>,
    ) -> Result<Box<Program>, Error> {
        let ahead = pieces.is_some() || boxes.count() <= PREPARED_BOXES && boxes.entries() <= MOST_ENTRIES;
        let permutes = pieces.is_none_or(|pieces| pieces <= permutation::MOST_BOXES);
        let (prepared, knobs) = (PlannedBoxes::new(), *knobs);
        let (streaming, prefetch) = (false, false);
        // The program is made on the heap, and filled there: moving it to the heap would take longer.
        let mut program = Box::new(Program { boxes, widths, streaming, prefetch, permutes, traffic, knobs, prepared });
        let Program { boxes, knobs, prepared, streaming, prefetch, .. } = &mut *program;
        let made = if ahead { boxes.count() } else { FIRST_BOXES };
        let list = boxes.first(made);
        (*streaming, *prefetch) = traffic.settings(contiguous(&list, widths), knobs);
        if ahead {
            let site = Site { streaming: *streaming, prefetch: *prefetch, permutes, knobs };
            let is_small = traffic.written <= MOST_PLAIN_BYTES && knobs.plain_loops;
            let plain = is_small && list.len() == 1 && pieces.is_none();
            let together = if permutes && widths.change().is_none() {
                permutation::together(&list, widths.source, site)
            } else {
                None
            };
            if let Some(blocks) = together {
                prepared.push(PlannedBox::Copy(permutation::copy(blocks, site)?));
            } else {
                prepared.reserve_exact(list.len());
                list.iter().try_for_each(|copy| plan_box(copy, widths, site, plain, prepared))?;
            }
        }
        drop(list);
        Ok(program)
    }

    #[inline]
    pub(crate) fn site(&self) -> Site<'_> {
        let &Program { streaming, prefetch, permutes, ref knobs, .. } = self;
        Site { streaming, prefetch, permutes, knobs }
    }

    /// The shortest buffers for the only box, source and destination, in bytes. `None` if there are several
    /// boxes, or if the only box is copied in steps.
    pub(crate) fn reach(&self) -> Option<[usize; 2]> {
        match &self.prepared[..] {
            [PlannedBox::Plain(nest)] => Some(nest.reach().into()),
            [PlannedBox::Copy(copy)] => Some(copy.reach().into()),
            _ => None,
        }
    }

    /// The boxes, to be cut into pieces. `None` if there are too many boxes, or too long offset tables.
    pub(crate) fn cut_boxes(&self) -> Option<Vec<Spanned>> {
        let few = self.boxes.count() <= MOST_CUT_BOXES && self.boxes.entries() <= MOST_ENTRIES;
        few.then(|| self.boxes.iter().map(|copy| Spanned::new(&copy)).collect())
    }

    /// Whether some elements share bytes with other elements or with padding, so that bytes are changed in
    /// part. The answer is `true`, too, if there are too many boxes to look at all of them.
    pub(crate) fn has_sub_byte_boxes(&self) -> bool {
        let sub_byte = |planned: &PlannedBox| match planned {
            PlannedBox::Plain(_) | PlannedBox::Copy(_) => false,
            PlannedBox::Steps(steps) => steps.changes_bytes(),
        };
        let planned_later = self.prepared.is_empty() && self.boxes.count() > 0;
        !self.widths.destination.is_multiple_of(8) && (planned_later || self.prepared.iter().any(sub_byte))
    }

    pub(crate) fn first(&self, count: usize) -> Result<PlannedBoxes, Error> {
        let mut planned = PlannedBoxes::new();
        for copy in self.boxes.iter().take(count) {
            plan_box(&copy, self.widths, self.site(), false, &mut planned)?;
        }
        Ok(planned)
    }

    pub(crate) fn streaming_from(&self) -> u64 {
        self.traffic.streaming_from(contiguous(&self.boxes.first(FIRST_BOXES), self.widths), &self.knobs)
    }

    /// Plans clipped boxes of this program, for one of `pieces` pieces.
    pub(crate) fn of_boxes(&self, boxes: Vec<CopyBox>, pieces: usize) -> Result<Box<Program>, Error> {
        Self::new(BoxGroups::of(boxes), self.widths, self.traffic, &self.knobs, Some(pieces))
    }
}

/// How many boxes are looked at in order to choose between ordinary and non-temporal stores. Boxes of whole
/// tiles come first, and hold most elements.
const FIRST_BOXES: u64 = 2;

/// The least number of bytes that are contiguous on both sides, of the boxes that are looked at.
fn contiguous(boxes: &[CopyBox], widths: Widths) -> usize {
    let bytes = |copy: &CopyBox| {
        let packed = copy.loops().iter().find(|step| step.is_packed()).map_or(1, Loop::extent);
        usize::try_from(packed.saturating_mul(widths.source.into()).div_euclid(8)).unwrap_or(usize::MAX)
    };
    boxes.iter().zip(0..FIRST_BOXES).map(|(copy, _)| bytes(copy)).min().unwrap_or(0)
}

/// Plans a box, and adds the result to `planned`. Most boxes become one copy of whole bytes. With `plain`,
/// the box is a whole copy, which becomes plain loops if these are cheaper than a kernel. The error is
/// `overflow` if an offset in bytes does not fit a `usize`.
pub(crate) fn plan_box(
    copy: &CopyBox,
    widths: Widths,
    site: Site<'_>,
    plain: bool,
    planned: &mut PlannedBoxes,
) -> Result<(), Error> {
    let bits = widths.source;
    if widths.change().is_some() {
        return bits::plan(copy, widths, site, planned);
    }
    if site.permutes
        && planned.len() < permutation::MOST_BOXES
        && let Some(blocks) = permutation::blocks(copy, bits, site)
    {
        planned.push(PlannedBox::Copy(permutation::copy(blocks, site)?));
        return Ok(());
    }
    if !bits.is_multiple_of(8) {
        return bits::plan(copy, widths, site, planned);
    }
    let mut loops = NestLoops::new();
    let (run, mut start) = loops_of_box(&mut loops, copy, u64::from(bits / 8))?;
    let nest = || Plain::new(run, start, loops.iter().map(ByteLoop::stride).collect::<Option<_>>()?);
    let plain = if plain { nest() } else { None };
    let kernel = select::iteration(&mut loops, run, &mut start, site.knobs);
    let copies_runs = matches!(kernel, Kernel::Runs { .. });
    planned.push(match plain.filter(|plain| is_cheap(plain, copies_runs)) {
        Some(plain) => PlannedBox::Plain(plain),
        None => PlannedBox::Copy(select::resolved(kernel, &mut loops, start, site)?),
    });
    Ok(())
}
