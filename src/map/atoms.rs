//! Writes offsets as sums over digits. The sums cover Irreducible layouts too, where a `*` joined parts of
//! several dimensions to a number that no chain of digits describes.
//!
//! To compute an offset, a layout divides numbers and adds multiples of the results. Here, these steps are
//! done symbolically, so that two layouts can be compared term by term. Each intermediate number is a sum of
//! *atoms* with weights. An atom is a digit of one dimension, or the quotient or remainder of a sum that no
//! choice of digits takes apart. Parts of a sum that are multiples of the divisor never end up in an atom, so
//! atoms hold few digits. In `f32[480,480,480]{2,1,0:T(2,3,2)(*,2,1)}`, an atom holds two digits, with 2 and
//! 3 values.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "weights and values are below products of 64-bit bounds that were checked; their sums fit 128 bits"
)]

use crate::checked::{Exact, at, gcd};
use crate::dims::Dims;
use alloc::vec::Vec;

use super::index_map::IndexMap;
use super::levels::TileLevels;

/// A digit of a dimension: `index / weight % range`. The top digit of a dimension may end before its range
/// does, at the size of the dimension.
#[derive(Clone, Copy)]
pub(super) struct DimDigit {
    pub(super) dim: usize,
    pub(super) weight: u64,
    pub(super) range: u64,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) enum Atom {
    /// The digit with this position in the list of digits.
    Digit(usize),
    /// The quotient `form / divisor`. The next atom in the list is the remainder of this division.
    Quotient(Form, i128),
    /// The remainder `form % divisor`. The atom before it in the list is the quotient of this division.
    Remainder(Form, i128),
}

/// A sum of atoms with positive weights. Each atom occurs at most once, and atoms are in the order of their
/// numbers.
#[derive(Clone, PartialEq, Eq, Default)]
pub(super) struct Form(Vec<(usize, i128)>);

impl Form {
    /// The terms of the sum: pairs of an atom and its weight.
    pub(super) fn terms(&self) -> &[(usize, i128)] {
        &self.0
    }

    /// The weight of an atom in the sum, or 0 if the sum does not contain the atom.
    fn weight(&self, atom: usize) -> i128 {
        self.0
            .binary_search_by_key(&atom, |term| term.0)
            .ok()
            .and_then(|place| self.0.get(place))
            .map_or(0, |term| term.1)
    }

    fn add(&mut self, other: &Form, factor: i128) {
        for &(atom, weight) in &other.0 {
            match self.0.binary_search_by_key(&atom, |term| term.0) {
                Ok(place) => {
                    if let Some(term) = self.0.get_mut(place) {
                        term.1 += weight * factor;
                    }
                }
                Err(place) => self.0.insert(place, (atom, weight * factor)),
            }
        }
    }
}

/// The digits of all dimensions, and the atoms in the offsets of two layouts.
pub(super) struct Atoms<'a> {
    sizes: &'a [u64],
    /// The digits of the dimensions in order. Each dimension begins with its top digit.
    pub(super) digits: Vec<DimDigit>,
    /// All atoms. The digits come first, in the same order as in `digits`.
    pub(super) atoms: Vec<Atom>,
    /// An upper bound of the values of each atom.
    most: Vec<i128>,
}

/// A request to cut a digit in two, so that the lower digit has `at` values. The offsets are then computed
/// again.
struct Cut {
    digit: usize,
    at: u64,
}

impl<'a> Atoms<'a> {
    /// Returns the offsets of two layouts as sums over common atoms, without the bases of the layouts. The
    /// layouts have the same sizes, and no size is 0.
    pub(super) fn of_pair(first: &'a IndexMap, second: &IndexMap) -> (Atoms<'a>, Form, Form) {
        let sizes = first.sizes();
        let whole = sizes.iter().enumerate().filter(|&(_, &size)| size > 1);
        let mut digits: Vec<DimDigit> = whole.map(|(dim, &range)| DimDigit { dim, weight: 1, range }).collect();
        loop {
            let atoms = (0..digits.len()).map(Atom::Digit).collect();
            let most = digits.iter().map(|digit| i128::from(digit.range) - 1).collect();
            let mut walk = Atoms { sizes, digits, atoms, most };
            match walk.offset(first).and_then(|a| Ok((a, walk.offset(second)?))) {
                Ok((a, b)) => return (walk, a, b),
                // The loop ends, because a cut at least halves the range of a digit.
                Err(cut) => digits = walk.cut(&cut),
            }
        }
    }

    fn cut(mut self, cut: &Cut) -> Vec<DimDigit> {
        if let Some(&digit) = self.digits.get(cut.digit) {
            let (weight, range) = (digit.weight.times(cut.at), digit.range.div_ceil(cut.at.max(1)));
            let parts = [DimDigit { weight, range, ..digit }, DimDigit { range: cut.at, ..digit }];
            self.digits.splice(cut.digit..=cut.digit, parts);
        }
        self.digits
    }

    fn offset(&mut self, map: &IndexMap) -> Result<Form, Cut> {
        if let Some(levels) = map.levels.as_deref() {
            return self.through_levels(levels);
        }
        let mut sum = Form::default();
        for component in &map.components {
            let dims: Vec<Form> = component.dims().iter().map(|&dim| self.index(dim)).collect();
            let bounds: Dims = component.dims().iter().map(|&dim| self.size(dim)).collect();
            let mut rest = self.joined(&dims, &bounds);
            for digit in component.chain.digits() {
                let (quotient, remainder) = self.split(&rest, digit.divisor.get().into())?;
                sum.add(&quotient, digit.stride.into());
                rest = remainder;
            }
        }
        Ok(sum)
    }

    /// Applies the definition of tiles, as [`TileLevels::offset`] does, to sums instead of numbers.
    fn through_levels(&mut self, levels: &TileLevels) -> Result<Form, Cut> {
        let mut at: Vec<Form> = levels.order.iter().map(|&dim| self.index(dim)).collect();
        for level in &levels.levels {
            at.splice(0..0, core::iter::repeat_n(Form::default(), level.new_axes));
            let tiled: Vec<Form> = at.drain(level.prefix..).collect();
            let (mut counts, mut places) = (Vec::new(), Vec::new());
            let mut rest = tiled.as_slice();
            for group in &level.groups {
                let (own, after) = rest.split_at_checked(group.bounds.len()).unwrap_or((rest, &[]));
                let (count, place) = self.split(&self.joined(own, &group.bounds), group.tile.get().into())?;
                counts.push(count);
                places.push(place);
                rest = after;
            }
            at.extend(counts.into_iter().chain(places));
        }
        Ok(self.joined(&at, &levels.bounds))
    }

    fn size(&self, dim: usize) -> u64 {
        at(self.sizes, dim)
    }

    /// Returns the index of a dimension as the sum of its digits.
    fn index(&self, dim: usize) -> Form {
        let own = self.digits.iter().enumerate().filter(|(_, digit)| digit.dim == dim);
        Form(own.map(|(place, digit)| (place, digit.weight.into())).collect())
    }

    /// Joins numbers to one row-major number. Each number is below its entry in `bounds`.
    fn joined(&self, forms: &[Form], bounds: &[u64]) -> Form {
        let mut sum = Form::default();
        let mut width = 1;
        for (form, &bound) in forms.iter().zip(bounds).rev() {
            sum.add(form, width);
            width *= i128::from(bound);
        }
        // If a quotient and its remainder are joined again, the result is the number that was divided.
        for (place, atom) in self.atoms.iter().enumerate().rev() {
            let Atom::Quotient(form, divisor) = atom else { continue };
            let (high, low) = (sum.weight(place), sum.weight(place + 1));
            if low != 0 && high == low * divisor {
                sum.0.retain(|term| term.0 != place && term.0 != place + 1);
                sum.add(form, low);
            }
        }
        sum
    }

    /// Divides a sum, and returns the quotient and the remainder. Fails with a cut if a digit must be cut
    /// first.
    fn split(&mut self, form: &Form, divisor: i128) -> Result<(Form, Form), Cut> {
        let (mut high, mut low) = (Form::default(), Form::default());
        for &(atom, weight) in &form.0 {
            let multiple = weight % divisor == 0;
            if multiple {
                high.0.push((atom, weight / divisor));
            } else {
                low.0.push((atom, weight));
            }
        }
        if self.largest(&low) < divisor {
            return Ok((high, low));
        }
        for &(atom, weight) in &low.0 {
            if let Some(cut) = self.useful_cut(atom, weight, divisor) {
                return Err(cut);
            }
        }
        let common = low.0.iter().fold(divisor, |common, &(_, weight)| gcd(common, weight));
        let divisor = divisor / common;
        low.0.iter_mut().for_each(|(_, weight)| *weight /= common);
        let quotient = self.atom(low, divisor);
        high.add(&Form(Vec::from([(quotient, 1)])), 1);
        Ok((high, Form(Vec::from([(quotient + 1, common)]))))
    }

    /// Returns the cut of a digit after which the upper part of the digit is a multiple of the divisor, or
    /// `None` if no cut does this.
    fn useful_cut(&self, atom: usize, weight: i128, divisor: i128) -> Option<Cut> {
        let digit = self.digits.get(atom)?;
        let at = u64::try_from((divisor % weight == 0).then_some(divisor / weight)?).ok()?;
        let is_top = self.digits.iter().position(|other| other.dim == digit.dim) == Some(atom);
        // Only the top digit of a dimension may have values that no index uses. In any other digit, `at` must
        // divide the range.
        (at < digit.range && (is_top || digit.range % at == 0)).then_some(Cut { digit: atom, at })
    }

    /// Returns the quotient atom of this sum, and adds the atom if it does not exist yet.
    fn atom(&mut self, form: Form, divisor: i128) -> usize {
        let wanted = Atom::Quotient(form.clone(), divisor);
        if let Some(place) = self.atoms.iter().position(|atom| *atom == wanted) {
            return place;
        }
        let most = self.largest(&form);
        self.most.extend([most / divisor, most.min(divisor - 1)]);
        self.atoms.extend([wanted, Atom::Remainder(form, divisor)]);
        self.atoms.len() - 2
    }

    /// Returns an upper bound of the values of the sum.
    fn largest(&self, form: &Form) -> i128 {
        let mut sum = 0;
        // If digits of one dimension have weights in proportion to their place values, they add up to a
        // multiple of the index. The bound is then this multiple of the last index.
        let mut dims: Vec<(usize, i128, i128)> = Vec::new();
        for &(atom, weight) in &form.0 {
            let most = weight * at(&self.most, atom);
            let whole = |digit: &&DimDigit| weight % i128::from(digit.weight.max(1)) == 0;
            let Some(digit) = self.digits.get(atom).filter(whole) else {
                sum += most;
                continue;
            };
            let scale = weight / i128::from(digit.weight.max(1));
            match dims.iter_mut().find(|known| (known.0, known.1) == (digit.dim, scale)) {
                Some(known) => known.2 += most,
                None => dims.push((digit.dim, scale, most)),
            }
        }
        dims.iter().fold(sum, |sum, &(dim, scale, most)| sum + most.min(scale * i128::from(self.size(dim).minus(1))))
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "a test that panics has failed")]
mod tests;
