//! Lists the digits of a map in the order of memory.

use tensor_layout::Error;
use tensor_layout::IndexMap;
use tensor_layout::checked::Exact;

use crate::notation::digits_by_dimension;

use smallvec::SmallVec;

pub(super) fn refuse(reason: String) -> Error {
    Error::not_expressible("tiled layout", reason)
}

/// One digit in memory: its dimension, and the number of its values, padding included.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Placed {
    /// The dimension of the digit. A tile longer than the rank covers one more dimension, of size 1; the
    /// number of this dimension is the rank of the map.
    pub(super) dimension: usize,
    /// The position of the digit in its dimension, counted from the minor digit.
    pub(super) level: usize,
    pub(super) size: u64,
    pub(super) is_top: bool,
    /// Whether the digit is only padding, above the top digit of its dimension.
    pads: bool,
}

/// The size of the buffer that the digits have to fill.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// The whole buffer, if the top digit can be padded to the size of the buffer.
    Buffer,
    /// Only the space that the digits need. The rest of the buffer becomes padding at the end.
    Digits,
}

#[derive(PartialEq)]
pub(super) struct MemoryOrder {
    /// All digits, the major digit first.
    pub(super) digits: Vec<Placed>,
    /// The stride of the last digit, in elements. The stride is more than 1 if elements are not contiguous.
    pub(super) smallest: u64,
}

impl MemoryOrder {
    /// Lists the digits of a map. `room` says whether the top digit is padded until it fills the buffer.
    ///
    /// # Errors
    ///
    /// `not_expressible` if the map does not begin at 0, is not a sum of exact digits, or has strides
    /// that do not divide each other or leave a gap that no dimension can fill with padding.
    pub(super) fn new(map: &IndexMap, room: Room) -> Result<MemoryOrder, Error> {
        if map.base() != 0 {
            return Err(refuse(format!("it begins {} elements into its buffer, and tiles begin at 0", map.base())));
        }
        let Some(dimensions) = digits_by_dimension(map) else {
            return Err(refuse("it is not a sum of exact digits of its dimensions".into()));
        };
        if map.element_count() == 0 {
            return Ok(MemoryOrder { digits: Vec::new(), smallest: 1 });
        }
        if dimensions.iter().all(Vec::is_empty) {
            // The array has one element, so the last dimension is padded to the size of the buffer.
            let dimension = dimensions.len().saturating_sub(1);
            let padded = map.physical_elements() > 1;
            let digit = Placed { dimension, level: 0, size: map.physical_elements(), is_top: true, pads: true };
            return Ok(MemoryOrder { digits: padded.then_some(digit).into_iter().collect(), smallest: 1 });
        }
        ordered(map, dimensions, room)
    }

    /// The number of digits of a dimension, padding included.
    pub(super) fn levels(&self, dimension: usize) -> usize {
        self.digits.iter().filter(|digit| digit.dimension == dimension).count()
    }

    /// Returns a dimension of size `bound` that no tile has cut yet.
    pub(super) fn position(&self, dimension: usize, bound: u64) -> Position {
        let place = |level| self.digits.iter().position(|digit| digit.dimension == dimension && digit.level == level);
        Position { dimension, bound, digits: (0..self.levels(dimension)).rev().filter_map(place).collect() }
    }

    /// The product of the sizes of some digits, padding included.
    pub(super) fn product(&self, places: &[usize]) -> Option<u64> {
        places.iter().try_fold(1_u64, |product, &place| product.checked_mul(self.digits.get(place)?.size))
    }
}

/// One dimension of the tiled shape at some level.
#[derive(Clone, PartialEq)]
pub(super) struct Position {
    /// The dimension of the map that this dimension is a part of.
    pub(super) dimension: usize,
    pub(super) bound: u64,
    /// The positions of its digits in memory, the major digit first.
    pub(super) digits: SmallVec<[usize; 8]>,
}

impl Position {
    /// Cuts off the last `moved` digits with a tile. Returns the dimension that counts blocks and the
    /// dimension inside a block.
    pub(super) fn cut(&self, moved: usize, memory: &MemoryOrder) -> Option<[Position; 2]> {
        let (high, low) = self.digits.split_at_checked(self.digits.len().checked_sub(moved)?)?;
        let block = memory.product(low)?;
        let count = self.bound.div_ceil(block);
        let part = |bound, digits: &[usize]| Position { bound, digits: digits.into(), ..*self };
        Some([part(count, high), part(block, low)])
    }
}

fn ordered(map: &IndexMap, dimensions: Vec<Vec<(u64, u64)>>, room: Room) -> Result<MemoryOrder, Error> {
    // Each entry has the stride, the dimension, the level, the number of values, and whether the digit is the
    // top digit.
    let mut all: Vec<(u64, usize, usize, u64, bool)> = Vec::new();
    for (dimension, digits) in dimensions.iter().enumerate() {
        for (level, &(size, stride)) in digits.iter().rev().enumerate() {
            all.push((stride, dimension, level, size, level.plus(1) == digits.len()));
        }
    }
    all.sort_by_key(|&(stride, ..)| core::cmp::Reverse(stride));
    let smallest = all.last().map_or(1, |&(stride, ..)| stride);
    let mut above = map.physical_elements();
    let mut placed: Vec<Placed> = Vec::with_capacity(all.len());
    for (position, (stride, dimension, level, values, is_top)) in all.into_iter().enumerate() {
        if stride == 0 {
            return Err(refuse(format!(
                "dimension {dimension} is broadcast (stride 0), and in tiles every element has a place of its own"
            )));
        }
        let mut fits = above.divided_by(stride);
        let divides = above.checked_rem(stride) == Some(0);
        if position == 0 && (!divides || !is_top || room == Room::Digits) {
            // The elements after the last block are padding at the end.
            fits = values;
        } else if !divides || fits < values {
            return Err(refuse(format!(
                "a stride of {stride} in dimension {dimension} does not fit the strides around it"
            )));
        }
        if fits > values && !is_top {
            // The padding becomes a digit of a dimension whose digits all have smaller strides.
            let padding = if fits.is_multiple_of(values) { fits.checked_div(values) } else { None };
            let begun = |other: usize| placed.iter().any(|placed| placed.dimension == other && !placed.pads);
            // If no dimension of the map is free, the padding goes to the dimension of size 1 in front of the
            // shape.
            let free = (0..=dimensions.len()).find(|&other| other != dimension && !begun(other));
            let (Some(size), Some(other)) = (padding, free) else {
                return Err(refuse(format!("there is a gap inside the blocks of dimension {dimension}")));
            };
            // The new digit of padding is directly above the dimension's own digits. Padding that was placed
            // before has larger strides, so it moves up one level.
            for higher in placed.iter_mut().filter(|placed| placed.dimension == other) {
                higher.level = higher.level.plus(1);
            }
            let level = dimensions.get(other).map_or(0, Vec::len);
            placed.push(Placed { dimension: other, level, size, is_top: false, pads: true });
            fits = values;
        }
        placed.push(Placed { dimension, level, size: fits, is_top, pads: false });
        above = stride;
    }
    Ok(MemoryOrder { digits: placed, smallest })
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a test that panics has failed")]
mod tests;
