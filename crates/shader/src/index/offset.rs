//! Shader code that computes the offset of an index.

use crate::code::{Code, Expr};
use tensor_layout::Error;
use tensor_layout::map::IndexMap;
use tensor_layout::plan::{Component, Digit};

use super::levels;
use super::range::{fuse, last_of, number};

/// Returns the offset of an index, counted from the offset of index 0. Each index must be below its size. The
/// statements that the offset needs are added to `code`.
///
/// The map must have passed [`check_range`](super::check_range).
pub(crate) fn offset_of(code: &mut Code, map: &IndexMap, index: &[Expr]) -> Result<Expr, Error> {
    Ok(offset_and_rests(code, map, index, None)?.0)
}

/// Returns the offset of an index. For the component with the position `of`, also returns the remainders of
/// its number by the divisors of all its digits except the last.
pub(super) fn offset_and_rests(
    code: &mut Code,
    map: &IndexMap,
    index: &[Expr],
    of: Option<usize>,
) -> Result<(Expr, Vec<Expr>), Error> {
    let most = last_of(map.span_elements().saturating_sub(map.base()));
    if let Some(levels) = map.levels().filter(|_| map.element_count() > 0) {
        return Ok((levels::offset(code, levels, index).at_most(most), Vec::new()));
    }
    let (mut sum, mut kept) = (Expr::from(0), Vec::new());
    for (place, component) in map.components().iter().enumerate() {
        let whole = component_number(code, component, map.sizes(), index);
        let (part, rests) = chain_offset(code, component.chain.digits(), whole)?;
        if of == Some(place) {
            kept = rests;
        }
        let part = match component.chain.digits() {
            [_] => part,
            _ => code.bind(&format!("part{}", component.dims().first().unwrap_or(&0)), part),
        };
        sum = sum + part;
    }
    Ok((sum.at_most(most), kept))
}

/// Returns the number that the indices of a component's dimensions form.
fn component_number(code: &mut Code, component: &Component, sizes: &[u64], index: &[Expr]) -> Expr {
    let of = |dim: &usize| index.get(*dim).cloned().unwrap_or_else(|| Expr::from(0));
    let indices: Vec<Expr> = component.dims().iter().map(of).collect();
    let bounds: Vec<u64> = component.dims().iter().filter_map(|&dim| sizes.get(dim).copied()).collect();
    let fused = fuse(&indices, &bounds).at_most(last_of(component.extent));
    match component.dims() {
        [_] => fused,
        _ => code.bind("joined", fused),
    }
}

/// Returns the offset that a chain, or its lower part, gives to the number `whole`. Also returns the
/// remainders of the number by the divisors of all digits except the last.
pub(super) fn chain_offset(code: &mut Code, digits: &[Digit], whole: Expr) -> Result<(Expr, Vec<Expr>), Error> {
    let (mut sum, mut rest, mut below, mut rests) = (Expr::from(0), whole, digits, Vec::new());
    while let Some((digit, after)) = below.split_first() {
        let (divisor, stride) = (number(digit.divisor.get())?, number(digit.stride)?);
        sum = sum + &rest / divisor * stride;
        rest = rest % divisor;
        // A remainder by a power of two is a mask, which is cheap and is repeated wherever the remainder is
        // used. Any other remainder is bound to a name, so that it is computed once. The last remainder is
        // used once, so it needs no name.
        if after.len() > 1 && !divisor.is_power_of_two() {
            rest = code.bind("rest", rest);
        }
        if !after.is_empty() {
            rests.push(rest.clone());
        }
        below = after;
    }
    Ok((sum, rests))
}
