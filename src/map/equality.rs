//! Equality and hash: the same elements at the same places, however the layout was spelled.

use std::hash::{Hash, Hasher};

use crate::checked::Dims;
use crate::error::Error;

use super::boxes::BoxGroups;
use super::index_map::{IndexMap, ToIndexMap};

impl IndexMap {
    /// Do both maps put every index at the same offset?
    ///
    /// Decided exactly. Exact chains are compared as they stand, ragged ones by their common
    /// refinement; only for Irreducible layouts spelled differently are the offsets of all indices compared.
    #[must_use]
    pub fn same_places(&self, other: &IndexMap) -> bool {
        if self.sizes != other.sizes {
            return false;
        }
        if self.sizes.contains(&0) {
            return true;
        }
        if self.base == other.base && self.components == other.components && self.levels == other.levels {
            return true;
        }
        match BoxGroups::new(self, other) {
            Some(boxes) => boxes.are_equal_on_both_sides(),
            None => self.first_difference(other).is_none(),
        }
    }

    /// The first index, in row-major order, that the two maps put at different offsets.
    ///
    /// Found from the digits, at once; only where dimensions are fused, or a layout is Irreducible, all
    /// indices up to it are walked.
    ///
    /// `None` also if the sizes differ.
    #[must_use]
    pub fn first_difference(&self, other: &IndexMap) -> Option<Vec<u64>> {
        if self.sizes != other.sizes || self.sizes.contains(&0) {
            return None;
        }
        if let Some(found) = self.first_difference_by_dimension(other) {
            return found;
        }
        let mut index: Dims = self.sizes.iter().map(|_| 0).collect();
        loop {
            if self.offset_inside(&index) != other.offset_inside(&index) {
                return Some(index.into_vec());
            }
            if !next_index(&mut index, &self.sizes) {
                return None;
            }
        }
    }
}

/// The next index in row-major order; false after the last.
pub(crate) fn next_index(index: &mut [u64], sizes: &[u64]) -> bool {
    for (i, &size) in index.iter_mut().zip(sizes).rev() {
        *i = i.saturating_add(1);
        if *i < size {
            return true;
        }
        *i = 0;
    }
    false
}

impl PartialEq for IndexMap {
    fn eq(&self, other: &Self) -> bool {
        let own = |map: &IndexMap| (map.data_type, map.element_bits, map.physical_elements);
        own(self) == own(other) && self.same_places(other)
    }
}

impl Eq for IndexMap {}

impl Hash for IndexMap {
    /// Over facts that do not depend on the spelling, the offset of the last index among them.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.data_type, self.element_bits, &self.sizes, self.physical_elements).hash(state);
        if !self.sizes.contains(&0) {
            let last: Dims = self.sizes.iter().map(|&size| size.saturating_sub(1)).collect();
            let middle: Dims = self.sizes.iter().map(|&size| size / 2).collect();
            (self.offset_inside(&last), self.offset_inside(&middle)).hash(state);
        }
    }
}

/// Do two layouts, in whatever notation, put every element at the same place? Types and physical sizes do not
/// matter; the places of dimensions of size 1 do not either.
///
/// # Errors
///
/// What [`ToIndexMap::to_index_map`] returns.
///
/// ```
/// use tensor_layout::{map::same_layout, ArrayShape, BufferTensorDesc, DataType};
///
/// let tiled: ArrayShape = "f32[3,100]{1,0:T(8,128)}".parse()?;
/// let strided = BufferTensorDesc::new(DataType::F32, &[3, 100], Some(&[128, 1]))?;
/// assert!(same_layout(&tiled, &strided)?);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn same_layout(a: &impl ToIndexMap, b: &impl ToIndexMap) -> Result<bool, Error> {
    Ok(a.to_index_map()?.same_places(&b.to_index_map()?))
}
