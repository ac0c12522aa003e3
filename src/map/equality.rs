//! Equality and hash of maps: whether the same elements have the same offsets, however the layouts were
//! spelled.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use crate::checked::{Dims, Proven, next_index};
use crate::error::Error;

use super::boxes::{joined_chain, linked_dims};
use super::deviation::{EQUALITY_WORK_LIMIT, first_deviation, undecided};
use super::index_map::{IndexMap, ToIndexMap};
use super::levels::unfuse_into;

#[derive(Default)]
struct Deviations {
    differs: bool,
    /// The first index, among the indices found so far, at which the layouts differ.
    first: Option<Vec<u64>>,
    /// The reason why the search was incomplete, so that there may be more differences or an earlier one.
    unknown: Option<Error>,
}

impl Deviations {
    fn include(&mut self, index: Vec<u64>) {
        self.differs = true;
        if self.first.as_ref().is_none_or(|first| index < *first) {
            self.first = Some(index);
        }
    }

    fn include_walked(&mut self, walked: Result<Option<Vec<u64>>, Error>) {
        match walked {
            Ok(Some(index)) => self.include(index),
            Ok(None) => {}
            Err(error) => self.unknown = Some(error),
        }
    }
}

impl IndexMap {
    /// Whether both maps put every index at the same offset. Only sizes and offsets are compared.
    /// [`same_layout`] compares the types as well.
    ///
    /// The result is exact for every layout, however it was spelled. Chains are compared by their digits, in
    /// a time that does not depend on the sizes. Two forms of an Irreducible layout, and layouts that fuse
    /// dimensions in contradicting orders, are compared index by index.
    ///
    /// **Post-condition** (`comparisons_are_those_of_a_walk`): `Ok(true)` exactly if a walk over all indices
    /// finds no difference.
    ///
    /// # Errors
    ///
    /// `undecided` if the comparison takes more than 4,194,304 steps.
    pub fn same_places(&self, other: &IndexMap) -> Result<bool, Error> {
        if self.sizes != other.sizes {
            return Ok(false);
        }
        let found = self.deviations(other);
        match found.unknown {
            Some(error) if !found.differs => Err(error),
            _ => Ok(!found.differs),
        }
    }

    /// Whether both maps put elements of the same type and the same number of bits at the same offsets. The
    /// physical sizes may differ, unlike for `==`.
    pub(crate) fn same_layout(&self, other: &IndexMap) -> Result<bool, Error> {
        let element = |map: &IndexMap| (map.data_type, map.element_bits);
        if element(self) == element(other) { self.same_places(other) } else { Ok(false) }
    }

    /// Returns the first index, in row-major order, that the two maps put at different offsets. Returns
    /// `None` if there is no such index or if the sizes differ.
    ///
    /// **Post-condition** (`the_first_difference_is_that_of_a_walk`): it is the index that a walk finds.
    ///
    /// # Errors
    ///
    /// `undecided` if the search takes more than 4,194,304 steps.
    /// [`same_places`](Self::same_places) may succeed where this function fails. If dimensions are fused in
    /// another order than the order of the indices, all indices have to be searched for the first difference.
    pub fn first_difference(&self, other: &IndexMap) -> Result<Option<Vec<u64>>, Error> {
        if self.sizes != other.sizes {
            return Ok(None);
        }
        let found = self.deviations(other);
        found.unknown.map_or(Ok(found.first), Err)
    }

    fn deviations(&self, other: &IndexMap) -> Deviations {
        let mut found = Deviations::default();
        if self.sizes.contains(&0) || self.has_form_of(other) {
            return found;
        }
        if self.swizzle != other.swizzle {
            return self.swizzled_deviations(other);
        }
        if self.base != other.base {
            found.include(vec![0; self.sizes.len()]);
            return found;
        }
        let groups = (self.levels.is_none() && other.levels.is_none())
            .then(|| linked_dims(self.sizes.len(), &self.components, &other.components));
        let Some(groups) = groups.flatten() else {
            found.include_walked(self.walk(other, |_| true));
            return found;
        };
        for dims in groups {
            let bounds: Dims = dims.iter().filter_map(|&dim| self.sizes.get(dim).copied()).collect();
            let extent = bounds.iter().fold(1, |product: u64, &bound| product.times(bound));
            let chain = |map: &IndexMap| joined_chain(&map.components, &dims, &self.sizes, extent);
            let (Some(a), Some(b)) = (chain(self), chain(other)) else {
                found.include_walked(self.walk(other, |dim| dims.contains(&dim)));
                continue;
            };
            match first_deviation(&a, &b, extent) {
                Ok(None) => {}
                Err(error) => found.unknown = Some(error),
                // The dimensions are fused in the order of the indices, so the smallest number that differs
                // belongs to the first index.
                Ok(Some(number)) if dims.is_sorted() => found.include(self.at(&dims, &bounds, number)),
                Ok(Some(_)) => {
                    found.differs = true;
                    found.include_walked(self.walk(other, |dim| dims.contains(&dim)));
                }
            }
        }
        found
    }

    /// Compares two maps with different swizzles. If no sums carry, the offset of an index is the exclusive
    /// or of the offsets of its bits, on both sides, and so is the difference of the sides. The first index
    /// that differs then has at most one bit: another index differs only if one of its bits alone does.
    fn swizzled_deviations(&self, other: &IndexMap) -> Deviations {
        let mut found = Deviations::default();
        let (Some(bits), Some(_)) = (self.bit_offsets(), other.bit_offsets()) else {
            found.include_walked(self.walk(other, |_| true));
            return found;
        };
        let zero = vec![0; self.sizes.len()];
        let singles = bits.iter().map(|&(dim, value, _)| {
            let mut index = zero.clone();
            index.get_mut(dim).into_iter().for_each(|at| *at = value);
            index
        });
        for index in core::iter::once(zero.clone()).chain(singles) {
            if self.offset_inside(&index) != other.offset_inside(&index) {
                found.include(index);
            }
        }
        found
    }

    fn at(&self, dims: &[usize], bounds: &[u64], number: u64) -> Vec<u64> {
        let mut index = vec![0; self.sizes.len()];
        unfuse_into(&mut index, dims.iter().copied(), bounds, number);
        index
    }

    /// Returns the first difference among the indices whose dimensions that are not `walked` are 0. The
    /// offset of each index is computed.
    fn walk(&self, other: &IndexMap, walked: impl Fn(usize) -> bool) -> Result<Option<Vec<u64>>, Error> {
        let sizes: Dims =
            self.sizes.iter().enumerate().map(|(dim, &size)| if walked(dim) { size } else { 1 }).collect();
        let mut index: Dims = sizes.iter().map(|_| 0).collect();
        let (work, mut left) = (self.tile_count().plus(other.tile_count()).plus(1), EQUALITY_WORK_LIMIT);
        loop {
            left = left.checked_sub(work).ok_or_else(undecided)?;
            if self.offset_inside(&index) != other.offset_inside(&index) {
                return Ok(Some(index.into_vec()));
            }
            if !next_index(&mut index, &sizes) {
                return Ok(None);
            }
        }
    }

    /// Returns the normal form of this layout as text, of which a [`Fingerprint`](super::Fingerprint) is the
    /// hash: `f32/32[2,3]+0 0=(1,5) 1=(1,1)`.
    ///
    /// # Errors
    ///
    /// `not_expressible` for an Irreducible layout, which has no normal form.
    pub fn normal_form(&self) -> Result<String, Error> {
        if self.levels.is_some() {
            let reason = "`*` in a later tile joins parts of dimensions that do not line up: it has no normal form";
            return Err(Error::not_expressible("fingerprint", reason));
        }
        let joined = |numbers: Vec<String>, between: &str| numbers.join(between);
        let sizes = joined(self.sizes.iter().map(u64::to_string).collect(), ",");
        let mut form = format!("{}/{}[{sizes}]+{}", self.data_type, self.element_bits, self.base);
        for component in self.components.iter() {
            let dims = joined(component.dims().iter().map(usize::to_string).collect(), "*");
            let digits = component.chain.digits().iter().map(|digit| format!("{digit:?}"));
            form += &format!(" {dims}={}", joined(digits.collect(), ""));
        }
        if let Some(swizzle) = self.swizzle() {
            form += &format!(" xor<{}>", swizzle.text(self.element_bits));
        }
        Ok(form)
    }

    fn has_form_of(&self, other: &IndexMap) -> bool {
        self.base == other.base
            && self.components == other.components
            && self.levels == other.levels
            && self.swizzle == other.swizzle
    }
}

impl PartialEq for IndexMap {
    fn eq(&self, other: &Self) -> bool {
        let own = |map: &IndexMap| (map.data_type, map.element_bits, map.physical_elements, map.gap_owner());
        own(self) == own(other) && self.sizes == other.sizes && self.has_form_of(other)
    }
}

impl Eq for IndexMap {}

impl Hash for IndexMap {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.data_type, self.element_bits, self.physical_elements).hash(state);
        (&self.sizes, self.base, &self.components, &self.swizzle).hash(state);
    }
}

/// Whether two layouts, in whatever notation, put elements of the same type at the same offsets. Physical
/// sizes, flags, alignments and strides that are never used do not matter.
///
/// To compare layouts of different types, use [`IndexMap::same_places`].
///
/// # Errors
///
/// The errors of [`ToIndexMap::to_index_map`], and `undecided` after 4,194,304 steps.
///
/// ```
/// use tensor_layout::{map::same_layout, ArrayShape, BufferTensorDesc, DataType};
///
/// let tiled: ArrayShape = "f32[3,100]{1,0:T(8,128)}".parse()?;
/// let strided = BufferTensorDesc::new(DataType::F32, &[3, 100], Some(&[128, 1]))?;
/// assert!(same_layout(&tiled, &strided)?);
/// let other_type = BufferTensorDesc::new(DataType::S32, &[3, 100], Some(&[128, 1]))?;
/// assert!(!same_layout(&tiled, &other_type)?);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn same_layout(a: &impl ToIndexMap, b: &impl ToIndexMap) -> Result<bool, Error> {
    a.to_index_map()?.same_layout(&b.to_index_map()?)
}
