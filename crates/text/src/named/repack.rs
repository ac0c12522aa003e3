//! Repacked blocks: some rows of blocks together, field by field.
//!
//! The repacks of ggml have one form. The blocks of `R` rows become one group. The group has the first field
//! of all rows, then the next field. In each field, the rows take turns of some bytes each. Groups follow
//! each other block by block, then the next `R` rows. `group of 4: 0+1, 1+4 by 2` is
//!
//! ```text
//! row 0   s0 | a0 a1 a2 a3             s0 s1 s2 s3 | a0 a1 b0 b1 c0 c1 d0 d1  a2 a3 b2 ..
//! row 1   s1 | b0 b1 b2 b3      ->
//! row 2   s2 | c0 c1 c2 c3
//! row 3   s3 | d0 d1 d2 d3
//! ```
//!
//! Such a layout describes the bytes of the blocks, and has one part for each field.

use tensor_layout::checked::{self, ELEMENTS, OFFSET};
use tensor_layout::element::DataType;
use tensor_layout::map::IndexMap;
use tensor_layout::strided::{GapOwner, Slice};
use tensor_layout::{BufferTensorDesc, Error};

use crate::part::Part;

use super::{Values, no_value, refused};

/// Returns the parts of the rule `4: 0+2, 2+32 by bl` for `[.., rows, blocks, bytes of a block]`. A field is
/// `first byte + bytes`, or one byte. `by` says how many bytes of a row are taken before the next row;
/// without `by` it is the whole field. `flip` has the bits that copies flip in the last field.
pub(super) fn parts(text: &str, values: &Values<'_>, sizes: &[u64], flip: u8) -> Result<Vec<Part>, Error> {
    let (together, fields) = text.split_once(':').ok_or_else(|| no_value(text))?;
    let [outer @ .., rows, blocks, bytes] = sizes else { return Err(refused("it has no rows of blocks".into())) };
    let together = values.evaluate(together)?.max(1);
    let group = checked::mul(*bytes, together, OFFSET)?;
    let packed = BufferTensorDesc::packed(DataType::U8, sizes)?;
    let (mut parts, mut before) = (Vec::new(), 0);
    for field in fields.split(", ").map(str::trim) {
        let (range, unit) = field.split_once(" by ").unwrap_or((field, ""));
        let (first, length) = range.split_once('+').unwrap_or((range, "1"));
        let (first, length) = (values.evaluate(first)?, values.evaluate(length)?);
        let unit = if unit.is_empty() { length } else { values.evaluate(unit)?.max(1) };
        let turns = length.checked_div(unit).ok_or_else(|| no_value(field))?;
        let groups = checked::mul(*blocks, group, OFFSET)?;
        let mut dimensions: Vec<Vec<(u64, u64)>> =
            outer.iter().zip(packed.strides()).map(|(&size, &stride)| vec![(size, stride)]).collect();
        dimensions.extend([
            vec![(rows.checked_div(together).unwrap_or(0), groups), (together, unit)],
            vec![(*blocks, group)],
            vec![(turns, checked::mul(together, unit, OFFSET)?), (unit, 1)],
        ]);
        let map = IndexMap::from_digits(DataType::U8, 8, &dimensions)?;
        let map = map.with_base(checked::mul(before, together, OFFSET)?)?;
        let map = map.with_physical_elements(packed.exact_size_in_bytes())?.with_gap_owner(GapOwner::Others);
        let mut indices = vec![Slice::ALL; sizes.len()];
        if let Some(last) = indices.last_mut() {
            *last = (first..checked::add(first, length, ELEMENTS)?).into();
        }
        parts.push(Part { indices, map, flip: 0 });
        before = checked::add(before, length, ELEMENTS)?;
    }
    if let Some(last) = parts.last_mut() {
        last.flip = flip;
    }
    Ok(parts)
}

/// Returns the four numbers of a group if the rule has two fields, scales and then values in turns: the bytes
/// of scales in a block, the bytes of values in a block, the rows of a group, and the bytes of a turn.
pub(super) fn scales_then_values(text: &str, values: &Values<'_>) -> Option<[u64; 4]> {
    let (rows, fields) = text.split_once(": ")?;
    let (first, second) = fields.split_once(", ")?;
    let (range, unit) = second.split_once(" by ")?;
    let (scales, length) = range.split_once('+')?;
    let number = |text: &str| values.evaluate(text).ok();
    let is_whole = first == format!("0+{scales}") || first == "0" && scales == "1";
    is_whole.then_some([number(scales)?, number(length)?, number(rows)?, number(unit)?])
}
