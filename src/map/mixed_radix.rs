//! Finds the boxes of a layout whose strides nest.
//!
//! The sorted strides of all digits are the place values of a mixed-radix system, so an offset is a number in
//! this system. Each place belongs to one component. An offset holds an element exactly if this condition
//! holds for every component: the digits in the component's places form a number below its extent. The
//! condition and its opposite are unions of products of ranges, with one range for each place. Each product
//! of ranges is a box.

use alloc::vec;
use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::checked::{self, OFFSET, Proven, len_u64};
use crate::error::Error;
use crate::short_sort::sort_by_key;

use super::index_map::IndexMap;
use super::offset_box::{BufferBoxes, OffsetBox, line};

/// The most boxes that a buffer is divided into. For a buffer that needs more, the result is
/// `undecided`.
pub(super) const MAX_BOXES: usize = 1 << 16;

/// The most loops that all boxes of a buffer may have together. For a buffer that needs more, the result is
/// `undecided`.
const MAX_LOOPS: usize = 1 << 20;

/// A product of ranges: the start and the end of the digit in each place, the largest place first.
type Ranges = SmallVec<[(u64, u64); 8]>;

struct Digits {
    stride: u64,
    /// The number of values of a digit with this stride.
    range: u64,
}

/// The number of one component, with each of its digits in a place of its own.
struct Number {
    extent: u64,
    /// The place of each digit, and the weight of one unit of the digit in the number.
    digits: SmallVec<[(usize, u64); 8]>,
}

pub(super) struct MixedRadix {
    places: Vec<Digits>,
    numbers: Vec<Number>,
}

impl MixedRadix {
    /// Returns the places and numbers of a map, or `None` if the strides of the map do not nest.
    pub(super) fn new(map: &IndexMap) -> Option<MixedRadix> {
        if map.levels.is_some() {
            return None;
        }
        // Each entry has the stride, the largest value, the number of the component, and the divisor of a
        // digit.
        let mut all: Vec<(u64, u64, usize, u64)> = Vec::new();
        let mut numbers: Vec<Number> = Vec::new();
        for component in map.components.iter() {
            let digits = component.chain.digits();
            if let [only] = digits
                && only.stride == 0
            {
                continue;
            }
            let number = numbers.len();
            let places = component.counted_digits();
            all.extend(places.map(|(digit, count)| (digit.stride, count.minus(1), number, digit.divisor.get())));
            numbers.push(Number { extent: component.extent, digits: SmallVec::new() });
        }
        sort_by_key(&mut all, |&(stride, ..)| core::cmp::Reverse(stride));
        if all.last().is_none_or(|&(stride, ..)| stride != 1) {
            // If the smallest stride is above 1, only the first offset of each step holds an element. One
            // more place counts the offsets inside a step.
            all.push((1, 0, numbers.len(), 1));
            numbers.push(Number { extent: 1, digits: SmallVec::new() });
        }
        let mut places: Vec<Digits> = Vec::new();
        let mut above = None;
        for (stride, largest, number, divisor) in all {
            let span = above.unwrap_or(map.physical_elements().checked_sub(map.base())?);
            let range = if above.is_none() { span.div_ceil(stride.max(1)) } else { span.checked_div(stride)? };
            let nests = above.is_none() || span.is_multiple_of(stride);
            if stride == 0 || !nests || largest >= range {
                return None;
            }
            numbers.get_mut(number)?.digits.push((places.len(), divisor));
            places.push(Digits { stride, range });
            above = Some(stride);
        }
        for number in &mut numbers {
            sort_by_key(&mut number.digits, |&(_, divisor)| core::cmp::Reverse(divisor));
        }
        Some(MixedRadix { places, numbers })
    }

    /// Returns the boxes, or fails if there would be more than about `most` boxes of padding.
    pub(super) fn boxes(&self, map: &IndexMap, most: usize) -> Result<BufferBoxes, Error> {
        let room = MAX_LOOPS.checked_div(self.places.len()).unwrap_or(MAX_BOXES).min(MAX_BOXES);
        let check = |elements: usize, padding: usize| {
            let fit = elements.saturating_add(padding) <= room && padding <= most;
            if fit { Ok(()) } else { Err(too_many()) }
        };
        let full: Ranges = self.places.iter().map(|place| (0, place.range)).collect();
        let (mut elements, mut padding) = (vec![full.clone()], Vec::new());
        for number in &self.numbers {
            let mut divided = Divided { inside: Vec::new(), outside: Vec::new(), room };
            self.divide(number.extent, &number.digits, &full, &mut divided).ok_or_else(too_many)?;
            // No two numbers share a place, so no product is empty.
            let more = |list: &[Ranges]| elements.len().saturating_mul(list.len());
            check(more(&divided.inside), padding.len().saturating_add(more(&divided.outside)))?;
            padding.extend(products(&elements, &divided.outside));
            elements = products(&elements, &divided.inside).collect();
        }
        // The digit in the topmost place may be so large that an offset is past the end of the buffer. Such
        // offsets are left out of the padding.
        let length = map.physical_elements().minus(map.base());
        let all: SmallVec<[(usize, u64); 8]> = self.places.iter().map(|place| place.stride).enumerate().collect();
        let mut inside_buffer = Divided { inside: Vec::new(), outside: Vec::new(), room };
        self.divide(length, &all, &full, &mut inside_buffer).ok_or_else(too_many)?;
        if inside_buffer.inside.len() > 1 {
            check(elements.len(), padding.len().saturating_mul(inside_buffer.inside.len()))?;
            padding = products(&padding, &inside_buffer.inside).collect();
        }
        let to_boxes = |list: Vec<Ranges>| -> Result<Vec<OffsetBox>, Error> {
            list.iter().map(|ranges| self.offset_box(ranges, map.base())).collect()
        };
        let mut boxes = BufferBoxes { elements: to_boxes(elements)?, padding: to_boxes(padding)? };
        boxes.padding.extend(line(0, map.base()));
        Ok(boxes)
    }

    /// Divides the product of ranges `within` into ranges whose digits form a number below `extent`, and all
    /// other ranges. Returns `None` if there are too many ranges. A digit whose divisor does not divide the
    /// divisor above doubles the number of ranges.
    fn divide(&self, extent: u64, digits: &[(usize, u64)], within: &Ranges, divided: &mut Divided) -> Option<()> {
        let Some((&(place, divisor), below)) = digits.split_first() else {
            divided.inside.push(within.clone());
            return divided.count();
        };
        let (whole, rest) = (extent.divided_by(divisor), extent.modulo(divisor));
        let used = whole.plus(u64::from(rest > 0));
        let restrict = |from, to| {
            let mut ranges = within.clone();
            if let Some(range) = ranges.get_mut(place) {
                *range = (from, to);
            }
            ranges
        };
        let range = self.places.get(place).map_or(0, |place| place.range);
        if used < range {
            divided.outside.push(restrict(used, range));
            divided.count()?;
        }
        if whole > 0 {
            self.divide(divisor, below, &restrict(0, whole), divided)?;
        }
        if rest > 0 {
            self.divide(rest, below, &restrict(whole, used), divided)?;
        }
        Some(())
    }

    fn offset_box(&self, ranges: &Ranges, base: u64) -> Result<OffsetBox, Error> {
        let mut found = OffsetBox { base, loops: SmallVec::new() };
        for (&(from, to), place) in ranges.iter().zip(&self.places) {
            found.base = checked::add(found.base, checked::mul(from, place.stride, OFFSET)?, OFFSET)?;
            let extent = to.minus(from);
            match found.loops.last_mut() {
                _ if extent <= 1 => {}
                Some(outer) if extent.checked_mul(place.stride) == Some(outer.1) => {
                    *outer = (checked::mul(outer.0, extent, OFFSET)?, place.stride);
                }
                _ => found.loops.push((extent, place.stride)),
            }
        }
        Ok(found)
    }
}

/// The ranges whose digits form a number below the extent (`inside`), and all other ranges (`outside`).
struct Divided {
    inside: Vec<Ranges>,
    outside: Vec<Ranges>,
    /// The number of ranges that may still be added.
    room: usize,
}

impl Divided {
    fn count(&mut self) -> Option<()> {
        self.room = self.room.checked_sub(1)?;
        Some(())
    }
}

fn products<'a>(first: &'a [Ranges], second: &'a [Ranges]) -> impl Iterator<Item = Ranges> + 'a {
    first.iter().flat_map(move |a| {
        second.iter().filter_map(move |b| {
            let both = a.iter().zip(b).map(|(a, b)| (a.0.max(b.0), a.1.min(b.1)));
            let ranges: Ranges = both.collect();
            ranges.iter().all(|(from, to)| from < to).then_some(ranges)
        })
    })
}

pub(super) fn too_many() -> Error {
    Error::undecided("where the padding is", len_u64(MAX_BOXES))
}
