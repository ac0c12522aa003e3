//! What CuTe composes of layouts: a swizzle after a layout, and a layout after a pointer.

use tensor_layout::Error;
use tensor_layout::cursor::Cursor;
use tensor_layout::element::DataType;
use tensor_layout::map::{IndexMap, Swizzle};
use tensor_layout::plan::read_type;

use super::lines::text_in;
use super::no_layout::refuse_without_layout;
use super::swizzle::{UNITS, mask};
use super::{Notation, cute};

/// Reads CuTe's composed layout after `S<`. The number between the layout and the swizzle is an offset in
/// elements. Without a letter for the unit of the bits, the text is read only if both units say the same.
pub(super) fn read(cursor: &mut Cursor<'_>, data_type: DataType) -> Result<IndexMap, Error> {
    let start = cursor.position();
    let mut number = |end: &str| {
        let number = cursor.number("the bits, the lowest bit and the distance of a swizzle, such as 3,4,3")?;
        cursor.expect(end, &format!("`{end}`")).map(|()| number)
    };
    let numbers = [number(",")?, number(",")?, number(">")?];
    let unit = cursor.position();
    let given = match cursor.word() {
        "o" => {
            cursor.move_to(unit);
            None
        }
        letter => {
            let of = UNITS.iter().find(|(name, _)| *name == letter).map(|&(_, in_bytes)| in_bytes);
            Some(of.ok_or_else(|| cursor.error_at(unit, "`b` for bits of bytes, `e` for bits of elements, or ` o `"))?)
        }
    };
    cursor.expect("o", "` o ` and an offset in elements")?;
    let offset = cursor.number("an offset in elements")?;
    cursor.expect("o", "` o ` and the layout that is swizzled")?;
    let layout = cursor.position();
    let (map, reversed) = cute::read(cursor, data_type)?;
    if !reversed.is_empty() {
        return Err(cursor.error_at(layout, "strides of 0 or more"));
    }
    let map = map.with_base(offset)?;
    let [bits, lowest, distance] = numbers;
    let flips = (0..bits.min(64)).map(|bit| {
        let bit = u32::try_from(lowest.saturating_add(bit)).unwrap_or(u32::MAX);
        let by = bit.saturating_add(u32::try_from(distance).unwrap_or(u32::MAX));
        // The mask of a bit that is too high is refused by the swizzle.
        (bit, if by < 64 { mask(by) } else { mask(63) })
    });
    let flips: Vec<(u32, u64)> = flips.collect();
    let in_unit = |in_bytes: bool| {
        let swizzle = if in_bytes { Swizzle::from_bytes(&flips, map.element_bits()) } else { Swizzle::new(&flips) };
        swizzle.and_then(|swizzle| map.clone().with_swizzle(&swizzle))
    };
    if let Some(in_bytes) = given {
        return in_unit(in_bytes);
    }
    match (in_unit(true), in_unit(false)) {
        (Ok(bytes), Ok(elements)) if bytes == elements => Ok(bytes),
        _ => {
            let plain = text_in(map, Notation::CuTe).unwrap_or_default();
            let plain = plain.trim_start_matches(&data_type.to_string());
            let [bytes, elements] = UNITS
                .map(|(unit, _)| format!("`{data_type} S<{bits},{lowest},{distance}>{unit} o {offset} o {plain}`"));
            let expected = format!(
                "the unit of the bits: {bytes} counts bits of the byte, as tensors in shared memory do, and {elements} \
                 bits of the element, as a layout that is called does"
            );
            Err(cursor.error_at(start.saturating_sub("S<".len()), &expected))
        }
    }
}

/// Reads the rest of `tensor<ptr<f32, generic> o (4,6):(6,1)>`, as CuTe DSL prints a tensor.
pub(super) fn read_tensor(cursor: &mut Cursor<'_>) -> Result<(IndexMap, Vec<usize>), Error> {
    let data_type = read_type(cursor)?;
    cursor.expect(",", "`,` and a memory space")?;
    let at = cursor.position();
    if !matches!(cursor.word(), "generic" | "gmem" | "smem" | "rmem" | "tmem") {
        return Err(cursor.error_at(at, "a memory space: generic, gmem, smem, rmem or tmem"));
    }
    cursor.expect(">", "`>`")?;
    cursor.expect("o", "`o` and a layout")?;
    let read = if cursor.eat("S<") {
        (read(cursor, data_type)?, Vec::new())
    } else {
        refuse_without_layout(cursor.rest())?;
        cute::read(cursor, data_type)?
    };
    cursor.expect(">", "`>`")?;
    Ok(read)
}
