//! CuTe's layouts: `((8,2),(128,2)):((128,2048),(1,1024))`.
//!
//! The text has the shape and, after the colon, the strides, as nested tuples of the same form. Each mode of
//! the top level is a dimension. A mode that is itself a tuple lists the digits of its dimension, the *minor*
//! digit first. CuTe has no element type, no padding after the last element and no partial blocks. Source:
//! CUTLASS, *CuTe Layouts* and *CuTe Layout Algebra*.

use tensor_layout::checked::Exact;

use tensor_layout::Error;
use tensor_layout::cursor::Cursor;
use tensor_layout::element::DataType;
use tensor_layout::map::{IndexMap, LayoutClass, Mode};
use tensor_layout::plan::counted;

use crate::spell::memory_order::digits_by_dimension;

/// The deepest nesting of tuples that is read. Deeper tuples are refused, because the reader calls itself for
/// each level and could overflow the stack.
const MAX_DEPTH: usize = 64;

/// Returns the text of a layout in CuTe's notation. The text has the offsets of the elements, but not the
/// type or the padding after the last element. CuTe cannot express a base offset, partial blocks, digits that
/// do not divide each other, or dimensions that `*` joined. These layouts are an `not_expressible`.
pub(super) fn text(map: &IndexMap) -> Result<String, Error> {
    let refuse = |reason: String| Err(Error::not_expressible("CuTe layout", reason));
    if map.base() != 0 {
        return refuse(format!(
            "it begins {} into its buffer, and CuTe's layouts begin at 0",
            counted(map.base(), "element")
        ));
    }
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
    Ok(format!("{}:{}", tuple(&dimensions, |&(size, _)| size), tuple(&dimensions, |&(_, stride)| stride)))
}

fn tuple(dimensions: &[Vec<(u64, u64)>], number: fn(&(u64, u64)) -> u64) -> String {
    let join = |list: Vec<String>| format!("({})", list.join(","));
    let mode = |digits: &Vec<(u64, u64)>| {
        let numbers: Vec<String> = digits.iter().rev().map(|digit| number(digit).to_string()).collect();
        if let [only] = numbers.as_slice() { only.clone() } else { join(numbers) }
    };
    join(dimensions.iter().map(mode).collect())
}

/// Reads the layout at the cursor, and returns it from the lowest address on, with the axes that run
/// backwards. Numbers may carry the `_` of static integers. A single number is a tensor of rank 1. The buffer
/// ends after the last element (CuTe's *cosize*).
pub(super) fn read(cursor: &mut Cursor<'_>, data_type: DataType) -> Result<(IndexMap, Vec<usize>), Error> {
    let shape = read_tree(cursor, 0, false)?;
    cursor.expect(":", "`:` and the strides")?;
    let start = cursor.position();
    let strides = read_tree(cursor, 0, true)?;
    let end = cursor.position();
    let modes = match (shape, strides) {
        (Tree::Tuple(sizes), Tree::Tuple(strides)) if sizes.len() == strides.len() => {
            sizes.iter().zip(&strides).map(|(sizes, strides)| digits(sizes, strides)).collect::<Option<Vec<_>>>()
        }
        (sizes @ Tree::Number(_), strides) => digits(&sizes, &strides).map(|digits| vec![digits]),
        _ => None,
    };
    let modes = modes.ok_or_else(|| cursor.error_at(start, "strides nested like the shape"))?;
    let (mut forwards, mut reversed) = (Vec::with_capacity(modes.len()), Vec::new());
    for (axis, mode) in modes.iter().enumerate() {
        let mut signs = mode.iter().filter(|(size, stride)| *size > 1 && *stride != 0).map(|(_, stride)| *stride < 0);
        let is_negative = signs.next().unwrap_or(false);
        if signs.any(|sign| sign != is_negative) {
            return Err(cursor.error_at(start, &format!("strides of one sign in mode {axis}")));
        }
        if is_negative {
            reversed.push(axis);
        }
        let digit =
            |&(size, stride): &(u64, i128)| u64::try_from(stride.unsigned_abs()).map(|stride| Mode::new(size, stride));
        forwards.push(
            mode.iter()
                .map(digit)
                .collect::<Result<Vec<_>, _>>()
                .map_err(|_| Error::overflow("one of the strides", 64))?,
        );
    }
    cursor.move_to(end);
    Ok((IndexMap::from_digits(data_type, data_type.bits(), &forwards)?, reversed))
}

enum Tree {
    Number(i128),
    Tuple(Vec<Tree>),
}

fn read_tree(cursor: &mut Cursor<'_>, depth: usize, is_signed: bool) -> Result<Tree, Error> {
    if depth >= MAX_DEPTH {
        return Err(cursor.error(&format!("tuples nested at most {MAX_DEPTH} deep")));
    }
    if cursor.eat("(") {
        return cursor.list(")", |cursor| read_tree(cursor, depth.plus(1), is_signed)).map(Tree::Tuple);
    }
    cursor.eat("_");
    let is_negative = is_signed && cursor.eat("-");
    let number = i128::from(cursor.number("a number or `(`")?);
    Ok(Tree::Number(if is_negative { 0_i128.minus(number) } else { number }))
}

/// Returns the digits of one mode as sizes and strides, the major digit first, or `None` if shape and strides
/// are nested differently.
fn digits(sizes: &Tree, strides: &Tree) -> Option<Vec<(u64, i128)>> {
    fn collect(sizes: &Tree, strides: &Tree, minor_first: &mut Vec<(u64, i128)>) -> Option<()> {
        match (sizes, strides) {
            (&Tree::Number(size), &Tree::Number(stride)) => minor_first.push((u64::try_from(size).ok()?, stride)),
            (Tree::Tuple(sizes), Tree::Tuple(strides)) if sizes.len() == strides.len() => {
                for (sizes, strides) in sizes.iter().zip(strides) {
                    collect(sizes, strides, minor_first)?;
                }
            }
            _ => return None,
        }
        Some(())
    }
    let mut digits = Vec::new();
    collect(sizes, strides, &mut digits)?;
    digits.reverse();
    Some(digits)
}
