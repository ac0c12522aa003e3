//! `OffsetBox` and `BufferBoxes`: what a buffer holds where, as boxes of offsets.

use alloc::vec;
use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::checked::Exact;
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
    pub(super) loops: SmallVec<[(u64, u64); 8]>,
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

/// The offsets from `start` to `end` as a box, if there are any.
pub(super) fn line(start: u64, end: u64) -> Vec<OffsetBox> {
    match end.minus(start) {
        0 => Vec::new(),
        1 => vec![OffsetBox { base: start, loops: SmallVec::new() }],
        length => vec![OffsetBox { base: start, loops: SmallVec::from_slice(&[(length, 1)]) }],
    }
}
