//! `Strided`: the form of a layout that notations with strides are written from.

use crate::spell::spell;
use tensor_layout::checked::Dims;
use tensor_layout::{BufferTensorDesc, DataType, Error, IndexMap, LayoutClass, TensorFlags, ToIndexMap};

/// A layout with one stride for each dimension, which four notations can express.
pub(super) struct Strided {
    pub(super) data_type: DataType,
    /// The number of bits that an element takes in memory. It differs from the bits of its type where XLA
    /// stores a small type in a byte.
    pub(super) element_bits: u32,
    pub(super) sizes: Dims,
    /// The strides, in elements.
    pub(super) strides: Dims,
    pub(super) base: u64,
    /// Whether the layout is a part of a larger buffer, so that its base is written even if it is 0.
    pub(super) is_part: bool,
    /// The number of elements of the whole buffer.
    pub(super) elements: u64,
    pub(super) flags: TensorFlags,
    pub(super) alignment: u32,
}

impl Strided {
    pub(super) fn of(desc: &BufferTensorDesc) -> Result<Strided, Error> {
        let (base, flags, alignment) = (desc.base_offset(), desc.flags(), desc.base_offset_alignment());
        let strides = desc.clone().with_canonical_strides().strides().into();
        Ok(Strided { base, flags, alignment, ..Strided::with_strides(&desc.to_index_map()?, strides) })
    }

    /// Returns the layout of a map with these strides. Unlike a descriptor, a map may store elements in
    /// another width than their type has.
    pub(super) fn of_map(map: &IndexMap, mut strides: Dims) -> Strided {
        // An axis of size 1 gets the stride that it has if it is packed around the axes after it.
        let (empty, mut packed) = (map.element_count() == 0, 1_u64);
        for (&size, stride) in map.sizes().iter().zip(strides.iter_mut()).rev() {
            if size <= 1 || empty {
                *stride = packed;
            }
            packed = packed.max(stride.saturating_mul(size.max(1)));
        }
        Self::with_strides(map, strides)
    }

    fn with_strides(map: &IndexMap, strides: Dims) -> Strided {
        Strided {
            data_type: map.data_type(),
            element_bits: map.element_bits(),
            sizes: map.sizes().into(),
            strides,
            base: map.base(),
            is_part: map.is_part(),
            elements: map.physical_elements(),
            flags: TensorFlags::None,
            alignment: 0,
        }
    }
}

/// Returns a text for the layout of a map, such as a view's. The text has strides if the strides determine
/// everything except the padding after the end. Otherwise the text is an XLA layout.
/// [`Notated`](super::Notated) reads both.
pub(super) fn text_of(map: &IndexMap) -> Result<String, Error> {
    if map.class() == LayoutClass::Affine && map.element_bits() == map.data_type().bits() {
        let strides = map.strides().unwrap_or_default();
        let desc = BufferTensorDesc::new(map.data_type(), map.sizes(), Some(&strides))?;
        return Ok(if map.is_part() { desc.with_base_offset(map.base())? } else { desc }.to_string());
    }
    spell(map).map(|shape| shape.to_string())
}

pub(super) fn list(numbers: &[u64]) -> String {
    format!("[{}]", joined(numbers))
}

/// Formats a tuple as Python does: `(2,3)`, `(2,)` and `()`.
pub(super) fn tuple(numbers: &[u64]) -> String {
    format!("({}{})", joined(numbers), if numbers.len() == 1 { "," } else { "" })
}

/// Formats numbers with commas between them: `2,3`.
fn joined(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}
