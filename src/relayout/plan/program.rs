//! The boxes of one pass, planned.

use crate::error::Error;
use crate::map::{BoxGroups, CopyBox};

use super::super::cpu_family::Rules;
use super::clip::Spanned;
use super::cost::{MOST_CUT_BOXES, MOST_ENTRIES, PAGE, PANELS_TOGETHER, PREPARED_BOXES};
use super::machine::Knobs;
use super::schedule::{Memory, Scheduled};
use super::select;
use super::subbyte::{self, SubByteBox};
use super::together::{self, Parts, Together};
use super::width::{self, WidthBox, Widths};

/// The boxes of one pass, ready to run.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) boxes: BoxGroups,
    /// Bits of an element.
    pub(crate) widths: Widths,
    /// Store whole lines past the cache.
    pub(crate) streaming: bool,
    /// Prefetch what will be read.
    pub(crate) prefetch: bool,
    pub(crate) traffic: Traffic,
    /// What it was planned with.
    pub(crate) knobs: Knobs,
    /// All boxes, or none if there are more than [`PREPARED_BOXES`] or their tables are long: then each is
    /// planned as it is run.
    pub(crate) prepared: Vec<PlannedBox>,
}

/// What a pass moves, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Traffic {
    /// Elements read: those that are repeated once, as they stay in the cache.
    pub(crate) read: u64,
    /// Elements written.
    pub(crate) written: u64,
}

impl Traffic {
    /// Whether a copy of this size stores past the cache, whether it prefetches, and the knobs that its nests
    /// are planned with.
    pub(crate) fn settings(self, knobs: &Knobs) -> (bool, bool, Knobs) {
        let streaming = self.moved() >= knobs.streaming_from;
        let prefetch = self.moved() > knobs.prefetch_above;
        // Only streamed runs are joined, and only what the L2 cache holds is permuted.
        let rules = Rules {
            joins_tiles: knobs.rules.joins_tiles && streaming,
            permuted: knobs.rules.permuted && !streaming && !prefetch && self.moved() > knobs.l1(),
            ..knobs.rules
        };
        let in_l2 = if streaming { 0 } else { knobs.in_l2 };
        (streaming, prefetch, Knobs { rules, in_l2, ..*knobs })
    }

    /// Read and written. Buffers may be much larger: a slice of a cache is written between what stays as it
    /// is.
    pub(crate) fn moved(&self) -> u64 {
        self.read.saturating_add(self.written)
    }
}

/// One box, planned.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "nearly every box is a nest; a box of its own would cost an allocation")]
pub(crate) enum PlannedBox {
    /// Whole bytes.
    Nest(Scheduled),
    /// Elements that begin inside bytes.
    SubByte(SubByteBox),
    /// Elements that are unpacked or packed.
    Width(WidthBox),
    /// Several boxes of whole bytes, part by part.
    Together(Together),
}

impl Program {
    pub(crate) fn new(boxes: BoxGroups, widths: Widths, traffic: Traffic, knobs: &Knobs) -> Result<Program, Error> {
        let (streaming, prefetch, ref knobs) = traffic.settings(knobs);
        let mut prepared = Vec::new();
        if boxes.count() <= PREPARED_BOXES && boxes.entries() <= MOST_ENTRIES {
            let count = usize::try_from(boxes.count()).unwrap_or(0);
            prepared = planned(boxes.iter(), count, widths, Memory { streaming, prefetch }, knobs)?;
        }
        Ok(Program { boxes, widths, streaming, prefetch, traffic, knobs: *knobs, prepared })
    }

    /// How it reads and stores.
    #[inline]
    pub(crate) fn memory(&self) -> Memory {
        Memory { streaming: self.streaming, prefetch: self.prefetch }
    }

    /// The boxes to be cut into pieces; `None` if they are too many, or their tables too long.
    pub(crate) fn cut_boxes(&self) -> Option<Vec<Spanned>> {
        let few = self.boxes.count() <= MOST_CUT_BOXES && self.boxes.entries() <= MOST_ENTRIES;
        few.then(|| self.boxes.iter().map(|copy| Spanned::new(&copy)).collect())
    }

    /// Do some elements share bytes with others, or with padding, so that these are changed in part? Of more
    /// boxes than were planned ahead, this says so if it is possible.
    pub(crate) fn has_sub_byte_boxes(&self) -> bool {
        let sub_byte = |planned: &PlannedBox| match planned {
            PlannedBox::Nest(_) | PlannedBox::Together(_) => false,
            PlannedBox::SubByte(_) => true,
            PlannedBox::Width(copy) => !copy.change.unpacks(),
        };
        let planned_later = self.prepared.is_empty() && self.boxes.count() > 0;
        !self.widths.destination.is_multiple_of(8) && (planned_later || self.prepared.iter().any(sub_byte))
    }

    /// Some boxes of another program, clipped.
    pub(crate) fn of_boxes(&self, boxes: Vec<CopyBox>) -> Result<Program, Error> {
        let count = boxes.len();
        let prepared = planned(boxes.into_iter(), count, self.widths, self.memory(), &self.knobs)?;
        Ok(Program { boxes: BoxGroups::none(), prepared, ..*self })
    }
}

/// Plans this many boxes; past the cache, those that share rows together.
fn planned(
    boxes: impl Iterator<Item = CopyBox>,
    count: usize,
    widths: Widths,
    memory: Memory,
    knobs: &Knobs,
) -> Result<Vec<PlannedBox>, Error> {
    let bytes = u64::from(widths.source.div_euclid(8));
    if memory.streaming && count > 1 && widths.change().is_none() && widths.source.is_multiple_of(8) && bytes > 0 {
        let in_elements = |length: usize| u64::try_from(length).unwrap_or(u64::MAX).div_ceil(bytes);
        let parts = Parts { most: in_elements(knobs.panel.saturating_mul(PANELS_TOGETHER)), apart: in_elements(PAGE) };
        return planned_in(parts, boxes.collect(), widths, (memory, knobs));
    }
    let mut planned = Vec::new();
    planned.reserve_exact(count);
    for copy in boxes {
        planned.push(PlannedBox::new(copy, widths, memory, knobs)?);
    }
    Ok(planned)
}

/// The same of whole bytes, in parts as long as these.
pub(crate) fn planned_in(
    parts: Parts,
    boxes: Vec<CopyBox>,
    widths: Widths,
    (memory, knobs): (Memory, &Knobs),
) -> Result<Vec<PlannedBox>, Error> {
    let bytes = u64::from(widths.source.div_euclid(8));
    let nest = |copy: CopyBox| select::nest(&copy, bytes, knobs).map(|nest| Scheduled::new(nest, memory, knobs));
    let (groups, alone) = together::grouped(boxes, bytes, parts, &nest)?;
    let alone = alone.into_iter().map(|copy| PlannedBox::new(copy, widths, memory, knobs));
    groups.into_iter().map(|boxes| Ok(PlannedBox::Together(boxes))).chain(alone).collect()
}

impl PlannedBox {
    /// The nests of whole bytes.
    pub(crate) fn nests(&self) -> &[Scheduled] {
        match self {
            PlannedBox::Nest(planned) => std::slice::from_ref(planned),
            PlannedBox::Together(boxes) => &boxes.nests,
            PlannedBox::SubByte(_) | PlannedBox::Width(_) => &[],
        }
    }

    pub(crate) fn new(copy: CopyBox, widths: Widths, memory: Memory, knobs: &Knobs) -> Result<PlannedBox, Error> {
        let scheduled = |nest| PlannedBox::Nest(Scheduled::new(nest, memory, knobs));
        if let Some(change) = widths.change() {
            return match width::nest(&copy, &change).or_else(|| width::words(&copy, &change, knobs)) {
                Some(nest) => Ok(scheduled(nest)),
                None => WidthBox::new(copy, change, knobs).map(PlannedBox::Width),
            };
        }
        let bits = widths.source;
        if bits.is_multiple_of(8) {
            select::nest(&copy, u64::from(bits / 8), knobs).map(scheduled)
        } else if let Some(whole) = subbyte::in_whole_bytes(&copy, bits) {
            select::nest(&whole, 1, knobs).map(scheduled)
        } else if let Some(nest) = subbyte::interleaved(&copy, bits, knobs) {
            Ok(scheduled(nest))
        } else {
            Ok(PlannedBox::SubByte(SubByteBox::new(copy, bits)))
        }
    }
}

#[cfg(test)]
mod tests;
