//! Divides a buffer into boxes of elements and boxes of padding, which together cover each offset once.

use alloc::vec;
use alloc::vec::Vec;

use crate::checked::{self, Dims, OFFSET, Proven, next_index};
use crate::error::Error;

use super::index_map::IndexMap;
use super::mixed_radix::{MAX_BOXES, MixedRadix, too_many};
use super::offset_box::{BufferBoxes, OffsetBox, line};
use super::swizzled_boxes::swizzled_offsets;

/// The most offsets and the most elements for which the boxes are searched element by element. For a larger
/// buffer, the result is `undecided`. Only Irreducible layouts, and strides that do not divide each
/// other, are searched.
pub const PADDING_SEARCH_LIMIT: u64 = 1 << 22;

impl IndexMap {
    /// Returns the buffer as boxes of elements and boxes of padding, which cover each offset once.
    ///
    /// The method needs the feature `plan`.
    ///
    /// # Errors
    ///
    /// `undecided` if there would be more than 65,536 boxes, or if the boxes might have more than
    /// 1,048,576 loops. The same error is returned for a layout without nesting digits if the buffer, or the
    /// number of elements, is larger than [`PADDING_SEARCH_LIMIT`].
    #[cfg(feature = "plan")]
    pub fn buffer_boxes(&self) -> Result<BufferBoxes, Error> {
        if self.element_count() == 0 {
            return Ok(BufferBoxes { elements: Vec::new(), padding: line(0, self.physical_elements) });
        }
        let Some(places) = MixedRadix::new(self) else { return self.boxes_by_search() };
        let BufferBoxes { elements, padding } = places.boxes(self, MAX_BOXES)?;
        match self.moved(elements).zip(self.moved(padding)) {
            Some((elements, padding)) => Ok(BufferBoxes { elements, padding }),
            None => self.boxes_by_search(),
        }
    }

    /// Returns the sets of offsets after the swizzle, if this map has one. `None` if they are no short list
    /// of boxes.
    fn moved(&self, boxes: Vec<OffsetBox>) -> Option<Vec<OffsetBox>> {
        let Some(swizzle) = self.swizzle() else { return Some(boxes) };
        let moved = boxes.iter().map(|offsets| swizzled_offsets(offsets, swizzle)).collect::<Option<Vec<_>>>()?;
        Some(moved.concat()).filter(|moved| moved.len() <= MAX_BOXES)
    }

    pub(crate) fn padding_boxes(&self, most: usize) -> Option<Vec<OffsetBox>> {
        if self.element_count() == 0 {
            return Some(line(0, self.physical_elements));
        }
        let boxes = MixedRadix::new(self)?.boxes(self, most).ok()?;
        self.moved(boxes.padding).filter(|padding| padding.len() <= most)
    }

    fn boxes_by_search(&self) -> Result<BufferBoxes, Error> {
        if self.physical_elements > PADDING_SEARCH_LIMIT {
            return Err(Error::undecided("where the padding is", PADDING_SEARCH_LIMIT));
        }
        let holds = self.places_by_walking()?;
        let mut boxes = BufferBoxes { elements: Vec::new(), padding: Vec::new() };
        let mut start = 0_u64;
        for run in holds.chunk_by(|a, b| a == b) {
            let end = start.plus(checked::narrow(run.len(), OFFSET)?);
            let list = if run.first() == Some(&true) { &mut boxes.elements } else { &mut boxes.padding };
            list.extend(line(start, end));
            start = end;
            if boxes.elements.len().plus(boxes.padding.len()) > MAX_BOXES {
                return Err(too_many());
            }
        }
        Ok(boxes)
    }

    /// Returns, for each offset of the buffer, whether an element is stored there. The offset of each element
    /// is computed; repeated elements are skipped.
    fn places_by_walking(&self) -> Result<Vec<bool>, Error> {
        let repeats = |dim: usize| {
            self.components.iter().any(|component| {
                component.dims() == [dim] && component.chain.digits().iter().all(|digit| digit.stride == 0)
            })
        };
        let once = |(dim, &size): (usize, &u64)| if repeats(dim) { 1 } else { size };
        let sizes: Dims = self.sizes().iter().enumerate().map(once).collect();
        if checked::element_count(&sizes) > PADDING_SEARCH_LIMIT {
            return Err(Error::undecided("where the padding is", PADDING_SEARCH_LIMIT));
        }
        let mut held = vec![false; checked::narrow(self.physical_elements, OFFSET)?];
        let mut index = Dims::from_elem(0, sizes.len());
        loop {
            let place = usize::try_from(self.offset_inside(&index)).ok();
            if let Some(slot) = place.and_then(|place| held.get_mut(place)) {
                *slot = true;
            }
            if !next_index(&mut index, &sizes) {
                return Ok(held);
            }
        }
    }
}
