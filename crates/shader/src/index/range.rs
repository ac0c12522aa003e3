//! Checks that the numbers of a layout fit the 32 bits of a shader.

use crate::code::{Code, Condition, Expr};
use tensor_layout::Error;
use tensor_layout::checked::{self, OFFSET};
use tensor_layout::map::IndexMap;
use tensor_layout::plan;

const VALUES: u64 = 1 << 32;

/// Refuses elements that are a stream of bits, such as u3.
pub(crate) fn refuse_streams(map: &IndexMap) -> Result<(), Error> {
    match map.data_type() {
        stream if stream.is_stream() => {
            Err(plan::Code::UnsupportedDataType.with_reason("a shader", stream.to_string()))
        }
        _ => Ok(()),
    }
}

/// Checks that every index and every offset fits in a `u32`. Offsets are counted from `base`.
pub(crate) fn check_range(map: &IndexMap, base: u64) -> Result<(), Error> {
    refuse_streams(map)?;
    if let Some((axis, &size)) = map.sizes().iter().enumerate().find(|&(_, &size)| size > VALUES) {
        return Err(plan::Code::SizeLimit.on_axis(axis, size, VALUES));
    }
    let elements = map.span_elements().saturating_sub(base);
    if elements > VALUES {
        return Err(plan::Code::ElementLimit.for_value(elements, VALUES));
    }
    Ok(())
}

/// Converts a divisor, stride or bound to `u32`, in which shaders compute. Fails if it does not fit.
pub(crate) fn number(value: u64) -> Result<u32, Error> {
    checked::narrow(value, OFFSET)
}

/// Returns the largest number below `count`, which is at most 2^32.
pub(super) fn last_of(count: u64) -> u32 {
    u32::try_from(count.saturating_sub(1)).unwrap_or(u32::MAX)
}

/// Whether a value is below `count`, which may be 2^32.
pub(super) fn below(value: &Expr, count: u64) -> Condition {
    u32::try_from(count).map_or(Condition::True, |count| value.less(count))
}

/// Returns the row-major number of an index in an array of the sizes `bounds`.
pub(super) fn fuse(indices: &[Expr], bounds: &[u64]) -> Expr {
    let mut number = Expr::from(0);
    for (index, &bound) in indices.iter().zip(bounds) {
        // If a bound is 2^32, all bounds in front of it are 1, so the number so far is 0 and is dropped.
        number = match u32::try_from(bound) {
            Ok(bound) => number * bound + index,
            Err(_) => index.clone(),
        };
    }
    number
}

/// Returns the index in an array of the sizes `bounds` whose row-major number this is. The number must be
/// below the product of the bounds.
pub(super) fn unfuse(code: &mut Code, name: &str, value: Expr, bounds: &[u64]) -> Vec<Expr> {
    let mut indices = Vec::with_capacity(bounds.len());
    let mut rest = value;
    for (place, &bound) in bounds.iter().enumerate().rev() {
        let Some(bound) = u32::try_from(bound).ok().filter(|_| place > 0) else {
            indices.push(rest.at_most(last_of(bound)));
            rest = Expr::from(0);
            continue;
        };
        let whole = if bound.is_power_of_two() { rest } else { code.bind(name, rest) };
        indices.push(&whole % bound);
        rest = whole / bound;
    }
    indices.reverse();
    indices
}
