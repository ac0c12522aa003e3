//! The shader functions `offset` and `index` of a layout.

use crate::code::{Code, Condition, Expr, Field, Function, Returned};
use tensor_layout::Error;
use tensor_layout::map::IndexMap;

use super::inverse::index_at;
use super::offset::offset_of;
use super::range::last_of;
use super::swizzle::{swizzled, unswizzled};

/// Declares the parameters of a function that takes an index: the base, if it is not a constant, and the
/// indices. Returns all parameters, the base and the indices.
pub(super) fn parameters(code: &mut Code, map: &IndexMap, base: Option<u32>) -> (Vec<Expr>, Expr, Vec<Expr>) {
    let mut all = Vec::new();
    let base = base.map_or_else(
        || {
            let base = code.parameter("base", u32::MAX);
            all.push(base.clone());
            base
        },
        Expr::from,
    );
    let sizes = map.sizes().iter().enumerate();
    let index: Vec<Expr> = sizes.map(|(dim, &size)| code.parameter(&format!("i{dim}"), last_of(size))).collect();
    all.extend(index.iter().cloned());
    (all, base, index)
}

/// Counts the index of each axis of `reversed` from its other end.
fn turn(index: &mut [Expr], map: &IndexMap, reversed: &[usize]) {
    for &axis in reversed {
        if let (Some(i), Some(&size)) = (index.get_mut(axis), map.sizes().get(axis)) {
            *i = Expr::from(last_of(size)).wrapping_sub(&*i).at_most(last_of(size));
        }
    }
}

/// Describes the tensor in a comment of the text, by data type and sizes: `f32[16,300]`.
fn described(map: &IndexMap) -> String {
    let sizes: Vec<String> = map.sizes().iter().map(u64::to_string).collect();
    format!("{}[{}]", map.data_type(), sizes.join(","))
}

/// Returns the function `offset(i0, ..)`. If `base` is `None`, the base is its first argument: `offset(base,
/// i0, ..)`. The axes of `reversed` are counted from their other end.
pub(crate) fn offset_function(map: &IndexMap, base: Option<u32>, reversed: &[usize]) -> Result<Function, Error> {
    let mut code = Code::new();
    let (all, base, mut index) = parameters(&mut code, map, base);
    turn(&mut index, map, reversed);
    let offset = offset_of(&mut code, map, &index)?;
    let offset = if base.constant().is_some() { offset + base } else { base.wrapping_add(offset) };
    let offset = swizzled(&mut code, map.swizzle(), offset, u32::MAX);
    Ok(Function::new(&all, code, Returned::Number(offset))
        .with_comment([format!("The offset of an element of {}.", described(map))]))
}

/// Returns the function `index(offset)`. If `base` is `None`, the base is its first argument: `index(base,
/// offset)`.
pub(crate) fn index_function(map: &IndexMap, base: Option<u32>, reversed: &[usize]) -> Result<Function, Error> {
    let mut code = Code::new();
    let argument = base.is_none().then(|| code.parameter("base", u32::MAX));
    let parameter = code.parameter("offset", u32::MAX);
    let offset = unswizzled(&mut code, map.swizzle(), parameter.clone());
    let offset = if map.swizzle().is_some() { code.bind("plain", offset) } else { offset };
    let (reached, inside) = match (&argument, base) {
        (Some(base), _) => (Condition::True, offset.clone().wrapping_sub(base)),
        (None, None | Some(0)) => (Condition::True, offset.clone()),
        // No element is stored below the base. The difference wraps to a large number there, but it may still
        // be below the span of the layout, so the comparison is needed.
        (None, Some(base)) => (offset.not_less(base), offset.clone().wrapping_sub(base)),
    };
    let inside = code.bind("inside", inside);
    let mut found = index_at(&mut code, map, inside)?;
    turn(&mut found.index, map, reversed);
    let mut fields = vec![("exists".to_owned(), Field::Truth(reached.and(found.exists)))];
    for (dim, i) in found.index.into_iter().enumerate() {
        let name = format!("i{dim}");
        let i = code.bind(&name, i);
        fields.push((name, Field::Number(i)));
    }
    let parameters: Vec<Expr> = argument.into_iter().chain([parameter]).collect();
    let comment = format!("The index at an offset of {}, or padding.", described(map));
    Ok(Function::new(&parameters, code, Returned::Struct(fields)).with_comment([comment]))
}
