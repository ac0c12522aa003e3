//! Views: the same buffer with other sizes, where no element has to move.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::num::NonZeroU64;

use smallvec::SmallVec;

use crate::checked::{self, Dims, ELEMENTS, OFFSET, PHYSICAL, Proven, nth_or_panic};
use crate::error::{Code, Error};
use crate::short_sort::sort_by;
use crate::strided::{GapOwner, Integer, Slice, Taken, sizes_of};

use super::digits::{Chain, Digit};
use super::index_map::{Component, Components, IndexMap};
use super::swizzle::Swizzle;

pub(super) fn refused(operation: &'static str, axis: usize, reason: impl Into<String>) -> Error {
    Code::NotAView.with_reason(operation, reason.into()).with_axis(axis)
}

impl IndexMap {
    /// Returns the map with its dimensions in another order. Dimension `k` of the result is dimension
    /// `order[k]` of this map.
    ///
    /// **Post-condition** (`slices_permutations_and_broadcasts_keep_every_offset`): every element keeps its
    /// offset. The same holds for `slice` and `broadcast_to`.
    ///
    /// # Errors
    ///
    /// `rank_mismatch`, `axis_out_of_range` or
    /// `not_a_permutation` if `order` does not name every dimension once.
    pub fn permute(&self, order: &[usize]) -> Result<IndexMap, Error> {
        let rank = self.sizes.len();
        let new_of = checked::inverse_permutation(order, rank)?;
        let sizes = order.iter().filter_map(|&axis| self.sizes.get(axis).copied()).collect();
        let mut levels = self.levels.clone();
        if let Some(levels) = &mut levels {
            for axis in &mut levels.order {
                *axis = new_of.get(*axis).copied().unwrap_or(*axis);
            }
        }
        let map = IndexMap { sizes, levels, storage: None, ..self.clone() };
        Ok(map.with_components(renumbered(&self.components, |dim| new_of.get(dim).copied())))
    }

    /// Returns the part of the tensor that `slices` keep. There is one slice for each dimension.
    ///
    /// A dimension of one digit can be sliced in any way. If a dimension is cut into blocks, the slice has to
    /// begin at the start of a block or stay inside one block, at every level. A step has to divide every
    /// larger block, and to be a multiple of the next smaller block. If dimensions are fused, only the first
    /// one can be sliced.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` if there is not one slice for each dimension.
    /// `index_out_of_range` if a start or an end is past the size. `out_of_limits`
    /// for a step of 0 or an end before its start. `not_a_view` if the slice does not fit the blocks
    /// of a dimension.
    ///
    /// ```
    /// use tensor_layout::{map::ToIndexMap, ArrayShape};
    ///
    /// let map = "f32[16,256]{1,0:T(8,128)}".parse::<ArrayShape>()?.to_index_map()?;
    /// let tile = map.slice(&[8..16, 128..256])?;
    /// assert_eq!((tile.base(), tile.strides().as_deref()), (3072, Some(&[128, 1][..])));
    /// let error = map.slice(&[4..12, 0..256]).unwrap_err();
    /// assert_eq!(error.code(), "not_a_view");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn slice<S: Clone + Into<Slice>>(&self, slices: &[S]) -> Result<IndexMap, Error> {
        self.sliced(&self.taken("slices", slices.iter().cloned().map(Into::into))?)
    }

    fn sliced(&self, taken: &[Taken]) -> Result<IndexMap, Error> {
        let sizes: Dims = taken.iter().map(|taken| taken.length).collect();
        if sizes == self.sizes {
            // The slices keep every index. A step above 1 is possible only on a dimension of size 1.
            return Ok(self.clone());
        }
        let mut base = self.base;
        let mut components = Components::with_capacity(self.components.len());
        if let Some(axis) = self.levels.is_some().then(|| first_difference(&sizes, &self.sizes)) {
            return Err(refused("the slice", axis, "is part of an Irreducible layout, which has no digits to slice"));
        }
        for component in self.components.iter() {
            let (sliced, moved) = self.slice_component(component, taken, &sizes)?;
            base = checked::add(base, moved, OFFSET)?;
            components.push(sliced);
        }
        Ok(IndexMap { sizes, base, owns: GapOwner::Others, storage: None, ..self.clone() }.with_components(components))
    }

    pub(super) fn taken(
        &self,
        what: &'static str,
        slices: impl ExactSizeIterator<Item = Slice>,
    ) -> Result<Vec<Taken>, Error> {
        if slices.len() != self.sizes.len() {
            return Err(Error::rank_mismatch(what, self.sizes.len(), slices.len()));
        }
        let taken = |(axis, (slice, &size)): (usize, (Slice, &u64))| slice.on_axis(axis, size);
        slices.zip(&self.sizes).enumerate().map(taken).collect()
    }

    fn slice_component(
        &self,
        component: &Component,
        taken: &[Taken],
        sizes: &[u64],
    ) -> Result<(Component, u64), Error> {
        let dims = &component.dims;
        let size = |dim: usize| nth_or_panic(sizes, dim);
        let minor = dims.iter().skip(1).copied();
        if let Some(axis) = minor.clone().find(|&dim| Some(size(dim)) != self.sizes.get(dim).copied()) {
            return Err(refused(
                "the slice",
                axis,
                "is fused with the dimensions before it, of which only the first can be sliced",
            ));
        }
        let (Some(&axis), minor) = (dims.first(), minor.map(size).product::<u64>()) else {
            return Ok((component.clone(), 0));
        };
        let whole = Taken { start: 0, step: 1, length: 1 };
        let Taken { start, step, length } = taken.get(axis).copied().unwrap_or(whole);
        if dims.len() > 1 && step > 1 && length > 1 {
            return Err(refused("the slice", axis, "is fused with others and cannot be sliced in steps"));
        }
        let start = checked::mul(start, minor, OFFSET)?;
        let width = length.saturating_sub(1).times(step).plus(u64::from(length > 0));
        let width = checked::mul(width, minor, OFFSET)?;
        let crossed =
            |block| refused("the slice", axis, format!("would begin inside a block of {block} and reach past its end"));
        let (digits, moved) = shifted(component.chain.digits(), start, width).map_err(crossed)?;
        let (extent, chain) = if step > 1 && length > 1 {
            let step = NonZeroU64::new(step).unwrap_or(NonZeroU64::MIN);
            let whole = Chain::normalised(digits.iter().copied(), width);
            let (high, _) = whole.cut(step).ok_or_else(|| {
                refused("the slice", axis, format!("is cut into blocks that steps of {step} do not fit into"))
            })?;
            (length, Chain::normalised(high.into_iter(), length))
        } else {
            (width, Chain::normalised(digits.iter().copied(), width))
        };
        Ok((Component { dims: dims.clone(), extent, chain }, moved))
    }

    /// Returns the tensor repeated along new leading dimensions, and along dimensions of size 1, by NumPy's
    /// rule. As in Chromium, a tensor of sizes `[1]` counts as a scalar, and can also be broadcast to `[]`.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` for a smaller rank. `size_mismatch` for a
    /// dimension whose size is neither 1 nor the new size. `overflow` if the product of the new
    /// sizes passes 64 bits. `not_a_view` for an Irreducible layout.
    pub fn broadcast_to<T: Integer>(&self, sizes: &[T]) -> Result<IndexMap, Error> {
        self.repeated(&sizes_of(sizes)?)
    }

    fn repeated(&self, sizes: &[u64]) -> Result<IndexMap, Error> {
        let (rank, own) = (sizes.len(), self.sizes.len());
        if sizes == self.sizes.as_slice() {
            return Ok(self.clone());
        }
        if sizes.is_empty() && self.sizes.as_slice() == [1] {
            return self.regrouped(&[]);
        }
        let Some(leading) = rank.checked_sub(own) else {
            let what = "sizes to broadcast to (new axes not counted)";
            return Err(Error::rank_mismatch(what, own, rank));
        };
        checked::product(sizes, ELEMENTS)?;
        if self.levels.is_some() {
            return Err(refused(
                "the broadcast",
                0,
                "belongs to an Irreducible layout, which has no strides to set to 0",
            ));
        }
        let mut components = renumbered(&self.components, |dim| dim.checked_add(leading));
        for (axis, &extent) in sizes.iter().enumerate() {
            let found = axis.checked_sub(leading).and_then(|axis| self.sizes.get(axis).copied()).unwrap_or(1);
            if found == extent {
                continue;
            }
            if found != 1 {
                return Err(Code::SizeMismatch.on_axis(axis, found, extent));
            }
            components.push(Component::of(axis, extent, Chain::strided(0, extent)));
        }
        Ok(IndexMap { sizes: Dims::from_slice(sizes), storage: None, ..self.clone() }.with_components(components))
    }

    /// Returns this layout, beginning at element `base` of its buffer. The buffer grows or shrinks by the
    /// difference, so the space after the first element does not change.
    ///
    /// Some devices require that a binding begins at a multiple of 256 bytes. The binding then begins before
    /// the tensor, and the shader gets the distance as the base.
    ///
    /// # Errors
    ///
    /// `overflow` if the new physical size passes 64 bits. `not_expressible` if the layout is swizzled, and
    /// does not move by a multiple of the swizzle's span.
    ///
    /// ```
    /// use tensor_layout::{ArrayShape, ToIndexMap};
    ///
    /// let map = "f32[16,256]{1,0:T(8,128)}".parse::<ArrayShape>()?.to_index_map()?.with_base(64)?;
    /// assert_eq!((map.base(), map.physical_elements()), (64, 64 + 4096));
    /// assert_eq!(map.offset(&[8, 0])?, 64 + 2048);
    /// assert_eq!((map.inverse(64)?.as_deref(), map.inverse(63)?), (Some(&[0, 0][..]), None));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_base(self, base: u64) -> Result<IndexMap, Error> {
        let span = self.swizzle().map_or(1, Swizzle::span);
        if !base.abs_diff(self.base).is_multiple_of(span) {
            let reason =
                format!("a swizzled layout moves by multiples of {span} elements, not from {} to {base}", self.base);
            return Err(Error::not_expressible("moved layout", reason));
        }
        let after = self.physical_elements.minus(self.base);
        let physical_elements = checked::add(base, after, PHYSICAL)?;
        checked::bytes_for(physical_elements, self.element_bits)?;
        // An empty tensor has no offset, so its base is 0.
        let base = if self.sizes.contains(&0) { 0 } else { base };
        Ok(IndexMap { base, physical_elements, least_total: 0, ..self }.checked())
    }

    /// Returns the map with these components in normal form: sorted, without dimensions of size 1, and cut
    /// where their dimensions can be separated. An empty tensor gets no components, and its base is 0.
    pub(super) fn with_components(self, components: Components) -> IndexMap {
        let mut parts = Components::new();
        if self.sizes.contains(&0) {
            return IndexMap { base: 0, components: Arc::new(parts), swizzle: None, ..self }.checked();
        }
        for component in components {
            separate(component, &self.sizes, &mut parts);
        }
        sort_by(&mut parts, |a, b| a.dims.cmp(&b.dims));
        IndexMap { components: Arc::new(parts), ..self }.without_idle_flips().checked()
    }
}

/// Appends the components that `component` can be separated into, for the sizes that its dimensions have now.
fn separate(mut component: Component, sizes: &[u64], parts: &mut Components) {
    let size = |dim: usize| nth_or_panic(sizes, dim);
    // An index that is always 0 adds nothing to the number.
    component.dims.retain(|dim| size(*dim) > 1);
    let mut place = 1;
    while place < component.dims.len() {
        let (major, minor) = component.dims.split_at(place);
        let width = minor.iter().fold(1, |width: u64, &dim| width.times(size(dim)));
        let cut = NonZeroU64::new(width).and_then(|width| component.chain.cut(width));
        if let Some((high, low)) = cut {
            let extent = component.extent.divided_by(width);
            let chain = Chain::normalised(high.into_iter(), extent);
            parts.push(Component { dims: SmallVec::from_slice(major), extent, chain });
            let chain = Chain::normalised(low.into_iter(), width);
            component = Component { dims: SmallVec::from_slice(minor), extent: width, chain };
            place = 1;
        } else {
            place = place.plus(1);
        }
    }
    if component.extent > 1 {
        parts.push(component);
    }
}

/// Returns the components with dimension `d` renumbered to `new_of(d)`, or left out if that is `None`.
pub(super) fn renumbered(components: &[Component], new_of: impl Fn(usize) -> Option<usize>) -> Components {
    let renumber = |component: &Component| {
        let dims = component.dims.iter().filter_map(|&dim| new_of(dim)).collect();
        Component { dims, ..component.clone() }
    };
    components.iter().map(renumber).collect()
}

fn first_difference(a: &[u64], b: &[u64]) -> usize {
    a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(0)
}

/// Returns the digits of `f(start + u) - f(start)` for `u < width`, and `f(start)`. Fails with the divisor of
/// a block if `start` is inside this block and the width reaches past its end.
fn shifted(digits: &[Digit], start: u64, width: u64) -> Result<(&[Digit], u64), u64> {
    let Some((digit, below)) = digits.split_first() else { return Ok((digits, 0)) };
    let divisor = digit.divisor.get();
    let (block, inside) = (start.divided_by(divisor), start.modulo(divisor));
    // By invariant 1 of the index map, the product fits 64 bits.
    let moved = block.times(digit.stride);
    if inside == 0 {
        return Ok((digits, moved));
    }
    if width > divisor.minus(inside) {
        return Err(divisor);
    }
    let (digits, more) = shifted(below, inside, width)?;
    Ok((digits, moved.plus(more)))
}
