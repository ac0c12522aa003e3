//! What CuTe and `tensor-layouts` compose of layouts: a swizzle after a layout, and a layout after a pointer.
//!
//! ```text
//! S<3,4,3> o 0 o (8,64):(64,1)                          CuTe DSL; the unit of the bits is not said
//! Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)  CuTe: bits of the byte address, offset 0
//! (Swizzle(3, 4, 3)) o ((8, 64) : (64, 1))              tensor-layouts: bits of the element
//! ComposedLayout(Swizzle(3, 4, 3), Layout((8, 64), (64, 1)), offset=0)
//! gmem_ptr[16b](0x7f00) o (_8,_64):(_64,_1)             CuTe: a tensor, whose address is its offset 0
//! T.TileLayout(T.S[(4, 6):(6, 1)])                      TVM
//! ```

use tensor_layout::Error;
use tensor_layout::cursor::Cursor;
use tensor_layout::element::DataType;
use tensor_layout::map::{IndexMap, Swizzle};
use tensor_layout::plan::read_type;

use super::lines::text_in;
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

/// Reads CuTe's composed layout after `S<` or `Sw<`. The number between the layout and the swizzle is an
/// offset in elements. If a pointer to shared memory is there instead, the swizzle's bits count bytes.
/// Without a pointer, and without a letter for the unit, the text is read only if both units give the same
/// layout.
pub(super) fn read(cursor: &mut Cursor<'_>, data_type: DataType) -> Result<IndexMap, Error> {
    let start = cursor.position();
    let numbers = numbers(cursor, ">")?;
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
        cursor.eat("_");
        cursor.number("an offset in elements, or smem_ptr[16b](unset)")?
    };
    cursor.expect("o", "` o ` and the layout that is swizzled")?;
    let layout = cursor.position();
    let map = forwards(cute::read(cursor, data_type)?, cursor, layout)?.with_base(offset)?;
    if let Some(in_bytes) = given {
        return swizzled(&map, numbers, in_bytes);
    }
    match (swizzled(&map, numbers, true), swizzled(&map, numbers, false)) {
        (Ok(bytes), Ok(elements)) if bytes == elements => Ok(bytes),
        _ => {
            let plain = text_in(map, Notation::CuTe).unwrap_or_default();
            let plain = plain.trim_start_matches(&data_type.to_string());
            let [bits, lowest, distance] = numbers;
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

/// The pointers in front of CuTe's tensors.
pub(super) const POINTERS: [&str; 4] = ["gmem_ptr", "smem_ptr", "rmem_ptr", "ptr"];

/// Reads the rest of `gmem_ptr[16b](0x7f00)`. An address has no meaning for a plain layout. In a swizzled
/// layout an address is refused, because its bits would flip bits of the offset.
fn pointer(cursor: &mut Cursor<'_>, data_type: DataType, is_plain: bool) -> Result<(), Error> {
    if cursor.eat("[") {
        let at = cursor.position();
        if cursor.number("the bits of an element")? != data_type.bits().into() {
            return Err(cursor.error_at(at, &format!("{}, the bits of {data_type}", data_type.bits())));
        }
        cursor.expect("b]", "`b]`")?;
    }
    if cursor.eat("(") {
        let at = cursor.position();
        let word = cursor.word();
        if word != "unset" && !(is_plain && word.starts_with("0x")) {
            let expected =
                if is_plain { "an address such as 0x7f00, or `unset`" } else { "`unset`: an address is no offset" };
            return Err(cursor.error_at(at, expected));
        }
        cursor.expect(")", "`)`")?;
    }
    Ok(())
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
        memory_space(cursor)?;
        return layout_of_tensor(cursor, data_type, "o", ">").map(Some);
    }
    if POINTERS.iter().any(|pointer| cursor.eat(pointer)) {
        pointer(cursor, data_type, true)?;
        cursor.expect("o", "` o ` and the layout")?;
        return cute::read(cursor, data_type).map(Some);
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

/// Reads the rest of `tensor<ptr<f32, generic> o (4,6):(6,1)>`, as CuTe DSL prints a tensor.
pub(super) fn read_tensor(cursor: &mut Cursor<'_>) -> Result<(IndexMap, Vec<usize>), Error> {
    let data_type = read_type(cursor)?;
    cursor.expect(",", "`,` and a memory space")?;
    memory_space(cursor)?;
    cursor.expect(">", "`>`")?;
    layout_of_tensor(cursor, data_type, "o", ">")
}

/// Reads the rest of `!cute.memref<f32, generic, "(4,6):(6,1)">`, the type of this tensor.
pub(super) fn read_memref(cursor: &mut Cursor<'_>) -> Result<(IndexMap, Vec<usize>), Error> {
    let data_type = read_type(cursor)?;
    cursor.expect(",", "`,` and a memory space")?;
    memory_space(cursor)?;
    layout_of_tensor(cursor, data_type, ", \"", "\">")
}

fn memory_space(cursor: &mut Cursor<'_>) -> Result<(), Error> {
    let at = cursor.position();
    match cursor.word() {
        "generic" | "gmem" | "smem" | "rmem" | "tmem" => Ok(()),
        _ => Err(cursor.error_at(at, "a memory space: generic, gmem, smem, rmem or tmem")),
    }
}

fn layout_of_tensor(
    cursor: &mut Cursor<'_>,
    data_type: DataType,
    open: &str,
    close: &str,
) -> Result<(IndexMap, Vec<usize>), Error> {
    cursor.expect(open, &format!("`{open}` and a layout"))?;
    let read = if cursor.eat("S<") || cursor.eat("Sw<") {
        (read(cursor, data_type)?, Vec::new())
    } else {
        refuse_without_layout(cursor.rest())?;
        cute::read(cursor, data_type)?
    };
    cursor.expect(close, &format!("`{close}`"))?;
    Ok(read)
}
