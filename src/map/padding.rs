//! The elements and the padding of a buffer, each as a list of boxes that together cover it once.
//!
//! The strides of all digits, sorted, are the place values of a mixed-radix system: an offset is a number
//! written in it, and each place belongs to one component. An offset holds an element exactly if, for every
//! component, the digits in its places are those of a number below its extent. Both that condition and its
//! opposite fall into ranges, one for each place, and a product of such ranges is a box.

use alloc::vec;
use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::checked::{self, Dims, Exact, OFFSET, count, next_index};
use crate::error::Error;

use super::index_map::IndexMap;
use crate::strided::Offsets;

/// Offsets at regular distances: `base`, and from there any number of steps of each loop.
///
/// ```
/// use tensor_layout::{BufferTensorDesc, DataType, ToIndexMap};
///
/// // Two rows of three, five apart: the padding of the first row is at 3 and 4.
/// let desc = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[5, 1]))?;
/// let boxes = desc.to_index_map()?.buffer_boxes()?;
/// let rows = &boxes.elements[0];
/// assert_eq!((rows.base, rows.elements(), rows.loops()), (0, 6, &[(2, 5), (3, 1)][..]));
/// let gaps: Vec<(u64, u64)> = boxes.padding.iter().flat_map(|padding| padding.runs()).collect();
/// assert_eq!(gaps, [(3, 2)]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OffsetBox {
    /// The first offset, in elements.
    pub base: u64,
    loops: SmallVec<[(u64, u64); 8]>,
}

impl OffsetBox {
    /// The loops from the largest stride to the smallest: how many steps, and the stride in elements.
    #[must_use]
    pub fn loops(&self) -> &[(u64, u64)] {
        &self.loops
    }

    /// How many offsets there are.
    #[must_use]
    pub fn elements(&self) -> u64 {
        // Cannot saturate: the offsets are different places of one buffer.
        self.loops.iter().fold(1, |product: u64, &(extent, _)| product.times(extent))
    }

    /// Every contiguous run of offsets: where it begins, and how long it is.
    pub fn runs(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let (outer, run) = match self.loops.split_last() {
            Some((&(extent, 1), outer)) => (outer, extent),
            _ => (self.loops.as_slice(), 1),
        };
        Offsets::new(outer.iter().copied(), self.base).map(move |start| (start, run))
    }
}

/// What a buffer holds where.
///
/// ```
/// use tensor_layout::{plan::BufferBoxes, ArrayShape, ToIndexMap};
///
/// let map = "f32[3,5]{1,0:T(2,2)}".parse::<ArrayShape>()?.to_index_map()?;
/// let boxes: BufferBoxes = map.buffer_boxes()?;
/// let count: u64 = boxes.elements.iter().chain(&boxes.padding).map(|part| part.elements()).sum();
/// assert_eq!(count, map.physical_elements());
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BufferBoxes {
    /// Where elements are stored.
    pub elements: Vec<OffsetBox>,
    /// Where none are stored: inside tiles, between rows, before the base and after the last element.
    pub padding: Vec<OffsetBox>,
}

/// The largest buffer, and the most elements, whose boxes are found element by element where the layout does
/// not give them: Irreducible layouts, and strides that do not divide each other.
pub const PADDING_SEARCH_LIMIT: u64 = 1 << 22;

/// The most boxes a buffer is divided into.
const MAX_BOXES: usize = 1 << 16;

/// The most loops that all these boxes may have.
const MAX_LOOPS: usize = 1 << 20;

impl IndexMap {
    /// The buffer as boxes of elements and boxes of padding, which cover each of its offsets once.
    ///
    /// # Errors
    ///
    /// [`Error::TooHard`] if there would be more than 65,536 boxes, or these might have more than 1,048,576
    /// loops; or if the layout has no digits that nest and the buffer, or the number of elements, is larger
    /// than [`PADDING_SEARCH_LIMIT`].
    ///
    /// ```
    /// use tensor_layout::{map::ToIndexMap, ArrayShape};
    ///
    /// let boxes = "f32[3,5]{1,0:T(2,2)}".parse::<ArrayShape>()?.to_index_map()?.buffer_boxes()?;
    /// let count = |boxes: &[tensor_layout::plan::OffsetBox]| boxes.iter().map(|b| b.elements()).sum::<u64>();
    /// assert_eq!((count(&boxes.elements), count(&boxes.padding)), (15, 9));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn buffer_boxes(&self) -> Result<BufferBoxes, Error> {
        if self.element_count() == 0 {
            return Ok(BufferBoxes { elements: Vec::new(), padding: line(0, self.physical_elements) });
        }
        match MixedRadix::new(self) {
            Some(places) => places.boxes(self, MAX_BOXES),
            None => self.boxes_by_search(),
        }
    }

    /// The boxes of padding, if the layout itself gives them: the digits nest, and there are at most `most`
    /// boxes.
    pub(crate) fn padding_boxes(&self, most: usize) -> Option<Vec<OffsetBox>> {
        if self.element_count() == 0 {
            return Some(line(0, self.physical_elements));
        }
        let boxes = MixedRadix::new(self)?.boxes(self, most).ok()?;
        (boxes.padding.len() <= most).then_some(boxes.padding)
    }

    fn boxes_by_search(&self) -> Result<BufferBoxes, Error> {
        if self.physical_elements > PADDING_SEARCH_LIMIT {
            return Err(Error::TooHard { question: "where the padding is", work: PADDING_SEARCH_LIMIT });
        }
        let holds = self.places_by_walking()?;
        let mut boxes = BufferBoxes { elements: Vec::new(), padding: Vec::new() };
        let mut start = 0_u64;
        for run in holds.chunk_by(|a, b| a == b) {
            let end = start.plus(checked::narrow(run.len(), OFFSET)?);
            let list = if run.first() == Some(&true) { &mut boxes.elements } else { &mut boxes.padding };
            list.extend(line(start, end));
            start = end;
            check_boxes(boxes.elements.len().plus(boxes.padding.len()))?;
        }
        Ok(boxes)
    }

    /// For each offset of the buffer: is an element stored there? By the offset of each element, repeated
    /// ones aside.
    fn places_by_walking(&self) -> Result<Vec<bool>, Error> {
        let repeats = |dim: usize| {
            self.components().iter().any(|component| {
                component.dims() == [dim] && component.chain.digits().iter().all(|digit| digit.stride == 0)
            })
        };
        let sizes: Dims =
            self.sizes().iter().enumerate().map(|(dim, &size)| if repeats(dim) { 1 } else { size }).collect();
        if checked::element_count(&sizes) > PADDING_SEARCH_LIMIT {
            return Err(Error::TooHard { question: "where the padding is", work: PADDING_SEARCH_LIMIT });
        }
        let mut holds = vec![false; checked::narrow(self.physical_elements, OFFSET)?];
        let mut index: Dims = sizes.iter().map(|_| 0).collect();
        loop {
            let place: usize = checked::narrow(self.offset_inside(&index), OFFSET)?;
            if let Some(slot) = holds.get_mut(place) {
                *slot = true;
            }
            if !next_index(&mut index, &sizes) {
                return Ok(holds);
            }
        }
    }
}

fn check_boxes(number: usize) -> Result<(), Error> {
    if number > MAX_BOXES { Err(too_many()) } else { Ok(()) }
}

fn too_many() -> Error {
    Error::TooHard { question: "where the padding is", work: count(MAX_BOXES) }
}

/// The offsets from `start` to `end` as a box, if there are any.
fn line(start: u64, end: u64) -> Vec<OffsetBox> {
    match end.minus(start) {
        0 => Vec::new(),
        1 => vec![OffsetBox { base: start, loops: SmallVec::new() }],
        length => vec![OffsetBox { base: start, loops: SmallVec::from_slice(&[(length, 1)]) }],
    }
}

/// A range of digits for each place, the largest place first.
type Ranges = SmallVec<[(u64, u64); 8]>;

struct Digits {
    stride: u64,
    /// How many digits there are at this place.
    range: u64,
}

/// A number written in some of the places.
struct Number {
    extent: u64,
    /// The place of each digit, and what one unit of it is worth in the number.
    digits: SmallVec<[(usize, u64); 8]>,
}

struct MixedRadix {
    places: SmallVec<[Digits; 8]>,
    numbers: SmallVec<[Number; 6]>,
}

impl MixedRadix {
    /// `None` if the strides of the map do not nest.
    fn new(map: &IndexMap) -> Option<MixedRadix> {
        if map.levels().is_some() {
            return None;
        }
        // Every digit: stride, largest value, which number, which digit of it.
        let mut all: SmallVec<[(u64, u64, usize, u64); 8]> = SmallVec::new();
        let mut numbers: SmallVec<[Number; 6]> = SmallVec::new();
        for component in map.components() {
            let digits = component.chain.digits();
            if let [only] = digits
                && only.stride == 0
            {
                continue;
            }
            let mut above = component.extent;
            for digit in digits {
                let largest = above.checked_sub(1)?.checked_div(digit.divisor.get())?;
                all.push((digit.stride, largest, numbers.len(), digit.divisor.get()));
                above = digit.divisor.get();
            }
            numbers.push(Number { extent: component.extent, digits: SmallVec::new() });
        }
        all.sort_by_key(|&(stride, ..)| core::cmp::Reverse(stride));
        if all.last().is_none_or(|&(stride, ..)| stride != 1) {
            // The offsets between two multiples of the smallest stride: only the first holds an element.
            all.push((1, 0, numbers.len(), 1));
            numbers.push(Number { extent: 1, digits: SmallVec::new() });
        }
        let mut places: SmallVec<[Digits; 8]> = SmallVec::new();
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
            number.digits.sort_by_key(|&(_, divisor)| core::cmp::Reverse(divisor));
        }
        Some(MixedRadix { places, numbers })
    }

    /// The boxes, with at most about `most` of padding.
    fn boxes(&self, map: &IndexMap, most: usize) -> Result<BufferBoxes, Error> {
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
            // Every number has places of its own, so no product is empty.
            let more = |list: &[Ranges]| elements.len().saturating_mul(list.len());
            check(more(&divided.inside), padding.len().saturating_add(more(&divided.outside)))?;
            padding.extend(products(&elements, &divided.outside));
            elements = products(&elements, &divided.inside).collect();
        }
        // The topmost place may reach past the end of the buffer.
        let length = map.physical_elements().minus(map.base());
        let mut inside_buffer = Vec::new();
        self.below(length, 0, &full, &mut inside_buffer);
        if inside_buffer.len() > 1 {
            check(elements.len(), padding.len().saturating_mul(inside_buffer.len()))?;
            padding = products(&padding, &inside_buffer).collect();
        }
        let to_boxes = |list: Vec<Ranges>| -> Result<Vec<OffsetBox>, Error> {
            list.iter().map(|ranges| self.offset_box(ranges, map.base())).collect()
        };
        let mut boxes = BufferBoxes { elements: to_boxes(elements)?, padding: to_boxes(padding)? };
        boxes.padding.extend(line(0, map.base()));
        Ok(boxes)
    }

    /// The digits of the numbers below `extent`, and all other digits, as ranges inside `within`. `None` if
    /// they are too many: a digit that does not divide the one above it doubles them.
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

    /// The offsets below `length`, as ranges.
    fn below(&self, length: u64, from: usize, within: &Ranges, found: &mut Vec<Ranges>) {
        let Some(place) = self.places.get(from) else { return };
        let whole = length.divided_by(place.stride);
        let rest = length.modulo(place.stride);
        let restrict = |low, high| {
            let mut ranges = within.clone();
            if let Some(range) = ranges.get_mut(from) {
                *range = (low, high);
            }
            ranges
        };
        if whole > 0 {
            found.push(restrict(0, whole));
        }
        if rest > 0 {
            self.below(rest, from.plus(1), &restrict(whole, whole.plus(1)), found);
        }
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

/// The digits of a number that there is, and those of none.
struct Divided {
    inside: Vec<Ranges>,
    outside: Vec<Ranges>,
    /// How many more there may be.
    room: usize,
}

impl Divided {
    fn count(&mut self) -> Option<()> {
        self.room = self.room.checked_sub(1)?;
        Some(())
    }
}

/// Every pair of boxes, as what they have in common.
fn products<'a>(first: &'a [Ranges], second: &'a [Ranges]) -> impl Iterator<Item = Ranges> + 'a {
    first.iter().flat_map(move |a| {
        second.iter().filter_map(move |b| {
            let both = a.iter().zip(b).map(|(a, b)| (a.0.max(b.0), a.1.min(b.1)));
            let ranges: Ranges = both.collect();
            ranges.iter().all(|(from, to)| from < to).then_some(ranges)
        })
    })
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "a test that panics has failed")]
mod tests;
