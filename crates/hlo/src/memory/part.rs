//! `Parts`: a shape as a flat list of the arrays and tables of pointers that need a buffer each.

use tensor_layout::Error;
use tensor_layout::checked;
use tensor_layout::{ArrayShape, Shape};

use super::intern::Interner;
use crate::bytes::{buffer_bytes, bytes_without_tiles};

/// The parts of a shape. A part is an array, or the table of pointers of a tuple, because each of these can
/// have a buffer. The parts are in the order of the text, and a tuple comes before its elements. A part is
/// known by its place in this order. Place 0 is the whole shape.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Parts {
    parts: Vec<ShapePart>,
    /// The places of the elements of all tuples. The elements of one tuple are in consecutive entries.
    elements: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ShapePart {
    kind: PartKind,
    /// The number of parts inside this part, including the part itself.
    count: u32,
    /// For a tuple, the position of its first element in the list `elements` of [`Parts`].
    elements: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartKind {
    /// A tuple with this many elements. Its buffer is a table of pointers to them.
    Tuple(u32),
    /// An array, by its number in the interner of arrays.
    Array(u32),
    /// A token, an opaque value or an array without a bound. Its size is not known and counts as 0.
    Nothing,
}

/// The facts of an array that decide about its memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ArrayFacts {
    /// The size in bytes with padding. It is 0 if it does not fit in 64 bits.
    pub(super) padded_bytes: u64,
    /// The size in bytes as a backend stores it that knows no tiles.
    pub(super) bytes_without_tiles: u64,
    pub(super) space: u64,
    pub(super) is_tiled: bool,
    pub(super) is_scalar: bool,
    /// Whether the array is a scalar of 32 bits in the tile `T(256)`. Only TPU v2 and v3 have this tile.
    pub(super) is_early_tpu: bool,
}

impl ArrayFacts {
    pub(super) fn of(array: &ArrayShape) -> ArrayFacts {
        let layout = array.layout();
        let padded_bytes = buffer_bytes(array).unwrap_or(0);
        ArrayFacts {
            padded_bytes,
            bytes_without_tiles: bytes_without_tiles(array).unwrap_or(padded_bytes),
            space: layout.memory_space,
            is_tiled: !layout.tiles().is_empty(),
            is_scalar: array.sizes().is_empty(),
            is_early_tpu: array.sizes().is_empty()
                && array.data_type().bits() == 32
                && layout.tiles().first().is_some_and(|tile| tile.to_string() == "(256)"),
        }
    }
}

const COUNT: &str = "the number of parts of a shape";

impl Parts {
    /// Makes the list of the parts of a shape. Its arrays are added to `arrays`.
    pub(super) fn of(shape: &Shape, arrays: &mut Interner<ArrayShape>) -> Result<Parts, Error> {
        let mut parts = Parts::default();
        parts.add(shape, arrays)?;
        parts.parts.shrink_to_fit();
        Ok(parts)
    }

    /// Appends the parts of `shape`. The recursion is safe, because the reader of shapes lets tuples nest at
    /// most 128 deep.
    fn add(&mut self, shape: &Shape, arrays: &mut Interner<ArrayShape>) -> Result<(), Error> {
        let at = self.parts.len();
        let kind = match shape {
            Shape::Array(array) | Shape::Buffer(array) => PartKind::Array(arrays.number(array)?),
            Shape::Tuple(elements) => PartKind::Tuple(checked::narrow(elements.len(), COUNT)?),
            _ => PartKind::Nothing,
        };
        let first = self.elements.len();
        self.parts.push(ShapePart { kind, count: 1, elements: checked::narrow(first, COUNT)? });
        if let Shape::Tuple(elements) = shape {
            self.elements.resize(first.saturating_add(elements.len()), 0);
            for (number, element) in elements.iter().enumerate() {
                if let Some(entry) = self.elements.get_mut(first.saturating_add(number)) {
                    *entry = checked::narrow(self.parts.len(), COUNT)?;
                }
                self.add(element, arrays)?;
            }
        }
        let count = checked::narrow(self.parts.len().saturating_sub(at), COUNT)?;
        if let Some(part) = self.parts.get_mut(at) {
            part.count = count;
        }
        Ok(())
    }

    pub(super) fn len(&self) -> u32 {
        self.parts.first().map_or(0, |part| part.count)
    }

    pub(super) fn kind(&self, place: u32) -> PartKind {
        self.part(place).map_or(PartKind::Nothing, |part| part.kind)
    }

    /// The number of parts inside the part at a place, including that part.
    pub(super) fn count(&self, place: u32) -> u32 {
        self.part(place).map_or(0, |part| part.count)
    }

    fn part(&self, place: u32) -> Option<&ShapePart> {
        self.parts.get(usize::try_from(place).ok()?)
    }

    /// The places of the elements of the tuple at a place. The list is empty if the part at that place is no
    /// tuple.
    pub(super) fn elements(&self, place: u32) -> &[u32] {
        let found = self.part(place).and_then(|part| {
            let PartKind::Tuple(count) = part.kind else { return None };
            let start = usize::try_from(part.elements).ok()?;
            self.elements.get(start..start.checked_add(usize::try_from(count).ok()?)?)
        });
        found.unwrap_or(&[])
    }

    /// Returns the place of the part at a tuple index. `None` if the shape has no such element.
    pub(super) fn at(&self, index: &[usize]) -> Option<u32> {
        index.iter().try_fold(0, |place, &element| self.elements(place).get(element).copied())
    }

    /// Returns the element of the tuple at place `tuple` that contains the part at `place`: the number of the
    /// element, and its own place.
    pub(super) fn element_with(&self, tuple: u32, place: u32) -> Option<(usize, u32)> {
        let elements = self.elements(tuple);
        let number = elements.partition_point(|&element| element <= place).checked_sub(1)?;
        elements.get(number).map(|&element| (number, element))
    }

    /// Returns the tuple index of the part at a place.
    pub(super) fn index_of(&self, place: u32) -> Vec<usize> {
        let (mut index, mut at) = (Vec::new(), 0);
        while at != place
            && let Some((number, element)) = self.element_with(at, place)
        {
            index.push(number);
            at = element;
        }
        index
    }

    /// All places in ascending order, each with the kind of its part.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, PartKind)> {
        (0_u32..).zip(&self.parts).map(|(place, part)| (place, part.kind))
    }
}

#[cfg(test)]
mod tests;
