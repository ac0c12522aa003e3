//! Boxes of a copy as the special forms take them: strided loops alone. Offsets and strides count elements,
//! words, or groups of words.

use tensor_layout::plan::{CopyBox, OffsetBox, Stride};

use super::words::Width;

/// One loop: its number of steps, and its strides on the source and on the destination. Offsets in WGSL are
/// `u32`, so the strides have no sign, and a loop that runs backwards is printed as a subtraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StridedLoop {
    pub(super) extent: u64,
    pub(super) source: u64,
    pub(super) destination: u64,
    /// Whether the source is walked backwards, from the last step to the first.
    pub(super) reversed: bool,
}

impl StridedLoop {
    /// Whether the loop is packed on both sides and not reversed, which makes it a run.
    fn is_run(&self) -> bool {
        self.source == 1 && self.destination == 1 && !self.reversed
    }
}

/// A loop nest over both sides, the outermost loop first. Every loop has at least two steps. `source` is the
/// lowest offset that is read. With reversed loops, the first iteration reads at a higher offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StridedBox {
    pub(super) source: u64,
    pub(super) destination: u64,
    pub(super) steps: Vec<StridedLoop>,
}

/// A loop that does not fit is divided at a multiple of this many steps, so that the second part is aligned
/// as the first is.
const HALVES: u64 = 128;

impl StridedBox {
    /// Returns `None` for a box with a loop over a table of offsets, which has no stride.
    pub(super) fn new(copy: &CopyBox) -> Option<StridedBox> {
        let strided = |Stride { extent, source, destination }| StridedLoop {
            extent,
            source: source.unsigned_abs(),
            destination,
            reversed: source < 0,
        };
        let steps = copy.loops().iter().map(|step| step.stride().map(strided));
        let mut whole = StridedBox { source: 0, destination: copy.destination, steps: steps.collect::<Option<_>>()? };
        whole.source = copy.source.checked_sub(whole.back())?;
        Some(whole)
    }

    /// Returns how far after `source` the first iteration reads.
    pub(super) fn back(&self) -> u64 {
        let back = self.steps.iter().filter(|step| step.reversed);
        back.fold(0, |sum: u64, step| sum.saturating_add(step.source.saturating_mul(step.extent.saturating_sub(1))))
    }

    pub(super) fn of_padding(padding: &OffsetBox) -> StridedBox {
        let step =
            |&(extent, destination): &(u64, u64)| StridedLoop { extent, source: 0, destination, reversed: false };
        StridedBox { source: 0, destination: padding.base, steps: padding.loops().iter().map(step).collect() }
    }

    /// Returns the number of iterations of all loops: how many elements, words or groups the box has.
    pub(super) fn count(&self) -> u64 {
        self.steps.iter().fold(1, |product: u64, step| product.saturating_mul(step.extent))
    }

    /// Returns the distance between the lowest and the highest offset, on the source and on the destination.
    pub(super) fn reach(&self) -> (u64, u64) {
        let reach = |stride: fn(&StridedLoop) -> u64| {
            let parts = self.steps.iter().map(|step| stride(step).saturating_mul(step.extent.saturating_sub(1)));
            parts.fold(0, u64::saturating_add)
        };
        (reach(|step| step.source), reach(|step| step.destination))
    }

    /// Divides all offsets and strides by `by`. Returns `None` if any of them is no multiple. The innermost
    /// loop must be contiguous on both sides. Its extent is divided instead of its strides, and it is removed
    /// if one step is left. Without `source_too`, the source is not read and stays as it is.
    fn divided(&self, by: u64, source_too: bool) -> Option<StridedBox> {
        let exact = |value: u64| value.is_multiple_of(by).then(|| value.checked_div(by)).flatten();
        let on_source = |value: u64| if source_too { exact(value) } else { Some(value) };
        let mut steps = Vec::new();
        let (last, outer) = self.steps.split_last()?;
        if last.destination != 1 || (source_too && !last.is_run()) {
            return None;
        }
        for step in outer {
            let (source, destination) = (on_source(step.source)?, exact(step.destination)?);
            steps.push(StridedLoop { source, destination, ..*step });
        }
        let extent = exact(last.extent)?;
        if extent > 1 {
            steps.push(StridedLoop { extent, ..*last });
        }
        Some(StridedBox { source: on_source(self.source)?, destination: exact(self.destination)?, steps })
    }

    fn multiplied(mut self, by: u64, source_too: bool) -> StridedBox {
        let scaled = |value: u64| value.saturating_mul(by);
        for step in &mut self.steps {
            step.destination = scaled(step.destination);
            step.source = if source_too { scaled(step.source) } else { step.source };
        }
        self.destination = scaled(self.destination);
        self.source = if source_too { scaled(self.source) } else { self.source };
        if by > 1 {
            let run = StridedLoop { extent: by, source: u64::from(source_too), destination: 1, reversed: false };
            match self.steps.last_mut() {
                // The innermost loop steps by the length of the new run, so both become one loop.
                Some(last) if last.destination == by && (!source_too || (last.source == by && !last.reversed)) => {
                    *last = StridedLoop { extent: scaled(last.extent), ..run };
                }
                _ => self.steps.push(run),
            }
        }
        self
    }

    /// Returns this box in words. Returns `None` unless every write begins and ends at whole words, and with
    /// `source_too` every read too.
    pub(super) fn in_words(&self, width: Width, source_too: bool) -> Option<StridedBox> {
        let divided =
            if width.in_period == 1 { self.clone() } else { self.divided(width.in_period.into(), source_too)? };
        Some(divided.multiplied(width.period.into(), source_too))
    }

    /// Returns this box of words in groups of `width` words. `None` if it does not consist of whole groups.
    pub(super) fn in_groups(&self, width: u64, source_too: bool) -> Option<StridedBox> {
        self.divided(width, source_too)
    }

    /// Returns this box with larger elements, and the bits of such an element. Elements that are neighbours
    /// on both sides become one element of up to 128 bits, which is a whole number of words or a whole part
    /// of a word.
    pub(super) fn widened(&self, bits: u32) -> (StridedBox, u32) {
        let whole = [128, 64, 32, 16, 8, 4, 2];
        for wide in whole.into_iter().filter(|wide| *wide > bits && wide.is_multiple_of(bits)) {
            let factor = u64::from(wide.checked_div(bits).unwrap_or(1));
            let all = self.steps.last().is_some_and(|last| last.extent == factor);
            if let Some(wider) = self.divided(factor, true).filter(|_| all) {
                return (wider, wide);
            }
        }
        (self.clone(), bits)
    }

    /// Halves the box until `fits` holds for every part. Returns `None` if there would be more than `most`
    /// parts.
    pub(super) fn parts(self, fits: &dyn Fn(&StridedBox) -> bool, most: usize) -> Option<Vec<StridedBox>> {
        let (mut waiting, mut found) = (vec![self], Vec::new());
        while let Some(part) = waiting.pop() {
            if fits(&part) {
                found.push(part);
                continue;
            }
            if found.len().saturating_add(waiting.len()) > most {
                return None;
            }
            let far = |step: &StridedLoop| step.source.max(step.destination).saturating_mul(step.extent);
            let at = (0..part.steps.len()).max_by_key(|&at| part.steps.get(at).map(far))?;
            let (first, second) = part.halves(at)?;
            waiting.extend([second, first]);
        }
        Some(found)
    }

    fn halves(&self, at: usize) -> Option<(StridedBox, StridedBox)> {
        let step = *self.steps.get(at)?;
        let half = step.extent.div_ceil(2);
        let half =
            if step.extent > HALVES { half.next_multiple_of(HALVES).min(step.extent.saturating_sub(1)) } else { half };
        let with = |extent: u64| {
            let mut part = self.clone();
            match part.steps.get_mut(at) {
                Some(step) if extent > 1 => step.extent = extent,
                _ => drop(part.steps.remove(at)),
            }
            part
        };
        let (mut first, mut second) = (with(half), with(step.extent.saturating_sub(half)));
        // In a reversed loop, the first steps read at the highest offsets, so the source of the first half
        // moves.
        let (later, steps) =
            if step.reversed { (&mut first, step.extent.saturating_sub(half)) } else { (&mut second, half) };
        later.source = later.source.checked_add(steps.checked_mul(step.source)?)?;
        second.destination = second.destination.checked_add(half.checked_mul(step.destination)?)?;
        Some((first, second))
    }
}
