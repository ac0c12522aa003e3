//! Index to offset.

use crate::error::Error;
use crate::map::{Component, Digit, IndexMap};
use crate::shader::code::{Code, Expr};

use super::levels;
use super::range::{fuse, last_of, number};

/// The offset of an index, counted from where index 0 lies. Each index must be below its size; what it takes is added to `code`.
///
/// The map must have passed [`check_range`](super::check_range).
pub(crate) fn offset_of(code: &mut Code, map: &IndexMap, index: &[Expr]) -> Result<Expr, Error> {
    let most = last_of(map.min_elements().saturating_sub(map.base()));
    if let Some(levels) = map.levels().filter(|_| map.logical_elements() > 0) {
        return Ok(levels::offset(code, levels, index)?.at_most(most));
    }
    let mut sum = Expr::from(0);
    for component in map.components() {
        let whole = component_number(code, component, map.sizes(), index)?;
        let part = chain_offset(code, component.chain().digits(), whole)?;
        let part = match component.chain().digits() {
            [_] => part,
            _ => code.bind(&format!("part{}", component.dims().first().unwrap_or(&0)), part),
        };
        sum = sum + part;
    }
    Ok(sum.at_most(most))
}

/// The number that the indices of a component's dimensions form.
pub(super) fn component_number(
    code: &mut Code,
    component: &Component,
    sizes: &[u64],
    index: &[Expr],
) -> Result<Expr, Error> {
    let of = |dim: &usize| index.get(*dim).cloned().unwrap_or_else(|| Expr::from(0));
    let indices: Vec<Expr> = component.dims().iter().map(of).collect();
    let bounds: Vec<u64> = component.dims().iter().filter_map(|&dim| sizes.get(dim).copied()).collect();
    let fused = fuse(&indices, &bounds)?.at_most(last_of(component.extent()));
    Ok(match component.dims() {
        [_] => fused,
        _ => code.bind("joined", fused),
    })
}

/// The value of a chain, or of the lower part of one.
pub(super) fn chain_offset(code: &mut Code, digits: &[Digit], whole: Expr) -> Result<Expr, Error> {
    let (mut sum, mut rest, mut below) = (Expr::from(0), whole, digits);
    while let Some((digit, after)) = below.split_first() {
        let (divisor, stride) = (number(digit.divisor())?, number(digit.stride())?);
        sum = sum + &rest / divisor * stride;
        // The last digit is the rest itself, and stands in one place.
        rest = if after.len() > 1 { remainder(code, &rest, divisor) } else { rest % divisor };
        below = after;
    }
    Ok(sum)
}

/// `value % divisor`: a mask is written where it is used, a division is done once.
pub(super) fn remainder(code: &mut Code, value: &Expr, divisor: u32) -> Expr {
    let rest = value % divisor;
    if divisor.is_power_of_two() { rest } else { code.bind("rest", rest) }
}
