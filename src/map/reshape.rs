//! Reshapes a layout without moving an element: other sizes for the same elements in the same order.
//!
//! A reshape is a view exactly if the chain of all dimensions can be cut at every new size ([`Chain::cut`]).
//! For strides, this is NumPy's rule for reshapes without a copy. The rule holds for tiles as well.

use alloc::format;
use core::num::NonZeroU64;

use smallvec::SmallVec;

use crate::checked::{self, Dims, ELEMENTS, Proven};
use crate::error::{Code, Error};

use crate::strided::{Integer, sizes_of};

use super::boxes::joined_chain;
use super::digits::Chain;
use super::index_map::{Component, Components, IndexMap};
use super::view::{refused, renumbered};

impl IndexMap {
    /// Returns a view that has other sizes and the same elements in the same row-major order.
    ///
    /// **Post-condition** (`a_reshape_is_a_view_exactly_where_the_offsets_separate`): the offsets in the
    /// order of the indices do not change; an error means that no sum of one function for each dimension
    /// gives them.
    ///
    /// # Errors
    ///
    /// `element_count_mismatch` if the number of elements differs. `overflow`
    /// if the new number of elements passes 64 bits. `not_a_view` names the first new axis whose
    /// elements would have to move.
    ///
    /// ```
    /// use tensor_layout::{map::ToIndexMap, ArrayShape};
    ///
    /// let map = "f32[16,256]{1,0:T(8,128)}".parse::<ArrayShape>()?.to_index_map()?;
    /// let tiles = map.reshape(&[2, 8, 2, 128])?;
    /// assert_eq!(tiles.strides().as_deref(), Some(&[2048, 128, 1024, 1][..]));
    /// let error = map.reshape(&[4096]);
    /// assert!(error.is_ok(), "one dimension of five digits is still a chain");
    /// assert_eq!(map.reshape(&[24, 171]).unwrap_err().code(), "element_count_mismatch");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn reshape<T: Integer>(&self, sizes: &[T]) -> Result<IndexMap, Error> {
        self.regrouped(&sizes_of(sizes)?)
    }

    pub(super) fn regrouped(&self, sizes: &[u64]) -> Result<IndexMap, Error> {
        let elements = checked::product(sizes, ELEMENTS)?;
        let expected = self.element_count();
        if elements != expected {
            return Err(Code::ElementCountMismatch.for_value(elements, expected));
        }
        if sizes == self.sizes.as_slice() {
            return Ok(self.clone());
        }
        let map = IndexMap { sizes: Dims::from_slice(sizes), storage: None, ..self.clone() };
        if elements == 0 {
            return Ok(map.checked());
        }
        if self.levels.is_some() {
            return Err(refused("the reshape", 0, "belongs to an Irreducible layout, which has no digits to cut"));
        }
        let live = |sizes: &[u64]| -> SmallVec<[(usize, u64); 8]> {
            sizes.iter().copied().enumerate().filter(|&(_, size)| size > 1).collect()
        };
        let (old, new) = (live(&self.sizes), live(sizes));
        if old.iter().map(|&(_, size)| size).eq(new.iter().map(|&(_, size)| size)) {
            // Only dimensions of size 1 are added or removed.
            let new_of = |dim| old.iter().zip(&new).find(|((old, _), _)| *old == dim).map(|(_, &(new, _))| new);
            return Ok(map.with_components(renumbered(&self.components, new_of)));
        }
        let dims: SmallVec<[usize; 8]> = old.iter().map(|&(dim, _)| dim).collect();
        let order = self.components.iter().flat_map(|component| component.dims());
        let apart = order.zip(&dims).find(|(dim, next)| dim != next);
        // The chain of all dimensions together takes the row-major number of an element.
        let whole = match apart {
            None => joined_chain(&self.components, &dims, &self.sizes, elements),
            Some(_) => None,
        };
        let mut rest = whole.ok_or_else(|| {
            let reason = "is fused with dimensions that do not follow each other";
            refused("the reshape", apart.map_or(0, |(&dim, _)| dim), reason)
        })?;
        let mut width = elements;
        let mut components = Components::with_capacity(new.len());
        for &(axis, extent) in &new {
            width = width.divided_by(extent);
            let cut = NonZeroU64::new(width).and_then(|width| rest.cut(width));
            let (high, low) = cut.ok_or_else(|| {
                refused(
                    "the reshape",
                    axis,
                    format!("would end inside a block: the layout does not continue evenly every {width} elements"),
                )
            })?;
            components.push(Component::of(axis, extent, Chain::normalised(high.into_iter(), extent)));
            rest = Chain::normalised(low.into_iter(), width);
        }
        Ok(map.with_components(components))
    }
}
