//! CuTe's layouts: `((8,2),(128,2)):((128,2048),(1,1024))`.
//!
//! The text has the shape and, after the colon, the strides, as nested tuples of the same form. Each mode of
//! the top level is a dimension. A mode that is itself a tuple lists the digits of its dimension, the *minor*
//! digit first. CuTe has no element type, no padding after the last element and no partial blocks. Source:
//! CUTLASS, *CuTe Layouts* and *CuTe Layout Algebra*.

use tensor_layout::Error;
use tensor_layout::checked::{self, Proven};
use tensor_layout::cursor::Cursor;
use tensor_layout::element::DataType;
use tensor_layout::map::{IndexMap, LayoutClass};

use crate::spell::memory_order::digits_by_dimension;

use super::Notation;
use crate::numbers::joined;

/// Returns the text of a layout in CuTe's notation. The text has the offsets of the elements, but not the
/// type or the padding after the last element. CuTe cannot express a base offset, partial blocks, digits that
/// do not divide each other, or dimensions that `*` joined. These layouts are an `not_expressible`.
pub(super) fn text(map: &IndexMap) -> Result<String, Error> {
    let refuse = |reason: String| Err(Error::not_expressible(Notation::CuTe.noun(), reason));
    let Some(mut dimensions) = digits_by_dimension(map) else {
        return refuse(match map.class() {
            LayoutClass::RaggedSplit => "it has blocks that do not divide the blocks around them".into(),
            LayoutClass::Fused => {
                "`*` joins dimensions that do not separate again, and a CuTe mode is one dimension".into()
            }
            _ => "`*` in a later tile joins parts of dimensions that do not line up".into(),
        });
    };
    // The stride of a mode of size 1 is unused, and is written as if the mode were packed around the modes
    // after it.
    let mut packed = 1_u64;
    for (digits, &size) in dimensions.iter_mut().zip(map.sizes()).rev() {
        if digits.is_empty() {
            digits.push((size, if size == 1 { packed } else { 0 }));
        }
        packed = digits.first().map_or(packed, |&(count, stride)| packed.max(count.saturating_mul(stride)));
    }
    for (dim, (digits, &size)) in dimensions.iter().zip(map.sizes()).enumerate() {
        let product = digits.iter().try_fold(1_u64, |product, &(size, _)| product.checked_mul(size));
        if product != Some(size) {
            let block: u64 = digits.iter().skip(1).map(|&(size, _)| size).product();
            return refuse(format!("dimension {dim} ends inside a block of {block}, and CuTe has no partial blocks"));
        }
    }
    let tuple = |number: fn(&(u64, u64)) -> u64| {
        let mode = |digits: &Vec<(u64, u64)>| match digits.as_slice() {
            [only] => number(only).to_string(),
            digits => format!("({})", joined(&digits.iter().rev().map(number).collect::<Vec<_>>())),
        };
        joined(&dimensions.iter().map(mode).collect::<Vec<_>>())
    };
    Ok(format!("{}({}):({})", map.data_type(), tuple(|&(size, _)| size), tuple(|&(_, stride)| stride)))
}

/// Reads the layout at the cursor, and returns it from the lowest address on, with the axes that run
/// backwards. Numbers may carry the `_` of static integers. A single number is a tensor of rank 1. The buffer
/// ends after the last element (CuTe's *cosize*).
pub(super) fn read(cursor: &mut Cursor<'_>, data_type: DataType) -> Result<(IndexMap, Vec<usize>), Error> {
    // Mojo prints a layout in parentheses of its own: `((8, 64):(64, 1))`.
    let (start, text) = (cursor.position(), cursor.rest());
    let closed = text.find(':').map_or("", |colon| text.get(..colon).unwrap_or_default());
    let is_open = closed.matches('(').count() > closed.matches(')').count();
    if is_open && (text.starts_with("((") || !closed.contains(',')) && cursor.eat("(") {
        let read = read_with(cursor, data_type, ":")?;
        cursor.expect(")", "`)`")?;
        return Ok(read);
    }
    cursor.move_to(start);
    read_with(cursor, data_type, ":")
}

/// Reads a shape and strides with `between` between them.
pub(super) fn read_with(
    cursor: &mut Cursor<'_>,
    data_type: DataType,
    between: &str,
) -> Result<(IndexMap, Vec<usize>), Error> {
    let (modes, sizes, form) = nested(cursor, |cursor| Ok(cursor.number(NUMBER)?.into()))?;
    cursor.expect(between, &format!("`{between}` and the strides"))?;
    let start = cursor.position();
    let (_, strides, same_form) = nested(cursor, |cursor| {
        let is_negative = cursor.eat("-");
        let number = i128::from(cursor.number(NUMBER)?);
        Ok(if is_negative { 0_i128.minus(number) } else { number })
    })?;
    if form != same_form {
        return Err(cursor.error_at(start, "strides nested like the shape"));
    }
    let mut forwards: Vec<Vec<(u64, u64)>> = vec![Vec::new(); modes];
    let mut backwards: Vec<Option<bool>> = vec![None; modes];
    for (&(mode, size), &(_, stride)) in sizes.iter().zip(&strides).rev() {
        let (size, distance) = (checked::narrow(size, STRIDE)?, checked::narrow(stride.unsigned_abs(), STRIDE)?);
        if let (Some(digits), Some(sign)) = (forwards.get_mut(mode), backwards.get_mut(mode)) {
            digits.push((size, distance));
            if size > 1 && stride != 0 && *sign.get_or_insert(stride < 0) != (stride < 0) {
                return Err(cursor.error_at(start, &format!("strides of one sign in mode {mode}")));
            }
        }
    }
    let reversed = (0..modes).filter(|&mode| backwards.get(mode) == Some(&Some(true))).collect();
    Ok((IndexMap::from_digits(data_type, data_type.bits(), &forwards)?, reversed))
}

const NUMBER: &str = "a number or `(` (`?` is known when the program runs)";
const STRIDE: &str = "one of the strides";

/// What a nested tuple holds: the number of modes of the outermost tuple, each number with the index of its
/// mode, and the form, which is the text with `n` for each number.
type Nested = (usize, Vec<(usize, i128)>, String);

fn nested<'a>(
    cursor: &mut Cursor<'a>,
    number: impl Fn(&mut Cursor<'a>) -> Result<i128, Error>,
) -> Result<Nested, Error> {
    let (mut mode, mut depth, mut numbers, mut form) = (0_usize, 0_usize, Vec::new(), String::new());
    loop {
        let is_tuple = cursor.eat("(");
        if is_tuple {
            depth = depth.plus(1);
            form.push('(');
        } else {
            cursor.eat("_");
            numbers.push((mode, number(cursor)?));
            form.push('n');
        }
        let mut is_closed = !is_tuple || cursor.peek() == Some(b')');
        while is_closed && depth > 0 {
            is_closed = cursor.eat(")");
            if is_closed {
                depth = depth.minus(1);
                form.push(')');
            } else {
                cursor.expect(",", "`,` or `)`")?;
                mode = mode.plus(usize::from(depth == 1));
                form.push(',');
            }
        }
        if is_closed {
            let modes = if form == "()" { 0 } else { mode.plus(1) };
            return Ok((modes, numbers, form));
        }
    }
}
