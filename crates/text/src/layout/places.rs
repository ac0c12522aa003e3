//! Where an element is stored, and which element is stored at an offset.

use core::ops::Range;

use tensor_layout::Error;
use tensor_layout::element::{BlockField, FieldRole};
use tensor_layout::plan::counted;

use super::{Layout, Plane, Role};
use crate::part::check_index;

/// Where an element of a plane is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The number of the part that holds the element.
    pub part: usize,
    /// The index of the element in this part. In a tensor of blocks it is the index of a byte: the byte with
    /// the first bits of the value, or the first byte of the block if values share bits.
    pub index: Vec<u64>,
    /// The offset from the start of the buffer, in elements. In a tensor of blocks the offset is in bytes.
    pub offset: u64,
    /// The index of the value in its block, or of the number among those of its field, and its bits in the
    /// block. `None` without blocks.
    pub in_block: Option<(u64, Vec<Range<u64>>)>,
    /// Where the bits of the value are in the buffer: the offsets of its bytes, and its bits in each of them.
    /// Empty without blocks, and for values that share bits.
    pub bits: Vec<(u64, Range<u64>)>,
}

impl Plane {
    /// Returns where an element is stored. An axis that [runs backwards](Self::reversed) is counted from its
    /// first index.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` and `index_out_of_range` for an index outside the sizes, and the reason why a plane
    /// has no index map.
    pub fn place(&self, index: &[u64]) -> Result<Place, Error> {
        let values = self.numbers().next().filter(|field| field.iter().all(|field| field.role == FieldRole::Values));
        self.place_in(values.unwrap_or_default(), index)
    }

    /// The fields of the blocks by name: `values`, `scales per 32`. A number whose bits are apart is in
    /// several fields of the [block type](tensor_layout::element::BlockType::fields), which are together
    /// here. There is none for a plane without blocks.
    ///
    /// ```
    /// use tensor_layout_text::Layout;
    ///
    /// let weights: Layout = "q4_K[4,512]".parse()?;
    /// let (name, scales) = weights.values().block_fields().nth(1).unwrap();
    /// assert_eq!((name.as_str(), scales.len()), ("scales per 32", 2));
    /// let place = weights.values().place_in(scales, &[1, 9])?;
    /// // The block at 432 has six bits of byte 5.
    /// assert_eq!((place.offset, place.bits), (437, vec![(437, 0..6)]));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn block_fields(&self) -> impl Iterator<Item = (String, &'static [BlockField])> {
        self.numbers().filter_map(|field| Some((name_of(field.first()?), field)))
    }

    /// The fields of the blocks. Those of the same numbers are together.
    fn numbers(&self) -> impl Iterator<Item = &'static [BlockField]> {
        let fields = self.blocks.as_ref().map_or(&[][..], |blocks| blocks.block_type().fields());
        fields.chunk_by(|one, next| (one.role, one.per) == (next.role, next.per))
    }

    /// Returns where a number of one of the [`block_fields`](Self::block_fields) is stored. On the last axis
    /// the index counts the numbers of the field.
    ///
    /// # Errors
    ///
    /// The errors of [`place`](Self::place).
    pub fn place_in(&self, field: &[BlockField], index: &[u64]) -> Result<Place, Error> {
        let (per, mut sizes) = (field.first().map_or(1, |field| field.per), self.sizes.clone());
        sizes.last_mut().into_iter().for_each(|last| *last = last.checked_div(per).unwrap_or(0));
        check_index(&sizes, index)?;
        let mut index = self.forwards_index(index);
        let in_block = self.blocks.as_ref().map(|blocks| {
            let (count, last) = (blocks.block_type().values().checked_div(per), index.last_mut());
            let (mut number, count) = (0, count.unwrap_or(1));
            if let Some(last) = last {
                (number, *last) = (last.checked_rem(count).unwrap_or(0), last.checked_div(count).unwrap_or(0));
            }
            let bits = bits_of(field, number);
            index.push(bits.first().map_or(0, |bits| bits.start.div_euclid(8)));
            (number, bits)
        });
        let in_map = index.clone();
        let held =
            self.parts().iter().enumerate().find_map(|(number, part)| Some((number, part, part.inside(&index)?)));
        let (part, held, index) = held.ok_or_else(|| self.why_without_map())?;
        let mut place = Place { part, offset: held.map.offset(&index)?, index, in_block, bits: Vec::new() };
        for bits in place.in_block.iter().flat_map(|(_, bits)| bits) {
            let mut of_byte = in_map.clone();
            if let Some(slot) = of_byte.last_mut() {
                *slot = bits.start.div_euclid(8);
            }
            let (start, end) = (bits.start.rem_euclid(8), bits.end.saturating_sub(bits.start));
            place.bits.push((self.offset_in_map(&of_byte)?, start..start.saturating_add(end)));
        }
        Ok(place)
    }

    /// Returns the index of the element that is stored at an offset, in elements; `None` for padding. In a
    /// tensor of blocks it is the index of a byte, whose last two numbers are the block and the byte in that
    /// block.
    ///
    /// # Errors
    ///
    /// `index_out_of_range` for an offset past the end of the buffer, `undecided` if strides that do not nest
    /// take too long to search, and the reason why a plane has no index map.
    pub fn index_at(&self, offset: u64) -> Result<Option<Vec<u64>>, Error> {
        let longest = self.parts().iter().max_by_key(|part| part.map.physical_elements());
        let longest = longest.ok_or_else(|| self.why_without_map())?;
        let inside = |part: &&super::Part| offset < part.map.physical_elements();
        for part in self.parts().iter().filter(inside) {
            if let Some(index) = part.map.inverse(offset)? {
                return Ok(Some(self.forwards_index(&part.outside(&index))));
            }
        }
        if offset < longest.map.physical_elements() { Ok(None) } else { longest.map.inverse(offset) }
    }

    /// Returns the offset of index 0 of all axes, in elements. In a tensor of blocks the offset is in bytes.
    /// If an axis runs backwards, this is not the lowest offset.
    #[must_use]
    pub fn first(&self) -> Option<u64> {
        self.offset_in_map(&vec![0; self.map_sizes().len()]).ok()
    }

    /// The sizes of the maps: those of the bytes for a tensor of blocks.
    pub(crate) fn map_sizes(&self) -> &[u64] {
        match (&self.blocks, self.parts()) {
            (_, [part]) => part.map.sizes(),
            (Some(blocks), _) => blocks.bytes().sizes(),
            (None, _) => &self.sizes,
        }
    }

    /// Returns the offset of an index of the [maps](Self::map_sizes).
    pub(crate) fn offset_in_map(&self, index: &[u64]) -> Result<u64, Error> {
        check_index(self.map_sizes(), index)?;
        let index = self.forwards_index(index);
        let held = self.parts().iter().find_map(|part| Some((part, part.inside(&index)?)));
        held.map_or_else(|| Err(self.why_without_map()), |(part, index)| part.map.offset(&index))
    }

    /// Returns the numbers of each of the [`block_fields`](Self::block_fields) that have bits in a byte of a
    /// block, by the name of the field. They are counted from the start of the block.
    #[must_use]
    pub fn numbers_in_byte(&self, byte: u64) -> Vec<(String, &'static [BlockField], Vec<u64>)> {
        let values = self.blocks.as_ref().map_or(0, |blocks| blocks.block_type().values());
        let of_byte = byte.saturating_mul(8)..byte.saturating_add(1).saturating_mul(8);
        let shares = |bits: &Range<u64>| bits.start < of_byte.end && of_byte.start < bits.end;
        let in_field = |(name, field): (String, &'static [BlockField])| {
            let count = values.checked_div(field.first().map_or(1, |field| field.per)).unwrap_or(0);
            let here = |number: &u64| bits_of(field, *number).iter().any(shares);
            Some((name, field, (0..count).filter(here).collect::<Vec<_>>())).filter(|(.., numbers)| !numbers.is_empty())
        };
        self.block_fields().filter_map(in_field).collect()
    }

    /// Counts an index from the lowest address on: from the other end of each axis that runs backwards. The
    /// inverse is the same.
    #[must_use]
    pub fn forwards_index(&self, index: &[u64]) -> Vec<u64> {
        let mut index = index.to_vec();
        for &axis in &self.reversed {
            if let (Some(i), Some(size)) = (index.get_mut(axis), self.sizes.get(axis)) {
                *i = size.saturating_sub(1).saturating_sub(*i);
            }
        }
        index
    }
}

impl Layout {
    /// Returns the places of an element, one for each plane. In a plane of scales this is the place of the
    /// value's scale.
    ///
    /// # Errors
    ///
    /// The errors of [`Plane::place`].
    ///
    /// ```
    /// use tensor_layout_text::layout::Layout;
    ///
    /// let weights: Layout = "f4e2m1fn[200,160] with nvidia.sf_128x4:f8e4m3fn per 16".parse()?;
    /// let offsets: Vec<u64> = weights.places(&[130, 95])?.iter().map(|place| place.offset).collect();
    /// assert_eq!(offsets, [20_895, 2081]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn places(&self, index: &[u64]) -> Result<Vec<Place>, Error> {
        if let (Some(pages), [plane, ..]) = (self.pages(), self.planes.as_slice()) {
            let (name, zeros) = (plane.role.name().unwrap_or_default(), vec!["0"; plane.sizes.len()].join(","));
            let count = counted(pages.fields().len(), "field");
            let reason = format!("it has {count}, each with sizes of its own: name one of them, as in {name}:{zeros}");
            return Err(Error::not_expressible("one index", reason));
        }
        // The index is checked against the sizes of the values, because the last block of a scale may have
        // fewer values.
        let values = self.planes.first().filter(|plane| plane.role == Role::Values);
        values.map_or(Ok(()), |values| check_index(&values.sizes, index))?;
        self.planes.iter().map(|plane| plane.place(&plane.index_of_value(index))).collect()
    }
}

impl Plane {
    /// Returns the index of the element of this plane that a value has.
    #[must_use]
    pub fn index_of_value(&self, index: &[u64]) -> Vec<u64> {
        match &self.role {
            Role::Scales { per } | Role::Component { per, .. } => {
                index.iter().zip(per).map(|(i, per)| i.checked_div(*per).unwrap_or(0)).collect()
            }
            _ => index.to_vec(),
        }
    }
}

/// Returns the bits of a number in its block. Bits of one byte that follow each other are one range.
fn bits_of(field: &[BlockField], number: u64) -> Vec<Range<u64>> {
    let mut bits: Vec<Range<u64>> = Vec::new();
    for next in field.iter().map(|field| field.bits(number)) {
        let byte_of_last = next.end.saturating_sub(1).div_euclid(8);
        let follows = |last: &&mut Range<u64>| last.end == next.start && last.start.div_euclid(8) == byte_of_last;
        match bits.last_mut().filter(follows) {
            Some(last) => last.end = next.end,
            None => bits.push(next),
        }
    }
    bits
}

pub(super) fn name_of(field: &BlockField) -> String {
    let role = match field.role {
        FieldRole::Values => "values",
        FieldRole::Minima => "minima",
        _ => "scales",
    };
    if field.per == 1 { role.into() } else { format!("{role} per {}", field.per) }
}
