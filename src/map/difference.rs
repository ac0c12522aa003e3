//! Where two layouts first differ, without walking all indices.

use super::digits::Chain;
use super::index_map::{Component, IndexMap};

impl IndexMap {
    /// The first index, in row-major order, at which two maps of the same sizes differ; `None` if one of them
    /// is no sum of one chain for each dimension.
    ///
    /// Such maps differ by a sum of one function for each dimension. The last dimension whose function
    /// is anywhere but zero decides: all indices before its first difference, with zeros in front, agree.
    pub(super) fn first_difference_by_dimension(&self, other: &IndexMap) -> Option<Option<Vec<u64>>> {
        let is_separable = |map: &IndexMap| {
            map.levels().is_none() && map.components().iter().all(|component| component.dims().len() == 1)
        };
        if !is_separable(self) || !is_separable(other) {
            return None;
        }
        let mut index = vec![0; self.sizes().len()];
        if self.base() != other.base() {
            return Some(Some(index));
        }
        for (dim, (slot, &extent)) in index.iter_mut().zip(self.sizes()).enumerate().rev() {
            let chain = |map: &IndexMap| {
                let found = map.components().iter().find(|component| component.dims() == [dim]);
                found.map(Component::chain).cloned().unwrap_or_default()
            };
            if let Some(first) = first_deviation(&chain(self), &chain(other), extent) {
                *slot = first;
                return Some(Some(index));
            }
        }
        Some(None)
    }
}

/// The smallest number below `extent` at which two chains differ.
fn first_deviation(a: &Chain, b: &Chain, extent: u64) -> Option<u64> {
    let differs = |&number: &u64| a.offset(number) != b.offset(number);
    let mut boundaries: Vec<u64> = a.digits().iter().chain(b.digits()).map(|digit| digit.divisor()).collect();
    boundaries.sort_unstable();
    boundaries.dedup();
    let nested = boundaries.iter().zip(boundaries.iter().skip(1)).all(|(low, high)| high.is_multiple_of(*low));
    if nested {
        // Between boundaries that divide each other both chains only repeat what they did below.
        boundaries.into_iter().filter(|&boundary| boundary < extent).find(differs)
    } else {
        (0..extent).find(differs)
    }
}
