//! `IndexMap`: maps an index to an offset, for any layout.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::checked::{self, Dims, Proven, len_u64, nth_or_panic};
use crate::element::DataType;
use crate::error::{Code, Error};
use crate::strided::{BlockTensorDesc, BufferTensorDesc, GapOwner, Integer, index_of};

use super::digits::{Chain, Digit};
use super::layout_class::LayoutClass;
use super::levels::TileLevels;
use super::swizzle::Swizzle;

/// Some dimensions whose indices form one number, and the chain that turns this number into an offset.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Component {
    pub(super) dims: SmallVec<[usize; 2]>,
    /// The number of values that the number takes: the product of the sizes of the dimensions.
    pub extent: u64,
    /// The chain that gives the offset of each value.
    pub chain: Chain,
}

/// The components of a map. Clones of the map share them, because a plan keeps a clone of both of its maps.
pub(super) type Components = SmallVec<[Component; 4]>;

impl Component {
    /// Returns the component of a single dimension.
    // This function is inlined, because a call would copy the chain, which is large.
    #[inline(always)]
    pub(super) fn of(dim: usize, extent: u64, chain: Chain) -> Component {
        Component { dims: SmallVec::from_slice(&[dim]), extent, chain }
    }

    pub(crate) fn counted_digits(&self) -> impl Iterator<Item = (Digit, u64)> + '_ {
        let mut above = self.extent;
        self.chain.digits().iter().map(move |&digit| {
            let count = above.div_ceil(digit.divisor.get());
            above = digit.divisor.get();
            (digit, count)
        })
    }

    /// The dimensions of the component, major to minor. There is one dimension, unless `*` joined several
    /// that cannot be separated again.
    #[must_use]
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    pub(super) fn number(&self, index: &[u64], sizes: &[u64]) -> u64 {
        self.dims.iter().fold(0, |number: u64, &dim| {
            let (size, i) = (nth_or_panic(sizes, dim), nth_or_panic(index, dim));
            // For an index inside the sizes, the number is below the extent, which was checked.
            number.times(size).plus(i)
        })
    }
}

/// The offset of every element: the common form of all layouts.
///
/// Two maps are equal if their data types, element widths, sizes, physical sizes and normal forms are equal.
/// Equal maps put every element at the same offset. The converse holds for the classes [Affine and
/// Split](LayoutClass), however the layouts were spelled. A layout of another class may have several normal
/// forms. [`same_places`](IndexMap::same_places) compares all layouts, but not in bounded time, as `==` does.
///
/// ```
/// use tensor_layout::{map::ToIndexMap, ArrayShape};
///
/// let map = "f32[3,5]{1,0:T(2,2)}".parse::<ArrayShape>()?.to_index_map()?;
/// assert_eq!(map.offset(&[2, 3])?, 17);
/// assert_eq!(map.physical_elements(), 24);
/// assert_eq!(map.inverse(17)?.as_deref(), Some(&[2, 3][..]));
/// assert_eq!(map.inverse(14)?, None, "row 3 does not exist: padding");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug)]
pub struct IndexMap {
    pub(super) data_type: DataType,
    pub(super) element_bits: u32,
    pub(super) sizes: Dims,
    pub(super) base: u64,
    pub(crate) components: Arc<Components>,
    /// The tiles of an Irreducible layout, level by level. `None` for all other layouts, which components
    /// describe.
    pub(crate) levels: Option<Box<TileLevels>>,
    /// The last step, in which bits of the offset are flipped. `None` for most maps.
    pub(super) swizzle: Option<Box<Swizzle>>,
    pub(super) physical_elements: u64,
    /// What the map owns where it begins at the start of its buffer, see [`owns`](Self::owns).
    pub(super) owns: GapOwner,
    /// The least size by which the buffer is allocated, in bytes.
    pub(super) least_total: u64,
    pub(super) storage: Option<Box<Storage>>,
}

/// Properties of a buffer that few maps state. A map without them has an alignment of 1, any bytes in its
/// padding, and row-major order.
#[derive(Debug, Clone)]
pub(super) struct Storage {
    pub(super) alignment: u64,
    pub(super) has_zero_padding: bool,
    /// Empty for row-major order.
    pub(super) minor_to_major: Box<[usize]>,
}

// The clone of a `SmallVec` takes its numbers one by one, and every plan clones two maps.
impl Clone for IndexMap {
    fn clone(&self) -> Self {
        IndexMap {
            sizes: Dims::from_slice(&self.sizes),
            components: self.components.clone(),
            levels: self.levels.clone(),
            swizzle: self.swizzle.clone(),
            storage: self.storage.clone(),
            ..*self
        }
    }
}

/// A type that says where the elements of a tensor are stored.
///
/// ```
/// use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, ToIndexMap};
///
/// fn bytes(layout: &impl ToIndexMap) -> Result<u64, tensor_layout::Error> {
///     Ok(layout.to_index_map()?.physical_size_in_bytes())
/// }
/// assert_eq!(bytes(&BufferTensorDesc::packed(DataType::F32, &[3, 100])?)?, 1200);
/// assert_eq!(bytes(&"f32[3,100]{1,0:T(8,128)}".parse::<ArrayShape>()?)?, 4096);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub trait ToIndexMap {
    /// Returns the index map of this layout.
    ///
    /// # Errors
    ///
    /// `overflow` if the physical size passes 64 bits; `not_expressible` for a layout with
    /// `SC(..)`, which is stored in several buffers.
    fn to_index_map(&self) -> Result<IndexMap, Error>;

    /// Returns the descriptor, if a descriptor says all about this layout. Copies of two descriptors need no
    /// index map. A layout whose padding must hold zeros is no descriptor.
    fn as_descriptor(&self) -> Option<&BufferTensorDesc> {
        None
    }

    /// Returns the tensor of blocks, if this layout is one. Its index map and its descriptor are those of its
    /// bytes.
    fn as_blocks(&self) -> Option<&BlockTensorDesc> {
        None
    }
}

/// A boxed layout, such as a `Box<dyn ToIndexMap>`, is the layout in the box.
impl<T: ToIndexMap + ?Sized> ToIndexMap for Box<T> {
    fn to_index_map(&self) -> Result<IndexMap, Error> {
        (**self).to_index_map()
    }

    fn as_descriptor(&self) -> Option<&BufferTensorDesc> {
        (**self).as_descriptor()
    }

    fn as_blocks(&self) -> Option<&BlockTensorDesc> {
        (**self).as_blocks()
    }
}

impl ToIndexMap for IndexMap {
    fn to_index_map(&self) -> Result<IndexMap, Error> {
        Ok(self.clone())
    }
}

impl IndexMap {
    /// Returns a strided layout that begins at element `base` of a buffer. The buffer has `physical_elements`
    /// elements.
    pub(crate) fn from_strides(
        data_type: DataType,
        element_bits: u32,
        sizes: &[u64],
        strides: &[u64],
        base: u64,
        physical_elements: u64,
    ) -> Result<IndexMap, Error> {
        let empty = sizes.contains(&0);
        // The components are made where they stay. A move would copy them, which are large.
        let mut components = Arc::<Components>::default();
        let list = Arc::make_mut(&mut components);
        for (dim, (&extent, &stride)) in sizes.iter().zip(strides).enumerate() {
            if extent > 1 && !empty {
                list.push(Component::of(dim, extent, Chain::strided(stride, extent)));
            }
        }
        let sizes = Dims::from_slice(sizes);
        let base = if empty { 0 } else { base };
        Self::made((data_type, element_bits), sizes, components, None, base, physical_elements)
    }

    /// Returns the map of a tensor that begins at element `base` of its buffer. It has the buffer to itself
    /// if it begins at the start.
    // This function is always inlined. A map is large, and a call would copy it.
    #[inline(always)]
    pub(super) fn made(
        (data_type, element_bits): (DataType, u32),
        sizes: Dims,
        components: impl Into<Arc<Components>>,
        levels: Option<Box<TileLevels>>,
        base: u64,
        physical_elements: u64,
    ) -> Result<IndexMap, Error> {
        checked::bytes_for(physical_elements, element_bits)?;
        let (owns, swizzle, least_total, storage) = (GapOwner::All, None, 0, None);
        let map = IndexMap {
            data_type,
            element_bits,
            sizes,
            base,
            components: components.into(),
            levels,
            swizzle,
            physical_elements,
            owns,
            least_total,
            storage,
        };
        Ok(map.checked())
    }

    /// The type of an element.
    #[must_use]
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// The number of bits that one element takes in memory.
    #[must_use]
    pub fn element_bits(&self) -> u32 {
        self.element_bits
    }

    /// The logical sizes, in elements.
    #[must_use]
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// The number of elements: the product of the sizes.
    #[must_use]
    pub fn element_count(&self) -> u64 {
        // The product fits 64 bits, because every constructor has checked it.
        checked::element_count(&self.sizes)
    }

    /// The number of elements that the buffer has room for, padding and tail included.
    #[must_use]
    pub fn physical_elements(&self) -> u64 {
        self.physical_elements
    }

    /// The size of the buffer in bytes, padding included, rounded up to a whole byte.
    #[must_use]
    pub fn physical_size_in_bytes(&self) -> u64 {
        // Every constructor has computed this size, so the conversion cannot fail.
        checked::bytes_for(self.physical_elements, self.element_bits).unwrap_or(u64::MAX)
    }

    /// The offset of index 0, in elements.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Who owns the gaps of the tensor. With a base, it is a part of a larger buffer.
    #[must_use]
    pub fn gap_owner(&self) -> GapOwner {
        if self.base != 0 && self.owns == GapOwner::All { GapOwner::Others } else { self.owns }
    }

    /// Whether this map is a part of a larger buffer: it does not own the whole [buffer](Self::gap_owner).
    #[must_use]
    pub fn is_part(&self) -> bool {
        self.gap_owner() != GapOwner::All
    }

    /// Returns this map with this owner of its gaps. A map with a base never owns the whole buffer: it gets
    /// [`GapOwner::Inside`].
    #[must_use]
    #[inline]
    pub fn with_gap_owner(mut self, owner: GapOwner) -> IndexMap {
        self.owns = if self.base == 0 { owner } else { owner.min(GapOwner::Inside) };
        self
    }

    /// Returns this map as the owner of a buffer of `physical_elements` elements. For a part of a larger
    /// buffer, call [`with_gap_owner`](Self::with_gap_owner) on the result.
    ///
    /// The method needs the feature `plan`.
    ///
    /// # Errors
    ///
    /// `overflow` if the size of the buffer in bytes passes 64 bits.
    #[cfg(feature = "plan")]
    pub fn with_physical_elements(self, physical_elements: u64) -> Result<IndexMap, Error> {
        checked::bytes_for(physical_elements, self.element_bits)?;
        Ok(IndexMap { physical_elements, owns: GapOwner::All, least_total: 0, ..self }.checked())
    }

    /// Returns this map in the part of its buffer from its base to its last element.
    #[cfg(feature = "relayout")]
    pub(crate) fn own_range(&self) -> IndexMap {
        let physical_elements = self.span_elements().saturating_sub(self.base);
        IndexMap { base: 0, physical_elements, owns: GapOwner::All, least_total: 0, ..self.clone() }.checked()
    }

    /// Returns this map in a buffer that ends after `physical_elements` elements, which hold all of it.
    pub(crate) fn ending_at(self, physical_elements: u64) -> IndexMap {
        IndexMap { physical_elements, least_total: 0, ..self }.checked()
    }

    /// The class of this layout: the simplest form that describes it.
    #[must_use]
    pub fn class(&self) -> LayoutClass {
        let chains = || self.components.iter().map(|component| &component.chain);
        if self.levels.is_some() {
            LayoutClass::Irreducible
        } else if self.swizzle.is_some() {
            LayoutClass::Swizzled
        } else if self.components.iter().any(|component| component.dims.len() > 1) {
            LayoutClass::Fused
        } else if chains().all(|chain| chain.digits().len() <= 1) {
            LayoutClass::Affine
        } else if chains().all(Chain::is_exact) {
            LayoutClass::Split
        } else {
            LayoutClass::RaggedSplit
        }
    }

    /// The number of tiles that an offset is computed from: 0 for every layout but an Irreducible one.
    pub(super) fn tile_count(&self) -> u64 {
        self.levels.as_ref().map_or(0, |levels| len_u64(levels.levels.len()))
    }

    /// The strides of an Affine layout, in elements, with 0 for dimensions of size 1. `None` for other
    /// classes.
    #[must_use]
    pub fn strides(&self) -> Option<Vec<u64>> {
        if self.swizzle.is_some() { None } else { self.strides_before_swizzle() }
    }

    /// The strides of the offsets that a swizzle moves, or of all offsets.
    pub(super) fn strides_before_swizzle(&self) -> Option<Vec<u64>> {
        let mut strides = vec![0; self.sizes.len()];
        if self.levels.is_some() {
            return None;
        }
        for component in self.components.iter() {
            let ([dim], [digit]) = (component.dims.as_slice(), component.chain.digits()) else { return None };
            *strides.get_mut(*dim)? = digit.stride;
        }
        Some(strides)
    }

    /// The offset of an index, in elements from the start of the buffer. The index may be integers of any
    /// type.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` if `index` does not have an entry for each dimension, or
    /// `index_out_of_range` for an index that is negative, or at or above its size.
    pub fn offset<T: Integer>(&self, index: &[T]) -> Result<u64, Error> {
        let index: Dims = index.iter().map(|&i| index_of(i)).collect();
        if index.len() != self.sizes.len() {
            return Err(Error::rank_mismatch("indices", self.sizes.len(), index.len()));
        }
        match index.iter().zip(&self.sizes).enumerate().find(|(_, (i, size))| i >= size) {
            Some((axis, (&index, &size))) => Err(Code::IndexOutOfRange.on_axis(axis, index, size)),
            None => Ok(self.offset_inside(&index)),
        }
    }

    pub(crate) fn offset_inside(&self, index: &[u64]) -> u64 {
        if let Some(levels) = &self.levels {
            return self.base.plus(levels.offset(index));
        }
        let parts = self.components.iter().map(|component| component.chain.at(component.number(index, &self.sizes)));
        // By invariant 1 of the index map, the sum fits 64 bits.
        let offset = parts.fold(self.base, u64::plus);
        self.swizzle.as_ref().map_or(offset, |swizzle| swizzle.apply(offset))
    }

    /// One past the largest offset of an element, in elements. The span of an empty tensor is 0.
    ///
    /// For an Irreducible layout, the result is the physical size, which is an upper bound. For a swizzled
    /// layout, it is rounded up to a whole number of the blocks that the swizzle permutes.
    #[must_use]
    pub fn span_elements(&self) -> u64 {
        if self.sizes.contains(&0) {
            return 0;
        }
        if self.levels.is_some() {
            return self.physical_elements;
        }
        // By invariant 1 of the index map, the sum fits 64 bits.
        let mut span = self.base.plus(1);
        for component in self.components.iter() {
            span = span.plus(component.chain.largest(component.extent));
        }
        // A swizzle moves an offset inside an aligned block, of which the buffer has a whole number.
        self.swizzle.as_ref().map_or(span, |swizzle| span.div_ceil(swizzle.block()).times(swizzle.block()))
    }
}
