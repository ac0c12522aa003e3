//! Shader functions that walk along an axis by adding strides, without a division.

use crate::code::{Code, Condition, Expr, Field, Function, Returned};
use tensor_layout::Error;
use tensor_layout::map::IndexMap;
use tensor_layout::plan::Component;

use super::functions::parameters;
use super::offset::{chain_offset, offset_and_rests};
use super::range::number;

/// The functions that start a walk along one axis and step to the next element.
///
/// The state of a walk is the offset and, for each digit of the axis except the last, a counter of the steps
/// below that digit. When a counter reaches the divisor of its digit, the digit grows.
#[derive(Debug, Clone)]
pub(crate) struct Walk {
    /// The function that returns the state of a walk that starts at an index. Its parameters are those of
    /// `offset`.
    pub(crate) start: Function,
    /// The function that returns the state after one step, from the state before it.
    pub(crate) step: Function,
}

impl Walk {
    /// Returns the functions for `axis`. If `base` is `None`, the base is the first parameter of `start`, as
    /// it is of `offset`.
    pub(crate) fn new(map: &IndexMap, axis: usize, base: Option<u32>) -> Result<Walk, Error> {
        let rank = map.sizes().len();
        if axis >= rank {
            return Err(Error::axis_out_of_range(axis, rank));
        }
        let refuse =
            |reason: &str| Err(Error::not_expressible("a walk along one axis", format!("axis {axis} {reason}")));
        if map.levels().is_some() && map.element_count() > 0 {
            return refuse("has no strides: the layout is Irreducible, and is evaluated tile by tile");
        }
        if map.swizzle().is_some() {
            return refuse("has no strides: bits of its offsets are flipped by higher bits");
        }
        let place = map.components().iter().position(|component| component.dims().contains(&axis));
        let component = place.and_then(|place| map.components().get(place));
        if component.is_some_and(|component| component.dims().last() != Some(&axis)) {
            return refuse("is joined with the axes after it, and only the last of them counts by ones");
        }
        Ok(Walk { start: start(map, place, base)?, step: step(component)? })
    }
}

fn start(map: &IndexMap, place: Option<usize>, base: Option<u32>) -> Result<Function, Error> {
    let mut code = Code::new();
    let (all, base, index) = parameters(&mut code, map, base);
    let (offset, rests) = offset_and_rests(&mut code, map, &index, place)?;
    let mut fields = vec![("offset".to_owned(), Field::Number(base.wrapping_add(offset)))];
    let component = place.and_then(|place| map.components().get(place));
    for (divisor, rest) in component.map_or_else(Vec::new, above_last).into_iter().zip(rests) {
        fields.push((format!("below_{divisor}"), Field::Number(rest)));
    }
    Ok(Function::new(&all, code, Returned::Struct(fields)))
}

/// Returns the divisors of a chain's digits, without the divisor 1 of the last digit.
fn above_last(component: &Component) -> Vec<u32> {
    let divisors = component.chain.digits().iter().map(|digit| digit.divisor.get()).filter(|&divisor| divisor > 1);
    divisors.filter_map(|divisor| u32::try_from(divisor).ok()).collect()
}

/// Returns the function for one step: the last digit grows by 1, or a digit above grows and all digits below
/// restart at 0.
fn step(component: Option<&Component>) -> Result<Function, Error> {
    let mut code = Code::new();
    let offset = code.parameter("at.offset", u32::MAX);
    let mut all = vec![offset.clone()];
    let digits = component.map_or(&[][..], |component| component.chain.digits());
    let divisors = component.map_or_else(Vec::new, above_last);
    let mut next = Vec::new();
    for &divisor in &divisors {
        let rest = code.parameter(&format!("at.below_{divisor}"), divisor.saturating_sub(1));
        all.push(rest.clone());
        next.push(rest + 1);
    }
    let next: Vec<Expr> = next.into_iter().map(|value| code.bind("next", value)).collect();
    let mut change = Expr::from(number(digits.last().map_or(0, |last| last.stride))?);
    // The counters are tested from the lowest digit up. The last counter that reached its divisor decides,
    // which belongs to the highest digit that grows.
    for (place, (&divisor, next)) in divisors.iter().zip(&next).enumerate().rev() {
        let below = digits.get(place.saturating_add(1)..).unwrap_or(&[]);
        let mut scratch = Code::new();
        let (passed, _) = chain_offset(&mut scratch, below, Expr::from(divisor.saturating_sub(1)))?;
        let stride = number(digits.get(place).map_or(0, |digit| digit.stride))?;
        let jump = Expr::from(stride).wrapping_sub(passed);
        change = Expr::select(next.equal(divisor), jump, change);
    }
    let mut fields = vec![("offset".to_owned(), Field::Number(offset.wrapping_add(change)))];
    let mut over = Condition::False;
    for (&divisor, next) in divisors.iter().zip(&next) {
        over = over.or(next.equal(divisor));
        fields.push((format!("below_{divisor}"), Field::Number(Expr::select(over.clone(), 0, next))));
    }
    Ok(Function::new(&all, code, Returned::Struct(fields)))
}
