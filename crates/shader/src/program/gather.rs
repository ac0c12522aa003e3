//! Shader code that finds the offset on the source of an element of the destination.
//!
//! The strides of the destination split an offset into digits, from the largest stride down. The digits form
//! the indices, which the source's chains (or tile levels) split again. All numbers in between stay sums of
//! digits ([`Sum`]). If both layouts split an index at the same divisors, the offset is divided only once.

use tensor_layout::map::IndexMap;
use tensor_layout::plan::{Component, DigitPlace, TileLevels};

use super::super::code::{Code, Condition, Expr};
use super::super::index::{swizzled, unswizzled};
use super::sum::Sum;

/// Two layouts of the same sizes, each with at most 2^32 - 1 physical elements.
pub(super) struct Gather<'a> {
    pub(super) source: &'a IndexMap,
    pub(super) destination: &'a IndexMap,
    /// The dimensions along which the source is read backwards.
    pub(super) reversed: &'a [usize],
}

/// A function that writes the code for an element, given its offset in the source. It is called once.
type Found<'a> = Box<dyn FnOnce(&mut Code, Expr) + 'a>;

/// An index of the tensor, with a sum for each dimension.
type Index = Vec<Sum>;

impl Gather<'_> {
    /// Writes code for the element at `offset` in the destination. If an element is stored there, the code
    /// that `found` writes runs with its offset in the source.
    pub(super) fn element<'a>(&'a self, code: &mut Code, offset: &Expr, found: impl FnOnce(&mut Code, Expr) + 'a) {
        if self.destination.element_count() == 0 {
            return;
        }
        let base = small(self.destination.base());
        let last = self.destination.span_elements().saturating_sub(self.destination.base()).saturating_sub(1);
        let swizzle = self.destination.swizzle();
        let plain = unswizzled(code, swizzle, offset.clone());
        let offset = if swizzle.is_some() { code.bind("plain", plain) } else { plain };
        let inside = code.bind("inside", offset.clone().wrapping_sub(base));
        // An offset below the base wraps to a number above `last`, so one comparison is enough.
        let last = small(last);
        let in_range = if offset.most() <= last && base == 0 { Condition::True } else { at_most(&inside, last) };
        code.when(in_range, |code| {
            let inside = inside.at_most(last);
            match self.destination.levels() {
                Some(levels) => self.through_levels(code, levels, inside, Box::new(found)),
                None => {
                    let places = self.destination.digit_places();
                    let digits = vec![Vec::new(); self.destination.components().len()];
                    let peeling = Peeling { gather: self, places: &places, digits, valid: Condition::True };
                    peeling.peel(code, 0, inside, Box::new(found));
                }
            }
        });
    }

    fn source_offset(&self, code: &mut Code, index: &Index) -> Expr {
        let mut index = index.clone();
        for &dim in self.reversed {
            let last = self.source.sizes().get(dim).copied().unwrap_or(1).saturating_sub(1);
            if let Some(number) = index.get_mut(dim) {
                let back = Expr::from(small(last)) - number.expr();
                *number = Sum::of(code.bind("back", back.at_most(small(last))));
            }
        }
        let of = |dim: usize| index.get(dim).cloned().unwrap_or_default();
        let mut offset = Sum::default().plus(Expr::from(small(self.source.base())), 1);
        if let Some(levels) = self.source.levels() {
            let mut at: Index = levels.order().iter().map(|&axis| of(axis)).collect();
            for level in levels.levels() {
                at.splice(0..0, std::iter::repeat_n(Sum::default(), level.new_axes));
                let tiled: Index = at.drain(level.prefix..).collect();
                let mut rest = tiled.iter();
                let (mut counts, mut places) = (Index::new(), Index::new());
                for group in level.groups() {
                    let joined = group.bounds().iter().zip(rest.by_ref());
                    let number = joined.fold(Sum::default(), |number, (&bound, part)| {
                        Sum::default().plus_sum(&number, bound).plus_sum(part, 1)
                    });
                    let (count, place) = number.divide(code, group.tile.get());
                    counts.push(count);
                    places.push(place);
                }
                at.extend(counts);
                at.extend(places);
            }
            let number = levels.bounds.iter().zip(&at);
            let number = number.fold(Sum::default(), |number, (&bound, part)| {
                Sum::default().plus_sum(&number, bound).plus_sum(part, 1)
            });
            return offset.plus_sum(&number, 1).expr();
        }
        for component in self.source.components() {
            let number = component.dims().iter().fold(Sum::default(), |number, &dim| {
                let size = self.source.sizes().get(dim).copied().unwrap_or(1);
                Sum::default().plus_sum(&number, size).plus_sum(&of(dim), 1)
            });
            let mut rest = number;
            for digit in component.chain.digits() {
                let (quotient, remainder) = rest.divide(code, digit.divisor.get());
                offset = offset.plus_sum(&quotient, digit.stride);
                rest = remainder;
            }
        }
        let most = small(self.source.physical_elements().saturating_sub(1));
        swizzled(code, self.source.swizzle(), offset.expr(), most)
    }

    /// Finds the indices of an Irreducible destination, one tile level after the other.
    fn through_levels(&self, code: &mut Code, levels: &TileLevels, inside: Expr, found: Found<'_>) {
        let mut valid = at_most(&inside, small(levels.elements.saturating_sub(1)));
        let mut at = Index::new();
        unfuse(code, Sum::of(inside), &levels.bounds, &mut at);
        for level in levels.levels().iter().rev() {
            let tiled: Index = at.drain(level.prefix..).collect();
            let (counts, places) = tiled.split_at_checked(level.groups().len()).unwrap_or_default();
            for ((group, count), place) in level.groups().iter().zip(counts).zip(places) {
                let number = Sum::default().plus_sum(count, group.tile.get()).plus_sum(place, 1);
                valid = valid.and(below(code, &number, group.bound));
                unfuse(code, number, group.bounds(), &mut at);
            }
            at.drain(..level.new_axes);
        }
        let mut index: Index = vec![Sum::default(); at.len()];
        for (&axis, number) in levels.order().iter().zip(at) {
            if let Some(slot) = index.get_mut(axis) {
                *slot = number;
            }
        }
        code.when(valid, |code| {
            let offset = self.source_offset(code, &index);
            found(code, offset);
        });
    }
}

/// The code that finds the digits of an offset one by one, from the largest stride down.
struct Peeling<'a> {
    gather: &'a Gather<'a>,
    places: &'a [DigitPlace],
    /// For each component, the digits that are found so far, as (divisor, value).
    digits: Vec<Vec<(u64, Expr)>>,
    /// The condition, from the digits that are found so far, under which an element is stored at the offset.
    valid: Condition,
}

impl Peeling<'_> {
    fn peel(mut self, code: &mut Code, from: usize, rest: Expr, found: Found<'_>) {
        let Some((place, below)) = self.places.get(from..).and_then(<[_]>::split_first) else {
            return self.finish(code, rest, found);
        };
        let next = from.saturating_add(1);
        let (stride, last) = (small(place.stride), small(place.count.saturating_sub(1)));
        let reach = below.iter().map(|place| place.stride.saturating_mul(place.count.saturating_sub(1)));
        let reach = small(reach.fold(0, u64::saturating_add));
        if stride == 0 {
            // A destination has a stride of 0 only for digits whose single value is 0. Otherwise several
            // indices would share an offset.
            return self.peel(code, next, rest, found);
        }
        if reach < stride {
            let digit = code.bind("digit", &rest / stride);
            let rest = code.bind("rest", rest % stride);
            self.valid = self.valid.and(at_most(&digit, last));
            self.add(place, digit.at_most(last));
            return self.peel(code, next, rest, found);
        }
        // All smaller digits together reach at least one step of this digit, so several values of this digit
        // are possible. The shader tries each of them in a loop.
        let Peeling { gather, places, digits, valid } = self;
        code.when(valid, |code| {
            let most = code.bind("most", (&rest / stride).min(last));
            let least = code.bind("least", &rest - rest.clone().min(reach));
            let first = &least / stride + (&least % stride).min(1);
            code.repeat("digit", first, most + 1, 1, |code, digit| {
                let mut inside = Peeling { gather, places, digits, valid: Condition::True };
                let rest = code.bind("rest", rest - (&digit * stride));
                inside.add(place, digit);
                inside.peel(code, next, rest, found);
            });
        });
    }

    fn add(&mut self, place: &DigitPlace, digit: Expr) {
        if let Some(digits) = self.digits.get_mut(place.component) {
            digits.push((place.divisor, digit));
        }
    }

    /// Writes the last check, that the digits belong to an index, and the code for the element.
    fn finish(self, code: &mut Code, rest: Expr, found: Found<'_>) {
        let Peeling { gather, mut digits, valid, .. } = self;
        // Inside this branch every digit is below its count, so the upper bounds that the digits were given
        // hold.
        code.when(valid.and(at_most(&rest, 0)), |code| {
            let map = gather.destination;
            let mut index: Index = vec![Sum::default(); map.sizes().len()];
            let mut valid = Condition::True;
            for (component, digits) in map.components().iter().zip(&mut digits) {
                digits.sort_by_key(|(divisor, _)| *divisor);
                let mut number = Sum::default();
                for (divisor, digit) in digits.iter() {
                    // In a ragged chain, some combinations of digits are no index of an element: they are
                    // skipped.
                    if *divisor > 1 {
                        valid = valid.and(below(code, &number, *divisor));
                    }
                    number = number.plus(digit.clone(), *divisor);
                }
                valid = valid.and(below(code, &number, component.extent));
                indices(code, map, component, number, &mut index);
            }
            code.when(valid, |code| {
                let offset = gather.source_offset(code, &index);
                found(code, offset);
            });
        });
    }
}

/// Computes the indices of a component's dimensions from the component's number, and enters them into
/// `index`.
fn indices(code: &mut Code, map: &IndexMap, component: &Component, number: Sum, index: &mut Index) {
    let bounds: Vec<u64> = component.dims().iter().map(|&dim| map.sizes().get(dim).copied().unwrap_or(1)).collect();
    let mut parts = Index::new();
    unfuse(code, number, &bounds, &mut parts);
    for (&dim, part) in component.dims().iter().zip(parts) {
        if let Some(slot) = index.get_mut(dim) {
            *slot = part;
        }
    }
}

/// Splits a row-major number into an index for each bound, and appends these to `index`.
fn unfuse(code: &mut Code, number: Sum, bounds: &[u64], index: &mut Index) {
    let mut rest = number;
    for place in 1..bounds.len() {
        let inner =
            bounds.get(place..).unwrap_or_default().iter().fold(1, |product: u64, &b| product.saturating_mul(b));
        let (quotient, remainder) = rest.divide(code, inner);
        index.push(quotient);
        rest = remainder;
    }
    if !bounds.is_empty() {
        index.push(rest);
    }
}

/// Returns the condition that the number is below `bound`. It is a constant if the number's upper bound
/// decides it.
fn below(code: &mut Code, number: &Sum, bound: u64) -> Condition {
    match bound.checked_sub(1) {
        Some(last) if number.most() <= last => Condition::True,
        Some(last) => at_most(&number.bound(code, "number"), small(last)),
        None => Condition::False,
    }
}

fn at_most(expr: &Expr, last: u32) -> Condition {
    last.checked_add(1).map_or(Condition::True, |bound| expr.less(bound))
}

/// Converts a number of a layout with fewer than 2^32 physical elements to `u32`.
pub(super) fn small(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
