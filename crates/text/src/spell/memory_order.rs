//! Lists the digits of a map in the order of memory.

use tensor_layout::checked::Proven;
use tensor_layout::plan::counted;
use tensor_layout::short_sort::sort_by_key;
use tensor_layout::{IndexMap, LayoutClass};

/// One digit in memory: its dimension, and the number of its values, padding included.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Placed {
    /// The dimension of the digit. A tile longer than the rank covers one more dimension, of size 1; the
    /// number of this dimension is the rank of the map.
    pub(crate) dimension: usize,
    /// The position of the digit in its dimension, counted from the minor digit.
    pub(crate) level: usize,
    pub(crate) size: u64,
    /// Whether the digit is only padding, above the top digit of its dimension.
    pads: bool,
}

/// The size of the buffer that the digits have to fill.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// The whole buffer, if the top digit can be padded to the size of the buffer.
    Buffer,
    /// Only the space that the digits need. The rest of the buffer becomes padding at the end.
    Digits,
}

/// All digits of a map, the major digit first.
#[derive(PartialEq)]
pub(crate) struct MemoryOrder(pub(crate) Vec<Placed>);

impl MemoryOrder {
    /// Lists the digits of a map, or says why tiles cannot spell them. The map must begin at 0 and be a sum
    /// of exact digits, whose strides divide each other. A gap becomes padding. If the digit inside the gap
    /// is the top digit of its dimension, this digit is padded. Otherwise, a dimension all of whose digits
    /// are inside the gap gets one more digit.
    pub(crate) fn new(map: &IndexMap, room: Room) -> Result<MemoryOrder, String> {
        if map.base() != 0 {
            return Err(format!("it begins {} into its buffer, and tiles begin at 0", counted(map.base(), "element")));
        }
        let dimensions = digits_by_dimension(map).ok_or_else(|| match map.class() {
            LayoutClass::RaggedSplit => "its blocks do not divide each other".to_owned(),
            _ => "`*` joins dimensions that do not separate again".to_owned(),
        })?;
        let empty = map.element_count() == 0;
        let mut all: Vec<(u64, usize, usize, u64)> = Vec::new();
        for (dimension, digits) in dimensions.iter().enumerate().filter(|_| !empty) {
            let minor_first = digits.iter().rev().enumerate();
            all.extend(minor_first.map(|(level, &(size, stride))| (stride, dimension, level, size)));
        }
        if let Some((_, axis, ..)) = all.iter().find(|&&(stride, ..)| stride == 0) {
            return Err(format!(
                "axis {axis} is broadcast (stride 0), and in tiles every element has a place of its own"
            ));
        }
        sort_by_key(&mut all, |&(stride, ..)| core::cmp::Reverse(stride));
        let above = if empty { 1 } else { map.physical_elements() };
        let mut order = MemoryOrder(Vec::with_capacity(all.len()));
        let mut outer = (above, 0);
        for (position, &(stride, dimension, level, values)) in all.iter().enumerate() {
            let is_top = dimensions.get(dimension).is_some_and(|digits| level.plus(1) == digits.len());
            let (larger, owner) = outer;
            outer = (stride, dimension);
            let mut fits = larger.divided_by(stride);
            let divides = larger.is_multiple_of(stride);
            if position == 0 && (!divides || !is_top || room == Room::Digits) {
                // The elements after the last block are padding at the end.
                fits = values;
            } else if !divides {
                return Err(format!(
                    "stride {larger} of axis {owner} is not a multiple of stride {stride} of axis {dimension}"
                ));
            } else if fits < values {
                return Err(format!(
                    "stride {larger} of axis {owner} leaves room for {fits} steps of axis {dimension}, which {} {values}",
                    if is_top && level == 0 { "has size" } else { "takes" }
                ));
            }
            if fits > values && !is_top {
                if !fits.is_multiple_of(values) {
                    return Err(format!("there is a gap after a block of {values} in dimension {dimension}"));
                }
                order.pad(&dimensions, dimension, fits.divided_by(values))?;
                fits = values;
            }
            order.0.push(Placed { dimension, level, size: fits, pads: false });
        }
        let smallest = all.last().map_or(above, |&(stride, ..)| stride);
        if smallest > 1 {
            order.pad(&dimensions, usize::MAX, smallest)?;
        }
        Ok(order)
    }

    /// Adds a digit of padding inside `inside`. The digit is above the own digits of a dimension whose digits
    /// are all further in, or which has none: at last, of the dimension of size 1 in front of the shape.
    fn pad(&mut self, dimensions: &[Vec<(u64, u64)>], inside: usize, size: u64) -> Result<(), String> {
        let begun = |other: usize| self.0.iter().any(|placed| placed.dimension == other && !placed.pads);
        let rank = dimensions.len();
        let Some(dimension) = (0..rank).rev().chain([rank]).find(|&other| other != inside && !begun(other)) else {
            return Err(format!("there is a gap inside the blocks of dimension {inside}"));
        };
        // Padding that was placed before has larger strides, so it moves up one level.
        for higher in self.0.iter_mut().filter(|placed| placed.dimension == dimension) {
            higher.level = higher.level.plus(1);
        }
        let level = dimensions.get(dimension).map_or(0, Vec::len);
        self.0.push(Placed { dimension, level, size, pads: true });
        Ok(())
    }

    pub(crate) fn levels(&self, dimension: usize) -> usize {
        self.0.iter().filter(|digit| digit.dimension == dimension).count()
    }

    /// The product of the sizes of some digits, padding included.
    pub(crate) fn product(&self, places: impl IntoIterator<Item = usize>) -> Option<u64> {
        places.into_iter().try_fold(1_u64, |product, place| product.checked_mul(self.0.get(place)?.size))
    }

    /// The positions of a dimension's digits in memory, the major digit first.
    pub(crate) fn digits_of(&self, dimension: usize) -> Vec<usize> {
        let place = |level| self.0.iter().position(|digit| digit.dimension == dimension && digit.level == level);
        (0..self.levels(dimension)).rev().filter_map(place).collect()
    }
}

/// Returns the digits of every dimension, the major digit first, each with its number of values and its
/// stride. The top digit has as many values as the size needs. A dimension of size 1 has no digits. Returns
/// `None` unless the class is Affine or Split.
pub(crate) fn digits_by_dimension(map: &IndexMap) -> Option<Vec<Vec<(u64, u64)>>> {
    if !matches!(map.class(), LayoutClass::Affine | LayoutClass::Split) {
        return None;
    }
    let mut dimensions = vec![Vec::new(); map.sizes().len()];
    for component in map.components() {
        let mut above = component.extent;
        let digits = component.chain.digits().iter().map(|digit| {
            let count = above.div_ceil(digit.divisor.get());
            above = digit.divisor.get();
            (count, digit.stride)
        });
        *dimensions.get_mut(*component.dims().first()?)? = digits.collect();
    }
    Some(dimensions)
}
