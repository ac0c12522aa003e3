//! Computes the difference of two layouts over common atoms, group by group.
//!
//! Digits that share an atom belong to one group, and the difference is a sum of one function for each group.
//! Every digit of an index may be set to 0, and the result is an index again. The difference is therefore
//! zero everywhere exactly if every function is zero. The first index where the difference is not zero has
//! digits of one group only. A group without quotients is one digit with a weight. In the other groups, all
//! values are tried.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "values of atoms are below products of 64-bit bounds that were checked; coefficients are checked"
)]

use crate::checked::{Exact, at, count};
use crate::short_sort::sort_by_key;
use alloc::vec;
use alloc::vec::Vec;
use smallvec::SmallVec;

use crate::error::Error;

use super::atoms::{Atom, Atoms, Form};
use super::deviation::{EQUALITY_WORK_LIMIT, undecided};
use super::index_map::IndexMap;

/// The differences of two layouts that were found so far.
#[derive(Default)]
pub(super) struct Deviations {
    pub(super) differs: bool,
    /// The first index, among the indices found so far, at which the layouts differ.
    pub(super) first: Option<Vec<u64>>,
    /// The reason why the search was incomplete, so that there may be more differences or an earlier one.
    pub(super) unknown: Option<Error>,
}

impl Deviations {
    pub(super) fn include(&mut self, index: Vec<u64>) {
        self.differs = true;
        if self.first.as_ref().is_none_or(|first| index < *first) {
            self.first = Some(index);
        }
    }
}

/// Finds the differences of two maps with the same sizes and bases.
pub(super) fn by_atoms(first: &IndexMap, second: &IndexMap) -> Deviations {
    let mut found = Deviations::default();
    let (atoms, a, b) = Atoms::of_pair(first, second);
    match Difference::new(&atoms, &a, &b) {
        Some(difference) => difference.collect(first.sizes(), &mut found),
        None => found.unknown = Some(undecided()),
    }
    found
}

struct Difference<'a> {
    atoms: &'a Atoms<'a>,
    /// The coefficient of each atom in the difference.
    coefficients: Vec<i128>,
    /// For each atom, the atoms that it contains, itself included, in ascending order. Digits come first.
    parts: Vec<SmallVec<[usize; 8]>>,
}

impl<'a> Difference<'a> {
    /// Returns `None` if a coefficient does not fit 128 bits.
    fn new(atoms: &'a Atoms<'a>, a: &Form, b: &Form) -> Option<Difference<'a>> {
        let mut coefficients = vec![0_i128; atoms.atoms.len()];
        let mut add = |atom: usize, amount: i128| -> Option<()> {
            let slot = coefficients.get_mut(atom)?;
            *slot = slot.checked_add(amount)?;
            Some(())
        };
        a.terms().iter().try_for_each(|&(atom, weight)| add(atom, weight))?;
        b.terms().iter().try_for_each(|&(atom, weight)| add(atom, -weight))?;
        // Every remainder is replaced by the sum minus the divisor times the quotient, so that equal terms
        // cancel.
        for (place, atom) in atoms.atoms.iter().enumerate().rev() {
            let Atom::Remainder(form, divisor) = atom else { continue };
            let own = core::mem::take(coefficients.get_mut(place)?);
            for &(inner, weight) in form.terms().iter().chain(&[(place.checked_sub(1)?, -divisor)]) {
                let slot = coefficients.get_mut(inner)?;
                *slot = slot.checked_add(own.checked_mul(weight)?)?;
            }
        }
        let mut parts: Vec<SmallVec<[usize; 8]>> = Vec::with_capacity(atoms.atoms.len());
        for (place, atom) in atoms.atoms.iter().enumerate() {
            let mut own = SmallVec::from_slice(&[place]);
            if let Atom::Quotient(form, _) | Atom::Remainder(form, _) = atom {
                let inner = form.terms().iter().filter_map(|&(inner, _)| parts.get(inner));
                own.extend(inner.flatten().copied());
            }
            sort_by_key(&mut own, |&part| part);
            own.dedup();
            parts.push(own);
        }
        Some(Difference { atoms, coefficients, parts })
    }

    /// Returns the group of each digit. A group is named by its first digit.
    fn groups(&self) -> Vec<usize> {
        let mut group: Vec<usize> = (0..self.atoms.digits.len()).collect();
        for (parts, _) in self.parts.iter().zip(&self.coefficients).filter(|&(_, &coefficient)| coefficient != 0) {
            let linked: SmallVec<[usize; 8]> = parts.iter().filter_map(|&part| group.get(part).copied()).collect();
            let Some(&least) = linked.iter().min() else { continue };
            group.iter_mut().filter(|own| linked.contains(own)).for_each(|own| *own = least);
        }
        group
    }

    fn collect(&self, sizes: &[u64], found: &mut Deviations) {
        let groups = self.groups();
        let mut left = EQUALITY_WORK_LIMIT;
        for first in 0..groups.len() {
            let members = groups.iter().enumerate().filter(|&(_, &group)| group == first);
            let members: SmallVec<[usize; 8]> = members.map(|(digit, _)| digit).collect();
            match self.first_in(&members, sizes, &mut left) {
                Ok(Some(index)) => found.include(index),
                Ok(None) => {}
                Err(error) => found.unknown = Some(error),
            }
        }
    }

    /// Returns the first index at which the difference is not zero, with digits of this group only.
    fn first_in(&self, members: &[usize], sizes: &[u64], left: &mut u64) -> Result<Option<Vec<u64>>, Error> {
        let counts = |parts: &SmallVec<[usize; 8]>| parts.iter().any(|part| members.contains(part));
        let own = self.parts.iter().zip(&self.coefficients).enumerate();
        let own = own.filter(|(_, (parts, coefficient))| **coefficient != 0 && counts(parts));
        let own: Vec<usize> = own.map(|(atom, _)| atom).collect();
        if own.is_empty() {
            return Ok(None);
        }
        // The quotients and remainders that these atoms are computed from, each after the ones that it
        // contains.
        let mut needed: Vec<usize> = own.iter().filter_map(|&atom| self.parts.get(atom)).flatten().copied().collect();
        needed.retain(|&part| part >= self.atoms.digits.len());
        needed.sort_unstable();
        needed.dedup();
        let work = count(needed.len());
        let mut values = vec![0_i128; self.atoms.atoms.len()];
        let mut index = vec![0; sizes.len()];
        while self.advance(members, sizes, &mut values, &mut index) {
            *left = left.checked_sub(work).ok_or_else(undecided)?;
            if self.value(&own, &needed, &mut values).ok_or_else(undecided)? != 0 {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Moves the digits of a group to their next values, in row-major order of the indices. Returns false
    /// after the last values.
    fn advance(&self, members: &[usize], sizes: &[u64], values: &mut [i128], index: &mut [u64]) -> bool {
        for &member in members.iter().rev() {
            let Some(digit) = self.atoms.digits.get(member) else { continue };
            let (Some(value), Some(at)) = (values.get_mut(member), index.get_mut(digit.dim)) else { continue };
            let next = at.saturating_add(digit.weight);
            if *value + 1 < i128::from(digit.range) && sizes.get(digit.dim).is_some_and(|&size| next < size) {
                *value += 1;
                *at = next;
                return true;
            }
            // The digit goes back to 0, so its contribution is taken out of the index.
            let had = u64::try_from(*value).unwrap_or(0).times(digit.weight);
            *at = at.minus(had);
            *value = 0;
        }
        false
    }

    fn value(&self, own: &[usize], needed: &[usize], values: &mut [i128]) -> Option<i128> {
        let sum = |form: &Form, values: &[i128]| {
            form.terms().iter().map(|&(atom, weight)| weight * at(values, atom)).sum::<i128>()
        };
        for &place in needed {
            let value = match self.atoms.atoms.get(place)? {
                Atom::Digit(_) => continue,
                Atom::Quotient(form, divisor) => sum(form, values) / divisor,
                Atom::Remainder(form, divisor) => sum(form, values) % divisor,
            };
            *values.get_mut(place)? = value;
        }
        own.iter().try_fold(0_i128, |total, &atom| {
            total.checked_add(self.coefficients.get(atom)?.checked_mul(*values.get(atom)?)?)
        })
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "a test that panics has failed")]
mod tests;
