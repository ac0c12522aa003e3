//! What CuTe and `tensor-layouts` compose of layouts: a swizzle after a layout, and a layout after a pointer.
//!
//! ```text
//! S<3,4,3> o 0 o (8,64):(64,1)                          CuTe DSL; the unit of the bits is not said
//! tensor<ptr<f16, smem, align<1024>, S<3,4,3>> o (8,64):(64,1)>           CuTe DSL: bits of the byte
//! Sw<3,3,3> o _0 o (_8,_64):(_64,_1)                    CuTe: bits of the element
//! Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)  CuTe: bits of the byte address, offset 0
//! Sw<3,4,3>_smem_ptr[16b](0x7f00) o (_8,_64):(_64,_1)   CuTe: a tensor; the address has a place in its span
//! (Swizzle(3, 4, 3)) o ((8, 64) : (64, 1))              tensor-layouts: bits of the element
//! ComposedLayout(Swizzle(3, 4, 3), Layout((8, 64), (64, 1)), offset=0)
//! gmem_ptr[16b](0x7f00) o (_8,_64):(_64,_1)             CuTe: a tensor, whose address is its offset 0
//! T.TileLayout(T.S[(4, 6):(6, 1)])                      TVM
//! ```

use tensor_layout::Error;
use tensor_layout::cursor::Cursor;
use tensor_layout::element::DataType;
use tensor_layout::map::{IndexMap, Swizzle};

use super::lines::to_notation;
use super::no_layout::refuse_without_layout;
use super::{Notation, cute};
use crate::swizzle::{UNITS, mask};

/// The three numbers of a swizzle: how many bits are flipped, the lowest flipped bit, and the distance from a
/// flipped bit up to the bit that flips it.
type Numbers = [u64; 3];

fn numbers(cursor: &mut Cursor<'_>, close: &str) -> Result<Numbers, Error> {
    let mut number = |end: &str| {
        let number = cursor.number("the bits, the lowest bit and the distance of a swizzle, such as 3,4,3")?;
        cursor.expect(end, &format!("`{end}`")).map(|()| number)
    };
    Ok([number(",")?, number(",")?, number(close)?])
}

/// Reads CuTe's composed layout. `None` if the text is no such layout. The number between the layout and the
/// swizzle is an offset in elements. If a pointer to shared memory is there instead, or directly behind the
/// swizzle, the bits of the swizzle count bytes. Otherwise the bits of C++'s `Sw<` count elements, and `S<`
/// without a letter for the unit is read only if both units give the same layout.
pub(super) fn read(cursor: &mut Cursor<'_>, data_type: DataType) -> Result<Option<IndexMap>, Error> {
    let start = cursor.position();
    let in_cpp = cursor.eat("Sw<");
    if !in_cpp && !cursor.eat("S<") {
        return Ok(None);
    }
    let numbers = numbers(cursor, ">")?;
    if in_cpp && cursor.eat("_smem_ptr") {
        let at = cursor.position();
        let base = place_in_span(pointer(cursor, data_type, true)?, data_type, numbers);
        let base = base.ok_or_else(|| cursor.error_at(at, "an address of whole elements"))?;
        return swizzled(&with_base(cursor, data_type, base)?, numbers, true).map(Some);
    }
    let unit = cursor.position();
    let mut given = match cursor.word() {
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
    let offset = if given != Some(false) && cursor.eat("smem_ptr") {
        given = Some(true);
        pointer(cursor, data_type, false)?;
        0
    } else {
        given = given.or(in_cpp.then_some(false));
        offset(cursor)?
    };
    let map = with_base(cursor, data_type, offset)?;
    if let Some(in_bytes) = given {
        return swizzled(&map, numbers, in_bytes).map(Some);
    }
    match (swizzled(&map, numbers, true), swizzled(&map, numbers, false)) {
        (Ok(bytes), Ok(elements)) if bytes == elements => Ok(Some(bytes)),
        _ => {
            let plain = to_notation(map, Notation::CuTe).unwrap_or_default();
            let plain = plain.trim_start_matches(&data_type.to_string());
            let [bits, lowest, distance] = numbers;
            let [bytes, elements] = UNITS
                .map(|(unit, _)| format!("`{data_type} S<{bits},{lowest},{distance}>{unit} o {offset} o {plain}`"));
            let expected = format!(
                "the unit of the bits: {bytes} counts bits of the byte, as tensors in shared memory do, and {elements} \
                 bits of the element, as a layout that is called does"
            );
            Err(cursor.error_at(start, &expected))
        }
    }
}

/// Reads the number between a swizzle and a layout: `512`, `_0`, or `M_0|(288&288)=288` of a tile, which says
/// how CuTe holds its last number.
fn offset(cursor: &mut Cursor<'_>) -> Result<u64, Error> {
    const OFFSET: &str = "an offset in elements, or smem_ptr[16b](unset)";
    if cursor.eat("M_") {
        for end in ["|(", "&", ")="] {
            cursor.number(OFFSET)?;
            cursor.expect(end, &format!("`{end}`"))?;
        }
    } else {
        cursor.eat("_");
    }
    cursor.number(OFFSET)
}

/// Reads ` o ` and the layout that is swizzled, behind `offset` elements.
fn with_base(cursor: &mut Cursor<'_>, data_type: DataType, offset: u64) -> Result<IndexMap, Error> {
    cursor.expect("o", "` o ` and the layout that is swizzled")?;
    let layout = cursor.position();
    forwards(cute::read(cursor, data_type)?, cursor, layout)?.with_base(offset)
}

/// Returns the place of an address in the span of bytes that the swizzle permutes, in elements. `None` if the
/// place is inside an element.
fn place_in_span(address: u64, data_type: DataType, numbers: Numbers) -> Option<u64> {
    let span = numbers.into_iter().try_fold(0_u32, |sum, number| sum.checked_add(u32::try_from(number).ok()?));
    let bytes = span.and_then(|bits| address.checked_rem(mask(bits))).unwrap_or(address);
    let bits = bytes.checked_mul(8).filter(|bits| bits.is_multiple_of(data_type.bits().into()))?;
    bits.checked_div(data_type.bits().into())
}

/// Reads an address such as 0x7f00. `None` if another word is next.
fn address(cursor: &mut Cursor<'_>) -> Option<u64> {
    let at = cursor.position();
    let number = cursor.word().strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    if number.is_none() {
        cursor.move_to(at);
    }
    number
}

/// The pointers in front of CuTe's tensors.
pub(super) const POINTERS: [&str; 7] =
    ["gmem_ptr", "smem_ptr", "rmem_ptr", "ptr", "gmem_subptr", "smem_subptr", "subptr"];

/// Reads the rest of `gmem_ptr[16b](0x7f00)`, and returns the address, or 0. An address has no meaning for a
/// plain layout. Types of less than a byte have the element of the address behind it: `(0x7f00.1)`.
fn pointer(cursor: &mut Cursor<'_>, data_type: DataType, with_address: bool) -> Result<u64, Error> {
    if cursor.eat("[") {
        let at = cursor.position();
        if cursor.number("the bits of an element")? != data_type.bits().into() {
            return Err(cursor.error_at(at, &format!("{}, the bits of {data_type}", data_type.bits())));
        }
        cursor.expect("b]", "`b]`")?;
    }
    let mut address = 0;
    if cursor.eat("(") {
        match self::address(cursor) {
            Some(number) if with_address => address = number,
            None if cursor.eat("unset") => {}
            _ if with_address => return Err(cursor.error("an address such as 0x7f00, or `unset`")),
            _ => return Err(cursor.error("`unset`: an address is no offset")),
        }
        if address > 0 && cursor.eat(".") {
            cursor.number("an element of a byte")?;
        }
        cursor.expect(")", "`)`")?;
    }
    Ok(address)
}

fn forwards(
    (map, reversed): (IndexMap, Vec<usize>),
    cursor: &mut Cursor<'_>,
    layout: usize,
) -> Result<IndexMap, Error> {
    if reversed.is_empty() { Ok(map) } else { Err(cursor.error_at(layout, "strides of 0 or more")) }
}

fn swizzled(map: &IndexMap, [bits, lowest, distance]: Numbers, in_bytes: bool) -> Result<IndexMap, Error> {
    let flips = (0..bits.min(64)).map(|bit| {
        let bit = u32::try_from(lowest.saturating_add(bit)).unwrap_or(u32::MAX);
        let by = bit.saturating_add(u32::try_from(distance).unwrap_or(u32::MAX));
        // The mask of a bit that is too high is refused by the swizzle.
        (bit, if by < 64 { mask(by) } else { mask(63) })
    });
    let flips: Vec<(u32, u64)> = flips.collect();
    let swizzle = if in_bytes { Swizzle::from_bytes(&flips, map.element_bits()) } else { Swizzle::new(&flips) };
    map.clone().with_swizzle(&swizzle?)
}

/// Reads a layout of `tensor-layouts`, whose bits count elements. `None` if the text is no such layout.
pub(super) fn read_tensor_layouts(
    cursor: &mut Cursor<'_>,
    data_type: DataType,
) -> Result<Option<(IndexMap, Vec<usize>)>, Error> {
    const SWIZZLE: &str = "`Swizzle(` and three numbers";
    let is_shape = |first: char| first == '(' || first.is_ascii_digit();
    let is_layout = cursor.rest().strip_prefix("Layout(").is_some_and(|shape| shape.starts_with(is_shape));
    if is_layout && cursor.eat("Layout(") {
        let read = cute::read_with(cursor, data_type, ",")?;
        cursor.expect(")", "`)`")?;
        return Ok(Some(read));
    }
    if cursor.eat("T.TileLayout(T.S[") {
        let at = cursor.position();
        if cursor.rest().split(':').next().is_some_and(|sizes| sizes.matches('(').count() > 1) {
            return Err(cursor.error_at(at, "sizes and strides without tuples inside"));
        }
        let read = cute::read(cursor, data_type)?;
        cursor.expect("])", "`])`, because replicas, offsets and axes of threads are no strides")?;
        return Ok(Some(read));
    }
    if cursor.rest().starts_with("Tensor<0x") && cursor.eat("Tensor<") {
        cursor.word();
        cursor.expect("@", "`@` and a memory space")?;
        return layout_of_tensor(cursor, data_type, 0, ["", "o", ">"]).map(Some);
    }
    if POINTERS.iter().any(|pointer| cursor.eat(pointer)) {
        pointer(cursor, data_type, true)?;
        cursor.expect("o", "` o ` and the layout")?;
        return plain_or_swizzled(cursor, data_type).map(Some);
    }
    let is_repr = cursor.eat("ComposedLayout(");
    if !is_repr && !cursor.eat("(Swizzle(") {
        return Ok(None);
    }
    if is_repr {
        cursor.expect("Swizzle(", SWIZZLE)?;
    }
    let (numbers, mut offset) = (numbers(cursor, ")")?, 0);
    cursor.expect(if is_repr { "," } else { ") o" }, "the layout that is swizzled")?;
    let layout = cursor.position();
    let read = if is_repr {
        cursor.expect("Layout(", "`Layout(` with a shape and strides")?;
        let read = cute::read_with(cursor, data_type, ",")?;
        cursor.expect(")", "`)`")?;
        if cursor.eat(",") {
            cursor.expect("offset=", "`offset=`")?;
            offset = cursor.number("an offset in elements")?;
        }
        cursor.expect(")", "`)`")?;
        read
    } else {
        if cursor.eat("{") {
            offset = cursor.number("an offset in elements")?;
            cursor.expect("} o", "`} o` and the layout that is swizzled")?;
        }
        cursor.expect("(", "`(` and the layout that is swizzled")?;
        let read = cute::read(cursor, data_type)?;
        cursor.expect(")", "`)`")?;
        read
    };
    let map = forwards(read, cursor, layout)?.with_base(offset)?;
    Ok(Some((swizzled(&map, numbers, false)?, Vec::new())))
}

/// How CuTe DSL begins its tensors, with the end of the pointer, the beginning of the layout and its end.
const TENSORS: [(&str, [&str; 3]); 4] = [
    ("tensor<ptr<", [">", "o", ">"]),
    ("!cute.memref<", ["", ", \"", "\">"]),
    ("tensor(raw_ptr(", [")", "o", ""]),
    ("raw_ptr(", [")", "o", ""]),
];

/// Reads a tensor as CuTe DSL prints it, its type, or what a kernel prints. `None` if the text is no tensor.
/// The values behind the layout change no place.
pub(super) fn read_tensor(cursor: &mut Cursor<'_>) -> Result<Option<(IndexMap, Vec<usize>)>, Error> {
    let Some((begins, marks)) = TENSORS.iter().find(|(begins, _)| cursor.eat(begins)) else { return Ok(None) };
    let in_kernel = begins.ends_with("raw_ptr(");
    let mut address = 0;
    if in_kernel {
        address = self::address(cursor).ok_or_else(|| cursor.error("an address such as 0x7f00"))?;
        cursor.expect(":", "`:` and a data type")?;
    }
    let at = cursor.position();
    let name = cursor.word();
    // MLIR's f8E4M3FN is f8e4m3fn.
    let data_type = name.parse().or_else(|_| name.to_ascii_lowercase().parse());
    let data_type: DataType =
        data_type.map_err(|_: Error| cursor.error_at(at, "a data type such as f32, bf16 or f8E4M3FN"))?;
    cursor.expect(",", "`,` and a memory space")?;
    let read = layout_of_tensor(cursor, data_type, address, *marks)?;
    if in_kernel && !cursor.eat(")") && ["=", ", data="].iter().any(|values| cursor.eat(values)) {
        cursor.move_to(cursor.text().len());
    }
    Ok(Some(read))
}

/// Reads a memory space, what else is said of a pointer, and a layout between its two ends. The bits of a
/// pointer's swizzle count bytes.
fn layout_of_tensor(
    cursor: &mut Cursor<'_>,
    data_type: DataType,
    address: u64,
    [pointer, open, close]: [&str; 3],
) -> Result<(IndexMap, Vec<usize>), Error> {
    let at = cursor.position();
    if !["generic", "gmem", "smem", "rmem", "tmem"].contains(&cursor.word()) {
        return Err(cursor.error_at(at, "a memory space: generic, gmem, smem, rmem or tmem"));
    }
    let mut swizzle = None;
    loop {
        let next = cursor.position();
        let is_said = cursor.eat(",");
        if is_said && cursor.eat("align<") {
            cursor.number("an alignment in bytes")?;
            cursor.expect(">", "`>`")?;
        } else if is_said && cursor.eat("S<") {
            swizzle = Some(numbers(cursor, ">")?);
        } else {
            cursor.move_to(next);
            break;
        }
    }
    cursor.expect(pointer, &format!("`{pointer}`"))?;
    cursor.expect(open, &format!("`{open}` and a layout"))?;
    let layout = cursor.position();
    let mut read = plain_or_swizzled(cursor, data_type)?;
    if let Some(numbers) = swizzle {
        let base = place_in_span(address, data_type, numbers);
        let base = base.ok_or_else(|| cursor.error_at(at, "an address of whole elements"))?;
        read = (swizzled(&forwards(read, cursor, layout)?.with_base(base)?, numbers, true)?, Vec::new());
    }
    cursor.expect(close, &format!("`{close}`"))?;
    Ok(read)
}

fn plain_or_swizzled(cursor: &mut Cursor<'_>, data_type: DataType) -> Result<(IndexMap, Vec<usize>), Error> {
    if let Some(map) = read(cursor, data_type)? {
        return Ok((map, Vec::new()));
    }
    refuse_without_layout(cursor.rest())?;
    cute::read(cursor, data_type)
}
