//! Shader code that finds the index at an offset, or padding.
//!
//! If the strides nest, every digit is a quotient: the largest stride divides the offset, and each next
//! stride divides the remainder. If strides do not nest, as mostly those of overlapping windows, a digit may
//! have several possible values. The shader tries these candidates from the largest down, in the same order
//! as [`IndexMap::inverse`].

use crate::code::{Code, Condition, Expr};
use tensor_layout::Error;
use tensor_layout::map::IndexMap;

use super::levels;
use super::range::{below, last_of, number, unfuse};

/// The most combinations of candidates that a shader may try for one offset. A layout that needs more is
/// refused with `undecided`.
const MAX_CANDIDATES: u64 = 4096;

/// The index at an offset.
pub(crate) struct Found {
    pub(crate) exists: Condition,
    /// The index of the element. If no element is stored at the offset, the index is still legal, unless the
    /// tensor has no elements.
    pub(crate) index: Vec<Expr>,
}

/// Returns the index at an offset, which is counted from the offset of index 0. Every `u32` is a valid
/// argument.
///
/// # Errors
///
/// `undecided` if the strides of the map leave too many candidates for a digit.
pub(crate) fn index_at(code: &mut Code, map: &IndexMap, offset: Expr) -> Result<Found, Error> {
    if map.element_count() == 0 {
        return Ok(Found { exists: Condition::False, index: vec![Expr::from(0); map.sizes().len()] });
    }
    if let Some(levels) = map.levels() {
        let (exists, index) = levels::index(code, levels, offset);
        return Ok(Found { exists, index });
    }
    let search = Search::new(map)?;
    if search.digits.iter().all(|digit| digit.candidates() == 1) {
        let (exists, values, rest) = search.peel(code, search.digits.len(), offset, Condition::True, Vec::new());
        let (fits, index) = search.index(code, &values);
        return Ok(Found { exists: exists.and(rest.equal(0)).and(fits), index });
    }
    Ok(search.try_candidates(code, offset))
}

/// A digit whose value is to be found.
struct Digit {
    component: usize,
    /// The index of the digit in the component's chain.
    place: usize,
    stride: u32,
    most: u32,
    /// The largest offset that all digits with smaller strides reach together. If it is below the stride, the
    /// digit has a single candidate.
    below: u64,
}

impl Digit {
    fn candidates(&self) -> u64 {
        self.below.checked_div(self.stride.into()).unwrap_or(0).saturating_add(1)
    }
}

struct Search<'a> {
    map: &'a IndexMap,
    /// The digits with a stride above 0, the largest stride first.
    digits: Vec<Digit>,
}

impl<'a> Search<'a> {
    fn new(map: &'a IndexMap) -> Result<Search<'a>, Error> {
        let mut digits = Vec::new();
        for (component, of) in map.components().iter().enumerate() {
            let mut above = of.extent;
            for (place, digit) in of.chain.digits().iter().enumerate() {
                let most = above.saturating_sub(1).checked_div(digit.divisor.get()).unwrap_or(0);
                // Every combination of digits must fit in 32 bits, even a combination that forms no index,
                // because the shader computes it too.
                number(most.saturating_mul(digit.divisor.get()).saturating_add(digit.divisor.get().saturating_sub(1)))?;
                let (stride, most) = (number(digit.stride)?, number(most)?);
                if stride > 0 {
                    digits.push(Digit { component, place, stride, most, below: 0 });
                }
                above = digit.divisor.get();
            }
        }
        digits.sort_by_key(|digit| std::cmp::Reverse(digit.stride));
        let mut below = 0_u64;
        let mut work = 1_u64;
        for digit in digits.iter_mut().rev() {
            digit.below = below;
            below = below.saturating_add(u64::from(digit.stride).saturating_mul(digit.most.into()));
            work = work.saturating_mul(digit.candidates());
        }
        if work > MAX_CANDIDATES {
            return Err(Error::undecided("which index is stored at an offset, in a shader", MAX_CANDIDATES));
        }
        Ok(Search { map, digits })
    }

    /// Finds the digits number `values.len()` to `end` of the offset by divisions, and appends them to
    /// `values`. Returns the condition under which all digits so far are legal, the values, and the remainder
    /// of the offset.
    fn peel(
        &self,
        code: &mut Code,
        end: usize,
        offset: Expr,
        exists: Condition,
        mut values: Vec<Expr>,
    ) -> (Condition, Vec<Expr>, Expr) {
        let (mut rest, mut exists) = (offset, exists);
        for digit in self.digits.get(values.len()..end).unwrap_or(&[]) {
            let mut value = &rest / digit.stride;
            if value.most() > digit.most {
                value = code.bind("digit", value);
                exists = exists.and(below(&value, u64::from(digit.most).saturating_add(1)));
                value = value.min(digit.most);
            }
            values.push(value);
            rest = rest % digit.stride;
            if !digit.stride.is_power_of_two() && values.len() < self.digits.len() {
                rest = code.bind("rest", rest);
            }
        }
        (exists, values, rest)
    }

    /// Returns the index that the digits form, and the condition under which they form one. Where the
    /// condition is false, the index is inside the sizes all the same.
    fn index(&self, code: &mut Code, values: &[Expr]) -> (Condition, Vec<Expr>) {
        let mut index = vec![Expr::from(0); self.map.sizes().len()];
        let mut fits = Condition::True;
        for (component, of) in self.map.components().iter().enumerate() {
            let digits = of.chain.digits();
            let mut whole = Expr::from(0);
            for (place, digit) in digits.iter().enumerate().rev() {
                let own = |digit: &Digit| (digit.component, digit.place) == (component, place);
                let known = self.digits.iter().position(own).and_then(|place| values.get(place));
                let value = known.cloned().unwrap_or_else(|| Expr::from(0));
                // `new` has checked that the divisor fits 32 bits.
                let divisor = u32::try_from(digit.divisor.get()).unwrap_or(u32::MAX);
                whole = value * divisor + whole;
                // The number must be below the divisor of the digit above, or below the extent of the
                // component.
                let above = place.checked_sub(1).and_then(|above| digits.get(above));
                let bound = above.map_or(of.extent, |above| above.divisor.get());
                if u64::from(whole.most()) >= bound {
                    whole = code.bind("number", whole);
                    fits = fits.and(below(&whole, bound));
                    whole = whole.min(last_of(bound));
                }
            }
            let bounds: Vec<u64> = of.dims().iter().filter_map(|&dim| self.map.sizes().get(dim).copied()).collect();
            for (&dim, part) in of.dims().iter().zip(unfuse(code, "rest", whole, &bounds)) {
                if let Some(slot) = index.get_mut(dim) {
                    *slot = part;
                }
            }
        }
        (fits, index)
    }

    /// Writes a loop over the candidates of every digit that has several. After a combination of digits fits,
    /// the loops do nothing more.
    fn try_candidates(&self, code: &mut Code, offset: Expr) -> Found {
        let found = code.variable("found", 0, 1);
        let sizes = self.map.sizes().iter().enumerate();
        let index: Vec<_> = sizes.map(|(dim, &size)| code.variable(&format!("at{dim}"), 0, last_of(size))).collect();
        self.turn(
            code,
            offset,
            Condition::True,
            Vec::new(),
            &mut |code, exists, values| {
                let (fits, parts) = self.index(code, &values);
                code.when(exists.and(fits), |code| {
                    code.assign(&found, 1);
                    for (variable, part) in index.iter().zip(&parts) {
                        code.assign(variable, part);
                    }
                });
            },
            &Expr::from(&found),
        );
        let index = index.iter().map(Expr::from).collect();
        Found { exists: Expr::from(&found).equal(1), index }
    }

    fn turn(
        &self,
        code: &mut Code,
        rest: Expr,
        exists: Condition,
        values: Vec<Expr>,
        finish: &mut dyn FnMut(&mut Code, Condition, Vec<Expr>),
        found: &Expr,
    ) {
        let known = values.len();
        let several = self.digits.iter().skip(known).position(|digit| digit.candidates() > 1);
        let end = several.map_or(self.digits.len(), |ahead| known.saturating_add(ahead));
        let (exists, values, rest) = self.peel(code, end, rest, exists, values);
        let Some(digit) = several.and_then(|_| self.digits.get(end)) else {
            finish(code, exists.and(rest.equal(0)), values);
            return;
        };
        let rest = code.bind("rest", rest);
        let high = code.bind("high", (&rest / digit.stride).min(digit.most));
        let more = u32::try_from(digit.candidates().saturating_sub(1)).unwrap_or(u32::MAX);
        let count = code.bind("count", high.clone().min(more) + 1);
        code.repeat("lower", 0, count, 1, |code, lower| {
            code.when(found.equal(0), |code| {
                let value = code.bind("digit", &high - lower);
                let rest = code.bind("rest", &rest - &value * digit.stride);
                let mut values = values.clone();
                values.push(value);
                self.turn(code, rest, exists.clone(), values, finish, found);
            });
        });
    }
}
