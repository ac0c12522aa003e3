//! `OffsetBox` and `BufferBoxes`: the elements and the padding of a buffer, as boxes of offsets.

use alloc::vec;
use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::checked::Proven;
use crate::strided::Offsets;

/// A set of offsets at regular distances: `base` plus any number of steps of each loop.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OffsetBox {
    /// The first offset, in elements.
    pub base: u64,
    pub(super) loops: SmallVec<[(u64, u64); 8]>,
}

impl OffsetBox {
    /// The loops from the largest stride to the smallest. Each pair is the number of steps and the stride in
    /// elements.
    #[must_use]
    pub fn loops(&self) -> &[(u64, u64)] {
        &self.loops
    }

    /// The number of offsets in the box.
    #[must_use]
    pub fn elements(&self) -> u64 {
        // The product fits 64 bits, because the offsets are different positions in one buffer.
        self.loops.iter().fold(1, |product: u64, &(extent, _)| product.times(extent))
    }

    /// Iterates over the contiguous runs of offsets. Each pair is the start and the length of a run, in
    /// elements.
    pub fn runs(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let (outer, run) = match self.loops.split_last() {
            Some((&(extent, 1), outer)) => (outer, extent),
            _ => (self.loops.as_slice(), 1),
        };
        Offsets::new(outer.iter().copied(), self.base).map(move |start| (start, run))
    }
}

/// The elements and the padding of a buffer.
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
    /// The offsets where elements are stored.
    pub elements: Vec<OffsetBox>,
    /// The offsets where no elements are stored: inside tiles, between rows, before the base and after the
    /// last element.
    pub padding: Vec<OffsetBox>,
}

pub(super) fn line(start: u64, end: u64) -> Vec<OffsetBox> {
    match end.minus(start) {
        0 => Vec::new(),
        1 => vec![OffsetBox { base: start, loops: SmallVec::new() }],
        length => vec![OffsetBox { base: start, loops: SmallVec::from_slice(&[(length, 1)]) }],
    }
}
