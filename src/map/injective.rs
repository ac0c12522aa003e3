//! Checks whether every index has an offset of its own.

use crate::checked::Proven;
use crate::short_sort::sort_by_key;
use smallvec::SmallVec;

use crate::error::Error;
use crate::strided::{OVERLAP_WORK_LIMIT, Overlap, find_overlap};

use super::index_map::{Component, IndexMap};

impl IndexMap {
    /// Refuses a layout in which two indices share an offset.
    ///
    /// Tiles never put two indices at one offset. Two indices also have different offsets if the strides
    /// nest: each stride is above the largest offset of all smaller digits together. The remaining layouts
    /// have one stride for each dimension, and are searched for two indices that share an offset.
    ///
    /// # Errors
    ///
    /// `overlapping_destination` with two such indices; `undecided` if the search takes too
    /// long.
    pub fn check_injective(&self) -> Result<(), Error> {
        if self.levels.is_some() || digits_nest(&self.components) {
            return Ok(());
        }
        let undecided = || Error::undecided("whether the destination overlaps itself", OVERLAP_WORK_LIMIT);
        // A swizzle is a bijection of offsets, so two indices share an offset exactly if they do before the
        // swizzle.
        let Some(strides) = self.strides_before_swizzle() else { return Err(undecided()) };
        match find_overlap(&self.sizes, &strides, OVERLAP_WORK_LIMIT) {
            Overlap::No => Ok(()),
            Overlap::Undecided => Err(undecided()),
            Overlap::Yes { first, second, .. } => {
                Err(Error::overlapping_destination(&first, &second, self.offset_inside(&first)))
            }
        }
    }
}

/// Whether the strides of these components nest: in ascending order, each stride is above the largest offset
/// of all smaller digits together. Then no two numbers share an offset.
fn digits_nest(components: &[Component]) -> bool {
    let mut digits: SmallVec<[(u64, u64); 8]> = SmallVec::new();
    for component in components {
        match component.chain.digits() {
            // Nearly every chain is one stride.
            [digit] => digits.push((digit.stride, component.extent)),
            [] => {}
            _ => digits.extend(component.counted_digits().map(|(digit, count)| (digit.stride, count))),
        }
    }
    sort_by_key(&mut digits, |digit| digit.0);
    strides_nest(digits.into_iter())
}

/// Whether strides nest, which come in ascending order, each with the number of its steps.
pub(super) fn strides_nest(mut ascending: impl Iterator<Item = (u64, u64)>) -> bool {
    let mut largest = 0_u64;
    ascending.all(|(stride, values)| {
        let above = stride > largest;
        largest = largest.saturating_add(stride.saturating_mul(values.minus(1)));
        above
    })
}
