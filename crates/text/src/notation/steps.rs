//! Describes in words how an offset is computed.

use tensor_layout::checked::{self, Proven, wide_product};
use tensor_layout::plan::{Chain, Component};
use tensor_layout::tiled::TileSize;
use tensor_layout::{AnyLayout, ArrayShape, Error, IndexMap, LayoutClass, ToIndexMap};

use crate::numbers::list;

/// Describes how the offset of an element is computed. Each component of the index map gets a sentence
/// with the digits of its number and the offset of each digit. A layout without digits gets a sentence
/// for each tile. The last sentences name the element and its offset in bytes and bits. The description
/// is for people, and its wording may change.
///
/// # Errors
///
/// The errors of [`IndexMap::offset`], and the error of a layout without an index map.
///
/// ```
/// use tensor_layout::ArrayShape;
/// use tensor_layout_text::offset_steps;
///
/// let shape: ArrayShape = "f32[3,5]{1,0:T(2,2)}".parse()?;
/// assert_eq!(offset_steps(&shape.into(), &[2, 3])?, [
///     "dimension 0 at 2 = 1*2 + 0*1: 1*12 + 0*2 = 12",
///     "dimension 1 at 3 = 1*2 + 1*1: 1*4 + 1*1 = 5",
///     "element 17 of the buffer, at byte 68",
/// ]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn offset_steps(layout: &AnyLayout, index: &[u64]) -> Result<Vec<String>, Error> {
    let map = layout.to_index_map()?;
    let offset = map.offset(index)?;
    let mut steps = match layout {
        AnyLayout::Tiled(shape) if map.class() == LayoutClass::Irreducible => level_steps(shape, index),
        _ => digit_steps(&map, index),
    };
    let bits = wide_product(offset, map.element_bits());
    let (byte, bit) = (bits.div_euclid(8), bits.rem_euclid(8));
    let place = if bit == 0 { format!("byte {byte}") } else { format!("bit {bit} of byte {byte}") };
    steps.push(format!("element {offset} of the buffer, at {place}"));
    Ok(steps)
}

/// Returns one line for each component: its number, the digits of the number, and the offset of each digit.
fn digit_steps(map: &IndexMap, index: &[u64]) -> Vec<String> {
    let mut steps = Vec::new();
    if map.base() > 0 {
        steps.push(format!("the first element is at {}", map.base()));
    }
    for component in map.components() {
        let (name, number) = number_of(component, index, map.sizes());
        // This cannot fail, because the number is inside its extent.
        let Ok(offset) = component.chain.offset(number) else { continue };
        let (digits, worth) = digits_of(&component.chain, number);
        steps.push(match component.chain.digits() {
            [_] => format!("{name}: {worth} = {offset}"),
            _ => format!("{name} = {digits}: {worth} = {offset}"),
        });
    }
    steps
}

/// Returns the name of a component's number, such as `dimension 0 at 2` or `dimensions 3, 4 together at 12`,
/// and the number. Dimensions that are fused have one row-major number.
fn number_of(component: &Component, index: &[u64], sizes: &[u64]) -> (String, u64) {
    let at = |dim: usize| checked::nth_or_panic(index, dim);
    if let [dim] = component.dims() {
        return (format!("dimension {dim} at {}", at(*dim)), at(*dim));
    }
    let number = component
        .dims()
        .iter()
        .fold(0, |number: u64, &dim| number.times(checked::nth_or_panic(sizes, dim)).plus(at(dim)));
    let dims: Vec<String> = component.dims().iter().map(ToString::to_string).collect();
    (format!("dimensions {} together at {number}", dims.join(", ")), number)
}

/// Returns the digits times their divisors, and the digits times their strides: `1*2 + 0*1` and `1*12 + 0*2`.
fn digits_of(chain: &Chain, number: u64) -> (String, String) {
    let (mut by_divisor, mut by_stride, mut rest) = (Vec::new(), Vec::new(), number);
    for digit in chain.digits() {
        let value = rest.divided_by(digit.divisor.get());
        rest = rest.modulo(digit.divisor.get());
        by_divisor.push(format!("{value}*{}", digit.divisor.get()));
        by_stride.push(format!("{value}*{}", digit.stride));
    }
    (by_divisor.join(" + "), by_stride.join(" + "))
}

/// Returns the index after each tile, for a layout without digits.
fn level_steps(shape: &ArrayShape, index: &[u64]) -> Vec<String> {
    let physical = |of: &[u64]| -> Vec<u64> {
        shape.layout().minor_to_major().iter().rev().filter_map(|&dim| of.get(dim).copied()).collect()
    };
    let (mut at, mut bounds) = (physical(index), physical(shape.sizes()));
    let mut steps = vec![format!("major to minor: index {} of {}", list(&at), list(&bounds))];
    for tile in shape.layout().tiles() {
        let new_axes = tile.entries().len().saturating_sub(bounds.len());
        bounds.splice(0..0, core::iter::repeat_n(1, new_axes));
        at.splice(0..0, core::iter::repeat_n(0, new_axes));
        let prefix = bounds.len().saturating_sub(tile.entries().len());
        let tiled = at.split_off(prefix).into_iter().zip(bounds.split_off(prefix));
        let (mut number, mut extent) = (0_u64, 1_u64);
        let (mut places, mut tile_sizes) = (Vec::new(), Vec::new());
        for ((i, bound), entry) in tiled.zip(tile.entries()) {
            number = number.times(bound).plus(i);
            extent = extent.times(bound);
            if let TileSize::Size(size) = entry {
                at.push(number.divided_by(size.get()));
                bounds.push(extent.div_ceil(size.get()));
                places.push(number.modulo(size.get()));
                tile_sizes.push(size.get());
                (number, extent) = (0, 1);
            }
        }
        at.append(&mut places);
        bounds.append(&mut tile_sizes);
        steps.push(format!("after tile {tile}: index {} of {}", list(&at), list(&bounds)));
    }
    steps
}
